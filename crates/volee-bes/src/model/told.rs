//! What a graph tells an auditor of its states and steps ([`crate::audit`]), and asks of what he has seen.

use volee_system::{Limit, Meter, System};

use super::{ModelGraph, number, number_of};
use crate::audit::{Seen, Telling, agree};
use crate::graph::Trouble;

impl<S: System + ?Sized> ModelGraph<'_, S> {
    /// From now on the steps that are kept are told to an auditor.
    ///
    /// # Errors
    /// There are too many states.
    pub(crate) fn tell_steps(&mut self, mut telling: Telling) -> Result<(), Trouble> {
        if let Some(made) = &mut self.made {
            for state in &self.initial {
                telling.states.push((number(&number_of(made, state)?), state.clone()));
            }
            made.tell_to(telling);
        }
        Ok(())
    }

    /// How many states have numbers.
    pub(crate) fn states(&self) -> u64 {
        self.made.as_ref().map_or(0, |made| u64::from(made.len()))
    }

    /// Nothing more is told; whether the auditor knows all steps that were made.
    pub(crate) fn end_telling(&mut self) -> bool {
        self.made.as_mut().is_some_and(|made| made.end_telling())
    }

    /// Whether the auditor has confirmed all that was looked at since nothing more is told: steps, and states.
    ///
    /// # Errors
    /// A limit.
    pub(crate) fn agrees(&mut self, seen: &mut Seen, meter: &Meter) -> Result<bool, Limit> {
        match &mut self.made {
            Some(made) if made.is_told() && made.has_looked() => {
                agree(made.len(), seen, |number, state| made.state(number) == state, meter)
            }
            made => Ok(made.as_ref().is_some_and(|made| made.is_told())),
        }
    }
}
