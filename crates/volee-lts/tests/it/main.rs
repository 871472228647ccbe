//! Behaviour of `volee-lts`, one module per subject.

mod families;
mod files;
mod naive;
mod reductions;
