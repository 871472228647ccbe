//! Steps called by what happens in them.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use volee_program::{LabelStyle, Machine, MachineOptions};
use volee_system::{System, collect_initial, collect_steps};

fn machine(source: &str, labels: LabelStyle, plain: bool) -> Machine {
    let (model, diagnostics) = volee_promela::parse("test.pml", source, &volee_promela::Options::default());
    let model = model.unwrap_or_else(|| panic!("{source}\n{diagnostics:?}"));
    let lowered = volee_promela::lower(Arc::new(model)).unwrap_or_else(|e| panic!("{source}\n{e:?}"));
    lowered.machine(MachineOptions { labels, plain, ..MachineOptions::default() })
}

/// All names of the steps of a program, and how many states it has.
fn explore(machine: &mut Machine) -> (BTreeSet<String>, BTreeSet<String>, usize) {
    let mut waiting = collect_initial(machine);
    let mut known: HashSet<Vec<u8>> = waiting.iter().cloned().collect();
    let (mut labels, mut names) = (BTreeSet::new(), BTreeSet::new());
    while let Some(state) = waiting.pop() {
        for (step, target) in collect_steps(machine, &state) {
            labels.insert(machine.label(step.label).into_owned());
            names.extend(machine.names(step.label));
            if known.insert(target.clone()) {
                waiting.push(target);
            }
        }
    }
    (labels, names, known.len())
}

fn check(source: &str, expected: &[&str], also: &[&str]) {
    for plain in [false, true] {
        let (labels, names, _) = explore(&mut machine(source, LabelStyle::Events, plain));
        assert_eq!(labels.iter().map(String::as_str).collect::<Vec<_>>(), expected, "{source}");
        for name in also {
            assert!(names.contains(*name), "{name} is none of {names:?}");
        }
    }
}

#[test]
fn a_message_is_told_with_its_values_and_the_channel_that_it_really_uses() {
    check(
        "mtype = { REQ, ACK }; chan q[2] = [1] of { mtype, byte };
         proctype C(chan out; byte n) { out!REQ(n + 1) }
         init { atomic { run C(q[1], 3); run C(q[0], 254) } }",
        &[
            "C[1]:-end-",
            "C[1]:q[1]!REQ,4",
            "C[2]:-end-",
            "C[2]:q[0]!REQ,255",
            "init[0]:(run C(q[1],3)); init[0]:(run C(q[0],254))",
            "init[0]:-end-",
        ],
        &["C[1] out!REQ,(n+1)"],
    );
    check(
        "chan names = [1] of { chan };
         active proctype A() { chan mine = [1] of { bool }; names!mine; mine!true }
         active proctype B() { chan c; names?c; bool x; c?<x>; c?x }",
        &[
            "A[0]:-end-",
            "A[0]:A[0].mine!1",
            "A[0]:names!A[0].mine",
            "B[1]:-end-",
            "B[1]:A[0].mine?1",
            "B[1]:A[0].mine?<1>",
            "B[1]:names?A[0].mine",
            "B[1]:x = 0",
        ],
        &["B[1] c?x"],
    );
}

#[test]
fn a_rendezvous_is_one_event_and_has_the_receivers_names_too() {
    check(
        "chan c = [0] of { byte };
         active proctype A() { byte k = 2; c!k } active proctype B() { byte x; c?x }",
        &["A[0]:-end-", "A[0]:c!2", "B[1]:-end-"],
        &["A[0] c!k", "B[1] c?x", "B[1]:c?2"],
    );
}

#[test]
fn sequences_are_told_by_the_messages_in_them() {
    check(
        "chan c = [2] of { byte }; byte g;
         active proctype A() { byte k; atomic { k = 5; c!k; k++; c!k }; d_step { c?k; g = k; c?eval(6) }; atomic { g = 1; g = 2 } }",
        &["A[0]:-end-", "A[0]:c!5; A[0]:c!6", "A[0]:c?5; A[0]:c?6", "A[0]:g = 1; A[0]:g = 2"],
        &["A[0] k = 5", "A[0]:c!6", "A[0]:c?6", "A[0]:g = 2"],
    );
}

#[test]
fn a_statement_with_a_label_of_its_own_is_called_by_it() {
    check(
        "byte x; active proctype A() { one: x = 1; again: if :: x = 2 :: x = 3 fi; two: d_step { x = 4; x = 5 } }",
        &["A[0]:-end-", "A[0]:one", "A[0]:two", "A[0]:x = 2", "A[0]:x = 3"],
        &["A[0] x = 1", "A[0]:x = 1"],
    );
}

#[test]
fn labels_are_the_same_as_those_of_the_plain_program_and_what_nobody_reads_is_forgotten() {
    let source = "mtype = { REQ, ACK }; chan ask = [2] of { mtype, byte }; chan back = [1] of { mtype };
        int served;
        active [2] proctype Client() { do :: ask!REQ(_pid); back?ACK od }
        active proctype Server() { byte who; do :: ask?REQ(who); served++; back!ACK od }";
    let (labels, _, states) = explore(&mut machine(source, LabelStyle::Events, false));
    assert!(states < 500, "{states}");
    assert!(
        labels.contains("Client[1]:ask!REQ,1") && labels.contains("Server[2]:served = (served+1)"),
        "{labels:?}"
    );
}
