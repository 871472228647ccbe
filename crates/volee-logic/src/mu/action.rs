//! Action predicates: which labels a modality speaks of.
//!
//! Labels are matched by their text, once per label: [`Labels`] keeps, for each label id that a system has
//! pushed, the set of a formula's predicates that hold of it as one word of bits. The hot loop then tests a
//! bit.

use volee_system::{Label, System};

use crate::formula::{EventMatcher, EventPattern, LabelPattern, PatternError};

/// An action predicate of a formula, as an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ActionId(pub u8);

/// A predicate over the text of a label.
#[derive(Debug, Clone)]
pub enum Action {
    /// Every label, or none.
    Constant(bool),
    /// Steps that a pattern of the one grammar means: a text in quotes, or a regular expression.
    Event(EventPattern, EventMatcher),
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
            (Action::Event(a, _), Action::Event(b, _)) => a == b,
            (Action::Internal, Action::Internal) => true,
            (Action::Not(a), Action::Not(b)) => a == b,
            (Action::And(a), Action::And(b)) | (Action::Or(a), Action::Or(b)) => a == b,
            _ => false,
        }
    }
}

impl Eq for Action {}

impl Action {
    /// What a text in quotes or a regular expression means.
    ///
    /// # Errors
    /// The regular expression is not one.
    pub fn event(label: LabelPattern) -> Result<Self, PatternError> {
        let pattern = EventPattern::any_process(label);
        let matcher = pattern.matcher()?;
        Ok(Action::Event(pattern, matcher))
    }

    /// Whether a step with these names satisfies the predicate.
    pub fn matches<T: AsRef<str>>(&self, names: &[T]) -> bool {
        match self {
            Action::Constant(value) => *value,
            Action::Event(_, matcher) => matcher.matches_any(names),
            Action::Internal => names.iter().any(|name| matches!(name.as_ref(), "i" | "tau")),
            Action::Not(inner) => !inner.matches(names),
            Action::And(all) => all.iter().all(|a| a.matches(names)),
            Action::Or(all) => all.iter().any(|a| a.matches(names)),
        }
    }

    /// The labels and patterns that the predicate names, for the note about those that never occur.
    pub fn named<'a>(&'a self, names: &mut Vec<&'a Action>) {
        match self {
            Action::Event(..) => names.push(self),
            Action::Not(inner) => inner.named(names),
            Action::And(all) | Action::Or(all) => all.iter().for_each(|a| a.named(names)),
            Action::Constant(_) | Action::Internal => {}
        }
    }
}

impl Action {
    /// Whether it is the same for all labels.
    fn is_blind(&self) -> bool {
        match self {
            Action::Constant(_) => true,
            Action::Event(..) | Action::Internal => false,
            Action::Not(inner) => inner.is_blind(),
            Action::And(all) | Action::Or(all) => all.iter().all(Action::is_blind),
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

    /// The predicates that hold of every label, where none of them looks at labels.
    pub fn blind(&self) -> Option<u64> {
        self.actions.iter().all(Action::is_blind).then(|| self.mask::<&str>(&[]))
    }

    fn mask<T: AsRef<str>>(&self, names: &[T]) -> u64 {
        let holding = self.actions.iter().enumerate().filter(|(_, action)| action.matches(names));
        holding.fold(0, |mask, (i, _)| mask | 1 << i)
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
        let text = system.names(label);
        self.silent.retain(|named| !named.matches(&text));
        let mask = self.mask(&text);
        let at = label.0 as usize;
        if self.masks.len() <= at {
            self.masks.resize(at + 1, UNKNOWN);
        }
        self.masks[at] = mask;
        mask
    }
}
