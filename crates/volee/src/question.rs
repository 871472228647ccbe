//! What can be asked of a model: one closed list, with its names in one place.
//!
//! A name is what the answer carries (`invariant x < 3`, `ltl fair`); machines compare them, so they never
//! change.

use std::fmt;

use serde::{Deserialize, Serialize};
use volee_logic::formula::{self, AtomKind};
use volee_logic::hoa;
use volee_logic::ltl::translate_to_buchi;
pub use volee_report::Kind;
use volee_system::Diagnostic;

use crate::answer::AskError;

/// A question.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Question {
    /// No reachable state is stuck where it should not be.
    Deadlock,
    /// No assertion fails, and nothing is done that has no meaning.
    Assertions,
    /// Nothing is done that has no meaning, where that is asked apart from assertions.
    RuntimeErrors,
    /// An expression is true in every reachable state.
    Invariant(String),
    /// An expression is true in some reachable state.
    Reachable(String),
    /// A formula of linear temporal logic is true of every infinite run.
    Ltl {
        /// The name of the model's own formula; a formula without one is named by its text.
        name: Option<String>,
        /// The formula.
        text: String,
    },
    /// A finite-trace formula is true of every run.
    Tl(String),
    /// A deterministic Büchi automaton accepts every infinite run.
    Automaton {
        /// Where it comes from.
        name: String,
        /// The automaton in the Hanoi format.
        text: String,
    },
    /// The model's never claim of this name does not come true.
    Never(String),
    /// No run goes on for ever without passing a progress label.
    Progress,
    /// No run passes accept labels of the model for ever.
    Acceptance,
    /// A formula of the mu-calculus is true in the initial state.
    Mu {
        /// The file it comes from, if it comes from one.
        file: Option<String>,
        /// The formula.
        text: String,
    },
    /// These points of control are never occupied together.
    Apart(String),
    /// No target of a net can be covered.
    Coverable,
    /// The model's own target cannot be reached.
    Target,
    /// Some finite capacity is enough for every channel.
    Bounded,
    /// A part of a question that was taken apart.
    Part {
        /// The whole.
        of: Box<Question>,
        /// Which part, from 1.
        number: usize,
    },
}

impl Question {
    /// A formula of linear temporal logic.
    pub fn ltl(text: impl Into<String>) -> Self {
        Question::Ltl { name: None, text: text.into() }
    }

    /// A formula of linear temporal logic whose automaton is deterministic: every infinite run must be
    /// accepted, which a search decides that only needs the current path.
    ///
    /// # Errors
    /// The text is no formula, or its automaton is not deterministic.
    pub fn deterministic(text: &str) -> Result<Self, AskError> {
        let parsed = formula::parse(text, "ltl formula")?;
        let mut automaton =
            translate_to_buchi(&parsed).map_err(|error| Diagnostic::error(error.to_string(), None))?;
        if automaton.nondeterministic_state().is_some() {
            let message = format!("the automaton of `{text}` is not deterministic");
            return Err(AskError::new(message, "ask it as a formula: that search needs no determinism"));
        }
        Ok(Question::Automaton { name: text.to_string(), text: hoa::hoa(&mut automaton, text) })
    }

    /// A formula of the mu-calculus.
    pub fn mu(text: impl Into<String>) -> Self {
        Question::Mu { file: None, text: text.into() }
    }

    /// An expression that must always be true.
    pub fn invariant(text: impl Into<String>) -> Self {
        Question::Invariant(text.into())
    }

    /// An expression that must be true at some time.
    pub fn reachable(text: impl Into<String>) -> Self {
        Question::Reachable(text.into())
    }

    /// Whether one search of all reachable states answers it.
    pub(crate) fn is_about_states(&self) -> bool {
        matches!(self.kind(), Kind::Deadlock | Kind::Assertions | Kind::Invariant | Kind::Reachable)
    }

    /// Its kind.
    pub fn kind(&self) -> Kind {
        match self {
            Question::Deadlock => Kind::Deadlock,
            Question::Assertions => Kind::Assertions,
            Question::RuntimeErrors => Kind::RuntimeErrors,
            Question::Invariant(_) => Kind::Invariant,
            Question::Reachable(_) => Kind::Reachable,
            Question::Ltl { .. } => Kind::Ltl,
            Question::Tl(_) => Kind::Tl,
            Question::Automaton { .. } => Kind::Automaton,
            Question::Never(_) => Kind::Never,
            Question::Progress => Kind::Progress,
            Question::Acceptance => Kind::Acceptance,
            Question::Mu { .. } => Kind::Mu,
            Question::Apart(_) => Kind::Apart,
            Question::Coverable => Kind::Coverable,
            Question::Target => Kind::Target,
            Question::Bounded => Kind::Bounded,
            Question::Part { of, .. } => of.kind(),
        }
    }

