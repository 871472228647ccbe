//! Infinite runs, against the explicit product and its components.

use std::borrow::Cow;

use volee_logic::automaton::Automaton;
use volee_logic::formula::{Formula, Shape, parse, random_formula};
use volee_logic::ltl::{translate, translate_to_buchi};
use volee_search::{
    BoundAtom, Claim, ClaimOptions, ClaimOutcome, DeterministicProperty, Emptiness, Fairness, LtlQuestion,
    Names, NestedStore, bind, check_claim, is_fair,
};
use volee_system::{
    Budget, Diagnostic, Draft, FaultId, Flow, Label, Marks, Meter, PredicateId, Quiet, Random, Sink, Step,
    System, Verdict, Witness, replay,
};

/// An explicit graph. Bit `i` of a state's colour is the predicate `p<i>`; steps have processes and the
/// labels `a`, `b`.
#[derive(Debug, Clone)]
pub struct Graph {
    colours: Vec<u8>,
    /// Process, label, target.
    steps: Vec<Vec<(u8, u32, u8)>>,
    predicates: Vec<usize>,
    /// Whether names are predicates, else events.
    has_predicates: bool,
}

impl System for Graph {
    fn initial(&mut self, push: &mut dyn FnMut(&[u8]) -> Flow) -> Flow {
        push(&[0])
    }
    fn steps(&mut self, state: &[u8], sink: &mut dyn Sink) -> Flow {
        for &(process, label, target) in &self.steps[state[0] as usize] {
            sink.push(Step { label: Label(label), process, ..Step::default() }, &[target])?;
        }
        Flow::Continue(())
    }
    fn label(&self, label: Label) -> Cow<'_, str> {
        format!("p{}", label.0).into()
    }
    fn holds(&mut self, predicate: PredicateId, state: &[u8]) -> Result<bool, FaultId> {
        Ok(self.colours[state[0] as usize] >> self.predicates[predicate.0 as usize] & 1 == 1)
    }
    fn marks(&mut self, state: &[u8]) -> Marks {
        Marks { progress: self.colours[state[0] as usize] & 1 == 1, accept: false }
    }
}

impl Draft for Graph {
    fn predicate(&mut self, text: &str) -> Result<PredicateId, Diagnostic> {
        if !self.has_predicates {
            return Err(Diagnostic::error("events alone", None));
        }
        self.predicates.push(text[1..].parse().unwrap_or(7));
        Ok(PredicateId(self.predicates.len() as u32 - 1))
    }

    fn system(&mut self) -> &mut dyn System {
        self
    }

    fn build(self: Box<Self>) -> Box<dyn System> {
        self
    }
}

pub fn random_graph(random: &mut Random, has_predicates: bool) -> Graph {
    let n = 1 + random.below(7);
    let steps = (0..n)
        .map(|_| {
            (0..random.below(4))
                .map(|_| (random.below(3) as u8, random.below(3) as u32, random.below(n) as u8))
                .collect()
        })
        .collect();
    let colours = (0..n).map(|_| random.below(4) as u8).collect();
    Graph { colours, steps, predicates: Vec::new(), has_predicates }
}

/// The explicit product: edges with their process (none when stuttering) and whether the source accepts.
struct Explicit {
    edges: Vec<Vec<(Option<u8>, usize)>>,
    accepting: Vec<bool>,
    system_state: Vec<usize>,
}

fn explicit(graph: &Graph, formula: &Formula, buchi: &Automaton) -> Explicit {
    let q = buchi.states.len();
    let names: Vec<usize> =
        formula.atoms().iter().map(|&a| formula.atom_text(a)[1..].parse().unwrap()).collect();
    let size = graph.steps.len() * q;
    let mut out =
        Explicit { edges: vec![Vec::new(); size], accepting: vec![false; size], system_state: vec![0; size] };
    for s in 0..graph.steps.len() {
        let mut steps: Vec<(Option<u8>, Option<u32>, usize)> =
            graph.steps[s].iter().map(|&(p, l, t)| (Some(p), Some(l), t as usize)).collect();
        if steps.is_empty() {
            steps.push((None, None, s));
        }
        for at in 0..q {
            let node = s * q + at;
            out.system_state[node] = s;
            out.accepting[node] = buchi.state_marks(at) != 0;
            for &(process, label, target) in &steps {
                let sees = |atom: u32| {
                    let name = names[atom as usize];
                    if graph.has_predicates {
                        graph.colours[s] >> name & 1 == 1
                    } else {
                        label == Some(name as u32)
                    }
                };
                for edge in buchi.successors(at as u32, sees) {
                    out.edges[node].push((process, target * q + edge.target as usize));
                }
            }
        }
    }
    out
}

