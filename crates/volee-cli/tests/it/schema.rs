//! The published schema of the machine-readable answer is true of what the binary prints, and says something.

use jsonschema::Validator;
use serde_json::{Value, json};

use crate::sandbox::{Sandbox, root};

fn schema() -> Validator {
    let text = std::fs::read_to_string(root().join("book/src/answer.schema.json")).expect("it is published");
    jsonschema::validator_for(&serde_json::from_str(&text).expect("it is JSON")).expect("it is a schema")
}

fn complaints(schema: &Validator, answer: &Value) -> Vec<String> {
    schema.iter_errors(answer).map(|e| format!("{}: {e}", e.instance_path())).collect()
}

#[test]
fn every_kind_of_answer_is_as_the_schema_says() {
    let schema = schema();
    let sandbox = Sandbox::new();
    sandbox
        .write(
            "good.pml",
            "byte x; active proctype P() { do :: x < 3 -> x++ :: else -> x = 0 od } ltl p { [] (x < 4) }\n",
        )
        .write("bad.pml", "byte x = 300; active proctype P() { x++; assert(x == 1) } ltl p { <> (x == 9) }\n")
        .write("wrong.pml", "active proctype P() { y++ }\n")
        .write("a.aut", "des (0, 2, 2)\n(0, \"a\", 1)\n(1, \"b\", 0)\n");
    for call in [
        "check good.pml",
        "check good.pml --property all",
        "check good.pml --invariant x<2",
        "check good.pml --reachable x==2",
        "check bad.pml",
        "check bad.pml --all-errors",
        "check bad.pml --property p",
        "check good.pml --max-depth 1",
        "check wrong.pml",
        "check missing.pml",
        "check good.pml --no-such-flag",
        "check a.aut --mu <a>true",
        "compare a.aut a.aut --relation strong",
        "info a.aut",
        "reduce a.aut -o b.aut --relation strong",
        "simulate good.pml --steps 3",
        "automaton <>a",
        "lint bad.pml",
        "format --check good.pml",
        "completions bash",
    ] {
        let answered = sandbox.volee(&format!("{call} --format json"));
        let answer: Value = serde_json::from_str(&answered.stdout)
            .unwrap_or_else(|e| panic!("{call}: {e}\n{}", answered.stdout));
        let wrong = complaints(&schema, &answer);
        assert!(wrong.is_empty(), "{call}: {wrong:#?}");
    }
}

#[test]
fn what_is_no_answer_is_refused_by_the_schema() {
    let schema = schema();
    let sandbox = Sandbox::new();
    sandbox.write("bad.pml", "byte x; active proctype P() { x++; assert(x == 2) }\n");
    let good: Value =
        serde_json::from_str(&sandbox.volee("check bad.pml --format json").stdout).expect("one object");
    assert_eq!(complaints(&schema, &good), Vec::<String>::new());
    for (pointer, value) in [
        ("/verdict", json!("maybe")),
        ("/results/1/verdict", json!(1)),
        ("/results/1/question", json!("")),
        ("/results/1/reason/line", json!(0)),
        ("/results/1/witness/steps", json!({})),
        ("/results/1/witness/steps/0/ordinal", json!(-1)),
        ("/statistics/states", json!("many")),
        ("/errors", json!(null)),
    ] {
        let mut broken = good.clone();
        *broken.pointer_mut(pointer).unwrap_or_else(|| panic!("{pointer} is there")) = value;
        assert!(!complaints(&schema, &broken).is_empty(), "{pointer}");
    }
}
