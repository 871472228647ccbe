//! Explicit labelled transition systems in compressed rows: one array of edges, grouped by source.
//!
//! Eight bytes per transition and four per state, whatever the labels: a reduction of 22 million transitions
//! must fit into half a gigabyte, and a pass over all edges must be one sequential read.

use volee_system::Diagnostic;

use crate::{LabelId, Labels, LtsError};
use volee_store::large::prefer_large;

/// A state of an [`Lts`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct StateId(pub u32);

impl StateId {
    /// As an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// An outgoing transition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Edge {
    /// Its label.
    pub label: LabelId,
    /// The state it leads to.
    pub target: StateId,
}

impl Edge {
    /// Whether it is an internal step.
    pub fn is_tau(self) -> bool {
        self.label == LabelId::TAU
    }
}

/// A finite labelled transition system with one initial state. Never empty.
///
/// The edges of a state keep the order in which they were added, so that an edge is named by its source and
/// its ordinal. Equal edges may occur twice; relations do not care.
#[derive(Debug, Clone)]
pub struct Lts {
    labels: Labels,
    initial: StateId,
    /// `offsets[s]..offsets[s + 1]` are the edges of `s`.
    offsets: Vec<u32>,
    edges: Vec<Edge>,
}

impl Lts {
    /// Starts building a system.
    pub fn builder() -> LtsBuilder {
        LtsBuilder::new(Labels::new())
    }

    /// Where it starts.
    pub fn initial(&self) -> StateId {
        self.initial
    }

    /// How many states.
    pub fn state_count(&self) -> usize {
        self.offsets.len() - 1
    }

    /// How many transitions.
    pub fn transition_count(&self) -> usize {
        self.edges.len()
    }

    /// All states.
    pub fn states(&self) -> impl DoubleEndedIterator<Item = StateId> + ExactSizeIterator + use<> {
        (0..(self.offsets.len() - 1) as u32).map(StateId)
    }

    /// The transitions of a state.
    pub fn edges(&self, state: StateId) -> &[Edge] {
        &self.edges[self.offsets[state.index()] as usize..self.offsets[state.index() + 1] as usize]
    }

    /// All transitions, by source.
    pub fn transitions(&self) -> impl Iterator<Item = (StateId, Edge)> + '_ {
        self.states().flat_map(|s| self.edges(s).iter().map(move |&e| (s, e)))
    }

    /// All edges in one array, by source; see [`Lts::offsets`].
    pub fn all_edges(&self) -> &[Edge] {
        &self.edges
    }

    /// Where the edges of each state start in [`Lts::all_edges`], and after the last where they end.
    pub fn offsets(&self) -> &[u32] {
        &self.offsets
    }

    /// The labels.
    pub fn labels(&self) -> &Labels {
        &self.labels
    }

    /// The text of a label.
    pub fn name(&self, label: LabelId) -> &str {
        self.labels.name(label)
    }

    /// Bytes in use.
    pub fn memory(&self) -> u64 {
        (self.offsets.capacity() * 4 + self.edges.capacity() * 8) as u64 + self.labels.memory()
    }

    /// Gives every edge another label; `new` has the text of each label of the result.
    #[must_use]
    pub(crate) fn relabelled(mut self, new: Labels, map: &[LabelId]) -> Self {
        for edge in &mut self.edges {
            edge.label = map[edge.label.index()];
        }
        Lts { labels: new, ..self }
    }

    /// From rows that are known to be sound: only for code that has just made them.
    pub(crate) fn from_rows(labels: Labels, initial: StateId, offsets: Vec<u32>, edges: Vec<Edge>) -> Self {
        debug_assert!(offsets.last().is_some_and(|&end| end as usize == edges.len()));
        debug_assert!(initial.index() + 1 < offsets.len());
        Lts { labels, initial, offsets, edges }
    }
}

/// Collects transitions in any order; cheapest when they come sorted by source.
#[derive(Debug)]
pub struct LtsBuilder {
    labels: Labels,
    edges: Vec<Edge>,
    /// While sources ascend: where the rows started so far start.
    offsets: Vec<u32>,
    /// As soon as one does not ascend: the source of every edge.
    sources: Option<Vec<u32>>,
    /// One more than the largest state number met.
    states: u32,
}

impl LtsBuilder {
    /// A builder that goes on with these labels.
    pub fn new(labels: Labels) -> Self {
        LtsBuilder { labels, edges: Vec::new(), offsets: Vec::new(), sources: None, states: 0 }
    }

    /// Makes room for this many transitions of this many states.
    pub fn reserve(&mut self, transitions: usize, states: usize) {
        self.edges.reserve_exact(transitions);
        self.offsets.reserve_exact(states + 1);
        prefer_large(&self.edges);
        prefer_large(&self.offsets);
    }

    /// The label with this text.
    pub fn label(&mut self, name: &str) -> LabelId {
        self.labels.intern(name)
    }

