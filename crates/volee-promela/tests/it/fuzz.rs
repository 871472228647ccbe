//! Mutated models: whatever the text, the front end answers, with a model or with an error that has a place.
//!
//! The generator is seeded, so a failure can be repeated; the number of cases keeps the test at a few
//! seconds. `VOLEE_FUZZ_CASES` asks for more.

use std::panic::catch_unwind;
use std::sync::Arc;

use volee_promela::format::{Style, format};
use volee_promela::{Model, Options, lower, parse, parse_predicate, study};
use volee_system::{Random, Severity};

const SPICE: &[&str] = &[
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ";",
    "->",
    "::",
    ":",
    "@",
    "!",
    "!!",
    "?",
    "??",
    "?[",
    "<",
    ">",
    "..",
    ",",
    ".",
    "++",
    "if",
    "fi",
    "do",
    "od",
    "else",
    "atomic",
    "d_step",
    "unless",
    "for",
    "select",
    "in",
    "inline",
    "proctype",
    "active",
    "init",
    "never",
    "ltl",
    "mtype",
    "typedef",
    "chan",
    "byte",
    "int",
    "unsigned",
    "hidden",
    "of",
    "run",
    "goto",
    "break",
    "timeout",
    "_pid",
    "_",
    "_last",
    "np_",
    "STDIN",
    "eval",
    "len",
    "printf",
    "assert",
    "return",
    "priority",
    "provided",
    "xr",
    "trace",
    "\"",
    "'",
    "'a'",
    "/*",
    "*/",
    "//",
    "\n",
    "\n#define x",
    "\n#if",
    "\n#endif",
    "\n#include \"x\"",
    "#",
    "##",
    "\\\n",
    "0",
    "1",
    "4294967296",
    "99999999999999999999",
    "x",
    "é",
    "\0",
    "c_code {",
    "[]",
    "<>",
    "U",
    "X",
    "P[0]@l",
    "P:x",
];

fn seeds() -> Vec<String> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models");
    let read = |path| std::fs::read_to_string(path).expect("a model of the project");
    crate::corpus::models(root.as_ref()).into_iter().filter(|p| !p.ends_with("2pc_9.pml")).map(read).collect()
}

/// Pieces that are words, numbers, or single other characters.
fn pieces(text: &str) -> Vec<String> {
    let mut pieces: Vec<String> = Vec::new();
    let mut in_word = false;
    for c in text.chars() {
        let word = c.is_ascii_alphanumeric() || c == '_';
        match pieces.last_mut() {
            Some(last) if word && in_word => last.push(c),
            _ => pieces.push(c.to_string()),
        }
        in_word = word;
    }
    pieces
}

/// A few changes on the level of tokens.
fn shuffle(random: &mut Random, text: &str, other: &str) -> String {
    let (mut pieces, donors) = (pieces(text), pieces(other));
    for _ in 0..1 + random.below(6) {
        let at = random.below(pieces.len());
        match random.below(5) {
            0 if !pieces.is_empty() => drop(pieces.remove(at)),
            1 => pieces.insert(at, format!(" {} ", random.pick(SPICE))),
            2 if !pieces.is_empty() => pieces[at] = donors[random.below(donors.len())].clone(),
            3 if !pieces.is_empty() => {
                let copy = pieces[at..(at + 1 + random.below(20)).min(pieces.len())].to_vec();
                pieces.splice(at..at, copy);
            }
            _ if !pieces.is_empty() => {
                let with = random.below(pieces.len());
                pieces.swap(at, with);
            }
            _ => {}
        }
    }
    pieces.concat()
}

