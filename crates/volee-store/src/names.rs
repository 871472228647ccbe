//! Names for states, by the best scheme that fits: packed tuples of components, or tree compression.
//!
//! A system that tells its components gets packed names ([`Tuples`]) as long as they fit a word; all others,
//! and those that outgrow it, get names by tree compression ([`Tree`]), which has room for any state. Names
//! can change on the way: a store that cannot translate what it keeps asks for names that never do
//! ([`Names::lasting`]).

use volee_system::Components;

use crate::tree::{Full, StateRef, Tree};
use crate::tuples::{Layouts, Tuples, WAITING, Waiting};

/// Names for the states of one search.
pub enum Names {
    /// Tuples of components.
    Tuples(Box<Tuples>),
    /// Tree compression.
    Tree(Box<Tree>),
}

/// How names change.
pub enum Renaming {
    /// The same tuples, laid out anew; some states have waited for that.
    Layout(Layouts, Waiting),
    /// From tuples to trees.
    Scheme(Box<Tuples>, Waiting),
}

impl Names {
    /// Names that may change: see [`Names::has_waiting`].
    pub fn new(components: Option<Components>) -> Self {
        match components.and_then(Tuples::new) {
            Some(tuples) => Names::Tuples(Box::new(tuples)),
            None => Names::lasting(),
        }
    }

    /// Names that never change.
    pub fn lasting() -> Self {
        Names::Tree(Box::new(Tree::new()))
    }

    /// The tuples, where names are such.
    #[inline(always)]
    pub fn tuples(&mut self) -> Option<&mut Tuples> {
        match self {
            Names::Tuples(tuples) => Some(tuples),
            Names::Tree(_) => None,
        }
    }

    /// Why some names given since the start mean nothing, if so: look before using a batch of names.
    #[inline(always)]
    pub fn full(&self) -> Option<Full> {
        match self {
            Names::Tuples(tuples) => tuples.is_full().then_some(Full::Nodes),
            Names::Tree(tree) => tree.full(),
        }
    }

    /// Whether some of the names given last are to be replaced, and all others with them: see
    /// [`Names::rename`].
    #[inline(always)]
    pub fn has_waiting(&self) -> bool {
        match self {
            Names::Tuples(tuples) => tuples.has_waiting(),
            Names::Tree(_) => false,
        }
    }

    /// The name of a state, for now.
    #[inline(always)]
    pub fn name(&mut self, state: &[u8]) -> StateRef {
        match self {
            Names::Tuples(tuples) => tuples.name(state),
            Names::Tree(tree) => tree.name(state),
        }
    }

    /// The state of a name. What is named next is best like it.
    #[inline(always)]
    pub fn load(&mut self, name: StateRef, state: &mut Vec<u8>) {
        match self {
            Names::Tuples(tuples) => {
                state.clear();
                state.extend_from_slice(tuples.load(name));
            }
            Names::Tree(tree) => tree.load(name, state),
        }
    }

    /// Bits that names have, at most.
    pub fn width(&self) -> u32 {
        match self {
            Names::Tuples(tuples) => tuples.width(),
            Names::Tree(_) => 64,
        }
    }

    /// Gives states that wait their names, of at most this many bits where that is possible; whoever keeps
    /// names must translate them all.
    #[cold]
    pub fn rename(&mut self, bits: u32) -> Option<Renaming> {
        let Names::Tuples(tuples) = self else { return None };
        let waiting = tuples.take_waiting();
        if let Some(layouts) = tuples.lay_out(bits) {
            return Some(Renaming::Layout(layouts, waiting));
        }
        match std::mem::replace(self, Names::lasting()) {
            Names::Tuples(tuples) => Some(Renaming::Scheme(tuples, waiting)),
            Names::Tree(_) => None,
        }
    }

    pub fn bytes(&self) -> u64 {
        match self {
            Names::Tuples(tuples) => tuples.bytes(),
            Names::Tree(tree) => tree.bytes(),
        }
    }

    /// What the names of this many more states may take, about.
    pub fn growth(&self, states: usize) -> u64 {
        match self {
            Names::Tuples(tuples) => tuples.growth(),
            Names::Tree(tree) => tree.growth(2 * states),
        }
    }

    /// They may take this many bytes from now on, or what they take already; then they are full.
    pub fn hold_to(&mut self, bytes: u64) {
        match self {
            Names::Tuples(tuples) => tuples.hold_to(bytes),
            Names::Tree(tree) => tree.hold_to(bytes),
        }
    }

    /// What they need more than they may have, to name so many more states, about.
    pub fn lacks(&self, states: usize) -> u64 {
        match self {
            Names::Tuples(tuples) => tuples.lacks(),
            Names::Tree(tree) => tree.lacks(2 * states),
        }
    }

