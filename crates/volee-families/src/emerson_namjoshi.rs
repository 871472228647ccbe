//! FRAEN: the Karp–Miller tree, except that a new node covered by any node is dropped (Emerson and Namjoshi
//! 1998).
//!
//! Sound because the covering node stays and its subtree covers whatever the dropped one could do. What must
//! *not* be done is to delete old nodes, with their subtrees, when a new one covers them: the node that
//! justified a drop may vanish that way (the well-known error of the minimal coverability tree). So the list
//! of maximal markings kept here is for look-ups only; the tree keeps everything.

use volee_system::{Meter, Progress};

use crate::answer::{Method, Outcome};
use crate::certificate::OMEGA;
use crate::karp_miller::drive;
use crate::omega_tree::{Discard, OmegaTree};
use volee_nets::Net;

/// The maximal markings so far, each with a mask of the places it marks, which settles most comparisons.
#[derive(Debug, Default)]
pub struct Maximal(Vec<(u64, Vec<u32>)>);

fn support(marking: &[u32]) -> u64 {
    marking.iter().enumerate().filter(|(_, n)| **n > 0).fold(0, |mask, (p, _)| mask | 1 << (p % 64))
}

fn covers(large: &[u32], small: &[u32]) -> bool {
    large.iter().zip(small).all(|(&l, &s)| l == OMEGA || s <= l)
}

impl Discard for Maximal {
    fn drop_node(&mut self, _: u32, marking: &[u32]) -> bool {
        let mask = support(marking);
        if self.0.iter().any(|(m, c)| mask & !m == 0 && covers(c, marking)) {
            return true;
        }
        self.0.retain(|(m, c)| m & !mask != 0 || !covers(marking, c));
        self.0.push((mask, marking.to_vec()));
        false
    }

    fn cover(self) -> Vec<Vec<u32>> {
        self.0.into_iter().map(|m| m.1).collect()
    }
}

/// An Emerson–Namjoshi search under way.
pub type EmersonNamjoshi<'n> = OmegaTree<'n, Maximal>;

/// Runs the engine on a monotone net.
pub fn emerson_namjoshi(net: &Net, meter: &Meter, progress: &mut dyn Progress) -> Outcome {
    drive(OmegaTree::new(net, Maximal::default()), Method::EmersonNamjoshi, meter, progress)
}
