//! `volee check --engine families`: the ten problems of the paper, nets, and what is refused.

use serde_json::Value;

use crate::sandbox::Sandbox;

/// As it is named in the sandbox, so that messages are as wide wherever the project stands.
fn example(name: &str) -> String {
    format!("examples/families/{name}")
}

fn ask(sandbox: &Sandbox, call: &str) -> (Value, i32) {
    let answered = sandbox.volee(&format!("check {call} --engine families --format json"));
    let answer =
        serde_json::from_str(&answered.stdout).unwrap_or_else(|e| panic!("{call}: {e}\n{}", answered.stderr));
    (answer, answered.code)
}

const PROBLEMS: [(&str, &str, &str); 10] = [
    ("p1-bin.pml", "--for-any User", "violated"),
    ("p2-loop.pml", "--for-any User", "violated"),
    ("p3-mutual-exclusion.pml", "--for-any Client --cover Client@critical,Client@critical", "holds"),
    ("p4-no-orphans.pml", "--for-any Client", "holds"),
    ("p5-full-put.pml", "--for-any Producer,Consumer", "violated"),
    ("p6-empty-get.pml", "--for-any Producer,Consumer", "violated"),
    ("p7-produce-first.pml", "--for-any Producer,Consumer", "holds"),
    ("p8-empty-get-and-full-put.pml", "--for-any Producer,Consumer", "violated"),
    ("p9-gas-station.pml", "--for-any Client", "holds"),
    ("p10-gas-station-hurried.pml", "--for-any Client,Hurried", "holds"),
];

#[test]
fn the_ten_problems_of_the_paper_have_its_verdicts_by_every_method() {
    let sandbox = Sandbox::new();
    for (name, flags, verdict) in PROBLEMS {
        for method in ["auto", "bra", "fraen", "frakm", "fbra"] {
            let exact = method == "auto" || method == "bra";
            let time = if exact { "2m" } else { "2s" };
            let call = format!("{} {flags} --method {method} --time {time} --memory 64M", example(name));
            let (answer, _) = ask(&sandbox, &call);
            let got = answer["verdict"].as_str().expect("a verdict");
            assert!(got == verdict || (!exact && got == "unknown"), "{name} by {method}: {got}");
        }
    }
}

#[test]
fn the_numbers_and_lengths_of_p5_and_p6_are_those_of_the_paper() {
    let sandbox = Sandbox::new();
    let call = |name: &str| ask(&sandbox, &format!("{} --for-any Producer,Consumer", example(name))).0;
    let p5 = call("p5-full-put.pml");
    assert_eq!((&p5["sizes"]["Producer"], &p5["sizes"]["Consumer"]), (&2.into(), &0.into()));
    assert_eq!(p5["results"][0]["witness"]["steps"].as_array().map(Vec::len), Some(6));
    let p6 = call("p6-empty-get.pml");
    assert_eq!((&p6["sizes"]["Producer"], &p6["sizes"]["Consumer"]), (&1.into(), &2.into()));
    assert_eq!(p6["results"][0]["witness"]["steps"].as_array().map(Vec::len), Some(9));
}

const LOCK: &str = "chan request = [0] of { bit }, release = [0] of { bit };\nbyte held;\n\
active proctype Server() { do :: request?_ -> held = 1; release?_; held = 0 od }\n\
proctype Client() { do :: request!0;\ncritical: release!0 od }\n\
ltl one { [](held <= 1) }\nltl alive { <>(held == 1) }\n";

fn broken() -> String {
    LOCK.replace("request?_ -> held = 1; release?_; held = 0", "request?_ -> held++ :: release?_ -> held = 0")
        .replace("byte held", "byte held = 0")
}

#[test]
fn every_violation_replays_in_the_explicit_model_of_that_size_in_every_form() {
    let sandbox = Sandbox::new();
    for (name, flags, verdict) in PROBLEMS {
        let traces = "--trace run.json --trace run.svg --trace run.mmd --trace run.itf.json --trace run.txt";
        let (answer, code) = ask(&sandbox, &format!("{} {flags} {traces}", example(name)));
        assert_eq!(code, i32::from(verdict == "violated"), "{name}");
        if verdict == "holds" {
            continue;
        }
        let command = answer["results"][0]["replay"].as_str().expect("a command");
        let replayed = sandbox.shell(&format!("{command} --format json"));
        assert!(replayed.code < 2, "{name}: {command}: {}", replayed.stdout);
        let replayed: Value = serde_json::from_str(&replayed.stdout).expect("one object");
        let steps = |v: &Value| v["witness"]["steps"].as_array().map(Vec::len);
        assert_eq!(steps(&replayed), steps(&answer["results"][0]), "{name}");
        assert!(sandbox.volee(&format!("replay {} run.json", example(name))).code < 2, "{name}");
        assert!(
            sandbox.read("run.svg").contains("</svg>") && sandbox.read("run.mmd").contains("participant")
        );
        assert!(sandbox.read("run.itf.json").contains("ITF") && !sandbox.read("run.txt").is_empty());
        // The explicit search of that instance finds it too.
        let sizes = answer["sizes"].as_object().expect("numbers");
        let copies: Vec<String> = sizes.iter().map(|(name, n)| format!("{name}={n}")).collect();
        let explicit =
            sandbox.volee(&format!("check {} --copies {} --format json", example(name), copies.join(",")));
        assert_eq!(explicit.code, 1, "{name}");
    }
}

