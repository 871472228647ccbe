//! Behaviour of `volee-lts`, one module per subject.

mod comparisons;
mod families;
mod files;
mod naive;
mod networks;
mod reductions;
