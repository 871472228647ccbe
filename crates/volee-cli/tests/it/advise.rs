//! `volee advise` and `check --engine auto`: one model, every engine, and what to change where one does not
//! fit.

use serde_json::Value;

use crate::sandbox::Sandbox;

/// What a beginner writes: two buffered channels, `_pid`, a counter.
const CLIENTS: &str = "chan ask = [2] of { byte };\nchan answer = [2] of { byte };\nbyte served;\n\n\
active [2] proctype Client() {\n  do\n  :: ask!_pid; answer?eval(_pid)\n  od\n}\n\n\
active proctype Server() {\n  byte who;\n  do\n  :: ask?who -> served++; answer!who\n  od\n}\n";

fn advised(sandbox: &Sandbox, model: &str) -> Value {
    let told = sandbox.volee(&format!("advise {model} --format json"));
    assert_eq!(told.code, 0, "{}", told.stderr);
    serde_json::from_str(&told.stdout).expect("one object")
}

fn way<'a>(advice: &'a Value, name: &str) -> &'a Value {
    let uses = advice["uses"].as_array().expect("ways to use it");
    uses.iter().find(|one| one["way"] == name).unwrap_or_else(|| panic!("no {name} in {advice}"))
}

#[test]
fn a_beginners_model_goes_through_every_engine_by_the_commands_that_are_told() {
    let sandbox = Sandbox::new();
    sandbox.write("clients.pml", CLIENTS);
    let advice = advised(&sandbox, "clients.pml");
    for name in
        ["explicit", "families", "channels", "counters", "equations", "comparison", "tests", "program"]
    {
        let one = way(&advice, name);
        assert_eq!(one["fits"], true, "{name}: {one}");
        let commands = one["commands"].as_array().expect("commands");
        assert!(!commands.is_empty(), "{name}");
        for command in commands {
            let command = command.as_str().expect("a text");
            let echo = "sh -c 'while read line; do echo \"answer!${line#ask?}\"; done'";
            let command = command.replace("OTHER", "clients.pml").replace("COMMAND", echo);
            let command = command.replace("CONDITION", "true").replace("--random 100", "--random 5 --runs 1");
            let ran = sandbox.shell(&command.replace("volee check", "volee check --time 20s"));
            // That time was too short is an answer.
            assert!(
                matches!(ran.code, 0 | 1 | 3),
                "`{command}` ended with {}: {}{}",
                ran.code,
                ran.stdout,
                ran.stderr
            );
        }
    }
    assert_eq!(way(&advice, "tests")["channels"], serde_json::json!(["ask", "answer"]));
}

#[test]
fn what_stands_in_the_way_is_told_with_its_place_and_what_to_change() {
    let sandbox = Sandbox::new();
    let models = [
        (
            "random.pml",
            "chan c = [1] of { byte };\nactive proctype P() { byte x;\ndo :: c!1 :: c??x od }\n",
            "channels",
            "front of a channel",
            3,
        ),
        ("none.pml", "byte x;\nactive proctype P() { x = 1 }\n", "channels", "no buffered channel", 0),
        (
            "times.pml",
            "int x, y;\nactive proctype P() {\ndo :: x = x * y + 1 :: y++ od }\n",
            "counters",
            "`",
            3,
        ),
        ("late.pml", "byte x;\nproctype P() { x = 1 }\n", "explicit", "no process is there at the start", 2),
        (
            "order.pml",
            "byte x;\nactive [2] proctype P() {\ndo :: timeout -> x = 1 od }\n",
            "families",
            "`timeout`",
            3,
        ),
    ];
    for (name, text, engine, words, line) in models {
        sandbox.write(name, text);
        let advice = advised(&sandbox, name);
        let one = way(&advice, engine);
        assert_eq!(one["fits"], false, "{name}: {one}");
        let first = &one["obstacles"][0];
        assert!(first["message"].as_str().is_some_and(|m| m.contains(words)), "{name}: {first}");
        assert_eq!(first["line"].as_u64().unwrap_or(0), line, "{name}: {first}");
        assert!(first["help"].is_string(), "{name}: {first}");
        assert!(one["commands"].as_array().is_some_and(Vec::is_empty), "{name}");
    }
}

