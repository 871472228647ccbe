//! Families read from programs, against the machine of the program with a given number of processes.
//!
//! The twin is plain: for each small number of processes everything that the machine can reach, with no
//! merging and going on behind errors. What a family says holds must hold in all of them; what one of them
//! violates the family must call violated, and its run must be one of the machine.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use volee_families::{Asked, Choice, Family, Kind, Method, Questions, check, family_of, follow};
use volee_program::{MachineOptions, ProctypeId};
use volee_promela::Lowered;
use volee_system::{Budget, Draft, Flow, Limit, Quiet, Random, Step, Verdict};

fn lowered(text: &str) -> Lowered {
    let (model, diagnostics) = volee_promela::parse("model.pml", text, &volee_promela::Options::default());
    let model = model.unwrap_or_else(|| panic!("{text}\n{diagnostics:?}"));
    volee_promela::lower(Arc::new(model)).unwrap_or_else(|e| panic!("{text}\n{e:?}"))
}

fn questions(model: &Lowered, invariants: &[&str]) -> Questions {
    let expr = |text: &&str| {
        let parsed = volee_promela::parse_predicate(model.model(), text).expect("an expression");
        ((*text).to_string(), model.expression(&parsed).expect("an expression"))
    };
    let invariants = invariants.iter().map(expr).collect();
    Questions { invariants, deadlock: true, ..Questions::default() }
}

fn family(model: &Lowered, invariants: &[&str]) -> Family {
    family_of(&model.program, &["User".into()], &questions(model, invariants), None)
        .unwrap_or_else(|e| panic!("{e:?}"))
}

/// The plain machine with this many users.
fn instance(text: &str, users: u32) -> Box<dyn Draft> {
    let mut model = lowered(text);
    let program = Arc::make_mut(&mut model.program);
    let user = program.proctypes.iter().position(|p| p.name == "User").expect("there are users");
    program.active.extend(std::iter::repeat_n(ProctypeId(user as u8), users as usize));
    Box::new(model.machine(MachineOptions { plain: true, ..MachineOptions::default() }))
}

/// What is wrong in an instance: faults, deadlocks, and for each invariant whether it is false somewhere.
#[derive(Debug, Default)]
struct Seen {
    fault: bool,
    deadlock: bool,
    broken: Vec<bool>,
}

fn explore(draft: &mut dyn Draft, invariants: &[&str]) -> Option<Seen> {
    let predicates: Vec<_> = invariants.iter().map(|i| draft.predicate(i).expect("an expression")).collect();
    let system = draft.system();
    let mut found = Seen { broken: vec![false; invariants.len()], ..Seen::default() };
    let (mut seen, mut queue) = (HashSet::new(), VecDeque::new());
    let _ = system.initial(&mut |state| {
        queue.push_back(state.to_vec());
        Flow::Continue(())
    });
    while let Some(state) = queue.pop_front() {
        if !seen.insert(state.clone()) {
            continue;
        }
        if seen.len() > 4_000 {
            return None;
        }
        for (i, predicate) in predicates.iter().enumerate() {
            found.broken[i] |= system.holds(*predicate, &state) != Ok(true);
        }
        let mut any = false;
        let _ = system.steps(&state, &mut |step: Step, target: &[u8]| {
            any = true;
            found.fault |= step.fault.is_some();
            queue.push_back(target.to_vec());
            Flow::Continue(())
        });
        found.deadlock |= !any && !system.is_valid_end(&state);
    }
    Some(found)
}

/// Decides one question, and follows a violation through the machine.
fn holds(text: &str, family: &Family, asked: &Asked) -> bool {
    decided(text, family, asked).unwrap_or_else(|limit| panic!("{text}\n{}: {limit}", asked.question))
}

