//! No wrong answer: what is shown is the program as it was written, and what is claimed is what is shown.

use serde_json::Value;

use crate::sandbox::Sandbox;

const LOCAL_STEPS: &str = "byte g; active proctype P() { byte l; l = 1; l = 2; g = l }\n";

#[test]
fn a_formula_over_steps_sees_every_step() {
    let sandbox = Sandbox::new();
    sandbox.write("m.pml", LOCAL_STEPS);
    for formula in ["[true* . \"P[0] l = 2\"] false", "[true . true . true . true] false"] {
        let answered = sandbox.volee_with(&["check", "m.pml", "--mu", formula], "");
        assert_eq!(answered.code, 1, "{formula}: {}{}", answered.stdout, answered.stderr);
    }
}

#[test]
fn programs_that_differ_in_local_steps_are_not_equal() {
    let sandbox = Sandbox::new();
    sandbox.write("a.pml", LOCAL_STEPS);
    sandbox.write("b.pml", "byte g; active proctype P() { byte l; l = 1; g = l + 1 }\n");
    for relation in ["strong", "branching", "weak", "trace"] {
        let answered = sandbox.volee(&format!("compare a.pml b.pml --relation {relation}"));
        assert_eq!(answered.code, 1, "{relation}: {}{}", answered.stdout, answered.stderr);
        let same = sandbox.volee(&format!("compare a.pml a.pml --relation {relation}"));
        assert_eq!(same.code, 0, "{relation}: {}{}", same.stdout, same.stderr);
    }
    assert_eq!(sandbox.volee("convert a.pml a.aut").code, 0);
    assert!(sandbox.read("a.aut").contains("l = 2"), "{}", sandbox.read("a.aut"));
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}: {text}"))
}

/// Dead locals, counters that nobody reads, local steps, a d_step, an atomic sequence: all that a search does
/// not look at.
const FORGETFUL: &str = "byte g; int count;
active proctype P() { byte l, m; l = 1; m = l; d_step { l = 2; l = 3 }; m = 7; count++;
  atomic { l = 4; g = 1; l = 5 }; m = 8; g = 2; g == 9 }
";

#[test]
fn runs_are_those_of_the_program_as_written_with_all_its_variables() {
    let sandbox = Sandbox::new();
    sandbox.write("m.pml", FORGETFUL);
    for call in
        ["check m.pml", "check m.pml --search bfs", "check m.pml --workers 2", "check m.pml --ltl <>(g==9)"]
    {
        let answered = sandbox.volee(&format!("{call} --format json"));
        assert_eq!(answered.code, 1, "{call}: {}{}", answered.stdout, answered.stderr);
        let answer = json(&answered.stdout);
        let shown = answer["results"].as_array().expect("results").iter().find(|r| !r["witness"].is_null());
        let witness = &shown.expect("a run")["witness"];
        let labels: Vec<&str> =
            witness["steps"].as_array().expect("steps").iter().filter_map(|s| s["label"].as_str()).collect();
        let statements =
            ["l = 1", "m = l", "d_step", "m = 7", "count = (count+1)", "l = 4", "m = 8", "g = 2"];
        let expected: Vec<String> = statements.iter().map(|s| format!("P[0] {s}")).collect();
        assert_eq!(labels, expected, "{call}");
        for variable in ["g", "count", "P[0]:l", "P[0]:m"] {
            assert!(witness["initial"][variable].is_string(), "{call}: {variable} in {}", witness["initial"]);
        }
        assert_eq!(witness["steps"][4]["changed"]["count"], "1", "{call}");
    }
    sandbox.volee("check m.pml --trace bug.itf.json");
    let itf = json(&sandbox.read("bug.itf.json"));
    assert!(
        itf["states"].as_array().expect("states").iter().all(|s| s["count"]["#bigint"].is_string()),
        "{itf}"
    );
}

