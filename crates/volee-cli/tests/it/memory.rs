//! Searches within a memory budget, and those that remember too little on purpose.

use serde_json::Value;

use crate::sandbox::Sandbox;

fn ask(sandbox: &Sandbox, call: &str) -> (Value, i32) {
    let answered = sandbox.volee(&format!("check {call} --format json"));
    (serde_json::from_str(&answered.stdout).expect("one object"), answered.code)
}

#[test]
fn a_budget_of_a_part_gives_the_same_verdict_and_says_what_was_forgotten() {
    let sandbox = Sandbox::new();
    let (all, code) = ask(&sandbox, "models/gen/2pc_5.pml");
    assert_eq!((code, all["statistics"]["states"].as_u64()), (0, Some(8832)));
    for kilobytes in [220, 180, 140] {
        for seed in [1, 2] {
            let (part, code) = ask(
                &sandbox,
                &format!("models/gen/2pc_5.pml --memory {kilobytes}k --seed {seed} --time 20s"),
            );
            let statistics = &part["statistics"];
            assert!(code == 0 || code == 3, "{part}");
            let peak = statistics["peak_memory_bytes"].as_u64().expect("a number");
            assert!(peak <= (kilobytes + 48) << 10, "{peak} bytes of {kilobytes} kB");
            if code == 0 && statistics["states_are_estimated"] == true {
                let number = |name: &str| statistics[name].as_f64().expect(name);
                assert!(
                    number("insertions") >= 8832.0 && number("replaced") > 0.0 && number("hit_rate") > 0.0
                );
                assert!(number("longest_path") > 5.0 && number("transitions") >= 58_146.0);
                let off = (number("states") - 8832.0).abs() / 8832.0;
                assert!(off < 5.0 * number("estimate_error"), "{statistics}");
            }
        }
    }
}

#[test]
fn a_budget_below_the_smallest_tables_is_kept_too() {
    let sandbox = Sandbox::new();
    for budget in ["1", "1k", "3k"] {
        let (answer, code) = ask(&sandbox, &format!("models/demo/courier.pml --memory {budget}"));
        assert_eq!((code, &answer["results"][0]["reason"]["kind"]), (3, &"memory".into()), "{answer}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn resident_memory_stays_near_the_budget() {
    let sandbox = Sandbox::new();
    let (kilobytes, code) = sandbox.peak("check models/gen/levels.pml -D N=40 --memory 512k");
    assert_eq!(code, 0);
    assert!(kilobytes <= 512 + (24 << 10), "{kilobytes} kB");
}

#[test]
fn an_approximate_search_proves_nothing() {
    let sandbox = Sandbox::new();
    for kind in ["bitstate", "compact"] {
        for question in ["", "--tl F(no_such_event|true)", "--invariant true"] {
            let mut words = vec!["check", "models/gen/2pc_5.pml", "--approximate", kind, "--memory", "8M"];
            words.extend(question.split_once(' ').map(|(flag, text)| [flag, text]).into_iter().flatten());
            let answered = sandbox.volee_with(&words, "");
            assert_eq!(answered.code, 3, "{kind} {question}: {}{}", answered.stdout, answered.stderr);
            assert!(
                answered.stdout.contains("no error found by an approximate search"),
                "{}",
                answered.stdout
            );
        }
    }
}
