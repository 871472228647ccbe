//! Where text came from: files, positions in them, and the macros and inlines that brought a token here.
//!
//! A token carries a small [`At`]; only when a place is shown or stored in the model does it become a
//! [`Place`] with line and column. A token that a macro made stands at the macro's name in the text; a token
//! of an inline body stands in the body, as SPIN has it, and remembers the call.

use std::path::PathBuf;
use std::sync::Arc;

use volee_system::{Diagnostic, Place, Severity};

use crate::ast::Name;
use crate::index::Role;
use crate::index::notes::{Entity, Notes, Within};
use crate::limits::MAX_DIAGNOSTICS;

/// A position: a byte offset in a file, and how it got into the token stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct At {
    pub offset: u32,
    pub file: u32,
    /// Index into [`Sources::origins`]; 0 for text that stands there as it is.
    pub origin: u32,
}

/// How a token came to stand where it is.
#[derive(Debug, Clone)]
pub(crate) enum Origin {
    Written,
    /// `written` is known only where names are noted: where the token stands in the macro's definition.
    Macro {
        name: Arc<str>,
        written: Option<At>,
    },
    /// Likewise: where the token stands in the inline's body, or in the call if it is an argument.
    Inline {
        name: Arc<str>,
        call: At,
        written: Option<At>,
    },
}

/// One file, read once.
#[derive(Debug)]
pub(crate) struct File {
    pub name: Arc<str>,
    /// Where `#include` looks for neighbours.
    pub directory: PathBuf,
    pub text: Arc<str>,
    line_starts: Vec<u32>,
    /// Characters before each 256th byte, so that a column in a very long line costs little; empty for ASCII.
    characters: Vec<u32>,
}

impl File {
    fn new(name: &str, directory: PathBuf, text: &str) -> Self {
        let starts = text.bytes().enumerate().filter(|&(_, b)| b == b'\n').map(|(i, _)| i as u32 + 1);
        let line_starts = std::iter::once(0).chain(starts).collect();
        let mut characters = Vec::new();
        if !text.is_ascii() {
            let mut count = 0;
            for (i, byte) in text.bytes().enumerate() {
                if i % 256 == 0 {
                    characters.push(count);
                }
                count += u32::from(byte & 0xc0 != 0x80);
            }
        }
        File { name: name.into(), directory, text: text.into(), line_starts, characters }
    }

    fn characters_before(&self, offset: usize) -> u32 {
        let Some(&before) = self.characters.get(offset / 256) else { return offset as u32 };
        let rest = &self.text.as_bytes()[offset / 256 * 256..offset.min(self.text.len())];
        before + rest.iter().filter(|&&byte| byte & 0xc0 != 0x80).count() as u32
    }

    fn place(&self, offset: u32) -> Place {
        let line = self.line_starts.partition_point(|&start| start <= offset);
        let start = self.line_starts[line - 1];
        let column = self.characters_before(offset as usize) - self.characters_before(start as usize) + 1;
        Place { file: self.name.clone(), line: line as u32, column }
    }
}

/// All files and origins of one run of the front end, and what there is to say about them.
#[derive(Debug)]
pub(crate) struct Sources {
    pub files: Vec<File>,
    origins: Vec<Origin>,
    /// What names mean, for who asked for it.
    pub notes: Option<Box<Notes>>,
    /// The assignments that `->` follows: that is how guards are written.
    pub arrows: Vec<At>,
    diagnostics: Vec<Diagnostic>,
    errors: usize,
    warnings: usize,
    /// Takes the messages beyond what is kept.
    surplus: Diagnostic,
}

impl Sources {
    pub(crate) fn new() -> Self {
        Sources {
            files: Vec::new(),
            origins: vec![Origin::Written],
            notes: None,
            arrows: Vec::new(),
            diagnostics: Vec::new(),
            errors: 0,
            warnings: 0,
            surplus: Diagnostic::error("", None),
        }
    }

    pub(crate) fn add_file(&mut self, name: &str, directory: PathBuf, text: &str) -> u32 {
        self.files.push(File::new(name, directory, text));
        self.files.len() as u32 - 1
    }

    pub(crate) fn add_origin(&mut self, origin: Origin) -> u32 {
        self.origins.push(origin);
        self.origins.len() as u32 - 1
    }

    /// Notes what a name means.
    pub(crate) fn note(&mut self, name: Name, entity: Entity, role: Role) {
        if let Some(notes) = &mut self.notes {
            notes.add(name.at, name.sym, entity, role);
        }
    }

    /// Says what is done with the variable that was last noted at a place.
    pub(crate) fn mark(&mut self, at: At, role: Role) {
        if let Some(notes) = &mut self.notes {
            notes.mark(at, role);
        }
    }

    /// Says which part of the model comes next.
    pub(crate) fn enter(&mut self, within: Within) {
        if let Some(notes) = &mut self.notes {
            notes.within = within;
        }
    }

