//! The interpreter: a program as a [`System`].
//!
//! The machine owns scratch space and nothing else that changes, except which statements were ever executed.
//! Step labels are the number of the first transition and of the process that makes it; everything a human
//! wants to know is recomputed on demand by running the step again ([`Machine::explain`]).

use std::borrow::Cow;
use std::ops::ControlFlow;
use std::sync::Arc;

use volee_system::{
    Action, Awake, Components, Covered, Diagnostic, Divisible, Draft, Fault, FaultId, FaultKind, Flow,
    Followed, Inspectable, Inspection, Label, Liftable, Limit, Marks, Move, PersistentSet, PredicateId,
    ProcessSet, Reducible, Sink, SleepSet, Step, System, Variable,
};

use crate::code::{Code, Compiled};
use crate::compile::{Compiler, compile};
use crate::components::components;
use crate::display;
use crate::divide::Division;
use crate::eval::write_scalar;
use crate::events::EventLabels;
use crate::exec::Executor;
use crate::follow::{Follower, Moves, Wanted, merged_transitions, walk};
use crate::footprint::EVERYTHING;
use crate::frame::Frame;
use crate::moves::{Enumerator, Level, Visitor, any_mark, evaluate};
use crate::optimise::{Observed, SeenEvents, Steps, optimise, unread_globals};
use crate::program::{Expr, Program};
use crate::reduction::{Choice, every_end_is_met};
use crate::why;

/// Numbers of errors in predicates start here, above those of the program.
const PREDICATE_FAULTS: u32 = 1 << 31;

/// Why not every step of a state is known.
const TOO_LONG: &str =
    "an atomic sequence or d_step is longer than what is followed, so that what it does is not known";

/// Turns the text of a predicate into an expression over the program.
pub type PredicateCompiler = Arc<dyn Fn(&str) -> Result<Expr, Diagnostic> + Send + Sync>;

/// What a machine checks beyond the program itself.
#[derive(Clone, Default)]
pub struct MachineOptions {
    /// How predicates are read; without it there are none.
    pub predicates: Option<PredicateCompiler>,
    /// Run the program as it is, without merging steps or forgetting dead values.
    pub plain: bool,
    /// Messages left in channels make an end state invalid.
    pub strict_ends: bool,
    /// Never merge steps: each is of interest. What nobody reads may still be forgotten.
    pub single_steps: bool,
    /// What steps are called.
    pub labels: LabelStyle,
}

/// What steps are called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LabelStyle {
    /// By the text of the statement: `A[0] c!k`. Costs nothing.
    #[default]
    Statements,
    /// By what happens: `A[0]:c!2`. Steps are then never merged, so that each is told.
    Events,
}

/// Where a channel is in a packed state: a byte for the number of messages, then the messages, the oldest
/// first, then zeros. A rendezvous channel, of capacity 0, has no bytes at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChannelSlots {
    /// Offset of the byte that counts.
    pub offset: usize,
    /// Bytes of one message.
    pub message_bytes: usize,
    /// How many messages fit.
    pub capacity: u32,
}

/// A program being executed.
#[derive(Clone)]
pub struct Machine {
    /// As the front end made it.
    original: Arc<Program>,
    /// As it is executed.
    pub(crate) program: Arc<Program>,
    /// What predicates look at.
    observed: Observed,
    /// Which statements are events that count, where not all are.
    seen: Option<SeenEvents>,
    pub(crate) compiled: Arc<Compiled>,
    pub(crate) enumerator: Enumerator,
    /// For predicates and marks.
    frame: Frame,
    predicates: Vec<Code>,
    /// The same as they were given.
    predicate_exprs: Vec<Expr>,
    /// Errors of predicates, numbered from [`PREDICATE_FAULTS`] on.
    predicate_faults: Vec<Fault>,
    options: MachineOptions,
    /// States were asked for, so that predicates are fixed.
    in_use: bool,
    /// Which processes may move first without loss; made when first asked for.
    choice: Option<Choice>,
    /// For each transition, those that are merged into it.
    merged: Arc<Vec<Vec<u32>>>,
    /// How steps are made part by part; made when first asked for.
    pub(crate) division: Option<Division>,
    /// Room for the state whose parts are asked for.
    pub(crate) source: Vec<u8>,
    /// The labels met, where they are events.
    pub(crate) events: EventLabels,
    /// What a part of a process does, and how that is called, can be told by what it looks at.
    divides: bool,
}