#[test]
fn a_simulation_shows_every_variable() {
    let sandbox = Sandbox::new();
    sandbox.write("m.pml", FORGETFUL);
    let answered = sandbox.volee_with(&["simulate", "m.pml", "-i"], "0\n0\n0\n0\nv\nq\n");
    assert!(answered.stdout.contains("count = 0, P[0]:l = 3, P[0]:m = 7"), "{}", answered.stdout);
}

#[test]
fn every_printed_command_replays_and_says_what_the_run_shows() {
    let sandbox = Sandbox::new();
    sandbox.write("m.pml", FORGETFUL);
    sandbox.write(
        "ring.pml",
        "byte g; int count; active proctype P() { byte l; do :: g = 1 - g; l = 1; count++ od }\n",
    );
    sandbox.write("ends.pml", "byte x; active proctype P() { x = 1; x = 2; x = 3 }\n");
    let calls = [
        "check m.pml",
        "check m.pml --invariant 'g < 2'",
        "check m.pml --reachable 'g == 2' --only reachable",
        "check ring.pml --ltl '<>[] g == 0'",
        "check ring.pml --ltl '<>[] g == 0' --fair",
        "check ring.pml --ltl '[] g == 0'",
        "check ring.pml --progress",
        "check ring.pml --tl '[] !\"g = (1-g)\"'",
        "check ends.pml --ltl '<> x == 5'",
        "check ends.pml --invariant 'x != 3'",
    ];
    for call in calls {
        let answered = sandbox.shell(&format!("volee {call} --format json"));
        let answer = json(&answered.stdout);
        let results = answer["results"].as_array().unwrap_or_else(|| panic!("{call}: {answer}"));
        let shown =
            results.iter().find(|r| !r["witness"].is_null()).unwrap_or_else(|| panic!("{call}: {answer}"));
        let command = shown["replay"].as_str().expect("a command");
        let replayed = sandbox.shell(&format!("{command} --format json"));
        let expected = i32::from(shown["verdict"] == "violated");
        assert_eq!(replayed.code, expected, "{call}\n{command}\n{}", replayed.stdout);
        let again = json(&replayed.stdout);
        assert_eq!(again["verdict"], shown["verdict"], "{call}: {again}");
        assert!(again["confirmed"].is_string(), "{call}: {again}");
        assert_eq!(again["witness"]["steps"], shown["witness"]["steps"], "{call}");
    }
}

#[test]
fn a_trace_that_was_cut_or_edited_is_refused() {
    let sandbox = Sandbox::new();
    sandbox.write("m.pml", FORGETFUL);
    sandbox.write("other.pml", FORGETFUL.replace("g == 9", "g == 2"));
    assert_eq!(sandbox.volee("check m.pml --trace bug.json").code, 1);
    assert_eq!(sandbox.volee("replay m.pml bug.json").code, 1);
    let whole = json(&sandbox.read("bug.json"));
    let mut cut = whole.clone();
    let drop_last = |list: &mut Value| drop(list.as_array_mut().expect("a list").pop());
    drop_last(&mut cut["witness"]["steps"]);
    sandbox.write("cut.json", cut.to_string());
    drop_last(&mut cut["labels"]);
    sandbox.write("short.json", cut.to_string());
    let mut lies = whole.clone();
    lies["claim"]["kind"] = "assertions".into();
    sandbox.write("lies.json", lies.to_string());
    for (model, trace) in
        [("m.pml", "cut.json"), ("m.pml", "short.json"), ("m.pml", "lies.json"), ("other.pml", "bug.json")]
    {
        let answered = sandbox.volee(&format!("replay {model} {trace} --format json"));
        assert_eq!(answered.code, 2, "{model} {trace}: {}", answered.stdout);
        assert_eq!(json(&answered.stdout)["verdict"], "error", "{trace}");
    }
    let mut old = whole;
    old.as_object_mut().expect("an object").remove("claim");
    sandbox.write("old.json", old.to_string());
    let answered = sandbox.volee("replay m.pml old.json --format json");
    assert_eq!(
        json(&answered.stdout)["results"][0]["reason"]["kind"],
        "invalid-end-state",
        "what it ends in is told anyway"
    );
    for (word, code) in
        [("run:0x3", 0), ("run:0x8", 1), ("run:0x3 --shows deadlock", 2), ("run:0x9", 2), ("run:7", 2)]
    {
        let answered = sandbox.volee(&format!("replay m.pml {word}"));
        assert_eq!(answered.code, code, "{word}: {}{}", answered.stdout, answered.stderr);
    }
}

