//! Where variables live: the layout of globals and of the locals of each proctype.
//!
//! Structures are laid out field after field, arrays element after element, without padding: a state is
//! bytes, not a C struct. Every scalar leaf becomes one [`program::Variable`] for display.

use volee_program::{
    ChannelId, ChannelInstance, ChannelType, Index, Kind, Location, Scalar, Scope, Variable,
};
use volee_system::{Diagnostic, Place};

use crate::model::{self, Init, Model, Type, Visibility};

/// One block of variables: the globals, or the locals of a proctype.
#[derive(Debug, Default)]
pub(super) struct Block {
    /// Offset of each declared variable.
    pub offsets: Vec<u32>,
    pub size: u32,
    pub variables: Vec<Variable>,
    pub channels: Vec<ChannelInstance>,
}

/// The layout of a model.
#[derive(Debug)]
pub(super) struct Storage {
    structs: Vec<StructLayout>,
    pub globals: Block,
    pub locals: Vec<Block>,
    pub channel_types: Vec<ChannelType>,
}

#[derive(Debug)]
struct StructLayout {
    size: u32,
    offsets: Vec<u32>,
}

/// More bytes than this in one state cannot be meant.
const LARGEST_BLOCK: u64 = 1 << 20;

impl Storage {
    pub fn of(model: &Model) -> Result<Self, Vec<Diagnostic>> {
        let mut storage = Storage {
            structs: Vec::new(),
            globals: Block::default(),
            locals: Vec::new(),
            channel_types: Vec::new(),
        };
        let mut errors = Vec::new();
        for layout in &model.structs {
            let mut at = 0u64;
            let mut offsets = Vec::new();
            for field in &layout.fields {
                offsets.push(at.min(LARGEST_BLOCK) as u32);
                at += storage.bytes(field);
                too_large(at, &field.place, &mut errors);
            }
            storage.structs.push(StructLayout { size: at.min(LARGEST_BLOCK) as u32, offsets });
        }
        storage.globals = storage.block(model, Scope::Global, &model.globals, &mut errors);
        for proctype in &model.proctypes {
            let block = storage.block(model, Scope::Local, &proctype.behaviour.locals, &mut errors);
            storage.locals.push(block);
        }
        if errors.is_empty() { Ok(storage) } else { Err(errors) }
    }

    fn bytes(&self, variable: &model::Variable) -> u64 {
        u64::from(self.size_of(variable.ty)) * u64::from(variable.length.unwrap_or(1))
    }

    pub fn size_of(&self, ty: Type) -> u32 {
        match ty {
            Type::Struct(id) => self.structs[id.0 as usize].size,
            _ => scalar(ty).0.bytes(),
        }
    }

    pub fn field_offset(&self, ty: Type, field: model::FieldId) -> u32 {
        match ty {
            Type::Struct(id) => self.structs[id.0 as usize].offsets[field.0 as usize],
            _ => 0,
        }
    }

    fn block(
        &mut self,
        model: &Model,
        scope: Scope,
        declared: &[model::Variable],
        errors: &mut Vec<Diagnostic>,
    ) -> Block {
        let mut block = Block::default();
        let mut at = 0u64;
        for variable in declared {
            block.offsets.push(at.min(LARGEST_BLOCK) as u32);
            let start = at;
            at += self.bytes(variable);
            if too_large(at, &variable.place, errors) {
                return block;
            }
            let path = Path { name: variable.name.to_string(), offset: start as u32, dimensions: Vec::new() };
            self.leaves(model, variable, path, variable.visibility != Visibility::Hidden, &mut block);
            self.channels(model, scope, variable, &variable.name, start as u32, &mut block, errors);
        }
        block.size = at as u32;
        block
    }

    fn leaves(
        &self,
        model: &Model,
        variable: &model::Variable,
        mut path: Path,
        shown: bool,
        block: &mut Block,
    ) {
        if let Some(length) = variable.length {
            path.name.push_str("[]");
            path.dimensions.push((length, self.size_of(variable.ty)));
        }
        if let Type::Struct(id) = variable.ty {
            for (i, field) in model.structs[id.0 as usize].fields.iter().enumerate() {
                let path = Path {
                    name: format!("{}.{}", path.name, field.name),
                    offset: path.offset + self.structs[id.0 as usize].offsets[i],
                    dimensions: path.dimensions.clone(),
                };
                self.leaves(model, field, path, shown, block);
            }
            return;
        }
        let (scalar, kind) = scalar(variable.ty);
        let temporary = variable.name.starts_with("_f0r") || kind == Kind::Channel;
        block.variables.push(Variable {
            name: path.name,
            offset: path.offset,
            dimensions: path.dimensions,
            scalar,
            kind,
            shown: shown && !temporary,
            place: Some(variable.place.clone()),
        });
    }

