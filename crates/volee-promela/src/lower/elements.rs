//! The statements of a behaviour as linked elements: the form in which control is worked out.
//!
//! The structure is that of SPIN's verifier generator (Holzmann, "The SPIN Model Checker", 2003, chapter 16
//! and appendix), rebuilt from its behaviour: every statement is an element with a successor; `if`, `do` and
//! `unless` own sequences that end in a common joint; a `do` has its joint before it and its exit after it.
//! Each element knows whether the process keeps control after it (`atomic`), whether it is the last of an
//! atomic sequence, and which escapes apply to it.

use crate::model::{Behaviour, Label, LabelId, LoopOrigin, Statement, StatementKind};

/// Index of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct ElementId(pub u32);

/// Index of a sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct SequenceId(pub u32);

/// What an element is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    /// A statement that does something: its number in [`Elements::statements`].
    Basic,
    /// A `skip` that carries the label of a goto.
    Skip,
    Else,
    Goto(LabelId),
    /// Leaves a loop: goes to that exit.
    Break(ElementId),
    /// Where the options of an `if` or `unless` meet, or where a loop begins again.
    Joint,
    /// What follows a loop.
    Exit,
    /// `if` or `do`.
    Choice(Vec<SequenceId>),
    Atomic(SequenceId),
    DStep(SequenceId),
    Block(SequenceId),
    Unless {
        body: SequenceId,
        escape: SequenceId,
    },
    /// The end of a process.
    End,
}

#[derive(Debug, Clone)]
pub(super) struct Element {
    pub kind: Kind,
    pub next: Option<ElementId>,
    /// The process keeps control after this.
    pub atomic: bool,
    /// In an atomic sequence, this one included if it is the last.
    pub last_atomic: bool,
    pub in_d_step: bool,
    /// Escapes that apply here, outermost first.
    pub escapes: Vec<SequenceId>,
    /// The statement it comes from.
    pub statement: u32,
    pub valid_end: bool,
    pub progress: bool,
    pub accepting: bool,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Sequence {
    pub first: ElementId,
    pub last: ElementId,
    /// The last element before the joint was added.
    pub extent: ElementId,
}

/// All elements of a behaviour.
pub(super) struct Elements<'a> {
    pub elements: Vec<Element>,
    pub sequences: Vec<Sequence>,
    /// Which element carries each label.
    pub labels: Vec<Option<ElementId>>,
    /// The statements that elements come from, in order of their places.
    pub statements: Vec<&'a Statement>,
    pub body: SequenceId,
    behaviour: &'a Behaviour,
    skips: Skips,
    /// The exits of the loops being built.
    exits: Vec<ElementId>,
}

/// What becomes of skips that only follow other skips.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Skips {
    /// They are left out of the options of an `if` or a `do` that is written as such; not of what a `for`
    /// repeats.
    DroppedInOptions,
    /// In a claim each is a step of the program.
    Kept,
}

/// A sequence being built.
#[derive(Default)]
struct Builder {
    first: Option<ElementId>,
    last: Option<ElementId>,
}

impl<'a> Elements<'a> {
    pub fn of(behaviour: &'a Behaviour, skips: Skips) -> Self {
        let mut all = Elements {
            elements: Vec::new(),
            sequences: Vec::new(),
            labels: vec![None; behaviour.labels.len()],
            statements: Vec::new(),
            body: SequenceId(0),
            behaviour,
            skips,
            exits: Vec::new(),
        };
        let mut builder = Builder::default();
        all.statements_of(&behaviour.body, &mut builder);
        let end = all.element(Kind::End, u32::MAX);
        all.get_mut(end).valid_end = true;
        all.append(end, &mut builder);
        all.body = all.close(builder);
        all.tie_ends();
        all.patch_gotos();
        all
    }

    pub fn get(&self, id: ElementId) -> &Element {
        &self.elements[id.0 as usize]
    }

