//! Finite-trace automata against the definition of the logic.

use volee_logic::formula::{Formula, Shape, parse, random_formula};
use volee_logic::tl::{Alphabet, Dfa, Limits, Monitor, Verdict3, compile};
use volee_system::Random;

use crate::naive;

fn automaton(formula: &Formula, alphabet: Alphabet) -> Dfa {
    compile(&formula.pool, formula.root, &formula.atoms(), alphabet, Limits::default()).expect("small")
}

/// Runs a word of letters given by the formula's atom numbers.
fn accepts(formula: &Formula, dfa: &Dfa, word: &[u32]) -> bool {
    let atoms = formula.atoms();
    let mut state = dfa.initial();
    for letter in word {
        state = dfa.step(state, |own| letter >> atoms[own as usize].0 & 1 == 1);
    }
    dfa.is_accepting(state)
}

/// All words up to a length over the letters.
fn words(letters: &[u32], length: usize) -> Vec<Vec<u32>> {
    let mut all = vec![Vec::new()];
    let mut from = 0;
    for _ in 0..length {
        let to = all.len();
        for i in from..to {
            for &letter in letters {
                let mut word: Vec<u32> = all[i].clone();
                word.push(letter);
                all.push(word);
            }
        }
        from = to;
    }
    all
}

#[test]
fn random_formulas_agree_with_the_definition_on_all_short_words() {
    let sets = words(&[0, 1, 2, 3], 4);
    let events = words(&[0, 1, 2, 4], 4);
    assert!(1000 * (sets.len() + events.len()) >= 100_000);
    let mut random = Random::new(1989);
    for round in 0..1000 {
        let operators = 1 + random.below(7);
        let formula = random_formula(&mut random, Shape { atoms: 2, operators });
        let dfa = automaton(&formula, Alphabet::Sets);
        for word in &sets {
            assert_eq!(
                accepts(&formula, &dfa, word),
                naive::finite(&formula.pool, formula.root, word),
                "round {round}: {formula} on {word:?}"
            );
        }
        let formula = random_formula(&mut random, Shape { atoms: 3, operators });
        let dfa = automaton(&formula, Alphabet::Events);
        let monitor = Monitor::new(&formula, Alphabet::Events, Limits::default()).expect("small");
        for word in &events {
            let truth = naive::finite(&formula.pool, formula.root, word);
            assert_eq!(accepts(&formula, &dfa, word), truth, "round {round}: {formula} on {word:?}");
            let mut state = monitor.initial();
            for letter in word {
                monitor.step(&mut state, |atom| letter >> monitor.atoms()[atom].0 & 1 == 1);
            }
            assert_eq!(monitor.rejecting(&state).is_none(), truth, "round {round}: {formula} on {word:?}");
            match monitor.verdict(&state) {
                Verdict3::Satisfied => assert!(truth),
                Verdict3::Violated => assert!(!truth),
                Verdict3::Open => {}
            }
        }
    }
}

#[test]
fn a_formula_and_its_negation_are_complementary() {
    let mut random = Random::new(41);
    for _ in 0..200 {
        let formula = random_formula(&mut random, Shape { atoms: 2, operators: 6 });
        let (yes, no) =
            (automaton(&formula, Alphabet::Sets), automaton(&formula.clone().negated(), Alphabet::Sets));
        assert_eq!(yes.len(), no.len(), "{formula}");
    }
}

#[test]
fn the_example_of_the_report_is_read_by_its_semantics_not_by_its_printed_language() {
    let formula = parse("[](a -> ○(!a U b))", "f").expect("parses");
    let dfa = automaton(&formula, Alphabet::Events);
    let (a, b) = (1, 2);
    for word in [vec![a], vec![b, a, b], vec![a, b, a]] {
        assert!(accepts(&formula, &dfa, &word), "{word:?}");
    }
    assert!(!accepts(&formula, &dfa, &[a, a]));
}

#[test]
fn a_monitor_of_twenty_responses_has_forty_states_and_not_a_million() {
    let text: Vec<String> = (0..20).map(|i| format!("[](p{i} -> <>s{i})")).collect();
    let formula = parse(&text.join(" && "), "f").expect("parses");
    let monitor = Monitor::new(&formula, Alphabet::Events, Limits::default()).expect("small");
    assert_eq!(monitor.len(), 20);
    assert_eq!((0..20).map(|i| monitor.part(i).len()).sum::<usize>(), 40);
}

#[test]
fn derivatives_can_be_read() {
    let formula = parse("[](a -> X b)", "f").expect("parses");
    let dfa = automaton(&formula, Alphabet::Events);
    let texts: Vec<&str> = dfa.all_states().map(|s| dfa.derivative(s)).collect();
    assert_eq!(texts, ["[](!a || X b)", "X b && WX [](!a || X b)", "false"]);
}
