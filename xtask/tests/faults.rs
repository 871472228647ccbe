//! A few disturbed runs; `cargo xtask faults` does hundreds.

use xtask::faults::faults;

#[test]
fn disturbed_runs_are_right_or_unknown_and_leave_nothing_behind() {
    // The binary stands beside the folder of the tests, where the whole workspace is tested.
    let tests = std::env::current_exe().expect("this test is a file");
    let binary = tests.parent().and_then(|deps| deps.parent()).map(|folder| folder.join("volee"));
    let Some(binary) = binary.filter(|binary| binary.exists()) else {
        volee_testkit::corpus::skip("the binary of volee is not built");
        return;
    };
    let tally = faults(&binary, 20, volee_testkit::seed_of_the_day()).unwrap_or_else(|why| panic!("{why}"));
    assert_eq!(tally.rounds, 20);
}
