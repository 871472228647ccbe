//! What the front end notes of names while it reads: where each stands, what it means there, what is done
//! with it.
//!
//! Nothing is noted unless somebody asked for an index, and then only these small records; [`super::build`]
//! makes symbols of them. The resolver is the one who knows scopes, so it is the one who notes.

use hashbrown::HashMap;

use super::Role;
use crate::intern::Sym;
use crate::model::{FieldId, GlobalId, LabelId, LocalId, MtypeId, ProctypeId, StructId};
use crate::source::At;

/// What a name can mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Entity {
    Global(GlobalId),
    Local(Within, LocalId),
    Label(Within, LabelId),
    Field(StructId, FieldId),
    Struct(StructId),
    MtypeSet(MtypeId),
    MtypeValue(Sym),
    Proctype(ProctypeId),
    Claim(u32),
    Trace,
    Formula(u32),
    Inline(Sym),
    InlineParameter(Sym, u32),
    /// Where it is defined: a macro may be defined anew.
    Macro {
        file: u32,
        offset: u32,
    },
}

/// The part of the model that is being read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) enum Within {
    #[default]
    Global,
    Proctype(ProctypeId),
    Claim(u32),
    Trace,
    Formula(u32),
}

/// A name at its place.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Note {
    pub at: At,
    pub sym: Sym,
    pub entity: Entity,
    pub role: Role,
    pub within: Within,
}

/// Everything noted so far.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    pub all: Vec<Note>,
    pub within: Within,
    /// The first and last token of each declaration at the top level, with the length of the last.
    pub units: Vec<(At, At, u32)>,
    /// Macros as they stand behind `#define`, and inlines as they stand before their body.
    pub texts: HashMap<Entity, String>,
}

impl Notes {
    pub(crate) fn add(&mut self, at: At, sym: Sym, entity: Entity, role: Role) {
        self.all.push(Note { at, sym, entity, role, within: self.within });
    }

    /// Says what is done with the name that was last noted at a place.
    pub(crate) fn mark(&mut self, at: At, role: Role) {
        if let Some(note) = self.all.iter_mut().rev().find(|note| note.at == at) {
            note.role = role;
        }
    }
}
