//! LTL formulas as questions: translated, searched for, and their counterexamples checked against the definition.

use volee_logic::formula::{AtomKind, Formula};
use volee_logic::ltl::{TranslateError, holds_of_lasso, translate};
use volee_system::{Diagnostic, Meter, Progress, System, Witness};

use crate::confirm::{Word, word};
use crate::liveness::{Claim, ClaimOptions, ClaimOutcome, check_claim};
use crate::watch::{Names, Watch, bind};

/// The largest lasso that is checked against the definition: beyond it, replaying is the only check.
const CHECKED_STEPS: usize = 1_000_000;

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

    /// The formula.
    pub fn formula(&self) -> &Formula {
        &self.formula
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
        check_claim(system, &self.claim, options, meter, progress)
    }

    /// Whether a run of the system violates the formula, by the definition; `None` for very long ones and for what is no run.
    /// A run without a cycle is one that can no longer satisfy the formula, whatever follows: then it cannot satisfy it either
    /// if nothing changes any more.
    pub fn refutes<S: System + ?Sized>(&self, system: &mut S, witness: &Witness) -> Option<bool> {
        if witness.steps.len() > CHECKED_STEPS {
            return None;
        }
        let Word { letters, start, .. } = word(system, &self.claim.atoms, witness)?;
        let atoms = self.formula.atoms();
        let size = self.formula.pool.atoms().len();
        let by_number = |seen: Vec<bool>| {
            let mut letter = vec![false; size];
            for (seen, atom) in seen.into_iter().zip(&atoms) {
                letter[atom.0 as usize] = seen;
            }
            letter
        };
        let letters: Vec<Vec<bool>> = letters.into_iter().map(by_number).collect();
        Some(!holds_of_lasso(&self.formula, &letters, start.unwrap_or(letters.len() - 1)))
    }
}
