//! The loop: messages in, answers out. Requests are answered from what is known of the text at that moment; a
//! text is studied when nothing else is waiting, or when somebody asks about it.

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, select, unbounded};
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, RequestId, Response};
use lsp_types::notification::{self as note, Notification as _};
use lsp_types::request::{self as ask, Request as _};
use lsp_types::{
    CodeActionProviderCapability, CodeLensOptions, CompletionOptions, DocumentSymbolResponse,
    ExecuteCommandOptions, ExecuteCommandParams, HoverProviderCapability, MessageType, OneOf,
    PublishDiagnosticsParams, RenameOptions, ServerCapabilities, ShowMessageParams,
    TextDocumentSyncCapability, TextDocumentSyncKind, TextDocumentSyncOptions, TextDocumentSyncSaveOptions,
    TextEdit, Uri,
};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use volee::Source;
use volee::promela::Options;
use volee::promela::format::{Style, format};
use volee::system::{Budget, parse_duration, parse_size};

use crate::check::{self, Finished, Job, Running, Tell};
use crate::document::{Document, open_files};
use crate::lenses::{CHECK, EXPLORE};
use crate::uri::same_file;
use crate::{actions, complete, diagnostics, hover, lenses, navigate, outline, rename};

/// The conversation with the editor broke.
pub type ServeError = Box<dyn std::error::Error + Send + Sync>;

/// What an editor may set when it starts the server.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Settings {
    /// Preprocessor definitions, as after `-D`.
    defines: Vec<String>,
    /// What a check may use, as after `--memory` and `--time`.
    memory: Option<String>,
    time: Option<String>,
}

/// Serves an editor over stdin and stdout until it says goodbye.
///
/// # Errors
/// The editor does not speak the protocol, or is gone.
pub fn serve_stdio() -> Result<(), ServeError> {
    let (connection, threads) = Connection::stdio();
    serve(&connection)?;
    // The writer ends when nobody can send any more.
    drop(connection);
    threads.join()?;
    Ok(())
}

/// Serves an editor over a connection until it says goodbye.
///
/// # Errors
/// The editor does not speak the protocol, or is gone.
pub fn serve(connection: &Connection) -> Result<(), ServeError> {
    let (id, params) = connection.initialize_start()?;
    let info = json!({ "name": "volee", "version": env!("CARGO_PKG_VERSION") });
    connection.initialize_finish(id, json!({ "capabilities": capabilities(), "serverInfo": info }))?;
    let settings = params.get("initializationOptions").cloned().unwrap_or_default();
    let settings: Settings = serde_json::from_value(settings).unwrap_or_default();
    let can = |pointer: &str| params.pointer(pointer).and_then(Value::as_bool).unwrap_or(false);
    let mut server = Server::new(connection, &settings);
    server.shows_progress = can("/capabilities/window/workDoneProgress");
    server.refreshes_hints = can("/capabilities/workspace/inlayHint/refreshSupport");
    let ended = server.run();
    server.stop();
    ended
}

fn capabilities() -> ServerCapabilities {
    ServerCapabilities {
        text_document_sync: Some(TextDocumentSyncCapability::Options(TextDocumentSyncOptions {
            open_close: Some(true),
            change: Some(TextDocumentSyncKind::INCREMENTAL),
            save: Some(TextDocumentSyncSaveOptions::Supported(true)),
            ..TextDocumentSyncOptions::default()
        })),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        definition_provider: Some(OneOf::Left(true)),
        references_provider: Some(OneOf::Left(true)),
        document_highlight_provider: Some(OneOf::Left(true)),
        rename_provider: Some(OneOf::Right(RenameOptions {
            prepare_provider: Some(true),
            work_done_progress_options: Default::default(),
        })),
        document_symbol_provider: Some(OneOf::Left(true)),
        completion_provider: Some(CompletionOptions {
            trigger_characters: Some(vec![".".into(), "@".into()]),
            ..CompletionOptions::default()
        }),
        document_formatting_provider: Some(OneOf::Left(true)),
        code_action_provider: Some(CodeActionProviderCapability::Simple(true)),
        code_lens_provider: Some(CodeLensOptions { resolve_provider: Some(false) }),
        inlay_hint_provider: Some(OneOf::Left(true)),
        execute_command_provider: Some(ExecuteCommandOptions {
            commands: vec![CHECK.into(), EXPLORE.into()],
            ..ExecuteCommandOptions::default()
        }),
        ..ServerCapabilities::default()
    }
}

