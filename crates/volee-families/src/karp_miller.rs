//! FRAKM: the Karp–Miller tree, a marking already seen being the only reason to stop.
//!
//! As in Yang and Li's comparison: ω where an ancestor is strictly covered, no comparison across branches
//! except equality (whose subtree would be the same).

use std::collections::HashSet;

use volee_system::{Meter, Progress, Snapshot};

use crate::answer::{Method, Outcome};
use crate::omega_tree::{Discard, OmegaTree};
use volee_nets::Net;

/// Drops a marking that was seen before.
#[derive(Debug, Default)]
pub struct Seen(HashSet<Vec<u32>>);

impl Discard for Seen {
    fn drop_node(&mut self, _: u32, marking: &[u32]) -> bool {
        if self.0.contains(marking) {
            return true;
        }
        self.0.insert(marking.to_vec());
        false
    }

    fn cover(self) -> Vec<Vec<u32>> {
        let mut cover = crate::emerson_namjoshi::Maximal::default();
        let mut all: Vec<Vec<u32>> = self.0.into_iter().collect();
        all.sort_unstable();
        for (id, marking) in all.iter().rev().enumerate() {
            cover.drop_node(id as u32, marking);
        }
        cover.cover()
    }
}

/// A Karp–Miller search under way.
pub type KarpMiller<'n> = OmegaTree<'n, Seen>;

/// Runs the engine on a monotone net.
pub fn karp_miller(net: &Net, meter: &Meter, progress: &mut dyn Progress) -> Outcome {
    drive(OmegaTree::new(net, Seen::default()), Method::KarpMiller, meter, progress)
}

/// Advances a tree until it answers.
pub fn drive<D: Discard>(
    mut tree: OmegaTree<'_, D>,
    method: Method,
    meter: &Meter,
    progress: &mut dyn Progress,
) -> Outcome {
    loop {
        if let Some(answer) = tree.advance(1024, meter) {
            return Outcome { answer, method, statistics: tree.statistics(), why: None };
        }
        let statistics = tree.statistics();
        progress.report(&Snapshot {
            states: statistics.states,
            transitions: statistics.transitions,
            ..Snapshot::default()
        });
    }
}
