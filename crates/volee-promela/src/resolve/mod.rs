//! Names and types: from the syntax tree to the [`Model`].
//!
//! Three passes. The first declares what is global: symbolic names, types, variables, proctypes. The second
//! declares what is inside each proctype, claim and trace: parameters, local variables, labels, so that
//! references from elsewhere (`P[1]@cs`) find them whatever the order in the text. The third resolves
//! statements and expressions, walking each body in the order of the second pass, so that both count
//! variables and scopes alike.

mod declare;
mod expr;
mod locals;
mod loops;
mod ltl;
mod path;
mod printf;
mod statement;

use std::sync::Arc;

use hashbrown::HashMap;

use crate::ast::{self, Name, Unit};
use crate::index::Role;
use crate::index::notes::{Entity, Within};
use crate::intern::{Interner, Sym, kw};
use crate::limits::{MAX_PROCESSES, MAX_PROCTYPES};
use crate::model::{
    Behaviour, Claim, Expr, GlobalId, LabelId, LocalId, LtlProperty, Model, MtypeId, MtypeSet, Proctype,
    ProctypeId, ProctypeKind, StructId, Trace, Variable,
};
use crate::source::{Advice, At, Sources};
use crate::suggest::closest;
use locals::Locals;

/// A diagnostic says why there is no result.
#[derive(Debug)]
pub(crate) struct Failed;

pub(crate) type Resolved<T> = Result<T, Failed>;

/// The resolver with all it knows so far.
pub(crate) struct Resolver<'a> {
    sources: &'a mut Sources,
    interner: &'a mut Interner,
    model: Model,
    globals: HashMap<Sym, GlobalId>,
    symbols: HashMap<Sym, (MtypeId, u8)>,
    mtypes: HashMap<Sym, MtypeId>,
    structs: HashMap<Sym, StructId>,
    proctypes: HashMap<Sym, ProctypeId>,
    /// What the second pass found in each proctype.
    found: Vec<Locals>,
    /// How many scalars each struct has, and how deeply structs nest in it.
    struct_sizes: Vec<(u64, u32)>,
    /// The labels that remote references name.
    remote_labels: Vec<(ProctypeId, LabelId)>,
    /// Statements made so far, and whether that was too many.
    statements: usize,
    is_too_large: bool,
    /// Which units are proctypes of the model.
    unit_ids: Vec<Option<ProctypeId>>,
    /// The behaviour being resolved; none in global declarations, formulas and predicates.
    scope: Option<Scope>,
    /// What that behaviour belongs to.
    within: Within,
}

/// The state of the third pass inside one behaviour.
struct Scope {
    kind: BehaviourKind,
    found: Locals,
    variables: Vec<Variable>,
    /// Which local a name means now, the innermost last; and the names to forget at the end of each block.
    visible: HashMap<Sym, Vec<LocalId>>,
    declared: Vec<Sym>,
    /// The block that each local is declared in.
    block_of: Vec<u32>,
    /// The next local and block in the order of the second pass.
    next_local: u32,
    next_block: u32,
    block: u32,
    /// Which `d_step` we are in, if any: the number of its block.
    d_step: Option<u32>,
    /// The enclosing loops, each with the `d_step` it is in.
    loops: Vec<Option<u32>>,
    /// Whether declarations still belong to the birth of the process.
    at_start: bool,
    /// Whether the next statement is the first of an option.
    at_guard: bool,
    exclusive: Vec<crate::model::Exclusive>,
}

/// What a body belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BehaviourKind {
    Process,
    Claim,
    Trace,
}

/// Resolves a model.
pub(crate) fn resolve(file: &str, units: &[Unit], sources: &mut Sources, interner: &mut Interner) -> Model {
    let model = Model {
        file: file.into(),
        mtypes: vec![MtypeSet { name: None, names: Vec::new() }],
        structs: Vec::new(),
        globals: Vec::new(),
        proctypes: Vec::new(),
        claims: Vec::new(),
        trace: None,
        ltl: Vec::new(),
        macros: Vec::new(),
        included: Vec::new(),
    };
    let mut resolver = Resolver::new(model, sources, interner);
    for unit in units {
        let id = resolver.declare(unit);
        resolver.unit_ids.push(id);
    }
    resolver.declare_bodies(units);
    resolver.resolve_bodies(units);
    resolver.check_processes(units);
    resolver.model
}

