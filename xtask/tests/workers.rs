//! Several workers answer as one does: all transition systems of the corpus and its small Promela models.

use xtask::corpus::folder;
use xtask::promela::{is_below, oracle};
use xtask::workers::{model, rows, transition_system};

#[test]
fn transition_systems_have_the_values_of_independent_tools_on_1_to_4_workers() {
    let Some(corpus) = folder("lts") else {
        println!("skipped: the corpus is not beside this checkout");
        return;
    };
    let mut compared = 0;
    for (number, row) in rows(&corpus).expect("it is there").iter().enumerate() {
        let small = row.states < 3_000;
        for workers in (1..=4).filter(|w| small || *w == 2 + number % 3) {
            if row.states < 40_000 {
                transition_system(&corpus, row, workers).unwrap_or_else(|why| panic!("{}: {why}", row.name));
                compared += 1;
            }
        }
    }
    assert!(compared > 20, "{compared}");
}

#[test]
fn small_promela_models_are_searched_alike() {
    let Some(corpus) = folder("promela") else {
        println!("skipped: the corpus is not beside this checkout");
        return;
    };
    let oracle = oracle(&corpus).expect("it is there");
    let mut compared = 0;
    for (number, (name, _)) in oracle.iter().filter(|(_, rows)| is_below(rows, 8_000)).enumerate() {
        let found = model(&corpus.join(name), 1 + number % 4, 30.0);
        let states = found.unwrap_or_else(|why| panic!("{name}: {why}"));
        compared += u32::from(states.is_some());
    }
    assert!(compared > 40, "{compared}");
}
