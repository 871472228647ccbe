//! Searches with persistent sets against searches without: random teams of processes that share one variable.

use std::borrow::Cow;
use std::ops::ControlFlow;
use std::time::Duration;

use volee_search::{Check, Order, Outcome, Reduction, Replacement, check};
use volee_system::{
    Budget, FaultId, Flow, Label, Meter, PersistentSet, PredicateId, Quiet, Random, Reducible, Sink, Step,
    System, Verdict, replay,
};

/// What a process can do at a point of control.
#[derive(Debug, Clone, Copy)]
enum Act {
    /// Goes on, concerning nobody.
    Private,
    /// Goes on where the shared variable has a value, and sets it.
    Shared { when: u8, then: u8 },
    /// The same, and that is an error.
    Wrong { when: u8 },
}

/// Processes as graphs of acts with targets.
#[derive(Debug, Clone)]
struct Team {
    processes: Vec<Vec<Vec<(Act, u8)>>>,
}

impl Team {
    fn random(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let wrong = [3, 12, 60][random.below(3)];
        let private = 2 + random.below(3);
        let processes = (0..2 + random.below(3))
            .map(|_| {
                let points = 2 + random.below(5);
                (0..points)
                    .map(|_| {
                        let is_private = random.below(4) < private;
                        (0..random.below(4))
                            .map(|_| {
                                let act = match is_private {
                                    true => Act::Private,
                                    false if random.below(wrong) == 0 => {
                                        Act::Wrong { when: random.below(4) as u8 }
                                    }
                                    false => {
                                        let (when, then) = (random.below(4) as u8, random.below(4) as u8);
                                        Act::Shared { when, then }
                                    }
                                };
                                (act, random.below(points) as u8)
                            })
                            .collect()
                    })
                    .collect()
            })
            .collect();
        Team { processes }
    }

    /// Whether all that a process does from a point on concerns nobody.
    fn is_harmless(&self, process: usize, from: u8) -> bool {
        let mut seen = vec![from];
        let mut at = 0;
        while at < seen.len() {
            for &(act, target) in &self.processes[process][seen[at] as usize] {
                if !matches!(act, Act::Private) {
                    return false;
                }
                if !seen.contains(&target) {
                    seen.push(target);
                }
            }
            at += 1;
        }
        true
    }

    fn push_process(&self, state: &[u8], process: usize, sink: &mut dyn Sink) -> Flow {
        let shared = state[self.processes.len()];
        let mut next = state.to_vec();
        for &(act, target) in &self.processes[process][state[process] as usize] {
            let (possible, then, fault) = match act {
                Act::Private => (true, shared, None),
                Act::Shared { when, then } => (shared == when, then, None),
                Act::Wrong { when } => (shared == when, shared, Some(FaultId(process as u32))),
            };
            if possible {
                next[process] = target;
                next[self.processes.len()] = then;
                sink.push(Step { fault, ..Step::labelled(process as u32) }, &next)?;
            }
        }
        Flow::Continue(())
    }
}

impl Reducible for Team {
    fn persistent_steps(
        &mut self,
        state: &[u8],
        attempt: u32,
        sink: &mut dyn Sink,
    ) -> ControlFlow<(), Option<PersistentSet>> {
        for (process, next) in (0..self.processes.len()).rev().zip(1..).skip(attempt as usize) {
            let acts = &self.processes[process][state[process] as usize];
            if !acts.is_empty() && acts.iter().all(|(act, _)| matches!(act, Act::Private)) {
                self.push_process(state, process, sink)?;
                let others = (0..self.processes.len()).filter(|&other| other != process);
                let others_may_be_ignored =
                    others.into_iter().all(|other| self.is_harmless(other, state[other]));
                return ControlFlow::Continue(Some(PersistentSet {
                    others_may_be_ignored,
                    cuts_cycles: true,
                    next,
                }));
            }
        }
        ControlFlow::Continue(None)
    }
}

impl System for Team {
    fn initial(&mut self, push: &mut dyn FnMut(&[u8]) -> Flow) -> Flow {
        push(&vec![0; self.processes.len() + 1])
    }

