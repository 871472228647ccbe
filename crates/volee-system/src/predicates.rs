//! What can be asked of states: [`Predicates`], a capability of systems that have an expression language.
//!
//! Predicates belong to the building of a system. What they look at decides what an optimised program keeps of its states, which steps
//! are visible and which may be put off, so they are told before the first state is asked for and fixed from then on. Searches and
//! products see a system after that: they evaluate predicates ([`System::holds`]) and cannot add any.

use crate::{Diagnostic, PredicateId, System};

/// A system that is told what will be asked of its states.
pub trait Predicates {
    /// Compiles a predicate written in the system's own expression language.
    ///
    /// # Errors
    /// The text is not an expression of this system; the place counts from line 1, column 1 of `text`. Or states were asked for
    /// already, and the system has forgotten what the predicate would look at.
    fn predicate(&mut self, text: &str) -> Result<PredicateId, Diagnostic>;
}

/// Tells a system that is being built what will be asked of its states.
///
/// # Errors
/// As [`Predicates::predicate`], or the system has no expressions at all.
pub fn compile_predicate<S: System + ?Sized>(system: &mut S, text: &str) -> Result<PredicateId, Diagnostic> {
    match system.predicates() {
        Some(predicates) => predicates.predicate(text),
        None => {
            let message = format!("this system has no state predicates, so `{text}` means nothing here");
            Err(Diagnostic::error(message, None))
        }
    }
}
