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

/// The end of a process is an event like others, though it begins with a minus.
#[test]
fn what_begins_with_a_minus_is_not_taken_for_a_flag() {
    let sandbox = Sandbox::new();
    sandbox.write("ends.pml", "active [2] proctype P() { byte x; x = 1 }\n");
    assert_eq!(code(&sandbox, &["convert", "ends.pml", "all.aut"]), 0);
    assert!(sandbox.read("all.aut").contains("-end-"));
    assert_eq!(code(&sandbox, &["convert", "ends.pml", "out.aut", "--hide", "-end-"]), 0);
    assert!(!sandbox.read("out.aut").contains("-end-"));
    assert_eq!(code(&sandbox, &["check", "ends.pml", "--invariant", "-1 < _nr_pr"]), 0);
    let missing = sandbox.volee("convert ends.pml out.aut --hide --labels");
    assert!(missing.code == 2 && missing.stderr.contains("a value is missing"), "{}", missing.stderr);
}

/// Verbs that change labels, compare, cut down, make tests for a purpose, or draw: each event as it is
/// listed.
#[test]
fn what_is_copied_from_the_list_works_in_the_other_verbs_too() {
    let sandbox = desk();
    let listed = json_of(&sandbox.volee("info desk.pml --events --format json"));
    let events = listed["events"].as_object().expect("a list");
    let messages: Vec<&String> = events.keys().filter(|e| e.contains(['!', '?'])).collect();
    assert!(messages.len() >= 6, "{messages:?}");
    for event in messages {
        let plain = event.split_once(':').map_or(event.as_str(), |(_, plain)| plain);
        let renamed = format!("{event}=renamed");
        assert_eq!(code(&sandbox, &["convert", "desk.pml", "r.aut", "--rename", &renamed]), 0);
        assert!(sandbox.read("r.aut").contains("renamed"), "{event}");
        assert_eq!(code(&sandbox, &["reduce", "desk.pml", "-o", "h.aut", "--hide", event]), 0);
        assert!(!sandbox.read("h.aut").contains(plain), "{event}");
        assert_eq!(
            code(&sandbox, &["compare", "desk.pml", "h.aut"]),
            1,
            "{event} is no longer in one of them"
        );
        let hidden = ["compare", "desk.pml", "h.aut", "--hide", event, "--relation", "branching"];
        assert_eq!(code(&sandbox, &hidden), 0, "{event}");
        let interface = ["tests", "desk.pml", "--inputs", "ask", "--outputs", "back"];
        let covers: Vec<&str> = interface.into_iter().chain(["--cover", event]).collect();
        assert_eq!(code(&sandbox, &covers), 0, "{covers:?}");
        sandbox.write("p.aut", format!("des (0, 3, 2)\n(0, \"{event}\", 1)\n(0, *, 0)\n(1, ACCEPT, 1)\n"));
        let purpose: Vec<&str> = interface.into_iter().chain(["--purpose", "p.aut"]).collect();
        assert_eq!(code(&sandbox, &purpose), 0, "{event}");
        let never = format!("[]!({event})");
        let shown = ["check", "desk.pml", "--tl", &never, "--trace", "all.mmd", "--trace", "all.svg"];
        assert_eq!(code(&sandbox, &shown), 1);
        let all = sandbox.read("all.mmd");
        assert_eq!(code(&sandbox, &[&shown[..4], &["--trace", "less.mmd", "--hide", event]].concat()), 1);
        let less = sandbox.read("less.mmd");
        assert_ne!(less, all, "{event}");
    }
}

