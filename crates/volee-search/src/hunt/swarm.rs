//! A swarm: many searches that remember a few bits by state, no two of them alike (Holzmann, Joshi and Groce
//! 2011).
//!
//! Each has a hash function of its own, so that states which one takes for others are not those that another
//! one does, and an order of its own; each begins with random walks. They go in rounds, as many at a time as
//! there are threads. Of those that find something in a round the one counts that needed the fewest states,
//! not the one that is sooner: the same call gives the same run.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use volee_store::{Bitstate, Sketch, StateRef, Visited, hash_state, mix};
use volee_system::{Limit, Meter, Progress, Random, Snapshot, System};

use super::dive::Diver;
use super::walk::Walks;
use crate::check::{Check, Swarm};
use crate::parallel::Crew;
use crate::questions::{Finding, Questions};

/// Searches after which a swarm has had enough, where nobody says how much time there is.
const SEARCHES: u64 = 16;
/// Steps of random walks in the first round, and at least and at most in later ones: a part of what the
/// searches before have looked at.
const WALKED: u64 = 1 << 14;
const LATER_WALKED: (u64, u64) = (1 << 10, 1 << 22);
const PART_WALKED: u64 = 4;
/// The table of a search when there is no memory budget.
const DEFAULT_BYTES: u64 = 128 << 20;
/// What a stack has at least.
const LEAST_STACK: u64 = 1 << 16;
/// Expansions between two looks at clock and others.
const TICK: u64 = 1 << 8;
const REPORT: Duration = Duration::from_millis(50);

/// What a swarm has found.
pub(super) struct Swarmed {
    pub findings: Option<Vec<Finding>>,
    pub swarm: Swarm,
    pub transitions: u64,
    pub depth: u64,
    pub bytes: u64,
    pub limit: Option<Limit>,
}

/// What one search has found.
struct Member {
    findings: Option<Vec<Finding>>,
    /// States that it has looked at.
    needed: u64,
    dived: u64,
    missed: f64,
    is_cut: bool,
    walks: u64,
    steps: u64,
    transitions: u64,
    depth: u64,
    sketch: Sketch,
    limit: Option<Limit>,
}

/// What the searches of a round share.
struct Round<'r> {
    meter: &'r Meter,
    /// Of the table, and of the stack.
    bytes: (u64, u64),
    walked: u64,
    /// What the best search so far has needed.
    fewest: AtomicU64,
    looked_at: AtomicU64,
}

/// Searches until something is found, the time is used up, or it has had enough.
pub(super) fn search<S: System + ?Sized>(
    system: &mut S,
    check: &Check,
    crew: Option<&Crew<'_>>,
    meter: &Meter,
    progress: &mut dyn Progress,
) -> Swarmed {
    let workers = crew.map_or(1, Crew::size) as u64;
    let share = meter.budget().memory.map_or(DEFAULT_BYTES / 3 * 4, |bytes| bytes / workers);
    let bytes = (share / 4 * 3, (share / 8).max(LEAST_STACK));
    let mut all = Swarmed {
        findings: None,
        swarm: Swarm { bytes: bytes.0, ..Swarm::default() },
        transitions: 0,
        depth: 0,
        bytes: (bytes.0 + bytes.1) * workers,
        limit: None,
    };
    let mut sketch = Sketch::new(bytes.0 + bytes.1);
    let (mut first, mut walked) = (0, WALKED);
    while all.findings.is_none() && all.limit.is_none() {
        let round =
            Round { meter, bytes, walked, fewest: AtomicU64::new(u64::MAX), looked_at: AtomicU64::new(0) };
        let members = match crew {
            Some(crew) => together(crew, &round, (first, check.seed), progress),
            None => vec![member(system, check, &round, mix(first) ^ check.seed)],
        };
        first += workers;
        let dived = members.iter().map(|m| m.needed - m.steps).max().unwrap_or(0);
        walked = (dived / PART_WALKED).clamp(LATER_WALKED.0, LATER_WALKED.1);
        let best = members.iter().filter(|m| m.findings.is_some()).map(|m| m.needed).min();
        for member in members {
            sketch.join(&member.sketch);
            all.add(member, best);
        }
        if meter.budget().time.is_none() && first >= SEARCHES {
            break;
        }
    }
    all.swarm.distinct = sketch.estimate() as u64;
    all.swarm.distinct_error = sketch.standard_error();
    all
}

