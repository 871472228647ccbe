//! Deep and wide systems: nothing recurses, nothing is quadratic.

use volee_bes::certificate::{Nobody, check};
use volee_bes::explicit::Explicit;
use volee_bes::{Operator, Sign, Solver, solve};
use volee_system::{Budget, Limit, Meter, Quiet};

fn by_all(system: &Explicit, solvers: &[Solver], expected: bool) {
    let meter = Meter::start(Budget::default());
    for &solver in solvers {
        let solved = solve(&mut &*system, solver, &meter, &mut Quiet).expect("it applies");
        assert_eq!(solved.value, expected, "{solver:?}");
        assert_eq!(
            check(&mut &*system, &solved.solution, expected, &meter, &mut Nobody),
            Ok(()),
            "{solver:?}"
        );
    }
}

const ALL: [Solver; 5] =
    [Solver::Auto, Solver::DepthFirst, Solver::BreadthFirst, Solver::Acyclic, Solver::Economical];
const CYCLIC: [Solver; 4] = [Solver::Auto, Solver::DepthFirst, Solver::BreadthFirst, Solver::Economical];

#[test]
fn a_chain_of_a_million_variables_ends_in_its_constant() {
    let n = 1_000_000;
    let chain = |last: Operator| {
        let rows =
            (0..n).map(|v| if v + 1 == n { (last, 0, vec![]) } else { (Operator::Or, 0, vec![v + 1]) });
        Explicit::new(vec![Sign::Mu], 0, rows)
    };
    by_all(&chain(Operator::And), &ALL, true);
    by_all(&chain(Operator::Or), &ALL, false);
}

#[test]
fn a_cycle_of_a_million_variables_takes_the_default_of_its_block() {
    let n = 1_000_000;
    for sign in [Sign::Mu, Sign::Nu] {
        let rows = (0..n).map(|v| (Operator::Or, 0, vec![(v + 1) % n]));
        by_all(&Explicit::new(vec![sign], 0, rows), &CYCLIC, sign == Sign::Nu);
    }
}

#[test]
fn a_conjunction_of_a_million_variables_needs_them_all() {
    let n = 1_000_000;
    let wide = |last: Operator| {
        let rows = (0..=n).map(|v| match v {
            0 => (Operator::And, 0, (1..=n).collect()),
            v if v == n => (last, 0, vec![]),
            _ => (Operator::And, 0, vec![]),
        });
        Explicit::new(vec![Sign::Nu], 0, rows)
    };
    by_all(&wide(Operator::And), &ALL, true);
    by_all(&wide(Operator::Or), &ALL, false);
}

#[test]
fn a_budget_that_is_too_small_is_a_limit_and_not_an_answer() {
    let rows = (0..200_000u32).map(|v| (Operator::Or, 0, vec![(v + 1) % 200_000]));
    let system = Explicit::new(vec![Sign::Mu], 0, rows);
    let meter = Meter::start(Budget { memory: Some(1 << 16), ..Budget::default() });
    for solver in CYCLIC {
        let error = solve(&mut &system, solver, &meter, &mut Quiet).expect_err("too little memory");
        assert!(matches!(error, volee_bes::SolveError::Limit(Limit::Memory { .. })), "{error}");
    }
}
