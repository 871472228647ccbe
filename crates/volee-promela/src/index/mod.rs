//! What every name of a model means, for editors: symbols, and each place where one is declared, read or
//! written.
//!
//! Places are those of the original files: a name in a macro's body stands in the `#define`, an argument of
//! an inline where the call is written. One spot may mean several things (a macro's body is read wherever it
//! is used). Text with mistakes has an index too, of what could be understood.

mod describe;
mod finish;
pub(crate) mod notes;

use std::sync::Arc;

pub(crate) use finish::build;

/// A number of a symbol in [`Index::symbols`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SymbolId(pub u32);

/// A part of a file, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// Index into [`Index::files`].
    pub file: u32,
    /// The first byte.
    pub start: u32,
    /// Behind the last byte.
    pub end: u32,
}

/// A file of the model.
#[derive(Debug, Clone)]
pub struct File {
    /// As the model names it.
    pub name: Arc<str>,
    /// What was read.
    pub text: Arc<str>,
    /// False for definitions of the command line, which nobody can edit.
    pub is_written: bool,
}

/// What there is to be named.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum SymbolKind {
    Global,
    Local,
    Parameter,
    Field,
    Struct,
    MtypeSet,
    MtypeValue,
    Label,
    Proctype,
    Init,
    Never,
    Trace,
    Formula,
    Inline,
    InlineParameter,
    Macro,
}

/// Something with a name.
#[derive(Debug, Clone)]
pub struct Symbol {
    /// As written; for what has none, what volee calls it (`init`, `ltl_0`).
    pub name: Arc<str>,
    /// What it is.
    pub kind: SymbolKind,
    /// Where its name is declared; the keyword where it has none.
    pub span: Span,
    /// From the beginning to the end of its declaration, for what is declared at the top level.
    pub extent: Option<Span>,
    /// The proctype, struct, set or inline that it belongs to.
    pub owner: Option<SymbolId>,
    /// Its declaration in one line.
    pub detail: String,
    /// The values it takes in any run, as far as can be told without running, in words.
    pub values: Option<String>,
    /// Whether it is a channel, or an array of them.
    pub is_channel: bool,
    /// Whether its name stands in the text as it is: not pasted together, not left out.
    pub is_spelled: bool,
}

/// What is done with a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// It is declared here.
    Declare,
    /// Its value is used, or it is called, started or jumped to.
    Read,
    /// It gets a value.
    Write,
    /// Both, as in `x++`.
    Update,
    /// A message is sent to it.
    Send,
    /// A message is received from it.
    Receive,
}

/// A symbol at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Occurrence {
    /// Where.
    pub span: Span,
    /// What.
    pub symbol: SymbolId,
    /// What is done with it.
    pub role: Role,
    /// The proctype, claim or formula that does it.
    pub within: Option<SymbolId>,
    /// Whether the name stands here letter by letter, so that it can be replaced.
    pub is_spelled: bool,
}

/// The names of a model.
#[derive(Debug, Clone, Default)]
pub struct Index {
    /// The files it was read from.
    pub files: Vec<File>,
    /// The file that was asked about.
    pub main: u32,
    /// Everything with a name, in the order of the text.
    pub symbols: Vec<Symbol>,
    /// Every use, in the order of the text.
    pub occurrences: Vec<Occurrence>,
}

impl Index {
    /// A symbol.
    pub fn symbol(&self, SymbolId(id): SymbolId) -> &Symbol {
        &self.symbols[id as usize]
    }

    /// All symbols with their numbers.
    pub fn all(&self) -> impl Iterator<Item = (SymbolId, &Symbol)> {
        self.symbols.iter().enumerate().map(|(i, symbol)| (SymbolId(i as u32), symbol))
    }

    /// What stands at a byte of a file, or ends there.
    pub fn at(&self, file: u32, offset: u32) -> impl Iterator<Item = &Occurrence> {
        self.occurrences
            .iter()
            .filter(move |o| o.span.file == file && (o.span.start..=o.span.end).contains(&offset))
    }

    /// Where a symbol occurs.
    pub fn of(&self, symbol: SymbolId) -> impl Iterator<Item = &Occurrence> {
        self.occurrences.iter().filter(move |o| o.symbol == symbol)
    }

    /// The number of a file, by its name.
    pub fn file(&self, name: &str) -> Option<u32> {
        self.files.iter().position(|f| f.is_written && &*f.name == name).map(|i| i as u32)
    }
}