impl Machine {
    /// A machine for a program.
    pub fn new(program: Arc<Program>, options: MachineOptions) -> Self {
        let mut machine = Machine {
            original: Arc::clone(&program),
            compiled: Arc::new(compile(&program)),
            program,
            observed: Observed::default(),
            seen: None,
            enumerator: Enumerator::default(),
            frame: Frame::default(),
            predicates: Vec::new(),
            predicate_exprs: Vec::new(),
            predicate_faults: Vec::new(),
            options,
            in_use: false,
            choice: None,
            merged: Arc::default(),
            division: None,
            source: Vec::new(),
            events: EventLabels::default(),
            divides: false,
        };
        machine.prepare();
        machine
    }

    /// Optimises and compiles for what is observed.
    fn prepare(&mut self) {
        if !self.options.plain {
            let single = self.options.single_steps || self.options.labels == LabelStyle::Events;
            let steps = match &self.seen {
                Some(seen) => Steps::Unseen(seen),
                None if single => Steps::Single,
                None => Steps::Merged,
            };
            self.program = Arc::new(optimise(&self.original, &self.observed, steps));
        }
        let mut compiled = compile(&self.program);
        let endless = FaultId(compiled.faults.len() as u32);
        compiled.faults.push(Fault {
            kind: FaultKind::Runtime,
            message: "an atomic sequence runs for ever without ever letting another process move".into(),
            place: None,
        });
        self.enumerator = Enumerator::new(compiled.transitions.len(), endless, self.options.plain);
        self.merged = Arc::new(merged_transitions(&self.program, &compiled));
        self.compiled = Arc::new(compiled);
        self.choice = None;
        self.division = None;
        self.events = EventLabels::default();
        // Where something is restricted, whether a process may move at all depends on all others; and the name
        // of a channel that a process has made, on who has made channels before.
        let names_depend =
            self.is_named_by_events() && self.program.proctypes.iter().any(|p| !p.channels.is_empty());
        self.divides = !self.compiled.restricted && !names_depend;
    }

    pub(crate) fn is_named_by_events(&self) -> bool {
        self.options.labels == LabelStyle::Events
    }

    /// Where the channels that exist from the start are in every state, in the order of their numbers.
    pub fn channel_slots(&self) -> Vec<ChannelSlots> {
        let layout = &self.compiled.layout;
        let mut at = layout.channels_at;
        let mut all = Vec::new();
        for &shape in &layout.global_channels {
            let shape = &layout.channels[usize::from(shape)];
            all.push(ChannelSlots { offset: at, message_bytes: shape.message, capacity: shape.capacity });
            at += shape.bytes;
        }
        all
    }

    /// The program that is executed.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// Adds a predicate given as an expression of the program. What it looks at is kept from being optimised
    /// away, so predicates are added before the first state is asked for.
    pub fn add_predicate(&mut self, expr: &Expr) -> PredicateId {
        let before = self.observed.clone();
        self.observed.add(expr);
        if self.observed != before && !self.options.plain {
            self.prepare();
        }
        self.predicate_exprs.push(expr.clone());
        self.choice = None;
        let mut compiler = Compiler {
            faults: std::mem::take(&mut self.predicate_faults),
            first_fault: PREDICATE_FAULTS,
            ..Compiler::new(&self.compiled.layout)
        };
        let code = compiler.code(expr);
        self.predicate_faults = compiler.faults;
        // Where a condition has no value, no assertion of the model fails, as it does in a step.
        self.predicate_faults.iter_mut().for_each(|fault| fault.kind = FaultKind::Runtime);
        self.predicates.push(code);
        PredicateId(self.predicates.len() as u32 - 1)
    }

