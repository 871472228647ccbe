//! Who may move: priorities, processes that promised not to choose, and questions about who can. Counts are
//! SPIN's.

use volee_system::{Draft as _, System, collect_initial, collect_steps};

use crate::semantics::{explore, machine};

/// States, transitions, and whether an assertion failed, of the plain program; the optimised one must agree
/// on the last.
fn counts(text: &str) -> (usize, usize, bool) {
    let plain = explore(&mut machine(text, true));
    let optimised = explore(&mut machine(text, false));
    assert_eq!(plain.assertion, optimised.assertion, "{text}");
    assert_eq!(plain.deadlock, optimised.deadlock, "{text}");
    assert_eq!(plain.runtime, optimised.runtime, "{text}");
    (plain.states, plain.transitions, plain.assertion)
}

/// The run-time errors of the plain program, in the order in which they are met.
fn errors(text: &str) -> Vec<String> {
    let mut machine = machine(text, true);
    let mut pending = collect_initial(&mut machine);
    let mut seen = std::collections::HashSet::new();
    let mut met = Vec::new();
    while let Some(state) = pending.pop() {
        if !seen.insert(state.clone()) {
            continue;
        }
        for (step, target) in collect_steps(&mut machine, &state) {
            if let Some(fault) = step.fault {
                let fault = machine.fault(fault);
                let place = fault.place.as_ref().map(|p| format!("{}:{}", p.line, p.column));
                met.push(format!("{} {}", place.unwrap_or_default(), fault.message));
            }
            pending.push(target);
        }
    }
    met
}

#[test]
fn a_run_with_a_priority_makes_priorities_count() {
    let text = "byte x; proctype P0() { x = 1 } init { x = 0; run P0() priority 3; assert(x == 1) }";
    assert_eq!(counts(text), (7, 7, false));
}

#[test]
fn an_atomic_sequence_waits_for_a_process_of_higher_priority() {
    let text = "byte x; proctype P0() { x = 1 } init { atomic { run P0() priority 2; assert(x == 0) } }";
    assert_eq!(counts(text), (6, 6, true));
}

#[test]
fn the_priority_of_a_type_is_for_processes_that_are_there_from_the_start() {
    let text =
        "byte x; proctype A() priority 3 { assert(_priority == 1); x = 1 } init { run A(); x = 2; x = 3 }";
    assert!(!counts(text).2);
    let text =
        "byte x; active proctype A() priority 3 { assert(_priority == 3); x = 1 } init { assert(x == 1) }";
    assert!(!counts(text).2);
}

#[test]
fn priorities_asked_for_in_a_claim_are_priorities() {
    let text = "byte x; active proctype A() { x = 1 } never { do :: get_priority(0) > 0 od }";
    assert_eq!(counts(text), (3, 3, false));
}

#[test]
fn set_priority_refuses_what_is_none() {
    let text = "active proctype P() {\n set_priority(_pid, 0) }";
    assert_eq!(errors(text), ["2:2 this is not a priority: use 1 to 255"]);
    let text = "active proctype P() {\n set_priority(_pid, 256) }";
    assert_eq!(errors(text), ["2:2 this is not a priority: use 1 to 255"]);
    assert!(errors("active proctype P() { set_priority(7, 0) }").is_empty(), "nobody has number 7");
}

#[test]
fn an_assigned_priority_keeps_its_lowest_byte() {
    let text = "byte x; active proctype P() { _priority = 300; assert(_priority == 44) } active proctype Q() { x = 1 }";
    assert!(!counts(text).2);
}

