//! `volee check --engine channels`: bounded, unbounded, refused, and out of budget.

use serde_json::Value;

use crate::sandbox::{Sandbox, root};

fn ask(sandbox: &Sandbox, call: &str) -> (Value, i32) {
    let answered = sandbox.volee(&format!("check {call} --engine channels --format json"));
    let answer =
        serde_json::from_str(&answered.stdout).unwrap_or_else(|e| panic!("{call}: {e}\n{}", answered.stderr));
    (answer, answered.code)
}

/// As it is named in the sandbox, so that messages are as wide wherever the project stands.
fn example(name: &str) -> String {
    format!("examples/channels/{name}")
}

#[test]
fn the_connect_disconnect_protocol_is_unbounded_as_machines_and_as_promela() {
    let sandbox = Sandbox::new();
    for (name, channel) in [("connect-disconnect.scm", "0"), ("connect-disconnect.pml", "to_b")] {
        let (answer, code) = ask(&sandbox, &example(name));
        assert_eq!(code, 1, "{name}");
        assert_eq!(answer["results"][0]["reason"]["kind"], "unbounded", "{name}");
        assert!(answer["growth"][channel].as_u64().is_some_and(|g| g > 0), "{name}: {}", answer["growth"]);
    }
}

#[test]
fn the_loop_of_the_report_is_from_a_to_b_and_replays() {
    let sandbox = Sandbox::new();
    for name in ["connect-disconnect.scm", "connect-disconnect.pml"] {
        let (answer, _) = ask(&sandbox, &format!("{} --trace loop.json", example(name)));
        let result = &answer["results"][0];
        let replay = result["replay"].as_str().expect("a command");
        let replayed = sandbox.shell(replay);
        assert_eq!(replayed.code, 0, "{replay}: {}", replayed.stdout);
        assert_eq!(sandbox.volee(&format!("replay {} loop.json", example(name))).code, 0);
        let dozen = answer["replay_dozen"].as_str().expect("a command");
        let again = sandbox.shell(dozen);
        assert_eq!(again.code, 0, "{dozen}: {}", again.stdout);
        assert!(again.stdout.lines().count() > 24, "{}", again.stdout);
    }
    let text =
        sandbox.volee(&format!("check {} --engine channels", example("connect-disconnect.scm"))).stdout;
    assert!(text.contains("channel 0 (A → B) grows by 2 messages a round"), "{text}");
}

#[test]
fn the_picture_shows_the_loop_and_what_the_channels_hold() {
    let sandbox = Sandbox::new();
    let call = format!(
        "{} --trace loop.svg --trace loop.mmd --trace loop.itf.json",
        example("connect-disconnect.pml")
    );
    ask(&sandbox, &call);
    let svg = sandbox.read("loop.svg");
    for part in ["this part repeats for ever", "to_b: +2 a round", "12 rounds", ">close</text>"] {
        assert!(svg.contains(part), "{part} is not in\n{svg}");
    }
    assert!(sandbox.read("loop.mmd").contains("loop for ever"));
    let itf: Value = serde_json::from_str(&sandbox.read("loop.itf.json")).expect("JSON");
    assert!(itf["loop"].is_null(), "no state comes twice");
}

/// The picture in the book is the one that the command beside it draws; `VOLEE_UPDATE=1` draws it anew.
#[test]
fn the_picture_in_the_book_is_what_is_drawn() {
    let book = root().join("book/src");
    let chapter = std::fs::read_to_string(book.join("channels.md")).expect("the chapter");
    let model = chapter
        .split_once("file=talk.pml\n")
        .and_then(|(_, rest)| rest.split_once("```"))
        .expect("the model")
        .0;
    let sandbox = Sandbox::new();
    sandbox.write("talk.pml", model);
    ask(&sandbox, "talk.pml --trace talk.svg");
    let drawn = sandbox.read("talk.svg");
    if std::env::var_os("VOLEE_UPDATE").is_some() {
        std::fs::write(book.join("talk.svg"), &drawn).expect("it can be written");
    }
    assert_eq!(std::fs::read_to_string(book.join("talk.svg")).unwrap_or_default(), drawn);
}

