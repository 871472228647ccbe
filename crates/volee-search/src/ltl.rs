//! LTL formulas as questions: translated, searched for, and their counterexamples checked against the
//! definition.

use std::collections::HashMap;

use volee_logic::formula::{AtomKind, Formula, Node, NodeId, Pool};
use volee_logic::ltl::{TranslateError, holds_of_lasso, translate};
use volee_system::{Diagnostic, Draft, Meter, PredicateId, Progress, ReasonKind, System, Verdict, Witness};

use crate::atoms::{BoundAtom, Names, bind};
use crate::check::{Answer, Check, Outcome};
use crate::confirm::{Word, word};
use crate::liveness::{Claim, ClaimOptions, ClaimOutcome, check_claim, reason};
use crate::parallel::Crew;
use crate::silence::{silent, text_of};

/// The longest invariant that a formula is turned into.
const LONGEST_INVARIANT: usize = 1 << 16;

/// The largest lasso that is checked against the definition: beyond it, replaying is the only check.
const CHECKED_STEPS: usize = 1_000_000;

/// A formula bound to a system.
pub struct LtlQuestion {
    formula: Formula,
    claim: Claim,
    /// What must be true in every state, where the formula says no more than that.
    invariant: Option<PredicateId>,
    /// The left sides of its implications, as predicates.
    left_sides: Vec<(String, PredicateId)>,
}

/// The expression that must be true in every state, for a formula that is a conjunction of such demands over
/// predicates.
fn invariant_text(formula: &Formula) -> Option<String> {
    let (pool, parts) = formula.conjuncts();
    let mut all = Vec::new();
    for part in parts {
        match pool.node(part) {
            Node::Release(never, body) if never == Pool::FALSE => all.push(state_text(&pool, body)?),
            Node::Not(inner) => match pool.node(inner) {
                Node::Until(always, body) if always == Pool::TRUE => {
                    all.push(format!("!({})", state_text(&pool, body)?));
                }
                _ => return None,
            },
            _ => return None,
        }
    }
    (!all.is_empty()).then(|| all.join(" && "))
}

/// A formula without temporal operators, as an expression; bounded, because sharing is lost.
fn state_text(pool: &Pool, root: NodeId) -> Option<String> {
    let mut texts: HashMap<NodeId, String> = HashMap::new();
    for id in pool.reachable(root) {
        let of = |id: NodeId| &texts[&id];
        let text = match pool.node(id) {
            Node::True => "true".to_string(),
            Node::False => "false".to_string(),
            Node::Atom(atom) => match &pool.atoms()[atom.0 as usize].kind {
                AtomKind::Name(text) | AtomKind::Predicate(text) => format!("({text})"),
                AtomKind::Event(_) => return None,
            },
            Node::Not(a) => format!("!{}", of(a)),
            Node::And(a, b) => format!("({} && {})", of(a), of(b)),
            Node::Or(a, b) => format!("({} || {})", of(a), of(b)),
            _ => return None,
        };
        if text.len() > LONGEST_INVARIANT {
            return None;
        }
        texts.insert(id, text);
    }
    texts.remove(&root)
}

/// The left sides of the implications in an expression that is written like a formula: as they are told, and
/// as expressions.
pub fn left_sides(expression: &str) -> Vec<(String, String)> {
    let Ok(formula) = volee_logic::formula::parse(expression, "expression") else { return Vec::new() };
    let sides = crate::silence::left_sides(&formula).into_iter();
    sides.filter_map(|left| Some((text_of(&formula, left), state_text(&formula.pool, left)?))).collect()
}

/// One answer to a question that was asked as several: the first violation, else what is not known, else that
/// it holds.
fn joined(answers: Vec<Answer>) -> Answer {
    let worst = |answer: &Answer| match answer.verdict {
        Verdict::Violated(_) => 0,
        Verdict::Unknown(_) => 1,
        Verdict::Holds => 2,
    };
    let mut answer = answers.into_iter().min_by_key(worst).expect("an invariant was asked for");
    if let Verdict::Violated(violations) = &mut answer.verdict {
        for violation in violations.iter_mut().filter(|v| v.reason.kind == ReasonKind::Invariant) {
            violation.reason = reason(ReasonKind::Trap, false);
        }
    }
    answer
}

impl LtlQuestion {
    /// Binds the atoms of a formula and makes the automaton of its negation. `text` is the formula as
    /// written, and `file` its name in messages.
    ///
    /// # Errors
    /// An atom means nothing to the system, or the formula is too large.
    pub fn new(draft: &mut dyn Draft, formula: Formula, text: &str, file: &str) -> Result<Self, Diagnostic> {
        let atoms = bind(draft, &formula, Names::States, text, file)?;
        let invariant = invariant_text(&formula).and_then(|text| draft.predicate(&text).ok());
        let mut left_sides = Vec::new();
        for left in crate::silence::left_sides(&formula).into_iter().filter(|_| invariant.is_some()) {
            let text = state_text(&formula.pool, left).unwrap_or_default();
            let told = text_of(&formula, left);
            left_sides.extend(draft.predicate(&text).ok().map(|predicate| (told, predicate)));
        }
        let question = Self::with_atoms(formula, atoms);
        let question = question.map_err(|e| Diagnostic::error(e.to_string(), None))?;
        Ok(LtlQuestion { invariant, left_sides, ..question })
    }

