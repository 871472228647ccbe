//! Questions about infinite and finite runs on several workers have the answers of the sequential searches,
//! and runs that replay.

use std::borrow::Cow;

use volee_cluster::runs::{joined_claim, joined_formula, work_on_claim, work_on_formula};
use volee_cluster::threads::on_threads;
use volee_logic::formula::{Formula, Shape, parse, random_formula};
use volee_search::{Check, ClaimOptions, Fairness, LtlQuestion, Runs, TlQuestion, is_fair};
use volee_system::{
    Budget, Diagnostic, Draft, Fault, FaultId, FaultKind, Flow, Label, Meter, PredicateId, Quiet, Random,
    ReasonKind, Sink, Step, System, Verdict, replay,
};

/// A random graph. Bit `i` of a state's colour is the predicate `p<i>`; steps have processes, labels and
/// sometimes a fault.
#[derive(Debug, Clone)]
pub struct Graph {
    colours: Vec<u8>,
    steps: Vec<Vec<(Step, u8)>>,
    predicates: Vec<u32>,
    has_predicates: bool,
}

impl Graph {
    pub fn random(random: &mut Random, most: u64, has_predicates: bool, faulty: bool) -> Self {
        let states = 1 + random.below(most);
        let step = |random: &mut Random| {
            let fault = (faulty && random.percent(3)).then_some(FaultId(0));
            let (label, process) = (Label(random.below(3) as u32), random.below(3) as u8);
            (Step { label, process, fault, stays: false }, random.below(states) as u8)
        };
        let row = |random: &mut Random| (0..random.below(4)).map(|_| step(random)).collect();
        let steps = (0..states).map(|_| row(random)).collect();
        let colours = (0..states).map(|_| random.below(4) as u8).collect();
        Graph { colours, steps, predicates: Vec::new(), has_predicates }
    }
}

impl Graph {
    /// A ring; in its first state alone is `p0` true.
    pub fn ring(states: u8) -> Self {
        let step = |process: u8| Step { label: Label(0), process, fault: None, stays: false };
        let next = |at: u8| vec![(step(at % 3), (at + 1) % states)];
        Graph {
            colours: (0..states).map(|at| u8::from(at == 0)).collect(),
            steps: (0..states).map(next).collect(),
            predicates: Vec::new(),
            has_predicates: true,
        }
    }
}

impl System for Graph {
    fn initial(&mut self, push: &mut dyn FnMut(&[u8]) -> Flow) -> Flow {
        push(&[0])
    }
    fn steps(&mut self, state: &[u8], sink: &mut dyn Sink) -> Flow {
        self.steps[usize::from(state[0])].iter().try_for_each(|&(step, target)| sink.push(step, &[target]))
    }
    fn label(&self, label: Label) -> Cow<'_, str> {
        format!("p{}", label.0).into()
    }
    fn fault(&self, _: FaultId) -> Fault {
        Fault { kind: FaultKind::Assertion, message: "a fault".into(), place: None }
    }
    fn holds(&mut self, predicate: PredicateId, state: &[u8]) -> Result<bool, FaultId> {
        Ok(self.colours[usize::from(state[0])] >> self.predicates[predicate.0 as usize] & 1 == 1)
    }
}

impl Draft for Graph {
    fn predicate(&mut self, text: &str) -> Result<PredicateId, Diagnostic> {
        let wrong = || Diagnostic::error("no predicate", None);
        if !self.has_predicates {
            return Err(wrong());
        }
        let bit = if text == "true" { 7 } else { text[1..].parse().map_err(|_| wrong())? };
        self.predicates.push(bit);
        Ok(PredicateId(self.predicates.len() as u32 - 1))
    }

    fn system(&mut self) -> &mut dyn System {
        self
    }

    fn build(self: Box<Self>) -> Box<dyn System> {
        self
    }
}

pub fn formula(random: &mut Random) -> (Formula, String) {
    let shape = Shape { atoms: 2, operators: 2 + random.below(4) as usize };
    let text = random_formula(&mut Random::new(random.number()), shape).to_string();
    (parse(&text, "f").expect("it was printed"), text)
}

