//! `volee check --engine counters` and `volee reachable`.

use serde_json::Value;

use crate::sandbox::Sandbox;

/// As it is named in the sandbox, so that messages are as wide wherever the project stands.
fn example(name: &str) -> String {
    format!("examples/counters/{name}")
}

fn ask(sandbox: &Sandbox, call: &str) -> (Value, i32) {
    let answered = sandbox.volee(&format!("{call} --format json"));
    let answer =
        serde_json::from_str(&answered.stdout).unwrap_or_else(|e| panic!("{call}: {e}\n{}", answered.stderr));
    (answer, answered.code)
}

#[test]
fn the_lift_is_safe_and_its_parameter_is_told() {
    let sandbox = Sandbox::new();
    let lift = example("lift.pml");
    let (answer, code) = ask(&sandbox, &format!("check {lift} --engine counters --invariant c<=N"));
    assert_eq!((answer["verdict"].as_str(), code), (Some("holds"), 0), "{answer}");
    let (answer, code) = ask(
        &sandbox,
        &format!("check {lift} --engine counters --reachable c==7 --parameter N --assume N>=1"),
    );
    assert_eq!(code, 0, "{answer}");
    assert_eq!(answer["parameters"]["values"], "{ 7 <= N }");
    assert_eq!(answer["parameters"]["exact"], true);
}

#[test]
fn figure_1_prints_its_sets_and_finds_456() {
    let sandbox = Sandbox::new();
    let figure = example("figure1.fst");
    let (answer, code) = ask(&sandbox, &format!("reachable {figure}"));
    assert_eq!(code, 0);
    assert_eq!(answer["sets"]["s2"], "{ x = 2k : 0 <= k <= 500000 }");
    assert_eq!(answer["sets"]["s3"], "{ x = 2k + 2 : 0 <= k <= 500000 }");
    let (answer, code) =
        ask(&sandbox, &format!("check {figure} --engine counters --reachable state=s3&&x=456"));
    assert_eq!(code, 0, "{answer}");
    let (_, code) = ask(&sandbox, &format!("check {figure} --engine counters --reachable state=s3&&x=457"));
    assert_eq!(code, 1);
}

#[test]
fn runs_over_integers_are_drawn_stored_and_replayed_like_all_others() {
    let sandbox = Sandbox::new();
    let model = "int x; active proctype P() { do :: x < 40 -> x++ :: x == 40 -> x = 100; assert(x < 50) od }";
    sandbox.write("count.pml", model);
    let call =
        "check count.pml --engine counters --only assertions --trace t.json --trace t.svg --trace t.itf.json";
    let (answer, code) = ask(&sandbox, call);
    assert_eq!(code, 1, "{answer}");
    assert!(answer["results"][0]["witness"]["steps"][0]["state"]["location"].is_string(), "{answer}");
    let replay = answer["results"][0]["replay"].as_str().expect("the program itself can do it");
    let shown = sandbox.shell(replay);
    assert!(shown.code < 2 && shown.stdout.contains("x = 100"), "{}", shown.stdout);
    assert!(sandbox.volee("replay count.pml t.json").code < 2);
    assert!(sandbox.read("t.svg").starts_with("<svg"));
    // A counter program is a system like any other, once its initial values are chosen: the run names them.
    let figure = example("figure1.fst");
    let goal = "--reachable state=s3&&x=456 --trace l.json --trace l.txt";
    let answered = sandbox.volee(&format!("check {figure} --engine counters {goal}"));
    assert_eq!(answered.code, 0, "{}", answered.stderr);
    assert!(answered.stdout.contains("written to l.json"), "{}", answered.stdout);
    assert!(sandbox.read("l.txt").contains("x = 456"));
    let again = sandbox.volee(&format!("replay {figure} l.json"));
    assert_eq!(again.code, 0, "{}", again.stderr);
    assert!(again.stdout.contains("confirmed: reachable state=s3&&x=456"), "{}", again.stdout);
    let short = sandbox.shell(&format!("volee replay {figure} run:0x4 -Dx=0 --shows 'reachable x=456'"));
    assert_eq!(short.code, 2, "{}", short.stdout);
    assert!(short.stdout.contains("does not show"), "{}", short.stdout);
}

#[test]
fn runs_for_ever_that_come_back_to_their_state_are_runs_of_the_program() {
    let sandbox = Sandbox::new();
    sandbox.write("turn.pml", "int x; active proctype P() { do :: x < 3 -> x++ :: x > 0 -> x-- od }");
    let answered = sandbox.volee("check turn.pml --engine counters --ltl []<>(x==0) --trace turn.json");
    assert_eq!(answered.code, 1, "{}", answered.stderr);
    let again = sandbox.volee("replay turn.pml turn.json");
    assert!(again.code < 2, "{}", again.stderr);
    assert!(again.stdout.contains("confirmed: an infinite run violates"), "{}", again.stdout);
    // Where integers grow no state comes again, so that there is nothing to replay.
    sandbox.write("grow.pml", "int x; active proctype P() { do :: x++ od }");
    let answered = sandbox.volee("check grow.pml --engine counters --ltl []<>(x==0) --trace grow.json");
    assert_eq!(answered.code, 1, "{}", answered.stderr);
    assert!(answered.stdout.contains("replayed over unbounded integers only"), "{}", answered.stdout);
    assert!(answered.stdout.contains("not written to grow.json"), "{}", answered.stdout);
    assert!(answered.stdout.contains("why it goes on like that"), "{}", answered.stdout);
}

