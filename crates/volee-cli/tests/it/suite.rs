//! Several models in one call: folders, projects, expectations, files for CI servers, and checks that repeat
//! themselves.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::sandbox::{Answered, Sandbox};

const GOOD: &str = "byte x; active proctype P() { do :: x < 3 -> x++ :: else -> x = 0 od }\n";
const BAD: &str = "byte x;\nactive proctype P() {\n  x++;\n  assert(x == 2)\n}\n";
const WRONG: &str = "active proctype P() { y++ }\n";

fn json(answered: &Answered) -> Value {
    serde_json::from_str(&answered.stdout)
        .unwrap_or_else(|e| panic!("{e}: {}{}", answered.stdout, answered.stderr))
}

fn models() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("m/good.pml", GOOD).write("m/sub/bad.pml", BAD);
    sandbox
}

#[test]
fn a_folder_is_checked_model_by_model_and_summed_up() {
    let answered = models().volee("check m");
    assert_eq!(answered.code, 1);
    let text = answered.stdout;
    assert!(text.contains("── m/sub/bad.pml ──") && text.contains("assert(x==2)"), "{text}");
    assert!(!text.contains("── m/good.pml ──"), "what holds is a line of the table: {text}");
    assert!(text.contains("holds     m/good.pml"), "{text}");
    assert!(text.contains("violated  m/sub/bad.pml  assertions: "), "{text}");
    assert!(text.contains("2 models: 1 hold, 1 violated"), "{text}");
    let json = json(&models().volee("check m/good.pml m/sub/bad.pml --format json"));
    assert_eq!((&json["verdict"], json["models"].as_array().map(Vec::len)), (&"violated".into(), Some(2)));
    assert_eq!(json["results"][0]["model"], "m/good.pml");
}

#[test]
fn a_model_that_is_wrong_does_not_keep_the_others_from_being_checked() {
    let sandbox = models();
    sandbox.write("m/wrong.pml", WRONG);
    let answered = sandbox.volee("check m --format json");
    assert_eq!(answered.code, 2);
    let json = json(&answered);
    assert_eq!(json["models"].as_array().map(Vec::len), Some(3));
    assert_eq!(json["errors"][0]["file"], "m/wrong.pml");
    sandbox.write("-odd name.pml", GOOD);
    let odd = sandbox.volee_with(&["check", "--format", "json", "--", "-odd name.pml", "m/good.pml"], "");
    assert_eq!(
        (odd.code, &self::json(&odd)["results"][0]["model"]),
        (0, &"-odd name.pml".into()),
        "{}",
        odd.stdout
    );
    let none = sandbox.volee("check m missing.pml");
    assert_eq!(none.code, 2);
    assert!(none.stderr.contains("missing.pml") && none.stdout.contains("4 models"), "{}", none.stderr);
}

#[test]
fn a_message_marks_the_same_characters_in_one_model_and_among_several() {
    let sandbox = models();
    sandbox.write("m/wrong.pml", "byte x;\nactive proctype P() { while (x < 3) { x++ } }\n");
    let (alone, among) = (sandbox.volee("check m/wrong.pml"), sandbox.volee("check m"));
    let marked = |text: &str| text.lines().find(|line| line.contains("·")).map(str::to_owned);
    assert!(marked(&alone.stderr).is_some_and(|line| line.contains("─────")), "{}", alone.stderr);
    assert_eq!(marked(&alone.stderr), marked(&among.stderr));
    let json = json(&sandbox.volee("check m/wrong.pml --format json"));
    assert_eq!(json["errors"][0]["length"], "while".len());
}

