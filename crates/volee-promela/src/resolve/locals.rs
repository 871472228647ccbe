//! Second pass: the variables and labels of a body, found by walking it once before anything in it is
//! resolved.
//!
//! Blocks are numbered as they open, the body itself being block 0. The third pass walks in the same order
//! and so gives the same numbers.

use hashbrown::HashMap;

use super::{BehaviourKind, Failed, Resolved, Resolver, Scope};
use crate::ast::{self, Block, Declaration, Name, Sequence, Statement, StatementKind};
use crate::index::Role;
use crate::index::notes::Entity;
use crate::intern::{Interner, Sym};
use crate::model::{Behaviour, GlobalId, Label, LabelId, LocalId, ProctypeId, Variable};
use crate::source::{Advice, At, Sources};

/// What there is in a body.
#[derive(Debug, Clone, Default)]
pub(super) struct Locals {
    labels: Vec<FoundLabel>,
    /// The labels by name and block, and the first of each name.
    by_block: HashMap<(Sym, u32), LabelId>,
    by_name: HashMap<Sym, LabelId>,
    /// The block around each block; the body is around itself.
    parents: Vec<u32>,
    /// The names of the variables, and the first of each name.
    pub names: Vec<Sym>,
    first: HashMap<Sym, LocalId>,
}

#[derive(Debug, Clone)]
struct FoundLabel {
    name: Sym,
    d_step: Option<u32>,
    model: Label,
}

impl Locals {
    /// What can be referred to from outside in a finished behaviour.
    pub(super) fn of(behaviour: &Behaviour, interner: &mut Interner) -> Self {
        let mut found = Locals { parents: vec![0], ..Locals::default() };
        for label in &behaviour.labels {
            found.add_label(interner.intern(&label.name), 0, None, label.clone());
        }
        for variable in &behaviour.locals {
            found.add_variable(interner.intern(&variable.name));
        }
        found
    }

    /// Adds a label; returns the one that is already there, if one is.
    fn add_label(&mut self, name: Sym, block: u32, d_step: Option<u32>, model: Label) -> Option<LabelId> {
        let id = LabelId(self.labels.len() as u32);
        self.labels.push(FoundLabel { name, d_step, model });
        self.by_name.entry(name).or_insert(id);
        let known = *self.by_block.entry((name, block)).or_insert(id);
        (known != id).then_some(known)
    }

    fn add_variable(&mut self, name: Sym) {
        self.first.entry(name).or_insert(LocalId(self.names.len() as u32));
        self.names.push(name);
    }

    /// The variable that `P:name` means: the first of that name.
    pub(super) fn variable(&self, name: Sym) -> Option<LocalId> {
        self.first.get(&name).copied()
    }

    pub(super) fn model_labels(&self) -> Vec<Label> {
        self.labels.iter().map(|l| l.model.clone()).collect()
    }

    pub(super) fn label_name(&self, LabelId(id): LabelId) -> &str {
        &self.labels[id as usize].model.name
    }

    pub(super) fn label_names(&self) -> Vec<Sym> {
        self.labels.iter().map(|l| l.name).collect()
    }

    /// The label that `goto` means in a block: the one of the same block, else of the nearest block around,
    /// else any.
    pub(super) fn label(&self, name: Sym, block: u32) -> Option<LabelId> {
        let mut around = block;
        loop {
            if let Some(&label) = self.by_block.get(&(name, around)) {
                return Some(label);
            }
            if around == 0 {
                return self.any_label(name);
            }
            around = self.parents[around as usize];
        }
    }

    /// The label that `P@name` means: the first of that name.
    pub(super) fn any_label(&self, name: Sym) -> Option<LabelId> {
        self.by_name.get(&name).copied()
    }

    fn d_step_of(&self, label: LabelId) -> Option<u32> {
        self.labels[label.0 as usize].d_step
    }
}