fn reachable(product: &Explicit, from: usize) -> Vec<bool> {
    let mut seen = vec![false; product.edges.len()];
    let mut stack = vec![from];
    while let Some(at) = stack.pop() {
        for &(_, to) in &product.edges[at] {
            if !std::mem::replace(&mut seen[to], true) {
                stack.push(to);
            }
        }
    }
    seen
}

/// Whether some run violates the formula: an accepting state on a cycle, in a fair component if asked for.
fn naive(graph: &Graph, formula: &Formula, fairness: Fairness) -> bool {
    let buchi = translate_to_buchi(&formula.clone().negated()).expect("small");
    let product = explicit(graph, formula, &buchi);
    let start = buchi.initial as usize;
    let mut from_start = reachable(&product, start);
    from_start[start] = true;
    let reach: Vec<Vec<bool>> = (0..product.edges.len()).map(|v| reachable(&product, v)).collect();
    (0..product.edges.len()).filter(|&v| from_start[v] && product.accepting[v] && reach[v][v]).any(|v| {
        let component: Vec<usize> =
            (0..product.edges.len()).filter(|&w| reach[v][w] && reach[w][v]).collect();
        fairness == Fairness::None
            || (0..3u8).all(|process| {
                component.iter().any(|&w| {
                    let disabled = graph.steps[product.system_state[w]].iter().all(|s| s.0 != process);
                    let moves = product.edges[w]
                        .iter()
                        .any(|&(p, to)| p == Some(process) && reach[v][to] && reach[to][v]);
                    disabled || moves
                })
            })
    })
}

fn check(graph: &mut Graph, text: &str, formula: Formula, fairness: Fairness) -> Verdict {
    let question = LtlQuestion::new(graph, formula, text, "f").expect("binds");
    let options = ClaimOptions { fairness, ..ClaimOptions::default() };
    let verdict = question.check(graph, options, &Meter::start(Budget::default()), &mut Quiet).verdict;
    if let Verdict::Violated(violations) = &verdict {
        confirm(graph, &question, &violations[0].witness, fairness);
    }
    verdict
}

/// What is shown violates the formula by its definition and by that of the automaton, and does not violate
/// its negation.
fn confirm(graph: &mut Graph, question: &LtlQuestion, witness: &Witness, fairness: Fairness) {
    assert_eq!(question.refutes(graph, witness), Some(true));
    assert_eq!(question.claim().accepts(graph, witness), Some(true));
    if witness.loop_start.is_some() {
        let (formula, atoms) = (question.formula().clone().negated(), question.claim().atoms.clone());
        let opposite = LtlQuestion::with_atoms(formula, atoms).expect("small");
        assert_eq!(opposite.refutes(graph, witness), Some(false));
        assert_eq!(opposite.claim().accepts(graph, witness), Some(false));
    }
    if fairness == Fairness::Weak && witness.loop_start.is_some() {
        assert_eq!(is_fair(graph, witness), Some(true));
    }
}

#[test]
fn random_systems_and_formulas_agree_with_the_explicit_product() {
    let mut random = Random::new(1989);
    let (mut violated, mut held) = (0, 0);
    for round in 0..3000 {
        let mut graph = random_graph(&mut random, round % 2 == 0);
        let operators = 1 + random.below(6);
        let formula = random_formula(&mut random, Shape { atoms: 2, operators });
        let fairness = if random.below(2) == 0 { Fairness::None } else { Fairness::Weak };
        let expected = naive(&graph, &formula, fairness);
        let verdict = check(&mut graph, &formula.to_string(), formula.clone(), fairness);
        match &verdict {
            Verdict::Holds => held += 1,
            Verdict::Violated(violations) => {
                violated += 1;
                replay(&mut graph, &violations[0].witness).expect("every witness replays");
            }
            Verdict::Unknown(limit) => panic!("{limit}"),
        }
        assert_eq!(
            matches!(verdict, Verdict::Violated(_)),
            expected,
            "round {round} {fairness:?}: {formula} on {graph:?}"
        );
    }
    assert!(violated > 300 && held > 300, "{violated} {held}");
}

