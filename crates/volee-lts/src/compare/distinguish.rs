//! Distinguishing formulas from the history of a refinement.
//!
//! Two states that were separated in round k have different signatures over the partition of round k - 1: one
//! can reach a block that the other cannot. The formula says that, and uses formulas between the blocks of
//! that partition, which were separated in earlier rounds (Cleaveland 1990; for branching bisimulation Korver
//! 1991, with the until operator of De Nicola and Vaandrager). By induction a formula holds on the whole
//! block of the one state and fails on the whole block of the other, so one formula per pair of classes is
//! enough. No recursion: pairs wait on a stack until their parts are there.

use std::collections::HashMap;
use std::sync::Arc;

use volee_system::Meter;

use crate::formula::{Node, NodeId};
use crate::partition::{self, History, Silent};
use crate::saturate::{TauClosure, saturate};
use crate::silent::{contract, diverging};
use crate::{Divergence, Edge, Formula, LabelId, Lts, LtsError, StateId};

use super::{Difference, Pair, Side};

/// How the formula of a pair is put together.
struct Plan {
    operator: Operator,
    /// The formula is for the second state, and negated.
    negated: bool,
    /// Pairs to tell apart on the way, and after the step.
    through: Vec<(u32, u32)>,
    then: Vec<(u32, u32)>,
}

enum Operator {
    Diamond(LabelId),
    WeakDiamond(LabelId),
    Until(LabelId),
    Forever,
}

/// A refined system in which two states can be told apart.
trait Separation {
    fn block_of(&self) -> &[u32];
    fn plan(&self, s: u32, t: u32) -> Plan;
    fn lts(&self) -> &Lts;
}

/// Builds the formula that holds in `s` and not in `t`.
fn formula(separation: &dyn Separation, s: u32, t: u32) -> Formula {
    let block_of = separation.block_of();
    let key = |(s, t): (u32, u32)| (block_of[s as usize], block_of[t as usize]);
    let mut formula = Formula::default();
    let mut done: HashMap<(u32, u32), NodeId> = HashMap::new();
    let mut plans: HashMap<(u32, u32), Plan> = HashMap::new();
    let mut pending = vec![(s, t)];
    while let Some(&pair) = pending.last() {
        let pair_key = key(pair);
        if done.contains_key(&pair_key) {
            pending.pop();
            continue;
        }
        if let Some(plan) = plans.remove(&pair_key) {
            pending.pop();
            let part = |pairs: &[(u32, u32)]| pairs.iter().map(|&p| done[&key(p)]).collect::<Vec<_>>();
            let (through, then) = (part(&plan.through), part(&plan.then));
            let node = assemble(&mut formula, separation.lts(), &plan, through, then);
            done.insert(pair_key, node);
            continue;
        }
        let mut plan = separation.plan(pair.0, pair.1);
        for pairs in [&mut plan.through, &mut plan.then] {
            pairs.sort_unstable_by_key(|&p| key(p));
            pairs.dedup_by_key(|p| key(*p));
            pending.extend(pairs.iter().filter(|&&p| !done.contains_key(&key(p))));
        }
        plans.insert(pair_key, plan);
    }
    // The whole is the last node.
    let whole = done[&key((s, t))];
    formula.and(vec![whole]);
    formula
}

fn assemble(
    formula: &mut Formula,
    lts: &Lts,
    plan: &Plan,
    through: Vec<NodeId>,
    then: Vec<NodeId>,
) -> NodeId {
    let label = |l: LabelId| -> Arc<str> { lts.name(l).into() };
    let node = match plan.operator {
        Operator::Diamond(l) => Node::Diamond(label(l), formula.and(then)),
        Operator::WeakDiamond(l) => Node::WeakDiamond(label(l), formula.and(then)),
        Operator::Until(l) => {
            let through = formula.and(through);
            Node::Until { through, label: label(l), then: formula.and(then) }
        }
        Operator::Forever => Node::Forever(formula.and(through)),
    };
    let node = formula.push(node);
    if plan.negated { formula.push(Node::Not(node)) } else { node }
}

