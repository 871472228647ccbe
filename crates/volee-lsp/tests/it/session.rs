//! One session from opening to exploring: a model with a mistake, its repair, a look around, a new name, a
//! check that finds a deadlock, another that holds.

use serde_json::{Value, json};

use crate::editor::{Editor, Kind as _, apply, position};

const URI: &str = "file:///models/m%C3%BCtex.pml";

const TEXT: &str = "\
/* 𝒳: two processes and a lock */
byte lock;
byte inside;

active [2] proctype P() {
    atomic { lock == 0 -> lock := 1 };
    inside++;
    inside--;
    lock = 0
}

ltl safe { [] (inside < 2) }
";

#[test]
fn open_error_fix_hover_rename_check_explore() {
    let mut editor = Editor::start();
    editor.open(URI, TEXT);
    let found = editor.diagnostics(URI, 1);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0]["severity"], 1);
    assert!(found[0]["message"].as_str().is_some_and(|m| m.contains("Promela has no `:=`")));
    assert_eq!(found[0]["range"]["start"], position(TEXT, TEXT.find(":=").expect("it is there")));

    // The fix that comes with it.
    let context = json!({ "diagnostics": [] });
    let asked = json!({ "textDocument": { "uri": URI }, "range": found[0]["range"], "context": context });
    let actions = editor.ask("textDocument/codeAction", asked);
    assert_eq!(actions[0]["title"], "write `=`");
    let edits = &actions[0]["edit"]["changes"][URI];
    let text = apply(TEXT, edits);
    let change = json!([{ "range": edits[0]["range"], "text": edits[0]["newText"] }]);
    editor.change(URI, 2, change);
    assert_eq!(editor.diagnostics(URI, 2), Vec::<Value>::new());

    let hover = editor.ask("textDocument/hover", Editor::at(URI, &text, "inside;"));
    let told = hover["contents"]["value"].as_str().expect("a text");
    for part in ["byte inside", "takes the values 0", "written by `P` (2 times)", "ltl `safe`"] {
        assert!(told.contains(part), "{part} is not in\n{told}");
    }

    let mut asked = Editor::at(URI, &text, "inside++");
    asked["newName"] = json!("within");
    let edit = editor.ask("textDocument/rename", asked);
    let text = apply(&text, &edit["changes"][URI]);
    assert_eq!((text.matches("within").count(), text.contains("inside")), (4, false), "{text}");
    editor.change(URI, 3, json!([{ "text": text }]));
    assert_eq!(editor.diagnostics(URI, 3), Vec::<Value>::new());

    // What the lenses offer is what the commands take.
    let lenses = editor.ask("textDocument/codeLens", json!({ "textDocument": { "uri": URI } }));
    let titles: Vec<&str> = lenses
        .as_array()
        .expect("lenses")
        .iter()
        .map(|l| l["command"]["title"].as_str().expect("a title"))
        .collect();
    assert_eq!(titles, ["check deadlocks and assertions", "explore", "check safe", "explore"]);
    let run = |lens: &Value| json!({ "command": lens["command"]["command"], "arguments": lens["command"]["arguments"] });
    let answer = editor.ask("workspace/executeCommand", run(&lenses[2]));
    assert_eq!(answer["results"][0]["question"], "ltl safe");
    assert_eq!(answer["results"][0]["verdict"], "holds", "{answer}");
    let answer = editor.ask("workspace/executeCommand", run(&lenses[0]));
    assert!(
        answer["results"].as_array().is_some_and(|all| all.iter().all(|r| r["verdict"] == "holds")),
        "{answer}"
    );
    assert!(answer["states"].as_u64().is_some_and(|n| n > 5));

    let answer = editor.ask("workspace/executeCommand", run(&lenses[3]));
    assert_eq!(answer["command"], json!(["volee", "explore", "/models/mütex.pml", "--property", "safe"]));
}