#[test]
fn a_finished_run_stutters() {
    let mut graph = Graph {
        colours: vec![0, 1],
        steps: vec![vec![(0, 0, 1)], vec![]],
        predicates: Vec::new(),
        has_predicates: true,
    };
    let ask =
        |graph: &mut Graph, text: &str| check(graph, text, parse(text, "f").expect("parses"), Fairness::None);
    assert_eq!(ask(&mut graph, "<>[]p0"), Verdict::Holds);
    let Verdict::Violated(violations) = ask(&mut graph, "[]<>!p0") else { panic!("violated") };
    assert_eq!(violations[0].witness.loop_start, Some(1));
    assert_eq!(violations[0].witness.steps, [0]);
    assert!(replay(&mut graph, &violations[0].witness).is_ok());
}

#[test]
fn processes_that_have_all_ended_are_fair() {
    // Two processes that each take one step and end; the last state must not escape the claim.
    let mut graph = Graph {
        colours: vec![0, 0, 0, 0],
        steps: vec![vec![(0, 0, 1), (1, 0, 2)], vec![(1, 0, 3)], vec![(0, 0, 3)], vec![]],
        predicates: Vec::new(),
        has_predicates: true,
    };
    let verdict = check(&mut graph, "<>[]p0", parse("<>[]p0", "f").expect("parses"), Fairness::Weak);
    assert!(matches!(verdict, Verdict::Violated(_)));
}

#[test]
fn fairness_lets_an_enabled_process_move() {
    // Process 0 spins; process 1 could make p0 true at any time.
    let mut graph = Graph {
        colours: vec![0, 1],
        steps: vec![vec![(0, 0, 0), (1, 1, 1)], vec![(0, 0, 1)]],
        predicates: Vec::new(),
        has_predicates: true,
    };
    let formula = || parse("<>p0", "f").expect("parses");
    assert!(matches!(check(&mut graph, "<>p0", formula(), Fairness::None), Verdict::Violated(_)));
    assert_eq!(check(&mut graph, "<>p0", formula(), Fairness::Weak), Verdict::Holds);
}

#[test]
fn a_wrong_name_has_its_place_in_the_formula() {
    struct Picky;
    impl System for Picky {
        fn initial(&mut self, push: &mut dyn FnMut(&[u8]) -> Flow) -> Flow {
            push(&[0])
        }
        fn steps(&mut self, _: &[u8], _: &mut dyn Sink) -> Flow {
            Flow::Continue(())
        }
        fn label(&self, _: Label) -> Cow<'_, str> {
            "x".into()
        }
    }

    impl Draft for Picky {
        fn predicate(&mut self, text: &str) -> Result<PredicateId, Diagnostic> {
            match text {
                "true" => Ok(PredicateId(0)),
                _ => Err(Diagnostic::error(format!("there is no variable `{text}`"), None)),
            }
        }

        fn system(&mut self) -> &mut dyn System {
            self
        }

        fn build(self: Box<Self>) -> Box<dyn System> {
            self
        }
    }
    let text = "[]\n  (<>dnoe)";
    let error =
        LtlQuestion::new(&mut Picky, parse(text, "f").expect("parses"), text, "f").err().expect("wrong");
    assert_eq!(error.to_string(), "f:2:6: there is no variable `dnoe`");
}

