//! The comparison with SPIN's counts and verdicts, on the models that are small enough for every test run.

use xtask::corpus::folder;
use xtask::promela::{compare, is_below, oracle};

#[test]
fn small_models_have_spins_states_transitions_and_verdicts() {
    let Some(corpus) = folder("promela") else {
        println!("skipped: the corpus is not beside this checkout");
        return;
    };
    let oracle = oracle(&corpus).expect("the corpus has SPIN's answers");
    let small = oracle.iter().filter(|(_, rows)| is_below(rows, 100_000));
    let (mut models, mut larger, mut differing) = (0, 0, Vec::new());
    for (model, rows) in small {
        let comparison = compare(&corpus, model, rows, 60);
        models += 1;
        larger += usize::from(comparison.larger);
        differing.extend(comparison.differences.iter().map(|d| format!("{model}: {d}")));
    }
    assert!(models > 100, "only {models} models");
    assert!(differing.is_empty(), "{differing:#?}");
    assert!(larger * 10 <= models, "{larger} of {models} have more states than SPIN's merged search");
}
