//! Several workers: the same answers as one, on threads and on processes; and faults.

use std::io::{BufRead as _, BufReader};
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::sandbox::{Answered, Sandbox};

pub const FORMULAS: [&str; 3] = [
    "nu X . (<true> true and [true] X)",
    "[true* . /PUT.*/] <true* . /GET.*/> true",
    "nu X . ([/PUT.*/] mu Y . (<true> true and [not /GET.*/] Y) and [true] X)",
];

/// A worker that listens; it ends with the test, and tells what it noted if the test fails.
pub struct Worker {
    child: Child,
    pub address: String,
    notes: tempfile::NamedTempFile,
}

impl Worker {
    pub fn start(mut command: Command, listen: &str, more: &[&str]) -> Worker {
        command.args(["worker", "--listen", listen]).args(more);
        let notes = tempfile::NamedTempFile::new().expect("a file");
        let stderr = Stdio::from(notes.reopen().expect("it is there"));
        let mut child = command.stdout(Stdio::piped()).stderr(stderr).spawn().expect("it starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("it is piped")).read_line(&mut line).expect("it speaks");
        let address = line.trim().strip_prefix("listening on ").expect("an address").to_string();
        Worker { child, address, notes }
    }

    /// The processes of its jobs.
    pub fn jobs(&self) -> Vec<String> {
        let id = self.child.id();
        let children = std::fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap_or_default();
        // Threads of the worker start the jobs, and each thread has its own list.
        let tasks = std::fs::read_dir(format!("/proc/{id}/task")).into_iter().flatten().flatten();
        let all = tasks.filter_map(|t| std::fs::read_to_string(t.path().join("children")).ok());
        let all: String = all.chain([children]).collect::<Vec<_>>().join(" ");
        all.split_whitespace().map(ToString::to_string).collect()
    }

    /// Sends a signal to a job once there is one.
    pub fn signal_job(&self, signal: &str) {
        let deadline = Instant::now() + Duration::from_secs(10);
        while self.jobs().is_empty() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(10));
        }
        std::thread::sleep(Duration::from_millis(300));
        for job in self.jobs() {
            let _ = Command::new("kill").args([signal, &job]).status();
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        for job in self.jobs() {
            let _ = Command::new("kill").args(["-KILL", &job]).status();
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
        if std::thread::panicking() {
            let notes = std::fs::read_to_string(self.notes.path()).unwrap_or_default();
            eprintln!("the worker at {} noted:\n{notes}", self.address);
        }
    }
}

fn volee() -> Command {
    Command::new(env!("CARGO_BIN_EXE_volee"))
}

pub fn hosts(workers: &[Worker]) -> String {
    let quoted: Vec<String> = workers.iter().map(|w| format!("{:?}", w.address)).collect();
    format!("workers = [{}]\n", quoted.join(", "))
}

pub fn json(answered: &Answered) -> Value {
    serde_json::from_str(&answered.stdout)
        .unwrap_or_else(|e| panic!("{e}: {}{}", answered.stdout, answered.stderr))
}

/// All that a call answered, for a test that fails.
pub fn all_of(answered: &Answered) -> String {
    format!("exit code {}\n{}\n{}", answered.code, answered.stdout, answered.stderr)
}

/// Asks workers what one alone was asked, and compares: verdict and exit code always, states and transitions
/// where the whole system was looked at.
pub fn compare(sandbox: &Sandbox, call: &[String], more: &[&str]) {
    let mu = call.iter().any(|w| w == "--mu");
    let sequential = if mu { ["--solver", "bfs"] } else { ["--reduction", "none"] };
    let (together, alone) = (ask(sandbox, call, more), ask(sandbox, call, &sequential));
    let context = format!("{call:?} {more:?}\ntogether: {}\nalone: {}", all_of(&together), all_of(&alone));
    assert_eq!(together.code, alone.code, "{context}");
    let (ours, theirs) = (figures(&together), figures(&alone));
    assert_eq!(ours.0, theirs.0, "{context}");
    if alone.code == 0 || call.iter().any(|w| w == "--all-errors") {
        assert_eq!(ours, theirs, "{context}");
    }
}

/// Verdict, states and transitions.
fn figures(answered: &Answered) -> (Value, Value, Value) {
    let answer = json(answered);
    let s = &answer["statistics"];
    (answer["verdict"].clone(), s["states"].clone(), s["transitions"].clone())
}

pub fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("abp.family", "abp messages=6 capacity=2");
    sandbox.write("dinner.family", "philosophers seats=5");
    sandbox.write("large.family", "abp messages=1024 capacity=4");
    sandbox
}

