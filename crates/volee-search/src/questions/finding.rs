//! What was found for each question of a check, wherever it was: on its way between workers, to a file and
//! back, and in the end to the answers.

use serde::{Deserialize, Serialize};
use volee_system::{Limit, Reason, ReasonKind, Verdict, Violation, Witness};

use super::MAX_WITNESSES;
use crate::check::{Answer, Check};

/// What a search, or one worker's part of it, has found for one question.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    pub(crate) errors: u64,
    /// There may be more of them.
    pub(crate) at_least: bool,
    pub(crate) violations: Vec<(Reason, Witness)>,
    /// How a goal is reached.
    pub(crate) reached: Option<Witness>,
}

impl Finding {
    /// Adds an error that is found at the end, when all states are known.
    pub(crate) fn add(&mut self, reason: Reason, witness: Witness) {
        self.errors += 1;
        self.violations.push((reason, witness));
    }

    /// All witnesses, in a fixed order.
    pub(crate) fn witnesses(&self) -> impl Iterator<Item = &Witness> {
        self.violations.iter().map(|v| &v.1).chain(&self.reached)
    }

    /// All witnesses, in the same order.
    pub(crate) fn witnesses_mut(&mut self) -> impl Iterator<Item = &mut Witness> {
        self.violations.iter_mut().map(|v| &mut v.1).chain(&mut self.reached)
    }

    /// Gives each way its run; what has none is taken away.
    pub(crate) fn resolve(&mut self, mut run: impl FnMut(&Witness) -> Option<Witness>) {
        self.violations.retain_mut(|(_, witness)| match run(witness) {
            Some(found) => {
                *witness = found;
                true
            }
            None => false,
        });
        self.reached = self.reached.take().and_then(|witness| run(&witness));
    }

    /// Adds what another worker has found; of two ways to the same the shorter is kept.
    pub(crate) fn join(&mut self, other: Finding) {
        self.errors += other.errors;
        self.at_least |= other.at_least;
        for (reason, witness) in other.violations {
            let room = self.violations.len() < MAX_WITNESSES;
            match self.violations.iter_mut().find(|v| v.0 == reason) {
                Some(known) if known.1.steps.len() <= witness.steps.len() => {}
                Some(known) => known.1 = witness,
                None if room => self.violations.push((reason, witness)),
                None => {}
            }
        }
        let shorter = |a: &Witness, b: &Witness| a.steps.len() <= b.steps.len();
        self.reached = match (self.reached.take(), other.reached) {
            (Some(a), Some(b)) => Some(if shorter(&a, &b) { a } else { b }),
            (a, b) => a.or(b),
        };
    }

    fn answer(self, question: String, limit: Option<&Limit>) -> Answer {
        let violations = self.violations.into_iter().map(|(reason, witness)| Violation { reason, witness });
        let violations: Vec<Violation> = violations.collect();
        let verdict = match (violations.is_empty(), limit) {
            (false, _) => Verdict::Violated(violations),
            (true, None) => Verdict::Holds,
            (true, Some(limit)) => Verdict::Unknown(limit.clone()),
        };
        let at_least = self.at_least || limit.is_some();
        Answer { question, verdict, errors: self.errors, at_least, witness: None }
    }
}

/// Adds what another worker has found, question by question.
pub(crate) fn join_findings(all: &mut [Finding], others: Vec<Finding>) {
    for (finding, other) in all.iter_mut().zip(others) {
        finding.join(other);
    }
}

/// The answers of a check, given what was found for each of its questions; `limit` is what ended the search
/// too early, if anything did.
pub(crate) fn answers_from(check: &Check, findings: Vec<Finding>, limit: Option<&Limit>) -> Vec<Answer> {
    let stopped =
        Limit::Other { message: "not decided, because the search stopped at the first error".into() };
    let errors: u64 = findings.iter().map(|finding| finding.errors).sum();
    let cut = limit.or((!check.goes_on(errors)).then_some(&stopped));
    let mut findings = findings.into_iter();
    let mut next = || findings.next().unwrap_or_default();
    let mut answers = Vec::new();
    if check.deadlocks {
        answers.push(next().answer("deadlock".into(), cut));
    }
    if check.faults {
        answers.push(next().answer("assertions".into(), cut));
    }
    for (text, _) in &check.invariants {
        answers.push(next().answer(format!("invariant {text}"), cut));
    }
    for (text, _) in &check.goals {
        answers.push(goal_answer(text, next().reached, cut));
    }
    answers
}

fn goal_answer(text: &str, found: Option<Witness>, cut: Option<&Limit>) -> Answer {
    let question = format!("reachable {text}");
    let (verdict, errors) = match (&found, cut) {
        (Some(_), _) => (Verdict::Holds, 0),
        (None, Some(limit)) => (Verdict::Unknown(limit.clone()), 0),
        // There is no run to show for something that never happens: the witness is the empty run.
        (None, None) => (Verdict::Violated(vec![unreachable(text)]), 1),
    };
    Answer { question, verdict, errors, at_least: false, witness: found }
}

fn unreachable(text: &str) -> Violation {
    let message = format!("no reachable state satisfies `{text}`");
    Violation {
        reason: Reason { kind: ReasonKind::Unreachable, message, place: None },
        witness: Witness::default(),
    }
}
