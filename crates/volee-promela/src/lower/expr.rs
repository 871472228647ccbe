//! Lowering of expressions, references and initial values.

use volee_program::{Expr, Index, Location, NodeId, Pattern, ProctypeId, Scope};
use volee_system::{Diagnostic, Place};

use super::control::Control;
use super::storage::{Storage, location};
use crate::model::{self, Access, Base, ExprKind, Init, Model, ReceiveArgument, Reference, Type, UnaryOp};

/// What lowering needs to know and what it finds out.
pub(super) struct Lowering<'a> {
    pub model: &'a Model,
    pub storage: &'a Storage,
    pub controls: &'a [Control],
    /// Whose locals are meant.
    proctype: Option<usize>,
    pub errors: Vec<Diagnostic>,
    /// Globals that are no part of a state, so that nothing can be asked of them.
    pub hidden: &'a [model::GlobalId],
    pub uses_last: bool,
    pub uses_timeout: bool,
    pub uses_priorities: bool,
}

impl<'a> Lowering<'a> {
    pub fn new(model: &'a Model, storage: &'a Storage, controls: &'a [Control]) -> Self {
        Lowering {
            model,
            storage,
            controls,
            proctype: None,
            errors: Vec::new(),
            hidden: &[],
            uses_last: false,
            uses_timeout: false,
            uses_priorities: false,
        }
    }

    /// From now on, locals are those of this proctype.
    pub fn enter(&mut self, proctype: Option<usize>) {
        self.proctype = proctype;
    }

    pub fn error(&mut self, message: impl Into<String>, place: &Place) {
        self.errors.push(Diagnostic::error(message, place.clone()));
    }

    pub fn expr(&mut self, expr: &model::Expr) -> Expr {
        let place = Some(expr.place.clone());
        match &expr.kind {
            ExprKind::Constant { value, .. } => Expr::Const(*value),
            ExprKind::Variable(reference) => self.load(reference),
            ExprKind::Pid => Expr::Pid,
            ExprKind::ProcessCount => Expr::ProcessCount,
            ExprKind::Last => {
                self.uses_last = true;
                Expr::Last
            }
            ExprKind::NonProgress => Expr::NonProgress,
            ExprKind::Timeout => {
                self.uses_timeout = true;
                Expr::Timeout
            }
            ExprKind::Unary(op, e) => {
                let e = Box::new(self.expr(e));
                match op {
                    UnaryOp::Not => Expr::Not(e),
                    UnaryOp::Negate => Expr::Neg(e),
                    UnaryOp::Complement => Expr::Complement(e),
                }
            }
            ExprKind::Binary(op, a, b) => {
                Expr::Binary(*op, Box::new(self.operand(a)), Box::new(self.operand(b)), place)
            }
            ExprKind::Conditional(c, a, b) => {
                Expr::Cond(Box::new(self.operand(c)), Box::new(self.operand(a)), Box::new(self.operand(b)))
            }
            ExprKind::Run(run) => self.run(run, place),
            ExprKind::Channel(test, channel) => Expr::Channel(*test, Box::new(self.load(channel)), place),
            ExprKind::Poll(poll) => Expr::Poll {
                channel: Box::new(self.load(&poll.channel)),
                patterns: poll.arguments.iter().map(|a| self.pattern(a)).collect(),
                anywhere: poll.random,
                place,
            },
            ExprKind::Enabled(e) => {
                if self.names_itself(e) {
                    self.error("`enabled` cannot be asked of the process itself", &expr.place);
                }
                Expr::Enabled(Box::new(self.operand(e)), place)
            }
            ExprKind::PcValue(e) => Expr::PcValue(Box::new(self.operand(e))),
            ExprKind::GetPriority(e) => {
                self.uses_priorities = true;
                Expr::Priority(Box::new(self.operand(e)))
            }
            ExprKind::RemoteLabel { proctype, pid, label } => Expr::At {
                proctype: ProctypeId(proctype.0 as u8),
                pid: pid.as_ref().map(|p| Box::new(self.operand(p))),
                node: self.label_node(proctype.0 as usize, *label),
                place,
            },
            ExprKind::RemoteVariable { proctype, pid, variable } => {
                let pid = pid.as_ref().map(|p| Box::new(self.operand(p)));
                let location = Box::new(self.remote_location(proctype.0 as usize, variable));
                Expr::Remote { proctype: ProctypeId(proctype.0 as u8), pid, location, place }
            }
        }
    }

