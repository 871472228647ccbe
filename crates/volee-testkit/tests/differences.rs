//! The book's page about differences from SPIN says the truth, of us and, where it is installed, of SPIN.

use volee_program::MachineOptions;
use volee_testkit::agreement::{explore_plainly, read};
use volee_testkit::corpus;
use volee_testkit::spin::Spin;

const PAGE: &str = include_str!("../../../book/src/spin-differences.md");

/// Each model of the page with what is said of the two.
fn models() -> Vec<(String, String, String)> {
    let mut all = Vec::new();
    for block in PAGE.split("```promela ").skip(1) {
        let (head, rest) = block.split_once('\n').expect("a model has lines");
        let text = rest.split("```").next().expect("a model ends");
        let said = |of: &str| {
            let after = head.split(&format!("{of}=\"")).nth(1).expect("something is said of both");
            after.split('"').next().expect("a quoted word").to_string()
        };
        all.push((text.to_string(), said("volee"), said("spin")));
    }
    all
}

#[test]
fn what_the_page_says_of_us_is_so() {
    let models = models();
    assert!(models.len() >= 10, "{}", models.len());
    for (text, expected, _) in models {
        let lowered = read(&text).unwrap_or_else(|message| panic!("{message}\n{text}"));
        let mut machine = lowered.machine(MachineOptions { plain: true, ..MachineOptions::default() });
        let found = explore_plainly(&mut machine, "true").expect("a predicate").expect("few states");
        let answer = if found.deadlock || !found.faults.is_empty() { "error" } else { "no error" };
        assert_eq!(answer, expected, "{found:?}\n{text}");
    }
}

#[test]
fn what_the_page_says_of_spin_is_so() {
    if !corpus::peers(&["spin", "gcc"]) {
        return;
    }
    let spin = Spin::new().expect("it is there");
    for (text, _, expected) in models() {
        let answer = match spin.ask(&text).expect("it can be called") {
            None => "refused",
            Some(answer) if answer.deadlock || answer.failed > 0 => "error",
            Some(_) => "no error",
        };
        assert_eq!(answer, expected, "\n{text}");
    }
}