#[test]
fn a_counter_that_is_read_is_too_much_for_a_family_and_one_that_is_not_is_left_out() {
    let sandbox = Sandbox::new();
    sandbox.write("reads.pml", CLIENTS.replace("answer!who", "assert(served * 2 != 7); answer!who"));
    let advice = advised(&sandbox, "reads.pml");
    let told = way(&advice, "families")["obstacles"][0].to_string();
    assert!(told.contains("most of all `served`") && told.contains("stay small"), "{told}");
    let counts = "chan go = [0] of { bit };\nint served;\nactive [2] proctype Client() { do :: go!1 od }\n\
                  active proctype Server() { bit b;\ndo :: go?b -> served++; assert(b == 1) od }\n";
    sandbox.write("counts.pml", counts);
    let advice = advised(&sandbox, "counts.pml");
    assert_eq!(way(&advice, "families")["any_number_of"], serde_json::json!(["Client"]));
    let asked = sandbox.volee("check counts.pml --engine families --for-any Client");
    assert_eq!(asked.code, 0, "{}{}", asked.stdout, asked.stderr);
}

#[test]
fn models_that_are_no_programs_are_told_who_reads_them() {
    let sandbox = Sandbox::new();
    sandbox.write("door.aut", "des (0, 2, 2)\n(0, \"?open\", 1)\n(1, \"!opened\", 0)\n");
    let advice = advised(&sandbox, "door.aut");
    for (name, fits) in [
        ("explicit", true),
        ("families", false),
        ("channels", false),
        ("counters", false),
        ("equations", true),
        ("comparison", true),
        ("tests", true),
    ] {
        let one = way(&advice, name);
        assert_eq!(one["fits"], fits, "{name}");
        let helped = one["obstacles"].as_array().is_some_and(|all| all.iter().all(|o| o["help"].is_string()));
        assert!(helped, "{name}: {one}");
    }
    let text = sandbox.volee("advise door.aut").stdout;
    assert!(text.contains("fits  explicit") && text.contains("not   families"), "{text}");
}

#[test]
fn claims_that_an_engine_does_not_decide_are_told_with_the_reason() {
    let sandbox = Sandbox::new();
    sandbox.write("live.pml", format!("{CLIENTS}ltl live {{ []<>(served == 1) }}\n"));
    let advice = advised(&sandbox, "live.pml");
    let claim = |name: &str| way(&advice, name)["claims"][0].clone();
    assert_eq!(claim("explicit")["decided"], true);
    assert_eq!(claim("counters")["decided"], true);
    assert_eq!(claim("channels")["decided"], false);
    assert!(claim("channels")["reason"].as_str().is_some_and(|why| why.contains("explicit")));
}

#[test]
fn engine_auto_answers_and_tells_who_could_answer_more() {
    let sandbox = Sandbox::new();
    sandbox.write("clients.pml", CLIENTS);
    let told = sandbox.volee("check clients.pml --engine auto");
    assert_eq!(told.code, 0, "{}", told.stderr);
    for part in
        ["holds     deadlock", "other engines:", "--engine families --for-any Client", "--engine counters"]
    {
        assert!(told.stdout.contains(part), "no `{part}` in:\n{}", told.stdout);
    }
    let machine = sandbox.volee("check clients.pml --engine auto --format json");
    let answer: Value = serde_json::from_str(&machine.stdout).expect("one object");
    assert_eq!(answer["advice"].as_array().map(Vec::len), Some(8));
    let broken = sandbox.volee("advise missing.pml");
    assert_eq!(broken.code, 2);
}
