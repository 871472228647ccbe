//! What the variables of one process can be at each choice, along its text: sharper than [`super::values`],
//! for what nobody else can change.
//!
//! A walk through the statements with the sets that hold there, again and again until what arrives at labels
//! is stable. What a loop assigns is not known at its head: that is coarse and right.

use hashbrown::{HashMap, HashSet};

use super::private::Private;
use super::set::Set;
use super::values::{Key, Values};
use super::walk::{self, Owner};
use crate::model::{
    BinaryOp, Expr, ExprKind, Init, LabelId, ReceiveArgument, Reference, Sequence, Statement, StatementKind,
    UnaryOp,
};

/// How often a body is walked before sets that grow are given up.
const ROUNDS: usize = 20;

/// The sets that hold at a point; what is not there is as [`Values`] has it.
pub(super) type Known = HashMap<Key, Set>;

pub(super) struct Flow<'a> {
    pub values: &'a Values,
    pub channels: &'a super::channels::Channels,
    pub owner: Owner,
    pub private: &'a Private,
}

/// Where a walk is told of choices.
pub(super) trait Visitor<'m> {
    fn choice(&mut self, statement: &'m Statement, options: &'m [Sequence], known: &Known);
}

/// Nobody listens.
struct Silent;

impl<'m> Visitor<'m> for Silent {
    fn choice(&mut self, _: &'m Statement, _: &'m [Sequence], _: &Known) {}
}

/// What holds where jumps arrive, and at the breaks of the loop around.
#[derive(Default)]
struct Jumps {
    labels: HashMap<LabelId, Known>,
    breaks: Vec<Known>,
}

