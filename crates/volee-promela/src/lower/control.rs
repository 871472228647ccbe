//! From elements to the control graph: which elements are points of control, and what can be done at each.
//!
//! Jumps and joints are not points of control when something leads to them: control goes straight through to
//! what follows ([`Control::settle`]), except out of an atomic sequence, where the jump is the step that ends
//! it. A choice offers what its options begin with, through any nesting. Escapes come before what they escape
//! from, outermost first. All this is as in SPIN; see [`super::elements`].

use std::collections::BTreeSet;
use std::sync::Arc;

use volee_program::{Action, BinaryOp, Node, NodeId, Piece, Scope, Transition};

pub(super) use super::elements::Skips;
use super::elements::{ElementId, Elements, Kind};
use super::expr::Lowering;
use crate::model::{
    Base, Behaviour, Conversion, Expr, ExprKind, FormatPiece, Init, LabelId, Reference, Statement,
    StatementKind, Type,
};

/// Jumps longer than this are loops of gotos.
const LONGEST_JUMP: usize = 10_000;

/// The control structure of a behaviour.
pub(super) struct Control {
    points: Vec<Point>,
    entry: u32,
    /// The node of each label.
    labels: Vec<u32>,
    /// Their names.
    label_names: Vec<Arc<str>>,
    /// The statements by number: what a step does, and how it is shown.
    statements: Vec<Statement>,
    end: volee_system::Place,
}

/// A point of control: its ways out, and its marks.
#[derive(Debug, Clone, Default)]
struct Point {
    ways: Vec<Way>,
    valid_end: bool,
    progress: bool,
    accepting: bool,
    in_d_step: bool,
}

/// A way out of a point of control, not yet lowered.
#[derive(Debug, Clone)]
struct Way {
    element: ElementId,
    statement: u32,
    step: StepKind,
    target: u32,
    atomic: bool,
    escape: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StepKind {
    Statement,
    Else,
    Jump,
    End,
    DStep(u32),
}

impl Control {
    pub fn of(behaviour: &Behaviour, skips: Skips) -> Self {
        let elements = Elements::of(behaviour, skips);
        let mut finder =
            Finder { elements: &elements, numbers: vec![None; elements.elements.len()], found: Vec::new() };
        let start = finder.settle(elements.sequence(elements.body).first, false);
        let entry = finder.number(start);
        let labels: Vec<ElementId> = elements.labels.iter().map(|l| l.unwrap_or(start)).collect();
        let mut points: Vec<Point> = Vec::new();
        let mut done = 0;
        while done < finder.found.len() {
            let id = finder.found[done];
            let ways = finder.ways(id);
            let element = elements.get(id);
            points.push(Point {
                ways,
                valid_end: element.valid_end,
                progress: element.progress,
                accepting: element.accepting,
                in_d_step: element.in_d_step,
            });
            done += 1;
        }
        let labels = labels.into_iter().map(|l| finder.label_number(l)).collect();
        while points.len() < finder.found.len() {
            points.push(Point::default());
        }
        let mut control = Control {
            points,
            entry,
            labels,
            label_names: behaviour.labels.iter().map(|label| label.name.as_ref().into()).collect(),
            statements: elements.statements.iter().map(|s| without_bodies(s)).collect(),
            end: behaviour.end.clone(),
        };
        control.spread_marks(&elements, &finder.found);
        control
    }

    /// The fields of a send that are `_`.
    pub fn fields_left_open(&self, statement: u32) -> Vec<usize> {
        let Some(Statement { kind: StatementKind::Send { arguments, .. }, .. }) =
            self.statements.get(statement as usize)
        else {
            return Vec::new();
        };
        let open = |e: &Expr| matches!(&e.kind, ExprKind::Variable(r) if r.base == Base::Scratch);
        arguments.iter().enumerate().filter(|(_, e)| open(e)).map(|(index, _)| index).collect()
    }

    pub fn entry(&self) -> NodeId {
        NodeId(self.entry)
    }

    pub fn label_node(&self, label: LabelId) -> NodeId {
        NodeId(self.labels[label.0 as usize])
    }

    /// Labels inside an option (or on an atomic sequence that begins one) mark where the option leads; a
    /// joint that is a valid end makes what follows one.
    fn spread_marks(&mut self, elements: &Elements<'_>, found: &[ElementId]) {
        for (point, &from) in found.iter().enumerate() {
            let ways = self.points[point].ways.clone();
            for way in &ways {
                if from != way.element
                    && let Some(target) = self.points.get_mut(way.target as usize)
                {
                    let element = elements.get(way.element);
                    target.valid_end |= element.valid_end && way.step != StepKind::End;
                    target.progress |= element.progress;
                    target.accepting |= element.accepting;
                }
            }
        }
        for (point, &id) in found.iter().enumerate() {
            if self.points[point].valid_end
                && matches!(elements.get(id).kind, Kind::Joint)
                && let [way] = &self.points[point].ways[..]
            {
                let target = way.target as usize;
                self.points[target].valid_end = true;
            }
        }
    }

