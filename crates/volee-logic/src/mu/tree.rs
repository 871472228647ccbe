//! A formula as it was written: the parsed, checked tree before any translation.
//!
//! Terms live in one vector, children before parents, so that every pass is a loop and none recurses over a
//! formula. Naive evaluators in tests read this type, so that the whole translation is covered by them.

use volee_system::Place;

use super::action::Action;
use super::equations::Sign;

/// Longer left sides of implications are not looked at.
const LONGEST_LEFT_SIDE: usize = 1 << 12;

/// A term of a [`Tree`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TermId(pub u32);

/// A regular expression over actions, of a [`Tree`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RegularId(pub u32);

/// Diamond or box.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Modality {
    /// `<R>`: some run of R leads there.
    Possibly,
    /// `[R]`: all runs of R lead there.
    Necessarily,
}

/// One operator of a formula.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Term {
    /// `true` or `false`.
    Constant(bool),
    /// `{text}`, an index into [`Tree::predicates`].
    Predicate(usize),
    /// Negation.
    Not(TermId),
    /// Conjunction.
    And(TermId, TermId),
    /// Disjunction.
    Or(TermId, TermId),
    /// Implication.
    Implies(TermId, TermId),
    /// `<R> f` or `[R] f`.
    Modal(Modality, RegularId, TermId),
    /// `<R> @`: an infinite run of R after R after R. `[R] @` is its negation.
    Forever(Modality, RegularId),
    /// A bound variable, an index into [`Tree::variables`].
    Variable(u32),
    /// `mu X . f` or `nu X . f`.
    Fix(Sign, u32, TermId),
}

/// A regular expression over actions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Regular {
    /// One step whose action is described by the predicate.
    Step(usize),
    /// The empty sequence.
    Nil,
    /// `?(f)`: no step, but only where f holds.
    Test(TermId),
    /// One after the other.
    Sequence(Vec<RegularId>),
    /// Any of them.
    Choice(Vec<RegularId>),
    /// Any number of times.
    Star(RegularId),
    /// From `.1` to `.2` times, or more without `.2`.
    Repeat(RegularId, u32, Option<u32>),
}

/// A predicate over states in the system's own language.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatePredicate {
    /// What stands between the braces.
    pub text: String,
    /// Where the text starts.
    pub place: Place,
}

/// A parsed formula: all variables bound, all of them monotone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tree {
    /// The terms, children before parents.
    pub terms: Vec<Term>,
    /// The place and length of each term's first token.
    pub places: Vec<(Place, u32)>,
    /// The regular expressions, children before parents.
    pub regulars: Vec<Regular>,
    /// The action predicates, each once.
    pub actions: Vec<Action>,
    /// The state predicates.
    pub predicates: Vec<StatePredicate>,
    /// The names of the fixed-point variables; one entry per binder.
    pub variables: Vec<String>,
    /// The formula itself.
    pub root: TermId,
}

impl Tree {
    /// A term by its id.
    pub fn term(&self, id: TermId) -> &Term {
        &self.terms[id.0 as usize]
    }

    /// The left sides of implications that speak of states alone, each once, as expressions of the system's
    /// own language.
    pub fn left_sides(&self) -> Vec<String> {
        let mut texts: Vec<Option<String>> = Vec::with_capacity(self.terms.len());
        let mut all = Vec::new();
        for term in &self.terms {
            let of = |id: &TermId| texts[id.0 as usize].as_ref();
            let both = |a, b, operator| Some(format!("({} {operator} {})", of(a)?, of(b)?));
            let text = match term {
                Term::Predicate(index) => Some(format!("({})", self.predicates[*index].text.trim())),
                Term::Not(a) => of(a).map(|text| format!("!{text}")),
                Term::And(a, b) => both(a, b, "&&"),
                Term::Or(a, b) => both(a, b, "||"),
                _ => None,
            };
            if let Term::Implies(left, _) = term
                && let Some(left) = of(left)
                && !all.contains(left)
            {
                all.push(left.clone());
            }
            texts.push(text.filter(|text| text.len() <= LONGEST_LEFT_SIDE));
        }
        all
    }

    /// A regular expression by its id.
    pub fn regular(&self, id: RegularId) -> &Regular {
        &self.regulars[id.0 as usize]
    }
}
