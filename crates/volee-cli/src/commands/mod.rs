//! The verbs, one file each.
//!
//! To add a verb: a file here with a clap `Args` struct whose `run(self, &Context)` returns an
//! [`Ended`], and three lines below. `completions.rs` is the smallest example, `check.rs`
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

use clap::Subcommand;

use crate::context::Context;
use crate::outcome::Ended;

/// What volee can be asked to do.
#[derive(Debug, Subcommand)]
#[allow(clippy::large_enum_variant, reason = "there is one value in a run of the program")]
pub enum Command {
    /// Explore every state of a model and answer questions about it
    Check(check::Check),
    /// Tell which engines fit a model, what each could answer, and what stands in the way of the others
    Advise(advise::Advise),
    /// Show the automaton of a temporal formula: its size, DOT, HOA, a never claim
    Automaton(automaton::Automaton),
    /// Everything that unbounded integers can be, location by location
    Reachable(reachable::Reachable),
    /// Take steps of a model, at random or chosen one by one
    Simulate(simulate::Simulate),
    /// Re-run a stored run step by step
    Replay(replay::Replay),
    /// Go on with a search that was kept by `check --checkpoint`
    Resume(resume::Resume),
    /// Step through a model in the browser: source, chart, variables, checks
    Explore(explore::Explore),
    /// A tour: a protocol bug found, explained, replayed and repaired
    Demo(demo::Demo),
    /// Compare two systems: equal in the sense asked for, or a difference to show for it
    Compare(compare::Compare),
    /// Make the smallest system that is equal to a given one in the sense asked for
    Reduce(reduce::Reduce),
    /// Write a system in another format, by the extension of the file
    Convert(convert::Convert),
    /// Tell the figures of a system: states, transitions, labels, deadlocks, cycles
    Info(info::Info),
    /// Make a system of a family, of any size, for benchmarks and experiments
    Generate(generate::Generate),
    /// Solve a system of boolean equations or a parity game
    Solve(solve::Solve),
    /// Make tests from a specification: a test case, all of them, a covering suite
    Tests(tests::Tests),
    /// Run tests against a real program, over its standard streams or TCP
    Conform(conform::Conform),
    /// Do parts of questions that are asked with --cluster, for this machine or for others
    Worker(worker::Worker),
    /// Find slips in models before any search
    Lint(lint::Lint),
    /// Lay a model out with even indentation and spacing
    Format(format::Format),
    /// Serve an editor: the language server, on stdin and stdout
    Lsp(lsp::Lsp),
    /// Print shell completions
    Completions(completions::Completions),
    /// Print the manual page, of volee or of one verb
    Man(man::Man),
}

impl Command {
    /// Runs the verb.
    pub fn run(self, context: &Context) -> Ended {
        match self {
            Command::Check(verb) => verb.run(context),
            Command::Advise(verb) => verb.run(context),
            Command::Automaton(verb) => verb.run(context),
            Command::Reachable(verb) => verb.run(context),
            Command::Simulate(verb) => verb.run(context),
            Command::Replay(verb) => verb.run(context),
            Command::Resume(verb) => verb.run(context),
            Command::Explore(verb) => verb.run(context),
            Command::Demo(verb) => verb.run(context),
            Command::Compare(verb) => verb.run(context),
            Command::Reduce(verb) => verb.run(context),
            Command::Convert(verb) => verb.run(context),
            Command::Info(verb) => verb.run(context),
            Command::Generate(verb) => verb.run(context),
            Command::Solve(verb) => verb.run(context),
            Command::Tests(verb) => verb.run(context),
            Command::Conform(verb) => verb.run(context),
            Command::Worker(verb) => verb.run(context),
            Command::Lint(verb) => verb.run(context),
            Command::Format(verb) => verb.run(context),
            Command::Lsp(verb) => verb.run(context),
            Command::Completions(verb) => verb.run(context),
            Command::Man(verb) => verb.run(context),
        }
    }
}
