//! A system that is being built: [`Draft`], which is told what will be asked of states.
//!
//! What predicates look at decides what an optimised program keeps of its states, which steps are visible and
//! which may be put off, so they belong to the building of a system. A [`System`] has no way to take any: it
//! is lent by its draft, and as long as somebody has it, its predicates are fixed. Searches and products see
//! systems; only what binds a question to a model sees a draft.

use crate::{Diagnostic, PredicateId, System};

/// What a front end gives: a system, and before that the language in which it is asked about its states.
pub trait Draft {
    /// Compiles a predicate written in the system's own expression language, which [`System::holds`]
    /// evaluates. Without such a language every text is refused.
    ///
    /// # Errors
    /// The text is not an expression of this system; the place counts from line 1, column 1 of `text`. Or
    /// states were asked for already, and do not have what the predicate would look at.
    fn predicate(&mut self, text: &str) -> Result<PredicateId, Diagnostic> {
        let message = format!("this system has no state predicates, so `{text}` means nothing here");
        Err(Diagnostic::error(message, None))
    }

    /// Tells that steps are looked at by their names ([`System::names`]), and which of them count: `counts`
    /// is given the type of a process and what it does, and is true if a step may be meant in which some
    /// process of this type does that. Steps that nobody means may be done together with the one before them;
    /// a system that merges no steps has nothing to do.
    fn only_events(&mut self, _counts: &dyn Fn(&str, &str) -> bool) {}

    /// The system, with the predicates that were told.
    fn system(&mut self) -> &mut dyn System;

    /// The same for good: nothing more can be told.
    fn build(self: Box<Self>) -> Box<dyn System>
    where
        Self: 'static;
}

impl Draft for Box<dyn System> {
    fn system(&mut self) -> &mut dyn System {
        self.as_mut()
    }

    fn build(self: Box<Self>) -> Box<dyn System> {
        *self
    }
}
