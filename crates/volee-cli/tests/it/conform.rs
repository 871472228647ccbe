//! The verbs of conformance testing: tests made, run against real programs, and what broken ones are told.

use serde_json::Value;

use crate::sandbox::{Answered, Sandbox, example_servers};

const COFFEE: &str = "des (0, 4, 2)\n(0, \"?coin\", 1)\n(1, \"!coffee\", 0)\n(1, \"!tea\", 0)\n(1, i, 1)\n";
const COFFEE_COMES: &str = "des (0, 2, 2)\n(0, \"!coffee\", 1)\n(1, ACCEPT, 1)\n";

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}: {text}"))
}

fn text(answered: &Answered) -> String {
    format!("{}{}", answered.stdout, answered.stderr).replace("\n  │ ", " ")
}

/// A folder with the coffee machine and a test for it.
fn coffee() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("coffee.aut", COFFEE.replace("(1, i, 1)\n", "").replace("(0, 4, 2)", "(0, 3, 2)"));
    sandbox.write("comes.aut", COFFEE_COMES);
    let made = sandbox.volee("tests coffee.aut --purpose comes.aut -o test.json");
    assert_eq!(made.code, 0, "{}", text(&made));
    sandbox
}

fn against(sandbox: &Sandbox, options: &str, script: &str) -> Answered {
    let mut words = vec!["conform", "test.json"];
    words.extend(options.split_whitespace());
    words.extend(["--", "sh", "-c", script]);
    sandbox.volee_with(&words, "")
}

/// Reads a coin, serves something.
fn serves(what: &str) -> String {
    format!("while read coin; do {what}; done")
}

#[test]
fn coffee_machines_get_the_verdicts_they_are_known_for() {
    let sandbox = coffee();
    for (script, code, expected) in [
        (serves("echo '!coffee'"), 0, "pass"),
        (serves("n=$((n+1)); if [ $n = 3 ]; then echo '!coffee'; else echo '!tea'; fi"), 0, "pass"),
        (serves("true"), 1, "nothing came, but only `!coffee` or `!tea` are allowed here"),
        (serves("echo '!chocolate'"), 1, "`!chocolate` came, but only `!coffee` or `!tea` are allowed here"),
        (serves("while true; do sleep 1; done"), 1, "nothing came"),
        (serves("echo '!tea'"), 3, "the bound of 20 steps was reached"),
    ] {
        let answered = against(&sandbox, "--timeout 2s --steps 20", &script);
        assert!(answered.code == code && answered.stdout.contains(expected), "{script}: {}", text(&answered));
    }
    assert_eq!(sandbox.volee("tests coffee.aut --purpose comes.aut -o test.aut").code, 0);
    let answered =
        sandbox.volee_with(&["conform", "test.aut", "--", "sh", "-c", &serves("echo '!coffee'")], "");
    assert_eq!(answered.code, 0, "{}", text(&answered));
}

#[test]
fn broken_programs_each_get_their_own_message_and_nothing_hangs() {
    let sandbox = coffee();
    for (script, code, expected) in [
        ("read coin; exit 3", 1, "the program has ended (exit status: 3), but only"),
        ("read coin; kill -9 $$", 1, "signal: 9"),
        ("read coin; yes '!tea'", 1, "`!tea` came, but only silence is allowed here"),
        ("read coin; echo what is this", 1, "`what is this` came"),
        ("read coin; printf '\\001\\377\\n'; cat", 1, "bytes that are not text: 01 ff"),
        ("read coin; head -c 100000 /dev/zero | tr '\\0' a; cat", 1, "does not end within 64 kB"),
    ] {
        let answered = against(&sandbox, "--timeout 2s", script);
        assert!(answered.code == code && answered.stdout.contains(expected), "{script}: {}", text(&answered));
    }
    let deaf = "read coin; exec <&-; echo '!tea'; exec sleep 20";
    let answered = against(&sandbox, "--timeout 300ms", deaf);
    assert_eq!(answered.code, 3, "{}", text(&answered));
    assert!(answered.stdout.contains("did not take `?coin`: it has closed its input"), "{}", text(&answered));
    for (call, expected) in [
        ("conform test.json -- ./no-such-program", "there is no program `./no-such-program`"),
        ("conform test.json -- ./coffee.aut", "cannot be started"),
        ("conform test.json", "nothing to test"),
        ("conform test.json --tcp 127.0.0.1:1", "nobody answers at 127.0.0.1:1"),
        ("conform coffee.aut -- cat", "is not a label of a test"),
        ("conform no.json -- cat", "there is no such file"),
        ("conform comes.json -- cat", "this is not a test of volee"),
        ("conform test.json --chart x.png -- cat", "names no form of a chart"),
        (
            "conform test.json --mapping lines.toml -- cat",
            "no [[send]] rule of the mapping says how `?coin` is sent",
        ),
        ("conform test.json --mapping wrong.toml -- cat", "wrong.toml:1:1"),
    ] {
        sandbox.write("comes.json", "{}").write("wrong.toml", "colour = 1\n");
        sandbox.write("lines.toml", "[[send]]\nlabel = 'x'\nline = 'y'\n");
        let answered = sandbox.volee(call);
        assert!(answered.code == 2 && text(&answered).contains(expected), "{call}: {}", text(&answered));
    }
}

