//! Choices that can block for ever: all guards of an `if` or `do` are about values that nobody else can
//! change, there is no `else`, and some values make every guard false. A process that gets there stays there,
//! as in C nobody would expect of `if (x > 0) …`.
//!
//! Which values a variable can have there is told by [`super::flow`].

use hashbrown::HashSet;
use volee_system::Diagnostic;

use super::Context;
use super::flow::{Flow, Known, Visitor, guard};
use super::private::Private;
use super::set::{Set, apply};
use super::values::Key;
use super::walk::{self, Owner, behaviours, has_label};
use crate::model::{
    Behaviour, Expr, ExprKind, GlobalId, Init, Label, LocalId, Model, Reference, Sequence, Statement,
    StatementKind, Type,
};
use crate::render;

/// More combinations of values than this are not tried.
const MOST: usize = 20_000;

/// Choices about what the process computes itself.
pub(super) fn choices(context: &Context, out: &mut Vec<Diagnostic>) {
    search(context, Origin::Computed, out);
}

/// Choices about what came in messages: who sends may well know which values the receiver expects.
pub(super) fn choices_by_messages(context: &Context, out: &mut Vec<Diagnostic>) {
    search(context, Origin::Received, out);
}

/// Where the values that a choice asks about come from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    Computed,
    Received,
}

fn search(context: &Context, origin: Origin, out: &mut Vec<Diagnostic>) {
    let private = Private::of(context.model);
    for (owner, behaviour) in behaviours(context.model) {
        if !matches!(owner, Owner::Process(_)) {
            continue;
        }
        let flow = Flow { values: &context.values, channels: &context.channels, owner, private: &private };
        let start = start(context.model, owner, behaviour, &private);
        let mut received = HashSet::new();
        walk::statements(&behaviour.body, &mut |statement| {
            if let StatementKind::Receive(receive) = &statement.kind {
                received.extend(walk::stores(&receive.arguments).filter_map(|r| Key::of(owner, r)));
            }
        });
        let mut choices = Choices { context, owner, private: &private, behaviour, origin, received, out };
        flow.body(&behaviour.body, &start, &mut choices);
    }
}

/// What the variables of a process are when it begins, where they begin as a constant.
fn start(model: &Model, owner: Owner, behaviour: &Behaviour, private: &Private) -> Known {
    let Owner::Process(id) = owner else { return Known::new() };
    let parameters = model.proctypes[id.0 as usize].parameters as usize;
    let locals = behaviour.locals.iter().enumerate().skip(parameters);
    let locals = locals.map(|(i, variable)| (Key::local(id, LocalId(i as u32)), variable));
    let globals = private.globals(owner).map(|i| (Key::global(GlobalId(i)), &model.globals[i as usize]));
    let mut known = Known::new();
    for (key, variable) in locals.chain(globals) {
        let value = match &variable.init {
            Init::Zero => Some(0),
            Init::Value(value) => match value.kind {
                ExprKind::Constant { value, .. } => Some(value),
                _ => None,
            },
            _ => None,
        };
        if let (Some(value), None, false) = (value, variable.length, matches!(variable.ty, Type::Struct(_))) {
            known.insert(key, Set::one(value).stored(variable.ty));
        }
    }
    known
}

/// A process type whose choices are looked at.
struct Choices<'a, 'c> {
    context: &'a Context<'c>,
    owner: Owner,
    private: &'a Private,
    behaviour: &'a Behaviour,
    origin: Origin,
    received: HashSet<Key>,
    out: &'a mut Vec<Diagnostic>,
}

impl<'m> Visitor<'m> for Choices<'_, '_> {
    fn choice(&mut self, statement: &'m Statement, options: &'m [Sequence], known: &Known) {
        if has_label(self.behaviour, statement, Label::is_end) {
            return;
        }
        let Some(guards) = options.iter().map(guard).collect::<Option<Vec<&Expr>>>() else { return };
        let mut variables: Vec<(Key, &Reference, Set)> = Vec::new();
        for guard in &guards {
            if !self.collect(guard, known, &mut variables) {
                return;
            }
        }
        // What a guard says of a variable beside one that never changes is not followed.
        let fixed = variables.iter().filter(|(_, r, _)| self.private.is_fixed(r)).count();
        if variables.is_empty() || (fixed > 0 && fixed < variables.len()) {
            return;
        }
        let origin = match variables.iter().any(|(key, ..)| self.received.contains(key)) {
            true => Origin::Received,
            false => Origin::Computed,
        };
        if origin != self.origin {
            return;
        }
        let Some(values) = self.blocking(&guards, &variables) else { return };
        let told: Vec<String> =
            variables.iter().zip(&values).map(|((_, r, _), v)| self.equation(r, *v)).collect();
        let is_loop = matches!(statement.kind, StatementKind::Do(..));
        let (word, option) = if is_loop { ("do", ":: else -> break") } else { ("if", ":: else -> skip") };
        let told = told.join(" and ");
        let message = match origin {
            Origin::Computed => format!("this `{word}` blocks for ever when {told}"),
            Origin::Received => format!("this `{word}` has no option for {told}, and would block for ever"),
        };
        let mut found = Diagnostic::warning(message, statement.place.clone())
            .spanning(2)
            .with_help(format!("no other process can change that; add `{option}`"));
        if let Some(edit) = self.context.texts.add_option(&statement.place, option) {
            found = found.with_fix(format!("add `{option}`"), vec![edit]);
        }
        self.out.push(found);
    }
}