/// The calls whose answers must not depend on the workers.
pub fn calls() -> Vec<Vec<String>> {
    let mut calls: Vec<Vec<String>> = Vec::new();
    for formula in FORMULAS {
        calls.push(["check", "abp.family", "--mu", formula].map(String::from).to_vec());
    }
    for model in ["abp.family", "dinner.family"] {
        calls.push(["check", model, "--all-errors"].map(String::from).to_vec());
    }
    calls
}

pub fn ask(sandbox: &Sandbox, call: &[String], more: &[&str]) -> Answered {
    let words: Vec<&str> =
        call.iter().map(String::as_str).chain(["--format", "json"]).chain(more.iter().copied()).collect();
    sandbox.volee_with(&words, "")
}

#[test]
fn threads_and_processes_answer_as_one_worker_does() {
    let sandbox = sandbox();
    let workers: Vec<Worker> = (0..3).map(|_| Worker::start(volee(), "127.0.0.1:0", &[])).collect();
    sandbox.write("hosts.toml", hosts(&workers));
    for call in calls() {
        for more in [["--workers", "1"], ["--workers", "3"], ["--cluster", "hosts.toml"]] {
            compare(&sandbox, &call, &more);
        }
    }
}

const CLIENTS: &str = "\
mtype = { REQ, GRANT };
chan ask = [2] of { mtype, byte };
chan back = [2] of { mtype, byte };
byte served; bool busy;
ltl answered { [](busy -> <>!busy) }
active [2] proctype Client() {
  byte who;
  do
  :: ask!REQ,_pid; back?GRANT,who; progress: served = (served + 1) % 3
  od
}
active proctype Server() {
  byte who;
end:
  do
  :: ask?REQ,who -> busy = true; back!GRANT,who; busy = false
  :: served == 2 -> served = 0
  od
}
";

const CLAIMED: &str = "\
byte x;
active proctype P() { do :: x < 5 -> x++ :: x > 2 -> x = 0 od }
never { T0: if :: x == 5 -> goto accept_A :: true -> goto T0 fi; accept_A: if :: x == 0 -> goto T0 :: x != 0 -> goto T0 fi }
";

/// Every kind of question about runs, most of them with both answers.
const ABOUT_RUNS: [&str; 20] = [
    "check c.pml",
    "check c.pml --ltl []<>(served==1)",
    "check c.pml --ltl <>[](served==0)",
    "check c.pml --ltl [](served<3)",
    "check c.pml --ltl [](served<2)",
    "check c.pml --ltl ((served==0)W(busy))",
    "check c.pml --ltl [](busy->((busy)U(!busy)))",
    "check c.pml --ltl []<>(ask!REQ,_)",
    "check c.pml --ltl [](ask!REQ,0->Xask?REQ,0)",
    "check c.pml --ltl []<>(served==2) --fair",
    "check c.pml --ltl <>(Client[0]@progress) --fair",
    "check c.pml --progress",
    "check c.pml --tl [](ask?REQ,0-><>back!GRANT,0)",
    "check c.pml --tl [](back!GRANT,0->!back!GRANT,1)",
    "check c.pml --tl G(!busy_never)",
    "check c.pml --buchi always.hoa",
    "check c.pml --buchi again.hoa",
    "check n.pml",
    "check n.pml --acceptance",
    "check n.pml --property all",
];

