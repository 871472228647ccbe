//! Questions about runs on several workers: the product of the system with a monitor or with a claim is a
//! system, so it is explored as every other; cycles that a claim accepts are then looked for among what was
//! found.
//!
//! Persistent sets are taken here by the rule that needs no path (no set that cuts cycles). The other rule,
//! which a single worker has (the reduced system settled by itself, depth-first, before the product), asks
//! which states are on the path: it would have to be done by one worker for all, in the order of one, and
//! told to all of them state by state, so that the whole would take longer than that worker by itself. So a
//! claim about rings of processes may have more states here than alone.

use serde::{Deserialize, Serialize};
use volee_search::partition::{PartialOutcome, Partition, Recurrence, conclude, join};
use volee_search::{Check, Claim, ClaimOptions, ClaimOutcome, ClaimProduct, Outcome, Runs, TlQuestion};
use volee_system::part::PartError;
use volee_system::{Meter, Progress, System};

use crate::drive::{Account, Driver, Stop, conserved};

/// What one worker knows in the end.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PartialRuns {
    outcome: PartialOutcome,
    /// The letters it has met; none where it has not looked at everything.
    letters: Option<Vec<u64>>,
    /// How often a persistent set stood for all steps.
    reduced: u64,
    /// What the worker did.
    pub account: Account,
}

/// One worker's part of the search for a run that a claim with acceptance on states ([`Claim::state_based`])
/// accepts.
///
/// # Errors
/// A limit, or somebody else has a reason to stop.
pub fn work_on_claim<S: System + ?Sized>(
    driver: &mut Driver<'_>,
    system: &mut S,
    claim: &Claim,
    options: ClaimOptions<'_>,
) -> Result<PartialRuns, Stop> {
    let mut product = ClaimProduct::new(system, claim, options.reduces());
    let check = product.questions(&Check::new().faults(options.faults));
    let recurrence = Recurrence::new(claim, options.fairness);
    let mut part = Partition::with_cycles(&mut product, &check, recurrence, driver.me(), driver.peers())?;
    driver.run(&mut part)?;
    let mut cycles = part.into_cycles();
    driver.run(&mut cycles)?;
    // After an early answer not all transitions are known, and nothing is asked of them.
    let found = cycles.found().filter(|_| !driver.account().stopped);
    drop(cycles);
    let mut walk = part.finish(found);
    driver.run(&mut walk)?;
    let letters = Some(product.letters().to_vec());
    Ok(PartialRuns { outcome: walk.finish(), letters, reduced: product.reduced(), account: driver.account() })
}

/// One worker's part of the search for a run of which a finite-trace formula is false.
///
/// # Errors
/// A limit, or somebody else has a reason to stop.
pub fn work_on_formula<S: System + ?Sized>(
    driver: &mut Driver<'_>,
    system: &mut S,
    question: &TlQuestion,
    runs: Runs,
) -> Result<PartialRuns, Stop> {
    let mut product = question.beside(system, runs);
    let check = question.questions(&Check::new());
    let mut part = Partition::new(&mut product, &check, driver.me(), driver.peers())?;
    driver.run(&mut part)?;
    let mut walk = part.finish(None);
    driver.run(&mut walk)?;
    let letters = product.letters().map(<[u64]>::to_vec);
    Ok(PartialRuns { outcome: walk.finish(), letters, reduced: 0, account: driver.account() })
}

/// The outcomes of all workers, the letters that they met, and what they did together.
struct Together {
    outcomes: Vec<PartialOutcome>,
    letters: Option<Vec<u64>>,
    reduced: u64,
    memory: u64,
    accounts: Vec<Account>,
}

fn together(parts: Vec<PartialRuns>) -> Result<Together, PartError> {
    let accounts: Vec<Account> = parts.iter().map(|part| part.account).collect();
    conserved(&accounts)?;
    let memory = accounts.iter().map(|account| account.peak).sum();
    let reduced = parts.iter().map(|part| part.reduced).sum();
    let mut letters = Some(Vec::new());
    let mut outcomes = Vec::new();
    for part in parts {
        letters = letters.zip(part.letters).map(|(mut all, more)| {
            all.extend(more);
            all
        });
        outcomes.push(part.outcome);
    }
    Ok(Together { outcomes, letters, reduced, memory, accounts })
}

/// Joins what the workers found about a claim; a lasso is looked for here, from where they know that there is
/// one.
///
/// # Errors
/// The workers ended before they were done, or what they found is none: a defect.
pub fn joined_claim<S: System + ?Sized>(
    system: &mut S,
    claim: &Claim,
    options: ClaimOptions<'_>,
    parts: Vec<PartialRuns>,
    meter: &Meter,
    progress: &mut dyn Progress,
) -> Result<(ClaimOutcome, Vec<Account>), PartError> {
    let all = together(parts)?;
    let mut outcome = conclude(system, claim, options, all.outcomes, all.memory, meter, progress)?;
    outcome.letters = all.letters.unwrap_or_default();
    outcome.statistics.reduced = all.reduced;
    Ok((outcome, all.accounts))
}

/// Joins what the workers found about a finite-trace formula; with it what the formula speaks of and nothing
/// was.
///
/// # Errors
/// The workers ended before they were done: a defect.
pub fn joined_formula<S: System + ?Sized>(
    system: &mut S,
    question: &TlQuestion,
    runs: Runs,
    parts: Vec<PartialRuns>,
    meter: &Meter,
) -> Result<(Outcome, Vec<String>, Vec<Account>), PartError> {
    let all = together(parts)?;
    let check = question.questions(&Check::new());
    let outcome = join(&mut question.beside(system, runs), &check, all.outcomes, all.memory, meter);
    let silent = question.silent(system, runs, all.letters.as_deref(), meter);
    Ok((question.told(outcome, runs), silent, all.accounts))
}
