//! LTL formulas as questions: translated, searched for, and their counterexamples checked against the definition.

use volee_logic::formula::{AtomKind, Formula};
use volee_logic::ltl::{TranslateError, holds_of_lasso, translate};
use volee_system::{Diagnostic, Flow, Meter, Progress, Step, System, Verdict, Witness};

use crate::liveness::{Claim, ClaimOptions, ClaimOutcome, check_claim};
use crate::watch::{Names, Sight, Watch, bind};

/// The largest lasso that is checked against the definition: beyond it, replaying is the only check.
const CHECKED_STEPS: usize = 100_000;

/// A formula bound to a system.
pub struct LtlQuestion {
    formula: Formula,
    claim: Claim,
}

impl LtlQuestion {
    /// Binds the atoms of a formula and makes the automaton of its negation. `text` is the formula as written, and
    /// `file` its name in messages.
    ///
    /// # Errors
    /// An atom means nothing to the system, or the formula is too large.
    pub fn new<S: System + ?Sized>(
        system: &mut S,
        formula: Formula,
        text: &str,
        file: &str,
    ) -> Result<Self, Diagnostic> {
        let watches = bind(system, &formula, Names::States, text, file)?;
        Self::with_watches(formula, watches).map_err(|e| Diagnostic::error(e.to_string(), None))
    }

    /// The same for atoms that are bound already, in the order of [`Formula::atoms`].
    ///
    /// # Errors
    /// The formula is too large.
    pub fn with_watches(formula: Formula, watches: Vec<Watch>) -> Result<Self, TranslateError> {
        let automaton = translate(&formula.clone().negated())?;
        Ok(LtlQuestion { formula, claim: Claim::new(automaton, watches) })
    }

    /// The automaton of the negation, bound to the system.
    pub fn claim(&self) -> &Claim {
        &self.claim
    }

    /// Whether the formula speaks of events, of the next step or of labels: such a question needs every single step.
    pub fn needs_every_step(&self) -> bool {
        use volee_logic::formula::Node;
        let next = |id| matches!(self.formula.pool.node(id), Node::Next(_) | Node::WeakNext(_));
        let event = |id: volee_logic::formula::AtomId| {
            matches!(self.formula.pool.atoms()[id.0 as usize].kind, AtomKind::Event(_))
        };
        crate::watch::watches_events(&self.claim.atoms)
            || self.formula.atoms().into_iter().any(event)
            || self.formula.pool.reachable(self.formula.root).into_iter().any(next)
    }

    /// Decides the question.
    pub fn check<S: System + ?Sized>(
        &self,
        system: &mut S,
        options: ClaimOptions,
        meter: &Meter,
        progress: &mut dyn Progress,
    ) -> ClaimOutcome {
        let outcome = check_claim(system, &self.claim, options, meter, progress);
        if let Verdict::Violated(violations) = &outcome.verdict {
            for violation in violations.iter().filter(|v| v.witness.loop_start.is_some()) {
                let refuted = self.refutes(system, &violation.witness);
                assert_ne!(refuted, Some(false), "a lasso must violate the formula it is shown for");
            }
        }
        outcome
    }

    /// Whether a lasso of the system violates the formula, by the definition; `None` for very long ones.
    pub fn refutes<S: System + ?Sized>(&self, system: &mut S, witness: &Witness) -> Option<bool> {
        let start = witness.loop_start?;
        if witness.steps.len() > CHECKED_STEPS {
            return None;
        }
        let atoms = self.formula.atoms();
        let size = self.formula.pool.atoms().len();
        let mut sight = Sight::new(&self.claim.atoms);
        let mut state = nth_initial(system, witness.initial)?;
        let mut letters = Vec::new();
        for step in
            witness.steps.iter().map(|&o| Some(o)).chain((start == witness.steps.len()).then_some(None))
        {
            sight.look_at_state(system, &state).ok()?;
            let taken = step.and_then(|ordinal| nth_step(system, &state, ordinal));
            sight.look_at_step(&*system, taken.as_ref().map(|(step, _)| step.label));
            let mut letter = vec![false; size];
            for (position, atom) in atoms.iter().enumerate() {
                letter[atom.0 as usize] = sight.sees(position as u32);
            }
            letters.push(letter);
            if let Some((_, target)) = taken {
                state = target;
            }
        }
        Some(!holds_of_lasso(&self.formula, &letters, start))
    }
}

fn nth_initial<S: System + ?Sized>(system: &mut S, n: u32) -> Option<Vec<u8>> {
    volee_system::collect_initial(system).into_iter().nth(n as usize)
}

fn nth_step<S: System + ?Sized>(system: &mut S, state: &[u8], n: u32) -> Option<(Step, Vec<u8>)> {
    let mut seen = 0;
    let mut found = None;
    let _ = system.steps(state, &mut |step: Step, target: &[u8]| {
        if seen == n {
            found = Some((step, target.to_vec()));
            return Flow::Break(());
        }
        seen += 1;
        Flow::Continue(())
    });
    found
}