    /// The nodes, with expressions lowered in the current scope of `lowering`.
    pub fn nodes(&self, lowering: &mut Lowering<'_>) -> Vec<Node> {
        self.points
            .iter()
            .map(|point| Node {
                transitions: point.ways.iter().map(|way| self.transition(way, lowering)).collect(),
                valid_end: point.valid_end,
                progress: point.progress,
                accepting: point.accepting,
                in_d_step: point.in_d_step,
                dead: Vec::new(),
            })
            .collect()
    }

    /// The label that names what a way out does: one before a single statement or a `d_step`, not before a
    /// choice.
    fn label(&self, way: &Way) -> Option<Arc<str>> {
        let statement = self.statements.get(way.statement as usize)?;
        let single = match way.step {
            StepKind::Statement => !is_compound(&statement.kind),
            StepKind::DStep(_) => matches!(statement.kind, StatementKind::DStep(_)),
            _ => false,
        };
        let label = statement.labels.first().filter(|_| single)?;
        self.label_names.get(label.0 as usize).cloned()
    }

    fn transition(&self, way: &Way, lowering: &mut Lowering<'_>) -> Transition {
        let statement = self.statements.get(way.statement as usize);
        let text: Arc<str> = match (way.step, statement) {
            (StepKind::End, _) => "-end-".into(),
            (StepKind::Else, _) => "else".into(),
            (StepKind::DStep(_), _) => "d_step".into(),
            (_, Some(s)) if !s.text.is_empty() => s.text.clone(),
            _ => "goto".into(),
        };
        let place = match way.step {
            StepKind::End => Some(self.end.clone()),
            _ => statement.map(|s| s.place.clone()),
        };
        let action = match (way.step, statement) {
            (StepKind::Statement, Some(s)) => action(s, lowering),
            (StepKind::Statement | StepKind::Jump, _) => Action::Skip,
            (StepKind::Else, _) => Action::Else,
            (StepKind::End, _) => Action::End,
            (StepKind::DStep(entry), _) => Action::DStep(NodeId(entry)),
        };
        Transition {
            action,
            target: NodeId(way.target),
            atomic: way.atomic,
            escape: way.escape,
            statement: volee_program::Statement {
                number: way.statement,
                text,
                label: self.label(way),
                place,
            },
            merged: Vec::new(),
            through: Vec::new(),
            resets: Vec::new(),
        }
    }
}

fn is_compound(kind: &StatementKind) -> bool {
    matches!(
        kind,
        StatementKind::If(_)
            | StatementKind::Do(..)
            | StatementKind::Atomic(_)
            | StatementKind::DStep(_)
            | StatementKind::Block(_)
            | StatementKind::Unless { .. }
    )
}

/// A statement without the statements inside it, which have elements of their own.
fn without_bodies(statement: &Statement) -> Statement {
    let kind = match &statement.kind {
        StatementKind::If(_) => StatementKind::If(Vec::new()),
        StatementKind::Do(_, origin) => StatementKind::Do(Vec::new(), *origin),
        StatementKind::Atomic(_) => StatementKind::Atomic(Vec::new()),
        StatementKind::DStep(_) => StatementKind::DStep(Vec::new()),
        StatementKind::Block(_) => StatementKind::Block(Vec::new()),
        StatementKind::Unless { .. } => StatementKind::Unless { body: Vec::new(), escape: Vec::new() },
        kind => kind.clone(),
    };
    Statement {
        kind,
        labels: statement.labels.clone(),
        place: statement.place.clone(),
        text: statement.text.clone(),
    }
}

/// Finds points of control and numbers them as it goes.
struct Finder<'a, 'e> {
    elements: &'a Elements<'e>,
    numbers: Vec<Option<u32>>,
    found: Vec<ElementId>,
}

impl Finder<'_, '_> {
    fn number(&mut self, id: ElementId) -> u32 {
        *self.numbers[id.0 as usize].get_or_insert_with(|| {
            self.found.push(id);
            self.found.len() as u32 - 1
        })
    }

