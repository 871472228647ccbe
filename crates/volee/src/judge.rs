//! The judge: what the user wrote, run by the simplest code, confirms or refuses what a search has found.
//!
//! A run that a search finds, in whatever faster equal of the model, is lifted to the plain program, replayed
//! there step by step, and looked at: does it end in what it is shown for? No search takes part in that. A
//! deadlock is a state without steps that is no valid end, an invariant is evaluated, a formula of temporal
//! logic is evaluated over the cycle by its definition, a claim is run along the run. What is not confirmed
//! is a defect of volee, never a verdict.

use std::fmt;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use volee_logic::formula;
use volee_logic::hoa::read_hoa;
use volee_program::{LabelStyle, Machine, MachineOptions};
use volee_promela::Lowered;
use volee_report::{Claim, Kind, run_to_word};
use volee_search::{
    BoundAtom, DeterministicProperty, LtlQuestion, Names, Runs, TlQuestion, bind, is_fair, is_strongly_fair,
};
use volee_system::{
    Diagnostic, Draft, Fault, PredicateId, Reason, ReasonKind, Run, Step, System, Witness, collect_steps,
    lift, replay_end, walk,
};

use crate::answer::LONGEST_RUN;
use crate::claims::never_claim;
use crate::model::Naming;

/// Runs longer than this are replayed, but formulas are not evaluated over them.
const LONGEST_EVALUATION: usize = 1_000_000;

/// A run of the plain program that shows what it is shown for.
#[derive(Debug, Clone)]
pub struct Confirmed {
    /// The run by ordinals of the plain program.
    pub witness: Witness,
    /// The run, all its statements and all its variables.
    pub run: Run,
    /// The error that it is shown for, where it is shown for one.
    pub fault: Option<Fault>,
    /// How it ends, whatever it is shown for.
    pub ending: Ending,
}

/// How a run ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// Its last step fails an assertion or does what has no meaning.
    Fault(Fault),
    /// No step is possible, though one should be.
    Deadlock,
    /// No step is possible, as it should be.
    ValidEnd,
    /// Its cycle repeats for ever.
    Cycle,
    /// Steps are possible.
    GoesOn,
}

impl Ending {
    /// What is wrong with it, if anything is.
    pub fn reason(&self) -> Option<Reason> {
        match self {
            Ending::Fault(fault) => Some(fault.clone().into()),
            Ending::Deadlock => Some(invalid_end()),
            Ending::ValidEnd | Ending::Cycle | Ending::GoesOn => None,
        }
    }
}

fn invalid_end() -> Reason {
    let message = "the system stops in a state that is not a valid end".into();
    Reason { kind: ReasonKind::InvalidEndState, message, place: None }
}

impl Confirmed {
    /// What is wrong, by what the run was confirmed to show.
    pub fn reason(&self, claim: &Claim) -> Option<Reason> {
        if let Some(fault) = &self.fault {
            return Some(fault.clone().into());
        }
        let loops = self.witness.loop_start.is_some();
        let (kind, message) = match claim.kind {
            kind if kind == Kind::Reachable || !kind.has_runs() => return None,
            Kind::Deadlock => return Some(invalid_end()),
            Kind::Assertions => return self.ending.reason(),
            Kind::Invariant => (ReasonKind::Invariant, format!("`{}` is false", claim.text)),
            Kind::Tl => (ReasonKind::Formula, "the formula is false of this run".into()),
            Kind::Progress => (ReasonKind::NonProgressCycle, "a cycle without progress".into()),
            Kind::Ltl | Kind::Never if !loops => {
                let message = "this run can no longer satisfy the property, whatever follows";
                (ReasonKind::Trap, message.into())
            }
            _ => (ReasonKind::AcceptanceCycle, "an infinite run violates the property".into()),
        };
        Some(Reason { kind, message, place: None })
    }
}

/// Why a run does not show what it is shown for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Objection(pub String);

impl Objection {
    fn new(message: impl Into<String>) -> Self {
        Objection(message.into())
    }
}

impl fmt::Display for Objection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<Diagnostic> for Objection {
    fn from(diagnostic: Diagnostic) -> Self {
        Objection(diagnostic.message)
    }
}

/// The machine that judges runs of a Promela model.
pub fn plain_machine(lowered: &Lowered) -> Machine {
    lowered.machine(MachineOptions { plain: true, ..MachineOptions::default() })
}

/// The same machine, its steps named by what happens in them.
fn named_machine(lowered: &Lowered) -> Machine {
    let labels = LabelStyle::Events;
    lowered.machine(MachineOptions { plain: true, single_steps: true, labels, ..MachineOptions::default() })
}