impl<'a> Resolver<'a> {
    fn new(model: Model, sources: &'a mut Sources, interner: &'a mut Interner) -> Self {
        Resolver {
            sources,
            interner,
            model,
            globals: HashMap::new(),
            symbols: HashMap::new(),
            mtypes: HashMap::new(),
            structs: HashMap::new(),
            proctypes: HashMap::new(),
            found: Vec::new(),
            struct_sizes: Vec::new(),
            remote_labels: Vec::new(),
            statements: 0,
            is_too_large: false,
            unit_ids: Vec::new(),
            scope: None,
            within: Within::Global,
        }
    }

    /// Goes on with another part of the model.
    fn enter(&mut self, within: Within) {
        self.within = within;
        self.sources.enter(within);
    }

    /// A resolver for expressions over a finished model.
    pub(crate) fn over(model: Model, sources: &'a mut Sources, interner: &'a mut Interner) -> Self {
        let mut resolver = Resolver::new(model, sources, interner);
        resolver.learn_model();
        resolver
    }

    fn learn_model(&mut self) {
        for (i, variable) in self.model.globals.iter().enumerate() {
            self.globals.insert(self.interner.intern(&variable.name), GlobalId(i as u32));
        }
        for (i, set) in self.model.mtypes.iter().enumerate() {
            for name in &set.names {
                self.symbols.insert(self.interner.intern(&name.name), (MtypeId(i as u32), name.value));
            }
        }
        for index in 0..self.model.structs.len() {
            self.measure_struct(index);
        }
        for (i, proctype) in self.model.proctypes.iter().enumerate() {
            self.proctypes.insert(self.interner.intern(&proctype.name), ProctypeId(i as u32));
            self.found.push(Locals::of(&proctype.behaviour, self.interner));
        }
    }

    /// First pass: what a unit declares globally; its number if that is a proctype.
    fn declare(&mut self, unit: &Unit) -> Option<ProctypeId> {
        match unit {
            Unit::Mtype { set, names } => self.declare_mtype(*set, names),
            Unit::Typedef { name, fields } => self.declare_typedef(*name, fields),
            Unit::Declaration(declaration) => self.declare_globals(declaration),
            Unit::Proctype(proctype) => return self.declare_proctype(proctype),
            Unit::Init { at, .. } => {
                if let Some((_, known)) = self.model.proctype(":init:") {
                    let before = known.place.clone();
                    self.sources
                        .error(*at, 4, "there is a second `init`")
                        .advise(format!("the other one is at {before}"));
                    return None;
                }
                let name = self.interner.intern(":init:");
                let id = self.push_proctype(Name { sym: name, at: *at }, ProctypeKind::Init);
                if let Some(id) = id {
                    self.sources.note(Name { sym: kw::INIT, at: *at }, Entity::Proctype(id), Role::Declare);
                }
                return id;
            }
            Unit::Never { .. } | Unit::Trace { .. } | Unit::Ltl { .. } => {}
        }
        None
    }

    fn declare_proctype(&mut self, proctype: &ast::Proctype) -> Option<ProctypeId> {
        let name = proctype.name;
        if let Some(known) = self.proctypes.get(&name.sym) {
            let before = self.model.proctypes[known.0 as usize].place.clone();
            let text = self.text(name.sym);
            self.sources
                .error(name.at, text.len(), format!("the proctype `{text}` is already declared"))
                .advise(format!("the other declaration is at {before}"));
            return None;
        }
        let kind = if proctype.deterministic { ProctypeKind::Deterministic } else { ProctypeKind::Proctype };
        let id = self.push_proctype(name, kind)?;
        self.sources.note(name, Entity::Proctype(id), Role::Declare);
        self.proctypes.insert(name.sym, id);
        Some(id)
    }

    fn push_proctype(&mut self, name: Name, kind: ProctypeKind) -> Option<ProctypeId> {
        if self.model.proctypes.len() >= MAX_PROCTYPES {
            self.sources.error(name.at, 0, format!("there can be at most {MAX_PROCTYPES} proctypes"));
            return None;
        }
        let id = ProctypeId(self.model.proctypes.len() as u32);
        let place = self.sources.place(name.at);
        let behaviour = Behaviour {
            locals: Vec::new(),
            labels: Vec::new(),
            body: Vec::new(),
            exclusive: Vec::new(),
            end: place.clone(),
        };
        self.model.proctypes.push(Proctype {
            name: self.interner.shared(name.sym),
            kind,
            active: u32::from(kind == ProctypeKind::Init),
            parameters: 0,
            priority: None,
            provided: None,
            behaviour,
            place,
        });
        Some(id)
    }

