//! A search by several workers that is interrupted again and again, and goes on from its file each time with
//! more or fewer of them, finds what an uninterrupted one finds, to the last count.
//!
//! Where it is interrupted does not depend on the clock: the first file is due at once, and whoever hears that
//! it is written interrupts. Workers do some work between two files, so that there is an end. How much each has
//! done by then is up to who runs first, and with it how many interruptions there are: tests have several times as
//! many as they ask for.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use volee_cluster::drive::{Driver, Stop};
use volee_cluster::kept::{Keeping, News};
use volee_cluster::runs::{
    joined_claim, joined_formula, sorting_claim, sorting_formula, work_on_claim, work_on_formula,
};
use volee_cluster::search::{joined, sorting, work};
use volee_cluster::threads::{Failure, on_kept_threads};
use volee_lts::generate::AlternatingBit;
use volee_search::{Check, ClaimOptions, Fairness, LtlQuestion, Order, Runs, TlQuestion};
use volee_store::checkpoint::{Checkpoint, Refused, read_header};
use volee_store::handed::{Supply, begin, end, write};
use volee_system::part::PartError;
use volee_system::{Budget, Limit, Meter, PredicateId, Quiet, Random, Verdict};

use crate::runs::{Graph, formula};
use crate::search::{Small, compare, sequential};

/// How a search ended, and how often it was interrupted before.
pub struct Ended<T> {
    pub parts: Vec<T>,
    pub interruptions: usize,
}

/// Runs a job that is interrupted whenever it is kept, each time with the next of these numbers of workers.
pub fn interrupted<T: Send>(
    numbers: &[usize],
    mut sort: impl FnMut(&Path, usize, &Meter) -> Result<Box<dyn Supply>, Refused>,
    job: impl Fn(&mut Driver<'_>) -> Result<T, Stop> + Sync,
) -> Ended<T> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("kept");
    for interruptions in 0.. {
        let cancelled = Arc::new(AtomicBool::new(false));
        let meter = Meter::start(Budget { cancelled: Arc::clone(&cancelled), ..Budget::default() });
        let checkpoint = Checkpoint {
            path: path.clone(),
            every: Duration::ZERO,
            header: b"a test".to_vec(),
            resume: interruptions > 0,
        };
        let told = |news: News<'_>| {
            assert_eq!(news, News::Written);
            cancelled.store(true, Ordering::Relaxed);
        };
        let mut open = |path: &Path, peers: usize| {
            assert_eq!(read_header(path).expect("it is whole"), b"a test");
            sort(path, peers, &meter)
        };
        let mut keeping = Keeping::new(checkpoint, 8, &mut open, &told, &meter);
        let workers = numbers[interruptions % numbers.len()];
        match on_kept_threads(workers, &meter, &mut |_| {}, Some(&mut keeping), &job) {
            Ok(parts) => return Ended { parts, interruptions },
            Err(Failure::Part { error: PartError::Limit(Limit::Cancelled), .. }) => {}
            Err(other) => panic!("{other}"),
        }
    }
    unreachable!("some round ends it")
}

fn calm() -> Meter {
    Meter::start(Budget::default())
}

#[test]
fn random_systems_have_the_same_answers_and_counts_however_often_they_are_interrupted() {
    let mut interruptions = 0;
    for seed in 0..24 {
        let mut random = Random::new(seed);
        let system = Small::random(&mut random, 600);
        let all_errors = random.percent(80);
        let mut questions = Check::new().all_errors(all_errors).order(Order::BreadthFirst);
        let predicate = PredicateId(random.below(64) as u32);
        if random.percent(50) {
            questions = questions.invariant("i", predicate);
        }
        if random.percent(50) {
            questions = questions.goal("g", predicate).goal("never", PredicateId(64));
        }
        let numbers: &[usize] = [&[2][..], &[3], &[2, 3, 1], &[4, 2]][seed as usize % 4];
        let ended = interrupted(
            numbers,
            |path, peers, meter| sorting(&mut system.clone(), path, peers, meter),
            |driver| work(driver, &mut system.clone(), &questions),
        );
        interruptions += ended.interruptions;
        let (ours, _) =
            joined(&mut system.clone(), &questions, ended.parts, &calm()).expect("all was looked at");
        let context = format!("seed {seed}, {numbers:?} workers");
        compare(&system, all_errors, &ours, &sequential(&system, &questions), &context);
    }
    assert!(interruptions > 20, "{interruptions}");
}

