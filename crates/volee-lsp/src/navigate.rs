//! Where a name is declared, and everywhere it is used.

use lsp_types::{DocumentHighlight, DocumentHighlightKind, Location, Position};
use volee::promela::index::Role;

use crate::document::Document;
use crate::lines::Lines;

pub(crate) fn definition(document: &Document, position: Position) -> Vec<Location> {
    let found = document.symbols_at(position);
    found.iter().filter_map(|(id, _)| document.location(document.index().symbol(*id).span)).collect()
}

pub(crate) fn references(document: &Document, position: Position, with_declaration: bool) -> Vec<Location> {
    let mut all = Vec::new();
    for (id, _) in document.symbols_at(position) {
        for occurrence in document.index().of(id) {
            if occurrence.role == Role::Declare && !with_declaration {
                continue;
            }
            all.extend(document.location(occurrence.span).filter(|location| !all.contains(location)));
        }
    }
    all
}

pub(crate) fn highlights(document: &Document, position: Position) -> Vec<DocumentHighlight> {
    let lines = Lines::new(&document.text);
    let mut all: Vec<DocumentHighlight> = Vec::new();
    for (id, _) in document.symbols_at(position) {
        for occurrence in document.index().of(id).filter(|o| o.span.file == document.file) {
            let range = lines.range(occurrence.span.start as usize, occurrence.span.end as usize);
            let kind = match occurrence.role {
                Role::Read | Role::Receive | Role::Send => DocumentHighlightKind::READ,
                Role::Declare | Role::Write | Role::Update => DocumentHighlightKind::WRITE,
            };
            if !all.iter().any(|h| h.range == range) {
                all.push(DocumentHighlight { range, kind: Some(kind) });
            }
        }
    }
    all
}