    /// Whether the `trace` declaration, if there is one, may end here.
    fn trace_is_complete(&self, frame: &Frame) -> bool {
        // As in SPIN, a trace need not be complete when no process is left.
        let Some(monitor) = self.compiled.monitor.as_ref().filter(|_| frame.count() > 0) else { return true };
        let at = self.compiled.layout.monitor_at;
        let node = u16::from_le_bytes([frame.bytes[at], frame.bytes[at + 1]]);
        monitor.complete.get(usize::from(node)).copied().unwrap_or(true)
    }

    fn initial_state(&mut self) -> Frame {
        let compiled = &self.compiled;
        let layout = &compiled.layout;
        let mut frame = Frame::bare(vec![0; layout.channels_at]);
        for &shape in &layout.global_channels {
            frame.add_channel(layout, shape);
        }
        if let Some(monitor) = &compiled.monitor {
            write_scalar(&mut frame.bytes, layout.monitor_at, crate::Scalar::Short, monitor.entry as i32);
        }
        let mut compiler = Compiler::new(layout);
        for (number, channel) in self.program.channels.iter().enumerate() {
            let target = compiler.target(&channel.holder);
            store_global(compiled, &mut frame, &target, number as i32 + 1);
        }
        for (location, expr) in &self.program.globals_init {
            let (target, code) = (compiler.target(location), compiler.code(expr));
            let value = evaluate(compiled, &frame, &code).unwrap_or(0);
            store_global(compiled, &mut frame, &target, value);
        }
        let mut message = Vec::new();
        let reached = &mut self.enumerator.reached;
        for proctype in &self.program.active {
            let mut executor = Executor {
                compiled,
                frame: &mut frame,
                pid: 0,
                timeout: false,
                fault: None,
                blocked: None,
                message: &mut message,
                reached,
                passed: None,
                further: None,
            };
            let declared = self.compiled.bodies[usize::from(proctype.0)].priority;
            executor.start(usize::from(proctype.0), declared, &[]);
        }
        frame
    }
}

fn store_global(compiled: &Compiled, frame: &mut Frame, target: &crate::code::Target, value: i32) {
    let at = crate::eval::Context::outside(compiled, frame).target_at(target);
    if let Some((at, scalar)) = at {
        write_scalar(&mut frame.bytes, at, scalar, value);
    }
}

struct ToSink<'a> {
    sink: &'a mut dyn Sink,
    source: &'a [u8],
}

/// Pushes steps labelled by what happens in them.
struct EventsToSink<'a> {
    to: ToSink<'a>,
    program: &'a Program,
    compiled: &'a Compiled,
    events: &'a mut EventLabels,
}

impl EventsToSink<'_> {
    fn named(&mut self, levels: &[Level], fault: Option<FaultId>, stays: bool) -> Step {
        let label = self.events.label(self.program, self.compiled, levels);
        Step { label, ..first_step(levels, fault, stays) }
    }
}

impl Visitor for EventsToSink<'_> {
    fn step(&mut self, levels: &[Level], fault: Option<FaultId>, target: &Frame) -> Flow {
        let step = self.named(levels, fault, false);
        self.to.sink.push(step, &target.bytes)
    }

    fn stuck(&mut self, levels: &[Level], fault: FaultId) -> Flow {
        let step = self.named(levels, Some(fault), true);
        self.to.sink.push(step, self.to.source)
    }
}

pub(crate) fn first_step(levels: &[Level], fault: Option<FaultId>, stays: bool) -> Step {
    let made = &levels[0].made;
    Step { label: Label(made.transition << 8 | u32::from(made.pid)), process: made.pid, fault, stays }
}