#[test]
fn infinite_runs_are_judged_as_by_one_worker() {
    let mut random = Random::new(18);
    let (mut violated, mut by_cycles, mut fair_differs) = (0, 0, 0);
    for round in 0..600 {
        let mut graph = Graph::random(&mut random, 12, round % 3 != 0, round % 5 == 4);
        let (formula, text) = formula(&mut random);
        let Ok(question) = LtlQuestion::new(&mut graph, formula, &text, "f") else { continue };
        let claim = question.claim().state_based();
        let mut answers = Vec::new();
        for fairness in [Fairness::None, Fairness::Weak] {
            let options = ClaimOptions { fairness, faults: true, ..ClaimOptions::default() };
            let meter = Meter::start(Budget::default());
            let expected = question.check(&mut graph.clone(), options, &meter, &mut Quiet).verdict;
            let workers = 1 + round % 3;
            let parts = on_threads(workers, &meter, &mut |_| {}, |driver| {
                work_on_claim(driver, &mut graph.clone(), &claim, options)
            });
            let mut own = graph.clone();
            let (found, _) =
                joined_claim(&mut own, &claim, options, parts.expect("small"), &meter, &mut Quiet)
                    .expect("all was looked at");
            let context = format!("{text} of {graph:?}, {fairness:?}, {workers} workers");
            match (&expected, &found.verdict) {
                (Verdict::Holds, Verdict::Holds) => {}
                (Verdict::Violated(_), Verdict::Violated(all)) => {
                    violated += 1;
                    let (reason, witness) = (&all[0].reason, &all[0].witness);
                    assert!(replay(&mut graph.clone(), witness).is_ok(), "{context}: {witness:?}");
                    if reason.kind != ReasonKind::Assertion {
                        assert_eq!(question.refutes(&mut own, witness), Some(true), "{context}: {witness:?}");
                    }
                    if witness.loop_start.is_some() {
                        by_cycles += 1;
                        let fair = fairness == Fairness::None || is_fair(&mut own, witness) == Some(true);
                        assert!(fair, "{context}: {witness:?}");
                    }
                }
                (expected, found) => panic!("{context}: {expected:?} and {found:?}"),
            }
            answers.push(expected == Verdict::Holds);
        }
        fair_differs += usize::from(answers[0] != answers[1]);
    }
    assert!(violated > 200 && by_cycles > 100, "{violated} violated, {by_cycles} by cycles");
    assert!(fair_differs > 0, "fairness makes a difference somewhere");
}

#[test]
fn finite_runs_are_judged_as_by_one_worker() {
    let mut random = Random::new(1989);
    let mut violated = 0;
    for round in 0..300 {
        let mut graph = Graph::random(&mut random, 12, false, false);
        let (formula, text) = formula(&mut random);
        let runs = if round % 2 == 0 { Runs::Prefixes } else { Runs::Maximal };
        let Ok(question) = TlQuestion::new(&mut graph, &formula, &text, "f") else { continue };
        let meter = Meter::start(Budget::default());
        let (expected, silent) =
            question.check_and_watch(&mut graph.clone(), runs, &Check::new(), &meter, &mut Quiet);
        let parts = on_threads(2, &meter, &mut |_| {}, |driver| {
            work_on_formula(driver, &mut graph.clone(), &question, runs)
        });
        let mut own = graph.clone();
        let (found, told, _) = joined_formula(&mut own, &question, runs, parts.expect("small"), &meter)
            .expect("all was looked at");
        match (&expected.answers[0].verdict, &found.answers[0].verdict) {
            (Verdict::Holds, Verdict::Holds) => assert_eq!(silent, told, "{text} of {graph:?}"),
            (Verdict::Violated(_), Verdict::Violated(all)) => {
                violated += 1;
                assert_eq!(
                    question.refutes(&mut own, &all[0].witness, runs),
                    Some(true),
                    "{text} of {graph:?}"
                );
            }
            (expected, found) => panic!("{text} of {graph:?}: {expected:?} and {found:?}"),
        }
    }
    assert!(violated > 50, "{violated}");
}