#[test]
fn deterministic_properties_agree_with_the_general_search_also_with_little_memory() {
    let mut random = Random::new(1991);
    let mut compared = 0;
    for round in 0..2000 {
        let mut graph = random_graph(&mut random, round % 2 == 0);
        let operators = 1 + random.below(5);
        let formula = random_formula(&mut random, Shape { atoms: 2, operators });
        let mut automaton = translate_to_buchi(&formula).expect("small");
        if automaton.nondeterministic_state().is_some() {
            continue;
        }
        compared += 1;
        let atoms = bind(&mut graph, &formula, Names::States, "", "f").expect("binds");
        let property = DeterministicProperty::new(automaton, atoms).expect("deterministic");
        let expected = naive(&graph, &formula, Fairness::None);
        let meter = Meter::start(Budget::default());
        let bad =
            check_claim(&mut graph, &property.complement(), ClaimOptions::default(), &meter, &mut Quiet);
        assert_eq!(bad.verdict == Verdict::Holds, !expected, "round {round}: {formula} on {graph:?}");
        for memory in [None, Some(100 * 12), Some(100 * 6)] {
            let meter = Meter::start(Budget { memory, ..Budget::default() });
            match property.check(&mut graph, 1, None, &meter, &mut Quiet).verdict {
                Verdict::Holds => assert!(!expected, "round {round}: {formula} on {graph:?}"),
                Verdict::Violated(violations) => {
                    assert!(expected, "round {round}: {formula} on {graph:?}");
                    replay(&mut graph, &violations[0].witness).expect("replays");
                    let question = LtlQuestion::new(&mut graph, formula.clone(), "", "f").expect("binds");
                    assert_eq!(question.refutes(&mut graph, &violations[0].witness), Some(true));
                    assert_eq!(property.refuses(&mut graph, &violations[0].witness), Some(true));
                    let opposite = Claim::new(property.automaton().clone(), property.atoms().to_vec());
                    assert_eq!(opposite.accepts(&mut graph, &violations[0].witness), Some(false));
                }
                Verdict::Unknown(limit) => assert!(memory.is_some(), "{limit}"),
            }
        }
    }
    assert!(compared > 500, "{compared}");
}

#[test]
fn nested_searches_agree_and_with_bits_never_claim_that_it_holds() {
    let mut random = Random::new(90);
    let bits = [NestedStore::Bitstate { bytes: 1 << 16 }, NestedStore::Bitstate { bytes: 8 }];
    for round in 0..1500 {
        let mut graph = random_graph(&mut random, round % 2 == 0);
        let operators = 1 + random.below(5);
        let formula = random_formula(&mut random, Shape { atoms: 2, operators });
        let expected = naive(&graph, &formula, Fairness::None);
        for store in [NestedStore::Exact, bits[0], bits[1]] {
            match decide(&mut graph, &formula, store).verdict {
                Verdict::Holds => {
                    assert!(!expected && store == NestedStore::Exact, "round {round}: {formula}")
                }
                Verdict::Unknown(_) => assert!(store != NestedStore::Exact, "round {round}: {formula}"),
                Verdict::Violated(_) => assert!(expected, "round {round} {store:?}: {formula} on {graph:?}"),
            }
        }
    }
}

/// Runs a nested search; what it shows must replay and violate the formula by its definition.
fn decide(graph: &mut Graph, formula: &Formula, store: NestedStore) -> ClaimOutcome {
    let question = LtlQuestion::new(graph, formula.clone(), "", "f").expect("binds");
    let options = ClaimOptions { emptiness: Emptiness::Nested(store), ..ClaimOptions::default() };
    let outcome = question.check(graph, options, &Meter::start(Budget::default()), &mut Quiet);
    if let Verdict::Violated(violations) = &outcome.verdict {
        replay(graph, &violations[0].witness).expect("replays");
        confirm(graph, &question, &violations[0].witness, Fairness::None);
    }
    outcome
}

#[test]
fn nested_searches_that_forget_agree_with_the_component_search() {
    let mut random = Random::new(1991);
    let (mut held, mut violated, mut forgot, mut gave_up) = (0, 0, 0, 0);
    for round in 0..1500 {
        let mut graph = wide_graph(&mut random);
        let operators = 1 + random.below(5);
        let formula = random_formula(&mut random, Shape { atoms: 2, operators });
        let expected = matches!(
            check(&mut graph, &formula.to_string(), formula.clone(), Fairness::None),
            Verdict::Violated(_)
        );
        for bytes in [2_500, 3_500, 5_000, 7_000, 1 << 20] {
            let store = NestedStore::Bounded { bytes, seed: round };
            let outcome = decide(&mut graph, &formula, store);
            forgot += u32::from(outcome.statistics.turnover.is_some_and(|t| t.replaced > 0));
            match outcome.verdict {
                Verdict::Holds => {
                    assert!(!expected, "round {round}, {bytes} bytes: {formula} on {graph:?}");
                    held += 1;
                }
                Verdict::Violated(_) => {
                    assert!(expected, "round {round}, {bytes} bytes: {formula} on {graph:?}");
                    violated += 1;
                }
                Verdict::Unknown(_) => {
                    assert!(bytes < 1 << 20, "round {round}: {formula}");
                    gave_up += 1;
                }
            }
        }
    }
    assert!(
        held > 500 && violated > 500 && forgot > 80 && gave_up > 20,
        "{held} {violated} {forgot} {gave_up}"
    );
}

