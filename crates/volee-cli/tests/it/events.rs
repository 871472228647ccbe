//! One language of events: what `info --events` lists means the same in every verb.

use serde_json::{Value, json};

use crate::sandbox::{Answered, Sandbox};

const DESK: &str = "mtype = { REQ, GRANT };
chan ask = [2] of { mtype, byte };
chan back[2] = [1] of { mtype };
int served;
proctype Client(byte me; chan answer) { do :: ask!REQ(me); answer?GRANT od }
active proctype Server() { byte who; do :: ask?REQ(who); served++; back[who]!GRANT od }
init { atomic { run Client(0, back[0]); run Client(1, back[1]) } }
";

fn desk() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("desk.pml", DESK);
    sandbox
}

fn json_of(answered: &Answered) -> Value {
    serde_json::from_str(&answered.stdout)
        .unwrap_or_else(|e| panic!("{e}: {}{}", answered.stdout, answered.stderr))
}

fn code(sandbox: &Sandbox, words: &[&str]) -> i32 {
    let answered = sandbox.volee_with(words, "");
    assert!(answered.code != 2, "{words:?}: {}{}", answered.stdout, answered.stderr);
    answered.code
}

#[test]
fn senders_of_different_values_are_different_and_the_answer_names_the_event() {
    let sandbox = Sandbox::new();
    let model = |k: u8| {
        format!(
            "chan c = [1] of {{byte}}; active proctype A(){{ byte k = {k}; c!k }} active proctype B(){{ byte x; c?x }}\n"
        )
    };
    sandbox.write("two.pml", model(2)).write("three.pml", model(3));
    sandbox.write("other.pml", model(2).replace("proctype A", "proctype Sender"));
    for relation in ["strong", "trace", "weak"] {
        let told = sandbox.volee(&format!("compare two.pml three.pml --relation {relation}"));
        let names = told.stdout.contains("c!2") || told.stdout.contains("c!3");
        assert!(told.code == 1 && names, "{relation}: {}", told.stdout);
    }
    assert_eq!(code(&sandbox, &["compare", "two.pml", "three.pml", "--on-the-fly"]), 1);
    assert_eq!(code(&sandbox, &["compare", "two.pml", "three.pml", "--labels", "text"]), 0);
    assert_eq!(code(&sandbox, &["compare", "two.pml", "other.pml"]), 0, "who does it is not what happens");
    assert_eq!(code(&sandbox, &["compare", "two.pml", "other.pml", "--labels", "who"]), 1);
    let rename = [
        "compare",
        "two.pml",
        "three.pml",
        "--rename",
        "c!2=sent",
        "--rename",
        "A[*]:c!3=sent",
        "--hide",
        "c?_",
    ];
    assert_eq!(code(&sandbox, &rename), 0);
    assert_eq!(code(&sandbox, &["check", "two.pml", "--mu", r#"<true* . "c!2"> true"#]), 0);
    assert_eq!(code(&sandbox, &["check", "two.pml", "--mu", r#"<true* . "A[0] c!k"> true"#]), 0);
    assert_eq!(code(&sandbox, &["check", "two.pml", "--mu", r#"<true* . "c!3"> true"#]), 1);
}

#[test]
fn what_is_listed_means_the_same_in_every_verb() {
    let sandbox = desk();
    let listed = json_of(&sandbox.volee("info desk.pml --events --format json"));
    let events: Vec<String> = listed["events"].as_object().expect("a list").keys().cloned().collect();
    let event = "Client[2]:ask!REQ,0";
    assert!(events.iter().any(|e| e == event), "{events:?}");
    assert!(events.iter().any(|e| e == "Server[0]:back[1]!GRANT"), "{events:?}");
    for pattern in [event, "ask!REQ,0", "ask!_,0", "Client[*]:ask!REQ,0", "Client:ask!REQ"] {
        let never = format!("[]!({pattern})");
        for flag in ["--tl", "--ltl"] {
            assert_eq!(code(&sandbox, &["check", "desk.pml", flag, &never]), 1, "{flag} {never}");
        }
        let quoted = pattern.replace("REQ", "REQ,_").replace("REQ,_,0", "REQ,0");
        let mu = format!("<true* . \"{quoted}\"> true");
        assert_eq!(code(&sandbox, &["check", "desk.pml", "--mu", &mu]), 0, "{mu}");
        assert_eq!(code(&sandbox, &["convert", "desk.pml", "out.aut", "--hide", pattern]), 0);
        assert!(!sandbox.read("out.aut").contains("ask!REQ,0"), "{pattern} hides it");
        let made = ["tests", "desk.pml", "--inputs", "ask", "--outputs", "back", "--tl"];
        let made: Vec<&str> =
            made.into_iter().chain([Box::leak(format!("<> {pattern}").into_boxed_str()) as &str]).collect();
        assert_eq!(code(&sandbox, &made), 0, "{made:?}");
    }
}

#[test]
fn every_event_that_is_listed_is_no_silent_pattern() {
    let sandbox = desk();
    let listed = json_of(&sandbox.volee("info desk.pml --events --format json"));
    for event in listed["events"].as_object().expect("a list").keys() {
        let quoted = event.replace('"', "\\\"");
        let mu = format!("[true* . \"{quoted}\"] true");
        let told = json_of(&sandbox.volee_with(&["check", "desk.pml", "--mu", &mu, "--format", "json"], ""));
        assert_eq!(told["silent"], json!([]), "{event}");
        let tl = format!("[](\"{quoted}\" -> true) && [](\"{quoted}\" | !\"{quoted}\")");
        let told = json_of(&sandbox.volee_with(&["check", "desk.pml", "--tl", &tl, "--format", "json"], ""));
        assert_eq!(told["silent"], json!([]), "{event}");
    }
}

#[test]
fn a_counter_that_nobody_reads_makes_no_question_about_events_endless() {
    let sandbox = desk();
    for words in [
        &["check", "desk.pml", "--tl", "[](ask?REQ,0 -> true)"][..],
        &["check", "desk.pml", "--ltl", "[](ask!REQ,0 -> <> ask?REQ,0)"],
        &["check", "desk.pml", "--mu", r#"[true* . "back[2]!GRANT"] false"#],
        &["tests", "desk.pml", "--inputs", "ask", "--outputs", "back", "--tl", "<> back[1]!GRANT"],
    ] {
        let limited: Vec<&str> = words.iter().copied().chain(["--memory", "64M"]).collect();
        assert!(code(&sandbox, &limited) < 2, "{words:?}");
    }
}
