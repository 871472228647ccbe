//! A property along a run: in which states the automaton of its negation can be before each step, and what
//! its conditions are.
//!
//! The automaton looks for a violation. Where it can be in no state at all, no continuation of the run
//! violates the property any more; where it can be in several, it has not decided which way the violation
//! goes.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use volee::logic::formula;
use volee::search::{BoundAtom, Claim, LtlQuestion};

use crate::explorer::{Complaint, Explorer, Told};

/// Different formulas that are kept bound to the model.
const MOST_FORMULAS: usize = 50;

impl Explorer {
    /// The states of the automaton of a formula's negation along a run: `states` are those of the run,
    /// `labels` those of the steps between them.
    ///
    /// # Errors
    /// It is no formula, or means nothing here, or a state is none.
    pub fn track(&mut self, text: &str, states: &[u32], labels: &[String]) -> Told {
        let claim = self.claim(text)?;
        let automaton = &claim.automaton;
        let mut here: BTreeSet<u32> = BTreeSet::from([automaton.initial]);
        let mut told: Vec<Value> = Vec::with_capacity(states.len());
        for (at, &number) in states.iter().enumerate() {
            told.push(json!(here));
            let Some(label) = labels.get(at) else { break };
            let letter = self.letter(&claim.atoms, number, label)?;
            let next = here.iter().flat_map(|&q| automaton.successors(q, |atom| letter[atom as usize]));
            here = next.map(|edge| edge.target).collect();
        }
        Ok(json!({ "states": told, "of": automaton.len() }))
    }

    fn claim(&mut self, text: &str) -> Result<Claim, Complaint> {
        if let Some(known) = self.claims.get(text) {
            return Ok(known.clone());
        }
        if self.claims.len() >= MOST_FORMULAS {
            return Err(Complaint("too many formulas: open the page anew".into()));
        }
        let parsed = formula::parse(text, "formula")?;
        let question = LtlQuestion::new(self.model.draft.as_mut(), parsed, text, "formula")?;
        let claim = question.claim().clone();
        self.claims.insert(text.to_string(), claim.clone());
        Ok(claim)
    }

    /// What the atoms see in a state and the step that is taken there.
    fn letter(&mut self, atoms: &[BoundAtom], number: u32, label: &str) -> Result<Vec<bool>, Complaint> {
        let state = self.state(number)?;
        let system = self.model.draft.system();
        let marks = system.marks(&state);
        let seen = atoms.iter().map(|atom| match atom {
            BoundAtom::Predicate(predicate) => system.holds(*predicate, &state).unwrap_or(false),
            BoundAtom::Event(event) => event.matches(label),
            BoundAtom::Progress => marks.progress,
            BoundAtom::Accept => marks.accept,
        });
        Ok(seen.collect())
    }
}
