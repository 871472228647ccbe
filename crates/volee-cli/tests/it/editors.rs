//! `volee lsp` over its real streams, the pieces of the VS Code extension, and the verbs that work on text.

use std::io::{BufReader, Write as _};
use std::process::{Command, Stdio};

use lsp_server::{Message, Notification, Request, RequestId, Response};
use serde_json::{Value, json};

use crate::sandbox::{Sandbox, root};

#[test]
fn the_server_speaks_the_protocol_on_its_streams() {
    let mut server = Command::new(env!("CARGO_BIN_EXE_volee"))
        .args(["lsp", "--stdio"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut input = server.stdin.take().expect("a stream");
    let mut output = BufReader::new(server.stdout.take().expect("a stream"));
    let mut say = |message: Message| {
        message.write(&mut input).expect("it listens");
        input.flush().expect("it listens");
    };
    let mut hear = || Message::read(&mut output).expect("it speaks").expect("it speaks");
    let ask = |id: i32, method: &str, params: Value| {
        Message::from(Request::new(RequestId::from(id), method.into(), params))
    };
    say(ask(1, "initialize", json!({ "capabilities": {} })));
    assert!(matches!(hear(), Message::Response(Response { .. })));
    say(Notification::new("initialized".into(), json!({})).into());
    let text = "byte x;\nactive proctype P() { while (x < 3) { x++ } }\n";
    let document = json!({ "uri": "file:///m.pml", "languageId": "promela", "version": 1, "text": text });
    say(Notification::new("textDocument/didOpen".into(), json!({ "textDocument": document })).into());
    let Message::Notification(told) = hear() else { panic!("diagnostics are told") };
    let message = told.params["diagnostics"][0]["message"].as_str().unwrap_or_default().to_owned();
    assert!(message.contains("Promela has no `while`") && message.contains("do :: condition"), "{message}");
    say(ask(2, "shutdown", Value::Null));
    assert!(matches!(hear(), Message::Response(Response { .. })));
    say(Notification::new("exit".into(), Value::Null).into());
    assert_eq!(server.wait().expect("it ends").code(), Some(0));
}

#[test]
fn the_pieces_of_the_extension_work_without_a_display() {
    let folder = root().join("editors/vscode");
    let run = Command::new("node")
        .args(["--test", "test/"])
        .current_dir(folder)
        .env("VOLEE", env!("CARGO_BIN_EXE_volee"))
        .output();
    let Ok(run) = run else {
        println!("skipped: no node here, so the VS Code extension is not tested");
        return;
    };
    assert!(
        run.status.success(),
        "{}{}",
        String::from_utf8_lossy(&run.stdout),
        String::from_utf8_lossy(&run.stderr)
    );
}

#[test]
fn lints_are_told_before_the_search_and_by_a_verb_of_their_own() {
    let sandbox = Sandbox::new();
    sandbox.write("m.pml", "byte spare;\nbyte x = 300;\ninit { x++ }\n");
    let checked = sandbox.volee("check m.pml");
    assert!(checked.stderr.contains("300 does not fit `x`"), "{}", checked.stderr);
    assert!(
        !checked.stderr.contains("never used"),
        "what is untidy is not told by a check: {}",
        checked.stderr
    );
    assert_eq!(checked.code, 0);
    let linted = sandbox.volee("lint m.pml");
    assert!(
        linted.stdout.contains("`spare` is never used") && linted.stdout.contains("2 warnings in 1 model")
    );
    assert_eq!(linted.code, 1);
    let answer: Value =
        serde_json::from_str(&sandbox.volee("lint m.pml --format json").stdout).expect("one object");
    assert_eq!(answer["warnings"][0]["code"], "unused-variable");
    assert_eq!(
        (answer["verdict"].as_str(), answer["warnings"][1]["line"].as_u64()),
        (Some("violated"), Some(2))
    );
    let answer: Value =
        serde_json::from_str(&sandbox.volee("check m.pml --format json").stdout).expect("one object");
    assert_eq!(answer["warnings"][0]["code"], "value-does-not-fit");
    sandbox.write("good.pml", "byte x;\ninit { x++ }\n").write("bad.pml", "init { x++ }\n");
    assert_eq!(sandbox.volee("lint good.pml").code, 0);
    assert_eq!(sandbox.volee("lint bad.pml").code, 2);
    assert!(sandbox.volee("lint --list").stdout.contains("blocks-for-ever"));
}

#[test]
fn a_text_is_formatted_to_stdout_in_place_or_only_compared() {
    let sandbox = Sandbox::new();
    let even = "init {\n    byte x;\n    x++\n}\n";
    sandbox.write("m.pml", "init{byte x;\nx ++\n}").write("even.pml", even).write("bad.pml", "init { \"");
    assert_eq!(sandbox.volee("format m.pml").stdout, even);
    let compared = sandbox.volee("format --check m.pml even.pml");
    assert_eq!((compared.code, compared.stdout.as_str()), (1, "m.pml would change\n"));
    assert_eq!(sandbox.volee("format --write m.pml even.pml").stdout, "m.pml is laid out\n");
    assert_eq!(sandbox.read("m.pml"), even);
    assert_eq!(sandbox.volee("format --check m.pml even.pml").code, 0);
    assert_eq!(sandbox.volee("format bad.pml").code, 2);
    assert_eq!(sandbox.volee("format m.pml even.pml").code, 2);
}
