//! A run over unbounded integers, found again in the program as the user wrote it.
//!
//! A counter program knows values, the machine knows statements. So the machine is explored, breadth first,
//! only along states whose integers are those of the run, until what the run shows is there as well. Of a run
//! that goes on for ever, the machine along its integers is a system by itself (`Along`), in which a run that
//! violates the formula is looked for as in any other. What is found is a run of the machine whatever guided
//! it; where nothing is found (integers that no machine has, or too many ways) there is no such run to show.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet, VecDeque};

use volee_logic::formula;
use volee_search::{Check, ClaimOptions, ClaimProduct, LtlQuestion, Runs, TlQuestion};
use volee_system::{
    Draft, FaultId, FaultKind, Flow, Label, Marks, Meter, PredicateId, Quiet, Sink, Step, System, Variable,
    Verdict, Witness, collect_initial, collect_steps,
};

use crate::question::Question;

/// States that are looked at before giving up.
const MOST_STATES: usize = 500_000;

/// States of the run that one step of the machine may pass: an indivisible sequence is several steps of the
/// counter program.
const WINDOW: usize = 64;

/// Values of variables by their names.
pub(super) type Values = HashMap<String, String>;

/// The values along a run.
#[derive(Clone)]
pub(super) struct Trail {
    /// One state after the other.
    pub values: Vec<Values>,
    /// The states of a loop that comes after them, for ever; nothing where the run ends.
    pub round: Vec<Values>,
}

impl Trail {
    /// What a machine knows of it: it has no names for parts of the counter program's states.
    fn known_to(&self, system: &dyn System, state: &[u8]) -> Trail {
        let known: HashSet<String> = system.variables(state).into_iter().map(|v| v.name).collect();
        let mut own = self.clone();
        for part in [&mut own.values, &mut own.round] {
            part.iter_mut().for_each(|state| state.retain(|name, _| known.contains(name)));
            part.dedup();
        }
        own
    }

    /// The next place of the run, from this one on, where a state of the machine can be.
    fn next(&self, at: usize, shown: &[Variable]) -> Option<usize> {
        let (stem, all) = (self.values.len(), self.values.len() + self.round.len());
        let place = |n: usize| match n {
            n if n < all => Some(n),
            n => (n - stem).checked_rem(self.round.len()).map(|n| stem + n),
        };
        let values = |n: usize| if n < stem { &self.values[n] } else { &self.round[n - stem] };
        (at..at + WINDOW).map_while(place).find(|&n| agrees(shown, values(n)))
    }
}

/// Whether a state has these values; variables that it does not show do not count.
fn agrees(shown: &[Variable], values: &Values) -> bool {
    shown.iter().all(|v| values.get(&v.name).is_none_or(|value| *value == v.value))
}

/// What a run must end in.
enum Ending {
    Deadlock,
    Fault(FaultKind),
    Predicate(PredicateId, bool),
}

/// Finds a run of `draft` that shows what is asked, along these values of variables.
pub(super) fn retrace(
    draft: &mut dyn Draft,
    question: &Question,
    runs: Runs,
    trail: &Trail,
    meter: &Meter,
) -> Option<Witness> {
    let origin = question.origin();
    let ending = match question {
        Question::Ltl { text, .. } => {
            let parsed = formula::parse(text, &origin).ok()?;
            let ltl = LtlQuestion::new(draft, parsed, text, &origin).ok()?;
            if !trail.round.is_empty() {
                return Along::new(draft.system(), trail, meter)?.lasso(&ltl, meter);
            }
            let mut product = ClaimProduct::new(draft.system(), ltl.claim(), false);
            let waiting = product.questions(&Check::new()).invariants.first()?.1;
            let found = follow(&mut product, &Ending::Predicate(waiting, false), trail)?;
            return product.own_run(&found).map(|(witness, _)| witness);
        }
        Question::Tl(text) => {
            let parsed = formula::parse(text, &origin).ok()?;
            let tl = TlQuestion::new(draft, &parsed, text, &origin).ok()?;
            let well = tl.questions(&Check::new()).invariants.first()?.1;
            return follow(&mut tl.beside(draft.system(), runs), &Ending::Predicate(well, false), trail);
        }
        Question::Deadlock => Ending::Deadlock,
        Question::Assertions => Ending::Fault(FaultKind::Assertion),
        Question::RuntimeErrors => Ending::Fault(FaultKind::Runtime),
        Question::Invariant(text) => Ending::Predicate(draft.predicate(text).ok()?, false),
        Question::Reachable(text) => Ending::Predicate(draft.predicate(text).ok()?, true),
        Question::Target => Ending::Predicate(draft.predicate("target").ok()?, true),
        _ => return None,
    };
    follow(draft.system(), &ending, trail)
}

