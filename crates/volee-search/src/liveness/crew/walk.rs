//! A walk: a depth-first search by components through what is not dead, in one component of the automaton.

use std::io;

use volee_store::checkpoint::{Reader, Refused, Writer};

use super::worker::Worker;
use super::{DEAD, Pair, UNVISITED};
use crate::liveness::components::{Frame, Root, merged};
use crate::liveness::kept::{Stacks, write_stacks};
use crate::liveness::marks::Marks;
use crate::liveness::nodes::Nodes;
use crate::liveness::product::Arc;
use crate::parallel::yard::End;

/// Pairs that are given away from a walk at a time.
const GIVEN: usize = 16;
/// Numbers of pairs that are kept from walk to walk: what is dead is known to all.
const KEPT: usize = 1 << 15;

/// The path of a walk.
pub(super) struct Walk<const W: usize> {
    all: Marks<W>,
    frames: Vec<Frame>,
    /// The ways that wait along it.
    pub ways: Vec<(u32, Marks<W>)>,
    open: Vec<u32>,
    roots: Vec<Root<W>>,
    /// Ways before this one were given away, or are taken.
    given: usize,
    pub deepest: usize,
}

impl<const W: usize> Walk<W> {
    pub fn new(marks: u64) -> Self {
        Walk {
            all: Marks::all(marks),
            frames: Vec::new(),
            ways: Vec::new(),
            open: Vec::new(),
            roots: Vec::new(),
            given: 0,
            deepest: 0,
        }
    }

    /// Writes the path and what waits along it.
    pub fn write(&self, out: &mut Writer) -> io::Result<()> {
        let arc = |&(node, marks): &(u32, Marks<W>)| Arc { node, ordinal: 0, process: None, marks };
        let waiting: Vec<Arc<W>> = self.ways.iter().map(arc).collect();
        write_stacks(&waiting, &self.frames, &self.open, &self.roots, out)
    }

    /// A walk that was written, through nodes with these orders.
    pub fn read(marks: u64, input: &mut Reader, orders: &[u32]) -> Result<Self, Refused> {
        let Stacks { waiting, frames, open, roots } = Stacks::read(input, orders)?;
        let ways = waiting.into_iter().map(|arc| (arc.node, arc.marks)).collect();
        Ok(Walk { frames, ways, open, roots, ..Walk::new(marks) })
    }

    #[inline]
    pub fn is_under_way(&self) -> bool {
        !self.frames.is_empty()
    }

    pub fn bytes(&self) -> u64 {
        (self.frames.capacity() * size_of::<Frame>()
            + self.ways.capacity() * size_of::<(u32, Marks<W>)>()
            + self.open.capacity() * 4
            + self.roots.capacity() * size_of::<Root<W>>()) as u64
    }

    /// The pairs on its path, from where it began.
    pub fn path(&self, nodes: &Nodes) -> impl Iterator<Item = Pair> {
        self.frames.iter().map(|frame| nodes.key(frame.node))
    }

    /// Some pairs that this walk would come to late, and nobody was given yet.
    pub fn ways_to_come(&mut self, nodes: &mut Nodes) -> Vec<Pair> {
        let mut found = Vec::new();
        let mut at = self.frames.partition_point(|frame| frame.first <= self.given).saturating_sub(1);
        while found.len() < GIVEN && self.given < self.ways.len() {
            while self.frames.get(at + 1).is_some_and(|frame| frame.first <= self.given) {
                at += 1;
            }
            self.given = self.given.max(self.frames[at].next);
            let end = self.frames.get(at + 1).map_or(self.ways.len(), |frame| frame.first);
            if self.given >= end {
                at += 1;
                if at == self.frames.len() {
                    break;
                }
                continue;
            }
            let (node, _) = self.ways[self.given];
            self.given += 1;
            if nodes.order[node as usize] == UNVISITED {
                found.push(nodes.key(node));
            }
        }
        // What is farthest from here is taken first.
        found.reverse();
        found
    }
}