#[test]
fn a_d_proctype_that_can_do_two_things_is_an_error() {
    let text = "byte x;\nactive D_proctype P() { if\n :: x = 1\n :: x = 2 fi }";
    assert_eq!(
        errors(text),
        ["4:5 a `D_proctype` has a choice here: an earlier statement can be done as well"]
    );
    assert_eq!(counts(text), (5, 5, false));
    let text = "byte x; active D_proctype P() { if :: x = 1 :: d_step { x = 2; x = 3 } fi }";
    assert_eq!(errors(text).len(), 1);
    let text = "byte x; active D_proctype P() { do :: x < 2 -> x++ :: x == 2 -> break :: else -> x = 0 od }";
    assert!(errors(text).is_empty());
    let text = "byte x; active proctype P() { if :: x = 1 :: x = 2 fi }";
    assert!(errors(text).is_empty());
}

#[test]
fn two_receivers_are_no_choice_of_a_d_proctype_but_two_receives_are() {
    let text = "chan c = [0] of { byte }; active D_proctype S() { c!1 } active [2] proctype R() { end: c?1 }";
    assert!(errors(text).is_empty(), "{:?}", errors(text));
    let text = "chan c = [0] of { byte }; active proctype S() { c!1 }
        active D_proctype R() { if :: c?_ :: c?1 fi }";
    assert_eq!(errors(text).len(), 1);
}

#[test]
fn enabled_is_not_asked_of_the_process_itself() {
    for pid in ["_pid", "0"] {
        let text = format!("byte x; active proctype P() {{ if :: enabled({pid}) -> x = 1 :: else fi }}");
        let (model, _) = volee_promela::parse("m", &text, &volee_promela::Options::default());
        let refused = volee_promela::lower(std::sync::Arc::new(model.expect("well-formed"))).map(|_| ());
        let messages: Vec<String> = refused.expect_err("refused").iter().map(ToString::to_string).collect();
        assert_eq!(messages, ["m:1:37: `enabled` cannot be asked of the process itself"]);
    }
    let circular =
        "`enabled` is asked of the process itself, or goes round or far through others that ask it too";
    let text = "byte x;\nactive proctype P() { enabled(x); x = 1 }";
    assert_eq!(errors(text), [format!("2:23 {circular}")]);
    let both = errors("byte x;\nactive proctype P() {\n enabled(1) }\nactive proctype Q() {\n enabled(0) }");
    assert_eq!(both, [format!("3:2 {circular}"), format!("5:2 {circular}")]);
}

#[test]
fn enabled_of_another_process_looks_at_its_statement() {
    let text = "byte x; active proctype P() { enabled(1); assert(x == 1) } active proctype Q() { x == 1 }
        active proctype R() { x = 1 }";
    assert_eq!(errors(text), Vec::<String>::new());
    assert!(!counts(text).2);
}

#[test]
fn a_state_in_which_nobody_can_move_does_not_lack_progress() {
    let lacking = |text: &str| {
        let mut machine = machine(text, true);
        let np = machine.predicate("np_").expect("a predicate");
        let mut state = collect_initial(&mut machine).swap_remove(0);
        let mut all = vec![machine.holds(np, &state).expect("a value")];
        while let Some((_, target)) = collect_steps(&mut machine, &state).into_iter().next() {
            state = target;
            all.push(machine.holds(np, &state).expect("a value"));
        }
        all
    };
    assert_eq!(lacking("byte x; active proctype P() { x = 1 }"), [true, true, false]);
    assert_eq!(lacking("byte x; active proctype P() { progress: x = 1; x == 0 }"), [false, false]);
    assert_eq!(lacking("byte x; active proctype P() { timeout }"), [true, true, false]);
    assert_eq!(lacking("byte x; active proctype P() provided (x == 0) { x = 1; x = 0 }"), [true, false]);
}

#[test]
fn what_is_hidden_and_never_read_is_no_part_of_a_state() {
    let text = "byte g; hidden byte h; active proctype P() { g = 1 } active proctype Q() { h = g }";
    assert_eq!(counts(text), (7, 9, false));
    assert!(machine(text, true).predicate("h == 0").is_err_and(|d| d.to_string().contains("hidden")));
    let read = "hidden byte h; active proctype P() { h = 1; assert(h == 1) }";
    assert!(!counts(read).2);
}