struct Server<'c> {
    connection: &'c Connection,
    documents: HashMap<String, Document>,
    defines: Vec<(String, Option<String>)>,
    budget: Budget,
    running: HashMap<RequestId, Running>,
    finished: (Sender<Finished>, Receiver<Finished>),
    /// Requests of ours, for their numbers.
    asked: i32,
    /// The editor said goodbye; what is left is to go.
    leaving: bool,
    /// What the editor can do.
    shows_progress: bool,
    refreshes_hints: bool,
}

/// The answer to a request, or a sentence why there is none.
type Answer = Result<Value, String>;

impl<'c> Server<'c> {
    fn new(connection: &'c Connection, settings: &Settings) -> Self {
        let defines = settings.defines.iter().map(|d| match d.split_once('=') {
            Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
            None => (d.clone(), None),
        });
        let memory = settings.memory.as_deref().and_then(|m| parse_size(m).ok()).unwrap_or(2 << 30);
        let time =
            settings.time.as_deref().and_then(|t| parse_duration(t).ok()).unwrap_or(Duration::from_secs(60));
        Server {
            connection,
            documents: HashMap::new(),
            defines: defines.collect(),
            budget: Budget { memory: Some(memory), time: Some(time), ..Budget::default() },
            running: HashMap::new(),
            finished: unbounded(),
            asked: 0,
            leaving: false,
            shows_progress: false,
            refreshes_hints: false,
        }
    }

    fn run(&mut self) -> Result<(), ServeError> {
        loop {
            if self.connection.receiver.is_empty() {
                self.publish_stale()?;
            }
            let done = self.finished.1.clone();
            select! {
                recv(self.connection.receiver) -> message => match message? {
                    Message::Request(request) if request.method == ask::Shutdown::METHOD => {
                        self.leaving = true;
                        self.send(Response::new_ok(request.id, ()))?;
                    }
                    Message::Request(request) if self.leaving => {
                        let code = ErrorCode::InvalidRequest as i32;
                        self.send(Response::new_err(request.id, code, "the server is leaving".into()))?;
                    }
                    Message::Request(request) => self.request(request)?,
                    Message::Notification(notification) if notification.method == note::Exit::METHOD => {
                        return if self.leaving { Ok(()) } else { Err("the editor left without a goodbye".into()) };
                    }
                    Message::Notification(notification) => self.notification(notification)?,
                    Message::Response(_) => {}
                },
                recv(done) -> finished => self.finish(finished?)?,
            }
        }
    }

    /// Ends every check before the server does.
    fn stop(&mut self) {
        self.running.values().for_each(Running::cancel);
        for (_, running) in self.running.drain() {
            let _ = running.thread.join();
        }
    }

    fn send(&self, message: impl Into<Message>) -> Result<(), ServeError> {
        Ok(self.connection.sender.send(message.into())?)
    }

    fn options(&self) -> Options {
        Options {
            defines: self.defines.clone(),
            open: open_files(self.documents.values()),
            ..Options::default()
        }
    }

    /// A model with the texts as they are here.
    fn source(&self, path: PathBuf) -> Source {
        let defines = self.defines.iter().map(|(name, value)| define(name, value.as_deref()));
        let texts = self.documents.values().map(|d| (d.path.clone(), d.text.to_string()));
        let options =
            volee::Options { defines: defines.collect(), texts: texts.collect(), ..Default::default() };
        Source::new(path, options)
    }

    /// Studies a document if its text has changed.
    fn refresh(&mut self, key: &str) {
        if !self.documents.get(key).is_some_and(|d| d.stale) {
            return;
        }
        let options = self.options();
        let path = self.documents[key].path.clone();
        // An open model that includes this text speaks for it.
        let includes = |d: &Document| {
            d.path != path
                && d.root.is_none()
                && d.index()
                    .files
                    .iter()
                    .skip(1)
                    .any(|f| f.is_written && same_file(f.name.as_ref().as_ref(), &path))
        };
        let root = self.documents.values().find(|d| includes(d)).map(|d| d.path.clone());
        if let Some(document) = self.documents.get_mut(key) {
            document.refresh(&options, root);
        }
    }

