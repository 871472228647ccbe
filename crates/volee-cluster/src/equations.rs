//! Boolean equation systems on several workers: resolution in one dataflow, confirmation in a second.
//!
//! The verdict rests on the second: every variable that the answer rests on is checked by its owner, by the
//! definition alone. Where these variables are few enough they are also gathered, and the sequential checker,
//! which knows nothing of workers, checks them once more before anything is said; from there come
//! explanations and runs. The resolution is kept where that is asked for; confirming begins anew.

use std::path::Path;

use serde::{Deserialize, Serialize};
use volee_bes::certificate::{Nobody, check};
use volee_bes::solve::confirm::{Confirmation, LARGEST_EVIDENCE, assemble};
use volee_bes::solve::partition::{Partition, Share, Sorting};
use volee_bes::{BooleanGraph, Solution, SolveError, Statistics};
use volee_store::checkpoint::Refused;
use volee_store::handed::Supply;
use volee_system::Meter;
use volee_system::part::{Part as _, PartError};

use crate::drive::{Account, Driver, Stop, conserved};

/// What one worker knows in the end.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct PartialAnswer {
    /// The value of the main variable, from the worker that owns it.
    pub value: Option<bool>,
    /// What the resolution cost here.
    pub statistics: Statistics,
    /// How many variables of this worker the answer rests on.
    pub claimed: u64,
    /// Those variables, unless there are too many.
    #[serde(with = "serde_bytes_vec")]
    pub evidence: Vec<u8>,
    /// What the worker did.
    pub account: Account,
}

/// The bytes of evidence as bytes, not as a sequence of numbers.
mod serde_bytes_vec {
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(bytes)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        <&[u8]>::deserialize(deserializer).map(<[u8]>::to_vec)
    }
}

/// What all workers know together.
#[derive(Debug, Clone)]
pub struct JointAnswer {
    /// The value of the main variable.
    pub value: bool,
    /// What the resolution cost all of them; the memory is the sum of the peaks.
    pub statistics: Statistics,
    /// How many variables the answer rests on.
    pub claimed: u64,
    /// What each worker did.
    pub accounts: Vec<Account>,
    evidence: Option<Vec<Vec<u8>>>,
}

/// Solves one worker's part and confirms the answer.
///
/// # Errors
/// A limit, an equation without meaning, or somebody else has a reason to stop.
pub fn work(driver: &mut Driver<'_>, graph: &mut dyn BooleanGraph) -> Result<PartialAnswer, Stop> {
    let share = Share { me: driver.me() as u16, peers: driver.peers() as u16 };
    let trouble = |error: SolveError| PartError::Trouble(error.to_string());
    let mut part = match driver.resumes() {
        false => Partition::new(graph, share).map_err(trouble)?,
        true => {
            let mut part = Partition::kept(graph, share).map_err(trouble)?;
            driver.restore(|piece| part.take_piece(piece).map(|()| part.figures()))?;
            part.restored()?;
            part
        }
    };
    driver.run(&mut part)?;
    let outcome = part.finish();
    let mut confirmation = Confirmation::new(outcome.graph, outcome.solution, share, outcome.value)?;
    driver.run(&mut confirmation)?;
    let few = confirmation.len() <= LARGEST_EVIDENCE;
    Ok(PartialAnswer {
        value: outcome.value,
        statistics: outcome.statistics,
        claimed: confirmation.len() as u64,
        evidence: if few { confirmation.evidence() } else { Vec::new() },
        account: driver.account(),
    })
}

/// Opens what was kept of a resolution for this many workers.
///
/// # Errors
/// The file is damaged, or there is no room for it.
pub fn sorting(
    graph: &mut dyn BooleanGraph,
    path: &Path,
    peers: usize,
    meter: &Meter,
) -> Result<Box<dyn Supply>, Refused> {
    Ok(Box::new(Sorting::open(graph, path, peers, meter)?))
}

impl JointAnswer {
    /// Joins what the workers know.
    ///
    /// # Errors
    /// Nobody knows the value, or the workers ended before they were done: a defect.
    pub fn new(parts: Vec<PartialAnswer>) -> Result<Self, PartError> {
        let unknown = || PartError::Defect("no worker knows the value of the main variable".into());
        let value = parts.iter().find_map(|part| part.value).ok_or_else(unknown)?;
        let claimed = parts.iter().map(|part| part.claimed).sum();
        let mut statistics = Statistics::default();
        for part in &parts {
            statistics.places += part.statistics.places;
            statistics.variables += part.statistics.variables;
            statistics.expanded += part.statistics.expanded;
            statistics.edges += part.statistics.edges;
            statistics.memory += part.account.peak;
        }
        let accounts: Vec<Account> = parts.iter().map(|part| part.account).collect();
        conserved(&accounts)?;
        let few = claimed <= LARGEST_EVIDENCE as u64;
        let evidence = few.then(|| parts.into_iter().map(|part| part.evidence).collect());
        Ok(JointAnswer { value, statistics, claimed, accounts, evidence })
    }

    /// The certificate in one place, unless it is too large for one.
    ///
    /// # Errors
    /// There are too many variables.
    pub fn certificate(&self, graph: &dyn BooleanGraph) -> Result<Option<Solution>, SolveError> {
        let Some(evidence) = &self.evidence else { return Ok(None) };
        Ok(Some(assemble(graph, evidence.iter().map(Vec::as_slice))?))
    }

    /// Asks the sequential checker about the certificate; the workers have confirmed it already.
    ///
    /// # Errors
    /// It does not prove the value, or a limit.
    pub fn check(&self, graph: &mut dyn BooleanGraph, meter: &Meter) -> Result<(), SolveError> {
        let Some(solution) = self.certificate(graph)? else { return Ok(()) };
        Ok(check(graph, &solution, self.value, meter, &mut Nobody)?)
    }
}
