//! Counter programs read from Promela, against the machine of the same model.
//!
//! The twin explores every state of the plain machine, going on behind errors. The models keep their
//! unbounded variables small by guards, so that it ends.

use std::collections::{HashSet, VecDeque};
use std::time::Duration;

use volee_counters::{
    Failure, Options, Outcome, ProcessOptions, Program, Region, Translation, check, translate,
};
use volee_integers::Conjunct;
use volee_program::MachineOptions;
use volee_promela::Lowered;
use volee_system::{Budget, Draft as _, Flow, Random, Step, System};

use volee_testkit::promela::{Audience, program};

use crate::promela::{accepted, expression, lowered};

/// What the machine does: it meets errors, deadlocks, invariants are false, goals are reached. Which of
/// several errors of one step counts is the machine's business.
#[derive(Debug, Default, PartialEq, Eq)]
struct Seen {
    fault: bool,
    deadlock: bool,
    broken: Vec<bool>,
    reached: Vec<bool>,
}

fn explore(model: &Lowered, conditions: &[&str]) -> Option<Seen> {
    let mut system = model.machine(MachineOptions { plain: true, ..MachineOptions::default() });
    let predicates: Vec<_> = conditions.iter().map(|i| system.predicate(i).expect("an expression")).collect();
    let mut seen = Seen {
        broken: vec![false; conditions.len()],
        reached: vec![false; conditions.len()],
        ..Seen::default()
    };
    let (mut known, mut queue) = (HashSet::new(), VecDeque::new());
    let _ = system.initial(&mut |state| {
        queue.push_back(state.to_vec());
        Flow::Continue(())
    });
    while let Some(state) = queue.pop_front() {
        if !known.insert(state.clone()) {
            continue;
        }
        if known.len() > 5_000 {
            return None;
        }
        for (i, predicate) in predicates.iter().enumerate() {
            let holds = system.holds(*predicate, &state) == Ok(true);
            seen.broken[i] |= !holds;
            seen.reached[i] |= holds;
        }
        let mut any = false;
        let _ = system.steps(&state, &mut |step: Step, target: &[u8]| {
            any = true;
            seen.fault |= step.fault.is_some();
            queue.push_back(target.to_vec());
            Flow::Continue(())
        });
        seen.deadlock |= !any && !system.is_valid_end(&state);
    }
    Some(seen)
}

fn reaches(translation: &Translation, bad: Vec<Region>) -> Option<bool> {
    let program = Program { bad, ..translation.program.clone() };
    let budget = Budget { time: Some(Duration::from_secs(20)), ..Budget::default() };
    match check(&program, &Options { budget, ..Options::default() }).outcome {
        Outcome::Holds { .. } => Some(false),
        Outcome::Violated { .. } => Some(true),
        Outcome::Unknown(_) => None,
    }
}

/// What the counters engine says, as far as it knows.
fn symbolic(model: &Lowered, translation: &Translation, conditions: &[&str]) -> Option<Seen> {
    let dimension = translation.program.dimension();
    let failure = |f: &Failure| Region { location: f.location, conjunct: Conjunct::universe(dimension) };
    let mut seen = Seen {
        fault: reaches(translation, translation.failures.iter().map(failure).collect())?,
        deadlock: reaches(translation, translation.deadlocks.clone()?)?,
        ..Seen::default()
    };
    for text in conditions {
        let expr = expression(model, text);
        seen.broken.push(reaches(translation, translation.regions(&expr, false).expect("linear"))?);
        seen.reached.push(reaches(translation, translation.regions(&expr, true).expect("linear"))?);
    }
    Some(seen)
}

fn both(text: &str, conditions: &[&str]) -> (Seen, Seen) {
    let model = lowered(text);
    let translation =
        translate(&model.program, &ProcessOptions::default()).unwrap_or_else(|e| panic!("{e:?}"));
    let found = symbolic(&model, &translation, conditions).expect("decided");
    (found, explore(&model, conditions).expect("small"))
}

fn agree(text: &str, conditions: &[&str]) {
    let (found, machine) = both(text, conditions);
    assert_eq!(found, machine, "{text}");
}

#[test]
fn a_run_goes_on_behind_a_failed_assertion() {
    let text = "int b0; active proctype User() { assert(false); b0 = 1 }";
    let (found, machine) = both(text, &["!b0"]);
    assert_eq!(found, machine);
    assert!(found.fault && found.broken[0]);
    agree("int b0; active proctype User() { atomic { assert(b0 > 0); b0 = 1 }; assert(b0 == 1) }", &["!b0"]);
    agree(
        "int b0; active proctype User() { d_step { assert(false); b0 = 1 }; b0 = 2 }",
        &["b0 < 2", "b0 != 1"],
    );
}

#[test]
fn a_run_goes_on_behind_a_run_time_error_in_what_a_statement_does() {
    agree("int x; byte a[2], i = 2; active proctype P() { a[i] = 1; x = 1 }", &["x == 0"]);
    agree("int x; byte i; active proctype P() { i = 4 / i; x = 1; assert(i == 0) }", &["x == 0"]);
}

