//! Remembered steps against the system itself, state by state: a twin for tests and for whoever doubts.
//!
//! Walks the states of a system breadth-first. In each, what the search would stage from memory is compared
//! with the targets of all steps, in order, and once more with their labels; what it would stage of each
//! persistent set, with the steps that the system makes of it; and the steps that the system makes part by part
//! with those that it makes at once: labels, faults, targets, order. Records are joined into groups sooner and
//! more often than in a search, and in the end no more, as where memory is short.

use volee_store::{Names, StateRef, Tuple, Tuples};
use volee_system::{
    Fineness, Flow, Label, Part, PersistentSet, Step, System, Touched, collect_initial, collect_steps,
};

use crate::memo::{Memo, Recalled, Stage, Word, rename_steps};
use crate::reducing::MOST_ATTEMPTS;

/// How a comparison went.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Audit {
    /// States that were compared.
    pub states: u64,
    /// Those whose targets came from memory, or from parts that were executed for it.
    pub recalled: u64,
    /// Those of them where some records were in groups.
    pub grouped: u64,
    /// The same with the labels of steps.
    pub labelled: u64,
    /// Persistent sets that came from memory.
    pub sets: u64,
}

/// Targets, and labels where these are looked at.
#[derive(Default)]
struct Targets<const L: bool>(Vec<StateRef>, Vec<Label>);

impl<const L: bool> Stage for Targets<L> {
    const LABELS: bool = L;

    fn label(&mut self, label: Label) {
        self.1.extend(L.then_some(label));
    }

    fn one(&mut self, target: StateRef) {
        self.0.push(target);
    }

    fn count(&self) -> usize {
        self.0.len()
    }

    fn up_to_two(&mut self, targets: [StateRef; 2], count: usize) {
        self.0.extend_from_slice(&targets[..count]);
    }
}

/// Compares up to `most` states, and stops earlier where they have very many steps. Where the system does not
/// tell its components nothing is compared.
///
/// # Errors
/// What differs, and where.
pub fn audit_remembered_steps<S: System + ?Sized>(system: &mut S, most: usize) -> Result<Audit, String> {
    let mut audit = Audit::default();
    let mut kept = Kept {
        names: Names::new(system.components()),
        memo: Memo::new(system).hasty(),
        wide: Memo::new(system).hasty(),
        labelled: Memo::with_labels(system),
        labelled_wide: Memo::with_labels(system),
    };
    let mut queue = collect_initial(system);
    let mut known: std::collections::HashSet<Vec<u8>> = queue.iter().cloned().collect();
    let mut at = 0;
    let mut steps_left = most.saturating_mul(16);
    while at < queue.len() && at < most && steps_left > 0 {
        let state = queue[at].clone();
        if at == most / 4 * 3 {
            kept.memo.close_groups();
            kept.wide.close_groups();
        }
        let steps = collect_steps(system, &state);
        steps_left = steps_left.saturating_sub(steps.len());
        compare_parts(system, &mut kept, &state, &steps)?;
        let targets: Vec<&[u8]> = steps.iter().map(|(_, target)| &target[..]).collect();
        let differ = |remembered: usize| {
            Err(format!("state {at}: {} steps, of which {remembered} are remembered, differ", steps.len()))
        };
        if let Some((recalled, _)) = recall::<S, false>(system, &mut kept, &state) {
            if targets != recalled {
                return differ(recalled.len());
            }
            audit.recalled += 1;
            audit.grouped += u64::from(kept.memo.has_groups() || kept.wide.has_groups());
        }
        if let Some((recalled, labels)) = recall::<S, true>(system, &mut kept, &state) {
            if targets != recalled || steps.iter().map(|(step, _)| step.label).ne(labels) {
                return differ(recalled.len());
            }
            audit.labelled += 1;
        }
        for attempt in 0..MOST_ATTEMPTS {
            let Some(remembered) = recall_set(system, &mut kept, (&state, attempt)) else { break };
            let made = make_set(system, &state, attempt);
            if made.as_ref() != Some(&remembered) {
                return Err(format!("state {at}, attempt {attempt}: the persistent sets differ"));
            }
            audit.sets += u64::from(remembered.0.is_some());
        }
        for (_, target) in steps {
            if known.insert(target.clone()) {
                queue.push(target);
            }
        }
        audit.states += 1;
        at += 1;
    }
    Ok(audit)
}

/// Names, and what is remembered of steps.
struct Kept {
    names: Names,
    memo: Memo<u64>,
    wide: Memo<Tuple>,
    labelled: Memo<u64>,
    labelled_wide: Memo<Tuple>,
}

impl Kept {
    /// The name of a state, laid out anew where that is needed.
    fn settled(&mut self, state: &[u8]) -> StateRef {
        loop {
            let name = self.names.name(state);
            if !self.lay_out() {
                return name;
            }
        }
    }

    /// Lays names out anew, as a search would, where states wait for that; whether some do.
    fn lay_out(&mut self) -> bool {
        let waits = self.names.has_waiting();
        if waits && let Some(renaming) = self.names.rename(30) {
            rename_steps(&renaming, &mut self.names, (&mut self.memo, &mut self.wide));
            let labelled = (&mut self.labelled, &mut self.labelled_wide);
            rename_steps(&renaming, &mut self.names, labelled);
        }
        waits
    }
}