    fn get_mut(&mut self, id: ElementId) -> &mut Element {
        &mut self.elements[id.0 as usize]
    }

    pub fn sequence(&self, id: SequenceId) -> Sequence {
        self.sequences[id.0 as usize]
    }

    fn element(&mut self, kind: Kind, statement: u32) -> ElementId {
        self.elements.push(Element {
            kind,
            next: None,
            atomic: false,
            last_atomic: false,
            in_d_step: false,
            escapes: Vec::new(),
            statement,
            valid_end: false,
            progress: false,
            accepting: false,
        });
        ElementId(self.elements.len() as u32 - 1)
    }

    fn append(&mut self, id: ElementId, builder: &mut Builder) {
        match builder.last {
            Some(last) => self.get_mut(last).next = Some(id),
            None => builder.first = Some(id),
        }
        builder.last = Some(id);
    }

    fn close(&mut self, builder: Builder) -> SequenceId {
        // The parser refuses empty sequences; a lone skip keeps this total all the same.
        let (first, last) = match (builder.first, builder.last) {
            (Some(first), Some(last)) => (first, last),
            _ => {
                let skip = self.element(Kind::Skip, u32::MAX);
                (skip, skip)
            }
        };
        self.sequences.push(Sequence { first, last, extent: last });
        SequenceId(self.sequences.len() as u32 - 1)
    }

    /// Adds an element behind a closed sequence.
    fn extend(&mut self, sequence: SequenceId, id: ElementId) {
        let last = self.sequence(sequence).last;
        self.get_mut(last).next = Some(id);
        self.sequences[sequence.0 as usize].last = id;
    }

    fn build(&mut self, statements: &'a [Statement]) -> SequenceId {
        let mut builder = Builder::default();
        self.statements_of(statements, &mut builder);
        self.close(builder)
    }

    fn statements_of(&mut self, statements: &'a [Statement], builder: &mut Builder) {
        for statement in statements {
            self.statement(statement, builder);
        }
    }

    fn statement(&mut self, statement: &'a Statement, builder: &mut Builder) {
        let number = self.statements.len() as u32;
        self.statements.push(statement);
        let id = match &statement.kind {
            StatementKind::If(options) => self.choice(options, number),
            StatementKind::Do(options, origin) => {
                return self.repetition(statement, (options, *origin), number, builder);
            }
            StatementKind::Unless { body, escape } => self.unless(body, escape, number),
            StatementKind::Atomic(body) => {
                let body = self.build(body);
                self.make_atomic(body, Within::Atomic);
                self.element(Kind::Atomic(body), number)
            }
            StatementKind::DStep(body) => {
                let body = self.build(body);
                self.make_atomic(body, Within::DStep);
                self.element(Kind::DStep(body), number)
            }
            StatementKind::Block(body) => {
                let body = self.build(body);
                self.element(Kind::Block(body), number)
            }
            StatementKind::Else => self.element(Kind::Else, number),
            StatementKind::Goto(label) => self.element(Kind::Goto(*label), number),
            StatementKind::Break => match self.exits.last() {
                Some(&exit) => self.element(Kind::Break(exit), number),
                None => self.element(Kind::Skip, number),
            },
            _ => self.element(Kind::Basic, number),
        };
        let labelled = self.carrier(statement, id, builder);
        self.attach_labels(statement, labelled);
        self.append(id, builder);
        match self.get(id).kind.clone() {
            Kind::Choice(options) => {
                let joint = self.element(Kind::Joint, number);
                for option in options {
                    self.extend(option, joint);
                }
                self.append(joint, builder);
            }
            Kind::Unless { body, escape } => {
                let joint = self.element(Kind::Joint, number);
                self.extend(body, joint);
                self.extend(escape, joint);
                self.attach_escape(body, escape);
                self.append(joint, builder);
            }
            _ => {}
        }
    }

