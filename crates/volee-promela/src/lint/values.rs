//! Which values each variable takes in any run, as far as can be told without running: the order of steps is
//! not looked at, only what is ever assigned, received or passed to whom.
//!
//! An abstract interpretation over [`Set`]s. Guards at the beginning of an option count for what follows them
//! there, up to the next assignment, if they are about variables that nobody else can change meanwhile.
//! Growing sets are widened to their type's bounds after some rounds; two rounds of narrowing then take back
//! what guards bound.

use std::rc::Rc;

use hashbrown::HashMap;

use super::channels::{Channels, Class};
use super::private::Private;
use super::set::{Set, bounds_of};
use super::walk::{self, Owner, behaviours, variable_of};
use crate::model::{
    Access, BinaryOp, Expr, ExprKind, GlobalId, Init, LocalId, Model, ProctypeId, ReceiveArgument, Reference,
    Sequence, Statement, StatementKind, Type, UnaryOp,
};

/// Rounds after which sets are widened, and after which all is given up.
const PATIENCE: usize = 12;
const LAST_ROUND: usize = 200;
/// More assignments than this are not looked at: their variables may have any value.
const MOST_FLOWS: usize = 200_000;

/// A variable with the fields that lead to a scalar in it; all elements of an array are one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    owner: Owner,
    variable: u32,
    fields: Vec<u32>,
}

impl Key {
    pub(crate) fn global(GlobalId(id): GlobalId) -> Self {
        Key { owner: Owner::Nobody, variable: id, fields: Vec::new() }
    }

    pub(crate) fn local(proctype: ProctypeId, LocalId(id): LocalId) -> Self {
        Key { owner: Owner::Process(proctype), variable: id, fields: Vec::new() }
    }

    pub(crate) fn of(owner: Owner, reference: &Reference) -> Option<Self> {
        let (owner, variable) = variable_of(owner, reference)?;
        let fields = reference.path.iter().filter_map(|access| match access {
            Access::Field(id) => Some(id.0),
            Access::Index { .. } => None,
        });
        Some(Key { owner, variable, fields: fields.collect() })
    }
}

/// A guard that is in force: `key op bound`.
type Guard = (Key, BinaryOp, i32);
type Guards = Rc<Vec<Guard>>;

/// A value that goes somewhere.
struct Flow<'m> {
    to: Target,
    ty: Type,
    from: From<'m>,
    owner: Owner,
    guards: Guards,
}

#[derive(Clone, PartialEq, Eq, Hash)]
enum Target {
    Variable(Key),
    /// A field of the messages of a class of channels.
    Message(Class, usize),
}

enum From<'m> {
    Expr(&'m Expr),
    Constant(i32),
    Message(Class, usize),
    Anything,
}

/// The values of all variables and messages.
pub(crate) struct Values {
    known: HashMap<Target, Set>,
}

impl Values {
    pub(crate) fn of(model: &Model) -> Self {
        let channels = Channels::of(model);
        let private = Private::of(model);
        let (flows, guards) = (Vec::new(), Rc::default());
        let mut collector = Collector { model, channels: &channels, private: &private, flows, guards };
        collector.model();
        solve(&collector.flows)
    }

    /// The values of a variable; none where nothing is known of it.
    pub(crate) fn get(&self, key: &Key) -> Option<&Set> {
        self.known.get(&Target::Variable(key.clone()))
    }

    /// The values of a field of the messages of a class of channels.
    pub(crate) fn message(&self, class: Class, field: usize) -> Option<&Set> {
        self.known.get(&Target::Message(class, field))
    }

    /// The values of an expression where more is known of some variables.
    pub(crate) fn eval_known(&self, owner: Owner, known: &HashMap<Key, Set>, expr: &Expr) -> Set {
        match &expr.kind {
            ExprKind::Variable(reference) if reference.path.is_empty() => {
                let found = Key::of(owner, reference).and_then(|key| known.get(&key));
                found.cloned().unwrap_or_else(|| self.eval(owner, expr))
            }
            ExprKind::Unary(op, a) => Set::unary(*op, &self.eval_known(owner, known, a)),
            ExprKind::Binary(op, a, b) => {
                Set::binary(*op, &self.eval_known(owner, known, a), &self.eval_known(owner, known, b))
            }
            _ => self.eval(owner, expr),
        }
    }

    /// The values of an expression.
    pub(crate) fn eval(&self, owner: Owner, expr: &Expr) -> Set {
        self.evaluate(owner, &[], expr)
    }

