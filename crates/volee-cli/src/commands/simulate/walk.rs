//! A run that grows step by step and can shrink again: what random and interactive simulation share.

use volee::System;
use volee::system::{Action, Fault, Step, Witness, collect_initial, collect_steps};

use crate::context::Context;
use crate::outcome::Failure;

/// How a simulation ended.
pub enum Ending {
    /// No step is possible, as it should be.
    ValidEnd,
    /// No step is possible, though one should be.
    Deadlock,
    /// A step went wrong.
    Fault(Fault),
    /// So many steps were asked for.
    Steps,
    /// The user had enough.
    Stopped,
}

/// A run under construction.
pub struct Walk {
    initial: Vec<u8>,
    taken: Vec<Taken>,
    random: Random,
}

struct Taken {
    ordinal: u32,
    state: Vec<u8>,
    fault: Option<Fault>,
}

impl Walk {
    /// A walk that has not left the first initial state.
    pub fn new(system: &mut dyn System, seed: u64) -> Result<Walk, Failure> {
        let initial = collect_initial(system).into_iter().next();
        let initial = initial.ok_or_else(|| Failure::new("the model has no initial state"))?;
        Ok(Walk { initial, taken: Vec::new(), random: Random(seed) })
    }

    /// The state the walk has reached.
    pub fn state(&self) -> &[u8] {
        self.taken.last().map_or(&self.initial, |t| &t.state)
    }

    /// The state after so many steps.
    pub fn state_after(&self, steps: usize) -> &[u8] {
        steps.checked_sub(1).map_or(&self.initial, |last| &self.taken[last].state)
    }

    /// How many steps were taken.
    pub fn len(&self) -> usize {
        self.taken.len()
    }

    /// The error met in the last step.
    pub fn fault(&self) -> Option<&Fault> {
        self.taken.last().and_then(|t| t.fault.as_ref())
    }

    /// Goes back until so many steps are left.
    pub fn truncate(&mut self, steps: usize) {
        self.taken.truncate(steps);
    }

    /// Takes one of the steps that `collect_steps` lists for the current state.
    pub fn take(&mut self, system: &dyn System, ordinal: usize, (step, state): (Step, Vec<u8>)) {
        let fault = step.fault.map(|f| system.fault(f));
        self.taken.push(Taken { ordinal: ordinal as u32, state, fault });
    }

    /// One of `choices` numbers.
    pub fn draw(&mut self, choices: usize) -> usize {
        self.random.below(choices)
    }

    /// Takes random steps until there are so many, or none is possible, or one goes wrong.
    pub fn at_random(&mut self, system: &mut dyn System, steps: usize, context: &Context) -> Ending {
        while self.len() < steps {
            if context.is_cancelled() {
                return Ending::Stopped;
            }
            let mut possible = collect_steps(system, self.state());
            if possible.is_empty() {
                return self.end(system);
            }
            let ordinal = self.draw(possible.len());
            self.take(system, ordinal, possible.swap_remove(ordinal));
            if let Some(fault) = self.fault() {
                return Ending::Fault(fault.clone());
            }
        }
        Ending::Steps
    }

    /// What it means that no step is possible here.
    pub fn end(&self, system: &mut dyn System) -> Ending {
        if system.is_valid_end(self.state()) { Ending::ValidEnd } else { Ending::Deadlock }
    }

    /// The run so far.
    pub fn witness(&self) -> Witness {
        Witness { initial: 0, steps: self.taken.iter().map(|t| t.ordinal).collect(), loop_start: None }
    }

    /// What the `number`-th step taken was, from 0.
    pub fn explain(&self, system: &mut dyn System, number: usize) -> Vec<Action> {
        system.explain(self.state_after(number), self.taken[number].ordinal as usize)
    }
}

/// SplitMix64 (Steele, Lea, Flood 2014): small, and the same everywhere for the same seed.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`, which is not 0.
    fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.next()) * n as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_reach_every_choice_and_no_other() {
        let mut random = Random(1);
        let mut seen = [0u32; 5];
        for _ in 0..1000 {
            seen[random.below(5)] += 1;
        }
        assert!(seen.iter().all(|&n| n > 100), "{seen:?}");
    }
}
