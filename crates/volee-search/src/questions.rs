//! The questions of a check at work: what each state and each faulty step means for them.
//!
//! Traversals tell [`Questions`] what they meet, and are asked for a witness only when a new reason turns up
//! (building one may need the system, which is busy during the question). All errors are counted; witnesses
//! are kept for distinct reasons, up to [`MAX_WITNESSES`].

mod finding;
pub(crate) mod once;

use volee_system::{FaultId, Flow, Limit, Reason, ReasonKind, System, Violation, Witness};

use crate::check::{Answer, Check};
pub use finding::Finding;
pub(crate) use finding::{answers_from, join_findings};
use once::{Counted, Met};

/// Witnesses kept per question.
const MAX_WITNESSES: usize = 64;

/// The errors of one question so far.
#[derive(Default)]
struct Tally {
    errors: u64,
    /// There may be more: some were not counted because they were perhaps counted before.
    at_least: bool,
    violations: Vec<Violation>,
    /// Faults already seen, so that a repeated one costs no text.
    faults: Vec<FaultId>,
}

impl Tally {
    /// Counts an error; a new reason is kept, to be witnessed, and so is every one as long as fewer are known
    /// than wanted.
    fn add(&mut self, wanted: usize, reason: impl FnOnce() -> Reason) -> bool {
        self.errors += 1;
        if self.violations.len() == MAX_WITNESSES {
            return false;
        }
        let reason = reason();
        let new = self.violations.len() < wanted || self.violations.iter().all(|v| v.reason != reason);
        if new {
            self.violations.push(Violation { reason, witness: Witness::default() });
        }
        new
    }

    /// The same where there is one reason only, which is not made again to be compared.
    fn add_another(&mut self, wanted: usize, reason: impl FnOnce() -> Reason) -> bool {
        if self.violations.len() >= wanted.max(1) {
            self.errors += 1;
            return false;
        }
        self.add(wanted, reason)
    }

    fn add_fault<S: System + ?Sized>(&mut self, wanted: usize, system: &S, fault: FaultId) -> bool {
        if self.violations.len() >= wanted && self.faults.contains(&fault) {
            self.errors += 1;
            return false;
        }
        if self.faults.len() < MAX_WITNESSES && !self.faults.contains(&fault) {
            self.faults.push(fault);
        }
        self.add(wanted, || system.fault(fault).into())
    }

    /// Takes an error back that was perhaps counted before, and is not new: whether it was.
    fn takes_back(&mut self, met: Met, new: bool) -> bool {
        let taken = met == Met::Perhaps && !new;
        self.errors -= u64::from(taken);
        self.at_least |= taken;
        taken
    }

    fn witness_last(&mut self, witness: &Witness) {
        if let Some(last) = self.violations.last_mut() {
            last.witness = witness.clone();
        }
    }

    fn from_finding(finding: Finding) -> Self {
        let violations = finding.violations.into_iter();
        let violations = violations.map(|(reason, witness)| Violation { reason, witness }).collect();
        Tally { errors: finding.errors, at_least: finding.at_least, violations, faults: Vec::new() }
    }

    fn finding(&self) -> Finding {
        let violations = self.violations.iter().map(|v| (v.reason.clone(), v.witness.clone())).collect();
        Finding { errors: self.errors, at_least: self.at_least, violations, reached: None }
    }

    fn into_finding(self) -> Finding {
        let violations = self.violations.into_iter().map(|v| (v.reason, v.witness)).collect();
        Finding { errors: self.errors, at_least: self.at_least, violations, reached: None }
    }
}

/// The state of all questions during a search.
pub(crate) struct Questions<'c> {
    check: &'c Check,
    deadlocks: Tally,
    faults: Tally,
    invariants: Vec<Tally>,
    goals: Vec<Option<Witness>>,
    goals_open: usize,
    errors: u64,
    unwitnessed: Vec<Wish>,
    /// What was counted, where states are met again and are to be counted once.
    counted: Option<Counted>,
    /// Only the ways to goals are still to be found.
    settled: bool,
    /// What another search has found, in the place of what was found here.
    elsewhere: Option<Vec<Finding>>,
    /// All errors are counted: only runs are still to be found.
    awaited: Option<Awaited>,
}

