//! Programs with unbounded integers, verified by symbolic search over periodic vector sets.
//!
//! A [`Program`] has control locations and, between them, instructions `T x <= u -> x := A x + b`. [`check`]
//! decides whether a bad vector is reachable, [`reachable`] computes everything that is. Cycles of the
//! program become *meta-transitions* that take any number of rounds in one step, so that loops of ten and of
//! a billion rounds cost the same (Boigelot & Wolper, "Symbolic Verification with Periodic Sets", 1994).
//!
//! `Holds` comes with a closed set that separate code has checked; `Violated` with a run, written as a word
//! with exponents and replayed with exact integers; else the answer is unknown and says why.

mod approximation;
mod backward;
mod certificate;
mod check;
mod cycle;
mod forward;
mod fst;
mod instance;
mod lasso;
mod processes;
mod program;
mod recurrence;
mod spec;
mod text;
mod watch;
mod witness;

pub use certificate::{CertificateError, check_closed, check_never, check_safe};
pub use check::{
    Answer, Direction, Options, Outcome, Parametric, Reachable, Statistics, check, parametric, reachable,
};
pub use fst::{Condition, parse_condition, parse_fst};
pub use instance::Instance;
pub use lasso::{Lasso, Rounds};
pub use processes::{EventAtom, Failure, ProcessOptions, Translation, translate, translate_watching};
pub use program::{Domain, Instruction, LocationId, Program, Region, Transition, TransitionId};
pub use recurrence::{Descent, Recurrence, Recurring, Stage, recurrence};
pub use spec::{ControlledNet, of_net, parse_spec};
pub use watch::{Reading, TooLarge, Watched, Watcher, beside, elsewhere, ends_of};
pub use witness::{Count, CounterRun, Part, ReplayError, State, Witness};
