//! Figures about a system: what one wants to know of a file before doing anything with it.

use crate::silent::{components, tau_components};
use crate::{Lts, StateId};

/// The figures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Info {
    /// States.
    pub states: usize,
    /// States that the initial state reaches.
    pub reachable: usize,
    /// Transitions.
    pub transitions: usize,
    /// Internal transitions.
    pub internal: usize,
    /// Labels that occur, the internal step included if it does.
    pub labels: usize,
    /// The largest number of transitions from a state.
    pub out_degree: usize,
    /// The largest number of transitions into a state.
    pub in_degree: usize,
    /// States without transitions.
    pub deadlocks: usize,
    /// States on cycles of internal steps.
    pub on_internal_cycles: usize,
    /// Strongly connected components.
    pub components: usize,
    /// States in the largest component.
    pub largest_component: usize,
    /// Whether every state has at most one transition per label and none is internal.
    pub deterministic: bool,
    /// How often each label occurs, most frequent first.
    pub label_uses: Vec<(String, usize)>,
}

/// Computes the figures.
pub fn info(lts: &Lts) -> Info {
    let mut uses = vec![0usize; lts.labels().len()];
    let mut in_degree = vec![0u32; lts.state_count()];
    for edge in lts.all_edges() {
        uses[edge.label.index()] += 1;
        in_degree[edge.target.index()] += 1;
    }
    let all = components(lts, |_, _| true);
    let mut sizes = vec![0usize; all.count as usize];
    all.of.iter().for_each(|&c| sizes[c as usize] += 1);
    let degrees = || lts.offsets().windows(2).map(|w| (w[1] - w[0]) as usize);
    let mut label_uses: Vec<(String, usize)> = lts
        .labels()
        .iter()
        .filter(|(l, _)| uses[l.index()] > 0)
        .map(|(l, name)| (name.to_owned(), uses[l.index()]))
        .collect();
    label_uses.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    Info {
        states: lts.state_count(),
        reachable: count_reachable(lts),
        transitions: lts.transition_count(),
        internal: uses[0],
        labels: label_uses.len(),
        out_degree: degrees().max().unwrap_or(0),
        in_degree: in_degree.into_iter().max().unwrap_or(0) as usize,
        deadlocks: degrees().filter(|&d| d == 0).count(),
        on_internal_cycles: count_on_internal_cycles(lts),
        components: sizes.len(),
        largest_component: sizes.into_iter().max().unwrap_or(0),
        deterministic: uses[0] == 0 && lts.states().all(|s| is_deterministic_at(lts, s)),
        label_uses,
    }
}

fn is_deterministic_at(lts: &Lts, state: StateId) -> bool {
    let mut labels: Vec<_> = lts.edges(state).iter().map(|e| e.label).collect();
    labels.sort_unstable();
    labels.windows(2).all(|w| w[0] != w[1])
}

fn count_reachable(lts: &Lts) -> usize {
    let mut seen = vec![false; lts.state_count()];
    seen[lts.initial().index()] = true;
    let mut pending = vec![lts.initial()];
    let mut count = 0;
    while let Some(state) = pending.pop() {
        count += 1;
        for edge in lts.edges(state) {
            if !std::mem::replace(&mut seen[edge.target.index()], true) {
                pending.push(edge.target);
            }
        }
    }
    count
}

fn count_on_internal_cycles(lts: &Lts) -> usize {
    let internal = tau_components(lts);
    let mut cyclic = vec![false; internal.count as usize];
    for (source, edge) in lts.transitions().filter(|(_, e)| e.is_tau()) {
        let component = internal.of[source.index()];
        if component == internal.of[edge.target.index()] {
            cyclic[component as usize] = true;
        }
    }
    internal.of.iter().filter(|&&c| cyclic[c as usize]).count()
}
