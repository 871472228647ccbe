//! The messages of the Language Server Protocol, version 3.17, that this server reads and writes. A library has
//! them all, and everybody who builds volee would wait for it.
//!
//! The names are those of the specification. What is read has the fields that the server asks for: others are
//! passed over unseen. What is written has the fields that the server sets: what is not there is left out,
//! never null.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::uri::Uri;

/// The names of requests and notifications.
pub(crate) mod method {
    pub(crate) const CANCEL: &str = "$/cancelRequest";
    pub(crate) const CODE_ACTION: &str = "textDocument/codeAction";
    pub(crate) const CODE_LENS: &str = "textDocument/codeLens";
    pub(crate) const COMPLETION: &str = "textDocument/completion";
    pub(crate) const DEFINITION: &str = "textDocument/definition";
    pub(crate) const DID_CHANGE: &str = "textDocument/didChange";
    pub(crate) const DID_CLOSE: &str = "textDocument/didClose";
    pub(crate) const DID_OPEN: &str = "textDocument/didOpen";
    pub(crate) const DID_SAVE: &str = "textDocument/didSave";
    pub(crate) const DOCUMENT_HIGHLIGHT: &str = "textDocument/documentHighlight";
    pub(crate) const DOCUMENT_SYMBOL: &str = "textDocument/documentSymbol";
    pub(crate) const EXECUTE_COMMAND: &str = "workspace/executeCommand";
    pub(crate) const EXIT: &str = "exit";
    pub(crate) const FORMATTING: &str = "textDocument/formatting";
    pub(crate) const HOVER: &str = "textDocument/hover";
    pub(crate) const INLAY_HINT: &str = "textDocument/inlayHint";
    pub(crate) const INLAY_HINT_REFRESH: &str = "workspace/inlayHint/refresh";
    pub(crate) const PREPARE_RENAME: &str = "textDocument/prepareRename";
    pub(crate) const PROGRESS: &str = "$/progress";
    pub(crate) const PUBLISH_DIAGNOSTICS: &str = "textDocument/publishDiagnostics";
    pub(crate) const REFERENCES: &str = "textDocument/references";
    pub(crate) const RENAME: &str = "textDocument/rename";
    pub(crate) const SHOW_MESSAGE: &str = "window/showMessage";
    pub(crate) const SHUTDOWN: &str = "shutdown";
    pub(crate) const WORK_DONE_PROGRESS_CANCEL: &str = "window/workDoneProgress/cancel";
    pub(crate) const WORK_DONE_PROGRESS_CREATE: &str = "window/workDoneProgress/create";
}

/// Enumerations that are numbers in a message. Nobody reads them here.
macro_rules! numbers {
    ($($name:ident { $($constant:ident = $number:literal),* })*) => {$(
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
        pub(crate) struct $name(u8);

        impl $name {
            $(pub(crate) const $constant: Self = Self($number);)*
        }
    )*};
}

