//! The published schema of the machine-readable answer is true of what the binary prints, and says something.
//!
//! The validator knows the keywords that the schema uses, and refuses a schema that uses another.

use regex_lite::Regex;
use serde_json::{Value, json};

use crate::sandbox::{Sandbox, root};

fn schema() -> Value {
    let text = std::fs::read_to_string(root().join("book/src/answer.schema.json")).expect("it is published");
    serde_json::from_str(&text).expect("it is JSON")
}

/// Where a value is not as a schema says.
fn complaints(schema: &Value, value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    Checker { root: schema }.check(schema, value, "", &mut found);
    found
}

struct Checker<'a> {
    root: &'a Value,
}

impl Checker<'_> {
    fn fits(&self, schema: &Value, value: &Value) -> bool {
        let mut found = Vec::new();
        self.check(schema, value, "", &mut found);
        found.is_empty()
    }

    fn check(&self, schema: &Value, value: &Value, at: &str, found: &mut Vec<String>) {
        for (keyword, rule) in schema.as_object().expect("a schema is an object") {
            let good = match keyword.as_str() {
                "$schema" | "title" | "description" | "$defs" => true,
                "$ref" => {
                    let pointer =
                        rule.as_str().and_then(|r| r.strip_prefix('#')).expect("a reference within");
                    self.check(self.root.pointer(pointer).expect("it is defined"), value, at, found);
                    true
                }
                "type" => types(rule).iter().any(|name| is_of(value, name)),
                "const" => value == rule,
                "enum" => rule.as_array().expect("a list").contains(value),
                "pattern" => value.as_str().is_none_or(|text| {
                    Regex::new(rule.as_str().expect("a text")).expect("a pattern").is_match(text)
                }),
                "minLength" => value.as_str().is_none_or(|t| t.chars().count() as u64 >= number(rule)),
                "minimum" => value.as_f64().is_none_or(|n| n >= number(rule) as f64),
                "required" => value.as_object().is_none_or(|fields| {
                    rule.as_array()
                        .expect("a list")
                        .iter()
                        .all(|f| fields.contains_key(f.as_str().expect("a name")))
                }),
                "properties" => {
                    for (name, inner) in rule.as_object().expect("a table") {
                        if let Some(field) = value.get(name) {
                            self.check(inner, field, &format!("{at}/{name}"), found);
                        }
                    }
                    true
                }
                "additionalProperties" => {
                    for (name, field) in value.as_object().into_iter().flatten() {
                        let known = schema["properties"].get(name).is_some();
                        if !known {
                            self.check(rule, field, &format!("{at}/{name}"), found);
                        }
                    }
                    true
                }
                "items" => {
                    for (number, item) in value.as_array().into_iter().flatten().enumerate() {
                        self.check(rule, item, &format!("{at}/{number}"), found);
                    }
                    true
                }
                "allOf" => {
                    rule.as_array().expect("a list").iter().for_each(|s| self.check(s, value, at, found));
                    true
                }
                "oneOf" => {
                    rule.as_array().expect("a list").iter().filter(|s| self.fits(s, value)).count() == 1
                }
                other => panic!("the validator does not know `{other}`"),
            };
            if !good {
                found.push(format!("{at}: {keyword} {rule} is not true of {value}"));
            }
        }
    }
}

fn types(rule: &Value) -> Vec<&str> {
    match rule {
        Value::Array(all) => all.iter().filter_map(Value::as_str).collect(),
        one => one.as_str().into_iter().collect(),
    }
}

fn is_of(value: &Value, name: &str) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        other => panic!("`{other}` is no type"),
    }
}

fn number(rule: &Value) -> u64 {
    rule.as_u64().expect("a number")
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
        .write(
            "volee.toml",
            "[[model]]\npath = \"bad.pml\"\nexpect = \"violated\"\n[[model]]\npath = \"wrong.pml\"\n",
        )
        .write("a.aut", "des (0, 2, 2)\n(0, \"a\", 1)\n(1, \"b\", 0)\n");
    for call in [
        "check good.pml",
        "check good.pml --property all",
        "check good.pml --invariant x<2",
        "check good.pml --reachable x==2",
        "check good.pml --coverage",
        "check bad.pml",
        "check bad.pml --all-errors",
        "check bad.pml --property p",
        "check good.pml --max-depth 1",
        "check wrong.pml",
        "check missing.pml",
        "check good.pml --no-such-flag",
        "check good.pml bad.pml wrong.pml",
        "check good.pml --junit j.xml",
        "check",
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
        ("/results/1/reason/kind", json!("Not A Word")),
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
