//! Giving back the nodes of states that a search has forgotten.
//!
//! A node does not know whether its pair is a word of a state or two further nodes; its way from the root
//! tells. What lies below a node depends only on how many words it stands for: one is a word; of more, the
//! left half stands for the largest power of two of words that is smaller, and the right half for the rest
//! (see [`Tree`]). So from the name of each state that is kept we walk down, and remember for each node the
//! powers of two it was seen with. Nodes that stand for another number of words are on the right edge of a
//! state only, and are walked each time.

use crate::StateRef;
use crate::tree::{Tree, WRAPPED, halves};

/// The mark of a node that is used, whatever it stands for; the lower bits are for powers of two.
const USED: u16 = 1 << 15;

impl Tree {
    /// From now on nodes are counted: see [`Tree::is_crowded`].
    pub fn watch(&mut self) {
        self.nodes.watch();
    }

    /// Whether it is time to look for nodes that no state uses any more.
    #[inline(always)]
    pub fn is_crowded(&self) -> bool {
        self.nodes.is_crowded()
    }

    /// How many nodes there are, used or not.
    pub fn node_count(&self) -> u64 {
        self.nodes.len() as u64
    }

    /// Gives back all nodes but those of the named states. Other names mean nothing from now on.
    pub fn collect(&mut self, names: impl Iterator<Item = StateRef>) {
        let mut marks = vec![0; self.nodes.len()];
        // The bases have their nodes listed, level by level.
        for &node in self.shapes.iter().flat_map(|shape| &shape.nodes) {
            marks[node as usize] |= USED;
        }
        let mut below = Vec::new();
        for name in names {
            self.mark(name, &mut marks, &mut below);
        }
        self.nodes.sweep(|node| marks[node as usize] != 0);
    }

    /// Marks the nodes of a state. `below` is room for nodes and how many words they stand for.
    fn mark(&self, name: StateRef, marks: &mut [u16], below: &mut Vec<(u32, usize)>) {
        let (number, root) = self.unwrap(name);
        let words = self.shape_of(number).words.len();
        if name.0 & WRAPPED != 0 {
            let wrapper = halves(name.0 & !WRAPPED).0;
            marks[wrapper as usize] |= USED;
            if words == 1 {
                marks[halves(self.nodes.pair(wrapper)).0 as usize] |= USED;
            }
        }
        split(root, words, below);
        while let Some((node, words)) = below.pop() {
            let complete = words.is_power_of_two() && words < usize::from(USED);
            let mark = if complete { words as u16 } else { USED };
            let seen = complete && marks[node as usize] & mark != 0;
            marks[node as usize] |= mark;
            if !seen {
                split(self.nodes.pair(node), words, below);
            }
        }
    }
}

/// The two halves of a pair that stands for this many words, unless it is a word itself.
fn split(pair: u64, words: usize, below: &mut Vec<(u32, usize)>) {
    if words > 1 {
        let (left, right) = halves(pair);
        let left_words = words.next_power_of_two() / 2;
        below.push((left, left_words));
        below.push((right, words - left_words));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::hash::mix;

    #[test]
    fn kept_states_keep_their_names_and_forgotten_ones_make_room() {
        let mut tree = Tree::new();
        let mut known: HashMap<StateRef, Vec<u8>> = HashMap::new();
        let mut most = 0;
        for round in 0..20u64 {
            for i in 0..2000 {
                let r = mix(round * 2000 + i);
                let mut state = vec![0; [3, 8, 9, 24, 37, 40, 100][r as usize % 7]];
                for (at, byte) in (0..).zip(&mut state) {
                    *byte = (mix(r.wrapping_add(at / 9)) >> 60) as u8;
                }
                let name = tree.name(&state);
                assert_eq!(*known.entry(name).or_insert_with(|| state.clone()), state);
            }
            known.retain(|&name, _| mix(name.0 ^ round).is_multiple_of(4));
            tree.collect(known.keys().copied());
            most = most.max(tree.node_count());
            for (&name, state) in &known {
                let mut loaded = Vec::new();
                tree.load(name, &mut loaded);
                assert_eq!(&loaded, state);
            }
            let names: Vec<_> = known.values().map(|state| tree.name(state)).collect();
            assert!(names.iter().eq(known.keys()));
        }
        assert!(most < 40_000, "nodes are used again: {most}");
    }
}
