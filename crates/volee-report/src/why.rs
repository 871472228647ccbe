//! Why a run is what it is: for a deadlock what every process waits for, for a lasso what never happens in
//! its cycle.
//!
//! Worked out from the system that the run is one of, state by state, and told in sentences without a full
//! stop.

use std::collections::{BTreeMap, BTreeSet};

use volee_system::{
    Draft, Inspection, PredicateId, Standing, System, Witness, collect_initial, collect_steps, inspect,
};

/// States of a cycle that are looked at; a longer cycle is not explained.
const LONGEST_CYCLE: usize = 10_000;
/// Steps that are walked to get to the end of a run.
const LONGEST_RUN: usize = 1 << 20;

/// What is to be said of the end of a run: of a deadlock, or of the cycle of a lasso. `conditions` are
/// expressions that the question is about. Nothing where the system has no processes, or the run is very
/// long.
pub fn why(draft: &mut dyn Draft, witness: &Witness, conditions: &[String]) -> Vec<String> {
    // Before any state is asked for: what is looked at may decide what a state has in it.
    let compiled: Vec<(&String, PredicateId)> = match witness.loop_start {
        Some(_) => conditions.iter().filter_map(|text| Some((text, draft.predicate(text).ok()?))).collect(),
        None => Vec::new(),
    };
    let system = draft.system();
    let Some((before, cycle)) = walked(system, witness) else { return Vec::new() };
    match cycle {
        Some(cycle) if !cycle.is_empty() => {
            let progress = conditions.iter().any(|c| c == "progress");
            around(system, &cycle, &compiled, progress)
        }
        _ if collect_steps(system, &before).iter().all(|(step, _)| step.stays) => {
            stuck(&inspect(system, &before))
        }
        _ => Vec::new(),
    }
}

/// Why nobody moves: a line for each process that waits.
pub fn stuck(inspection: &Inspection) -> Vec<String> {
    inspection.processes.iter().filter_map(waiting).collect()
}

fn waiting(process: &Standing) -> Option<String> {
    if process.ended {
        return None;
    }
    let waits = process.waits_for()?;
    let line = process.options.iter().find_map(|o| o.place.as_ref()).map(|p| format!(" at line {}", p.line));
    let because = process.because();
    let because = if because.is_empty() { String::new() } else { format!(" ({})", because.join(", ")) };
    Some(format!("{}{} waits for {waits}{because}", process.name(), line.unwrap_or_default()))
}

/// A state of a cycle and the step that is taken in it.
type Turn = (Vec<u8>, usize);

/// The last state of a run, or the states of its cycle with the steps taken in them.
fn walked(system: &mut dyn System, witness: &Witness) -> Option<(Vec<u8>, Option<Vec<Turn>>)> {
    if witness.steps.len() > LONGEST_RUN {
        return None;
    }
    let start = witness.loop_start.unwrap_or(usize::MAX);
    if witness.loop_start.is_some_and(|s| witness.steps.len().saturating_sub(s) > LONGEST_CYCLE) {
        return None;
    }
    let mut state = collect_initial(system).into_iter().nth(witness.initial as usize)?;
    let mut cycle = Vec::new();
    for (at, &ordinal) in witness.steps.iter().enumerate() {
        let mut possible = collect_steps(system, &state);
        let ordinal = ordinal as usize;
        if ordinal >= possible.len() {
            return None;
        }
        let (_, target) = possible.swap_remove(ordinal);
        if at >= start {
            cycle.push((state, ordinal));
        }
        state = target;
    }
    Some((state, witness.loop_start.map(|_| cycle)))
}

/// How a process fares in a cycle.
#[derive(Default)]
struct Fare {
    moves: bool,
    /// States in which it could move.
    could: usize,
    /// What it waits for, as long as that is always the same.
    waits: BTreeSet<String>,
    ended: bool,
}