#[test]
fn a_shortest_run_is_shortest_in_statements() {
    let sandbox = Sandbox::new();
    // Two ways to the goal: one of few statements that are steps of their own, one of many that would be
    // merged into one.
    sandbox.write(
        "m.pml",
        "byte g, h; active proctype P() { byte l; if
         :: l = 1; l = 2; l = 3; l = 4; l = 5; l = 6; g = 1
         :: h = 1; h = 2; g = 1 fi }\n",
    );
    let answered = sandbox
        .volee_with(&["check", "m.pml", "--invariant", "g == 0", "--search", "bfs", "--format", "json"], "");
    let answer = json(&answered.stdout);
    let result = answer["results"].as_array().expect("results").iter().find(|r| !r["witness"].is_null());
    assert_eq!(result.expect("a run")["witness"]["steps"].as_array().map(Vec::len), Some(3), "{answer}");
}

#[test]
fn an_audit_agrees_and_says_so() {
    let sandbox = Sandbox::new();
    sandbox.write("m.pml", FORGETFUL.replace("g == 9", "g == 2"));
    for more in ["", "--invariant g<3", "--ltl <>(g==2)", "--workers 2", "--reachable g==2", "--progress"] {
        let answered = sandbox.volee(&format!("check m.pml --audit {more} --format json"));
        let answer = json(&answered.stdout);
        assert_eq!(answered.code, 0, "{more}: {answer}");
        assert_eq!(
            (&answer["audit"]["verdict"], &answer["audit"]["agrees"]),
            (&"holds".into(), &true.into()),
            "{more}"
        );
    }
    assert!(sandbox.volee("check m.pml --audit").stdout.contains("audited"));
    let refused = sandbox.volee("check m.pml --audit --engine counters");
    assert_eq!(refused.code, 2, "{}", refused.stderr);
}

#[test]
fn statements_are_never_reached_only_if_they_are_not() {
    let sandbox = Sandbox::new();
    // Reduction puts Q off for ever; P stands at its end.
    sandbox.write(
        "m.pml",
        "byte g, h; active proctype P() { byte l; l = 1 }
         active proctype Q() { byte k; h = 1; k = h; k = 2; h == 2; h = 3 }
         active proctype R() { do :: g = 1 - g od }\n",
    );
    let answer = json(&sandbox.volee("check m.pml --format json").stdout);
    let texts: Vec<&str> =
        answer["unreached"].as_array().expect("known").iter().filter_map(|u| u["text"].as_str()).collect();
    assert_eq!(texts, ["(h==2)", "h = 3", "-end-"], "{answer}");
    let processes: Vec<&Value> =
        answer["unreached"].as_array().expect("known").iter().map(|u| &u["process"]).collect();
    assert_eq!(processes, ["Q", "Q", "Q"]);
}

#[test]
fn the_models_of_the_project_pass_their_audit() {
    let sandbox = Sandbox::new();
    let mut folders = ["models/demo", "models/traps", "examples"].map(str::to_string).to_vec();
    let mut audited = 0;
    while let Some(folder) = folders.pop() {
        for file in std::fs::read_dir(sandbox.path(&folder)).into_iter().flatten().flatten() {
            let path = format!("{folder}/{}", file.file_name().to_string_lossy());
            if file.path().is_dir() {
                folders.push(path);
                continue;
            }
            if !path.ends_with(".pml") {
                continue;
            }
            let call =
                ["check", &path, "--audit", "--memory", "8M", "--max-depth", "20000", "--format", "json"];
            let answered = sandbox.volee_with(&call, "");
            assert_ne!(answered.code, 4, "{path}: {}", answered.stdout);
            audited += usize::from(json(&answered.stdout)["audit"]["agrees"] == true);
        }
    }
    assert!(audited >= 20, "{audited} models were audited");
}

