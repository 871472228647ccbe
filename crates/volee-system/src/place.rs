//! Places in source text, and messages about them.
//!
//! Every front end reports errors as [`Diagnostic`]s: a message, a place in the *original* file (never in a
//! macro expansion), and, where there is one, advice. A front end returns all it finds; only the binary
//! decides how they look.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// A position in a source file. Lines and columns start at 1; columns count characters.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Place {
    /// The file as the user named it.
    pub file: Arc<str>,
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
}

impl Place {
    /// A place from its parts.
    pub fn new(file: impl Into<Arc<str>>, line: u32, column: u32) -> Self {
        Place { file: file.into(), line, column }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// How bad a diagnostic is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The input cannot be used.
    Error,
    /// The input can be used, but probably says something else than its author meant.
    Warning,
}

/// A message about an input, with its place and advice where there are any.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{}{message}", place.as_ref().map(|p| format!("{p}: ")).unwrap_or_default())]
pub struct Diagnostic {
    /// Error or warning.
    pub severity: Severity,
    /// What is wrong, in a sentence without a full stop.
    pub message: String,
    /// Where, if the message is about a place.
    pub place: Option<Place>,
    /// How many characters from `place` on the message is about (0 when unknown).
    pub length: u32,
    /// What to do about it.
    pub help: Option<String>,
    /// What kind of mistake this is, in a word that stays the same: `unused-variable`.
    pub code: Option<Arc<str>>,
    /// A change of the text that does it.
    pub fix: Option<Box<Fix>>,
}

/// A change of the text that repairs what a [`Diagnostic`] is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fix {
    /// What it does, as an order: "write `==`".
    pub title: String,
    /// The parts of the text to replace; they do not overlap.
    pub edits: Vec<Edit>,
}

/// A part of one line that is replaced; of length 0 where something is inserted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edit {
    /// Where it begins.
    pub place: Place,
    /// How many characters are replaced, none of them the end of a line.
    pub length: u32,
    /// By what.
    pub text: String,
}

impl Diagnostic {
    /// An error at a place.
    pub fn error(message: impl Into<String>, place: impl Into<Option<Place>>) -> Self {
        Diagnostic {
            severity: Severity::Error,
            message: message.into(),
            place: place.into(),
            length: 0,
            help: None,
            code: None,
            fix: None,
        }
    }

    /// A warning at a place.
    pub fn warning(message: impl Into<String>, place: impl Into<Option<Place>>) -> Self {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(message, place) }
    }

    /// The same message with advice.
    #[must_use]
    pub fn with_help(self, help: impl Into<String>) -> Self {
        Diagnostic { help: Some(help.into()), ..self }
    }

    /// The same message with a change that repairs what it is about.
    #[must_use]
    pub fn with_fix(self, title: impl Into<String>, edits: Vec<Edit>) -> Self {
        Diagnostic { fix: Some(Box::new(Fix { title: title.into(), edits })), ..self }
    }

    /// The same message about `length` characters.
    #[must_use]
    pub fn spanning(self, length: u32) -> Self {
        Diagnostic { length, ..self }
    }
}