    pub(crate) fn labels(&self) -> &Labels {
        &self.labels
    }

    pub(crate) fn labels_mut(&mut self) -> &mut Labels {
        &mut self.labels
    }

    /// How many transitions so far.
    pub fn transition_count(&self) -> usize {
        self.edges.len()
    }

    /// Bytes in use.
    pub(crate) fn memory(&self) -> u64 {
        let sources = self.sources.as_ref().map_or(0, Vec::capacity);
        (self.edges.capacity() * 8 + self.offsets.capacity() * 4 + sources * 4) as u64 + self.labels.memory()
    }

    /// Adds a transition.
    #[inline]
    pub fn add(&mut self, source: StateId, label: LabelId, target: StateId) {
        self.states = self.states.max(source.0.saturating_add(1)).max(target.0.saturating_add(1));
        if let Some(sources) = &mut self.sources {
            sources.push(source.0);
        } else if source.index() + 1 >= self.offsets.len() && source.index() <= self.trusted_source() {
            let start = self.edges.len() as u32;
            while self.offsets.len() <= source.index() {
                self.offsets.push(start);
            }
        } else {
            let mut sources = self.expand_sources();
            sources.push(source.0);
            self.sources = Some(sources);
        }
        self.edges.push(Edge { label, target });
    }

    /// A larger source than this is kept aside: rows are only opened for states that the number of
    /// transitions makes plausible, because a file may name state four billion in its first line.
    fn trusted_source(&self) -> usize {
        2 * self.edges.len() + (1 << 20)
    }

    fn expand_sources(&mut self) -> Vec<u32> {
        let mut sources = Vec::with_capacity(self.edges.capacity());
        for (state, pair) in self.offsets.windows(2).enumerate() {
            sources.resize(sources.len() + (pair[1] - pair[0]) as usize, state as u32);
        }
        let last = self.offsets.len().saturating_sub(1) as u32;
        sources.resize(self.edges.len(), last);
        self.offsets = Vec::new();
        sources
    }

    /// The system, with at least `states` states.
    ///
    /// # Errors
    /// It has 2³² transitions or states, or more.
    pub fn finish(mut self, initial: StateId, states: u32) -> Result<Lts, LtsError> {
        if self.edges.len() >= u32::MAX as usize || self.states.max(states).max(initial.0) == u32::MAX {
            return Err(Diagnostic::error("a system of 2³² states or transitions is too large", None)
                .with_help("explore it on the fly instead of storing it")
                .into());
        }
        let states = self.states.max(states).max(initial.0 + 1) as usize;
        match self.sources.take() {
            None => {
                self.offsets.resize(states + 1, self.edges.len() as u32);
                self.edges.shrink_to_fit();
            }
            Some(sources) => {
                let (offsets, edges) = group(states, &sources, &self.edges);
                self.offsets = offsets;
                self.edges = edges;
            }
        }
        Ok(Lts::from_rows(self.labels, initial, self.offsets, self.edges))
    }
}

/// Counting sort by source; stable.
fn group(states: usize, sources: &[u32], edges: &[Edge]) -> (Vec<u32>, Vec<Edge>) {
    let mut offsets = vec![0u32; states + 1];
    for &s in sources {
        offsets[s as usize + 1] += 1;
    }
    for s in 0..states {
        offsets[s + 1] += offsets[s];
    }
    let mut next = offsets.clone();
    let mut grouped = vec![Edge { label: LabelId::TAU, target: StateId(0) }; edges.len()];
    for (&s, &edge) in sources.iter().zip(edges) {
        let at = &mut next[s as usize];
        grouped[*at as usize] = edge;
        *at += 1;
    }
    (offsets, grouped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transitions_in_any_order_give_the_same_rows() {
        let all = [(0, 1, 2), (2, 0, 1), (0, 2, 0), (5, 1, 3), (2, 1, 2), (4, 0, 0)];
        let build = |order: &[(u32, u32, u32)]| {
            let mut builder = Lts::builder();
            builder.label("a");
            builder.label("b");
            for &(s, l, t) in order {
                builder.add(StateId(s), LabelId(l), StateId(t));
            }
            builder.finish(StateId(1), 8).expect("small")
        };
        let mut sorted = all;
        sorted.sort_by_key(|t| t.0);
        let (one, two) = (build(&all), build(&sorted));
        assert_eq!(one.offsets, two.offsets);
        assert_eq!(one.edges, two.edges);
        assert_eq!(one.state_count(), 8);
        assert_eq!(one.edges(StateId(2)).len(), 2);
        assert_eq!(one.edges(StateId(7)).len(), 0);
    }

    #[test]
    fn a_system_without_transitions_has_its_initial_state() {
        let lts = Lts::builder().finish(StateId(0), 0).expect("small");
        assert_eq!((lts.state_count(), lts.transition_count()), (1, 0));
    }
}