/// Lifts a run of `fast` to the plain program, replays it there, and looks whether it shows what is claimed.
/// Other models than programs are their own judges. `naming` is how formulas mean steps.
///
/// # Errors
/// It does not, or is no run of the plain program.
pub fn judge(
    lowered: Option<&Lowered>,
    naming: Naming,
    fast: &mut dyn Draft,
    witness: &Witness,
    claim: Option<&Claim>,
) -> Result<Confirmed, Objection> {
    let Some(lowered) = lowered else { return confirm(None, naming, fast, witness.clone(), claim) };
    let mut plain = plain_machine(lowered);
    let lifted =
        lift(fast.system(), &mut plain, witness).map_err(|error| Objection::new(error.to_string()))?;
    let mut witness = lifted.witness;
    // An error stops the run where it happens, in the middle of what the search took for one step.
    let on_the_way = |c: &Claim| c.kind == Kind::Assertions || c.error && c.kind != Kind::Invariant;
    if let Some(steps) = lifted.until_fault.filter(|_| claim.is_some_and(on_the_way)) {
        witness.steps.truncate(steps);
    }
    confirm(Some(lowered), naming, &mut plain, witness, claim)
}

/// Replays a run of the plain program and looks whether it shows what is claimed.
///
/// # Errors
/// It does not, or is no run.
pub fn confirm(
    lowered: Option<&Lowered>,
    naming: Naming,
    plain: &mut dyn Draft,
    witness: Witness,
    claim: Option<&Claim>,
) -> Result<Confirmed, Objection> {
    let run = replay_end(plain.system(), &witness, LONGEST_RUN)
        .map_err(|error| Objection::new(error.to_string()))?;
    let mut end = End::of(plain.system(), &witness)?;
    let ending = end.ending(plain.system(), &witness);
    let fault = match claim {
        // Formulas mean steps by what happens in them; what is shown are statements.
        Some(claim) if claim.kind.is_about_steps() && lowered.is_some_and(|_| naming == Naming::Events) => {
            let mut named = lowered.map(named_machine);
            let plain = named.as_mut().map_or(plain, |machine| machine as &mut dyn Draft);
            Hearing { lowered, plain, witness: &witness, end: &mut end }.hear(claim)?
        }
        Some(claim) => Hearing { lowered, plain, witness: &witness, end: &mut end }.hear(claim)?,
        None => None,
    };
    Ok(Confirmed { witness, run, fault, ending })
}

/// Where a run ends.
struct End {
    state: Vec<u8>,
    fault: Option<Fault>,
}

impl End {
    fn of(plain: &mut dyn System, witness: &Witness) -> Result<Self, Objection> {
        let mut end = End { state: Vec::new(), fault: None };
        walk(plain, witness, |system, state, step: Option<Step>| match step {
            Some(step) => end.fault = step.fault.map(|fault| system.fault(fault)),
            None => end.state = state.to_vec(),
        })
        .map_err(|error| Objection::new(error.to_string()))?;
        Ok(end)
    }

    fn ending(&self, plain: &mut dyn System, witness: &Witness) -> Ending {
        if let Some(fault) = &self.fault {
            return Ending::Fault(fault.clone());
        }
        if witness.loop_start.is_some_and(|start| start < witness.steps.len()) {
            return Ending::Cycle;
        }
        match collect_steps(plain, &self.state).is_empty() {
            false => Ending::GoesOn,
            true if plain.is_valid_end(&self.state) => Ending::ValidEnd,
            true => Ending::Deadlock,
        }
    }
}

/// A run and those who look at it.
struct Hearing<'a> {
    lowered: Option<&'a Lowered>,
    plain: &'a mut dyn Draft,
    witness: &'a Witness,
    end: &'a mut End,
}