/// The walk of the second pass.
struct Finder<'t, 'r> {
    found: Locals,
    declarations: Vec<&'t Declaration>,
    labels: Vec<Name>,
    duplicates: Vec<(Name, LabelId)>,
    sources: &'r Sources,
    interner: &'r Interner,
    block: u32,
    d_step: Option<u32>,
}

impl<'t> Finder<'t, '_> {
    fn sequence(&mut self, statements: &'t Sequence) {
        for statement in statements {
            self.statement(statement);
        }
    }

    fn block(&mut self, block: &'t Block) {
        let around = self.block;
        self.block = self.found.parents.len() as u32;
        self.found.parents.push(around);
        self.sequence(&block.statements);
        self.block = around;
    }

    fn statement(&mut self, statement: &'t Statement) {
        for label in &statement.labels {
            self.label(*label);
        }
        match &statement.kind {
            StatementKind::Declaration(declaration) => self.declarations.push(declaration),
            StatementKind::Block(block)
            | StatementKind::Atomic(block)
            | StatementKind::ForRange { body: block, .. }
            | StatementKind::ForIn { body: block, .. } => self.block(block),
            StatementKind::DStep(block) => {
                let outer = self.d_step;
                self.d_step = outer.or(Some(self.found.parents.len() as u32));
                self.block(block);
                self.d_step = outer;
            }
            StatementKind::If(options) | StatementKind::Do(options) => {
                for option in options {
                    self.sequence(option);
                }
            }
            StatementKind::Unless(body, escape) => {
                self.statement(body);
                self.statement(escape);
            }
            _ => {}
        }
    }

    fn label(&mut self, name: Name) {
        let model =
            Label { name: self.interner.shared(name.sym), place: self.sources.place(name.at), remote: false };
        self.labels.push(name);
        if let Some(known) = self.found.add_label(name.sym, self.block, self.d_step, model) {
            self.duplicates.push((name, known));
        }
    }
}

