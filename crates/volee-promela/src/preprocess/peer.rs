//! The preprocessor compared with gcc's, where that is present: on the models, and on thousands of random
//! macros.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use volee_system::Random;

use super::preprocess;
use crate::Options;
use crate::intern::Interner;
use crate::source::Sources;
use crate::token::{Tok, tokenize};

/// The spellings that we make of a text; none if there are errors.
fn ours(file: &str, text: &str) -> Option<Vec<Arc<str>>> {
    let (mut sources, mut interner) = (Sources::new(), Interner::new());
    let read = preprocess(file, text, &Options::default(), &[], &mut sources, &mut interner);
    let spelled = read.tokens.iter().filter(|t| t.tok != Tok::Eof).map(|t| interner.shared(t.sym)).collect();
    (!sources.has_errors()).then_some(spelled)
}

/// The spellings that gcc makes of a file; none if it is not here.
fn gccs(path: &Path) -> Option<Vec<Arc<str>>> {
    let output = Command::new("gcc").args(["-E", "-P", "-undef", "-w", "-x", "c"]).arg(path).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut interner = Interner::new();
    Some(tokenize(0, &text, &mut interner).iter().map(|t| interner.shared(t.sym)).collect())
}

#[test]
fn models_are_preprocessed_as_by_gcc() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let directories = [root.join("../../models"), root.join("../../../shared/corpus/promela")];
    let mut compared = 0;
    for directory in directories {
        for path in models(&directory).into_iter().step_by(3) {
            let Some(expected) = gccs(&path) else {
                volee_testkit::corpus::skip("`gcc` is not installed");
                return;
            };
            let text = super::read_source(&path).expect("a model");
            assert_eq!(ours(&path.display().to_string(), &text), Some(expected), "{}", path.display());
            compared += 1;
        }
    }
    assert!(compared > 10);
}

fn models(directory: &Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten().map(|e| e.path());
    let mut found = Vec::new();
    for path in entries {
        if path.is_dir() {
            found.extend(models(&path));
        } else if path.extension().is_some_and(|e| e == "pml") {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn words(random: &mut Random, from: &[&str], most: usize) -> String {
    let words: Vec<&str> = (0..random.below(most + 1)).map(|_| *random.pick(from)).collect();
    words.join(" ")
}

/// Definitions of the macros A, B, C, f(x), g(x, y), and a text that uses them.
fn case(random: &mut Random) -> (String, String) {
    let atoms = ["A", "B", "C", "f(A)", "f(B C)", "g(A,B)", "g(f(1),C)", "f", "g", "(", ")", "1", "z", "+"];
    let mut with_parameters = atoms.to_vec();
    with_parameters.extend(["x", "x", "f(x)", "g(x,x)", "#x", "x ## 1", "z ## x", "x ## x"]);
    let mut with_both = with_parameters.clone();
    with_both.extend(["y", "x ## y", "g(y,x)", "#y", "f(y)"]);
    let text = format!(
        "#define A {}\n#define B {}\n#define C {}\n#define f(x) {}\n#define g(x, y) {}\n",
        words(random, &atoms, 3),
        words(random, &atoms, 3),
        words(random, &atoms, 3),
        words(random, &with_parameters, 4),
        words(random, &with_both, 5),
    );
    let arguments = words(random, &atoms, 3).replace([',', '(', ')'], " ");
    let use_of = format!("{} f({arguments}) g({arguments}, C) f(f(A)) {}", words(random, &atoms, 4), "f (2)");
    (text, use_of)
}

#[test]
fn random_macros_are_expanded_as_by_gcc() {
    let mut random = Random::new(0x2545_f491_4f6c_dd1d);
    let mut cases = Vec::new();
    let mut text = String::new();
    while cases.len() < 1500 {
        let (definitions, body) = case(&mut random);
        let whole = format!("{definitions}{body}\n");
        // Calls that never close would swallow the next case, so only what we read without complaint is
        // compared.
        let Some(expected) = ours("m", &whole) else { continue };
        text += &format!("{whole};MARK;\n#undef A\n#undef B\n#undef C\n#undef f\n#undef g\n");
        cases.push((whole, expected));
    }
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), text).expect("a file");
    let Some(all) = gccs(file.path()) else {
        volee_testkit::corpus::skip("`gcc` is not installed");
        return;
    };
    let spelled = all.join(" ");
    for ((whole, ours), theirs) in cases.iter().zip(spelled.split("; MARK ;")) {
        assert_eq!(ours.join(" "), theirs.trim(), "for\n{whole}");
    }
}