#[test]
fn a_protocol_is_explored_to_the_last_state_in_pieces() {
    let abp = AlternatingBit::new(8, 2);
    let questions = Check::new().all_errors(true).order(Order::BreadthFirst);
    let theirs = sequential(&abp, &questions);
    for numbers in [&[2][..], &[3], &[3, 2]] {
        let ended = interrupted(
            numbers,
            |path, peers, meter| sorting(&mut abp.clone(), path, peers, meter),
            |driver| work(driver, &mut abp.clone(), &questions),
        );
        assert!(ended.interruptions > 0, "{numbers:?}");
        let (ours, _) =
            joined(&mut abp.clone(), &questions, ended.parts, &calm()).expect("all was looked at");
        compare(&abp, true, &ours, &theirs, &format!("{numbers:?}"));
    }
}

#[test]
fn infinite_runs_are_judged_alike_after_interruptions_among_states_and_among_cycles() {
    let mut random = Random::new(21);
    let (mut violated, mut held, mut interruptions) = (0, 0, 0);
    for round in 0..80 {
        let mut graph = Graph::random(&mut random, 250, round % 3 != 0, round % 9 == 4);
        let (formula, text) = formula(&mut random);
        let Ok(question) = LtlQuestion::new(&mut graph, formula, &text, "f") else { continue };
        let claim = question.claim().state_based();
        let fairness = if round % 2 == 0 { Fairness::None } else { Fairness::Weak };
        let options = ClaimOptions { fairness, faults: true, ..ClaimOptions::default() };
        let expected = question.check(&mut graph.clone(), options, &calm(), &mut Quiet).verdict;
        let numbers: &[usize] = [&[2][..], &[3], &[2, 3]][round % 3];
        let ended = interrupted(
            numbers,
            |path, peers, meter| sorting_claim(&mut graph.clone(), &claim, options, (path, peers), meter),
            |driver| work_on_claim(driver, &mut graph.clone(), &claim, options),
        );
        interruptions += ended.interruptions;
        let mut own = graph.clone();
        let (found, _) = joined_claim(&mut own, &claim, options, ended.parts, &calm(), &mut Quiet)
            .unwrap_or_else(|error| panic!("{text}, round {round}: {error}"));
        match (&expected, &found.verdict) {
            (Verdict::Holds, Verdict::Holds) => held += 1,
            (Verdict::Violated(_), Verdict::Violated(_)) => violated += 1,
            (expected, found) => panic!("{text}, round {round}: {expected:?} and {found:?}"),
        }
    }
    assert!(violated > 5 && held > 5 && interruptions > 10, "{violated}, {held}, {interruptions}");
}

/// Of a ring all states stay until it is known that what is looked for is met again and again, so that most
/// interruptions are among cycles.
#[test]
fn a_ring_is_judged_alike_after_interruptions_in_every_round_of_the_search_for_cycles() {
    for (text, fairness) in [("[]<>p0", Fairness::None), ("<>[]p0", Fairness::Weak)] {
        let mut graph = Graph::ring(60);
        let parsed = volee_logic::formula::parse(text, "f").expect("a formula");
        let question = LtlQuestion::new(&mut graph, parsed, text, "f").expect("it has the predicate");
        let claim = question.claim().state_based();
        let options = ClaimOptions { fairness, faults: true, ..ClaimOptions::default() };
        let expected = question.check(&mut graph.clone(), options, &calm(), &mut Quiet).verdict;
        for numbers in [&[2][..], &[3, 2]] {
            let ended = interrupted(
                numbers,
                |path, peers, meter| sorting_claim(&mut graph.clone(), &claim, options, (path, peers), meter),
                |driver| work_on_claim(driver, &mut graph.clone(), &claim, options),
            );
            assert!(ended.interruptions > 5, "{text}: {}", ended.interruptions);
            let mut own = graph.clone();
            let (found, _) = joined_claim(&mut own, &claim, options, ended.parts, &calm(), &mut Quiet)
                .unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!(found.verdict == Verdict::Holds, expected == Verdict::Holds, "{text}");
        }
    }
}

