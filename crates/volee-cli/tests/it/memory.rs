//! Searches within a memory budget, as their users meet them.

use serde_json::Value;

use crate::sandbox::Sandbox;

const MODEL: &str = "models/gen/2pc_5.pml";

fn ask(sandbox: &Sandbox, line: &str) -> (Value, i32) {
    let answered = sandbox.volee(&format!("check {line} --format json"));
    let answer = serde_json::from_str(&answered.stdout).expect("one object, whatever happens");
    (answer, answered.code)
}

fn figure(answer: &Value, name: &str) -> f64 {
    answer["statistics"][name].as_f64().unwrap_or_else(|| panic!("no {name} in {}", answer["statistics"]))
}

#[test]
fn every_policy_gives_the_answer_of_the_full_search_in_a_third_of_its_memory() {
    let sandbox = Sandbox::new();
    let (full, code) = ask(&sandbox, &format!("{MODEL} --reduction none"));
    assert_eq!(code, 0, "{full}");
    let (states, bytes) = (figure(&full, "states"), figure(&full, "peak_memory_bytes"));
    // What is remembered of steps is given up before any state is: the states alone are what is measured.
    let (alone, code) = ask(&sandbox, &format!("{MODEL} --reduction none --memory {}", bytes as u64 / 2));
    assert_eq!((code, figure(&alone, "states")), (0, states), "{alone}");
    let budget = figure(&alone, "peak_memory_bytes") as u64 / 3;
    for policy in ["random", "oldest", "least-deep", "least-frequent", "clock", "cheapest"] {
        let line = format!("{MODEL} --reduction none --memory {budget} --replacement {policy} --seed 3");
        let (answer, code) = ask(&sandbox, &line);
        assert_eq!((code, &answer["verdict"]), (0, &full["verdict"]), "{policy}: {answer}");
        assert!(figure(&answer, "insertions") >= states, "{policy}");
        assert!(figure(&answer, "replaced") > 0.0 && figure(&answer, "longest_path") > 0.0, "{policy}");
        let off = (figure(&answer, "states") - states).abs() / states;
        assert!(off < 5.0 * figure(&answer, "estimate_error"), "{policy}: {}", answer["statistics"]);
        let peak = figure(&answer, "peak_memory_bytes");
        assert!(peak <= budget as f64, "{policy}: {}", answer["statistics"]);
    }
    let (answer, code) =
        ask(&sandbox, &format!("{MODEL} --reduction none --memory {budget} --replacement none"));
    assert_eq!((code, &answer["results"][0]["reason"]["kind"]), (3, &"memory".into()), "{answer}");
}

#[test]
fn a_budget_below_the_smallest_tables_is_unknown_and_names_what_it_takes() {
    let sandbox = Sandbox::new();
    for memory in ["1", "500", "1000"] {
        let answered = sandbox.volee(&format!("check {MODEL} --memory {memory}"));
        assert_eq!(answered.code, 3, "{}", answered.stdout);
        assert!(
            answered.stdout.contains("at least") && answered.stdout.contains(" kB"),
            "{}",
            answered.stdout
        );
    }
}

#[cfg(target_os = "linux")]
#[test]
fn memory_seen_from_outside_stays_within_the_budget() {
    let sandbox = Sandbox::new();
    let call = "check models/gen/2pc_7.pml --reduction none --time 60s --memory 4M";
    let (kilobytes, code) = sandbox.peak(call);
    assert_eq!(code, 0);
    assert!(kilobytes <= (4 + 24) << 10, "{kilobytes} kB");
}

#[test]
fn approximations_never_hold_and_say_what_they_cannot_be_asked() {
    let sandbox = Sandbox::new();
    for kind in ["bitstate", "compact"] {
        let (answer, code) = ask(&sandbox, &format!("{MODEL} --approximate {kind}"));
        assert_eq!((code, &answer["verdict"]), (3, &"unknown".into()), "{kind}: {answer}");
        assert_eq!(answer["results"][0]["reason"]["kind"], "approximation", "{kind}");
    }
    sandbox
        .write("ends.pml", "byte n;\nactive proctype P() { do :: n < 50 -> n++ :: n == 50 -> break od }\n");
    let ltl = |flags: &str| {
        let arguments = ["check", "ends.pml", "--format", "json", "--ltl", "[] (n <= 50)"];
        let all: Vec<&str> = arguments.into_iter().chain(flags.split_whitespace()).collect();
        let answered = sandbox.volee_with(&all, "");
        (serde_json::from_str::<Value>(&answered.stdout).expect("one object"), answered.code)
    };
    let (answer, code) = ltl("--approximate bitstate");
    assert_eq!((code, &answer["verdict"]), (3, &"unknown".into()), "{answer}");
    let (answer, code) = ltl("--approximate compact");
    assert_eq!((code, &answer["verdict"]), (2, &"error".into()), "{answer}");
    assert_eq!(ltl("").1, 0);
}
