//! The binary as its users meet it.

mod calls;
mod sandbox;
mod systems;
