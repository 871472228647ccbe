//! A net explored like any other system: a state is its marking, four bytes per place.
//!
//! Guards and targets are exactly as the model has them (upper bounds included), whatever an engine relaxes.

use std::borrow::Cow;

use volee_system::{
    Action, Diagnostic, Draft, Fault, FaultId, FaultKind, Flow, Label, PredicateId, Sink, Step, System,
    Variable,
};

use crate::net::{Fired, Net, Target};
use crate::spec::read_condition;

/// A net with its initial markings chosen, as a [`System`].
#[derive(Debug)]
pub struct Instance<'n> {
    net: Cow<'n, Net>,
    initial: Vec<Vec<u32>>,
    predicates: Vec<Vec<Target>>,
    now: Vec<u32>,
    after: Vec<u32>,
    bytes: Vec<u8>,
}

impl<'n> Instance<'n> {
    /// The instance of `net` that starts in `marking`.
    pub fn new(net: &'n Net, marking: Vec<u32>) -> Self {
        Instance::of(Cow::Borrowed(net), vec![marking])
    }

    fn of(net: Cow<'n, Net>, initial: Vec<Vec<u32>>) -> Self {
        let (now, after, bytes) = (Vec::new(), Vec::new(), Vec::new());
        Instance { net, initial, predicates: Vec::new(), now, after, bytes }
    }

    /// The net itself, from the least of its initial markings.
    pub fn least(net: Net) -> Instance<'static> {
        let initial = net.initial.iter().map(|i| i.base.clone()).collect();
        Instance::of(Cow::Owned(net), initial)
    }

    /// The marking that a state stands for.
    pub fn decode(state: &[u8]) -> Vec<u32> {
        let mut marking = Vec::new();
        decode_into(state, &mut marking);
        marking
    }
}

fn decode_into(state: &[u8], marking: &mut Vec<u32>) {
    marking.clear();
    marking.extend(state.chunks_exact(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])));
}

fn encode_into(marking: &[u32], bytes: &mut Vec<u8>) {
    bytes.clear();
    bytes.extend(marking.iter().flat_map(|n| n.to_le_bytes()));
}

impl System for Instance<'_> {
    fn initial(&mut self, push: &mut dyn FnMut(&[u8]) -> Flow) -> Flow {
        for marking in &self.initial {
            encode_into(marking, &mut self.bytes);
            push(&self.bytes)?;
        }
        Flow::Continue(())
    }

    fn steps(&mut self, state: &[u8], sink: &mut dyn Sink) -> Flow {
        decode_into(state, &mut self.now);
        for (number, transition) in self.net.transitions.iter().enumerate() {
            let step = Step::labelled(u32::try_from(number).unwrap_or(u32::MAX));
            match transition.fire_into(&self.now, &mut self.after) {
                Fired::No => {}
                Fired::Yes => {
                    encode_into(&self.after, &mut self.bytes);
                    sink.push(step, &self.bytes)?;
                }
                Fired::TooMany => {
                    sink.push(Step { fault: Some(FaultId(0)), stays: true, ..step }, state)?;
                }
            }
        }
        Flow::Continue(())
    }

    fn label(&self, label: Label) -> Cow<'_, str> {
        self.net.transitions[label.0 as usize].name.as_str().into()
    }

    fn fault(&self, _: FaultId) -> Fault {
        Fault { kind: FaultKind::Runtime, message: "a place exceeds 2³⁰ tokens".into(), place: None }
    }

    fn explain(&mut self, state: &[u8], ordinal: usize) -> Vec<Action> {
        decode_into(state, &mut self.now);
        let (now, after) = (&self.now, &mut self.after);
        let mut enabled =
            self.net.transitions.iter().filter(|t| t.fire_into(now, after) != Fired::No).skip(ordinal);
        match enabled.next() {
            Some(t) if !t.movers.is_empty() => t.movers.iter().map(|m| m.action.clone()).collect(),
            Some(t) => vec![Action { place: t.source.clone(), ..Action::plain(t.name.as_str()) }],
            None => Vec::new(),
        }
    }

    fn variables(&self, state: &[u8]) -> Vec<Variable> {
        let shown = Self::decode(state).into_iter().zip(&self.net.places);
        shown.map(|(n, name)| Variable { name: name.clone(), value: n.to_string() }).collect()
    }

    fn holds(&mut self, predicate: PredicateId, state: &[u8]) -> Result<bool, FaultId> {
        decode_into(state, &mut self.now);
        Ok(self.predicates[predicate.0 as usize].iter().any(|target| target.contains(&self.now)))
    }
}

impl Draft for Instance<'_> {
    /// `target`, or conditions like those of a target: `x >= 2, y = 0`.
    fn predicate(&mut self, text: &str) -> Result<PredicateId, Diagnostic> {
        let alternatives = match text.trim() {
            "target" if !self.net.targets.is_empty() => self.net.targets.clone(),
            _ => vec![read_condition(&self.net, text)?],
        };
        self.predicates.push(alternatives);
        Ok(PredicateId(self.predicates.len() as u32 - 1))
    }

    fn system(&mut self) -> &mut dyn System {
        self
    }

    fn build(self: Box<Self>) -> Box<dyn System>
    where
        Self: 'static,
    {
        self
    }
}