fn found(formula: Formula) -> Option<Difference> {
    Some(Difference::Formula { formula, holds_in: Side::First })
}

/// Strong bisimulation of the two sides of a pair.
pub(super) fn strong(pair: &Pair) -> Option<Difference> {
    let (block_of, history) = partition::strong(&pair.lts, &[]).into_parts();
    let steps = Steps { lts: &pair.lts, block_of, history, observed: Vec::new(), weak: false };
    steps.difference(pair.first(), pair.second)
}

/// Weak bisimulation of the two sides of a pair; both without internal cycles other than self-loops.
pub(super) fn weak(
    pair: &Pair,
    divergence: Divergence,
    meter: &Meter,
) -> Result<Option<Difference>, LtsError> {
    let observed = match divergence {
        Divergence::Ignored => Vec::new(),
        Divergence::Preserved => diverging(&pair.lts),
    };
    let saturated = saturate(&pair.lts, &TauClosure::new(&pair.lts, meter)?, meter)?;
    let (block_of, history) = partition::strong(&saturated, &observed).into_parts();
    let steps = Steps { lts: &saturated, block_of, history, observed, weak: true };
    Ok(steps.difference(pair.first(), pair.second))
}

/// Signatures of single steps: strong bisimulation, or weak bisimulation on weak steps.
struct Steps<'a> {
    lts: &'a Lts,
    block_of: Vec<u32>,
    history: History,
    observed: Vec<bool>,
    weak: bool,
}

impl Steps<'_> {
    fn difference(&self, s: StateId, t: StateId) -> Option<Difference> {
        if self.block_of[s.index()] == self.block_of[t.index()] {
            return None;
        }
        found(formula(self, s.0, t.0))
    }

    /// A step of `s` into a block that no such step of `t` reaches, the one with the fewest steps of `t` to
    /// refute.
    fn unmatched(&self, s: u32, t: u32, round: u32) -> Option<(LabelId, Vec<(u32, u32)>)> {
        let block = |state: StateId| self.history.at(self.block_of[state.index()], round);
        let theirs: Vec<(Edge, u32)> =
            self.lts.edges(StateId(t)).iter().map(|&e| (e, block(e.target))).collect();
        let mut best: Option<(LabelId, Vec<(u32, u32)>)> = None;
        for edge in self.lts.edges(StateId(s)) {
            let reached = block(edge.target);
            let same_label = theirs.iter().filter(|(e, _)| e.label == edge.label);
            if same_label.clone().any(|&(_, b)| b == reached) {
                continue;
            }
            let pairs: Vec<_> = same_label.map(|(e, _)| (edge.target.0, e.target.0)).collect();
            if best.as_ref().is_none_or(|(_, b)| pairs.len() < b.len()) {
                best = Some((edge.label, pairs));
            }
        }
        best
    }
}

impl Separation for Steps<'_> {
    fn block_of(&self) -> &[u32] {
        &self.block_of
    }

    fn lts(&self) -> &Lts {
        self.lts
    }

    fn plan(&self, s: u32, t: u32) -> Plan {
        let diverges = |state: u32| self.observed.get(state as usize) == Some(&true);
        if diverges(s) != diverges(t) {
            let negated = !diverges(s);
            return Plan { operator: Operator::Forever, negated, through: Vec::new(), then: Vec::new() };
        }
        let (bs, bt) = (self.block_of[s as usize], self.block_of[t as usize]);
        let round = self.history.separated(bs, bt).expect("only separated states are told apart") - 1;
        let operator =
            |label| if self.weak { Operator::WeakDiamond(label) } else { Operator::Diamond(label) };
        if let Some((label, then)) = self.unmatched(s, t, round) {
            return Plan { operator: operator(label), negated: false, through: Vec::new(), then };
        }
        let (label, then) = self.unmatched(t, s, round).expect("separated states have different signatures");
        Plan { operator: operator(label), negated: true, through: Vec::new(), then }
    }
}

