//! The traversal with replacement in which processes sleep.
//!
//! Where states are forgotten, most of the work is in states that are met again by another order of
//! independent steps (Godefroid, Holzmann, Pirottin, "State-space caching revisited", 1992). A *sleep set*
//! goes with each arrival in a state: processes all whose next steps need not be taken there, because they
//! were, or will be, taken from an earlier state of the path, and commute with all steps since (Godefroid
//! 1996, chapter 5). The store remembers who slept, and a state is explored again if it is reached with
//! somebody awake who slept before.
//!
//! That nothing is lost. Say that a run *begins with* a step if it is equivalent, by swapping independent
//! neighbours, to one that has the step first. Claim: from a state that is explored with sleep set Z, for
//! every run w that begins with no step of a process in Z, some run is explored that contains an equivalent
//! of w. By induction on the length of w, and, where no step that is taken from the state is one of w, on the
//! time at which the exploration is finished.
//! * Some steps that are taken from the state begin w: let u, of process p, be of the first of them in the
//!   order of the expansion. In the target sleep those of Z and of the processes expanded before p that
//!   commute with u. The rest of w begins with none of their steps: it would also begin w, and be in Z or
//!   taken before u. So the claim holds for the target and the rest of w, with the sleep set of this arrival,
//!   and hence with the smaller one with which the target was or will be explored.
//! * None begins w: then the expansion was reduced to a persistent set that has no step of w; otherwise all
//!   processes not in Z were expanded. If what the set puts off is of no interest by itself, neither is w.
//!   Otherwise it has a step, by a process not in Z, to a state that is satisfied (see [`crate::proviso`]):
//!   explored before with a sleep set that is no larger, or from here. That step commutes with all of w, w is
//!   possible in its target, and begins with no step of a sleeping process there, for such a step would be of
//!   Z or of the persistent set. The exploration of the target is finished before, and so the chain of such
//!   states ends.
//!
//! A process whose step changes what a predicate reads does not commute with another such: so the states in
//! between, which a predicate may tell apart, are kept in their order.

use std::ops::ControlFlow;

use volee_system::{Awake, Flow, SleepSet, System};

use super::{Path, collect, note_forgetting};
use crate::explorer::Explorer;
use crate::reducing::MOST_ATTEMPTS;
use volee_store::{Bounded, StateRef};

/// The path, and who may sleep in what waits along it.
struct Sleepy<'p> {
    path: &'p mut Path,
    waiting: Vec<SleepSet>,
}

impl Sleepy<'_> {
    fn bytes(&self) -> u64 {
        self.path.bytes() + (self.waiting.capacity() * size_of::<SleepSet>()) as u64
    }
}

/// Goes on from what waits, one state after the other; the store may forget what is not on the path.
pub(super) fn one_by_one<S: System + ?Sized>(
    explorer: &mut Explorer<'_, '_, S, Bounded>,
    path: &mut Path,
) -> Flow {
    let mut sleepy = Sleepy { path, waiting: Vec::new() };
    loop {
        let Some(next) = explorer.visited.take_waiting() else {
            if explorer.visited.depth() == 0 {
                return Flow::Continue(());
            }
            if explorer.visited.depth() > sleepy.path.held.len() as u64 {
                sleepy.path.satisfy(&mut explorer.reducing.proviso);
            } else {
                sleepy.path.release_group(&mut explorer.reducing.proviso, &explorer.visited);
            }
            explorer.visited.leave(0);
            continue;
        };
        // In what waited before anybody slept, nobody does.
        let sleep = sleepy.waiting.pop().unwrap_or(SleepSet { asleep: 0, awake: u64::MAX });
        if let Some(asleep) = explorer.visited.explores(next, sleep) {
            descend(explorer, &mut sleepy, next, asleep)?;
        }
    }
}

