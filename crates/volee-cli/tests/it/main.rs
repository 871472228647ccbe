//! The binary as its users meet it.

mod calls;
mod documents;
mod families;
mod sandbox;
mod systems;
