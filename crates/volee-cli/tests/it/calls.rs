//! Calls right and wrong: exit codes, the frame of `--format json`, messages that say what to do.

use serde_json::Value;

use crate::sandbox::Sandbox;

const STUCK: &str = "des (0, 3, 3)\n(0, \"a\", 1)\n(1, \"b\", 0)\n(1, \"c\", 2)\n";
const LIVELY: &str = "des (0, 2, 2)\n(0, \"a\", 1)\n(1, \"b\", 0)\n";

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|e| panic!("exactly one object: {e}\n{text}"))
}

#[test]
fn the_exit_code_tells_the_verdict() {
    let sandbox = Sandbox::new();
    sandbox.write("stuck.aut", STUCK).write("lively.aut", LIVELY);
    assert_eq!(sandbox.volee("check lively.aut").code, 0);
    assert_eq!(sandbox.volee("check stuck.aut").code, 1);
    assert_eq!(sandbox.volee("check missing.aut").code, 2);
    assert_eq!(sandbox.volee("check lively.aut --max-depth 1").code, 3);
}

#[test]
fn json_is_exactly_one_object_whatever_happens() {
    let sandbox = Sandbox::new();
    sandbox.write("stuck.aut", STUCK).write("lively.aut", LIVELY).write("broken.aut", "des (0, 1");
    let calls = [
        ("check lively.aut", "holds", 0),
        ("check stuck.aut", "violated", 1),
        ("check stuck.aut --all-errors --search bfs", "violated", 1),
        ("check lively.aut --max-depth 1", "unknown", 3),
        ("check broken.aut", "error", 2),
        ("check missing.aut", "error", 2),
        ("simulate .", "error", 2),
        ("check", "error", 2),
        ("chekc lively.aut", "error", 2),
        ("check lively.aut --memory much", "error", 2),
        ("check lively.aut --search sideways", "error", 2),
        ("simulate stuck.aut --seed 1", "violated", 1),
        ("simulate lively.aut --seed 1 --steps 5", "holds", 0),
        ("replay lively.aut run:0.0.0", "holds", 0),
        ("replay lively.aut run:0.7", "error", 2),
        ("completions bash", "holds", 0),
        ("man check", "holds", 0),
        ("check --help", "holds", 0),
        ("--version", "holds", 0),
    ];
    for (call, verdict, code) in calls {
        let answered = sandbox.volee(&format!("{call} --format json"));
        let answer = json(&answered.stdout);
        assert_eq!(answer["verdict"], verdict, "{call}");
        assert_eq!(answered.code, code, "{call}");
        let fields = ["tool", "version", "command", "model", "engine", "results", "statistics", "errors"];
        for field in fields {
            assert!(answer.get(field).is_some(), "{call}: {field} is missing");
        }
        let has_errors = answer["errors"].as_array().is_some_and(|e| !e.is_empty());
        assert_eq!(has_errors, verdict == "error", "{call}");
    }
}

#[test]
fn a_violation_replays_with_the_command_it_prints() {
    let sandbox = Sandbox::new();
    sandbox.write("stuck.aut", STUCK);
    let checked = sandbox.volee("check stuck.aut");
    let command = checked.stdout.lines().find_map(|l| l.trim().strip_prefix("volee ")).expect("a command");
    let replayed = sandbox.volee(command);
    assert_eq!(replayed.code, 1, "{}", replayed.stderr);
    assert!(replayed.stdout.contains("2  c  state = 2"), "{}", replayed.stdout);
    assert!(replayed.stdout.contains("confirmed: "), "{}", replayed.stdout);
}

