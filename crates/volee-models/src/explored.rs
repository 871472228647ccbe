//! A model as a [`System`]: states packed into bytes, actions interned as labels.
//!
//! The hot loop allocates nothing: the state is read over the one that was read before, its successors are
//! made in one scratch state, a copy in the memory that it has, and written into one buffer, and an action
//! that was met before is found by its hash. What was read last is kept, so that properties that are asked of
//! the same state do not read it again.

use std::borrow::Cow;
use std::hash::Hash;
use std::sync::Arc;

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use volee::system::{
    Action, Components, Diagnostic, Draft, Fault, FaultId, FaultKind, Flow, Label, PredicateId, Sink, Step,
    System, Variable,
};

use crate::expression::{Expression, Names};
use crate::model::Model;
use crate::pack::Pack;
use crate::property::Property;

/// Components that a store takes at most.
const MOST_COMPONENTS: usize = 64;
/// A component below this width is joined with the next: for a few values a dictionary is not worth its
/// look-up.
const LEAST_WIDTH: usize = 4;

const PACKED: &str = "the bytes of a state were packed by the same model";

/// A model that is explored.
pub struct Explored<M: Model> {
    model: Arc<M>,
    properties: Vec<Property<M>>,
    initial: Vec<M::State>,
    /// The state that was read last, and the one that actions are applied to.
    source: Option<M::State>,
    scratch: Option<M::State>,
    /// The bytes of the state that was read last.
    read: Vec<u8>,
    written: Written,
    actions: Vec<M::Action>,
    numbers: HashMap<M::Action, u32, FixedState>,
    labels: Vec<M::Action>,
    fault_numbers: HashMap<String, u32, FixedState>,
    faults: Vec<String>,
    expressions: Vec<Expression>,
    components: Option<Components>,
}

impl<M: Model> Explored<M> {
    /// The model as a system.
    pub fn new(model: Arc<M>) -> Self {
        let initial = model.initial();
        let first = initial.first().cloned();
        Explored {
            properties: model.properties(),
            components: components(&initial),
            source: first.clone(),
            scratch: first,
            initial,
            read: Vec::new(),
            written: Written::default(),
            actions: Vec::new(),
            numbers: HashMap::default(),
            labels: Vec::new(),
            fault_numbers: HashMap::default(),
            faults: Vec::new(),
            expressions: Vec::new(),
            model,
        }
    }

    /// Reads a state, unless it is the one that was read last.
    #[inline]
    fn load(&mut self, bytes: &[u8]) {
        if self.read == bytes {
            return;
        }
        let state = self.source.as_mut().expect("whoever has a state has an initial one");
        state.unpack(&mut &*bytes).expect(PACKED);
        self.read.clear();
        self.read.extend_from_slice(bytes);
    }

    fn state(&self) -> &M::State {
        self.source.as_ref().expect("whoever has a state has an initial one")
    }

    /// A state of its own: for whoever is not in a hurry.
    fn unpacked(&self, mut bytes: &[u8]) -> M::State {
        M::State::unpacked(&mut bytes).expect(PACKED)
    }

    fn fault_of(&mut self, sentence: String) -> FaultId {
        fault_of(&mut self.fault_numbers, &mut self.faults, &sentence)
    }

    /// The steps of the state that was read last, which has these bytes.
    fn push_steps(&mut self, bytes: &[u8], actions: &[M::Action], sink: &mut dyn Sink) -> Flow {
        for action in actions {
            let (Some(before), Some(after)) = (&self.source, &mut self.scratch) else { break };
            after.assign(before);
            self.model.apply(after, action);
            if !self.model.within(after) {
                continue;
            }
            let target = self.written.bytes(after);
            let wrong = self.model.fails(before, action, after);
            let mut step = Step { process: self.model.process(action).unwrap_or(0), ..Step::default() };
            step.label = Label(number_of(&mut self.numbers, &mut self.labels, action));
            if self.components.is_some() && target.len() != bytes.len() {
                step.fault = Some(self.fault_of(GREW.into()));
                step.stays = true;
                sink.push(step, bytes)?;
                continue;
            }
            if let Some(sentence) = wrong {
                step.fault = Some(fault_of(&mut self.fault_numbers, &mut self.faults, &sentence));
            }
            sink.push(step, target)?;
        }
        Flow::Continue(())
    }
}

/// Where states are written, one over the other.
#[derive(Default)]
struct Written(Vec<u8>);

impl Written {
    #[inline]
    fn bytes(&mut self, state: &impl Pack) -> &[u8] {
        loop {
            let room = self.0.len();
            match state.put(&mut self.0).map(|rest| room - rest.len()) {
                Some(taken) => return &self.0[..taken],
                None => self.0.resize(room * 2 + 64, 0),
            }
        }
    }
}

fn fault_of(
    numbers: &mut HashMap<String, u32, FixedState>,
    all: &mut Vec<String>,
    sentence: &String,
) -> FaultId {
    FaultId(number_of(numbers, all, sentence))
}

/// What a model does that gives a row another length.
const GREW: &str = "a row has another length than in the initial state: what grows is a vector";

