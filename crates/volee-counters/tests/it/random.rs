//! Random counter programs against enumeration, and mutated texts against panics.

use std::collections::HashSet;
use std::time::Duration;

use volee_counters::{
    Direction, Options, Outcome, Part, Program, ReplayError, check, parse_fst, parse_spec, reachable,
};
use volee_integers::{Effort, Int};
use volee_system::{Budget, Random};

use crate::build::{program, region, step};

const LIMIT: i64 = 12;

/// Two variables kept between 0 and a limit by guards, so that enumeration ends.
pub fn random_program(r: &mut Random) -> Program {
    let locations = r.within(1, 3) as u32;
    let mut p = program(&["x", "y"], &["a", "b", "c"][..locations as usize]);
    for i in 0..r.within(2, 6) {
        let (from, to) =
            (r.within(0, i64::from(locations) - 1) as u32, r.within(0, i64::from(locations) - 1) as u32);
        let name = format!("t{i}");
        let (dx, dy) = (r.within(-2, 2), r.within(-2, 2));
        // The result stays in the box.
        let stays: [Vec<(&str, i64)>; 4] = [
            vec![("x", 1), ("", dx)],
            vec![("x", -1), ("", LIMIT - dx)],
            vec![("y", 1), ("", dy)],
            vec![("y", -1), ("", LIMIT - dy)],
        ];
        let extra = vec![("x", r.within(-1, 1)), ("y", r.within(-1, 1)), ("", r.within(0, 4))];
        match r.within(0, 5) {
            // An assignment of a constant or of the other variable.
            0 => {
                let k = r.within(0, LIMIT);
                step(&mut p, &name, from, to, &[&extra], &[("x", &[("", k)])]);
            }
            1 => step(&mut p, &name, from, to, &[&extra], &[("y", &[("x", 1)])]),
            _ => {
                let guard: Vec<&[(&str, i64)]> =
                    stays.iter().map(Vec::as_slice).chain([extra.as_slice()]).collect();
                step(
                    &mut p,
                    &name,
                    from,
                    to,
                    &guard,
                    &[("x", &[("x", 1), ("", dx)]), ("y", &[("y", 1), ("", dy)])],
                );
            }
        }
    }
    let (x, y) = (r.within(0, 4), r.within(0, 4));
    p.initial = vec![region(&p, 0, &[&[("x", 1), ("", -x)], &[("y", 1), ("", -y)]], &[])];
    let (bx, by) = (r.within(0, LIMIT), r.within(0, LIMIT));
    let at = r.within(0, i64::from(locations) - 1) as u32;
    p.bad = vec![region(&p, at, &[], &[&[("x", 1), ("", -bx)], &[("y", 1), ("", -by)]])];
    p
}

fn enumerate(p: &Program) -> HashSet<(u32, i64, i64)> {
    let start = p.initial[0].conjunct.sample(&Effort::ample()).expect("small").expect("one point");
    let mut seen = HashSet::new();
    let mut work = vec![(p.initial[0].location.0, start)];
    while let Some((location, values)) = work.pop() {
        let key = (location, values[0].to_i64().expect("small"), values[1].to_i64().expect("small"));
        if !seen.insert(key) {
            continue;
        }
        for t in p.transitions.iter().filter(|t| t.from.0 == location && t.instruction.is_enabled(&values)) {
            work.push((t.to.0, t.instruction.update.apply(&values)));
        }
    }
    seen
}

#[test]
fn random_programs_reach_what_enumeration_reaches() {
    let mut r = Random::new(7);
    let effort = Effort::ample();
    let budget = Budget { time: Some(Duration::from_secs(20)), ..Budget::default() };
    for case in 0..70 {
        let p = random_program(&mut r);
        let states = enumerate(&p);
        let found = reachable(&p, &budget);
        assert_eq!(found.limit, None, "case {case}: {p:?}");
        for (location, set) in found.sets.iter().enumerate() {
            for x in 0..=LIMIT {
                for y in 0..=LIMIT {
                    let expected = states.contains(&(location as u32, x, y));
                    let point = [Int::from(x), Int::from(y)];
                    assert_eq!(
                        set.contains(&point, &effort),
                        Ok(expected),
                        "case {case} at {location} {x} {y}"
                    );
                }
            }
        }
        let bad = states.iter().any(|(l, x, y)| {
            let point = [Int::from(*x), Int::from(*y)];
            p.bad[0].location.0 == *l && p.bad[0].conjunct.contains(&point, &effort) == Ok(true)
        });
        for direction in [Direction::Forward, Direction::Backward, Direction::Both] {
            let answer = check(&p, &Options { direction, budget: budget.clone() });
            match answer.outcome {
                Outcome::Violated { .. } => assert!(bad, "case {case} {direction:?}"),
                Outcome::Holds { .. } => assert!(!bad, "case {case} {direction:?}"),
                // Backward over all integers need not end.
                Outcome::Unknown(limit) => assert_eq!(direction, Direction::Backward, "case {case}: {limit}"),
            }
        }
    }
}

