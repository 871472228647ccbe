//! Which globals are one process's own: nobody else writes them, and there is never a second process of that
//! type. Others are nobody's: no statement writes them.

use hashbrown::HashMap;

use super::walk::{self, Owner, behaviours, variable_of};
use crate::model::{Base, ExprKind, Model, ProctypeId, Reference, Statement, StatementKind};

/// The globals that somebody writes, with the type of their one process where there is one.
pub(crate) struct Private(HashMap<u32, Option<ProctypeId>>);

impl Private {
    pub(crate) fn of(model: &Model) -> Self {
        Private(private_globals(model))
    }

    /// Whether nobody but `owner` changes what a reference leads to, and it is one scalar without a way into
    /// it.
    pub(crate) fn is_own(&self, owner: Owner, reference: &Reference) -> bool {
        let own = match variable_of(owner, reference) {
            Some((Owner::Nobody, global)) => {
                self.0.get(&global).is_some_and(|id| id.is_some_and(|id| owner == Owner::Process(id)))
            }
            Some(_) => true,
            None => false,
        };
        own && reference.path.is_empty()
    }

    /// Whether nobody at all changes what a reference leads to: a global scalar that begins as a constant.
    pub(crate) fn is_fixed(&self, reference: &Reference) -> bool {
        match variable_of(Owner::Nobody, reference) {
            Some((_, global)) => {
                matches!(reference.base, Base::Global(_))
                    && !self.0.contains_key(&global)
                    && reference.path.is_empty()
            }
            None => false,
        }
    }

    /// The globals that are a process's own.
    pub(crate) fn globals(&self, owner: Owner) -> impl Iterator<Item = u32> {
        self.0
            .iter()
            .filter(move |(_, id)| id.is_some_and(|id| owner == Owner::Process(id)))
            .map(|(global, _)| *global)
    }
}

fn private_globals(model: &Model) -> HashMap<u32, Option<ProctypeId>> {
    let mut writers: HashMap<u32, Vec<Owner>> = HashMap::new();
    let mut births: HashMap<ProctypeId, usize> = HashMap::new();
    for (owner, behaviour) in behaviours(model) {
        if let Owner::Process(id) = owner {
            *births.entry(id).or_default() += model.proctypes[id.0 as usize].active as usize;
        }
        let mut written = |reference: &Reference| {
            if let Some((Owner::Nobody, global)) = variable_of(owner, reference) {
                writers.entry(global).or_default().push(owner);
            }
        };
        walk::statements(&behaviour.body, &mut |statement| {
            match &statement.kind {
                StatementKind::Assign { target, .. } => written(target),
                StatementKind::Receive(receive) => walk::stores(&receive.arguments).for_each(&mut written),
                // What is started in a loop is started more than once.
                StatementKind::Do(options, _) => {
                    for option in options {
                        walk::statements(option, &mut |s| runs(s, |id| *births.entry(id).or_default() += 1));
                    }
                }
                _ => {}
            }
            runs(statement, |id| *births.entry(id).or_default() += 1);
        });
    }
    let single = |id: &ProctypeId| births.get(id) == Some(&1);
    let only = |by: Vec<Owner>| match by.first() {
        Some(Owner::Process(first)) if by.iter().all(|o| *o == Owner::Process(*first)) && single(first) => {
            Some(*first)
        }
        _ => None,
    };
    writers.into_iter().map(|(global, by)| (global, only(by))).collect()
}

fn runs(statement: &Statement, mut found: impl FnMut(ProctypeId)) {
    for expr in walk::expressions(statement) {
        walk::expression(expr, &mut |e| {
            if let ExprKind::Run(run) = &e.kind {
                found(run.proctype);
            }
        });
    }
}