#[test]
fn the_alternating_bit_needs_patience() {
    let sandbox = Sandbox::new();
    let (answer, code) = ask(&sandbox, &example("alternating-bit.pml"));
    assert_eq!((code, &answer["growth"]["to_receiver"]), (1, &1.into()), "{answer}");
    let (answer, code) = ask(&sandbox, &format!("{} -DPATIENT", example("alternating-bit.pml")));
    assert_eq!(code, 0, "{answer}");
    assert_eq!(answer["capacities"], serde_json::json!({ "to_receiver": 1, "to_sender": 1 }));
}

#[test]
fn channels_with_data_in_arrays_beside_a_rendezvous_are_told_apart() {
    let sandbox = Sandbox::new();
    let model = "chan go = [0] of { byte };\nchan q[2] = [3] of { short, bool };\nshort n;\n\
                 active proctype Boss() { go!0; go!1 }\n\
                 active [2] proctype Worker() { byte k; go?k; \
                 do :: k == 1 -> q[k]!n,1; n = (n + 1) % 4 :: k == 0 -> q[k]!n,0; q[k]?_,_ od }\n";
    sandbox.write("m.pml", model);
    let (answer, code) = ask(&sandbox, "m.pml");
    assert_eq!(code, 1, "{answer}");
    assert_eq!((&answer["growth"]["q[0]"], answer["growth"]["q[1]"].as_u64() > Some(0)), (&0.into(), true));
    sandbox.write("n.pml", model.replace("q[k]!n,1; n", "q[k]!n,1; q[k]?eval(n),_; n"));
    let (answer, code) = ask(&sandbox, "n.pml");
    assert_eq!((code, &answer["capacities"]), (0, &serde_json::json!({ "q[0]": 1, "q[1]": 1 })), "{answer}");
}

#[test]
fn a_window_needs_as_much_as_it_is_wide() {
    let sandbox = Sandbox::new();
    let (answer, code) = ask(&sandbox, &example("window.pml"));
    assert_eq!(code, 0, "{answer}");
    assert_eq!((&answer["capacities"]["data"], &answer["capacities"]["acknowledge"]), (&2.into(), &2.into()));
    // A send that is blocked loses states: with two places there are as many as with nine, with one there are
    // fewer.
    let states = |capacity: u32| {
        let call = format!("check {} --capacity {capacity} --plain --format json", example("window.pml"));
        let answer: Value = serde_json::from_str(&sandbox.volee(&call).stdout).expect("one object");
        answer["statistics"]["states"].as_u64().expect("a number")
    };
    assert_eq!((states(2), states(9) > states(1)), (states(9), true));
}

