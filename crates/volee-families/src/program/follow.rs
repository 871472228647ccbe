//! A counterexample in the model itself: the run of the net, step by step, in the explicit instance of that
//! size.
//!
//! The net and the machine of a program share nothing but the program, so a run that both can make, and that
//! ends badly in both, is worth believing. In a marking processes of one local state are alike; here each has
//! a number. The follower knows in which place each process is, takes a step of the machine by processes from
//! the places that the net says, and goes back where a choice turns out wrong.

use std::collections::HashMap;

use volee_system::{Action, Draft, Fault, Flow, Reason, ReasonKind, Step, Witness};

use super::{Asked, Family, Kind};
use crate::answer::Counterexample;
use volee_nets::{Mover, Net, PlaceId};

/// States of the machine that are looked at before giving up.
const MOST_TRIES: usize = 200_000;

/// A step of the machine that does what the net does.
struct Candidate {
    ordinal: u32,
    target: Vec<u8>,
    fault: Option<Fault>,
    /// Who moved, and where to.
    moved: Vec<(u32, PlaceId)>,
}

/// A point on the way.
struct Point {
    state: Vec<u8>,
    /// Where processes are that have moved.
    places: HashMap<u32, PlaceId>,
    /// What is still to be tried from here, the best last.
    left: Vec<Candidate>,
}

/// A counterexample that was found again.
#[derive(Debug, Clone)]
pub struct Followed {
    /// The run in the instance.
    pub witness: Witness,
    /// What is wrong at its end.
    pub reason: Reason,
}

/// Follows a counterexample for a question through `draft`, the instance of its size.
///
/// # Errors
/// In words, what the explicit instance does not do.
pub fn follow(
    family: &Family,
    net: &Net,
    asked: &Asked,
    example: &Counterexample,
    draft: &mut dyn Draft,
) -> Result<Followed, String> {
    let mut start = Vec::new();
    let _ = draft.system().initial(&mut |state| {
        start = state.to_vec();
        Flow::Break(())
    });
    let mut follower = Follower { family, net, example, draft, tries: 0 };
    let first = follower.point(0, start, HashMap::new());
    let mut path = vec![first];
    let mut steps: Vec<u32> = Vec::new();
    let mut last_fault = None;
    let mut furthest = 0;
    loop {
        let at = steps.len();
        furthest = furthest.max(at);
        if at == example.trace.len() && follower.ends_badly(&asked.kind, &path, last_fault.as_ref())? {
            if asked.kind == Kind::Deadlock
                && let Some(end) = path.last()
            {
                steps.extend(follower.deaths(&end.state).1);
            }
            let witness = Witness { initial: 0, steps, loop_start: None };
            return Ok(Followed { witness, reason: reason(asked, example, last_fault) });
        }
        let Some(point) = path.last_mut() else { break };
        if follower.tries > MOST_TRIES {
            break;
        }
        match point.left.pop() {
            Some(Candidate { ordinal, target, fault, moved }) => {
                let mut places = point.places.clone();
                places.extend(moved);
                steps.push(ordinal);
                last_fault = fault;
                let next = follower.point(steps.len(), target, places);
                path.push(next);
            }
            None => {
                path.pop();
                steps.pop();
                if path.is_empty() {
                    break;
                }
            }
        }
    }
    let step = (furthest + 1).min(example.trace.len());
    Err(format!("the explicit instance does not do step {step} of {}", example.trace.len()))
}

fn reason(asked: &Asked, example: &Counterexample, fault: Option<Fault>) -> Reason {
    let name = asked.targets.get(example.target).map(|t| t.name.clone()).unwrap_or_default();
    let kind = match asked.kind {
        Kind::Faults => return fault.map_or_else(|| because(ReasonKind::Assertion, name), Reason::from),
        Kind::Invariant(_) => ReasonKind::Invariant,
        Kind::Cover(_) => ReasonKind::Reachable,
        Kind::Property => ReasonKind::Trap,
        Kind::Deadlock => ReasonKind::InvalidEndState,
        Kind::Liveness => ReasonKind::AcceptanceCycle,
    };
    because(kind, name)
}

fn because(kind: ReasonKind, message: String) -> Reason {
    Reason { kind, message, place: None }
}

struct Follower<'a> {
    family: &'a Family,
    net: &'a Net,
    example: &'a Counterexample,
    draft: &'a mut dyn Draft,
    tries: usize,
}

