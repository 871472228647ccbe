//! The whole product, kept: what questions need that cannot be answered on the way, or want the shortest
//! answer.
//!
//! Nodes are numbered in the order of a breadth-first search, so the way to each is a shortest one.

use volee_system::{Limit, Meter, Progress, ReasonKind, Snapshot, System, Witness};

use super::components::full_limit;
use super::marks::{Enabled, Marks};
use super::product::{Product, STUTTER, Stop};
use super::{Claim, Found, reason};

/// How many nodes are expanded between two looks at the clock.
const TICK: usize = 1 << 10;

/// A transition of the product.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Arrow {
    pub target: u32,
    /// The step of the system, or [`STUTTER`].
    pub ordinal: u32,
    /// Of the automaton.
    pub marks: u64,
    /// Who moves.
    pub mover: Option<u8>,
}

/// All nodes and transitions that are reachable.
#[derive(Default)]
pub(crate) struct Graph {
    arrows: Vec<Arrow>,
    /// Where the transitions of each node start, and the end of the last.
    starts: Vec<usize>,
    /// By node: from where it was first reached and by which step; its own number where runs start, with the
    /// initial state's.
    parents: Vec<(u32, u32)>,
    pub enabled: Vec<Enabled>,
    pub depth: Vec<u32>,
    /// A node that is an error by itself, the nearest; what is as far away or farther is then not explored.
    pub trap: Option<u32>,
}

impl Graph {
    /// Explores the product, until a node is an error by itself.
    pub fn explore<S: System + ?Sized>(
        product: &mut Product<'_, S, 5>,
        meter: &Meter,
        progress: &mut dyn Progress,
    ) -> Result<Graph, Found> {
        let mut graph = Graph { starts: vec![0], ..Graph::default() };
        for (ordinal, node) in (0..).zip(product.initial()) {
            if node as usize == graph.parents.len() {
                graph.parents.push((node, ordinal));
                graph.depth.push(0);
            }
        }
        let mut arcs = Vec::new();
        let mut node = 0;
        while node < product.nodes.len() {
            if node.is_multiple_of(TICK) {
                graph.look_around(product, meter, progress).map_err(Found::Limit)?;
            }
            if product.is_trap(node as u32) {
                graph.trap = Some(node as u32);
                break;
            }
            arcs.clear();
            match product.expand_fully(node as u32, &mut arcs) {
                Ok(()) => {}
                Err(Stop::Full(full)) => return Err(Found::Limit(full_limit(full, product.bytes()))),
                Err(Stop::Fault(ordinal, reason)) => {
                    let mut witness = graph.way(node as u32);
                    witness.steps.extend(ordinal);
                    return Err(Found::error(reason, witness));
                }
            }
            graph.enabled.push(product.enabled);
            for arc in &arcs {
                if arc.node as usize == graph.parents.len() {
                    graph.parents.push((node as u32, arc.ordinal));
                    graph.depth.push(graph.depth[node] + 1);
                }
                let mover = arc.process;
                let (target, ordinal, marks) = (arc.node, arc.ordinal, arc.marks.0[0]);
                graph.arrows.push(Arrow { target, ordinal, marks, mover });
            }
            graph.starts.push(graph.arrows.len());
            node += 1;
        }
        graph.enabled.resize(product.nodes.len(), Enabled::default());
        graph.starts.resize(product.nodes.len() + 1, graph.arrows.len());
        Ok(graph)
    }

    /// The node that is an error by itself, as what was found.
    pub fn trapped(&self) -> Option<Found> {
        self.trap.map(|node| Found::error(reason(ReasonKind::Trap, false), self.way(node)))
    }

    fn look_around<S: System + ?Sized>(
        &self,
        product: &Product<'_, S, 5>,
        meter: &Meter,
        progress: &mut dyn Progress,
    ) -> Result<(), Limit> {
        let (states, transitions) = (product.nodes.len() as u64, product.transitions);
        let memory = self.bytes() + product.bytes();
        let depth = u64::from(self.depth.last().copied().unwrap_or(0));
        let pending = states - (self.starts.len() as u64 - 1);
        progress.report(&Snapshot { states, transitions, depth, max_depth: depth, pending, memory });
        meter.check()?;
        meter.check_memory(memory, || {
            format!("there are more than {states} pairs of a state and a state of the claim")
        })
    }

    pub fn bytes(&self) -> u64 {
        (self.arrows.capacity() * size_of::<Arrow>()
            + self.starts.capacity() * size_of::<usize>()
            + self.parents.capacity() * 8
            + self.enabled.capacity() * size_of::<Enabled>()
            + self.depth.capacity() * 4) as u64
    }

