//! Reachability on several workers: deadlocks, assertions, invariants and goals, with the whole way to what
//! was found.

use serde::{Deserialize, Serialize};
use volee_search::partition::{PartialOutcome, Partition, join};
use volee_search::{Check, Outcome};
use volee_system::part::PartError;
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
pub fn work<S: System + ?Sized>(
    driver: &mut Driver<'_>,
    system: &mut S,
    check: &Check,
) -> Result<PartialSearch, Stop> {
    let (me, peers) = (driver.me(), driver.peers());
    let mut part = Partition::new(system, check, me, peers)?;
    driver.run(&mut part)?;
    let mut walk = part.finish(None);
    driver.run(&mut walk)?;
    Ok(PartialSearch { outcome: walk.finish(), account: driver.account() })
}

/// Joins what the workers found, as the sequential search would tell it.
///
/// # Errors
/// The workers ended before they were done: a defect.
pub fn joined<S: System + ?Sized>(
    system: &mut S,
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
