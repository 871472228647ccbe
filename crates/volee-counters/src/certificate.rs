//! Certificates for `Holds`, checked by code that knows nothing of meta-transitions, merging or pruning
//! order: a closed set that contains what it must and misses what it must.

use volee_integers::{Conjunct, Effort, Exhausted, Set};

use crate::approximation::Approximation;
use crate::program::Program;

/// Work for one question of a check.
const WORK: u64 = 200_000_000;

/// Why a certificate does not convince.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CertificateError {
    /// An initial (or, backward, a bad) vector is missing.
    Start,
    /// The set is not closed under this transition.
    NotClosed(String),
    /// A forbidden vector is inside.
    Touches,
    /// A question was too hard.
    TooHard,
}

impl From<Exhausted> for CertificateError {
    fn from(_: Exhausted) -> Self {
        CertificateError::TooHard
    }
}

impl std::fmt::Display for CertificateError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            CertificateError::Start => write!(f, "the set does not contain all it must start from"),
            CertificateError::NotClosed(name) => write!(f, "the set is not closed under {name}"),
            CertificateError::Touches => write!(f, "the set contains a vector that it must not"),
            CertificateError::TooHard => write!(f, "the set is too complicated to be checked"),
        }
    }
}

/// Checks that `sets` (one per location) contains the initial vectors and is closed under all transitions.
///
/// # Errors
/// It is not, or it could not be decided.
pub fn check_closed(program: &Program, sets: &[Set]) -> Result<(), CertificateError> {
    check_closed_within(program, sets, &Effort::new(WORK))
}

pub(crate) fn check_closed_within(
    program: &Program,
    sets: &[Set],
    effort: &Effort,
) -> Result<(), CertificateError> {
    for region in &program.initial {
        effort.refill(WORK);
        if !Set::from(region.conjunct.clone()).is_subset(&sets[region.location.index()], effort)? {
            return Err(CertificateError::Start);
        }
    }
    for transition in &program.transitions {
        for conjunct in sets[transition.from.index()].conjuncts() {
            effort.refill(WORK);
            let image = Set::from(transition.instruction.image(conjunct));
            if !image.is_subset(&sets[transition.to.index()], effort)? {
                return Err(CertificateError::NotClosed(transition.name.clone()));
            }
        }
    }
    Ok(())
}

/// Checks that `sets` is closed and contains no bad vector.
///
/// # Errors
/// It is not, or it could not be decided.
pub fn check_safe(program: &Program, sets: &[Set]) -> Result<(), CertificateError> {
    check_safe_within(program, sets, &Effort::new(WORK))
}

pub(crate) fn check_safe_within(
    program: &Program,
    sets: &[Set],
    effort: &Effort,
) -> Result<(), CertificateError> {
    check_closed_within(program, sets, effort)?;
    for region in &program.bad {
        for conjunct in sets[region.location.index()].conjuncts() {
            effort.refill(WORK);
            if !conjunct.intersect(&region.conjunct).is_empty(effort)? {
                return Err(CertificateError::Touches);
            }
        }
    }
    Ok(())
}

/// Checks that `sets` contains the bad vectors, is closed under predecessors and contains no initial vector;
/// vectors that the approximation excludes are not reachable and need not be in it.
pub(crate) fn check_unreachable(
    program: &Program,
    sets: &[Vec<&Conjunct>],
    approximation: &Approximation,
    effort: &Effort,
) -> Result<(), CertificateError> {
    let inside = |set: &Conjunct, at: usize| -> Result<bool, Exhausted> {
        effort.refill(WORK);
        if set.is_plainly_empty() || approximation.excludes(set, effort) {
            return Ok(true);
        }
        for member in &sets[at] {
            if set.is_subset(member, effort)? {
                return Ok(true);
            }
        }
        set.is_covered(&sets[at], effort)
    };
    let domain = match program.domain {
        crate::program::Domain::Naturals => crate::program::naturals(program.dimension()),
        crate::program::Domain::Integers => Vec::new(),
    };
    for region in &program.bad {
        if !inside(&region.conjunct, region.location.index())? {
            return Err(CertificateError::Start);
        }
    }
    for transition in &program.transitions {
        for conjunct in &sets[transition.to.index()] {
            let before = transition.instruction.preimage(conjunct).with(&[], &domain);
            if !inside(&before, transition.from.index())? {
                return Err(CertificateError::NotClosed(transition.name.clone()));
            }
        }
    }
    for region in &program.initial {
        for conjunct in &sets[region.location.index()] {
            effort.refill(WORK);
            if !conjunct.intersect(&region.conjunct).is_empty(effort)? {
                return Err(CertificateError::Touches);
            }
        }
    }
    Ok(())
}
