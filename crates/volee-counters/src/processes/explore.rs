//! Exploration of the explicit part of a program's states: what each process may do there, and to the
//! unbounded variables.

use std::collections::{BTreeMap, HashMap};

use volee_integers::{Int, Row};
use volee_program::{self as promela, Action, Expr, Location, NodeId};
use volee_system::{Diagnostic, FaultKind, Place};

use super::endless::D_STEP;
use super::evaluate::{Branch, Evaluator, Key, Refusal, Result, unsupported};
use super::events::Listener;
use super::formula::Formula;
use super::state::{Channel, Explicit, Process};
use super::translate::{Failure, ProcessOptions};
use crate::program::LocationId;

/// Explicit states before the explicit part counts as too large.
const LOCATIONS: usize = 20_000;
/// Transitions between them.
const TRANSITIONS: usize = 200_000;
/// Processes at once.
const PROCESSES: usize = 255;

/// A transition whose rows are not yet as wide as the final number of columns.
pub(super) struct Edge {
    pub(super) name: String,
    pub(super) from: u32,
    pub(super) to: u32,
    pub(super) guard: Vec<Row>,
    pub(super) updates: BTreeMap<usize, Row>,
    pub(super) place: Option<Place>,
    /// The process that moves, where one does.
    pub(super) mover: Option<usize>,
    pub(super) events: u64,
}

/// The explicit states so far, and what was found about them.
pub(super) struct Explorer<'a> {
    pub(super) program: &'a promela::Program,
    pub(super) evaluator: Evaluator<'a>,
    pub(super) numbers: HashMap<Explicit, u32>,
    pub(super) states: Vec<Explicit>,
    pub(super) edges: Vec<Edge>,
    pub(super) failures: Vec<Failure>,
    pub(super) errors: Vec<Diagnostic>,
    pub(super) deadlocks: Option<Vec<(u32, Vec<Row>)>>,
    /// The process whose transitions are being added.
    pub(super) mover: Option<usize>,
    /// Where runs end, well or not; an error in what a statement waits for is no step.
    pub(super) ends: Option<Vec<(u32, Vec<Row>)>>,
    pub(super) listener: Listener<'a>,
}