    /// The node that `P@label` means; a fresh number that nothing leads to if control never rests there.
    /// Control never rests at an `unless` itself: its label is where its body begins.
    fn label_number(&mut self, id: ElementId) -> u32 {
        let mut at = id;
        while let Kind::Unless { body, .. } = self.elements.get(at).kind {
            at = self.elements.sequence(body).first;
        }
        self.number(at)
    }

    /// Where control comes to rest when it is sent to `id`, coming from inside an atomic sequence or not.
    fn settle(&self, id: ElementId, from_atomic: bool) -> ElementId {
        let mut at = id;
        let mut jumps = 0;
        loop {
            let element = self.elements.get(at);
            let next = match element.kind {
                Kind::Goto(label) => self.elements.labels[label.0 as usize],
                Kind::Break(exit) => Some(exit),
                Kind::Joint | Kind::Exit => element.next,
                Kind::Unless { body, .. } => Some(self.elements.sequence(body).first),
                _ => None,
            };
            let Some(next) = next else { return at };
            if from_atomic && !self.elements.get(next).atomic {
                return at;
            }
            // Jumps that only lead to each other: control rests at one of them, which is there because only
            // jumps lead back.
            jumps += 1;
            if jumps > LONGEST_JUMP && matches!(element.kind, Kind::Goto(_)) {
                return at;
            }
            at = next;
        }
    }

    /// The element an option or inner sequence really begins with.
    fn head(&self, id: ElementId) -> ElementId {
        let mut at = id;
        for _ in 0..LONGEST_JUMP {
            let element = self.elements.get(at);
            at = match (&element.kind, element.next) {
                (Kind::Joint, Some(next)) => next,
                (Kind::Unless { body, .. }, _) => self.elements.sequence(*body).first,
                _ => return at,
            };
        }
        at
    }

    /// The elements whose statements can be done at `id`, in order, through nested choices.
    fn heads(&self, id: ElementId, all: &mut Vec<ElementId>, seen: &mut BTreeSet<ElementId>) {
        let inner: Vec<ElementId> = match &self.elements.get(id).kind {
            Kind::Choice(options) => options.iter().map(|o| self.elements.sequence(*o).first).collect(),
            Kind::Atomic(inner) | Kind::Block(inner) => vec![self.elements.sequence(*inner).first],
            _ => {
                all.push(id);
                return;
            }
        };
        if !seen.insert(id) {
            return;
        }
        for first in inner {
            self.heads(self.head(first), all, seen);
        }
        seen.remove(&id);
    }

    fn ways(&mut self, id: ElementId) -> Vec<Way> {
        let mut heads = Vec::new();
        self.heads(id, &mut heads, &mut BTreeSet::new());
        let mut ways: Vec<Way> = heads.iter().map(|&h| self.way(h)).collect();
        for head in heads {
            if matches!(self.elements.get(head).kind, Kind::Joint) {
                continue;
            }
            let escapes = self.elements.get(head).escapes.clone();
            for escape in escapes.iter().rev() {
                self.prepend_escape(*escape, head, &mut ways);
            }
        }
        ways
    }

    fn prepend_escape(&mut self, escape: super::elements::SequenceId, from: ElementId, ways: &mut Vec<Way>) {
        let first = self.elements.sequence(escape).first;
        let start = self.settle(first, self.elements.get(from).atomic);
        let mut heads = Vec::new();
        self.heads(self.head(start), &mut heads, &mut BTreeSet::new());
        for head in heads {
            if ways.iter().any(|w| w.element == head) {
                continue;
            }
            let way = self.way(head);
            ways.insert(0, Way { escape: start.0 + 1, ..way });
        }
    }