    fn publish_stale(&mut self) -> Result<(), ServeError> {
        let mut stale: Vec<String> =
            self.documents.iter().filter(|(_, d)| d.stale).map(|(key, _)| key.clone()).collect();
        stale.sort();
        for key in stale {
            self.refresh(&key);
            self.publish(&key)?;
        }
        Ok(())
    }

    fn publish(&self, key: &str) -> Result<(), ServeError> {
        let Some(document) = self.documents.get(key) else { return Ok(()) };
        let params = PublishDiagnosticsParams {
            uri: document.uri.clone(),
            diagnostics: diagnostics::of(document),
            version: Some(document.version),
        };
        self.send(Notification::new(note::PublishDiagnostics::METHOD.into(), params))
    }

    fn notification(&mut self, notification: Notification) -> Result<(), ServeError> {
        let params = notification.params;
        match notification.method.as_str() {
            note::DidOpenTextDocument::METHOD => {
                let Ok(params) = read::<lsp_types::DidOpenTextDocumentParams>(params) else { return Ok(()) };
                let opened = params.text_document;
                let key = opened.uri.as_str().to_owned();
                self.documents.insert(key, Document::new(opened.uri, opened.text, opened.version));
                self.touch_others();
            }
            note::DidChangeTextDocument::METHOD => {
                let Ok(params) = read::<lsp_types::DidChangeTextDocumentParams>(params) else {
                    return Ok(());
                };
                let key = params.text_document.uri.as_str();
                if let Some(document) = self.documents.get_mut(key) {
                    document.change(params.content_changes, params.text_document.version);
                }
                self.touch_others();
            }
            note::DidCloseTextDocument::METHOD => {
                let Ok(params) = read::<lsp_types::DidCloseTextDocumentParams>(params) else { return Ok(()) };
                let uri = params.text_document.uri;
                self.documents.remove(uri.as_str());
                let params = PublishDiagnosticsParams { uri, diagnostics: Vec::new(), version: None };
                self.send(Notification::new(note::PublishDiagnostics::METHOD.into(), params))?;
                self.touch_others();
            }
            note::DidSaveTextDocument::METHOD => self.touch_others(),
            note::Cancel::METHOD => {
                let id = params.get("id").and_then(|id| serde_json::from_value::<RequestId>(id.clone()).ok());
                if let Some(running) = id.and_then(|id| self.running.get(&id)) {
                    running.cancel();
                }
            }
            note::WorkDoneProgressCancel::METHOD => {
                let token = params.get("token").and_then(Value::as_str).unwrap_or_default();
                self.running.values().filter(|r| r.token == token).for_each(Running::cancel);
            }
            _ => {}
        }
        Ok(())
    }

    /// Texts that include others, or are included, are read again when something changes.
    fn touch_others(&mut self) {
        for document in self.documents.values_mut() {
            document.stale |=
                document.root.is_some() || document.index().files.iter().filter(|f| f.is_written).count() > 1;
        }
    }

    fn request(&mut self, request: Request) -> Result<(), ServeError> {
        if request.method == ask::ExecuteCommand::METHOD {
            return self.command(request);
        }
        let key = document_key(&request.params);
        if let Some(key) = &key {
            self.refresh(key);
        }
        let answer = match key.as_ref().and_then(|key| self.documents.get(key)) {
            Some(document) => self.answer(document, &request),
            None => Err("this document is not open".into()),
        };
        let response = match answer {
            Ok(value) => Response::new_ok(request.id, value),
            Err(message) => Response::new_err(request.id, ErrorCode::RequestFailed as i32, message),
        };
        self.send(response)
    }

