//! Promela models whose integers are unbounded.

use std::sync::Arc;

use volee_counters::{
    Options, Outcome, ProcessOptions, Program, Translation, check, parametric, reachable, translate,
};
use volee_integers::Effort;
use volee_system::Budget;

pub const LIFT: &str = "
int c = 1, g = 1, a = 0, N = 10;

active proctype motor() {
    do
    :: atomic { a == 1 -> a = 0; c = c + 1 }
    :: atomic { a == 2 -> a = 0; c = c - 1 }
    od
}

active proctype control() {
    do
    :: atomic { c < g -> a = 1 }; a == 0 ->
    :: atomic { c > g -> a = 2 }; a == 0 ->
    :: atomic { c == g ->
         do
         :: g < N -> g = g + 1
         :: g > 1 -> g = g - 1
         :: break
         od }
    od
}
";

pub fn lowered(text: &str) -> volee_promela::Lowered {
    accepted(text).unwrap_or_else(|diagnostics| panic!("{diagnostics:?}"))
}

/// The program of a text, if it is one.
pub fn accepted(text: &str) -> Result<volee_promela::Lowered, Vec<volee_system::Diagnostic>> {
    let (model, diagnostics) = volee_promela::parse("model.pml", text, &volee_promela::Options::default());
    volee_promela::lower(Arc::new(model.ok_or(diagnostics)?))
}

pub fn expression(model: &volee_promela::Lowered, text: &str) -> volee_program::Expr {
    let parsed = volee_promela::parse_predicate(model.model(), text).expect("an expression");
    model.expression(&parsed).expect("an expression")
}

fn translated(model: &volee_promela::Lowered, options: &ProcessOptions) -> Translation {
    translate(&model.program, options).unwrap_or_else(|e| panic!("{e:?}"))
}

fn with_bad(translation: &Translation, expr: &volee_program::Expr, wanted: bool) -> Program {
    let mut program = translation.program.clone();
    program.bad = translation.regions(expr, wanted).expect("linear");
    program
}

#[test]
fn the_lift_of_the_paper_is_safe_and_reaches_the_top() {
    for floors in ["10", "1000000", "1000000000"] {
        let model = lowered(&LIFT.replace("N = 10", &format!("N = {floors}")));
        let translation = translated(&model, &ProcessOptions::default());
        let safe = with_bad(&translation, &expression(&model, "1 <= c && c <= N"), false);
        let answer = check(&safe, &Options::default());
        assert!(matches!(answer.outcome, Outcome::Holds { .. }), "{:?}", answer.outcome);
        let top = with_bad(&translation, &expression(&model, "c == N"), true);
        let answer = check(&top, &Options::default());
        assert!(matches!(answer.outcome, Outcome::Violated { .. }), "{:?}", answer.outcome);
    }
}

#[test]
fn the_lift_is_safe_for_all_floors_from_promela() {
    let model = lowered(LIFT);
    let assumptions = vec![expression(&model, "N >= 1")];
    let options = ProcessOptions { parameters: vec!["N".into()], assumptions, ..ProcessOptions::default() };
    let translation = translated(&model, &options);
    let safe = with_bad(&translation, &expression(&model, "1 <= c && c <= N"), false);
    let answer = check(&safe, &Options::default());
    assert!(matches!(answer.outcome, Outcome::Holds { .. }), "{:?}", answer.outcome);
    let mut deadlocks = translation.program.clone();
    deadlocks.bad = translation.deadlocks.clone().expect("simple enough");
    let answer = check(&deadlocks, &Options::default());
    assert!(matches!(answer.outcome, Outcome::Holds { .. }), "{:?}", answer.outcome);
}

#[test]
fn figure_1_in_promela_prints_its_sets() {
    let model = lowered(
        "init { int x; x = 0; do :: x = x + 2; if :: x <= 1000000 :: else -> break fi od; assert(x == 1000002) }",
    );
    let translation = translated(&model, &ProcessOptions::default());
    let found = reachable(&translation.program, &Budget::default());
    assert_eq!(found.limit, None);
    let effort = Effort::ample();
    let shown: Vec<String> = found
        .sets
        .iter()
        .map(|s| s.coalesced(&effort).expect("small").display(&translation.program.variables).to_string())
        .collect();
    assert!(shown.contains(&"{ x[0] = 2k : 0 <= k <= 500000 }".to_owned()), "{shown:?}");
    assert!(shown.contains(&"{ x[0] = 2k + 2 : 0 <= k <= 500000 }".to_owned()), "{shown:?}");
    for failure in &translation.failures {
        assert!(
            found.sets[failure.location.0 as usize].is_empty(&effort).expect("small"),
            "{}",
            failure.message
        );
    }
}

#[test]
fn statements_that_are_not_linear_are_named_with_their_place() {
    let model = lowered("int x = 2, y;\nactive proctype p() {\n  x = x * x;\n  y = x % 3\n}\n");
    let Err(errors) = translate(&model.program, &ProcessOptions::default()) else { panic!("not linear") };
    let told: Vec<String> = errors.iter().map(ToString::to_string).collect();
    assert!(told[0].contains("model.pml:3") && told[0].contains("not linear"), "{told:?}");
    assert!(told.iter().any(|t| t.contains("model.pml:4")), "{told:?}");
}

#[test]
fn what_was_found_for_some_parameters_stays_found_when_a_limit_ends_the_search() {
    let model = lowered("int x, N; active proctype P() { do :: x = 2 * x + 1 od }");
    let assumptions = vec![expression(&model, "0 <= N && N <= 4")];
    let options = ProcessOptions { parameters: vec!["N".into()], assumptions, ..ProcessOptions::default() };
    let translation = translated(&model, &options);
    let budget = Budget { memory: Some(60_000), ..Budget::default() };
    let found =
        parametric(&with_bad(&translation, &expression(&model, "x > N"), true), &budget).expect("small");
    assert!(found.limit.is_some() && found.is_reached() == Some(true), "{found:?}");
    let found =
        parametric(&with_bad(&translation, &expression(&model, "x < N - 4"), true), &budget).expect("small");
    assert!(found.limit.is_some() && found.is_reached().is_none(), "{found:?}");
}

#[test]
fn the_clock_ends_work_inside_one_question_about_sets() {
    let model = lowered(LIFT);
    let translation = translated(&model, &ProcessOptions::default());
    let budget = Budget { time: Some(std::time::Duration::ZERO), ..Budget::default() };
    assert!(reachable(&translation.program, &budget).limit.is_some());
}
