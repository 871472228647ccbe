//! Random programs with everything that only the whole house can do: never claims, and two workers.

use volee_testkit::seed_of_the_day;

#[test]
fn never_claims_and_two_workers_agree_with_all_other_ways() {
    let seed = seed_of_the_day() + 500_000;
    let tally = xtask::programs::compare(seed..seed + 60, None);
    println!("{tally}");
    assert!(tally.differing.is_empty(), "seeds that differ: {:?}", tally.differing);
    assert!(tally.compared > 40, "{tally}");
}
