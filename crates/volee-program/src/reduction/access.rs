//! What can be touched from a control point: by the next step of a process, and by all it may ever do.
//!
//! Both are computed once per program as far as possible. What depends on the process that stands there (its
//! number, its channels, given at birth) is kept as a [`Reference`] and looked up in the state.

use super::anonymous::numbers_matter;
use super::control::{Pool, ability_matters, inside, runs_on, spread, started, with_bit};
use super::objects::{Access, CHANNEL_BITS, Objects};
use crate::code::{Code, Target};
use crate::compile::{Compiler, fixed_channels};
use crate::frame::Layout;
use crate::optimise::{Cells, extent, visit_action, visit_expr, visit_stores};
use crate::program::{Action, BinaryOp, Expr, Index, Location, Pattern, Piece, Program, Scope};

/// What is done to a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Use {
    Send,
    SortedSend,
    Receive,
    /// Anywhere in the channel.
    RandomReceive,
    /// A copy; the message stays.
    Look,
    /// A copy of a message anywhere in the channel.
    RandomLook,
    /// Its length or contents, in an expression.
    Test,
}

/// A shared thing that only a state tells.
#[derive(Debug, Clone)]
pub(super) enum Reference {
    /// An element of a global array.
    Element { target: Target, write: bool },
    /// A channel. `waits`: whether it can be done matters too, as something else happens when it cannot.
    /// `fields`: how many its messages must have.
    Channel { channel: Code, used: Use, waits: bool, fields: Option<usize> },
    /// The end of the process.
    End { waits: bool },
}

/// What is touched: what is known before, and what a state tells.
#[derive(Debug, Clone, Default)]
pub(super) struct Touched {
    pub fixed: Access,
    pub references: Vec<Reference>,
}

impl Touched {
    /// Whether anything that others may touch is.
    pub fn is_shared(&self) -> bool {
        let nothing = Objects::default();
        !self.references.is_empty() || self.fixed.reads != nothing || self.fixed.writes != nothing
    }
}

/// The touched things of one control point.
#[derive(Debug, Clone, Default)]
pub(super) struct Point {
    /// By the next step.
    pub step: Touched,
    /// By this and all later steps, of processes yet to be started too.
    pub future: Touched,
    /// Some statement here can be done if nobody can do anything else.
    pub asks_for_timeout: bool,
    /// All that can happen here is that the process ends.
    pub ends: bool,
}

/// How exactly a reference can be known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Precision {
    /// In the state in which the statement is done.
    Now,
    /// In every state in which the process stands at this point or a later one.
    Always,
    /// Whoever does it.
    Anybody,
}

pub(super) struct Analysis<'a> {
    program: &'a Program,
    compiler: Compiler<'a>,
    /// By process type: local bytes that some statement writes; the others have the value they got at birth.
    assigned: Vec<Cells>,
    /// Bytes of the globals that some statement writes.
    written: Cells,
    /// By process type: whether others look at its variables or control points.
    observed: Vec<bool>,
    /// Channels that the event monitor looks at.
    monitored: u64,
    /// Which numbers processes have and whether they have died makes no difference: see
    /// [`numbers_matter`](super::anonymous::numbers_matter).
    anonymous: bool,
    /// Some channels die with the process that made them.
    mortal: bool,
}

impl<'a> Analysis<'a> {
    pub fn new(program: &'a Program, layout: &'a Layout, observed: Vec<bool>, predicates: &[Expr]) -> Self {
        let mut written = Cells::none(program.globals_size);
        let mut assigned = Vec::new();
        for proctype in &program.proctypes {
            let mut own = Cells::none(proctype.locals_size);
            for transition in proctype.nodes.iter().flat_map(|n| &n.transitions) {
                visit_stores(&transition.action, &mut |location| match location.scope {
                    Scope::Global => written.add(extent(location)),
                    Scope::Local => own.add(extent(location)),
                    Scope::Nowhere => {}
                });
            }
            assigned.push(own);
        }
        let seen = program.monitor.iter().flat_map(|m| m.sends.iter().chain(&m.receives));
        let monitored = seen.fold(0, |all, &number| all | channel_bit(number as i32));
        let compiler = Compiler { fixed_channels: fixed_channels(program), ..Compiler::new(layout) };
        let anonymous = !numbers_matter(program, predicates);
        let mortal = program.proctypes.iter().any(|p| !p.channels.is_empty());
        Analysis { program, compiler, assigned, written, observed, monitored, anonymous, mortal }
    }

