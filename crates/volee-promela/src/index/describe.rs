//! What to say about a symbol: its kind, its declaration in one line, the values it takes.

use std::sync::Arc;

use hashbrown::HashMap;

use super::SymbolKind;
use super::notes::{Entity, Within};
use crate::intern::Interner;
use crate::lint::values::{Key, Values};
use crate::model::{
    Behaviour, Init, LocalId, Model, MtypeId, ProctypeId, ProctypeKind, StructId, Type, Variable, Visibility,
};
use crate::render;

pub(super) struct Describer<'a> {
    model: &'a Model,
    texts: &'a HashMap<Entity, String>,
    values: Values,
}

impl<'a> Describer<'a> {
    pub(super) fn new(model: &'a Model, texts: &'a HashMap<Entity, String>) -> Self {
        Describer { model, texts, values: Values::of(model) }
    }

    pub(super) fn kind(&self, entity: Entity) -> SymbolKind {
        match entity {
            Entity::Global(_) => SymbolKind::Global,
            Entity::Local(Within::Proctype(ProctypeId(id)), LocalId(local))
                if self.model.proctypes.get(id as usize).is_some_and(|p| local < p.parameters) =>
            {
                SymbolKind::Parameter
            }
            Entity::Local(..) => SymbolKind::Local,
            Entity::Label(..) => SymbolKind::Label,
            Entity::Field(..) => SymbolKind::Field,
            Entity::Struct(_) => SymbolKind::Struct,
            Entity::MtypeSet(_) => SymbolKind::MtypeSet,
            Entity::MtypeValue(_) => SymbolKind::MtypeValue,
            Entity::Proctype(ProctypeId(id)) => match self.model.proctypes.get(id as usize) {
                Some(p) if p.kind == ProctypeKind::Init => SymbolKind::Init,
                _ => SymbolKind::Proctype,
            },
            Entity::Claim(_) => SymbolKind::Never,
            Entity::Trace => SymbolKind::Trace,
            Entity::Formula(_) => SymbolKind::Formula,
            Entity::Inline(_) => SymbolKind::Inline,
            Entity::InlineParameter(..) => SymbolKind::InlineParameter,
            Entity::Macro { .. } => SymbolKind::Macro,
        }
    }

    /// The name of what may have none in the text.
    pub(super) fn name(&self, entity: Entity) -> Option<Arc<str>> {
        match entity {
            Entity::Proctype(id) if self.kind(entity) == SymbolKind::Init => {
                let _ = id;
                Some("init".into())
            }
            Entity::Claim(id) => self.model.claims.get(id as usize).map(|c| c.name.clone()),
            Entity::Formula(id) => self.model.ltl.get(id as usize).map(|f| f.name.clone()),
            _ => None,
        }
    }

    pub(super) fn set_of(&self, entity: Entity, interner: &Interner) -> Option<MtypeId> {
        let Entity::MtypeValue(sym) = entity else { return None };
        let name = interner.text(sym);
        let holds = |set: &crate::model::MtypeSet| set.names.iter().any(|n| &*n.name == name);
        self.model.mtypes.iter().position(holds).map(|i| MtypeId(i as u32))
    }