impl Hearing<'_> {
    /// The error that the run ends with, where it is shown for one.
    fn hear(&mut self, claim: &Claim) -> Result<Option<Fault>, Objection> {
        if claim.fair
            && self.witness.loop_start.is_some()
            && is_fair(self.plain.system(), self.witness) != Some(true)
        {
            return Err(Objection::new("a process could always move in the cycle and never does"));
        }
        let lasso = self.witness.loop_start.is_some();
        if claim.strongly_fair && lasso && is_strongly_fair(self.plain.system(), self.witness) != Some(true) {
            return Err(Objection::new("a process can move in the cycle and never does"));
        }
        if claim.error {
            return self.error(claim).map(Some);
        }
        let too_long = self.witness.steps.len() > LONGEST_EVALUATION;
        match claim.kind {
            kind if !kind.has_runs() => return Err(Objection::new("that is nothing that a run can show")),
            Kind::Deadlock => self.deadlock()?,
            Kind::Assertions => {
                let fault = self.end.fault.take();
                let missing =
                    "the last step of the run fails no assertion and does nothing without a meaning";
                return fault.ok_or_else(|| Objection::new(missing)).map(Some);
            }
            Kind::Invariant => self.value(&claim.text, false)?,
            Kind::Reachable => self.value(&claim.text, true)?,
            Kind::Progress => self.marks(false)?,
            Kind::Acceptance => self.marks(true)?,
            _ if too_long => {}
            Kind::Ltl => self.ltl(&claim.text)?,
            Kind::Tl => self.tl(&claim.text, claim.maximal)?,
            Kind::Automaton => self.automaton(&claim.text)?,
            _ => self.never()?,
        }
        Ok(None)
    }

    fn deadlock(&mut self) -> Result<(), Objection> {
        if !collect_steps(self.plain.system(), &self.end.state).is_empty() {
            return Err(Objection::new("the run ends in a state from which steps are possible: no deadlock"));
        }
        if self.plain.system().is_valid_end(&self.end.state) {
            return Err(Objection::new("the run ends in a valid end state: no deadlock"));
        }
        Ok(())
    }

    fn value(&mut self, text: &str, wanted: bool) -> Result<(), Objection> {
        let predicate = self.plain.predicate(text)?;
        match self.plain.system().holds(predicate, &self.end.state) {
            Ok(value) if value == wanted => Ok(()),
            Ok(value) => Err(Objection::new(format!("`{text}` is {value} where the run ends"))),
            Err(fault) => Err(Objection::new(format!(
                "`{text}` has no value where the run ends: {}",
                self.plain.system().fault(fault).message
            ))),
        }
    }

    /// An error in the last step, or of a condition in the last state.
    fn error(&mut self, claim: &Claim) -> Result<Fault, Objection> {
        if claim.kind != Kind::Invariant
            && let Some(fault) = self.end.fault.take()
        {
            return Ok(fault);
        }
        if claim.kind == Kind::Never {
            let (mut machine, claim) = self.claim()?;
            let fails = |w: &BoundAtom| match w {
                BoundAtom::Predicate(p) => machine.holds(*p, &self.end.state).err().map(|f| machine.fault(f)),
                _ => None,
            };
            let fault = claim.atoms.iter().find_map(fails);
            return fault.ok_or_else(|| Objection::new("the run ends without an error"));
        }
        for predicate in self.conditions(claim)? {
            if let Err(fault) = self.plain.system().holds(predicate, &self.end.state) {
                return Ok(self.plain.system().fault(fault));
            }
        }
        Err(Objection::new("the run ends without an error"))
    }

    /// The conditions that a claim looks at.
    fn conditions(&mut self, claim: &Claim) -> Result<Vec<PredicateId>, Objection> {
        let atoms = match claim.kind {
            Kind::Invariant | Kind::Reachable => {
                return Ok(vec![self.plain.predicate(&claim.text)?]);
            }
            Kind::Ltl | Kind::Tl => {
                let text = self.formula(&claim.text);
                let names = if claim.kind == Kind::Ltl { Names::States } else { Names::Events };
                bind(self.plain, &formula::parse(&text, "formula")?, names, &text, "formula")?
            }
            Kind::Automaton => deterministic(self.plain, &claim.text)?.atoms().to_vec(),
            _ => Vec::new(),
        };
        let predicate = |atom: &BoundAtom| match atom {
            BoundAtom::Predicate(predicate) => Some(*predicate),
            _ => None,
        };
        Ok(atoms.iter().filter_map(predicate).collect())
    }

    /// No state of the cycle, or some, is marked as accepting or as progress.
    fn marks(&mut self, accept: bool) -> Result<(), Objection> {
        let start = self.witness.loop_start.filter(|start| *start < self.witness.steps.len());
        let start = start.ok_or_else(|| Objection::new("the run does not go on for ever"))?;
        let (mut at, mut marked) = (0, false);
        walk(self.plain.system(), self.witness, |system, state, _| {
            let marks = system.marks(state);
            marked |= at >= start && if accept { marks.accept } else { marks.progress };
            at += 1;
        })
        .map_err(|error| Objection::new(error.to_string()))?;
        match (accept, marked) {
            (true, true) | (false, false) => Ok(()),
            (true, false) => Err(Objection::new("the cycle of the run passes no accept label")),
            (false, true) => Err(Objection::new("the cycle of the run passes a progress label")),
        }
    }

    /// The text of a formula: that of the model's own of this name, else what is given.
    fn formula(&self, text: &str) -> String {
        let own = self.lowered.and_then(|l| l.model().ltl.iter().find(|p| *p.name == *text));
        own.map_or_else(|| text.to_string(), |p| p.text.to_string())
    }

    fn ltl(&mut self, text: &str) -> Result<(), Objection> {
        let text = self.formula(text);
        let parsed = formula::parse(&text, "formula")?;
        let question = LtlQuestion::new(self.plain, parsed, &text, "formula")?;
        let refuted = question.refutes(self.plain.system(), self.witness) == Some(true);
        // What is false of a run that could go on must be false whatever follows.
        let for_good = self.witness.loop_start.is_some()
            || question.claim().accepts(self.plain.system(), self.witness) == Some(true);
        match refuted && for_good {
            true => Ok(()),
            false => Err(Objection::new("the formula is not false of the run")),
        }
    }

    fn tl(&mut self, text: &str, maximal: bool) -> Result<(), Objection> {
        let parsed = formula::parse(text, "formula")?;
        let question = TlQuestion::new(self.plain, &parsed, text, "formula")?;
        let runs = if maximal { Runs::Maximal } else { Runs::Prefixes };
        match question.refutes(self.plain.system(), self.witness, runs) {
            Some(true) => Ok(()),
            _ => Err(Objection::new("the formula is not false of the run")),
        }
    }

    fn automaton(&mut self, text: &str) -> Result<(), Objection> {
        let property = deterministic(self.plain, text)?;
        match property.refuses(self.plain.system(), self.witness) {
            Some(true) => Ok(()),
            _ => Err(Objection::new("the automaton accepts the run")),
        }
    }

    fn claim(&self) -> Result<(Machine, volee_search::Claim), Objection> {
        let missing = || Objection::new("the model has no never claim");
        let lowered = self.lowered.ok_or_else(missing)?;
        let mut machine = plain_machine(lowered);
        let claim = never_claim(&lowered.program, &mut machine).ok_or_else(missing)?;
        Ok((machine, claim))
    }

    fn never(&mut self) -> Result<(), Objection> {
        let (mut machine, claim) = self.claim()?;
        match claim.accepts(&mut machine, self.witness) {
            Some(true) => Ok(()),
            _ => Err(Objection::new("the claim does not come true in the run")),
        }
    }
}