#[test]
fn properties_are_formulas_claims_and_automata_with_named_clients() {
    let sandbox = Sandbox::new();
    let never = "never { do :: true :: held > 1 -> break od }\n";
    sandbox.write("lock.pml", LOCK).write("broken.pml", broken());
    sandbox
        .write("claim.pml", format!("{LOCK}{never}"))
        .write("bad-claim.pml", format!("{}{never}", broken()));
    let held = "HOA: v1\nStates: 1\nStart: 0\nAP: 1 \"held <= 1\"\nacc-name: Buchi\nAcceptance: 1 Inf(0)\n\
                --BODY--\nState: 0 {0}\n[0] 0\n--END--\n";
    let often = "HOA: v1\nStates: 2\nStart: 0\nAP: 1 \"held == 1\"\nacc-name: Buchi\nAcceptance: 1 Inf(0)\n\
                 --BODY--\nState: 0\n[0] 1\n[!0] 0\nState: 1 {0}\n[0] 1\n[!0] 0\n--END--\n";
    sandbox.write("held.hoa", held).write("often.hoa", often);
    let tl = "[](Client[0]:request!0->WX(!Client[1]:request!0WClient[0]:release!0))";
    let tl = tl.replace("0W", "0 W ").replace("->", " -> ");
    let call = |words: &[&str]| {
        let mut all =
            vec!["check", words[0], "--engine", "families", "--for-any", "Client", "--format", "json"];
        all.extend(&words[1..]);
        let answered = sandbox.volee_with(&all, "");
        let answer: Value = serde_json::from_str(&answered.stdout).expect("one object");
        (answered.code, answer)
    };
    assert_eq!(call(&["lock.pml", "--tl", &tl]).0, 0);
    let (code, answer) = call(&["broken.pml", "--tl", &tl]);
    assert_eq!(
        (code, &answer["sizes"]["Client"], &answer["least"]),
        (1, &2.into(), &true.into()),
        "{answer}"
    );
    assert_eq!(answer["results"][0]["reason"]["kind"], "trap");
    for (good, bad, flags) in [
        ("claim.pml", "bad-claim.pml", ["--property", "never_0"]),
        ("lock.pml", "broken.pml", ["--property", "one"]),
        ("lock.pml", "broken.pml", ["--buchi", "held.hoa"]),
        ("lock.pml", "broken.pml", ["--ltl", "[](held <= 1)"]),
        ("lock.pml", "broken.pml", ["--invariant", "held <= 1"]),
        ("lock.pml", "broken.pml", ["--cover", "Client@critical,Client@critical"]),
    ] {
        assert_eq!(call(&[good, flags[0], flags[1]]).0, 0, "{flags:?}");
        let (code, answer) = call(&[bad, flags[0], flags[1]]);
        assert_eq!((code, &answer["sizes"]["Client"]), (1, &2.into()), "{flags:?}: {answer}");
        let replay = answer["results"][0]["replay"].as_str().expect("a command");
        assert!(sandbox.shell(replay).code < 2, "{replay}");
    }
    assert_eq!(call(&["lock.pml", "--property", "alive"]).0, 0, "it is about what happens for ever");
    for flags in [
        vec!["lock.pml", "--buchi", "often.hoa"],
        vec!["lock.pml", "--progress"],
        vec!["lock.pml", "--tl", "[]{held == 0}", "--runs", "maximal"],
        vec!["lock.pml", "--tl", "[]Nobody:request!0"],
        vec!["lock.pml", "--invariant", "_nr_pr < 3"],
        vec!["lock.pml", "--reachable", "held == 1"],
    ] {
        let (code, answer) = call(&flags);
        assert_eq!(code, 2, "{flags:?}: {answer}");
        assert!(answer["errors"][0]["message"].is_string());
    }
}

