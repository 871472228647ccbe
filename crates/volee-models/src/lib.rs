//! Models written in Rust, asked and answered as models in files are.
//!
//! ```text
//! Model ──► Explored ──► volee::Source ──► ask, reports, explorer, comparison, tests
//!   ▲        (a System: states packed into bytes, actions interned as labels)
//!   └── Actors: message-passing systems over a network that loses, duplicates or keeps its order
//! ```
//!
//! A [`Model`] has typed states ([`trait@Pack`], which is derived), actions that print themselves, and
//! properties that are closures. `model.check().assert_holds()` in a test is the whole of it:
//!
//! ```
//! use volee_models::{Check, Model, Pack, Property};
//!
//! struct Clock;
//!
//! #[derive(Clone, Debug, Pack)]
//! struct Time { hour: u8 }
//!
//! #[derive(Clone, Debug, PartialEq, Eq, Hash)]
//! enum Tick { Forward, Midnight }
//!
//! impl Model for Clock {
//!     type State = Time;
//!     type Action = Tick;
//!     fn initial(&self) -> Vec<Time> { vec![Time { hour: 0 }] }
//!     fn actions(&self, now: &Time, actions: &mut Vec<Tick>) {
//!         actions.push(if now.hour < 23 { Tick::Forward } else { Tick::Midnight });
//!     }
//!     fn apply(&self, now: &mut Time, tick: &Tick) {
//!         match tick { Tick::Forward => now.hour += 1, Tick::Midnight => now.hour = 0 }
//!     }
//!     fn properties(&self) -> Vec<Property<Self>> {
//!         vec![
//!             Property::always("a day has 24 hours", |_, now: &Time| now.hour < 24),
//!             Property::eventually("noon", |_, now: &Time| now.hour == 12),
//!             Property::ltl("again", "[]<> {noon}"),
//!         ]
//!     }
//! }
//!
//! let checked = Check::new(Clock).run();
//! checked.assert_holds();
//! assert_eq!(checked.states(), 24);
//! ```

// The derived code names this crate by its full path, also in here.
extern crate self as volee_models;

mod actors;
mod check;
mod explored;
mod expression;
mod model;
mod network;
mod pack;
mod parts;
mod property;
mod row;
mod set;

pub use actors::{Actor, ActorAction, Actors, ActorsState, Outbox};
pub use check::{Check, Checked, compare, explore, source};
pub use explored::Explored;
pub use model::Model;
pub use network::{Delivery, Envelope, Id, Loss};
pub use pack::Pack;
#[doc(hidden)]
pub use pack::{below, byte, padded_width, put_padded, shown, skip_padding, sum_of_widths};
pub use property::Property;
pub use row::{Places, Row};
pub use set::Set;
pub use volee::system::Variable;
pub use volee_derive::Pack;

/// The chapter of the book about this crate: its examples are tests.
#[cfg(doctest)]
#[doc = include_str!("../../../book/src/models.md")]
pub struct Book;