/// Puts a state on the path, visits it, and lets those successors wait that must be explored.
fn descend<S: System + ?Sized>(
    explorer: &mut Explorer<'_, '_, S, Bounded>,
    sleepy: &mut Sleepy<'_>,
    name: StateRef,
    asleep: u64,
) -> Flow {
    explorer.foresee(sleepy.bytes())?;
    explorer.claim(sleepy.path.growth(), sleepy.bytes())?;
    let depth = explorer.visited.depth();
    explorer.visited.set_depth(depth);
    if explorer.visited.enter_asleep(name, asleep).is_none() {
        return explorer.stop_on_memory();
    }
    explorer.statistics.max_depth = explorer.statistics.max_depth.max(depth);
    sleepy.path.longest = sleepy.path.longest.max(explorer.visited.path_len());
    note_forgetting(explorer, sleepy.path);
    let may_expand = match explorer.meet(name, depth, sleepy.path, 0) {
        ControlFlow::Continue(may_expand) => may_expand,
        ControlFlow::Break(()) => return Flow::Break(()),
    };
    sleepy.path.hold(&mut explorer.reducing.proviso, &explorer.visited, name);
    if may_expand && !expand_reduced(explorer, sleepy, asleep)? {
        match explorer.expand_awake(asleep, None) {
            Awake::Moved(_) | Awake::Nobody => {}
            Awake::Unknown => explorer.expand_without_sleep(sleepy.path)?,
        }
        wait(explorer, sleepy)?;
        while explorer.reducing.take_satisfied().is_some() {}
        sleepy.path.satisfy(&mut explorer.reducing.proviso);
    }
    collect(explorer);
    explorer.tick(depth, explorer.visited.waiting_len(), sleepy.bytes())
}

/// Expands with a persistent set, if it is asked for and leads to new states or satisfied ones; whether that
/// is enough.
fn expand_reduced<S: System + ?Sized>(
    explorer: &mut Explorer<'_, '_, S, Bounded>,
    sleepy: &mut Sleepy<'_>,
    asleep: u64,
) -> ControlFlow<(), bool> {
    if !explorer.reducing.asks(false) {
        return ControlFlow::Continue(false);
    }
    let mut attempt = 0;
    while attempt < MOST_ATTEMPTS {
        let Awake::Moved(Some(set)) = explorer.expand_awake(asleep, Some(attempt)) else { break };
        let (fresh, satisfied) = wait(explorer, sleepy)?;
        if set.others_may_be_ignored || satisfied {
            sleepy.path.satisfy(&mut explorer.reducing.proviso);
        }
        if set.others_may_be_ignored || satisfied || fresh {
            explorer.reducing.note();
            return ControlFlow::Continue(true);
        }
        attempt = set.next;
    }
    ControlFlow::Continue(false)
}

/// Lets the staged states wait that must be explored; whether there is one, and whether one need not be and
/// is satisfied.
fn wait<S: System + ?Sized>(
    explorer: &mut Explorer<'_, '_, S, Bounded>,
    sleepy: &mut Sleepy<'_>,
) -> ControlFlow<(), (bool, bool)> {
    if super::refresh(explorer, sleepy.path, &mut []).is_break() {
        return ControlFlow::Break(());
    }
    let staged = explorer.staged.len();
    let sleeps = sleepy.waiting.capacity() - sleepy.waiting.len();
    let sleeps =
        if staged > sleeps { (staged + sleepy.waiting.len() / 8 + 64) * size_of::<SleepSet>() } else { 0 };
    let growth = explorer.visited.waiting_growth(staged) + sleeps as u64;
    if explorer.claim(growth, sleepy.bytes()).is_break() {
        return ControlFlow::Break(());
    }
    let (mut no_memory, mut fresh, mut satisfied) = (false, false, false);
    explorer.drain_sleepy(|store, proviso, name, sleep| {
        if store.explores(name, sleep).is_none() {
            satisfied |= proviso.is_on() && !proviso.holds(name);
        } else {
            fresh = true;
            no_memory |= store.wait(name).is_none();
            if sleepy.waiting.len() == sleepy.waiting.capacity() {
                crate::depth::grow(&mut sleepy.waiting);
            }
            sleepy.waiting.push(sleep);
        }
    })?;
    if no_memory {
        return explorer.stop_on_memory().map_continue(|()| (false, false));
    }
    ControlFlow::Continue((fresh, satisfied))
}