#[test]
fn a_project_is_checked_against_what_it_expects() {
    let sandbox = models();
    let project = "[defaults]\ntime = \"1m\"\n\n[[model]]\npath = \"m/good.pml\"\ninvariant = [\"x < 4\"]\n\n\
                   [[model]]\nname = \"the known bug\"\npath = \"m/sub/bad.pml\"\nexpect = { assertions = \"violated\" }\n";
    sandbox.write("volee.toml", project);
    let answered = sandbox.volee("check");
    assert_eq!(answered.code, 0, "{}{}", answered.stdout, answered.stderr);
    assert!(answered.stdout.contains("violated  the known bug  as expected"), "{}", answered.stdout);
    assert!(answered.stdout.contains("2 models: 1 hold, 1 not to hold, as expected"), "{}", answered.stdout);
    // Found from below, and named by its path.
    for call in ["cd m/sub && volee check", "volee check volee.toml"] {
        let answered = sandbox.shell(call);
        assert_eq!(answered.code, 0, "{call}: {}", answered.stdout);
    }
    sandbox.write("volee.toml", project.replace("x < 4", "x < 2"));
    assert_eq!(sandbox.volee("check").code, 1);
    // A bug that is gone is news.
    sandbox.write("volee.toml", project).write("m/sub/bad.pml", BAD.replace("== 2", "== 1"));
    let gone = sandbox.volee("check");
    assert_eq!(gone.code, 1);
    assert!(gone.stdout.contains("an error is expected, and none is found"), "{}", gone.stdout);
    // The user has the last word.
    let limited = sandbox.volee("check --max-depth 1");
    assert_ne!(limited.stdout, gone.stdout);
}

#[test]
fn what_is_wrong_with_a_project_is_told_with_its_place() {
    for (lines, place, message) in [
        ("path = \"m/good.pml\"\ninvarient = \"x\"", "volee.toml:3:1", "invarient"),
        ("path = \"m/good.pml\"\ntime = \"soon\"", "volee.toml:3:1", "soon"),
        ("path = \"m/none.pml\"", "volee.toml:2:8", "there is no file"),
        ("path = \"m/good.pml\"\nexpect = \"fine\"", "volee.toml:3:10", "no verdict"),
        ("path = \"m/good.pml\"\nwatch = true", "volee.toml:3:1", "about the whole call"),
        ("path = ", "volee.toml:2:", ""),
    ] {
        let sandbox = models();
        sandbox.write("volee.toml", format!("[[model]]\n{lines}\n"));
        let answered = sandbox.volee("check --format json");
        assert_eq!(answered.code, 2, "{lines}");
        let error = &json(&answered)["errors"][0];
        let told = format!("{}:{}:{}", error["file"].as_str().unwrap_or("?"), error["line"], error["column"]);
        assert!(told.starts_with(place), "{lines}: {error}");
        assert!(error["message"].as_str().is_some_and(|m| m.contains(message)), "{lines}: {error}");
    }
    let nothing = Sandbox::new().volee("check");
    assert_eq!(nothing.code, 2);
    assert!(nothing.stderr.contains("there is no volee.toml"), "{}", nothing.stderr);
    let unasked = models();
    unasked.write("volee.toml", "[[model]]\npath = \"m/good.pml\"\nexpect = { fair = \"holds\" }\n");
    let answered = unasked.volee("check");
    assert_eq!(answered.code, 2);
    assert!(answered.stdout.contains("no question is called `fair`"), "{}", answered.stdout);
}

#[test]
fn ci_servers_get_junit_sarif_and_annotations() {
    let sandbox = models();
    sandbox.write("m/wrong.pml", WRONG);
    let answered = sandbox.volee("check m --junit j.xml --sarif s.sarif --github");
    assert_eq!(answered.code, 2);
    let annotations: Vec<&str> = answered.stdout.lines().filter(|l| l.starts_with("::")).collect();
    assert_eq!(annotations.len(), 3, "{annotations:#?}");
    assert!(
        annotations.iter().any(|l| l.starts_with("::error file=m/sub/bad.pml,line=4,col=3,")),
        "{annotations:#?}"
    );
    assert!(
        annotations.iter().any(|l| l.starts_with("::error file=m/wrong.pml,line=1,col=23,")),
        "{annotations:#?}"
    );
    let junit = sandbox.read("j.xml");
    assert!(junit.contains("<testsuites name=\"volee\" tests=\"5\""), "{junit}");
    assert_eq!(junit.matches("<testsuite ").count(), 3, "{junit}");
    assert_eq!((junit.matches("<failure ").count(), junit.matches("<error ").count()), (1, 2), "{junit}");
    well_formed_sarif(&serde_json::from_str(&sandbox.read("s.sarif")).expect("it is JSON"), 3);
}

