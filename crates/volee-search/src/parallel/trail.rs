//! The ways that a hunting crew has come: for each state that was new to a worker, the state that led there.
//!
//! A crew that only decides keeps no runs. One that hunts does, at sixteen bytes a state: what it meets by
//! chance no search in a fixed order may find again. A worker notes what it has caught by the name of the
//! state; the run is made when all have ended, by following the notes of all workers backwards. A state is
//! new to one worker only and initial states to none, so that the notes are a forest and every way back ends.

use std::cell::{Cell, RefCell};

use volee_store::{Names, StateRef, Tuples};
use volee_system::{Step, System, Witness};

use super::worker::Handle;
use crate::paths::{Paths, place_of};
use crate::questions::{Finding, join_findings};

/// Marks a witness that is still the number of a catch.
const CAUGHT: u32 = u32::MAX;

/// The state that a worker looks at, and what it has caught: states, with the step that is an error.
pub(super) struct Place {
    pub name: Cell<StateRef>,
    caught: RefCell<Vec<(StateRef, Option<u32>)>>,
}

impl Place {
    pub fn new() -> Self {
        Place { name: Cell::new(StateRef(0)), caught: RefCell::default() }
    }

    /// Names have changed.
    pub fn rename(&mut self, mut translate: impl FnMut(StateRef) -> StateRef) {
        self.caught.get_mut().iter_mut().for_each(|(name, _)| *name = translate(*name));
    }
}

impl Paths<Handle> for Place {
    /// The number of the catch, in the place of a run.
    fn witness<S: System + ?Sized>(
        &self,
        _: &mut S,
        _: &mut Names,
        _: &Handle,
        _: usize,
        last: Option<u32>,
    ) -> Witness {
        let mut caught = self.caught.borrow_mut();
        caught.push((self.name.get(), last));
        Witness { initial: caught.len() as u32 - 1, steps: vec![CAUGHT], loop_start: None }
    }
}

/// Which state has led to each that was new.
pub(super) type Notes = Vec<(StateRef, StateRef)>;

/// What one worker hands in at its end.
pub(crate) struct Trail {
    notes: Notes,
    caught: Vec<(StateRef, Option<u32>)>,
    findings: Vec<Finding>,
    tuples: Option<Box<Tuples>>,
}

impl Trail {
    pub(super) fn new(notes: Notes, place: Place, findings: Vec<Finding>, names: Names) -> Self {
        let tuples = match names {
            Names::Tuples(tuples) => Some(tuples),
            _ => None,
        };
        Trail { notes, caught: place.caught.into_inner(), findings, tuples }
    }
}

/// What all workers have caught, with the runs to it, question by question.
pub(crate) fn caught<S: System + ?Sized>(mut trails: Vec<Trail>, system: &mut S) -> Option<Vec<Finding>> {
    let mut tuples = trails.iter_mut().find_map(|trail| trail.tuples.take())?;
    tuples.catch_up();
    let mut notes: Notes = Vec::new();
    for trail in &mut trails {
        let own = std::mem::take(&mut trail.notes);
        if notes.is_empty() { notes = own } else { notes.extend(own) }
    }
    notes.sort_unstable();
    let mut ways = Ways { notes, tuples, system };
    let mut all: Option<Vec<Finding>> = None;
    for Trail { caught, mut findings, .. } in trails {
        for finding in &mut findings {
            finding.resolve(|witness| match witness.steps[..] {
                [CAUGHT] => {
                    caught.get(witness.initial as usize).and_then(|&(name, last)| ways.to(name, last))
                }
                // Somebody else has reached this goal, and tells of it.
                _ => None,
            });
        }
        match &mut all {
            None => all = Some(findings),
            Some(all) => join_findings(all, findings),
        }
    }
    all
}

/// What all workers have counted, question by question; without runs.
pub(crate) fn counted(trails: Vec<Trail>) -> Option<Vec<Finding>> {
    trails.into_iter().map(|trail| trail.findings).reduce(|mut all, others| {
        join_findings(&mut all, others);
        all
    })
}

struct Ways<'s, S: ?Sized> {
    notes: Notes,
    tuples: Box<Tuples>,
    system: &'s mut S,
}

impl<S: System + ?Sized> Ways<'_, S> {
    /// The run to a state, and from there by a step.
    fn to(&mut self, name: StateRef, last: Option<u32>) -> Option<Witness> {
        let mut names = vec![name];
        let mut at = name;
        while let Ok(found) = self.notes.binary_search_by_key(&at, |note| note.0) {
            at = self.notes[found].1;
            names.push(at);
            if names.len() > self.notes.len() + 1 {
                return None;
            }
        }
        let (mut source, mut target) = (Vec::new(), Vec::new());
        source.extend_from_slice(self.tuples.load(names.pop()?));
        let system = &mut *self.system;
        let initial = place_of(&source, |push| system.initial(push))?;
        let mut steps = Vec::with_capacity(names.len() + 1);
        while let Some(next) = names.pop() {
            target.clear();
            target.extend_from_slice(self.tuples.load(next));
            let step =
                place_of(&target, |push| system.steps(&source, &mut |_: Step, state: &[u8]| push(state)));
            steps.push(step?);
            std::mem::swap(&mut source, &mut target);
        }
        steps.extend(last);
        Some(Witness { initial, steps, loop_start: None })
    }
}
