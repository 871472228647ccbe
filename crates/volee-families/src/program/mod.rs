//! Families from programs: which processes come in any number is the user's choice, the rest follows.
//!
//! A program becomes a net. Every valuation of the globals that can occur is a place, and exactly one of them is marked; every
//! local state (a point of control with the values of the locals) of a process is a place, and how many tokens it holds says
//! how many processes are there. Statements become transitions, a rendezvous one for each pair that can meet.
//! States are found on the way, under the assumption that whatever was found may occur together: that only adds
//! transitions that never fire.

mod build;
mod class;
mod step;
mod valuation;

use volee_program::{NodeId, ProctypeId, Program};

pub use build::{Family, name_processes};

use crate::FamilyError;

/// What must not happen.
#[derive(Debug, Clone, Default)]
pub struct Questions {
    /// Global conditions that must always hold: how they are written, and what they are.
    pub invariants: Vec<(String, volee_program::Expr)>,
    /// Points of control that must never be occupied together, one process each.
    pub covers: Vec<(String, Vec<(ProctypeId, NodeId)>)>,
}

/// Reads a program as a family in which the named proctypes come in any number. Assertions are always among the
/// questions.
///
/// # Errors
/// Every construct that is outside the class of families, with its place.
pub fn family_of(
    program: &Program,
    for_any: &[String],
    questions: &Questions,
) -> Result<Family, FamilyError> {
    let users = class::check(program, for_any).map_err(FamilyError::Refused)?;
    build::build(program, &users, questions)
}
