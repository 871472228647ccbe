//! The one central interface of volee, and the words that every room of the house shares.
//!
//! A [`System`] is anything that can be explored: packed byte states, and for each state its labelled steps,
//! pushed into a [`Sink`] in a fixed order. Front ends become systems, products of systems are systems again,
//! and an engine never knows what it explores. What an engine answers is a [`Verdict`]: it holds, it is
//! violated with a [`Witness`], or it is unknown with the [`Limit`] that was hit.
//!
//! This crate depends on no other room.
//!
//! | module | what it has |
//! |---|---|
//! | `system`, `draft` | what can be explored, and how it is told what will be asked |
//! | `reducible`, `divisible`, `components`, `liftable`, `inspection` | capabilities |
//! | `run`, `lift`, `verdict` | runs, by ordinals and as people see them, and answers |
//! | `budget`, `guard`, `memory`, `progress` | limits, and what is told on the way |
//! | `part` | work that several share |
//! | `place`, `scanner` | texts, places and messages |
//! | `scc`, `random` | the one search for components, the one generator |

mod budget;
mod components;
mod divisible;
mod draft;
pub mod guard;
mod inspection;
mod lift;
mod liftable;
pub mod memory;
pub mod part;
mod place;
mod progress;
mod random;
mod reducible;
mod run;
mod scanner;
mod scc;
mod system;
mod verdict;

pub use budget::{Amount, Budget, Limit, Meter, ParseBudgetError, parse_duration, parse_size};
pub use components::{Components, Records};
pub use divisible::{Divisible, Fineness, Kinds, Part, Touched};
pub use draft::Draft;
pub use inspection::{
    Choice, Covered, Inspectable, Inspection, Queue, Standing, coverage, inspect, unreached, value,
};
pub use lift::{LiftError, Lifted, lift};
pub use liftable::{Followed, Liftable, Move};
pub use place::{Diagnostic, Edit, Fix, Place, Severity};
pub use progress::{Progress, Quiet, Snapshot};
pub use random::{Random, Whole};
pub use reducible::{Awake, PersistentSet, ProcessSet, Reducible, SleepSet};
pub use run::{ReplayError, Run, RunState, RunStep, Witness, replay, replay_end, walk};
pub use scanner::{Comment, Scanner, is_word};
pub use scc::{Scc, UNREACHED, strong_components};
pub use system::{
    Action, Event, EventKind, Fault, FaultId, FaultKind, Flow, Label, Marks, PredicateId, Sink, Step, System,
    Unreached, Variable, collect_initial, collect_steps,
};
pub use verdict::{Reason, ReasonKind, Verdict, Violation};