impl Visitor for ToSink<'_> {
    fn step(&mut self, levels: &[Level], fault: Option<FaultId>, target: &Frame) -> Flow {
        self.sink.push(first_step(levels, fault, false), &target.bytes)
    }

    fn stuck(&mut self, levels: &[Level], fault: FaultId) -> Flow {
        self.sink.push(first_step(levels, Some(fault), true), self.source)
    }
}

/// Collects what the `wanted`-th step is made of.
struct Explainer<'a> {
    wanted: usize,
    seen: usize,
    machine: &'a Machine,
    actions: Vec<Action>,
}

impl Explainer<'_> {
    fn reach(&mut self, levels: &[Level]) -> Flow {
        if self.seen < self.wanted {
            self.seen += 1;
            return Flow::Continue(());
        }
        for level in levels {
            let names = &self.machine.program;
            display::actions(names, &self.machine.compiled, &level.frame, &level.made, &mut self.actions);
        }
        Flow::Break(())
    }
}

impl Visitor for Explainer<'_> {
    fn step(&mut self, levels: &[Level], _: Option<FaultId>, _: &Frame) -> Flow {
        self.reach(levels)
    }

    fn stuck(&mut self, levels: &[Level], _: FaultId) -> Flow {
        self.reach(levels)
    }
}

impl System for Machine {
    fn initial(&mut self, push: &mut dyn FnMut(&[u8]) -> Flow) -> Flow {
        self.in_use = true;
        let frame = self.initial_state();
        push(&frame.bytes)
    }

    fn steps(&mut self, state: &[u8], sink: &mut dyn Sink) -> Flow {
        let to = ToSink { sink, source: state };
        if self.options.labels == LabelStyle::Statements {
            return self.enumerator.run(&self.compiled, state, &mut { to });
        }
        let mut to =
            EventsToSink { to, program: &self.program, compiled: &self.compiled, events: &mut self.events };
        self.enumerator.run(&self.compiled, state, &mut to)
    }

    fn names(&self, label: Label) -> Vec<String> {
        match self.options.labels {
            LabelStyle::Statements => vec![self.label(label).into_owned()],
            LabelStyle::Events => self.events.names(label).to_vec(),
        }
    }

