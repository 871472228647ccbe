//! Formulas and equations on the command line: what is said, what is written, how mistakes are shown.

use serde_json::Value;

use crate::sandbox::{Answered, Sandbox};

const DOOR: &str = "des (0, 6, 4)\n(0, \"open\", 1)\n(1, \"close\", 0)\n(1, \"i\", 2)\n(2, \"break\", 3)\n\
                    (2, \"close\", 0)\n(3, \"i\", 3)\n";

const MUTEX: &str = "vars idle wait crit lock\nrules\nidle >= 1 -> idle' = idle - 1, wait' = wait + 1;\n\
                     wait >= 1, lock >= 1 -> wait' = wait - 1, lock' = lock - 1, crit' = crit + 1;\n\
                     crit >= 1 -> crit' = crit - 1, lock' = lock + 1, idle' = idle + 1;\n\
                     init idle = 2, wait = 0, crit = 0, lock = 1\n";

fn ask(sandbox: &Sandbox, model: &str, formula: &str, more: &[&str]) -> Answered {
    let mut call = vec!["check", model, "--mu", formula];
    call.extend(more);
    sandbox.volee_with(&call, "")
}

#[test]
fn the_value_of_a_variable_is_said_plainly() {
    let sandbox = Sandbox::new();
    sandbox.write("yes.bes", "block nu is x = y\n y = x end block\n");
    sandbox.write("no.bes", "block mu is x = y\n y = x end block\n");
    for (file, said, verdict, code) in
        [("yes.bes", "x is true", "holds", 0), ("no.bes", "x is false", "violated", 1)]
    {
        let told = sandbox.volee(&format!("solve {file}"));
        assert_eq!((told.stdout.lines().next(), told.code), (Some(said), code), "{}", told.stderr);
        let told = sandbox.volee(&format!("solve {file} --format json"));
        let answer: Value = serde_json::from_str(&told.stdout).expect("one object");
        assert_eq!((&answer["verdict"], told.code), (&verdict.into(), code));
        assert_eq!(answer["statistics"]["value"], Value::Bool(code == 0));
    }
    for (file, who) in [("yes", "even"), ("no", "odd")] {
        sandbox.volee(&format!("solve {file}.bes -o {file}.gm"));
        let told = sandbox.volee(&format!("solve {file}.gm"));
        let said = format!("the {who} player wins from vertex 0");
        assert_eq!(told.stdout.lines().next(), Some(said.as_str()), "{}", told.stderr);
    }
}

