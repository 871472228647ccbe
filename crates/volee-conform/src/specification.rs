//! A specification, explored on demand: states by number, labelled steps in rows, quiescence.
//!
//! Everything later (product, suspension, determinisation) visits a state many times, so its steps are asked
//! for once and kept: eight bytes per step, and the packed state. A label is looked at once, for its kind.
//!
//! In a program (Promela) the interface is made of channels. What counts is the message, not the statement: a
//! step that sends to a channel of the interface, or meets a partner there, gets the label `channel?values`
//! (an input of the specification) or `channel!values` (an output), with the values that really travel.
//! Taking a message out of a buffer is internal. A step that passes several messages at once becomes a chain.

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use volee_logic::formula::split_process;
use volee_lts::PackedStates;
use volee_system::{
    Action, Diagnostic, EventKind, Flow, Label, Limit, Meter, Progress, Snapshot, Step, System,
    collect_initial,
};

use crate::{ActionId, Actions, ConformError, Interface, Kind};

/// Whether going on internally for ever counts as being quiet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub enum Livelock {
    /// A state on a cycle of internal steps is quiescent, as for TGV.
    #[default]
    Quiescent,
    /// Only states with neither outputs nor internal steps are, as for Tretmans.
    Ignored,
}

/// A label of the specification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpecLabel {
    /// What purposes look at; for an action of the interface also what the tester sees.
    pub name: String,
    /// The statement behind a message of a channel.
    pub statement: Option<String>,
    /// All names of the step, with who does it: `Server[0]:ask?REQ,1`. Of several messages in one step each
    /// has its own.
    pub events: Vec<String>,
    /// The lines of the program where its statements stand.
    pub lines: Vec<u32>,
    /// The visible action, unless it is internal.
    pub action: Option<ActionId>,
}

/// A step: a number of a [`SpecLabel`], and the state after it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SpecEdge {
    pub label: u32,
    pub target: u32,
}

const UNEXPANDED: u32 = u32::MAX;
const OUTPUT: u8 = 1;
const INTERNAL: u8 = 2;
pub(crate) const CYCLE_KNOWN: u8 = 4;
pub(crate) const ON_CYCLE: u8 = 8;

/// Expansions between two looks at the clock.
const WATCH_EVERY: u32 = 2048;

/// A system seen by a tester.
pub struct Specification<'s> {
    system: &'s mut dyn System,
    interface: Interface,
    livelock: Livelock,
    meter: &'s Meter,
    progress: &'s mut dyn Progress,
    countdown: u32,
    /// Bytes that others use beside this.
    pub(crate) others: u64,
    actions: Actions,
    labels: Vec<SpecLabel>,
    /// The number here of each label of the system.
    known: Vec<Option<u32>>,
    numbers: HashMap<(String, Vec<u32>), u32, FixedState>,
    states: PackedStates,
    /// Where the row of a state starts; its first entry has the number of steps as its label.
    rows: Vec<u32>,
    edges: Vec<SpecEdge>,
    pub(crate) flags: Vec<u8>,
    /// When a state was first met by the search for cycles; 0 before.
    pub(crate) order: Vec<u32>,
    pub(crate) visited: u32,
    state: Vec<u8>,
    steps: Vec<(Step, u32)>,
    /// Where the states between the messages of one step are: the state before the step, which of its steps,
    /// how far.
    between: HashMap<u32, (u32, u32, u32), FixedState>,
}

impl<'s> Specification<'s> {
    /// A system and its interface. Nothing is explored yet.
    pub fn new(
        system: &'s mut dyn System,
        interface: Interface,
        livelock: Livelock,
        meter: &'s Meter,
        progress: &'s mut dyn Progress,
    ) -> Self {
        Specification {
            system,
            interface,
            livelock,
            meter,
            progress,
            countdown: 0,
            others: 0,
            actions: Actions::default(),
            labels: Vec::new(),
            known: Vec::new(),
            numbers: HashMap::with_hasher(FixedState::default()),
            states: PackedStates::new(),
            rows: Vec::new(),
            edges: Vec::new(),
            flags: Vec::new(),
            order: Vec::new(),
            visited: 0,
            state: Vec::new(),
            steps: Vec::new(),
            between: HashMap::with_hasher(FixedState::default()),
        }
    }