    /// The same for atoms that are bound already, in the order of [`Formula::atoms`].
    ///
    /// # Errors
    /// The formula is too large.
    pub fn with_atoms(formula: Formula, atoms: Vec<BoundAtom>) -> Result<Self, TranslateError> {
        let automaton = translate(&formula.clone().negated())?;
        let mut question = LtlQuestion {
            formula,
            claim: Claim::new(automaton, atoms),
            invariant: None,
            left_sides: Vec::new(),
        };
        let states = question.claim.atoms.iter().all(|w| matches!(w, BoundAtom::Predicate(_)));
        question.claim.stutter_invariant = states && !question.needs_every_step();
        Ok(question)
    }

    /// The questions about states that decide a formula about single states, `[]p`. Nothing for others.
    pub fn as_invariant(&self, how: &Check) -> Option<Check> {
        Some(Check {
            deadlocks: false,
            invariants: vec![(String::new(), self.invariant?)],
            goals: self.left_sides.clone(),
            ..how.clone()
        })
    }

    /// Decides a formula that is about single states, `[]p`, as the invariant that it is: with the same
    /// search, store and reduction. Nothing for other formulas. That runs are fair makes no difference: every
    /// run that has begun can be. With the answer comes what the formula speaks of and never happens.
    pub fn check_as_invariant(
        &self,
        system: &mut dyn System,
        how: &Check,
        crew: Option<&Crew<'_>>,
        meter: &Meter,
        progress: &mut dyn Progress,
    ) -> Option<(Outcome, Vec<String>)> {
        let check = self.as_invariant(how)?;
        let mut outcome = crate::check::check_with(system, &check, crew, meter, progress);
        let goals = outcome.answers.split_off(outcome.answers.len() - self.left_sides.len());
        // Failed assertions come first among the answers; a violation of either kind is one of the question.
        outcome.answers = vec![joined(std::mem::take(&mut outcome.answers))];
        let holds = outcome.answers[0].verdict == Verdict::Holds;
        let unreached = goals
            .iter()
            .zip(&self.left_sides)
            .filter(|(goal, _)| holds && matches!(goal.verdict, Verdict::Violated(_)));
        let silent = unreached.map(|(_, (text, _))| text.clone()).collect();
        Some((outcome, silent))
    }

    /// What the formula speaks of and never happened in a search that has seen everything.
    pub fn silent(&self, outcome: &ClaimOutcome) -> Vec<String> {
        if outcome.verdict != Verdict::Holds || outcome.letters.is_empty() {
            return Vec::new();
        }
        silent(&self.formula, &self.claim.atoms, &outcome.letters)
    }

    /// The formula.
    pub fn formula(&self) -> &Formula {
        &self.formula
    }

    /// The automaton of the negation, bound to the system.
    pub fn claim(&self) -> &Claim {
        &self.claim
    }

    /// Whether the formula speaks of events, of the next step or of labels: such a question needs every
    /// single step.
    pub fn needs_every_step(&self) -> bool {
        let next = |id| matches!(self.formula.pool.node(id), Node::Next(_) | Node::WeakNext(_));
        let event = |id: volee_logic::formula::AtomId| {
            matches!(self.formula.pool.atoms()[id.0 as usize].kind, AtomKind::Event(_))
        };
        crate::atoms::looks_at_events(&self.claim.atoms)
            || self.formula.atoms().into_iter().any(event)
            || self.formula.pool.reachable(self.formula.root).into_iter().any(next)
    }

    /// Whether steps that are no event of the formula and change none of its conditions make no difference,
    /// however many there are.
    pub fn ignores_silent_steps(&self) -> bool {
        self.claim.ignores_silent_steps()
    }

    /// Decides the question.
    pub fn check(
        &self,
        system: &mut dyn System,
        options: ClaimOptions<'_>,
        meter: &Meter,
        progress: &mut dyn Progress,
    ) -> ClaimOutcome {
        check_claim(system, &self.claim, options, meter, progress)
    }

    /// Whether a run of the system violates the formula, by the definition; `None` for very long ones and for
    /// what is no run. A run without a cycle is one that can no longer satisfy the formula, whatever follows:
    /// then it cannot satisfy it either if nothing changes any more.
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
        let mut letters: Vec<Vec<bool>> = letters.into_iter().map(by_number).collect();
        // What is false by now is false whatever follows, such as this.
        if letters.is_empty() {
            letters.push(vec![false; size]);
        }
        Some(!holds_of_lasso(&self.formula, &letters, start.unwrap_or(letters.len() - 1)))
    }
}