    fn way(&mut self, id: ElementId) -> Way {
        let element = self.elements.get(id);
        let (statement, atomic) = (element.statement, element.atomic);
        let (step, leads_to) = match element.kind {
            Kind::Goto(label) => (StepKind::Jump, self.elements.labels[label.0 as usize]),
            Kind::Break(exit) => (StepKind::Jump, Some(exit)),
            Kind::Joint | Kind::Exit | Kind::Skip => (StepKind::Jump, element.next),
            Kind::Else => (StepKind::Else, element.next),
            Kind::End => (StepKind::End, None),
            Kind::DStep(inner) => {
                let first = self.elements.sequence(inner).first;
                let head = self.head(first);
                let entry = self.number(head);
                (StepKind::DStep(entry), element.next)
            }
            _ => (StepKind::Statement, element.next),
        };
        let target = match leads_to {
            Some(next) => {
                let settled = self.settle(next, atomic);
                self.number(settled)
            }
            None => self.number(id),
        };
        Way { element: id, statement, step, target, atomic, escape: 0 }
    }
}

/// What a basic statement does.
fn action(statement: &Statement, lowering: &mut Lowering<'_>) -> Action {
    match &statement.kind {
        StatementKind::Expression(Expr { kind: ExprKind::Constant { value: 1, .. }, .. }) => Action::Skip,
        StatementKind::Expression(e) => Action::Guard(lowering.expr(e)),
        StatementKind::Assign { target, value } => assign(target, value, lowering),
        StatementKind::Declare { local, init } => {
            let Some(variable) = lowering.local(*local) else { return Action::Skip };
            let start = lowering.local_start(*local, variable);
            let mut values = Vec::new();
            match (init, variable.ty) {
                (Init::Zero, Type::Struct(_)) => {}
                (Init::Zero, _) => values.push((start, volee_program::Expr::Const(0))),
                _ => lowering.values_of(variable, init, &start, &mut values),
            }
            sequence(values.into_iter().map(|(l, e)| Action::Assign(l, e)).collect())
        }
        StatementKind::Send { channel, sorted, arguments } => Action::Send {
            channel: lowering.load(channel),
            values: arguments.iter().flat_map(|a| lowering.scalars(a)).collect(),
            sorted: *sorted,
        },
        StatementKind::Receive(receive) if receive.channel.base == Base::Stdin => {
            Action::Guard(volee_program::Expr::Const(0))
        }
        StatementKind::Receive(receive) => Action::Receive {
            channel: lowering.load(&receive.channel),
            patterns: receive.arguments.iter().map(|a| lowering.pattern(a)).collect(),
            anywhere: receive.random,
            keep: receive.keep,
        },
        StatementKind::Assert(e) => Action::Assert(lowering.expr(e)),
        StatementKind::Printf { format, arguments } => Action::Print(pieces(format, arguments, lowering)),
        StatementKind::Printm(e) => {
            Action::Print(vec![Piece::Name(lowering.expr(e), mtype_of(e)), Piece::Text("\n".into())])
        }
        StatementKind::SetPriority(pid, priority) => {
            lowering.uses_priorities = true;
            Action::SetPriority(lowering.expr(pid), lowering.expr(priority))
        }
        _ => Action::Skip,
    }
}

fn sequence(mut actions: Vec<Action>) -> Action {
    match actions.len() {
        0 => Action::Skip,
        1 => actions.swap_remove(0),
        _ => Action::Sequence(actions),
    }
}

fn assign(target: &Reference, value: &Expr, lowering: &mut Lowering<'_>) -> Action {
    if target.base == Base::Priority {
        lowering.uses_priorities = true;
        // Like every byte, it keeps the lowest eight bits of what is assigned to it.
        let (value, mask) = (lowering.expr(value), volee_program::Expr::Const(0xFF));
        let place = Some(target.place.clone());
        let value = volee_program::Expr::Binary(BinaryOp::BitAnd, Box::new(value), Box::new(mask), place);
        return Action::SetPriority(volee_program::Expr::Pid, value);
    }
    if let Type::Struct(_) = target.ty {
        let to = lowering.leaves(target);
        let from = lowering.scalars(value);
        return sequence(to.into_iter().zip(from).map(|(l, e)| Action::Assign(l, e)).collect());
    }
    let location = lowering.location(target);
    debug_assert!(
        location.scope != Scope::Nowhere || target.base == Base::Scratch || target.base == Base::Stdin
    );
    Action::Assign(location, lowering.expr(value))
}

fn mtype_of(expr: &Expr) -> u16 {
    match &expr.kind {
        ExprKind::Variable(Reference { ty: Type::Mtype(set), .. }) => set.0 as u16,
        _ => 0,
    }
}

fn pieces(format: &[FormatPiece], arguments: &[Expr], lowering: &mut Lowering<'_>) -> Vec<Piece> {
    let mut arguments = arguments.iter();
    format
        .iter()
        .filter_map(|piece| match piece {
            FormatPiece::Text(text) => Some(Piece::Text(text.clone())),
            FormatPiece::Argument(conversion) => {
                let argument = arguments.next()?;
                let value = lowering.expr(argument);
                Some(match conversion {
                    Conversion::Decimal => Piece::Value('d', value),
                    Conversion::Unsigned => Piece::Value('u', value),
                    Conversion::Hexadecimal => Piece::Value('x', value),
                    Conversion::Octal => Piece::Value('o', value),
                    Conversion::Character => Piece::Value('c', value),
                    Conversion::Mtype => Piece::Name(value, mtype_of(argument)),
                })
            }
        })
        .collect()
}
