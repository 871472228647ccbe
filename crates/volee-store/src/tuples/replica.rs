//! Tuples in several threads: clones that give the same numbers to what is new to all of them (see
//! [`crate::numbering`]).

use std::sync::Arc;

use super::{Component, Tuples};
use crate::numbering::Value;

impl Tuples {
    /// The number of a value that is new here.
    #[cold]
    pub(super) fn learn_value(&mut self, owner: usize, value: &[u8]) -> Option<u32> {
        if let Some(numbering) = self.numbering.clone() {
            let mut additions = numbering.values.lock();
            self.take_over_values(additions.since(self.known_values));
            if let Some(number) = self.components[owner].values.find(value) {
                return Some(number);
            }
            additions.push(Value { component: owner as u8, bytes: value.into() });
            self.known_values += 1;
        }
        self.add_value(owner, value)
    }

    fn take_over_values(&mut self, added: &[Value]) {
        for Value { component, bytes } in added {
            let owner = usize::from(*component);
            while self.components.len() <= owner {
                self.components.push(Component::new(1));
            }
            self.add_value(owner, bytes);
        }
        self.known_values += added.len();
    }

    fn add_value(&mut self, owner: usize, value: &[u8]) -> Option<u32> {
        if !self.may_grow(self.components[owner].values.growth(1, value.len())) {
            self.lost = true;
            return None;
        }
        let component = &mut self.components[owner];
        let number = component.values.add(value);
        self.misfits |= number.is_none();
        if owner >= self.cut.ends.len()
            && let Some(&kind) = value.first()
            && !component.kinds.contains(&kind)
        {
            component.kinds.push(kind);
            self.changes += 1;
        }
        number
    }

    /// The number of a word that is new here.
    #[cold]
    pub(super) fn learn_word(&mut self, word: u128) -> Option<usize> {
        if let Some(numbering) = self.numbering.clone() {
            let mut additions = numbering.words.lock();
            self.take_over_words(additions.since(self.known_words));
            if let Some(number) = self.others.find(word) {
                return Some(number);
            }
            additions.push(word);
            self.known_words += 1;
        }
        if !self.may_grow(self.others.growth()) {
            self.lost = true;
            return None;
        }
        self.others.add(word)
    }

    fn take_over_words(&mut self, added: &[u128]) {
        for &word in added {
            self.misfits |= self.others.add(word).is_none();
        }
        self.known_words += added.len();
    }

    /// From now on clones agree with this one on the numbers of what is new: names mean the same for all of
    /// them. They must catch up before they look at names that others have given ([`Tuples::catch_up`]), and
    /// only one of them may lay out fields, of which the others then become clones.
    pub fn share(&mut self) {
        self.numbering = Some(Arc::default());
        (self.known_values, self.known_words) = (0, 0);
    }

    /// Numbers are this one's own business from now on.
    pub fn unshare(&mut self) {
        self.numbering = None;
    }

    /// Takes over what clones have added.
    #[inline]
    pub fn catch_up(&mut self) {
        let Some(numbering) = &self.numbering else { return };
        if numbering.values.has_more_than(self.known_values)
            || numbering.words.has_more_than(self.known_words)
        {
            let numbering = Arc::clone(numbering);
            self.take_over_values(numbering.values.lock().since(self.known_values));
            self.take_over_words(numbering.words.lock().since(self.known_words));
        }
    }
}

#[cfg(test)]
mod tests {
    use volee_system::Components;

    use super::*;
    use crate::hash::mix;
    use crate::{StateRef, WAITING};

    fn state(random: u64, spread: u64) -> Vec<u8> {
        (0..12).map(|at| (mix(random + at / 4 * 1000) >> (at % 4) & spread) as u8).collect()
    }

    fn names(mut tuples: Tuples, thread: u64, spread: u64) -> Vec<(Vec<u8>, StateRef)> {
        let states = (0..2000).map(|i| state((i * (2 * thread + 1) + thread * 97) % 700, spread));
        states.map(|state| (state.clone(), tuples.name(&state))).collect()
    }

    /// Threads meet new values in different orders, and all give them the same numbers.
    #[test]
    fn clones_agree_on_the_names_of_states() {
        for (ends, spread) in [(vec![4, 8, 12], 7), ((1..=12).collect(), 255)] {
            let mut tuples = Tuples::new(Components { ends, records: None }).expect("few");
            for i in 0..300 {
                tuples.name(&state(i, spread));
            }
            tuples.take_waiting();
            tuples.lay_out(63).expect("there is room");
            tuples.share();
            let shared = &tuples;
            let named: Vec<_> = std::thread::scope(|scope| {
                let threads: Vec<_> =
                    (0..4).map(|thread| scope.spawn(move || names(shared.clone(), thread, spread))).collect();
                threads.into_iter().flat_map(|thread| thread.join().expect("no panic")).collect()
            });
            tuples.catch_up();
            let mut with_room = 0;
            for (state, name) in named.into_iter().filter(|(_, name)| name.0 & WAITING == 0) {
                assert_eq!(tuples.name(&state), name);
                assert_eq!(tuples.load(name), state);
                with_room += 1;
            }
            assert!(with_room > 2000, "{with_room}");
        }
    }
}