/// The properties of p5 to p8 as the paper has them: automata that read the steps.
#[test]
fn the_properties_of_the_producers_and_consumers_are_the_same_as_automata() {
    let sandbox = Sandbox::new();
    for (name, flags, verdict) in &PROBLEMS[4..8] {
        let text = sandbox.read(&example(name));
        let formula =
            text.split_once("--tl '").and_then(|(_, rest)| rest.split_once("' */")).expect("a formula").0;
        let model = example(name);
        let mut call = vec!["check", &model, "--engine", "families", "--format", "json", "--tl", formula];
        call.extend(flags.split_whitespace());
        let answered = sandbox.volee_with(&call, "");
        let answer: Value = serde_json::from_str(&answered.stdout).expect("one object");
        let results = answer["results"].as_array().expect("results");
        let steps = |r: &Value| r["witness"]["steps"].as_array().map(Vec::len);
        let (assertions, automata) = results.split_first().expect("at least the assertions");
        assert_eq!(assertions["verdict"], *verdict, "{name}");
        let shortest = automata.iter().filter(|r| r["verdict"] == "violated").filter_map(steps).min();
        assert_eq!(shortest, steps(assertions), "{name}");
    }
}

#[test]
fn nets_are_checked_and_told_apart() {
    let sandbox = Sandbox::new();
    let net = "vars think wait use\nrules\nthink >= 1 -> think' = think - 1, use' = use + 1;\ninit think >= 0, wait = 0, use = 0\ntarget use >= 2\n";
    sandbox
        .write("a.spec", net)
        .write("b.spec", net.replace("use >= 2", "wait >= 1"))
        .write("c.spec", "vars x rules");
    assert_eq!(
        sandbox.volee("check a.spec --engine families --sizes").stdout.lines().next(),
        Some("2 think")
    );
    assert_eq!(sandbox.volee("check b.spec --engine families").code, 0);
    assert_eq!(sandbox.volee("check c.spec --engine families").code, 2);
    assert_eq!(sandbox.volee("check a.spec --engine families --for-any think").code, 2);
    assert_eq!(sandbox.volee("check a.spec --engine families --trace run.svg").code, 1);
    assert!(sandbox.read("run.svg").contains("<svg"));
}

#[test]
fn what_is_no_family_is_refused_with_its_place_and_the_reason() {
    let sandbox = Sandbox::new();
    let refusals = [
        ("proctype P() { assert(_pid == 0) }", "m.pml:1", "process number"),
        ("int n;\nproctype P() { do :: n = n + 1 :: n > 3 od }", "m.pml:1", "the globals take more than"),
        (
            "proctype P() { int n; do :: n = n + 1 od; assert(false) }",
            "m.pml:1",
            "more than 20000 local states",
        ),
        ("proctype P() { chan c = [1] of { bit }; assert(false) }", "m.pml:1", "the local channel"),
        ("proctype P() { { skip } unless { assert(false) } }", "m.pml:1", "`unless`"),
        ("proctype P() { timeout; assert(false) }", "m.pml:1", "`timeout`"),
        ("proctype P(byte k) { assert(k) }", "m.pml:1", "has parameters"),
        ("proctype P() { assert(_nr_pr < 3) }", "m.pml:1", "the number of processes"),
        (
            "proctype Q() { skip }\nactive proctype R() { do :: run Q() od }\nproctype P() { assert(false) }",
            "m.pml:2",
            "more than once",
        ),
        (
            "chan c = [0] of { bit };\nproctype P() { if :: c!0 :: else fi; assert(false) }",
            "m.pml:2",
            "`else` beside a rendezvous",
        ),
        (
            "byte x;\nD_proctype P() { if :: x == 0 -> x = 1 :: x < 5 -> x = 2 fi; assert(x < 3) }",
            "m.pml:2",
            "a `D_proctype` that may have a choice",
        ),
    ];
    for (text, place, reason) in refusals {
        sandbox.write("m.pml", text);
        let answered = sandbox.volee("check m.pml --engine families --for-any P --format json");
        assert_eq!(answered.code, 2, "{text}");
        let answer: Value = serde_json::from_str(&answered.stdout).expect("one object");
        let error = &answer["errors"][0];
        assert!(error["message"].as_str().is_some_and(|m| m.contains(reason)), "{error}");
        let at = format!("{}:{}", error["file"].as_str().unwrap_or(""), error["line"]);
        assert_eq!(at, place, "{text}");
    }
    sandbox.write("m.pml", "proctype P() { skip }");
    assert_eq!(sandbox.volee("check m.pml --engine families").code, 2, "no --for-any");
    assert_eq!(sandbox.volee("check m.pml --for-any P").code, 2, "no --engine");
}
