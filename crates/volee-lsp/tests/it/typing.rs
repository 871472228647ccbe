//! Texts that are being typed: half sentences, completion, layout, and nonsense, which must do no harm.

use serde_json::{Value, json};

use crate::editor::{Editor, apply, position};

const URI: &str = "file:///models/typing.pml";

const TEXT: &str = "\
mtype = { ping, pong };
typedef Pair { byte left; byte right };
Pair pair;
chan wire = [1] of { mtype };
proctype Server(byte me) {
    byte count;
ready:
    wire?ping;
    count++
}
init { run Server(1); wire!ping; wire!pong }
";

fn labels(editor: &mut Editor, text: &str, offset: usize) -> Vec<String> {
    let asked = json!({ "textDocument": { "uri": URI }, "position": position(text, offset) });
    let found = editor.ask("textDocument/completion", asked);
    found
        .as_array()
        .expect("items")
        .iter()
        .map(|i| i["label"].as_str().expect("a label").to_owned())
        .collect()
}

#[test]
fn completion_knows_where_it_is_while_the_text_is_broken() {
    let mut editor = Editor::start();
    editor.open(URI, TEXT);
    editor.diagnostics(URI, 1);
    let mut version = 1;
    let mut typed = |editor: &mut Editor, what: &str| {
        let at = TEXT.find("    count++").expect("it is there");
        let text = format!("{}    {what}\n{}", &TEXT[..at], &TEXT[at..]);
        version += 1;
        editor.change(URI, version, json!([{ "text": text }]));
        labels(editor, &text, at + 4 + what.len())
    };
    assert_eq!(typed(&mut editor, "pair."), ["left", "right"]);
    assert_eq!(typed(&mut editor, "goto "), ["ready"]);
    assert_eq!(typed(&mut editor, "run "), ["Server"]);
    assert_eq!(typed(&mut editor, "Server@"), ["ready"]);
    let all = typed(&mut editor, "wire!");
    for name in ["ping", "pong", "wire", "count", "me", "do", "atomic"] {
        assert!(all.iter().any(|l| l == name), "{name} is not in {all:?}");
    }
    assert!(!all.iter().any(|l| l == "left" || l == "ready"), "{all:?}");
    for silent in ["/* wire!", "// goto ", "printf(\"run "] {
        assert!(typed(&mut editor, silent).is_empty(), "{silent}");
    }
    assert!(!typed(&mut editor, "printf(\"%d\", /* what */ ").is_empty());
}

#[test]
fn the_outline_and_hovers_survive_half_a_declaration() {
    let mut editor = Editor::start();
    editor.open(URI, TEXT);
    editor.diagnostics(URI, 1);
    let broken = TEXT.replace("proctype Server(byte me) {", "proctype Server(byte me {");
    editor.change(URI, 2, json!([{ "text": broken }]));
    assert!(!editor.diagnostics(URI, 2).is_empty());
    let outline = editor.ask("textDocument/documentSymbol", json!({ "textDocument": { "uri": URI } }));
    let names: Vec<&str> =
        outline.as_array().expect("symbols").iter().map(|s| s["name"].as_str().expect("a name")).collect();
    for name in ["pair", "wire", "Server", "init"] {
        assert!(names.contains(&name), "{names:?}");
    }
    let hover = editor.ask("textDocument/hover", Editor::at(URI, &broken, "wire ="));
    assert!(
        hover["contents"]["value"].as_str().is_some_and(|t| t.contains("chan wire = [1] of { mtype }")),
        "{hover}"
    );
}