    /// An expression that is part of a larger one.
    fn operand(&mut self, expr: &model::Expr) -> Expr {
        if let ExprKind::Run(_) = expr.kind {
            self.error("`run` inside a larger expression: give it a statement of its own", &expr.place);
        }
        self.expr(expr)
    }

    /// Whether an expression is plainly the number of the process that evaluates it: `_pid`, or the number
    /// that the only process of its type has from the start.
    fn names_itself(&self, pid: &model::Expr) -> bool {
        let Some(proctype) = self.proctype else { return false };
        match pid.kind {
            ExprKind::Pid => true,
            ExprKind::Constant { value, .. } => {
                let older: u32 = self.model.proctypes[..proctype].iter().map(|p| p.active).sum();
                self.model.proctypes[proctype].active == 1 && i64::from(value) == i64::from(older)
            }
            _ => false,
        }
    }

    fn run(&mut self, run: &model::Run, place: Option<Place>) -> Expr {
        let arguments = run.arguments.iter().flat_map(|a| self.scalars(a)).collect();
        self.uses_priorities |= run.priority.is_some();
        Expr::Run { proctype: ProctypeId(run.proctype.0 as u8), arguments, priority: run.priority, place }
    }

    /// The values of an expression: one, or one per leaf for a whole structure.
    pub fn scalars(&mut self, expr: &model::Expr) -> Vec<Expr> {
        match &expr.kind {
            ExprKind::Variable(reference) if matches!(reference.ty, Type::Struct(_)) => {
                self.leaves(reference).into_iter().map(|l| Expr::Load(Box::new(l))).collect()
            }
            _ => vec![self.operand(expr)],
        }
    }

    /// The scalar leaves below a reference.
    pub fn leaves(&mut self, reference: &Reference) -> Vec<Location> {
        let mut all = Vec::new();
        let start = self.location(reference);
        self.leaves_below(&start, reference.ty, &mut all);
        all
    }

    fn leaves_below(&self, start: &Location, ty: Type, all: &mut Vec<Location>) {
        let Type::Struct(id) = ty else {
            let (scalar, kind) = super::storage::scalar(ty);
            all.push(Location { scalar, kind, ..start.clone() });
            return;
        };
        for (f, field) in self.model.structs[id.0 as usize].fields.iter().enumerate() {
            let offset = start.offset + self.storage.field_offset(ty, model::FieldId(f as u32));
            for i in 0..field.length.unwrap_or(1) {
                let offset = offset + i * self.storage.size_of(field.ty);
                self.leaves_below(&Location { offset, ..start.clone() }, field.ty, all);
            }
        }
    }

    pub fn load(&mut self, reference: &Reference) -> Expr {
        match reference.base {
            Base::Priority => {
                self.uses_priorities = true;
                Expr::Priority(Box::new(Expr::Pid))
            }
            Base::Stdin | Base::Scratch => Expr::Const(0),
            Base::Global(_) | Base::Local(_) => Expr::Load(Box::new(self.location(reference))),
        }
    }

    /// Where a reference points, in the scope of the current proctype.
    pub fn location(&mut self, reference: &Reference) -> Location {
        let (scope, offset) = match reference.base {
            Base::Global(id) => (Scope::Global, self.storage.globals.offsets[id.0 as usize]),
            Base::Local(id) => match self.proctype {
                Some(p) => (Scope::Local, self.storage.locals[p].offsets[id.0 as usize]),
                None => (Scope::Nowhere, 0),
            },
            Base::Scratch | Base::Priority | Base::Stdin => (Scope::Nowhere, 0),
        };
        if let Base::Global(id) = reference.base
            && self.hidden.contains(&id)
        {
            let name = &self.model.globals[id.0 as usize].name;
            self.error(format!("`{name}` is hidden: its value is no part of a state"), &reference.place);
        }
        let declared = match reference.base {
            Base::Global(id) => self.model.globals[id.0 as usize].ty,
            Base::Local(id) => match self.proctype {
                Some(p) => self.model.proctypes[p].behaviour.locals[id.0 as usize].ty,
                None => reference.ty,
            },
            _ => reference.ty,
        };
        self.follow(reference, scope, offset, declared)
    }

