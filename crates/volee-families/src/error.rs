//! What can go wrong before an engine starts.

use volee_system::Diagnostic;

/// An input that no engine of this crate can take.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FamilyError {
    /// A net or family that refers to something that is not there, or has numbers out of range.
    #[error("malformed: {message}")]
    Malformed {
        /// Which part.
        message: String,
    },
    /// The model is outside the class that can be decided; each diagnostic says where and why.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Refused(Vec<Diagnostic>),
}