#[test]
fn a_flood_of_allowed_or_ignored_lines_ends() {
    let sandbox = Sandbox::new();
    sandbox.write("s.aut", "des (0, 2, 1)\n(0, \"!tick\", 0)\n(0, \"!tock\", 0)\n");
    assert_eq!(sandbox.volee("tests s.aut --cover !tock -o test.json").code, 0);
    let answered = against(&sandbox, "", "yes '!tick'");
    assert!(answered.code == 3 && answered.stdout.contains("floods"), "{}", text(&answered));
    sandbox.write("ignore.toml", "ignore = ['#.*']\n");
    let answered = against(&sandbox, "--mapping ignore.toml", "yes '# log'");
    assert!(answered.code == 1 && answered.stdout.contains("nothing came"), "{}", text(&answered));
}

#[test]
fn an_output_that_crosses_a_stimulus_is_no_failure() {
    let sandbox = Sandbox::new();
    // The machine may greet before the first coin, and then answers twice.
    sandbox.write(
        "s.aut",
        "des (0, 5, 4)\n(0, \"!hello\", 1)\n(0, \"?coin\", 2)\n(1, \"?coin\", 2)\n(2, \"!coffee\", 3)\n(3, \"?coin\", 2)\n",
    );
    sandbox.write("comes.aut", COFFEE_COMES);
    assert_eq!(sandbox.volee("tests s.aut --purpose comes.aut -o test.json").code, 0);
    assert_eq!(sandbox.volee("tests s.aut --purpose comes.aut --complete -o all.json").code, 0);
    // It greets late, when the coin is already on its way.
    let late = "read coin; sleep 0.1; echo '!hello'; echo '!coffee'; cat >/dev/null";
    let answered = against(&sandbox, "", late);
    assert!(answered.code != 1, "{}", text(&answered));
    let with_all = sandbox.volee_with(&["conform", "all.json", "--", "sh", "-c", late], "");
    assert_eq!(with_all.code, 0, "{}", text(&with_all));
    let strict = sandbox.volee_with(&["conform", "all.json", "--synchronous", "--", "sh", "-c", late], "");
    assert_eq!(strict.code, 1, "{}", text(&strict));
    // A greeting after the coffee is wrong whichever way it crossed.
    let wrong = "read coin; echo '!coffee'; echo '!hello'; cat >/dev/null";
    sandbox.write("twice.aut", "des (0, 3, 3)\n(0, \"!coffee\", 1)\n(1, \"!coffee\", 2)\n(2, ACCEPT, 2)\n");
    assert_eq!(sandbox.volee("tests s.aut --purpose twice.aut -o test.json").code, 0);
    let answered = against(&sandbox, "", wrong);
    assert_eq!(answered.code, 1, "{}", text(&answered));
}