#[test]
fn a_run_that_was_tampered_with_does_not_replay() {
    let p = crate::paper::lift_top(Some(1_000_000));
    let Outcome::Violated { witness, .. } = check(&p, &Options::default()).outcome else {
        panic!("reachable")
    };
    assert!(witness.replay_to_bad(&p).is_ok());
    for i in 0..witness.parts.len() {
        let mut shorter = witness.clone();
        shorter.parts.remove(i);
        assert!(shorter.replay_to_bad(&p).is_err(), "without part {i}");
    }
    let mut longer = witness.clone();
    for part in &mut longer.parts {
        if let Part::Repeat { count: volee_counters::Count::Times(n), .. } = part {
            *n = &*n + &Int::ONE;
        }
    }
    assert!(longer.replay_to_bad(&p).is_err());
    let mut elsewhere = witness;
    elsewhere.values[0] = Int::from(5);
    assert_eq!(elsewhere.replay(&p).map(drop), Err(ReplayError::NotInitial));
}

#[test]
fn a_set_that_is_not_closed_is_no_certificate() {
    let p = crate::paper::lift_safety(Some(10));
    let mut found = reachable(&p, &Budget::default());
    assert_eq!(volee_counters::check_safe(&p, &found.sets), Ok(()));
    let first = found.sets[0].conjuncts()[0].clone();
    found.sets[0] =
        volee_integers::Set::of(4, found.sets[0].conjuncts().iter().filter(|c| **c != first).cloned());
    assert!(volee_counters::check_safe(&p, &found.sets).is_err());
}

const SPEC: &str = "vars x y rules x >= 1, y in [0, 3] -> x' = x - 1, y' = y + 1; true -> x' = 2*x + y; \
                    init x = 1, y >= 0 target x >= 3, y >= 2 \n y >= 9 invariants x = 1";
const FST: &str = "model m { var x, y; states a, b; transition t := { from := a; to := b; guard := x > 0 && !(y = 3 || x != y); \
                   action := x' = x - 1, y' = 2 * (x + 1) - y; }; } strategy s { Region i := {state = a && x = 1}; \
                   Transitions t := {t}; Region r := post*(i, t, 2); Region b := {x >= 5 && state = b}; Region z := r && b; }";

#[test]
fn mutated_texts_give_messages_and_never_panic() {
    let mut r = Random::new(11);
    let alphabet: Vec<char> = "xy'=<>!&|(){}[]->:;,+*-0123456789 \n#/\"πab".chars().collect();
    assert!(parse_spec("s", SPEC).is_ok() && parse_fst("f", FST).is_ok());
    for _ in 0..4_000 {
        for (text, is_fst) in [(SPEC, false), (FST, true)] {
            let mut chars: Vec<char> = text.chars().collect();
            for _ in 0..r.within(1, 4) {
                if chars.is_empty() {
                    break;
                }
                let at = r.within(0, chars.len() as i64 - 1) as usize;
                let c = alphabet[r.within(0, alphabet.len() as i64 - 1) as usize];
                match r.within(0, 3) {
                    0 => chars[at] = c,
                    1 => drop(chars.remove(at)),
                    2 => chars.insert(at, c),
                    _ => chars.truncate(at + 1),
                }
            }
            let mutated: String = chars.into_iter().collect();
            let parsed = if is_fst { parse_fst("f", &mutated) } else { parse_spec("s", &mutated) };
            if let Err(errors) = parsed {
                assert!(errors.iter().all(|e| e.place.is_some() && !e.message.is_empty()), "{mutated}");
            }
        }
    }
}

#[test]
fn deep_and_long_inputs_are_refused_with_a_place() {
    let deep = format!("vars x rules {}x >= 1 -> ; init x = 1 target x = 2", "(".repeat(100_000));
    assert!(parse_spec("s", &deep).is_err());
    let long = format!("vars x rules x >= {} -> ; init x = 1 target x = 2", "9".repeat(100_000));
    assert!(parse_spec("s", &long).expect_err("too long")[0].message.contains("at most"));
    let wide = format!(
        "model m {{ var x; states s; transition t := {{ guard := {}x != 1; }}; }}",
        "x != 0 && ".repeat(40)
    );
    assert!(parse_fst("f", &wide).expect_err("too wide")[0].message.contains("alternatives"));
}
