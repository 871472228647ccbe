//! Exhaustive search over any [`System`](volee_system::System): traversals (depth-first, breadth-first) over
//! stores.
//!
//! One call does a check: describe the questions in a [`Check`], and [`check`] answers each of them with a
//! verdict. Stores see bytes, never meaning; traversals see states and steps, never what they stand for.
//!
//! | module | what it does |
//! |---|---|
//! | `check`, `questions`, `explorer` | a check and its state, whatever the traversal |
//! | `depth`, `breadth`, `replacement`, `counted`, `approximate` | traversals of safety questions |
//! | `parallel`, `hunt`, `partition` | all cores over one table, or in all ways for errors; one worker's part elsewhere |
//! | `atoms`, `product`, `claimed`, `monitor`, `ltl`, `deterministic` | formulas bound to a system, and products, which are systems |
//! | `nested`, `liveness`, `terminal` | cycles: by nested searches, by components |
//! | `reducing`, `proviso`, `memo`, `recall` | fewer steps with the same answers, steps that are remembered |
//! | `keeping`, `spill` | searches on disk |
//! | `confirm`, `paths`, `audit`, `silence` | runs, and what was never met |

mod approximate;
mod atoms;
mod audit;
mod breadth;
mod check;
mod claimed;
mod confirm;
mod counted;
mod depth;
mod deterministic;
mod effort;
mod explorer;
mod hunt;
mod keeping;
mod liveness;
mod ltl;
mod memo;
mod monitor;
mod nested;
mod pairs;
mod parallel;
pub mod partition;
mod paths;
mod product;
mod proviso;
mod questions;
mod recall;
mod recent;
mod reducing;
mod replacement;
mod silence;
mod single;
mod spill;
mod staging;
mod terminal;

pub use atoms::{BoundAtom, Names, bind, looks_at_events, watch_only};
pub use audit::{Audit, audit_remembered_steps};
pub use check::{
    Answer, Approximation, Check, Order, Outcome, Reduction, Statistics, Swarm, Turnover, check, check_with,
};
pub use claimed::{ClaimObserver, ClaimProduct};
pub use confirm::{is_fair, is_strongly_fair};
pub use deterministic::DeterministicProperty;
pub use liveness::{Claim, ClaimOptions, ClaimOutcome, Emptiness, Fairness, check_claim};
pub use ltl::{LtlQuestion, left_sides};
pub use monitor::{MonitorObserver, Monitored, Runs, TlQuestion};
pub use nested::NestedStore;
pub use parallel::{Another, Crew, LARGE, MOST_CREW};
pub use product::{Beside, Observer, Pair, Pairing};
pub use recall::{NamedStep, Recall};
pub use volee_store::Replacement;
