//! Certificates for `Holds`, checked by code that knows nothing of meta-transitions, merging or pruning
//! order: a closed set that contains what it must and misses what it must.

use volee_integers::{Conjunct, Effort, Exhausted, Int, Row, Set};
use volee_system::strong_components;

use crate::approximation::Approximation;
use crate::program::{Program, TransitionId};
use crate::recurrence::{Descent, Stage};

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
    /// This goes on for ever, as far as the certificate tells.
    GoesOn(String),
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
            CertificateError::GoesOn(name) => write!(f, "{name} may be repeated for ever"),
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

/// Checks that no run passes locations with bad vectors again and again.
///
/// # Errors
/// The descent does not show it, or it could not be decided.
pub fn check_never(program: &Program, descent: &Descent) -> Result<(), CertificateError> {
    check_never_within(program, descent, &Effort::new(WORK))
}

pub(crate) fn check_never_within(
    program: &Program,
    descent: &Descent,
    effort: &Effort,
) -> Result<(), CertificateError> {
    check_closed_within(program, &descent.sets, effort)?;
    check_descent(program, &descent.sets, &descent.stages, effort)
}

/// Checks that no run within `sets`, which are closed, passes locations with bad vectors again and again.
///
/// Transitions that a run takes again and again can follow each other. What a stage says of all that can
/// follow each other (its form is never larger after a transition than before, and for some smaller and not
/// negative before) means that those some are taken finitely often; they are put aside for the stages after
/// it. In the end nothing that passes a bad location may be left that can follow itself.
fn check_descent(
    program: &Program,
    sets: &[Set],
    stages: &[Stage],
    effort: &Effort,
) -> Result<(), CertificateError> {
    let count = program.transitions.len();
    let mut follows: Vec<Vec<u32>> = vec![Vec::new(); count];
    for (at, first) in program.transitions.iter().enumerate() {
        let reached = sets[first.from.index()].with(&[], &first.instruction.guard);
        let reached = reached.image(&first.instruction.update);
        for (next, second) in program.transitions.iter().enumerate().filter(|(_, s)| s.from == first.to) {
            effort.refill(WORK);
            if !reached.with(&[], &second.instruction.guard).is_empty(effort)? {
                follows[at].push(next as u32);
            }
        }
    }
    let mut aside = vec![false; count];
    for stage in stages {
        let all = recurring(&follows, &aside);
        let part = stage.among.first().and_then(|id| all[id.index()]);
        let whole = all.iter().filter(|other| part.is_some() && **other == part).count();
        let same = |id: &TransitionId| all[id.index()] == part;
        if part.is_none() || !stage.among.iter().all(same) || whole != stage.among.len() {
            return Err(CertificateError::GoesOn(
                "a stage that is not about all that follow each other".into(),
            ));
        }
        for id in &stage.among {
            let transition = program.transition(*id);
            let taken = sets[transition.from.index()].with(&[], &transition.instruction.guard);
            let after = transition.instruction.update.pull(&stage.form);
            // The form after the transition, less the form before it, and how much too much that is.
            let rise = |bound: i64| -> Row {
                let mut row: Row = after.iter().zip(&stage.form).map(|(a, b)| a - b).collect();
                row[0] += &Int::from(bound);
                row
            };
            let never = |row: Row| -> Result<bool, Exhausted> {
                effort.refill(WORK);
                taken.with(&[], &[row]).is_empty(effort)
            };
            let negative = || -> Row {
                let mut row: Row = stage.form.iter().map(|c| -c).collect();
                row[0] += &Int::MINUS_ONE;
                row
            };
            let falls = stage.falls.contains(id);
            if !never(rise(if falls { 0 } else { -1 }))? || falls && !never(negative())? {
                return Err(CertificateError::GoesOn(transition.name.clone()));
            }
        }
        stage.falls.iter().for_each(|id| aside[id.index()] = true);
    }
    let all = recurring(&follows, &aside);
    for region in &program.bad {
        let from_here = |at: &usize| program.transitions[*at].from == region.location && all[*at].is_some();
        if let Some(at) = (0..count).find(from_here) {
            return Err(CertificateError::GoesOn(program.transitions[at].name.clone()));
        }
    }
    Ok(())
}

/// For each transition that may be taken again and again, with which others: the number of its part.
fn recurring(follows: &[Vec<u32>], aside: &[bool]) -> Vec<Option<u32>> {
    let next = |at: u32, cursor: &mut usize| loop {
        let to = *follows[at as usize].get(*cursor)?;
        *cursor += 1;
        if !aside[to as usize] {
            return Some(to);
        }
    };
    let left = (0..follows.len() as u32).filter(|&at| !aside[at as usize]);
    let parts = strong_components(follows.len(), left, next);
    let mut sizes = vec![0; parts.count as usize];
    let part = |at: usize| (!aside[at]).then(|| parts.of[at]);
    (0..follows.len()).filter_map(part).for_each(|part| sizes[part as usize] += 1);
    let recurs =
        |at: usize| part(at).filter(|&p| sizes[p as usize] > 1 || follows[at].contains(&(at as u32)));
    (0..follows.len()).map(recurs).collect()
}
