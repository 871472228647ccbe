//! Third pass: statements.
//!
//! A statement may become several (`for` begins with an assignment), so each function appends to the sequence
//! it is given; the last statement appended is the one that labels and escapes belong to.

use super::expr::{Completeness, Runs};
use super::locals::Locals;
use super::{BehaviourKind, Failed, Resolved, Resolver, Scope};
use crate::ast::{self, Block, StatementKind as Ast};
use crate::index::Role;
use crate::limits::MAX_STATEMENTS;
use crate::model::{
    Base, Behaviour, BinaryOp, Exclusive, ExclusiveKind, Expr, ExprKind, Init, LabelId, LoopOrigin, Receive,
    Reference, Sequence, Statement, StatementKind, Type, Variable,
};
use crate::render;
use crate::source::{Advice, At};

impl Resolver<'_> {
    /// Resolves a body whose variables and labels are known.
    pub(super) fn behaviour(
        &mut self,
        kind: BehaviourKind,
        found: Locals,
        variables: Vec<Variable>,
        parameters: u32,
        body: &ast::Body,
    ) -> Behaviour {
        let labels = found.model_labels();
        self.scope = Some(Scope::new(kind, found, variables));
        self.show_parameters(parameters);
        let statements = self.sequence(&body.statements);
        let (locals, exclusive) = match self.scope.take() {
            Some(scope) => (scope.variables, scope.exclusive),
            None => (Vec::new(), Vec::new()),
        };
        let end = self.sources.place(body.end);
        Behaviour { locals, labels, body: statements, exclusive, end }
    }

    pub(super) fn scope(&mut self) -> &mut Scope {
        self.scope.as_mut().expect("statements are in behaviours")
    }

    pub(super) fn sequence(&mut self, statements: &ast::Sequence) -> Sequence {
        let mut result = Vec::with_capacity(statements.len());
        for statement in statements {
            if self.statements > MAX_STATEMENTS {
                self.too_large(statement.at);
                break;
            }
            // What failed is left out: the diagnostic makes the model unusable anyway.
            let _ = self.statement(statement, &mut result);
        }
        result
    }

    pub(super) fn too_large(&mut self, at: At) -> Failed {
        if !self.is_too_large {
            self.sources
                .error(
                    at,
                    0,
                    format!("the model has more than {MAX_STATEMENTS} statements when all is expanded"),
                )
                .advise("look for inlines that call others many times over");
        }
        self.is_too_large = true;
        Failed
    }

    /// The statements of a block, in a scope of their own.
    pub(super) fn block(&mut self, block: &Block) -> Sequence {
        let mut result = Vec::new();
        self.in_block(|resolver| result = resolver.sequence(&block.statements));
        result
    }

    pub(super) fn in_block(&mut self, inside: impl FnOnce(&mut Self)) {
        let scope = self.scope();
        let (outer, declared) = (scope.block, scope.declared.len());
        scope.block = scope.next_block;
        scope.next_block += 1;
        scope.at_start = false;
        inside(self);
        let scope = self.scope();
        for sym in scope.declared.split_off(declared) {
            if let Some(visible) = scope.visible.get_mut(&sym) {
                visible.pop();
            }
        }
        scope.block = outer;
    }

    /// Appends what a statement means, with its labels.
    fn statement(&mut self, statement: &ast::Statement, out: &mut Sequence) -> Resolved<()> {
        let labels = self.labels(statement);
        let before = out.len();
        let result = self.unlabelled(statement, out);
        if let Some(last) = out[before..].last_mut() {
            last.labels.splice(0..0, labels);
        }
        if !matches!(statement.kind, Ast::Declaration(_) | Ast::Exclusive(..)) {
            self.scope().at_start = false;
            self.scope().at_guard = false;
        }
        result
    }

    fn labels(&mut self, statement: &ast::Statement) -> Vec<LabelId> {
        let scope = self.scope();
        statement.labels.iter().filter_map(|l| scope.found.label(l.sym, scope.block)).collect()
    }

    fn unlabelled(&mut self, statement: &ast::Statement, out: &mut Sequence) -> Resolved<()> {
        let at = statement.at;
        self.check_event(statement)?;
        let kind = match &statement.kind {
            Ast::Declaration(declaration) => {
                self.declaration(declaration, out);
                return Ok(());
            }
            Ast::Exclusive(kind, channels) => return self.exclusive(*kind, channels),
            Ast::ForRange { variable, from, to, body } => {
                return self.for_range(variable, from, to, body, out);
            }
            Ast::ForIn { variable, collection, body } => return self.for_in(variable, collection, body, out),
            Ast::Select { variable, from, to, literal } => {
                return self.select(variable, from, to, *literal, at, out);
            }
            Ast::Unless(body, escape) => return self.unless(body, escape, out),
            Ast::Block(block) => StatementKind::Block(self.block(block)),
            Ast::Atomic(block) => StatementKind::Atomic(self.block(block)),
            Ast::DStep(block) => StatementKind::DStep(self.d_step(block)),
            Ast::If(options) => StatementKind::If(self.options(options)),
            Ast::Do(options) => {
                let d_step = self.scope().d_step;
                self.scope().loops.push(d_step);
                let options = self.options(options);
                self.scope().loops.pop();
                StatementKind::Do(options, LoopOrigin::Written)
            }
            other => self.simple(other, at)?,
        };
        out.push(self.finish(kind, at));
        Ok(())
    }

    /// A statement without parts that are statements.
    fn simple(&mut self, kind: &Ast, at: At) -> Resolved<StatementKind> {
        Ok(match kind {
            Ast::Expression(expr) => StatementKind::Expression(self.expr(expr, Runs::Allowed)?),
            Ast::Assign(path, value) => self.assign(path, value)?,
            Ast::Step(path, op) => {
                let target = self.target(path)?;
                self.mark(path, Role::Update);
                if target.ty == Type::Chan {
                    self.sources.error(at, 0, "channels cannot be counted up or down");
                    return Err(Failed);
                }
                self.step(target, *op)
            }
            Ast::Send { channel, sorted, arguments } => self.send(channel, *sorted, arguments, at)?,
            Ast::Receive { channel, random, keep, arguments } => {
                let path = channel;
                let channel = self.channel(path)?;
                self.mark(path, Role::Receive);
                let arguments = self.receive_arguments(&channel, arguments, Completeness::Wanted)?;
                StatementKind::Receive(Receive { channel, random: *random, keep: *keep, arguments })
            }
            Ast::Assert(expr) => StatementKind::Assert(self.state_expr(expr, "an assertion")?),
            Ast::Printf { format, arguments } => self.printf(*format, arguments)?,
            Ast::Printm(value) => StatementKind::Printm(self.state_expr(value, "`printm`")?),
            Ast::SetPriority(pid, priority) => StatementKind::SetPriority(
                self.state_expr(pid, "`set_priority`")?,
                self.state_expr(priority, "`set_priority`")?,
            ),
            Ast::Break => self.check_break(at)?,
            Ast::Goto(name) => StatementKind::Goto(self.goto(*name)?),
            Ast::Else => {
                if !self.scope().at_guard {
                    self.sources
                        .warning(at, 4, "this `else` does not begin an option, so it is always executable")
                        .advise("is a `::` missing before it?");
                }
                StatementKind::Else
            }
            _ => unreachable!("compound statements are resolved elsewhere"),
        })
    }

    /// The statement with its text and place.
    pub(super) fn finish(&mut self, kind: StatementKind, at: At) -> Statement {
        self.statements += 1;
        let text = match (&kind, &self.scope) {
            (StatementKind::Goto(label), Some(scope)) => format!("goto {}", scope.found.label_name(*label)),
            (_, scope) => {
                let locals = scope.as_ref().map_or(&[][..], |scope| &scope.variables);
                render::statement(&self.model, locals, &kind)
            }
        };
        let text = text.into();
        Statement { labels: Vec::new(), place: self.sources.place(at), text, kind }
    }

    fn options(&mut self, options: &[ast::Sequence]) -> Vec<Sequence> {
        self.scope().at_start = false;
        let others = options.iter().filter_map(|o| o.first()).filter(|first| matches!(first.kind, Ast::Else));
        if let Some(second) = others.map(|first| first.at).nth(1) {
            self.sources.error(second, 4, "there is a second `else` among these options");
        }
        let mut result = Vec::with_capacity(options.len());
        for option in options {
            self.scope().at_guard = true;
            result.push(self.sequence(option));
        }
        result
    }

    fn d_step(&mut self, block: &Block) -> Sequence {
        let scope = self.scope();
        let outer = scope.d_step;
        scope.d_step = outer.or(Some(scope.next_block));
        let sequence = self.block(block);
        self.scope().d_step = outer;
        sequence
    }

    fn check_break(&mut self, at: At) -> Resolved<StatementKind> {
        let scope = self.scope();
        let d_step = scope.d_step;
        match scope.loops.last() {
            Some(&around) if around == d_step => return Ok(StatementKind::Break),
            Some(_) => {
                self.sources
                    .error(at, 5, "this `break` leaves a `d_step` in its midst")
                    .advise("put the `break` behind the `d_step`, or use `atomic`");
            }
            None => {
                self.sources
                    .error(at, 5, "`break` outside a loop")
                    .advise("it leaves a `do … od` or a `for`");
            }
        }
        Err(Failed)
    }

    /// `body unless escape`: labels of the body become those of the whole.
    fn unless(&mut self, body: &ast::Statement, escape: &ast::Statement, out: &mut Sequence) -> Resolved<()> {
        self.statement(body, out)?;
        let mut escapes = Vec::new();
        self.statement(escape, &mut escapes)?;
        let Some(mut main) = out.pop() else { return Err(Failed) };
        if let [Statement { kind: StatementKind::Block(_), labels, .. }] = &escapes[..]
            && labels.is_empty()
            && let Some(Statement { kind: StatementKind::Block(inner), .. }) = escapes.pop()
        {
            escapes = inner;
        }
        let labels = std::mem::take(&mut main.labels);
        let (place, text) = (main.place.clone(), "".into());
        let body = match main.kind {
            StatementKind::Block(inner) => inner,
            _ => vec![main],
        };
        let kind = StatementKind::Unless { body, escape: escapes };
        out.push(Statement { labels, place, text, kind });
        Ok(())
    }

    /// Variables come to life: at the birth of the process, or in the midst of a body by a step of their own.
    fn declaration(&mut self, declaration: &ast::Declaration, out: &mut Sequence) {
        for declarator in &declaration.variables {
            let at = declarator.name.at;
            let id = self.show_next_local(Some(at));
            let variable = self.scope().variables[id.0 as usize].clone();
            let init = self.init(declarator, &variable);
            let index = id.0 as usize;
            if self.scope().at_start {
                self.scope().variables[index].init = init;
                continue;
            }
            let text = variable.name;
            match init {
                Init::Channel(_) => {
                    self.sources
                        .error(at, text.len(), format!("the channel `{text}` is made in the midst of a body"))
                        .advise("declare it at the start of the proctype");
                    self.scope().variables[index].init = init;
                }
                Init::Value(_) if variable.length.is_some() => {
                    // SPIN sets these at the birth of the process, wherever they stand.
                    self.scope().variables[index].init = init;
                }
                init => {
                    let statement = self.finish(StatementKind::Declare { local: id, init }, at);
                    out.push(statement);
                }
            }
        }
    }

    fn exclusive(&mut self, kind: ExclusiveKind, channels: &[ast::Path]) -> Resolved<()> {
        for path in channels {
            let channel = self.reference(path)?;
            if !matches!(channel.ty, Type::Chan | Type::Struct(_)) {
                let text = self.path_text(path);
                self.sources.error(path.first().at, text.len(), format!("`{text}` is not a channel"));
                return Err(Failed);
            }
            self.scope().exclusive.push(Exclusive { kind, channel });
        }
        Ok(())
    }

    /// In a trace only channel operations can be followed.
    fn check_event(&mut self, statement: &ast::Statement) -> Resolved<()> {
        if self.scope().kind != BehaviourKind::Trace {
            return Ok(());
        }
        let is_event = match &statement.kind {
            Ast::Expression(expr) => matches!(expr.kind, ast::ExprKind::Number(_)),
            Ast::Assign(..)
            | Ast::Step(..)
            | Ast::Assert(_)
            | Ast::Printf { .. }
            | Ast::Printm(_)
            | Ast::SetPriority(..) => false,
            _ => true,
        };
        if !is_event {
            self.sources.error(
                statement.at,
                0,
                "a trace assertion has only sends, receives and control statements",
            );
            return Err(Failed);
        }
        Ok(())
    }

    /// What an assignment may write to.
    pub(super) fn target(&mut self, path: &ast::Path) -> Resolved<Reference> {
        let name = path.first();
        if Self::is_read_only(name.sym) {
            let text = self.text(name.sym);
            self.sources.error(name.at, text.len(), format!("`{text}` cannot be assigned to"));
            return Err(Failed);
        }
        let target = self.whole(path)?;
        self.mark(path, Role::Write);
        if target.base == Base::Stdin {
            self.sources.error(name.at, 5, "`STDIN` cannot be assigned to");
            return Err(Failed);
        }
        Ok(target)
    }

    fn is_read_only(sym: crate::intern::Sym) -> bool {
        use crate::intern::kw;
        [kw::PID, kw::NR_PR, kw::LAST].contains(&sym)
    }

    fn assign(&mut self, path: &ast::Path, value: &ast::Expr) -> Resolved<StatementKind> {
        let target = self.target(path);
        if let Ok(Reference { ty: ty @ Type::Struct(_), .. }) = &target {
            let value = self.argument_of_type(value, *ty)?;
            return Ok(StatementKind::Assign { target: target?, value });
        }
        let value = self.expr(value, Runs::Allowed);
        Ok(StatementKind::Assign { target: target?, value: value? })
    }

    /// `target = target op 1`
    pub(super) fn step(&mut self, target: Reference, op: BinaryOp) -> StatementKind {
        let place = target.place.clone();
        let expr = |kind| Box::new(Expr { kind, place: place.clone() });
        let one = expr(ExprKind::Constant { value: 1, name: None });
        let value = *expr(ExprKind::Binary(op, expr(ExprKind::Variable(target.clone())), one));
        StatementKind::Assign { target, value }
    }

    fn send(
        &mut self,
        channel: &ast::Path,
        sorted: bool,
        arguments: &[ast::Expr],
        at: At,
    ) -> Resolved<StatementKind> {
        let path = channel;
        let channel = self.channel(path);
        self.mark(path, Role::Send);
        if let Ok(Reference { base: Base::Stdin, .. }) = &channel {
            self.sources.error(at, 5, "`STDIN` can only be received from");
            return Err(Failed);
        }
        let mut flat = Vec::with_capacity(arguments.len());
        let mut result = Ok(());
        for argument in arguments {
            result = self.send_argument(argument, &mut flat).and(result);
        }
        result?;
        let channel = channel?;
        if let Some(wanted) = self.message_fields(&channel).map(<[Type]>::len) {
            self.check_message(at, wanted, flat.len(), "sent");
        }
        Ok(StatementKind::Send { channel, sorted, arguments: flat })
    }

    fn send_argument(&mut self, argument: &ast::Expr, flat: &mut Vec<Expr>) -> Resolved<()> {
        if let ast::ExprKind::Path(path) = &argument.kind
            && self.is_struct(path)
        {
            let reference = self.whole(path)?;
            self.check_flat_size(path.first(), &reference)?;
            let mut scalars = Vec::new();
            self.flatten(reference, &mut scalars);
            flat.extend(
                scalars.into_iter().map(|r| Expr { place: r.place.clone(), kind: ExprKind::Variable(r) }),
            );
            return Ok(());
        }
        flat.push(self.state_expr(argument, "a message")?);
        Ok(())
    }

    /// Whether a path that may be anything leads to a struct.
    fn is_struct(&mut self, path: &ast::Path) -> bool {
        let base = path.first().sym;
        let variable = match self.local(base) {
            Some(id) => &self.scope().variables[id.0 as usize],
            None => match self.globals.get(&base) {
                Some(id) => &self.model.globals[id.0 as usize],
                None => return false,
            },
        };
        matches!(variable.ty, Type::Struct(_))
            && self.whole(path).is_ok_and(|reference| matches!(reference.ty, Type::Struct(_)))
    }
}
