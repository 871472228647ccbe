//! Remembered steps are the steps that the interpreter makes: on random programs and on the corpus, state by
//! state.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use volee_program::{LabelStyle, MachineOptions};
use volee_promela::{Options, lower, parse};
use volee_search::audit_remembered_steps;
use volee_testkit::promela::{Audience, program};

/// Random programs; `VOLEE_PROGRAMS` asks for more.
fn count() -> u64 {
    std::env::var("VOLEE_PROGRAMS").ok().and_then(|text| text.parse().ok()).unwrap_or(600)
}

/// What came from memory: states, those where records were in groups, the same with labels, with labels that are events, persistent sets.
#[derive(Debug, Default)]
struct Recalled {
    states: u64,
    grouped: u64,
    labelled: u64,
    events: u64,
    sets: u64,
}

/// Compares a program, as it is and optimised, with steps called by statements and by events.
fn compare(name: &str, text: &str, most: usize, all: &mut Recalled) {
    for (plain, labels) in [
        (true, LabelStyle::Statements),
        (false, LabelStyle::Statements),
        (true, LabelStyle::Events),
        (false, LabelStyle::Events),
    ] {
        let (model, _) = parse(name, text, &Options::default());
        let Some(lowered) = model.and_then(|model| lower(Arc::new(model)).ok()) else { return };
        let mut machine = lowered.machine(MachineOptions { plain, labels, ..MachineOptions::default() });
        match audit_remembered_steps(&mut machine, most) {
            Ok(audit) if labels == LabelStyle::Events => all.events += audit.labelled,
            Ok(audit) => {
                all.states += audit.recalled;
                all.grouped += audit.grouped;
                all.labelled += audit.labelled;
                all.sets += audit.sets;
            }
            Err(difference) => panic!("{name}, plain: {plain}, {labels:?}: {difference}\n{text}"),
        }
    }
}

#[test]
fn random_programs_do_from_memory_what_they_do() {
    let mut all = Recalled::default();
    for seed in 0..count() {
        let text = program(seed, Audience::Ourselves).to_string();
        compare(&format!("seed {seed}"), &text, 60, &mut all);
    }
    assert!(all.states > count() * 5 && all.labelled >= all.states && all.events > count() * 3, "{all:?}");
    assert!(all.sets > count() && all.grouped > count(), "{all:?}");
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
    let mut all = Recalled::default();
    for path in &found {
        let bytes = std::fs::read(path).expect("it was found");
        compare(&path.display().to_string(), &String::from_utf8_lossy(&bytes), 150, &mut all);
    }
    assert!(
        all.states > 5_000 && all.grouped > 5_000 && all.events > 5_000,
        "{all:?} of {} models",
        found.len()
    );
}
