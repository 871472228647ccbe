//! `volee check --engine channels`: bounded, unbounded, refused, and out of budget.

use serde_json::Value;

use crate::sandbox::Sandbox;

fn ask(sandbox: &Sandbox, call: &str) -> (Value, i32) {
    let answered = sandbox.volee(&format!("check {call} --engine channels --format json"));
    let answer =
        serde_json::from_str(&answered.stdout).unwrap_or_else(|e| panic!("{call}: {e}\n{}", answered.stderr));
    (answer, answered.code)
}

fn example(name: &str) -> String {
    format!("{}/../../examples/channels/{name}", env!("CARGO_MANIFEST_DIR"))
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
fn a_window_needs_as_much_as_it_is_wide() {
    let sandbox = Sandbox::new();
    let (answer, code) = ask(&sandbox, &example("window.pml"));
    assert_eq!(code, 0, "{answer}");
    assert_eq!((&answer["capacities"]["data"], &answer["capacities"]["acknowledge"]), (&2.into(), &2.into()));
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
    assert_eq!(ask(&sandbox, "lossy.scm").1, 2);
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
    assert!(answer["statistics"]["peak_memory_bytes"].as_u64().is_some_and(|b| b <= 32 << 20));
}
