//! Reachability on several workers: deadlocks, assertions, invariants and goals, with the whole way to what
//! was found.

use std::path::Path;

use serde::{Deserialize, Serialize};
use volee_search::partition::{PartialOutcome, Partition, Sorting, Start, join, spread};
use volee_search::{Check, Outcome};
use volee_store::checkpoint::Refused;
use volee_store::handed::Supply;
use volee_system::part::{Part as _, PartError};
use volee_system::{Meter, System};

use crate::drive::{Account, Driver, Stop, conserved};

/// What one worker knows in the end.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PartialSearch {
    outcome: PartialOutcome,
    /// What the worker did.
    pub account: Account,
}

/// Explores one worker's part, then walks back from what was found, from owner to owner.
///
/// # Errors
/// A limit, or somebody else has a reason to stop.
pub fn work(driver: &mut Driver<'_>, system: &mut dyn System, check: &Check) -> Result<PartialSearch, Stop> {
    let mut part = Partition::new(system, check, (driver.me(), driver.peers()), start(driver))?;
    restore(driver, &mut part)?;
    driver.run(&mut part)?;
    let mut walk = part.finish(None);
    driver.run(&mut walk)?;
    Ok(PartialSearch { outcome: walk.finish(), account: driver.account() })
}

/// How a part begins.
pub(crate) fn start(driver: &Driver<'_>) -> Start {
    if driver.resumes() { Start::Kept } else { Start::Anew }
}

/// Has a part go on from what was kept, if there is something.
pub(crate) fn restore<S: System + ?Sized>(
    driver: &mut Driver<'_>,
    part: &mut Partition<'_, '_, S>,
) -> Result<(), Stop> {
    if !driver.resumes() {
        return Ok(());
    }
    driver.restore(|piece| part.take_piece(piece).map(|()| part.figures()))?;
    Ok(part.restored()?)
}

/// Opens what was kept of a search for this many workers.
///
/// # Errors
/// The file is damaged, or there is no room for it.
pub fn sorting(
    system: &mut dyn System,
    path: &Path,
    peers: usize,
    meter: &Meter,
) -> Result<Box<dyn Supply>, Refused> {
    Ok(Box::new(Sorting::open(path, spread(system, peers), peers, meter)?))
}

/// Joins what the workers found, as the sequential search would tell it.
///
/// # Errors
/// The workers ended before they were done: a defect.
pub fn joined(
    system: &mut dyn System,
    check: &Check,
    parts: Vec<PartialSearch>,
    meter: &Meter,
) -> Result<(Outcome, Vec<Account>), PartError> {
    let accounts: Vec<Account> = parts.iter().map(|part| part.account).collect();
    conserved(&accounts)?;
    let memory = accounts.iter().map(|account| account.peak).sum();
    let outcomes = parts.into_iter().map(|part| part.outcome).collect();
    Ok((join(system, check, outcomes, memory, meter), accounts))
}
