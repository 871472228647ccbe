//! The naive twin: every state and every step of a small program, and what can be told of them from outside.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use volee_program::{Machine, MachineOptions};
use volee_promela::Lowered;
use volee_system::{Draft as _, System, Variable, collect_initial, collect_steps};

/// More states than a small program has.
const MOST_STATES: usize = 200_000;

/// What a search may ask about a program.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// The values of the watched expressions in all states.
    pub valuations: BTreeSet<Vec<bool>>,
    /// How a step changes them.
    pub changes: BTreeSet<(Vec<bool>, Vec<bool>)>,
    /// The errors there are.
    pub faults: BTreeSet<String>,
    /// The variables of the states without steps, and whether these are valid ends.
    pub ends: Vec<(bool, BTreeMap<String, String>)>,
    pub states: usize,
}

/// A program given as text.
pub fn lowered(source: &str) -> Lowered {
    let (model, diagnostics) = volee_promela::parse("test.pml", source, &volee_promela::Options::default());
    let model = model.unwrap_or_else(|| panic!("{source}\n{diagnostics:?}"));
    volee_promela::lower(Arc::new(model)).unwrap_or_else(|e| panic!("{source}\n{e:?}"))
}

/// A machine for a program given as text, with expressions that somebody watches.
pub fn machine(source: &str, watched: &[&str], plain: bool) -> Machine {
    let mut machine = lowered(source).machine(MachineOptions { plain, ..MachineOptions::default() });
    for text in watched {
        machine.predicate(text).unwrap_or_else(|e| panic!("{text}: {e:?}"));
    }
    machine
}

/// Explores everything.
pub fn explore(machine: &mut Machine, watched: usize) -> Seen {
    let mut seen = Seen::default();
    let mut known: HashMap<Vec<u8>, Vec<bool>> = HashMap::new();
    let mut waiting = collect_initial(machine);
    for state in &waiting {
        known.insert(state.clone(), valuation(machine, state, watched));
    }
    while let Some(state) = waiting.pop() {
        let here = known[&state].clone();
        let steps = collect_steps(machine, &state);
        if steps.is_empty() {
            let variables = machine.variables(&state).into_iter();
            let variables = variables.map(|Variable { name, value }| (name, value)).collect();
            seen.ends.push((machine.is_valid_end(&state), variables));
        }
        for (step, target) in steps {
            seen.faults.extend(step.fault.map(|f| machine.fault(f).message));
            let there = valuation(machine, &target, watched);
            if there != here {
                seen.changes.insert((here.clone(), there.clone()));
            }
            if !known.contains_key(&target) {
                known.insert(target.clone(), there);
                waiting.push(target);
            }
        }
        seen.valuations.insert(here);
        assert!(known.len() < MOST_STATES, "a small program");
    }
    seen.states = known.len();
    seen
}

fn valuation(machine: &mut Machine, state: &[u8], watched: usize) -> Vec<bool> {
    let holds = |p| machine.holds(volee_system::PredicateId(p as u32), state) == Ok(true);
    (0..watched).map(holds).collect()
}

/// Whether a state of the one agrees with a state of the other on all variables that both show.
fn agree(a: &(bool, BTreeMap<String, String>), b: &(bool, BTreeMap<String, String>)) -> bool {
    a.0 == b.0 && a.1.iter().all(|(name, value)| b.1.get(name).is_none_or(|other| other == value))
}

/// The optimised program shows what the plain one shows.
pub fn compare(source: &str, watched: &[&str]) -> (Seen, Seen) {
    let plain = explore(&mut machine(source, watched, true), watched.len());
    let optimised = explore(&mut machine(source, watched, false), watched.len());
    assert_eq!(plain.valuations, optimised.valuations, "valuations of {source}");
    assert_eq!(plain.changes, optimised.changes, "changes in {source}");
    assert_eq!(plain.faults, optimised.faults, "errors of {source}");
    for end in &plain.ends {
        assert!(optimised.ends.iter().any(|other| agree(other, end)), "{source}\nlost the end {end:?}");
    }
    for end in &optimised.ends {
        assert!(plain.ends.iter().any(|other| agree(end, other)), "{source}\ninvented the end {end:?}");
    }
    assert!(optimised.states <= plain.states, "{source}");
    (plain, optimised)
}
