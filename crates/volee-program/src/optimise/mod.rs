//! Optimisations: programs with fewer states and the same verdicts.
//!
//! * `merge`: a statement that concerns nobody else and never waits is done together with the one before it.
//! * `live`: a local variable that will be written before it is read again is set to zero.
//! * `unread`: a global variable that nobody ever reads is not part of the state.
//!
//! A plain machine switches all of them off, for comparison with other tools and for trust. Whatever a
//! property observes (labels, variables of processes, globals) is named in [`Observed`] and left alone.

mod effects;
mod failing;
mod live;
mod merge;
mod seen;
mod unread;

use std::collections::BTreeSet;

use crate::program::{Expr, NodeId, ProctypeId, Program};

pub use effects::visit_expr;
pub(crate) use effects::{Cells, extent, visit_action, visit_program, visit_stores};
pub(crate) use seen::SeenEvents;

/// What properties look at from outside, and optimisations must not touch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Observed {
    /// Control points asked about with `P@label`.
    pub nodes: BTreeSet<(ProctypeId, NodeId)>,
    /// Local variables read with `P:x`: (proctype, offset of the first byte, bytes).
    pub locals: BTreeSet<(ProctypeId, u32, u32)>,
    /// Globals: (offset of the first byte, bytes).
    pub globals: BTreeSet<(u32, u32)>,
    /// Somebody asks where a process stands or whether it could move, whatever the point of control is called
    /// (`pc_value()`, `enabled()`, `np_`): then every point matters.
    pub control: bool,
}

impl Observed {
    /// Adds what an expression that is evaluated outside any process looks at.
    pub fn add(&mut self, expr: &Expr) {
        visit_expr(expr, &mut |e| match e {
            Expr::At { proctype, node, .. } => {
                self.nodes.insert((*proctype, *node));
            }
            Expr::Remote { proctype, location, .. } => {
                let (start, length) = effects::extent(location);
                self.locals.insert((*proctype, start, length));
            }
            Expr::Load(location) if location.scope == crate::program::Scope::Global => {
                self.globals.insert(effects::extent(location));
            }
            Expr::Enabled(..) | Expr::PcValue(_) | Expr::NonProgress => self.control = true,
            _ => {}
        });
    }

    /// What either looks at.
    fn and(mut self, other: &Observed) -> Self {
        self.nodes.extend(&other.nodes);
        self.locals.extend(&other.locals);
        self.globals.extend(&other.globals);
        self.control |= other.control;
        self
    }

    /// What the program's own statements and claims look at in other processes.
    pub(crate) fn by_program(program: &Program) -> Self {
        let mut observed = Observed::default();
        effects::visit_program(program, &mut |e| {
            let looks_around = matches!(
                e,
                Expr::At { .. }
                    | Expr::Remote { .. }
                    | Expr::Enabled(..)
                    | Expr::PcValue(_)
                    | Expr::NonProgress
            );
            if looks_around {
                observed.add(e);
            }
        });
        if let Some(claim) = &program.never {
            for transition in claim.nodes.iter().flat_map(|n| &n.transitions) {
                effects::visit_action(&transition.action, &mut |e| observed.add(e));
            }
        }
        observed
    }
}

/// The bytes of the globals that nobody reads but to compute what nobody reads: (first, how many).
pub(crate) fn unread_globals(program: &Program, observed: &Observed) -> Vec<(u32, u32)> {
    unread::unread_globals(program, &Observed::by_program(program).and(observed))
}

/// Takes globals that the model hides out of the state, as far as nobody reads them: (first byte, how many).
/// This is no optimisation but what hiding means; what is hidden and read all the same stays. Gives what was
/// taken out.
pub fn drop_hidden(program: &mut Program, hidden: &[(u32, u32)]) -> Vec<(u32, u32)> {
    let mut observed = Observed::by_program(program);
    // Questions come later, and may look at everything else.
    let (mut all, mut kept_back) = (Cells::none(program.globals_size), Cells::none(program.globals_size));
    all.add((0, program.globals_size));
    hidden.iter().for_each(|extent| kept_back.add(*extent));
    observed.globals.extend(all.runs_without(&kept_back));
    unread::drop_hidden(program, hidden, &observed)
}

/// The program without the globals that nobody reads, for engines to which every value costs something: no
/// step is taken away, and no error.
pub fn forget_unread(program: &Program, observed: &Observed) -> Program {
    let own = Observed::by_program(program).and(observed);
    let mut program = program.clone();
    unread::drop_unread_globals(&mut program, &own);
    program
}

/// Whether steps are done together that nobody else can tell apart.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Steps<'a> {
    /// Where the states matter.
    Merged,
    /// Where the states matter, and some events.
    Unseen(&'a SeenEvents),
    /// Where every step is an event. Forgetting what is dead or never read takes no step away and changes no
    /// value that is sent, so that the states that become equal are strongly bisimilar.
    Single,
}

/// The optimised program: node numbers stay what they were.
pub(crate) fn optimise(program: &Program, observed: &Observed, steps: Steps<'_>) -> Program {
    let own = Observed::by_program(program).and(observed);
    let mut program = program.clone();
    unread::drop_unread_globals(&mut program, &own);
    match steps {
        Steps::Merged => merge::merge_steps(&mut program, &own, None),
        Steps::Unseen(seen) => merge::merge_steps(&mut program, &own, Some(seen)),
        Steps::Single => {}
    }
    live::reset_dead_locals(&mut program, &own);
    program
}