/// The targets and labels of steps.
type Recollection = (Vec<Vec<u8>>, Vec<Label>);

/// The targets of a state as the search would stage them, or with labels; `None` where the system is asked.
fn recall<S: System + ?Sized, const L: bool>(
    system: &mut S,
    kept: &mut Kept,
    state: &[u8],
) -> Option<Recollection> {
    let name = kept.settled(state);
    let tuples = kept.names.tuples()?;
    let Targets(targets, labels) = match (tuples.is_wide(), L) {
        (true, false) => expand::<S, Tuple, L>(system, tuples, name, &mut kept.wide)?,
        (false, false) => expand::<S, u64, L>(system, tuples, name, &mut kept.memo)?,
        (true, true) => expand::<S, Tuple, L>(system, tuples, name, &mut kept.labelled_wide)?,
        (false, true) => expand::<S, u64, L>(system, tuples, name, &mut kept.labelled)?,
    };
    // A target that waits for a name has none that could be compared; next time it has.
    if kept.lay_out() {
        return None;
    }
    let mut bytes = Vec::new();
    let mut load = |name: StateRef| {
        kept.names.load(name, &mut bytes);
        bytes.clone()
    };
    Some((targets.into_iter().map(&mut load).collect(), labels))
}

/// A persistent set and the targets of its steps.
type Set = (Option<PersistentSet>, Vec<Vec<u8>>);

/// What the search would stage of a persistent set; `None` where it asks the system.
fn recall_set<S: System + ?Sized>(
    system: &mut S,
    kept: &mut Kept,
    (state, attempt): (&[u8], u32),
) -> Option<Set> {
    let name = kept.settled(state);
    let tuples = kept.names.tuples()?;
    let (mut targets, mut buffer) = (Targets::<false>::default(), Vec::new());
    let state = ((name, &mut buffer), attempt);
    let set = if tuples.is_wide() {
        kept.wide.expand_set(system, tuples, state, &mut targets)
    } else {
        kept.memo.expand_set(system, tuples, state, &mut targets)
    };
    let set = set.ok()?;
    if kept.lay_out() {
        return None;
    }
    let load = |name: &StateRef| {
        kept.names.load(*name, &mut buffer);
        buffer.clone()
    };
    Some((set, targets.0.iter().map(load).collect()))
}

/// The same as the system makes it; `None` where a step has a fault.
fn make_set<S: System + ?Sized>(system: &mut S, state: &[u8], attempt: u32) -> Option<Set> {
    let mut targets = Vec::new();
    let set = system.reducible()?.persistent_steps(state, attempt, &mut |step: Step, target: &[u8]| {
        targets.push(target.to_vec());
        if step.fault.is_some() || step.stays { Flow::Break(()) } else { Flow::Continue(()) }
    });
    Some((set.continue_value()?, targets))
}

fn expand<S: System + ?Sized, W: Word, const L: bool>(
    system: &mut S,
    tuples: &mut Tuples,
    name: StateRef,
    memo: &mut Memo<W>,
) -> Option<Targets<L>> {
    let mut targets = Targets::default();
    let recalled = memo.expand(system, tuples, (name, &mut Vec::new()), &mut targets);
    (memo.is_on() && recalled != Recalled::Ask).then_some(targets)
}

/// Parts, coarse and fine, have together the steps of the state, unless they have none.
fn compare_parts<S: System + ?Sized>(
    system: &mut S,
    kept: &mut Kept,
    state: &[u8],
    steps: &[(Step, Vec<u8>)],
) -> Result<(), String> {
    kept.settled(state);
    let Some(tuples) = kept.names.tuples() else { return Ok(()) };
    let (fixed, records) = (tuples.fixed(), tuples.len() - tuples.fixed());
    let mut starts = Vec::new();
    let cut = system.components().and_then(|cut| cut.starts(state, &mut starts));
    let Some(system) = system.divisible().filter(|_| cut.is_some()) else { return Ok(()) };
    let present = starts.len() - 1 - fixed;
    let kinds: Vec<Vec<u8>> = (0..records).map(|at| tuples.kinds(fixed + at).to_vec()).collect();
    for fineness in [Fineness::Coarse, Fineness::Fine] {
        let mut parts: Vec<Part> = Vec::new();
        (0..present).rev().for_each(|r| system.parts(state, r as u8, fineness, &kinds, &mut parts));
        system.divide(state);
        let mut made = Vec::new();
        for &part in &parts {
            let mut touched = Touched::default();
            let told = Some((&mut touched, &kinds[..]));
            let flow = system.part_steps(part, told, &mut |step: Step, target: &[u8]| {
                made.push((step, target.to_vec()));
                Flow::Continue(())
            });
            if flow.is_break() {
                return Ok(());
            }
        }
        if !made.is_empty() && made != steps {
            return Err(format!("{} steps part by part ({fineness:?}), {} at once", made.len(), steps.len()));
        }
    }
    Ok(())
}
