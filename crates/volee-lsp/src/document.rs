//! An open text and what is known of it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use lsp_types::{TextDocumentContentChangeEvent, Uri};
use volee::promela::index::{Index, Occurrence, Span, SymbolId};
use volee::promela::{OpenFiles, Options, Study, study};

use crate::check::Results;
use crate::lines::Lines;
use crate::uri::{path_of, same_file, uri_of};

/// Files beside a text that are looked at for one that includes it.
const NEIGHBOURS: usize = 200;
const LARGEST_NEIGHBOUR: u64 = 1 << 20;

pub(crate) struct Document {
    pub uri: Uri,
    pub path: PathBuf,
    pub text: Arc<str>,
    pub version: i32,
    /// What is known of the text, or of the model that includes it.
    pub study: Study,
    /// The number of this file in the study's index.
    pub file: u32,
    /// The model that includes this text, if it is only a part of one.
    pub root: Option<PathBuf>,
    /// The names of the last text without mistakes in its syntax, for what the present one leaves open.
    pub good: Option<Index>,
    /// What the last check of this very text found.
    pub results: Results,
    /// The text has changed since it was studied.
    pub stale: bool,
}

impl Document {
    pub(crate) fn new(uri: Uri, text: String, version: i32) -> Self {
        let mut path = path_of(&uri);
        // What is not saved yet has no extension that says what it is.
        if uri.scheme().is_none_or(|scheme| scheme.as_str() != "file") {
            path.set_extension("pml");
        }
        Document {
            uri,
            path,
            text: text.into(),
            version,
            study: study("", "", &Options::default()),
            file: 0,
            root: None,
            good: None,
            results: Results::default(),
            stale: true,
        }
    }

    pub(crate) fn lines(&self) -> Lines<'_> {
        Lines::new(&self.text)
    }

    pub(crate) fn index(&self) -> &Index {
        &self.study.index
    }

    /// Applies what the editor says was typed.
    pub(crate) fn change(&mut self, changes: Vec<TextDocumentContentChangeEvent>, version: i32) {
        for change in changes {
            let text = match change.range {
                None => change.text,
                Some(range) => {
                    let lines = self.lines();
                    let (start, end) = (lines.offset(range.start), lines.offset(range.end));
                    format!("{}{}{}", &self.text[..start], change.text, &self.text[end.max(start)..])
                }
            };
            self.text = text.into();
        }
        self.version = version;
        self.results = Results::default();
        self.stale = true;
    }

    /// Studies the text anew, by itself or as a part of the model that includes it.
    pub(crate) fn refresh(&mut self, options: &Options, root: Option<PathBuf>) {
        let own = study(&self.path.display().to_string(), &self.text, options);
        let is_part = own.index.symbols.iter().all(|s| !is_process(s.kind));
        let root = root.or_else(|| if is_part { includer_of(&self.path) } else { None });
        let around = root.as_ref().and_then(|root| self.study_in(root, options));
        (self.study, self.file, self.root) = match around {
            Some((study, file)) => (study, file, root),
            None => {
                let main = own.index.main;
                (own, main, None)
            }
        };
        if self.study.model.is_some() {
            self.good = Some(self.study.index.clone());
        }
        self.stale = false;
    }

    /// What is known of this text as a part of a model; nothing if it is none.
    fn study_in(&self, root: &Path, options: &Options) -> Option<(Study, u32)> {
        let text = match options.open.get(root) {
            Some(text) => text.to_string(),
            None => String::from_utf8_lossy(&std::fs::read(root).ok()?).into_owned(),
        };
        let whole = study(&root.display().to_string(), &text, options);
        let is_this = |name: &str| same_file(Path::new(name), &self.path);
        let file = whole.index.files.iter().position(|f| f.is_written && is_this(&f.name))? as u32;
        // What was read must be what the editor shows.
        (whole.index.files[file as usize].text == self.text).then_some((whole, file))
    }

    /// What the name at a position means.
    pub(crate) fn symbols_at(&self, position: lsp_types::Position) -> Vec<(SymbolId, Occurrence)> {
        let offset = self.lines().offset(position) as u32;
        let mut found: Vec<(SymbolId, Occurrence)> = Vec::new();
        for occurrence in self.index().at(self.file, offset) {
            if !found.iter().any(|(id, _)| *id == occurrence.symbol) {
                found.push((occurrence.symbol, *occurrence));
            }
        }
        // A name is preferred to what ends where it begins.
        let inside = |o: &Occurrence| o.span.start <= offset && offset < o.span.end;
        if found.iter().any(|(_, o)| inside(o)) {
            found.retain(|(_, o)| inside(o));
        }
        found
    }

    /// Where a span of the index stands for the editor.
    pub(crate) fn location(&self, span: Span) -> Option<lsp_types::Location> {
        let file = &self.index().files[span.file as usize];
        if !file.is_written {
            return None;
        }
        let uri = if span.file == self.file { self.uri.clone() } else { uri_of(Path::new(&*file.name))? };
        let range = Lines::new(&file.text).range(span.start as usize, span.end as usize);
        Some(lsp_types::Location { uri, range })
    }
}

pub(crate) fn is_process(kind: volee::promela::index::SymbolKind) -> bool {
    use volee::promela::index::SymbolKind;
    matches!(kind, SymbolKind::Proctype | SymbolKind::Init)
}

/// A model beside a file that includes it.
fn includer_of(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?;
    let quoted = format!("\"{name}\"");
    let mut all: Vec<PathBuf> = std::fs::read_dir(path.parent()?)
        .ok()?
        .flatten()
        .take(NEIGHBOURS)
        .filter(|entry| entry.metadata().is_ok_and(|m| m.is_file() && m.len() < LARGEST_NEIGHBOUR))
        .map(|entry| entry.path())
        .filter(|p| p != path && p.extension().is_some_and(|e| e == "pml" || e == "promela" || e == "prom"))
        .collect();
    all.sort();
    all.into_iter().find(|p| {
        let text = std::fs::read(p).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        text.is_ok_and(|t| {
            t.lines().any(|l| l.trim_start().starts_with('#') && l.contains("include") && l.contains(&quoted))
        })
    })
}

/// The texts that stand for files.
pub(crate) fn open_files<'d>(documents: impl Iterator<Item = &'d Document>) -> OpenFiles {
    documents.map(|d| (d.path.clone(), d.text.clone())).collect()
}
