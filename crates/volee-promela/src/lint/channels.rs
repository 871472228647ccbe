//! Which variables may stand for the same channel: classes of them, joined wherever a channel is passed on.
//!
//! Coarse on purpose, so that what is said of a class is true of each channel in it: all channels inside one
//! variable are of one class, and so are all that ever travel in messages.

use hashbrown::HashMap;

use super::walk::{self, Owner, behaviours, variable_of};
use crate::model::{Expr, ExprKind, Init, Model, Reference, Statement, StatementKind, Type, Variable};

/// A class of channels that cannot be told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Class(u32);

pub(crate) struct Channels {
    slots: HashMap<(Owner, u32), u32>,
    parents: Vec<u32>,
    /// The fields of the messages of each class, by its root.
    fields: HashMap<u32, Vec<Type>>,
}

/// Channels in messages.
const TRAVELLING: u32 = 0;

impl Channels {
    pub(crate) fn of(model: &Model) -> Self {
        let mut channels =
            Channels { slots: HashMap::new(), parents: vec![TRAVELLING], fields: HashMap::new() };
        channels.initial(Owner::Nobody, &model.globals);
        for (owner, behaviour) in behaviours(model) {
            channels.initial(owner, &behaviour.locals);
            walk::statements(&behaviour.body, &mut |statement| channels.statement(model, owner, statement));
        }
        channels.learn_fields(model);
        channels
    }

    /// A channel variable may begin as another one.
    fn initial(&mut self, owner: Owner, variables: &[Variable]) {
        for (i, variable) in variables.iter().enumerate() {
            if let (Type::Chan, Init::Value(value)) = (variable.ty, &variable.init) {
                let slot = self.slot((owner, i as u32));
                self.join_all(owner, slot, value);
            }
        }
    }

    fn slot(&mut self, variable: (Owner, u32)) -> u32 {
        let next = self.parents.len() as u32;
        let slot = *self.slots.entry(variable).or_insert(next);
        if slot == next {
            self.parents.push(next);
        }
        slot
    }

    fn root(&self, mut slot: u32) -> u32 {
        while self.parents[slot as usize] != slot {
            slot = self.parents[slot as usize];
        }
        slot
    }

    fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.root(a), self.root(b));
        self.parents[a.max(b) as usize] = a.min(b);
    }

    /// Joins with `slot` every channel that an expression may stand for.
    fn join_all(&mut self, owner: Owner, slot: u32, value: &Expr) {
        let mut found = Vec::new();
        walk::expression(value, &mut |e| {
            if let ExprKind::Variable(reference) = &e.kind
                && matches!(reference.ty, Type::Chan | Type::Struct(_))
            {
                found.extend(variable_of(owner, reference));
            }
            if let ExprKind::RemoteVariable { proctype, variable, .. } = &e.kind
                && variable.ty == Type::Chan
            {
                found.extend(variable_of(Owner::Process(*proctype), variable));
            }
        });
        for variable in found {
            let other = self.slot(variable);
            self.join(slot, other);
        }
    }

    fn statement(&mut self, model: &Model, owner: Owner, statement: &Statement) {
        match &statement.kind {
            StatementKind::Assign { target, value } if holds_channels(target) => {
                let Some(variable) = variable_of(owner, target) else { return };
                let slot = self.slot(variable);
                self.join_all(owner, slot, value);
            }
            StatementKind::Send { arguments, .. } => {
                arguments.iter().for_each(|value| self.join_all(owner, TRAVELLING, value));
            }
            StatementKind::Receive(receive) => {
                for target in walk::stores(&receive.arguments).filter(|r| holds_channels(r)) {
                    let Some(variable) = variable_of(owner, target) else { continue };
                    let slot = self.slot(variable);
                    self.join(TRAVELLING, slot);
                }
            }
            _ => {
                // Whoever uses the number of a channel may do anything with it.
                for expr in walk::expressions(statement) {
                    if !matches!(expr.kind, ExprKind::Run(_)) {
                        self.join_all(owner, TRAVELLING, expr);
                    }
                }
            }
        }
        for expr in walk::expressions(statement) {
            walk::expression(expr, &mut |e| {
                if let ExprKind::Run(run) = &e.kind {
                    let parameters = &model.proctypes[run.proctype.0 as usize].behaviour.locals;
                    for (i, (argument, parameter)) in run.arguments.iter().zip(parameters).enumerate() {
                        let target = match parameter.ty {
                            Type::Chan | Type::Struct(_) => {
                                self.slot((Owner::Process(run.proctype), i as u32))
                            }
                            _ => TRAVELLING,
                        };
                        self.join_all(owner, target, argument);
                    }
                }
            });
        }
    }

    fn learn_fields(&mut self, model: &Model) {
        let mut learn = |owner: Owner, variables: &[Variable]| {
            for (i, variable) in variables.iter().enumerate() {
                if !matches!(variable.ty, Type::Chan | Type::Struct(_)) {
                    continue;
                }
                let mut types = Vec::new();
                message_types(model, variable, &mut types);
                let slot = self.slot((owner, i as u32));
                let root = self.root(slot);
                for fields in types {
                    let known = self.fields.entry(root).or_default();
                    for (k, &ty) in fields.iter().enumerate() {
                        match known.get_mut(k) {
                            // Two channels of one class with different fields: as wide as the wider.
                            Some(wide) if *wide != ty => *wide = Type::Int,
                            Some(_) => {}
                            None => known.push(ty),
                        }
                    }
                }
            }
        };
        learn(Owner::Nobody, &model.globals);
        for (owner, behaviour) in behaviours(model) {
            learn(owner, &behaviour.locals);
        }
    }

    /// The class of what a reference leads to; none for `STDIN`.
    pub(crate) fn class(&self, owner: Owner, reference: &Reference) -> Option<Class> {
        self.class_of(variable_of(owner, reference)?)
    }

    pub(crate) fn class_of(&self, variable: (Owner, u32)) -> Option<Class> {
        self.slots.get(&variable).map(|&slot| Class(self.root(slot)))
    }

    /// The type of a field of the messages of a class.
    pub(crate) fn field(&self, Class(root): Class, field: usize) -> Type {
        self.fields.get(&root).and_then(|f| f.get(field)).copied().unwrap_or(Type::Int)
    }

    /// How many fields the messages of a class have.
    pub(crate) fn width(&self, Class(root): Class) -> usize {
        self.fields.get(&root).map_or(0, Vec::len)
    }
}

fn holds_channels(reference: &Reference) -> bool {
    matches!(reference.ty, Type::Chan | Type::Struct(_))
}

/// The messages of every channel that is made in a variable.
fn message_types(model: &Model, variable: &Variable, types: &mut Vec<Vec<Type>>) {
    if let Init::Channel(init) = &variable.init {
        types.push(init.fields.clone());
    }
    if let Type::Struct(id) = variable.ty {
        for field in &model.structs[id.0 as usize].fields {
            message_types(model, field, types);
        }
    }
}
