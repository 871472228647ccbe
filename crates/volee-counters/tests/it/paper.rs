//! The three programs of Boigelot & Wolper (1994).

use std::collections::HashSet;

use volee_counters::{Direction, Options, Outcome, Program, check, reachable};
use volee_integers::{Effort, Int, Set};
use volee_system::Budget;

use crate::build::{program, region, step};

/// Figure 1: more than a million states in four locations.
fn figure_1() -> Program {
    let mut p = program(&["x"], &["1", "2", "3", "4"]);
    step(&mut p, "x := 0", 0, 1, &[], &[("x", &[])]);
    step(&mut p, "x := x + 2", 1, 2, &[], &[("x", &[("x", 1), ("", 2)])]);
    step(&mut p, "x <= 1000000", 2, 1, &[&[("x", -1), ("", 1_000_000)]], &[]);
    step(&mut p, "x > 1000000", 2, 3, &[&[("x", 1), ("", -1_000_001)]], &[]);
    p.initial = vec![region(&p, 0, &[], &[])];
    p
}

/// Figure 2: loops inside loops; the inner one always ends with y = x.
fn figure_2() -> Program {
    let mut p = program(&["x", "y"], &["1", "2", "3", "4"]);
    step(&mut p, "x > 0", 0, 1, &[&[("x", 1), ("", -1)]], &[("x", &[("x", 1), ("", -1)])]);
    step(&mut p, "y := 0", 1, 3, &[], &[("y", &[])]);
    step(&mut p, "y < x", 3, 2, &[&[("x", 1), ("y", -1), ("", -1)]], &[]);
    step(&mut p, "y := y + 1", 2, 3, &[], &[("y", &[("y", 1), ("", 1)])]);
    step(&mut p, "y >= x", 3, 0, &[&[("y", 1), ("x", -1)]], &[]);
    p.initial = vec![region(&p, 0, &[&[("x", 1), ("", -10)], &[("y", 1)]], &[])];
    p
}

/// Figure 3: the lift. Variables c, g, a and the number of floors; locations of the control process: its
/// outer loop, the wait for the motor, and the inner loop, during which the motor does not move. `None`: any
/// number of floors.
pub fn lift(floors: Option<i64>) -> Program {
    let mut p = program(&["c", "g", "a", "N"], &["loop", "wait", "choose"]);
    for at in [0, 1] {
        let up: &[&[(&str, i64)]] = &[&[("a", 1), ("", -1)], &[("a", -1), ("", 1)]];
        let down: &[&[(&str, i64)]] = &[&[("a", 1), ("", -2)], &[("a", -1), ("", 2)]];
        step(&mut p, "up", at, at, up, &[("a", &[]), ("c", &[("c", 1), ("", 1)])]);
        step(&mut p, "down", at, at, down, &[("a", &[]), ("c", &[("c", 1), ("", -1)])]);
    }
    step(&mut p, "c < g", 0, 1, &[&[("g", 1), ("c", -1), ("", -1)]], &[("a", &[("", 1)])]);
    step(&mut p, "c > g", 0, 1, &[&[("c", 1), ("g", -1), ("", -1)]], &[("a", &[("", 2)])]);
    step(&mut p, "a == 0", 1, 0, &[&[("a", 1)], &[("a", -1)]], &[]);
    step(&mut p, "c == g", 0, 2, &[&[("c", 1), ("g", -1)], &[("g", 1), ("c", -1)]], &[]);
    step(&mut p, "g++", 2, 2, &[&[("N", 1), ("g", -1), ("", -1)]], &[("g", &[("g", 1), ("", 1)])]);
    step(&mut p, "g--", 2, 2, &[&[("g", 1), ("", -2)]], &[("g", &[("g", 1), ("", -1)])]);
    step(&mut p, "break", 2, 0, &[], &[]);
    let start: &[&[(&str, i64)]] = &[&[("c", 1), ("", -1)], &[("g", 1), ("", -1)], &[("a", 1)]];
    p.initial = vec![match floors {
        Some(n) => {
            let fixed: Vec<&[(&str, i64)]> = start.to_vec();
            let mut r = region(&p, 0, &fixed, &[]);
            let mut row = vec![Int::ZERO; 5];
            row[0] = Int::from(-n);
            row[4] = Int::ONE;
            r.conjunct = r.conjunct.with(&[row], &[]);
            r
        }
        None => region(&p, 0, start, &[&[("N", 1), ("", -1)]]),
    }];
    p.parameters = if floors.is_none() { vec![3] } else { Vec::new() };
    p
}

/// The lift never leaves its shaft.
pub fn lift_safety(floors: Option<i64>) -> Program {
    let mut p = lift(floors);
    for at in 0..3 {
        p.bad.push(region(&p, at, &[], &[&[("c", -1)]]));
        p.bad.push(region(&p, at, &[], &[&[("c", 1), ("N", -1), ("", -1)]]));
    }
    p
}

/// The lift reaches the top floor.
pub fn lift_top(floors: Option<i64>) -> Program {
    let mut p = lift(floors);
    for at in 0..3 {
        p.bad.push(region(&p, at, &[&[("c", 1), ("N", -1)]], &[]));
    }
    p
}