/// Rendezvous, channels that are handed over, arrays of them, channels in messages, `mtype`s, booleans,
/// negative values, labels, `atomic`, `d_step`, what is only looked at, and texts with quotes, commas,
/// brackets, semicolons and `=`.
const STALL: &str = r#"mtype = { REQ, GRANT };
chan pool[2] = [1] of { mtype, bool, chan };
chan hand = [0] of { int, byte };
chan kept = [1] of { short };
byte a[3]; bool flag; int n = -7;
proctype Work(chan c; short v) {
  short w;
  c!REQ,true,c;
again: a[1] = (a[1] + 1) % 2;
  d_step { c?REQ,_,_ -> n = -n };
  d_step { a[0] = 1; a[2] = a[0] };
  hand!n,2;
  atomic { kept!v; kept?<w> }; kept?w;
  if :: w < 0 -> printf("a \"b\", [c] \\ %d; x = 1\n", w) :: else -> skip fi;
  kept!(w - 1); kept?-5
}
active proctype Sink() { int x; byte y; do :: hand?x,y; flag = (x == -7 && y > 1) :: timeout -> break od }
init { atomic { run Work(pool[1], -4); a[0] = 2 } }
"#;

/// What people copy: the event as it is listed, in quotes where a formula wants them.
#[test]
fn every_kind_of_event_means_itself_in_every_verb() {
    let sandbox = Sandbox::new();
    sandbox.write("stall.pml", STALL);
    let listed = json_of(&sandbox.volee("info stall.pml --events --format json"));
    let events: Vec<String> = listed["events"].as_object().expect("a list").keys().cloned().collect();
    for wanted in [
        "Work[2]:pool[1]!REQ,1,pool[1]",
        "Work[2]:hand!7,2",
        "Work[2]:again",
        "Work[2]:a[0] = 1; Work[2]:a[2] = a[0]",
        "Work[2]:kept!-4; Work[2]:kept?<-4>",
        "Work[2]:kept?-5",
        "Sink[0]:flag = ((x==-(7))&&(y>1))",
    ] {
        assert!(events.iter().any(|event| event == wanted), "{wanted}: {events:?}");
    }
    for event in &events {
        let quoted = format!("\"{}\"", event.replace('"', "\\\""));
        let never = format!("[]!{quoted}");
        for flag in ["--tl", "--ltl"] {
            assert_eq!(code(&sandbox, &["check", "stall.pml", flag, &never]), 1, "{flag} {never}");
            let shared = ["check", "stall.pml", flag, &never, "--workers", "2"];
            assert_eq!(code(&sandbox, &shared), 1, "{shared:?}");
        }
        let mu = format!("<true* . {quoted}> true");
        assert_eq!(code(&sandbox, &["check", "stall.pml", "--mu", &mu]), 0, "{mu}");
        let shown = ["check", "stall.pml", "--tl", &never, "--trace", "t.mmd", "--hide", event];
        assert_eq!(code(&sandbox, &shown), 1, "{shown:?}");
        let label = format!("\"{}\"", event.replace('"', "\\\""));
        for pattern in [event, &quoted] {
            let rename = format!("{pattern}=renamed");
            assert_eq!(code(&sandbox, &["convert", "stall.pml", "o.aut", "--rename", &rename]), 0);
            assert!(sandbox.read("o.aut").contains("renamed"), "{rename}");
            let hide = ["reduce", "stall.pml", "-o", "h.aut", "--labels", "who", "--hide", pattern];
            assert_eq!(code(&sandbox, &hide), 0, "{hide:?}");
            assert!(!sandbox.read("h.aut").contains(&label), "{hide:?}");
            let same = ["compare", "stall.pml", "h.aut", "--labels", "who", "--hide", pattern];
            assert_eq!(code(&sandbox, &[&same[..], &["--relation", "branching"]].concat()), 0, "{same:?}");
        }
        // What nothing visible comes before cannot be tested; that is said, and the event is known.
        let interface = ["tests", "stall.pml", "--inputs", "hand", "--outputs", "kept"];
        for goal in [["--cover", event], ["--tl", &format!("<> {quoted}")]] {
            let answered = sandbox.volee_with(&[&interface[..], &goal].concat(), "");
            let told = format!("{}{}", answered.stdout, answered.stderr);
            let known = answered.code == 0 || told.contains("internal steps alone");
            assert!(known && !told.contains("matches `"), "{goal:?}: {told}");
        }
    }
}

