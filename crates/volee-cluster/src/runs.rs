//! Questions about runs on several workers: the product of the system with a monitor or with a claim is a
//! system, so it is explored as every other; cycles that a claim accepts are then looked for among what was
//! found.
//!
//! Persistent sets are taken here by the rule that needs no path (no set that cuts cycles). The other rule,
//! which a single worker has (the reduced system settled by itself, depth-first, before the product), asks
//! which states are on the path: it would have to be done by one worker for all, in the order of one, and
//! told to all of them state by state, so that the whole would take longer than that worker by itself. So a
//! claim about rings of processes may have more states here than alone.

use std::path::Path;

use serde::{Deserialize, Serialize};
use volee_search::partition::{PartialOutcome, Partition, Recurrence, Remembered, conclude, join};
use volee_search::{
    Check, Claim, ClaimOptions, ClaimOutcome, ClaimProduct, Monitored, Outcome, Runs, TlQuestion,
};
use volee_store::checkpoint::Refused;
use volee_store::handed::Supply;
use volee_system::part::PartError;
use volee_system::{Meter, Progress, System};

use crate::drive::{Account, Driver, Stop, conserved};
use crate::search::{restore, sorting, start};

/// What one worker knows in the end.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PartialRuns {
    outcome: PartialOutcome,
    remembered: Remembered,
    /// What the worker did.
    pub account: Account,
}

/// One worker's part of the search for a run that a claim with acceptance on states ([`Claim::state_based`])
/// accepts.
///
/// # Errors
/// A limit, or somebody else has a reason to stop.
pub fn work_on_claim(
    driver: &mut Driver<'_>,
    system: &mut dyn System,
    claim: &Claim,
    options: ClaimOptions<'_>,
) -> Result<PartialRuns, Stop> {
    let mut product = ClaimProduct::new(system, claim, options.reduces());
    let check = product.questions(&Check::new().faults(options.faults));
    let recurrence = Recurrence::new(claim, options.fairness);
    let place = (driver.me(), driver.peers());
    let mut part =
        Partition::with_cycles(&mut product, &check, recurrence, place, start(driver))?.remembering(of_claim);
    restore(driver, &mut part)?;
    let before = part.remembered_before();
    driver.run(&mut part)?;
    let mut cycles = part.cycles();
    driver.run(&mut cycles)?;
    // After an early answer not all transitions are known, and nothing is asked of them.
    let found = cycles.found().filter(|_| !driver.account().stopped);
    drop(cycles);
    let mut walk = part.finish(found);
    driver.run(&mut walk)?;
    let remembered = before.with(of_claim(&product));
    Ok(PartialRuns { outcome: walk.finish(), remembered, account: driver.account() })
}

fn of_claim<S: System + ?Sized>(product: &ClaimProduct<'_, S>) -> Remembered {
    Remembered { letters: Some(product.letters().to_vec()), reduced: product.reduced() }
}

fn of_formula<S: System + ?Sized>(product: &Monitored<'_, S>) -> Remembered {
    Remembered { letters: product.letters().map(<[u64]>::to_vec), reduced: 0 }
}

/// Opens what was kept of the search for a run that a claim accepts, for this many workers.
///
/// # Errors
/// The file is damaged, or there is no room for it.
pub fn sorting_claim(
    system: &mut dyn System,
    claim: &Claim,
    options: ClaimOptions<'_>,
    (path, peers): (&Path, usize),
    meter: &Meter,
) -> Result<Box<dyn Supply>, Refused> {
    sorting(&mut ClaimProduct::new(system, claim, options.reduces()), path, peers, meter)
}

/// Opens what was kept of the search for a run of which a finite-trace formula is false, for this many
/// workers.
///
/// # Errors
/// The file is damaged, or there is no room for it.
pub fn sorting_formula(
    system: &mut dyn System,
    question: &TlQuestion,
    runs: Runs,
    (path, peers): (&Path, usize),
    meter: &Meter,
) -> Result<Box<dyn Supply>, Refused> {
    sorting(&mut question.beside(system, runs), path, peers, meter)
}

/// One worker's part of the search for a run of which a finite-trace formula is false.
///
/// # Errors
/// A limit, or somebody else has a reason to stop.
pub fn work_on_formula(
    driver: &mut Driver<'_>,
    system: &mut dyn System,
    question: &TlQuestion,
    runs: Runs,
) -> Result<PartialRuns, Stop> {
    let mut product = question.beside(system, runs);
    let check = question.questions(&Check::new());
    let place = (driver.me(), driver.peers());
    let mut part = Partition::new(&mut product, &check, place, start(driver))?.remembering(of_formula);
    restore(driver, &mut part)?;
    let before = part.remembered_before();
    driver.run(&mut part)?;
    let mut walk = part.finish(None);
    driver.run(&mut walk)?;
    let remembered = before.with(of_formula(&product));
    Ok(PartialRuns { outcome: walk.finish(), remembered, account: driver.account() })
}

/// The outcomes of all workers, the letters that they met, and what they did together.
struct Together {
    outcomes: Vec<PartialOutcome>,
    remembered: Remembered,
    memory: u64,
    accounts: Vec<Account>,
}

fn together(parts: Vec<PartialRuns>) -> Result<Together, PartError> {
    let accounts: Vec<Account> = parts.iter().map(|part| part.account).collect();
    conserved(&accounts)?;
    let memory = accounts.iter().map(|account| account.peak).sum();
    let mut remembered = Remembered::default();
    let mut outcomes = Vec::new();
    for part in parts {
        remembered = remembered.with(part.remembered);
        outcomes.push(part.outcome);
    }
    Ok(Together { outcomes, remembered, memory, accounts })
}

/// Joins what the workers found about a claim; a lasso is looked for here, from where they know that there is
/// one.
///
/// # Errors
/// The workers ended before they were done, or what they found is none: a defect.
pub fn joined_claim(
    system: &mut dyn System,
    claim: &Claim,
    options: ClaimOptions<'_>,
    parts: Vec<PartialRuns>,
    meter: &Meter,
    progress: &mut dyn Progress,
) -> Result<(ClaimOutcome, Vec<Account>), PartError> {
    let all = together(parts)?;
    let mut outcome = conclude(system, claim, options, all.outcomes, all.memory, meter, progress)?;
    outcome.letters = all.remembered.letters.unwrap_or_default();
    outcome.statistics.reduced = all.remembered.reduced;
    Ok((outcome, all.accounts))
}

/// Joins what the workers found about a finite-trace formula; with it what the formula speaks of and nothing
/// was.
///
/// # Errors
/// The workers ended before they were done: a defect.
pub fn joined_formula(
    system: &mut dyn System,
    question: &TlQuestion,
    runs: Runs,
    parts: Vec<PartialRuns>,
    meter: &Meter,
) -> Result<(Outcome, Vec<String>, Vec<Account>), PartError> {
    let all = together(parts)?;
    let check = question.questions(&Check::new());
    let outcome = join(&mut question.beside(system, runs), &check, all.outcomes, all.memory, meter);
    let silent = question.silent(system, runs, all.remembered.letters.as_deref(), meter);
    Ok((question.told(outcome, runs), silent, all.accounts))
}