#[test]
fn a_text_is_laid_out_or_left_alone() {
    let text = "init{ byte x ;\nx=1;\n  do\n:: x<3->x ++ :: else->break od }\n";
    let mut editor = Editor::start();
    editor.open(URI, text);
    let options = json!({ "tabSize": 2, "insertSpaces": true });
    let asked = json!({ "textDocument": { "uri": URI }, "options": options });
    let edits = editor.ask("textDocument/formatting", asked.clone());
    let after = apply(text, &edits);
    assert_eq!(after, "init {\n  byte x;\n  x = 1;\n  do\n  :: x < 3 -> x++\n  :: else -> break\n  od\n}\n");
    editor.change(URI, 2, json!([{ "text": after }]));
    assert_eq!(editor.ask("textDocument/formatting", asked.clone()), json!([]));
    editor.change(URI, 3, json!([{ "text": "init { \"never closed }" }]));
    assert!(editor.refused("textDocument/formatting", asked).contains("not a token"));
}

#[test]
fn lints_are_shown_with_their_names_and_fixes() {
    let text = "byte idle;\nbyte x;\nactive proctype P() {\n    if\n    :: x = 1 -> skip\n    :: else -> skip\n    fi\n}\n";
    let mut editor = Editor::start();
    editor.open(URI, text);
    let found = editor.diagnostics(URI, 1);
    let codes: Vec<&Value> = found.iter().map(|d| &d["code"]).collect();
    assert_eq!(codes, ["unused-variable", "assignment-as-guard"]);
    assert_eq!((&found[0]["severity"], &found[0]["tags"]), (&json!(3), &json!([1])));
    assert_eq!(found[1]["severity"], 2);
    let asked = json!({ "textDocument": { "uri": URI }, "range": found[1]["range"], "context": { "diagnostics": [] } });
    let actions = editor.ask("textDocument/codeAction", asked);
    let after = apply(text, &actions[0]["edit"]["changes"][URI]);
    assert!(after.contains(":: x == 1 -> skip"), "{after}");
}

#[test]
fn every_prefix_of_a_text_can_be_typed_and_asked_about() {
    let mut editor = Editor::start();
    editor.open(URI, "");
    let mut version = 1;
    for end in (0..=TEXT.len()).filter(|&end| TEXT.is_char_boundary(end)).step_by(3) {
        version += 1;
        editor.change(URI, version, json!([{ "text": &TEXT[..end] }]));
        let here = json!({ "textDocument": { "uri": URI }, "position": position(TEXT, end) });
        editor.ask("textDocument/completion", here.clone());
        editor.ask("textDocument/hover", here);
        editor.ask("textDocument/documentSymbol", json!({ "textDocument": { "uri": URI } }));
        editor.ask("textDocument/codeLens", json!({ "textDocument": { "uri": URI } }));
    }
}

#[test]
fn typing_by_ranges_gives_the_text_that_was_typed() {
    let mut editor = Editor::start();
    editor.open(URI, "/* 𝒳 */ byte x;\ninit { x = 1 }\n");
    let range = |line: u32, from: u32, to: u32| json!({ "start": { "line": line, "character": from }, "end": { "line": line, "character": to } });
    // Behind a character of two units; then both at once.
    editor.change(
        URI,
        2,
        json!([{ "range": range(0, 14, 15), "text": "y" }, { "range": range(1, 7, 8), "text": "y" }]),
    );
    assert_eq!(editor.diagnostics(URI, 2), Vec::<Value>::new());
    editor.change(URI, 3, json!([{ "range": range(1, 7, 8), "text": "z" }]));
    let found = editor.diagnostics(URI, 3);
    assert_eq!(found[0]["range"], range(1, 7, 8));
}

#[test]
fn what_the_server_does_not_know_is_answered_too() {
    let mut editor = Editor::start();
    editor.open(URI, TEXT);
    let here = json!({ "textDocument": { "uri": URI } });
    assert!(editor.refused("textDocument/foldingRange", here).contains("not something this server does"));
    let elsewhere = json!({ "textDocument": { "uri": "file:///other.pml" } });
    assert!(editor.refused("textDocument/codeLens", elsewhere).contains("not open"));
    assert!(
        editor
            .refused(
                "workspace/executeCommand",
                json!({ "command": "volee.fly", "arguments": [{ "uri": URI }] })
            )
            .contains("no command")
    );
}
