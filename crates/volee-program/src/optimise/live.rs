//! Live variables: a local that is written before it is read again holds nothing worth remembering.
//!
//! The classic backward analysis over the control graph, per byte of the locals. Whenever a step leads to a
//! node where a variable is dead, the step sets it to zero; states that differ only in dead values become
//! one. Arrays accessed with a computed index are never killed by a write, only by being read nowhere ahead.
//! Variables that other processes or properties read are always live.

use super::Observed;
use super::effects::{Cells, extent, visit_action, visit_expr};
use crate::program::{Action, Expr, Location, Pattern, Proctype, ProctypeId, Program, Scope};

pub(super) fn reset_dead_locals(program: &mut Program, observed: &Observed) {
    for (index, proctype) in program.proctypes.iter_mut().enumerate() {
        let id = ProctypeId(index as u8);
        let mut always = Cells::none(proctype.locals_size);
        for (_, start, length) in observed.locals.iter().filter(|(p, ..)| *p == id) {
            always.add((*start, *length));
        }
        for channel in &proctype.channels {
            always.add(extent(&channel.holder));
        }
        if let Some(provided) = &proctype.provided {
            add_reads(provided, &mut always);
        }
        let live = analyse(proctype, &always);
        for node in 0..proctype.nodes.len() {
            for t in 0..proctype.nodes[node].transitions.len() {
                let transition = &proctype.nodes[node].transitions[t];
                let mut touched = live[node].clone();
                add_writes(proctype, &transition.action, &mut touched);
                let resets = touched.runs_without(&live[transition.target.0 as usize]);
                let ends = matches!(transition.action, Action::End);
                proctype.nodes[node].transitions[t].resets = if ends { Vec::new() } else { resets };
            }
        }
        let mut all = Cells::none(proctype.locals_size);
        all.add((0, proctype.locals_size));
        proctype.entry_resets = all.runs_without(&live[proctype.entry.0 as usize]);
        for (node, live) in proctype.nodes.iter_mut().zip(&live) {
            node.dead = all.runs_without(live);
        }
    }
}

/// The bytes that are live when control is at each node.
fn analyse(proctype: &Proctype, always: &Cells) -> Vec<Cells> {
    let mut live = vec![always.clone(); proctype.nodes.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for node in (0..proctype.nodes.len()).rev() {
            let mut here = live[node].clone();
            for transition in &proctype.nodes[node].transitions {
                let mut before = match transition.action {
                    Action::End => always.clone(),
                    _ => live[transition.target.0 as usize].clone(),
                };
                before_action(&live, &transition.action, &mut before);
                here.join(&before);
            }
            changed |= live[node].join(&here);
        }
    }
    live
}

/// Turns what is live after an action into what is live before it.
fn before_action(live: &[Cells], action: &Action, cells: &mut Cells) {
    match action {
        Action::Sequence(actions) => {
            for action in actions.iter().rev() {
                before_action(live, action, cells);
            }
        }
        Action::Assign(location, value) => {
            kill(location, cells);
            add_index_reads(location, cells);
            add_reads(value, cells);
        }
        Action::Receive { patterns, .. } => {
            for pattern in patterns {
                if let Pattern::Bind(location) = pattern {
                    kill(location, cells);
                }
            }
            visit_action(action, &mut |e| add_load(e, cells));
        }
        // The inner nodes lead to where the sequence goes on (at most through jumps, which need nothing), so
        // what is live at its entry says it all.
        Action::DStep(entry) => *cells = live[entry.0 as usize].clone(),
        _ => visit_action(action, &mut |e| add_load(e, cells)),
    }
}

fn kill(location: &Location, cells: &mut Cells) {
    if location.scope == Scope::Local && location.indices.is_empty() {
        cells.remove(extent(location));
    }
}

fn add_index_reads(location: &Location, cells: &mut Cells) {
    for index in &location.indices {
        add_reads(&index.value, cells);
    }
}

fn add_reads(expr: &Expr, cells: &mut Cells) {
    visit_expr(expr, &mut |e| add_load(e, cells));
}

fn add_load(expr: &Expr, cells: &mut Cells) {
    if let Expr::Load(location) = expr
        && location.scope == Scope::Local
    {
        cells.add(extent(location));
    }
}

/// Adds the bytes an action may write, through the whole of a `d_step`.
fn add_writes(proctype: &Proctype, action: &Action, cells: &mut Cells) {
    let mut store = |location: &Location| {
        if location.scope == Scope::Local {
            cells.add(extent(location));
        }
    };
    super::effects::visit_stores(action, &mut store);
    let mut entries = Vec::new();
    d_steps(action, &mut entries);
    let mut seen = vec![false; proctype.nodes.len()];
    while let Some(node) = entries.pop() {
        if std::mem::replace(&mut seen[node as usize], true) || !proctype.nodes[node as usize].in_d_step {
            continue;
        }
        for transition in &proctype.nodes[node as usize].transitions {
            super::effects::visit_stores(&transition.action, &mut store);
            entries.push(transition.target.0);
        }
    }
}

fn d_steps(action: &Action, entries: &mut Vec<u32>) {
    match action {
        Action::DStep(entry) => entries.push(entry.0),
        Action::Sequence(actions) => actions.iter().for_each(|a| d_steps(a, entries)),
        _ => {}
    }
}