#[test]
fn a_long_run_is_replayed_from_a_file() {
    let sandbox = Sandbox::new();
    let edges: String =
        (0..900).map(|i| format!("({i}, \"a\", {})\n({i}, \"b\", {})\n", i + 1, i + 1)).collect();
    sandbox.write("long.aut", format!("des (0, 1800, 901)\n{edges}"));
    // Choices that alternate cannot be written shorter than they are.
    let word = format!("run:{}", vec!["0.1"; 450].join("."));
    let stored = sandbox.volee(&format!("replay long.aut {word} --trace t.json"));
    assert_eq!(stored.code, 1, "it ends in a deadlock: {}", stored.stderr);
    assert!(stored.stdout.contains("steps left out"));
    let again = sandbox.volee("replay long.aut t.json --every-step");
    assert_eq!(again.code, 1, "{}", again.stderr);
    assert_eq!(again.stdout.lines().filter(|l| l.contains("state = ")).count(), 901);
    let simulated = sandbox.volee("simulate long.aut --seed 5 --steps 900");
    let command = simulated.stdout.lines().find_map(|l| l.trim().strip_prefix("volee ")).expect("a command");
    assert!(command.ends_with(".trace.json"), "{command}");
    assert_eq!(sandbox.volee(command).code, 1, "it ends in a deadlock too");
}

#[test]
fn a_run_is_written_in_every_form() {
    let sandbox = Sandbox::new();
    sandbox.write("stuck.aut", STUCK);
    let call = "check stuck.aut --trace t.json --trace t.itf.json --trace t.svg --trace t.mmd --trace t.txt";
    assert_eq!(sandbox.volee(call).code, 1);
    assert_eq!(json(&sandbox.read("t.json"))["witness"]["steps"], serde_json::json!([0, 1]));
    assert_eq!(json(&sandbox.read("t.itf.json"))["vars"], serde_json::json!(["state"]));
    assert!(sandbox.read("t.svg").starts_with("<svg"));
    assert!(sandbox.read("t.mmd").starts_with("sequenceDiagram"));
    assert!(sandbox.read("t.txt").contains("initially state = 0"));
}

#[test]
fn a_changed_model_does_not_replay_an_old_trace() {
    let sandbox = Sandbox::new();
    sandbox.write("m.aut", STUCK);
    assert_eq!(sandbox.volee("check m.aut --trace t.json").code, 1);
    sandbox.write("m.aut", STUCK.replace("\"c\"", "\"d\""));
    let replayed = sandbox.volee("replay m.aut t.json");
    assert_eq!(replayed.code, 2);
    assert!(replayed.stderr.contains("step 2 of the trace is `c`"), "{}", replayed.stderr);
}

#[test]
fn an_interactive_run_goes_back_and_on() {
    let sandbox = Sandbox::new();
    sandbox.write("stuck.aut", STUCK);
    let answered =
        sandbox.volee_with(&["simulate", "stuck.aut", "-i"], "0\n0\nb 2\n0\n1\nt\nv\nfoo\n9\nj 7\nq\n");
    assert_eq!(answered.code, 1, "{}", answered.stderr);
    assert!(answered.stdout.contains("not a valid end"));
    assert!(answered.stdout.contains("`foo` means nothing here"));
    assert!(answered.stdout.contains("there is no step 9"));
    assert!(answered.stdout.contains("volee replay stuck.aut run:0.1"), "{}", answered.stdout);
    let piped = sandbox.volee_with(&["simulate", "stuck.aut", "-i", "--format", "json"], "0\n");
    assert_eq!(json(&piped.stdout)["statistics"]["steps"], 1);
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let sandbox = Sandbox::new();
    sandbox.write("stuck.aut", STUCK);
    let first = sandbox.volee("simulate stuck.aut --seed 11").stdout;
    assert_eq!(first, sandbox.volee("simulate stuck.aut --seed 11").stdout);
    assert!(first.contains("seed 11"));
}