#[test]
fn formulas_about_runs_are_decided_where_a_finite_run_shows_a_violation() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "serve.pml",
        "mtype = { REQ, ACK }; chan c = [1] of { mtype, int }; chan d = [0] of { mtype }; int x, sum;\n\
         active proctype Client() { do :: x = x + 1; c!REQ,x; d?ACK od }\n\
         active proctype Server() { int n; do :: c?REQ,n -> sum = sum + 1; d!ACK od }\n",
    );
    for (question, verdict, code) in [
        ("--ltl '[](sum <= x && x <= sum + 1)'", "holds", 0),
        ("--ltl '[](sum == 3 -> x == 3)'", "violated", 1),
        ("--tl '[](d!ACK -> {sum == x})'", "holds", 0),
        ("--tl '[]!\"c!REQ,5\"'", "violated", 1),
        ("--mu '[true* . \"d!ACK\"] {sum == x}'", "holds", 0),
        ("--mu '<true* . \"c!REQ,5\"> true'", "holds", 0),
        ("--mu '[true*] <true> true'", "holds", 0),
    ] {
        let answered =
            sandbox.shell(&format!("volee check serve.pml --engine counters {question} --format json"));
        let answer: Value = serde_json::from_str(&answered.stdout).expect("JSON");
        assert_eq!(
            (answer["verdict"].as_str(), answered.code),
            (Some(verdict), code),
            "{question}: {answer}"
        );
        if verdict == "violated" {
            let replay = answer["results"][0]["replay"].as_str().expect("the program itself can do it");
            let shown = sandbox.shell(replay);
            assert!(shown.code < 2 && shown.stdout.contains("confirmed"), "{question}: {}", shown.stdout);
        }
    }
    let refused = sandbox.volee("check serve.pml --engine counters --mu [true*]<true*>{x==1}");
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("some run"), "{}", refused.stderr);
    // A counter program of its own has conditions and transitions to speak of as well.
    let figure = example("figure1.fst");
    let (answer, code) =
        ask(&sandbox, &format!("check {figure} --engine counters --tl [](leave->{{x=1000002}})"));
    assert_eq!((answer["verdict"].as_str(), code), (Some("holds"), 0), "{answer}");
    let (answer, code) = ask(&sandbox, &format!("check {figure} --engine counters --ltl [](x<=1000001)"));
    assert_eq!((answer["verdict"].as_str(), code), (Some("violated"), 1), "{answer}");
}

#[test]
fn what_is_not_linear_is_refused_with_its_place() {
    let sandbox = Sandbox::new();
    sandbox.write("square.pml", "int x = 2;\nactive proctype p() {\n  x = x * x\n}\n");
    let (answer, code) = ask(&sandbox, "check square.pml --engine counters");
    assert_eq!(code, 2);
    assert_eq!(answer["errors"][0]["line"], 3, "{answer}");
    assert!(answer["errors"][0]["message"].as_str().is_some_and(|m| m.contains("not linear")), "{answer}");
    let (_, code) = ask(&sandbox, "check square.pml --parameter x");
    assert_eq!(code, 2);
}

/// A choice would be an error, and nobody looks for it.
#[test]
fn a_process_that_must_not_choose_is_refused_where_it_might() {
    let sandbox = Sandbox::new();
    let model = |or: &str| {
        format!("byte x;\nint n;\nactive D_proctype P() {{\n  if :: x == 0 -> n++ {or} -> n-- fi\n}}\n")
    };
    sandbox.write("m.pml", model(":: x < 5"));
    let (answer, code) = ask(&sandbox, "check m.pml --engine counters");
    assert_eq!((code, &answer["errors"][0]["line"]), (2, &4.into()), "{answer}");
    sandbox.write("m.pml", model(":: else"));
    let (answer, code) = ask(&sandbox, "check m.pml --engine counters");
    assert_eq!(code, 0, "{answer}");
}

/// Integers whose sets never come to an end.
const ENDLESS: &str = "\
int a, b, c, d;
active proctype P() { do :: a = a + b + 1; c = c + a :: b < a -> b = b + c + 2 :: c = c + d - a :: d > a -> a = a - c od }
";

#[test]
fn a_question_that_takes_all_its_time_leaves_some_to_the_others() {
    let sandbox = Sandbox::new();
    sandbox.write("m.pml", ENDLESS);
    let (answer, code) =
        ask(&sandbox, "check m.pml --engine counters --time 3s --invariant a!=-77 --reachable a==1");
    let results = answer["results"].as_array().expect("results");
    let verdict = |question: &str| {
        let found = results.iter().find(|r| r["question"].as_str().is_some_and(|q| q.contains(question)));
        found.and_then(|r| r["verdict"].as_str()).unwrap_or("none")
    };
    assert_eq!((verdict("a!=-77"), verdict("a==1"), code), ("unknown", "holds", 3), "{answer}");
}
