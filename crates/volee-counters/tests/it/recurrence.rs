//! What goes on for ever: random programs against cycles of the states that enumeration finds, and loops that
//! grow, fall and fall in turn.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use volee_counters::{Program, Recurrence, check_never, recurrence};
use volee_integers::{Effort, Int};
use volee_system::{Budget, Random};

use crate::build::{program, region, step};
use crate::random::random_program;

fn ask(p: &Program) -> Recurrence {
    let budget = Budget { time: Some(Duration::from_secs(20)), ..Budget::default() };
    recurrence(p, &budget).recurrence
}

type State = (u32, Vec<Int>);

fn steps(p: &Program, (location, values): &State) -> Vec<State> {
    let enabled = p.transitions.iter().filter(|t| t.from.0 == *location && t.instruction.is_enabled(values));
    enabled.map(|t| (t.to.0, t.instruction.update.apply(values))).collect()
}

/// Whether some state of a bad location can be reached, and again from itself.
fn recurs(p: &Program) -> bool {
    let start = p.initial[0].conjunct.sample(&Effort::ample()).expect("small").expect("one point");
    let reachable = |from: Vec<State>| {
        let (mut seen, mut work): (HashSet<State>, Vec<State>) = (HashSet::new(), from);
        while let Some(state) = work.pop() {
            if seen.insert(state.clone()) {
                work.extend(steps(p, &state));
            }
        }
        seen
    };
    let all = reachable(vec![(p.initial[0].location.0, start)]);
    let bad = |state: &&State| p.bad.iter().any(|region| region.location.0 == state.0);
    all.iter().filter(bad).any(|state| reachable(steps(p, state)).contains(state))
}

#[test]
fn random_programs_go_on_for_ever_where_enumeration_finds_a_cycle() {
    let mut r = Random::new(94);
    let mut told: HashMap<&str, u32> = HashMap::new();
    for case in 0..300 {
        let p = random_program(&mut r);
        let expected = recurs(&p);
        let word = match ask(&p) {
            Recurrence::Forever { lasso, rounds } => {
                assert!(expected, "case {case}: {p:?}");
                assert_eq!(lasso.replay(&p), Ok(rounds), "case {case}");
                "for ever"
            }
            Recurrence::Never(descent) => {
                assert!(!expected, "case {case}: {p:?}");
                assert_eq!(check_never(&p, &descent), Ok(()), "case {case}");
                if descent.stages.is_empty() { "no cycle" } else { "falls" }
            }
            Recurrence::Unknown(_) => "unknown",
        };
        *told.entry(word).or_default() += 1;
    }
    let of = |word| told.get(word).copied().unwrap_or(0);
    assert!(of("for ever") > 60 && of("falls") > 30 && of("no cycle") > 30, "{told:?}");
    assert!(of("unknown") < 30, "{told:?}");
}

/// Steps up and down at one bad location, within bounds: whoever goes on for ever passes it several times.
fn up_and_down(r: &mut Random) -> (Program, bool) {
    let mut p = program(&["x", "y"], &["a"]);
    let high = r.within(0, 4);
    let mut moves = Vec::new();
    for i in 0..r.within(2, 4) {
        let (dx, dy) = (r.within(-2, 2), r.within(-1, 1));
        let stays: [&[(&str, i64)]; 4] = [
            &[("x", 1), ("", dx)],
            &[("x", -1), ("", high - dx)],
            &[("y", 1), ("", dy)],
            &[("y", -1), ("", high - dy)],
        ];
        let update: [(&str, &[(&str, i64)]); 2] =
            [("x", &[("x", 1), ("", dx)]), ("y", &[("y", 1), ("", dy)])];
        step(&mut p, &format!("t{i}"), 0, 0, &stays, &update);
        moves.push((dx, dy));
    }
    p.initial = vec![region(&p, 0, &[&[("x", 1)], &[("y", 1)]], &[])];
    p.bad = vec![region(&p, 0, &[], &[])];
    // What one step or two can undo; more is not promised.
    let undone = |&(dx, dy): &(i64, i64)| (dx, dy) == (0, 0) || moves.contains(&(-dx, -dy));
    let promised = moves.iter().all(undone);
    (p, promised)
}