    /// A goto is no state of its own, so a label that must be one gets a skip before it.
    fn carrier(&mut self, statement: &Statement, id: ElementId, builder: &mut Builder) -> ElementId {
        let matters = |l: &Label| l.is_end() || l.is_progress() || l.is_accept() || l.remote;
        let labels = &self.behaviour.labels;
        let jumps = matches!(self.get(id).kind, Kind::Goto(_) | Kind::Break(_));
        if !jumps || !statement.labels.iter().any(|l| matters(&labels[l.0 as usize])) {
            return id;
        }
        let number = self.get(id).statement;
        let skip = self.element(Kind::Skip, number);
        self.append(skip, builder);
        skip
    }

    fn attach_labels(&mut self, statement: &Statement, id: ElementId) {
        for label in &statement.labels {
            self.labels[label.0 as usize] = Some(id);
            let declared = &self.behaviour.labels[label.0 as usize];
            let (end, progress, accept) = (declared.is_end(), declared.is_progress(), declared.is_accept());
            let element = self.get_mut(id);
            element.valid_end |= end;
            element.progress |= progress;
            element.accepting |= accept;
        }
    }

    fn choice(&mut self, options: &'a [Vec<Statement>], number: u32) -> ElementId {
        let options = self.options(options, self.skips);
        self.element(Kind::Choice(options), number)
    }

    /// The options of a choice, the one that begins with `else` last.
    fn options(&mut self, options: &'a [Vec<Statement>], skips: Skips) -> Vec<SequenceId> {
        let begins_with_else =
            |o: &&'a Vec<Statement>| matches!(o.first().map(|s| &s.kind), Some(StatementKind::Else));
        let ordinary = options.iter().filter(|o| !begins_with_else(o));
        let otherwise = options.iter().filter(begins_with_else);
        let ordered: Vec<&'a Vec<Statement>> = ordinary.chain(otherwise).collect();
        ordered.into_iter().map(|o| self.option(o, skips)).collect()
    }

    fn option(&mut self, statements: &'a [Statement], skips: Skips) -> SequenceId {
        let mut builder = Builder::default();
        let mut idle = 0;
        for (i, statement) in statements.iter().enumerate() {
            let is_skip = is_constant_true(statement);
            let idles = (is_skip || is_print(statement)) && statement.labels.is_empty();
            idle = if idles { idle + 1 } else { 0 };
            let inner = i > 0 && i + 1 < statements.len();
            if idle > 1 && is_skip && inner && skips == Skips::DroppedInOptions {
                continue;
            }
            self.statement(statement, &mut builder);
        }
        self.close(builder)
    }