    /// Second pass.
    fn declare_bodies(&mut self, units: &[Unit]) {
        for (index, unit) in units.iter().enumerate() {
            let Some(ProctypeId(id)) = self.unit_ids[index] else { continue };
            let (parameters, body): (&[ast::Declaration], _) = match unit {
                Unit::Proctype(proctype) => (&proctype.parameters, &proctype.body),
                Unit::Init { body, .. } => (&[], body),
                _ => continue,
            };
            self.enter(Within::Proctype(ProctypeId(id)));
            let (found, variables) = self.declare_locals(parameters, body);
            let proctype = &mut self.model.proctypes[id as usize];
            proctype.parameters = parameters.iter().map(|d| d.variables.len() as u32).sum();
            proctype.behaviour.labels = found.model_labels();
            proctype.behaviour.locals = variables;
            self.found.push(found);
        }
        self.enter(Within::Global);
    }

    /// Third pass.
    fn resolve_bodies(&mut self, units: &[Unit]) {
        let (mut claims, mut formulas) = (0, 0);
        for (index, unit) in units.iter().enumerate() {
            let id = self.unit_ids[index];
            if let Some(id) = id {
                self.enter(Within::Proctype(id));
            }
            match unit {
                Unit::Proctype(ast::Proctype { active, priority, provided, body, .. }) => {
                    self.resolve_proctype(id, active.as_ref(), priority.as_ref(), provided.as_ref(), body);
                }
                Unit::Init { priority, body, .. } => {
                    self.resolve_proctype(id, None, priority.as_ref(), None, body);
                }
                Unit::Never { name, at, body } => {
                    let entity = Entity::Claim(self.model.claims.len() as u32);
                    self.sources.note(
                        name.unwrap_or(Name { sym: kw::NEVER, at: *at }),
                        entity,
                        Role::Declare,
                    );
                    self.enter(Within::Claim(self.model.claims.len() as u32));
                    let name = self.optional_name(*name, "never", claims);
                    claims += 1;
                    if self.model.claims.iter().any(|c| c.name == name) {
                        let message = format!("there is a second never claim `{name}`");
                        self.sources.error(*at, 5, message).advise("give each claim a name of its own");
                    }
                    let place = self.sources.place(*at);
                    let (found, variables) = self.declare_locals(&[], body);
                    let behaviour = self.behaviour(BehaviourKind::Claim, found, variables, 0, body);
                    self.model.claims.push(Claim { name, behaviour, place });
                }
                Unit::Trace { forbids, at, body } => {
                    let sym = if *forbids { kw::NOTRACE } else { kw::TRACE };
                    self.sources.note(Name { sym, at: *at }, Entity::Trace, Role::Declare);
                    self.enter(Within::Trace);
                    if self.model.trace.is_some() {
                        self.sources.error(*at, 5, "there is a second trace assertion");
                    }
                    let place = self.sources.place(*at);
                    let (found, variables) = self.declare_locals(&[], body);
                    let behaviour = self.behaviour(BehaviourKind::Trace, found, variables, 0, body);
                    self.model.trace = Some(Trace { forbids: *forbids, behaviour, place });
                }
                Unit::Ltl { .. } | Unit::Mtype { .. } | Unit::Typedef { .. } | Unit::Declaration(_) => {}
            }
        }
        for unit in units {
            if let Unit::Ltl { name, at, formula } = unit {
                let id = self.model.ltl.len() as u32;
                self.enter(Within::Formula(id));
                let named = name.unwrap_or(Name { sym: kw::LTL, at: *at });
                self.sources.note(named, Entity::Formula(id), Role::Declare);
                let name = self.optional_name(*name, "ltl", formulas);
                formulas += 1;
                self.resolve_ltl(name, *at, formula);
            }
        }
        self.enter(Within::Global);
        self.mark_remote_labels();
    }

    fn optional_name(&self, name: Option<Name>, prefix: &str, count: usize) -> Arc<str> {
        name.map_or_else(|| format!("{prefix}_{count}").into(), |name| self.interner.shared(name.sym))
    }

    fn resolve_ltl(&mut self, name: Arc<str>, at: At, formula: &ast::Expr) {
        if self.model.ltl.iter().any(|p| p.name == name) {
            let message = format!("there is a second formula `{name}`");
            self.sources.error(at, 3, message).advise("give each formula a name of its own");
        }
        let Ok(formula) = self.ltl(formula) else { return };
        let text = crate::render::ltl(&self.model, &formula).into();
        let place = self.sources.place(at);
        self.model.ltl.push(LtlProperty { name, formula, text, place });
    }