    /// Appends what names a state to every worker: its bytes, or those of the state before a step of several
    /// messages.
    pub(crate) fn name_of(&self, state: u32, out: &mut Vec<u8>) {
        let (whole, step, along) = self.between.get(&state).copied().unwrap_or((state, 0, 0));
        let bytes = self.states.get(whole as usize);
        out.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
        if along > 0 {
            out.extend_from_slice(&(step | BETWEEN).to_le_bytes());
            out.extend_from_slice(&along.to_le_bytes());
        } else {
            out.extend_from_slice(&0u32.to_le_bytes());
        }
        out.extend_from_slice(bytes);
    }

    /// The bytes of a state; between the messages of a step, of the state before it.
    pub(crate) fn bytes_of(&self, state: u32) -> &[u8] {
        let whole = self.between.get(&state).map_or(state, |(whole, ..)| *whole);
        self.states.get(whole as usize)
    }

    /// Puts the bytes of the states after a state into `targets`; nothing where it makes no sense.
    pub(crate) fn after(&mut self, state: &[u8], targets: &mut Vec<Vec<u8>>) -> Option<()> {
        let state = self.states.insert(state);
        self.grow();
        let row = self.row(state);
        // One that makes no sense has perhaps made some of its targets known.
        self.grow();
        for at in row.ok()? {
            targets.push(self.bytes_of(self.edge(at).target).to_vec());
        }
        Some(())
    }