    /// Channels that the event monitor looks at.
    pub fn monitored(&self) -> u64 {
        self.monitored
    }

    /// By process type: the bytes of its record that keep the value they got at birth, as runs.
    pub fn constants(&self) -> Vec<Vec<(u32, u32)>> {
        let header = self.compiler.layout.process_header as u32;
        let from_record = |(start, length): (u32, u32)| (header + start, length);
        let types = self.program.proctypes.iter().zip(&self.assigned);
        types
            .map(|(proctype, assigned)| {
                let mut all = Cells::none(proctype.locals_size);
                all.add((0, proctype.locals_size));
                all.runs_without(assigned).into_iter().map(from_record).collect()
            })
            .collect()
    }

    /// By process type and control point.
    pub fn points(&mut self) -> Vec<Vec<Point>> {
        let spawned = self.spawned();
        (0..self.program.proctypes.len()).map(|number| self.points_of(number, &spawned)).collect()
    }

    /// What an expression that no process evaluates reads.
    pub fn read_from_outside(&mut self, expr: &Expr) -> Objects {
        let mut touched = Touched::default();
        self.expression(expr, usize::MAX, Precision::Anybody, &mut touched);
        touched.fixed.reads
    }

    /// By process type: what a process of that type, and those it starts, may touch, whoever it is.
    fn spawned(&mut self) -> Vec<Access> {
        let program = self.program;
        let mut all: Vec<Access> = Vec::new();
        let mut starts: Vec<Vec<usize>> = Vec::new();
        for number in 0..program.proctypes.len() {
            let mut touched = Touched::default();
            for node in 0..program.proctypes[number].nodes.len() {
                self.node(number, node, Precision::Anybody, &mut touched);
            }
            all.push(touched.fixed);
            starts.push(started(&program.proctypes[number], 0..program.proctypes[number].nodes.len()));
        }
        let mut changed = true;
        while changed {
            changed = false;
            for number in 0..all.len() {
                let before = all[number];
                for &other in &starts[number] {
                    let theirs = all[other];
                    all[number].add(&theirs);
                }
                changed |= all[number] != before;
            }
        }
        all
    }

    fn points_of(&mut self, number: usize, spawned: &[Access]) -> Vec<Point> {
        let proctype = &self.program.proctypes[number];
        let count = proctype.nodes.len();
        let mut pool = Pool::default();
        let mut futures: Vec<(Access, Vec<u64>)> = Vec::with_capacity(count);
        for node in 0..count {
            let mut own = Touched::default();
            self.node(number, node, Precision::Always, &mut own);
            for other in started(proctype, node..node + 1) {
                own.fixed.add(&spawned[other]);
            }
            let members = own.references.into_iter().map(|r| pool.add(r)).collect::<Vec<_>>();
            futures.push((own.fixed, members.iter().fold(Vec::new(), with_bit)));
        }
        spread(proctype, &mut futures);
        let mut points = Vec::with_capacity(count);
        for (node, (fixed, members)) in futures.into_iter().enumerate() {
            let mut step = Touched::default();
            self.next_step(number, node, &mut step);
            let references = pool.references(&members);
            let mut asks_for_timeout = false;
            for transition in &proctype.nodes[node].transitions {
                visit_action(&transition.action, &mut |e| asks_for_timeout |= matches!(e, Expr::Timeout));
            }
            let ends = proctype.nodes[node].transitions.iter().all(|t| matches!(t.action, Action::End));
            points.push(Point { step, future: Touched { fixed, references }, asks_for_timeout, ends });
        }
        points
    }