/// A Büchi automaton over `served == 1`: always true in its first state, or true again and again.
fn hoa(again: bool) -> String {
    let back = if again { "[!0] 1\nState: 1\n[0] 0\n[!0] 1" } else { "State: 1\n[t] 1" };
    let head =
        "HOA: v1\nStates: 2\nStart: 0\nAP: 1 \"served==1\"\nacc-name: Buchi\nAcceptance: 1 Inf(0)\n--BODY--";
    let first = if again { "State: 0 {0}\n[0] 0" } else { "State: 0 {0}\n[!0] 0\n[0] 1" };
    format!("{head}\n{first}\n{back}\n--END--\n")
}

fn about_runs() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("c.pml", CLIENTS);
    sandbox.write("n.pml", CLAIMED);
    sandbox.write("always.hoa", hoa(false));
    sandbox.write("again.hoa", hoa(true));
    sandbox
}

fn results(answered: &Answered) -> Vec<(Value, Value)> {
    let answer = json(answered);
    let all = answer["results"].as_array().cloned().unwrap_or_default();
    all.iter().map(|result| (result["question"].clone(), result["verdict"].clone())).collect()
}

#[test]
fn questions_about_runs_are_answered_alike_by_one_worker_and_by_several() {
    let sandbox = about_runs();
    let workers: Vec<Worker> = (0..2).map(|_| Worker::start(volee(), "127.0.0.1:0", &[])).collect();
    sandbox.write("hosts.toml", hosts(&workers));
    let mut codes = std::collections::BTreeMap::new();
    for line in ABOUT_RUNS {
        let call: Vec<String> = line.split(' ').map(String::from).collect();
        let alone = ask(&sandbox, &call, &[]);
        *codes.entry(alone.code).or_insert(0) += 1;
        for more in [["--workers", "1"], ["--workers", "2"], ["--cluster", "hosts.toml"]] {
            let together = ask(&sandbox, &call, &more);
            let context = format!("{line} {more:?}\n{}\n{}", all_of(&together), all_of(&alone));
            assert_eq!(together.code, alone.code, "{context}");
            assert_eq!(results(&together), results(&alone), "{context}");
            assert_eq!(json(&together)["silent"], json(&alone)["silent"], "{context}");
        }
    }
    assert!(codes[&0] > 4 && codes[&1] > 4 && codes.len() == 2, "{codes:?}");
}

#[test]
fn with_too_little_memory_questions_about_runs_are_answered_alike_or_not_at_all() {
    let sandbox = about_runs();
    for line in ABOUT_RUNS {
        let call: Vec<String> = line.split(' ').map(String::from).collect();
        let whole = ask(&sandbox, &call, &[]);
        for more in [&["--memory", "40k"][..], &["--memory", "40k", "--workers", "2"]] {
            let little = ask(&sandbox, &call, more);
            assert!(little.code == whole.code || little.code == 3, "{line} {more:?}\n{}", all_of(&little));
        }
    }
}

#[test]
fn threads_and_processes_write_the_test_graph_of_one_worker() {
    let sandbox = sandbox();
    sandbox.write("purpose.aut", "des (0, 3, 3)\n(0, \"PUT.*\", 1)\n(1, \"GET.*\", 2)\n(2, \"ACCEPT\", 2)\n");
    let workers: Vec<Worker> = (0..2).map(|_| Worker::start(volee(), "127.0.0.1:0", &[])).collect();
    sandbox.write("hosts.toml", hosts(&workers));
    for goal in ["--after 6", "--purpose purpose.aut"] {
        let call = format!("tests abp.family {goal} --inputs PUT* --outputs GET* --complete --unreduced");
        let alone = sandbox.volee(&format!("{call} -o one.aut"));
        assert_eq!(alone.code, 0, "{}", all_of(&alone));
        for more in ["--workers 1", "--workers 3", "--cluster hosts.toml"] {
            let together = sandbox.volee(&format!("{call} {more} -o many.aut"));
            assert_eq!(together.code, 0, "{more}: {}", all_of(&together));
            assert_eq!(sandbox.read("many.aut"), sandbox.read("one.aut"), "{goal} {more}");
        }
    }
}