/// A Büchi automaton in the Hanoi format, its propositions bound to a system.
///
/// # Errors
/// It is not deterministic, or speaks of what the system does not have.
pub(crate) fn deterministic(draft: &mut dyn Draft, text: &str) -> Result<DeterministicProperty, Diagnostic> {
    let automaton = read_hoa(text, "automaton")?;
    let mut atoms = Vec::new();
    for atom in &automaton.atoms {
        let parsed = formula::parse(atom, "automaton")?;
        atoms.extend(bind(draft, &parsed, Names::States, atom, "automaton")?);
    }
    DeterministicProperty::new(automaton, atoms)
}

/// Everything that is needed to report a defect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Defect {
    /// What is wrong, a sentence without a full stop.
    pub message: String,
    /// What else there is to know, by name.
    pub details: Vec<(&'static str, String)>,
}

impl Defect {
    /// A defect that is one sentence.
    pub fn new(message: impl Into<String>) -> Self {
        let version = ("version", env!("CARGO_PKG_VERSION").to_string());
        Defect { message: message.into(), details: vec![version] }
    }

    /// A verdict that was not confirmed. `text` is the model's own, where it can be read.
    pub fn unconfirmed(
        objection: &Objection,
        model: &str,
        text: Option<&[u8]>,
        options: &str,
        question: &str,
        reason: Option<&Reason>,
        witness: &Witness,
    ) -> Self {
        let mut digest = DefaultHasher::new();
        text.hash(&mut digest);
        let found = reason.map_or_else(|| "a run".to_string(), |reason| reason.message.clone());
        Defect {
            message: format!(
                "a search answered `{question}` with a run that the program as written does not confirm: {objection}"
            ),
            details: vec![
                ("version", env!("CARGO_PKG_VERSION").to_string()),
                ("model", format!("{model} (fingerprint {:016x})", digest.finish())),
                ("options", options.to_string()),
                ("question", question.to_string()),
                ("found", found),
                ("run of the searched program", run_to_word(witness)),
            ],
        }
    }

    /// Two searches that do not agree.
    pub fn disagreement(model: &str, options: &str, question: &str, first: &str, second: &str) -> Self {
        Defect {
            message: format!(
                "the search says that `{question}` is {first}, and the plain search that it is {second}"
            ),
            details: vec![
                ("version", env!("CARGO_PKG_VERSION").to_string()),
                ("model", model.to_string()),
                ("options", options.to_string()),
                ("question", question.to_string()),
            ],
        }
    }
}

impl fmt::Display for Defect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.message)?;
        for (name, value) in &self.details {
            write!(f, "\n  {name}: {value}")?;
        }
        Ok(())
    }
}