/// What a search knows of errors that others have counted.
struct Awaited {
    /// Errors of deadlocks, faults and invariants, asked or not; nothing where they are counted here, too.
    errors: Vec<u64>,
    runs: Runs,
}

/// To which errors a run is to be found.
enum Runs {
    /// To each of these reasons.
    Reasons(Vec<Vec<Reason>>),
    /// To each of this many errors, those included that were met before.
    Errors(u64),
}

/// What the next witness is for: the last violation of a question, or a goal.
#[derive(Debug, Clone, Copy)]
enum Wish {
    Deadlock,
    Fault,
    Invariant(usize),
    Goal(usize),
}

impl<'c> Questions<'c> {
    pub(crate) fn new(check: &'c Check) -> Self {
        Questions {
            check,
            deadlocks: Tally::default(),
            faults: Tally::default(),
            invariants: check.invariants.iter().map(|_| Tally::default()).collect(),
            goals: vec![None; check.goals.len()],
            goals_open: check.goals.len(),
            errors: 0,
            unwitnessed: Vec::new(),
            counted: None,
            settled: false,
            elsewhere: None,
            awaited: None,
        }
    }

    /// From now on an error of a state counts once, however often the state is visited: a store that forgets
    /// meets states again.
    pub(crate) fn count_once(&mut self, bytes: u64) {
        self.counted = Some(Counted::new(bytes));
    }

    /// What is kept for that.
    pub(crate) fn counted_bytes(&self) -> u64 {
        self.counted.as_ref().map_or(0, Counted::bytes)
    }

    /// States are forgotten from now on.
    #[inline]
    pub(crate) fn note_forgetting(&mut self) {
        if let Some(counted) = &mut self.counted {
            counted.note_forgetting();
        }
    }

    /// Whether an error of a state was counted before; the next time it was.
    fn meet(&mut self, kind: (u32, u32), state: &[u8]) -> Met {
        self.counted.as_mut().map_or(Met::First, |counted| counted.meet(kind, state))
    }

    /// Whether something was found for which a search is made.
    pub(crate) fn has_found(&self) -> bool {
        self.has_errors() || self.is_done() || self.elsewhere.is_some()
    }

    /// Whether a search would end here because of what was found.
    pub(crate) fn has_enough(&self) -> bool {
        self.has_errors() && self.after_error().is_break() || self.is_done() || self.elsewhere.is_some()
    }

    /// What another search of the same has found.
    pub(crate) fn take_over(&mut self, findings: Vec<Finding>) {
        self.elsewhere = Some(findings);
    }

    pub(crate) fn has_errors(&self) -> bool {
        self.errors > 0
    }

    /// How many errors were met.
    pub(crate) fn errors(&self) -> u64 {
        self.errors
    }

    /// Whether each goal is still open.
    pub(crate) fn open_goals(&self) -> Vec<bool> {
        self.goals.iter().map(Option::is_none).collect()
    }

    pub(crate) fn is_reached(&self, goal: usize) -> bool {
        self.goals[goal].is_some()
    }

    /// Somebody else has reached a goal, and nobody asks how.
    pub(crate) fn close_goal(&mut self, goal: usize) {
        if self.goals[goal].is_none() {
            self.goals[goal] = Some(Witness::default());
            self.goals_open -= 1;
        }
    }

    /// Whether nothing but goals is asked for, and all are reached.
    pub(crate) fn is_done(&self) -> bool {
        self.after_goal().is_break()
    }

