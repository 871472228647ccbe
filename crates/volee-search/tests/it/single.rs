//! Searches that go over into single file: states with long channels, whose names are long, in little memory.

use std::borrow::Cow;
use std::collections::HashSet;
use std::time::Duration;

use volee_search::{Check, Outcome, check};
use volee_system::{
    Budget, FaultId, Flow, Label, Meter, PredicateId, Quiet, Random, Sink, Step, System, Verdict, Witness,
    collect_initial, collect_steps,
};

const LETTERS: usize = 3;

/// What a process does in one of its states.
#[derive(Debug, Clone, Copy)]
enum Act {
    Send(u8),
    Receive(u8),
    Nothing,
}

/// Two random processes with a channel of some places each way. It notes which states were expanded.
///
/// A state has the two control points, the length of the first channel, and both channels one after the other.
struct Talk {
    acts: [Vec<Vec<(Act, u8)>>; 2],
    places: usize,
    expanded: HashSet<Vec<u8>>,
}

impl Talk {
    fn random(seed: u64, places: usize) -> Self {
        let mut random = Random::new(seed);
        let points = 2 + random.below(3);
        let mut process = || -> Vec<Vec<(Act, u8)>> {
            (0..points)
                .map(|_| {
                    (0..1 + random.below(3))
                        .map(|_| {
                            let letter = random.below(LETTERS) as u8;
                            let act = match random.below(9) {
                                0..4 => Act::Send(letter),
                                4..8 => Act::Receive(letter),
                                _ => Act::Nothing,
                            };
                            (act, random.below(points) as u8)
                        })
                        .collect()
                })
                .collect()
        };
        Talk { acts: [process(), process()], places, expanded: HashSet::new() }
    }

    fn next(&self, state: &[u8], who: usize, (act, to): (Act, u8)) -> Option<Vec<u8>> {
        let cut = usize::from(state[2]);
        let mut channels = [state[3..3 + cut].to_vec(), state[3 + cut..].to_vec()];
        match act {
            Act::Send(letter) if channels[who].len() < self.places => channels[who].push(letter),
            Act::Receive(letter) if channels[1 - who].first() == Some(&letter) => {
                channels[1 - who].remove(0);
            }
            Act::Nothing => {}
            _ => return None,
        }
        let mut next = vec![state[0], state[1], channels[0].len() as u8];
        next[who] = to;
        next.extend(channels.concat());
        Some(next)
    }

    fn targets(&self, state: &[u8]) -> Vec<Vec<u8>> {
        let of = |who: usize| self.acts[who][usize::from(state[who])].iter().map(move |&act| (who, act));
        of(0).chain(of(1)).filter_map(|(who, act)| self.next(state, who, act)).collect()
    }

    /// All states, if there are at most this many.
    fn reachable(&self, most: usize) -> Option<HashSet<Vec<u8>>> {
        let mut seen = HashSet::from([vec![0; 3]]);
        let mut work = vec![vec![0; 3]];
        while let Some(state) = work.pop() {
            for target in self.targets(&state) {
                if seen.insert(target.clone()) {
                    work.push(target);
                }
            }
            if seen.len() > most {
                return None;
            }
        }
        Some(seen)
    }
}

/// Few states are bad, by what they hold.
fn is_bad(state: &[u8], one_in: u32) -> bool {
    state.iter().fold(7u32, |sum, &byte| sum.wrapping_mul(31).wrapping_add(u32::from(byte))) % one_in == 1
}

impl System for Talk {
    fn initial(&mut self, push: &mut dyn FnMut(&[u8]) -> Flow) -> Flow {
        push(&[0; 3])
    }

    fn steps(&mut self, state: &[u8], sink: &mut dyn Sink) -> Flow {
        self.expanded.insert(state.to_vec());
        self.targets(state).iter().try_for_each(|target| sink.push(Step::labelled(0), target))
    }

    fn label(&self, _: Label) -> Cow<'_, str> {
        "i".into()
    }

    fn is_valid_end(&mut self, _: &[u8]) -> bool {
        true
    }

    fn holds(&mut self, predicate: PredicateId, state: &[u8]) -> Result<bool, FaultId> {
        Ok(!is_bad(state, predicate.0))
    }
}

fn follow(talk: &mut Talk, witness: &Witness) -> Vec<u8> {
    let mut state = collect_initial(talk)[witness.initial as usize].clone();
    for &ordinal in &witness.steps {
        state = collect_steps(talk, &state)[ordinal as usize].1.clone();
    }
    state
}

fn run(talk: &mut Talk, questions: &Check, memory: Option<u64>) -> Outcome {
    let time = Some(Duration::from_millis(800));
    let budget = Budget { memory, time, ..Budget::default() };
    check(talk, questions, &Meter::start(budget), &mut Quiet)
}

/// Some random systems with a few thousand states, those states, and what the ordinary search needs.
fn talks(wanted: usize) -> impl Iterator<Item = (u64, Talk, HashSet<Vec<u8>>, u64)> {
    let random = (0..).map(|seed| (seed, Talk::random(seed, 20 + 10 * (seed as usize % 8))));
    let large = random.filter_map(|(seed, mut talk)| {
        let states = talk.reachable(6000).filter(|states| states.len() > 800)?;
        let full = run(&mut talk, &Check::new(), None).statistics.memory_bytes;
        Some((seed, talk, states, full))
    });
    large.take(wanted)
}