    fn answer(&self, document: &Document, request: &Request) -> Answer {
        let params = request.params.clone();
        match request.method.as_str() {
            ask::HoverRequest::METHOD => {
                let at = read::<lsp_types::HoverParams>(params)?.text_document_position_params.position;
                Ok(json!(hover::of(document, at)))
            }
            ask::GotoDefinition::METHOD => {
                let at =
                    read::<lsp_types::GotoDefinitionParams>(params)?.text_document_position_params.position;
                Ok(json!(navigate::definition(document, at)))
            }
            ask::References::METHOD => {
                let params = read::<lsp_types::ReferenceParams>(params)?;
                let at = params.text_document_position.position;
                Ok(json!(navigate::references(document, at, params.context.include_declaration)))
            }
            ask::DocumentHighlightRequest::METHOD => {
                let at = read::<lsp_types::DocumentHighlightParams>(params)?
                    .text_document_position_params
                    .position;
                Ok(json!(navigate::highlights(document, at)))
            }
            ask::PrepareRenameRequest::METHOD => {
                let at = read::<lsp_types::TextDocumentPositionParams>(params)?.position;
                rename::prepare(document, at).map(|response| json!(response))
            }
            ask::Rename::METHOD => {
                let params = read::<lsp_types::RenameParams>(params)?;
                let at = params.text_document_position.position;
                rename::rename(document, at, &params.new_name, &self.options()).map(|edit| json!(edit))
            }
            ask::DocumentSymbolRequest::METHOD => {
                Ok(json!(DocumentSymbolResponse::Nested(outline::of(document))))
            }
            ask::Completion::METHOD => {
                let at = read::<lsp_types::CompletionParams>(params)?.text_document_position.position;
                Ok(json!(complete::of(document, at)))
            }
            ask::Formatting::METHOD => {
                let options = read::<lsp_types::DocumentFormattingParams>(params)?.options;
                formatted(document, options.tab_size as usize, !options.insert_spaces)
            }
            ask::CodeActionRequest::METHOD => {
                Ok(json!(actions::of(document, read::<lsp_types::CodeActionParams>(params)?.range)))
            }
            ask::CodeLensRequest::METHOD => Ok(json!(lenses::of(document))),
            ask::InlayHintRequest::METHOD => {
                Ok(json!(lenses::inlay_hints(document, read::<lsp_types::InlayHintParams>(params)?.range)))
            }
            other => Err(format!("`{other}` is not something this server does")),
        }
    }

    fn command(&mut self, request: Request) -> Result<(), ServeError> {
        let fail = |message: &str| {
            Response::new_err(request.id.clone(), ErrorCode::RequestFailed as i32, message.into())
        };
        let Ok(params) = read::<ExecuteCommandParams>(request.params.clone()) else {
            return self.send(fail("the command makes no sense"));
        };
        let argument = params.arguments.first().cloned().unwrap_or_default();
        let key = argument.get("uri").and_then(Value::as_str).unwrap_or_default().to_owned();
        let property = argument.get("property").and_then(Value::as_str).map(str::to_owned);
        self.refresh(&key);
        let Some(document) = self.documents.get(&key) else {
            return self.send(fail("open the model first"));
        };
        match params.command.as_str() {
            CHECK => {
                let path = document.root.as_ref().unwrap_or(&document.path).clone();
                let (uri, version) = (document.uri.clone(), document.version);
                let job = Job { source: self.source(path), property, budget: self.budget.clone() };
                self.start(request.id, uri, version, job)
            }
            EXPLORE => {
                let path = document.root.as_ref().unwrap_or(&document.path).display().to_string();
                let command = explore_command(&path, property.as_deref(), &self.defines);
                self.send(Response::new_ok(request.id, json!({ "command": command })))
            }
            other => self.send(fail(&format!("there is no command `{other}`"))),
        }
    }