    /// What the next step from a node touches: its statements now, and those of an atomic sequence that
    /// follow.
    fn next_step(&mut self, number: usize, node: usize, touched: &mut Touched) {
        self.node(number, node, Precision::Now, touched);
        let proctype = &self.program.proctypes[number];
        let mut seen = vec![false; proctype.nodes.len()];
        let mut pending = vec![node];
        while let Some(node) = pending.pop() {
            for transition in proctype.nodes[node].transitions.iter().filter(|t| t.atomic) {
                let target = transition.target.0 as usize;
                if !std::mem::replace(&mut seen[target], true) {
                    self.node(number, target, Precision::Always, touched);
                    pending.push(target);
                }
            }
        }
    }

    /// What the statements of a node touch.
    fn node(&mut self, number: usize, node: usize, precision: Precision, touched: &mut Touched) {
        let program = self.program;
        let proctype = &program.proctypes[number];
        if self.observed[number] {
            touched.fixed.writes.add(&Objects::of_type(number));
        }
        if let Some(provided) = &proctype.provided {
            self.expression(provided, number, precision.at_least(Precision::Always), touched);
        }
        let chooses = proctype.deterministic && proctype.nodes[node].transitions.len() > 1;
        touched.fixed.fails |= chooses || runs_on(proctype, node);
        let waits = ability_matters(proctype, node);
        for transition in &proctype.nodes[node].transitions {
            self.action(&transition.action, number, precision, waits, touched);
        }
    }

    fn action(
        &mut self,
        action: &Action,
        by: usize,
        precision: Precision,
        waits: bool,
        touched: &mut Touched,
    ) {
        match action {
            Action::Skip | Action::Else => {}
            Action::Guard(e) => self.expression(e, by, precision, touched),
            Action::Assert(e) => {
                touched.fixed.fails = true;
                self.expression(e, by, precision, touched);
            }
            Action::Assign(location, e) => {
                self.location(location, true, by, precision, touched);
                self.expression(e, by, precision, touched);
            }
            Action::Send { channel, values, sorted } => {
                let used = if *sorted { Use::SortedSend } else { Use::Send };
                self.channel(channel, (used, Some(values.len())), waits, by, precision, touched);
                values.iter().for_each(|v| self.expression(v, by, precision, touched));
            }
            Action::Receive { channel, patterns, anywhere, keep } => {
                let used = match (keep, anywhere) {
                    (true, false) => Use::Look,
                    (true, true) => Use::RandomLook,
                    (false, true) => Use::RandomReceive,
                    (false, false) => Use::Receive,
                };
                self.channel(channel, (used, Some(patterns.len())), waits, by, precision, touched);
                self.patterns(patterns, by, precision, touched);
            }
            Action::Print(pieces) => {
                for piece in pieces {
                    if let Piece::Value(_, e) | Piece::Name(e, _) = piece {
                        self.expression(e, by, precision, touched);
                    }
                }
            }
            Action::SetPriority(a, b) => {
                self.expression(a, by, precision, touched);
                self.expression(b, by, precision, touched);
            }
            Action::End => self.end(by, precision, waits, touched),
            Action::DStep(entry) => {
                touched.fixed.fails = true;
                for node in inside(&self.program.proctypes[by], *entry) {
                    self.node(by, node, precision.at_least(Precision::Always), touched);
                }
            }
            Action::Sequence(actions) => {
                for (index, action) in actions.iter().enumerate() {
                    let precision =
                        if index == 0 { precision } else { precision.at_least(Precision::Always) };
                    self.action(action, by, precision, waits || index > 0, touched);
                }
            }
        }
    }

    /// The process ends and takes the channels made at its birth with it.
    fn end(&mut self, by: usize, precision: Precision, waits: bool, touched: &mut Touched) {
        if self.anonymous {
            return;
        }
        touched.fixed.writes.add(&Objects::death());
        touched.fixed.reads.add(&Objects::birth());
        if !self.program.proctypes[by].channels.is_empty() {
            touched.fixed.writes.add(&Objects::channels(u64::MAX));
        }
        match precision {
            Precision::Now => touched.references.push(Reference::End { waits }),
            _ if waits => touched.fixed.reads.add(&Objects::death()),
            _ => {}
        }
    }