fn around(
    system: &mut dyn System,
    cycle: &[Turn],
    conditions: &[(&String, PredicateId)],
    progress: bool,
) -> Vec<String> {
    let mut fares: BTreeMap<(u32, String), Fare> = BTreeMap::new();
    let mut marked = false;
    for (state, ordinal) in cycle {
        for process in inspect(system, state).processes {
            let fare = fares.entry((process.pid, process.name())).or_default();
            fare.could += usize::from(process.can_move());
            fare.ended |= process.ended;
            fare.waits.extend(process.waits_for());
        }
        for action in system.explain(state, *ordinal) {
            let name = format!("{}({})", action.process, action.pid);
            fares.entry((action.pid, name)).or_default().moves = true;
        }
        marked |= system.marks(state).progress;
    }
    let mut told: Vec<String> = constant(system, cycle, conditions);
    for ((_, name), fare) in fares.iter().filter(|(_, fare)| !fare.moves && !fare.ended) {
        told.push(match (fare.could, fare.waits.len()) {
            (could, _) if could == cycle.len() => {
                format!("{name} never moves in the cycle, though it always could")
            }
            (0, 1) => {
                let waits = fare.waits.iter().next().map_or("", String::as_str);
                format!("{name} never moves in the cycle: it waits for {waits}")
            }
            (0, _) => format!("{name} never moves in the cycle: it cannot"),
            _ => format!("{name} never moves in the cycle, though at times it could"),
        });
    }
    if !marked && progress {
        told.push("no progress label is passed in the cycle".into());
    }
    told
}

/// The conditions that are the same all the way round.
fn constant(system: &mut dyn System, cycle: &[Turn], conditions: &[(&String, PredicateId)]) -> Vec<String> {
    let mut told = Vec::new();
    for &(text, predicate) in conditions {
        let values: BTreeSet<bool> =
            cycle.iter().filter_map(|(state, _)| system.holds(predicate, state).ok()).collect();
        match (values.contains(&true), values.contains(&false)) {
            (true, false) => told.push(format!("`{text}` is true all the way round the cycle")),
            (false, true) => told.push(format!("`{text}` is never true in the cycle")),
            _ => {}
        }
    }
    told
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;
    use volee_system::{Action, Choice, Covered, FaultId, Flow, Inspectable, Label, Sink, Step};

    /// Two processes: the first goes round three states, the second can move in the first of them, or always,
    /// or never.
    struct Ring {
        second_can: fn(u8) -> bool,
    }

    impl System for Ring {
        fn initial(&mut self, push: &mut dyn FnMut(&[u8]) -> Flow) -> Flow {
            push(&[0])
        }

        fn steps(&mut self, state: &[u8], sink: &mut dyn Sink) -> Flow {
            sink.push(Step::labelled(0), &[(state[0] + 1) % 3])
        }

        fn label(&self, _: Label) -> Cow<'_, str> {
            "go".into()
        }

        fn explain(&mut self, _: &[u8], _: usize) -> Vec<Action> {
            vec![Action { process: "A".into(), pid: 0, ..Action::plain("go") }]
        }

        fn inspection(&mut self) -> Option<&mut dyn Inspectable> {
            Some(self)
        }
    }

    impl Inspectable for Ring {
        fn value(&mut self, predicate: PredicateId, state: &[u8]) -> Result<i64, FaultId> {
            self.holds(predicate, state).map(i64::from)
        }

        fn coverage(&self) -> Vec<Covered> {
            Vec::new()
        }

        fn inspect(&mut self, state: &[u8]) -> Inspection {
            let waits = (!(self.second_can)(state[0])).then(|| "c?x: empty".to_string());
            let option = Choice { text: "c?x".into(), place: None, waits, because: Vec::new() };
            let standing = |process: &str, pid, options| Standing {
                process: process.into(),
                pid,
                may_end: false,
                ended: false,
                options,
            };
            let processes = vec![standing("A", 0, Vec::new()), standing("B", 1, vec![option])];
            Inspection { processes, channels: Vec::new() }
        }
    }

    fn ring(second_can: fn(u8) -> bool) -> Box<dyn System> {
        Box::new(Ring { second_can })
    }

    fn told(second_can: fn(u8) -> bool) -> Vec<String> {
        why(&mut ring(second_can), &Witness { initial: 0, steps: vec![0; 4], loop_start: Some(1) }, &[])
    }

    #[test]
    fn who_never_moves_in_a_cycle_either_cannot_or_is_treated_unfairly() {
        assert_eq!(told(|_| false), ["B(1) never moves in the cycle: it waits for c?x: empty"]);
        assert_eq!(told(|_| true), ["B(1) never moves in the cycle, though it always could"]);
        assert_eq!(told(|state| state == 0), ["B(1) never moves in the cycle, though at times it could"]);
    }

    #[test]
    fn a_run_that_goes_on_or_is_none_needs_no_reason() {
        let mut ring = ring(|_| true);
        assert!(why(&mut ring, &Witness { initial: 0, steps: vec![0], loop_start: None }, &[]).is_empty());
        assert!(why(&mut ring, &Witness { initial: 0, steps: vec![7], loop_start: None }, &[]).is_empty());
    }
}
