//! volee as a library: everything a Rust user needs under one name.
//!
//! [`Model::open`] reads a model file and gives a [`System`]; anything else that implements [`System`] is explored
//! just the same, see `examples/`. The rooms of the house are re-exported whole, under short names.

pub mod claims;
pub mod model;
pub mod properties;

pub use model::{Model, Options};
pub use volee_bes as bes;
pub use volee_channels as channels;
pub use volee_cluster as cluster;
pub use volee_conform as conform;
pub use volee_counters as counters;
pub use volee_families as families;
pub use volee_integers as integers;
pub use volee_logic as logic;
pub use volee_lts as lts;
pub use volee_nets as nets;
pub use volee_program as program;
pub use volee_promela as promela;
pub use volee_report as report;
pub use volee_search as search;
pub use volee_system as system;
pub use volee_system::System;