    /// The name of the text it was given as, for messages about places in it: the file, or what it is.
    pub fn origin(&self) -> String {
        match self {
            Question::Ltl { name: Some(name), .. } => format!("ltl {name}"),
            Question::Mu { file: Some(file), .. } => file.clone(),
            Question::Automaton { name, .. } => name.clone(),
            other => format!("{} formula", other.kind().word()),
        }
    }

    /// What the kind's word is followed by.
    fn detail(&self) -> Option<&str> {
        match self {
            Question::Invariant(text) | Question::Reachable(text) | Question::Tl(text) => Some(text),
            Question::Never(text) | Question::Apart(text) => Some(text),
            Question::Ltl { name, text } => Some(name.as_ref().unwrap_or(text)),
            Question::Automaton { name, .. } => Some(name),
            Question::Mu { text, .. } => Some(text.trim()),
            _ => None,
        }
    }

    /// The conditions on states that it speaks of, as texts; those of a formula that is none are not told.
    pub fn conditions(&self) -> Vec<String> {
        let formula = match self {
            Question::Invariant(text) | Question::Reachable(text) => return vec![text.clone()],
            Question::Progress => return vec!["progress".into()],
            Question::Ltl { text, .. } => volee_logic::formula::parse(text, &self.origin()).ok(),
            _ => None,
        };
        let Some(formula) = formula else { return Vec::new() };
        let kinds = formula.atoms().into_iter().map(|id| &formula.pool.atoms()[id.0 as usize].kind);
        let text = |kind: &AtomKind| match kind {
            AtomKind::Predicate(text) | AtomKind::Name(text) => Some(text.to_string()),
            AtomKind::Event(_) => None,
        };
        kinds.filter_map(text).collect()
    }

    /// The name that the model itself gives to it.
    pub fn claim(&self) -> Option<&str> {
        match self {
            Question::Ltl { name: Some(name), .. } | Question::Never(name) => Some(name),
            _ => None,
        }
    }

    /// Whether a user means this question by `word`: its whole name, the word of its kind, the model's name
    /// for it, or `claims` for all that the model claims.
    pub fn is_meant_by(&self, word: &str) -> bool {
        self.to_string() == word
            || self.kind().word() == word
            || self.claim().is_some_and(|name| name == word || word == "claims")
    }
}

impl fmt::Display for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Question::Part { of, number } = self {
            return write!(f, "{of}, part {number}");
        }
        f.write_str(self.kind().word())?;
        self.detail().map_or(Ok(()), |detail| write!(f, " {detail}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_that_scripts_know() {
        let names = [
            (Question::Deadlock, "deadlock"),
            (Question::Assertions, "assertions"),
            (Question::invariant("x < 3"), "invariant x < 3"),
            (Question::reachable("x == 3"), "reachable x == 3"),
            (Question::ltl("[] p"), "ltl [] p"),
            (Question::Ltl { name: Some("fair".into()), text: "[] p".into() }, "ltl fair"),
            (Question::Tl("a".into()), "tl a"),
            (Question::Never("n".into()), "never n"),
            (Question::mu(" <true> true\n"), "mu <true> true"),
            (Question::Apart("A@x,A@x".into()), "never together A@x,A@x"),
            (Question::Bounded, "channels are bounded"),
            (Question::Part { of: Box::new(Question::Tl("a".into())), number: 2 }, "tl a, part 2"),
        ];
        for (question, name) in names {
            assert_eq!(question.to_string(), name);
        }
    }

    #[test]
    fn a_question_is_meant_by_its_name_its_kind_and_the_models_name_for_it() {
        let fair = Question::Ltl { name: Some("fair".into()), text: "[] p".into() };
        assert!(["ltl fair", "ltl", "fair", "claims"].iter().all(|word| fair.is_meant_by(word)));
        assert!(!Question::ltl("fair").is_meant_by("claims"));
        assert!(!Question::Deadlock.is_meant_by("dead"));
    }
}
