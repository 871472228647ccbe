//! Code actions: the fixes that come with diagnostics.

use crate::diagnostics::{fixable, is_here};
use crate::document::Document;
use crate::protocol::{CodeAction, CodeActionKind, Range, TextEdit, WorkspaceEdit};

pub(crate) fn of(document: &Document, range: Range) -> Vec<CodeAction> {
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
        all.push(CodeAction {
            title: fix.title.clone(),
            kind: CodeActionKind::QuickFix,
            diagnostics: vec![shown],
            edit: WorkspaceEdit { changes: Some([(document.uri.clone(), edits.collect())].into()) },
            is_preferred: true,
        });
    }
    all
}
