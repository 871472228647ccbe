//! Globals that nobody reads: what is written there cannot matter.
//!
//! Stores to them go nowhere and they take no part in the state. Channel numbers are read by whoever uses the
//! channel; a global that a property reads is observed and stays.

use super::Observed;
use super::effects::{Cells, extent, visit_program, visit_stores};
use crate::program::{Action, Expr, Location, Pattern, Program, Scope};

pub(super) fn drop_unread_globals(program: &mut Program, observed: &Observed) {
    let mut read = Cells::none(program.globals_size);
    visit_program(program, &mut |e| {
        if let Expr::Load(location) = e
            && location.scope == Scope::Global
        {
            read.add(extent(location));
        }
    });
    for &(start, length) in &observed.globals {
        read.add((start, length));
    }
    for channel in &program.channels {
        read.add(extent(&channel.holder));
    }
    visit_all_stores(program, &mut |location| {
        // An index that may be out of range is an error to be found, whoever reads the element.
        let safe = location.indices.iter().all(|i| matches!(i.value, Expr::Const(k) if (k as u32) < i.count));
        if location.scope == Scope::Global && !safe {
            read.add(extent(location));
        }
    });
    let unread = |location: &Location| {
        let (start, length) = extent(location);
        location.scope == Scope::Global && (start..start + length).all(|byte| !read.contains(byte))
    };
    for proctype in &mut program.proctypes {
        for transition in proctype.nodes.iter_mut().flat_map(|n| &mut n.transitions) {
            forget(&mut transition.action, &unread);
        }
    }
    program.globals_init.retain(|(location, _)| !unread(location));
    program.globals.retain(|v| read.contains(v.offset));
}

fn visit_all_stores(program: &Program, f: &mut dyn FnMut(&Location)) {
    for proctype in &program.proctypes {
        for transition in proctype.nodes.iter().flat_map(|n| &n.transitions) {
            visit_stores(&transition.action, f);
        }
    }
}

fn forget(action: &mut Action, unread: &dyn Fn(&Location) -> bool) {
    match action {
        Action::Assign(location, _) if unread(location) => location.scope = Scope::Nowhere,
        Action::Receive { patterns, .. } => {
            for pattern in patterns {
                if let Pattern::Bind(location) = pattern
                    && unread(location)
                {
                    *pattern = Pattern::Any;
                }
            }
        }
        Action::Sequence(actions) => actions.iter_mut().for_each(|a| forget(a, unread)),
        _ => {}
    }
}
