//! What can be explored: [`System`], and what it tells about its steps.
//!
//! The trait is object-safe on purpose: a product wraps a system and is one again, and the binary chooses at
//! run time. One indirect call per step is small beside hashing a state; a generic engine over a concrete
//! type pays not even that.
//!
//! Two rules make everything else simple:
//! * **The order of steps is fixed.** A step is named for good by its source state and its ordinal in it, so
//!   a witness is a list of ordinals and the hot loop carries no text.
//! * **A label determines its text.** Whoever needs data in labels (values sent, say) interns it in the
//!   system.

use std::borrow::Cow;
use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

use crate::run::nth_step;
use crate::{Components, Divisible, Inspectable, Liftable, Limit, Place, Reducible};

/// Whether the receiver of pushed states wants more.
pub type Flow = ControlFlow<()>;

/// The name of a step, resolved by [`System::label`]. Label 0 is what the system says it is, not a special
/// case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct Label(pub u32);

/// An error met while taking a step, resolved by [`System::fault`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct FaultId(pub u32);

/// A state predicate, fixed when the system is built ([`Draft`](crate::Draft)) and evaluated by
/// [`System::holds`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PredicateId(pub u32);

/// A step as the hot loop sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Step {
    /// What happened.
    pub label: Label,
    /// Which process moved, where the system has processes: needed for fairness. 0 otherwise.
    pub process: u8,
    /// An assertion that failed or a run-time error met on the way. The target is then the state after the
    /// step where there is one, else the source state.
    pub fault: Option<FaultId>,
    /// The step ends in its fault and the system does not move (a condition that has no value, a blocked
    /// indivisible sequence): the target is the source, and the step is not counted as a transition.
    pub stays: bool,
}

impl Step {
    /// A step that is only a label.
    pub fn labelled(label: u32) -> Self {
        Step { label: Label(label), ..Step::default() }
    }
}

/// Receives the steps of a state.
pub trait Sink {
    /// Takes one step; `target` is only valid during the call. `Break` ends the enumeration.
    fn push(&mut self, step: Step, target: &[u8]) -> Flow;
}

impl<F: FnMut(Step, &[u8]) -> Flow> Sink for F {
    fn push(&mut self, step: Step, target: &[u8]) -> Flow {
        self(step, target)
    }
}

/// Anything that can be explored.
///
/// Only the first three methods are required; the next make answers richer, and the last are capabilities
/// that a system may offer: a search that does not need one never sees it. Methods take `&mut self` so that a
/// system may own scratch space and interned labels; a parallel engine asks for one system per worker.
pub trait System {
    /// Pushes the initial states, in a fixed order.
    fn initial(&mut self, push: &mut dyn FnMut(&[u8]) -> Flow) -> Flow;

    /// Pushes the steps of `state`, in a fixed order, until the sink breaks.
    fn steps(&mut self, state: &[u8], sink: &mut dyn Sink) -> Flow;

    /// The text of a label that this system has pushed. The internal step is `i` or `tau`.
    fn label(&self, label: Label) -> Cow<'_, str>;

    /// Every text by which a pattern may mean a label, its own first: the single events of a step that is
    /// several, the statements behind them. Asked once per label.
    fn names(&self, label: Label) -> Vec<String> {
        vec![self.label(label).into_owned()]
    }

    /// Whether a state without steps is a proper end rather than a deadlock.
    fn is_valid_end(&mut self, _state: &[u8]) -> bool {
        false
    }

    /// The error behind an id that this system has pushed.
    fn fault(&self, fault: FaultId) -> Fault {
        Fault { kind: FaultKind::Runtime, message: format!("fault {}", fault.0), place: None }
    }

    /// What could not be enumerated so far, if anything: an answer that needs every step is then not known. A
    /// search asks when it is over.
    fn left_out(&self) -> Option<Limit> {
        None
    }

    /// What a human wants to know of the `ordinal`-th step of `state`: one action, or several where the step
    /// is an indivisible sequence. Never called in a hot loop.
    fn explain(&mut self, state: &[u8], ordinal: usize) -> Vec<Action> {
        let taken = nth_step(self, state, ordinal).ok();
        taken.map(|(step, _)| Action::plain(self.label(step.label))).into_iter().collect()
    }

    /// The variables of a state, in a fixed order, for display.
    fn variables(&self, state: &[u8]) -> Vec<Variable> {
        let hex: String = state.iter().map(|b| format!("{b:02x}")).collect();
        vec![Variable { name: "state".into(), value: hex }]
    }

    /// Evaluates one of its predicates in a state.
    ///
    /// # Errors
    /// The expression has no value in this state (a division by zero, say).
    fn holds(&mut self, _predicate: PredicateId, _state: &[u8]) -> Result<bool, FaultId> {
        Ok(false)
    }

