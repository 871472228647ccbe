//! The two systems of a comparison: their steps under common labels, and how one can answer a step of the
//! other.

use std::collections::HashSet;
use std::sync::Arc;

use volee_system::{Flow, Meter, Step, System};

use crate::explore::LabelMap;
use crate::{LabelId, Labels, LtsError, Relation};

pub(super) type Packed = Arc<[u8]>;

/// Steps, sorted, each once.
pub(super) type Moves = Vec<(LabelId, Packed)>;

/// What a step with these names is called; nothing for an internal one.
pub type Naming<'n> = &'n mut dyn FnMut(&[String]) -> Option<String>;

/// The relations that can be compared without building either system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Strong,
    Weak,
    Branching,
}

impl Kind {
    pub(super) fn of(relation: Relation) -> Result<Self, LtsError> {
        match relation {
            Relation::Strong => Ok(Kind::Strong),
            Relation::Weak => Ok(Kind::Weak),
            Relation::Branching => Ok(Kind::Branching),
            other => Err(LtsError::input(format!(
                "only strong, weak and branching bisimulation are compared on the fly, not {other}"
            ))),
        }
    }
}

/// A way in which a system can answer a step: where it may have to be before it, and where it is then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) before: Option<Packed>,
    pub(super) after: Packed,
    /// Which of its own steps it takes, where that is all it does.
    pub(super) own: Option<u32>,
}

/// Both systems.
pub(super) struct Sides<'a, 'n> {
    pub(super) systems: [&'a mut dyn System; 2],
    pub(super) names: [Naming<'n>; 2],
    pub(super) maps: [LabelMap; 2],
    pub(super) labels: Labels,
    pub(super) kind: Kind,
}

impl Sides<'_, '_> {
    /// The steps of a state.
    pub(super) fn moves(&mut self, side: usize, state: &[u8]) -> Moves {
        let mut raw: Vec<(Step, Packed)> = Vec::new();
        let _ = self.systems[side].steps(state, &mut |step: Step, target: &[u8]| {
            raw.push((step, target.into()));
            Flow::Continue(())
        });
        let (system, map, labels) = (&*self.systems[side], &mut self.maps[side], &mut self.labels);
        let name = &mut *self.names[side];
        let mut moves: Moves = raw.into_iter().map(|(s, t)| (map.get(system, name, s, labels), t)).collect();
        moves.sort_unstable();
        moves.dedup();
        moves
    }

    /// What internal steps lead to, what they start from first.
    pub(super) fn closure(
        &mut self,
        side: usize,
        from: Vec<Packed>,
        meter: &Meter,
    ) -> Result<Vec<Packed>, LtsError> {
        let mut seen: HashSet<Packed> = from.iter().cloned().collect();
        let mut all = from;
        let mut at = 0;
        while at < all.len() {
            if at.is_multiple_of(256) {
                meter.check()?;
                let bytes = all.iter().map(|state| state.len() as u64 + 64).sum();
                meter.check_memory(bytes, || format!("internal steps lead to {} states", all.len()))?;
            }
            for (label, target) in self.moves(side, &all[at].clone()) {
                if label == LabelId::TAU && seen.insert(target.clone()) {
                    all.push(target);
                }
            }
            at += 1;
        }
        Ok(all)
    }

    /// The states after a step with this label, internal steps before and after it; after any number of
    /// internal steps, if it is internal.
    pub(super) fn weakly(
        &mut self,
        side: usize,
        state: &Packed,
        label: LabelId,
        meter: &Meter,
    ) -> Result<Vec<Packed>, LtsError> {
        let before = self.closure(side, vec![state.clone()], meter)?;
        if label == LabelId::TAU {
            return Ok(before);
        }
        let (mut after, mut seen) = (Vec::new(), HashSet::new());
        for state in before {
            let moves = self.moves(side, &state).into_iter().filter(|(l, _)| *l == label);
            after.extend(moves.map(|(_, target)| target).filter(|target| seen.insert(target.clone())));
        }
        self.closure(side, after, meter)
    }

    /// How a side can answer a step with this label from a state that has these steps.
    pub(super) fn answers(
        &mut self,
        side: usize,
        (state, moves): (&Packed, &Moves),
        label: LabelId,
        meter: &Meter,
    ) -> Result<Vec<Answer>, LtsError> {
        let own = |target: &Packed| {
            let found = moves.iter().position(|(l, t)| *l == label && t == target);
            found.map(|at| at as u32)
        };
        let alone = |after: Packed| Answer { before: None, own: own(&after), after };
        match self.kind {
            Kind::Strong => {
                Ok(moves.iter().filter(|(l, _)| *l == label).map(|(_, t)| alone(t.clone())).collect())
            }
            Kind::Weak => Ok(self.weakly(side, state, label, meter)?.into_iter().map(alone).collect()),
            Kind::Branching => {
                let mut all = Vec::new();
                if label == LabelId::TAU {
                    all.push(Answer { before: None, own: None, after: state.clone() });
                }
                for before in self.closure(side, vec![state.clone()], meter)? {
                    let here = before == *state;
                    for (_, after) in self.moves(side, &before).into_iter().filter(|(l, _)| *l == label) {
                        all.push(match here {
                            true => alone(after),
                            false => Answer { before: Some(before.clone()), own: None, after },
                        });
                    }
                }
                Ok(all)
            }
        }
    }
}
