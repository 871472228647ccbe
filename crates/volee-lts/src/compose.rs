//! A network of explicit systems as one system, on the fly.
//!
//! A label that matches the synchronisation pattern happens in all components that know it, at once; every
//! other label, and always the internal step, happens in one component alone. A component knows a label when
//! one of its transitions has it.

use std::borrow::Cow;

use regex_lite::Regex;
use volee_system::{Flow, Label, Sink, Step, System, Variable};

use crate::relabel::whole;
use crate::system::unpack;
use crate::{LabelId, Labels, Lts, LtsError, StateId};

/// Which components a label moves.
#[derive(Debug, Clone)]
enum Partners {
    /// Each alone.
    Alone,
    /// These together.
    Together(Vec<usize>),
}

/// The parallel composition of some systems.
#[derive(Debug, Clone)]
pub struct Composition {
    parts: Vec<Lts>,
    labels: Labels,
    /// The label of the whole for each label of each part.
    names: Vec<Vec<LabelId>>,
    /// The label of each part for each label of the whole.
    local: Vec<Vec<Option<LabelId>>>,
    partners: Vec<Partners>,
}

impl Composition {
    /// Composes systems; labels that match `sync` happen together, and without it none do.
    ///
    /// # Errors
    /// The pattern is not a regular expression.
    pub fn new(parts: Vec<Lts>, sync: Option<&str>) -> Result<Self, LtsError> {
        let pattern = sync.map(whole).transpose()?;
        let mut labels = Labels::new();
        let names: Vec<Vec<LabelId>> =
            parts.iter().map(|p| p.labels().iter().map(|(_, name)| labels.intern(name)).collect()).collect();
        let mut local = vec![vec![None; labels.len()]; parts.len()];
        for (part, lts) in parts.iter().enumerate() {
            for edge in lts.all_edges() {
                local[part][names[part][edge.label.index()].index()] = Some(edge.label);
            }
        }
        let partners = labels.iter().map(|(label, name)| partners(&pattern, label, name, &local)).collect();
        Ok(Composition { parts, labels, names, local, partners })
    }

    fn row(&self, state: &[u8], part: usize) -> &[crate::Edge] {
        self.parts[part].edges(unpack(&state[4 * part..]))
    }

    fn moves_alone(&self, state: &[u8], part: usize, next: &mut [u8], sink: &mut dyn Sink) -> Flow {
        for edge in self.row(state, part) {
            let label = self.names[part][edge.label.index()];
            if matches!(self.partners[label.index()], Partners::Alone) {
                next[4 * part..4 * part + 4].copy_from_slice(&edge.target.0.to_le_bytes());
                sink.push(Step::labelled(label.0), next)?;
            }
        }
        next[4 * part..4 * part + 4].copy_from_slice(&state[4 * part..4 * part + 4]);
        Flow::Continue(())
    }

    /// All combinations of steps of the partners, like an odometer.
    fn moves_together(&self, state: &[u8], label: LabelId, partners: &[usize], sink: &mut dyn Sink) -> Flow {
        let mut choices: Vec<Vec<StateId>> = Vec::with_capacity(partners.len());
        for &part in partners {
            let own = self.local[part][label.index()];
            let row = self.row(state, part).iter().filter(|e| Some(e.label) == own).map(|e| e.target);
            choices.push(row.collect());
            if choices.last().is_some_and(Vec::is_empty) {
                return Flow::Continue(());
            }
        }
        let mut next = state.to_vec();
        let mut chosen = vec![0; partners.len()];
        loop {
            for (n, &part) in partners.iter().enumerate() {
                next[4 * part..4 * part + 4].copy_from_slice(&choices[n][chosen[n]].0.to_le_bytes());
            }
            sink.push(Step::labelled(label.0), &next)?;
            let Some(at) = (0..chosen.len()).rev().find(|&n| chosen[n] + 1 < choices[n].len()) else {
                return Flow::Continue(());
            };
            chosen[at] += 1;
            chosen[at + 1..].fill(0);
        }
    }
}

fn partners(pattern: &Option<Regex>, label: LabelId, name: &str, local: &[Vec<Option<LabelId>>]) -> Partners {
    let together = label != LabelId::TAU && pattern.as_ref().is_some_and(|p| p.is_match(name));
    if !together {
        return Partners::Alone;
    }
    Partners::Together((0..local.len()).filter(|&p| local[p][label.index()].is_some()).collect())
}

impl System for Composition {
    fn initial(&mut self, push: &mut dyn FnMut(&[u8]) -> Flow) -> Flow {
        let state: Vec<u8> = self.parts.iter().flat_map(|p| Lts::initial(p).0.to_le_bytes()).collect();
        push(&state)
    }

    fn steps(&mut self, state: &[u8], sink: &mut dyn Sink) -> Flow {
        let mut next = state.to_vec();
        for part in 0..self.parts.len() {
            self.moves_alone(state, part, &mut next, sink)?;
        }
        for (label, partners) in self.partners.iter().enumerate() {
            if let Partners::Together(partners) = partners {
                self.moves_together(state, LabelId(label as u32), partners, sink)?;
            }
        }
        Flow::Continue(())
    }

    fn label(&self, label: Label) -> Cow<'_, str> {
        self.labels.name(LabelId(label.0)).into()
    }

    fn variables(&self, state: &[u8]) -> Vec<Variable> {
        (0..self.parts.len())
            .map(|part| Variable {
                name: format!("component {}", part + 1),
                value: unpack(&state[4 * part..]).0.to_string(),
            })
            .collect()
    }
}