#[test]
fn an_error_in_what_a_statement_waits_for_does_not_move() {
    agree("int x; byte i; active proctype P() { (5 / i == 1); x = 1 }", &["x == 0"]);
    agree("int x; byte i; active proctype P() { if :: (5 / i == 1) :: else -> x = 1 fi }", &["x == 0"]);
}

#[test]
fn an_error_behind_a_condition_is_met_only_under_it() {
    let text =
        "int x; byte i; active proctype P() { do :: x < 3 -> x = x + 1 :: x == 9 && 1 / i == 1 -> skip od }";
    let (found, machine) = both(text, &["x < 9"]);
    assert_eq!(found, machine);
    assert!(!found.fault);
    agree(
        "int x; byte i; active proctype P() { x = 3; if :: x == 3 && 1 / i == 1 -> skip :: x > 3 fi }",
        &["x < 9"],
    );
}

#[test]
fn an_else_at_the_start_of_a_d_step_is_about_its_own_choice() {
    let text = "int x; active proctype P() { if :: skip :: d_step { if :: x == 1 :: else -> x = 2 fi } fi }";
    let (found, machine) = both(text, &["x == 2"]);
    assert_eq!(found, machine);
    assert!(found.reached[0]);
}

#[test]
fn rendezvous_and_buffers_are_part_of_the_explicit_half() {
    agree(
        "chan c = [0] of { int }; int x, y; active proctype A() { do :: x < 3 -> x = x + 1; c!x od } \
         active proctype B() { do :: c?y -> assert(y == x) od }",
        &["y <= 3", "x == y", "y == 3"],
    );
    agree(
        "chan q = [2] of { int, byte }; int x, y; byte k; active proctype A() { do :: x < 4 -> x = x + 1; q!x,1 od } \
         active proctype B() { do :: q?y,k -> assert(y + 2 >= x) :: atomic { q?<y,k>; assert(y != 4) } od }",
        &["len(q) < 2", "y == 4"],
    );
    agree("chan q; active proctype A() { q!1 }", &["true"]);
    agree(
        "mtype = { GO, STOP }; chan q = [2] of { mtype, byte }; int x; byte k; \
         active proctype A() { do :: q!!STOP,1 :: q!!GO,2 :: x < 3 -> x = x + 1 od } \
         active proctype B() { do :: q?STOP,k :: q??GO,k -> assert(k == 2) :: (full(q)) -> q?_,_ od }",
        &["len(q) < 2", "k == 1", "q?[GO,2]", "q??[STOP,1]"],
    );
    agree(
        "proctype P() { chan own = [1] of { int }; int y; own!_pid; own?y; assert(y == 1) } init { run P() }",
        &["true"],
    );
}

#[test]
fn narrow_variables_that_count_are_sets_that_wrap() {
    let text = "byte n; int x; active proctype P() { do :: n = n + 1 :: x < 2 -> x = x + 1 od } \
                active proctype Q() { do :: n == 7 -> n = n - 9 :: n > 250 -> assert(n != 254) od }";
    agree(text, &["n != 255", "n < 256", "n >= 0"]);
    let translation = translate(&lowered(text).program, &ProcessOptions::default()).expect("linear");
    assert!(translation.program.locations.len() < 20, "{}", translation.program.locations.len());
    agree("short n = 32000; active proctype P() { do :: n = n + 4096 od }", &["n != -29440", "n < 32768"]);
}

#[test]
fn a_sequence_that_never_ends_is_an_error_where_nothing_else_can_be_done() {
    let all = [
        ("atomic { do :: b = 1 - b :: b > 5 -> break od }", true),
        ("atomic { n = n + 1; do :: b = 1 - b od }", true),
        ("do :: n < 2 -> n = n + 1 :: n == 1 -> break od; d_step { b = 1; do :: b = 1 - b od }", true),
        ("d_step { n = 3; do :: b = 1 - b :: b == 2 -> break od }", true),
        ("do :: n < 2 -> n = n + 1; break :: atomic { skip; do :: b = 1 - b od } od", false),
        ("do :: n = n + 1; break :: atomic { skip; do :: b = 1 - b :: b > 5 -> break od } od", false),
        ("atomic { do :: b = 1 - b :: break od }", false),
        ("atomic { b = 1; do :: b = 1 - b :: d_step { b = 1; do :: true od } od }", true),
    ];
    for (body, error) in all {
        let text = format!("byte b; int n; active proctype P() {{ {body} }} active proctype Q() {{ n = 0 }}");
        let (found, machine) = both(&text, &["n < 3"]);
        assert_eq!((found.fault, machine.fault), (error, error), "{text}");
    }
}

