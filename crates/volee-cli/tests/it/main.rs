//! The binary as its users meet it.

mod advise;
mod browser;
mod calls;
mod channels;
mod checkpoints;
mod conform;
mod counters;
mod documents;
mod editors;
mod events;
mod families;
mod flags;
mod formulas;
mod hosts;
mod limits;
mod memory;
mod sandbox;
mod schema;
mod suite;
mod systems;
mod temporal;
#[cfg(unix)]
mod terminal;
mod truth;
mod workers;
