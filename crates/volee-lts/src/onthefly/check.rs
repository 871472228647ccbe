//! Evaluation of a distinguishing formula on a system that is not built: only the states it speaks of are
//! visited.

use std::collections::HashMap;

use volee_system::Meter;

use super::{Packed, Sides};
use crate::formula::{Node, NodeId};
use crate::{Formula, LtsError, Side};

type Question = (NodeId, Packed);

impl Sides<'_> {
    /// Whether a formula of steps, conjunctions and negations holds in a state.
    pub(super) fn holds(
        &mut self,
        formula: &Formula,
        side: Side,
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
            match self.answer(formula, side, &question, &known)? {
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
        side: Side,
        (node, state): &Question,
        known: &HashMap<Question, bool>,
    ) -> Result<Result<bool, Question>, LtsError> {
        let ask = |part: NodeId, state: &Packed| {
            let question = (part, state.clone());
            known.get(&question).copied().ok_or(question)
        };
        Ok(match &formula.nodes()[node.index()] {
            Node::True => Ok(true),
            Node::Not(part) => ask(*part, state).map(|value| !value),
            Node::And(parts) => all(parts.iter().map(|p| ask(*p, state))),
            Node::Diamond(label, part) => {
                let label = self.labels.intern(label);
                let steps = self.steps(side, state);
                let targets = steps.iter().filter(|(l, _)| *l == label).map(|(_, t)| ask(*part, t));
                all(targets.map(|value| value.map(|v| !v))).map(|none| !none)
            }
            _ => {
                return Err(LtsError::Unconfirmed(
                    "a formula found on the fly has an operator it cannot have".into(),
                ));
            }
        })
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