    /// The state of a name at the start of `bytes`, and what follows it.
    pub(crate) fn named<'b>(&mut self, bytes: &'b [u8]) -> Result<(u32, &'b [u8]), ConformError> {
        let garbled = || ConformError::input("a worker sent what no worker sends");
        let word = |bytes: &'b [u8]| -> Result<(u32, &'b [u8]), ConformError> {
            let (head, rest) = bytes.split_first_chunk::<4>().ok_or_else(garbled)?;
            Ok((u32::from_le_bytes(*head), rest))
        };
        let (length, rest) = word(bytes)?;
        let (step, mut rest) = word(rest)?;
        let mut along = 0;
        if step & BETWEEN != 0 {
            (along, rest) = word(rest)?;
        }
        let (state, rest) = rest.split_at_checked(length as usize).ok_or_else(garbled)?;
        let mut state = self.states.insert(state);
        self.grow();
        if step & BETWEEN != 0 {
            let row = self.row(state)?;
            state = row
                .clone()
                .nth((step & !BETWEEN) as usize)
                .map(|at| self.edge(at).target)
                .ok_or_else(garbled)?;
            for _ in 1..along {
                let row = self.row(state)?;
                state = row.clone().next().map(|at| self.edge(at).target).ok_or_else(garbled)?;
            }
        }
        Ok((state, rest))
    }

    /// The states where the specification may start.
    pub(crate) fn initial(&mut self) -> Result<Vec<u32>, ConformError> {
        let all = collect_initial(self.system);
        if all.is_empty() {
            return Err(ConformError::input("the specification has no initial state"));
        }
        let numbers = all.iter().map(|state| self.states.insert(state)).collect();
        self.grow();
        Ok(numbers)
    }

    /// The visible actions met so far.
    pub fn actions(&self) -> &Actions {
        &self.actions
    }

    /// The labels met so far.
    pub fn labels(&self) -> &[SpecLabel] {
        &self.labels
    }

    /// What counts as quiescence.
    pub fn livelock(&self) -> Livelock {
        self.livelock
    }

    /// States met so far.
    pub fn state_count(&self) -> usize {
        self.states.len()
    }

    /// Steps met so far.
    pub fn transition_count(&self) -> usize {
        self.edges.len() - self.flags.iter().filter(|f| **f & EXPANDED != 0).count()
    }

    /// Bytes in use.
    pub(crate) fn memory(&self) -> u64 {
        let rows = self.rows.capacity() * 4 + self.edges.capacity() * 8;
        self.states.memory() + (rows + self.flags.capacity() + self.order.capacity() * 4) as u64
    }

    fn grow(&mut self) {
        let count = self.states.len();
        self.rows.resize(count, UNEXPANDED);
        self.flags.resize(count, 0);
        self.order.resize(count, 0);
    }

    /// The steps of a state as a range for [`Specification::edge`].
    #[inline]
    pub(crate) fn row(&mut self, state: u32) -> Result<std::ops::Range<usize>, ConformError> {
        if self.rows[state as usize] == UNEXPANDED {
            self.expand(state)?;
        }
        let start = self.rows[state as usize] as usize;
        Ok(start + 1..start + 1 + self.edges[start].label as usize)
    }

    #[inline]
    pub(crate) fn edge(&self, at: usize) -> SpecEdge {
        self.edges[at]
    }

    #[inline]
    pub(crate) fn action(&self, label: u32) -> Option<ActionId> {
        self.labels[label as usize].action
    }

    /// Whether a tester may see nothing in this state for good. The state must have been expanded.
    pub(crate) fn quiescent(&mut self, state: u32) -> Result<bool, ConformError> {
        let flags = self.flags[state as usize];
        if flags & (OUTPUT | INTERNAL) == 0 {
            return Ok(true);
        }
        if self.livelock == Livelock::Ignored || flags & INTERNAL == 0 {
            return Ok(false);
        }
        if flags & CYCLE_KNOWN == 0 {
            self.find_cycles(state)?;
        }
        Ok(self.flags[state as usize] & ON_CYCLE != 0)
    }

    #[cold]
    fn look(&mut self) -> Result<(), ConformError> {
        self.countdown = WATCH_EVERY;
        self.meter.check()?;
        let memory = self.memory() + self.others;
        self.meter.check_memory(memory, || format!("{} states of the specification", self.states.len()))?;
        self.progress.report(&Snapshot {
            states: self.states.len() as u64,
            transitions: self.edges.len() as u64,
            memory,
            ..Snapshot::default()
        });
        Ok(())
    }

    /// Asks the meter now and then.
    pub(crate) fn tick(&mut self) -> Result<(), ConformError> {
        match self.countdown {
            0 => self.look(),
            _ => {
                self.countdown -= 1;
                Ok(())
            }
        }
    }

    fn expand(&mut self, state: u32) -> Result<(), ConformError> {
        self.tick()?;
        let Specification { system, states, state: bytes, steps, .. } = self;
        bytes.clear();
        bytes.extend_from_slice(states.get(state as usize));
        steps.clear();
        let _ = system.steps(bytes, &mut |step: Step, target: &[u8]| {
            steps.push((step, states.insert(target)));
            Flow::Continue(())
        });
        if let Some(limit) = self.system.left_out() {
            return Err(limit.into());
        }
        if self.edges.len() + self.steps.len() >= u32::MAX as usize - 1 {
            return Err(Limit::Other { message: "2³² steps of the specification are too many".into() }.into());
        }
        let start = self.edges.len();
        self.edges.push(SpecEdge { label: 0, target: 0 });
        let mut flags = EXPANDED;
        let mut chains = Vec::new();
        for at in 0..self.steps.len() {
            let (step, target) = self.steps[at];
            if let Some(fault) = step.fault {
                return Err(self.goes_wrong(fault));
            }
            match self.messages_of(step.label, at)? {
                Passed::Nothing(label) => {
                    flags |= self.flag(label);
                    self.edges.push(SpecEdge { label, target });
                }
                Passed::Messages(labels) => {
                    let target = self.chain(&labels[1..], target, &mut chains);
                    self.note_between((state, at as u32), target, labels.len() as u32 - 1, &chains);
                    flags |= self.flag(labels[0]);
                    self.edges.push(SpecEdge { label: labels[0], target });
                }
            }
        }
        self.edges[start].label = (self.edges.len() - start - 1) as u32;
        self.grow();
        self.rows[state as usize] = start as u32;
        self.flags[state as usize] |= flags;
        for (state, label, target) in chains {
            self.rows[state as usize] = self.edges.len() as u32;
            self.flags[state as usize] |= EXPANDED | self.flag(label);
            self.edges.extend([SpecEdge { label: 1, target: 0 }, SpecEdge { label, target }]);
        }
        Ok(())
    }

    /// States between the messages of one step; gives the first of them, or the end where there are none.
    fn chain(&mut self, labels: &[u32], end: u32, chains: &mut Vec<(u32, u32, u32)>) -> u32 {
        let mut target = end;
        for &label in labels.iter().rev() {
            let between = self.states.reserve_anonymous();
            chains.push((between, label, target));
            target = between;
        }
        target
    }

    /// Notes where the states of the last chain are, the first of which is `first`.
    fn note_between(&mut self, step: (u32, u32), first: u32, count: u32, chains: &[(u32, u32, u32)]) {
        let mut state = first;
        for (along, chain) in (1..=count).zip(chains.iter().rev()) {
            debug_assert_eq!(state, chain.0);
            self.between.insert(state, (step.0, step.1, along));
            state = chain.2;
        }
    }

    fn flag(&self, label: u32) -> u8 {
        match self.action(label) {
            None => INTERNAL,
            Some(action) if self.actions.is_input(action) => 0,
            Some(_) => OUTPUT,
        }
    }

    fn goes_wrong(&self, fault: volee_system::FaultId) -> ConformError {
        let fault = self.system.fault(fault);
        Diagnostic::error(format!("the specification itself goes wrong: {}", fault.message), fault.place)
            .with_help("`volee check` shows the run that leads there; a specification must be right before it can judge")
            .into()
    }

    /// The label of a step, or those of the messages it passes through the interface.
    fn messages_of(&mut self, label: Label, ordinal: usize) -> Result<Passed, ConformError> {
        let at = label.0 as usize;
        if let Some(Some(known)) = self.known.get(at) {
            return Ok(Passed::Nothing(*known));
        }
        let mut names = self.system.names(label);
        let name =
            statement_among(&names).map_or_else(|| self.system.label(label).into_owned(), str::to_owned);
        names.retain(|known| *known != name);
        if self.interface.channels {
            let actions = self.system.explain(&self.state, ordinal);
            let messages = self.passing(&name, &names, &actions)?;
            if !messages.is_empty() {
                return Ok(Passed::Messages(messages));
            }
            let lines = lines(&actions);
            let number = self.number(SpecLabel { lines, name, events: names, statement: None, action: None });
            self.remember(at, number);
            return Ok(Passed::Nothing(number));
        }
        let action = match self.interface.kind(&name)? {
            Kind::Internal => None,
            kind => Some(self.actions.intern(&name, kind)),
        };
        let number =
            self.number(SpecLabel { name, action, events: names, statement: None, lines: Vec::new() });
        self.remember(at, number);
        Ok(Passed::Nothing(number))
    }

    fn remember(&mut self, label: usize, number: u32) {
        if self.known.len() <= label {
            self.known.resize(label + 1, None);
        }
        self.known[label] = Some(number);
    }

    /// The messages that pass through the interface in a step.
    fn passing(
        &mut self,
        statement: &str,
        names: &[String],
        actions: &[Action],
    ) -> Result<Vec<u32>, ConformError> {
        let is_alone = actions.iter().filter(|action| self.passes(action)).count() == 1;
        let mut messages = Vec::new();
        for action in actions {
            let Some(event) = action.event.as_ref().filter(|_| self.passes(action)) else { continue };
            let kind = self.interface.channel_kind(&event.channel)?;
            let direction = if kind == Kind::Input { '?' } else { '!' };
            let name = format!("{}{direction}{}", event.channel, event.values.join(","));
            let visible = self.actions.intern(&name, kind);
            let lines = lines(std::slice::from_ref(action));
            let events = if is_alone { names.to_vec() } else { events(std::slice::from_ref(action)) };
            let (statement, action) = (Some(statement.to_owned()), Some(visible));
            messages.push(self.number(SpecLabel { name, statement, events, lines, action }));
        }
        Ok(messages)
    }

    /// Whether a message passes through the interface.
    fn passes(&self, action: &Action) -> bool {
        let sends = |event: &volee_system::Event| event.kind != EventKind::Receive;
        action
            .event
            .as_ref()
            .is_some_and(|event| sends(event) && self.interface.names_channel(&event.channel))
    }

    fn number(&mut self, label: SpecLabel) -> u32 {
        let Specification { labels, numbers, .. } = self;
        let statement = label.statement.as_deref().unwrap_or_default();
        let whole = format!("{}\n{statement}\n{}", label.name, label.events.join("\n"));
        *numbers.entry((whole, label.lines.clone())).or_insert_with(|| {
            labels.push(label);
            labels.len() as u32 - 1
        })
    }
}

/// The statement that a step begins with, `Sender[2] c!msg`, where it has such a name.
fn statement_among(names: &[String]) -> Option<&str> {
    let is_statement = |name: &&String| {
        split_process(name).is_some_and(|(_, _, text)| name[..name.len() - text.len()].ends_with(' '))
    };
    names.iter().find(is_statement).map(String::as_str)
}

/// What is sent and received, and by whom.
fn events(actions: &[Action]) -> Vec<String> {
    let told = |action: &Action| {
        let event = action.event.as_ref()?;
        let sign = if event.kind == EventKind::Receive { '?' } else { '!' };
        let values = event.values.join(",");
        Some(format!("{}[{}]:{}{sign}{values}", action.process, action.pid, event.channel))
    };
    actions.iter().filter_map(told).collect()
}

/// The lines where actions stand.
fn lines(actions: &[Action]) -> Vec<u32> {
    actions.iter().filter_map(|a| a.place.as_ref().map(|p| p.line)).collect()
}

const EXPANDED: u8 = 16;
/// Marks the number of a step in the name of a state between its messages.
const BETWEEN: u32 = 1 << 31;

enum Passed {
    Nothing(u32),
    Messages(Vec<u32>),
}
