//! The one error type of this crate: what a user can do wrong, or run out of.

use volee_lts::LtsError;
use volee_system::{Diagnostic, Limit};

/// Why there is no test.
#[derive(Debug, thiserror::Error)]
pub enum ConformError {
    /// The specification, the purpose, the interface or the mapping makes no sense; with its place where
    /// there is one.
    #[error("{0}")]
    Input(Diagnostic),
    /// A budget ran out.
    #[error("{0}")]
    Limit(Limit),
    /// No behaviour of the specification reaches what the purpose asks for.
    #[error("no test exists: the specification cannot do what the purpose asks for")]
    NoTest,
}

impl ConformError {
    /// An input error without a place.
    pub fn input(message: impl Into<String>) -> Self {
        ConformError::Input(Diagnostic::error(message, None))
    }

    /// An input error without a place, and what to do about it.
    pub fn advised(message: impl Into<String>, help: impl Into<String>) -> Self {
        ConformError::Input(Diagnostic::error(message, None).with_help(help))
    }
}

impl From<Limit> for ConformError {
    fn from(limit: Limit) -> Self {
        ConformError::Limit(limit)
    }
}

impl From<Diagnostic> for ConformError {
    fn from(diagnostic: Diagnostic) -> Self {
        ConformError::Input(diagnostic)
    }
}

impl From<LtsError> for ConformError {
    fn from(error: LtsError) -> Self {
        match error {
            LtsError::Input(diagnostic) => ConformError::Input(diagnostic),
            LtsError::Limit(limit) => ConformError::Limit(limit),
            other => ConformError::input(other.to_string()),
        }
    }
}
