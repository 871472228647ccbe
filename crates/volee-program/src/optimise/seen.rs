//! Which statements are events that somebody looks for.
//!
//! Only what can be merged with the statement before it is asked about: assignments and the like, alone at
//! their node, whose names do not depend on values, only on who moves. All else counts as looked for, and so
//! does what belongs to an indivisible sequence, which has a name made of all its statements.

use crate::program::{NodeId, ProctypeId, Program, Transition};

/// By process type and node: whether what is done there may be looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SeenEvents(Vec<Vec<bool>>);

impl SeenEvents {
    /// `counts` says whether anybody looks for what a process of a type does.
    pub fn of(program: &Program, counts: &dyn Fn(&str, &str) -> bool) -> Self {
        let is_seen = |name: &str, transitions: &[Transition]| match transitions {
            [only] if !only.atomic => names_count(name, only, counts),
            _ => true,
        };
        let of_type = |p: &crate::program::Proctype| {
            p.nodes.iter().map(|node| node.in_d_step || is_seen(&p.name, &node.transitions)).collect()
        };
        SeenEvents(program.proctypes.iter().map(of_type).collect())
    }

    /// Whether what is done at this node is looked for.
    pub fn at(&self, proctype: ProctypeId, node: NodeId) -> bool {
        self.0[usize::from(proctype.0)][node.0 as usize]
    }
}

/// Whether one of the names that `events.rs` gives a statement counts; the initial process has two of its
/// own.
fn names_count(proctype: &str, transition: &Transition, counts: &dyn Fn(&str, &str) -> bool) -> bool {
    let (text, label) = (&transition.statement.text, transition.statement.label.as_ref());
    let told = proctype.trim_matches(':');
    [proctype, told].iter().any(|who| counts(who, text) || label.is_some_and(|label| counts(who, label)))
}