#[test]
fn a_check_that_finds_something_shows_where_and_what_is_never_executed() {
    let text = "byte x;\nactive proctype P() {\n    x = 1;\n    assert(x == 2)\n}\n";
    let mut editor = Editor::start();
    editor.open(URI, text);
    assert_eq!(editor.diagnostics(URI, 1), Vec::<Value>::new());
    let check = |property: Option<&str>| json!({ "command": "volee.check", "arguments": [{ "uri": URI, "property": property }] });
    let answer = editor.ask("workspace/executeCommand", check(None));
    let verdicts: Vec<&Value> =
        answer["results"].as_array().expect("results").iter().map(|r| &r["verdict"]).collect();
    assert!(verdicts.iter().any(|v| **v == "violated"), "{answer}");
    editor.heard.retain(|n| !n.params["diagnostics"].as_array().is_some_and(Vec::is_empty));
    let found = editor.diagnostics(URI, 1);
    let violated = found.iter().find(|d| d["source"] == "volee check").expect("the assertion is marked");
    assert_eq!(violated["range"]["start"]["line"], 3);
    assert!(violated["relatedInformation"].as_array().is_some_and(|steps| !steps.is_empty()));
    assert!(editor.heard.iter().any(|n| n.method == "$/progress" && n.params["value"]["kind"] == "end"));

    // Typing takes the marks away, for they are about another text.
    let text = "active proctype P() {\n    byte x;\n    if\n    :: x == 0 -> x = 1\n    :: x == 1 -> x = 2\n    fi\n}\n";
    editor.heard.clear();
    editor.change(URI, 2, json!([{ "text": text }]));
    assert!(editor.diagnostics(URI, 2).iter().all(|d| d["source"] != "volee check"));
    let answer = editor.ask("workspace/executeCommand", check(None));
    assert!(answer["unreached"].as_array().is_some_and(|all| !all.is_empty()), "{answer}");
    let range = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 9, "character": 0 } });
    let hints =
        editor.ask("textDocument/inlayHint", json!({ "textDocument": { "uri": URI }, "range": range }));
    assert_eq!(hints[0]["label"], "never executed");
    assert_eq!(hints[0]["position"]["line"], 4);
}

#[test]
fn a_property_that_fails_is_shown_with_its_run() {
    let text = "byte x;\nactive proctype P() { do :: x = 1 :: x = 0 od }\nltl up { <> [] (x == 1) }\nnever no { do :: x == 1 -> break :: true od }\n";
    let mut editor = Editor::start();
    editor.open(URI, text);
    for property in ["up", "no"] {
        let argument = json!({ "uri": URI, "property": property });
        let answer = editor
            .ask("workspace/executeCommand", json!({ "command": "volee.check", "arguments": [argument] }));
        let results = answer["results"].as_array().expect("results");
        assert!(results.iter().any(|r| r["verdict"] == "violated"), "{property}: {answer}");
    }
    let argument = json!({ "uri": URI, "property": "nothing" });
    let why = editor
        .refused("workspace/executeCommand", json!({ "command": "volee.check", "arguments": [argument] }));
    assert!(why.contains("no property `nothing`"), "{why}");
}

#[test]
fn a_long_check_is_cancelled() {
    // Every state has a successor that nobody has seen, and every variable is read: the search ends when it
    // is told to.
    let text =
        "int a, b, c;\nactive [3] proctype P() { do :: a++ :: b++ :: c = a + b * 3; assert(c != 7) od }\n";
    let mut editor = Editor::start_with(json!({ "memory": "4G", "time": "90s" }));
    editor.open(URI, text);
    editor.diagnostics(URI, 1);
    let check = json!({ "command": "volee.check", "arguments": [{ "uri": URI }] });
    let id = editor.send("workspace/executeCommand", check);
    // A cancel of what nobody asked changes nothing;
    editor.tell("$/cancelRequest", json!({ "id": 999 }));
    // meanwhile the server answers as if nothing were.
    let hover = editor.ask("textDocument/hover", Editor::at(URI, text, "a,"));
    assert!(hover["contents"]["value"].as_str().is_some_and(|t| t.contains("int a")));
    let waited = json!({ "id": serde_json::to_value(&id).expect("a number") });
    editor.tell("$/cancelRequest", waited);
    let answer = editor.answer(&id).response_kind().expect("a partial answer");
    assert_eq!(answer["results"][0]["verdict"], "unknown", "{answer}");
}