/// A state of the machine, how far along the run it is, and how it was reached.
struct Node {
    state: Vec<u8>,
    at: usize,
    from: Option<(usize, u32)>,
}

/// The states of a machine along a run, in the order in which they are met.
struct Nodes {
    trail: Trail,
    all: Vec<Node>,
    numbers: HashMap<(Vec<u8>, usize), usize>,
}

impl Nodes {
    /// Only the first; nothing where the machine does not begin like that.
    fn new(system: &mut dyn System, trail: &Trail) -> Option<Self> {
        let initial = collect_initial(system).into_iter().next()?;
        let trail = trail.known_to(system, &initial);
        if !agrees(&system.variables(&initial), trail.values.first()?) {
            return None;
        }
        let numbers = HashMap::from([((initial.clone(), 0), 0)]);
        Some(Nodes { trail, all: vec![Node { state: initial, at: 0, from: None }], numbers })
    }

    /// The number of what a step of a state leads to, where that is along the run.
    fn number(&mut self, system: &dyn System, from: (usize, u32), target: Vec<u8>) -> Option<usize> {
        let at = self.trail.next(self.all[from.0].at, &system.variables(&target))?;
        let next = self.all.len();
        let number = *self.numbers.entry((target.clone(), at)).or_insert(next);
        if number == next {
            self.all.push(Node { state: target, at, from: Some(from) });
        }
        Some(number)
    }

    fn witness(&self, end: usize, last: Option<u32>) -> Witness {
        let mut steps: Vec<u32> = last.into_iter().collect();
        let mut at = end;
        while let Some((before, ordinal)) = self.all[at].from {
            steps.push(ordinal);
            at = before;
        }
        steps.reverse();
        Witness { initial: 0, steps, loop_start: None }
    }
}

/// Finds a run that ends like this.
fn follow(system: &mut dyn System, ending: &Ending, trail: &Trail) -> Option<Witness> {
    let mut nodes = Nodes::new(system, trail)?;
    for number in 0.. {
        let state = nodes.all.get(number)?.state.clone();
        let steps = collect_steps(system, &state);
        if let Some(last) = ends(system, ending, &state, &steps) {
            return Some(nodes.witness(number, last));
        }
        for (ordinal, (_, target)) in (0..).zip(steps) {
            if nodes.all.len() >= MOST_STATES {
                return None;
            }
            nodes.number(system, (number, ordinal), target);
        }
    }
    None
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

/// A machine as far as it goes along a run that goes on for ever. States are numbers of its nodes; those from
/// which it can only leave the run are taken out, so that a state without steps is one of the machine, too.
struct Along<'a> {
    system: &'a mut dyn System,
    nodes: Nodes,
    /// Where the steps of each node lead, with the machine's numbers of them.
    steps: Vec<Vec<(Step, u32, usize)>>,
}