    fn evaluate(&self, owner: Owner, guards: &[Guard], expr: &Expr) -> Set {
        match &expr.kind {
            ExprKind::Constant { value, .. } => Set::one(*value),
            ExprKind::Variable(reference) => self.reference(owner, guards, reference),
            ExprKind::RemoteVariable { proctype, variable, .. } => {
                let values = self.reference(Owner::Process(*proctype), &[], variable);
                // Of a process that is not there anything may be read.
                values.join(&Set::one(0))
            }
            ExprKind::Unary(op, a) => Set::unary(*op, &self.evaluate(owner, guards, a)),
            ExprKind::Binary(op, a, b) => {
                Set::binary(*op, &self.evaluate(owner, guards, a), &self.evaluate(owner, guards, b))
            }
            ExprKind::Conditional(a, b, c) => {
                let (b, c) = (self.evaluate(owner, guards, b), self.evaluate(owner, guards, c));
                match self.evaluate(owner, guards, a) {
                    Set::Few(all) if all.len() == 1 => {
                        if all.contains(&0) {
                            c
                        } else {
                            b
                        }
                    }
                    _ => b.join(&c),
                }
            }
            ExprKind::Pid | ExprKind::ProcessCount | ExprKind::Run(_) | ExprKind::GetPriority(_) => {
                Set::Range(0, 255)
            }
            ExprKind::NonProgress | ExprKind::Timeout | ExprKind::Poll(_) | ExprKind::RemoteLabel { .. } => {
                Set::of_type(Type::Bit)
            }
            ExprKind::Channel(..) | ExprKind::Last | ExprKind::PcValue(_) => Set::Range(0, i32::MAX),
            ExprKind::Enabled(_) => Set::of_type(Type::Bit),
        }
    }

    fn reference(&self, owner: Owner, guards: &[Guard], reference: &Reference) -> Set {
        let any = || Set::of_type(reference.ty);
        // Variables of claims are not followed.
        let Some(key) = Key::of(owner, reference) else { return any() };
        if matches!(key.owner, Owner::Claim(_) | Owner::Trace) || reference.ty == Type::Chan {
            return any();
        }
        let mut set = self.known.get(&Target::Variable(key.clone())).cloned().unwrap_or_else(Set::none);
        if reference.path.is_empty() {
            for (_, op, bound) in guards.iter().filter(|(of, ..)| *of == key) {
                set = set.where_true(*op, *bound);
            }
        }
        set
    }

    /// The values of a variable in words.
    pub(crate) fn describe(&self, model: &Model, key: &Key, ty: Type) -> Option<String> {
        if matches!(ty, Type::Chan | Type::Struct(_)) {
            return None;
        }
        let set = self.get(key)?;
        let name = |value: i32| match ty {
            Type::Mtype(id) => model.mtype_name(id, value).map_or(value.to_string(), str::to_owned),
            _ => value.to_string(),
        };
        let (low, high) = set.bounds()?;
        let full = (i64::from(low), i64::from(high)) == bounds_of(ty);
        Some(match set {
            Set::Few(all) if all.len() <= 12 && !(full && ty == Type::Bit) => {
                all.iter().map(|&v| name(v)).collect::<Vec<_>>().join(", ")
            }
            _ => format!(
                "{} to {}{}",
                name(low),
                name(high),
                if full { ", all that the type has" } else { "" }
            ),
        })
    }
}

struct Collector<'m, 'c> {
    model: &'m Model,
    channels: &'c Channels,
    private: &'c Private,
    flows: Vec<Flow<'m>>,
    guards: Guards,
}

