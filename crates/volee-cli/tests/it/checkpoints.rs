//! Searches that are killed and gone on with, and searches that are larger than memory: real processes.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::sandbox::{Answered, Sandbox};
use crate::workers::{Worker, hosts};

/// Counters side by side: some 650,000 states, all steps taken.
const MODEL: &str = "\
#ifndef TOP
#define TOP 13
#endif
byte a, b, c, d;
active proctype A() { do :: a < TOP -> a++ :: a == TOP -> break od }
active proctype B() { do :: b < TOP -> b++ :: b == TOP -> break od }
active proctype C() { do :: c < TOP -> c++ :: c == TOP -> break od }
active proctype D() { do :: d < TOP -> d++ :: d == TOP -> break od; assert(a + b + c + d < 4 * TOP) }
";

const QUESTION: &str = "check m.pml --reduction none --invariant a<200 --all-errors --format json";

fn figures(answered: &Answered) -> (Value, Value, Value, Value) {
    let json: Value = serde_json::from_str(&answered.stdout)
        .unwrap_or_else(|e| panic!("{e}: {}{}", answered.stdout, answered.stderr));
    let statistics = |name: &str| json["statistics"][name].clone();
    let words = json["results"].as_array().expect("results").iter();
    let words = words.map(|r| format!("{} {} {}", r["question"], r["verdict"], r["errors"]));
    (
        json["verdict"].clone(),
        statistics("states"),
        statistics("transitions"),
        words.collect::<Vec<_>>().into(),
    )
}

