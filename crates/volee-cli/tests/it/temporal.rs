//! Temporal questions on the command line: the searches for infinite runs, and events that never happen.

use crate::sandbox::Sandbox;

/// Two clients and a server that may forget one of them.
const SERVER: &str = "\
byte asked, served;
active [2] proctype Client() { do :: atomic { asked < 40 -> asked++ } od }
active proctype Server() { do :: atomic { asked > served -> served++ } :: served == 40 -> break od }
";

#[test]
fn infinite_runs_are_found_alike_by_components_and_by_nested_search() {
    let sandbox = Sandbox::new();
    sandbox.write("server.pml", SERVER);
    let formulas = [("[](served <= asked)", 0), ("<>(served == 40)", 0), ("[]<>(asked > served)", 1)];
    for (formula, code) in formulas {
        for how in ["", "--emptiness components", "--emptiness nested", "--emptiness nested --memory 1M"] {
            let words = ["check", "server.pml", "--ltl", formula];
            let all: Vec<&str> = words.into_iter().chain(how.split_whitespace()).collect();
            let answered = sandbox.volee_with(&all, "");
            assert_eq!(answered.code, code, "{formula} {how}\n{}{}", answered.stdout, answered.stderr);
        }
        let bits = ["check", "server.pml", "--ltl", formula, "--approximate", "bitstate"];
        let answered = sandbox.volee_with(&bits, "");
        let expected = if code == 0 { 3 } else { code };
        assert_eq!(answered.code, expected, "{formula} with bits\n{}", answered.stdout);
    }
}

#[test]
fn searches_that_do_not_go_together_are_refused_with_a_way_out() {
    let sandbox = Sandbox::new();
    sandbox.write("server.pml", SERVER);
    let calls = [
        ("--emptiness components --approximate bitstate", "--emptiness nested"),
        ("--approximate compact", "--approximate bitstate"),
        ("--fair --emptiness nested", "--emptiness nested"),
    ];
    for (how, help) in calls {
        let call = ["check", "server.pml", "--ltl", "<>(served == 40)"];
        let all: Vec<&str> = call.into_iter().chain(how.split_whitespace()).collect();
        let answered = sandbox.volee_with(&all, "");
        assert_eq!(answered.code, 2, "{how}");
        assert!(answered.stderr.contains(help), "{how}: {}", answered.stderr);
    }
}

#[test]
fn an_event_that_never_happens_is_told() {
    let sandbox = Sandbox::new();
    sandbox.write("talk.pml", "chan c = [1] of { byte }; active proctype A() { c!1; c?1 }");
    sandbox.write("door.aut", "des (0, 2, 2)\n(0, \"open\", 1)\n(1, \"close\", 0)\n");
    let calls = [
        ("talk.pml", "[](\"c!1\" -> F \"c?1\") || true", None),
        ("talk.pml", "[](!\"c!2\")", Some("c!2")),
        ("door.aut", "[](!opne)", Some("opne")),
        ("door.aut", "precedence(open, close) || [](!close)", None),
    ];
    for (model, formula, event) in calls {
        let answered = sandbox.volee_with(&["check", model, "--tl", formula], "");
        assert_eq!(answered.code, 0, "{formula}: {}{}", answered.stdout, answered.stderr);
        let told = answered.stderr.contains("nothing that was explored is");
        assert_eq!(told, event.is_some(), "{formula}: {}", answered.stderr);
        assert!(event.is_none_or(|e| answered.stderr.contains(e)), "{formula}: {}", answered.stderr);
    }
}
