//! A run over unbounded integers, found again in the program as the user wrote it.
//!
//! A counter program knows values, the machine knows statements. So the machine is explored, breadth first,
//! only along states whose integers are those of the run, until what the run shows is there as well. What is
//! found is a run of the machine whatever guided it; where nothing is found (integers that no machine has, or
//! too many ways) there is no such run to show.

use std::collections::{HashMap, HashSet, VecDeque};

use volee_logic::formula;
use volee_search::{Check, ClaimProduct, LtlQuestion, Runs, TlQuestion};
use volee_system::{Draft, FaultKind, Flow, PredicateId, Step, System, Variable, Witness, collect_initial};

use crate::question::Question;

/// States that are looked at before giving up.
const MOST_STATES: usize = 500_000;

/// States of the run that one step of the machine may pass: an indivisible sequence is several steps of the
/// counter program.
const WINDOW: usize = 64;

/// What a run must end in.
enum Ending {
    Deadlock,
    Fault(FaultKind),
    Predicate(PredicateId, bool),
}

/// A state of the machine, how far along the run it is, and how it was reached.
struct Node {
    state: Vec<u8>,
    at: usize,
    from: Option<(usize, u32)>,
}

/// Finds a run of `draft` that shows what is asked, along these values of variables.
pub(super) fn retrace(
    draft: &mut dyn Draft,
    question: &Question,
    runs: Runs,
    values: &[HashMap<String, String>],
) -> Option<Witness> {
    let origin = question.origin();
    let ending = match question {
        Question::Ltl { text, .. } => {
            let parsed = formula::parse(text, &origin).ok()?;
            let ltl = LtlQuestion::new(draft, parsed, text, &origin).ok()?;
            let mut product = ClaimProduct::new(draft.system(), ltl.claim(), false);
            let waiting = product.questions(&Check::new()).invariants.first()?.1;
            let found = follow(&mut product, &Ending::Predicate(waiting, false), values)?;
            return product.own_run(&found).map(|(witness, _)| witness);
        }
        Question::Tl(text) => {
            let parsed = formula::parse(text, &origin).ok()?;
            let tl = TlQuestion::new(draft, &parsed, text, &origin).ok()?;
            let well = tl.questions(&Check::new()).invariants.first()?.1;
            return follow(&mut tl.beside(draft.system(), runs), &Ending::Predicate(well, false), values);
        }
        Question::Deadlock => Ending::Deadlock,
        Question::Assertions => Ending::Fault(FaultKind::Assertion),
        Question::RuntimeErrors => Ending::Fault(FaultKind::Runtime),
        Question::Invariant(text) => Ending::Predicate(draft.predicate(text).ok()?, false),
        Question::Reachable(text) => Ending::Predicate(draft.predicate(text).ok()?, true),
        Question::Target => Ending::Predicate(draft.predicate("target").ok()?, true),
        _ => return None,
    };
    follow(draft.system(), &ending, values)
}

/// Finds a run that ends like this.
fn follow(system: &mut dyn System, ending: &Ending, values: &[HashMap<String, String>]) -> Option<Witness> {
    let initial = collect_initial(system).into_iter().next()?;
    // Only what both know guides: the machine has no names for parts of the counter program's states.
    let known: HashSet<String> = system.variables(&initial).into_iter().map(|v| v.name).collect();
    let mut values = values.to_vec();
    values.iter_mut().for_each(|state| state.retain(|name, _| known.contains(name)));
    values.dedup();
    if !agrees(&system.variables(&initial), values.first()?) {
        return None;
    }
    let mut nodes = vec![Node { state: initial.clone(), at: 0, from: None }];
    let mut seen: HashSet<(Vec<u8>, usize)> = HashSet::from([(initial, 0)]);
    let mut waiting: VecDeque<usize> = VecDeque::from([0]);
    while let Some(number) = waiting.pop_front() {
        let (state, at) = (nodes[number].state.clone(), nodes[number].at);
        let mut steps: Vec<(Step, Vec<u8>)> = Vec::new();
        let _ = system.steps(&state, &mut |step: Step, target: &[u8]| {
            steps.push((step, target.to_vec()));
            Flow::Continue(())
        });
        if let Some(last) = ends(system, ending, &state, &steps) {
            return Some(witness(&nodes, number, last));
        }
        for (ordinal, (_, target)) in steps.into_iter().enumerate() {
            let shown = system.variables(&target);
            let next = (at..(at + WINDOW).min(values.len())).find(|&next| agrees(&shown, &values[next]));
            let Some(next) = next else { continue };
            if nodes.len() >= MOST_STATES {
                return None;
            }
            if seen.insert((target.clone(), next)) {
                waiting.push_back(nodes.len());
                let ordinal = u32::try_from(ordinal).ok()?;
                nodes.push(Node { state: target, at: next, from: Some((number, ordinal)) });
            }
        }
    }
    None
}

/// Whether a state has these values; variables that it does not show do not count.
fn agrees(shown: &[Variable], values: &HashMap<String, String>) -> bool {
    shown.iter().all(|v| values.get(&v.name).is_none_or(|value| *value == v.value))
}

/// Whether the run ends here, and with which step.
fn ends(
    system: &mut dyn System,
    ending: &Ending,
    state: &[u8],
    steps: &[(Step, Vec<u8>)],
) -> Option<Option<u32>> {
    match ending {
        Ending::Deadlock => {
            let stuck = steps.iter().all(|(step, _)| step.stays) && !system.is_valid_end(state);
            stuck.then_some(None)
        }
        Ending::Fault(kind) => {
            let fails =
                |(step, _): &(Step, Vec<u8>)| step.fault.is_some_and(|f| system.fault(f).kind == *kind);
            let ordinal = steps.iter().position(fails)?;
            Some(u32::try_from(ordinal).ok())
        }
        Ending::Predicate(predicate, wanted) => {
            let holds = system.holds(*predicate, state).ok()?;
            (holds == *wanted).then_some(None)
        }
    }
}

fn witness(nodes: &[Node], end: usize, last: Option<u32>) -> Witness {
    let mut steps: Vec<u32> = last.into_iter().collect();
    let mut at = end;
    while let Some((before, ordinal)) = nodes[at].from {
        steps.push(ordinal);
        at = before;
    }
    steps.reverse();
    Witness { initial: 0, steps, loop_start: None }
}
