//! Searches of random programs in any memory: the budget is never passed, what is told is right, and more
//! memory never makes an answer unknown.

use std::time::Duration;

use volee_program::{Machine, MachineOptions};
use volee_search::{Check, Order, Outcome, Reduction, Replacement, check};
use volee_system::{Budget, Limit, Meter, Quiet, Verdict};
use volee_testkit::agreement::{explore_plainly, read};
use volee_testkit::promela::{Audience, program};

use crate::graph::Graph;

const REDUCTIONS: [Reduction; 3] = [Reduction::None, Reduction::Persistent, Reduction::Both];

fn run(machine: &Machine, how: &Check, memory: Option<u64>) -> Outcome {
    let budget = Budget { memory, time: Some(Duration::from_millis(60)), ..Budget::default() };
    check(&mut machine.clone(), how, &Meter::start(budget), &mut Quiet)
}

/// Random programs of some hundreds of states or more.
fn machines(wanted: usize) -> impl Iterator<Item = (u64, Machine)> {
    let random = (0..).map(|seed| (seed, read(&program(seed, Audience::Ourselves).to_string())));
    let large = random.filter_map(|(seed, lowered)| {
        let made = |plain| {
            lowered.as_ref().ok().map(|l| l.machine(MachineOptions { plain, ..MachineOptions::default() }))
        };
        let states = explore_plainly(&mut made(true)?, "true", 20_000).ok()??.states;
        (states > 400).then_some((seed, made(seed % 2 == 0)?))
    });
    large.take(wanted)
}

fn words(outcome: &Outcome) -> Vec<bool> {
    outcome.answers.iter().map(|answer| matches!(answer.verdict, Verdict::Violated(_))).collect()
}

#[test]
fn no_budget_is_passed_and_more_memory_never_makes_an_answer_unknown() {
    let (mut answered, mut forgot, mut short) = (0, 0, 0);
    for (seed, machine) in machines(25) {
        for reduction in REDUCTIONS {
            let how = Check::new().all_errors(true).reduction(reduction).seed(seed);
            let full = run(&machine, &how, None);
            if full.limit.is_some() {
                continue;
            }
            let mut least = None;
            for kilobytes in
                [1, 2, 4, 6, 9, 12, 16, 20, 24, 30, 36, 42, 47, 49, 56, 64, 80, 100, 140, 200, 300]
            {
                let outcome = run(&machine, &how, Some(kilobytes << 10));
                let told = format!("seed {seed} {reduction:?} {kilobytes} kB: {:?}", outcome.statistics);
                assert!(outcome.statistics.memory_bytes <= kilobytes << 10, "{told}");
                match &outcome.limit {
                    None => {
                        assert_eq!(words(&outcome), words(&full), "{told}");
                        answered += 1;
                        forgot += usize::from(outcome.statistics.turnover.is_some());
                        least.get_or_insert(kilobytes);
                    }
                    Some(Limit::Memory { .. }) => {
                        assert_eq!(least, None, "{told}");
                        short += 1;
                    }
                    Some(limit) => assert_eq!(limit.kind(), "time", "{told}"),
                }
            }
        }
    }
    assert!(
        answered > 300 && forgot > 50 && short > 50,
        "{answered} answered, {forgot} forgot, {short} short"
    );
}

#[test]
fn other_policies_keep_to_their_budget_as_well() {
    let (mut answered, mut short) = (0, 0);
    for (seed, machine) in machines(12) {
        for policy in [Replacement::Oldest, Replacement::Cheapest, Replacement::Clock] {
            for kilobytes in [1, 4, 9, 12, 20, 30, 42, 64, 100, 200] {
                let how = Check::new().replacement(Some(policy)).reduction(Reduction::Persistent).seed(seed);
                let outcome = run(&machine, &how, Some(kilobytes << 10));
                let told = format!("seed {seed} {policy:?} {kilobytes} kB: {:?}", outcome.statistics);
                assert!(outcome.statistics.memory_bytes <= kilobytes << 10, "{told}");
                match &outcome.limit {
                    None => answered += 1,
                    Some(_) => short += 1,
                }
            }
        }
    }
    assert!(answered > 50 && short > 20, "{answered} answered, {short} short");
}

/// Twelve processes take turns, and each remembers how many it has had: names of more than 64 bits, along a path
/// on which everything is new. One of them fails late.
const TURNS: &str = "
byte turn;
bool flag;
proctype Player(byte id) {
    byte had;
    do
    :: turn == id && had < 90 -> atomic { had++; turn = (id + 1) % 12 }; assert(id < 11 || had < 70)
    od
}
active proctype Flagger() { do :: flag = !flag od }
init {
    byte id;
    atomic { do :: id < 12 -> run Player(id); id++ :: else -> break od }
}";

#[test]
fn wide_names_that_outgrow_any_memory_lose_no_error() {
    let lowered = read(TURNS).expect("it is a program");
    let machine = lowered.machine(MachineOptions::default());
    let (mut found, mut short) = (0, 0);
    for reduction in REDUCTIONS {
        for kilobytes in (6..260).step_by(6) {
            let how = Check::new().reduction(reduction).seed(kilobytes);
            let outcome = run(&machine, &how, Some(kilobytes << 10));
            assert!(outcome.statistics.memory_bytes <= kilobytes << 10, "{reduction:?} {kilobytes} kB");
            match &outcome.limit {
                Some(limit) => {
                    assert!(
                        ["memory", "time"].contains(&limit.kind()),
                        "{reduction:?} {kilobytes} kB: {limit:?}"
                    );
                    short += 1;
                }
                None => {
                    assert!(words(&outcome).contains(&true), "{reduction:?} {kilobytes} kB: nothing found");
                    found += 1;
                }
            }
        }
    }
    assert!(found > 20 && short > 5, "{found} found, {short} short");
}

/// A state may have any number of steps: where memory is left for them they are looked at together, and nothing
/// is forgotten for them.
#[test]
fn a_state_of_many_steps_has_the_memory_that_is_left() {
    let n = 6000_usize;
    let states: Vec<Vec<u8>> = (0..n).map(|at| vec![1, (at / 256) as u8, (at % 256) as u8]).collect();
    let mut edges = vec![Vec::new(); n];
    edges[0] = (1..n).map(|to| (to, None)).collect();
    edges[n - 1] = vec![(0, Some(0))];
    let (initial, valid_end) = (vec![0], vec![true; n]);
    let graph = Graph { states, initial, edges, valid_end, predicates: vec![vec![false; n]; 3] };
    for order in [Order::DepthFirst, Order::BreadthFirst] {
        for megabytes in [2, 16, 1024] {
            let budget = Budget { memory: Some(megabytes << 20), ..Budget::default() };
            let how = Check::new().order(order).all_errors(true);
            let outcome = check(&mut graph.clone(), &how, &Meter::start(budget), &mut Quiet);
            let told = format!("{order:?}, {megabytes} MB: {:?} {:?}", outcome.limit, outcome.statistics);
            assert!(outcome.limit.is_none() && outcome.statistics.turnover.is_none(), "{told}");
            assert_eq!(outcome.statistics.states, n as u64, "{told}");
        }
    }
}