/// What the standard asks of the parts that we write.
fn well_formed_sarif(log: &Value, expected: usize) {
    assert_eq!(log["version"], "2.1.0");
    let run = &log["runs"][0];
    assert_eq!(run["tool"]["driver"]["name"], "volee");
    let rules = run["tool"]["driver"]["rules"].as_array().expect("rules");
    let results = run["results"].as_array().expect("results");
    assert_eq!(results.len(), expected, "{results:#?}");
    for result in results {
        let rule = &rules[result["ruleIndex"].as_u64().expect("an index") as usize];
        assert_eq!(rule["id"], result["ruleId"]);
        assert!(["none", "note", "warning", "error"].contains(&result["level"].as_str().expect("a level")));
        assert!(result["message"]["text"].as_str().is_some_and(|text| !text.is_empty()));
        let flows = result["codeFlows"].as_array().into_iter().flatten();
        let threads = flows.flat_map(|flow| flow["threadFlows"].as_array().expect("threads"));
        let steps = threads.flat_map(|t| t["locations"].as_array().expect("steps")).map(|s| &s["location"]);
        for location in result["locations"].as_array().expect("places").iter().chain(steps) {
            let physical = &location["physicalLocation"];
            let uri = physical["artifactLocation"]["uri"].as_str().expect("a file");
            assert!(!uri.contains(' ') && !uri.contains('\\'), "{uri}");
            if let Some(region) = physical.get("region") {
                assert!(region["startLine"].as_u64() >= Some(1) && region["startColumn"].as_u64() >= Some(1));
            }
        }
    }
    assert!(results.iter().any(|r| r.get("codeFlows").is_some()), "a run is a code flow");
}

#[test]
fn one_model_is_answered_as_ever_whatever_else_is_written() {
    let sandbox = models();
    let without = |answered: Answered| {
        let mut value = json(&answered);
        value.as_object_mut().expect("an object").remove("statistics");
        (value, answered.code)
    };
    let usual = without(sandbox.volee("check m/sub/bad.pml --format json"));
    let more = without(sandbox.volee("check m/sub/bad.pml --format json --junit j.xml"));
    assert_eq!(usual, more);
    let text = sandbox.volee("check m/sub/bad.pml --sarif s.sarif").stdout;
    assert!(text.contains("how it happens") && !text.contains("1 model"), "{text}");
}

#[test]
fn a_file_for_one_run_is_not_written_by_several_models() {
    let sandbox = models();
    let answered = sandbox.volee("check m --trace t.svg");
    assert_eq!(answered.code, 2);
    assert!(answered.stderr.contains("--trace names one file"), "{}", answered.stderr);
}

#[test]
fn the_time_of_a_call_is_that_of_all_its_models() {
    let sandbox = models();
    let answered = sandbox.volee("check m --time 0ms --format json");
    assert_eq!(answered.code, 3, "{}", answered.stdout);
    assert_eq!(json(&answered)["verdict"], "unknown");
}

#[cfg(unix)]
#[test]
fn a_watched_model_is_checked_again_when_what_it_includes_changes() {
    let sandbox = Sandbox::new();
    sandbox.write("m.pml", "#include \"n.h\"\nbyte x;\nactive proctype P() { x++; assert(x == N) }\n");
    sandbox.write("n.h", "#define N 1\n");
    let mut child = Command::new(env!("CARGO_BIN_EXE_volee"))
        .args(["check", "m.pml", "--watch", "--format", "json"])
        .current_dir(sandbox.path("."))
        .stdout(Stdio::piped())
        .spawn()
        .expect("it runs");
    let mut lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
    let mut verdict = || {
        let line = lines.next().expect("an answer for each change").expect("a text");
        serde_json::from_str::<Value>(&line).expect("one object on a line")["verdict"].clone()
    };
    assert_eq!(verdict(), "holds");
    sandbox.write("n.h", "#define N 22\n");
    assert_eq!(verdict(), "violated");
    sandbox.write("n.h", "#define N N N\n");
    assert_eq!(verdict(), "error");
    sandbox.write("n.h", "#define N 1\n");
    assert_eq!(verdict(), "holds");
    let interrupted = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("it runs");
    assert!(interrupted.success());
    assert_eq!(child.wait().expect("it ends").code(), Some(0), "the last verdict");
}