fn decided(text: &str, family: &Family, asked: &Asked) -> Result<bool, Limit> {
    let net = family.net(asked);
    let budget = Budget { memory: Some(4 << 20), ..Budget::default() };
    let checked = check(&net, Choice::Auto, budget, &mut Quiet).expect("well formed");
    match checked.verdict {
        Verdict::Holds => Ok(true),
        Verdict::Violated(_) => {
            let example = checked.counterexample.expect("violated");
            let users = family.sizes(&example.marking)[0].1;
            let mut system = instance(text, users);
            let followed = follow(family, &net, asked, &example, system.as_mut());
            assert!(followed.is_ok(), "{text}\n{}: {followed:?}", asked.question);
            Ok(false)
        }
        Verdict::Unknown(limit) => Err(limit),
    }
}

fn answers(text: &str, invariants: &[&str]) -> (bool, Vec<bool>) {
    let family = family(&lowered(text), invariants);
    let of = |kind: &dyn Fn(&Kind) -> bool| family.asked.iter().filter(|a| kind(&a.kind)).collect::<Vec<_>>();
    let faults = of(&|k| *k == Kind::Faults).iter().all(|a| holds(text, &family, a));
    let rest = of(&|k| matches!(k, Kind::Invariant(_)));
    (faults, rest.iter().map(|a| holds(text, &family, a)).collect())
}

#[test]
fn a_run_goes_on_behind_a_failed_assertion() {
    let text = "bit b0; proctype User() { assert(false); b0 = 1 }";
    assert_eq!(answers(text, &["!b0"]), (false, vec![false]));
    let text = "bit b0; proctype User() { atomic { assert(false); b0 = 1 } }";
    assert_eq!(answers(text, &["!b0"]), (false, vec![false]));
    let text = "bit b0; proctype User() { d_step { assert(false); b0 = 1 } }";
    assert_eq!(answers(text, &["!b0"]), (false, vec![false]));
}

#[test]
fn a_run_goes_on_behind_a_run_time_error_in_what_a_statement_does() {
    let text = "bit b0; byte a[2], i = 2; proctype User() { a[i] = 1; b0 = 1 }";
    assert_eq!(answers(text, &["!b0"]), (false, vec![false]));
}

#[test]
fn an_error_in_what_a_statement_waits_for_does_not_move() {
    let text = "bit b0; byte i; proctype User() { (5 / i == 1); b0 = 1 }";
    assert_eq!(answers(text, &["!b0"]), (false, vec![true]));
    let text = "bit b0; byte i; proctype User() { if :: (5 / i == 1) :: else -> b0 = 1 fi }";
    assert_eq!(answers(text, &["!b0"]), (false, vec![false]));
}

#[test]
fn buffered_channels_are_part_of_the_globals() {
    let text = "chan q = [2] of { bit }; bit was; active proctype Server() { do :: q?_ od } \
                proctype User() { q!1; if :: nfull(q) :: else -> was = 1 fi }";
    assert_eq!(answers(text, &["!was"]), (true, vec![false]));
    let text = "chan q = [1] of { bit }; byte n; active proctype Server() { do :: atomic { q?_ -> n = 0 } od } \
                proctype User() { atomic { empty(q) -> n = n + 1; q!1 } }";
    assert_eq!(answers(text, &["n < 2"]), (true, vec![true]));
}

fn deadlock(text: &str) -> bool {
    let family = family(&lowered(text), &[]);
    let asked = family.asked.iter().find(|a| a.kind == Kind::Deadlock).expect("asked");
    !holds(text, &family, asked)
}

const LOCK: &str = "chan take = [0] of { bit }, give = [0] of { bit }; \
                    active proctype Server() { do :: take?_ -> give?_ od } proctype User() { do :: take!0; give!0 od }";

#[test]
fn a_lock_that_everybody_gives_back_has_no_deadlock() {
    assert!(!deadlock(LOCK));
    assert!(!deadlock("bit free = 1; proctype User() { do :: atomic { free -> free = 0 }; free = 1 od }"));
    assert!(deadlock("bit free = 1; proctype User() { do :: atomic { free -> free = 0 } od }"));
}

