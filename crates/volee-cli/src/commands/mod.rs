//! The verbs, one file each.
//!
//! To add a verb: a file here with a clap `Args` struct whose `run(self, &Context)` returns an
//! [`Ended`](crate::outcome::Ended), and two lines below. `completions.rs` is the smallest example, `check.rs`
//! one with a model and budgets; CONTRIBUTING.md tells the conventions.

use clap::Subcommand;

use crate::context::Context;
use crate::outcome::Ended;

macro_rules! verbs {
    ($($(#[$doc:meta])* $name:literal $variant:ident in $module:ident;)*) => {
        $(mod $module;)*

        /// What volee can be asked to do.
        // One value per call: its size does not matter.
        #[allow(clippy::large_enum_variant)]
        #[derive(Debug, Subcommand)]
        #[allow(clippy::large_enum_variant, reason = "there is one value in a run of the program")]
        pub enum Command {
            $($(#[$doc])* $variant($module::$variant),)*
        }

        impl Command {
            /// The verb as the user writes it.
            pub fn name(&self) -> &'static str {
                match self { $(Command::$variant(_) => $name,)* }
            }

            /// Runs the verb.
            pub fn run(self, context: &Context) -> Ended {
                match self { $(Command::$variant(verb) => verb.run(context),)* }
            }
        }
    };
}

verbs! {
    /// Explore every state of a model and answer questions about it
    "check" Check in check;
    /// Show the automaton of a temporal formula: its size, DOT, HOA, a never claim
    "automaton" Automaton in automaton;
    /// Everything that unbounded integers can be, location by location
    "reachable" Reachable in reachable;
    /// Take steps of a model, at random or chosen one by one
    "simulate" Simulate in simulate;
    /// Re-run a stored run step by step
    "replay" Replay in replay;
    /// A tour: a protocol bug found, explained, replayed and repaired
    "demo" Demo in demo;
    /// Compare two systems: equal in the sense asked for, or a difference to show for it
    "compare" Compare in compare;
    /// Make the smallest system that is equal to a given one in the sense asked for
    "reduce" Reduce in reduce;
    /// Write a system in another format, by the extension of the file
    "convert" Convert in convert;
    /// Tell the figures of a system: states, transitions, labels, deadlocks, cycles
    "info" Info in info;
    /// Make a system of a family, of any size, for benchmarks and experiments
    "generate" Generate in generate;
    /// Solve a system of boolean equations or a parity game
    "solve" Solve in solve;
    /// Make tests from a specification: a test case, all of them, a covering suite
    "tests" Tests in tests;
    /// Run tests against a real program, over its standard streams or TCP
    "conform" Conform in conform;
    /// Do parts of questions that are asked with --cluster, for this machine or for others
    "worker" Worker in worker;
    /// Print shell completions
    "completions" Completions in completions;
    /// Print the manual page, of volee or of one verb
    "man" Man in man;
}
