//! Which statements are said never to be reached.

use crate::graph::{explore, machine};

fn unreached(source: &str, plain: bool) -> Vec<String> {
    let mut machine = machine(source, &[], plain);
    explore(&mut machine, 0);
    volee_system::unreached(&mut machine).into_iter().map(|u| format!("{} {}", u.process, u.text)).collect()
}

#[test]
fn the_end_of_a_process_that_stands_there_is_reached() {
    let source = "active proctype P() { byte x; x = 1 }
        active proctype Q() { byte y; y = 1; false; y = 2 }";
    for plain in [true, false] {
        assert_eq!(unreached(source, plain), ["Q (0)", "Q y = 2", "Q -end-"], "plain: {plain}");
    }
}

#[test]
fn the_end_of_an_empty_process_is_reached_once_it_is_started() {
    let source = "proctype Idle() { skip } proctype Never() { skip }
        init { byte n; if :: n == 0 -> run Idle() :: n == 1 -> run Never() fi; false }";
    assert_eq!(
        unreached(source, false),
        ["Never (1)", "Never -end-", ":init: (n==1)", ":init: (run Never())", ":init: (0)", ":init: -end-"]
    );
}

#[test]
fn statements_inside_sequences_that_were_executed_are_reached() {
    let source = "byte g; active proctype P() { byte l;
        d_step { l = 1; l = 2 }; l++; d_step { l = 1; if :: l == 1 -> l = 5 :: else -> l = 6 fi };
        atomic { l++; g = l; l++ } ; l = 7 }";
    for plain in [true, false] {
        assert_eq!(unreached(source, plain), ["P else", "P l = 6"], "plain: {plain}");
    }
}