#[test]
fn a_deadlock_of_two_locks_needs_two_users_and_is_found_with_them() {
    let text = "bit a = 1, b = 1; proctype User() { if :: atomic { a -> a = 0 }; atomic { b -> b = 0 } \
                :: atomic { b -> b = 0 }; atomic { a -> a = 0 } fi; a = 1; b = 1 }";
    let family = family(&lowered(text), &[]);
    let asked = family.asked.iter().find(|a| a.kind == Kind::Deadlock).expect("asked");
    let checked =
        check(&family.net(asked), Choice::Auto, Budget::default(), &mut Quiet).expect("well formed");
    let example = checked.counterexample.expect("violated");
    assert_eq!(family.sizes(&example.marking), [("User", 2)]);
    assert!(deadlock(text));
    // In one order there is none.
    assert!(!deadlock(
        "bit a = 1, b = 1; proctype User() { atomic { a -> a = 0 }; atomic { b -> b = 0 }; b = 1; a = 1 }"
    ));
}

#[test]
fn the_method_of_cut_offs_decides_that_the_first_get_comes_after_a_put() {
    let model = lowered(include_str!("../../../../examples/families/p7-produce-first.pml"));
    let users = ["Producer".to_string(), "Consumer".to_string()];
    let family = family_of(&model.program, &users, &Questions::default(), None).expect("a family");
    let net = family.net(&family.asked[0]);
    let checked = check(&net, Choice::Only(Method::CutOff), Budget::default(), &mut Quiet).expect("a net");
    assert_eq!(checked.verdict, Verdict::Holds);
    assert_eq!(checked.certificate.expect("a proof").check(&net), Ok(()));
    let why = checked.why.expect("its inductions");
    assert!(why.inductions.iter().any(|i| i.cut), "{:?}", why.inductions);
    assert!(why.inductions.iter().all(|i| i.complete), "{:?}", why.inductions);
}

#[test]
fn a_process_may_name_itself() {
    let text = "byte owner = 255; proctype User() { \
                do :: atomic { owner == 255 -> owner = _pid }; assert(owner == _pid); owner = 255 od }";
    assert_eq!(answers(text, &[]), (true, vec![]));
    let text = "byte owner = 255; proctype User() { byte me = _pid; owner = me; assert(owner == _pid) }";
    assert_eq!(answers(text, &[]), (false, vec![]));
}

/// Two buffered channels, requests with the number of who asks, and answers that name it.
const SERVICE: &str = "chan ask = [1] of { byte }, back = [1] of { byte }; \
     active proctype Server() { byte who; do :: ask?who -> back!who od } \
     proctype User() { do :: ask!_pid; back?eval(_pid); assert(!(back??[eval(_pid)])) od }";

#[test]
fn a_server_answers_each_of_any_number_of_clients_by_its_number() {
    assert_eq!(answers(SERVICE, &[]), (true, vec![]));
    let twice = SERVICE.replace("back!who", "back!who; back!who");
    assert_eq!(answers(&twice, &[]), (false, vec![]));
}

#[test]
fn a_name_that_a_single_process_gives_up_is_lost_whatever_the_globals_are() {
    // Behind the first request the step that forgets must be possible for each value of the globals.
    let text = "chan ask = [0] of { byte }; bit other, met; \
                active proctype Server() { byte who; do :: ask?who -> who = 0; other = !other od } \
                proctype User() { ask!_pid; if :: other -> met = 1 :: else fi }";
    assert_eq!(answers(text, &["!met"]), (true, vec![false]));
    let text = "chan ask = [0] of { byte }; byte n; \
                active proctype Server() { byte who; do :: ask?who -> atomic { who = 0; n < 3 -> n++ } od } \
                proctype User() { ask!_pid }";
    assert_eq!(answers(text, &["n < 3"]), (true, vec![false]));
}

#[test]
fn one_step_may_let_go_of_several_names() {
    let text = "byte a = 255, b = 255; bit done; \
                active proctype Server() { atomic { a != 255 && b != 255 && a != b -> a = 255; b = 255; done = 1 } } \
                proctype User() { if :: atomic { a == 255 -> a = _pid } :: atomic { b == 255 -> b = _pid } fi }";
    assert_eq!(answers(text, &["!done"]), (true, vec![false]));
    let text = text.replace("a != b ->", "a == b ->");
    assert_eq!(answers(&text, &["!done"]), (true, vec![true]));
}

