//! What the values of settings are called, with a sentence about those that need one: the same words for
//! every caller.

use volee_bes::Solver;
use volee_conform::Livelock;
use volee_counters::Direction;
use volee_families::{Choice, Method};
use volee_search::{Approximation, Fairness, Order, Reduction, Replacement, Runs};

use crate::conformance::Selection;
use crate::graphs::Labels;
use crate::model::Naming;
use crate::settings::Emptiness;

/// A name, what it stands for, and what there is to say about it.
pub type Named<T> = (&'static str, T, &'static str);

/// The value of a name.
pub fn value<T: Copy>(all: &[Named<T>], name: &str) -> Option<T> {
    all.iter().find(|(known, ..)| *known == name).map(|(_, value, _)| *value)
}

/// See [`Settings::order`](crate::Settings::order).
pub const ORDERS: [Named<Order>; 2] = [("dfs", Order::DepthFirst, ""), ("bfs", Order::BreadthFirst, "")];

/// See [`Settings::replacement`](crate::Settings::replacement).
pub const REPLACEMENTS: [Named<Option<Replacement>>; 7] = [
    ("random", Some(Replacement::Random), "One at random"),
    ("oldest", Some(Replacement::Oldest), "The one that was stored first"),
    ("least-deep", Some(Replacement::LeastDeep), "The one nearest to the initial states"),
    ("least-frequent", Some(Replacement::LeastFrequent), "The one met again least often"),
    ("clock", Some(Replacement::Clock), "One that was not met again since it was last considered"),
    ("cheapest", Some(Replacement::Cheapest), "The one that took the least work to explore"),
    ("none", None, "Forget nothing: the search ends where the memory does"),
];

/// See [`Settings::reduction`](crate::Settings::reduction).
pub const REDUCTIONS: [Named<Reduction>; 4] = [
    ("none", Reduction::None, "All steps of every state"),
    (
        "persistent",
        Reduction::Persistent,
        "Persistent sets: the steps of some processes alone where no other can ever interfere with them",
    ),
    (
        "sleep",
        Reduction::Sleep,
        "Sleep sets: where states are forgotten for want of memory, no step whose target is found by another order",
    ),
    ("both", Reduction::Both, "Persistent sets and sleep sets"),
];

/// See [`Settings::approximation`](crate::Settings::approximation).
pub const APPROXIMATIONS: [Named<Approximation>; 2] = [
    ("bitstate", Approximation::Bitstate, "Three bits per state in a large array"),
    ("compact", Approximation::Compact, "A fingerprint of 32 bits per state"),
];

/// See [`Settings::fairness`](crate::Settings::fairness); all runs count where none is named.
pub const FAIRNESS: [Named<Fairness>; 2] = [("weak", Fairness::Weak, ""), ("strong", Fairness::Strong, "")];

/// See [`Settings::emptiness`](crate::Settings::emptiness).
pub const EMPTINESS: [Named<Emptiness>; 2] =
    [("components", Emptiness::Components, ""), ("nested", Emptiness::Nested, "")];

/// See [`Settings::runs`](crate::Settings::runs).
pub const RUNS: [Named<Runs>; 2] = [("prefixes", Runs::Prefixes, ""), ("maximal", Runs::Maximal, "")];

/// See [`Settings::direction`](crate::Settings::direction).
pub const DIRECTIONS: [Named<Direction>; 3] = [
    ("forward", Direction::Forward, "From the initial states"),
    ("backward", Direction::Backward, "From the bad states"),
    ("both", Direction::Both, "From both, in turn"),
];

/// See [`Settings::solver`](crate::Settings::solver).
pub const SOLVERS: [Named<Solver>; 5] = {
    let mut all = [("", Solver::Auto, ""); 5];
    let mut at = 0;
    while at < all.len() {
        all[at] = (Solver::ALL[at].name(), Solver::ALL[at], "");
        at += 1;
    }
    all
};

/// See [`Settings::method`](crate::Settings::method).
pub const METHODS: [Named<Choice>; 7] = [
    ("auto", Choice::Auto, ""),
    ("bra", Choice::Only(Method::Backward), ""),
    ("frakm", Choice::Only(Method::KarpMiller), ""),
    ("fraen", Choice::Only(Method::EmersonNamjoshi), ""),
    ("fbra", Choice::Only(Method::CutOff), ""),
    ("instances", Choice::Only(Method::Instances), ""),
    ("sets", Choice::Only(Method::Sets), ""),
];

/// See [`Options::naming`](crate::Options::naming).
pub const NAMINGS: [Named<Naming>; 2] = [("events", Naming::Events, ""), ("text", Naming::Text, "")];

/// See [`Graphs::labels`](crate::Graphs::labels).
pub const LABELS: [Named<Labels>; 3] =
    [("events", Labels::Events, ""), ("who", Labels::Who, ""), ("text", Labels::Text, "")];

/// See [`Contract::livelock`](crate::Contract::livelock).
pub const LIVELOCKS: [Named<Livelock>; 2] = [
    ("quiescent", Livelock::Quiescent, "A state on a cycle of internal steps is quiescent (TGV)"),
    ("ignored", Livelock::Ignored, "Only states without outputs and internal steps are (Tretmans)"),
];

/// See [`Contract::selection`](crate::Contract::selection).
pub const SELECTIONS: [Named<Selection>; 2] = [
    ("direct", Selection::Direct, "Determinise the product, then search backward from acceptance"),
    (
        "equations",
        Selection::Equations,
        "As the diagnostic of a boolean equation system over the product, then determinise",
    ),
];
