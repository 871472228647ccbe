//! Remembered steps are the steps that the interpreter makes: on random programs and on the corpus, state by
//! state.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use volee_program::MachineOptions;
use volee_promela::{Options, lower, parse};
use volee_search::audit_remembered_steps;
use volee_testkit::promela::{Audience, program};

/// Random programs; `VOLEE_PROGRAMS` asks for more.
fn count() -> u64 {
    std::env::var("VOLEE_PROGRAMS").ok().and_then(|text| text.parse().ok()).unwrap_or(600)
}

/// Compares a program, as it is and optimised; how many states came from memory, and how many persistent
/// sets.
fn compare(name: &str, text: &str, most: usize) -> (u64, u64) {
    let (mut recalled, mut sets) = (0, 0);
    for plain in [true, false] {
        let (model, _) = parse(name, text, &Options::default());
        let Some(lowered) = model.and_then(|model| lower(Arc::new(model)).ok()) else { return (0, 0) };
        let mut machine = lowered.machine(MachineOptions { plain, ..MachineOptions::default() });
        match audit_remembered_steps(&mut machine, most) {
            Ok(audit) => (recalled, sets) = (recalled + audit.recalled, sets + audit.sets),
            Err(difference) => panic!("{name}, plain: {plain}: {difference}\n{text}"),
        }
    }
    (recalled, sets)
}

#[test]
fn random_programs_do_from_memory_what_they_do() {
    let text = |seed| program(seed, Audience::Ourselves).to_string();
    let compared = (0..count()).map(|seed| compare(&format!("seed {seed}"), &text(seed), 60));
    let (recalled, sets) = compared.fold((0, 0), |sum, more| (sum.0 + more.0, sum.1 + more.1));
    assert!(recalled > count() * 5, "{recalled} states came from memory");
    assert!(sets > count(), "{sets} persistent sets came from memory");
}

fn models(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            models(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "pml") {
            found.push(path);
        }
    }
}

#[test]
fn the_models_of_the_corpus_do_from_memory_what_they_do() {
    let Some(corpus) = volee_testkit::corpus::corpus("promela") else { return };
    let mut found = Vec::new();
    models(&corpus, &mut found);
    found.sort();
    let mut recalled = 0;
    for path in &found {
        let bytes = std::fs::read(path).expect("it was found");
        recalled += compare(&path.display().to_string(), &String::from_utf8_lossy(&bytes), 150).0;
    }
    assert!(recalled > 5_000, "{recalled} of {} models' states came from memory", found.len());
}