fn statement(r: &mut Random, deep: u32, plain: bool) -> String {
    let simple = [
        "x = 0",
        "y = x",
        "b = 1 - b",
        "c = (c + 1) % 3",
        "l = b",
        "skip",
        "assert(x <= y)",
        "assert(c != 2)",
        "a[c] = l",
        "l = a[c]",
        "c = 2 / c",
        "(x == y)",
        "(x > y)",
        "(b == 1)",
        "(1 / c == 1)",
        "(a[c] == 0)",
        "(x > 1 && 1 / c == 1)",
        "q!x",
        "q!1",
        "q?y",
        "q?1",
        "q?eval(x)",
        "q??y",
        "q?<y>",
        "nempty(q)",
        "(len(q) == 1)",
        "(q?[1])",
        "(x < 3); x = x + 1",
        "(x > 0); x = x - 1",
        "y = (b -> x : 0)",
        "k = x",
        "s!x,b",
        "s!c,1",
        "s!!c,b",
        "s?y,l",
        "s??y,1",
        "s??eval(c),l",
        "s?<y,b>",
        "(full(s))",
        "(nfull(s))",
        "(s??[1,1])",
        "m!GO",
        "m!STOP",
        "m?GO",
        "m??STOP",
        "w!c",
        "w?c",
        "w?a[1]",
    ];
    let meeting = ["r!0", "r!x", "r?y", "r?1", "r?eval(b)", "r!a[c]"];
    let pick = |r: &mut Random, from: &[&str]| from[r.within(0, from.len() as i64 - 1) as usize].to_owned();
    match r.within(0, if deep == 0 { 7 } else { 11 }) {
        0..=5 => pick(r, &simple),
        6..=7 if !plain => pick(r, &meeting),
        6..=7 => pick(r, &simple),
        8 => format!("atomic {{ {} }}", block(r, deep - 1, plain)),
        9 => format!("d_step {{ {} }}", block(r, 0, true)),
        10 => format!("if :: {} :: {} fi", block(r, deep - 1, plain), block(r, deep - 1, plain)),
        _ => {
            let guard = pick(r, &["(b)", "(x == 0)", "(c == 1)", "(2 / c == 1)", "(x > y)"]);
            let (yes, no) = (block(r, deep - 1, plain), block(r, deep - 1, plain));
            format!("if :: {guard} -> {yes} :: else -> {no} fi")
        }
    }
}

fn block(r: &mut Random, deep: u32, plain: bool) -> String {
    let all: Vec<String> = (0..r.within(1, 3)).map(|_| statement(r, deep, plain)).collect();
    all.join("; ")
}

#[test]
fn random_models_agree_with_their_machine() {
    const CONDITIONS: [&str; 5] =
        ["x <= 2", "x == y", "len(q) == 0 || b == 0", "c == 2 || k > 0", "len(s) + len(m) < 2"];
    let (mut compared, mut refused, mut undecided, mut large) = (0, 0, 0, 0);
    for seed in 0..600 {
        let mut r = Random::new(seed);
        let body = |r: &mut Random| {
            let block = block(r, 2, false);
            if r.within(0, 1) == 0 { format!("do :: {block} od") } else { block }
        };
        let (one, two) = (body(&mut r), body(&mut r));
        let text = format!(
            "mtype = {{ GO, STOP }}; int x, y, k; bit b; byte c; byte a[2];\n\
             chan r = [0] of {{ int }}; chan q = [1] of {{ int }}; chan s = [2] of {{ int, bit }};\n\
             chan m = [2] of {{ mtype }}; chan w = [1] of {{ byte }};\n\
             active proctype A() {{ bit l; {one} }}\nactive proctype B() {{ bit l; {two} }}\n"
        );
        let model = lowered(&text);
        let Ok(translation) = translate(&model.program, &ProcessOptions::default()) else {
            refused += 1;
            continue;
        };
        let Some(machine) = explore(&model, &CONDITIONS) else {
            large += 1;
            continue;
        };
        match symbolic(&model, &translation, &CONDITIONS) {
            Some(found) => assert_eq!(found, machine, "seed {seed}\n{text}"),
            None => undecided += 1,
        }
        compared += 1;
    }
    println!(
        "{compared} compared, {refused} refused, {undecided} undecided, {large} too large for the machine"
    );
    assert!(compared - undecided > 300, "{compared} {refused} {undecided} {large}");
}

#[test]
fn programs_of_the_whole_language_agree_with_their_machine() {
    let (mut compared, mut refused, mut undecided, mut large) = (0, 0, 0, 0);
    for seed in 0..300 {
        let text = program(seed, Audience::Ourselves).to_string();
        let Ok(model) = accepted(&text) else { continue };
        let Ok(translation) = translate(&model.program, &ProcessOptions::default()) else {
            refused += 1;
            continue;
        };
        let Some(machine) = explore(&model, &[]) else {
            large += 1;
            continue;
        };
        match symbolic(&model, &translation, &[]) {
            Some(found) => assert_eq!(found, machine, "seed {seed}\n{text}"),
            None => undecided += 1,
        }
        compared += 1;
    }
    println!(
        "{compared} compared, {refused} refused, {undecided} undecided, {large} too large for the machine"
    );
    assert!(compared - undecided > 60, "{compared} {refused} {undecided} {large}");
}
