//! The verbs for explicit systems: generate, info, reduce, compare, convert.

use serde_json::Value;

use crate::sandbox::Sandbox;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}: {text}"))
}

#[test]
fn a_generated_protocol_is_reduced_and_equal_to_its_reduction() {
    let sandbox = Sandbox::new();
    assert_eq!(sandbox.volee("generate abp --messages 4 --capacity 1 -o abp.aut").code, 0);
    let reduced = sandbox.volee("reduce abp.aut --relation branching -o small.vlts --format json");
    let answer = json(&reduced.stdout);
    assert_eq!(
        (&answer["statistics"]["states"], &answer["statistics"]["transitions"]),
        (&5.into(), &8.into())
    );
    assert_eq!(answer["certificate_checked"], true);
    assert_eq!(sandbox.volee("compare abp.aut small.vlts --relation branching").code, 0);
    let different = sandbox.volee("compare abp.aut small.vlts --relation strong --format json");
    assert_eq!(different.code, 1);
    let answer = json(&different.stdout);
    assert_eq!(answer["results"][0]["reason"]["kind"], "different");
    assert!(answer["results"][0]["witness"]["formula"].is_string());
}

#[test]
fn a_network_is_composed_and_its_inner_steps_hidden() {
    let sandbox = Sandbox::new();
    sandbox.write("a.aut", "des (0, 2, 2)\n(0, in, 1)\n(1, mid, 0)\n");
    sandbox.write("b.aut", "des (0, 2, 2)\n(0, mid, 1)\n(1, out, 0)\n");
    sandbox.write("two.aut", "des (0, 4, 3)\n(0, in, 1)\n(1, in, 2)\n(1, out, 0)\n(2, out, 1)\n");
    let call = "compare a.aut two.aut --with b.aut --sync mid --hide mid --relation branching";
    let answered = sandbox.volee(call);
    assert_eq!(answered.code, 0, "{}{}", answered.stdout, answered.stderr);
}

#[test]
fn a_model_is_explored_where_a_graph_is_needed() {
    let sandbox = Sandbox::new();
    sandbox.write("m.pml", "byte x; active proctype P() { do :: x < 3 -> x++ od }\n");
    let answered = sandbox.volee("info m.pml --format json");
    assert_eq!(answered.code, 0, "{}", answered.stderr);
    let states = json(&answered.stdout)["statistics"]["states"].as_u64();
    assert!(states.is_some_and(|n| n >= 4), "{}", answered.stdout);
}

#[test]
fn wrong_systems_say_where_and_wrong_calls_say_what() {
    let sandbox = Sandbox::new();
    sandbox.write("lying.aut", "des (0, 1000000000, 1000000000)\n(0, a, 1)\n");
    sandbox.write("quote.aut", "des (0, 1, 2)\n(0, \"a, 1)\n");
    sandbox.write("ok.aut", "des (0, 1, 2)\n(0, a, 1)\n");
    for (call, expected) in [
        ("reduce lying.aut", "too short"),
        ("info quote.aut", "quote.aut:2:5"),
        ("compare ok.aut ok.aut --relation likeness", "`likeness` is not a relation"),
        ("generate abp --messages 0", "out of bounds"),
        ("generate abp --seats 3", "has no parameter --seats"),
        ("generate nothing", "not a family"),
        ("convert ok.aut ok.xyz", "not a format"),
        ("reduce ok.aut --hide (", "not a regular expression"),
        ("reduce ok.aut -o - --format json", "goes to stdout"),
    ] {
        let answered = sandbox.volee(call);
        assert_eq!(answered.code, 2, "{call}");
        let text = format!("{}{}", answered.stdout, answered.stderr).replace("\n  │ ", " ");
        assert!(text.contains(expected), "{call}: {text}");
    }
    assert_eq!(sandbox.volee("reduce ok.aut --relation trace --memory 1").code, 3);
}