impl<'a> Along<'a> {
    /// Nothing where there are too many states, or the machine does not go along.
    fn new(system: &'a mut dyn System, trail: &Trail, meter: &Meter) -> Option<Self> {
        let mut nodes = Nodes::new(system, trail)?;
        let (mut all, mut before) = (Vec::new(), Vec::<Vec<usize>>::new());
        let mut lost = VecDeque::new();
        while let Some(node) = nodes.all.get(all.len()) {
            if nodes.all.len() > MOST_STATES || meter.check().is_err() {
                return None;
            }
            let (number, state) = (all.len(), node.state.clone());
            let (mut steps, mut moves) = (Vec::new(), false);
            for (ordinal, (step, target)) in (0..).zip(collect_steps(system, &state)) {
                moves |= !step.stays;
                // A run with an error in it is not one that a formula is about.
                if step.stays || step.fault.is_some() {
                    continue;
                }
                if let Some(next) = nodes.number(system, (number, ordinal), target) {
                    steps.push((step, ordinal, next));
                }
            }
            before.resize(nodes.all.len(), Vec::new());
            steps.iter().for_each(|&(_, _, next)| before[next].push(number));
            if moves && steps.is_empty() {
                lost.push_back(number);
            }
            all.push(steps);
        }
        while let Some(number) = lost.pop_front() {
            for &from in &before[number] {
                let had = !all[from].is_empty();
                all[from].retain(|(_, _, next)| *next != number);
                if had && all[from].is_empty() {
                    lost.push_back(from);
                }
            }
            if number == 0 {
                return None;
            }
        }
        Some(Along { system, nodes, steps: all })
    }

    /// A run of the machine along these values that violates a formula.
    fn lasso(mut self, ltl: &LtlQuestion, meter: &Meter) -> Option<Witness> {
        let how = ClaimOptions { max_errors: 1, ..ClaimOptions::default() };
        let found = ltl.check(&mut self, how, meter, &mut Quiet).verdict;
        let Verdict::Violated(violations) = found else { return None };
        let found = violations.into_iter().next()?.witness;
        let (mut at, mut steps, mut met) = (0, Vec::new(), HashMap::from([(0, 0)]));
        let mut ahead = found.steps.into_iter();
        // What is violated whatever follows is shown by any way to go on.
        let loop_start = loop {
            let planned = ahead.next();
            if planned.is_none() && found.loop_start.is_some() {
                break found.loop_start;
            }
            let Some(&(_, own, next)) = self.steps[at].get(planned.unwrap_or(0) as usize) else {
                break Some(steps.len());
            };
            steps.push(own);
            at = next;
            let before = met.insert(at, steps.len());
            if planned.is_none() && before.is_some() {
                break before;
            }
        };
        Some(Witness { initial: 0, steps, loop_start })
    }

    fn own(&self, state: &[u8]) -> Vec<u8> {
        self.nodes.all[number(state)].state.clone()
    }
}

fn number(state: &[u8]) -> usize {
    u32::from_le_bytes(state.try_into().expect("four bytes are a number")) as usize
}

fn named(number: usize) -> [u8; 4] {
    u32::try_from(number).expect("nodes are counted").to_le_bytes()
}

impl System for Along<'_> {
    fn initial(&mut self, push: &mut dyn FnMut(&[u8]) -> Flow) -> Flow {
        push(&named(0))
    }

    fn steps(&mut self, state: &[u8], sink: &mut dyn Sink) -> Flow {
        self.steps[number(state)].iter().try_for_each(|&(step, _, next)| sink.push(step, &named(next)))
    }

    fn label(&self, label: Label) -> Cow<'_, str> {
        self.system.label(label)
    }

    fn names(&self, label: Label) -> Vec<String> {
        self.system.names(label)
    }

    fn holds(&mut self, predicate: PredicateId, state: &[u8]) -> Result<bool, FaultId> {
        let own = self.own(state);
        self.system.holds(predicate, &own)
    }

    fn marks(&mut self, state: &[u8]) -> Marks {
        let own = self.own(state);
        self.system.marks(&own)
    }

    fn numbered(&self) -> Option<u32> {
        u32::try_from(self.nodes.all.len()).ok()
    }
}
