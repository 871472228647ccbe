//! Finite-trace formulas checked on line, against all short runs of small systems.

use std::borrow::Cow;

use volee_logic::formula::{Formula, Shape, parse, random_formula};
use volee_logic::tl::{Alphabet, Limits, compile};
use volee_search::{Check, Order, Runs, TlQuestion};
use volee_system::{Budget, Flow, Label, Meter, Quiet, Random, Sink, Step, System, Verdict, Witness, replay};

/// A graph whose steps have labels `p0`, `p1`, … and `tau`.
#[derive(Debug, Clone)]
struct Graph(Vec<Vec<(u32, u8)>>);

impl System for Graph {
    fn initial(&mut self, push: &mut dyn FnMut(&[u8]) -> Flow) -> Flow {
        push(&[0])
    }
    fn steps(&mut self, state: &[u8], sink: &mut dyn Sink) -> Flow {
        for &(label, target) in &self.0[state[0] as usize] {
            sink.push(Step::labelled(label), &[target])?;
        }
        Flow::Continue(())
    }
    fn label(&self, label: Label) -> Cow<'_, str> {
        if label.0 == 9 { "tau".into() } else { format!("p{}", label.0).into() }
    }
}

/// Whether all runs are good, by the product of graph and automaton explored without any cleverness.
fn naive(graph: &Graph, formula: &Formula, runs: Runs) -> bool {
    let atoms = formula.atoms();
    let dfa =
        compile(&formula.pool, formula.root, &atoms, Alphabet::Events, Limits::default()).expect("small");
    let mut seen = vec![(0u8, dfa.initial())];
    let mut next = 0;
    while next < seen.len() {
        let (state, at) = seen[next];
        next += 1;
        let steps = &graph.0[state as usize];
        let counts = runs == Runs::Prefixes || steps.is_empty();
        if counts && !dfa.is_accepting(at) {
            return false;
        }
        for &(label, target) in steps {
            let sees = |atom: u32| formula.atom_text(atoms[atom as usize]) == format!("p{label}");
            let pair = (target, dfa.step(at, sees));
            if !seen.contains(&pair) {
                seen.push(pair);
            }
        }
    }
    true
}

/// A system that is told nothing.
fn unspoken(system: impl System + 'static) -> Box<dyn System> {
    Box::new(system)
}

fn ask(graph: &mut Graph, formula: &Formula, runs: Runs, order: Order) -> Verdict {
    let question =
        TlQuestion::new(&mut unspoken(graph.clone()), formula, &formula.to_string(), "f").expect("binds");
    let how = Check::new().order(order);
    let outcome = question.check(graph, runs, &how, &Meter::start(Budget::default()), &mut Quiet);
    if let Verdict::Violated(violations) = &outcome.answers[0].verdict {
        let witness = &violations[0].witness;
        assert_eq!(question.refutes(graph, witness, runs), Some(true));
        if order == Order::BreadthFirst && !witness.steps.is_empty() {
            let shorter =
                Witness { steps: witness.steps[..witness.steps.len() - 1].to_vec(), ..witness.clone() };
            assert_eq!(question.refutes(graph, &shorter, runs), Some(false), "it was the shortest");
        }
    }
    outcome.answers[0].verdict.clone()
}

#[test]
fn random_systems_and_formulas_agree_with_the_explicit_product() {
    let mut random = Random::new(3);
    let mut violated = 0;
    for round in 0..1500 {
        let n = 1 + random.below(6);
        let mut graph = Graph(
            (0..n)
                .map(|_| {
                    (0..random.below(3))
                        .map(|_| ([0, 1, 9][random.below(3)], random.below(n) as u8))
                        .collect()
                })
                .collect(),
        );
        let operators = 1 + random.below(5);
        let formula = random_formula(&mut random, Shape { atoms: 2, operators });
        for runs in [Runs::Prefixes, Runs::Maximal] {
            let expected = naive(&graph, &formula, runs);
            for order in [Order::DepthFirst, Order::BreadthFirst] {
                let verdict = ask(&mut graph, &formula, runs, order);
                if let Verdict::Violated(violations) = &verdict {
                    violated += 1;
                    replay(&mut graph, &violations[0].witness).expect("replays on the system itself");
                }
                assert_eq!(
                    verdict == Verdict::Holds,
                    expected,
                    "round {round} {runs:?}: {formula} on {graph:?}"
                );
            }
        }
    }
    assert!(violated > 400);
}

#[test]
fn the_search_stops_at_the_first_violating_event_of_twenty_conjuncts() {
    /// Counts down from a request; answers it unless the count is 3.
    struct Server;
    impl System for Server {
        fn initial(&mut self, push: &mut dyn FnMut(&[u8]) -> Flow) -> Flow {
            push(&[0])
        }
        fn steps(&mut self, state: &[u8], sink: &mut dyn Sink) -> Flow {
            match state[0] {
                20 => Flow::Continue(()),
                i => sink.push(Step::labelled(u32::from(i)), &[i + 1]),
            }
        }
        fn label(&self, label: Label) -> Cow<'_, str> {
            format!("p{}", label.0).into()
        }
    }
    let text: Vec<String> = (0..20).map(|i| format!("(!p{} W p{})", i + 1, i)).collect();
    let holds = parse(&text.join(" && "), "f").expect("parses");
    let question = TlQuestion::new(&mut unspoken(Server), &holds, "precedences", "f").expect("binds");
    let meter = || Meter::start(Budget::default());
    let good = question.check(&mut Server, Runs::Prefixes, &Check::new(), &meter(), &mut Quiet);
    assert_eq!(good.answers[0].verdict, Verdict::Holds);
    assert_eq!(good.statistics.states, 21);
    let wrong = parse(&format!("{} && []!p7", text.join(" && ")), "f").expect("parses");
    let question = TlQuestion::new(&mut unspoken(Server), &wrong, "wrong", "f").expect("binds");
    let bad = question.check(&mut Server, Runs::Prefixes, &Check::new(), &meter(), &mut Quiet);
    let Verdict::Violated(violations) = &bad.answers[0].verdict else { panic!("violated") };
    assert_eq!(violations[0].witness.steps.len(), 8);
}
