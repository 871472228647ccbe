//! A few seconds of fuzzing; `cargo xtask fuzz` is for longer.

use std::time::Duration;

use xtask::fuzz::{TARGETS, Target, fuzz, keep};

/// Counts what is held, so that an input that takes too much is seen.
#[global_allocator]
static ALLOCATOR: volee::store::Counting = volee::store::Counting;

#[test]
fn every_parser_answers_whatever_it_is_given() {
    let seed = volee_testkit::seed_of_the_day();
    let targets: Vec<&'static Target> = TARGETS.iter().collect();
    if let Err(found) = fuzz(&targets, Duration::from_secs(3), seed) {
        let path = keep(found.target, &found.input);
        panic!("{} {} (seed {seed}); the input is in {}", found.target, found.why, path.display());
    }
}
