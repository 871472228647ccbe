//! Names across macros, inlines and files: definitions, references, renaming and what stands in its way.

use serde_json::{Value, json};

use crate::editor::{Editor, apply, position};

const URI: &str = "file:///models/names.pml";

fn opened(text: &str) -> Editor {
    let mut editor = Editor::start();
    editor.open(URI, text);
    editor.diagnostics(URI, 1);
    editor
}

/// The texts that the ranges of locations stand on.
fn lines_of(found: &Value) -> Vec<(u64, u64)> {
    let all = found.as_array().expect("locations").iter().map(|l| &l["range"]["start"]);
    let mut all: Vec<(u64, u64)> = all
        .map(|p| (p["line"].as_u64().expect("a line"), p["character"].as_u64().expect("a column")))
        .collect();
    all.sort_unstable();
    all
}

fn rename(editor: &mut Editor, text: &str, needle: &str, name: &str) -> String {
    let mut asked = Editor::at(URI, text, needle);
    asked["newName"] = json!(name);
    let edit = editor.ask("textDocument/rename", asked);
    apply(text, &edit["changes"][URI])
}

fn refused(editor: &mut Editor, text: &str, needle: &str, name: &str) -> String {
    let mut asked = Editor::at(URI, text, needle);
    asked["newName"] = json!(name);
    editor.refused("textDocument/rename", asked)
}

#[test]
fn a_name_in_a_macro_or_an_inline_is_found_where_it_is_written() {
    let text = "\
byte count;
#define FULL (count == 3)
inline add(n) { count = count + n }
init { byte k; k = 1; add(k); FULL }
";
    let mut editor = opened(text);
    let mut asked = Editor::at(URI, text, "count;");
    asked["context"] = json!({ "includeDeclaration": true });
    let found = editor.ask("textDocument/references", asked);
    assert_eq!(lines_of(&found), [(0, 5), (1, 14), (2, 16), (2, 24)]);
    // The argument is found in the call, the parameter in the body.
    let mut asked = Editor::at(URI, text, "k; k");
    asked["context"] = json!({ "includeDeclaration": false });
    let found = editor.ask("textDocument/references", asked);
    assert_eq!(lines_of(&found), [(3, 15), (3, 26)]);
    let found = editor.ask("textDocument/definition", Editor::at(URI, text, "FULL }"));
    assert_eq!(lines_of(&found), [(1, 8)]);
    let found = editor.ask("textDocument/definition", Editor::at(URI, text, "add(k)"));
    assert_eq!(lines_of(&found), [(2, 7)]);

    let after = rename(&mut editor, text, "count;", "n_total");
    assert_eq!(after.matches("n_total").count(), 4, "{after}");
    let after = rename(&mut editor, text, "n) {", "amount");
    assert!(after.contains("inline add(amount) { count = count + amount }"), "{after}");
    let after = rename(&mut editor, text, "add(n)", "increase");
    assert!(after.contains("inline increase(n)") && after.contains("increase(k)"), "{after}");
}

#[test]
fn renaming_what_would_mean_something_else_is_refused() {
    let text = "byte a, b;\nproctype P() { byte c; a = c; b = a }\ninit { run P() }\n";
    let mut editor = opened(text);
    for (needle, name, why) in [
        ("a,", "b", "already declared"),
        ("a,", "c", "mean something else"),
        ("a,", "do", "is a word of the language"),
        ("a,", "3x", "is not a name"),
        ("c;", "a", "mean something else"),
    ] {
        let message = refused(&mut editor, text, needle, name);
        assert!(
            message.contains(why) || message.contains("cannot be the name"),
            "{needle} to {name}: {message}"
        );
    }
    let text = "#define JOIN(x) x ## 1\nbyte v1;\ninit { JOIN(v) = 2; v1++ }\n";
    let mut editor = opened(text);
    let message = refused(&mut editor, text, "v1;", "w");
    assert!(message.contains("put together by a macro"), "{message}");
    // A macro's body that means different variables in different processes.
    let text =
        "#define BUMP x++\nactive proctype P() { byte x; BUMP }\nactive proctype Q() { byte x; BUMP }\n";
    let mut editor = opened(text);
    let message = refused(&mut editor, text, "x; BUMP }\nactive proctype Q", "y");
    assert!(message.contains("means other things"), "{message}");
}