#[test]
fn what_depends_on_the_numbers_themselves_is_refused_with_its_place() {
    for body in ["a[_pid] = 1", "n = _pid + 1", "(_pid == 3)", "(_pid > 1)", "n = _pid; q!n; q?m"] {
        let text = format!("byte a[9], n; chan q = [1] of {{ byte }}; proctype User() {{ byte m; {body} }}");
        let model = lowered(&text);
        let refused = family_of(&model.program, &["User".into()], &questions(&model, &[]), None);
        let message = refused.expect_err(body).to_string();
        assert!(message.contains("model.pml:1") && message.contains("process"), "{body}: {message}");
    }
}

#[test]
fn a_single_process_that_keeps_a_number_is_seen_with_every_number_it_can_keep() {
    let server = |body: &str| {
        format!(
            "chan c = [0] of {{ byte }}; active proctype Server() {{ byte y; do :: c?y; {body} od }} \
             proctype User() {{ c!_pid }}"
        )
    };
    assert_eq!(answers(&server("assert(y == _pid)"), &[]), (false, vec![]));
    assert_eq!(answers(&server("assert(y != _pid)"), &[]), (true, vec![]));
    let two = "chan c = [0] of { byte }, d = [0] of { byte }; \
               active proctype First() { byte y; do :: c?y; d!y od } \
               active proctype Second() { byte z; do :: d?z; assert(z == 0) od } \
               proctype User() { c!_pid }";
    assert_eq!(answers(two, &[]), (false, vec![]));
}

#[test]
fn numbers_that_are_given_again_are_refused() {
    let model = |user: &str, init: &str| {
        lowered(&format!("byte n = 255; proctype User() {{ {user} }} init {{ {init} }}"))
    };
    let both = "run User(); (n != 255); run User()";
    for (user, init, refused) in [
        ("assert(n != _pid); n = _pid", both, true),
        ("assert(n != _pid); n = _pid", "(n != 255)", false),
        ("n = 1; assert(n == 1)", both, false),
        ("do :: n = _pid od", both, false),
        ("do :: n = _pid; break od", both, true),
    ] {
        let model = model(user, init);
        let built = family_of(&model.program, &["User".into()], &questions(&model, &[]), None);
        assert_eq!(built.is_err(), refused, "{user} {init}");
    }
}

/// A statement; `deep` bounds nesting.
fn statement(r: &mut Random, deep: u32, plain: bool) -> String {
    let simple = [
        "b0 = 1",
        "b0 = !b1",
        "b1 = b0",
        "c = (c + 1) % 3",
        "c = 0",
        "l = b0",
        "l = 1 - l",
        "b1 = l",
        "skip",
        "assert(b0 == 0)",
        "assert(c != 2)",
        "a[c] = l",
        "l = a[c]",
        "c = 2 / c",
        "(b0 == 0)",
        "(b1 == 1)",
        "(c == l)",
        "(1 / c == 1)",
        "(a[c] == 0)",
        "q!l",
        "q?l",
        "q?1",
        "q!!l",
        "q??0",
        "q?<l>",
        "nempty(q)",
        "(len(q) == 1)",
        "(q?[1])",
        "n = _pid",
        "n = 255",
        "(n == _pid)",
        "(n != _pid)",
        "(n == 255)",
        "assert(n == _pid)",
        "p!_pid",
        "p?eval(_pid)",
        "p?n",
        "p?_",
        "m = _pid",
        "(m == n)",
        "n = m",
        "assert(m == _pid)",
    ];
    let meeting = [
        "r!0",
        "r!l",
        "r?l",
        "r?1",
        "r?eval(b0)",
        "r!a[c]",
        "s!_pid",
        "s?eval(_pid)",
        "s?n",
        "s!_pid",
        "s?m",
    ];
    match r.below(if deep == 0 { 8 } else { 12 }) {
        0..=5 => simple[r.below(simple.len() as u32) as usize].into(),
        6..=7 if !plain => meeting[r.below(meeting.len() as u32) as usize].into(),
        6..=7 => simple[r.below(16) as usize].into(),
        8 => format!("atomic {{ {} }}", block(r, deep - 1, true)),
        // What comes first in a d_step may wait, the rest is an error if it does.
        9 => format!("d_step {{ {} }}", block(r, 0, true)),
        10 => format!("if :: {} :: {} fi", block(r, deep - 1, plain), block(r, deep - 1, plain)),
        _ => {
            let guards = ["(b0)", "(b1 == 0)", "(c == 1)", "(2 / c == 1)"];
            let guard = guards[r.below(4) as usize];
            let (yes, no) = (block(r, deep - 1, plain), block(r, deep - 1, plain));
            format!("if :: {guard} -> {yes} :: else -> {no} fi")
        }
    }
}