    /// All states were seen elsewhere: there are no errors, and these goals can be reached. `Break` when no
    /// way to one of them is still to be found.
    pub(crate) fn settle(&mut self, reached: &[bool]) -> Flow {
        let open = self.goals.iter().zip(reached).enumerate();
        let open: Vec<usize> = open.filter(|(_, (goal, _))| goal.is_none()).map(|(at, _)| at).collect();
        for at in
            open.into_iter().filter(|&at| reached[at] && at >= self.check.goals.len() - self.check.sides)
        {
            self.close_goal(at);
        }
        self.goals_open =
            self.goals.iter().zip(reached).filter(|(goal, reached)| goal.is_none() && **reached).count();
        self.settled = true;
        self.after_goal()
    }

    /// What is asked.
    pub(crate) fn check(&self) -> &'c Check {
        self.check
    }

    /// Whether a step's fault is asked about, and if so whether the first one ends the search.
    pub(crate) fn on_fault(&self) -> OnFault {
        match (self.check.faults, self.check.all_errors) {
            (false, _) => OnFault::Ignore,
            (true, true) => OnFault::Record,
            (true, false) if self.check.max_errors > 1 => OnFault::Record,
            (true, false) => OnFault::Stop,
        }
    }

    /// Whether nobody asks about states as such.
    #[inline]
    pub(crate) fn ignores_states(&self) -> bool {
        self.check.invariants.is_empty() && self.goals_open == 0
    }

    /// A new state: evaluates invariants and goals. `Break` when the search may end.
    #[inline]
    pub(crate) fn visit<S: System + ?Sized>(&mut self, system: &mut S, state: &[u8]) -> Flow {
        if self.ignores_states() {
            return Flow::Continue(());
        }
        self.evaluate(system, state)
    }

    fn evaluate<S: System + ?Sized>(&mut self, system: &mut S, state: &[u8]) -> Flow {
        let (before, wanted) = (self.errors, self.check.max_errors);
        for (at, (text, predicate)) in self.check.invariants.iter().enumerate() {
            let holds = system.holds(*predicate, state);
            if holds == Ok(true) {
                continue;
            }
            let met = self.meet((2, at as u32), state);
            if met == Met::Again {
                continue;
            }
            let tally = &mut self.invariants[at];
            let new = match holds {
                Ok(_) => tally.add(wanted, || broken(text)),
                Err(fault) => tally.add_fault(wanted, system, fault),
            };
            if tally.takes_back(met, new) {
                continue;
            }
            self.errors += 1;
            self.unwitnessed.extend(new.then_some(Wish::Invariant(at)));
        }
        for (at, (_, predicate)) in self.check.goals.iter().enumerate() {
            if self.goals[at].is_none() && system.holds(*predicate, state) == Ok(true) {
                self.goals[at] = Some(Witness::default());
                self.goals_open -= 1;
                self.unwitnessed.push(Wish::Goal(at));
            }
        }
        if self.errors > before { self.after_error() } else { self.after_goal() }
    }

    /// A step with a fault. `Break` when the search may end.
    pub(crate) fn fault<S: System + ?Sized>(
        &mut self,
        system: &S,
        state: &[u8],
        ordinal: u32,
        fault: FaultId,
    ) -> Flow {
        let met = self.meet((1, ordinal), state);
        if met == Met::Again {
            return Flow::Continue(());
        }
        let new = self.faults.add_fault(self.check.max_errors, system, fault);
        if self.faults.takes_back(met, new) {
            return Flow::Continue(());
        }
        self.errors += 1;
        self.unwitnessed.extend(new.then_some(Wish::Fault));
        self.after_error()
    }

    /// A state without steps. `Break` when the search may end.
    pub(crate) fn end<S: System + ?Sized>(&mut self, system: &mut S, state: &[u8]) -> Flow {
        // Where something was left out, it may be what this state can do.
        if !self.check.deadlocks || system.left_out().is_some() || system.is_valid_end(state) {
            return Flow::Continue(());
        }
        let met = self.meet((0, 0), state);
        if met == Met::Again {
            return Flow::Continue(());
        }
        let new = self.deadlocks.add_another(self.check.max_errors, invalid_end);
        if self.deadlocks.takes_back(met, new) {
            return Flow::Continue(());
        }
        self.errors += 1;
        self.unwitnessed.extend(new.then_some(Wish::Deadlock));
        self.after_error()
    }

    /// Whether what was told last needs a witness.
    #[inline]
    pub(crate) fn wants_witness(&self) -> bool {
        !self.unwitnessed.is_empty()
    }

    /// The way to what was told last.
    pub(crate) fn give_witness(&mut self, witness: &Witness) {
        for wish in self.unwitnessed.drain(..) {
            match wish {
                Wish::Deadlock => self.deadlocks.witness_last(witness),
                Wish::Fault => self.faults.witness_last(witness),
                Wish::Invariant(at) => self.invariants[at].witness_last(witness),
                Wish::Goal(at) => self.goals[at] = Some(witness.clone()),
            }
        }
    }

    fn after_error(&self) -> Flow {
        if self.is_awaiting() == Some(false) {
            return self.after_goal();
        }
        if self.check.goes_on(self.errors) { Flow::Continue(()) } else { Flow::Break(()) }
    }

    /// All states were seen elsewhere, and these are the errors of those that were not seen here, or of all.
    /// From now on only runs are looked for: to each reason, and to goals that were reached. `None` where
    /// there may be more reasons than are told; `Break` when no run is to be found any more.
    pub(crate) fn await_runs(&mut self, found: &[Finding], of_all: bool, reached: &[bool]) -> Option<Flow> {
        let asked = [self.check.deadlocks, self.check.faults].into_iter();
        let asked: Vec<bool> = asked.chain(self.check.invariants.iter().map(|_| true)).collect();
        let mut found = found.iter();
        let (mut errors, mut reasons) = (Vec::new(), Vec::new());
        for (tally, asked) in self.tallies().zip(asked) {
            let nothing = Finding::default();
            let more = if asked { found.next()? } else { &nothing };
            let known = |reason: &Reason| tally.violations.iter().any(|v| v.reason == *reason);
            let new: Vec<Reason> =
                more.violations.iter().map(|v| &v.0).filter(|reason| !known(reason)).cloned().collect();
            if tally.violations.len() + new.len() >= MAX_WITNESSES {
                return None;
            }
            errors.push(more.errors + if of_all { 0 } else { tally.errors });
            reasons.push(new);
        }
        self.awaited = Some(Awaited { errors, runs: Runs::Reasons(reasons) });
        Some(self.settle_awaiting(reached))
    }

    /// All states were seen elsewhere, and this many errors among them, all told. From now on only runs are
    /// looked for, to each of them and to goals that were reached. `Break` when no run is to be found any more.
    pub(crate) fn await_errors(&mut self, errors: u64, reached: &[bool]) -> Flow {
        self.awaited = Some(Awaited { errors: Vec::new(), runs: Runs::Errors(errors) });
        self.settle_awaiting(reached)
    }

    fn settle_awaiting(&mut self, reached: &[bool]) -> Flow {
        let goals = self.settle(reached);
        if self.is_awaiting() == Some(true) { Flow::Continue(()) } else { goals }
    }

    /// Whether a run to some error is still to be found, where all errors are counted.
    fn is_awaiting(&self) -> Option<bool> {
        let reasons = match &self.awaited.as_ref()?.runs {
            Runs::Reasons(reasons) => reasons,
            Runs::Errors(errors) => return Some(self.errors < *errors),
        };
        let tallies = [&self.deadlocks, &self.faults].into_iter().chain(&self.invariants);
        let mut pairs = tallies.zip(reasons);
        Some(pairs.any(|(tally, reasons)| {
            reasons.iter().any(|reason| tally.violations.iter().all(|v| v.reason != *reason))
        }))
    }

    /// Ends a search that only has goals, once all are reached.
    fn after_goal(&self) -> Flow {
        if self.is_awaiting() == Some(true) {
            return Flow::Continue(());
        }
        let only_goals = !self.check.deadlocks && !self.check.faults && self.check.invariants.is_empty();
        if self.goals_open == 0 && (self.settled || only_goals && !self.check.all_errors) {
            Flow::Break(())
        } else {
            Flow::Continue(())
        }
    }

    /// The answers; `limit` is what ended the search too early, if anything did.
    pub(crate) fn answers(self, limit: Option<&Limit>) -> Vec<Answer> {
        answers_from(self.check, self.into_findings(), limit)
    }

    /// What was found, question by question.
    pub(crate) fn into_findings(mut self) -> Vec<Finding> {
        if let Some(findings) = self.elsewhere {
            return findings;
        }
        if let Some(Awaited { errors, .. }) = self.awaited.take() {
            let counted = self.tallies().zip(errors);
            counted.for_each(|(tally, errors)| (tally.errors, tally.at_least) = (errors, false));
        }
        let check = self.check;
        let mut findings = Vec::new();
        findings.extend(check.deadlocks.then(|| self.deadlocks.into_finding()));
        findings.extend(check.faults.then(|| self.faults.into_finding()));
        findings.extend(self.invariants.into_iter().map(Tally::into_finding));
        let goal = |reached| Finding { reached, ..Finding::default() };
        findings.extend(self.goals.into_iter().map(goal));
        findings
    }
}

