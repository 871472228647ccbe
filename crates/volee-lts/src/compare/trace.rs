//! Traces: the sets of states that both sides can be in after the same labels, breadth-first, so that the
//! trace found is a shortest one.

use std::collections::HashSet;

use volee_system::Meter;

use crate::determinise::{SetTable, Subsets, Traces};
use crate::saturate::TauClosure;
use crate::{LabelId, Lts, LtsError, Relation, StateId};

use super::{Difference, Pair, Side};

/// Two sets of states, and how they were reached.
struct Reached {
    first: u32,
    second: u32,
    parent: usize,
    label: LabelId,
}

/// Compares the traces of the two sides; weak relations need sides without internal cycles.
pub(super) fn compare(
    pair: &Pair,
    relation: Relation,
    meter: &Meter,
) -> Result<Option<Difference>, LtsError> {
    let closure;
    let traces = match relation {
        Relation::WeakTrace | Relation::WeakTracePreorder => {
            closure = TauClosure::new(&pair.lts, meter)?;
            Traces::Visible(&closure)
        }
        _ => Traces::All,
    };
    let start = |state: StateId| match traces {
        Traces::All => vec![state.0],
        Traces::Visible(closure) => closure.of(state).to_vec(),
    };
    let mut subsets = Subsets::new(&pair.lts, traces);
    let mut sets = SetTable::new();
    let first = sets.insert(start(pair.first())).0;
    let second = sets.insert(start(pair.second)).0;
    let mut seen = HashSet::from([(first, second)]);
    let mut queue = vec![Reached { first, second, parent: 0, label: LabelId::TAU }];
    let mut next = 0;
    while next < queue.len() {
        meter.check()?;
        let used = sets.memory() + 48 * queue.len() as u64;
        meter.check_memory(used, || format!("{} pairs of sets of states", queue.len()))?;
        let (one, two) = (queue[next].first, queue[next].second);
        let ours = subsets.moves(sets.get(one));
        let theirs = subsets.moves(sets.get(two));
        if let Some(label) = missing(&ours, &theirs) {
            return Ok(Some(found(pair, &queue, next, label, Side::First)));
        }
        if !relation.is_preorder()
            && let Some(label) = missing(&theirs, &ours)
        {
            return Ok(Some(found(pair, &queue, next, label, Side::Second)));
        }
        for (label, set) in ours {
            let Ok(at) = theirs.binary_search_by_key(&label, |t| t.0) else { continue };
            let reached = (sets.insert(set).0, sets.insert(theirs[at].1.clone()).0);
            if reached.0 != reached.1 && seen.insert(reached) {
                queue.push(Reached { first: reached.0, second: reached.1, parent: next, label });
            }
        }
        next += 1;
    }
    Ok(None)
}

/// A label that the first has and the second has not.
fn missing(ours: &[(LabelId, Vec<u32>)], theirs: &[(LabelId, Vec<u32>)]) -> Option<LabelId> {
    ours.iter().map(|o| o.0).find(|label| theirs.binary_search_by_key(label, |t| t.0).is_err())
}

fn found(pair: &Pair, queue: &[Reached], mut at: usize, last: LabelId, possible_in: Side) -> Difference {
    let mut labels = vec![last];
    while at != 0 {
        labels.push(queue[at].label);
        at = queue[at].parent;
    }
    let trace = labels.iter().rev().map(|&l| pair.lts.name(l).to_owned()).collect();
    Difference::Trace { trace, possible_in }
}

/// Whether a system can perform these labels in this order; with `visible`, internal steps may happen in
/// between.
pub fn admits(lts: &Lts, trace: &[String], visible: bool) -> bool {
    let close = |mut set: HashSet<StateId>| {
        let mut pending: Vec<StateId> = if visible { set.iter().copied().collect() } else { Vec::new() };
        while let Some(state) = pending.pop() {
            for edge in lts.edges(state).iter().filter(|e| e.is_tau()) {
                if set.insert(edge.target) {
                    pending.push(edge.target);
                }
            }
        }
        set
    };
    let mut set = close(HashSet::from([lts.initial()]));
    for name in trace {
        let Some(label) = lts.labels().find(name) else { return false };
        let step = |s: &StateId| lts.edges(*s).iter().filter(|e| e.label == label).map(|e| e.target);
        set = close(set.iter().flat_map(step).collect());
    }
    !set.is_empty()
}
