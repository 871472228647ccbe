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
    Action, Components, Diagnostic, Divisible, Draft, Fault, FaultId, FaultKind, Flow, Label, PredicateId,
    Sink, Step, System, Variable,
};

use crate::expression::{Expression, Names};
use crate::model::Model;
use crate::pack::Pack;
use crate::parts::Parts;
use crate::property::Property;

/// Components that a store takes at most.
pub(crate) const MOST_COMPONENTS: usize = 64;
/// A component below this width is joined with the next: for a few values a dictionary is not worth its
/// look-up.
const LEAST_WIDTH: usize = 4;

const PACKED: &str = "the bytes of a state were packed by the same model";

/// A model that is explored.
pub struct Explored<M: Model> {
    pub(crate) model: Arc<M>,
    properties: Vec<Property<M>>,
    initial: Vec<M::State>,
    /// The state that was read last, and the one that actions are applied to.
    source: Option<M::State>,
    scratch: Option<M::State>,
    /// The bytes of the state that was read last.
    pub(crate) read: Vec<u8>,
    written: Written,
    pub(crate) actions: Vec<M::Action>,
    numbers: HashMap<M::Action, u32, FixedState>,
    labels: Vec<M::Action>,
    fault_numbers: HashMap<String, u32, FixedState>,
    faults: Vec<String>,
    expressions: Vec<Expression>,
    components: Option<Components>,
    /// How states with parts are laid out, where the model has parts and states have room for them.
    parts: Option<Parts>,
}

impl<M: Model> Explored<M> {
    /// The model as a system.
    pub fn new(model: Arc<M>) -> Self {
        let initial = model.initial();
        let first = initial.first().cloned();
        let widths = widths(&initial);
        let parts = widths.as_ref().and_then(|widths| Parts::new(model.parts(), widths));
        let components = match &parts {
            Some(parts) => Some(parts.components().clone()),
            None => widths.and_then(components),
        };
        Explored {
            properties: model.properties(),
            components,
            written: Written { bytes: Vec::new(), parts: parts.as_ref().map_or(0, |parts| parts.number) },
            parts,
            source: first.clone(),
            scratch: first,
            initial,
            read: Vec::new(),
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
    pub(crate) fn load(&mut self, bytes: &[u8]) {
        if self.read == bytes {
            return;
        }
        let state = self.source.as_mut().expect("whoever has a state has an initial one");
        state.unpack(&mut self.written.packed(bytes)).expect(PACKED);
        self.read.clear();
        self.read.extend_from_slice(bytes);
    }

    pub(crate) fn state(&self) -> &M::State {
        self.source.as_ref().expect("whoever has a state has an initial one")
    }

    /// A state of its own: for whoever is not in a hurry.
    fn unpacked(&self, bytes: &[u8]) -> M::State {
        M::State::unpacked(&mut self.written.packed(bytes)).expect(PACKED)
    }

    fn fault_of(&mut self, sentence: String) -> FaultId {
        fault_of(&mut self.fault_numbers, &mut self.faults, &sentence)
    }

    /// The step of an action in the state that was read last, which has these bytes, and where it leads;
    /// nothing where it leads beyond the boundary. Adds the components that it looks at or changes to `seen`,
    /// where somebody asks; nothing is in there where that is not known.
    #[inline(always)]
    pub(crate) fn step<'s>(
        &'s mut self,
        bytes: &'s [u8],
        action: &M::Action,
        mut seen: Option<&mut Option<u64>>,
    ) -> Option<(Step, &'s [u8])> {
        let (Some(before), Some(after)) = (&self.source, &mut self.scratch) else { return None };
        if seen.is_some() {
            after.watch(&mut 0, true);
        }
        after.assign(before);
        self.model.apply(after, action);
        let is_within = self.model.within(after);
        let wrong = if is_within { self.model.fails(before, action, after) } else { None };
        if let (Some(seen), Some(parts)) = (&mut seen, &self.parts) {
            **seen = seen.zip(parts.seen(after)).map(|(seen, more)| seen | more);
            after.watch(&mut 0, false);
        }
        if !is_within {
            return None;
        }
        let target = self.written.put(after);
        let mut step = Step { process: self.model.process(action).unwrap_or(0), ..Step::default() };
        step.label = Label(number_of(&mut self.numbers, &mut self.labels, action));
        if self.components.is_some() && target.len() != bytes.len() {
            step.fault = Some(fault_of(&mut self.fault_numbers, &mut self.faults, &GREW.into()));
            step.stays = true;
            return Some((step, bytes));
        }
        if let (Some(Some(seen)), Some(parts)) = (seen, &self.parts) {
            *seen |= parts.changed(bytes, target);
        }
        if let Some(sentence) = wrong {
            step.fault = Some(fault_of(&mut self.fault_numbers, &mut self.faults, &sentence));
        }
        Some((step, target))
    }

    /// Begins to note what is looked at in the state that was read last, or ends it.
    pub(crate) fn watch_source(&mut self, on: bool) {
        if let Some(source) = &mut self.source {
            source.watch(&mut 0, on);
        }
    }

    /// With the components of the state that was read last that were looked at since.
    pub(crate) fn seen_in_source(&self, seen: u64) -> Option<u64> {
        Some(seen | self.parts.as_ref()?.seen(self.state())?)
    }
}

/// Where states are written, one over the other.
struct Written {
    bytes: Vec<u8>,
    /// How many parts there are: a byte before a state says it, and each is one behind it. Neither is there
    /// where there are none.
    parts: u8,
}

impl Written {
    #[inline]
    fn put(&mut self, state: &impl Pack) -> &[u8] {
        let (head, tail) = (usize::from(self.parts > 0), usize::from(self.parts));
        loop {
            let room = self.bytes.len();
            let place = self.bytes.get_mut(head..);
            let left = place.and_then(|place| state.put(place)).and_then(|rest| rest.len().checked_sub(tail));
            let Some(left) = left else {
                self.bytes.resize(room * 2 + 64, 0);
                continue;
            };
            let taken = room - left;
            if tail > 0 {
                self.bytes[0] = self.parts;
                self.bytes[taken - tail..taken].fill(0);
            }
            return &self.bytes[..taken];
        }
    }