    fn steps(&mut self, state: &[u8], sink: &mut dyn Sink) -> Flow {
        (0..self.processes.len()).try_for_each(|process| self.push_process(state, process, sink))
    }

    fn reducible(&mut self) -> Option<&mut dyn Reducible> {
        Some(self)
    }

    fn label(&self, label: Label) -> Cow<'_, str> {
        format!("process {}", label.0).into()
    }

    fn is_valid_end(&mut self, state: &[u8]) -> bool {
        state[0] == 0
    }

    fn holds(&mut self, predicate: PredicateId, state: &[u8]) -> Result<bool, FaultId> {
        let shared = state[self.processes.len()];
        Ok(if predicate.0 < 4 {
            u32::from(shared) != predicate.0
        } else {
            u32::from(shared) == predicate.0 - 4
        })
    }
}

fn run(team: &mut Team, questions: &Check) -> Outcome {
    check(team, questions, &Meter::start(Budget::default()), &mut Quiet)
}

fn word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Holds => "holds",
        Verdict::Violated(_) => "violated",
        Verdict::Unknown(_) => "unknown",
    }
}

#[test]
fn the_reduced_search_answers_like_the_full_one_and_its_witnesses_are_runs() {
    let (mut full_states, mut reduced_states) = (0, 0);
    for seed in 0..1500 {
        let mut team = Team::random(seed);
        for order in [Order::DepthFirst, Order::BreadthFirst] {
            let questions = Check::new()
                .order(order)
                .all_errors(true)
                .invariant("shared is not 3", PredicateId(3))
                .goal("shared is 2", PredicateId(6));
            let full = run(&mut team, &questions);
            let reduced = run(&mut team, &questions.clone().reduction(Reduction::Persistent));
            assert!(reduced.statistics.states <= full.statistics.states, "seed {seed}");
            full_states += full.statistics.states;
            reduced_states += reduced.statistics.states;
            for (a, b) in full.answers.iter().zip(&reduced.answers) {
                assert_eq!(word(&a.verdict), word(&b.verdict), "seed {seed} {order:?} {}", a.question);
                if let Verdict::Violated(violations) = &b.verdict {
                    for violation in violations.iter().filter(|_| !b.question.starts_with("reachable")) {
                        let shown = replay(&mut team, &violation.witness).expect("a run");
                        let faulty = shown.steps.last().is_some_and(|step| step.fault.is_some());
                        assert!(faulty || b.question != "assertions", "seed {seed}");
                    }
                }
            }
        }
    }
    assert!(reduced_states * 10 < full_states * 9, "{reduced_states} of {full_states}");
}

#[test]
fn reduction_and_replacement_go_together() {
    let mut forgotten = 0;
    for seed in 0..60 {
        let mut team = Team::random(seed);
        team.processes.extend(Team::random(seed + 10_000).processes);
        let questions = Check::new().all_errors(true).invariant("shared is not 3", PredicateId(3));
        let short = Budget { time: Some(Duration::from_millis(300)), ..Budget::default() };
        let full = check(&mut team, &questions, &Meter::start(short.clone()), &mut Quiet);
        let budget = Budget { memory: Some((8 + 3 * (seed % 8)) << 10), ..short };
        // In so little memory only those go in batches, and reduce, that do not forget at random.
        let reducing =
            questions.clone().reduction(Reduction::Persistent).replacement(Some(Replacement::Oldest));
        let reduced = check(&mut team, &reducing, &Meter::start(budget), &mut Quiet);
        for (a, b) in full.answers.iter().zip(&reduced.answers) {
            let known =
                !matches!(a.verdict, Verdict::Unknown(_)) && !matches!(b.verdict, Verdict::Unknown(_));
            assert!(!known || word(&a.verdict) == word(&b.verdict), "seed {seed} {}", a.question);
        }
        forgotten += u32::from(reduced.statistics.turnover.is_some() && reduced.limit.is_none());
    }
    assert!(forgotten > 0, "no search came to its end although it forgot states");
}