    /// Runs a check in a thread of its own; the answer comes when it ends.
    fn start(&mut self, request: RequestId, uri: Uri, version: i32, mut job: Job) -> Result<(), ServeError> {
        job.budget.cancelled = Default::default();
        let cancelled = job.budget.cancelled.clone();
        self.asked += 1;
        let token = format!("volee-check-{}", self.asked);
        let create = Request::new(
            RequestId::from(self.asked),
            ask::WorkDoneProgressCreate::METHOD.into(),
            json!({ "token": token }),
        );
        if self.shows_progress {
            self.send(create)?;
        }
        let title = match &job.property {
            Some(name) => format!("checking {name}"),
            None => "checking deadlocks and assertions".into(),
        };
        if self.shows_progress {
            self.send(progress(&token, json!({ "kind": "begin", "title": title, "cancellable": true })))?;
        }
        let (sender, done) = (self.connection.sender.clone(), self.finished.0.clone());
        let (id, told, shows) = (request.clone(), token.clone(), self.shows_progress);
        let thread = std::thread::spawn(move || {
            let mut last = Instant::now();
            let mut tell = Tell(|snapshot: &volee::system::Snapshot| {
                if shows && last.elapsed() >= Duration::from_millis(500) {
                    last = Instant::now();
                    let message = format!("{} states, depth {}", snapshot.states, snapshot.max_depth);
                    let _ =
                        sender.send(progress(&told, json!({ "kind": "report", "message": message })).into());
                }
            });
            let outcome = check::run(&job, &mut tell);
            let _ = done.send(Finished { request: id, uri, version, outcome });
        });
        self.running.insert(request, Running { cancelled, token, thread });
        Ok(())
    }

    fn finish(&mut self, finished: Finished) -> Result<(), ServeError> {
        if let Some(running) = self.running.remove(&finished.request) {
            let _ = running.thread.join();
            if self.shows_progress {
                self.send(progress(&running.token, json!({ "kind": "end" })))?;
            }
        }
        let (message, typ, response) = match finished.outcome {
            Ok(report) => {
                let key = finished.uri.as_str().to_owned();
                let typ =
                    if report.results.findings.is_empty() { MessageType::INFO } else { MessageType::WARNING };
                if let Some(document) = self.documents.get_mut(&key).filter(|d| d.version == finished.version)
                {
                    document.results = report.results;
                    self.publish(&key)?;
                }
                (report.line, typ, Response::new_ok(finished.request, report.value))
            }
            Err(message) => {
                let code = ErrorCode::RequestFailed as i32;
                (message.clone(), MessageType::ERROR, Response::new_err(finished.request, code, message))
            }
        };
        self.send(response)?;
        self.send(Notification::new(note::ShowMessage::METHOD.into(), ShowMessageParams { typ, message }))?;
        if !self.refreshes_hints {
            return Ok(());
        }
        self.asked += 1;
        // Marks beside the text have changed without the text.
        let id = RequestId::from(self.asked);
        self.send(Request::new(id, ask::InlayHintRefreshRequest::METHOD.into(), Value::Null))
    }
}

fn progress(token: &str, value: Value) -> Notification {
    Notification::new(note::Progress::METHOD.into(), json!({ "token": token, "value": value }))
}

fn read<T: DeserializeOwned>(params: Value) -> Result<T, String> {
    serde_json::from_value(params).map_err(|error| error.to_string())
}

/// The document that a request is about.
fn document_key(params: &Value) -> Option<String> {
    Some(params.get("textDocument")?.get("uri")?.as_str()?.to_owned())
}

fn formatted(document: &Document, width: usize, tabs: bool) -> Answer {
    let style = Style { width: width.clamp(1, 16), tabs };
    let name = document.path.display().to_string();
    let new_text = format(&name, &document.text, style).map_err(|wrong| wrong.to_string())?;
    if new_text == *document.text {
        return Ok(json!([]));
    }
    Ok(json!([TextEdit { range: document.lines().whole(), new_text }]))
}

/// The command line that opens a model in the explorer.
fn explore_command(path: &str, property: Option<&str>, defines: &[(String, Option<String>)]) -> Vec<String> {
    let mut command = vec!["volee".to_owned(), "explore".into(), path.to_owned()];
    if let Some(property) = property {
        command.extend(["--property".into(), property.to_owned()]);
    }
    for (name, value) in defines {
        command.extend(["-D".into(), define(name, value.as_deref())]);
    }
    command
}

/// A definition as it stands behind `-D`.
fn define(name: &str, value: Option<&str>) -> String {
    value.map_or(name.to_owned(), |value| format!("{name}={value}"))
}
