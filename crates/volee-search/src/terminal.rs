//! Claims whose only errors are finite runs: safety properties, recognised by their automata.
//!
//! An automaton of bad behaviour is *terminal* if from every state on an accepting cycle it accepts whatever
//! follows (Bloem, Ravi and Somenzi, "Efficient decision procedures for model checking of linear time logic
//! properties", 1999). A run is then bad as soon as it gets there, and no cycle is to be looked for: the
//! product is searched like any system for an invariant, with every order, store and memory budget. The
//! search by components does as much on its way; this is for shortest runs, and for when its memory is used
//! up.

use volee_logic::automaton::components;
use volee_system::{Meter, Progress, ReasonKind, System, Verdict};

use crate::check::{Check, check};
use crate::claimed::ClaimProduct;
use crate::liveness::{Claim, ClaimOptions, ClaimOutcome, reason};

impl Claim {
    /// Whether no cycle need be looked for.
    pub fn is_terminal(&self) -> bool {
        let found = components(&self.automaton);
        let all = self.automaton.all_marks();
        (0..self.automaton.len()).all(|state| {
            let component = found.of[state];
            component == u32::MAX || !found.accepting(component, all) || self.is_trap(state)
        })
    }

    /// Decides a terminal claim as an invariant of the product; `how` gives the order and the store.
    pub(crate) fn check_as_safety(
        &self,
        system: &mut dyn System,
        how: &Check,
        options: ClaimOptions<'_>,
        meter: &Meter,
        progress: &mut dyn Progress,
    ) -> ClaimOutcome {
        let mut product = ClaimProduct::new(system, self, options.reduces() && !options.shortest);
        let questions = product.questions(&how.clone().faults(options.faults));
        let outcome = check(&mut product, &questions, meter, progress);
        let mut statistics = outcome.statistics;
        statistics.reduced = product.reduced();
        let letters = product.letters().to_vec();
        let mut violations = Vec::new();
        let mut open = None;
        for answer in outcome.answers {
            match answer.verdict {
                Verdict::Holds => {}
                Verdict::Unknown(limit) => open = Some(limit),
                Verdict::Violated(found) => violations.extend(found),
            }
        }
        for violation in &mut violations {
            if violation.reason.kind == ReasonKind::Invariant {
                violation.reason = reason(ReasonKind::Trap, false);
            }
            if let Some((own, _)) = product.own_run(&violation.witness) {
                violation.witness = own;
            }
        }
        let verdict = match (violations.is_empty(), open) {
            (false, _) => Verdict::Violated(violations),
            (true, Some(limit)) => Verdict::Unknown(limit),
            (true, None) => Verdict::Holds,
        };
        ClaimOutcome { verdict, statistics, letters }
    }
}