impl Resolver<'_> {
    /// Finds the labels and declares the variables of a body, without their initial values.
    pub(super) fn declare_locals(
        &mut self,
        parameters: &[Declaration],
        body: &ast::Body,
    ) -> (Locals, Vec<Variable>) {
        let mut finder = Finder {
            found: Locals { parents: vec![0], ..Locals::default() },
            declarations: parameters.iter().collect(),
            labels: Vec::new(),
            duplicates: Vec::new(),
            sources: self.sources,
            interner: self.interner,
            block: 0,
            d_step: None,
        };
        finder.sequence(&body.statements);
        let Finder { mut found, declarations, labels, duplicates, .. } = finder;
        for (i, name) in labels.into_iter().enumerate() {
            self.sources.note(name, Entity::Label(self.within, LabelId(i as u32)), Role::Declare);
        }
        for (name, LabelId(known)) in duplicates {
            let place = found.labels[known as usize].model.place.clone();
            let text = self.text(name.sym);
            self.sources
                .error(name.at, text.len(), format!("the label `{text}` is already there"))
                .advise(format!("the other one is at {place}"));
        }
        let mut variables = Vec::new();
        for declaration in declarations {
            for declarator in &declaration.variables {
                let id = LocalId(variables.len() as u32);
                self.sources.note(declarator.name, Entity::Local(self.within, id), Role::Declare);
                found.add_variable(declarator.name.sym);
                variables.push(self.variable(declaration, declarator));
            }
        }
        self.refuse_parameter_values(parameters);
        (found, variables)
    }

    fn refuse_parameter_values(&mut self, parameters: &[Declaration]) {
        for declarator in parameters.iter().flat_map(|d| &d.variables) {
            let text = self.text(declarator.name.sym);
            if !matches!(declarator.init, ast::Init::None) {
                self.sources
                    .error(
                        declarator.name.at,
                        text.len(),
                        format!("the parameter `{text}` has an initial value"),
                    )
                    .advise("its value comes with `run`");
            }
            if declarator.length.is_some() {
                self.sources
                    .error(declarator.name.at, text.len(), format!("the parameter `{text}` is an array"))
                    .advise("pass a struct with the array in it, or use a global");
            }
        }
    }

    /// Notes the labels that remote references name.
    pub(super) fn mark_remote_labels(&mut self) {
        for (ProctypeId(proctype), LabelId(label)) in std::mem::take(&mut self.remote_labels) {
            self.model.proctypes[proctype as usize].behaviour.labels[label as usize].remote = true;
        }
    }

    pub(super) fn show_parameters(&mut self, count: u32) {
        for _ in 0..count {
            self.show_next_local(None);
        }
    }

    /// Makes the next local visible, and returns it.
    pub(super) fn show_next_local(&mut self, at: Option<At>) -> LocalId {
        let Some(scope) = &mut self.scope else { unreachable!("locals are in behaviours") };
        let id = LocalId(scope.next_local);
        scope.next_local += 1;
        let sym = scope.found.names[id.0 as usize];
        let previous = scope.visible.entry(sym).or_default().last().copied();
        let in_same_block = previous.is_some_and(|p| scope.block_of.get(p.0 as usize) == Some(&scope.block));
        scope.visible.entry(sym).or_default().push(id);
        scope.declared.push(sym);
        scope.block_of.push(scope.block);
        let known = previous.map(|p| scope.variables[p.0 as usize].place.clone());
        let known = known.or_else(|| {
            self.globals.get(&sym).map(|GlobalId(g)| self.model.globals[*g as usize].place.clone())
        });
        if let (Some(at), Some(place)) = (at, known) {
            self.report_shadow(Name { sym, at }, &place, in_same_block);
        }
        if let Some(at) = at {
            self.refuse_symbol(Name { sym, at });
        }
        id
    }

    fn report_shadow(&mut self, name: Name, place: &volee_system::Place, in_same_block: bool) {
        let text = self.text(name.sym);
        if in_same_block {
            self.sources
                .error(name.at, text.len(), format!("`{text}` is already declared"))
                .advise(format!("the other declaration is at {place}"));
        } else {
            self.sources
                .warning(
                    name.at,
                    text.len(),
                    format!("`{text}` hides the variable of the same name at {place}"),
                )
                .advise("SPIN refuses this; rename one of them");
        }
    }

    fn refuse_symbol(&mut self, name: Name) {
        let text = self.text(name.sym);
        if self.symbols.contains_key(&name.sym) {
            let message = format!("`{text}` is the name of an mtype value, so it cannot be a variable");
            self.sources.error(name.at, text.len(), message);
        } else if Self::is_predefined(name.sym) {
            self.sources.error(name.at, text.len(), format!("`{text}` is predefined and cannot be declared"));
        }
    }

    /// The label of a goto, which must not cross the border of a `d_step`.
    pub(super) fn goto(&mut self, name: Name) -> Resolved<LabelId> {
        let Some(scope) = &self.scope else { unreachable!("gotos are in behaviours") };
        let text = self.interner.display(name.sym);
        let Some(label) = scope.found.label(name.sym, scope.block) else {
            let known = scope.found.label_names();
            return Err(self.unknown(name, format!("there is no label `{text}` in this body"), known));
        };
        self.sources.note(name, Entity::Label(self.within, label), Role::Read);
        if scope.found.d_step_of(label) != scope.d_step {
            self.sources
                .error(name.at, text.len(), "this jump goes into or out of a `d_step`")
                .advise("a `d_step` is one step; use `atomic` to jump");
            return Err(Failed);
        }
        Ok(label)
    }
}

impl Scope {
    pub(super) fn new(kind: BehaviourKind, found: Locals, variables: Vec<Variable>) -> Self {
        Scope {
            kind,
            found,
            variables,
            visible: HashMap::new(),
            declared: Vec::new(),
            block_of: Vec::new(),
            next_local: 0,
            next_block: 1,
            block: 0,
            d_step: None,
            loops: Vec::new(),
            at_start: true,
            at_guard: false,
            exclusive: Vec::new(),
        }
    }
}