#[test]
fn a_sequence_that_is_too_long_to_follow_leaves_every_answer_open() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "m.pml",
        "int i; active proctype P() { atomic { do :: i < 300000 -> i++ :: else -> break od }; assert(i == 300000) }\n",
    );
    for flags in [
        "",
        "--plain",
        "--search bfs",
        "--workers 2",
        "--only deadlock",
        "--ltl [](i<7)",
        "--mu [true]false",
        "--reachable i==300000",
    ] {
        let answered = sandbox.volee(&format!("check m.pml {flags}"));
        assert_eq!(answered.code, 3, "{flags}: {}{}", answered.stdout, answered.stderr);
        assert!(answered.stdout.contains("atomic sequence"), "{flags}: {}", answered.stdout);
    }
    assert_eq!(sandbox.volee("convert m.pml m.aut").code, 3);
}

#[test]
fn every_error_of_a_d_step_is_found_and_replayed() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "m.pml",
        "byte x; active proctype P() { d_step { x = 1; assert(x == 2); x = 3; assert(x == 4); assert(x == 3) } }\n",
    );
    for flags in ["", "--plain", "--workers 2", "--search bfs"] {
        let answered = sandbox.volee(&format!("check m.pml --all-errors --format json {flags}"));
        assert_eq!(answered.code, 1, "{flags}: {}{}", answered.stdout, answered.stderr);
        for told in ["x==2", "x==4"] {
            assert!(answered.stdout.contains(told), "{flags}: without {told}: {}", answered.stdout);
        }
    }
}

#[test]
fn a_condition_without_a_value_is_an_error_of_the_question_or_comes_too_late_for_it() {
    let sandbox = Sandbox::new();
    let system = "byte i; byte a[2]; active proctype P() { i = 1; i = 5 }\n";
    let models = [
        // The index is out of range before anything is decided.
        ("late.pml", "ltl f { <> (a[i] != 0) }", "array index out of range"),
        ("never.pml", "never { do :: a[i] != 0 -> break :: else od }", "array index out of range"),
        // The formula is false before the index is out of range.
        ("decided.pml", "ltl f { (i == 0) U (a[i] != 0) }", "can no longer satisfy"),
    ];
    for (name, property, told) in models {
        sandbox.write(name, format!("{system}{property}\n"));
        for flags in ["", " --plain", " --emptiness nested", " --search bfs", " --workers 2"] {
            let answered = sandbox.volee(&format!("check {name}{flags} --audit"));
            let context = format!("{name}{flags}: {}{}", answered.stdout, answered.stderr);
            assert_eq!(answered.code, 1, "{context}");
            let nested = flags == " --emptiness nested" && name == "decided.pml";
            assert!(nested || answered.stdout.contains(told), "{context}");
        }
    }
}

#[test]
fn of_two_steps_to_one_state_the_one_with_the_error_is_shown() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "m.pml",
        "byte x; active proctype P() { if :: skip :: assert(x == 3) fi; x = 1 }\nltl f { (x == 0) W (x == 1) }\n",
    );
    for flags in ["", " --emptiness nested", " --search bfs", " --workers 2"] {
        let answered = sandbox.volee(&format!("check m.pml{flags}"));
        let context = format!("{flags}: {}{}", answered.stdout, answered.stderr);
        assert_eq!(answered.code, 1, "{context}");
        assert!(answered.stdout.contains("assertion violated: assert(x==3)"), "{context}");
    }
}
