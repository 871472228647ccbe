//! References: `a[i].b` to a variable and the way to the part that is meant.

use super::{Failed, Resolved, Resolver};
use crate::ast::{Name, Path, Segment};
use crate::index::Role;
use crate::index::notes::Entity;
use crate::intern::{Sym, kw};
use crate::model::{
    Access, Base, Expr, ExprKind, FieldId, GlobalId, LocalId, Reference, StructId, Type, Variable,
};
use crate::source::Advice;

impl Resolver<'_> {
    /// A reference to one scalar.
    pub(super) fn scalar(&mut self, path: &Path) -> Resolved<Reference> {
        let reference = self.whole(path)?;
        if let Type::Struct(_) = reference.ty {
            let (text, ty) = (self.path_text(path), self.type_text(reference.ty));
            self.sources
                .error(path.first().at, text.len(), format!("`{text}` is a whole struct of type `{ty}`"))
                .advise("name one of its fields");
            return Err(Failed);
        }
        Ok(reference)
    }

    /// A reference to one scalar or struct.
    pub(super) fn whole(&mut self, path: &Path) -> Resolved<Reference> {
        let mut reference = self.reference(path)?;
        if let Some(length) = reference.length.take() {
            let text = self.path_text(path);
            let message = format!("`{text}` is an array: without an index this means `{text}[0]`");
            self.sources.warning(path.first().at, text.len(), message).advise(format!("write `{text}[…]`"));
            let place = reference.place.clone();
            let index = Box::new(Expr { kind: ExprKind::Constant { value: 0, name: None }, place });
            reference.path.push(Access::Index { index, length });
        }
        Ok(reference)
    }

    /// A reference to a channel.
    pub(super) fn channel(&mut self, path: &Path) -> Resolved<Reference> {
        let reference = self.scalar(path)?;
        if reference.ty != Type::Chan {
            let (text, ty) = (self.path_text(path), self.type_text(reference.ty));
            self.sources.error(
                path.first().at,
                text.len(),
                format!("`{text}` is not a channel but of type `{ty}`"),
            );
            return Err(Failed);
        }
        Ok(reference)
    }

    /// A reference to anything, a whole array included.
    pub(super) fn reference(&mut self, path: &Path) -> Resolved<Reference> {
        let name = path.first();
        let (base, ty, length) = self.base(name)?;
        self.walk(path, base, ty, length)
    }

    fn base(&mut self, name: Name) -> Resolved<(Base, Type, Option<u32>)> {
        match name.sym {
            kw::UNDERSCORE => return Ok((Base::Scratch, Type::Int, None)),
            kw::OWN_PRIORITY => return Ok((Base::Priority, Type::Byte, None)),
            _ => {}
        }
        if let Some(id) = self.local(name.sym) {
            let within = self.within;
            self.sources.note(name, Entity::Local(within, id), Role::Read);
            let variable = self.local_variable(id);
            return Ok((Base::Local(id), variable.ty, variable.length));
        }
        if let Some(&id) = self.globals.get(&name.sym) {
            self.sources.note(name, Entity::Global(id), Role::Read);
            let variable = &self.model.globals[id.0 as usize];
            return Ok((Base::Global(id), variable.ty, variable.length));
        }
        if name.sym == kw::STDIN {
            return Ok((Base::Stdin, Type::Chan, None));
        }
        Err(self.no_variable(name))
    }

    /// The local that a name means here.
    pub(super) fn local(&self, sym: Sym) -> Option<LocalId> {
        self.scope.as_ref()?.visible.get(&sym)?.last().copied()
    }

    fn local_variable(&self, LocalId(id): LocalId) -> &Variable {
        let Some(scope) = &self.scope else { unreachable!("locals are in behaviours") };
        &scope.variables[id as usize]
    }

    fn no_variable(&mut self, name: Name) -> Failed {
        let text = self.text(name.sym);
        if self.symbols.contains_key(&name.sym) {
            self.sources.error(name.at, text.len(), format!("`{text}` is a constant, not a variable"));
            return Failed;
        }
        if self.proctypes.contains_key(&name.sym) {
            self.sources
                .error(name.at, text.len(), format!("`{text}` is a proctype, not a variable"))
                .advise(format!(
                    "write `run {text}(…)` to start one, `{text}[pid]@label` to ask where one is"
                ));
            return Failed;
        }
        let constant = match &text[..] {
            "True" | "TRUE" => Some("true"),
            "False" | "FALSE" => Some("false"),
            "NULL" | "null" | "nil" | "None" => Some("0"),
            _ => None,
        };
        if let Some(ours) = constant {
            self.sources
                .error(name.at, text.len(), format!("`{text}` is not declared"))
                .advise(format!("Promela writes `{ours}`"));
            return Failed;
        }
        let mut known: Vec<Sym> = self.globals.keys().chain(self.symbols.keys()).copied().collect();
        if let Some(scope) = &self.scope {
            known.extend(scope.visible.iter().filter(|(_, ids)| !ids.is_empty()).map(|(sym, _)| *sym));
        }
        known.sort_unstable();
        self.unknown(name, format!("`{text}` is not declared"), known)
    }

    /// Notes what is done with what a path leads to.
    pub(super) fn mark(&mut self, path: &Path, role: Role) {
        for segment in &path.segments {
            self.sources.mark(segment.name.at, role);
        }
    }

    /// Follows the indices and fields of a path from its base.
    pub(super) fn walk(
        &mut self,
        path: &Path,
        base: Base,
        mut ty: Type,
        mut length: Option<u32>,
    ) -> Resolved<Reference> {
        let mut accesses = Vec::new();
        for (i, segment) in path.segments.iter().enumerate() {
            if i > 0 {
                let (field, variable) = self.field(path, i, ty, length)?;
                accesses.push(Access::Field(field));
                (ty, length) = variable;
            }
            self.index(segment, &mut length, &mut accesses)?;
        }
        let place = self.sources.place(path.first().at);
        Ok(Reference { base, path: accesses, ty, length, place })
    }

    fn index(
        &mut self,
        segment: &Segment,
        length: &mut Option<u32>,
        accesses: &mut Vec<Access>,
    ) -> Resolved<()> {
        let Some(index) = &segment.index else { return Ok(()) };
        let index = self.state_expr(index, "an array index")?;
        let count = length.take();
        // A scalar may be indexed with 0.
        if count.is_none() && matches!(index.kind, ExprKind::Constant { value: 0, .. }) {
            return Ok(());
        }
        accesses.push(Access::Index { index: Box::new(index), length: count.unwrap_or(1) });
        if count.is_none() {
            let text = self.text(segment.name.sym);
            self.sources.error(
                segment.name.at,
                text.len(),
                format!("`{text}` is not an array, so it has no elements"),
            );
            return Err(Failed);
        }
        Ok(())
    }

    /// The field that segment `i` of a path names, in a value of type `ty`.
    fn field(
        &mut self,
        path: &Path,
        i: usize,
        ty: Type,
        length: Option<u32>,
    ) -> Resolved<(FieldId, (Type, Option<u32>))> {
        let name = path.segments[i].name;
        let before = self.text(path.segments[i - 1].name.sym);
        if length.is_some() {
            let at = path.segments[i - 1].name.at;
            self.sources
                .error(at, before.len(), format!("`{before}` is an array: the index is missing"))
                .advise(format!("write `{before}[…]`"));
            return Err(Failed);
        }
        let Type::Struct(StructId(id)) = ty else {
            let text = self.text(name.sym);
            let ty = self.type_text(ty);
            let message = format!("`{before}` is of type `{ty}`, so it has no field `{text}`");
            self.sources.error(name.at, text.len(), message);
            return Err(Failed);
        };
        let fields = &self.model.structs[id as usize].fields;
        let text = self.interner.text(name.sym);
        if let Some(index) = fields.iter().position(|f| &*f.name == text) {
            self.sources.note(name, Entity::Field(StructId(id), FieldId(index as u32)), Role::Read);
            return Ok((FieldId(index as u32), (fields[index].ty, fields[index].length)));
        }
        let message = format!("the type `{}` has no field `{text}`", self.model.structs[id as usize].name);
        let names: Vec<_> = fields.iter().map(|f| f.name.clone()).collect();
        let known = names.iter().map(|name| self.interner.intern(name)).collect();
        Err(self.unknown(name, message, known))
    }

    /// The scalars of a reference to a struct, in order; the reference itself if it is one.
    pub(super) fn flatten(&self, reference: Reference, scalars: &mut Vec<Reference>) {
        let Type::Struct(StructId(id)) = reference.ty else { return scalars.push(reference) };
        for (i, field) in self.model.structs[id as usize].fields.iter().enumerate() {
            let mut inner = reference.clone();
            inner.path.push(Access::Field(FieldId(i as u32)));
            inner.ty = field.ty;
            let Some(length) = field.length else {
                self.flatten(inner, scalars);
                continue;
            };
            for element in 0..length {
                let mut one = inner.clone();
                let value = ExprKind::Constant { value: element as i32, name: None };
                let index = Box::new(Expr { kind: value, place: one.place.clone() });
                one.path.push(Access::Index { index, length });
                self.flatten(one, scalars);
            }
        }
    }

    /// The message that a channel carries, where its declaration tells.
    pub(super) fn message_fields(&self, channel: &Reference) -> Option<&[Type]> {
        let variable = match channel.base {
            Base::Global(GlobalId(id)) => &self.model.globals[id as usize],
            Base::Local(id) => self.local_variable(id),
            _ => return None,
        };
        let direct = channel.path.iter().all(|access| matches!(access, Access::Index { .. }));
        match &variable.init {
            crate::model::Init::Channel(init) if direct => Some(&init.fields),
            _ => None,
        }
    }

    pub(super) fn path_text(&self, path: &Path) -> String {
        let mut text = String::new();
        for (i, segment) in path.segments.iter().enumerate() {
            if i > 0 {
                text.push('.');
            }
            text.push_str(self.interner.text(segment.name.sym));
            if segment.index.is_some() {
                text.push_str("[…]");
            }
        }
        text
    }
}
