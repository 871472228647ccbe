//! `cargo xtask oracle programs [--count N] [--seed S] [--most-states N] [--spin]`: random programs of the
//! whole language.
//!
//! Each program is searched in every way we have, and all must agree ([`volee_testkit::agreement`]). With
//! `--spin` the programs are those that SPIN 6.5.2 defines, and the plain counts of states and transitions
//! and the verdicts must be SPIN's too. A program that fails is made smaller before it is printed.

use std::ops::Range;
use std::sync::Mutex;

use volee::claims::never_claim;
use volee::cluster::search::{joined, work};
use volee::cluster::threads::on_threads;
use volee::program::{Machine, Program};
use volee::search::{Check, Outcome};
use volee::system::{Budget, Meter};
use volee_testkit::agreement::Hooks;
use volee_testkit::oracle::{self, Tally};
use volee_testkit::spin::Spin;

use crate::oracle::understood;
use crate::promela::option;

pub(crate) const USAGE: &str = "cargo xtask oracle programs [--count N] [--seed S] [--most-states N] [--spin]

Random programs, each searched in every way: all must agree. Without --seed the seeds are those of the day; --most-states
passes over larger programs; --spin compares the counts and verdicts of SPIN too. What differs is made smaller and printed.";

/// Programs between two lines of figures.
const CHAPTER: u64 = 1_000;

/// `cargo xtask oracle programs`.
///
/// # Errors
/// A wrong call, SPIN is asked for and not there, or a program differs.
pub fn run(arguments: &[String]) -> Result<(), String> {
    if arguments.iter().any(|a| a == "--help" || a == "-h") {
        return Err(format!("usage: {USAGE}"));
    }
    understood(arguments, &["--count", "--seed", "--most-states"], &["--spin"])?;
    let number = |name: &str, usual: u64| match option(arguments, name) {
        None => Ok(usual),
        Some(text) => text.parse().map_err(|_| format!("{name} NUMBER")),
    };
    let count = number("--count", 10_000)?;
    let seed = match option(arguments, "--seed") {
        Some(_) => number("--seed", 0)?,
        None => volee_testkit::seed_of_the_day(),
    };
    let spin = arguments.iter().any(|a| a == "--spin").then(Spin::new).transpose()?;
    let most_states = option(arguments, "--most-states").map(|_| number("--most-states", 0)).transpose()?;
    let hooks = Hooks {
        never: Some(&|program, machine| never_claim(program, machine)),
        by_two: Some(&by_two),
        most_states: most_states.map(|most| most as usize),
    };
    let mut tally = Tally::default();
    let started = std::time::Instant::now();
    for first in (seed..seed + count).step_by(CHAPTER as usize) {
        tally.add(oracle::run(first..(first + CHAPTER).min(seed + count), spin.as_ref(), hooks));
        println!(
            "{tally}; seeds {seed} to {}, {:.0} s",
            (first + CHAPTER).min(seed + count) - 1,
            started.elapsed().as_secs_f64()
        );
    }
    match tally.differing.is_empty() {
        true => Ok(()),
        false => Err(format!("seeds that differ: {:?}", tally.differing)),
    }
}

/// Compares the programs of these seeds in every way the house has.
pub fn compare(seeds: Range<u64>, spin: Option<&Spin>) -> Tally {
    let never = |program: &Program, machine: &mut Machine| never_claim(program, machine);
    oracle::run(seeds, spin, Hooks { never: Some(&never), by_two: Some(&by_two), most_states: None })
}

fn by_two(machine: &Machine, how: &Check) -> Result<Outcome, String> {
    let clock = Meter::start(Budget::default());
    let machines = Mutex::new(vec![machine.clone(), machine.clone()]);
    let parts = on_threads(2, &clock, &mut |_| {}, |driver| {
        let taken = machines.lock().map(|mut all| all.pop()).unwrap_or_default();
        work(driver, &mut taken.expect("one machine for each worker"), how)
    });
    let parts = parts.map_err(|failure| format!("two workers: {failure}"))?;
    let (together, _) =
        joined(&mut machine.clone(), how, parts, &clock).map_err(|e| format!("two workers: {e}"))?;
    Ok(together)
}
