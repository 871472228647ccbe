//! How variables are spread over the workers: by those bytes of their places that keep most dependencies at
//! home.

use volee_system::Flow;
use volee_system::part::{Sample, Spread};

use super::Share;
use crate::graph::{BooleanGraph, Node, Successors};

const NODE: usize = size_of::<Node>();

/// Collects the variables of a right-hand side, each as its place and its node.
struct Seen<'t>(&'t mut Vec<Vec<u8>>);

impl Successors for Seen<'_> {
    fn variable(&mut self, place: &[u8], node: Node) -> Flow {
        self.0.push([place, &node.to_le_bytes()].concat());
        Flow::Continue(())
    }

    fn constant(&mut self, _: bool) -> Flow {
        Flow::Continue(())
    }
}

/// The spread for a graph whose main variable this is. All workers look at the same sample and come to the
/// same conclusion. Places that are numbers are spread by their numbers.
pub(super) fn spread<G: BooleanGraph>(graph: &mut G, place: &[u8], node: Node, share: Share) -> Spread {
    if share.peers == 1 || graph.numbered().is_some() {
        return Spread::EVEN;
    }
    let start = [place, &node.to_le_bytes()].concat();
    let sample = Sample::walk(&[start], NODE, |variable, targets| {
        let (place, node) = variable.split_last_chunk::<NODE>()?;
        // What has no meaning is told when it is met in earnest.
        graph.successors(place, Node::from_le_bytes(*node), &mut Seen(targets)).ok()
    });
    sample.map_or(Spread::EVEN, |sample| sample.spread(usize::from(share.peers)))
}
