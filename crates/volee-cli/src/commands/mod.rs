//! The verbs, one file each.
//!
//! To add a verb: a file here with a clap `Args` struct whose `run(self, &Context)` returns an
//! [`Ended`], and three lines below: its room, what it is for, its name. `completions.rs` is the smallest example, `check.rs`
//! one with a model and budgets; CONTRIBUTING.md tells the conventions.

mod advise;
mod automaton;
pub mod check;
mod compare;
mod completions;
mod conform;
mod convert;
mod demo;
mod explore;
mod format;
mod generate;
mod info;
mod lint;
mod lsp;
mod man;
mod reachable;
mod reduce;
mod replay;
mod resume;
mod simulate;
mod solve;
mod tests;
mod worker;

use clap::{ArgMatches, Args, FromArgMatches, Subcommand};

use crate::context::Context;
use crate::outcome::Ended;

/// The verbs: what `volee --help` says of each, its room and its arguments.
///
/// The arguments of a verb are described to clap when that verb is called. A check of a small model takes less
/// time than a description of all flags of all verbs.
macro_rules! verbs {
    ($(#[doc = $about:literal] $room:ident $verb:ident;)*) => {
        /// What volee can be asked to do.
        #[derive(Debug)]
        #[allow(clippy::large_enum_variant, reason = "there is one value in a run of the program")]
        pub enum Command {
            $(#[doc = $about] $verb($room::$verb),)*
        }

        impl Command {
            /// Runs the verb.
            pub fn run(self, context: &Context) -> Ended {
                match self {
                    $(Command::$verb(verb) => verb.run(context),)*
                }
            }
        }

        impl FromArgMatches for Command {
            fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
                match matches.subcommand() {
                    $(Some((stringify!($room), words)) => {
                        $room::$verb::from_arg_matches(words).map(Command::$verb)
                    })*
                    _ => Err(clap::Error::new(clap::error::ErrorKind::MissingSubcommand)),
                }
            }

            fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
                *self = Self::from_arg_matches(matches)?;
                Ok(())
            }
        }

        impl Subcommand for Command {
            fn augment_subcommands(all: clap::Command) -> clap::Command {
                all$(.subcommand(
                    // Groups of arguments have sentences of their own, which are not about the verb.
                    clap::Command::new(stringify!($room))
                        .about($about.trim_ascii())
                        .defer(|verb| $room::$verb::augment_args(verb).about($about.trim_ascii()).long_about(None)),
                ))*
            }

            fn augment_subcommands_for_update(all: clap::Command) -> clap::Command {
                Self::augment_subcommands(all)
            }

            fn has_subcommand(name: &str) -> bool {
                [$(stringify!($room)),*].contains(&name)
            }
        }
    };
}

verbs! {
    /// Explore every state of a model and answer questions about it
    check Check;
    /// Tell which engines fit a model, what each could answer, and what stands in the way of the others
    advise Advise;
    /// Show the automaton of a temporal formula: its size, DOT, HOA, a never claim
    automaton Automaton;
    /// Everything that unbounded integers can be, location by location
    reachable Reachable;
    /// Take steps of a model, at random or chosen one by one
    simulate Simulate;
    /// Re-run a stored run step by step
    replay Replay;
    /// Go on with a search that was kept by `check --checkpoint`
    resume Resume;
    /// Step through a model in the browser: source, chart, variables, checks
    explore Explore;
    /// A tour: a protocol bug found, explained, replayed and repaired
    demo Demo;
    /// Compare two systems: equal in the sense asked for, or a difference to show for it
    compare Compare;
    /// Make the smallest system that is equal to a given one in the sense asked for
    reduce Reduce;
    /// Write a system in another format, by the extension of the file
    convert Convert;
    /// Tell the figures of a system: states, transitions, labels, deadlocks, cycles
    info Info;
    /// Make a system of a family, of any size, for benchmarks and experiments
    generate Generate;
    /// Solve a system of boolean equations or a parity game
    solve Solve;
    /// Make tests from a specification: a test case, all of them, a covering suite
    tests Tests;
    /// Run tests against a real program, over its standard streams or TCP
    conform Conform;
    /// Do parts of questions that are asked with --cluster, for this machine or for others
    worker Worker;
    /// Find slips in models before any search
    lint Lint;
    /// Lay a model out with even indentation and spacing
    format Format;
    /// Serve an editor: the language server, on stdin and stdout
    lsp Lsp;
    /// Print shell completions
    completions Completions;
    /// Print the manual page, of volee or of one verb
    man Man;
}
