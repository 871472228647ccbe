//! From notes to symbols: two notes mean the same thing when its declaration stands at the same place of the
//! text.
//!
//! That makes one symbol of a local variable of an inline's body, however often the inline is called.

use hashbrown::HashMap;

use super::describe::Describer;
use super::notes::{Entity, Note, Notes, Within};
use super::{File, Index, Occurrence, Role, Span, Symbol, SymbolId, SymbolKind};
use crate::intern::{Interner, kw};
use crate::model::Model;
use crate::source::{At, Sources};

/// Makes an index of what was noted. `model` is what could be resolved.
pub(crate) fn build(
    sources: &Sources,
    notes: &Notes,
    model: &Model,
    interner: &Interner,
    main: u32,
) -> Index {
    let files = sources.files.iter().enumerate().map(|(i, file)| File {
        name: file.name.clone(),
        text: file.text.clone(),
        is_written: i as u32 >= main,
    });
    let mut builder = Builder {
        sources,
        notes,
        interner,
        describer: Describer::new(model, &notes.texts),
        index: Index { files: files.collect(), main, ..Index::default() },
        by_declaration: HashMap::new(),
        by_entity: HashMap::new(),
    };
    builder.symbols();
    builder.occurrences();
    builder.index
}

struct Builder<'a> {
    sources: &'a Sources,
    notes: &'a Notes,
    interner: &'a Interner,
    describer: Describer<'a>,
    index: Index,
    by_declaration: HashMap<(SymbolKind, Span), SymbolId>,
    by_entity: HashMap<Entity, SymbolId>,
}

impl Builder<'_> {
    fn symbols(&mut self) {
        let mut declared: Vec<(Span, &Note)> = Vec::new();
        for note in self.notes.all.iter().filter(|note| note.role == Role::Declare) {
            declared.push((self.span(note).0, note));
        }
        declared.sort_by_key(|(span, _)| *span);
        for (span, note) in &declared {
            let kind = self.describer.kind(note.entity);
            let next = SymbolId(self.index.symbols.len() as u32);
            let id = *self.by_declaration.entry((kind, *span)).or_insert(next);
            self.by_entity.insert(note.entity, id);
            if id == next {
                let symbol = self.symbol(*span, note, kind);
                self.index.symbols.push(symbol);
            } else {
                let more = self.describer.values(note.entity);
                let known = &mut self.index.symbols[id.0 as usize].values;
                // Copies of an inline's variable may take different values: then none are told.
                if *known != more {
                    *known = None;
                }
            }
        }
        for (_, note) in declared {
            let owner = self.owner(note.entity).and_then(|owner| self.by_entity.get(&owner).copied());
            let id = self.by_entity[&note.entity];
            self.index.symbols[id.0 as usize].owner = owner;
        }
    }

    fn symbol(&self, span: Span, note: &Note, kind: SymbolKind) -> Symbol {
        let is_spelled = self.span(note).1 && self.index.files[span.file as usize].is_written;
        let name = self.describer.name(note.entity).unwrap_or_else(|| self.interner.shared(note.sym));
        Symbol {
            detail: self.describer.detail(note.entity, &name),
            name,
            kind,
            span,
            extent: self.extent(span),
            owner: None,
            values: self.describer.values(note.entity),
            is_channel: self.describer.is_channel(note.entity),
            is_spelled: is_spelled && !note.sym.is_keyword() && note.sym != kw::INIT,
        }
    }

    fn owner(&self, entity: Entity) -> Option<Entity> {
        match entity {
            Entity::Local(within, _) | Entity::Label(within, _) => entity_of(within),
            Entity::Field(id, _) => Some(Entity::Struct(id)),
            Entity::InlineParameter(inline, _) => Some(Entity::Inline(inline)),
            Entity::MtypeValue(_) => self.describer.set_of(entity, self.interner).map(Entity::MtypeSet),
            _ => None,
        }
    }

    /// The declaration at the top level that a span is in.
    fn extent(&self, span: Span) -> Option<Span> {
        self.notes.units.iter().find_map(|(first, last, length)| {
            let (first, last) = (self.sources.written(*first), self.sources.written(*last));
            let end = last.offset + length;
            let around = first.file == span.file
                && last.file == span.file
                && first.offset <= span.start
                && span.end <= end;
            around.then_some(Span { file: span.file, start: first.offset, end })
        })
    }

    fn occurrences(&mut self) {
        let mut all = Vec::with_capacity(self.notes.all.len());
        for note in &self.notes.all {
            let Some(&symbol) = self.by_entity.get(&note.entity) else { continue };
            let (span, is_spelled) = self.span(note);
            let within = entity_of(note.within).and_then(|entity| self.by_entity.get(&entity).copied());
            all.push(Occurrence { span, symbol, role: note.role, within, is_spelled });
        }
        all.sort();
        all.dedup();
        self.index.occurrences = all;
    }

    /// Where a name is written, and whether it stands there letter by letter.
    fn span(&self, note: &Note) -> (Span, bool) {
        let text = self.interner.text(note.sym);
        let at: At = self.sources.written(note.at);
        let end = at.offset + text.len() as u32;
        let found = self.sources.files[at.file as usize].text.get(at.offset as usize..end as usize);
        (Span { file: at.file, start: at.offset, end }, found == Some(text))
    }
}

fn entity_of(within: Within) -> Option<Entity> {
    match within {
        Within::Global => None,
        Within::Proctype(id) => Some(Entity::Proctype(id)),
        Within::Claim(id) => Some(Entity::Claim(id)),
        Within::Trace => Some(Entity::Trace),
        Within::Formula(id) => Some(Entity::Formula(id)),
    }
}
