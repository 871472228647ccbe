//! The states seen so far, exactly, each with a number in the order of discovery.

use std::collections::HashMap;
use std::rc::Rc;

#[derive(Default)]
pub(crate) struct Store {
    numbers: HashMap<Rc<[u8]>, u32>,
    states: Vec<Rc<[u8]>>,
    bytes: u64,
}

impl Store {
    /// The number of a state that is new, or `None` when it is known.
    pub(crate) fn insert(&mut self, state: &[u8]) -> Option<u32> {
        if self.numbers.contains_key(state) {
            return None;
        }
        let number = self.states.len() as u32;
        let shared: Rc<[u8]> = state.into();
        self.states.push(Rc::clone(&shared));
        self.numbers.insert(shared, number);
        self.bytes += state.len() as u64 + 64;
        Some(number)
    }

    pub(crate) fn state(&self, number: u32) -> Rc<[u8]> {
        Rc::clone(&self.states[number as usize])
    }

    pub(crate) fn len(&self) -> u64 {
        self.states.len() as u64
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }
}