    fn label(&self, label: Label) -> Cow<'_, str> {
        if self.options.labels == LabelStyle::Events {
            return self.events.names(label).first().map_or("", String::as_str).into();
        }
        let (proctype, node, index) = self.compiled.transitions[(label.0 >> 8) as usize];
        let proctype = &self.program.proctypes[usize::from(proctype)];
        let text = &proctype.nodes[node as usize].transitions[index as usize].statement.text;
        format!("{}[{}] {}", proctype.name, label.0 & 0xff, text).into()
    }

    fn is_valid_end(&mut self, state: &[u8]) -> bool {
        let compiled = Arc::clone(&self.compiled);
        self.frame.load(&compiled.layout, state);
        let frame = &self.frame;
        let resting = (0..frame.count())
            .all(|pid| compiled.bodies[frame.proctype(pid)].valid_end[frame.control(&compiled.layout, pid)]);
        let drained = || frame.channels.iter().all(|&c| frame.length(&compiled.layout, c) == 0);
        resting && self.trace_is_complete(frame) && (!self.options.strict_ends || drained())
    }

    fn left_out(&self) -> Option<Limit> {
        self.enumerator.sequences.some_left_out().then(|| Limit::Other { message: TOO_LONG.into() })
    }

    fn fault(&self, fault: FaultId) -> Fault {
        match fault.0.checked_sub(PREDICATE_FAULTS) {
            Some(index) => self.predicate_faults[index as usize].clone(),
            None => self.compiled.faults[fault.0 as usize].clone(),
        }
    }

    fn explain(&mut self, state: &[u8], ordinal: usize) -> Vec<Action> {
        let mut enumerator = self.enumerator.clone();
        let compiled = Arc::clone(&self.compiled);
        let mut explainer = Explainer { wanted: ordinal, seen: 0, machine: self, actions: Vec::new() };
        let _ = enumerator.run(&compiled, state, &mut explainer);
        explainer.actions
    }

    fn variables(&self, state: &[u8]) -> Vec<Variable> {
        let mut frame = Frame::default();
        frame.load(&self.compiled.layout, state);
        display::variables(&self.program, &self.compiled, &frame)
    }

    fn holds(&mut self, predicate: PredicateId, state: &[u8]) -> Result<bool, FaultId> {
        self.frame.load(&self.compiled.layout, state);
        evaluate(&self.compiled, &self.frame, &self.predicates[predicate.0 as usize]).map(|v| v != 0)
    }

    fn marks(&mut self, state: &[u8]) -> Marks {
        self.frame.load(&self.compiled.layout, state);
        Marks {
            progress: any_mark(&self.compiled, &self.frame, |b| &b.progress),
            accept: any_mark(&self.compiled, &self.frame, |b| &b.accepting),
        }
    }

    fn inspection(&mut self) -> Option<&mut dyn Inspectable> {
        Some(self)
    }

    fn components(&self) -> Option<Components> {
        Some(components(&self.program, &self.compiled.layout))
    }

    fn liftable(&mut self) -> Option<&mut dyn Liftable> {
        Some(self)
    }

    fn reducible(&mut self) -> Option<&mut dyn Reducible> {
        // Steps that stand for all have other events than those they stand for.
        (self.options.labels == LabelStyle::Statements).then_some(self as &mut dyn Reducible)
    }

    fn divisible(&mut self) -> Option<&mut dyn Divisible> {
        if !self.divides {
            return None;
        }
        if self.division.is_none() {
            let cut = components(&self.program, &self.compiled.layout);
            self.division = Some(Division::new(&cut, &self.compiled));
        }
        Some(self)
    }
}

impl Draft for Machine {
    fn predicate(&mut self, text: &str) -> Result<PredicateId, Diagnostic> {
        let Some(compile) = self.options.predicates.clone() else {
            return Err(Diagnostic::error("predicates over this program cannot be given as text", None));
        };
        if self.in_use && !self.options.plain {
            let message = format!(
                "`{text}` comes too late: what it looks at may be forgotten in states that are known already"
            );
            return Err(Diagnostic::error(message, None));
        }
        Ok(self.add_predicate(&compile(text)?))
    }

    fn only_events(&mut self, counts: &dyn Fn(&str, &str) -> bool) {
        if self.in_use || self.options.plain {
            return;
        }
        self.seen = Some(SeenEvents::of(&self.original, counts));
        self.prepare();
    }

    fn system(&mut self) -> &mut dyn System {
        self
    }

    fn build(self: Box<Self>) -> Box<dyn System> {
        self
    }
}

impl Inspectable for Machine {
    fn inspect(&mut self, state: &[u8]) -> Inspection {
        self.frame.load(&self.compiled.layout, state);
        why::inspect(&self.program, &self.compiled, &self.frame)
    }

    fn value(&mut self, predicate: PredicateId, state: &[u8]) -> Result<i64, FaultId> {
        self.frame.load(&self.compiled.layout, state);
        evaluate(&self.compiled, &self.frame, &self.predicates[predicate.0 as usize])
            .map(i64::from)
            .map_err(|fault| FaultId(fault.0 + PREDICATE_FAULTS))
    }

    fn coverage(&self) -> Vec<Covered> {
        display::coverage(&self.program, &self.compiled, &self.enumerator.reached)
    }
}

impl Liftable for Machine {
    fn moves(&mut self, state: &[u8], ordinal: usize) -> Vec<Move> {
        let mut moves = Moves { merged: &self.merged, wanted: ordinal, found: Vec::new() };
        let _ = self.enumerator.run(&self.compiled, state, &mut moves);
        moves.found
    }