/// Whoever is done first must not go before the others know: with more to do than processors, messages wait
/// long.
#[test]
fn a_machine_with_too_much_to_do_loses_no_worker() {
    let sandbox = sandbox();
    let workers: Vec<Worker> = (0..3).map(|_| Worker::start(volee(), "127.0.0.1:0", &[])).collect();
    sandbox.write("hosts.toml", hosts(&workers));
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..12 {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    std::hint::black_box(0);
                }
            });
        }
        let done = std::panic::catch_unwind(AssertUnwindSafe(|| {
            for call in calls().iter().cycle().take(15) {
                compare(&sandbox, call, &["--cluster", "hosts.toml"]);
            }
        }));
        over.store(true, Ordering::Relaxed);
        done.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    });
}

/// Processes stop and go on at random, so that messages come late, in heaps and after long waits.
#[test]
fn workers_that_stop_and_go_answer_as_one_does() {
    let sandbox = sandbox();
    sandbox.write("abp.family", "abp messages=24 capacity=2");
    let workers: Vec<Worker> = (0..3).map(|_| Worker::start(volee(), "127.0.0.1:0", &[])).collect();
    sandbox.write("hosts.toml", hosts(&workers));
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for n in 0u64.. {
                if over.load(Ordering::Relaxed) {
                    return;
                }
                let jobs = workers[n as usize % 3].jobs();
                jobs.iter().for_each(|job| drop(Command::new("kill").args(["-STOP", job]).output()));
                std::thread::sleep(Duration::from_millis(n * 37 % 120));
                jobs.iter().for_each(|job| drop(Command::new("kill").args(["-CONT", job]).output()));
                std::thread::sleep(Duration::from_millis(n * 11 % 20));
            }
        });
        let done = std::panic::catch_unwind(AssertUnwindSafe(|| {
            for call in calls() {
                compare(&sandbox, &call, &["--cluster", "hosts.toml"]);
            }
        }));
        over.store(true, Ordering::Relaxed);
        done.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    });
}

/// A model whose parts are in other folders, with an assertion that fails in one of them.
#[test]
fn included_files_travel_with_the_model_and_places_are_named_as_here() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "model/main.pml",
        "#include \"../common/types.h\"\n#include \"parts/p.h\"\ninit { run p() }\n",
    );
    sandbox.write("common/types.h", "#include \"limit.h\"\nbyte x;\n");
    sandbox.write("common/limit.h", "#define LIMIT 3\n");
    sandbox.write(
        "model/parts/p.h",
        "proctype p() {\n  do :: x < LIMIT -> x++ :: x == LIMIT -> assert(false) od\n}\n",
    );
    let workers: Vec<Worker> = (0..2).map(|_| Worker::start(volee(), "127.0.0.1:0", &[])).collect();
    sandbox.write("hosts.toml", hosts(&workers));
    let absolute = sandbox.path("model/main.pml").display().to_string();
    for model in ["model/main.pml", &absolute] {
        let call = ["check", model, "--all-errors"].map(String::from);
        compare(&sandbox, &call, &["--cluster", "hosts.toml"]);
        let call = ["check", model, "--mu", "[true*] <true> true"].map(String::from);
        compare(&sandbox, &call, &["--cluster", "hosts.toml"]);
    }
    let call = ["check", "model/main.pml"].map(String::from);
    let (together, alone) = (ask(&sandbox, &call, &["--cluster", "hosts.toml"]), ask(&sandbox, &call, &[]));
    let place = |answered: &Answered| {
        let results = json(answered)["results"].clone();
        let failed = results.as_array().expect("a list").iter().find(|r| r["verdict"] == "violated").cloned();
        failed.expect("the assertion fails")["reason"].clone()
    };
    assert_eq!(place(&together), place(&alone), "{}", all_of(&together));
    assert!(place(&alone)["file"].as_str().is_some_and(|f| f.ends_with("p.h")), "{}", all_of(&alone));
}