/// Branching bisimulation of the two sides of a pair.
pub(super) fn branching(pair: &Pair, divergence: Divergence) -> Option<Difference> {
    let contracted = contract(&pair.lts);
    let silent = match divergence {
        Divergence::Ignored => Silent::Fair,
        Divergence::Preserved => Silent::Divergent(&contracted.divergent),
    };
    let (block_of, history) = partition::branching(&contracted.lts, silent).into_parts();
    let state = |s: StateId| contracted.component[s.index()];
    let (s, t) = (state(pair.first()), state(pair.second));
    if block_of[s as usize] == block_of[t as usize] {
        return None;
    }
    found(formula(&InertSteps { lts: &contracted.lts, silent, block_of, history }, s, t))
}

/// Signatures of steps after inert steps.
struct InertSteps<'a> {
    lts: &'a Lts,
    silent: Silent<'a>,
    block_of: Vec<u32>,
    history: History,
}

/// What a state can do without leaving its block of some round but for the last step.
struct View {
    inert: Vec<u32>,
    /// (step, block it leads to) of the states reached inertly, inert steps left out.
    steps: Vec<(Edge, u32)>,
    diverges: bool,
}

impl InertSteps<'_> {
    fn view(&self, state: u32, round: u32) -> View {
        let block = |s: u32| self.history.at(self.block_of[s as usize], round);
        let home = block(state);
        let mut view = View { inert: vec![state], steps: Vec::new(), diverges: false };
        let mut seen: std::collections::HashSet<u32> = [state].into();
        let mut next = 0;
        while next < view.inert.len() {
            let at = view.inert[next];
            next += 1;
            view.diverges |= self.silent.diverges(at);
            for &edge in self.lts.edges(StateId(at)) {
                let target = block(edge.target.0);
                if edge.is_tau() && target == home {
                    if seen.insert(edge.target.0) {
                        view.inert.push(edge.target.0);
                    }
                } else {
                    view.steps.push((edge, target));
                }
            }
        }
        view
    }

    fn unmatched(&self, s: u32, t: u32, round: u32) -> Option<Plan> {
        let (ours, theirs) = (self.view(s, round), self.view(t, round));
        let exits = theirs.steps.iter().filter(|(e, _)| e.is_tau());
        let through: Vec<(u32, u32)> = exits.map(|(e, _)| (s, e.target.0)).collect();
        if ours.diverges && !theirs.diverges {
            return Some(Plan { operator: Operator::Forever, negated: false, through, then: Vec::new() });
        }
        let mut best: Option<(LabelId, Vec<(u32, u32)>)> = None;
        for (edge, reached) in &ours.steps {
            let same_label = theirs.steps.iter().filter(|(e, _)| e.label == edge.label);
            if same_label.clone().any(|(_, b)| b == reached) {
                continue;
            }
            let mut then: Vec<_> = same_label.map(|(e, _)| (edge.target.0, e.target.0)).collect();
            if edge.is_tau() {
                // An inert step of the other is an internal step too, and ends in the common block.
                then.push((edge.target.0, t));
            }
            if best.as_ref().is_none_or(|(_, b)| then.len() < b.len()) {
                best = Some((edge.label, then));
            }
        }
        let (label, then) = best?;
        Some(Plan { operator: Operator::Until(label), negated: false, through, then })
    }
}

impl Separation for InertSteps<'_> {
    fn block_of(&self) -> &[u32] {
        &self.block_of
    }

    fn lts(&self) -> &Lts {
        self.lts
    }

    fn plan(&self, s: u32, t: u32) -> Plan {
        let (bs, bt) = (self.block_of[s as usize], self.block_of[t as usize]);
        let round = self.history.separated(bs, bt).expect("only separated states are told apart") - 1;
        if let Some(plan) = self.unmatched(s, t, round) {
            return plan;
        }
        let plan = self.unmatched(t, s, round).expect("separated states have different signatures");
        Plan { negated: true, ..plan }
    }
}