    fn resolve_proctype(
        &mut self,
        id: Option<ProctypeId>,
        active: Option<&ast::Expr>,
        priority: Option<&ast::Expr>,
        provided: Option<&ast::Expr>,
        body: &ast::Body,
    ) {
        let Some(id) = id else { return };
        let index = id.0 as usize;
        if let Some(active) = active {
            self.model.proctypes[index].active = self.active_count(active);
        }
        self.model.proctypes[index].priority = priority.and_then(|p| self.priority_value(p).ok());
        let found = std::mem::take(&mut self.found[index]);
        let variables = self.model.proctypes[index].behaviour.locals.clone();
        let parameters = self.model.proctypes[index].parameters;
        // The third pass of other proctypes may look for labels and variables here.
        self.found[index] = found.clone();
        if let Some(provided) = provided {
            self.scope = Some(Scope::new(BehaviourKind::Process, found.clone(), variables.clone()));
            self.show_parameters(parameters);
            self.model.proctypes[index].provided = self.state_expr(provided, "`provided`").ok();
            self.scope = None;
        }
        let behaviour = self.behaviour(BehaviourKind::Process, found, variables, parameters, body);
        self.model.proctypes[index].behaviour = behaviour;
    }

    fn active_count(&mut self, expr: &ast::Expr) -> u32 {
        let Ok(count) = self.constant(expr) else { return 0 };
        if !(0..=i64::from(MAX_PROCESSES)).contains(&count) {
            self.sources
                .error(expr.at, 0, format!("{count} processes cannot be active"))
                .advise(format!("there can be 0 to {MAX_PROCESSES}"));
            return 0;
        }
        count as u32
    }

    fn priority_value(&mut self, expr: &ast::Expr) -> Resolved<u8> {
        let value = self.constant(expr)?;
        u8::try_from(value).ok().filter(|&v| v > 0).ok_or_else(|| {
            self.sources.error(expr.at, 0, format!("{value} is not a priority")).advise("use 1 to 255");
            Failed
        })
    }

    fn check_processes(&mut self, units: &[Unit]) {
        let total: u32 = self.model.proctypes.iter().map(|p| p.active).sum();
        if total > MAX_PROCESSES {
            let mut widest = units.iter().filter_map(|unit| match unit {
                Unit::Proctype(proctype) => proctype.active.as_ref(),
                _ => None,
            });
            let Some(last) = widest.next_back() else { return };
            self.sources
                .error(last.at, 0, format!("{total} processes are active at the start"))
                .advise(format!("there can be at most {MAX_PROCESSES}"));
        }
        if self.model.proctypes.is_empty() && !self.sources.has_errors() {
            let at = At::start_of(self.main_file());
            let help = "write `active proctype Name() { … }`, or `init { … }` that runs the others";
            self.sources.error(at, 0, "there is no process in this model").advise(help);
        }
    }

    fn main_file(&self) -> u32 {
        self.sources.files.iter().position(|f| f.name == self.model.file).unwrap_or(0) as u32
    }

    /// A spelling for a message.
    fn text(&self, sym: Sym) -> String {
        self.interner.display(sym)
    }

    /// Reports an unknown name with the known one that looks most like it.
    fn unknown(&mut self, name: Name, message: String, known: Vec<Sym>) -> Failed {
        let text = self.text(name.sym);
        let known = if self.sources.too_many_errors() { &[][..] } else { &known[..] };
        let names = known.iter().map(|&sym| self.interner.text(sym));
        let help = closest(&text, names).map(|other| format!("did you mean `{other}`?"));
        let diagnostic = self.sources.error(name.at, text.len(), message);
        if let Some(help) = help {
            diagnostic.advise(help);
        }
        Failed
    }

    /// Whether a name has a meaning of its own and cannot be declared.
    fn is_predefined(sym: Sym) -> bool {
        [kw::PID, kw::NR_PR, kw::LAST, kw::UNDERSCORE, kw::OWN_PRIORITY, kw::STDIN].contains(&sym)
    }

    /// Resolves an expression that is a predicate over a finished model.
    pub(crate) fn predicate(&mut self, expr: &ast::Expr) -> Resolved<Expr> {
        self.state_expr(expr, "a predicate")
    }
}
