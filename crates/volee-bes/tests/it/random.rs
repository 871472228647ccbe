//! Thousands of random cases, every strategy, every certificate checked.

use volee_bes::certificate::{Nobody, check};
use volee_bes::game::{Player, build, verify, zielonka};
use volee_bes::model::ModelGraph;
use volee_bes::random::{Shape, equations, formula};
use volee_bes::{BooleanGraph, SolveError, Solver, solve};
use volee_logic::mu::{Equations, Library, parse};
use volee_system::{Budget, Meter, Quiet, Random};

use crate::naive::{Small, evaluate, solve_equations};

/// How many random cases: `VOLEE_CASES` sets another number.
pub fn cases(usual: u64) -> u64 {
    std::env::var("VOLEE_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(usual)
}

/// The value by every strategy that applies; each with a certificate that checks.
fn by_all(graph: &mut dyn BooleanGraph, context: &dyn Fn() -> String) -> Vec<(Solver, bool)> {
    let meter = Meter::start(Budget::default());
    let mut answers = Vec::new();
    for solver in Solver::ALL {
        match solve(graph, solver, &meter, &mut Quiet) {
            Ok(solved) => {
                let checked = check(graph, &solved.solution, solved.value, &meter, &mut Nobody);
                assert_eq!(checked, Ok(()), "{solver:?} {}", context());
                answers.push((solver, solved.value));
            }
            Err(SolveError::Cyclic) if solver == Solver::Acyclic => {}
            Err(SolveError::Mixed(_)) if solver == Solver::Economical => {}
            Err(error) => panic!("{solver:?} {error} {}", context()),
        }
    }
    answers
}

/// The value as a parity game, with a strategy that wins.
fn by_game(graph: &mut dyn BooleanGraph, context: &str) -> bool {
    let meter = Meter::start(Budget::default());
    let built = build(graph, None, &meter, &mut Quiet).expect("small");
    let winning = zielonka(&built.game, &meter).expect("no time limit");
    assert_eq!(verify(&built.game, &winning, 0), Ok(()), "{context}");
    winning.winner[0] == Player::Even
}

#[test]
fn random_alternating_equations_have_the_values_of_the_naive_iteration() {
    for seed in 0..cases(20_000) {
        let shape = Shape {
            variables: 1 + (seed % 13) as u32,
            degree: 1 + (seed % 4) as u32,
            blocks: 1 + (seed % 5) as u16,
            conjunctions: [50, 20, 80][(seed % 3) as usize],
            alternating: true,
        };
        let system = equations(shape, seed);
        let expected = solve_equations(&system);
        let context = format!("seed {seed}: {system:?}");
        assert_eq!(by_game(&mut &system, &context), expected[0], "{context}");
    }
}

#[test]
fn random_equations_have_the_values_of_the_naive_iteration() {
    let mut economical = 0;
    let mut acyclic = 0;
    for seed in 0..cases(20_000) {
        let shape = Shape {
            variables: 1 + (seed % 23) as u32,
            degree: 1 + (seed % 4) as u32,
            blocks: 1 + (seed % 4) as u16,
            conjunctions: [50, 10, 90, 30, 100, 0][(seed % 6) as usize],
            alternating: false,
        };
        let system = equations(shape, seed);
        let expected = solve_equations(&system)[0];
        let answers = by_all(&mut &system, &|| format!("seed {seed}: {system:?}"));
        for (solver, value) in &answers {
            assert_eq!(*value, expected, "{solver:?} seed {seed}: {system:?}");
        }
        economical += usize::from(answers.iter().any(|(s, _)| *s == Solver::Economical));
        acyclic += usize::from(answers.iter().any(|(s, _)| *s == Solver::Acyclic));
    }
    assert!(economical > 200 && acyclic > 200, "{economical} {acyclic}");
}

#[test]
fn random_formulas_on_random_systems_have_the_values_of_the_naive_evaluator() {
    let mut economical = 0;
    let mut alternating = 0;
    for seed in 0..cases(20_000) {
        let mut random = Random::new(seed);
        let mut system = Small::random(&mut random);
        let text = formula(2 + random.below(9) as u32, random.number());
        let tree = parse("f", &text, &Library::empty()).expect("generated formulas are well-formed");
        let set = evaluate(&system, &tree);
        let expected = system.initial.iter().all(|s| set >> s & 1 == 1);
        let equations = Equations::new(tree.normalise().expect("small"));
        let free = equations.alternation_free();
        let mut graph = ModelGraph::new(&mut system, equations, Vec::new()).expect("a model");
        assert_eq!(by_game(&mut graph, &text), expected, "seed {seed}: {text}");
        if !free {
            alternating += 1;
            continue;
        }
        for (solver, value) in by_all(&mut graph, &|| text.clone()) {
            assert_eq!(value, expected, "{solver:?} seed {seed}: {text}");
            economical += usize::from(solver == Solver::Economical);
        }
    }
    assert!(economical > 1000 && alternating > 100, "{economical} {alternating}");
}