impl<'m> Collector<'m, '_> {
    fn model(&mut self) {
        for (i, variable) in self.model.globals.iter().enumerate() {
            self.initial(Owner::Nobody, i as u32, variable);
        }
        for (owner, behaviour) in behaviours(self.model) {
            let parameters = match owner {
                Owner::Process(ProctypeId(id)) => {
                    let proctype = &self.model.proctypes[id as usize];
                    // The parameters of active processes are 0; those of others come with `run`.
                    if proctype.active > 0 { 0 } else { proctype.parameters as usize }
                }
                _ => continue,
            };
            for (i, variable) in behaviour.locals.iter().enumerate().skip(parameters) {
                self.initial(owner, i as u32, variable);
            }
            self.guards = Rc::default();
            self.sequence(owner, &behaviour.body);
        }
    }

    /// What a variable begins with, and the scalars in it if it is a struct.
    fn initial(&mut self, owner: Owner, variable: u32, declared: &'m crate::model::Variable) {
        let key = Key { owner, variable, fields: Vec::new() };
        self.initial_of(key, declared);
    }

    fn initial_of(&mut self, key: Key, declared: &'m crate::model::Variable) {
        let owner = key.owner;
        if let Type::Struct(id) = declared.ty {
            for (i, field) in self.model.structs[id.0 as usize].fields.iter().enumerate() {
                let mut inner = key.clone();
                inner.fields.push(i as u32);
                self.initial_of(inner, field);
            }
            return;
        }
        match &declared.init {
            Init::Zero | Init::Channel(_) => self.constant(key, declared.ty, 0),
            Init::Value(value) => self.flow(owner, Target::Variable(key), declared.ty, From::Expr(value)),
            Init::List(values) => {
                for &value in values {
                    self.constant(key.clone(), declared.ty, value);
                }
            }
        }
    }

    fn constant(&mut self, key: Key, ty: Type, value: i32) {
        self.flow(key.owner, Target::Variable(key), ty, From::Constant(value));
    }

    fn flow(&mut self, owner: Owner, to: Target, ty: Type, from: From<'m>) {
        let guards = self.guards.clone();
        self.flows.push(Flow { to, ty, from, owner, guards });
    }

    fn sequence(&mut self, owner: Owner, sequence: &'m Sequence) {
        for statement in sequence {
            if !statement.labels.is_empty() {
                self.guards = Rc::default();
            }
            self.statement(owner, statement);
        }
    }

    fn statement(&mut self, owner: Owner, statement: &'m Statement) {
        for expr in walk::expressions(statement) {
            walk::expression(expr, &mut |e| {
                if let ExprKind::Run(run) = &e.kind {
                    self.run(owner, run);
                }
            });
        }
        match &statement.kind {
            StatementKind::Declare { local, init } => {
                let Owner::Process(ProctypeId(id)) = owner else { return };
                let ty = self.model.proctypes[id as usize].behaviour.locals[local.0 as usize].ty;
                let key = Key { owner, variable: local.0, fields: Vec::new() };
                if let Init::Value(value) = init {
                    self.flow(owner, Target::Variable(key.clone()), ty, From::Expr(value));
                }
                self.forget(&key);
            }
            StatementKind::Expression(condition) => self.assume(owner, condition),
            StatementKind::Assign { target, value } => {
                let Some(key) = Key::of(owner, target) else { return };
                if let Type::Struct(_) = target.ty {
                    self.anything_in(owner, key, target.ty);
                } else {
                    self.flow(owner, Target::Variable(key.clone()), target.ty, From::Expr(value));
                    self.forget(&key);
                }
            }
            StatementKind::Send { channel, arguments, .. } => {
                let Some(class) = self.channels.class(owner, channel) else { return };
                for (i, argument) in arguments.iter().enumerate() {
                    let ty = self.channels.field(class, i);
                    self.flow(owner, Target::Message(class, i), ty, From::Expr(argument));
                }
                // What is not given is sent as 0.
                for i in arguments.len()..self.channels.width(class) {
                    let ty = self.channels.field(class, i);
                    self.flow(owner, Target::Message(class, i), ty, From::Constant(0));
                }
            }
            StatementKind::Receive(receive) => self.receive(owner, receive),
            StatementKind::Block(inner) | StatementKind::Atomic(inner) | StatementKind::DStep(inner) => {
                self.sequence(owner, inner);
            }
            StatementKind::If(options) => {
                let before = self.guards.clone();
                for option in options {
                    self.guards = before.clone();
                    self.sequence(owner, option);
                }
                self.guards = Rc::default();
            }
            StatementKind::Do(options, _) => {
                for option in options {
                    self.guards = Rc::default();
                    self.sequence(owner, option);
                }
                self.guards = Rc::default();
            }
            StatementKind::Unless { body, escape } => {
                self.sequence(owner, body);
                self.guards = Rc::default();
                self.sequence(owner, escape);
                self.guards = Rc::default();
            }
            _ => {}
        }
    }

    fn run(&mut self, owner: Owner, run: &'m crate::model::Run) {
        let process = Owner::Process(run.proctype);
        let parameters = &self.model.proctypes[run.proctype.0 as usize].behaviour.locals;
        for (i, (argument, parameter)) in run.arguments.iter().zip(parameters).enumerate() {
            let key = Key { owner: process, variable: i as u32, fields: Vec::new() };
            match parameter.ty {
                Type::Struct(_) => self.anything_in(process, key, parameter.ty),
                ty => self.flow(owner, Target::Variable(key), ty, From::Expr(argument)),
            }
        }
    }

    fn receive(&mut self, owner: Owner, receive: &'m crate::model::Receive) {
        let class = self.channels.class(owner, &receive.channel);
        for (i, argument) in receive.arguments.iter().enumerate() {
            let ReceiveArgument::Store(reference) = argument else { continue };
            let Some(key) = Key::of(owner, reference) else { continue };
            let from = match class {
                Some(class) => From::Message(class, i),
                None => From::Anything,
            };
            self.flow(owner, Target::Variable(key.clone()), reference.ty, from);
            self.forget(&key);
        }
    }

    /// A struct is copied as a whole: nothing more is known of what is in it.
    fn anything_in(&mut self, owner: Owner, key: Key, ty: Type) {
        let Type::Struct(id) = ty else { return self.flow(owner, Target::Variable(key), ty, From::Anything) };
        for (i, field) in self.model.structs[id.0 as usize].fields.iter().enumerate() {
            let mut inner = key.clone();
            inner.fields.push(i as u32);
            self.anything_in(owner, inner, field.ty);
        }
    }

    /// A condition on the process's own variables holds from here on, until one of them changes.
    fn assume(&mut self, owner: Owner, condition: &Expr) {
        match &condition.kind {
            ExprKind::Binary(BinaryOp::And, a, b) => {
                self.assume(owner, a);
                self.assume(owner, b);
            }
            ExprKind::Binary(op, a, b) => {
                if let (ExprKind::Variable(reference), ExprKind::Constant { value, .. }) = (&a.kind, &b.kind)
                {
                    self.hold(owner, reference, *op, *value);
                } else if let (ExprKind::Constant { value, .. }, ExprKind::Variable(reference)) =
                    (&a.kind, &b.kind)
                    && let Some(op) = turned(*op)
                {
                    self.hold(owner, reference, op, *value);
                }
            }
            ExprKind::Variable(reference) => self.hold(owner, reference, BinaryOp::Ne, 0),
            ExprKind::Unary(UnaryOp::Not, inner) => {
                if let ExprKind::Variable(reference) = &inner.kind {
                    self.hold(owner, reference, BinaryOp::Eq, 0);
                }
            }
            _ => {}
        }
    }

    fn hold(&mut self, owner: Owner, reference: &Reference, op: BinaryOp, bound: i32) {
        if let (true, Some(key)) = (self.private.is_own(owner, reference), Key::of(owner, reference)) {
            Rc::make_mut(&mut self.guards).push((key, op, bound));
        }
    }

    fn forget(&mut self, key: &Key) {
        if self.guards.iter().any(|(of, ..)| of == key) {
            Rc::make_mut(&mut self.guards).retain(|(of, ..)| of != key);
        }
    }
}

