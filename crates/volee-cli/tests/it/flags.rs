//! Every flag of `volee check` is obeyed or refused by every engine: a table over all pairs.
//!
//! A column is a way of answering, a row a flag. `O`: the answer is another one than without the flag. `o`:
//! it is accepted, and need not show in the answer of so small a model. `r`: it is refused, with exit code 2
//! and a sentence that names it.

use serde_json::Value;

use crate::sandbox::Sandbox;

/// A counter that is passed through a buffer.
const EXPLICIT: &str = "\
#ifndef BOUND
#define BOUND 3
#endif
byte x; chan c = [1] of { byte };
ltl p { [] (x <= 200) }
active proctype P() {
again:
  if :: x < BOUND -> x++; c!x; goto again :: c?_ -> goto again :: timeout -> skip fi
}
";

/// Clients in any number, and a process that is there once.
const FAMILY: &str = "\
#ifndef BOUND
#define BOUND 3
#endif
byte x;
ltl p { [] (x <= 5) }
proctype Client() { atomic { x < BOUND -> x++ }; assert(x <= 3); at: skip }
active proctype P() { skip }
";

const QUEUE: &str = "\
#ifndef BOUND
#define BOUND 3
#endif
chan c = [1] of { byte };
active proctype P() { byte i; do :: i < BOUND -> c!1; i++ :: else -> break od }
";

const INTEGERS: &str = "\
#ifndef BOUND
#define BOUND 3
#endif
int x; int n;
active proctype P() { do :: x < BOUND -> x++; assert(x <= 3) :: else -> break od }
";

/// What is asked without the flag, one column each: the search of states, with claims of the model and
/// without, of cycles, beside a monitor, equations, workers, families, channels, counters.
const CALLS: [&str; 9] = [
    "check m.pml",
    "check s.pml",
    "check m.pml --ltl []<>(x==0)",
    "check m.pml --tl [](!zzz)",
    "check m.pml --mu [true]true",
    "check m.pml --workers 2",
    "check f.pml --engine families --for-any Client",
    "check q.pml --engine channels",
    "check i.pml --engine counters",
];

const TABLE: &[(&str, &str)] = &[
    ("-D BOUND=5", "OOOOOOOOO"),
    ("--plain", "ooooooooo"),
    ("--copies P=2", "OOOOoOoOO"),
    ("--capacity 2", "OOOOoOoro"),
    ("--memory 64M", "ooooooooo"),
    ("--memory 100000states", "oorororrr"),
    ("--time 1m", "ooooooooo"),
    ("--max-depth 2", "OOOOrOrrr"),
    ("--search bfs", "oooororrr"),
    ("--search dfs", "oooororrr"),
    ("--hunt", "oorrrorrr"),
    ("--all-errors", "oorrrorrr"),
    ("--max-errors 3", "oooororrr"),
    ("--max-errors 1", "oooororrr"),
    ("--audit", "OOOOOOrrr"),
    ("--reduction both", "ooorrorrr"),
    ("--reduction none", "ooooooooo"),
    ("--replacement oldest", "oorororrr"),
    ("--replacement random", "oorororrr"),
    ("--approximate bitstate", "OOoOrOrrr"),
    ("--approximate compact", "OOrOrOrrr"),
    ("--seed 3", "OOOOrorrr"),
    ("--seed 0", "oooororrr"),
    ("--fair", "ororrorrr"),
    ("--fair=strong", "ororrorrr"),
    ("--emptiness nested", "ororrorrr"),
    ("--labels text", "oroooorrr"),
    ("--labels events", "oroooorrr"),
    ("--runs maximal", "rrrorrrrr"),
    ("--runs prefixes", "rrrorrrrr"),
    ("--macros none.mcl", "rrrrorrrr"),
    ("--solver bfs", "rrrrOrrrr"),
    ("--solver auto", "rrrrorrrr"),
    ("--diagnostic d.aut", "rrrrororr"),
    ("--for-any Client", "rrrrrrorr"),
    ("--method fraen", "rrrrrrOrr"),
    ("--method auto", "rrrrrrorr"),
    ("--sizes", "rrrrrrorr"),
    ("--symbolic x", "rrrrrrrro"),
    ("--parameter n", "rrrrrrrrO"),
    ("--assume n==0", "rrrrrrrro"),
    ("--direction forward", "rrrrrrrro"),
    ("--direction both", "rrrrrrrro"),
    ("--invariant x<100", "OOOOOOOrO"),
    ("--reachable x==1", "OOOOOOrrO"),
    ("--mu <true>true", "OOOOOOrrO"),
    ("--cover Client@at,Client@at", "rrrrrrOrr"),
    ("--ltl []true", "OOOOOOOrO"),
    ("--tl !nothing", "OOOOOOOrO"),
    ("--buchi all.hoa", "OOOOOOOrr"),
    ("--property p", "OrOOOOOrr"),
    ("--progress", "OOOOOOrrr"),
    ("--acceptance", "OOOOOOrrr"),
    ("--only assertions", "OOrrrOorO"),
    ("--skip deadlock", "OOoooOooO"),
    ("--trace t.svg", "ooooooooo"),
    ("--report r.html", "ooooooooo"),
    ("--coverage", "OOOOrOrrr"),
    ("--checkpoint kept.ck", "roooorrrr"),
    ("--checkpoint-every 1s", "rrrrrrrrr"),
    ("--spill .", "rorrrrrrr"),
    ("--every-step", "ooooooooo"),
    ("--hide P", "ooooooooo"),
    ("--show x", "ooooooooo"),
    ("--workers 3", "ooooorrrr"),
    ("--workers 1", "ooooooooo"),
    ("--cluster none.toml", "rrrrrrrrr"),
    ("--secret-file none", "rrrrrrrrr"),
    ("--restart 1", "rrrrrrrrr"),
    ("--engine equations", "rrrrorrrr"),
    ("--junit j.xml", "ooooooooo"),
    ("--sarif s.sarif", "ooooooooo"),
    ("--github", "ooooooooo"),
    ("--format json", "ooooooooo"),
    ("--help", "ooooooooo"),
];

