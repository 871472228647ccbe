//! Which globals are one process's own: nobody else writes them, and there is never a second process of that type.

use hashbrown::HashMap;

use super::walk::{self, Owner, behaviours, variable_of};
use crate::model::{ExprKind, Model, ProctypeId, Reference, Statement, StatementKind};

/// The globals that only one process writes, with its type.
pub(crate) struct Private(HashMap<u32, ProctypeId>);

impl Private {
    pub(crate) fn of(model: &Model) -> Self {
        Private(private_globals(model))
    }

    /// Whether nobody but `owner` changes what a reference leads to, and it is one scalar without a way into it.
    pub(crate) fn is_own(&self, owner: Owner, reference: &Reference) -> bool {
        let own = match variable_of(owner, reference) {
            Some((Owner::Nobody, global)) => {
                self.0.get(&global).is_some_and(|&id| owner == Owner::Process(id))
            }
            Some(_) => true,
            None => false,
        };
        own && reference.path.is_empty()
    }

    /// The globals that are a process's own.
    pub(crate) fn globals(&self, owner: Owner) -> impl Iterator<Item = u32> {
        self.0.iter().filter(move |(_, id)| owner == Owner::Process(**id)).map(|(global, _)| *global)
    }
}

fn private_globals(model: &Model) -> HashMap<u32, ProctypeId> {
    let mut writers: HashMap<u32, Vec<ProctypeId>> = HashMap::new();
    let mut births: HashMap<ProctypeId, usize> = HashMap::new();
    for (owner, behaviour) in behaviours(model) {
        let Owner::Process(id) = owner else { continue };
        *births.entry(id).or_default() += model.proctypes[id.0 as usize].active as usize;
        let mut written = |reference: &Reference| {
            if let Some((Owner::Nobody, global)) = variable_of(owner, reference) {
                writers.entry(global).or_default().push(id);
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
    writers
        .into_iter()
        .filter_map(|(global, by)| {
            let first = *by.first()?;
            (by.iter().all(|id| *id == first) && single(&first)).then_some((global, first))
        })
        .collect()
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
