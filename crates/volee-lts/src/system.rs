//! An explicit transition system as a [`System`]: a state is its number in four bytes, little-endian.

use std::borrow::Cow;

use volee_system::{Flow, Label, Sink, Step, System, Variable};

use crate::{LabelId, Lts, StateId};
use volee_store::prefetch;

/// The packed state of a state number.
pub fn pack(state: StateId) -> [u8; 4] {
    state.0.to_le_bytes()
}

/// The state number of a packed state of an [`Lts`].
pub fn unpack(state: &[u8]) -> StateId {
    let mut bytes = [0; 4];
    bytes.copy_from_slice(&state[..4]);
    StateId(u32::from_le_bytes(bytes))
}

impl System for &Lts {
    fn initial(&mut self, push: &mut dyn FnMut(&[u8]) -> Flow) -> Flow {
        push(&pack(Lts::initial(self)))
    }

    fn steps(&mut self, state: &[u8], sink: &mut dyn Sink) -> Flow {
        for edge in self.edges(unpack(state)) {
            sink.push(Step::labelled(edge.label.0), &pack(edge.target))?;
        }
        Flow::Continue(())
    }

    fn label(&self, label: Label) -> Cow<'_, str> {
        self.name(LabelId(label.0)).into()
    }

    fn numbered(&self) -> Option<u32> {
        u32::try_from(self.state_count()).ok()
    }

    fn prefetch(&self, state: &[u8]) {
        if let [first, .., last] | [first @ last] = self.edges(unpack(state)) {
            prefetch(first);
            prefetch(last);
        }
    }

    fn variables(&self, state: &[u8]) -> Vec<Variable> {
        vec![Variable { name: "state".into(), value: unpack(state).0.to_string() }]
    }
}

impl System for Lts {
    fn initial(&mut self, push: &mut dyn FnMut(&[u8]) -> Flow) -> Flow {
        System::initial(&mut &*self, push)
    }

    fn steps(&mut self, state: &[u8], sink: &mut dyn Sink) -> Flow {
        (&*self).steps(state, sink)
    }

    fn label(&self, label: Label) -> Cow<'_, str> {
        self.name(LabelId(label.0)).into()
    }

    fn numbered(&self) -> Option<u32> {
        (&self).numbered()
    }

    fn prefetch(&self, state: &[u8]) {
        System::prefetch(&self, state);
    }

    fn variables(&self, state: &[u8]) -> Vec<Variable> {
        (&self).variables(state)
    }
}