    /// The channels that a declaration makes, those inside structures included.
    #[allow(clippy::too_many_arguments)]
    fn channels(
        &mut self,
        model: &Model,
        scope: Scope,
        variable: &model::Variable,
        name: &str,
        offset: u32,
        block: &mut Block,
        errors: &mut Vec<Diagnostic>,
    ) {
        let size = self.size_of(variable.ty);
        for i in 0..variable.length.unwrap_or(1) {
            let name = if variable.length.is_some() { format!("{name}[{i}]") } else { name.to_owned() };
            let offset = offset + i * size;
            match (&variable.init, variable.ty) {
                (Init::Channel(init), _) => {
                    if block.channels.len() >= 255 {
                        let message = "too many channels: at most 255 can exist at once";
                        errors.push(Diagnostic::error(message, variable.place.clone()));
                        return;
                    }
                    let channel = self.channel_type(init);
                    let holder = location(scope, offset, Type::Chan, variable.place.clone());
                    block.channels.push(ChannelInstance { channel, holder, name });
                }
                (_, Type::Struct(id)) if has_channels(model, variable.ty) => {
                    for (f, field) in model.structs[id.0 as usize].fields.iter().enumerate() {
                        let name = format!("{name}.{}", field.name);
                        let offset = offset + self.structs[id.0 as usize].offsets[f];
                        self.channels(model, scope, field, &name, offset, block, errors);
                    }
                }
                _ => return,
            }
        }
    }

    fn channel_type(&mut self, init: &model::ChannelInit) -> ChannelId {
        let wanted =
            ChannelType { capacity: init.capacity, fields: init.fields.iter().map(|&t| scalar(t)).collect() };
        let found = self.channel_types.iter().position(|t| *t == wanted).unwrap_or_else(|| {
            self.channel_types.push(wanted);
            self.channel_types.len() - 1
        });
        ChannelId(found as u16)
    }

    /// The scalar leaves of a local variable, in order: where the arguments of a parameter go.
    pub fn leaves_of_local(
        &self,
        proctype: usize,
        local: usize,
        variable: &model::Variable,
    ) -> Vec<Location> {
        let block = &self.locals[proctype];
        let start = block.offsets[local];
        let end = start + self.bytes(variable) as u32;
        let mut all = Vec::new();
        for leaf in block.variables.iter().filter(|v| (start..end).contains(&v.offset)) {
            each_offset(leaf, |offset| {
                all.push(Location {
                    scope: Scope::Local,
                    offset,
                    indices: Vec::new(),
                    scalar: leaf.scalar,
                    kind: leaf.kind,
                    place: Some(variable.place.clone()),
                });
            });
        }
        all
    }
}

fn has_channels(model: &Model, ty: Type) -> bool {
    match ty {
        Type::Struct(id) => model.structs[id.0 as usize]
            .fields
            .iter()
            .any(|f| matches!(f.init, Init::Channel(_)) || has_channels(model, f.ty)),
        _ => false,
    }
}

fn too_large(bytes: u64, place: &Place, errors: &mut Vec<Diagnostic>) -> bool {
    if bytes <= LARGEST_BLOCK {
        return false;
    }
    errors.push(
        Diagnostic::error("the variables up to here take more than 1 MB in every state", place.clone())
            .with_help("use smaller arrays or smaller types"),
    );
    true
}

struct Path {
    name: String,
    offset: u32,
    dimensions: Vec<(u32, u32)>,
}

fn each_offset(leaf: &Variable, mut f: impl FnMut(u32)) {
    let total: u32 = leaf.dimensions.iter().map(|(count, _)| count).product();
    for mut n in 0..total {
        let mut offset = leaf.offset;
        for (count, stride) in leaf.dimensions.iter().rev() {
            offset += (n % count) * stride;
            n /= count;
        }
        f(offset);
    }
}

/// How a value of a scalar type is stored and shown.
pub(super) fn scalar(ty: Type) -> (Scalar, Kind) {
    match ty {
        Type::Bit => (Scalar::Bit, Kind::Number),
        Type::Byte => (Scalar::Byte, Kind::Number),
        Type::Pid => (Scalar::Byte, Kind::Pid),
        Type::Short => (Scalar::Short, Kind::Number),
        Type::Int => (Scalar::Int, Kind::Number),
        Type::Unsigned(bits) => (Scalar::Unsigned(bits), Kind::Number),
        Type::Mtype(set) => (Scalar::Byte, Kind::Mtype(set.0 as u16)),
        Type::Chan => (Scalar::Byte, Kind::Channel),
        Type::Struct(_) => (Scalar::Byte, Kind::Number),
    }
}

pub(super) fn location(scope: Scope, offset: u32, ty: Type, place: Place) -> Location {
    let (scalar, kind) = scalar(ty);
    Location { scope, offset, indices: Vec::<Index>::new(), scalar, kind, place: Some(place) }
}