fn printed(p: &Program) -> Vec<String> {
    let effort = Effort::ample();
    let found = reachable(p, &Budget::default());
    assert_eq!(found.limit, None);
    let show = |s: &Set| s.coalesced(&effort).expect("small").display(&p.variables).to_string();
    found.sets.iter().map(show).collect()
}

#[test]
fn figure_1_prints_as_in_the_paper() {
    let p = figure_1();
    assert_eq!(
        printed(&p),
        [
            "{ any x }",
            "{ x = 2k : 0 <= k <= 500000 }",
            "{ x = 2k + 2 : 0 <= k <= 500000 }",
            "{ x = 1000002 }"
        ]
    );
}

#[test]
fn figure_1_reaches_location_3_with_456_but_not_457() {
    for (value, reachable) in [(456, true), (457, false)] {
        let mut p = figure_1();
        p.bad = vec![region(&p, 2, &[&[("x", 1), ("", -value)]], &[])];
        for direction in [Direction::Forward, Direction::Backward] {
            let answer = check(&p, &Options { direction, ..Options::default() });
            match answer.outcome {
                Outcome::Violated { witness, .. } => {
                    assert!(reachable, "{}", witness.notation(&p));
                    assert_eq!(witness.length(), Some(Int::from(2 + 2 * (value - 2) / 2)));
                }
                Outcome::Holds { .. } => assert!(!reachable),
                Outcome::Unknown(limit) => panic!("{direction:?}: {limit}"),
            }
        }
    }
}

#[test]
fn figure_2_collapses_its_inner_loop() {
    let p = figure_2();
    assert_eq!(
        printed(&p),
        [
            "{ x = 10, y = 0 } or { y = x : 0 <= x <= 9 }",
            "{ x = 9, y = 0 } or { y = x + 1 : 0 <= x <= 8 }",
            "{ x <= 9, y + 1 <= x, 0 <= y }",
            "{ x <= 9, y <= x, 0 <= y }",
        ]
    );
}

/// All states of a program by enumeration.
fn explicit(p: &Program) -> HashSet<(u32, Vec<i64>)> {
    let effort = Effort::ample();
    let mut seen = HashSet::new();
    let mut work: Vec<(u32, Vec<Int>)> = p
        .initial
        .iter()
        .map(|r| (r.location.0, r.conjunct.sample(&effort).expect("small").expect("one initial state")))
        .collect();
    while let Some((location, values)) = work.pop() {
        let plain: Vec<i64> = values.iter().map(|v| v.to_i64().expect("small")).collect();
        if !seen.insert((location, plain)) {
            continue;
        }
        for t in p.transitions.iter().filter(|t| t.from.0 == location && t.instruction.is_enabled(&values)) {
            work.push((t.to.0, t.instruction.update.apply(&values)));
        }
    }
    seen
}

#[test]
fn the_lift_equals_enumeration_point_by_point() {
    let effort = Effort::ample();
    for floors in [1, 2, 3, 10, 50] {
        let p = lift(Some(floors));
        let states = explicit(&p);
        let found = reachable(&p, &Budget::default());
        assert_eq!(found.limit, None);
        for (i, set) in found.sets.iter().enumerate() {
            let here = states.iter().filter(|(l, _)| *l as usize == i);
            let mut count = 0;
            for (_, values) in here {
                count += 1;
                let values: Vec<Int> = values.iter().map(|&v| Int::from(v)).collect();
                assert_eq!(set.contains(&values, &effort), Ok(true), "{values:?} at {i}");
            }
            // Equal numbers and inclusion of all points mean equality.
            assert_eq!(points(set, floors), count, "the number of states at {i} with {floors} floors");
        }
    }
}

/// The number of points of a set of lift states.
fn points(set: &Set, floors: i64) -> usize {
    let mut count = 0;
    for c in -1..=floors + 1 {
        for g in -1..=floors + 1 {
            for a in -1..=3 {
                let point: Vec<Int> = [c, g, a, floors].iter().map(|&v| Int::from(v)).collect();
                count += usize::from(set.contains(&point, &Effort::ample()).expect("small"));
            }
        }
    }
    count
}

#[test]
fn the_lift_takes_the_same_steps_for_any_number_of_floors() {
    let mut steps = HashSet::new();
    for floors in [Some(10), Some(50), Some(1_000_000), Some(1_000_000_000)] {
        let options = Options { direction: Direction::Forward, ..Options::default() };
        let safe = check(&lift_safety(floors), &options);
        assert!(matches!(safe.outcome, Outcome::Holds { .. }), "{floors:?}: {:?}", safe.outcome);
        let top = check(&lift_top(floors), &options);
        assert!(matches!(top.outcome, Outcome::Violated { .. }), "{floors:?}: {:?}", top.outcome);
        steps.insert((safe.statistics.forward_steps, top.statistics.forward_steps));
    }
    assert_eq!(steps.len(), 1, "{steps:?}");
}

#[test]
fn the_lift_is_safe_for_every_number_of_floors() {
    let answer = check(&lift_safety(None), &Options::default());
    assert!(matches!(answer.outcome, Outcome::Holds { .. }), "{:?}", answer.outcome);
    let answer = check(&lift_top(None), &Options::default());
    assert!(matches!(answer.outcome, Outcome::Violated { .. }), "{:?}", answer.outcome);
}
