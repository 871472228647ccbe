//! Büchi automata against the definition of LTL.

use volee_logic::automaton::{Automaton, intersection_is_empty};
use volee_logic::formula::{Formula, Shape, parse, random_formula};
use volee_logic::ltl::{holds_of_lasso, translate, translate_to_buchi};
use volee_system::Random;

use crate::naive::{self, Lasso};

/// Whether the automaton accepts the word, by the product and all its cycles.
fn accepts(formula: &Formula, automaton: &Automaton, lasso: &Lasso) -> bool {
    let atoms = formula.atoms();
    let n = automaton.states.len();
    let node = |i: usize, s: u32| i * n + s as usize;
    let size = lasso.letters.len() * n;
    let mut edges: Vec<Vec<(usize, u64)>> = vec![Vec::new(); size];
    for (i, &letter) in lasso.letters.iter().enumerate() {
        for s in 0..n as u32 {
            for edge in automaton.successors(s, |own| letter >> atoms[own as usize].0 & 1 == 1) {
                edges[node(i, s)].push((node(lasso.next(i), edge.target), edge.marks));
            }
        }
    }
    let reach = |from: usize| {
        let mut seen = vec![false; size];
        let mut stack = vec![from];
        while let Some(at) = stack.pop() {
            for &(to, _) in &edges[at] {
                if !std::mem::replace(&mut seen[to], true) {
                    stack.push(to);
                }
            }
        }
        seen
    };
    let mut from_start = reach(node(0, automaton.initial));
    from_start[node(0, automaton.initial)] = true;
    (0..size).filter(|&v| from_start[v]).any(|v| {
        let there = reach(v);
        if !there[v] {
            return false;
        }
        let mut marks = 0;
        for (w, out) in edges.iter().enumerate().filter(|(w, _)| there[*w]) {
            if reach(w)[v] {
                for (to, m) in out {
                    if there[*to] && reach(*to)[v] {
                        marks |= m;
                    }
                }
            }
        }
        marks == automaton.all_marks()
    })
}

fn random_lasso(random: &mut Random) -> Lasso {
    let length = 1 + random.below(4);
    let start = random.below(length);
    Lasso { letters: (0..length).map(|_| random.below(4) as u32).collect(), start }
}

#[test]
fn random_formulas_agree_with_the_definition_on_lassos() {
    let mut random = Random::new(1991);
    let mut compared = 0;
    for round in 0..2600 {
        let operators = 1 + random.below(7);
        let formula = random_formula(&mut random, Shape { atoms: 2, operators });
        let general = translate(&formula).expect("small");
        let buchi = translate_to_buchi(&formula).expect("small");
        assert!(buchi.is_state_based() && buchi.sets == 1);
        if buchi.len() > 24 {
            continue;
        }
        for _ in 0..8 {
            let lasso = random_lasso(&mut random);
            let truth = naive::infinite(&formula.pool, formula.root, &lasso);
            let letters: Vec<Vec<bool>> =
                lasso.letters.iter().map(|l| (0..2).map(|a| l >> a & 1 == 1).collect()).collect();
            assert_eq!(holds_of_lasso(&formula, &letters, lasso.start), truth, "round {round}: {formula}");
            assert_eq!(accepts(&formula, &general, &lasso), truth, "round {round}: {formula} on {lasso:?}");
            assert_eq!(accepts(&formula, &buchi, &lasso), truth, "round {round}: {formula} on {lasso:?}");
            compared += 1;
        }
    }
    assert!(compared >= 20_000, "{compared}");
}

#[test]
fn a_formula_and_its_negation_have_nothing_in_common() {
    let mut random = Random::new(77);
    for _ in 0..300 {
        let formula = random_formula(&mut random, Shape { atoms: 2, operators: 6 });
        let yes = translate(&formula).expect("small");
        let mut no = translate(&formula.clone().negated()).expect("small");
        assert!(intersection_is_empty(yes, &mut no), "{formula}");
    }
}

#[test]
fn known_formulas_have_known_sizes() {
    for (text, states) in
        [("[]p", 1), ("<>p", 2), ("[]<>p", 1), ("<>[]p", 2), ("p U q", 2), ("[](p -> <>q)", 2)]
    {
        let formula = parse(text, "f").expect("parses");
        assert_eq!(translate(&formula).expect("small").len(), states, "{text}");
    }
}
