//! The outline of a text: what it declares, with what is inside.

use lsp_types::{DocumentSymbol, SymbolKind as Shown};
use volee::promela::index::{Index, SymbolId, SymbolKind};

use crate::document::Document;
use crate::lines::Lines;

pub(crate) fn of(document: &Document) -> Vec<DocumentSymbol> {
    let lines = Lines::new(&document.text);
    let index = document.index();
    let mut found = symbols(index, document.file, &lines, None);
    // While a declaration is being typed, what the last good text had is still shown where it is not there
    // any more.
    if document.study.model.is_none()
        && let Some(good) = document.good.as_ref().filter(|good| good.files.len() == index.files.len())
    {
        let known: Vec<String> = found.iter().map(|s| s.name.clone()).collect();
        let old = symbols(good, document.file, &lines, None);
        found.extend(old.into_iter().filter(|s| !known.contains(&s.name)));
        found.sort_by_key(|s| s.range.start);
    }
    found
}

fn symbols(index: &Index, file: u32, lines: &Lines, owner: Option<SymbolId>) -> Vec<DocumentSymbol> {
    let here = index.all().filter(|(_, s)| s.owner == owner && s.span.file == file);
    here.filter_map(|(id, symbol)| {
        let kind = match symbol.kind {
            SymbolKind::Proctype | SymbolKind::Init => Shown::CLASS,
            SymbolKind::Never | SymbolKind::Trace | SymbolKind::Formula => Shown::EVENT,
            SymbolKind::Global | SymbolKind::Local | SymbolKind::Parameter => Shown::VARIABLE,
            SymbolKind::Field => Shown::FIELD,
            SymbolKind::Struct => Shown::STRUCT,
            SymbolKind::MtypeSet => Shown::ENUM,
            SymbolKind::MtypeValue => Shown::ENUM_MEMBER,
            SymbolKind::Label => Shown::KEY,
            SymbolKind::Inline => Shown::FUNCTION,
            SymbolKind::Macro => Shown::CONSTANT,
            SymbolKind::InlineParameter => return None,
        };
        let selection = lines.range(symbol.span.start as usize, symbol.span.end as usize);
        let whole = symbol.extent.filter(|_| owner.is_none()).unwrap_or(symbol.span);
        let children = symbols(index, file, lines, Some(id));
        #[allow(deprecated)] // the type still has the old field
        Some(DocumentSymbol {
            name: symbol.name.to_string(),
            detail: Some(symbol.detail.clone()),
            kind,
            tags: None,
            deprecated: None,
            range: lines.range(whole.start as usize, whole.end as usize),
            selection_range: selection,
            children: (!children.is_empty()).then_some(children),
        })
    })
    .collect()
}