#[test]
fn parts_that_are_left_out_are_renamed_too() {
    let text =
        "byte mode;\n#ifdef FAST\n#define GO mode = 1\n#else\n#define GO mode = 2\n#endif\ninit { GO }\n";
    let mut editor = opened(text);
    let after = rename(&mut editor, text, "mode;", "speed");
    assert_eq!((after.matches("speed").count(), after.contains("mode")), (3, false), "{after}");
}

#[test]
fn labels_fields_values_and_proctypes_have_their_places() {
    let text = "\
mtype = { red, green };
typedef Lamp { mtype colour; byte n };
Lamp lamp;
proctype P(chan c) {
    again: lamp.colour = red;
    if :: lamp.n < 3 -> goto again :: else fi
}
init { chan c = [1] of { byte }; run P(c) }
ltl p { <> P@again }
";
    let mut editor = opened(text);
    for (needle, name, count) in [
        ("again:", "retry", 3),
        ("colour;", "shade", 2),
        ("red,", "scarlet", 2),
        ("P(chan", "Proc", 3),
        ("Lamp {", "Light", 2),
        ("c) {", "wire", 1),
        ("p { <>", "prop", 1),
    ] {
        let after = rename(&mut editor, text, needle, name);
        assert_eq!(after.matches(name).count(), count, "{needle}\n{after}");
    }
    let outline = editor.ask("textDocument/documentSymbol", json!({ "textDocument": { "uri": URI } }));
    let names: Vec<&str> =
        outline.as_array().expect("symbols").iter().map(|s| s["name"].as_str().expect("a name")).collect();
    assert_eq!(names, ["red", "green", "Lamp", "lamp", "P", "init", "p"]);
    let inside: Vec<&str> = outline[4]["children"]
        .as_array()
        .expect("symbols")
        .iter()
        .map(|s| s["name"].as_str().expect("a name"))
        .collect();
    assert_eq!(inside, ["c", "again"]);
    assert_eq!(outline[4]["range"]["end"], position(text, text.find("\ninit").expect("it is there")));
}

#[test]
fn included_files_are_one_model_with_the_texts_that_are_open() {
    let folder = tempfile::tempdir().expect("a folder");
    let (main, part) = (folder.path().join("main.pml"), folder.path().join("part.h"));
    let (main_text, part_text) = (
        "#include \"part.h\"\ninit { shared = 1; twice(shared) }\n",
        "byte shared;\ninline twice(x) { x = x * 2 }\n",
    );
    std::fs::write(&main, main_text).expect("written");
    std::fs::write(&part, part_text).expect("written");
    let uri = |path: &std::path::Path| format!("file://{}", path.display());
    let (main_uri, part_uri) = (uri(&main), uri(&part));
    let mut editor = Editor::start();
    // The part alone is understood as a part of the model beside it.
    editor.open(&part_uri, part_text);
    assert_eq!(editor.diagnostics(&part_uri, 1), Vec::<Value>::new());
    let hover = editor.ask("textDocument/hover", Editor::at(&part_uri, part_text, "shared;"));
    assert!(hover["contents"]["value"].as_str().is_some_and(|t| t.contains("written by `init`")), "{hover}");
    // A change that is not saved yet counts for the other file.
    editor.open(&main_uri, main_text);
    assert_eq!(editor.diagnostics(&main_uri, 1), Vec::<Value>::new());
    let part_text = part_text.replace("shared", "common");
    editor.heard.clear();
    editor.change(&part_uri, 2, json!([{ "text": part_text }]));
    let found = editor.diagnostics(&main_uri, 1);
    assert!(
        found.iter().any(|d| d["message"].as_str().is_some_and(|m| m.contains("`shared` is not declared"))),
        "{found:?}"
    );
    editor.change(&part_uri, 3, json!([{ "text": part_text.replace("common", "shared") }]));
    editor.diagnostics(&part_uri, 3);
    let mut asked = Editor::at(&main_uri, main_text, "shared =");
    asked["newName"] = json!("joint");
    let edit = editor.ask("textDocument/rename", asked);
    let changed: Vec<&String> = edit["changes"].as_object().expect("changes").keys().collect();
    assert_eq!(changed.len(), 2, "{edit}");
}