/// How many errors and reasons there were at some time; goals that were reached since stay reached.
#[derive(Debug, Default)]
pub(crate) struct Mark(Vec<(u64, usize)>);

impl Questions<'_> {
    fn tallies(&mut self) -> impl Iterator<Item = &mut Tally> {
        [&mut self.deadlocks, &mut self.faults].into_iter().chain(&mut self.invariants)
    }

    /// Notes what is known now.
    pub(crate) fn mark(&mut self, mark: &mut Mark) {
        mark.0.clear();
        mark.0.extend(self.tallies().map(|tally| (tally.errors, tally.violations.len())));
    }

    /// What was found so far, or at the mark, question by question, asked or not.
    pub(crate) fn findings(&self, at: Option<&Mark>) -> Vec<Finding> {
        let tallies = [&self.deadlocks, &self.faults].into_iter().chain(&self.invariants);
        let goals =
            self.goals.iter().map(|reached| Finding { reached: reached.clone(), ..Finding::default() });
        let mut findings: Vec<Finding> = tallies.map(Tally::finding).chain(goals).collect();
        for (finding, &(errors, violations)) in findings.iter_mut().zip(at.iter().flat_map(|mark| &mark.0)) {
            finding.errors = errors;
            finding.violations.truncate(violations);
        }
        findings
    }

    /// Goes on from what was found before; whether it is about as many questions.
    pub(crate) fn restore(&mut self, findings: Vec<Finding>) -> bool {
        if findings.len() != 2 + self.invariants.len() + self.goals.len() {
            return false;
        }
        let mut findings = findings.into_iter();
        let mut errors = 0;
        for tally in self.tallies() {
            *tally = Tally::from_finding(findings.next().unwrap_or_default());
            errors += tally.errors;
        }
        self.errors = errors;
        for (goal, finding) in self.goals.iter_mut().zip(findings) {
            *goal = finding.reached;
        }
        self.goals_open = self.goals.iter().filter(|goal| goal.is_none()).count();
        true
    }
}

/// What a traversal does with a faulty step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OnFault {
    /// Faults are not asked about.
    Ignore,
    /// Note it and go on.
    Record,
    /// Note it and ask for no more steps.
    Stop,
}

fn broken(text: &str) -> Reason {
    Reason { kind: ReasonKind::Invariant, message: format!("`{text}` is false"), place: None }
}

fn invalid_end() -> Reason {
    Reason {
        kind: ReasonKind::InvalidEndState,
        message: "the system stops in a state that is not a valid end".into(),
        place: None,
    }
}