#[test]
fn finite_runs_are_judged_alike_and_what_never_happens_is_told_after_interruptions() {
    let mut random = Random::new(2006);
    let mut interruptions = 0;
    for round in 0..120 {
        let mut graph = Graph::random(&mut random, 250, false, false);
        let (formula, text) = formula(&mut random);
        let runs = if round % 2 == 0 { Runs::Prefixes } else { Runs::Maximal };
        let Ok(question) = TlQuestion::new(&mut graph, &formula, &text, "f") else { continue };
        let (expected, silent) =
            question.check_and_watch(&mut graph.clone(), runs, &Check::new(), &calm(), &mut Quiet);
        let ended = interrupted(
            &[2, 3],
            |path, peers, meter| sorting_formula(&mut graph.clone(), &question, runs, (path, peers), meter),
            |driver| work_on_formula(driver, &mut graph.clone(), &question, runs),
        );
        interruptions += ended.interruptions;
        let mut own = graph.clone();
        let (found, told, _) = joined_formula(&mut own, &question, runs, ended.parts, &calm())
            .unwrap_or_else(|error| panic!("{text}: {error}"));
        match (&expected.answers[0].verdict, &found.answers[0].verdict) {
            (Verdict::Holds, Verdict::Holds) => {
                assert_eq!(silent, told, "{text}");
                assert_eq!(expected.statistics.states, found.statistics.states, "{text}");
            }
            (Verdict::Violated(_), Verdict::Violated(all)) => {
                assert_eq!(question.refutes(&mut own, &all[0].witness, runs), Some(true), "{text}");
            }
            (expected, found) => panic!("{text}: {expected:?} and {found:?}"),
        }
    }
    assert!(interruptions > 5, "{interruptions}");
}

#[test]
fn a_file_of_something_else_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("kept");
    let abp = AlternatingBit::new(4, 1);
    let checkpoint =
        Checkpoint { path: path.clone(), every: Duration::ZERO, header: Vec::new(), resume: false };
    let keep = |fill: fn(&mut volee_store::checkpoint::Writer) -> std::io::Result<()>| {
        let mut keeper = volee_store::checkpoint::Keeper::new(checkpoint.clone(), &calm());
        assert_eq!(keeper.keep(0, &calm(), fill), None);
    };
    let of_one_thread = |out: &mut volee_store::checkpoint::Writer| out.number(1);
    let cut_short = |out: &mut volee_store::checkpoint::Writer| {
        begin(2, out)?;
        write(0, &[0, 0, 255, 255], out)
    };
    let without_all = |out: &mut volee_store::checkpoint::Writer| {
        begin(2, out)?;
        end(out)
    };
    for (at, fill) in [of_one_thread as fn(&mut _) -> _, cut_short, without_all].into_iter().enumerate() {
        keep(fill);
        let meter = calm();
        let mut open = |path: &Path, peers: usize| sorting(&mut abp.clone(), path, peers, &meter);
        let resumed = Checkpoint { resume: true, ..checkpoint.clone() };
        let mut keeping = Keeping::new(resumed, 8, &mut open, &|_| {}, &meter);
        let questions = Check::new();
        let refused = on_kept_threads(2, &meter, &mut |_| {}, Some(&mut keeping), |driver| {
            work(driver, &mut abp.clone(), &questions)
        });
        assert!(refused.is_err(), "{at}");
    }
}