/// The number of an action or of a sentence, a new one if it was not met before.
#[inline]
fn number_of<A: Clone + Eq + Hash>(
    numbers: &mut HashMap<A, u32, FixedState>,
    all: &mut Vec<A>,
    one: &A,
) -> u32 {
    if let Some(&number) = numbers.get(one) {
        return number;
    }
    let number = all.len() as u32;
    all.push(one.clone());
    numbers.insert(one.clone(), number);
    number
}

/// Where the fields of a state end, where all states have the same length.
fn components<S: Pack>(initial: &[S]) -> Option<Components> {
    let widths = |state: &S| -> Option<Vec<usize>> {
        let mut all = Vec::new();
        state.fields(&mut all);
        all.into_iter().collect()
    };
    let first = widths(initial.first()?)?;
    if !initial.iter().all(|state| widths(state).as_ref() == Some(&first)) {
        return None;
    }
    let (mut ends, mut end, mut width) = (Vec::new(), 0, 0);
    let least = LEAST_WIDTH.max(first.iter().sum::<usize>() / MOST_COMPONENTS + 1);
    for field in first {
        end += field;
        width += field;
        if width >= least {
            ends.push(end as u32);
            width = 0;
        }
    }
    if width > 0 {
        ends.push(end as u32);
    }
    (!ends.is_empty() && ends.len() <= MOST_COMPONENTS).then_some(Components { ends, records: None })
}

impl<M: Model> System for Explored<M> {
    fn initial(&mut self, push: &mut dyn FnMut(&[u8]) -> Flow) -> Flow {
        for state in &self.initial {
            push(self.written.bytes(state))?;
        }
        Flow::Continue(())
    }

    fn steps(&mut self, state: &[u8], sink: &mut dyn Sink) -> Flow {
        self.load(state);
        let mut actions = std::mem::take(&mut self.actions);
        actions.clear();
        self.model.actions(self.state(), &mut actions);
        let flow = self.push_steps(state, &actions, sink);
        self.actions = actions;
        flow
    }

    fn label(&self, label: Label) -> Cow<'_, str> {
        Cow::Owned(self.model.describe(&self.labels[label.0 as usize]))
    }

    fn names(&self, label: Label) -> Vec<String> {
        let action = &self.labels[label.0 as usize];
        let text = self.model.describe(action);
        let who =
            self.model.process(action).map(|pid| format!("{}[{pid}]:{text}", self.model.process_name(pid)));
        std::iter::once(text).chain(who).collect()
    }

    fn is_valid_end(&mut self, state: &[u8]) -> bool {
        self.load(state);
        self.model.may_end(self.state())
    }

    fn fault(&self, fault: FaultId) -> Fault {
        let message = self.faults[fault.0 as usize].clone();
        let kind = if message == GREW { FaultKind::Runtime } else { FaultKind::Assertion };
        Fault { kind, message, place: None }
    }

    fn explain(&mut self, state: &[u8], ordinal: usize) -> Vec<Action> {
        let before = self.unpacked(state);
        let mut actions = Vec::new();
        self.model.actions(&before, &mut actions);
        let leads_within = |action: &M::Action| {
            let mut after = before.clone();
            self.model.apply(&mut after, action);
            self.model.within(&after)
        };
        let taken = actions.iter().filter(|action| leads_within(action)).nth(ordinal);
        taken.map(|action| self.model.explain(&before, action)).unwrap_or_default()
    }

    fn variables(&self, state: &[u8]) -> Vec<Variable> {
        let mut all = Vec::new();
        self.unpacked(state).variables("", &mut all);
        all
    }

    fn holds(&mut self, predicate: PredicateId, state: &[u8]) -> Result<bool, FaultId> {
        self.load(state);
        let now = self.source.as_ref().expect("whoever has a state has an initial one");
        let (model, properties) = (&*self.model, &self.properties);
        let condition = |number: usize| {
            properties[number].condition.as_ref().is_some_and(|condition| condition(model, now))
        };
        let variables = || {
            let mut all = Vec::new();
            now.variables("", &mut all);
            all
        };
        let value = self.expressions[predicate.0 as usize].holds(&condition, &variables);
        value.map_err(|sentence| self.fault_of(sentence))
    }

    fn components(&self) -> Option<Components> {
        self.components.clone()
    }
}

impl<M: Model> Draft for Explored<M> {
    fn predicate(&mut self, text: &str) -> Result<PredicateId, Diagnostic> {
        let conditions =
            |name: &str| self.properties.iter().position(|p| p.condition.is_some() && p.name() == name);
        let mut variables = Vec::new();
        if let Some(first) = self.initial.first() {
            first.variables("", &mut variables);
        }
        let all: Vec<&str> =
            self.properties.iter().filter(|p| p.condition.is_some()).map(Property::name).collect();
        let names = Names { conditions: &conditions, all: &all, variables: &variables };
        self.expressions.push(Expression::read(text, &names)?);
        Ok(PredicateId(self.expressions.len() as u32 - 1))
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
