//! Running a test against a real program.
//!
//! [`Mapping`] turns labels into lines and back, [`Wire`] carries lines over the standard streams of a
//! program or over TCP, [`Guide`] says what to do next and what is allowed (a stored test, or the
//! specification itself), and [`execute`] is the tester between them.

mod guide;
mod mapping;
mod tester;
mod wire;

pub use guide::{After, Guide, Plan, RandomWalk, StoredTest};
pub use mapping::Mapping;
pub use tester::{Cause, Entry, Event, Report, Rules, execute};
pub use wire::{Adapter, Deaf, Heard, StartError, Wire, end_programs};