    /// They are not full any more: whoever began anew has forgotten what they could not name.
    pub fn revive(&mut self) {
        match self {
            Names::Tuples(tuples) => tuples.revive(),
            Names::Tree(tree) => tree.revive(),
        }
    }

    /// From now on they are full.
    pub fn give_up(&mut self) {
        match self {
            Names::Tuples(tuples) => tuples.give_up(),
            Names::Tree(tree) => tree.give_up(),
        }
    }

    /// The tree, where names are such.
    pub fn tree(&mut self) -> Option<&mut Tree> {
        match self {
            Names::Tuples(_) => None,
            Names::Tree(tree) => Some(tree),
        }
    }
}

impl Renaming {
    /// The new name of a state. (Names of states that waited are new names, too.)
    #[inline]
    pub fn translate(&mut self, names: &mut Names, name: StateRef) -> StateRef {
        match self {
            Renaming::Layout(layouts, _) if name.0 & WAITING == 0 => match names {
                Names::Tuples(tuples) => tuples.renamed(layouts, name),
                Names::Tree(_) => name,
            },
            Renaming::Layout(_, waiting) | Renaming::Scheme(_, waiting) if name.0 & WAITING != 0 => {
                names.name(waiting.state(name))
            }
            Renaming::Scheme(tuples, _) => names.name(tuples.load(name)),
            Renaming::Layout(..) => name,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use volee_system::Records;

    use super::*;
    use crate::hash::mix;

    /// A state of a walk: a header with the number of records, two globals, and records of two kinds.
    fn wander(state: &mut Vec<u8>, random: u64, (spread, most): (u64, u8)) {
        match random % 8 {
            0 if state[0] < most => {
                state[0] += 1;
                let kind = (random >> 8) as u8 & 1;
                state.extend_from_slice(if kind == 0 { &[0, 1] } else { &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10] });
            }
            1 if state[0] > 0 => {
                let mut starts = Vec::new();
                cut().starts(state, &mut starts).expect("well formed");
                state.truncate(starts[starts.len() - 2] as usize);
                state[0] -= 1;
            }
            2 | 3 => {
                let at = 1 + (random >> 8) as usize % 9;
                state[at] = ((random >> 16) % spread) as u8;
            }
            _ => {
                let mut starts = Vec::new();
                cut().starts(state, &mut starts).expect("well formed");
                if starts.len() > 4 {
                    let start = starts[3 + (random >> 8) as usize % (starts.len() - 4)] as usize;
                    state[start + 1] = ((random >> 16) % spread) as u8;
                }
            }
        }
    }

    fn cut() -> Components {
        Components { ends: vec![1, 2, 10], records: Some(Records { count_at: 0, lengths: vec![2, 10] }) }
    }

    fn walk(spread: u64, most: u8) -> Names {
        let mut names = Names::new(Some(cut()));
        let mut known: HashMap<Vec<u8>, StateRef> = HashMap::new();
        let mut state = vec![0; 10];
        for i in 0..30_000u64 {
            let random = mix(i ^ spread << 32);
            wander(&mut state, random, (spread, most));
            let mut name = names.name(&state);
            if names.has_waiting() {
                let mut renaming = names.rename(if i % 2 == 0 { 30 } else { 63 }).expect("tuples");
                name = renaming.translate(&mut names, name);
                known.values_mut().for_each(|name| *name = renaming.translate(&mut names, *name));
                assert!(!names.has_waiting());
            }
            assert_eq!(*known.entry(state.clone()).or_insert(name), name);
            if random >> 40 & 3 == 0 {
                let (other, &name) = known.iter().nth(random as usize % 3 % known.len()).expect("one");
                let mut loaded = Vec::new();
                names.load(name, &mut loaded);
                assert_eq!(&loaded, other);
            }
        }
        let distinct: std::collections::HashSet<_> = known.values().collect();
        assert_eq!(distinct.len(), known.len());
        assert!(known.len() > 1000 && !known.values().any(|&name| name == StateRef::NONE));
        names
    }

    #[test]
    fn names_are_one_to_one_with_states_through_all_layouts() {
        assert!(walk(3, 6).tuples().is_some_and(|tuples| !tuples.is_wide()));
    }

    #[test]
    fn what_does_not_fit_a_word_has_a_number_for_the_rest() {
        assert!(walk(250, 6).tuples().is_some_and(|tuples| tuples.is_wide()));
    }

    #[test]
    fn what_does_not_fit_that_goes_on_with_trees() {
        assert!(walk(250, 20).tree().is_some());
    }
}