    fn follow(&mut self, state: &[u8], moves: &[Move]) -> Option<Followed> {
        let (compiled, merged) = (Arc::clone(&self.compiled), Arc::clone(&self.merged));
        let mut find = |wanted: Wanted<'_>| {
            let (step, seen) = (first_step, 0);
            let mut follower =
                Follower { merged: &merged, wanted, step, seen, moves: Vec::new(), found: None };
            let _ = self.enumerator.run(&compiled, state, &mut follower);
            follower.found
        };
        find(Wanted::Moves(moves)).or_else(|| {
            let mut enumerator = Enumerator::new(compiled.transitions.len(), FaultId(0), true);
            let way = walk(&mut enumerator, &compiled, &merged, state, moves)?;
            find(Wanted::Target(&way))
        })
    }

    fn essence(&self, state: &[u8]) -> Vec<u8> {
        let mut essence = state.to_vec();
        let mut observed = self.observed.clone();
        self.predicate_exprs.iter().for_each(|e| observed.add(e));
        let globals_at = self.compiled.layout.globals_at;
        for (start, length) in unread_globals(&self.program, &observed) {
            essence[globals_at + start as usize..][..length as usize].fill(0);
        }
        essence
    }
}

impl Reducible for Machine {
    fn persistent_steps(
        &mut self,
        state: &[u8],
        attempt: u32,
        sink: &mut dyn Sink,
    ) -> ControlFlow<(), Option<PersistentSet>> {
        let (compiled, program, predicates) = (&self.compiled, &self.program, &self.predicate_exprs);
        let choice = self.choice.get_or_insert_with(|| Choice::new(program, compiled, predicates));
        self.enumerator.run_reduced(compiled, choice, (state, attempt), &mut ToSink { sink, source: state })
    }

    fn persistent_sets(&mut self, sets: &mut Vec<ProcessSet>) {
        let (compiled, program, predicates) = (&self.compiled, &self.program, &self.predicate_exprs);
        let choice = self.choice.get_or_insert_with(|| Choice::new(program, compiled, predicates));
        sets.extend_from_slice(choice.candidates(compiled, &self.enumerator.levels[0].frame));
    }

    fn stance(&mut self, record: u8, touched: &mut u64) -> Option<u32> {
        let (compiled, program, predicates) = (&self.compiled, &self.program, &self.predicate_exprs);
        let choice = self.choice.get_or_insert_with(|| Choice::new(program, compiled, predicates));
        let mut footprint = self.division.as_mut()?.footprint(compiled, &[]);
        let number = choice.stance(&self.enumerator.levels[0].frame, usize::from(record), &mut footprint);
        *touched |= footprint.touched;
        number.filter(|_| footprint.touched != EVERYTHING)
    }

    fn meets_every_end(&self) -> bool {
        every_end_is_met(&self.program, &self.predicate_exprs)
    }

    fn awake_steps(
        &mut self,
        state: &[u8],
        asleep: u64,
        attempt: Option<u32>,
        push: &mut dyn FnMut(Step, &[u8], SleepSet) -> Flow,
    ) -> ControlFlow<(), Awake> {
        let (compiled, program, predicates) = (&self.compiled, &self.program, &self.predicate_exprs);
        let choice = self.choice.get_or_insert_with(|| Choice::new(program, compiled, predicates));
        let mut visit = |levels: &[Level], fault, target: Option<&Frame>, asleep| {
            let step = first_step(levels, fault, target.is_none());
            let everybody = target.map_or(0, |t| u64::MAX >> 64_u32.saturating_sub(t.count() as u32).min(63));
            let sleep = SleepSet { asleep, awake: everybody & !asleep };
            push(step, target.map_or(state, |t| &t.bytes), sleep)
        };
        self.enumerator.run_awake(compiled, choice, (state, asleep, attempt), &mut visit)
    }
}