#[test]
fn wrong_purposes_and_interfaces_each_get_their_own_message() {
    let sandbox = coffee();
    sandbox.write("none.aut", "des (0, 1, 2)\n(0, \"!tea\", 1)\n");
    sandbox.write("two.aut", "des (0, 3, 3)\n(0, \"!t.*\", 1)\n(0, \"!tea\", 2)\n(1, ACCEPT, 1)\n");
    sandbox.write("delta.aut", "des (0, 2, 2)\n(0, DELTA, 1)\n(1, ACCEPT, 1)\n");
    sandbox.write("cocoa.aut", "des (0, 2, 2)\n(0, \"!cocoa\", 1)\n(1, ACCEPT, 1)\n");
    sandbox.write("m.pml", "chan c = [0] of { bit }; active proctype P() { do :: c!1 od } active proctype Q() { do :: c?_ od }\n");
    sandbox.write(
        "bad.pml",
        "chan c = [0] of { bit }; active proctype P() { c!1; assert(false) } active proctype Q() { c?_ }\n",
    );
    for (call, code, expected) in [
        ("tests coffee.aut --purpose none.aut", 2, "the purpose has no accepting state"),
        ("tests coffee.aut --purpose two.aut", 2, "the purpose is not deterministic"),
        ("tests coffee.aut --purpose delta.aut", 2, "quiescence is no label of the specification"),
        ("tests coffee.aut --purpose cocoa.aut", 1, "no label that was met matches `!cocoa`"),
        ("tests coffee.aut --purpose no.aut", 2, "no.aut"),
        ("tests coffee.aut --purpose comes.aut -o x.png", 2, "names no form of a test"),
        (
            "tests coffee.aut --purpose comes.aut --inputs !c* --outputs !coffee",
            2,
            "both as an input and as an output",
        ),
        (
            "tests coffee.aut --after 3 --inputs nothing --outputs nought",
            2,
            "no label is an input or an output",
        ),
        ("tests coffee.aut --purpose comes.aut --memory 1", 3, "memory"),
        ("tests m.pml --after 3", 2, "none are named"),
        ("tests bad.pml --after 3 --inputs d --outputs c", 2, "the specification itself goes wrong"),
        ("tests coffee.aut --cover line:3", 2, "only Promela models have lines"),
    ] {
        let answered = sandbox.volee(call);
        assert!(
            answered.code == code && text(&answered).contains(expected),
            "{call}: {} {}",
            answered.code,
            text(&answered)
        );
    }
}

#[test]
fn both_methods_write_the_same_reduced_graph() {
    let sandbox = coffee();
    let direct = sandbox.volee("tests coffee.aut --after 4 --complete -o direct.aut --format json");
    let equations = sandbox
        .volee("tests coffee.aut --after 4 --complete --method equations -o equations.aut --format json");
    assert_eq!((direct.code, equations.code), (0, 0), "{}", text(&equations));
    assert!(json(&equations.stdout)["statistics"]["raw_states"].as_u64() > Some(0));
    assert_eq!(sandbox.volee("compare direct.aut equations.aut --relation strong").code, 0);
    assert_eq!(sandbox.volee("tests coffee.aut --after 4 --complete -o picture.dot").code, 0);
    assert!(sandbox.read("picture.dot").contains("fillcolor"));
    assert_eq!(sandbox.volee("tests coffee.aut --against coffee.aut").code, 0);
    sandbox.write("tea.aut", "des (0, 3, 2)\n(0, \"?coin\", 1)\n(1, \"!cocoa\", 0)\n(1, \"?coin\", 1)\n");
    let against = sandbox.volee("tests coffee.aut --against tea.aut -o bad.json");
    assert!(against.code == 1 && against.stdout.contains("`!cocoa`"), "{}", text(&against));
}

const SPECIFICATION: &str = "examples/connection/connection.pml --inputs request --outputs reply";
/// A busy machine may let a program wait for long: silence must last longer than that.
const LINES: &str = "--mapping examples/connection/lines.toml --timeout 2s";

