//! A system without its gifts: no persistent sets, no remembered steps, no components, only states and their
//! steps.
//!
//! What gives a second opinion explores this, so that nothing that makes a search fast takes part in it.

use std::borrow::Cow;

use volee_system::{
    Action, Diagnostic, Draft, Fault, FaultId, Flow, Inspectable, Label, Liftable, Limit, Marks, PredicateId,
    Sink, System, Variable,
};

/// The system, and nothing but its states and steps.
pub(crate) struct Bare<S>(pub S);

impl<S: System> System for Bare<S> {
    fn initial(&mut self, push: &mut dyn FnMut(&[u8]) -> Flow) -> Flow {
        self.0.initial(push)
    }

    fn steps(&mut self, state: &[u8], sink: &mut dyn Sink) -> Flow {
        self.0.steps(state, sink)
    }

    fn label(&self, label: Label) -> Cow<'_, str> {
        self.0.label(label)
    }

    fn names(&self, label: Label) -> Vec<String> {
        self.0.names(label)
    }

    fn is_valid_end(&mut self, state: &[u8]) -> bool {
        self.0.is_valid_end(state)
    }

    fn left_out(&self) -> Option<Limit> {
        self.0.left_out()
    }

    fn fault(&self, fault: FaultId) -> Fault {
        self.0.fault(fault)
    }

    fn explain(&mut self, state: &[u8], ordinal: usize) -> Vec<Action> {
        self.0.explain(state, ordinal)
    }

    fn liftable(&mut self) -> Option<&mut dyn Liftable> {
        self.0.liftable()
    }

    fn variables(&self, state: &[u8]) -> Vec<Variable> {
        self.0.variables(state)
    }

    fn holds(&mut self, predicate: PredicateId, state: &[u8]) -> Result<bool, FaultId> {
        self.0.holds(predicate, state)
    }

    fn marks(&mut self, state: &[u8]) -> Marks {
        self.0.marks(state)
    }

    fn inspection(&mut self) -> Option<&mut dyn Inspectable> {
        self.0.inspection()
    }
}

impl<S: System + Draft> Draft for Bare<S> {
    fn predicate(&mut self, text: &str) -> Result<PredicateId, Diagnostic> {
        self.0.predicate(text)
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
