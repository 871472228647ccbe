//! Names on their way from one table to another: each is inserted some names after its line was asked for.
//!
//! Names that change places at random would otherwise wait for memory one after the other.

use crate::StateRef;

/// Lines that are asked for at a time.
const AHEAD: usize = 32;

/// Names whose lines are on their way.
pub(crate) struct Near {
    names: [StateRef; AHEAD],
    count: usize,
}

impl Near {
    pub fn new() -> Self {
        Near { names: [StateRef(0); AHEAD], count: 0 }
    }

    /// Takes a name whose line was asked for, and gives back the one that was taken longest ago, if many
    /// were.
    #[inline]
    pub fn exchange(&mut self, name: StateRef) -> Option<StateRef> {
        let oldest = std::mem::replace(&mut self.names[self.count % AHEAD], name);
        self.count += 1;
        (self.count > AHEAD).then_some(oldest)
    }

    /// The names that were not given back, oldest first.
    pub fn rest(self) -> impl Iterator<Item = StateRef> {
        let first = self.count.saturating_sub(AHEAD);
        (first..self.count).map(move |at| self.names[at % AHEAD])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_comes_out_in_the_order_in_which_it_went_in() {
        for count in [0, 1, 31, 32, 33, 100] {
            let names = (1..=count).map(StateRef);
            let mut near = Near::new();
            let early: Vec<StateRef> = names.clone().filter_map(|name| near.exchange(name)).collect();
            assert!(early.iter().copied().chain(near.rest()).eq(names), "{count}");
        }
    }
}