/// An answer without what differs from run to run.
fn essence(text: &str) -> Option<Value> {
    let mut answer: Value = serde_json::from_str(text).ok()?;
    for figure in ["seconds", "peak_memory_bytes", "bytes_per_state"] {
        answer["statistics"].as_object_mut()?.remove(figure);
    }
    answer.as_object_mut()?.remove("workers");
    Some(answer)
}

#[test]
fn every_flag_is_obeyed_or_refused_by_every_engine() {
    let sandbox = Sandbox::new();
    sandbox.write("m.pml", EXPLICIT).write("f.pml", FAMILY).write("q.pml", QUEUE).write("i.pml", INTEGERS);
    let (before, after) = EXPLICIT.split_once("ltl p").expect("it has a claim");
    let without = format!("{before}{}", after.split_once('\n').expect("it is a line").1);
    sandbox.write("s.pml", without).write("none.mcl", "");
    sandbox.write(
        "all.hoa",
        "HOA: v1\nStates: 1\nStart: 0\nAP: 0\nacc-name: Buchi\nAcceptance: 1 Inf(0)\n\
         --BODY--\nState: 0 {0}\n[t] 0\n--END--\n",
    );
    let mut wrong = String::new();
    for (column, call) in CALLS.iter().enumerate() {
        let usual = sandbox.volee(&format!("{call} --format json"));
        assert!(usual.code < 2 || usual.code == 3, "{call}: {}", usual.stdout);
        for (flag, row) in TABLE {
            let expected = row.chars().nth(column).expect("a letter for each engine");
            // A flag that is there already is given again with another value, or not at all.
            let name = flag.split(' ').next().expect("a name");
            let twice = ["--workers", "--engine", "--for-any"].contains(&name) && call.contains(name);
            let answered = match twice || flag.starts_with("--format") {
                true if expected == 'r' => continue,
                true => sandbox.volee(&format!("{call} --format json")),
                false => sandbox.volee(&format!("{call} {flag} --format json")),
            };
            let refused = answered.code == 2;
            let told = brief(&answered.stdout);
            // The sentence names the flag or its value.
            let named = flag.split([' ', '=']).any(|word| told.contains(word.trim_start_matches('-')));
            let differs = essence(&answered.stdout) != essence(&usual.stdout);
            let fits = match expected {
                'r' => refused && named,
                'O' => !refused && differs,
                _ => !refused,
            };
            if !fits {
                wrong.push_str(&format!("{call} {flag}: not `{expected}`: {told}\n"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

fn brief(text: &str) -> String {
    let answer: Value = serde_json::from_str(text).unwrap_or_default();
    format!("{} {}", answer["verdict"], answer["errors"])
}

#[test]
fn the_table_has_every_flag_of_the_help() {
    let help = Sandbox::new().volee("check --help").stdout;
    let flag = |word: &str| word.trim_end_matches(',').to_string();
    let told =
        help.lines().filter_map(|line| line.trim_start().split(' ').find(|w| w.starts_with("--")).map(flag));
    let lines: Vec<String> = told.filter(|f| f.len() > 2).collect();
    assert!(lines.len() > 40, "{lines:?}");
    // A call that does not end is in `suite.rs`.
    let mut flag = String::new();
    let defaults = help.lines().filter_map(|line| {
        let line = line.trim_start();
        if line.starts_with("--") {
            flag = line.split([' ', '=', '[']).next().unwrap_or_default().to_string();
        }
        let default = line.strip_prefix("[default: ")?.strip_suffix(']')?;
        Some(format!("{flag} {default}"))
    });
    let by_themselves = ["--format text", "--restart 0", "--checkpoint-every 5min"];
    for said in defaults.filter(|said| said.starts_with("--") && !by_themselves.contains(&said.as_str())) {
        assert!(
            TABLE.iter().any(|(row, _)| *row == said),
            "{said}: a default that is said is not in the table"
        );
    }
    let known =
        |flag: &String| flag == "--watch" || TABLE.iter().any(|(row, _)| row.split(' ').next() == Some(flag));
    let options = help.lines().filter(|line| line.trim_start().starts_with('-') && line.starts_with("  "));
    for line in options {
        let Some(option) = line.trim_start().split([' ', ',', '[']).find(|w| w.starts_with("--")) else {
            continue;
        };
        assert!(known(&option.to_string()), "{option} is not in the table");
    }
}

#[test]
fn who_asks_an_engine_nothing_is_told_how_to_ask() {
    let sandbox = Sandbox::new();
    sandbox.write("m.pml", "byte x; active proctype Some() { do :: x = 1 - x od }\n");
    for (call, told) in [
        ("check m.pml --engine families", "this model has Some (--for-any NAME)"),
        ("check m.pml --engine equations", "--mu '[true*] <true> true'"),
    ] {
        let answered = sandbox.volee(call);
        assert_eq!(answered.code, 2, "{call}");
        assert!(answered.stderr.contains(told), "{call}: {}", answered.stderr);
    }
}