    /// The progress and accept labels that control is at in a state.
    fn marks(&mut self, _state: &[u8]) -> Marks {
        Marks::default()
    }

    /// If all states are numbers below some n, packed as four little-endian bytes, that n. An engine can then
    /// keep what it knows of a state in a plain array, without a hash table.
    fn numbered(&self) -> Option<u32> {
        None
    }

    /// The steps of a state will be asked for soon: a system that has them in memory may bring them near. Only
    /// one that is [`System::numbered`] is told.
    fn prefetch(&self, _state: &[u8]) {}

    /// How the bytes of states are cut into components, where the system can tell. It stays so once a state
    /// was asked for.
    fn components(&self) -> Option<Components> {
        None
    }

    /// The same system as one whose steps are made of moves, where it is optimised and can tell what its
    /// steps stand for.
    fn liftable(&mut self) -> Option<&mut dyn Liftable> {
        None
    }

    /// The same system as one that makes its steps part by part, where it has components and can.
    fn divisible(&mut self) -> Option<&mut dyn Divisible> {
        None
    }

    /// The same system as one whose states can be looked at closely, where it has processes or channels to
    /// show.
    fn inspection(&mut self) -> Option<&mut dyn Inspectable> {
        None
    }

    /// The same system as one whose searches may leave out steps, where it can tell which.
    fn reducible(&mut self) -> Option<&mut dyn Reducible> {
        None
    }
}

/// What the control points of a state are marked with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Marks {
    /// Some process is at a progress label.
    pub progress: bool,
    /// Some process is at an accept label.
    pub accept: bool,
}

/// What went wrong in a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// Assertion or run-time error.
    pub kind: FaultKind,
    /// A sentence without a full stop.
    pub message: String,
    /// Where in the model.
    pub place: Option<Place>,
}

/// The kinds of [`Fault`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FaultKind {
    /// An assertion of the model failed.
    Assertion,
    /// The model did something that has no meaning: a division by zero, an index out of range.
    Runtime,
}

/// One indivisible action of a step, for humans and for charts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Action {
    /// The process that acts, e.g. `Sender`; empty where there are no processes.
    pub process: String,
    /// Its number.
    pub pid: u32,
    /// The statement as written, e.g. `c!msg(3)`.
    pub text: String,
    /// Where it stands.
    pub place: Option<Place>,
    /// The channel operation it performs, if any.
    pub event: Option<Event>,
    /// What it prints, if it prints.
    pub output: Option<String>,
    /// The variables it changes, where the system tells: also those whose new value is forgotten before the
    /// step ends.
    #[serde(default)]
    pub changed: Vec<Variable>,
}

impl Action {
    /// An action that is only a text.
    pub fn plain(text: impl Into<String>) -> Self {
        Action {
            process: String::new(),
            pid: 0,
            text: text.into(),
            place: None,
            event: None,
            output: None,
            changed: Vec::new(),
        }
    }
}

/// A channel operation, as a message-sequence chart shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// Send, receive, or both at once.
    pub kind: EventKind,
    /// The channel's name in the model, with its index if it is one of an array.
    pub channel: String,
    /// The channel's identity in this state: two names may be one channel.
    pub channel_id: u32,
    /// The values that travel, as text.
    pub values: Vec<String>,
    /// The name and number of the partner of a rendezvous; of a message in a buffer its receiver, where only
    /// the sending is shown.
    pub partner: Option<(String, u32)>,
}

/// The kinds of [`Event`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EventKind {
    /// A message enters a buffer.
    Send,
    /// A message leaves a buffer (or is copied out of it).
    Receive,
    /// A message passes from sender to receiver in one step; the acting process is the sender.
    Rendezvous,
}

/// A variable of a state, for display.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variable {
    /// The full name, e.g. `count`, `Sender[1]:bit`, `q[2]`.
    pub name: String,
    /// The value as text; a channel shows its contents.
    pub value: String,
}

/// A statement that was never executed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unreached {
    /// The process type it belongs to.
    pub process: String,
    /// The statement as written.
    pub text: String,
    /// Where it stands.
    pub place: Option<Place>,
}

/// The initial states as owned bytes: for tests and small systems.
pub fn collect_initial<S: System + ?Sized>(system: &mut S) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    let _ = system.initial(&mut |state| {
        all.push(state.to_vec());
        Flow::Continue(())
    });
    all
}

/// The steps of a state as owned values: for tests, replays and small systems.
pub fn collect_steps<S: System + ?Sized>(system: &mut S, state: &[u8]) -> Vec<(Step, Vec<u8>)> {
    let mut all = Vec::new();
    let _ = system.steps(state, &mut |step: Step, target: &[u8]| {
        all.push((step, target.to_vec()));
        Flow::Continue(())
    });
    all
}
