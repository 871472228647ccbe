//! On-line checking of finite-trace formulas: a system and a monitor, stepped together, as a system again.
//!
//! After Jard & Jéron 1989, section 4: the automaton values the states during enumeration, and the search
//! stops at the first event after which the formula is false. The initial pair is looked at too, which figure
//! 5 of the report forgets. The conjuncts of a formula stay separate automata; only the tuples that the
//! system meets exist. Because the product is a system, every traversal and every store can be under it, and
//! because it has the ordinals of the system's own steps, its witnesses are witnesses of the system.

use serde::{Deserialize, Serialize};
use volee_logic::formula::Formula;
use volee_logic::tl::{Alphabet, DfaState, Limits, Monitor, MonitorState, Verdict3};
use volee_system::{
    Budget, Diagnostic, Draft, FaultId, Flow, Label, Meter, PredicateId, Progress, Quiet, Reason, ReasonKind,
    Step, System, Verdict,
};

use crate::atoms::{BoundAtom, Names, Valuation, bind};
use crate::check::{Check, Outcome, check};
use crate::product::{Beside, Observer, Pair};
use crate::silence::silent;

/// Which runs must satisfy a finite-trace formula.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Runs {
    /// Every finite prefix of every run, the empty one included: the papers' meaning.
    #[default]
    Prefixes,
    /// Every run that ends, as a whole.
    Maximal,
}

/// How much it may take to find out what never happens, beside the answer.
const MEMORY_TO_LOOK_ON: u64 = 16 << 20;

/// The predicate "all is well so far" of a monitored system.
const ACCEPTING: PredicateId = PredicateId(u32::MAX);

/// A finite-trace formula bound to a system.
pub struct TlQuestion {
    text: String,
    pub(crate) monitor: Monitor,
    pub(crate) atoms: Vec<BoundAtom>,
    formula: Formula,
}

impl TlQuestion {
    /// Binds the atoms of a formula and compiles its conjuncts. `file` names the formula in messages.
    ///
    /// # Errors
    /// An atom means nothing to the system, or an automaton is too large.
    pub fn new(draft: &mut dyn Draft, formula: &Formula, text: &str, file: &str) -> Result<Self, Diagnostic> {
        let atoms = bind(draft, formula, Names::Events, text, file)?;
        // One step may be several events: an atomic sequence, or a statement under its own and another name.
        let alphabet = Alphabet::Sets;
        let monitor = Monitor::new(formula, alphabet, Limits::default())
            .map_err(|e| Diagnostic::error(e.to_string(), None))?;
        Ok(TlQuestion { text: text.into(), monitor, atoms, formula: formula.clone() })
    }

    /// What the formula's atoms look at.
    pub fn atoms(&self) -> &[BoundAtom] {
        &self.atoms
    }

    /// Whether steps that are no event of the formula and change none of its conditions make no difference,
    /// however many there are.
    pub fn ignores_silent_steps(&self) -> bool {
        self.monitor.ignores_silent_steps(|atom| matches!(self.atoms[atom], BoundAtom::Event(_)))
    }

    /// Decides the question with any traversal: `check` gives its order; its own questions are not asked.
    pub fn check(
        &self,
        system: &mut dyn System,
        runs: Runs,
        how: &Check,
        meter: &Meter,
        progress: &mut dyn Progress,
    ) -> Outcome {
        self.check_and_watch(system, runs, how, meter, progress).0
    }

    /// The same, and what the formula speaks of and no step is.
    pub fn check_and_watch(
        &self,
        system: &mut dyn System,
        runs: Runs,
        how: &Check,
        meter: &Meter,
        progress: &mut dyn Progress,
    ) -> (Outcome, Vec<String>) {
        let mut product = self.beside(system, runs);
        let outcome = check(&mut product, &self.questions(how), meter, progress);
        let letters = product.letters().map(<[u64]>::to_vec);
        let holds = outcome.answers.iter().all(|answer| answer.verdict == Verdict::Holds);
        let told = if holds { self.silent(system, runs, letters.as_deref(), meter) } else { Vec::new() };
        (self.told(outcome, runs), told)
    }

    /// The system beside the formula's monitor: a system again, whose runs are those of the system.
    pub fn beside<'a, S: System + ?Sized>(&'a self, system: &'a mut S, runs: Runs) -> Monitored<'a, S> {
        Beside::of(system, MonitorObserver::new(self, runs), false)
    }

    /// The question of a search through the system beside its monitor.
    pub fn questions(&self, how: &Check) -> Check {
        Check {
            deadlocks: false,
            faults: false,
            invariants: vec![(self.text.clone(), ACCEPTING)],
            goals: Vec::new(),
            ..how.clone()
        }
    }

    /// What such a search has found, in words of the formula.
    pub fn told(&self, mut outcome: Outcome, runs: Runs) -> Outcome {
        for answer in &mut outcome.answers {
            answer.question = format!("tl {}", self.text);
            if let Verdict::Violated(violations) = &mut answer.verdict {
                for violation in violations {
                    violation.reason = broken(violation.reason.clone(), runs);
                }
            }
        }
        outcome
    }