impl Swarmed {
    /// Counts what a search did; what it has found is what was found if it is the first that was best.
    fn add(&mut self, member: Member, best: Option<u64>) {
        let swarm = &mut self.swarm;
        swarm.searches += 1;
        swarm.cut += u64::from(member.is_cut);
        swarm.walks += member.walks;
        swarm.steps += member.steps;
        if member.dived > swarm.largest {
            (swarm.largest, swarm.missed) = (member.dived, member.missed);
        }
        self.transitions += member.transitions;
        self.depth = self.depth.max(member.depth);
        self.limit = self.limit.take().or(member.limit);
        if self.findings.is_none() && best == Some(member.needed) {
            self.findings = member.findings;
        }
    }
}

/// A round of several searches, each in a thread.
fn together(
    crew: &Crew<'_>,
    round: &Round<'_>,
    (first, seed): (u64, u64),
    progress: &mut dyn Progress,
) -> Vec<Member> {
    let (sender, receiver) = channel();
    let mut members: Vec<(u64, Member)> = Vec::new();
    std::thread::scope(|scope| {
        for number in first..first + crew.size() as u64 {
            let sender = sender.clone();
            scope.spawn(move || {
                let member = crew
                    .another()
                    .map(|(mut system, check)| member(system.as_mut(), &check, round, mix(number) ^ seed));
                // Who listens does so until all have said something.
                if let Some(member) = member {
                    let _ = sender.send((number, member));
                }
            });
        }
        drop(sender);
        loop {
            match receiver.recv_timeout(REPORT) {
                Ok(member) => members.push(member),
                Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) => progress.report(&Snapshot {
                    states: round.looked_at.load(Ordering::Relaxed),
                    transitions: 0,
                    depth: 0,
                    max_depth: 0,
                    pending: 0,
                    memory: (round.bytes.0 + round.bytes.1) * crew.size() as u64,
                }),
            }
        }
    });
    if members.is_empty() {
        return vec![unable("the model could not be read once more")];
    }
    members.sort_by_key(|(number, _)| *number);
    members.into_iter().map(|(_, member)| member).collect()
}

fn unable(message: &str) -> Member {
    let limit = Some(Limit::Other { message: message.into() });
    Member {
        findings: None,
        needed: 0,
        dived: 0,
        missed: 0.0,
        is_cut: false,
        walks: 0,
        steps: 0,
        transitions: 0,
        depth: 0,
        sketch: Sketch::new(0),
        limit,
    }
}

/// One search: first random walks, then all states, as far as bits tell them apart.
fn member<S: System + ?Sized>(system: &mut S, check: &Check, round: &Round<'_>, seed: u64) -> Member {
    let (table, stack) = round.bytes;
    let Some(mut bits) = Bitstate::new(table) else {
        return unable("there is no memory for the table of a search");
    };
    let mut sketch = Sketch::new(table + stack);
    let mut limit = None;
    // Whether to go on after so many states.
    let mut goes_on = |looked_at: u64| {
        if !looked_at.is_multiple_of(TICK) {
            return true;
        }
        round.looked_at.fetch_add(TICK, Ordering::Relaxed);
        limit = round.meter.check().err();
        limit.is_none() && looked_at <= round.fewest.load(Ordering::Relaxed)
    };
    let mut questions = Questions::new(check);
    let mut walks = Walks::new(system, &mut questions, Random::new(seed));
    let mut found = walks
        .walk(round.walked, |steps, state| {
            sketch.add_hash(hash_state(state));
            goes_on(steps)
        })
        .is_break();
    let (walked, steps) = (walks.walks, walks.steps);
    let ended = !found && steps < round.walked;
    let mut diver = Diver::new(system, questions, Some(mix(seed)));
    let function = mix(seed ^ 1);
    let mut is_cut = false;
    if !found && !ended {
        let mut is_new = |state: &[u8], room: bool| {
            let hash = hash_state(state);
            sketch.add_hash(hash);
            is_cut |= !room;
            // What there is no room for is not remembered: another way may lead there.
            room && bits.insert(StateRef(mix(hash ^ function)))
        };
        diver.begin(|state| is_new(state, true));
        loop {
            let room = diver.bytes() < stack;
            match diver.step(|state| is_new(state, room)) {
                std::ops::ControlFlow::Break(()) => {
                    found = true;
                    break;
                }
                std::ops::ControlFlow::Continue(false) => break,
                std::ops::ControlFlow::Continue(true) => {}
            }
            if !goes_on(steps + diver.figures.expanded) {
                break;
            }
        }
    }
    let figures = diver.figures.clone();
    let needed = steps + figures.expanded;
    if found {
        round.fewest.fetch_min(needed, Ordering::Relaxed);
    }
    let findings = found.then(|| diver.questions.into_findings());
    Member {
        findings,
        needed,
        dived: bits.len(),
        missed: bits.missed(),
        is_cut,
        walks: walked,
        steps,
        transitions: steps + figures.transitions,
        depth: figures.depth,
        sketch,
        limit,
    }
}
