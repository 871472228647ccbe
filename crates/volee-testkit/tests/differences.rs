//! The book's page about differences from SPIN says the truth, of us and, where it is installed, of SPIN.

use volee_program::MachineOptions;
use volee_testkit::agreement::{explore_plainly, read};
use volee_testkit::corpus;
use volee_testkit::spin::Spin;

const PAGE: &str = include_str!("../../../book/src/spin-differences.md");

/// A model of the page with what is said of volee and of SPIN.
struct Said {
    text: String,
    volee: String,
    spin: String,
    /// The transitions that each counts, where the page tells.
    transitions: Option<[u64; 2]>,
}

fn models() -> Vec<Said> {
    let mut all = Vec::new();
    for block in PAGE.split("```promela ").skip(1) {
        let (head, rest) = block.split_once('\n').expect("a model has lines");
        let text = rest.split("```").next().expect("a model ends");
        let find = |of: &str| head.split(&format!("{of}=\"")).nth(1)?.split('"').next().map(str::to_string);
        let said = |of: &str| find(of).expect("something is said of both");
        let numbers = |said: String| {
            let numbers: Vec<u64> = said.split(' ').map(|n| n.parse().expect("a number")).collect();
            [numbers[0], numbers[1]]
        };
        let transitions = find("transitions").map(numbers);
        all.push(Said { text: text.to_string(), volee: said("volee"), spin: said("spin"), transitions });
    }
    all
}

#[test]
fn what_the_page_says_of_us_is_so() {
    let models = models();
    assert!(models.len() >= 10, "{}", models.len());
    for Said { text, volee: expected, transitions, .. } in models {
        let lowered = read(&text).unwrap_or_else(|message| panic!("{message}\n{text}"));
        let mut machine = lowered.machine(MachineOptions { plain: true, ..MachineOptions::default() });
        let found = explore_plainly(&mut machine, "true", 1000).expect("a predicate").expect("few states");
        let answer = if found.deadlock || !found.faults.is_empty() { "error" } else { "no error" };
        assert_eq!(answer, expected, "{found:?}\n{text}");
        if let Some([ours, _]) = transitions {
            assert_eq!(found.transitions as u64, ours, "{text}");
        }
    }
}

#[test]
fn what_the_page_says_of_spin_is_so() {
    if !corpus::peers(&["spin", "gcc"]) {
        return;
    }
    let spin = Spin::new().expect("it is there");
    for Said { text, spin: expected, transitions, .. } in models() {
        let found = spin.ask(&text).expect("it can be called");
        if let (Some([_, its]), Some(found)) = (transitions, &found) {
            assert_eq!(found.transitions, its, "\n{text}");
        }
        let answer = match found {
            None => "refused",
            Some(answer) if answer.deadlock || answer.failed > 0 => "error",
            Some(_) => "no error",
        };
        assert_eq!(answer, expected, "\n{text}");
    }
}