#[test]
fn steps_that_undo_each_other_at_one_location_go_on_for_ever() {
    let mut r = Random::new(15);
    let (mut for_ever, mut never) = (0, 0);
    for case in 0..400 {
        let (p, promised) = up_and_down(&mut r);
        let expected = recurs(&p);
        match ask(&p) {
            Recurrence::Forever { lasso, rounds } => {
                assert!(expected, "case {case}: {p:?}");
                assert_eq!(lasso.replay(&p), Ok(rounds), "case {case}");
                for_ever += usize::from(lasso.body.len() == 2);
            }
            Recurrence::Never(descent) => {
                assert!(!expected, "case {case}: {p:?}");
                assert_eq!(check_never(&p, &descent), Ok(()), "case {case}");
                never += 1;
            }
            Recurrence::Unknown(limit) => assert!(!promised, "case {case}: {limit}, {p:?}"),
        }
    }
    assert!(for_ever > 30 && never > 30, "{for_ever} {never}");
}

/// x falls from any number of at least 0, and y is set to anything each time: nothing goes on for ever.
fn falling(down: i64) -> Program {
    let mut p = program(&["x", "y"], &["a", "b"]);
    step(&mut p, "more", 0, 0, &[], &[("y", &[("y", 1), ("", 1)])]);
    step(&mut p, "begin", 0, 1, &[], &[]);
    step(&mut p, "inner", 1, 1, &[&[("y", 1), ("", -1)]], &[("y", &[("y", 1), ("", -1)])]);
    let next: &[(&str, i64)] = &[("x", 1), ("", down)];
    step(&mut p, "outer", 1, 1, &[&[("x", 1), ("", -1)]], &[("x", next), ("y", &[("x", 2)])]);
    p.initial = vec![region(&p, 0, &[&[("y", 1)]], &[&[("x", 1)]])];
    p.bad = vec![region(&p, 1, &[], &[])];
    p
}

#[test]
fn loops_that_fall_one_after_the_other_end_and_loops_that_grow_do_not() {
    let Recurrence::Never(descent) = ask(&falling(-1)) else { panic!("{:?}", ask(&falling(-1))) };
    assert_eq!(descent.stages.len(), 2, "x falls, and then y");
    assert_eq!(check_never(&falling(-1), &descent), Ok(()));
    // The proof is of this program: in another, or with a part missing, it is none.
    assert!(check_never(&falling(0), &descent).is_err());
    for at in 0..2 {
        let mut less = descent.clone();
        less.stages.remove(at);
        assert!(check_never(&falling(-1), &less).is_err(), "without stage {at}");
        let mut wrong = descent.clone();
        wrong.stages[at].form.iter_mut().for_each(|c| *c = -&*c);
        assert!(check_never(&falling(-1), &wrong).is_err(), "stage {at} the wrong way round");
    }
    for down in [0, 1, 7] {
        let p = falling(down);
        let Recurrence::Forever { lasso, rounds } = ask(&p) else { panic!("{down}: {:?}", ask(&p)) };
        assert_eq!(rounds.vector[0], Int::from(down));
        let mut shorter = (*lasso).clone();
        shorter.body.clear();
        assert!(shorter.replay(&p).is_err(), "there is no loop");
        let mut elsewhere = (*lasso).clone();
        elsewhere.prefix.parts.clear();
        assert!(elsewhere.replay(&p).is_err(), "the loop does not begin here");
        assert!(lasso.replay(&falling(-1)).is_err(), "{down}: it is not a loop there");
    }
}

#[test]
fn what_a_loop_adds_may_depend_on_where_it_begins() {
    // x grows by y in each round, as long as it is not below 0.
    let mut p = program(&["x", "y"], &["a"]);
    step(&mut p, "add", 0, 0, &[&[("x", 1)]], &[("x", &[("x", 1), ("y", 1)])]);
    p.bad = vec![region(&p, 0, &[], &[])];
    for (low, high, goes_on) in [(-9, -1, false), (-9, 0, true), (3, 3, true)] {
        let within: [&[(&str, i64)]; 3] =
            [&[("y", 1), ("", -low)], &[("y", -1), ("", high)], &[("x", -1), ("", 50)]];
        p.initial = vec![region(&p, 0, &[], &within)];
        match ask(&p) {
            Recurrence::Forever { rounds, .. } => {
                assert!(goes_on && !rounds.vector[0].is_negative(), "{low}..{high}");
            }
            Recurrence::Never(_) | Recurrence::Unknown(_) => assert!(!goes_on, "{low}..{high}"),
        }
    }
}