#[test]
fn the_right_server_passes_and_the_wrong_ones_are_caught() {
    example_servers();
    let sandbox = Sandbox::new();
    for purpose in ["reopened", "closed", "unopened"] {
        let call =
            format!("tests {SPECIFICATION} --purpose examples/connection/{purpose}.aut -o {purpose}.json");
        let made = sandbox.volee(&call);
        assert_eq!(made.code, 0, "{}", text(&made));
    }
    for (server, code, wrong) in [
        ("connection-server", 0, ""),
        ("connection-forgetful", 1, "`reply!ACK,2` came, but only `reply!ACK,1` is allowed here"),
        ("connection-mute", 1, "nothing came, but only `reply!CLOSED,0` is allowed here"),
        ("connection-eager", 1, "`reply!ACK,1` came, but only `reply!ERROR,0` is allowed here"),
    ] {
        let line = format!(
            "volee conform reopened.json closed.json unopened.json {LINES} --log log.json --chart run.svg --junit report.xml -- {server}"
        );
        let answered = sandbox.shell(&line);
        assert!(answered.code == code && answered.stdout.contains(wrong), "{server}: {}", text(&answered));
        assert_eq!(json(&sandbox.read("log.json"))["runs"].as_array().map(Vec::len), Some(3));
        assert!(sandbox.read("run.svg").contains("implementation"));
        assert_eq!(sandbox.read("report.xml").contains("<failure"), code == 1);
    }
}

#[test]
fn a_server_is_tested_over_tcp() {
    example_servers();
    let sandbox = Sandbox::new();
    let made =
        sandbox.volee(&format!("tests {SPECIFICATION} --purpose examples/connection/unopened.aut -o t.json"));
    assert_eq!(made.code, 0, "{}", text(&made));
    for (server, code) in [("connection-server", 0), ("connection-eager", 1)] {
        let free =
            std::net::TcpListener::bind("127.0.0.1:0").and_then(|l| l.local_addr()).expect("a port").port();
        let answered =
            sandbox.shell(&format!("volee conform t.json {LINES} --tcp 127.0.0.1:{free} -- {server} {free}"));
        assert_eq!(answered.code, code, "{server}: {}", text(&answered));
    }
}

#[test]
fn random_runs_cover_the_specification_and_find_the_wrong_servers() {
    example_servers();
    let sandbox = Sandbox::new();
    let campaign = |server: &str| {
        sandbox.shell(&format!(
            "volee conform {SPECIFICATION} {LINES} --random 60 --runs 3 --seed 5 --format json -- {server}"
        ))
    };
    let right = campaign("connection-server");
    assert_eq!(right.code, 0, "{}", text(&right));
    let figures = &json(&right.stdout)["statistics"];
    // The right server never refuses, and nothing after a refusal is different.
    assert!(
        figures["covered"].as_u64() > Some(10)
            && figures["covered"].as_u64() < figures["transitions"].as_u64(),
        "{figures}"
    );
    for server in ["connection-forgetful", "connection-mute", "connection-eager"] {
        assert_eq!(campaign(server).code, 1, "{server}");
    }
}

#[test]
fn a_suite_covers_every_transition_and_the_right_server_passes_what_it_can() {
    example_servers();
    let sandbox = Sandbox::new();
    let made = sandbox.volee(&format!("tests {SPECIFICATION} --suite -o suite --format json"));
    let figures = &json(&made.stdout)["statistics"];
    assert_eq!(figures["covered"], figures["transitions"], "{figures}");
    let right =
        sandbox.shell(&format!("volee conform suite/*.json {LINES} --format json -- connection-server"));
    // It never refuses, so the test of a refusal is inconclusive.
    assert_eq!((right.code, &json(&right.stdout)["statistics"]["fail"]), (3, &0.into()), "{}", text(&right));
    let wrong = sandbox.shell(&format!("volee conform suite/*.json {LINES} -- connection-eager"));
    assert_eq!(wrong.code, 1, "{}", text(&wrong));
}

#[test]
fn statements_and_formulas_are_purposes_of_promela_models() {
    let sandbox = Sandbox::new();
    let line = sandbox.read("examples/connection/connection.pml");
    let line = line.lines().position(|l| l.contains("request?OPEN -> reply!ERROR")).expect("it is there") + 1;
    let covered = sandbox.volee(&format!("tests {SPECIFICATION} --cover line:{line}"));
    assert!(covered.code == 0 && covered.stdout.contains("a test case with 4 nodes"), "{}", text(&covered));
    let words: Vec<&str> = SPECIFICATION.split(' ').collect();
    let mut call = vec!["tests"];
    call.extend(words);
    call.extend(["--tl", "<>(reply!ACK(2) && X <> reply!CLOSED)"]);
    let formula = sandbox.volee_with(&call, "");
    assert!(formula.code == 0 && formula.stdout.contains("see reply!CLOSED,0: PASS"), "{}", text(&formula));
}
