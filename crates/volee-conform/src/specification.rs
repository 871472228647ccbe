//! A specification, explored on demand: states by number, labelled steps in rows, quiescence.
//!
//! Everything later (product, suspension, determinisation) visits a state many times, so its steps are asked
//! for once and kept ([`Rows`]), with the packed state. A label is looked at once, for its kind.
//!
//! In a program (Promela) the interface is made of channels. What counts is the message, not the statement: a
//! step that sends to a channel of the interface, or meets a partner there, gets the label `channel?values`
//! (an input of the specification) or `channel!values` (an output), with the values that really travel.
//! Taking a message out of a buffer is internal. A step that passes several messages at once becomes a chain.

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use volee_logic::formula::split_process;
use volee_lts::PackedStates;
use volee_store::Pieces;
use volee_system::part::Spread;
use volee_system::{
    Action, Diagnostic, EventKind, Flow, Label, Limit, Meter, Progress, Snapshot, Step, System,
    collect_initial,
};

use crate::rows::{LABELS, Row, Rows, SpecEdge, Which};
use crate::sets::{put, take};
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

const OUTPUT: u8 = 1;
const INTERNAL: u8 = 2;
pub(crate) const CYCLE_KNOWN: u8 = 4;
pub(crate) const ON_CYCLE: u8 = 8;

