//! Evaluation of a distinguishing formula on a system that is not built: only the states it speaks of are
//! visited.

use std::collections::{HashMap, HashSet};

use volee_system::Meter;

use super::sides::{Packed, Sides};
use crate::formula::{Node, NodeId};
use crate::{Formula, LabelId, LtsError};

type Question = (NodeId, Packed);

impl Sides<'_, '_> {
    /// Whether a formula of steps, conjunctions and negations holds in a state.
    pub(super) fn holds(
        &mut self,
        formula: &Formula,
        side: usize,
        state: &Packed,
        meter: &Meter,
    ) -> Result<bool, LtsError> {
        let Some(whole) = formula.last() else { return Ok(true) };
        let mut known: HashMap<Question, bool> = HashMap::new();
        let mut pending: Vec<Question> = vec![(whole, state.clone())];
        while let Some(question) = pending.last().cloned() {
            meter.check()?;
            if known.contains_key(&question) {
                pending.pop();
                continue;
            }
            match self.answer(formula, side, &question, &known, meter)? {
                Ok(value) => {
                    known.insert(question, value);
                }
                Err(first) => pending.push(first),
            }
        }
        Ok(known[&(whole, state.clone())])
    }

    /// The value, or the question that must be answered first.
    fn answer(
        &mut self,
        formula: &Formula,
        side: usize,
        (node, state): &Question,
        known: &HashMap<Question, bool>,
        meter: &Meter,
    ) -> Result<Result<bool, Question>, LtsError> {
        let ask = |part: NodeId, state: &Packed| {
            let question = (part, state.clone());
            known.get(&question).copied().ok_or(question)
        };
        let some = |part: NodeId, targets: &[Packed]| {
            all(targets.iter().map(|t| ask(part, t).map(|value| !value))).map(|none| !none)
        };
        Ok(match &formula.nodes()[node.index()] {
            Node::True => Ok(true),
            Node::Not(part) => ask(*part, state).map(|value| !value),
            Node::And(parts) => all(parts.iter().map(|p| ask(*p, state))),
            Node::Diamond(label, part) => {
                let label = self.labels.intern(label);
                let moves = self.moves(side, state).into_iter().filter(|(l, _)| *l == label);
                some(*part, &moves.map(|(_, target)| target).collect::<Vec<_>>())
            }
            Node::WeakDiamond(label, part) => {
                let label = self.labels.intern(label);
                some(*part, &self.weakly(side, state, label, meter)?)
            }
            Node::Until { through, label, then } => {
                let label = self.labels.intern(label);
                self.until(side, state, label, &|s| ask(*through, s), &|s| ask(*then, s))
            }
            Node::Forever(_) => {
                return Err(LtsError::Unconfirmed(
                    "a formula found on the fly has an operator it cannot have".into(),
                ));
            }
        })
    }

    /// Whether internal steps through some states lead to a step with this label into some others.
    fn until(
        &mut self,
        side: usize,
        state: &Packed,
        label: LabelId,
        through: &dyn Fn(&Packed) -> Result<bool, Question>,
        then: &dyn Fn(&Packed) -> Result<bool, Question>,
    ) -> Result<bool, Question> {
        let mut pending = vec![state.clone()];
        let mut seen: HashSet<Packed> = pending.iter().cloned().collect();
        while let Some(state) = pending.pop() {
            if !through(&state)? {
                continue;
            }
            for (own, target) in self.moves(side, &state) {
                if own == label && then(&target)? {
                    return Ok(true);
                }
                if own == LabelId::TAU && seen.insert(target.clone()) {
                    pending.push(target);
                }
            }
        }
        Ok(false)
    }
}

/// Whether all are true; stops at the first that is false or not known.
fn all(mut values: impl Iterator<Item = Result<bool, Question>>) -> Result<bool, Question> {
    values
        .try_fold(true, |_, value| {
            value.map_or_else(|e| Err(Err(e)), |v| if v { Ok(true) } else { Err(Ok(false)) })
        })
        .or_else(|stopped| stopped)
}