/// Kills a call as soon as its checkpoint is there; whether it was still at work.
fn kill_when_kept(sandbox: &Sandbox, arguments: &[&str]) -> bool {
    let mut child = Command::new(env!("CARGO_BIN_EXE_volee"))
        .args(arguments)
        .current_dir(sandbox.path("."))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    loop {
        if child.try_wait().expect("it can be asked").is_some() {
            return false;
        }
        if sandbox.path("kept.ck").exists() {
            child.kill().expect("it can be killed");
            child.wait().expect("it ends");
            // One that has just ended took its checkpoint with it.
            return sandbox.path("kept.ck").exists();
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Goes on, and kills it when it has written so many files; whether it was still at work.
fn kill_after_files(sandbox: &Sandbox, files: u32) -> bool {
    let mut child = Command::new(env!("CARGO_BIN_EXE_volee"))
        .args(["resume", "kept.ck"])
        .current_dir(sandbox.path("."))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    let file = || std::fs::metadata(sandbox.path("kept.ck")).and_then(|file| file.modified()).ok();
    let (mut last, mut written) = (file(), 0);
    while written < files {
        if child.try_wait().expect("it can be asked").is_some() {
            return false;
        }
        let now = file();
        written += u32::from(now != last);
        last = now;
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().expect("it can be killed");
    child.wait().expect("it ends");
    sandbox.path("kept.ck").exists()
}

#[test]
fn a_search_that_was_killed_goes_on_to_the_same_answer() {
    let bfs = format!("{QUESTION} --search bfs");
    // Without --all-errors, and with no error, all cores search; lassos are looked for by components.
    let by_threads = "check m.pml --reduction none --only deadlock --format json";
    let lassos = "check m.pml --reduction none --format json --ltl []<>(a<200)";
    for (call, least) in [(QUESTION, 13), (&bfs, 13), (by_threads, 17), (lassos, 13)] {
        let sandbox = Sandbox::new();
        sandbox.write("m.pml", MODEL);
        // However quick the machine is, some size takes it longer than it waits for its first checkpoint.
        let mut sizes = (least..100).step_by(4).map(|top| format!("{call} -D TOP={top}"));
        let kept = |call: &str| format!("{call} --checkpoint kept.ck --checkpoint-every 30ms");
        let call = sizes
            .find(|call| kill_when_kept(&sandbox, &kept(call).split(' ').collect::<Vec<_>>()))
            .expect("one that is still at work when it is killed");
        let again = sandbox.volee(&kept(&call));
        assert!(again.code == 2 && again.stdout.contains("exists already"), "{}", again.stdout);
        // Killed once more, from its checkpoint on.
        kill_when_kept(&sandbox, &["resume", "kept.ck"]);
        let resumed = sandbox.volee("resume kept.ck --format json");
        let whole = sandbox.volee(&call);
        assert_eq!(figures(&resumed), figures(&whole), "{call}");
        assert_eq!(resumed.code, whole.code);
        assert!(!sandbox.path("kept.ck").exists() && !sandbox.path("kept.ck.part").exists());
    }
}

#[test]
fn a_search_by_a_cluster_that_was_killed_goes_on_with_more_or_fewer_workers() {
    let start = || Worker::start(Command::new(env!("CARGO_BIN_EXE_volee")), "127.0.0.1:0", &[]);
    let workers: Vec<Worker> = (0..3).map(|_| start()).collect();
    let states = "check m.pml --invariant a<200 --all-errors --format json --cluster hosts.toml";
    // Every run ends where it is true, and the assertion fails only behind that.
    let lassos = "check m.pml --format json --ltl <>(a>8) --cluster hosts.toml";
    for call in [states, lassos] {
        let sandbox = Sandbox::new();
        sandbox.write("m.pml", MODEL);
        sandbox.write("hosts.toml", hosts(&workers[..2]));
        let mut sizes = (9..100).step_by(2).map(|top| format!("{call} -D TOP={top}"));
        let kept = |call: &str| format!("{call} --checkpoint kept.ck --checkpoint-every 30ms");
        let call = sizes
            .find(|call| kill_when_kept(&sandbox, &kept(call).split(' ').collect::<Vec<_>>()))
            .expect("one that is still at work when it is killed");
        let whole = sandbox.volee(&call);
        // Killed once more with three, and gone on with by two of them.
        sandbox.write("hosts.toml", hosts(&workers));
        kill_when_kept(&sandbox, &["resume", "kept.ck"]);
        sandbox.write("hosts.toml", hosts(&workers[1..]));
        let resumed = sandbox.volee("resume kept.ck --format json");
        assert_eq!(figures(&resumed), figures(&whole), "{call}\n{}{}", resumed.stdout, resumed.stderr);
        assert_eq!(resumed.code, whole.code);
        assert!(!sandbox.path("kept.ck").exists() && !sandbox.path("kept.ck.part").exists());
    }
}

#[test]
fn a_search_by_a_cluster_is_kept_when_its_time_is_up() {
    let start = || Worker::start(Command::new(env!("CARGO_BIN_EXE_volee")), "127.0.0.1:0", &[]);
    let workers: Vec<Worker> = (0..2).map(|_| start()).collect();
    let sandbox = Sandbox::new();
    sandbox.write("m.pml", MODEL);
    sandbox.write("hosts.toml", hosts(&workers));
    let (cut, call) = cut_by_time(&sandbox, "check m.pml --only deadlock --cluster hosts.toml");
    assert!(cut.stdout.contains("volee resume kept.ck"), "{}", cut.stdout);
    // Another search does not take it for its own, nor is what was changed gone on with.
    let other = sandbox.volee("check m.pml --only deadlock --checkpoint kept.ck");
    assert!(other.code == 2 && other.stderr.contains("exists already"), "{}", other.stderr);
    let whole = std::fs::read(sandbox.path("kept.ck")).expect("kept");
    sandbox.write("kept.ck", &whole[..whole.len() / 2]);
    let damaged = sandbox.volee("resume kept.ck");
    assert!(damaged.code == 2 && damaged.stderr.contains("damaged"), "{}{}", damaged.stdout, damaged.stderr);
    sandbox.write("kept.ck", &whole);
    let resumed = sandbox.volee("resume kept.ck --format json");
    let whole = sandbox.volee(&format!("{call} --format json"));
    assert_eq!(figures(&resumed), figures(&whole), "{}{}", resumed.stdout, resumed.stderr);
}

#[test]
fn equations_by_workers_go_on_with_more_or_fewer_of_them() {
    let start = || Worker::start(Command::new(env!("CARGO_BIN_EXE_volee")), "127.0.0.1:0", &[]);
    let workers: Vec<Worker> = (0..3).map(|_| start()).collect();
    let sandbox = Sandbox::new();
    sandbox.write("m.pml", MODEL);
    let told = |answered: &Answered| {
        let json: Value = serde_json::from_str(&answered.stdout)
            .unwrap_or_else(|e| panic!("{e}: {}{}", answered.stdout, answered.stderr));
        let of = |name: &str| json["statistics"][name].clone();
        (json["verdict"].clone(), of("states"), of("transitions"), of("variables"))
    };
    // All states can end, so that all variables are looked at; some cannot be left.
    for formula in ["[true*]<true*>[true]false", "[true*]<true>true"] {
        sandbox.write("hosts.toml", hosts(&workers[..2]));
        let call = format!("check m.pml --mu {formula} --cluster hosts.toml --format json");
        let (_, call) = cut_some_size(&sandbox, |size| format!("{call} -D TOP={}", size - 6));
        sandbox.write("hosts.toml", hosts(&workers));
        kill_when_kept(&sandbox, &["resume", "kept.ck"]);
        sandbox.write("hosts.toml", hosts(&workers[2..]));
        let resumed = sandbox.volee("resume kept.ck --format json");
        let whole = sandbox.volee(&call);
        assert_eq!(resumed.code, whole.code, "{call}: {}{}", resumed.stdout, resumed.stderr);
        if whole.code == 0 {
            assert_eq!(told(&resumed), told(&whole), "{call}");
        }
        assert!(!sandbox.path("kept.ck").exists(), "{call}");
    }
    let (_, call) = cut_some_size(&sandbox, |size| {
        let random = sandbox.volee(&format!("solve --random {},3,2 -o r.bes", 20_000 * (size - 12)));
        assert!(random.code < 2, "{}", random.stderr);
        "solve r.bes --workers 2 --format json".into()
    });
    // Another resolution does not take it for its own.
    let alone = sandbox.volee("solve r.bes --checkpoint kept.ck");
    assert!(alone.code == 2 && alone.stderr.contains("exists already"), "{}{}", alone.stdout, alone.stderr);
    let resumed = sandbox.volee("resume kept.ck --format json");
    let whole = sandbox.volee(&call);
    assert_eq!((resumed.code, told(&resumed).0), (whole.code, told(&whole).0), "{}", resumed.stdout);
}

/// Cuts a call by a limit of time, in which the search begins and does not end, however slow or quick the machine is. What it
/// says, and the call with the size of the model that it took.
fn cut_by_time(sandbox: &Sandbox, call: &str) -> (Answered, String) {
    cut_some_size(sandbox, |top| format!("{call} -D TOP={top}"))
}

/// The same, of any call that is longer the larger its number.
fn cut_some_size(sandbox: &Sandbox, call: impl Fn(u32) -> String) -> (Answered, String) {
    let _ = std::fs::remove_file(sandbox.path("kept.ck"));
    let (mut milliseconds, mut top) = (30, 13);
    loop {
        let sized = call(top);
        let cut = sandbox.volee(&format!("{sized} --checkpoint kept.ck --time {milliseconds}ms"));
        if sandbox.path("kept.ck").exists() {
            // An error may have been found by then.
            assert!([1, 3].contains(&cut.code), "{}{}", cut.stdout, cut.stderr);
            return (cut, sized);
        }
        match cut.code {
            3 => milliseconds += 20,
            0 | 1 => top += 4,
            _ => panic!("{}{}", cut.stdout, cut.stderr),
        }
        assert!(milliseconds < 60_000 && top < 100, "it is never cut");
    }
}

#[test]
fn a_limit_leaves_a_search_that_can_go_on_in_more() {
    let sandbox = Sandbox::new();
    sandbox.write("m.pml", MODEL);
    let (_, whole) = cut_by_time(&sandbox, QUESTION);
    let resumed = sandbox.volee("resume kept.ck --format json");
    assert_eq!(figures(&resumed), figures(&sandbox.volee(&whole)));
    let cut = sandbox.volee(&format!("{QUESTION} --checkpoint kept.ck --search bfs --memory 3M"));
    assert_eq!(cut.code, 3, "{}", cut.stdout);
    let resumed = sandbox.volee("resume kept.ck --format json --memory 512M");
    assert_eq!(figures(&resumed), figures(&sandbox.volee(&format!("{QUESTION} --search bfs"))));
}

#[test]
fn equations_that_were_cut_go_on_to_the_same_answer_and_its_certificate() {
    let sandbox = Sandbox::new();
    sandbox.write("m.pml", MODEL);
    // Fixed points that alternate, and a formula that has no simple shape.
    sandbox.write("game.mu", "nu X . mu Y . (<true> X or <true> Y or [true] false)");
    sandbox.write("mixed.mu", "mu X . (([true] X and <true> X) or [true] false)");
    let formulas = ["[true*]<true*>[true]false", "@game.mu", "@mixed.mu", "[true*]<true>true --solver bfs"];
    for formula in formulas.map(Some).into_iter().chain([None]) {
        let (_, call) = cut_some_size(&sandbox, |size| match formula {
            Some(formula) => {
                format!("check m.pml -D TOP={} --format json --workers 1 --mu {formula}", size - 6)
            }
            None => format!("solve --random {},3,2 --format json", 20_000 * (size - 12)),
        });
        // In too little memory to be read, and then in all that it needs.
        let little = sandbox.volee("resume kept.ck --memory 100k");
        assert!(little.code == 3 && sandbox.path("kept.ck").exists(), "{}{}", little.stdout, little.stderr);
        let resumed = sandbox.volee("resume kept.ck --format json");
        let whole = sandbox.volee(&call);
        let told = |answered: &Answered| {
            let json: Value = serde_json::from_str(&answered.stdout).expect("JSON");
            let of = |name: &str| json["statistics"][name].clone();
            (json["verdict"].clone(), of("states"), of("transitions"), of("variables"), of("solver"))
        };
        assert_eq!(told(&resumed), told(&whole), "{call}");
        assert_eq!(resumed.code, whole.code, "{call}");
        assert!(!sandbox.path("kept.ck").exists(), "{call}");
    }
    let two = sandbox.volee("check m.pml --checkpoint kept.ck --mu true --mu <true>true");
    assert!(two.code == 2 && two.stderr.contains("--checkpoint"), "{}", two.stderr);
    sandbox.write("g.gm", "parity 1;\n0 0 0 1;\n1 1 1 0;\n");
    let game = sandbox.volee("solve g.gm --checkpoint kept.ck");
    assert!(game.code == 2 && game.stderr.contains("solved as a whole"), "{}", game.stderr);
}

#[test]
fn what_all_cores_were_at_when_they_were_killed_they_go_on_with() {
    // A formula about runs whose automaton has a part where every cycle is bad, and equations that are solved
    // as a whole.
    let runs = "check m.pml --reduction none --format json --workers 2 --ltl [](a==9-><>(a!=9))";
    let equations = "check m.pml --format json --workers 4 --mu [true*]<true*>[true]false";
    for (call, least) in [(runs, 18), (equations, 14)] {
        let sandbox = Sandbox::new();
        sandbox.write("m.pml", MODEL);
        let kept = |call: &str| format!("{call} --checkpoint kept.ck --checkpoint-every 30ms");
        let call = (least..60)
            .step_by(4)
            .map(|top| format!("{call} -D TOP={top}"))
            .find(|call| kill_when_kept(&sandbox, &kept(call).split(' ').collect::<Vec<_>>()))
            .expect("one that is still at work when it is killed");
        let (file, last) = (sandbox.path("kept.ck"), sandbox.path("last.ck"));
        let copied = |from: &Path, to: &Path| std::fs::copy(from, to).expect("it can be copied");
        loop {
            copied(&file, &last);
            if !kill_after_files(&sandbox, 3) {
                break;
            }
        }
        copied(&last, &file);
        let told = |answered: &Answered| {
            let json: Value = serde_json::from_str(&answered.stdout).expect("JSON");
            let of = |name: &str| json["statistics"][name].clone();
            (answered.code, json["verdict"].clone(), of("states"), of("variables"), of("workers"))
        };
        let whole = sandbox.volee(&call);
        let resumed = sandbox.volee("resume kept.ck --format json");
        assert_eq!(told(&resumed), told(&whole), "{call}");
        assert!(!file.exists() && !sandbox.path("kept.ck.part").exists(), "{call}");
    }
}

#[test]
fn what_does_not_belong_together_is_refused_with_a_reason() {
    let sandbox = Sandbox::new();
    sandbox.write("m.pml", MODEL);
    let keep = || {
        let (cut, _) = cut_by_time(&sandbox, "check m.pml --reduction none --only deadlock");
        assert!(cut.stdout.contains("volee resume kept.ck"), "{}", cut.stdout);
    };
    let refused = |why: &str| {
        let answered = sandbox.volee("resume kept.ck");
        assert!(
            answered.code == 2 && answered.stderr.contains(why),
            "{}{}",
            answered.stdout,
            answered.stderr
        );
    };
    keep();
    sandbox.write("m.pml", format!("{MODEL}\n"));
    refused("has changed since");
    sandbox.write("m.pml", MODEL);
    let whole = std::fs::read(sandbox.path("kept.ck")).expect("kept");
    sandbox.write("kept.ck", &whole[..whole.len() - 1]);
    refused("damaged");
    let mut other = whole.clone();
    other[16] = 77;
    sandbox.write("kept.ck", &other);
    refused("format 77");
    sandbox.write("kept.ck", MODEL);
    refused("not a checkpoint");
    sandbox.write("kept.ck", &whole);
    let other = sandbox.volee("check m.pml --reduction none --checkpoint other.ck --ltl <>(a==1) --ltl <>b");
    assert!(other.code == 2 && other.stderr.contains("--checkpoint"), "{}", other.stderr);
    assert!(!sandbox.path("other.ck").exists());
}

#[test]
fn states_that_memory_does_not_hold_are_on_disk() {
    let sandbox = Sandbox::new();
    sandbox.write("m.pml", MODEL);
    std::fs::create_dir(sandbox.path("disk")).expect("a folder");
    let whole = sandbox.volee(&format!("{QUESTION} -D TOP=17"));
    let spilled = sandbox.volee(
        "check m.pml -D TOP=17 --invariant a<200 --all-errors --format json --spill disk --memory 12M --workers 2",
    );
    assert_eq!(figures(&spilled), figures(&whole));
    assert!(
        spilled.stdout.contains("disk_bytes")
            && spilled.stderr.contains("states are in")
            && spilled.stderr.contains("searched by one thread"),
        "{}",
        spilled.stderr
    );
    assert_eq!(std::fs::read_dir(sandbox.path("disk")).expect("a folder").count(), 0);
    let nowhere = sandbox.volee("check m.pml --spill nowhere");
    assert_eq!(nowhere.code, 3, "{}", nowhere.stdout);
}