#[test]
fn every_state_is_expanded_and_every_error_counts_once_in_any_memory() {
    let (mut ended, mut forgot, mut again, mut exact) = (0, 0, 0, 0);
    for (seed, mut talk, states, full) in talks(25) {
        let bad = states.iter().filter(|state| is_bad(state, 50)).count() as u64;
        for percent in [100, 50, 30, 20, 10, 5] {
            talk.expanded.clear();
            let questions = Check::new().all_errors(true).invariant("good", PredicateId(50)).seed(seed);
            let outcome = run(&mut talk, &questions, Some(full * percent / 100));
            let told = format!("seed {seed}, {percent} % of {full}: {:?}", outcome.statistics);
            let answer = &outcome.answers[2];
            assert!(answer.errors <= bad, "{told}");
            if let Verdict::Violated(found) = &answer.verdict {
                assert!(is_bad(&follow(&mut talk, &found[0].witness), 50), "{told}");
            }
            if outcome.limit.is_some() {
                continue;
            }
            assert_eq!(talk.expanded, states, "{told}");
            // So many errors are remembered in any memory.
            if bad <= full * percent / 100 / 256 {
                assert_eq!(answer.errors, bad, "{told}");
                exact += 1;
            }
            ended += 1;
            match &outcome.statistics.turnover {
                Some(turnover) => {
                    forgot += 1;
                    again += usize::from(turnover.insertions > states.len() as u64);
                    let off = turnover.distinct.abs_diff(states.len() as u64) as f64;
                    assert!(off < 5.0 * turnover.distinct_error * states.len() as f64, "{told}");
                }
                None => assert_eq!(outcome.statistics.states, states.len() as u64, "{told}"),
            }
        }
    }
    assert!(ended > 80 && forgot > 30 && again > 10, "{ended} ended, {forgot} forgot, {again} met again");
    assert!(exact > 40, "{exact} numbers are exact");
}

#[test]
fn more_memory_never_makes_an_answer_unknown() {
    let mut answered = 0;
    for (seed, mut talk, _, full) in talks(16) {
        let mut least = None;
        for percent in [4, 6, 8, 10, 13, 16, 20, 25, 32, 40, 50, 65, 80, 100, 130] {
            let memory = full * percent / 100;
            let outcome = run(&mut talk, &Check::new().seed(seed ^ percent), Some(memory));
            let told = format!("seed {seed}, {percent} % of {full}: {:?}", outcome.statistics);
            match outcome.limit.as_ref().map(|limit| limit.kind()) {
                None => {
                    answered += 1;
                    least.get_or_insert(percent);
                }
                Some("memory") => assert_eq!(least, None, "{told}"),
                Some(kind) => assert_eq!(kind, "time", "{told}"),
            }
        }
    }
    assert!(answered > 130, "{answered}");
}

#[test]
fn a_run_to_an_error_is_told_wherever_it_is_found() {
    let (mut found, mut none) = (0, 0);
    for (seed, mut talk, states, full) in talks(30) {
        for percent in [60, 25, 12] {
            let one_in = 300 + (seed % 7) as u32 * 400;
            let questions = Check::new().invariant("good", PredicateId(one_in)).seed(seed);
            let outcome = run(&mut talk, &questions, Some(full * percent / 100));
            let there = states.iter().any(|state| is_bad(state, one_in));
            match &outcome.answers[2].verdict {
                Verdict::Violated(violations) => {
                    let state = follow(&mut talk, &violations[0].witness);
                    assert!(is_bad(&state, one_in), "seed {seed}, {percent} %");
                    found += 1;
                }
                Verdict::Holds => {
                    assert!(!there, "seed {seed}, {percent} %");
                    none += 1;
                }
                Verdict::Unknown(_) => {}
            }
        }
    }
    assert!(found > 30 && none > 0, "{found} found, {none} have none");
}

/// The connect-disconnect protocol of the report of 1989: long channels, and hardly a choice.
fn connect(places: usize) -> Talk {
    let (open, close, drop) = (0, 1, 2);
    let sender = vec![vec![(Act::Send(open), 1)], vec![(Act::Send(close), 0), (Act::Receive(drop), 0)]];
    let receiver = vec![vec![(Act::Receive(open), 1)], vec![(Act::Receive(close), 0), (Act::Send(drop), 0)]];
    Talk { acts: [sender, receiver], places, expanded: HashSet::new() }
}

#[test]
fn long_and_thin_graphs_need_a_twentieth_of_the_memory_whatever_the_seed() {
    let mut talk = connect(200);
    let states = talk.reachable(usize::MAX).expect("all").len() as u64;
    let full = run(&mut talk, &Check::new(), None).statistics.memory_bytes;
    for seed in 0..4 {
        for percent in [100, 50, 20, 10, 5] {
            let memory = full * percent / 100;
            let budget = Budget { memory: Some(memory), ..Budget::default() };
            let outcome = check(&mut talk, &Check::new().seed(seed), &Meter::start(budget), &mut Quiet);
            let told = format!("seed {seed}, {percent} % of {full}: {:?}", outcome.statistics);
            assert_eq!((&outcome.answers[0].verdict, &outcome.limit), (&Verdict::Holds, &None), "{told}");
            assert!(outcome.statistics.memory_bytes <= memory, "{told}");
            let insertions = outcome.statistics.turnover.map_or(states, |turnover| turnover.insertions);
            assert!(insertions * 10 <= states * 11, "{told}");
        }
    }
}