#[test]
fn wrong_calls_say_what_to_do() {
    let sandbox = Sandbox::new();
    sandbox
        .write("m.aut", STUCK)
        .write("binary.aut", [0u8, 159, 146, 150])
        .write("empty.aut", "")
        .write("note.doc", "x");
    let calls = [
        ("check missing.aut", "there is no such file"),
        ("simulate .", "it is a directory"),
        ("replay models run:0", "it is a directory"),
        ("check m.exe", "there is no such file"),
        ("check note.doc", "models end in"),
        ("check empty.aut", "empty.aut"),
        ("check binary.aut", "binary.aut"),
        ("check m.aut --trace nowhere/t.json", "its folder does not exist"),
        ("check m.aut --trace t.doc", "runs are written as"),
        ("check m.aut --trace models/..", "names no form"),
        ("check m.aut --time soon", "10s, 500ms or 5m"),
        ("check m.aut --max-depth -1", "unexpected argument '-1'"),
        ("replay m.aut m.aut", "not a trace of volee"),
        ("replay m.aut run:x", "is not a run"),
        ("replay m.aut missing.json", "there is no such file"),
        ("simulate m.aut --steps 0", "steps"),
        ("man nonsense", "there is no verb `nonsense`"),
        ("completions tcsh", "possible values"),
    ];
    for (call, part) in calls {
        let answered = sandbox.volee(call);
        assert_eq!(answered.code, 2, "{call}: {}{}", answered.stdout, answered.stderr);
        assert!(answered.stderr.contains(part), "{call}: {}", answered.stderr);
        assert!(answered.stdout.is_empty(), "{call}");
    }
}

#[test]
fn huge_arguments_give_short_messages() {
    let sandbox = Sandbox::new();
    sandbox.write("m.pml", "active proctype P() { skip }");
    let (name, nested) = ("a".repeat(100_000), "(".repeat(100_000));
    let calls: [&[&str]; 4] = [
        &["check", &name],
        &["check", "m.pml", "--invariant", &nested],
        &["check", "m.pml", "--trace", &name],
        &["replay", "m.pml", &name],
    ];
    for call in calls {
        let answered = sandbox.volee_with(call, "");
        assert_eq!(answered.code, 2);
        assert!(answered.stderr.len() < 2000, "{}", answered.stderr.len());
    }
}

#[test]
fn nothing_is_coloured_when_piped() {
    let sandbox = Sandbox::new();
    sandbox.write("m.aut", STUCK);
    for call in ["check m.aut", "check missing.aut", "--help", "chekc"] {
        let answered = sandbox.volee(call);
        assert!(!(answered.stdout + &answered.stderr).contains('\u{1b}'), "{call}");
    }
}

#[test]
fn the_tour_finds_the_bug_and_proves_the_repair() {
    let sandbox = Sandbox::new();
    let tour = sandbox.volee("demo");
    assert_eq!(tour.code, 0, "{}", tour.stderr);
    for part in ["violated  assertions", "$ volee replay", "holds     assertions", "simulate -i"] {
        assert!(tour.stdout.contains(part), "{part} is missing in\n{}", tour.stdout);
    }
    assert!(sandbox.read("volee-demo/bug.svg").contains("Receiver(2)"));
    assert!(sandbox.read("volee-demo/bug.json").contains("volee-trace"));
    let elsewhere = sandbox.volee("demo --into /proc/nowhere");
    assert_eq!(elsewhere.code, 2, "{}", elsewhere.stdout);
}

#[test]
fn commands_hidden_in_an_input_do_not_reach_the_terminal() {
    let sandbox = Sandbox::new();
    sandbox.write("evil.pml", "active proctype P() { \u{1b}[2J }\n");
    let answered = sandbox.volee("check evil.pml");
    assert_eq!(answered.code, 2);
    assert!(!answered.stderr.contains('\u{1b}'), "{}", answered.stderr);
}

#[test]
fn a_very_long_run_is_told_from_its_end() {
    let sandbox = Sandbox::new();
    let model = "int n; active proctype P() { do :: n < 20000 -> n++ :: n >= 20000 -> assert(false) od }";
    sandbox.write("long.pml", model);
    let checked = sandbox.volee("check long.pml --trace t.json --trace t.svg");
    assert_eq!(checked.code, 1, "{}", checked.stderr);
    assert!(checked.stdout.contains("how it happens (40,002 steps)"), "{}", checked.stdout);
    let replayed = sandbox.volee("replay long.pml t.json");
    assert_eq!(replayed.code, 1, "{}", replayed.stderr);
    assert!(replayed.stdout.contains("after 30,002 steps"), "{}", replayed.stdout);
}