    /// The fields of a receive. Earlier fields may be indices of later ones, so none is known now.
    fn patterns(&mut self, patterns: &[Pattern], by: usize, precision: Precision, touched: &mut Touched) {
        for pattern in patterns {
            match pattern {
                Pattern::Match(e) => self.expression(e, by, precision.at_least(Precision::Always), touched),
                Pattern::Bind(location) => {
                    self.location(location, true, by, precision.at_least(Precision::Always), touched);
                }
                Pattern::Any => {}
            }
        }
    }

    fn expression(&mut self, expr: &Expr, by: usize, precision: Precision, touched: &mut Touched) {
        visit_expr(expr, &mut |part| match part {
            Expr::Load(location) => self.location(location, false, by, precision, touched),
            Expr::Channel(_, channel, _) => {
                self.channel(channel, (Use::Test, None), true, by, precision, touched);
            }
            Expr::Poll { channel, .. } => {
                touched.fixed.fails = true;
                self.channel(channel, (Use::Test, None), true, by, precision, touched);
            }
            Expr::Binary(BinaryOp::Div | BinaryOp::Rem, _, divisor, _) => {
                touched.fixed.fails |= !matches!(self.compiler.code(divisor), Code::Const(k) if k != 0);
            }
            Expr::ProcessCount => {
                touched.fixed.reads.add(&Objects::birth());
                touched.fixed.reads.add(&Objects::death());
            }
            Expr::At { proctype, .. } | Expr::Remote { proctype, .. } => {
                touched.fixed.fails = true;
                touched.fixed.reads.add(&Objects::birth());
                touched.fixed.reads.add(&Objects::death());
                touched.fixed.reads.add(&Objects::of_type(usize::from(proctype.0)));
            }
            Expr::Run { proctype, .. } => self.birth(usize::from(proctype.0), touched),
            _ => {}
        });
    }

    /// A process of this type is started: its number is the next, and its variables get their first values.
    fn birth(&mut self, number: usize, touched: &mut Touched) {
        let program = self.program;
        if !self.anonymous {
            touched.fixed.fails = true;
            touched.fixed.writes.add(&Objects::birth());
            touched.fixed.reads.add(&Objects::death());
        }
        if self.observed[number] {
            touched.fixed.writes.add(&Objects::of_type(number));
        }
        for (location, value) in &program.proctypes[number].locals_init {
            self.location(location, false, number, Precision::Anybody, touched);
            self.expression(value, number, Precision::Anybody, touched);
        }
    }

    /// A variable, without what its indices read if it is only read (they are parts of the expression).
    fn location(
        &mut self,
        location: &Location,
        write: bool,
        by: usize,
        precision: Precision,
        touched: &mut Touched,
    ) {
        if write {
            location.indices.iter().for_each(|i| self.expression(&i.value, by, precision, touched));
        }
        touched.fixed.fails |= location.indices.iter().any(|i| !self.is_inside(i));
        if location.scope != Scope::Global {
            return;
        }
        let known = match precision {
            Precision::Now => !location.indices.is_empty(),
            Precision::Always => {
                !location.indices.is_empty()
                    && location.indices.iter().all(|i| self.is_constant(&i.value, by))
            }
            Precision::Anybody => false,
        };
        if known {
            match self.compiler.target(location) {
                Target::Cell(cell, _) => {
                    let start = cell.offset - self.compiler.layout.globals_at as u32;
                    self.bytes((start, location.scalar.bytes()), write, touched);
                }
                target => touched.references.push(Reference::Element { target, write }),
            }
        } else {
            self.bytes(extent(location), write, touched);
        }
    }

    fn bytes(&self, extent: (u32, u32), write: bool, touched: &mut Touched) {
        let access = &mut touched.fixed;
        let set = if write { &mut access.writes } else { &mut access.reads };
        set.add_globals(extent, self.program.globals_size);
    }