impl<const W: usize> Worker<'_, W> {
    /// Begins a walk, unless somebody has been there.
    pub(super) fn set_out(&mut self, pair: Pair) -> Option<()> {
        if self.product.nodes.len() > KEPT {
            self.product.nodes = Nodes::new();
        }
        let node = self.product.nodes.intern(pair.0, pair.1);
        self.come_to(node, Marks::EMPTY)
    }

    /// Takes the next way of the walk, or goes back.
    pub(super) fn walk_on(&mut self) -> Option<()> {
        let walk = &mut self.walk;
        let frame = walk.frames.last_mut()?;
        if frame.next == walk.ways.len() {
            let frame = *frame;
            self.go_back(frame);
            return Some(());
        }
        let (node, marks) = walk.ways[frame.next];
        frame.next += 1;
        match self.product.nodes.order[node as usize] {
            DEAD => Some(()),
            UNVISITED => self.come_to(node, marks),
            place => {
                let all = walk.all;
                let accepted = merged(&mut walk.roots, place as usize - 1, marks).inside == all;
                if accepted { self.end(End::Decided) } else { Some(()) }
            }
        }
    }

    /// Enters a pair that is new to this worker, unless it is dead.
    fn come_to(&mut self, node: u32, entry: Marks<W>) -> Option<()> {
        let pair = self.product.nodes.key(node);
        let Some(key) = self.tables.key(pair) else { return self.end(End::Limit(None)) };
        let order = &mut self.product.nodes.order[node as usize];
        if *order == DEAD || self.tables.dead.contains(key) {
            *order = DEAD;
            return Some(());
        }
        if self.product.traps[pair.1 as usize] {
            return self.end(End::Decided);
        }
        let walk = &mut self.walk;
        let first = walk.ways.len();
        walk.frames.push(Frame { node, first, next: first });
        walk.deepest = walk.deepest.max(walk.frames.len() - 1);
        walk.roots.push(Root { start: walk.open.len(), entry, inside: Marks::EMPTY, told: false });
        walk.open.push(node);
        *order = walk.open.len() as u32;
        self.expand(pair, true)?;
        let (kinds, at, arrived) = (&self.common.kinds, pair.1, self.arrived.len());
        let inside = |to| kinds.are_together(at, to);
        // What is dead gets no number here: most of what a walk meets is, and a look at that table costs less.
        let (tables, ways) = (&self.tables, &mut self.walk.ways);
        let is_dead = |pair| tables.key(pair).is_some_and(|key| tables.dead.contains(key));
        self.product.number_inside(inside, is_dead, ways, &mut self.arrived);
        self.bring_near(arrived);
        self.spread(first);
        Some(())
    }

    /// Workers take ways in different orders, so that they are rarely in the same place.
    fn spread(&mut self, first: usize) {
        let ways = &mut self.walk.ways[first..];
        if self.number % 2 == 1 {
            ways.reverse();
        }
        if self.number > 1 && !ways.is_empty() {
            let by = self.number / 2 % ways.len();
            ways.rotate_left(by);
        }
        for (node, _) in ways {
            if let Some(key) = self.tables.key(self.product.nodes.key(*node)) {
                self.tables.dead.prefetch(key);
            }
        }
    }

    /// Leaves the last pair of the path; a component that is whole is dead.
    fn go_back(&mut self, frame: Frame) {
        let walk = &mut self.walk;
        walk.frames.pop();
        walk.ways.truncate(frame.first);
        walk.given = walk.given.min(frame.first);
        let Some(start) = walk.roots.last().map(|root| root.start) else { return };
        if walk.open[start] != frame.node {
            return;
        }
        walk.roots.pop();
        for node in walk.open.drain(start..) {
            self.product.nodes.order[node as usize] = DEAD;
            if let Some(key) = self.tables.key(self.product.nodes.key(node)) {
                self.uncounted.1 += u64::from(self.tables.dead.insert(key));
            }
        }
    }
}
