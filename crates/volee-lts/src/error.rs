//! The one error type of this crate: what a user can do wrong, or run out of.

use std::io;
use std::path::PathBuf;

use volee_system::{Diagnostic, Limit};

/// Why a transition system could not be read, built, compared or reduced.
#[derive(Debug, thiserror::Error)]
pub enum LtsError {
    /// The input says something that has no meaning; with its place.
    #[error("{0}")]
    Input(Diagnostic),
    /// The file cannot be opened, read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file as the user named it.
        path: PathBuf,
        /// What the operating system says.
        source: io::Error,
    },
    /// An answer did not stand up to its own check: a defect of volee, never of the input.
    #[error("internal error: {0}; please report this")]
    Unconfirmed(String),
    /// A budget ran out.
    #[error("{0}")]
    Limit(Limit),
}

impl LtsError {
    /// An input or output error about the file called `name`.
    pub fn io(name: impl Into<PathBuf>, source: io::Error) -> Self {
        LtsError::Io { path: name.into(), source }
    }

    /// An input error that has no place.
    pub fn input(message: impl Into<String>) -> Self {
        LtsError::Input(Diagnostic::error(message, None))
    }
}

impl From<Diagnostic> for LtsError {
    fn from(diagnostic: Diagnostic) -> Self {
        LtsError::Input(diagnostic)
    }
}

impl From<Limit> for LtsError {
    fn from(limit: Limit) -> Self {
        LtsError::Limit(limit)
    }
}