#[test]
fn what_the_condition_does_not_cover_is_refused_with_its_place() {
    let sandbox = Sandbox::new();
    let refusals = [
        (
            "chan c = [2] of { bit };\nactive proctype P() { do :: len(c) < 2 -> c!0 od }",
            2,
            "what a channel holds",
        ),
        ("chan c = [2] of { bit };\nactive proctype P() { do :: c?_ :: else -> c!0 od }", 2, "`else` beside"),
        ("chan c = [2] of { bit };\nactive proctype P() { c!0; c??_ }", 2, "past the front"),
        ("chan c = [2] of { bit };\nactive proctype P() { c!0; c?<_> }", 2, "leaves the message"),
        ("chan c = [2] of { bit };\nactive proctype P() { empty(c); c!0 }", 2, "what a channel holds"),
        (
            "chan c = [2] of { bit };\nactive proctype P() { if :: nfull(c) -> c!0 fi }",
            2,
            "what a channel holds",
        ),
        ("chan c = [2] of { bit };\nactive proctype P() { c?[0]; c!0 }", 2, "what a channel holds"),
        ("chan c = [2] of { byte };\nactive proctype P() { c!!1 }", 2, "a sorted send"),
        ("chan c = [2] of { bit };\nactive proctype P() { c!0; timeout }", 2, "`timeout`"),
        ("chan c = [2] of { bit };\nactive proctype P() { { c!0 } unless { c?_ } }", 2, "`unless`"),
        ("chan c = [2] of { bit };\nactive proctype P() { atomic { skip; c?_ } }", 2, "inside `atomic`"),
        ("chan c = [2] of { bit };\nactive proctype P() priority 5 { c!0 }", 2, "priorities"),
        (
            "chan d = [1] of { bit };\nactive proctype P() { chan c = [2] of { bit }; c!0 }",
            2,
            "the local channel",
        ),
    ];
    for (text, line, reason) in refusals {
        sandbox.write("m.pml", text);
        let (answer, code) = ask(&sandbox, "m.pml");
        assert_eq!(code, 2, "{text}");
        let error = &answer["errors"][0];
        assert!(error["message"].as_str().is_some_and(|m| m.contains(reason)), "{error}");
        assert_eq!(error["line"], line, "{error}");
    }
    sandbox.write("m.pml", "active proctype P() { skip }");
    assert_eq!(ask(&sandbox, "m.pml").1, 2, "no buffered channel");
    sandbox.write("lossy.scm", "scm a :\nnb_channels = 1 ;\nlossy : 0 ;\n");
    let (answer, code) = ask(&sandbox, "lossy.scm");
    assert_eq!((code, &answer["errors"][0]["line"]), (2, &3.into()), "{answer}");
    for flag in ["--ltl [](true)", "--invariant true", "--mu true", "--for-any P"] {
        assert_eq!(ask(&sandbox, &format!("{} {flag}", example("window.pml"))).1, 2, "{flag}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn memory_seen_from_outside_stays_within_the_budget() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "numbers.pml",
        "chan q = [3] of { int };\nint n;\nactive proctype P() { do :: q!n; n++ od }\nactive proctype C() { do :: q?_ od }\n",
    );
    let (base, _) = sandbox.peak("check numbers.pml --engine channels --memory 1M --time 1s");
    let (kilobytes, code) = sandbox.peak("check numbers.pml --engine channels --memory 32M --time 20s");
    assert_eq!(code, 3);
    assert!(kilobytes <= base + (32 << 10), "{kilobytes} kB, {base} kB with next to nothing");
}

#[test]
fn growing_without_repeating_ends_at_the_limits() {
    let sandbox = Sandbox::new();
    let text = "scm doubling :\nnb_channels = 1 ;\nparameters :\nreal a ;\nreal end ;\nautomaton A :\ninitial : 0\n\
                state 0 :\nto 1 : when true , 0 ! a ;\nstate 1 :\nto 2 : when true , 0 ! end ;\nstate 2 :\n\
                to 3 : when true , 0 ? a ;\nto 5 : when true , 0 ? end ;\nstate 3 :\nto 4 : when true , 0 ! a ;\nstate 4 :\n\
                to 2 : when true , 0 ! a ;\nstate 5 :\nto 2 : when true , 0 ! end ;\n";
    sandbox.write("doubling.scm", text);
    let (answer, code) = ask(&sandbox, "doubling.scm --memory 32M --time 1s");
    assert_eq!(code, 3, "{answer}");
    let reason = answer["results"][0]["reason"]["kind"].as_str();
    assert!(matches!(reason, Some("time" | "memory")), "{answer}");
    assert!(
        answer["statistics"]["states"].as_u64().is_some_and(|s| s > 0)
            && answer["statistics"]["seconds"].is_number()
    );
    assert!(answer["statistics"]["peak_memory_bytes"].as_u64().is_some_and(|b| b <= 32 << 20));
}
