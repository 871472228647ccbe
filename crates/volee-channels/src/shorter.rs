//! A shorter loop than the one that was found: breadth first, for people to read.
//!
//! Depth-first search answers in little memory, but its path winds. Once it is known that some channel is
//! unbounded, a breadth-first search of a few thousand states under the same bound tests the same condition
//! along the shortest path to each state; the first pair that fulfils it gives a shorter prefix and loop most
//! of the time, and if not the old one stays.

use std::collections::{HashSet, VecDeque};

use volee_system::Meter;

use crate::condition::{Between, growth};
use crate::fifo::Configuration;
use crate::queued::{Pump, Queued, Stride};

/// States that are looked at.
const MOST_STATES: usize = 5_000;

struct Node {
    configuration: Configuration,
    parent: usize,
    by: Stride,
}

/// A pump that takes fewer steps than `found`, where the search meets one.
pub fn shorter(source: &mut dyn Queued, bound: usize, found: &Pump, meter: &Meter) -> Option<Pump> {
    let longest = found.prefix.len() + found.round.len();
    let start = source.start();
    let mut seen = HashSet::from([start.clone()]);
    let mut nodes = vec![Node { configuration: start, parent: 0, by: Stride::default() }];
    let mut queue = VecDeque::from([(0, 0)]);
    while let Some((at, depth)) = queue.pop_front() {
        if depth + 1 >= longest || nodes.len() >= MOST_STATES || meter.check().is_err() {
            return None;
        }
        let now = nodes[at].configuration.clone();
        for next in source.next(&now) {
            if next.target.total() > bound || seen.contains(&next.target) {
                continue;
            }
            let by = Stride { key: next.key, control: next.target.control.clone(), sends: next.sends };
            nodes.push(Node { configuration: next.target, parent: at, by });
            let last = nodes.len() - 1;
            if let Some(pump) = repeats(&nodes, last, source.longest_queue()) {
                return Some(pump);
            }
            seen.insert(nodes[last].configuration.clone());
            queue.push_back((last, depth + 1));
        }
    }
    None
}

/// Tests the last state of a path against each of its ancestors, the nearest first.
fn repeats(nodes: &[Node], last: usize, longest_queue: usize) -> Option<Pump> {
    let now = &nodes[last].configuration;
    let mut moves: Vec<&Stride> = Vec::new();
    let mut at = last;
    while at != 0 {
        moves.push(&nodes[at].by);
        at = nodes[at].parent;
        let old = &nodes[at].configuration;
        if old.control != now.control {
            continue;
        }
        let out = |channel: usize| -> Vec<u16> {
            let sends = moves.iter().rev().flat_map(|stride| &stride.sends);
            sends.filter(|s| usize::from(s.0) == channel).map(|s| s.1).collect()
        };
        let repeats = Between { old, now, longest_queue }.repeats(|channel, test| test(&out(channel)));
        if repeats {
            let round = moves.iter().rev().map(|s| (*s).clone()).collect();
            return Some(Pump { prefix: path(nodes, at), round, growth: growth(old, now) });
        }
    }
    None
}

fn path(nodes: &[Node], mut at: usize) -> Vec<Stride> {
    let mut moves = Vec::new();
    while at != 0 {
        moves.push(nodes[at].by.clone());
        at = nodes[at].parent;
    }
    moves.reverse();
    moves
}