    /// What the formula speaks of and never happens: it is in none of the letters that were met. Where a
    /// search was not asked to look at everything, because the formula was settled, somebody looks once more,
    /// if that does not take much.
    pub fn silent<S: System + ?Sized>(
        &self,
        system: &mut S,
        runs: Runs,
        letters: Option<&[u64]>,
        meter: &Meter,
    ) -> Vec<String> {
        if let Some(letters) = letters {
            return silent(&self.formula, &self.atoms, letters);
        }
        let memory = meter.budget().memory.unwrap_or(u64::MAX).min(MEMORY_TO_LOOK_ON);
        let budget = Budget { memory: Some(memory), ..meter.left() };
        let mut product = self.beside(system, runs);
        product.observer.looks_on = true;
        let everything = self.questions(&Check::new().replacement(None));
        let outcome = check(&mut product, &everything, &Meter::start(budget), &mut Quiet);
        let letters = product.letters().filter(|_| outcome.limit.is_none());
        letters.map(|letters| silent(&self.formula, &self.atoms, letters)).unwrap_or_default()
    }
}

fn broken(reason: Reason, runs: Runs) -> Reason {
    if reason.kind != ReasonKind::Invariant {
        return reason;
    }
    let message = match runs {
        Runs::Prefixes => "the formula is false of this run",
        Runs::Maximal => "the run ends here, and the formula is false of it",
    };
    Reason { kind: ReasonKind::Formula, message: message.into(), place: None }
}

/// A system with a monitor: see [`TlQuestion::beside`].
pub type Monitored<'a, S> = Beside<'a, S, MonitorObserver<'a>>;

/// A monitor at work. Its state is one number per conjunct; it reads a step together with the state after it.
pub struct MonitorObserver<'a> {
    monitor: &'a Monitor,
    valuation: Valuation<'a>,
    runs: Runs,
    /// Bytes of each conjunct's state.
    widths: Vec<usize>,
    at: MonitorState,
    bytes: Vec<u8>,
    /// Somewhere the formula was satisfied for good, and what follows was not looked at.
    cut: bool,
    /// What follows is looked at all the same.
    looks_on: bool,
}

impl<'a> MonitorObserver<'a> {
    fn new(question: &'a TlQuestion, runs: Runs) -> Self {
        let monitor = &question.monitor;
        let width = |states: usize| match states {
            ..=0x100 => 1,
            0x101..=0x1_0000 => 2,
            _ => 4,
        };
        MonitorObserver {
            monitor,
            valuation: Valuation::new(&question.atoms),
            runs,
            widths: (0..monitor.len()).map(|i| width(monitor.part(i).len())).collect(),
            at: monitor.initial(),
            bytes: Vec::new(),
            cut: false,
            looks_on: false,
        }
    }

    fn read(&mut self, mut bytes: &[u8]) {
        for (part, &width) in self.at.0.iter_mut().zip(&self.widths) {
            let (own, rest) = bytes.split_at(width);
            *part = DfaState(own.iter().rev().fold(0, |n, &b| n << 8 | u32::from(b)));
            bytes = rest;
        }
    }

    fn write(widths: &[usize], at: &MonitorState, out: &mut Vec<u8>) {
        for (part, &width) in at.0.iter().zip(widths) {
            out.extend_from_slice(&part.0.to_le_bytes()[..width]);
        }
    }
}

impl<S: System + ?Sized> Monitored<'_, S> {
    /// The letters met, unless somewhere the formula was satisfied for good and what follows was not looked
    /// at.
    pub fn letters(&self) -> Option<&[u64]> {
        (!self.observer.cut).then(|| self.observer.valuation.letters())
    }
}

impl<S: System + ?Sized> Observer<S> for MonitorObserver<'_> {
    type Known = [u8; 0];

    fn width(&self) -> usize {
        self.widths.iter().sum()
    }

    fn start(&self, out: &mut Vec<u8>) {
        Self::write(&self.widths, &self.monitor.initial(), out);
    }

    /// Nothing after a state in which the formula is satisfied for good can matter.
    fn is_settled(&mut self, at: &[u8]) -> bool {
        self.read(at);
        let is_settled = !self.looks_on && self.monitor.verdict(&self.at) == Verdict3::Satisfied;
        self.cut |= is_settled;
        is_settled
    }

    fn follow(
        &mut self,
        system: &mut S,
        at: &[u8],
        (label, target): (Option<Label>, &[u8]),
        mut push: impl FnMut(Option<FaultId>, &[u8]) -> Flow,
    ) -> Flow {
        self.valuation.look_at_step(&*system, label);
        let fault = self.valuation.look_at_state(system, target).err();
        self.valuation.meet();
        self.read(at);
        self.monitor.step(&mut self.at, |atom| self.valuation.sees(atom as u32));
        self.bytes.clear();
        Self::write(&self.widths, &self.at, &mut self.bytes);
        push(fault, &self.bytes)
    }

    fn holds(
        &mut self,
        system: &mut S,
        predicate: PredicateId,
        (at, own): Pair<'_>,
    ) -> Option<Result<bool, FaultId>> {
        if predicate != ACCEPTING {
            return None;
        }
        self.read(at);
        if self.monitor.rejecting(&self.at).is_none() {
            return Some(Ok(true));
        }
        let mut moves = false;
        if self.runs == Runs::Maximal {
            let _ = system.steps(own, &mut |step: Step, _: &[u8]| {
                moves |= !step.stays;
                if moves { Flow::Break(()) } else { Flow::Continue(()) }
            });
        }
        Some(Ok(moves))
    }
}