impl Flow<'_> {
    fn own_key(&self, reference: &Reference) -> Option<Key> {
        if self.private.is_own(self.owner, reference) { Key::of(self.owner, reference) } else { None }
    }

    /// Walks a body from its beginning. What holds at its labels is found by walking until nothing changes.
    pub(super) fn body<'m>(&self, body: &'m Sequence, start: &Known, visitor: &mut impl Visitor<'m>) {
        let mut labels: HashMap<LabelId, Known> = HashMap::new();
        for round in 0.. {
            let mut jumps = Jumps { labels: labels.clone(), breaks: Vec::new() };
            self.sequence(body, Some(start.clone()), &mut jumps, &mut Silent);
            if jumps.labels == labels {
                break;
            }
            if round > ROUNDS {
                // Sets that still grow are given up.
                jumps.labels.values_mut().for_each(Known::clear);
            }
            labels = jumps.labels;
        }
        self.sequence(body, Some(start.clone()), &mut Jumps { labels, breaks: Vec::new() }, visitor);
    }

    /// What holds behind a sequence; none if its end is never reached.
    fn sequence<'m>(
        &self,
        sequence: &'m Sequence,
        mut now: Option<Known>,
        jumps: &mut Jumps,
        visitor: &mut impl Visitor<'m>,
    ) -> Option<Known> {
        for statement in sequence {
            for label in &statement.labels {
                let arriving = jumps.labels.get(label).cloned();
                now = join(now.into_iter().chain(arriving).collect());
            }
            now = match now {
                Some(known) => self.statement(statement, known, jumps, visitor),
                // Nothing comes here, but something may jump into it.
                None => self.entered_by_jumps(statement, jumps, visitor),
            };
        }
        now
    }

    /// A statement that is only reached by jumps into its parts.
    fn entered_by_jumps<'m>(
        &self,
        statement: &'m Statement,
        jumps: &mut Jumps,
        visitor: &mut impl Visitor<'m>,
    ) -> Option<Known> {
        match &statement.kind {
            StatementKind::Block(inner) | StatementKind::Atomic(inner) | StatementKind::DStep(inner) => {
                self.sequence(inner, None, jumps, visitor)
            }
            StatementKind::If(options) => {
                join(options.iter().filter_map(|o| self.sequence(o, None, jumps, visitor)).collect())
            }
            StatementKind::Do(options, _) => {
                let outer = std::mem::take(&mut jumps.breaks);
                let mut entered = false;
                for option in options {
                    entered |= self.sequence(option, None, jumps, visitor).is_some();
                }
                let own = std::mem::replace(&mut jumps.breaks, outer);
                match entered {
                    // Once inside, the loop goes round.
                    true => self.statement(statement, Known::new(), jumps, visitor),
                    false => join(own),
                }
            }
            StatementKind::Unless { .. } => self.statement(statement, Known::new(), jumps, visitor),
            _ => None,
        }
    }

    fn statement<'m>(
        &self,
        statement: &'m Statement,
        mut known: Known,
        jumps: &mut Jumps,
        visitor: &mut impl Visitor<'m>,
    ) -> Option<Known> {
        match &statement.kind {
            StatementKind::Declare { local, init } => {
                let key = match self.owner {
                    Owner::Process(id) => Key::local(id, *local),
                    _ => return Some(known),
                };
                match init {
                    Init::Zero => known.insert(key, Set::one(0)),
                    _ => known.remove(&key),
                };
                Some(known)
            }
            StatementKind::Expression(condition) => {
                self.assume(condition, true, &mut known);
                // A condition that is never true is never passed.
                known.values().all(|set| set.bounds().is_some()).then_some(known)
            }
            StatementKind::Assign { target, value } => {
                if let Some(key) = self.own_key(target) {
                    let set = self.values.eval_known(self.owner, &known, value).stored(target.ty);
                    known.insert(key, set);
                }
                Some(known)
            }
            StatementKind::Receive(receive) => {
                let class = self.channels.class(self.owner, &receive.channel);
                for (i, argument) in receive.arguments.iter().enumerate() {
                    let ReceiveArgument::Store(target) = argument else { continue };
                    let Some(key) = self.own_key(target) else { continue };
                    match class.and_then(|class| self.values.message(class, i)) {
                        Some(set) => known.insert(key, set.stored(target.ty)),
                        None => known.remove(&key),
                    };
                }
                Some(known)
            }
            StatementKind::Goto(label) => {
                let arriving = jumps.labels.get(label).cloned();
                if let Some(all) = join(arriving.into_iter().chain([known]).collect()) {
                    jumps.labels.insert(*label, all);
                }
                None
            }
            StatementKind::Break => {
                jumps.breaks.push(known);
                None
            }
            StatementKind::Block(inner) | StatementKind::Atomic(inner) | StatementKind::DStep(inner) => {
                self.sequence(inner, Some(known), jumps, visitor)
            }
            StatementKind::If(options) => {
                visitor.choice(statement, options, &known);
                let ends = options.iter().map(|option| {
                    let mut known = known.clone();
                    self.refuse_others(options, option, &mut known);
                    self.sequence(option, Some(known), jumps, visitor)
                });
                join(ends.flatten().collect())
            }
            StatementKind::Do(options, _) => {
                let written: HashSet<Key> = options.iter().flat_map(|option| self.written(option)).collect();
                known.retain(|key, _| !written.contains(key));
                visitor.choice(statement, options, &known);
                let outer = std::mem::take(&mut jumps.breaks);
                for option in options {
                    let mut known = known.clone();
                    self.refuse_others(options, option, &mut known);
                    self.sequence(option, Some(known), jumps, visitor);
                }
                join(std::mem::replace(&mut jumps.breaks, outer))
            }
            StatementKind::Unless { body, escape } => {
                // The escape may begin anywhere in the body. Choices are not told of: the escape may come to
                // help.
                self.sequence(body, Some(Known::new()), jumps, &mut Silent);
                self.sequence(escape, Some(Known::new()), jumps, &mut Silent);
                Some(Known::new())
            }
            _ => Some(known),
        }
    }

    /// Behind an `else` no other guard is true.
    fn refuse_others(&self, options: &[Sequence], option: &Sequence, known: &mut Known) {
        if !option.first().is_some_and(|s| matches!(s.kind, StatementKind::Else)) {
            return;
        }
        for other in options.iter().filter_map(guard) {
            self.assume(other, false, known);
        }
    }

    /// What a sequence assigns of what is the process's own.
    fn written(&self, sequence: &Sequence) -> Vec<Key> {
        let mut all = Vec::new();
        walk::statements(sequence, &mut |statement| match &statement.kind {
            StatementKind::Assign { target, .. } => all.extend(self.own_key(target)),
            StatementKind::Receive(receive) => {
                all.extend(walk::stores(&receive.arguments).filter_map(|r| self.own_key(r)));
            }
            StatementKind::Declare { local, .. } => {
                if let Owner::Process(id) = self.owner {
                    all.push(Key::local(id, *local));
                }
            }
            _ => {}
        });
        all
    }

    /// Takes away the values of which a condition is not `outcome`.
    fn assume(&self, condition: &Expr, outcome: bool, known: &mut Known) {
        let narrow = |reference: &Reference, op: BinaryOp, bound: i32, known: &mut Known| {
            let Some(key) = self.own_key(reference) else { return };
            let op = if outcome { Some(op) } else { negated(op) };
            let before = known.get(&key).or_else(|| self.values.get(&key)).cloned();
            if let (Some(op), Some(before)) = (op, before) {
                known.insert(key, before.where_true(op, bound));
            }
        };
        match &condition.kind {
            ExprKind::Variable(reference) => narrow(reference, BinaryOp::Ne, 0, known),
            ExprKind::Unary(UnaryOp::Not, inner) => self.assume(inner, !outcome, known),
            ExprKind::Binary(BinaryOp::And, a, b) if outcome => {
                self.assume(a, true, known);
                self.assume(b, true, known);
            }
            ExprKind::Binary(BinaryOp::Or, a, b) if !outcome => {
                self.assume(a, false, known);
                self.assume(b, false, known);
            }
            ExprKind::Binary(BinaryOp::And | BinaryOp::Or, a, b) => {
                let mut either = known.clone();
                self.assume(a, outcome, &mut either);
                self.assume(b, outcome, known);
                if let Some(both) = join(vec![either, std::mem::take(known)]) {
                    *known = both;
                }
            }
            ExprKind::Binary(op, a, b) => match (&a.kind, &b.kind) {
                (ExprKind::Variable(reference), ExprKind::Constant { value, .. }) => {
                    narrow(reference, *op, *value, known);
                }
                (ExprKind::Constant { value, .. }, ExprKind::Variable(reference)) => {
                    if let Some(op) = super::values::turned(*op) {
                        narrow(reference, op, *value, known);
                    }
                }
                _ => {}
            },
            _ => {}
        }
    }
}

/// The condition that an option begins with; none if it begins with anything else.
pub(super) fn guard(option: &Sequence) -> Option<&Expr> {
    match &option.first()?.kind {
        StatementKind::Expression(guard) => Some(guard),
        StatementKind::Block(inner) | StatementKind::Atomic(inner) | StatementKind::DStep(inner) => {
            guard(inner)
        }
        _ => None,
    }
}

/// What holds wherever one of several paths may have come from; none if there is none.
fn join(paths: Vec<Known>) -> Option<Known> {
    let mut paths = paths.into_iter();
    let mut all = paths.next()?;
    for other in paths {
        all.retain(|key, set| match other.get(key) {
            Some(more) => {
                *set = set.join(more);
                true
            }
            None => false,
        });
    }
    Some(all)
}

fn negated(op: BinaryOp) -> Option<BinaryOp> {
    Some(match op {
        BinaryOp::Lt => BinaryOp::Ge,
        BinaryOp::Le => BinaryOp::Gt,
        BinaryOp::Gt => BinaryOp::Le,
        BinaryOp::Ge => BinaryOp::Lt,
        BinaryOp::Eq => BinaryOp::Ne,
        BinaryOp::Ne => BinaryOp::Eq,
        _ => return None,
    })
}
