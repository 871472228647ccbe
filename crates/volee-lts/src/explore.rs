//! Any system made explicit: breadth-first, every state once.
//!
//! Reductions and comparisons need the whole graph; this gives it for Promela models, nets, compositions and
//! generators alike. States are numbered in breadth-first order, so the rows come out sorted and neighbours
//! in the graph are often neighbours in memory.

use std::collections::HashMap;

use volee_system::{FaultId, Flow, Label, Meter, Progress, Snapshot, Step, System, collect_initial};

use crate::{LabelId, Labels, Lts, LtsBuilder, LtsError, PackedStates, StateId};

/// Explores a system completely.
///
/// Several initial states become one new state with an internal step to each. A step with a fault keeps its
/// label and says the fault, because a system that fails is not equivalent to one that does not.
///
/// # Errors
/// The budget runs out, or the system has no initial state.
pub fn explore(system: &mut dyn System, meter: &Meter, progress: &mut dyn Progress) -> Result<Lts, LtsError> {
    explore_as(system, &mut |names| names.first().cloned(), meter, progress)
}

/// The same with other labels: `name` is given all names of a step and says what it is called, or that it is
/// internal.
///
/// # Errors
/// The budget runs out, or the system has no initial state.
pub fn explore_as(
    system: &mut dyn System,
    name: &mut dyn FnMut(&[String]) -> Option<String>,
    meter: &Meter,
    progress: &mut dyn Progress,
) -> Result<Lts, LtsError> {
    let initial = collect_initial(system);
    let mut graph = Graph::new();
    match initial.len() {
        0 => return Err(LtsError::input("the system has no initial state")),
        1 => {
            graph.states.insert(&initial[0]);
        }
        _ => {
            // No packed state is this: it is only a place to start from.
            graph.states.reserve_anonymous();
            for state in &initial {
                let target = StateId(graph.states.insert(state));
                graph.builder.add(StateId(0), LabelId::TAU, target);
            }
        }
    }
    let mut next = usize::from(initial.len() > 1);
    let mut state = Vec::new();
    while next < graph.states.len() {
        if next.is_multiple_of(4096) {
            meter.check()?;
            let memory = graph.memory();
            meter.check_memory(memory, || format!("after {} states", graph.states.len()))?;
            progress.report(&Snapshot {
                states: graph.states.len() as u64,
                transitions: graph.builder.transition_count() as u64,
                pending: (graph.states.len() - next) as u64,
                memory,
                ..Snapshot::default()
            });
        }
        state.clear();
        state.extend_from_slice(graph.states.get(next));
        graph.expand(system, name, StateId(next as u32), &state)?;
        next += 1;
    }
    let states = graph.states.len() as u32;
    drop(graph.states);
    graph.builder.finish(StateId(0), states)
}

struct Graph {
    states: PackedStates,
    builder: LtsBuilder,
    labels: LabelMap,
    row: Vec<(Step, StateId)>,
}

/// A label below this is an index: a system may number its labels as it likes.
const MOST_INDEXED: usize = 1 << 16;

/// The label here of each label of a system. A fault makes a label of its own.
#[derive(Debug, Default)]
pub(crate) struct LabelMap {
    known: Vec<Option<LabelId>>,
    sparse: HashMap<Label, LabelId>,
    faults: HashMap<(Label, FaultId), LabelId>,
}

impl LabelMap {
    pub(crate) fn get(
        &mut self,
        system: &dyn System,
        name: &mut dyn FnMut(&[String]) -> Option<String>,
        step: Step,
        labels: &mut Labels,
    ) -> LabelId {
        if let Some(fault) = step.fault {
            return *self.faults.entry((step.label, fault)).or_insert_with(|| {
                let text = name(&system.names(step.label)).unwrap_or_else(|| "i".into());
                labels.intern(&format!("{text} ({})", system.fault(fault).message))
            });
        }
        let at = step.label.0 as usize;
        if at >= MOST_INDEXED {
            return *self.sparse.entry(step.label).or_insert_with(|| {
                name(&system.names(step.label)).map_or(LabelId::TAU, |text| labels.intern(&text))
            });
        }
        if let Some(Some(known)) = self.known.get(at) {
            return *known;
        }
        if self.known.len() <= at {
            self.known.resize(at + 1, None);
        }
        let label = name(&system.names(step.label)).map_or(LabelId::TAU, |text| labels.intern(&text));
        self.known[at] = Some(label);
        label
    }
}

impl Graph {
    fn new() -> Self {
        Graph {
            states: PackedStates::new(),
            builder: Lts::builder(),
            labels: LabelMap::default(),
            row: Vec::new(),
        }
    }

    fn memory(&self) -> u64 {
        self.states.memory() + self.builder.memory()
    }

    fn expand(
        &mut self,
        system: &mut dyn System,
        name: &mut dyn FnMut(&[String]) -> Option<String>,
        source: StateId,
        state: &[u8],
    ) -> Result<(), LtsError> {
        let Graph { states, row, .. } = self;
        row.clear();
        let _ = system.steps(state, &mut |step: Step, target: &[u8]| {
            row.push((step, StateId(states.insert(target))));
            Flow::Continue(())
        });
        if let Some(limit) = system.left_out() {
            return Err(LtsError::Limit(limit));
        }
        if self.states.len() >= u32::MAX as usize - 1 {
            return Err(LtsError::input("2³² states are more than volee stores"));
        }
        for at in 0..self.row.len() {
            let (step, target) = self.row[at];
            let label = self.labels.get(system, name, step, self.builder.labels_mut());
            self.builder.add(source, label, target);
        }
        Ok(())
    }
}
