//! Expressions: every name gets its meaning, and what cannot be evaluated is refused.

use super::{BehaviourKind, Failed, Resolved, Resolver};
use crate::ast::{self, Name, Path, ReceiveArgument as AstArgument};
use crate::index::Role;
use crate::index::notes::{Entity, Within};
use crate::intern::kw;
use crate::limits::{MAX_MESSAGE_FIELDS, MAX_STATEMENTS};
use crate::model::{
    Base, ChannelTest, Expr, ExprKind, Poll, ProctypeId, ReceiveArgument, Reference, Run, Type,
};
use crate::source::Advice;

/// Where an expression stands: whether it may start a process.
#[derive(Clone, Copy)]
pub(super) enum Runs {
    Allowed,
    /// In what it must not.
    Refused(&'static str),
}

/// Whether all fields of a message should be named: in a receive, not in a poll.
#[derive(Clone, Copy)]
pub(super) enum Completeness {
    Wanted,
    Optional,
}

impl Resolver<'_> {
    /// An expression without side effects, that is part of `what`.
    pub(super) fn state_expr(&mut self, expr: &ast::Expr, what: &'static str) -> Resolved<Expr> {
        self.expr(expr, Runs::Refused(what))
    }

    pub(super) fn expr(&mut self, expr: &ast::Expr, runs: Runs) -> Resolved<Expr> {
        let kind = match &expr.kind {
            ast::ExprKind::Number(value) => ExprKind::Constant { value: *value, name: None },
            ast::ExprKind::Path(path) => self.value(path)?,
            ast::ExprKind::Unary(op, operand) => ExprKind::Unary(*op, Box::new(self.expr(operand, runs)?)),
            ast::ExprKind::Binary(op, left, right) => {
                // Both sides, so that mistakes in both are found.
                let (left, right) = (self.expr(left, runs), self.expr(right, runs));
                ExprKind::Binary(*op, Box::new(left?), Box::new(right?))
            }
            ast::ExprKind::Conditional(all) => {
                let [a, b, c] = &**all;
                let (a, b, c) = (self.expr(a, runs), self.expr(b, runs), self.expr(c, runs));
                ExprKind::Conditional(Box::new(a?), Box::new(b?), Box::new(c?))
            }
            ast::ExprKind::Run { name, arguments, priority } => {
                self.check_run(*name, runs)?;
                let priority = priority.as_ref().map(|p| self.priority_value(p)).transpose()?;
                self.run(*name, arguments, priority)?
            }
            ast::ExprKind::Channel(test, path) => self.channel_test(*test, path)?,
            ast::ExprKind::Poll { channel, random, arguments } => {
                let channel = self.channel(channel)?;
                let arguments = self.receive_arguments(&channel, arguments, Completeness::Optional)?;
                ExprKind::Poll(Box::new(Poll { channel, random: *random, arguments }))
            }
            ast::ExprKind::Enabled(pid) => ExprKind::Enabled(Box::new(self.state_expr(pid, "`enabled`")?)),
            ast::ExprKind::PcValue(pid) => ExprKind::PcValue(Box::new(self.state_expr(pid, "`pc_value`")?)),
            ast::ExprKind::GetPriority(pid) => {
                ExprKind::GetPriority(Box::new(self.state_expr(pid, "`get_priority`")?))
            }
            ast::ExprKind::RemoteLabel { proctype, pid, label } => {
                self.remote_label(*proctype, pid.as_deref(), *label)?
            }
            ast::ExprKind::RemoteVariable { proctype, pid, path } => {
                self.remote_variable(*proctype, pid.as_deref(), path)?
            }
            ast::ExprKind::NonProgress => ExprKind::NonProgress,
            ast::ExprKind::Timeout => ExprKind::Timeout,
            ast::ExprKind::Temporal(..) => {
                self.sources
                    .error(expr.at, 0, "a temporal formula cannot be the operand of an arithmetic operator")
                    .advise("temporal operators bind tightly: put parentheses around what they govern");
                return Err(Failed);
            }
        };
        Ok(Expr { kind, place: self.sources.place(expr.at) })
    }

    /// The value of a variable, a symbolic name, or a predefined name.
    fn value(&mut self, path: &Path) -> Resolved<ExprKind> {
        if let Some(name) = path.as_name() {
            match name.sym {
                kw::PID => return Ok(ExprKind::Pid),
                kw::NR_PR => return Ok(ExprKind::ProcessCount),
                kw::LAST => return Ok(ExprKind::Last),
                // In a trace it stands for any value.
                kw::UNDERSCORE if self.in_trace() => {}
                kw::UNDERSCORE => {
                    self.sources.error(name.at, 1, "`_` has no value: it can only be written to");
                    return Err(Failed);
                }
                _ => {}
            }
            let hidden = self.local(name.sym).is_some() || self.globals.contains_key(&name.sym);
            if let Some(&(_, value)) = self.symbols.get(&name.sym).filter(|_| !hidden) {
                let value = i32::from(value);
                self.sources.note(name, Entity::MtypeValue(name.sym), Role::Read);
                return Ok(ExprKind::Constant { value, name: Some(self.interner.shared(name.sym)) });
            }
        }
        let reference = self.scalar(path)?;
        if reference.base == Base::Stdin {
            let at = path.first().at;
            self.sources.error(at, 5, "`STDIN` can only be received from").advise("write `STDIN?x`");
            return Err(Failed);
        }
        Ok(ExprKind::Variable(reference))
    }

