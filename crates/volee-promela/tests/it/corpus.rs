//! Real models: whatever SPIN reads, we read.

use std::path::{Path, PathBuf};

use volee_promela::{Options, load};

/// Models under a directory, in a fixed order.
pub fn models(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut pending = vec![root.to_path_buf()];
    while let Some(directory) = pending.pop() {
        for entry in std::fs::read_dir(&directory).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                pending.push(path);
            } else if path.extension().is_some_and(|e| e == "pml") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn check_all(models: &[PathBuf]) {
    let mut failures = Vec::new();
    for path in models {
        let (model, diagnostics) = load(path, &Options::default());
        if model.is_none() {
            let messages: Vec<String> = diagnostics.iter().take(5).map(ToString::to_string).collect();
            failures.push(format!("{}:\n  {}", path.display(), messages.join("\n  ")));
        }
    }
    assert!(failures.is_empty(), "{} of {} models:\n{}", failures.len(), models.len(), failures.join("\n"));
}

#[test]
fn every_model_of_the_corpus_is_read() {
    let Some(root) = volee_testkit::corpus::corpus("promela") else { return };
    let models = models(&root);
    assert_eq!(models.len(), 142);
    check_all(&models);
}
