//! What a reader wants to see of a state beside its variables: where every process stands, what it could do
//! there or what it waits for, and what the channels hold. Coverage, the same question asked of a whole
//! search, is here as well.
//!
//! Nothing here is on a hot path: an explorer asks for one state at a time, a report for the last state of a
//! run.

use serde::{Deserialize, Serialize};

use crate::{FaultId, Place, PredicateId, System, Unreached};

/// What a system with processes tells beside its steps: the capability behind [`System::inspection`].
pub trait Inspectable {
    /// Where processes stand in a state and what they wait for, and what channels hold.
    fn inspect(&mut self, state: &[u8]) -> Inspection;

    /// The value of the expression behind a predicate, for display: a truth value is 0 or 1.
    ///
    /// # Errors
    /// As for [`System::holds`].
    fn value(&mut self, predicate: PredicateId, state: &[u8]) -> Result<i64, FaultId>;

    /// How often each statement was executed by the steps pushed so far.
    fn coverage(&self) -> Vec<Covered>;
}

/// A state of any system, looked at closely: nothing to see where it offers no inspection.
pub fn inspect<S: System + ?Sized>(system: &mut S, state: &[u8]) -> Inspection {
    system.inspection().map(|i| i.inspect(state)).unwrap_or_default()
}

/// The value of the expression behind a predicate, where there are only truth values 0 or 1.
///
/// # Errors
/// As for [`System::holds`].
pub fn value<S: System + ?Sized>(
    system: &mut S,
    predicate: PredicateId,
    state: &[u8],
) -> Result<i64, FaultId> {
    if let Some(inspectable) = system.inspection() {
        return inspectable.value(predicate, state);
    }
    system.holds(predicate, state).map(i64::from)
}

/// How often each statement was executed by the steps pushed so far, where the system keeps count.
pub fn coverage<S: System + ?Sized>(system: &mut S) -> Vec<Covered> {
    system.inspection().map(|i| i.coverage()).unwrap_or_default()
}

/// The statements that no step pushed so far has executed, where the system keeps count.
pub fn unreached<S: System + ?Sized>(system: &mut S) -> Vec<Unreached> {
    let never = coverage(system).into_iter().filter(|statement| statement.times == 0);
    never.map(|s| Unreached { process: s.process, text: s.text, place: s.place }).collect()
}

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