    fn behaviour(&self, within: Within) -> Option<&'a Behaviour> {
        match within {
            Within::Proctype(ProctypeId(id)) => self.model.proctypes.get(id as usize).map(|p| &p.behaviour),
            Within::Claim(id) => self.model.claims.get(id as usize).map(|c| &c.behaviour),
            Within::Trace => self.model.trace.as_ref().map(|t| &t.behaviour),
            Within::Global | Within::Formula(_) => None,
        }
    }

    fn variable(&self, entity: Entity) -> Option<&'a Variable> {
        match entity {
            Entity::Global(id) => self.model.globals.get(id.0 as usize),
            Entity::Local(within, LocalId(id)) => self.behaviour(within)?.locals.get(id as usize),
            Entity::Field(StructId(id), field) => {
                self.model.structs.get(id as usize)?.fields.get(field.0 as usize)
            }
            _ => None,
        }
    }

    pub(super) fn is_channel(&self, entity: Entity) -> bool {
        self.variable(entity).is_some_and(|v| v.ty == Type::Chan)
    }

    pub(super) fn detail(&self, entity: Entity, name: &str) -> String {
        if let Some(variable) = self.variable(entity) {
            let locals = match entity {
                Entity::Local(within, _) => self.behaviour(within).map_or(&[][..], |b| &b.locals),
                _ => &[],
            };
            return self.declaration(variable, locals);
        }
        match entity {
            Entity::Struct(StructId(id)) => match self.model.structs.get(id as usize) {
                Some(found) => {
                    let fields: Vec<String> = found.fields.iter().map(|f| self.declaration(f, &[])).collect();
                    format!("typedef {name} {{ {} }}", fields.join("; "))
                }
                None => format!("typedef {name}"),
            },
            Entity::MtypeSet(MtypeId(id)) => {
                let names = self.model.mtypes.get(id as usize).map_or(&[][..], |set| &set.names);
                let names: Vec<&str> = names.iter().map(|n| &*n.name).collect();
                format!("mtype:{name} = {{ {} }}", names.join(", "))
            }
            Entity::MtypeValue(_) => {
                let all = self.model.mtypes.iter().flat_map(|set| &set.names);
                match all.into_iter().find(|n| &*n.name == name) {
                    Some(found) => format!("{name} = {} (mtype)", found.value),
                    None => name.to_owned(),
                }
            }
            Entity::Proctype(ProctypeId(id)) => self.proctype(id as usize, name),
            Entity::Claim(_) => format!("never {name}"),
            Entity::Trace => "trace".into(),
            Entity::Formula(id) => match self.model.ltl.get(id as usize) {
                Some(found) => format!("ltl {name} {{ {} }}", found.text),
                None => format!("ltl {name}"),
            },
            Entity::Label(..) => format!("{name}:"),
            _ => self.texts.get(&entity).cloned().unwrap_or_else(|| name.to_owned()),
        }
    }

    fn proctype(&self, id: usize, name: &str) -> String {
        let Some(found) = self.model.proctypes.get(id) else { return name.to_owned() };
        if found.kind == ProctypeKind::Init {
            return "init".into();
        }
        let active = match found.active {
            0 => String::new(),
            1 => "active ".into(),
            n => format!("active [{n}] "),
        };
        let parameters = found.behaviour.locals.iter().take(found.parameters as usize);
        let parameters: Vec<String> = parameters.map(|v| self.declaration(v, &[])).collect();
        format!("{active}proctype {name}({})", parameters.join("; "))
    }

    fn declaration(&self, variable: &Variable, locals: &[Variable]) -> String {
        let visibility = match variable.visibility {
            Visibility::Plain => "",
            Visibility::Hidden => "hidden ",
            Visibility::Show => "show ",
            Visibility::Local => "local ",
        };
        let (ty, width) = match variable.ty {
            Type::Unsigned(bits) => ("unsigned".to_owned(), format!(" : {bits}")),
            ty => (render::type_name(self.model, ty), String::new()),
        };
        let length = variable.length.map(|n| format!("[{n}]")).unwrap_or_default();
        let init = match &variable.init {
            Init::Zero => String::new(),
            Init::Value(value) => format!(" = {}", render::expr(self.model, locals, value)),
            Init::List(values) => {
                let values: Vec<String> = values.iter().map(i32::to_string).collect();
                format!(" = {{ {} }}", values.join(", "))
            }
            Init::Channel(channel) => {
                let types: Vec<String> =
                    channel.fields.iter().map(|&ty| render::type_name(self.model, ty)).collect();
                format!(" = [{}] of {{ {} }}", channel.capacity, types.join(", "))
            }
        };
        format!("{visibility}{ty} {}{width}{length}{init}", variable.name)
    }

    pub(super) fn values(&self, entity: Entity) -> Option<String> {
        let ty = self.variable(entity)?.ty;
        let key = match entity {
            Entity::Global(id) => Key::global(id),
            Entity::Local(Within::Proctype(id), local) => Key::local(id, local),
            _ => return None,
        };
        self.values.describe(self.model, &key, ty)
    }
}