#[test]
fn warnings_are_told_in_both_forms() {
    let sandbox = Sandbox::new();
    sandbox.write("w.pml", "chan c = [1] of { byte, byte }; active proctype P() { c!1 }\n");
    let text = sandbox.volee("check w.pml");
    assert!(text.stderr.contains("only 1 of the 2 fields"), "{}", text.stderr);
    let answered = sandbox.volee("check w.pml --format json");
    assert!(answered.stderr.is_empty(), "{}", answered.stderr);
    assert_eq!(json(&answered.stdout)["warnings"][0]["line"], 1);
}

#[test]
fn workers_get_the_model_with_all_its_options() {
    let sandbox = Sandbox::new();
    sandbox.write("n.pml", "byte n; active proctype P() { n++; assert(n < 3) }");
    sandbox.write("c.pml", "chan c = [1] of { bit }; active proctype P() { c!0; c!1; assert(false) }");
    for call in ["check n.pml --copies P=3", "check c.pml --capacity 2"] {
        for more in ["", "--workers 2", "--plain"] {
            let answered = sandbox.volee(&format!("{call} {more} --only assertions"));
            assert_eq!(answered.code, 1, "{call} {more}: {}{}", answered.stdout, answered.stderr);
        }
    }
    assert_eq!(sandbox.volee("check n.pml --workers 2").code, 0);
}

#[test]
fn a_plain_check_asks_what_the_model_claims() {
    let sandbox = Sandbox::new();
    sandbox.write("n.pml", "byte x; ltl never2 { [] (x != 2) } active proctype P() { x = 1; x = 2 }");
    let answer = json(&sandbox.volee("check n.pml --format json").stdout);
    let questions: Vec<&Value> =
        answer["results"].as_array().expect("results").iter().map(|r| &r["question"]).collect();
    assert_eq!(questions, ["deadlock", "assertions", "ltl never2"]);
    assert_eq!(answer["verdict"], "violated");
    let chosen = [
        ("--skip claims", 0),
        ("--skip never2", 0),
        ("--only never2", 1),
        ("--only deadlock,assertions", 0),
        ("--invariant x<3 --ltl <>(x==2) --mu <true>true --tl !zzz --property never2", 1),
        ("--invariant x<3 --ltl <>(x==2) --mu <true>true --skip claims", 0),
        ("--only nonsense", 2),
        ("--only ltl --skip claims", 2),
    ];
    for (how, code) in chosen {
        let answered = sandbox.volee(&format!("check n.pml {how}"));
        assert_eq!(answered.code, code, "{how}: {}{}", answered.stdout, answered.stderr);
    }
}

#[test]
fn an_answer_that_cannot_be_written_is_an_error_and_a_model_without_a_verb_is_understood() {
    let sandbox = Sandbox::new();
    sandbox.write("m.pml", "active proctype P() { skip }");
    if std::path::Path::new("/dev/full").exists() {
        for call in ["check m.pml", "check m.pml --format json", "check missing.pml --format json"] {
            let full = sandbox.shell(&format!("volee {call} > /dev/full"));
            assert_eq!(full.code, 2, "{call}: {}", full.stdout);
        }
    }
    let forgotten = sandbox.volee("m.pml");
    assert_eq!(forgotten.code, 2);
    assert!(forgotten.stderr.contains("volee check m.pml"), "{}", forgotten.stderr);
    let misspelt = sandbox.volee("chek m.pml");
    assert!(!misspelt.stderr.contains("volee check chek"), "{}", misspelt.stderr);
}

const POST: &str = "chan c = [2] of { byte, bit };
byte x;
active proctype Sender() { x = 1; c!7,1; skip; atomic { x = 2; x = 3; x = 4 } }
active proctype Receiver() { byte y; c?y,_; assert(y == 8); y = 9 }
";

