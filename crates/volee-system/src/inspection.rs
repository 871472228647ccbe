//! What a reader wants to see of a state beside its variables: where every process stands, what it could do there or
//! what it waits for, and what the channels hold. Coverage, the same question asked of a whole search, is here as well.
//!
//! Nothing here is on a hot path: an explorer asks for one state at a time, a report for the last state of a run.

use serde::{Deserialize, Serialize};

use crate::Place;

/// A state, looked at closely.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Inspection {
    /// The processes, by number.
    pub processes: Vec<Standing>,
    /// The channels with a buffer, in the order of the variables.
    pub channels: Vec<Queue>,
}

/// Where a process stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Standing {
    /// The process type.
    pub process: String,
    /// Its number.
    pub pid: u32,
    /// It may rest here for ever.
    pub may_end: bool,
    /// All it has left to do is to disappear.
    pub ended: bool,
    /// The statements it is at.
    pub options: Vec<Choice>,
}

impl Standing {
    /// Whether it can do anything now.
    pub fn can_move(&self) -> bool {
        self.options.iter().any(|o| o.waits.is_none())
    }

    /// The process as it is shown everywhere.
    pub fn name(&self) -> String {
        format!("{}({})", self.process, self.pid)
    }

    /// What it waits for, in words: `(x==1) or (x==2)`; nothing for a process that can move.
    pub fn waits_for(&self) -> Option<String> {
        if self.can_move() {
            return None;
        }
        let mut waits: Vec<&str> = self.options.iter().filter_map(|o| o.waits.as_deref()).collect();
        waits.dedup();
        (!waits.is_empty()).then(|| waits.join(" or "))
    }

    /// What the conditions it waits for look at, as it is now: `x = 0`.
    pub fn because(&self) -> Vec<&str> {
        let mut all: Vec<&str> = Vec::new();
        for text in self.options.iter().flat_map(|o| &o.because) {
            if !all.contains(&text.as_str()) {
                all.push(text);
            }
        }
        all
    }
}

/// A statement that a process is at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice {
    /// The statement as written.
    pub text: String,
    /// Where it stands.
    pub place: Option<Place>,
    /// What it waits for, where it cannot be done now: `c!1: nobody receives`.
    pub waits: Option<String>,
    /// What a condition that is false looks at, as it is now: `x = 0`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub because: Vec<String>,
}

/// A channel with a buffer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Queue {
    /// Its name, as among the variables.
    pub name: String,
    /// How many messages fit; none for a channel without a bound.
    pub capacity: Option<u32>,
    /// The messages, the oldest first, each with its fields.
    pub messages: Vec<Vec<String>>,
}

/// How often a statement was executed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Covered {
    /// The process type it belongs to.
    pub process: String,
    /// The statement as written.
    pub text: String,
    /// Where it stands.
    pub place: Option<Place>,
    /// Steps that executed it.
    pub times: u64,
}
