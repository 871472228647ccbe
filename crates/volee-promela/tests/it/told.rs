//! Every error is told, as the program is written and as it is optimised: none hides another.

use std::collections::{BTreeSet, HashSet};

use volee_program::Machine;
use volee_system::{Draft as _, System, collect_initial, collect_steps, lift};

use crate::semantics::machine;

/// The errors of a program, as texts.
fn errors(machine: &mut Machine) -> BTreeSet<String> {
    let mut seen: HashSet<Vec<u8>> = HashSet::new();
    let mut pending = collect_initial(machine);
    let mut errors = BTreeSet::new();
    while let Some(state) = pending.pop() {
        if !seen.insert(state.clone()) {
            continue;
        }
        for (step, target) in collect_steps(machine, &state) {
            errors.extend(step.fault.map(|fault| machine.fault(fault).message));
            if !step.stays {
                pending.push(target);
            }
        }
    }
    errors
}

fn check(text: &str, expected: &[&str]) {
    let expected: BTreeSet<String> = expected.iter().map(ToString::to_string).collect();
    for plain in [true, false] {
        assert_eq!(errors(&mut machine(text, plain)), expected, "plain: {plain}\n{text}");
    }
}

const BLOCKS: &str = "a d_step sequence blocks, or never ends, after its first statement";
const ENDLESS: &str = "an atomic sequence runs for ever without ever letting another process move";

#[test]
fn statements_that_are_merged_have_one_error_between_them() {
    check(
        "active proctype P() { byte l; l = 1; assert(l == 2); assert(l == 3); l = l / (l - 1) }",
        &["assertion violated: assert(l==2)", "assertion violated: assert(l==3)", "division by zero"],
    );
    check(
        "byte x; active proctype P() { byte l, a[2]; a[x + 2] = 1; assert(l == 2) }",
        &["array index out of range (there are 2 elements)", "assertion violated: assert(l==2)"],
    );
}

#[test]
fn each_statement_of_an_atomic_sequence_tells_its_error() {
    check(
        "byte x; active proctype P() { byte l; atomic { assert(x == 1); assert(x == 2) }; assert(l == 3) }",
        &[
            "assertion violated: assert(x==1)",
            "assertion violated: assert(x==2)",
            "assertion violated: assert(l==3)",
        ],
    );
}

#[test]
fn an_error_that_blocks_hides_no_error_before_it() {
    check(
        "byte x; active proctype P() { atomic { assert(x == 1); 1 / x > 0; skip } }",
        &["assertion violated: assert(x==1)", "division by zero"],
    );
    check(
        "byte x; active proctype P() { d_step { assert(x == 1); x == 1; skip } }",
        &["assertion violated: assert(x==1)", BLOCKS],
    );
    check(
        "byte x; active proctype P() { atomic { assert(x == 1); d_step { skip; x == 1; skip } } }",
        &["assertion violated: assert(x==1)", BLOCKS],
    );
}

#[test]
fn an_atomic_sequence_that_never_ends_is_told_whatever_others_do() {
    let others = "byte y; active proctype Q() { do :: y = 1 - y od }";
    check(&format!("active proctype P() {{ atomic {{ do :: skip od }} }} {others}"), &[ENDLESS]);
    check(
        "byte x; active proctype P() { atomic { do :: assert(x == 1) od } }",
        &["assertion violated: assert(x==1)", ENDLESS],
    );
}

#[test]
fn whoever_takes_over_a_message_fails_for_himself() {
    check(
        "chan r = [0] of { byte }; byte x;
         active proctype P() { r!1 / x }
         active proctype Q() { byte l; r?l; assert(l == 7) }",
        &["division by zero", "assertion violated: assert(l==7)"],
    );
}

#[test]
fn the_statement_after_a_d_step_fails_for_itself() {
    check(
        "byte x; active proctype P() { byte l; d_step { x = 0; assert(x == 1) }; assert(l == 2) }",
        &["assertion violated: assert(x==1)", "assertion violated: assert(l==2)"],
    );
}

#[test]
fn an_error_in_asking_whether_a_process_can_move_is_that_of_its_statement() {
    let mut machine = machine("chan c; byte x; active proctype P() { c!1 }", true);
    let state = collect_initial(&mut machine).remove(0);
    let (division, enabled) =
        (machine.predicate("1 / x > 0").expect("one"), machine.predicate("enabled(0)").expect("another"));
    let mut told = |predicate| {
        let fault = machine.holds(predicate, &state).expect_err("an error");
        machine.fault(fault).message
    };
    assert_eq!(told(division), "division by zero");
    assert_eq!(told(enabled), "this channel variable does not hold a channel (it is uninitialised)");
}

/// What a search shows of an error is that error in the program as it is written.
#[test]
fn a_run_to_an_error_is_one_to_the_same_error_of_the_plain_program() {
    let text = "byte x; active proctype P() { byte l; l = 1;
        atomic { assert(x == 1); l = 2; assert(x == 2); l = 3; assert(x == 3) }; assert(l == 4) }";
    let (mut fast, mut plain) = (machine(text, false), machine(text, true));
    let mut met = 0;
    let mut pending = vec![(collect_initial(&mut fast).remove(0), Vec::new())];
    while let Some((state, path)) = pending.pop() {
        for (ordinal, (step, target)) in collect_steps(&mut fast, &state).into_iter().enumerate() {
            let mut steps = path.clone();
            steps.push(ordinal as u32);
            if let Some(fault) = step.fault {
                let witness = volee_system::Witness { initial: 0, steps: steps.clone(), loop_start: None };
                let mut lifted = lift(&mut fast, &mut plain, &witness).expect("a run of both");
                lifted.witness.steps.truncate(lifted.until_fault.expect("an error"));
                let run = volee_system::replay(&mut plain, &lifted.witness).expect("a run");
                assert_eq!(run.steps.last().and_then(|s| s.fault.clone()), Some(fast.fault(fault)));
                met += 1;
            }
            if !step.stays {
                pending.push((target, steps));
            }
        }
    }
    assert_eq!(met, 4);
}
