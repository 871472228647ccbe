//! Renaming: every place where a name is written, in all files of the model.
//!
//! What comes out is read again: if any name then means something else than before, if a name is made by
//! pasting, or if one spot means several things, the change is refused with its reason. Parts that the
//! preprocessor leaves out, and inlines that nobody calls, are not understood; there a global name is
//! replaced wherever it stands as a word.

use std::collections::BTreeMap;
use std::path::Path;

use lsp_types::{Position, PrepareRenameResponse, TextEdit, WorkspaceEdit};
use volee::promela::index::{Index, Span, SymbolId, SymbolKind};
use volee::promela::{Options, study, words};

use crate::document::Document;
use crate::lines::Lines;
use crate::uri::uri_of;

/// Whether the name at a position can be renamed, and where it stands.
pub(crate) fn prepare(document: &Document, position: Position) -> Result<PrepareRenameResponse, String> {
    let (id, span) = target(document, position)?;
    let range = Lines::new(&document.text).range(span.start as usize, span.end as usize);
    let placeholder = document.index().symbol(id).name.to_string();
    Ok(PrepareRenameResponse::RangeWithPlaceholder { range, placeholder })
}

fn target(document: &Document, position: Position) -> Result<(SymbolId, Span), String> {
    let found = document.symbols_at(position);
    let (id, occurrence) = match &found[..] {
        [] => return Err("there is no name here".into()),
        [one] => *one,
        // An argument of an inline stands where its parameter does.
        _ => {
            return Err(
                "this spot means several things, one for each use of the macro or inline around it".into()
            );
        }
    };
    let symbol = document.index().symbol(id);
    if !symbol.is_spelled {
        return Err(format!("`{}` has no name of its own in the text", symbol.name));
    }
    Ok((id, occurrence.span))
}

/// The changes that give the name at a position another spelling.
pub(crate) fn rename(
    document: &Document,
    position: Position,
    name: &str,
    options: &Options,
) -> Result<WorkspaceEdit, String> {
    if words::is_reserved(name) {
        return Err(format!("`{name}` is a word of the language"));
    }
    if !is_name(name) {
        return Err(format!(
            "`{name}` is not a name: it begins with a letter, then come letters, digits and `_`"
        ));
    }
    let (id, _) = target(document, position)?;
    let index = document.index();
    let symbol = index.symbol(id);
    if &*symbol.name == name {
        return Ok(WorkspaceEdit::default());
    }
    let spans = spans(index, id)?;
    let changed = changed_texts(index, &spans, name);
    verify(document, id, &spans, name, &changed, options)?;
    edits(document, &spans, name)
}

