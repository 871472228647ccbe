//! Code lenses: "check" and "explore" above every property, and above the first process for deadlocks and
//! assertions. Inlay hints: what a check of this very text has shown never to be executed.

use lsp_types::{CodeLens, Command, InlayHint, InlayHintKind, InlayHintLabel, InlayHintTooltip, Range};
use serde_json::json;
use volee::promela::index::SymbolKind;

use crate::diagnostics::is_here;
use crate::document::{Document, is_process};
use crate::lines::Lines;

/// The commands of this server.
pub(crate) const CHECK: &str = "volee.check";
pub(crate) const EXPLORE: &str = "volee.explore";

pub(crate) fn of(document: &Document) -> Vec<CodeLens> {
    let lines = Lines::new(&document.text);
    let here = document.index().symbols.iter().filter(|s| s.span.file == document.file);
    let mut all = Vec::new();
    let first = here.clone().filter(|s| is_process(s.kind)).min_by_key(|s| s.span.start);
    for symbol in here {
        let is_property = matches!(symbol.kind, SymbolKind::Formula | SymbolKind::Never);
        let is_first = first.is_some_and(|f| std::ptr::eq(f, symbol));
        if !is_property && !is_first {
            continue;
        }
        let property = is_property.then(|| symbol.name.to_string());
        let what = match &property {
            Some(name) => format!("check {name}"),
            None => "check deadlocks and assertions".to_owned(),
        };
        let range = lines.range(symbol.span.start as usize, symbol.span.end as usize);
        let argument = json!({ "uri": document.uri.as_str(), "property": property });
        for (title, command) in [(what, CHECK), ("explore".to_owned(), EXPLORE)] {
            let command = Command { title, command: command.into(), arguments: Some(vec![argument.clone()]) };
            all.push(CodeLens { range, command: Some(command), data: None });
        }
    }
    all
}

pub(crate) fn inlay_hints(document: &Document, range: Range) -> Vec<InlayHint> {
    let lines = Lines::new(&document.text);
    let mut all: Vec<InlayHint> = Vec::new();
    for unreached in &document.results.unreached {
        let Some(place) = unreached.place.as_ref().filter(|p| is_here(document, Some(p))) else { continue };
        let position = lines.line_end(place);
        if position < range.start || range.end < position || all.iter().any(|hint| hint.position == position)
        {
            continue;
        }
        all.push(InlayHint {
            position,
            label: InlayHintLabel::String("never executed".into()),
            kind: Some(InlayHintKind::TYPE),
            text_edits: None,
            tooltip: Some(InlayHintTooltip::String(format!("no run executes `{}`", unreached.text))),
            padding_left: Some(true),
            padding_right: None,
            data: None,
        });
    }
    all
}
