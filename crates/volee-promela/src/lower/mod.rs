//! Lowering: a resolved model becomes a program.
//!
//! Two choices are made here: where every variable lives in the packed state ([`storage`]), and what the
//! points of control are ([`elements`], [`control`]). The control graphs follow SPIN's to the letter, because
//! a user who compares counts must find the same numbers: which statements are steps of their own, which
//! gotos vanish, where an atomic sequence ends.

mod control;
mod elements;
mod expr;
mod monitor;
mod storage;

use std::sync::Arc;

use volee_program::{Action, Claim, Expr, Machine, MachineOptions, Node, Proctype, ProctypeId, Program};
use volee_system::Diagnostic;

use crate::model::{self, Model};
use control::{Control, Skips};
use expr::Lowering;
use storage::Storage;

/// A model made ready to run: the program, and what is needed to read predicates over it.
#[derive(Clone)]
pub struct Lowered {
    /// The program.
    pub program: Arc<Program>,
    model: Arc<Model>,
    storage: Arc<Storage>,
    controls: Arc<Vec<Control>>,
    /// Globals that are no part of a state.
    hidden: Vec<model::GlobalId>,
}

/// Lowers a resolved model.
///
/// # Errors
/// Constructs that have no meaning in a verifier, each with its place.
pub fn lower(model: Arc<Model>) -> Result<Lowered, Vec<Diagnostic>> {
    let storage = Arc::new(Storage::of(&model)?);
    let controls: Vec<Control> =
        model.proctypes.iter().map(|p| Control::of(&p.behaviour, Skips::DroppedInOptions)).collect();
    let mut lowering = Lowering::new(&model, &storage, &controls);
    let mut program = Program {
        name: model.file.to_string(),
        mtypes: model
            .mtypes
            .iter()
            .map(|set| set.names.iter().map(|n| (i32::from(n.value), n.name.to_string())).collect())
            .collect(),
        globals: storage.globals.variables.clone(),
        globals_size: storage.globals.size,
        channel_types: storage.channel_types.clone(),
        channels: storage.globals.channels.clone(),
        globals_init: lowering.initial_values(None, &model.globals),
        ..Program::default()
    };
    for (index, proctype) in model.proctypes.iter().enumerate() {
        program.proctypes.push(lower_proctype(&mut lowering, index, proctype));
        program.active.extend((0..proctype.active).map(|_| ProctypeId(index as u8)));
    }
    program.never = model.claims.first().map(|claim| lower_claim(&mut lowering, claim));
    program.monitor = model.trace.as_ref().map(|trace| monitor::lower(&mut lowering, trace));
    program.uses_last = lowering.uses_last;
    program.uses_timeout = lowering.uses_timeout;
    program.uses_priorities =
        lowering.uses_priorities || model.proctypes.iter().any(|p| p.priority.is_some());
    if !lowering.errors.is_empty() {
        return Err(lowering.errors);
    }
    let hidden = hide(&mut program, &model, &storage);
    Ok(Lowered { program: Arc::new(program), model, storage, controls: Arc::new(controls), hidden })
}

/// Takes hidden variables that nobody reads out of the state; which ones.
fn hide(program: &mut Program, model: &Model, storage: &Storage) -> Vec<model::GlobalId> {
    let extent = |index: usize| {
        let variable = &model.globals[index];
        (storage.globals.offsets[index], storage.size_of(variable.ty) * variable.length.unwrap_or(1))
    };
    let is_hidden = |&index: &usize| model.globals[index].visibility == model::Visibility::Hidden;
    let hidden: Vec<usize> = (0..model.globals.len()).filter(is_hidden).collect();
    let extents: Vec<(u32, u32)> = hidden.iter().map(|&index| extent(index)).collect();
    let dropped = volee_program::optimise::drop_hidden(program, &extents);
    hidden.into_iter().filter(|&i| dropped.contains(&extent(i))).map(|i| model::GlobalId(i as u32)).collect()
}

impl Lowered {
    /// The files that the model includes.
    pub fn included(&self) -> impl Iterator<Item = &str> {
        self.model.included.iter().map(|name| &**name)
    }

    /// A machine that runs this program and reads predicates over its model.
    pub fn machine(&self, options: MachineOptions) -> Machine {
        let this = self.clone();
        let predicates: volee_program::PredicateCompiler = Arc::new(move |text| this.predicate(text));
        Machine::new(Arc::clone(&self.program), MachineOptions { predicates: Some(predicates), ..options })
    }

    /// Reads an expression over the model's global names.
    ///
    /// # Errors
    /// The text is not such an expression.
    pub fn predicate(&self, text: &str) -> Result<Expr, Diagnostic> {
        let parsed = crate::parse_predicate(&self.model, text).map_err(|mut all| all.swap_remove(0))?;
        self.expression(&parsed)
    }

    /// Lowers an expression of the model in global scope.
    ///
    /// # Errors
    /// The expression has side effects or means nothing outside a process.
    pub fn expression(&self, expr: &model::Expr) -> Result<Expr, Diagnostic> {
        let mut lowering = Lowering::new(&self.model, &self.storage, &self.controls);
        lowering.hidden = &self.hidden;
        let lowered = lowering.expr(expr);
        match lowering.errors.into_iter().next() {
            Some(error) => Err(error),
            None => Ok(lowered),
        }
    }

    /// The resolved model.
    pub fn model(&self) -> &Arc<Model> {
        &self.model
    }
}

fn lower_proctype(lowering: &mut Lowering<'_>, index: usize, proctype: &model::Proctype) -> Proctype {
    lowering.enter(Some(index));
    let controls = lowering.controls;
    let control = &controls[index];
    let nodes = control.nodes(lowering);
    let block = &lowering.storage.locals[index];
    let parameters = proctype.behaviour.locals.iter().take(proctype.parameters as usize).enumerate();
    let lowered = Proctype {
        name: proctype.name.to_string(),
        parameters: parameters.flat_map(|(i, v)| lowering.storage.leaves_of_local(index, i, v)).collect(),
        locals: block.variables.clone(),
        locals_size: block.size,
        locals_init: lowering.initial_values(Some(index), &proctype.behaviour.locals),
        channels: block.channels.clone(),
        nodes,
        entry: control.entry(),
        entry_resets: Vec::new(),
        provided: proctype.provided.as_ref().map(|e| lowering.expr(e)),
        priority: proctype.priority.unwrap_or(1),
        deterministic: proctype.kind == model::ProctypeKind::Deterministic,
        place: Some(proctype.place.clone()),
    };
    lowering.enter(None);
    lowered
}

fn lower_claim(lowering: &mut Lowering<'_>, claim: &model::Claim) -> Claim {
    if let Some(variable) = claim.behaviour.locals.first() {
        let message =
            format!("the claim declares a variable `{}`: declare it outside the claim", variable.name);
        lowering.errors.push(Diagnostic::error(message, variable.place.clone()));
    }
    let control = Control::of(&claim.behaviour, Skips::Kept);
    let nodes: Vec<Node> = control.nodes(lowering);
    for transition in nodes.iter().flat_map(|n| &n.transitions) {
        if !matches!(
            transition.action,
            Action::Skip
                | Action::Else
                | Action::Guard(_)
                | Action::Assert(_)
                | Action::End
                | Action::Print(_)
        ) {
            let message = "a claim may only watch: conditions, assertions and control";
            lowering.errors.push(Diagnostic::error(message, transition.statement.place.clone()));
        }
    }
    Claim { name: claim.name.to_string(), nodes, entry: control.entry() }
}
