//! What should be true of a model: closures over its states, and formulas over the names of such closures.

use std::fmt;
use std::sync::Arc;

use volee::Question;

use crate::model::Model;

/// Tells of a state whether something is true in it.
type Condition<M> = Arc<dyn Fn(&M, &<M as Model>::State) -> bool + Send + Sync>;

/// Something that should be true, or a name for something that a formula speaks of.
pub struct Property<M: Model + ?Sized> {
    name: String,
    kind: Kind,
    pub(crate) condition: Option<Condition<M>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    Always,
    Sometimes,
    Eventually,
    Formula(String),
    Named,
}

impl<M: Model + ?Sized> Property<M> {
    /// True in every reachable state.
    pub fn always(name: &str, condition: impl Fn(&M, &M::State) -> bool + Send + Sync + 'static) -> Self {
        Property::with(name, Kind::Always, condition)
    }

    /// True in some reachable state.
    pub fn sometimes(name: &str, condition: impl Fn(&M, &M::State) -> bool + Send + Sync + 'static) -> Self {
        Property::with(name, Kind::Sometimes, condition)
    }

    /// True at some time in every run that is not cut short: those that go on for ever, and those that cannot
    /// go on.
    pub fn eventually(name: &str, condition: impl Fn(&M, &M::State) -> bool + Send + Sync + 'static) -> Self {
        Property::with(name, Kind::Eventually, condition)
    }

    /// A name for what formulas speak of. Nothing is claimed.
    pub fn named(name: &str, condition: impl Fn(&M, &M::State) -> bool + Send + Sync + 'static) -> Self {
        Property::with(name, Kind::Named, condition)
    }

    /// A formula of linear temporal logic over the names of properties, `[](asked -> <> answered)`; a name
    /// with blanks stands in braces, and so does a comparison with a variable as runs show it:
    /// `{leader == 2}`.
    pub fn ltl(name: &str, formula: &str) -> Self {
        Property { name: name.into(), kind: Kind::Formula(formula.into()), condition: None }
    }

    fn with(
        name: &str,
        kind: Kind,
        condition: impl Fn(&M, &M::State) -> bool + Send + Sync + 'static,
    ) -> Self {
        Property { name: name.into(), kind, condition: Some(Arc::new(condition)) }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What is asked, if anything is.
    pub fn question(&self) -> Option<Question> {
        let ltl = |text: String| Question::Ltl { name: Some(self.name.clone()), text };
        match &self.kind {
            Kind::Always => Some(Question::invariant(&self.name)),
            Kind::Sometimes => Some(Question::reachable(&self.name)),
            Kind::Eventually => Some(ltl(format!("<> {{{}}}", self.name))),
            Kind::Formula(text) => Some(ltl(text.clone())),
            Kind::Named => None,
        }
    }
}

impl<M: Model + ?Sized> Clone for Property<M> {
    fn clone(&self) -> Self {
        Property { name: self.name.clone(), kind: self.kind.clone(), condition: self.condition.clone() }
    }
}

impl<M: Model + ?Sized> fmt::Debug for Property<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Property").field("name", &self.name).field("kind", &self.kind).finish_non_exhaustive()
    }
}
