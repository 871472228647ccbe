//! Action predicates: which labels a modality speaks of.
//!
//! Labels are matched by their text, once per label: [`Labels`] keeps, for each label id that a system has pushed, the
//! set of a formula's predicates that hold of it as one word of bits. The hot loop then tests a bit.

use regex::Regex;
use volee_system::{Label, System};

/// An action predicate of a formula, as an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ActionId(pub u8);

/// A predicate over the text of a label.
#[derive(Debug, Clone)]
pub enum Action {
    /// Every label, or none.
    Constant(bool),
    /// Exactly this label.
    Label(String),
    /// Labels that match the expression from beginning to end.
    Pattern(Regex),
    /// The internal action, written `i` or `tau`.
    Internal,
    /// Labels that do not satisfy it.
    Not(Box<Action>),
    /// Labels that satisfy all.
    And(Vec<Action>),
    /// Labels that satisfy at least one.
    Or(Vec<Action>),
}

impl PartialEq for Action {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Action::Constant(a), Action::Constant(b)) => a == b,
            (Action::Label(a), Action::Label(b)) => a == b,
            (Action::Pattern(a), Action::Pattern(b)) => a.as_str() == b.as_str(),
            (Action::Internal, Action::Internal) => true,
            (Action::Not(a), Action::Not(b)) => a == b,
            (Action::And(a), Action::And(b)) | (Action::Or(a), Action::Or(b)) => a == b,
            _ => false,
        }
    }
}

impl Eq for Action {}

impl Action {
    /// Whether the label's text satisfies the predicate.
    pub fn matches(&self, label: &str) -> bool {
        match self {
            Action::Constant(value) => *value,
            Action::Label(text) => text == label,
            Action::Pattern(pattern) => pattern.is_match(label),
            Action::Internal => label == "i" || label == "tau",
            Action::Not(inner) => !inner.matches(label),
            Action::And(all) => all.iter().all(|a| a.matches(label)),
            Action::Or(all) => all.iter().any(|a| a.matches(label)),
        }
    }

    /// The labels and patterns that the predicate names, for the note about those that never occur.
    pub fn named<'a>(&'a self, names: &mut Vec<&'a Action>) {
        match self {
            Action::Label(_) | Action::Pattern(_) => names.push(self),
            Action::Not(inner) => inner.named(names),
            Action::And(all) | Action::Or(all) => all.iter().for_each(|a| a.named(names)),
            Action::Constant(_) | Action::Internal => {}
        }
    }
}

/// For each label, the set of predicates that hold of it; filled on demand.
#[derive(Debug, Clone)]
pub struct Labels {
    actions: Vec<Action>,
    /// Per label id; `UNKNOWN` until asked for.
    masks: Vec<u64>,
    /// What the predicates name and no label so far is.
    silent: Vec<Action>,
}

/// One bit more than a formula may use, so it never is a mask.
const UNKNOWN: u64 = 1 << 63;

impl Labels {
    /// The most predicates one formula may use.
    pub const MAXIMUM: usize = 63;

    /// No label seen yet.
    pub fn new(actions: &[Action]) -> Self {
        assert!(actions.len() <= Self::MAXIMUM, "the parser refuses formulas with more action predicates");
        let mut named = Vec::new();
        actions.iter().for_each(|action| action.named(&mut named));
        let mut silent: Vec<Action> = Vec::new();
        for action in named {
            if !silent.contains(action) {
                silent.push(action.clone());
            }
        }
        Labels { actions: actions.to_vec(), masks: Vec::new(), silent }
    }

    /// The labels and patterns named by the predicates that no label met so far is.
    pub fn silent(&self) -> impl Iterator<Item = &Action> {
        self.silent.iter()
    }

    /// The predicates that hold of a label, bit by bit, if the label was met before.
    #[inline]
    pub fn known(&self, label: Label) -> Option<u64> {
        self.masks.get(label.0 as usize).copied().filter(|mask| *mask != UNKNOWN)
    }

    /// Looks at a label's text, for good.
    #[cold]
    pub fn learn<S: System + ?Sized>(&mut self, system: &S, label: Label) -> u64 {
        let text = system.label(label);
        self.silent.retain(|named| !named.matches(&text));
        let mask = self
            .actions
            .iter()
            .enumerate()
            .filter(|(_, a)| a.matches(&text))
            .fold(0, |mask, (i, _)| mask | 1 << i);
        let at = label.0 as usize;
        if self.masks.len() <= at {
            self.masks.resize(at + 1, UNKNOWN);
        }
        self.masks[at] = mask;
        mask
    }
}