impl Explorer<'_> {
    /// Explores all explicit states, and gives the initial ones.
    pub(super) fn run(
        &mut self,
        options: &ProcessOptions,
    ) -> std::result::Result<Vec<(u32, Vec<Row>)>, Vec<Diagnostic>> {
        let initial =
            self.initial(options).map_err(|r| vec![r.into_diagnostic("the initial values", None)])?;
        let mut at = 0;
        while at < self.states.len() {
            let state = self.states[at].clone();
            if state.failed.is_none() {
                self.expand(at as u32, &state);
            }
            if self.states.len() > LOCATIONS || self.edges.len() > TRANSITIONS {
                let message =
                    format!("the part of the model that is not unbounded has more than {LOCATIONS} states");
                return Err(vec![Diagnostic::error(message, None)]);
            }
            if self.errors.len() >= 20 {
                break;
            }
            at += 1;
        }
        self.add_endless();
        Ok(initial)
    }

    fn number(&mut self, state: Explicit) -> u32 {
        if let Some(&known) = self.numbers.get(&state) {
            return known;
        }
        let fresh = self.states.len() as u32;
        self.numbers.insert(state.clone(), fresh);
        self.states.push(state);
        fresh
    }

    fn initial(&mut self, options: &ProcessOptions) -> Result<Vec<(u32, Vec<Row>)>> {
        let globals = vec![0; self.evaluator.blocks.globals.cells.len()];
        let channel = |c: &promela::ChannelInstance| Channel { kind: c.channel.0, messages: Vec::new() };
        let channels = self.program.channels.iter().map(channel).collect();
        let explicit = Explicit { globals, channels, ..Explicit::default() };
        let mut branch = Branch::at(explicit);
        let blocks = self.evaluator.blocks;
        let mut open = Vec::new();
        for (cell, info) in blocks.globals.cells.iter().enumerate().filter(|(_, c)| c.symbolic) {
            let column = self.evaluator.columns.of(Key::Global(cell), info.scalar, || info.name.clone());
            if options.parameters.contains(&info.name) {
                open.push(column);
            } else {
                branch.updates.insert(column, vec![Int::ZERO]);
            }
        }
        for (number, channel) in self.program.channels.iter().enumerate() {
            branch = self.store_one(branch, None, &channel.holder, vec![Int::from(number + 1)])?;
        }
        for (location, expr) in &self.program.globals_init {
            let value = self.single(&branch, None, expr)?;
            branch = self.store_one(branch, None, location, value)?;
            open.iter().for_each(|column| drop(branch.updates.remove(column)));
        }
        for proctype in &self.program.active {
            let Some((born, _)) = self.spawn(branch, proctype.0, Vec::new())? else {
                return unsupported("there are too many processes", None);
            };
            branch = born;
        }
        if let Some(fault) = self.evaluator.take_faults().into_iter().next() {
            return unsupported(&fault.message, fault.place);
        }
        let mut formula = Formula::truth(true);
        for assumption in &options.assumptions {
            formula = formula.and(&self.evaluator.truth(&branch, None, assumption)?)?;
        }
        let width = self.evaluator.columns.names.len() + 1;
        let number = self.number(branch.explicit);
        let mut out = Vec::new();
        for mut rows in formula.0 {
            for &column in &open {
                if let Some((low, high)) = self.evaluator.columns.bounds[column] {
                    let bound = |k: i64, sign: i64| {
                        let mut row = vec![Int::ZERO; width];
                        (row[0], row[column + 1]) = (Int::from(k), Int::from(sign));
                        row
                    };
                    rows.extend([bound(-low, 1), bound(high, -1)]);
                }
            }
            for (column, value) in &branch.updates {
                // column = value, as two inequalities.
                let mut row = value.clone();
                row.resize(width, Int::ZERO);
                row[column + 1] = &row[column + 1] - &Int::ONE;
                rows.push(row.iter().map(|c| -c).collect());
                rows.push(row);
            }
            out.push((number, rows));
        }
        Ok(out)
    }

    /// An expression that has one value whatever the unbounded variables are.
    pub(super) fn single(&mut self, branch: &Branch, pid: Option<usize>, expr: &Expr) -> Result<Row> {
        let mut cases = self.evaluator.cases(branch, pid, expr)?;
        match (cases.pop(), cases.is_empty()) {
            (Some(case), true) => Ok(case.value),
            _ => unsupported("a value depends on a condition here", None),
        }
    }

    /// Stores a value that does not wrap in different ways.
    fn store_one(&mut self, branch: Branch, pid: Option<usize>, to: &Location, value: Row) -> Result<Branch> {
        let mut all = self.evaluator.store(branch, pid, to, value)?;
        match (all.pop(), all.is_empty()) {
            (Some(branch), true) => Ok(branch),
            _ => unsupported("a value may wrap around here", to.place.clone()),
        }
    }

    /// Starts a process; `None` where there are too many already.
    pub(super) fn spawn(
        &mut self,
        mut branch: Branch,
        proctype: u8,
        arguments: Vec<Row>,
    ) -> Result<Option<(Branch, usize)>> {
        let pid = branch.explicit.processes.len();
        let kind = &self.program.proctypes[proctype as usize];
        let first = branch.explicit.channels.len();
        if pid >= PROCESSES || first + kind.channels.len() > PROCESSES {
            return Ok(None);
        }
        let block = &self.evaluator.blocks.locals[proctype as usize];
        let process = Process { proctype, node: kind.entry.0, cells: vec![0; block.cells.len()] };
        branch.explicit.processes.push(process);
        self.forget(&mut branch, pid, proctype);
        for (location, value) in kind.parameters.iter().zip(arguments) {
            branch = self.store_one(branch, Some(pid), location, value)?;
        }
        for (i, channel) in kind.channels.iter().enumerate() {
            branch.explicit.channels.push(Channel { kind: channel.channel.0, messages: Vec::new() });
            let number = vec![Int::from(first + i + 1)];
            branch = self.store_one(branch, Some(pid), &channel.holder, number)?;
        }
        for (location, expr) in &kind.locals_init {
            let value = self.single(&branch, Some(pid), expr)?;
            branch = self.store_one(branch, Some(pid), location, value)?;
        }
        Ok(Some((branch, pid)))
    }

    /// Sets the unbounded locals of a process to 0.
    pub(super) fn forget(&mut self, branch: &mut Branch, pid: usize, proctype: u8) {
        let block = &self.evaluator.blocks.locals[proctype as usize];
        for (cell, info) in block.cells.iter().enumerate().filter(|(_, c)| c.symbolic) {
            let key = Key::Local { pid, proctype, cell };
            let column = self.evaluator.columns.of(key, info.scalar, || format!("{}[{pid}]", info.name));
            branch.updates.insert(column, vec![Int::ZERO]);
        }
    }

    fn expand(&mut self, at: u32, state: &Explicit) {
        let movers: Vec<usize> = match state.owner {
            Some(p) => vec![p as usize],
            None => (0..state.processes.len()).collect(),
        };
        let (mut any, mut moves) = (Some(Formula::truth(false)), Some(Formula::truth(false)));
        let or = |a: Option<Formula>, b: Option<Formula>| a.zip(b).and_then(|(a, b)| a.or(&b).ok());
        for pid in movers {
            self.mover = Some(pid);
            let (free, stuck) = self.process(at, state, pid).unzip();
            self.mover = None;
            any = or(any, or(free.clone(), stuck));
            moves = or(moves, free);
        }
        if state.owner.is_none() {
            let last = moves.and_then(|moves| moves.not().ok());
            match (&mut self.ends, last) {
                (Some(ends), Some(last)) => ends.extend(last.0.into_iter().map(|rows| (at, rows))),
                (ends, _) => *ends = None,
            }
        }
        let stuck = any.and_then(|a| a.not().ok());
        match (state.owner, stuck) {
            (_, None) => self.deadlocks = None,
            (Some(_), Some(stuck)) if state.d_step.is_some() => {
                self.fail(at, &stuck, D_STEP, FaultKind::Runtime, D_STEP, None);
            }
            // Blocked inside an atomic sequence: the others may move.
            (Some(_), Some(stuck)) => {
                let released = Explicit { owner: None, ..state.clone() };
                let branch = Branch { guard: stuck, ..Branch::at(released) };
                self.edge(at, branch, "atomic sequence interrupted", None);
            }
            (None, Some(stuck)) => {
                let resting = state
                    .processes
                    .iter()
                    .all(|p| self.program.proctypes[p.proctype as usize].nodes[p.node as usize].valid_end);
                if let Some(deadlocks) = self.deadlocks.as_mut().filter(|_| !resting) {
                    deadlocks.extend(stuck.0.into_iter().map(|rows| (at, rows)));
                }
            }
        }
    }

    /// Adds the transitions of one process; when it can move, and when it is stuck in an error.
    fn process(&mut self, at: u32, state: &Explicit, pid: usize) -> Option<(Formula, Formula)> {
        let program = self.program;
        let process = &state.processes[pid];
        let proctype = &program.proctypes[process.proctype as usize];
        let node = &proctype.nodes[process.node as usize];
        let base = Branch::at(state.clone());
        let provided = self.provided(&base, pid);
        let provided = self.accept(provided, "provided", None)?;
        let mut any = Formula::truth(false);
        let mut stuck = Formula::truth(false);
        // When some transition of an escape before this one can be taken, and of which escape.
        let mut escapes: Vec<(u32, Formula)> = Vec::new();
        for transition in &node.transitions {
            let text = &transition.statement.text;
            let place = transition.statement.place.as_ref();
            let partners = self.partners(&base, pid, transition);
            let partners = self.accept(partners, text, place)?;
            let mut enabled = match &partners {
                Some(all) => all
                    .iter()
                    .try_fold(Formula::truth(false), |any, p| any.or(&p.when))
                    .map_err(Refusal::from),
                None => self.enabled(&base, pid, &transition.action, &any),
            };
            let mut faults = self.evaluator.take_faults();
            if state.d_step.is_none() {
                // What a statement waits for has no value: it does not move.
                for fault in &faults {
                    enabled = enabled.and_then(|e| Ok(e.and(&fault.when.not()?)?));
                }
            }
            let enabled = self.accept(enabled, text, place)?;
            let allowed = self.condition(&provided, &any, &escapes, transition.escape, state);
            let allowed = self.accept(allowed, text, place)?;
            for fault in faults.drain(..) {
                let when = self.accept(fault.when.and(&allowed).map_err(Refusal::from), text, place)?;
                let own = fault.place.or_else(|| place.cloned());
                self.fail(at, &when, text, FaultKind::Runtime, &fault.message, own);
                stuck = self.accept(stuck.or(&when).map_err(Refusal::from), text, place)?;
            }
            let condition = self.accept(enabled.and(&allowed).map_err(Refusal::from), text, place)?;
            if !condition.is_false() {
                match &partners {
                    Some(all) => self.meet(at, &base, pid, transition, all, &allowed),
                    None => self.take(at, Branch { guard: condition, ..base.clone() }, pid, transition),
                }
            }
            let here = self.accept(enabled.and(&provided).map_err(Refusal::from), text, place)?;
            if transition.escape != 0 {
                escapes.push((transition.escape, here.clone()));
            }
            any = self.accept(any.or(&here).map_err(Refusal::from), text, place)?;
        }
        if state.d_step.is_some() {
            stuck = Formula::truth(false);
        }
        Some((any, stuck))
    }

    /// When the `provided` clause of a process lets it move.
    pub(super) fn provided(&mut self, base: &Branch, pid: usize) -> Result<Formula> {
        let proctype = &self.program.proctypes[base.explicit.processes[pid].proctype as usize];
        let provided = match &proctype.provided {
            None => Ok(Formula::truth(true)),
            Some(e) => self.evaluator.truth(base, Some(pid), e),
        };
        self.evaluator.take_faults();
        provided
    }

    /// When a transition may be taken, whether it can be done or not.
    fn condition(
        &self,
        provided: &Formula,
        any: &Formula,
        escapes: &[(u32, Formula)],
        escape: u32,
        state: &Explicit,
    ) -> Result<Formula> {
        let mut out = provided.clone();
        if state.d_step.is_some() {
            // The first option that can be taken is.
            out = out.and(&any.not()?)?;
        }
        for (other, when) in escapes {
            if *other != escape {
                out = out.and(&when.not()?)?;
            }
        }
        Ok(out)
    }

    fn enabled(&mut self, base: &Branch, pid: usize, action: &Action, before: &Formula) -> Result<Formula> {
        let proctype = &self.program.proctypes[base.explicit.processes[pid].proctype as usize];
        let d_step = |evaluator: &mut Evaluator<'_>, entry: NodeId| {
            let mut any = Formula::truth(false);
            for transition in &proctype.nodes[entry.0 as usize].transitions {
                let no_nesting = |_: &mut Evaluator<'_>, _: NodeId| {
                    unsupported("a d_step inside a d_step is not supported", None)
                };
                let here = evaluator.enabled(base, pid, &transition.action, &any, &no_nesting)?;
                any = any.or(&here)?;
            }
            Ok(any)
        };
        self.evaluator.enabled(base, pid, action, before, &d_step)
    }

    pub(super) fn edge(&mut self, from: u32, branch: Branch, name: &str, place: Option<&Place>) {
        let to = self.number(branch.explicit);
        for guard in branch.guard.0 {
            let (name, updates) = (name.to_owned(), branch.updates.clone());
            let (place, mover, events) = (place.cloned(), self.mover, branch.events);
            self.edges.push(Edge { name, from, to, guard, updates, place, mover, events });
        }
    }

    /// The number of a failure; equal ones share it.
    fn failure(&mut self, kind: FaultKind, message: &str, place: Option<Place>) -> u32 {
        let same = |f: &Failure| f.kind == kind && f.message == message && f.place == place;
        if let Some(known) = self.failures.iter().position(same) {
            return known as u32;
        }
        let location = LocationId(u32::MAX);
        self.failures.push(Failure { kind, message: message.to_owned(), place, location });
        self.failures.len() as u32 - 1
    }

    /// Adds transitions into the location of a failure. Nothing leaves it: runs that go on behind the error
    /// do so from where it was met.
    pub(super) fn fail(
        &mut self,
        at: u32,
        when: &Formula,
        name: &str,
        kind: FaultKind,
        message: &str,
        place: Option<Place>,
    ) {
        if when.is_false() {
            return;
        }
        let failed = self.failure(kind, message, place.clone());
        let explicit = Explicit { failed: Some(failed), ..self.states[at as usize].clone() };
        let branch = Branch { guard: when.clone(), ..Branch::at(explicit) };
        self.edge(at, branch, name, place.as_ref());
    }

    /// Keeps the message of what cannot be handled.
    pub(super) fn accept<T>(&mut self, result: Result<T>, text: &str, place: Option<&Place>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(refusal) => {
                let diagnostic = refusal.into_diagnostic(text, place);
                if !self.errors.contains(&diagnostic) {
                    self.errors.push(diagnostic);
                }
                None
            }
        }
    }
}