    fn in_trace(&self) -> bool {
        self.scope.as_ref().is_some_and(|scope| scope.kind == BehaviourKind::Trace)
    }

    fn check_run(&mut self, name: Name, runs: Runs) -> Resolved<()> {
        let Runs::Refused(what) = runs else { return Ok(()) };
        let text = self.text(name.sym);
        self.sources
            .error(name.at, text.len(), format!("`run` cannot stand in {what}"))
            .advise("use it in a statement of its own, or assign its value to a variable");
        Err(Failed)
    }

    fn run(&mut self, name: Name, arguments: &[ast::Expr], priority: Option<u8>) -> Resolved<ExprKind> {
        let text = self.text(name.sym);
        let Some(&proctype) = self.proctypes.get(&name.sym) else {
            let known = self.proctypes.keys().copied().collect();
            return Err(self.unknown(name, format!("there is no proctype `{text}`"), known));
        };
        self.sources.note(name, Entity::Proctype(proctype), Role::Read);
        let target = &self.model.proctypes[proctype.0 as usize];
        let parameters: Vec<Type> =
            target.behaviour.locals.iter().take(target.parameters as usize).map(|v| v.ty).collect();
        let place = target.place.clone();
        if arguments.len() != parameters.len() {
            let message = format!(
                "the proctype `{text}` has {} parameters but gets {} arguments",
                parameters.len(),
                arguments.len()
            );
            self.sources.error(name.at, text.len(), message).advise(format!("it is declared at {place}"));
            return Err(Failed);
        }
        let mut values = Vec::with_capacity(arguments.len());
        for (argument, ty) in arguments.iter().zip(parameters) {
            values.push(self.argument_of_type(argument, ty)?);
        }
        Ok(ExprKind::Run(Box::new(Run { proctype, arguments: values, priority })))
    }

    /// A value for a parameter or a variable of a type: a struct for a struct, else a scalar.
    pub(super) fn argument_of_type(&mut self, expr: &ast::Expr, ty: Type) -> Resolved<Expr> {
        let (Type::Struct(_), ast::ExprKind::Path(path)) = (ty, &expr.kind) else {
            if let Type::Struct(_) = ty {
                let wanted = self.type_text(ty);
                self.sources.error(expr.at, 0, format!("a variable of type `{wanted}` is needed here"));
                return Err(Failed);
            }
            return self.state_expr(expr, "an argument of `run`");
        };
        let reference = self.whole(path)?;
        if reference.ty != ty {
            let (found, wanted) = (self.type_text(reference.ty), self.type_text(ty));
            let text = self.path_text(path);
            let message = format!("`{text}` is of type `{found}`, but `{wanted}` is needed");
            self.sources.error(expr.at, text.len(), message);
            return Err(Failed);
        }
        Ok(Expr { place: reference.place.clone(), kind: ExprKind::Variable(reference) })
    }

    fn channel_test(&mut self, test: ChannelTest, path: &Path) -> Resolved<ExprKind> {
        Ok(ExprKind::Channel(test, Box::new(self.channel(path)?)))
    }

    /// The arguments of a receive or poll, structs flattened.
    pub(super) fn receive_arguments(
        &mut self,
        channel: &Reference,
        arguments: &[AstArgument],
        completeness: Completeness,
    ) -> Resolved<Vec<ReceiveArgument>> {
        let mut flat = Vec::with_capacity(arguments.len());
        let mut result = Ok(());
        for argument in arguments {
            result = self.receive_argument(argument, &mut flat).and(result);
        }
        result?;
        let at = arguments.first().map(argument_at);
        if let (Some(at), Some(fields)) = (at, self.message_fields(channel)) {
            let (wanted, found) = (fields.len(), flat.len());
            if found > wanted || matches!(completeness, Completeness::Wanted) {
                self.check_message(at, wanted, found, "received");
            }
        }
        Ok(flat)
    }

    /// Compares the fields of a message with those of its channel, as SPIN does: too many are an error.
    pub(super) fn check_message(&mut self, at: crate::source::At, wanted: usize, found: usize, verb: &str) {
        if found > wanted {
            let message = format!("{found} fields are {verb}, but a message of this channel has {wanted}");
            self.sources.error(at, 0, message);
        } else if found < wanted {
            let message = format!("only {found} of the {wanted} fields of a message are {verb}");
            self.sources.warning(at, 0, message).advise(match verb {
                "sent" => "the others are sent as 0; SPIN calls it an error when that happens",
                _ => "the others are lost, which SPIN calls an error when it happens; write `_` for them",
            });
        }
    }