#[test]
fn a_formula_about_what_never_happens_says_so() {
    let sandbox = Sandbox::new();
    sandbox.write("m.pml", "byte x; active proctype P() { x = 1; x = 2 }\n").write("door.aut", DOOR);
    for model in ["m.pml", "door.aut"] {
        let told = ask(&sandbox, model, r#"[true* . ("nope" or /no.*/)] false"#, &["--format", "json"]);
        let answer: Value = serde_json::from_str(&told.stdout).expect("one object");
        assert_eq!((told.code, &answer["silent"]), (0, &serde_json::json!(["\"nope\"", "/no.*/"])));
        let told = ask(&sandbox, model, r#"[true* . "nope"] false"#, &[]);
        assert!(told.stderr.contains("nothing that was explored is `\"nope\"`"), "{}", told.stderr);
    }
    let told = ask(&sandbox, "door.aut", r#"<"open"> true or <true* . "break"> true"#, &["--format", "json"]);
    let answer: Value = serde_json::from_str(&told.stdout).expect("one object");
    assert_eq!(answer["silent"], serde_json::json!([]), "both happen, though the answer needs one of them");
}

#[test]
fn mistakes_are_shown_in_the_formula() {
    let sandbox = Sandbox::new();
    sandbox.write("door.aut", DOOR);
    sandbox.write("f.mu", "[true* .\n  \"brek] false");
    for (formula, expected) in [
        ("nu X . not X", &["odd number of negations", "nu X . not X", "·            ─"][..]),
        ("mu X . (<\"a\"> Y or Z)", &["`Y` is not bound", "`Z` is not bound", "·               ─"]),
        ("respons(\"a\", \"b\")", &["no macro called `respons`", "did you mean `response`?", "───────"]),
        ("AG (x < 3)", &["`3` means nothing", "in braces, as in AG {x < 3}"]),
        ("AG {x < 3}", &["this system has no state predicates", "AG {x < 3}"]),
        ("</op(/> true", &["is not a regular expression"]),
        ("[true*", &["expected `]`"]),
        ("\"open\"", &["is not a formula", "<\"open\"> true"]),
        ("", &["expected a formula"]),
        ("@f.mu", &["f.mu:2:3", "never closed"]),
    ] {
        let told = ask(&sandbox, "door.aut", formula, &[]);
        assert_eq!(told.code, 2, "{formula}: {}", told.stdout);
        for part in expected {
            assert!(told.stderr.contains(part), "{formula}: no {part:?} in\n{}", told.stderr);
        }
    }
}

#[test]
fn evidence_on_any_model_shows_what_the_model_shows() {
    let sandbox = Sandbox::new();
    sandbox.write("door.aut", DOOR).write("mutex.spec", MUTEX);
    sandbox.write("count.pml", "byte x; active proctype P() { do :: x < 3 -> x++ :: x == 3 -> x = 0 od }\n");
    for (model, formula, code) in [
        ("door.aut", "never(\"break\")", 1),
        ("door.aut", "AG EF <\"open\"> true", 1),
        ("door.aut", "can_do(\"break\")", 0),
        ("mutex.spec", "never(\"rule 3\")", 1),
        ("mutex.spec", "no_deadlock()", 0),
        ("count.pml", "[true* . /.*x = 0.*/] false", 1),
        ("count.pml", "no_deadlock()", 0),
        ("count.pml", "nu X . <true> X", 0),
    ] {
        for file in ["why.aut", "why.dot"] {
            let told = ask(&sandbox, model, formula, &["--diagnostic", file]);
            assert_eq!(told.code, code, "{model} {formula}: {}{}", told.stdout, told.stderr);
            assert!(told.stdout.contains("why:\n  in the initial state `"), "{}", told.stdout);
            assert!(told.stdout.contains(&format!("diagnostic written to {file}")), "{}", told.stdout);
        }
        assert!(sandbox.read("why.dot").starts_with("digraph"));
        let again = ask(&sandbox, "why.aut", formula, &[]);
        assert_eq!(again.code, code, "{model} {formula}: {}\n{}", again.stdout, sandbox.read("why.aut"));
    }
}

#[test]
fn conditions_are_about_the_variables_of_programs_and_the_counters_of_nets() {
    let sandbox = Sandbox::new();
    sandbox.write("mutex.spec", MUTEX);
    sandbox.write("count.pml", "byte x; active proctype P() { do :: x < 3 -> x++ od }\n");
    for (model, formula, code, words) in [
        ("mutex.spec", "AG {crit < 2}", 0, ""),
        ("mutex.spec", "AG {wait < 2}", 1, "the values of the variables there decide it"),
        ("mutex.spec", "EF {wait >= 2, lock = 1}", 0, "the values of the variables there decide it"),
        ("mutex.spec", "AG {wait < 0}", 2, ""),
        ("count.pml", "AG {x < 4}", 0, ""),
        ("count.pml", "EF ({x == 3} and deadlock)", 0, ""),
        ("count.pml", "AG {y < 4}", 2, ""),
    ] {
        let told = ask(&sandbox, model, formula, &[]);
        assert_eq!(told.code, code, "{model} {formula}: {}{}", told.stdout, told.stderr);
        assert!(told.stdout.contains(words), "{}", told.stdout);
    }
}

#[test]
fn what_decides_on_the_spot_is_said() {
    let sandbox = Sandbox::new();
    sandbox.write("door.aut", DOOR);
    for (formula, words) in [
        ("<\"break\"> true", "is false: the only step that is possible there is `open`"),
        (
            "[\"open\"] <\"open\"> true",
            "is false: the only steps that are possible there are `close` and `i`",
        ),
        ("<\"open\"> true", "is true: the step `open` is possible there"),
        ("<\"break\"> true", "1 variable over 1 state, 0 edges"),
    ] {
        let told = ask(&sandbox, "door.aut", formula, &[]);
        assert!(told.stdout.contains(words), "{formula}: {}", told.stdout);
    }
}

#[test]
fn libraries_of_macros_are_read_and_their_mistakes_shown() {
    let sandbox = Sandbox::new();
    sandbox.write("door.aut", DOOR);
    sandbox.write("good.mcl", "macro twice(A) = <A . true* . A> true end_macro\n");
    sandbox.write("bad.mcl", "macro twice(A) = <A> true end_macro\nmacro once(A = true end_macro\n");
    assert_eq!(ask(&sandbox, "door.aut", "twice(\"open\")", &["--macros", "good.mcl"]).code, 0);
    let few = ask(&sandbox, "door.aut", "twice()", &["--macros", "good.mcl"]);
    assert!(few.code == 2 && few.stderr.contains("`twice` takes 1 argument"), "{}", few.stderr);
    let bad = ask(&sandbox, "door.aut", "true", &["--macros", "bad.mcl"]);
    assert!(bad.code == 2 && bad.stderr.contains("bad.mcl:2:"), "{}", bad.stderr);
}
