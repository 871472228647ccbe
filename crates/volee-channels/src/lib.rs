//! Unbounded FIFO channels: is any finite buffer ever big enough?
//!
//! Jard and Jéron (1991, section 3.4) give a condition on two states of one path that is enough for a channel
//! to grow for ever. [`search`] looks for it while it explores whatever has queues ([`Queued`]: communicating
//! machines, Promela programs) depth first in bounded memory, with a bound on what the channels hold that
//! grows from round to round. The answer is [`Boundedness`]: unbounded with a prefix and a loop that was
//! replayed a dozen times, bounded by a number of messages per channel, or unknown with the limit.

mod condition;
mod fifo;
mod generate;
mod machines;
mod program;
mod queued;
mod scm;
mod search;
mod shorter;

pub use fifo::{Configuration, Fifo, queues, system};
pub use generate::random_machines;
pub use machines::{Automaton, Machines, Move, Operation};
pub use program::{Buffered, MOST};
pub use queued::{Next, Pump, Queued, Stride};
pub use scm::read_scm;
pub use search::{Boundedness, Outcome, Statistics, search};
