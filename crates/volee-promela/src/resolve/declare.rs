//! Declarations: symbolic names, types, variables, and the constants in them.

use super::{Failed, Resolved, Resolver};
use crate::ast::{self, Declaration, Declarator, ExprKind, Name, TypeName};
use crate::index::Role;
use crate::index::notes::Entity;
use crate::limits::{MAX_ARRAY, MAX_CAPACITY, MAX_FIELDS, MAX_MESSAGE_FIELDS, MAX_STRUCT_NESTING};
use crate::model::{
    ChannelInit, FieldId, GlobalId, Init, MtypeId, MtypeName, MtypeSet, StructId, StructType, Type, UnaryOp,
    Variable, Visibility,
};
use crate::source::{Advice, At};

impl Resolver<'_> {
    pub(super) fn declare_mtype(&mut self, set: Option<Name>, names: &[Name]) {
        let id = set.map_or(MtypeId(0), |name| self.mtype_set(name));
        let known = self.model.mtypes[id.0 as usize].names.len();
        if known + names.len() > 255 {
            let at = names[0].at;
            self.sources.error(at, 0, "an mtype can have at most 255 names").advise("use several named sets");
            return;
        }
        for (i, name) in names.iter().enumerate() {
            if self.is_taken(*name) {
                continue;
            }
            // The last of a declaration has the lowest number.
            let value = (known + names.len() - i) as u8;
            self.symbols.insert(name.sym, (id, value));
            self.sources.note(*name, Entity::MtypeValue(name.sym), Role::Declare);
            let place = self.sources.place(name.at);
            let name = self.interner.shared(name.sym);
            self.model.mtypes[id.0 as usize].names.push(MtypeName { name, value, place });
        }
    }

    fn mtype_set(&mut self, name: Name) -> MtypeId {
        let next = MtypeId(self.model.mtypes.len() as u32);
        let id = *self.mtypes.entry(name.sym).or_insert(next);
        let role = if id == next { Role::Declare } else { Role::Read };
        self.sources.note(name, Entity::MtypeSet(id), role);
        if id == next {
            let name = Some(self.interner.shared(name.sym));
            self.model.mtypes.push(MtypeSet { name, names: Vec::new() });
        }
        id
    }

    /// Reports a name that already means something global.
    fn is_taken(&mut self, name: Name) -> bool {
        let place = if let Some(GlobalId(id)) = self.globals.get(&name.sym) {
            Some(self.model.globals[*id as usize].place.clone())
        } else if let Some((MtypeId(id), value)) = self.symbols.get(&name.sym) {
            let names = &self.model.mtypes[*id as usize].names;
            names.iter().find(|n| n.value == *value).map(|n| n.place.clone())
        } else if let Some(StructId(id)) = self.structs.get(&name.sym) {
            Some(self.model.structs[*id as usize].place.clone())
        } else {
            None
        };
        let Some(place) = place else { return self.is_reserved(name) };
        let text = self.text(name.sym);
        self.sources
            .error(name.at, text.len(), format!("`{text}` is already declared"))
            .advise(format!("the other declaration is at {place}"));
        true
    }

    fn is_reserved(&mut self, name: Name) -> bool {
        let reserved = Self::is_predefined(name.sym);
        if reserved {
            let text = self.text(name.sym);
            self.sources.error(name.at, text.len(), format!("`{text}` is predefined and cannot be declared"));
        }
        reserved
    }

    pub(super) fn declare_typedef(&mut self, name: Name, fields: &[Declaration]) {
        if self.is_taken(name) {
            return;
        }
        let mut variables: Vec<Variable> = Vec::new();
        if fields.iter().map(|d| d.variables.len()).sum::<usize>() > MAX_FIELDS {
            let text = self.text(name.sym);
            self.sources.error(
                name.at,
                text.len(),
                format!("the type `{text}` has more than {MAX_FIELDS} fields"),
            );
            return;
        }
        for declaration in fields {
            for declarator in &declaration.variables {
                let mut variable = self.variable(declaration, declarator);
                if let Some(known) = variables.iter().find(|v| v.name == variable.name) {
                    let (text, place) = (variable.name.clone(), known.place.clone());
                    self.sources
                        .error(
                            declarator.name.at,
                            text.len(),
                            format!("the field `{text}` is already declared"),
                        )
                        .advise(format!("the other declaration is at {place}"));
                }
                variable.init = self.init(declarator, &variable);
                variables.push(variable);
            }
        }
        let place = self.sources.place(name.at);
        let id = StructId(self.model.structs.len() as u32);
        self.sources.note(name, Entity::Struct(id), Role::Declare);
        for (i, field) in fields.iter().flat_map(|d| &d.variables).enumerate() {
            self.sources.note(field.name, Entity::Field(id, FieldId(i as u32)), Role::Declare);
        }
        self.model.structs.push(StructType {
            name: self.interner.shared(name.sym),
            fields: variables,
            place,
        });
        if self.measure_struct(id.0 as usize) {
            self.structs.insert(name.sym, id);
            return;
        }
        let text = self.text(name.sym);
        let message = format!("structs nest more than {MAX_STRUCT_NESTING} deep in `{text}`");
        self.sources.error(name.at, text.len(), message);
    }

    pub(super) fn declare_globals(&mut self, declaration: &Declaration) {
        for declarator in &declaration.variables {
            let mut variable = self.variable(declaration, declarator);
            if self.is_taken(declarator.name) {
                continue;
            }
            variable.init = self.init(declarator, &variable);
            let id = GlobalId(self.model.globals.len() as u32);
            self.model.globals.push(variable);
            self.sources.note(declarator.name, Entity::Global(id), Role::Declare);
            self.globals.insert(declarator.name.sym, id);
        }
    }

    /// A variable with everything but its initial value.
    pub(super) fn variable(&mut self, declaration: &Declaration, declarator: &Declarator) -> Variable {
        let name = declarator.name;
        let ty = self.declared_type(declaration.ty, declarator);
        let length = declarator.length.as_ref().map(|length| self.array_length(length));
        if declaration.visibility == Visibility::Hidden && ty == Type::Bit {
            let text = self.text(name.sym);
            self.sources
                .warning(name.at, text.len(), format!("SPIN refuses to hide the bit `{text}`"))
                .advise("declare it as `byte` for both");
        }
        let scalars = u64::from(length.unwrap_or(1)).saturating_mul(self.scalars(ty));
        if scalars > u64::from(MAX_ARRAY) {
            let text = self.text(name.sym);
            self.sources
                .error(name.at, text.len(), format!("`{text}` has {scalars} elements all told"))
                .advise(format!("there can be at most {MAX_ARRAY}"));
        }
        Variable {
            name: self.interner.shared(name.sym),
            ty,
            length,
            init: Init::Zero,
            visibility: declaration.visibility,
            place: self.sources.place(name.at),
        }
    }

    /// How many scalars a value of the type has; bounded, since every variable is.
    pub(super) fn scalars(&self, ty: Type) -> u64 {
        let Type::Struct(StructId(id)) = ty else { return 1 };
        self.struct_sizes[id as usize].0
    }

    /// Notes the size of the struct declared last; false if it nests too deeply.
    pub(super) fn measure_struct(&mut self, index: usize) -> bool {
        let (mut scalars, mut depth) = (0u64, 0);
        for field in &self.model.structs[index].fields {
            let (inner, below) = match field.ty {
                Type::Struct(StructId(id)) => self.struct_sizes[id as usize],
                _ => (1, 0),
            };
            scalars = scalars.saturating_add(u64::from(field.length.unwrap_or(1)).saturating_mul(inner));
            depth = depth.max(below + 1);
        }
        self.struct_sizes.push((scalars, depth));
        depth <= MAX_STRUCT_NESTING
    }

    fn declared_type(&mut self, ty: TypeName, declarator: &Declarator) -> Type {
        let text = self.text(declarator.name.sym);
        match (ty, &declarator.width) {
            (TypeName::Unsigned, Some(width)) => {
                let bits = self.constant(width).unwrap_or(1);
                if !(1..=31).contains(&bits) {
                    self.sources
                        .error(width.at, 0, format!("`{text}` cannot have {bits} bits"))
                        .advise("an `unsigned` has 1 to 31 bits");
                }
                Type::Unsigned(bits.clamp(1, 31) as u8)
            }
            (TypeName::Unsigned, None) => {
                self.sources
                    .error(declarator.name.at, text.len(), format!("how many bits has `{text}`?"))
                    .advise(format!("write `unsigned {text} : 4`"));
                Type::Unsigned(16)
            }
            (_, Some(width)) => {
                self.sources
                    .warning(width.at, 0, "only an `unsigned` has a number of bits, so this one is ignored")
                    .advise("write `unsigned name : bits`, or leave the bits out");
                self.type_of(ty)
            }
            (_, None) => self.type_of(ty),
        }
    }

    pub(super) fn type_of(&mut self, ty: TypeName) -> Type {
        match ty {
            TypeName::Bit => Type::Bit,
            TypeName::Byte => Type::Byte,
            TypeName::Pid => Type::Pid,
            TypeName::Short => Type::Short,
            TypeName::Int | TypeName::Unsigned => Type::Int,
            TypeName::Chan => Type::Chan,
            TypeName::Mtype(None) => Type::Mtype(MtypeId(0)),
            TypeName::Mtype(Some(name)) => {
                if !self.mtypes.contains_key(&name.sym) {
                    let known = self.mtypes.keys().copied().collect();
                    let message = format!("there is no mtype `{}`", self.text(name.sym));
                    self.unknown(name, message, known);
                    return Type::Mtype(MtypeId(0));
                }
                let set = self.mtypes[&name.sym];
                self.sources.note(name, Entity::MtypeSet(set), Role::Read);
                Type::Mtype(set)
            }
            TypeName::Struct(name) => match self.structs.get(&name.sym) {
                Some(&id) => {
                    self.sources.note(name, Entity::Struct(id), Role::Read);
                    Type::Struct(id)
                }
                None => {
                    // The parser has complained if there is no such type at all.
                    let text = self.text(name.sym);
                    let message = format!("the type `{text}` is not known here");
                    self.sources
                        .error(name.at, text.len(), message)
                        .advise("declare it above, before its use");
                    Type::Int
                }
            },
        }
    }

    fn array_length(&mut self, expr: &ast::Expr) -> u32 {
        let Ok(length) = self.size(expr) else { return 1 };
        if length < 1 || length > i64::from(MAX_ARRAY) {
            self.sources
                .error(expr.at, 0, format!("an array cannot have {length} elements"))
                .advise(format!("it can have 1 to {MAX_ARRAY}"));
            return 1;
        }
        length as u32
    }

    /// A constant; or a global variable that begins as one, which SPIN allows in array bounds.
    fn size(&mut self, expr: &ast::Expr) -> Resolved<i64> {
        let ExprKind::Path(path) = &expr.kind else { return self.constant(expr) };
        let Some(name) = path.as_name() else { return self.constant(expr) };
        let Some(GlobalId(id)) = self.globals.get(&name.sym) else { return self.constant(expr) };
        self.sources.note(name, Entity::Global(GlobalId(*id)), Role::Read);
        let variable = &self.model.globals[*id as usize];
        let text = variable.name.clone();
        let value = match &variable.init {
            Init::Value(value) => match value.kind {
                crate::model::ExprKind::Constant { value, .. } => i64::from(value),
                _ => 0,
            },
            _ => 0,
        };
        if value <= 0 {
            self.sources
                .error(name.at, text.len(), format!("`{text}` has no constant initial value to be a size"))
                .advise("use a number or a macro");
            return Err(Failed);
        }
        self.sources
            .warning(
                name.at,
                text.len(),
                format!("the variable `{text}` as a size counts as {value} for ever"),
            )
            .advise("use a macro, which cannot change");
        Ok(value)
    }

    /// The value of an expression of constants.
    pub(super) fn constant(&mut self, expr: &ast::Expr) -> Resolved<i64> {
        match &expr.kind {
            ExprKind::Number(value) => Ok(i64::from(*value)),
            ExprKind::Path(path) => {
                if let Some(name) = path.as_name()
                    && let Some(&(_, value)) = self.symbols.get(&name.sym)
                {
                    self.sources.note(name, Entity::MtypeValue(name.sym), Role::Read);
                    return Ok(i64::from(value));
                }
                self.not_constant(expr.at, path)
            }
            ExprKind::Unary(UnaryOp::Negate, operand) => Ok(-self.constant(operand)?),
            ExprKind::Binary(op, left, right) => {
                let (a, b) = (self.constant(left)?, self.constant(right)?);
                if !matches!(op.symbol(), "+" | "-" | "*" | "/" | "%" | "<<" | ">>") {
                    self.sources.error(expr.at, 1, "this operator cannot stand in a constant");
                    return Err(Failed);
                }
                op.apply_exactly(a, b).ok_or_else(|| {
                    self.sources.error(
                        expr.at,
                        1,
                        "this constant has no value (division by zero or overflow)",
                    );
                    Failed
                })
            }
            _ => {
                self.sources.error(expr.at, 0, "a constant is needed here");
                Err(Failed)
            }
        }
    }

    fn not_constant(&mut self, at: At, path: &ast::Path) -> Resolved<i64> {
        let text = self.text(path.first().sym);
        self.sources
            .error(at, text.len(), format!("a constant is needed here, and `{text}` is none"))
            .advise(format!("define it as a macro: `#define {text} …`"));
        Err(Failed)
    }

    /// The initial value of a variable.
    pub(super) fn init(&mut self, declarator: &Declarator, variable: &Variable) -> Init {
        let text = variable.name.clone();
        let name = declarator.name;
        match &declarator.init {
            ast::Init::None => Init::Zero,
            ast::Init::Channel { capacity, fields } => {
                if variable.ty != Type::Chan {
                    self.sources
                        .error(name.at, text.len(), format!("`{text}` is not a channel"))
                        .advise(format!("declare it as `chan {text}`"));
                }
                self.channel_init(capacity, fields).map_or(Init::Zero, Init::Channel)
            }
            ast::Init::List(values, at) => {
                let constants: Vec<i64> = values.iter().filter_map(|v| self.constant(v).ok()).collect();
                match variable.length {
                    None => {
                        self.sources.error(
                            *at,
                            1,
                            format!("`{text}` is no array, so it has one initial value"),
                        );
                    }
                    Some(length) if values.len() > length as usize => {
                        self.sources.error(
                            *at,
                            1,
                            format!("{} values for the {length} elements of `{text}`", values.len()),
                        );
                    }
                    Some(_) => {}
                }
                Init::List(constants.into_iter().map(|v| v as i32).collect())
            }
            ast::Init::Value(value) => {
                if let Type::Struct(_) = variable.ty {
                    let message = format!("the struct `{text}` cannot have an initial value: it is ignored");
                    self.sources
                        .warning(name.at, text.len(), message)
                        .advise("give initial values to the fields in its typedef, or assign them");
                    return Init::Zero;
                }
                self.state_expr(value, "an initial value")
                    .map_or(Init::Zero, |value| Init::Value(Box::new(value)))
            }
        }
    }

    fn channel_init(&mut self, capacity: &ast::Expr, fields: &[(TypeName, At)]) -> Resolved<ChannelInit> {
        let value = self.constant(capacity)?;
        if !(0..=i64::from(MAX_CAPACITY)).contains(&value) {
            self.sources
                .error(capacity.at, 0, format!("a channel cannot hold {value} messages"))
                .advise(format!("it can hold 0 to {MAX_CAPACITY}"));
            return Err(Failed);
        }
        let mut types = Vec::new();
        for &(field, at) in fields {
            let ty = self.type_of(field);
            if types.len() as u64 + self.scalars(ty) > MAX_MESSAGE_FIELDS as u64 {
                let message = format!("a message can have at most {MAX_MESSAGE_FIELDS} fields all told");
                self.sources.error(at, 0, message);
                return Err(Failed);
            }
            self.flatten_type(ty, &mut types);
        }
        Ok(ChannelInit { capacity: value as u32, fields: types })
    }

    /// The scalars of a type, in order.
    fn flatten_type(&self, ty: Type, types: &mut Vec<Type>) {
        let Type::Struct(StructId(id)) = ty else { return types.push(ty) };
        for field in &self.model.structs[id as usize].fields {
            for _ in 0..field.length.unwrap_or(1) {
                self.flatten_type(field.ty, types);
            }
        }
    }

    /// The name of a type, for messages.
    pub(super) fn type_text(&self, ty: Type) -> String {
        crate::render::type_name(&self.model, ty)
    }
}