    /// A place that a macro or inline gives to a token, remembering where that is written.
    pub(crate) fn made(&mut self, at: At, written: At) -> At {
        if self.notes.is_none() {
            return at;
        }
        let written = Some(written);
        let origin = match &self.origins[at.origin as usize] {
            Origin::Written => return at,
            Origin::Macro { name, .. } => Origin::Macro { name: name.clone(), written },
            Origin::Inline { name, call, .. } => Origin::Inline { name: name.clone(), call: *call, written },
        };
        At { origin: self.add_origin(origin), ..at }
    }

    /// Where a token stands in the text, whatever brought it to its place.
    pub(crate) fn written(&self, mut at: At) -> At {
        loop {
            at = match &self.origins[at.origin as usize] {
                Origin::Macro { written: Some(written), .. }
                | Origin::Inline { written: Some(written), .. } => *written,
                _ => return At { origin: 0, ..at },
            };
        }
    }

    pub(crate) fn place(&self, at: At) -> Place {
        self.files[at.file as usize].place(at.offset)
    }

    pub(crate) fn line(&self, at: At) -> u32 {
        self.files[at.file as usize].line_starts.partition_point(|&start| start <= at.offset) as u32
    }

    /// Records an error about `length` characters and returns it for adding advice.
    pub(crate) fn error(&mut self, at: At, length: usize, message: impl Into<String>) -> &mut Diagnostic {
        self.errors += 1;
        if self.errors > MAX_DIAGNOSTICS {
            return self.surplus();
        }
        self.report(Severity::Error, at, length, message.into())
    }

    pub(crate) fn warning(&mut self, at: At, length: usize, message: impl Into<String>) -> &mut Diagnostic {
        self.warnings += 1;
        if self.warnings > MAX_DIAGNOSTICS {
            return self.surplus();
        }
        self.report(Severity::Warning, at, length, message.into())
    }

    fn surplus(&mut self) -> &mut Diagnostic {
        self.surplus.help = None;
        &mut self.surplus
    }

    fn report(&mut self, severity: Severity, at: At, length: usize, message: String) -> &mut Diagnostic {
        let mut diagnostic =
            Diagnostic { severity, ..Diagnostic::error(message, self.place(at)) }.spanning(length as u32);
        match &self.origins[at.origin as usize] {
            Origin::Written => {}
            Origin::Macro { name, .. } => {
                let written = self.text_at(at, name.len()) == Some(name);
                diagnostic.help = written.then(|| format!("this is in the expansion of the macro `{name}`"));
                diagnostic.length = name.len() as u32;
            }
            Origin::Inline { name, call, .. } => {
                diagnostic.help = Some(format!("in the inline `{name}`, called at {}", self.place(*call)));
            }
        }
        self.diagnostics.push(diagnostic);
        self.diagnostics.last_mut().expect("one was just pushed")
    }

    fn text_at(&self, at: At, length: usize) -> Option<&str> {
        self.files[at.file as usize].text.get(at.offset as usize..at.offset as usize + length)
    }

    pub(crate) fn has_errors(&self) -> bool {
        self.errors > 0
    }

    pub(crate) fn error_count(&self) -> usize {
        self.errors
    }

    /// Whether so much is wrong that going on helps nobody.
    pub(crate) fn too_many_errors(&self) -> bool {
        self.errors >= MAX_DIAGNOSTICS
    }

    /// The message that was recorded last.
    pub(crate) fn last(&mut self) -> Option<&mut Diagnostic> {
        self.diagnostics.last_mut()
    }

    /// What was found so far.
    pub(crate) fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// What was found, each message once.
    pub(crate) fn into_diagnostics(self) -> Vec<Diagnostic> {
        let mut kept: Vec<Diagnostic> = Vec::new();
        for diagnostic in self.diagnostics {
            if !kept.contains(&diagnostic) {
                kept.push(diagnostic);
            }
        }
        kept
    }
}

impl At {
    /// A place that nobody wrote: the first character of a file.
    pub(crate) fn start_of(file: u32) -> Self {
        At { offset: 0, file, origin: 0 }
    }
}

/// Adds advice to a diagnostic, before what it already says.
pub(crate) trait Advice {
    fn advise(&mut self, help: impl Into<String>) -> &mut Self;
}

impl Advice for Diagnostic {
    fn advise(&mut self, help: impl Into<String>) -> &mut Self {
        let help = help.into();
        self.help = Some(match self.help.take() {
            None => help,
            Some(known) => format!("{help}; {known}"),
        });
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters_also_in_long_lines_of_wide_ones() {
        let text = format!("a\n{}x", "é".repeat(1000));
        let file = File::new("m", PathBuf::new(), &text);
        assert_eq!((file.place(0).line, file.place(0).column), (1, 1));
        let x = file.place(text.len() as u32 - 1);
        assert_eq!((x.line, x.column), (2, 1001));
        let end = file.place(text.len() as u32);
        assert_eq!((end.line, end.column), (2, 1002));
    }
}
