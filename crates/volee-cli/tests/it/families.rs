//! `volee check --engine families`: the ten problems of the paper, nets, and what is refused.

use serde_json::Value;

use crate::sandbox::Sandbox;

fn example(name: &str) -> String {
    format!("{}/../../examples/families/{name}", env!("CARGO_MANIFEST_DIR"))
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
            let (answer, _) =
                ask(&sandbox, &format!("{} {flags} --method {method} --time 2s --memory 64M", example(name)));
            let got = answer["verdict"].as_str().expect("a verdict");
            let exact = method == "auto" || method == "bra";
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
        ("chan c = [2] of { bit };\nproctype P() { c!0; assert(false) }", "m.pml:1", "buffered channel"),
        ("proctype P() { assert(_pid == 0) }", "m.pml:1", "process number"),
        ("int n;\nproctype P() { do :: n = n + 1 od }", "m.pml:1", "the globals take more than"),
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
