//! Code actions: the fixes that come with diagnostics.

use lsp_types::{CodeAction, CodeActionKind, CodeActionOrCommand, TextEdit, WorkspaceEdit};

use crate::diagnostics::{fixable, is_here};
use crate::document::Document;

pub(crate) fn of(document: &Document, range: lsp_types::Range) -> Vec<CodeActionOrCommand> {
    let lines = document.lines();
    let mut all = Vec::new();
    for (diagnostic, shown) in fixable(document, range) {
        let Some(fix) = &diagnostic.fix else { continue };
        if !fix.edits.iter().all(|edit| is_here(document, Some(&edit.place))) {
            continue;
        }
        let edits = fix.edits.iter().map(|edit| TextEdit {
            range: lines.range_of_edit(&edit.place, edit.length),
            new_text: edit.text.clone(),
        });
        all.push(CodeActionOrCommand::CodeAction(CodeAction {
            title: fix.title.clone(),
            kind: Some(CodeActionKind::QUICKFIX),
            diagnostics: Some(vec![shown]),
            edit: Some(changes(document, edits.collect())),
            is_preferred: Some(true),
            ..CodeAction::default()
        }));
    }
    all
}

// The protocol's own type has addresses as keys.
#[allow(clippy::mutable_key_type)]
fn changes(document: &Document, edits: Vec<TextEdit>) -> WorkspaceEdit {
    WorkspaceEdit { changes: Some([(document.uri.clone(), edits)].into()), ..WorkspaceEdit::default() }
}