    fn receive_argument(&mut self, argument: &AstArgument, flat: &mut Vec<ReceiveArgument>) -> Resolved<()> {
        match argument {
            AstArgument::Eval(value) | AstArgument::Number(value) => {
                flat.push(ReceiveArgument::Match(self.state_expr(value, "`eval`")?));
            }
            AstArgument::Path(path) => {
                let name = path.first();
                if let Some(name) = path.as_name() {
                    if name.sym == kw::UNDERSCORE {
                        flat.push(ReceiveArgument::Discard);
                        return Ok(());
                    }
                    let hidden = self.local(name.sym).is_some() || self.globals.contains_key(&name.sym);
                    if self.symbols.contains_key(&name.sym) && !hidden {
                        let kind = self.value(path)?;
                        flat.push(ReceiveArgument::Match(Expr { kind, place: self.sources.place(name.at) }));
                        return Ok(());
                    }
                    if [kw::PID, kw::NR_PR, kw::LAST].contains(&name.sym) {
                        let text = self.text(name.sym);
                        self.sources
                            .error(name.at, text.len(), format!("nothing can be received into `{text}`"))
                            .advise(format!("to match its value, write `eval({text})`"));
                        return Err(Failed);
                    }
                }
                let reference = self.whole(path)?;
                self.mark(path, Role::Write);
                if reference.base == Base::Stdin {
                    self.sources.error(name.at, 5, "nothing can be received into `STDIN`");
                    return Err(Failed);
                }
                let mut scalars = Vec::new();
                self.check_flat_size(name, &reference)?;
                self.flatten(reference, &mut scalars);
                flat.extend(scalars.into_iter().map(ReceiveArgument::Store));
            }
        }
        Ok(())
    }

    pub(super) fn check_flat_size(&mut self, name: Name, reference: &Reference) -> Resolved<()> {
        let scalars = self.scalars(reference.ty);
        self.statements += scalars as usize;
        if self.statements > MAX_STATEMENTS {
            return Err(self.too_large(name.at));
        }
        if scalars > MAX_MESSAGE_FIELDS as u64 {
            let text = self.text(name.sym);
            self.sources.error(
                name.at,
                text.len(),
                format!("`{text}` has {scalars} scalars, too many for a message"),
            );
            return Err(Failed);
        }
        Ok(())
    }

    fn remote_proctype(&mut self, name: Name) -> Resolved<ProctypeId> {
        if let Some(&id) = self.proctypes.get(&name.sym) {
            self.sources.note(name, Entity::Proctype(id), Role::Read);
            return Ok(id);
        }
        let known = self.proctypes.keys().copied().collect();
        let message = format!("there is no proctype `{}`", self.text(name.sym));
        Err(self.unknown(name, message, known))
    }

    fn remote_label(&mut self, proctype: Name, pid: Option<&ast::Expr>, label: Name) -> Resolved<ExprKind> {
        let id = self.remote_proctype(proctype)?;
        let pid = pid.map(|pid| self.state_expr(pid, "a process number")).transpose()?.map(Box::new);
        let found = &self.found[id.0 as usize];
        let Some(found) = found.any_label(label.sym) else {
            let known = found.label_names();
            let message =
                format!("the proctype `{}` has no label `{}`", self.text(proctype.sym), self.text(label.sym));
            return Err(self.unknown(label, message, known));
        };
        self.sources.note(label, Entity::Label(Within::Proctype(id), found), Role::Read);
        self.remote_labels.push((id, found));
        Ok(ExprKind::RemoteLabel { proctype: id, pid, label: found })
    }

    fn remote_variable(
        &mut self,
        proctype: Name,
        pid: Option<&ast::Expr>,
        path: &Path,
    ) -> Resolved<ExprKind> {
        let id = self.remote_proctype(proctype)?;
        let pid = pid.map(|pid| self.state_expr(pid, "a process number")).transpose()?.map(Box::new);
        let name = path.first();
        let found = &self.found[id.0 as usize];
        let Some(local) = found.variable(name.sym) else {
            let known = found.names.clone();
            let message = format!(
                "the proctype `{}` has no variable `{}`",
                self.text(proctype.sym),
                self.text(name.sym)
            );
            return Err(self.unknown(name, message, known));
        };
        self.sources.note(name, Entity::Local(Within::Proctype(id), local), Role::Read);
        let declared = &self.model.proctypes[id.0 as usize].behaviour.locals[local.0 as usize];
        let (ty, length) = (declared.ty, declared.length);
        let variable = self.walk(path, Base::Local(local), ty, length)?;
        if variable.length.is_some() || matches!(variable.ty, Type::Struct(_)) {
            let text = self.path_text(path);
            self.sources.error(name.at, text.len(), format!("`{text}` is not a single value"));
            return Err(Failed);
        }
        Ok(ExprKind::RemoteVariable { proctype: id, pid, variable: Box::new(variable) })
    }
}

fn argument_at(argument: &AstArgument) -> crate::source::At {
    match argument {
        AstArgument::Path(path) => path.first().at,
        AstArgument::Eval(value) | AstArgument::Number(value) => value.at,
    }
}
