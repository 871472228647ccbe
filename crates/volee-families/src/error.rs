//! What can go wrong before an engine starts.

use volee_system::Diagnostic;

/// An input that no engine of this crate can take.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FamilyError {
    /// A net that refers to something that is not there, or has numbers out of range.
    #[error(transparent)]
    Malformed(#[from] volee_nets::NetError),
    /// The model is outside the class that can be decided; each diagnostic says where and why.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Refused(Vec<Diagnostic>),
}