/// A run that shows a formula of the mu-calculus is one of the program, also where its cycle is one only
/// because a variable that nobody reads is forgotten.
#[test]
fn a_cycle_of_what_is_remembered_is_shown_in_the_program() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "loop.pml",
        "chan c = [1] of { byte }; byte x; active proctype P() { do :: c!1; x = x + 3; c?1 od }\n",
    );
    for mu in [r#"<true* . "c?1"> true"#, r#"nu X . <true> X"#, r#"[true* . "c?2"] false"#] {
        assert_eq!(code(&sandbox, &["check", "loop.pml", "--mu", mu]), 0, "{mu}");
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
        &["check", "desk.pml", "--search", "bfs"],
        &["check", "desk.pml", "--search", "bfs", "--reachable", "len(ask) == 2"],
    ] {
        let limited: Vec<&str> = words.iter().copied().chain(["--memory", "64M"]).collect();
        assert!(code(&sandbox, &limited) < 2, "{words:?}");
    }
}

#[test]
fn tests_know_the_same_patterns_and_tell_those_that_mean_nothing() {
    let sandbox = desk();
    let named = DESK.replace("answer?GRANT od", "answer?GRANT; glad: skip od");
    sandbox.write("named.pml", named);
    sandbox.write("glad.aut", "des (0, 2, 2)\n(0, \"glad\", 1)\n(1, ACCEPT, 1)\n");
    for words in [
        &["named.pml", "--inputs", "ask", "--outputs", "back", "--cover", "glad"][..],
        &["named.pml", "--inputs", "ask", "--outputs", "back", "--cover", "Client[*]:glad"],
        &["named.pml", "--inputs", "ask", "--outputs", "back", "--purpose", "glad.aut"],
        &["named.pml", "--inputs", "ask", "--outputs", "back[*]", "--tl", "<> \"back[_]!GRANT\""],
        &["named.pml", "--outputs", "ask,back", "--after", "3"],
        &["named.pml", "--inputs", "ask", "--after", "2"],
    ] {
        let answered = sandbox.volee_with(&[&["tests"], words].concat(), "");
        assert_eq!(answered.code, 0, "{words:?}: {}{}", answered.stdout, answered.stderr);
        assert!(!answered.stderr.contains("no channel is meant"), "{words:?}: {}", answered.stderr);
    }
    for words in [
        &["--inputs", "ask,nix", "--outputs", "back", "--after", "3"][..],
        &["--inputs", "ask", "--outputs", "back", "--hide", "nix", "--after", "3", "--workers", "2"],
    ] {
        let told = sandbox.volee_with(&[&["tests", "desk.pml"], words].concat(), "");
        assert!(told.stderr.contains("no channel is meant by `nix`"), "{words:?}: {}", told.stderr);
    }
}

#[test]
fn a_rule_for_labels_that_means_nothing_is_told() {
    let sandbox = desk();
    sandbox.write("other.pml", DESK.replace("GRANT od", "GRANT; glad: skip od"));
    for (call, told) in [
        ("reduce desk.pml -o r.aut --hide nix!_", true),
        ("reduce desk.pml -o r.aut --hide ask!REQ,_", false),
        ("convert desk.pml c.aut --rename nix!_=b", true),
        ("convert desk.pml c.aut --rename ask!REQ,_=b", false),
        ("compare desk.pml other.pml --relation weak --hide nix", true),
        ("compare desk.pml other.pml --relation weak --hide glad", false),
        ("compare desk.pml desk.pml --relation branching --on-the-fly --hide nix", true),
        ("compare desk.pml desk.pml --relation branching --on-the-fly --hide ask", false),
    ] {
        let answered = sandbox.volee(call);
        assert!(answered.code < 2, "{call}: {}{}", answered.stdout, answered.stderr);
        let warned = answered.stderr.contains("nothing that happens is meant by `nix");
        assert_eq!(warned, told, "{call}: {}", answered.stderr);
    }
}