#[test]
fn an_underscore_in_a_trace_stands_for_every_value() {
    let text = "chan q = [2] of { byte }; active proctype P() { q!2; q?_ } trace { do :: q!_ :: q?_ od }";
    assert_eq!(errors(text), Vec::<String>::new());
    let text = "chan q = [2] of { byte }; active proctype P() { q!2 } trace { do :: q!1 od }";
    assert_eq!(errors(text).len(), 1);
}

#[test]
fn a_receiver_of_lower_priority_takes_what_a_sender_of_higher_priority_offers() {
    let text = "chan r = [0] of { byte }; active proctype P() priority 2 { r!1 } active proctype Q() { r?1 }";
    assert!(!explore(&mut machine(text, true)).deadlock);
    let text = "chan r = [0] of { byte }; byte x; active proctype P() priority 2 { r!1 }
        active proctype Q() provided (x == 1) { r?1 } active proctype R() { x = 1; assert(x == 1) }";
    assert!(!explore(&mut machine(text, true)).deadlock, "R moves while nobody can take what P offers");
}

#[test]
fn a_copied_message_is_no_event_of_a_trace() {
    let text = "chan q = [2] of { byte }; active proctype P() { q??<1> } active proctype R() { q!1; q!0 }
        trace { do :: q!_; q?_ od }";
    assert_eq!(counts(text), (8, 10, false));
}

#[test]
fn a_jump_to_the_unless_around_it_goes_round_until_it_is_escaped() {
    let text =
        "byte x; active proctype P() { J: { goto J } unless { x == 1 } } active proctype Q() { x = 1 }";
    let found = explore(&mut machine(text, true));
    assert!(!found.deadlock && found.states > 3, "{found:?}");
    let text = "active proctype P() { J: { { goto J } unless { false } } unless { goto J } }";
    assert!(explore(&mut machine(text, true)).states < 4);
}

#[test]
fn an_error_inside_a_d_step_is_where_its_statement_is() {
    let text = "chan c;\nactive proctype P() { d_step {\n skip;\n c?0 } }";
    assert!(errors(text).iter().all(|e| e.starts_with("4:2 ")), "{:?}", errors(text));
    let text = "chan c;\nactive proctype P() { d_step {\n c?0 } }";
    assert_eq!(errors(text).len(), 1);
    assert!(errors(text)[0].starts_with("3:2 "), "{:?}", errors(text));
}

#[test]
fn what_a_notrace_forbids_is_the_whole_of_it_and_is_watched_for_once() {
    let text = "chan q = [1] of { byte }; active proctype P() { do :: q!1; q?1 od }
        notrace { do :: q!0 :: q!_; q?_; break od }";
    assert_eq!(counts(text), (4, 5, false));
    assert_eq!(errors(text).len(), 1);
    let text = "chan q = [1] of { byte }; active proctype P() { q!1; q?1 } notrace { end0: do :: q!1; end1: q?1 od }";
    assert_eq!(counts(text), (4, 4, false));
    assert!(errors(text).is_empty());
}

#[test]
fn a_d_step_is_escaped_from_as_a_whole() {
    let never_taken = "chan r = [0] of { byte }; active proctype P() { { d_step { skip } } unless { r!0 } }";
    assert_eq!(counts(never_taken), (3, 3, false));
    assert!(errors(never_taken).is_empty());
    let taken = "chan r = [0] of { byte }; byte x; active proctype P() { { d_step { x = 1; x = 2 }; x = 4 } unless { r!0 } }
        active proctype Q() { r?0 }";
    assert_eq!(counts(taken), (4, 4, false));
}

#[test]
fn a_label_on_an_unless_is_where_its_body_begins() {
    let text =
        "byte v; active proctype P() { L1: { skip } unless { skip } } active proctype Q() { v = P@L1 }";
    assert_eq!(counts(text), (10, 11, false));
}
