//! When a search with little memory goes in single file ([`crate::single`]).
//!
//! States without short names cost what their trees cost, often hundreds of bytes each along a path, and a
//! path in batches has up to sixteen times as many of them. In single file a state costs a few bytes
//! ([`volee_store::Frugal`]), but each step takes longer, and all the more where states have many. So a search
//! with little memory goes in single file from the start where the first states show that they are long and
//! have few steps each; nothing is then lost by going over. Any other does where it has come to the end of
//! its memory in batches: it forgets everything and begins anew.

use volee_system::{Limit, Meter, Progress, System};

use super::Ended;
use crate::check::{Reduction, SHARED, Statistics};
use crate::questions::Questions;
use crate::single;
use volee_store::{Frugal, Sketch};

/// With less memory than this the first tables of a search in batches would be most of it.
const LEAST: u64 = 12 << 10;

/// Whether a search may go in single file: one that is not cut at a depth.
pub(super) fn may_go_single(meter: &Meter) -> bool {
    meter.budget().depth.is_none()
}

/// Goes in single file from the start, where that is better. What is to be kept goes in batches.
pub(super) fn at_once<S: System + ?Sized>(
    system: &mut S,
    questions: &mut Questions<'_>,
    meter: &Meter,
    progress: &mut dyn Progress,
) -> Option<Ended> {
    let (check, budget) = (questions.check(), meter.budget().memory?);
    if budget >= SHARED || check.checkpoint.is_some() {
        return None;
    }
    if let Err(limit) = has_room(meter) {
        return Some((Statistics::default(), Some(limit)));
    }
    let parts = || empty(budget, check.seed, Statistics::default());
    let (frugal, sketch, _) = parts();
    // States with components have short names, and reduced searches short paths.
    let reduces = check.reduction != Reduction::None && system.reducible().is_some();
    let may_be_thin = !reduces && system.components().is_none();
    let goes = budget < LEAST || may_be_thin && single::is_thin(system, meter, progress, (frugal, sketch));
    goes.then(|| single::search(system, questions, meter, progress, parts()))
}

/// Whether the smallest tables fit.
fn has_room(meter: &Meter) -> Result<(), Limit> {
    let budget = meter.budget().memory.unwrap_or(u64::MAX);
    let (frugal, sketch, _) = empty(budget, 0, Statistics::default());
    let least = frugal.least() + sketch.bytes();
    let kilobytes = least as f64 / 1024.0;
    meter.check_memory(least, || format!("the smallest tables alone are larger (at least {kilobytes:.1} kB)"))
}

/// Forgets everything and begins anew: what is lost is the time so far.
pub(super) fn anew<S: System + ?Sized>(
    system: &mut S,
    questions: &mut Questions<'_>,
    meter: &Meter,
    progress: &mut dyn Progress,
    mut before: Statistics,
) -> Ended {
    let budget = meter.budget().memory.unwrap_or(u64::MAX);
    let stored = before.turnover.take().map_or(before.states, |turnover| turnover.insertions);
    let (mut frugal, sketch, before) = empty(budget, questions.check().seed, before);
    (frugal.turnover.insertions, frugal.turnover.replaced) = (stored, stored);
    single::search(system, questions, meter, progress, (frugal, sketch, before))
}

fn empty(budget: u64, seed: u64, before: Statistics) -> (Frugal, Sketch, Statistics) {
    let sketch = Sketch::new(budget);
    (Frugal::new(budget.saturating_sub(sketch.bytes()), seed), sketch, before)
}