/// Many states on short paths, so that there is something to forget.
fn wide_graph(random: &mut Random) -> Graph {
    let n = 40 + random.below(200);
    let steps = (0..n)
        .map(|s| {
            let near = |random: &mut Random| match random.below(12) {
                0 if s > 0 => random.below(s),
                _ => (2 * s + 1 + random.below(4)).min(n - 1),
            };
            let count = 1 + random.below(3);
            (0..count).map(|_| (0, random.below(3) as u32, near(random) as u8)).collect()
        })
        .collect();
    let colours = (0..n).map(|_| random.below(4) as u8).collect();
    Graph { colours, steps, predicates: Vec::new(), has_predicates: random.below(2) == 0 }
}

#[test]
fn safety_is_recognised_and_shortest_bad_runs_are_found_without_looking_for_cycles() {
    let mut random = Random::new(1999);
    let (mut terminal, mut violated) = (0, 0);
    for round in 0..2000 {
        let mut graph = random_graph(&mut random, round % 2 == 0);
        let operators = 1 + random.below(5);
        let formula = random_formula(&mut random, Shape { atoms: 2, operators });
        let question = LtlQuestion::new(&mut graph, formula.clone(), "", "f").expect("binds");
        if !question.claim().is_terminal() {
            continue;
        }
        terminal += 1;
        let expected = naive(&graph, &formula, Fairness::None);
        let options = ClaimOptions { shortest: true, ..ClaimOptions::default() };
        let meter = Meter::start(Budget::default());
        match question.check(&mut graph, options, &meter, &mut Quiet).verdict {
            Verdict::Holds => assert!(!expected, "round {round}: {formula} on {graph:?}"),
            Verdict::Violated(violations) => {
                violated += 1;
                assert!(expected, "round {round}: {formula} on {graph:?}");
                assert_eq!(violations[0].witness.loop_start, None, "a finite run is enough");
                assert_eq!(question.refutes(&mut graph, &violations[0].witness), Some(true));
            }
            Verdict::Unknown(limit) => panic!("{limit}"),
        }
    }
    assert!(terminal > 200 && violated > 50, "{terminal} {violated}");
    for (text, is) in
        [("[](p0 -> p1 W p0)", true), ("[](p0 -> X p1)", true), ("[]<>p0", false), ("<>p0", false)]
    {
        let mut graph = random_graph(&mut random, true);
        let formula = parse(text, "f").expect("parses");
        let question = LtlQuestion::new(&mut graph, formula, text, "f").expect("binds");
        assert_eq!(question.claim().is_terminal(), is, "{text}");
    }
}

/// A tree of pairs whose leaves lead back to the root: many states, short paths. `p0` is true at the root.
struct Tree {
    states: u16,
}

impl System for Tree {
    fn initial(&mut self, push: &mut dyn FnMut(&[u8]) -> Flow) -> Flow {
        push(&1u16.to_le_bytes())
    }
    fn steps(&mut self, state: &[u8], sink: &mut dyn Sink) -> Flow {
        let at = u16::from_le_bytes([state[0], state[1]]);
        if 2 * at >= self.states {
            return sink.push(Step::labelled(0), &1u16.to_le_bytes());
        }
        sink.push(Step::labelled(1), &(2 * at).to_le_bytes())?;
        sink.push(Step::labelled(2), &(2 * at + 1).to_le_bytes())
    }
    fn label(&self, label: Label) -> Cow<'_, str> {
        format!("l{}", label.0).into()
    }
    fn holds(&mut self, _: PredicateId, state: &[u8]) -> Result<bool, FaultId> {
        Ok(state == [1, 0])
    }
}

impl Draft for Tree {
    fn predicate(&mut self, _: &str) -> Result<PredicateId, Diagnostic> {
        Ok(PredicateId(0))
    }

    fn system(&mut self) -> &mut dyn System {
        self
    }

    fn build(self: Box<Self>) -> Box<dyn System> {
        self
    }
}