#[test]
fn workers_solve_files_of_equations() {
    let sandbox = Sandbox::new();
    let workers: Vec<Worker> = (0..2).map(|_| Worker::start(volee(), "127.0.0.1:0", &[])).collect();
    sandbox.write("hosts.toml", hosts(&workers));
    for seed in 0..6 {
        let seed = format!("--seed {seed}");
        sandbox.volee(&format!("solve --random {}00,3,3 {seed} -o r.bes", seed.len()));
        let alone = sandbox.volee("solve r.bes --format json");
        assert!(alone.code < 2, "{}", all_of(&alone));
        for more in ["--workers 1", "--workers 3", "--cluster hosts.toml"] {
            let together = sandbox.volee(&format!("solve r.bes --format json {more}"));
            assert_eq!(together.code, alone.code, "{more} {}", all_of(&together));
            assert_eq!(json(&together)["verdict"], json(&alone)["verdict"], "{more}");
            assert_eq!(json(&together)["statistics"]["solver"], "workers", "{more}");
        }
    }
    // What workers cannot solve is said.
    sandbox.volee("solve --random 60,3,4 --alternating --seed 3 -o a.bes");
    for line in ["solve a.bes --workers 2", "solve --random 60,3,2 --workers 2"] {
        let refused = sandbox.volee(line);
        assert_eq!(refused.code, 2, "{line}: {}", all_of(&refused));
        assert!(refused.stderr.contains("alternation-free"), "{line}: {}", all_of(&refused));
    }
}

#[test]
fn a_formula_over_many_states_is_solved_by_all_threads_with_the_answer_of_one() {
    let sandbox = Sandbox::new();
    sandbox.write("abp.family", "abp messages=60 capacity=2");
    // It holds everywhere; it fails, and the run to where is told; a label that there is not.
    let two_blocks = "nu X . ((mu Y . (</GET.*/> true or <true> Y)) and [true] X)";
    let formulas = [FORMULAS[0], "[true* . /GET !7/] false", "[true* . \"NEVER\"] false", two_blocks];
    for formula in formulas {
        let call = ["check", "abp.family", "--mu", formula].map(String::from);
        let one = ask(&sandbox, &call, &["--workers", "1"]);
        // Where steps take little time, two share the work: one solves, the other makes the steps again.
        for threads in ["2", "4", "5"] {
            let several = ask(&sandbox, &call, &["--workers", threads]);
            let (one, several) = (json(&one), json(&several));
            assert_eq!(several["results"], one["results"], "{call:?}");
            assert_eq!(several["warnings"], one["warnings"], "{call:?}");
            let by = several["statistics"]["workers"].as_u64();
            let large = formula != formulas[1];
            assert_eq!(by.map(|n| n.to_string()).as_deref(), large.then_some(threads), "{call:?}");
            if formula == FORMULAS[0] {
                assert_eq!(several["statistics"]["variables"], 130_572, "{call:?}");
            }
        }
    }
}

#[test]
fn several_processes_do_not_claim_a_depth() {
    let sandbox = sandbox();
    let workers: Vec<Worker> = (0..2).map(|_| Worker::start(volee(), "127.0.0.1:0", &[])).collect();
    sandbox.write("hosts.toml", hosts(&workers));
    for more in [["--cluster", "hosts.toml"], ["--search", "bfs"]] {
        let answered = ask(&sandbox, &["check".into(), "abp.family".into()], &more);
        assert_eq!(
            json(&answered)["statistics"]["depth"].is_u64(),
            more[0] != "--cluster",
            "{}",
            all_of(&answered)
        );
    }
}

/// Processes that count; an assertion fails if that is asked for: more states than one thread looks at alone.
const COUNTERS: &str = "\
#ifndef BAD
#define BAD 99
#endif
byte x;
active [4] proctype P() { byte i; do :: i < 6 -> i++; x = i :: i == 6 -> break od; assert(x != BAD) }
";