    fn remote_location(&mut self, proctype: usize, reference: &Reference) -> Location {
        let Base::Local(id) = reference.base else { return self.location(reference) };
        let offset = self.storage.locals[proctype].offsets[id.0 as usize];
        let declared = self.model.proctypes[proctype].behaviour.locals[id.0 as usize].ty;
        self.follow(reference, Scope::Local, offset, declared)
    }

    fn follow(&mut self, reference: &Reference, scope: Scope, offset: u32, mut ty: Type) -> Location {
        let mut location = location(scope, offset, reference.ty, reference.place.clone());
        for access in &reference.path {
            match access {
                Access::Index { index, length } => {
                    let value = self.operand(index);
                    location.indices.push(Index { value, count: *length, stride: self.storage.size_of(ty) });
                }
                Access::Field(field) => {
                    location.offset += self.storage.field_offset(ty, *field);
                    if let Type::Struct(id) = ty {
                        ty = self.model.structs[id.0 as usize].fields[field.0 as usize].ty;
                    }
                }
            }
        }
        location
    }

    pub fn pattern(&mut self, argument: &ReceiveArgument) -> Pattern {
        match argument {
            ReceiveArgument::Match(e) => Pattern::Match(self.operand(e)),
            ReceiveArgument::Store(reference) => Pattern::Bind(self.location(reference)),
            ReceiveArgument::Discard => Pattern::Any,
        }
    }

    fn label_node(&mut self, proctype: usize, label: model::LabelId) -> NodeId {
        self.controls[proctype].label_node(label)
    }

    /// The values that variables of a block have at the start, where they are not zero and not channels.
    pub fn initial_values(
        &mut self,
        proctype: Option<usize>,
        variables: &[model::Variable],
    ) -> Vec<(Location, Expr)> {
        let before = std::mem::replace(&mut self.proctype, proctype);
        let mut all = Vec::new();
        for (i, variable) in variables.iter().enumerate() {
            let (scope, block) = match proctype {
                None => (Scope::Global, &self.storage.globals),
                Some(p) => (Scope::Local, &self.storage.locals[p]),
            };
            let start = location(scope, block.offsets[i], variable.ty, variable.place.clone());
            self.values_of(variable, &variable.init, &start, &mut all);
        }
        self.proctype = before;
        all
    }

    /// The assignments that give `variable`, which starts at `start`, the value `init`.
    pub fn values_of(
        &mut self,
        variable: &model::Variable,
        init: &Init,
        start: &Location,
        all: &mut Vec<(Location, Expr)>,
    ) {
        let size = self.storage.size_of(variable.ty);
        for i in 0..variable.length.unwrap_or(1) {
            let element = Location { offset: start.offset + i * size, ..start.clone() };
            match (init, variable.ty) {
                (Init::Value(e), _) => all.push((element, self.operand(e))),
                (Init::List(values), _) => {
                    let value = values.get(i as usize).or(values.last()).copied().unwrap_or(0);
                    all.push((element, Expr::Const(value)));
                }
                (Init::Zero, Type::Struct(id)) => {
                    let model = self.model;
                    for (f, field) in model.structs[id.0 as usize].fields.iter().enumerate() {
                        let offset =
                            element.offset + self.storage.field_offset(variable.ty, model::FieldId(f as u32));
                        let (scalar, kind) = super::storage::scalar(field.ty);
                        let at = Location { offset, scalar, kind, ..element.clone() };
                        self.values_of(field, &field.init, &at, all);
                    }
                }
                (Init::Zero | Init::Channel(_), _) => return,
            }
        }
    }

    /// Where a local variable of the current proctype starts.
    pub fn local_start(&self, local: model::LocalId, variable: &model::Variable) -> Location {
        let offset = self.proctype.map_or(0, |p| self.storage.locals[p].offsets[local.0 as usize]);
        let scope = if self.proctype.is_some() { Scope::Local } else { Scope::Nowhere };
        location(scope, offset, variable.ty, variable.place.clone())
    }

    /// A variable of the current proctype.
    pub fn local(&self, local: model::LocalId) -> Option<&'a model::Variable> {
        Some(&self.model.proctypes[self.proctype?].behaviour.locals[local.0 as usize])
    }
}