/// A few changes on the level of bytes.
fn corrupt(random: &mut Random, text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..1 + random.below(8) {
        let at = random.below(bytes.len());
        match random.below(4) {
            0 if !bytes.is_empty() => drop(bytes.remove(at)),
            1 => bytes.insert(at, random.number() as u8),
            2 if !bytes.is_empty() => bytes[at] = random.number() as u8,
            _ => bytes.truncate(at.max(1)),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn answer(text: &str) -> Option<Model> {
    let result = catch_unwind(|| parse("m", text, &Options::default()));
    let Ok((model, diagnostics)) = result else { panic!("the front end panics on:\n{text}") };
    let errors: Vec<_> = diagnostics.iter().filter(|d| d.severity == Severity::Error).collect();
    assert_eq!(model.is_none(), !errors.is_empty(), "a model or errors, not both, for:\n{text}");
    assert!(errors.iter().all(|d| d.place.is_some()), "errors have places, also for:\n{text}");
    model
}

fn cases() -> usize {
    std::env::var("VOLEE_FUZZ_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(6000)
}

#[test]
fn mutated_models_are_answered() {
    let seeds = seeds();
    let mut random = Random::new(0x9e37_79b9_7f4a_7c15);
    let mut accepted = 0;
    for case in 0..cases() {
        let text = &seeds[random.below(seeds.len())];
        let other = &seeds[random.below(seeds.len())];
        let mutant =
            if case % 3 == 0 { corrupt(&mut random, text) } else { shuffle(&mut random, text, other) };
        if let Some(model) = answer(&mutant) {
            accepted += 1;
            let lowered = catch_unwind(|| lower(Arc::new(model)).is_ok());
            assert!(lowered.is_ok(), "lowering panics on:\n{mutant}");
        }
    }
    // If nothing passed, the mutations would only ever test the first error.
    assert!(accepted > cases() / 100, "only {accepted} mutants are models");
}

#[test]
fn random_bytes_are_answered() {
    let mut random = Random::new(7);
    for _ in 0..cases() / 3 {
        let bytes: Vec<u8> = (0..random.below(300)).map(|_| random.number() as u8).collect();
        answer(&String::from_utf8_lossy(&bytes));
        let words: Vec<&str> = (0..random.below(60)).map(|_| *random.pick(SPICE)).collect();
        answer(&words.join(" "));
    }
}

#[test]
fn random_predicates_are_answered() {
    let model = crate::model("byte x; mtype = {a, b}; active proctype P() { byte v; cs: v++ }");
    let mut random = Random::new(11);
    let words =
        ["x", "a", "P", "[0]", "@cs", ":v", "&&", "==", "(", ")", "!", "1", "run", "_", "y", "#", "->", ":"];
    let mut accepted = 0;
    for _ in 0..cases() {
        let text: Vec<&str> = (0..1 + random.below(8)).map(|_| *random.pick(&words)).collect();
        let text = text.join("");
        match catch_unwind(|| parse_predicate(&model, &text)) {
            Ok(Ok(_)) => accepted += 1,
            Ok(Err(all)) => assert!(all.iter().any(|d| d.place.is_some()), "{text}"),
            Err(_) => panic!("the front end panics on the predicate {text}"),
        }
    }
    assert!(accepted > 0);
}

#[test]
fn any_text_has_an_index_and_is_laid_out_as_it_is_or_left_alone() {
    let seeds = seeds();
    let mut random = Random::new(0x1234_5678_9abc_def1);
    for number in 0..cases() / 3 {
        let seed = &seeds[random.below(seeds.len())];
        let other = &seeds[random.below(seeds.len())];
        let text =
            if number % 4 == 3 { corrupt(&mut random, seed) } else { shuffle(&mut random, seed, other) };
        let studied = catch_unwind(|| study("m", &text, &Options::default()));
        let Ok(studied) = studied else { panic!("the index panics on:\n{text}") };
        let index = &studied.index;
        for occurrence in &index.occurrences {
            let file = &index.files[occurrence.span.file as usize].text;
            let found = file.get(occurrence.span.start as usize..occurrence.span.end as usize);
            let name = &index.symbol(occurrence.symbol).name;
            assert!(!occurrence.is_spelled || found.is_some(), "{name} is nowhere in:\n{text}");
        }
        let laid_out = catch_unwind(|| format("m", &text, Style::default()));
        let Ok(laid_out) = laid_out else { panic!("the formatter panics on:\n{text}") };
        let Ok(after) = laid_out else { continue };
        assert_eq!(
            format("m", &after, Style::default()).as_ref(),
            Ok(&after),
            "not stable:\n{text}\nbecame\n{after}"
        );
        let (before, now) = (parse("m", &text, &Options::default()), parse("m", &after, &Options::default()));
        assert_eq!(before.0.is_some(), now.0.is_some(), "{text}\nbecame\n{after}");
    }
}