fn block(r: &mut Random, deep: u32, plain: bool) -> String {
    let all: Vec<String> = (0..1 + r.below(3)).map(|_| statement(r, deep, plain)).collect();
    all.join("; ")
}

fn random_text(seed: u64) -> String {
    let mut r = Random::new(seed);
    let body = |r: &mut Random| {
        let block = block(r, 2, false);
        if r.below(2) == 0 { format!("do :: {block} od") } else { block }
    };
    let (server, user) = (body(&mut r), body(&mut r));
    let another = match r.below(4) {
        0 => format!("active proctype Other() {{ bit l; byte m; {} }}", body(&mut r)),
        1 => format!("init {{ bit l; byte m; run User(); {} }}", body(&mut r)),
        _ => String::new(),
    };
    format!(
        "bit b0, b1; byte c, n = 255; byte a[2]; chan r = [0] of {{ bit }}; chan q = [1] of {{ bit }};\n\
         chan p = [1] of {{ byte }}; chan s = [0] of {{ byte }};\nactive proctype Server() {{ bit l; byte m; {server} }}\n\
         proctype User() {{ bit l; byte m = _pid; {user} }}\n{another}\n"
    )
}

#[test]
fn random_families_agree_with_their_instances() {
    const INVARIANTS: [&str; 3] = ["!(b0 && b1)", "c != 2", "len(q) == 0 || !b1"];
    let (mut compared, mut violated, mut kept, mut undecided, mut free_of_deadlock) = (0, 0, 0, 0, 0);
    for seed in 0..700 {
        let text = random_text(seed);
        let model = lowered(&text);
        let Ok(family) = family_of(&model.program, &["User".into()], &questions(&model, &INVARIANTS), None)
        else {
            continue;
        };
        // Names multiply; the small ones show as much.
        if family.asked.first().is_some_and(|asked| family.net(asked).transitions.len() > 250) {
            continue;
        }
        let mut explicit: Vec<(u32, Seen)> = Vec::new();
        for users in 0..3 {
            explicit.extend(explore(instance(&text, users).as_mut(), &INVARIANTS).map(|seen| (users, seen)));
        }
        for asked in &family.asked {
            let bad = explicit.iter().any(|(users, seen)| match &asked.kind {
                Kind::Faults => seen.fault,
                Kind::Deadlock => *users > 0 && seen.deadlock,
                Kind::Invariant(text) => {
                    seen.broken[INVARIANTS.iter().position(|i| i == text).expect("asked")]
                }
                _ => false,
            });
            let Ok(holds) = decided(&text, &family, asked) else {
                assert_eq!(asked.kind, Kind::Deadlock, "seed {seed}: coverability is always decided\n{text}");
                undecided += 1;
                continue;
            };
            assert!(!(bad && holds), "seed {seed}: {}\n{text}", asked.question);
            compared += 1;
            violated += u32::from(!holds);
            kept += u32::from(holds);
            free_of_deadlock += u32::from(holds && asked.kind == Kind::Deadlock);
        }
    }
    println!("{free_of_deadlock} without a deadlock, {undecided} undecided");
    assert!(free_of_deadlock > 30 && undecided < 100, "{free_of_deadlock} {undecided}");
    println!("{compared} questions, {violated} violated, {kept} hold");
    assert!(
        compared > 2_000 && violated > compared / 10 && kept > compared / 10,
        "{compared} {violated} {kept}"
    );
}