impl Follower<'_> {
    fn point(&mut self, at: usize, state: Vec<u8>, places: HashMap<u32, PlaceId>) -> Point {
        let left = match self.example.trace.get(at) {
            Some(transition) => {
                let net = self.net;
                self.candidates(&state, &places, &net.transitions[transition.index()].movers)
            }
            None => Vec::new(),
        };
        Point { state, places, left }
    }

    fn steps(&mut self, state: &[u8]) -> Vec<(Step, Vec<u8>)> {
        let mut all: Vec<(Step, Vec<u8>)> = Vec::new();
        let _ = self.draft.system().steps(state, &mut |step: Step, target: &[u8]| {
            all.push((step, target.to_vec()));
            Flow::Continue(())
        });
        self.tries += all.len();
        all
    }

    /// The net keeps processes that have ended; in the machine the youngest go. Takes those steps as long as
    /// there are no others.
    fn deaths(&mut self, state: &[u8]) -> (Vec<u8>, Vec<u32>) {
        let (mut state, mut ordinals) = (state.to_vec(), Vec::new());
        loop {
            let mut all = self.steps(&state);
            let ends = |actions: Vec<Action>| actions.iter().all(|a| a.text == "-end-");
            if all.is_empty() || !(0..all.len()).all(|i| ends(self.draft.system().explain(&state, i))) {
                return (state, ordinals);
            }
            ordinals.push(0);
            state = all.swap_remove(0).1;
        }
    }

    /// Every step of the machine by processes that may be the movers.
    fn candidates(
        &mut self,
        state: &[u8],
        places: &HashMap<u32, PlaceId>,
        movers: &[Mover],
    ) -> Vec<Candidate> {
        let all = self.steps(state);
        let mut found: Vec<(bool, Candidate)> = Vec::new();
        for (ordinal, (step, target)) in all.into_iter().enumerate() {
            let actions = self.draft.system().explain(state, ordinal);
            let Some(actors) = self.actors(&actions, movers) else { continue };
            let fits = |(pid, mover): (&u32, &Mover)| match places.get(pid) {
                Some(place) => self.family.kin[place.index()] == self.family.kin[mover.from.index()],
                None => true,
            };
            if actors.iter().zip(movers).all(fits) {
                let known = actors.iter().all(|pid| places.contains_key(pid));
                let moved = actors.iter().zip(movers).map(|(pid, mover)| (*pid, mover.to)).collect();
                let fault = step.fault.map(|f| self.draft.system().fault(f));
                found.push((known, Candidate { ordinal: ordinal as u32, target, fault, moved }));
            }
        }
        // Those whose place is known are tried first, then in the order of the machine; the last is tried
        // first.
        found.sort_by_key(|(known, candidate)| (*known, std::cmp::Reverse(candidate.ordinal)));
        found.into_iter().map(|(_, candidate)| candidate).collect()
    }

    /// The processes that do what the movers do, in their order.
    fn actors(&self, actions: &[Action], movers: &[Mover]) -> Option<Vec<u32>> {
        let mut actors = Vec::new();
        for mover in movers {
            let fits = |action: &&Action| {
                let meant = &mover.action;
                let same = action.process == meant.process && action.place == meant.place;
                same && meant.text.starts_with(&action.text)
                    && !actors.contains(&action.pid)
                    && self.may_be(action.pid, mover.from)
            };
            let first = actions.iter().find(|a| !actors.contains(&a.pid))?;
            actors.push(Some(first).filter(fits)?.pid);
        }
        Some(actors)
    }

    /// A regulated replication has its place and nobody else is there.
    fn may_be(&self, pid: u32, place: PlaceId) -> bool {
        let regulated = self.family.regulated_pids(&self.example.marking);
        match self.family.regulated_pid(&self.example.marking, place) {
            Some(own) => own == pid,
            None => !regulated.contains(&pid),
        }
    }

    fn ends_badly(&mut self, kind: &Kind, path: &[Point], fault: Option<&Fault>) -> Result<bool, String> {
        let Some(end) = path.last() else { return Ok(false) };
        let tokens: u32 = self.example.marking.iter().sum();
        let most = (tokens as usize + path.len()).min(255) as u32;
        let mut holds = |text: &str| -> Result<bool, String> {
            let predicate = self.draft.predicate(text).map_err(|d| d.message)?;
            Ok(self.draft.system().holds(predicate, &end.state).unwrap_or(false))
        };
        Ok(match kind {
            Kind::Faults => fault.is_some(),
            Kind::Invariant(text) => !holds(text)?,
            Kind::Cover(text) => {
                let points: Vec<&str> = text.split(',').map(str::trim).collect();
                seated(&points, most, &mut Vec::new(), &mut holds)?
            }
            Kind::Deadlock => {
                let (state, _) = self.deaths(&end.state);
                self.steps(&state).is_empty() && !self.draft.system().is_valid_end(&state)
            }
            // The automaton reads the net's own steps, which were just found to be the machine's.
            Kind::Property | Kind::Liveness => true,
        })
    }
}

/// Whether different processes, with numbers below `most`, are at all these points.
fn seated(
    points: &[&str],
    most: u32,
    taken: &mut Vec<u32>,
    holds: &mut impl FnMut(&str) -> Result<bool, String>,
) -> Result<bool, String> {
    let Some((first, rest)) = points.split_first() else { return Ok(true) };
    let Some((name, label)) = first.split_once('@') else { return Ok(false) };
    for pid in 0..most {
        if !taken.contains(&pid) && holds(&format!("{}[{pid}]@{}", name.trim(), label.trim()))? {
            taken.push(pid);
            if seated(rest, most, taken, holds)? {
                return Ok(true);
            }
            taken.pop();
        }
    }
    Ok(false)
}