fn is_name(name: &str) -> bool {
    let mut chars = name.chars();
    let first = chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    first && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Every place to change, by file.
fn spans(index: &Index, id: SymbolId) -> Result<BTreeMap<u32, Vec<Span>>, String> {
    let symbol = index.symbol(id);
    let mut all: BTreeMap<u32, Vec<Span>> = BTreeMap::new();
    for occurrence in index.of(id) {
        let file = &index.files[occurrence.span.file as usize];
        if !occurrence.is_spelled || !file.is_written {
            return Err(format!(
                "`{}` is also put together by a macro, or named on the command line",
                symbol.name
            ));
        }
        let shared = index.occurrences.iter().any(|o| o.span == occurrence.span && o.symbol != id);
        // The body of an inline names its parameter where the argument of a call is put.
        if shared && symbol.kind != SymbolKind::InlineParameter {
            return Err(format!(
                "a spot that means `{}` means other things too, in other uses of a macro or inline",
                symbol.name
            ));
        }
        let spans = all.entry(occurrence.span.file).or_default();
        if !spans.contains(&occurrence.span) {
            spans.push(occurrence.span);
        }
    }
    if is_global(symbol.kind) {
        add_unread(index, &symbol.name, &mut all);
    }
    all.values_mut().for_each(|spans| spans.sort());
    Ok(all)
}

fn is_global(kind: SymbolKind) -> bool {
    matches!(
        kind,
        SymbolKind::Global
            | SymbolKind::Struct
            | SymbolKind::MtypeSet
            | SymbolKind::MtypeValue
            | SymbolKind::Proctype
            | SymbolKind::Inline
            | SymbolKind::Macro
    )
}

/// Words that nothing is known of: in parts that were left out, in inlines that nobody calls.
fn add_unread(index: &Index, name: &str, all: &mut BTreeMap<u32, Vec<Span>>) {
    for (number, file) in index.files.iter().enumerate().filter(|(_, f)| f.is_written) {
        let number = number as u32;
        for word in words::names(&file.text).filter(|word| word.text == name) {
            let span = Span { file: number, start: word.start as u32, end: (word.start + name.len()) as u32 };
            let known = index.occurrences.iter().any(|o| o.span == span);
            if !known && !word.is_member {
                all.entry(number).or_default().push(span);
            }
        }
    }
}

fn changed_texts(index: &Index, spans: &BTreeMap<u32, Vec<Span>>, name: &str) -> BTreeMap<u32, String> {
    let change = |(file, spans): (&u32, &Vec<Span>)| {
        let mut text = index.files[*file as usize].text.to_string();
        for span in spans.iter().rev() {
            text.replace_range(span.start as usize..span.end as usize, name);
        }
        (*file, text)
    };
    spans.iter().map(change).collect()
}

/// Reads the model as it would be, and compares what every name means.
fn verify(
    document: &Document,
    id: SymbolId,
    spans: &BTreeMap<u32, Vec<Span>>,
    name: &str,
    changed: &BTreeMap<u32, String>,
    options: &Options,
) -> Result<(), String> {
    let index = document.index();
    let mut options = options.clone();
    for (file, text) in changed {
        options
            .open
            .insert(Path::new(&*index.files[*file as usize].name).to_path_buf(), text.as_str().into());
    }
    let main = &index.files[index.main as usize];
    let text = changed.get(&index.main).map_or(&*main.text, String::as_str);
    let after = study(&main.name, text, &options);
    if document.study.model.is_some() && after.model.is_none() {
        let why = after.diagnostics.iter().find(|d| d.severity == volee::system::Severity::Error);
        return Err(format!(
            "`{name}` cannot be the name: {}",
            why.map_or(String::new(), |d| d.message.clone())
        ));
    }
    // Each old occurrence moves by what was inserted before it; it must mean the same symbol, told by where
    // that is declared.
    let growth = name.len() as i64 - index.symbol(id).name.len() as i64;
    let moved = |span: Span| {
        let none = Vec::new();
        let spans = spans.get(&span.file).unwrap_or(&none);
        let before = spans.iter().filter(|s| s.start < span.start).count() as i64;
        let own = if spans.contains(&span) { growth } else { 0 };
        let start = i64::from(span.start) + before * growth;
        let end = i64::from(span.end) + before * growth + own;
        Span { file: span.file, start: start as u32, end: end as u32 }
    };
    let meaning = |index: &Index, moved: &dyn Fn(Span) -> Span| -> Vec<(Span, SymbolKind, Span)> {
        let mut all: Vec<(Span, SymbolKind, Span)> = index
            .occurrences
            .iter()
            .map(|o| (moved(o.span), index.symbol(o.symbol).kind, moved(index.symbol(o.symbol).span)))
            .collect();
        all.sort_by_key(|(span, kind, declared)| (*span, *kind as u8, *declared));
        all.dedup();
        all
    };
    if meaning(index, &moved) != meaning(&after.index, &|span| span) {
        return Err(format!("with the name `{name}` some name would mean something else than now"));
    }
    Ok(())
}

// The protocol's own type has addresses as keys.
#[allow(clippy::mutable_key_type)]
fn edits(document: &Document, spans: &BTreeMap<u32, Vec<Span>>, name: &str) -> Result<WorkspaceEdit, String> {
    let mut changes = std::collections::HashMap::new();
    for (number, spans) in spans {
        let file = &document.index().files[*number as usize];
        let uri = match *number == document.file {
            true => document.uri.clone(),
            false => {
                uri_of(Path::new(&*file.name)).ok_or_else(|| format!("`{}` has no address", file.name))?
            }
        };
        let lines = Lines::new(&file.text);
        let edit = |span: &Span| TextEdit {
            range: lines.range(span.start as usize, span.end as usize),
            new_text: name.to_owned(),
        };
        changes.insert(uri, spans.iter().map(edit).collect());
    }
    Ok(WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() })
}