impl Choices<'_, '_> {
    fn equation(&self, reference: &Reference, value: i32) -> String {
        let name = render::reference(self.context.model, &self.behaviour.locals, reference);
        let value = match reference.ty {
            Type::Mtype(id) => {
                self.context.model.mtype_name(id, value).map_or(value.to_string(), str::to_owned)
            }
            _ => value.to_string(),
        };
        format!("{name} == {value}")
    }

    /// Adds the variables of a guard; false if it asks about something that others may change.
    fn collect<'e>(
        &self,
        guard: &'e Expr,
        known: &Known,
        variables: &mut Vec<(Key, &'e Reference, Set)>,
    ) -> bool {
        let mut own = true;
        walk::expression(guard, &mut |e| match &e.kind {
            ExprKind::Variable(reference) => {
                let is_own = self.private.is_own(self.owner, reference) || self.private.is_fixed(reference);
                let key = Key::of(self.owner, reference).filter(|_| is_own);
                let set =
                    key.as_ref().and_then(|key| known.get(key).or_else(|| self.context.values.get(key)));
                match (key, set) {
                    (Some(key), Some(set)) => {
                        if !variables.iter().any(|(known, ..)| *known == key) {
                            variables.push((key, reference, set.clone()));
                        }
                    }
                    _ => own = false,
                }
            }
            ExprKind::Constant { .. }
            | ExprKind::Unary(..)
            | ExprKind::Binary(..)
            | ExprKind::Conditional(..) => {}
            _ => own = false,
        });
        own
    }

    /// Values of which every guard is false.
    fn blocking(&self, guards: &[&Expr], variables: &[(Key, &Reference, Set)]) -> Option<Vec<i32>> {
        let mut constants = vec![0, 1];
        for guard in guards {
            walk::expression(guard, &mut |e| {
                if let ExprKind::Constant { value, .. } = &e.kind {
                    constants.extend([value.wrapping_sub(1), *value, value.wrapping_add(1)]);
                }
            });
        }
        let domains: Vec<Vec<i32>> =
            variables.iter().map(|(_, _, set)| candidates(set, &constants)).collect();
        if domains.iter().map(Vec::len).product::<usize>() > MOST || domains.iter().any(Vec::is_empty) {
            return None;
        }
        let mut position = vec![0usize; domains.len()];
        loop {
            let values: Vec<i32> = position.iter().zip(&domains).map(|(&p, d)| d[p]).collect();
            let lookup = |reference: &Reference| {
                let key = Key::of(self.owner, reference)?;
                variables.iter().position(|(known, ..)| *known == key).map(|i| values[i])
            };
            if guards.iter().all(|guard| value(guard, &lookup) == Some(0)) {
                return Some(values);
            }
            let mut digit = 0;
            loop {
                if digit == position.len() {
                    return None;
                }
                position[digit] += 1;
                if position[digit] < domains[digit].len() {
                    break;
                }
                position[digit] = 0;
                digit += 1;
            }
        }
    }
}

/// The values of a set that are worth trying: all of a few, else those next to the constants of the guards.
fn candidates(set: &Set, constants: &[i32]) -> Vec<i32> {
    if let Some(all) = set.values(256) {
        return all;
    }
    let ends = set.bounds().map(|(low, high)| [low, high]).into_iter().flatten();
    let mut all: Vec<i32> = constants.iter().copied().filter(|&c| set.contains(c)).chain(ends).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// The value of a guard where each variable has one.
fn value(expr: &Expr, lookup: &impl Fn(&Reference) -> Option<i32>) -> Option<i32> {
    match &expr.kind {
        ExprKind::Constant { value, .. } => Some(*value),
        ExprKind::Variable(reference) => lookup(reference),
        ExprKind::Unary(op, a) => Some(op.apply(value(a, lookup)?)),
        ExprKind::Binary(op, a, b) => Some(apply(*op, value(a, lookup)?, value(b, lookup)?)),
        ExprKind::Conditional(a, b, c) => match value(a, lookup)? {
            0 => value(c, lookup),
            _ => value(b, lookup),
        },
        _ => None,
    }
}
