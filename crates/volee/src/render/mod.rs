//! What the library has found, as people read it and as machines do.
//!
//! `volee-report` knows how a run, a diagnostic or a number looks; here is what needs the types of the rooms
//! as well: answers, graphs, tests. Every caller of the door (the command line, an editor, a page) shows the
//! same things in the same words. What only one of them can know, such as the names of its flags, it hands
//! in.

pub mod advise;
pub mod automaton;
pub mod check;
pub mod conformance;
pub mod graphs;
pub mod replay;
mod run;
mod simulation;
mod solve;

pub use run::{RunView, filter};
pub use simulation::SimulationTelling;
pub use solve::resolution;
use volee_report::Answer;

/// An answer, for machines and for people.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The machine-readable object; its verdict is the worst of all.
    pub answer: Answer,
    /// The text for people; ends with a line feed unless empty.
    pub text: String,
}

impl Outcome {
    /// An outcome from its two forms.
    pub fn new(answer: Answer, text: impl Into<String>) -> Self {
        Outcome { answer, text: text.into() }
    }

    /// The outcome of what only produces a text: the object carries it as `output`.
    pub fn output(command: &str, text: impl Into<String>) -> Self {
        let text = text.into();
        let mut answer = Answer::new(command);
        answer.add("output", text.as_str());
        Outcome { answer, text }
    }
}

/// The most memory this process has had, where the system tells.
pub fn peak_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find(|l| l.starts_with("VmHWM:"))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes << 10)
}