    /// The state itself.
    #[inline]
    fn packed<'b>(&self, bytes: &'b [u8]) -> &'b [u8] {
        &bytes[usize::from(self.parts > 0)..]
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

/// The widths of the fields, where all states have the same.
fn widths<S: Pack>(initial: &[S]) -> Option<Vec<usize>> {
    let widths = |state: &S| -> Option<Vec<usize>> {
        let mut all = Vec::new();
        state.fields(&mut all);
        all.into_iter().collect()
    };
    let first = widths(initial.first()?)?;
    initial.iter().all(|state| widths(state).as_ref() == Some(&first)).then_some(first)
}

/// Where components end that are made of these fields.
fn components(widths: Vec<usize>) -> Option<Components> {
    let (mut ends, mut end, mut width) = (Vec::new(), 0, 0);
    let least = LEAST_WIDTH.max(widths.iter().sum::<usize>() / MOST_COMPONENTS + 1);
    for field in widths {
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
            push(self.written.put(state))?;
        }
        Flow::Continue(())
    }

    fn steps(&mut self, state: &[u8], sink: &mut dyn Sink) -> Flow {
        self.load(state);
        let mut actions = std::mem::take(&mut self.actions);
        actions.clear();
        self.model.actions(self.state(), &mut actions);
        let mut flow = Flow::Continue(());
        for action in &actions {
            let Some((step, target)) = self.step(state, action, None) else { continue };
            flow = sink.push(step, target);
            if flow.is_break() {
                break;
            }
        }
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

    fn divisible(&mut self) -> Option<&mut dyn Divisible> {
        self.parts.is_some().then_some(self as &mut dyn Divisible)
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
