//! `for` and `select`, expanded as SPIN expands them: see the head of [`crate::model::StatementKind`]'s
//! module.

use super::{Failed, Resolved, Resolver};
use crate::ast::{self, Block, Path};
use crate::model::{
    Base, BinaryOp, ChannelTest, Expr, ExprKind, Init, LocalId, LoopOrigin, Receive, ReceiveArgument,
    Reference, Sequence, StatementKind, Type, Variable, Visibility,
};
use crate::source::{Advice, At};

/// The largest difference of bounds that SPIN expands into one option per value.
const MAX_CHOICES: i64 = 32;

impl Resolver<'_> {
    pub(super) fn for_range(
        &mut self,
        variable: &Path,
        from: &ast::Expr,
        to: &ast::Expr,
        body: &Block,
        out: &mut Sequence,
    ) -> Resolved<()> {
        let at = variable.first().at;
        let counter = self.counter(variable, "for");
        let from = self.state_expr(from, "a range");
        let to = self.state_expr(to, "a range");
        let Ok(counter) = counter else { return self.skip_body(body) };
        let (Ok(from), Ok(to)) = (from, to) else { return self.skip_body(body) };
        self.count(&counter, from, BinaryOp::Le, to, Vec::new(), body, at, out);
        Ok(())
    }

    /// The variable of a `for` or `select`.
    fn counter(&mut self, path: &Path, word: &str) -> Resolved<Reference> {
        let reference = self.target(path)?;
        if matches!(reference.ty, Type::Struct(_) | Type::Chan) || reference.base == Base::Scratch {
            let text = self.path_text(path);
            let message = format!("`{text}` cannot count in a `{word}`");
            self.sources.error(path.first().at, text.len(), message).advise("use an integer variable");
            return Err(Failed);
        }
        if !reference.path.is_empty() {
            let text = self.path_text(path);
            let message = format!("SPIN wants a plain variable in a `{word}`, not `{text}`");
            self.sources.warning(path.first().at, text.len(), message);
        }
        Ok(reference)
    }

    /// Walks a body for its mistakes and its numbering only.
    fn skip_body(&mut self, body: &Block) -> Resolved<()> {
        let d_step = self.scope().d_step;
        self.scope().loops.push(d_step);
        self.block(body);
        self.scope().loops.pop();
        Err(Failed)
    }

    /// `counter = from; do :: else -> break :: (counter op to) -> first; body; counter++ od`
    #[allow(clippy::too_many_arguments)]
    fn count(
        &mut self,
        counter: &Reference,
        from: Expr,
        op: BinaryOp,
        to: Expr,
        first: Vec<StatementKind>,
        body: &Block,
        at: At,
        out: &mut Sequence,
    ) {
        out.push(self.finish(StatementKind::Assign { target: counter.clone(), value: from }, at));
        let condition = self.comparison(counter, op, to);
        let mut sequence = vec![self.finish(StatementKind::Expression(condition), at)];
        sequence.extend(first.into_iter().map(|kind| self.finish(kind, at)));
        let d_step = self.scope().d_step;
        self.scope().loops.push(d_step);
        sequence.extend(self.block(body));
        self.scope().loops.pop();
        let next = self.step(counter.clone(), BinaryOp::Add);
        sequence.push(self.finish(next, at));
        let leave = vec![self.finish(StatementKind::Else, at), self.finish(StatementKind::Break, at)];
        out.push(self.finish(StatementKind::Do(vec![leave, sequence], LoopOrigin::Counting), at));
    }

    fn comparison(&self, counter: &Reference, op: BinaryOp, bound: Expr) -> Expr {
        let place = counter.place.clone();
        let left = Box::new(Expr { kind: ExprKind::Variable(counter.clone()), place: place.clone() });
        Expr { kind: ExprKind::Binary(op, left, Box::new(bound)), place }
    }

    /// `for (x in collection)`: an array's indices, or a channel's messages.
    pub(super) fn for_in(
        &mut self,
        variable: &Path,
        collection: &Path,
        body: &Block,
        out: &mut Sequence,
    ) -> Resolved<()> {
        let at = variable.first().at;
        let Ok(whole) = self.reference(collection) else { return self.skip_body(body) };
        if whole.ty == Type::Chan && whole.length.is_none() {
            return self.for_messages(variable, collection, whole, body, out);
        }
        let Some(length) = whole.length else {
            let text = self.path_text(collection);
            self.sources.error(
                collection.first().at,
                text.len(),
                format!("`{text}` is neither an array nor a channel"),
            );
            return self.skip_body(body);
        };
        let Ok(counter) = self.counter(variable, "for") else { return self.skip_body(body) };
        let (from, to) = (self.number(0, at), self.number(length as i32 - 1, at));
        self.count(&counter, from, BinaryOp::Le, to, Vec::new(), body, at, out);
        Ok(())
    }

    fn number(&self, value: i32, at: At) -> Expr {
        Expr { kind: ExprKind::Constant { value, name: None }, place: self.sources.place(at) }
    }

    /// Rotates the channel once, with each message in the variable in turn.
    fn for_messages(
        &mut self,
        variable: &Path,
        collection: &Path,
        channel: Reference,
        body: &Block,
        out: &mut Sequence,
    ) -> Resolved<()> {
        let at = variable.first().at;
        let Ok(message) = self.target(variable) else { return self.skip_body(body) };
        let mut scalars = Vec::new();
        if self.check_flat_size(variable.first(), &message).is_err() {
            return self.skip_body(body);
        }
        self.flatten(message, &mut scalars);
        let types: Vec<Type> = scalars.iter().map(|r| r.ty).collect();
        if self.message_fields(&channel).is_none_or(|fields| fields != types) {
            let (message, channel) = (self.path_text(variable), self.path_text(collection));
            self.sources
                .error(
                    at,
                    message.len(),
                    format!("`{message}` does not have the type of the messages of `{channel}`"),
                )
                .advise("the variable of such a loop is a struct, and the channel carries that struct");
            return self.skip_body(body);
        }
        let counter = self.hidden_counter(&channel, at);
        let place = self.sources.place(at);
        let length = Expr {
            kind: ExprKind::Channel(ChannelTest::Len, Box::new(channel.clone())),
            place: place.clone(),
        };
        let values =
            scalars.iter().cloned().map(|r| Expr { kind: ExprKind::Variable(r), place: place.clone() });
        let send =
            StatementKind::Send { channel: channel.clone(), sorted: false, arguments: values.collect() };
        let receive = StatementKind::Receive(Receive {
            channel,
            random: false,
            keep: false,
            arguments: scalars.into_iter().map(ReceiveArgument::Store).collect(),
        });
        let from = self.number(0, at);
        self.count(&counter, from, BinaryOp::Lt, length, vec![receive, send], body, at, out);
        Ok(())
    }

    /// A variable of the front end's own, behind those that were written.
    fn hidden_counter(&mut self, channel: &Reference, at: At) -> Reference {
        let place = self.sources.place(at);
        let large = match channel.base {
            Base::Global(id) => capacity(&self.model.globals[id.0 as usize]) > 255,
            Base::Local(id) => capacity(&self.scope().variables[id.0 as usize]) > 255,
            _ => false,
        };
        let ty = if large { Type::Short } else { Type::Byte };
        let variables = &mut self.scope().variables;
        let id = LocalId(variables.len() as u32);
        variables.push(Variable {
            name: "_for".into(),
            ty,
            length: None,
            init: Init::Zero,
            visibility: Visibility::Plain,
            place: place.clone(),
        });
        Reference { base: Base::Local(id), path: Vec::new(), ty, length: None, place }
    }

    /// `select (i : a .. b)`
    pub(super) fn select(
        &mut self,
        variable: &Path,
        from: &ast::Expr,
        to: &ast::Expr,
        literal: bool,
        at: At,
        out: &mut Sequence,
    ) -> Resolved<()> {
        let counter = self.counter(variable, "select")?;
        let (low, high) = (self.state_expr(from, "a range"), self.state_expr(to, "a range"));
        let (low, high) = (low?, high?);
        let bounds = match (&low.kind, &high.kind) {
            (ExprKind::Constant { value: a, .. }, ExprKind::Constant { value: b, .. }) => {
                Some((i64::from(*a), i64::from(*b)))
            }
            _ => None,
        };
        if let Some((a, b)) = bounds.filter(|(a, b)| a > b) {
            self.sources.error(from.at, 0, format!("there is nothing to select from {a} to {b}"));
            return Err(Failed);
        }
        if let Some((a, b)) = bounds.filter(|(a, b)| literal && b - a <= MAX_CHOICES) {
            let options = (a..=b).map(|value| {
                let assign =
                    StatementKind::Assign { target: counter.clone(), value: self.number(value as i32, at) };
                vec![self.finish(assign, at)]
            });
            let kind = StatementKind::If(options.collect());
            out.push(self.finish(kind, at));
            return Ok(());
        }
        out.push(self.finish(StatementKind::Assign { target: counter.clone(), value: low }, at));
        let condition = self.comparison(&counter, BinaryOp::Lt, high);
        let next = self.step(counter, BinaryOp::Add);
        let go_on = vec![self.finish(StatementKind::Expression(condition), at), self.finish(next, at)];
        let stop = vec![self.finish(StatementKind::Break, at)];
        let options = if literal { vec![go_on, stop] } else { vec![stop, go_on] };
        out.push(self.finish(StatementKind::Do(options, LoopOrigin::Counting), at));
        Ok(())
    }
}

fn capacity(variable: &Variable) -> u32 {
    match &variable.init {
        Init::Channel(init) => init.capacity,
        _ => 0,
    }
}
