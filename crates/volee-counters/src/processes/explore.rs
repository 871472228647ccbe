//! Exploration of the explicit part of a program's states: what each process may do there, and to the unbounded variables.

use std::collections::{BTreeMap, HashMap};

use volee_integers::{Int, Row};
use volee_program::{self as promela, Action, Expr, NodeId};
use volee_system::{Diagnostic, FaultKind, Place};

use super::evaluate::{Branch, Evaluator, Key, Refusal, Result};
use super::formula::Formula;
use super::state::{Explicit, Process};
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
        let explicit = Explicit {
            globals: vec![0; self.evaluator.blocks.globals.cells.len()],
            processes: Vec::new(),
            owner: None,
            d_step: None,
            failed: None,
        };
        let mut branch = Branch { guard: Formula::truth(true), updates: BTreeMap::new(), explicit };
        let blocks = self.evaluator.blocks;
        let mut open = Vec::new();
        for (cell, info) in blocks.globals.cells.iter().enumerate().filter(|(_, c)| c.symbolic) {
            let column = self.evaluator.columns.of(Key::Global(cell), || info.name.clone());
            if options.parameters.contains(&info.name) {
                open.push(column);
            } else {
                branch.updates.insert(column, vec![Int::ZERO]);
            }
        }
        for (number, channel) in self.program.channels.iter().enumerate() {
            self.evaluator.store(&mut branch, None, &channel.holder, vec![Int::from(number + 1)])?;
        }
        for (location, expr) in &self.program.globals_init {
            let value = self.single(&branch, None, expr)?;
            self.evaluator.store(&mut branch, None, location, value)?;
            open.iter().for_each(|column| drop(branch.updates.remove(column)));
        }
        for proctype in &self.program.active {
            branch = self.spawn(branch, proctype.0, Vec::new())?.0;
        }
        let mut formula = Formula::truth(true);
        for assumption in &options.assumptions {
            formula = formula.and(&self.evaluator.truth(&branch, None, assumption)?)?;
        }
        let width = self.evaluator.columns.names.len() + 1;
        let number = self.number(branch.explicit);
        let mut out = Vec::new();
        for mut rows in formula.0 {
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
    fn single(&mut self, branch: &Branch, pid: Option<usize>, expr: &Expr) -> Result<Row> {
        let mut cases = self.evaluator.cases(branch, pid, expr)?;
        match (cases.pop(), cases.is_empty()) {
            (Some(case), true) => Ok(case.value),
            _ => Err(Refusal::Unsupported("a value depends on a condition here".to_owned(), None)),
        }
    }

    fn spawn(&mut self, mut branch: Branch, proctype: u8, arguments: Vec<Row>) -> Result<(Branch, usize)> {
        let pid = branch.explicit.processes.len();
        if pid >= PROCESSES {
            return Err(Refusal::Fault("too many processes".to_owned(), None));
        }
        let kind = &self.program.proctypes[proctype as usize];
        let block = &self.evaluator.blocks.locals[proctype as usize];
        let process = Process { proctype, node: kind.entry.0, cells: vec![0; block.cells.len()] };
        branch.explicit.processes.push(process);
        self.forget(&mut branch, pid, proctype);
        if !kind.channels.is_empty() {
            return Err(Refusal::Unsupported("channels are not supported".to_owned(), kind.place.clone()));
        }
        for (location, value) in kind.parameters.iter().zip(arguments) {
            self.evaluator.store(&mut branch, Some(pid), location, value)?;
        }
        for (location, expr) in &kind.locals_init {
            let value = self.single(&branch, Some(pid), expr)?;
            self.evaluator.store(&mut branch, Some(pid), location, value)?;
        }
        Ok((branch, pid))
    }

    /// Sets the unbounded locals of a process to 0.
    fn forget(&mut self, branch: &mut Branch, pid: usize, proctype: u8) {
        let block = &self.evaluator.blocks.locals[proctype as usize];
        for (cell, info) in block.cells.iter().enumerate().filter(|(_, c)| c.symbolic) {
            let key = Key::Local { pid, proctype, cell };
            let column = self.evaluator.columns.of(key, || format!("{}[{pid}]", info.name));
            branch.updates.insert(column, vec![Int::ZERO]);
        }
    }

    fn expand(&mut self, at: u32, state: &Explicit) {
        let movers: Vec<usize> = match state.owner {
            Some(p) => vec![p as usize],
            None => (0..state.processes.len()).collect(),
        };
        let mut any = Some(Formula::truth(false));
        for pid in movers {
            let enabled = self.process(at, state, pid);
            any = match (any, enabled) {
                (Some(a), Some(e)) => a.or(&e).ok(),
                _ => None,
            };
        }
        let stuck = any.and_then(|a| a.not().ok());
        match (state.owner, stuck) {
            (_, None) => self.deadlocks = None,
            (Some(_), Some(stuck)) if state.d_step.is_some() => {
                self.fail(
                    at,
                    &stuck,
                    FaultKind::Runtime,
                    "a d_step sequence blocks after its first statement",
                    None,
                );
            }
            // Blocked inside an atomic sequence: the others may move.
            (Some(_), Some(stuck)) => {
                let released = Explicit { owner: None, ..state.clone() };
                let to = self.number(released);
                for guard in stuck.0 {
                    let name = "atomic sequence interrupted".to_owned();
                    self.edges.push(Edge {
                        name,
                        from: at,
                        to,
                        guard,
                        updates: BTreeMap::new(),
                        place: None,
                    });
                }
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

    /// Adds the transitions of one process; when it can move.
    fn process(&mut self, at: u32, state: &Explicit, pid: usize) -> Option<Formula> {
        let program = self.program;
        let process = &state.processes[pid];
        let proctype = &program.proctypes[process.proctype as usize];
        let node = &proctype.nodes[process.node as usize];
        let base = Branch { guard: Formula::truth(true), updates: BTreeMap::new(), explicit: state.clone() };
        let provided = match &proctype.provided {
            None => Ok(Formula::truth(true)),
            Some(e) => self.evaluator.truth(&base, Some(pid), e),
        };
        let provided = self.accept(provided, "provided", None)?;
        let mut any = Formula::truth(false);
        // When some transition of an escape before this one can be taken, and of which escape.
        let mut escapes: Vec<(u32, Formula)> = Vec::new();
        for transition in &node.transitions {
            let text = &transition.statement.text;
            let place = transition.statement.place.as_ref();
            let enabled = self.enabled(&base, pid, &transition.action, &any);
            let enabled = match enabled {
                Err(Refusal::Fault(message, own)) => {
                    let place = own.or_else(|| place.cloned());
                    self.fail(at, &provided, FaultKind::Runtime, &message, place);
                    any = provided.clone();
                    continue;
                }
                other => self.accept(other, text, place)?,
            };
            let condition = self.condition(&enabled, &provided, &any, &escapes, transition.escape, state);
            let condition = self.accept(condition, text, place)?;
            if !condition.is_false() {
                self.take(at, Branch { guard: condition, ..base.clone() }, pid, transition);
            }
            let here = self.accept(enabled.and(&provided).map_err(Refusal::from), text, place)?;
            if transition.escape != 0 {
                escapes.push((transition.escape, here.clone()));
            }
            any = self.accept(any.or(&here).map_err(Refusal::from), text, place)?;
        }
        Some(any)
    }

    fn condition(
        &self,
        enabled: &Formula,
        provided: &Formula,
        any: &Formula,
        escapes: &[(u32, Formula)],
        escape: u32,
        state: &Explicit,
    ) -> Result<Formula> {
        let mut out = enabled.and(provided)?;
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
                    Err(Refusal::Unsupported("a d_step inside a d_step is not supported".to_owned(), None))
                };
                let here = evaluator.enabled(base, pid, &transition.action, &any, &no_nesting)?;
                any = any.or(&here)?;
            }
            Ok(any)
        };
        self.evaluator.enabled(base, pid, action, before, &d_step)
    }

    /// Executes a transition and adds what it leads to.
    fn take(&mut self, at: u32, mut branch: Branch, pid: usize, transition: &promela::Transition) {
        let text = transition.statement.text.to_string();
        let place = transition.statement.place.clone();
        branch.explicit.processes[pid].node = transition.target.0;
        let mut work = vec![branch];
        let actions: Vec<&Action> = match &transition.action {
            Action::Sequence(all) => all.iter().collect(),
            one => vec![one],
        };
        for action in actions {
            let mut next = Vec::new();
            for branch in work {
                if branch.explicit.failed.is_some() {
                    next.push(branch);
                    continue;
                }
                let guard = branch.guard.clone();
                match self.execute(branch.clone(), pid, action, transition, &mut next) {
                    Err(Refusal::Fault(message, own)) => {
                        let place = own.or_else(|| place.clone());
                        self.fail(at, &guard, FaultKind::Runtime, &message, place);
                    }
                    // Go on as if it did nothing: there may be more to complain about.
                    Err(refusal) => {
                        let _ = self.accept::<()>(Err(refusal), &text, place.as_ref());
                        next.push(branch);
                    }
                    Ok(()) => {}
                }
            }
            work = next;
        }
        for mut branch in work {
            if branch.explicit.failed.is_none() {
                settle(&mut branch.explicit, pid, transition);
            }
            let to = self.number(branch.explicit);
            for guard in branch.guard.0 {
                let (name, updates) = (text.clone(), branch.updates.clone());
                self.edges.push(Edge { name, from: at, to, guard, updates, place: place.clone() });
            }
        }
    }

    fn execute(
        &mut self,
        mut branch: Branch,
        pid: usize,
        action: &Action,
        transition: &promela::Transition,
        out: &mut Vec<Branch>,
    ) -> Result<()> {
        match action {
            Action::Guard(Expr::Run { proctype, arguments, .. }) => {
                let values = self.arguments(&branch, pid, arguments)?;
                out.push(self.spawn(branch, proctype.0, values)?.0);
            }
            Action::Assign(location, Expr::Run { proctype, arguments, .. }) => {
                let values = self.arguments(&branch, pid, arguments)?;
                let (mut branch, born) = self.spawn(branch, proctype.0, values)?;
                self.evaluator.store(&mut branch, Some(pid), location, vec![Int::from(born)])?;
                out.push(branch);
            }
            Action::Assign(location, expr) => {
                for case in self.evaluator.cases(&branch, Some(pid), expr)? {
                    let guard = branch.guard.and(&case.when)?;
                    if guard.is_false() {
                        continue;
                    }
                    let mut next = Branch { guard, ..branch.clone() };
                    self.evaluator.store(&mut next, Some(pid), location, case.value)?;
                    out.push(next);
                }
            }
            Action::Assert(expr) => {
                let holds = self.evaluator.truth(&branch, Some(pid), expr)?;
                let good = branch.guard.and(&holds)?;
                let bad = branch.guard.and(&holds.not()?)?;
                if !bad.is_false() {
                    let message = format!("assertion violated: {}", transition.statement.text);
                    let failed =
                        self.failure(FaultKind::Assertion, &message, transition.statement.place.clone());
                    let mut explicit = branch.explicit.clone();
                    explicit.failed = Some(failed);
                    out.push(Branch { guard: bad, explicit, updates: branch.updates.clone() });
                }
                if !good.is_false() {
                    out.push(Branch { guard: good, ..branch });
                }
            }
            Action::End => {
                let proctype = branch.explicit.processes[pid].proctype;
                branch.explicit.processes.pop();
                self.forget(&mut branch, pid, proctype);
                out.push(branch);
            }
            Action::DStep(entry) => {
                branch.explicit.processes[pid].node = entry.0;
                branch.explicit.d_step = Some((transition.target.0, transition.atomic));
                out.push(branch);
            }
            _ => out.push(branch),
        }
        Ok(())
    }

    fn arguments(&mut self, branch: &Branch, pid: usize, arguments: &[Expr]) -> Result<Vec<Row>> {
        arguments.iter().map(|a| self.single(branch, Some(pid), a)).collect()
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

    /// Adds transitions into the location of a failure.
    fn fail(&mut self, at: u32, when: &Formula, kind: FaultKind, message: &str, place: Option<Place>) {
        if when.is_false() {
            return;
        }
        let failed = self.failure(kind, message, place.clone());
        let explicit = Explicit { failed: Some(failed), ..self.states[at as usize].clone() };
        let to = self.number(explicit);
        for guard in &when.0 {
            let (name, guard) = (message.to_owned(), guard.clone());
            self.edges.push(Edge {
                name,
                from: at,
                to,
                guard,
                updates: BTreeMap::new(),
                place: place.clone(),
            });
        }
    }

    /// Keeps the message of what cannot be handled.
    fn accept<T>(&mut self, result: Result<T>, text: &str, place: Option<&Place>) -> Option<T> {
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

/// Who may move after a transition.
fn settle(explicit: &mut Explicit, pid: usize, transition: &promela::Transition) {
    if let Action::DStep(_) = transition.action {
        explicit.owner = Some(pid as u8);
        return;
    }
    match explicit.d_step {
        Some((end, keeps)) => {
            if explicit.processes.get(pid).is_none_or(|p| p.node == end) {
                explicit.d_step = None;
                explicit.owner = keeps.then_some(pid as u8);
            }
        }
        None => explicit.owner = transition.atomic.then_some(pid as u8),
    }
    // A process that is gone holds nothing.
    if explicit.owner.is_some_and(|p| p as usize >= explicit.processes.len()) {
        explicit.owner = None;
        explicit.d_step = None;
    }
}