    fn repetition(
        &mut self,
        statement: &'a Statement,
        (options, origin): (&'a [Vec<Statement>], LoopOrigin),
        number: u32,
        builder: &mut Builder,
    ) {
        let exit = self.element(Kind::Exit, number);
        let joint = self.element(Kind::Joint, number);
        self.exits.push(exit);
        let skips = if origin == LoopOrigin::Counting { Skips::Kept } else { self.skips };
        let options = self.options(options, skips);
        self.exits.pop();
        for &option in &options {
            self.extend(option, joint);
        }
        let id = self.element(Kind::Choice(options), number);
        self.attach_labels(statement, id);
        self.append(joint, builder);
        self.append(id, builder);
        self.append(exit, builder);
    }

    fn unless(&mut self, body: &'a [Statement], escape: &'a [Statement], number: u32) -> ElementId {
        let body = self.build(body);
        let escape = self.build(escape);
        self.element(Kind::Unless { body, escape }, number)
    }

    /// The elements of a sequence, up to and including `end`.
    fn members(&self, sequence: SequenceId, end: ElementId) -> Vec<ElementId> {
        let mut all = Vec::new();
        let mut at = Some(self.sequence(sequence).first);
        while let Some(id) = at {
            all.push(id);
            if id == end {
                break;
            }
            at = self.get(id).next;
        }
        all
    }

    fn make_atomic(&mut self, sequence: SequenceId, within: Within) {
        self.walk_atomic(sequence, within);
        let last = self.sequence(sequence).last;
        match self.get(last).kind {
            Kind::Block(inner) | Kind::Atomic(inner) => self.make_atomic(inner, within),
            Kind::Unless { body, .. } => self.make_atomic(body, within),
            _ => {
                let element = self.get_mut(last);
                element.atomic = false;
                element.last_atomic = true;
            }
        }
    }

    fn walk_atomic(&mut self, sequence: SequenceId, within: Within) {
        for id in self.members(sequence, self.sequence(sequence).last) {
            let element = self.get_mut(id);
            element.atomic = true;
            element.in_d_step |= within == Within::DStep;
            match element.kind.clone() {
                Kind::Atomic(inner) | Kind::Block(inner) => {
                    element.kind = Kind::Block(inner);
                    self.walk_atomic(inner, within);
                }
                Kind::DStep(inner) if within == Within::DStep => {
                    element.kind = Kind::Block(inner);
                    self.walk_atomic(inner, within);
                }
                Kind::Choice(options) => {
                    for option in options {
                        self.walk_atomic(option, within);
                    }
                }
                Kind::Unless { body, escape } => {
                    self.walk_atomic(body, within);
                    self.walk_atomic(escape, within);
                }
                _ => {}
            }
        }
    }

    fn attach_escape(&mut self, sequence: SequenceId, escape: SequenceId) {
        for id in self.members(sequence, self.sequence(sequence).extent) {
            self.escape_element(id, escape);
        }
    }

    fn escape_element(&mut self, id: ElementId, escape: SequenceId) {
        if self.get(id).escapes.contains(&escape) {
            return;
        }
        for inner in self.get(id).escapes.clone() {
            self.attach_escape(inner, escape);
        }
        self.get_mut(id).escapes.insert(0, escape);
        match self.get(id).kind.clone() {
            Kind::Unless { body, .. } => self.attach_escape(body, escape),
            Kind::Choice(options) => {
                for option in options {
                    self.attach_escape(option, escape);
                }
            }
            // A `d_step` is escaped from as a whole, before its first statement.
            Kind::Atomic(inner) | Kind::Block(inner) => self.attach_escape(inner, escape),
            _ => {}
        }
    }

    /// The last element of an inner sequence goes on where the sequence's own element does. Outer sequences
    /// first: their elements are made after those inside.
    fn tie_ends(&mut self) {
        for i in (0..self.elements.len()).rev() {
            if let Kind::Atomic(inner) | Kind::Block(inner) | Kind::DStep(inner) = self.elements[i].kind {
                let last = self.sequence(inner).last;
                self.get_mut(last).next = self.elements[i].next;
            }
        }
    }

    /// A goto out of an atomic sequence ends it; one into an atomic sequence does not.
    fn patch_gotos(&mut self) {
        for i in 0..self.elements.len() {
            let target = match self.elements[i].kind {
                Kind::Goto(label) => self.labels[label.0 as usize],
                Kind::Break(exit) => Some(exit),
                _ => None,
            };
            let Some(target) = target else { continue };
            let lands_inside = self.get(target).atomic || self.get(target).last_atomic;
            let element = &mut self.elements[i];
            if !element.atomic && !element.last_atomic {
                continue;
            }
            if !lands_inside {
                element.atomic = false;
                element.last_atomic = true;
            } else if element.last_atomic {
                element.last_atomic = false;
                element.atomic = true;
            }
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Within {
    Atomic,
    DStep,
}

fn is_constant_true(statement: &Statement) -> bool {
    use crate::model::{Expr, ExprKind};
    matches!(
        &statement.kind,
        StatementKind::Expression(Expr { kind: ExprKind::Constant { value: 1, .. }, .. })
    )
}

fn is_print(statement: &Statement) -> bool {
    matches!(statement.kind, StatementKind::Printf { .. } | StatementKind::Printm(_))
}
