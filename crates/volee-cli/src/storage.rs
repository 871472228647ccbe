//! Arguments about what a search remembers of the states it has seen, and what there is to say about it afterwards.

use clap::{Args, ValueEnum};
use volee::report::{Answer, count};
use volee::search::{Approximation, Check, Order, Reduction, Replacement, Turnover};

use crate::args::BudgetArgs;

#[derive(Debug, Clone, Args)]
pub struct StorageArgs {
    /// What a depth-first search does when the memory is used up: which state it forgets to make room, or `none` to end
    #[arg(long, value_name = "POLICY", value_enum, default_value_t = Policy::Random, help_heading = "Budget")]
    pub replacement: Policy,

    /// Remember less than the states, so that more of them fit; no error found is then no proof (exit code 3)
    #[arg(long, value_name = "KIND", value_enum, help_heading = "Budget")]
    pub approximate: Option<Kind>,

    /// Take fewer steps where the order of independent ones does not matter: the same answers from fewer states
    ///
    /// The default is both, and none with --plain and for a shortest counterexample (--search bfs)
    #[arg(long, value_name = "KIND", value_enum)]
    pub reduction: Option<Reduce>,

    /// The seed of whatever is left to chance
    #[arg(long, value_name = "NUMBER", default_value_t = 0, help_heading = "Budget")]
    pub seed: u64,
}

/// The policies of replacement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Policy {
    /// One at random
    Random,
    /// The one that was stored first
    Oldest,
    /// The one nearest to the initial states
    LeastDeep,
    /// The one met again least often
    LeastFrequent,
    /// One that was not met again since it was last considered
    Clock,
    /// The one that took the least work to explore
    Cheapest,
    /// Forget nothing: the search ends where the memory does
    None,
}

/// The kinds of reduction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Reduce {
    /// All steps of every state
    None,
    /// Persistent sets: the steps of some processes alone where no other can ever interfere with them
    Persistent,
    /// Sleep sets: where states are forgotten for want of memory, no step whose target is found by another order
    Sleep,
    /// Persistent sets and sleep sets
    Both,
}

/// The kinds of approximation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    /// Three bits by state in a large array
    Bitstate,
    /// A fingerprint of 32 bits by state
    Compact,
}

/// The memory of an approximate search that was not told how much it may have: its table does not grow, so it takes
/// nearly all of it at once, and a larger one is slower.
const APPROXIMATE_MEMORY: u64 = 512 << 20;

impl StorageArgs {
    /// The budget for this way of storing states.
    pub fn budget(&self, budget: &BudgetArgs) -> BudgetArgs {
        let default = self.approximate.map(|_| APPROXIMATE_MEMORY);
        BudgetArgs { memory: budget.memory.or(default), ..budget.clone() }
    }

    /// Tells the questions how to store states, and which steps to take.
    pub fn apply(&self, check: Check, plain: bool) -> Check {
        let all_steps = plain || check.order == Order::BreadthFirst;
        let reduction = match self.reduction.unwrap_or(if all_steps { Reduce::None } else { Reduce::Both }) {
            Reduce::None => Reduction::None,
            Reduce::Persistent => Reduction::Persistent,
            Reduce::Sleep => Reduction::Sleep,
            Reduce::Both => Reduction::Both,
        };
        let replacement = match self.replacement {
            Policy::Random => Some(Replacement::Random),
            Policy::Oldest => Some(Replacement::Oldest),
            Policy::LeastDeep => Some(Replacement::LeastDeep),
            Policy::LeastFrequent => Some(Replacement::LeastFrequent),
            Policy::Clock => Some(Replacement::Clock),
            Policy::Cheapest => Some(Replacement::Cheapest),
            Policy::None => None,
        };
        let approximation = self.approximate.map(|kind| match kind {
            Kind::Bitstate => Approximation::Bitstate,
            Kind::Compact => Approximation::Compact,
        });
        check.replacement(replacement).approximation(approximation).reduction(reduction).seed(self.seed)
    }

    /// What was forgotten, for the machine-readable answer and as a sentence.
    pub fn report(&self, turnover: Option<&Turnover>, answer: &mut Answer) -> Option<String> {
        answer.set("seed", self.seed);
        let turnover = turnover?;
        answer.set("insertions", turnover.insertions);
        answer.set("replaced", turnover.replaced);
        answer.set("hit_rate", turnover.hit_rate);
        answer.set("longest_path", turnover.longest_path);
        answer.set("states_are_estimated", true);
        answer.set("estimate_error", turnover.distinct_error);
        Some(format!(
            "the memory did not hold them all: stored {} times, forgotten {} times, found {:.1} % of what was looked up, \
             so the number of states is an estimate (± {:.1} %); the longest path kept was {} states; seed {}",
            count(turnover.insertions),
            count(turnover.replaced),
            turnover.hit_rate * 100.0,
            turnover.distinct_error * 100.0,
            count(turnover.longest_path),
            self.seed,
        ))
    }
}