    pub fn len(&self) -> usize {
        self.enabled.len()
    }

    pub fn arrows(&self, node: u32) -> &[Arrow] {
        &self.arrows[self.starts[node as usize]..self.starts[node as usize + 1]]
    }

    /// A shortest way to a node.
    pub fn way(&self, node: u32) -> Witness {
        let (mut steps, mut at) = (Vec::new(), node);
        loop {
            let (before, ordinal) = self.parents[at as usize];
            if before == at {
                steps.reverse();
                return Witness { initial: ordinal, steps, loop_start: None };
            }
            if ordinal != STUTTER {
                steps.push(ordinal);
            }
            at = before;
        }
    }

    /// A lasso: a shortest way to a node, and a cycle from there.
    pub fn lasso(&self, claim: &Claim, node: u32, cycle: &[Arrow]) -> Found {
        let mut witness = self.way(node);
        witness.loop_start = Some(witness.steps.len());
        witness.steps.extend(cycle.iter().map(|arrow| arrow.ordinal).filter(|&o| o != STUTTER));
        let loops = witness.loop_start != Some(witness.steps.len());
        Found::error(reason(claim.kind, loops), witness)
    }

    /// The strongly connected components among the nodes for which `group` has this number, by Tarjan's
    /// algorithm.
    pub fn components(&self, nodes: &[u32], group: &[u32], number: u32) -> Vec<Vec<u32>> {
        let mut search = Components {
            graph: self,
            order: vec![0; self.len()],
            low: vec![0; self.len()],
            next: 0,
            open: Vec::new(),
            found: Vec::new(),
        };
        for &node in nodes {
            if search.order[node as usize] == 0 {
                search.run(node, |node| group[node as usize] == number);
            }
        }
        search.found
    }
}

struct Components<'g> {
    graph: &'g Graph,
    /// 0 for a node that was not met, the largest number for one whose component is known.
    order: Vec<u32>,
    low: Vec<u32>,
    next: u32,
    open: Vec<u32>,
    found: Vec<Vec<u32>>,
}

impl Components<'_> {
    fn run(&mut self, root: u32, inside: impl Fn(u32) -> bool) {
        let mut path = vec![(root, 0)];
        self.enter(root);
        while let Some((node, at)) = path.last_mut() {
            let (here, next) = (*node, self.graph.arrows(*node).get(*at).map(|a| a.target));
            *at += 1;
            match next {
                Some(target) if !inside(target) => {}
                Some(target) if self.order[target as usize] == 0 => {
                    self.enter(target);
                    path.push((target, 0));
                }
                Some(target) if self.order[target as usize] != u32::MAX => {
                    let low = self.low[here as usize].min(self.order[target as usize]);
                    self.low[here as usize] = low;
                }
                Some(_) => {}
                None => {
                    path.pop();
                    if let Some(&(before, _)) = path.last() {
                        let low = self.low[before as usize].min(self.low[here as usize]);
                        self.low[before as usize] = low;
                    }
                    self.leave(here);
                }
            }
        }
    }

    fn enter(&mut self, node: u32) {
        self.next += 1;
        self.order[node as usize] = self.next;
        self.low[node as usize] = self.next;
        self.open.push(node);
    }

    fn leave(&mut self, node: u32) {
        if self.low[node as usize] != self.order[node as usize] {
            return;
        }
        let start = self.open.iter().rposition(|&open| open == node).expect("a node that is left is open");
        let component = self.open.split_off(start);
        component.iter().for_each(|&member| self.order[member as usize] = u32::MAX);
        self.found.push(component);
    }
}

/// The marks of a component's transitions, who moves in it, and who could.
pub(crate) struct Inside {
    pub marks: u64,
    pub moved: Marks<5>,
    pub enabled: Marks<5>,
    pub arrows: usize,
}

impl Inside {
    pub fn of(graph: &Graph, component: &[u32], is_member: impl Fn(u32) -> bool) -> Inside {
        let mut inside = Inside { marks: 0, moved: Marks::EMPTY, enabled: Marks::EMPTY, arrows: 0 };
        for &node in component {
            inside.enabled = inside.enabled.with(graph.enabled[node as usize].as_marks());
            for arrow in graph.arrows(node).iter().filter(|a| is_member(a.target)) {
                inside.marks |= arrow.marks;
                inside.arrows += 1;
                if let Some(mover) = arrow.mover {
                    inside.moved = inside.moved.with(Marks::of_process(mover));
                }
            }
        }
        inside
    }
}