/// What is known of a state.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Met {
    /// Where its row begins; 0 before it is expanded.
    row: u32,
    /// When it was first met by the search for cycles; 0 before.
    pub order: u32,
    /// Whose it is, where states are spread.
    home: u16,
    pub flags: u8,
}

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
    met: Pieces<Met>,
    rows: Rows,
    pub(crate) visited: u32,
    /// How states are spread, over this many workers.
    spread: Option<(Spread, usize)>,
    state: Vec<u8>,
    steps: Vec<(Step, u32)>,
    /// Steps of a state that is being expanded: those that nobody sees, and the others.
    internal: Vec<SpecEdge>,
    visible: Vec<SpecEdge>,
    /// Where the states between the messages of one step are: the state before the step, which of its visible
    /// steps, how far.
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
            met: Pieces::new(),
            rows: Rows::new(),
            visited: 0,
            spread: None,
            state: Vec::new(),
            steps: Vec::new(),
            internal: Vec::new(),
            visible: Vec::new(),
            between: HashMap::with_hasher(FixedState::default()),
        }
    }

    /// Appends what names a state to every worker: its bytes, or those of the state before a step of several
    /// messages and where it is between them.
    pub(crate) fn name_of(&self, state: u32, out: &mut Vec<u8>) {
        let (whole, step, along) = self.between.get(&state).copied().unwrap_or((state, 0, 0));
        let bytes = self.states.get(whole as usize);
        put((bytes.len() as u32) << 1 | u32::from(along > 0), out);
        if along > 0 {
            put(step, out);
            put(along, out);
        }
        out.extend_from_slice(bytes);
    }

    /// Spreads the states over workers: from now on each has a home.
    pub(crate) fn spread_over(&mut self, spread: Spread, peers: usize) {
        self.spread = Some((spread, peers));
        for state in 0..self.met.len() {
            self.met.get_mut(state).home = spread.owner(self.bytes_of(state as u32), peers) as u16;
        }
    }

    /// Whose a state is by itself, where states are spread.
    #[inline]
    pub(crate) fn home(&self, state: u32) -> usize {
        usize::from(self.met.get(state as usize).home)
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
        let row = self.row(state, Which::All);
        // One that makes no sense has perhaps made some of its targets known.
        self.grow();
        let mut row = row.ok()?;
        while let Some(edge) = self.next(&mut row) {
            targets.push(self.bytes_of(edge.target).to_vec());
        }
        Some(())
    }

    /// The state of a name at the start of `bytes`, which is then gone from there.
    pub(crate) fn named(&mut self, bytes: &mut &[u8]) -> Result<u32, ConformError> {
        let garbled = || ConformError::input("a worker sent what no worker sends");
        let mut word = || take(bytes).ok_or_else(garbled);
        let head = word()?;
        let between = if head & 1 == 1 { Some((word()?, word()?)) } else { None };
        let (state, rest) = bytes.split_at_checked((head >> 1) as usize).ok_or_else(garbled)?;
        *bytes = rest;
        let mut state = self.states.insert(state);
        self.grow();
        let Some((step, along)) = between else { return Ok(state) };
        for step in std::iter::once(step as usize).chain((1..along).map(|_| 0)) {
            let mut row = self.row(state, Which::Visible)?;
            let mut steps = std::iter::from_fn(|| self.next(&mut row));
            state = steps.nth(step).ok_or_else(garbled)?.target;
        }
        Ok(state)
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
        self.rows.steps as usize
    }

    /// Bytes in use.
    pub(crate) fn memory(&self) -> u64 {
        self.states.memory() + (self.rows.memory() + self.met.bytes()) as u64
    }

    fn grow(&mut self) {
        for state in self.met.len()..self.states.len() {
            let home =
                self.spread.map_or(0, |(spread, peers)| spread.owner(self.bytes_of(state as u32), peers));
            self.met.push(Met { home: home as u16, ..Met::default() });
        }
    }

    /// The steps of a state, for [`Specification::next`].
    #[inline]
    pub(crate) fn row(&mut self, state: u32, which: Which) -> Result<Row, ConformError> {
        if self.met.get(state as usize).row == 0 {
            self.expand(state)?;
        }
        Ok(self.rows.row(self.met.get(state as usize).row, which))
    }

    /// The next step of a row.
    #[inline]
    pub(crate) fn next(&self, row: &mut Row) -> Option<SpecEdge> {
        self.rows.next(row)
    }

    /// What is known of a state.
    #[inline]
    pub(crate) fn met(&mut self, state: u32) -> &mut Met {
        self.met.get_mut(state as usize)
    }

    #[inline]
    pub(crate) fn action(&self, label: u32) -> Option<ActionId> {
        self.labels[label as usize].action
    }

    /// Whether a tester may see nothing in this state for good. The state must have been expanded.
    pub(crate) fn quiescent(&mut self, state: u32) -> Result<bool, ConformError> {
        let flags = self.met(state).flags;
        if flags & (OUTPUT | INTERNAL) == 0 {
            return Ok(true);
        }
        if self.livelock == Livelock::Ignored || flags & INTERNAL == 0 {
            return Ok(false);
        }
        if flags & CYCLE_KNOWN == 0 {
            self.find_cycles(state)?;
        }
        Ok(self.met(state).flags & ON_CYCLE != 0)
    }

    #[cold]
    fn look(&mut self) -> Result<(), ConformError> {
        self.countdown = WATCH_EVERY;
        self.meter.check()?;
        let memory = self.memory() + self.others;
        self.meter.check_memory(memory, || format!("{} states of the specification", self.states.len()))?;
        self.progress.report(&Snapshot {
            states: self.states.len() as u64,
            transitions: self.rows.steps,
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
        let mut flags = 0;
        let (mut internal, mut visible) =
            (std::mem::take(&mut self.internal), std::mem::take(&mut self.visible));
        internal.clear();
        visible.clear();
        let mut chains = Vec::new();
        for at in 0..self.steps.len() {
            let (step, mut target) = self.steps[at];
            if let Some(fault) = step.fault {
                return Err(self.goes_wrong(fault));
            }
            let label = match self.messages_of(step.label, at)? {
                Passed::Nothing(label) => label,
                Passed::Messages(labels) => {
                    target = self.chain(&labels[1..], target, &mut chains);
                    let step = (state, visible.len() as u32);
                    self.note_between(step, target, labels.len() as u32 - 1, &chains);
                    labels[0]
                }
            };
            flags |= self.flag(label);
            let steps = if self.action(label).is_none() { &mut internal } else { &mut visible };
            steps.push(SpecEdge { label, target });
        }
        self.grow();
        self.keep(state, flags, &internal, &visible)?;
        for (state, label, target) in chains {
            self.keep(state, self.flag(label), &[], &[SpecEdge { label, target }])?;
        }
        (self.internal, self.visible) = (internal, visible);
        Ok(())
    }

    /// Keeps the row of a state.
    fn keep(
        &mut self,
        state: u32,
        flags: u8,
        internal: &[SpecEdge],
        visible: &[SpecEdge],
    ) -> Result<(), ConformError> {
        let too_many = || Limit::Other { message: "the specification has too many steps or labels".into() };
        if self.labels.len() >= LABELS as usize {
            return Err(too_many().into());
        }
        let row = self.rows.push(internal, visible).ok_or_else(too_many)?;
        let met = self.met(state);
        met.row = row;
        met.flags |= flags;
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

enum Passed {
    Nothing(u32),
    Messages(Vec<u32>),
}
