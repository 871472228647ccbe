//! Searches in a part of the memory answer like those in all of it, on the corpus models that are small
//! enough, and stay within it.

use volee::search::Reduction;
use xtask::bounded::{End, SHARES, compare};
use xtask::corpus::folder;
use xtask::promela::{is_below, oracle};

#[test]
fn less_memory_never_changes_an_answer() {
    let Some(corpus) = folder("promela") else {
        println!("skipped: the corpus is not beside this checkout");
        return;
    };
    let oracle = oracle(&corpus).expect("the corpus has SPIN's answers");
    let (mut models, mut same, mut wrong) = (0, [0; SHARES.len()], Vec::new());
    for (number, (model, _)) in oracle.iter().filter(|(_, rows)| is_below(rows, 20_000)).enumerate() {
        let reduction = [Reduction::None, Reduction::Persistent][number % 2];
        let found = compare(&corpus.join(model), reduction, number as u64, 1.0).expect("the model is read");
        let Some(found) = found else { continue };
        models += 1;
        for (same, end) in same.iter_mut().zip(found.ends) {
            *same += u32::from(end == End::Same);
        }
        wrong.extend(found.wrong.iter().map(|w| format!("{model}: {w}")));
    }
    println!("{models} models; with the same answers at {SHARES:?} %: {same:?}");
    assert!(models > 60, "only {models} models");
    assert!(wrong.is_empty(), "{wrong:#?}");
    let half = SHARES.iter().position(|&share| share == 50).expect("half of it is tried");
    assert!(same[half] > 10 && same[SHARES.len() - 1] > 60, "{same:?}");
}
