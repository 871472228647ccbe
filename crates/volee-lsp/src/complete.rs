//! What may stand at a position: fields behind a dot, labels behind `goto` and `@`, proctypes behind `run`,
//! else all names in sight and the words of the language; nothing in comments and strings. Names come from
//! the present text and, where that is half typed, from the last good one.

use lsp_types::{CompletionItem, CompletionItemKind, InsertTextFormat, Position};
use volee::promela::index::{Index, Symbol, SymbolId, SymbolKind};
use volee::promela::words;

use crate::document::Document;

pub(crate) fn of(document: &Document, position: Position) -> Vec<CompletionItem> {
    let offset = document.lines().offset(position);
    if !words::is_open_to_code(&document.text[..offset]) {
        return Vec::new();
    }
    let context = Context::before(&document.text[..offset]);
    let mut items: Vec<CompletionItem> = Vec::new();
    let good = document.good.as_ref().filter(|good| good.files.len() == document.index().files.len());
    for index in [Some(document.index()), good].into_iter().flatten() {
        for (id, symbol) in index.all() {
            if context.fits(document, index, id, symbol, offset)
                && !items.iter().any(|i| i.label == *symbol.name)
            {
                items.push(item(symbol));
            }
        }
    }
    if matches!(context, Context::Anything) {
        items.extend(SNIPPETS.iter().map(|(label, text, detail)| snippet(label, text, detail)));
        items.extend(words::KEYWORDS.iter().map(|word| CompletionItem {
            label: (*word).to_owned(),
            kind: Some(CompletionItemKind::KEYWORD),
            sort_text: Some(format!("z{word}")),
            ..CompletionItem::default()
        }));
    }
    items
}

/// What was typed just before.
enum Context<'t> {
    Field { of: &'t str },
    Label { of: Option<&'t str> },
    Proctype,
    Anything,
}

impl<'t> Context<'t> {
    fn before(text: &'t str) -> Self {
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let typed = text.trim_end_matches(is_word);
        let rest = typed.trim_end_matches([' ', '\t']);
        let last_word = |t: &'t str| &t[t.trim_end_matches(is_word).len()..];
        if let Some(before) = rest.strip_suffix('.').filter(|b| !b.ends_with('.')) {
            return Context::Field { of: last_word(without_index(before)) };
        }
        if let Some(before) = rest.strip_suffix('@') {
            return Context::Label { of: Some(last_word(without_index(before))) };
        }
        match last_word(rest) {
            "goto" if typed.len() > rest.len() => Context::Label { of: None },
            "run" if typed.len() > rest.len() => Context::Proctype,
            _ => Context::Anything,
        }
    }

    fn fits(&self, document: &Document, index: &Index, id: SymbolId, symbol: &Symbol, offset: usize) -> bool {
        let owner = symbol.owner.map(|owner| index.symbol(owner));
        match self {
            Context::Field { of } => {
                symbol.kind == SymbolKind::Field && owner.is_some_and(|o| has_type(index, of, o))
            }
            Context::Label { of: Some(of) } => {
                symbol.kind == SymbolKind::Label && owner.is_some_and(|o| &*o.name == *of)
            }
            Context::Label { of: None } => {
                symbol.kind == SymbolKind::Label && is_around(document, owner, offset)
            }
            Context::Proctype => symbol.kind == SymbolKind::Proctype,
            Context::Anything => {
                let _ = id;
                match symbol.kind {
                    SymbolKind::Local | SymbolKind::Parameter | SymbolKind::InlineParameter => {
                        is_around(document, owner, offset)
                    }
                    SymbolKind::Field | SymbolKind::Label | SymbolKind::Init | SymbolKind::Trace => false,
                    _ => symbol.is_spelled,
                }
            }
        }
    }
}

/// `a[i]` without its index.
fn without_index(text: &str) -> &str {
    match text.strip_suffix(']') {
        Some(inner) => inner.rfind('[').map_or(text, |open| &inner[..open]),
        None => text,
    }
}

/// Whether some variable of the name is of a struct type.
fn has_type(index: &Index, variable: &str, ty: &Symbol) -> bool {
    let word = format!("{} ", ty.name);
    index.symbols.iter().any(|s| {
        &*s.name == variable
            && matches!(
                s.kind,
                SymbolKind::Global | SymbolKind::Local | SymbolKind::Parameter | SymbolKind::Field
            )
            && s.detail.trim_start_matches("hidden ").trim_start_matches("show ").starts_with(&word)
    })
}

/// Whether the declaration of `owner` is around a byte. While the text is being typed its end may not be
/// known.
fn is_around(document: &Document, owner: Option<&Symbol>, offset: usize) -> bool {
    let Some(owner) = owner.filter(|o| o.span.file == document.file) else { return false };
    let Some(extent) = owner.extent else { return (owner.span.start as usize) < offset };
    (extent.start as usize) <= offset && (offset <= extent.end as usize || document.study.model.is_none())
}

fn item(symbol: &Symbol) -> CompletionItem {
    let kind = match symbol.kind {
        SymbolKind::Proctype | SymbolKind::Init => CompletionItemKind::CLASS,
        SymbolKind::Struct => CompletionItemKind::STRUCT,
        SymbolKind::MtypeSet => CompletionItemKind::ENUM,
        SymbolKind::MtypeValue => CompletionItemKind::ENUM_MEMBER,
        SymbolKind::Field => CompletionItemKind::FIELD,
        SymbolKind::Inline => CompletionItemKind::FUNCTION,
        SymbolKind::Macro => CompletionItemKind::CONSTANT,
        SymbolKind::Label => CompletionItemKind::REFERENCE,
        _ => CompletionItemKind::VARIABLE,
    };
    CompletionItem {
        label: symbol.name.to_string(),
        kind: Some(kind),
        detail: Some(symbol.detail.clone()),
        ..CompletionItem::default()
    }
}

/// Forms to fill in.
const SNIPPETS: &[(&str, &str, &str)] = &[
    ("if … fi", "if\n:: ${1:condition} -> ${2:skip}\n:: else -> ${3:skip}\nfi", "a choice"),
    ("do … od", "do\n:: ${1:condition} -> ${2:skip}\n:: else -> break\nod", "a loop"),
    ("for", "for (${1:i} : ${2:0} .. ${3:n}) {\n\t$0\n}", "a loop over a range"),
    ("active proctype", "active proctype ${1:P}() {\n\t$0\n}", "a process that is there at the start"),
    ("ltl", "ltl ${1:name} { [] (${2:condition}) }", "a property of all runs"),
    ("chan", "chan ${1:c} = [${2:1}] of { ${3:byte} };", "a channel"),
];

fn snippet(label: &str, text: &str, detail: &str) -> CompletionItem {
    CompletionItem {
        label: label.to_owned(),
        kind: Some(CompletionItemKind::SNIPPET),
        detail: Some(detail.to_owned()),
        insert_text: Some(text.to_owned()),
        insert_text_format: Some(InsertTextFormat::SNIPPET),
        sort_text: Some(format!("y{label}")),
        ..CompletionItem::default()
    }
}
