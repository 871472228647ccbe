//! What the page asks, and what it is told.

use serde_json::{Value, json};

use super::{Running, serve};

const FORKS: &str = "
chan fork[2] = [1] of { bit };
byte meals;
active proctype A() { fork[0]!1; fork[1]!1; do :: fork[0]?_; fork[1]?_; meals = (meals + 1) % 4; fork[0]!1; fork[1]!1 od }
active proctype B() { do :: fork[1]?_; fork[0]?_; fork[1]!1; fork[0]!1 od }
ltl fed { []<> (meals > 0) }";

fn told(server: &Running, question: Value) -> Value {
    let (status, answer) = server.ask(&question);
    assert_eq!(status, 200, "{question}: {answer}");
    answer
}

fn complaint(server: &Running, question: Value) -> String {
    let (status, answer) = server.ask(&question);
    assert_eq!(status, 400, "{question}: {answer}");
    answer["error"].as_str().expect("a complaint is a sentence").to_string()
}

/// Starts a check and waits for its answers.
fn checked(server: &Running, question: Value) -> Value {
    let job = told(server, json!({ "ask": "check", "question": question, "how": { "shortest": true } }));
    loop {
        let progress = told(server, json!({ "ask": "progress", "job": job["job"] }));
        if progress["running"] == false {
            return progress;
        }
        std::thread::yield_now();
    }
}

#[test]
fn a_state_tells_its_steps_and_each_leads_to_another_state() {
    let server = serve("forks.pml", FORKS, None);
    let look = told(&server, json!({ "ask": "look", "state": 0 }));
    assert_eq!(look["steps"][0]["actions"][0]["text"], "fork[0]!1");
    assert_eq!(look["inspection"]["channels"][0]["capacity"], 1);
    let waiting = &look["inspection"]["processes"][1]["options"][0];
    assert_eq!(waiting["waits"], "fork[1]?_: empty");
    let next = told(&server, json!({ "ask": "look", "state": look["steps"][0]["target"] }));
    assert_ne!(next["variables"], look["variables"]);
    assert!(complaint(&server, json!({ "ask": "look", "state": 999 })).contains("no state 999"));
}

#[test]
fn expressions_have_values_in_every_state_of_a_walk() {
    let server = serve("forks.pml", FORKS, None);
    let walk =
        told(&server, json!({ "ask": "walk", "state": 0, "steps": 50, "seed": 7, "until": "meals == 2" }));
    let states: Vec<&Value> = walk["steps"].as_array().expect("steps").iter().map(|s| &s["target"]).collect();
    let values = told(
        &server,
        json!({ "ask": "evaluate", "expression": "meals * 10 + len(fork[0])", "states": states }),
    );
    assert_eq!(values.as_array().map(Vec::len), Some(states.len()));
    let wrong = complaint(&server, json!({ "ask": "evaluate", "expression": "meals +", "states": [0] }));
    assert!(!wrong.is_empty());
    let again =
        told(&server, json!({ "ask": "walk", "state": 0, "steps": 50, "seed": 7, "until": "meals == 2" }));
    assert_eq!(walk, again, "the same seed is the same walk");
}

#[test]
fn the_nearest_state_with_a_condition_is_found_or_known_not_to_be_there() {
    let server = serve("forks.pml", FORKS, None);
    let way = told(&server, json!({ "ask": "nearest", "state": 0, "until": "meals == 1" }));
    assert_eq!(way["steps"].as_array().map(Vec::len), Some(5));
    let never = complaint(&server, json!({ "ask": "nearest", "state": 0, "until": "meals == 9" }));
    assert!(never.contains("never true"), "{never}");
}

#[test]
fn a_check_ends_in_a_run_that_can_be_walked_through() {
    let server = serve("forks.pml", FORKS, None);
    let answer = checked(&server, json!({ "kind": "safety" }));
    assert_eq!(answer["answers"][0]["verdict"], "violated");
    let run = &answer["answers"][0]["run"];
    let last = run["steps"].as_array().and_then(|s| s.last()).expect("the run has steps");
    let end = told(&server, json!({ "ask": "look", "state": last["target"] }));
    assert_eq!(end["end"], "deadlock");
    assert!(answer["coverage"].as_array().is_some_and(|c| c.len() > 8));
    assert!(answer["answers"][0]["why"].to_string().contains("fork[1]?_: empty"), "{answer}");
    let fed = checked(&server, json!({ "kind": "property", "text": "fed" }));
    assert_eq!(fed["answers"][0]["verdict"], "violated");
    assert!(fed["answers"][0]["run"]["loop"].is_number());
    let never = checked(&server, json!({ "kind": "invariant", "text": "meals <= 3" }));
    assert_eq!(never["answers"][0]["verdict"], "holds");
    let wrong = checked(&server, json!({ "kind": "ltl", "text": "[] nonsense" }));
    assert!(wrong["errors"][0].as_str().is_some());
}

#[test]
fn a_property_is_followed_along_a_run() {
    let server = serve("m.pml", "byte x; active proctype P() { x = 1; x = 2; x = 0 }", None);
    let mut states = vec![json!(0)];
    let mut labels = Vec::new();
    for _ in 0..3 {
        let look = told(&server, json!({ "ask": "look", "state": states[states.len() - 1] }));
        states.push(look["steps"][0]["target"].clone());
        labels.push(look["steps"][0]["label"].clone());
    }
    let follow = |formula: &str| {
        told(&server, json!({ "ask": "track", "formula": formula, "states": states, "labels": labels }))["states"].clone()
    };
    let never_two = follow("[] (x != 2)");
    assert_ne!(never_two[1], never_two[3], "x was 2 in between: {never_two}");
    let at_first = follow("(x == 0)");
    assert_eq!(at_first[1], json!([]), "nothing that follows can make it false");
    assert!(
        complaint(&server, json!({ "ask": "track", "formula": "[] (", "states": [0], "labels": [] })).len()
            > 5
    );
}

#[test]
fn a_run_of_ten_thousand_steps_is_loaded_whole() {
    let ticks = "byte x; active proctype Clock() { do :: x = (x + 1) % 100 od }";
    let server = serve("clock.pml", ticks, Some("run:0x10000"));
    let (status, page) =
        server.get(&format!("/?token={}", server.token), &format!("Host: 127.0.0.1:{}\r\n", server.port));
    assert_eq!(status, 200);
    assert!(page.matches("\"ordinal\"").count() >= 10_000);
    let longer = complaint(&server, json!({ "ask": "load", "text": "run:0x100001" }));
    assert!(longer.contains("more than"), "{longer}");
}

#[test]
fn systems_without_processes_are_explored_as_well() {
    let server = serve("door.aut", "des (0, 2, 2)\n(0, \"open\", 1)\n(1, \"close\", 0)\n", None);
    let look = told(&server, json!({ "ask": "look", "state": 0 }));
    assert_eq!(look["steps"][0]["label"], "open");
    assert!(
        complaint(&server, json!({ "ask": "evaluate", "expression": "x", "states": [0] }))
            .contains("predicate")
    );
}

#[test]
fn questions_that_are_none_get_a_sentence() {
    let server = serve("forks.pml", FORKS, None);
    for body in [
        json!({}),
        json!({ "ask": "rm -rf" }),
        json!([1, 2]),
        json!({ "ask": "look", "state": -1 }),
        json!({ "ask": "progress", "job": 77 }),
    ] {
        assert!(!complaint(&server, body).is_empty());
    }
    let unfit = complaint(&server, json!({ "ask": "load", "text": "run:99" }));
    assert!(unfit.contains("step 1 of the run is not possible"), "{unfit}");
}
