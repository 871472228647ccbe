//! Where cycles are cut: control points from which no reduced step starts, so that on every cycle of the
//! system some state is expanded fully.
//!
//! On a cycle of the system the oldest process that moves lives all along (who starts a process is older than
//! it, and outlives it), and so its control goes round a cycle of its control graph. If every such cycle has
//! a *cut* control point, and no persistent set is taken that has a process at one, then somewhere on the
//! cycle a state is expanded fully. That depends on the state alone, not on the order of a search nor on an
//! automaton beside the system: so the reduced system is a system by itself, which any search may explore,
//! with any automaton, on any number of cores (Kurshan, Levin, Minea, Peled, Yenigün, "Static partial order
//! reduction", 1998; what goes wrong where the choice looks at the automaton: Siegel, "What's wrong with
//! on-the-fly partial order reduction", 2019).
//!
//! A cut costs little where a step is seen or shared anyway, so such points are cut first.

use super::access::Point;
use super::control::first;
use super::objects::Objects;
use crate::program::{Action, Proctype, Program};
use volee_system::strong_components;

/// By process type and control point: whether cycles are cut there.
pub(super) fn cuts(program: &Program, points: &[Vec<Point>], visible: &Objects) -> Vec<Vec<bool>> {
    let rendezvous = program.channel_types.iter().any(|c| c.capacity == 0);
    let of =
        |(proctype, points): (&Proctype, &Vec<Point>)| Cutter::new(proctype).cut(points, visible, rendezvous);
    program.proctypes.iter().zip(points).map(of).collect()
}

struct Cutter<'a> {
    proctype: &'a Proctype,
    /// By node: where control can be next.
    next: Vec<Vec<usize>>,
    /// Nodes that a step can pass without resting there.
    passed: Vec<bool>,
    cut: Vec<bool>,
}

impl<'a> Cutter<'a> {
    fn new(proctype: &'a Proctype) -> Self {
        let count = proctype.nodes.len();
        let mut passed: Vec<bool> = proctype.nodes.iter().map(|n| n.in_d_step).collect();
        let mut next = vec![Vec::new(); count];
        for (node, here) in proctype.nodes.iter().enumerate() {
            for transition in &here.transitions {
                let target = transition.target.0 as usize;
                passed[target] |= transition.atomic;
                next[node].push(target);
                if let Action::DStep(entry) = first(&transition.action) {
                    next[node].push(entry.0 as usize);
                }
            }
        }
        Cutter { proctype, next, passed, cut: vec![false; count] }
    }

    fn cut(mut self, points: &[Point], visible: &Objects, rendezvous: bool) -> Vec<bool> {
        let count = points.len();
        for (node, point) in points.iter().enumerate() {
            // A step that hands over again and again may take a partner past its cuts.
            let hands_over = rendezvous && self.hands_over_later(node);
            self.cut[node] = hands_over || !self.passed[node] && point.step.fixed.writes.meets(visible);
        }
        let shared = |node: usize| points[node].step.is_shared();
        loop {
            let components = self.components();
            let cyclic: Vec<&Vec<usize>> = components.iter().filter(|c| self.is_cyclic(c)).collect();
            if cyclic.is_empty() {
                return self.cut;
            }
            let mut chosen = Vec::new();
            for component in cyclic {
                let arrivals = |node: usize| {
                    component.iter().flat_map(|&from| &self.next[from]).filter(|&&to| to == node).count()
                };
                let best = component
                    .iter()
                    .copied()
                    .filter(|&node| !self.passed[node])
                    .max_by_key(|&node| (shared(node), arrivals(node), count - node));
                match best {
                    Some(node) => chosen.push(node),
                    None => chosen.extend(component),
                }
            }
            chosen.into_iter().for_each(|node| self.cut[node] = true);
        }
    }

    /// Whether a step from a node may use a channel after its first statement.
    fn hands_over_later(&self, node: usize) -> bool {
        let uses = |action: &Action| matches!(action, Action::Send { .. } | Action::Receive { .. });
        let mut seen = vec![false; self.next.len()];
        let mut pending = vec![(node, true)];
        while let Some((at, is_first)) = pending.pop() {
            for transition in &self.proctype.nodes[at].transitions {
                let later = match &transition.action {
                    Action::Sequence(actions) => actions[usize::from(is_first)..].iter().any(uses),
                    Action::DStep(_) => true,
                    action => !is_first && uses(action),
                };
                if later {
                    return true;
                }
                let target = transition.target.0 as usize;
                if transition.atomic && !std::mem::replace(&mut seen[target], true) {
                    pending.push((target, false));
                }
            }
        }
        false
    }

    fn is_cyclic(&self, component: &[usize]) -> bool {
        component.len() > 1 || self.next[component[0]].contains(&component[0])
    }

    /// The strongly connected components of what is not cut.
    fn components(&self) -> Vec<Vec<usize>> {
        let kept = |node: usize| !self.cut[node];
        let roots = (0..self.next.len()).filter(|&node| kept(node)).map(|node| node as u32);
        let scc = strong_components(self.next.len(), roots, |node, next| {
            let rest = self.next[node as usize].get(*next..)?;
            let found = rest.iter().position(|&to| kept(to))?;
            *next += found + 1;
            Some(rest[found] as u32)
        });
        scc.members()
    }
}
