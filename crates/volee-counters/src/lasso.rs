//! Runs that go on for ever: a prefix, and a loop that can be taken again after each time it was.
//!
//! Integers grow, so a loop need not come back to the state it began in. It is enough that each round moves
//! all variables by the same vector, and that no guard becomes smaller on the way: then what is enabled in
//! the first round is enabled in each. The check goes along the loop with two vectors, the state and what the
//! next round adds to it, and knows nothing of how the loop was found.

use volee_integers::{Affine, Int};

use crate::program::{LocationId, Program, TransitionId, evaluate};
use crate::witness::{ReplayError, State, Witness};

/// A run that goes on for ever.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lasso {
    /// How the loop is reached.
    pub prefix: Witness,
    /// The loop.
    pub body: Vec<TransitionId>,
}

/// What a replay of a lasso shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rounds {
    /// The first state and the state after each part of the prefix.
    pub prefix: Vec<State>,
    /// The state after each step of the first round.
    pub first: Vec<State>,
    /// What each round adds to the variables.
    pub vector: Vec<Int>,
}

impl Lasso {
    /// Executes the prefix and one round, and checks that each further round is possible and that it passes a
    /// bad location.
    ///
    /// # Errors
    /// It is no run, or not one that goes on like this.
    pub fn replay(&self, program: &Program) -> Result<Rounds, ReplayError> {
        let prefix = self.prefix.replay(program)?;
        let start = prefix.last().ok_or(ReplayError::Loop)?.clone();
        let mut first = Vec::new();
        let mut state = start.clone();
        for &id in &self.body {
            state = step(program, id, &state)?;
            first.push(state.clone());
        }
        let vector = difference(&state.values, &start.values);
        let mut grows = vector.clone();
        let passed = std::iter::once(&start).chain(&first);
        for (&id, at) in self.body.iter().zip(passed) {
            let instruction = &program.transition(id).instruction;
            // The same form without its constant, at what is added.
            let slope = |row: &Vec<Int>| &evaluate(row, &grows) - &row[0];
            if instruction.guard.iter().any(|row| slope(row).is_negative())
                || at.location != program.transition(id).from
            {
                return Err(ReplayError::Disabled(id));
            }
            grows = linear(&instruction.update, &grows);
        }
        if self.body.is_empty() || grows != vector || state.location != start.location {
            return Err(ReplayError::Loop);
        }
        let bad = |at: LocationId| program.bad.iter().any(|region| region.location == at);
        if !first.iter().any(|state| bad(state.location)) {
            return Err(ReplayError::NotBad);
        }
        Ok(Rounds { prefix, first, vector })
    }
}

fn step(program: &Program, id: TransitionId, state: &State) -> Result<State, ReplayError> {
    let transition = program.transition(id);
    if transition.from != state.location {
        return Err(ReplayError::WrongLocation(id));
    }
    if !transition.instruction.is_enabled(&state.values) {
        return Err(ReplayError::Disabled(id));
    }
    let values = transition.instruction.update.apply(&state.values);
    Ok(State { location: transition.to, values })
}

fn difference(of: &[Int], and: &[Int]) -> Vec<Int> {
    of.iter().zip(and).map(|(a, b)| a - b).collect()
}

/// What a map makes of a difference.
fn linear(map: &Affine, of: &[Int]) -> Vec<Int> {
    let zero = vec![Int::ZERO; of.len()];
    difference(&map.apply(of), &map.apply(&zero))
}