    fn channel(
        &mut self,
        channel: &Expr,
        (used, fields): (Use, Option<usize>),
        waits: bool,
        by: usize,
        precision: Precision,
        touched: &mut Touched,
    ) {
        if used != Use::Test {
            self.expression(channel, by, precision, touched);
        }
        let known = match precision {
            Precision::Now => true,
            Precision::Always => self.is_constant(channel, by),
            Precision::Anybody => false,
        };
        if known {
            let channel = self.compiler.code(channel);
            touched.references.push(Reference::Channel { channel, used, waits, fields });
            touched.fixed.fails |= self.mortal;
        } else {
            let mask = self.possible(channel);
            let mut access = channel_access(used, mask, true, self.monitored);
            if matches!(used, Use::Send | Use::SortedSend) && waits {
                access.misses = mask;
            }
            access.fails = true;
            touched.fixed.add(&access);
        }
    }

    /// Whether an index is known to be one of the elements'.
    fn is_inside(&mut self, index: &Index) -> bool {
        matches!(self.compiler.code(&index.value), Code::Const(k) if (0..i64::from(index.count)).contains(&i64::from(k)))
    }

    /// The channels that an expression may stand for.
    fn possible(&self, channel: &Expr) -> u64 {
        let Expr::Load(location) = channel else { return u64::MAX };
        let (start, length) = extent(location);
        if location.scope != Scope::Global || (start..start + length).any(|b| self.written.contains(b)) {
            return u64::MAX;
        }
        if self.program.globals_init.iter().any(|(l, _)| (start..start + length).contains(&l.offset)) {
            return u64::MAX;
        }
        let holders = self.program.channels.iter().enumerate();
        holders
            .filter(|(_, c)| {
                let (at, bytes) = extent(&c.holder);
                at < start + length && start < at + bytes
            })
            .fold(0, |mask, (index, _)| mask | channel_bit(index as i32 + 1))
    }

    /// Whether an expression has one value as long as its process lives.
    fn is_constant(&self, expr: &Expr, by: usize) -> bool {
        let mut constant = true;
        visit_expr(expr, &mut |part| {
            constant &= match part {
                Expr::Load(location) => {
                    let written = match location.scope {
                        Scope::Global => &self.written,
                        Scope::Local => &self.assigned[by],
                        Scope::Nowhere => return,
                    };
                    let (start, length) = extent(location);
                    (start..start + length).all(|byte| !written.contains(byte))
                }
                Expr::Const(_)
                | Expr::Not(_)
                | Expr::Neg(_)
                | Expr::Complement(_)
                | Expr::Binary(..)
                | Expr::Cond(..)
                | Expr::Pid => true,
                _ => false,
            };
        });
        constant
    }
}

impl Precision {
    /// The less exact of two.
    fn at_least(self, other: Precision) -> Precision {
        if self == Precision::Now { other } else { self }
    }
}

/// The bit of the channel with this number.
pub(super) fn channel_bit(number: i32) -> u64 {
    1 << ((number.max(1) as usize - 1) % CHANNEL_BITS)
}

/// What an operation on channels touches, if one of `mask` is meant. Where its ability to be done matters
/// too, it looks at the other end as well: a channel is full until somebody receives, and empty until
/// somebody sends.
pub(super) fn channel_access(used: Use, mask: u64, waits: bool, monitored: u64) -> Access {
    let mut access = Access::default();
    let other = if waits { mask } else { 0 };
    match used {
        Use::Send => {
            access.writes.tails = mask;
            access.reads.heads = other;
        }
        Use::SortedSend => access.writes = Objects::channels(mask),
        Use::Receive | Use::RandomReceive => {
            access.writes.heads = mask;
            access.reads.tails = other;
        }
        Use::Look | Use::RandomLook => {
            access.reads.heads = mask;
            access.reads.tails = other;
        }
        Use::Test => access.reads = Objects::channels(mask),
    }
    if used != Use::Test && mask & monitored != 0 {
        access.writes.add(&Objects::monitor());
    }
    access
}
