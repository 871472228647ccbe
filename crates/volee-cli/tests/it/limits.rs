//! `--memory`, `--time` and signals bind every verb and every phase, and what is written is written with
//! care.

use serde_json::Value;

use crate::sandbox::{Answered, Sandbox};

/// The kind of the limit that an answer names, and the exit code.
fn limit(answered: &Answered) -> (String, i32) {
    let answer: Value = serde_json::from_str(&answered.stdout)
        .unwrap_or_else(|e| panic!("one object, whatever happens: {e}\n{}", answered.stdout));
    (answer["results"][0]["reason"]["kind"].as_str().unwrap_or_default().to_string(), answered.code)
}

#[test]
fn memory_binds_verbs_that_have_no_search() {
    let sandbox = Sandbox::new();
    for call in [
        "generate hubs --states 1073741824 -o out.aut",
        "solve --random 100000000,3,2",
        "generate random-graph --states 100000000 -o out.aut",
    ] {
        let answered = sandbox.volee(&format!("{call} --memory 32M --format json"));
        assert_eq!(limit(&answered), ("memory".into(), 3), "{call}: {}", answered.stdout);
    }
    assert!(!sandbox.path("out.aut").exists(), "nothing is written by halves");
}

#[test]
fn time_binds_verbs_that_have_no_search() {
    let sandbox = Sandbox::new();
    sandbox.write("m.pml", "byte a; active proctype P() { do :: a++ od }");
    let call = "replay m.pml run:0x60000000 --time 500ms --memory 512M --format json";
    assert_eq!(limit(&sandbox.volee(call)), ("time".into(), 3));
}

#[test]
fn a_chain_of_statements_is_merged_in_linear_memory() {
    let sandbox = Sandbox::new();
    let model = |n: usize| format!("active proctype P() {{ {} }}", "skip;\n".repeat(n));
    sandbox.write("long.pml", model(8000));
    let answered = sandbox.volee("check long.pml --memory 64M --format json");
    assert_eq!(answered.code, 0, "{}{}", answered.stdout, answered.stderr);
}

#[cfg(target_os = "linux")]
mod linux {
    use std::process::{Child, Command, Stdio};
    use std::time::{Duration, Instant};

    use super::*;

    /// Starts a call and waits until it listens to signals.
    #[allow(clippy::zombie_processes, reason = "the caller waits")]
    fn start(sandbox: &Sandbox, call: &[&str]) -> Child {
        let child = Command::new(env!("CARGO_BIN_EXE_volee"))
            .args(call)
            .current_dir(sandbox.path(""))
            .stdout(Stdio::piped())
            .spawn()
            .expect("it runs");
        let status = format!("/proc/{}/status", child.id());
        loop {
            let text = std::fs::read_to_string(&status).expect("it is there");
            let caught = text.lines().find_map(|l| l.strip_prefix("SigCgt:\t")).expect("a mask");
            // SIGINT is the second signal.
            if u64::from_str_radix(caught, 16).expect("a mask") & 0b10 != 0 {
                return child;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn signalled(sandbox: &Sandbox, call: &[&str], signal: &str) -> Answered {
        let child = start(sandbox, call);
        let sent = Command::new("kill").args([signal, &child.id().to_string()]).status();
        assert!(sent.is_ok_and(|s| s.success()));
        let output = child.wait_with_output().expect("it ends");
        Answered {
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::new(),
            code: output.status.code().unwrap_or(-1),
        }
    }

    #[test]
    fn a_signal_ends_a_verb_that_waits_for_a_pipe_to_be_opened() {
        let sandbox = Sandbox::new();
        assert!(sandbox.shell("mkfifo pipe.pml pipe.aut").code == 0);
        for (call, signal) in [
            (["check", "pipe.pml"], "-INT"),
            (["lint", "pipe.pml"], "-TERM"),
            (["info", "pipe.aut"], "-INT"),
            (["solve", "pipe.pml"], "-TERM"),
        ] {
            let answered = signalled(&sandbox, &[call[0], call[1], "--format", "json"], signal);
            assert_eq!(limit(&answered), ("cancelled".into(), 3), "{call:?}: {}", answered.stdout);
        }
    }

    #[test]
    fn a_signal_ends_a_worker() {
        let sandbox = Sandbox::new();
        let answered = signalled(&sandbox, &["worker", "--listen", "127.0.0.1:0"], "-TERM");
        assert_eq!(answered.code, 3, "{}", answered.stdout);
    }

    #[test]
    fn a_device_is_no_model() {
        let sandbox = Sandbox::new();
        assert!(sandbox.shell("ln -s /dev/zero zero.pml; ln -s /dev/zero zero.spec").code == 0);
        for call in ["check zero.pml", "info zero.spec", "lint zero.pml", "solve /dev/zero"] {
            let answered = sandbox.volee(call);
            assert_eq!(answered.code, 2, "{call}: {}", answered.stderr);
        }
    }

    #[test]
    fn what_a_program_under_test_has_started_ends_with_it() {
        let sandbox = Sandbox::new();
        sandbox.write("spec.aut", "des (0, 2, 2)\n(0, \"?go\", 1)\n(1, \"!ok\", 0)\n");
        sandbox.write("server.sh", "sleep 1000 & echo $! > child\nwhile read line; do echo '!ok'; done\n");
        let call = "conform spec.aut --inputs \\?.* --outputs !.* --random 3 --timeout 100ms -- sh server.sh";
        let answered = sandbox.volee(call);
        let child = sandbox.read("child");
        let status = format!("/proc/{}/status", child.trim());
        let deadline = Instant::now() + Duration::from_secs(20);
        let is_alive = || std::fs::read_to_string(&status).is_ok_and(|s| !s.contains("State:\tZ"));
        while is_alive() {
            assert!(Instant::now() < deadline, "{}{}", answered.stdout, answered.stderr);
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    #[test]
    fn a_slow_start_is_no_verdict() {
        let sandbox = Sandbox::new();
        sandbox.write("spec.aut", "des (0, 2, 2)\n(0, \"?go\", 1)\n(1, \"!ok\", 0)\n");
        sandbox.write("slow.sh", "sleep 1; echo warming up; echo ready; while read l; do echo '!ok'; done\n");
        let call = "conform spec.aut --inputs \\?.* --outputs !.* --random 3 --timeout 500ms";
        let answered = sandbox.volee(&format!("{call} --ready ready -- sh slow.sh"));
        assert_eq!(answered.code, 0, "{}{}", answered.stdout, answered.stderr);
        let never = sandbox.volee(&format!("{call} --ready never --start-time 1500ms -- sh slow.sh"));
        assert_eq!(never.code, 2, "{}", never.stdout);
        assert!(never.stderr.contains("not ready"), "{}", never.stderr);
    }
}

#[test]
fn the_tour_overwrites_nothing_that_it_has_not_written() {
    let sandbox = Sandbox::new();
    assert_eq!(sandbox.volee("demo --into tour").code, 0);
    assert_eq!(sandbox.volee("demo --into tour").code, 0, "its own files it may write again");
    sandbox.write("tour/courier.pml", "my own work");
    let refused = sandbox.volee("demo --into tour");
    assert_eq!(refused.code, 2, "{}", refused.stdout);
    assert_eq!(sandbox.read("tour/courier.pml"), "my own work");
}
