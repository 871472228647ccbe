//! Explanations: runs that replay, graphs that show the reason, words.

use volee_bes::Solver;
use volee_bes::answer::{Answer, ask};
use volee_bes::explain::{to_aut, to_dot};
use volee_bes::random::formula;
use volee_logic::mu::{Equations, Library, parse, read};
use volee_system::{Budget, Meter, Quiet, Random, replay};

use crate::naive::{LABELS, Small, evaluate};

fn answer(system: &mut Small, text: &str, solver: Solver) -> Answer {
    let equations = Equations::new(read("f", text).expect("a formula"));
    let meter = Meter::start(Budget::default());
    ask(system, equations, solver.into(), 10_000, &meter, &mut Quiet).expect("small systems have answers")
}

/// 0 -a-> 1 -b-> 2 -i-> 0, 1 -c-> 3 (stuck).
fn example() -> Small {
    Small { steps: vec![vec![(0, 1)], vec![(1, 2), (3, 3)], vec![(2, 0)], vec![]], initial: vec![0] }
}

#[test]
fn a_false_safety_property_is_explained_by_a_run_with_its_last_step() {
    let mut system = example();
    let found = answer(&mut system, "[true* . \"c\"] false", Solver::Auto);
    assert!(!found.value);
    assert!(found.explanation.linear);
    let run = replay(&mut system, &found.explanation.run).expect("it replays");
    let labels: Vec<&str> = run.steps.iter().map(|s| s.label.as_str()).collect();
    assert_eq!(labels, ["a", "c"]);
    assert_eq!(to_aut(&found.explanation), "des (0, 2, 3)\n(0, \"a\", 1)\n(1, \"c\", 2)\n");
    assert!(to_dot(&found.explanation).contains("1 -> 2 [label=\"c\"]"));
    assert_eq!(
        found.explanation.why,
        [
            "in the initial state `nu X0 . ([\"c\"] false and [true] X0)` is false, because of the step `a`",
            "after `a` `nu X0 . ([\"c\"] false and [true] X0)` is false: the step `c` is possible there"
        ]
    );
}

#[test]
fn an_infinite_run_is_explained_by_a_lasso() {
    let mut system = example();
    let found = answer(&mut system, "<true> @", Solver::Auto);
    assert!(found.value && found.explanation.linear);
    assert_eq!(found.explanation.run.loop_start, Some(0));
    let run = replay(&mut system, &found.explanation.run).expect("it replays");
    assert_eq!(run.steps.len(), 3);
    assert_eq!(found.explanation.why.last().expect("words"), "this repeats for ever");
}

#[test]
fn a_true_invariant_is_explained_by_the_whole_system() {
    let found = answer(&mut example(), "[true*] (<true> true or [true] false)", Solver::DepthFirst);
    assert!(found.value && !found.explanation.linear);
    assert_eq!((found.explanation.states.len(), found.explanation.transitions.len()), (4, 4));
}

#[test]
fn an_alternating_formula_is_answered_as_a_game_with_its_explanation() {
    let found = answer(&mut example(), "nu X . mu Y . (<\"a\"> X or <true> Y)", Solver::Auto);
    assert!(found.value && found.explanation.linear);
    let run = replay(&mut example(), &found.explanation.run).expect("it replays");
    assert!(run.steps.iter().any(|s| s.label == "a"), "a happens for ever");
    assert!(run.loop_start.is_some());
}

/// The states and steps of a diagnostic, and nothing else.
fn alone(found: &Answer) -> Small {
    let label = |text: &str| LABELS.iter().position(|l| *l == text).expect("one of the labels") as u32;
    let mut steps = vec![Vec::new(); found.explanation.states.len()];
    for t in &found.explanation.transitions {
        steps[t.source].push((label(&t.label), t.target as u8));
    }
    Small { steps, initial: vec![0] }
}

fn value_of(system: &Small, text: &str) -> bool {
    evaluate(system, &parse("f", text, &Library::standard()).expect("a formula")) & 1 == 1
}

#[test]
fn a_diagnostic_keeps_every_step_that_the_answer_needs() {
    let both = Small { steps: vec![vec![(0, 0), (1, 0), (3, 0)]], initial: vec![0] };
    for text in [
        r#"["a"] false or ["b"] false"#,
        r#"<"a"> true and <"b"> <"c"> true"#,
        r#"not (["a"] false or ["b"] false or ["c"] false)"#,
        r#"nu X . (<"a"> true and <"b"> true and <"c"> X)"#,
        r#"nu X . mu Y . ((<"a"> true and <"c"> X) or <"b"> Y)"#,
    ] {
        let found = answer(&mut both.clone(), text, Solver::Auto);
        assert!(found.explanation.complete, "{text}");
        assert_eq!(value_of(&alone(&found), text), found.value, "{text}: {}", to_aut(&found.explanation));
    }
    let found = answer(&mut both.clone(), r#"["a"] false or ["b"] false"#, Solver::Auto);
    assert_eq!(to_aut(&found.explanation), "des (0, 2, 1)\n(0, \"a\", 0)\n(0, \"b\", 0)\n");
    assert_eq!(
        found.explanation.why,
        [
            "in the initial state `([\"a\"] false or [\"b\"] false)` is false: the steps `a` and `b` are possible there"
        ]
    );
}

#[test]
fn labels_and_patterns_that_no_step_is_are_told() {
    let found = answer(&mut example(), r#"[true* . ("zz" or /b|q/) . /x.*/] false"#, Solver::Auto);
    assert!(found.value);
    assert_eq!(found.silent, [r#""zz""#, "/x.*/"]);
}

#[test]
fn runs_of_random_explanations_replay() {
    let mut linear = 0;
    for seed in 0..2000 {
        let mut random = Random::new(seed ^ 0xe4);
        let mut system = Small::random(&mut random);
        let text = formula(2 + random.below(6) as u32, random.number());
        for solver in [Solver::Auto, Solver::DepthFirst, Solver::BreadthFirst] {
            let found = answer(&mut system, &text, solver);
            assert!(!found.explanation.why.is_empty() && found.explanation.complete, "{text}");
            assert_eq!(value_of(&alone(&found), &text), found.value, "{text} {system:?}");
            replay(&mut system, &found.explanation.run).expect("every explanation's run replays");
            linear += usize::from(found.explanation.linear && !found.explanation.run.steps.is_empty());
        }
    }
    assert!(linear > 500, "{linear}");
}