#[test]
fn a_setting_for_claims_of_the_model_is_obeyed_whatever_else_is_asked() {
    let sandbox = Sandbox::new();
    let turns = "byte x; active proctype P() { do :: x = 1 - x od }
        active proctype Q() { do :: x = x od }\nltl turns { []<>(x == 1) }\n";
    sandbox.write("turns.pml", turns);
    let ask = |call: &str| json_of(&sandbox.volee(&format!("check turns.pml {call} --format json")));
    assert_eq!(ask("--invariant x<2")["verdict"], "violated");
    assert_eq!(ask("--invariant x<2 --fair")["verdict"], "holds");
    assert_eq!(ask("--invariant x<2 --skip claims --fair")["verdict"], "error", "nobody asks about runs");
}

const LOCK: &str = "byte held; byte kept = 3;
active proctype Client() { do :: atomic { held == 0 -> held = 1 }; held = 0 od }
";

#[test]
fn what_never_happens_is_told_by_every_engine() {
    let sandbox = Sandbox::new();
    sandbox.write("lock.pml", LOCK);
    let ways = [
        &["--copies", "Client=2"][..],
        &["--copies", "Client=2", "--workers", "2"],
        &["--engine", "families", "--for-any", "Client"],
        &["--engine", "counters"],
    ];
    for way in ways {
        let ask = |question: [&str; 2]| {
            let words: Vec<&str> = ["check", "lock.pml", "--format", "json"]
                .into_iter()
                .chain(question)
                .chain(way.iter().copied())
                .collect();
            json_of(&sandbox.volee_with(&words, ""))
        };
        let told = ask(["--invariant", "!(held == 2) || held == 1"]);
        assert_eq!(told["silent"], json!(["held == 2"]), "{way:?}");
        let told = ask(["--invariant", "!(held == 1) || held > 0"]);
        assert_eq!(told["silent"], json!([]), "{way:?}");
        let told = ask(["--invariant", "kept > 2"]);
        assert_eq!(told["constant"], json!(["kept"]), "{way:?}");
        let told = ask(["--tl", "[](nowhere!1 -> <> never)"]);
        let silent = told["silent"].as_array().expect("a list");
        assert!(silent.contains(&json!("nowhere!1")), "{way:?}: {told}");
        let told = ask(["--ltl", "[](held == 2 -> held == 1)"]);
        assert_eq!(told["silent"], json!(["held == 2"]), "{way:?}: {told}");
    }
    for more in [&[][..], &["--workers", "2"]] {
        let ask = |question: [&str; 2]| {
            let words = [&["check", "lock.pml", "--format", "json"][..], &question, more].concat();
            json_of(&sandbox.volee_with(&words, ""))
        };
        assert_eq!(
            ask(["--tl", "!\"zz\""])["silent"],
            json!(["\"zz\""]),
            "what is settled at once is told too"
        );
        let supposed = ask(["--mu", "AG ({held == 2} => AF {held == 1})"]);
        assert_eq!(supposed["silent"], json!(["held == 2"]), "{more:?}");
        assert_eq!(ask(["--mu", "AG ({held == 1} => EF {held == 0})"])["silent"], json!([]), "{more:?}");
        assert_eq!(ask(["--mu", "AG {kept == 3}"])["constant"], json!(["kept"]), "{more:?}");
        let mu = ["check", "lock.pml", "--format", "json", "--mu", r#"[true* . "nowhere!1"] false"#];
        let told = json_of(&sandbox.volee_with(&[&mu[..], more].concat(), ""));
        assert_eq!(told["silent"], json!(["\"nowhere!1\""]), "{more:?}");
    }
}