#[test]
fn a_run_is_shown_without_what_is_not_wanted() {
    let sandbox = Sandbox::new();
    sandbox.write("post.pml", POST);
    let run = |flags: &str| {
        let told = sandbox.volee(&format!("check post.pml --search bfs --only assertions{flags}")).stdout;
        told.split_once("how it happens").map(|(_, run)| run.to_string()).unwrap_or(told)
    };
    let whole = run("");
    assert!(whole.contains("x = 1") && whole.contains("assert(y==8)"), "{whole}");
    assert!(!whole.contains("y = 9"), "nothing after the failed assertion: {whole}");
    let messages = run(",messages");
    assert!(messages.contains("c!7,1") && messages.contains("assert(y==8)"), "{messages}");
    assert!(!messages.contains("x = 1"), "{messages}");
    let hidden = run(" --hide Sender");
    assert!(!hidden.contains("Sender(0)") && hidden.contains("Receiver(1)"), "{hidden}");
    let shown = run(" --show y");
    assert!(shown.contains("initially Receiver[1]:y = 0") && !shown.contains("x = 0"), "{shown}");
}

#[test]
fn an_indivisible_sequence_is_one_line_unless_every_step_is_asked_for() {
    let sandbox = Sandbox::new();
    sandbox.write("seq.pml", "byte x; active proctype P() { skip; atomic { x = 2; x = 3; x = 4 } }");
    let folded = sandbox.volee("simulate seq.pml").stdout;
    assert!(folded.contains("x = 2; x = 3; x = 4") && folded.contains("skip"), "{folded}");
    let whole = sandbox.volee("simulate seq.pml --every-step").stdout;
    assert!(!whole.contains("x = 2; x = 3"), "{whole}");
}

#[test]
fn values_are_typed_for_machines() {
    let sandbox = Sandbox::new();
    sandbox.write("post.pml", POST);
    let answer = json(&sandbox.volee("check post.pml --search bfs --only assertions --format json").stdout);
    let run = &answer["results"][0]["witness"];
    assert_eq!(run["initial_values"]["x"], 0);
    assert_eq!(run["initial_values"]["c"], serde_json::json!([]));
    let sent = run["steps"].as_array().expect("steps").iter().find_map(|s| s["values"].get("c"));
    assert_eq!(sent, Some(&serde_json::json!([[7, 1]])));
}

#[test]
fn a_conversation_undoes_redoes_evaluates_and_goes_on_until() {
    let sandbox = Sandbox::new();
    sandbox.write("post.pml", POST);
    let lines = "u x == 1\nb\ny\ne x * 10\ne len(c\nu\nw\nq\n";
    let told = sandbox.volee_with(&["simulate", "post.pml", "-i", "--seed", "2"], lines).stdout;
    for part in ["`x == 1` is true after", "x * 10 = 10", "an expression should follow `u`", "waits for"] {
        assert!(told.contains(part), "{part}: {told}");
    }
}

#[test]
fn the_name_of_a_claim_is_no_formula() {
    let sandbox = Sandbox::new();
    sandbox.write("c.pml", "byte x; active proctype P() { x = 1 } ltl small { [] (x < 2) }");
    let refused = sandbox.volee("check c.pml --ltl small");
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("ask for it with --property"), "{}", refused.stderr);
    assert!(!sandbox.volee("check c.pml --ltl smaller").stderr.contains("--property"));
    assert_eq!(sandbox.volee("check c.pml --property small").code, 0);
}

#[test]
fn a_small_model_is_drawn_with_its_variables() {
    let sandbox = Sandbox::new();
    sandbox.write("coin.pml", "byte x, y; active proctype P() { do :: x = 1 - x :: x -> break od; y = 3 }");
    assert_eq!(sandbox.volee("convert coin.pml coin.svg --show x").code, 0);
    let svg = sandbox.read("coin.svg");
    assert!(svg.contains("<svg") && svg.contains("x = 1") && !svg.contains("y = 0"), "{svg}");
    assert_eq!(sandbox.volee("convert coin.pml coin.dot --show y").code, 0);
    let dot = sandbox.read("coin.dot");
    assert!(dot.contains("label=\"y = 3\", peripheries=2") && !dot.contains("x = 1\""), "{dot}");
    sandbox.write("many.pml", "byte x, y; active proctype P() { do :: x++ :: y++ od }");
    let refused = sandbox.volee("convert many.pml many.svg");
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("500 states"), "{}", refused.stderr);
    assert_eq!(sandbox.volee("convert coin.pml coin.aut --show x").code, 2);
}