#[test]
fn a_large_search_has_the_same_answer_with_any_number_of_threads() {
    let sandbox = Sandbox::new();
    sandbox.write("counters.pml", COUNTERS);
    for more in ["--plain", "--plain -D BAD=3", "--plain --reachable x==5", "--plain --reachable x==9"] {
        let alone = sandbox.volee(&format!("check counters.pml {more} --workers 1 --format json"));
        let states = &json(&alone)["statistics"]["states"];
        assert!(more.contains("BAD") || states.as_u64() > Some(100_000), "{}", all_of(&alone));
        for workers in [2, 3] {
            let line = format!("check counters.pml {more} --workers {workers} --format json");
            let together = sandbox.volee(&line);
            assert_eq!(together.code, alone.code, "{line}: {}", all_of(&together));
            let verdicts = |of: &Answered| {
                let results = json(of)["results"].as_array().cloned().unwrap_or_default();
                results.iter().map(|r| (r["question"].clone(), r["verdict"].clone())).collect::<Vec<_>>()
            };
            assert_eq!(verdicts(&together), verdicts(&alone), "{line}");
            assert_eq!(json(&together)["results"], json(&sandbox.volee(&line))["results"], "{line}");
            if !more.contains("BAD") {
                assert_eq!(json(&together)["statistics"]["workers"], workers, "{line}");
                assert_eq!(json(&together)["statistics"]["states"], *states, "{line}");
            }
        }
    }
}

#[test]
fn models_of_the_corpus_have_as_many_states_on_workers() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus/promela/gen");
    let Ok(folder) = std::fs::read_dir(&corpus) else {
        println!("skipped: the corpus is not at {}", corpus.display());
        return;
    };
    let sandbox = Sandbox::new();
    let workers: Vec<Worker> = (0..2).map(|_| Worker::start(volee(), "127.0.0.1:0", &[])).collect();
    sandbox.write("hosts.toml", hosts(&workers));
    let mut models: Vec<PathBuf> = folder.flatten().map(|e| e.path()).collect();
    models.retain(|p| p.extension().is_some_and(|e| e == "pml"));
    models.sort();
    let mut compared = 0;
    for model in models {
        let call = ["check".to_string(), model.display().to_string(), "--all-errors".into()];
        let alone = ask(&sandbox, &call, &["--reduction", "none", "--search", "bfs", "--memory", "32M"]);
        if json(&alone)["statistics"]["states"].as_u64().unwrap_or(u64::MAX) > 20_000 || compared == 6 {
            continue;
        }
        let together = ask(&sandbox, &call, &["--cluster", "hosts.toml"]);
        assert_eq!(figures(&together), figures(&alone), "{}", model.display());
        compared += 1;
    }
    assert!(compared > 0, "no model is small enough");
}

#[test]
fn a_killed_job_is_named_and_a_restart_does_without_it() {
    let sandbox = sandbox();
    let workers: Vec<Worker> = (0..2).map(|_| Worker::start(volee(), "127.0.0.1:0", &[])).collect();
    sandbox.write("hosts.toml", hosts(&workers));
    let call: Vec<String> = ["check", "large.family", "--mu", FORMULAS[0]].map(String::from).to_vec();
    let answered = std::thread::scope(|scope| {
        let asked = scope.spawn(|| ask(&sandbox, &call, &["--cluster", "hosts.toml"]));
        workers[1].signal_job("-KILL");
        asked.join().expect("it ends")
    });
    assert_eq!(answered.code, 3, "{}", all_of(&answered));
    assert!(answered.stdout.contains(&format!("worker 2 ({})", workers[1].address)), "{}", all_of(&answered));
    let again = std::thread::scope(|scope| {
        let more = ["--cluster", "hosts.toml", "--restart", "1", "--time", "5s"];
        let asked = scope.spawn(move || ask(&sandbox, &call, &more));
        workers[1].signal_job("-KILL");
        asked.join().expect("it ends")
    });
    assert!(again.stderr.contains("starting again with 1 worker\n"), "{}{}", again.stdout, again.stderr);
}

#[test]
fn what_workers_cannot_do_is_said() {
    let sandbox = sandbox();
    for (line, what) in [
        ("check abp.family --workers 0", "from 1 to 256"),
        ("check abp.family --workers 300", "from 1 to 256"),
        ("check abp.family --cluster missing.toml", "cannot read the host file"),
        ("worker --listen 0.0.0.0:0", "loopback only"),
    ] {
        let answered = sandbox.volee(line);
        assert_eq!(answered.code, 2, "{line}: {}{}", answered.stdout, answered.stderr);
        assert!(answered.stderr.contains(what), "{line}: {}", answered.stderr);
    }
}
