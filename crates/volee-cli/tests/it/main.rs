//! The binary as its users meet it.

mod calls;
mod documents;
mod sandbox;
mod systems;