#[test]
fn a_search_whose_memory_is_used_up_goes_on_and_forgets() {
    for (text, holds) in
        [("[]<>p0", true), ("<>[]!p0", false), ("[](p0 -> X !p0)", true), ("[](p0 -> X X !p0)", true)]
    {
        let ask = |memory, forgets| {
            let mut tree = Tree { states: 1 << 13 };
            let question =
                LtlQuestion::new(&mut tree, parse(text, "f").expect("parses"), text, "f").expect("binds");
            let options = ClaimOptions { forgets, ..ClaimOptions::default() };
            let meter = Meter::start(Budget { memory, ..Budget::default() });
            question.check(&mut tree, options, &meter, &mut Quiet)
        };
        assert_eq!(ask(None, None).verdict == Verdict::Holds, holds, "{text}");
        let little = Some(100 << 10);
        if holds {
            assert!(matches!(ask(little, None).verdict, Verdict::Unknown(_)), "{text}");
            let again = ask(little, Some(7));
            assert_eq!(again.verdict, Verdict::Holds, "{text}");
            let forgot = again.statistics.turnover.is_some_and(|turnover| turnover.replaced > 0);
            assert!(forgot || text != "[]<>p0", "what is needed for cycles does not fit");
        } else {
            assert!(matches!(ask(little, Some(7)).verdict, Verdict::Violated(_)), "{text}");
        }
    }
}

#[test]
fn a_short_lasso_is_told_rather_than_a_longer_run_that_needs_no_cycle() {
    let mut graph = Graph {
        colours: vec![1, 1, 0],
        steps: vec![vec![(0, 0, 1), (0, 0, 0)], vec![(0, 0, 2)], vec![(0, 0, 2)]],
        predicates: Vec::new(),
        has_predicates: true,
    };
    let question =
        LtlQuestion::new(&mut graph, parse("p0 U p1", "f").expect("parses"), "", "f").expect("binds");
    let options = ClaimOptions { shortest: true, ..ClaimOptions::default() };
    let meter = Meter::start(Budget::default());
    let verdict = question.check(&mut graph, options, &meter, &mut Quiet).verdict;
    let Verdict::Violated(violations) = verdict else { panic!("{verdict:?}") };
    assert_eq!(violations[0].witness, Witness { initial: 0, steps: vec![1], loop_start: Some(0) });
}

#[test]
fn a_run_that_ends_is_no_cycle_without_progress_and_one_that_goes_round_is() {
    let ends = vec![vec![(0, 0, 1)], vec![]];
    let goes_round = vec![vec![(0, 0, 1)], vec![(0, 0, 0)]];
    let lacks_progress = |steps: &[Vec<(u8, u32, u8)>], colours: [u8; 2], emptiness| {
        let mut graph = Graph {
            colours: colours.to_vec(),
            steps: steps.to_vec(),
            predicates: Vec::new(),
            has_predicates: true,
        };
        let formula = parse("!([]<>progress)", "formula").expect("a formula");
        let claim = Claim::new(translate(&formula).expect("small"), vec![BoundAtom::Progress]);
        let options = ClaimOptions { emptiness, ..ClaimOptions::default() };
        let meter = Meter::start(Budget::default());
        check_claim(&mut graph, &claim, options, &meter, &mut Quiet).verdict != Verdict::Holds
    };
    for emptiness in [Emptiness::Components, Emptiness::Nested(NestedStore::Exact)] {
        assert!(!lacks_progress(&ends, [0, 0], emptiness), "{emptiness:?}");
        assert!(lacks_progress(&goes_round, [0, 0], emptiness), "{emptiness:?}");
        assert!(!lacks_progress(&goes_round, [0, 1], emptiness), "{emptiness:?}");
    }
}

#[test]
fn a_cycle_in_which_somebody_could_always_move_and_never_does_is_not_fair() {
    // Process 0 goes round, process 1 could leave from either state; in the second graph from one only.
    let step = |process, target| (process, 0, target);
    let graph = |back: Vec<(u8, u32, u8)>| Graph {
        colours: vec![0; 3],
        steps: vec![vec![step(0, 1), step(1, 2)], back, vec![]],
        predicates: Vec::new(),
        has_predicates: false,
    };
    let (unfair, fair) = (graph(vec![step(0, 0), step(1, 2)]), graph(vec![step(0, 0)]));
    let round = Witness { initial: 0, steps: vec![0, 0], loop_start: Some(0) };
    assert_eq!(is_fair(&mut unfair.clone(), &round), Some(false));
    assert_eq!(is_fair(&mut fair.clone(), &round), Some(true));
    let ended = Witness { initial: 0, steps: vec![1], loop_start: Some(1) };
    assert_eq!(is_fair(&mut unfair.clone(), &ended), Some(true));
}
