//! A small editor: it opens texts, types, asks, and applies the edits that it gets.

use std::thread::JoinHandle;
use std::time::Duration;

use lsp_server::{Connection, Message, Notification, Request, RequestId, Response};
use serde_json::{Value, json};

pub struct Editor {
    connection: Connection,
    server: Option<JoinHandle<()>>,
    next: i32,
    /// Everything the server said by itself.
    pub heard: Vec<Notification>,
    /// Answers that came while another was waited for.
    early: Vec<Response>,
}

impl Editor {
    pub fn start() -> Self {
        Editor::start_with(json!({}))
    }

    pub fn start_with(settings: Value) -> Self {
        let (connection, server) = Connection::memory();
        let server = std::thread::spawn(move || volee_lsp::serve(&server).expect("the server ends well"));
        let mut editor =
            Editor { connection, server: Some(server), next: 0, heard: Vec::new(), early: Vec::new() };
        let can = json!({ "window": { "workDoneProgress": true }, "workspace": { "inlayHint": { "refreshSupport": true } } });
        let answer =
            editor.ask("initialize", json!({ "capabilities": can, "initializationOptions": settings }));
        assert_eq!(answer["serverInfo"]["name"], "volee");
        editor.tell("initialized", json!({}));
        editor
    }

    pub fn tell(&self, method: &str, params: Value) {
        self.connection
            .sender
            .send(Notification::new(method.into(), params).into())
            .expect("the server listens");
    }

    pub fn send(&mut self, method: &str, params: Value) -> RequestId {
        self.next += 1;
        let id = RequestId::from(self.next);
        self.connection
            .sender
            .send(Request::new(id.clone(), method.into(), params).into())
            .expect("the server listens");
        id
    }

    /// Waits for the answer to a request.
    pub fn answer(&mut self, wanted: &RequestId) -> Response {
        if let Some(at) = self.early.iter().position(|response| response.id == *wanted) {
            return self.early.swap_remove(at);
        }
        loop {
            match self.receive() {
                Message::Response(response) if response.id == *wanted => return response,
                Message::Response(response) => self.early.push(response),
                Message::Notification(notification) => self.heard.push(notification),
                Message::Request(request) => self.grant(request),
            }
        }
    }

    fn receive(&self) -> Message {
        self.connection.receiver.recv_timeout(Duration::from_secs(120)).expect("the server answers")
    }

    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        let response = self.answer(&id);
        match response.response_kind() {
            Ok(value) => value,
            Err(message) => panic!("{method}: {message}"),
        }
    }

    pub fn refused(&mut self, method: &str, params: Value) -> String {
        let id = self.send(method, params);
        match self.answer(&id).response_kind() {
            Ok(value) => panic!("{method} gave {value}"),
            Err(message) => message,
        }
    }

    pub fn open(&mut self, uri: &str, text: &str) {
        let document = json!({ "uri": uri, "languageId": "promela", "version": 1, "text": text });
        self.tell("textDocument/didOpen", json!({ "textDocument": document }));
    }

    pub fn change(&mut self, uri: &str, version: i32, changes: Value) {
        let document = json!({ "uri": uri, "version": version });
        self.tell("textDocument/didChange", json!({ "textDocument": document, "contentChanges": changes }));
    }

    /// The diagnostics of a version of a document.
    pub fn diagnostics(&mut self, uri: &str, version: i32) -> Vec<Value> {
        loop {
            let is_it = |n: &&Notification| {
                n.method == "textDocument/publishDiagnostics"
                    && n.params["uri"] == uri
                    && n.params["version"] == version
            };
            if let Some(found) = self.heard.iter().rev().find(is_it) {
                return found.params["diagnostics"].as_array().expect("a list").clone();
            }
            match self.receive() {
                Message::Notification(notification) => self.heard.push(notification),
                Message::Request(request) => self.grant(request),
                Message::Response(other) => panic!("{other:?}"),
            }
        }
    }

    /// What the server asks of an editor is granted.
    fn grant(&self, request: Request) {
        let response = Response::new_ok(request.id, Value::Null);
        self.connection.sender.send(response.into()).expect("the server listens");
    }

    pub fn at(uri: &str, text: &str, needle: &str) -> Value {
        json!({ "textDocument": { "uri": uri }, "position": position(text, text.find(needle).expect(needle)) })
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return;
        }
        self.ask("shutdown", Value::Null);
        self.tell("exit", Value::Null);
        if let Some(server) = self.server.take() {
            server.join().expect("the server ends well");
        }
    }
}

/// A response as a result.
pub trait Kind {
    fn response_kind(self) -> Result<Value, String>;
}

impl Kind for Response {
    fn response_kind(self) -> Result<Value, String> {
        let value = serde_json::to_value(&self).expect("it is JSON");
        match value.get("error").filter(|e| !e.is_null()) {
            Some(error) => Err(error["message"].as_str().unwrap_or_default().to_owned()),
            None => Ok(value.get("result").cloned().unwrap_or_default()),
        }
    }
}

/// The position of a byte, counted as the protocol does.
pub fn position(text: &str, offset: usize) -> Value {
    let before = &text[..offset];
    let line = before.matches('\n').count();
    let start = before.rfind('\n').map_or(0, |i| i + 1);
    json!({ "line": line, "character": before[start..].encode_utf16().count() })
}

fn offset(text: &str, position: &Value) -> usize {
    let (line, units) =
        (position["line"].as_u64().expect("a line"), position["character"].as_u64().expect("a column"));
    let start = text.split_inclusive('\n').take(line as usize).map(str::len).sum::<usize>();
    let mut left = units as usize;
    for (i, c) in text[start..].char_indices() {
        if left == 0 || c == '\n' {
            return start + i;
        }
        left = left.saturating_sub(c.len_utf16());
    }
    text.len()
}

/// A text after edits.
pub fn apply(text: &str, edits: &Value) -> String {
    let mut all: Vec<(usize, usize, &str)> = edits
        .as_array()
        .expect("edits")
        .iter()
        .map(|e| {
            let range = &e["range"];
            (
                offset(text, &range["start"]),
                offset(text, &range["end"]),
                e["newText"].as_str().expect("a text"),
            )
        })
        .collect();
    all.sort_by_key(|e| std::cmp::Reverse(e.0));
    let mut result = text.to_owned();
    for (start, end, new) in all {
        result.replace_range(start..end, new);
    }
    result
}
