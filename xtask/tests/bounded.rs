//! Searches in a part of the memory answer like those in all of it, on the corpus models that are small
//! enough.

use xtask::bounded::compare;
use xtask::corpus::folder;
use xtask::promela::{is_below, oracle};

#[test]
fn less_memory_never_changes_an_answer() {
    let Some(corpus) = folder("promela") else {
        println!("skipped: the corpus is not beside this checkout");
        return;
    };
    let oracle = oracle(&corpus).expect("the corpus has SPIN's answers");
    let (mut models, mut same, mut differing) = (0, [0; 4], Vec::new());
    for (model, _) in oracle.iter().filter(|(_, rows)| is_below(rows, 20_000)) {
        let found = compare(&corpus.join(model), &[1, 2], 1.0).expect("the model is read");
        let Some(found) = found else { continue };
        models += 1;
        for (same, ends) in same.iter_mut().zip(found.ends) {
            *same += ends.same;
        }
        differing.extend(found.different.iter().map(|d| format!("{model}: {d}")));
    }
    println!("{models} models; with the same answers at 50, 20, 10 and 5 %: {same:?}");
    assert!(models > 60, "only {models} models");
    assert!(differing.is_empty(), "{differing:#?}");
    assert!(same[0] > 20 && same[1] > 0, "{same:?}");
}
