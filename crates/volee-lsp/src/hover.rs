//! What to say about a name: its declaration, the values it takes, who reads and who writes it.

use lsp_types::{Hover, HoverContents, MarkupContent, MarkupKind, Position};
use volee::promela::index::{Index, Role, Symbol, SymbolId, SymbolKind};

use crate::document::Document;
use crate::lines::Lines;

pub(crate) fn of(document: &Document, position: Position) -> Option<Hover> {
    let found = document.symbols_at(position);
    let (_, first) = found.first()?;
    let index = document.index();
    let texts: Vec<String> = found.iter().map(|(id, _)| describe(index, *id)).collect();
    let range = Lines::new(&document.text).range(first.span.start as usize, first.span.end as usize);
    let contents = MarkupContent { kind: MarkupKind::Markdown, value: texts.join("\n\n---\n\n") };
    Some(Hover { contents: HoverContents::Markup(contents), range: Some(range) })
}

fn describe(index: &Index, id: SymbolId) -> String {
    let symbol = index.symbol(id);
    let mut text = format!("```promela\n{}\n```", symbol.detail);
    let mut line = |sentence: String| {
        text.push_str("\n\n");
        text.push_str(&sentence);
    };
    if let Some(owner) = symbol.owner {
        line(belongs(symbol, index.symbol(owner)));
    }
    if let Some(values) = &symbol.values {
        line(format!("takes the values {values}"));
    }
    let roles: &[(&str, &[Role])] = match symbol.kind {
        _ if symbol.is_channel => &[
            ("sent to by", &[Role::Send]),
            ("received from by", &[Role::Receive]),
            ("used by", &[Role::Read, Role::Write, Role::Update]),
        ],
        SymbolKind::Global | SymbolKind::Local | SymbolKind::Parameter | SymbolKind::Field => {
            &[("written by", &[Role::Write, Role::Update]), ("read by", &[Role::Read, Role::Update])]
        }
        SymbolKind::Proctype => &[("named by", &[Role::Read])],
        SymbolKind::MtypeValue | SymbolKind::Inline | SymbolKind::Macro | SymbolKind::Label => {
            &[("used by", &[Role::Read])]
        }
        _ => &[],
    };
    for (words, roles) in roles {
        let who = who(index, id, roles);
        if !who.is_empty() {
            line(format!("{words} {}", who.join(", ")));
        }
    }
    let is_variable = matches!(symbol.kind, SymbolKind::Global | SymbolKind::Local) && !symbol.is_channel;
    if is_variable && who(index, id, &[Role::Write, Role::Update]).is_empty() {
        line("never written after its declaration".into());
    }
    text
}

fn belongs(symbol: &Symbol, owner: &Symbol) -> String {
    let what = match symbol.kind {
        SymbolKind::Parameter | SymbolKind::InlineParameter => "parameter",
        SymbolKind::Label => "label",
        SymbolKind::Field => "field",
        SymbolKind::MtypeValue => "value",
        _ => "local variable",
    };
    format!("{what} of `{}`", owner.name)
}

/// Who does something with a symbol, and how often.
fn who(index: &Index, id: SymbolId, roles: &[Role]) -> Vec<String> {
    let mut counts: Vec<(String, usize)> = Vec::new();
    for occurrence in index.of(id).filter(|o| roles.contains(&o.role)) {
        let name = match occurrence.within.map(|within| index.symbol(within)) {
            Some(owner) if owner.kind == SymbolKind::Formula => format!("ltl `{}`", owner.name),
            Some(owner) => format!("`{}`", owner.name),
            None => "declarations".to_owned(),
        };
        match counts.iter_mut().find(|(known, _)| *known == name) {
            Some((_, count)) => *count += 1,
            None => counts.push((name, 1)),
        }
    }
    counts.into_iter().map(|(name, n)| if n == 1 { name } else { format!("{name} ({n} times)") }).collect()
}
