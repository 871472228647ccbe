//! What statements read and write: the facts behind merging and live variables.

use crate::program::{Action, Expr, Location, Pattern, Piece, Program, Scope};

/// Calls `f` on an expression and all its parts.
pub fn visit_expr(expr: &Expr, f: &mut dyn FnMut(&Expr)) {
    f(expr);
    match expr {
        Expr::Const(_) | Expr::Pid | Expr::ProcessCount | Expr::Last | Expr::Timeout | Expr::NonProgress => {}
        Expr::Load(location) => visit_indices(location, f),
        Expr::Not(e) | Expr::Neg(e) | Expr::Complement(e) => visit_expr(e, f),
        Expr::Enabled(e, _) | Expr::PcValue(e) | Expr::Priority(e) | Expr::Channel(_, e, _) => {
            visit_expr(e, f)
        }
        Expr::Binary(_, a, b, _) => {
            visit_expr(a, f);
            visit_expr(b, f);
        }
        Expr::Cond(a, b, c) => {
            visit_expr(a, f);
            visit_expr(b, f);
            visit_expr(c, f);
        }
        Expr::Poll { channel, patterns, .. } => {
            visit_expr(channel, f);
            for pattern in patterns {
                visit_pattern(pattern, f);
            }
        }
        Expr::At { pid, .. } => {
            if let Some(pid) = pid {
                visit_expr(pid, f);
            }
        }
        Expr::Remote { pid, location, .. } => {
            if let Some(pid) = pid {
                visit_expr(pid, f);
            }
            visit_indices(location, f);
        }
        Expr::Run { arguments, .. } => {
            for argument in arguments {
                visit_expr(argument, f);
            }
        }
    }
}

fn visit_indices(location: &Location, f: &mut dyn FnMut(&Expr)) {
    location.parts().for_each(|part| visit_expr(part, f));
}

/// Match values and the indices of stores.
fn visit_pattern(pattern: &Pattern, f: &mut dyn FnMut(&Expr)) {
    pattern.parts().for_each(|part| visit_expr(part, f));
}

/// Calls `f` on every expression that an action evaluates (not on the locations it stores to).
pub(crate) fn visit_action(action: &Action, f: &mut dyn FnMut(&Expr)) {
    match action {
        Action::Skip | Action::Else | Action::End | Action::DStep(_) => {}
        Action::Guard(e) | Action::Assert(e) => visit_expr(e, f),
        Action::Assign(location, e) => {
            visit_indices(location, f);
            visit_expr(e, f);
        }
        Action::Send { channel, values, .. } => {
            visit_expr(channel, f);
            values.iter().for_each(|v| visit_expr(v, f));
        }
        Action::Receive { channel, patterns, .. } => {
            visit_expr(channel, f);
            patterns.iter().for_each(|p| visit_pattern(p, f));
        }
        Action::Print(pieces) => {
            for piece in pieces {
                match piece {
                    Piece::Text(_) => {}
                    Piece::Value(_, e) | Piece::Name(e, _) => visit_expr(e, f),
                }
            }
        }
        Action::SetPriority(a, b) => {
            visit_expr(a, f);
            visit_expr(b, f);
        }
        Action::Sequence(actions) => actions.iter().for_each(|a| visit_action(a, f)),
    }
}

/// Calls `f` on every location that an action stores to.
pub(crate) fn visit_stores(action: &Action, f: &mut dyn FnMut(&Location)) {
    match action {
        Action::Assign(location, _) => f(location),
        Action::Receive { patterns, .. } => {
            for pattern in patterns {
                if let Pattern::Bind(location) = pattern {
                    f(location);
                }
            }
        }
        Action::Sequence(actions) => actions.iter().for_each(|a| visit_stores(a, f)),
        _ => {}
    }
}

/// Calls `f` on every expression of the program except those of the never claim.
pub(crate) fn visit_program(program: &Program, f: &mut dyn FnMut(&Expr)) {
    for (location, value) in &program.globals_init {
        visit_indices(location, f);
        visit_expr(value, f);
    }
    for proctype in &program.proctypes {
        if let Some(provided) = &proctype.provided {
            visit_expr(provided, f);
        }
        for (location, value) in &proctype.locals_init {
            visit_indices(location, f);
            visit_expr(value, f);
        }
        for transition in proctype.nodes.iter().flat_map(|n| &n.transitions) {
            visit_action(&transition.action, f);
        }
    }
    if let Some(monitor) = &program.monitor {
        for step in monitor.nodes.iter().flatten() {
            step.fields.iter().flatten().for_each(|e| visit_expr(e, f));
        }
    }
}

/// The bytes of its block that a location may touch, whatever its indices are: (first, how many).
pub(crate) fn extent(location: &Location) -> (u32, u32) {
    let reach: u32 = location.indices.iter().map(|i| (i.count - 1) * i.stride).sum();
    (location.offset, reach + location.scalar.bytes())
}

/// Whether an expression depends on nothing but the acting process's own variables and number.
pub(crate) fn is_local(expr: &Expr) -> bool {
    let mut local = true;
    visit_expr(expr, &mut |e| {
        local &= match e {
            Expr::Load(location) => location.scope != Scope::Global,
            Expr::Channel(..)
            | Expr::Poll { .. }
            | Expr::ProcessCount
            | Expr::Last
            | Expr::Timeout
            | Expr::NonProgress
            | Expr::Enabled(..)
            | Expr::PcValue(_)
            | Expr::Priority(_)
            | Expr::At { .. }
            | Expr::Remote { .. }
            | Expr::Run { .. } => false,
            _ => true,
        };
    });
    local
}

/// A set of bytes of a block of locals.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cells(Vec<bool>);

impl Cells {
    pub fn none(bytes: u32) -> Self {
        Cells(vec![false; bytes as usize])
    }

    pub fn add(&mut self, (start, length): (u32, u32)) {
        self.0[start as usize..(start + length) as usize].fill(true);
    }

    pub fn remove(&mut self, (start, length): (u32, u32)) {
        self.0[start as usize..(start + length) as usize].fill(false);
    }

    pub fn contains(&self, byte: u32) -> bool {
        self.0[byte as usize]
    }

    /// Adds all of another set; whether anything was new.
    pub fn join(&mut self, other: &Cells) -> bool {
        let mut grew = false;
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            grew |= *theirs && !*mine;
            *mine |= *theirs;
        }
        grew
    }

    /// Maximal runs of bytes that are in `self` and not in `other`.
    pub fn runs_without(&self, other: &Cells) -> Vec<(u32, u32)> {
        let mut runs: Vec<(u32, u32)> = Vec::new();
        for (i, (&mine, &theirs)) in self.0.iter().zip(&other.0).enumerate() {
            if !mine || theirs {
                continue;
            }
            match runs.last_mut() {
                Some((start, length)) if *start + *length == i as u32 => *length += 1,
                _ => runs.push((i as u32, 1)),
            }
        }
        runs
    }
}