/// `a op b` as `b op' a`.
pub(crate) fn turned(op: BinaryOp) -> Option<BinaryOp> {
    Some(match op {
        BinaryOp::Lt => BinaryOp::Gt,
        BinaryOp::Le => BinaryOp::Ge,
        BinaryOp::Gt => BinaryOp::Lt,
        BinaryOp::Ge => BinaryOp::Le,
        BinaryOp::Eq | BinaryOp::Ne => op,
        _ => return None,
    })
}

fn solve(flows: &[Flow]) -> Values {
    let mut values = Values { known: HashMap::new() };
    if flows.len() > MOST_FLOWS {
        for flow in flows {
            values.known.insert(flow.to.clone(), Set::of_type(flow.ty));
        }
        return values;
    }
    let mut round = 0;
    loop {
        let mut changed = false;
        for flow in flows {
            let new = source(&values, flow);
            let known = values.known.entry(flow.to.clone()).or_insert_with(Set::none);
            let mut joined = known.join(&new);
            if joined == *known {
                continue;
            }
            if round > PATIENCE {
                joined = known.widen(&joined, flow.ty);
            }
            if round > LAST_ROUND {
                joined = Set::of_type(flow.ty);
            }
            changed |= joined != *known;
            *known = joined;
        }
        if !changed {
            break;
        }
        round += 1;
    }
    for _ in 0..if round > PATIENCE { 2 } else { 0 } {
        let mut narrowed: HashMap<Target, Set> = HashMap::new();
        for flow in flows {
            let new = source(&values, flow);
            let known = narrowed.entry(flow.to.clone()).or_insert_with(Set::none);
            *known = known.join(&new);
        }
        values.known = narrowed;
    }
    values
}

fn source(values: &Values, flow: &Flow) -> Set {
    match &flow.from {
        From::Expr(expr) => values.evaluate(flow.owner, &flow.guards, expr).stored(flow.ty),
        From::Anything => Set::of_type(flow.ty),
        From::Constant(value) => Set::one(*value).stored(flow.ty),
        From::Message(class, field) => {
            let found = values.known.get(&Target::Message(*class, *field));
            found.cloned().unwrap_or_else(Set::none).stored(flow.ty)
        }
    }
}