numbers! {
    TextDocumentSyncKind { INCREMENTAL = 2 }
    DiagnosticSeverity { ERROR = 1, WARNING = 2, INFORMATION = 3, HINT = 4 }
    DiagnosticTag { UNNECESSARY = 1 }
    DocumentHighlightKind { READ = 2, WRITE = 3 }
    InsertTextFormat { SNIPPET = 2 }
    InlayHintKind { TYPE = 1 }
    MessageType { ERROR = 1, WARNING = 2, INFO = 3 }
    CompletionItemKind {
        FUNCTION = 3, FIELD = 5, VARIABLE = 6, CLASS = 7, ENUM = 13, KEYWORD = 14, SNIPPET = 15,
        REFERENCE = 18, ENUM_MEMBER = 20, CONSTANT = 21, STRUCT = 22
    }
    SymbolKind {
        CLASS = 5, FIELD = 8, ENUM = 10, FUNCTION = 12, VARIABLE = 13, CONSTANT = 14, KEY = 20,
        ENUM_MEMBER = 22, STRUCT = 23, EVENT = 24
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Position {
    pub line: u32,
    pub character: u32,
}

impl Position {
    pub(crate) fn new(line: u32, character: u32) -> Self {
        Position { line, character }
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Range {
    pub start: Position,
    pub end: Position,
}

impl Range {
    pub(crate) fn new(start: Position, end: Position) -> Self {
        Range { start, end }
    }
}

// What is read. Which document a request is about, the server knows before it reads the rest.

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DidOpenTextDocumentParams {
    pub text_document: TextDocumentItem,
}

#[derive(Debug, Deserialize)]
pub(crate) struct TextDocumentItem {
    pub uri: Uri,
    pub version: i32,
    pub text: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DidChangeTextDocumentParams {
    pub text_document: VersionedTextDocumentIdentifier,
    pub content_changes: Vec<TextDocumentContentChangeEvent>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct VersionedTextDocumentIdentifier {
    pub uri: Uri,
    pub version: i32,
}

/// Without a range, the whole text is another.
#[derive(Debug, Deserialize)]
pub(crate) struct TextDocumentContentChangeEvent {
    pub range: Option<Range>,
    pub text: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DidCloseTextDocumentParams {
    pub text_document: TextDocumentIdentifier,
}

#[derive(Debug, Deserialize)]
pub(crate) struct TextDocumentIdentifier {
    pub uri: Uri,
}

#[derive(Debug, Deserialize)]
pub(crate) struct TextDocumentPositionParams {
    pub position: Position,
}

#[derive(Debug, Deserialize)]
pub(crate) struct ReferenceParams {
    pub position: Position,
    pub context: ReferenceContext,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ReferenceContext {
    pub include_declaration: bool,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RenameParams {
    pub position: Position,
    pub new_name: String,
}

#[derive(Debug, Deserialize)]
pub(crate) struct DocumentFormattingParams {
    pub options: FormattingOptions,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FormattingOptions {
    pub tab_size: u32,
    pub insert_spaces: bool,
}

#[derive(Debug, Deserialize)]
pub(crate) struct CodeActionParams {
    pub range: Range,
}

#[derive(Debug, Deserialize)]
pub(crate) struct InlayHintParams {
    pub range: Range,
}

#[derive(Debug, Deserialize)]
pub(crate) struct ExecuteCommandParams {
    pub command: String,
    #[serde(default)]
    pub arguments: Vec<Value>,
}

// What is written.

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ServerCapabilities {
    pub text_document_sync: TextDocumentSyncOptions,
    pub hover_provider: bool,
    pub completion_provider: CompletionOptions,
    pub definition_provider: bool,
    pub references_provider: bool,
    pub document_highlight_provider: bool,
    pub document_symbol_provider: bool,
    pub code_action_provider: bool,
    pub code_lens_provider: CodeLensOptions,
    pub document_formatting_provider: bool,
    pub rename_provider: RenameOptions,
    pub execute_command_provider: ExecuteCommandOptions,
    pub inlay_hint_provider: bool,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TextDocumentSyncOptions {
    pub open_close: bool,
    pub change: TextDocumentSyncKind,
    pub save: bool,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CompletionOptions {
    pub trigger_characters: Vec<&'static str>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CodeLensOptions {
    pub resolve_provider: bool,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RenameOptions {
    pub prepare_provider: bool,
}

#[derive(Debug, Serialize)]
pub(crate) struct ExecuteCommandOptions {
    pub commands: Vec<&'static str>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Location {
    pub uri: Uri,
    pub range: Range,
}

#[derive(Debug, Serialize)]
pub(crate) struct PublishDiagnosticsParams {
    pub uri: Uri,
    pub diagnostics: Vec<Diagnostic>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<i32>,
}

#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Diagnostic {
    pub range: Range,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub severity: Option<DiagnosticSeverity>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    pub message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub related_information: Option<Vec<DiagnosticRelatedInformation>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tags: Option<Vec<DiagnosticTag>>,
}

#[derive(Debug, Serialize)]
pub(crate) struct DiagnosticRelatedInformation {
    pub location: Location,
    pub message: String,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TextEdit {
    pub range: Range,
    pub new_text: String,
}

#[derive(Debug, Default, Serialize)]
pub(crate) struct WorkspaceEdit {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changes: Option<BTreeMap<Uri, Vec<TextEdit>>>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CodeAction {
    pub title: String,
    pub kind: CodeActionKind,
    pub diagnostics: Vec<Diagnostic>,
    pub edit: WorkspaceEdit,
    pub is_preferred: bool,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum CodeActionKind {
    QuickFix,
}

#[derive(Debug, Serialize)]
pub(crate) struct Command {
    pub title: String,
    pub command: String,
    pub arguments: Vec<Value>,
}

#[derive(Debug, Serialize)]
pub(crate) struct CodeLens {
    pub range: Range,
    pub command: Command,
}

#[derive(Debug, Serialize)]
pub(crate) struct Hover {
    pub contents: MarkupContent,
    pub range: Range,
}

#[derive(Debug, Serialize)]
pub(crate) struct MarkupContent {
    pub kind: MarkupKind,
    pub value: String,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum MarkupKind {
    Markdown,
}

#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CompletionItem {
    pub label: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<CompletionItemKind>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sort_text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub insert_text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub insert_text_format: Option<InsertTextFormat>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DocumentSymbol {
    pub name: String,
    pub detail: String,
    pub kind: SymbolKind,
    pub range: Range,
    pub selection_range: Range,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub children: Option<Vec<DocumentSymbol>>,
}

#[derive(Debug, Serialize)]
pub(crate) struct DocumentHighlight {
    pub range: Range,
    pub kind: DocumentHighlightKind,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct InlayHint {
    pub position: Position,
    pub label: String,
    pub kind: InlayHintKind,
    pub tooltip: String,
    pub padding_left: bool,
}

/// Where the name stands that would be renamed, and what it is.
#[derive(Debug, Serialize)]
pub(crate) struct PrepareRenameResponse {
    pub range: Range,
    pub placeholder: String,
}

#[derive(Debug, Serialize)]
pub(crate) struct ShowMessageParams {
    #[serde(rename = "type")]
    pub typ: MessageType,
    pub message: String,
}

#[cfg(test)]
mod tests {
    use std::fmt::Debug;

    use serde::de::DeserializeOwned;
    use serde_json::json;

    use super::*;

    fn uri(text: &str) -> Uri {
        Uri::try_from(text.to_owned()).expect("an address")
    }

    fn range() -> Range {
        Range::new(Position::new(1, 2), Position::new(3, 4))
    }

    fn range_sent() -> Value {
        json!({ "start": { "line": 1, "character": 2 }, "end": { "line": 3, "character": 4 } })
    }

    fn read<T: DeserializeOwned>(value: Value) -> T {
        serde_json::from_value(value).expect("it is read")
    }

    fn refused<T: DeserializeOwned + Debug>(value: Value) -> String {
        serde_json::from_value::<T>(value).expect_err("it is refused").to_string()
    }

    #[test]
    fn a_diagnostic_has_what_is_known_and_no_nulls() {
        let least = Diagnostic { range: range(), message: "m".into(), ..Diagnostic::default() };
        assert_eq!(json!(least), json!({ "range": range_sent(), "message": "m" }));
        let step = DiagnosticRelatedInformation {
            location: Location { uri: uri("file:///a.pml"), range: range() },
            message: "step".into(),
        };
        let most = Diagnostic {
            severity: Some(DiagnosticSeverity::HINT),
            code: Some("unused-variable".into()),
            source: Some("volee".into()),
            related_information: Some(vec![step]),
            tags: Some(vec![DiagnosticTag::UNNECESSARY]),
            ..least
        };
        let location = json!({ "uri": "file:///a.pml", "range": range_sent() });
        let sent = json!({
            "range": range_sent(), "severity": 4, "code": "unused-variable", "source": "volee", "message": "m",
            "relatedInformation": [{ "location": location, "message": "step" }], "tags": [1],
        });
        assert_eq!(json!(most), sent);
        let published =
            PublishDiagnosticsParams { uri: uri("file:///a.pml"), diagnostics: Vec::new(), version: None };
        assert_eq!(json!(published), json!({ "uri": "file:///a.pml", "diagnostics": [] }));
        assert_eq!(json!(PublishDiagnosticsParams { version: Some(3), ..published })["version"], 3);
    }

    #[test]
    fn an_edit_has_addresses_as_keys() {
        let edit = TextEdit { range: range(), new_text: "x".into() };
        let edit = WorkspaceEdit { changes: Some([(uri("file:///a%20b.pml"), vec![edit])].into()) };
        let sent = json!({ "changes": { "file:///a%20b.pml": [{ "range": range_sent(), "newText": "x" }] } });
        assert_eq!(json!(edit), sent);
        assert_eq!(json!(WorkspaceEdit::default()), json!({}));
        let action = CodeAction {
            title: "t".into(),
            kind: CodeActionKind::QuickFix,
            diagnostics: Vec::new(),
            edit,
            is_preferred: true,
        };
        assert_eq!(
            json!(action),
            json!({ "title": "t", "kind": "quickfix", "diagnostics": [], "edit": sent, "isPreferred": true })
        );
    }

    #[test]
    fn answers_about_names_are_as_the_protocol_has_them() {
        let contents = MarkupContent { kind: MarkupKind::Markdown, value: "v".into() };
        assert_eq!(
            json!(Hover { contents, range: range() }),
            json!({ "contents": { "kind": "markdown", "value": "v" }, "range": range_sent() })
        );
        let keyword = CompletionItem {
            label: "do".into(),
            kind: Some(CompletionItemKind::KEYWORD),
            sort_text: Some("zdo".into()),
            ..CompletionItem::default()
        };
        assert_eq!(json!(keyword), json!({ "label": "do", "kind": 14, "sortText": "zdo" }));
        let snippet = CompletionItem {
            detail: Some("a loop".into()),
            insert_text: Some("do".into()),
            insert_text_format: Some(InsertTextFormat::SNIPPET),
            ..CompletionItem::default()
        };
        assert_eq!(
            json!(snippet),
            json!({ "label": "", "detail": "a loop", "insertText": "do", "insertTextFormat": 2 })
        );
        let symbol = |children| DocumentSymbol {
            name: "P".into(),
            detail: "proctype P()".into(),
            kind: SymbolKind::CLASS,
            range: range(),
            selection_range: range(),
            children,
        };
        let mut sent = json!({
            "name": "P", "detail": "proctype P()", "kind": 5,
            "range": range_sent(), "selectionRange": range_sent(),
        });
        assert_eq!(json!(symbol(None)), sent);
        sent["children"] = json!([sent.clone()]);
        assert_eq!(json!(symbol(Some(vec![symbol(None)]))), sent);
        let hint = InlayHint {
            position: Position::new(1, 2),
            label: "never executed".into(),
            kind: InlayHintKind::TYPE,
            tooltip: "t".into(),
            padding_left: true,
        };
        let position = json!({ "line": 1, "character": 2 });
        let sent = json!({
            "position": position, "label": "never executed", "kind": 1, "tooltip": "t", "paddingLeft": true,
        });
        assert_eq!(json!(hint), sent);
        let message = ShowMessageParams { typ: MessageType::INFO, message: "m".into() };
        assert_eq!(json!(message), json!({ "type": 3, "message": "m" }));
    }

    #[test]
    fn unknown_fields_are_ignored_and_optional_ones_absent_or_null() {
        let change: DidChangeTextDocumentParams = read(json!({
            "textDocument": { "uri": "untitled:a", "version": 2, "more": [] },
            "contentChanges": [
                { "range": range_sent(), "rangeLength": 3, "text": "a" },
                { "text": "b" },
                { "range": null, "text": "c" },
            ],
            "more": null,
        }));
        assert_eq!((change.text_document.uri.as_str(), change.text_document.version), ("untitled:a", 2));
        let ranges: Vec<Option<Range>> = change.content_changes.iter().map(|c| c.range).collect();
        assert_eq!(ranges, [Some(range()), None, None]);
        let at: TextDocumentPositionParams = read(json!({
            "textDocument": { "uri": "file:///a" }, "position": { "line": 1, "character": 2, "more": 0 },
            "workDoneToken": "t", "context": {},
        }));
        assert_eq!(at.position, Position::new(1, 2));
        let format: DocumentFormattingParams = read(json!({
            "options": { "tabSize": 4, "insertSpaces": true, "trimFinalNewlines": true, "own": { "a": 1 } },
        }));
        assert_eq!((format.options.tab_size, format.options.insert_spaces), (4, true));
        let command: ExecuteCommandParams = read(json!({ "command": "volee.check" }));
        assert_eq!((command.command.as_str(), command.arguments), ("volee.check", Vec::new()));
    }

    #[test]
    fn what_is_malformed_is_an_error() {
        let at = |position: Value| json!({ "position": position });
        for position in [
            Value::Null,
            json!({ "line": 1 }),
            json!({ "line": -1, "character": 0 }),
            json!({ "line": 1.5, "character": 0 }),
            json!({ "line": "1", "character": 0 }),
            json!({ "line": 1_u64 << 32, "character": 0 }),
        ] {
            refused::<TextDocumentPositionParams>(at(position));
        }
        assert!(refused::<TextDocumentPositionParams>(json!({})).contains("missing field `position`"));
        assert!(refused::<RenameParams>(at(json!([1, 2]))).contains("missing field `newName`"));
        assert!(refused::<ReferenceParams>(json!([])).contains("invalid length 0"));
        refused::<ExecuteCommandParams>(json!({ "command": "volee.check", "arguments": null }));
        let open = |uri: Value| json!({ "textDocument": { "uri": uri, "version": 1, "text": "" } });
        read::<DidOpenTextDocumentParams>(open(json!("file:///a.pml")));
        assert!(refused::<DidOpenTextDocumentParams>(open(json!("file:///%4"))).contains("not an address"));
        refused::<DidOpenTextDocumentParams>(open(json!(7)));
    }
}
