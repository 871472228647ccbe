//! What benchmarks beside SPIN begin with: our binary, the corpus, and a folder for what SPIN makes.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::temporal::CORPUS;
use xtask::bench_promela::built;

/// All that a comparison needs.
pub struct Beside {
    /// Where the project is.
    pub root: PathBuf,
    pub volee: PathBuf,
    /// Where verifiers are made and run; it goes with this.
    pub folder: PathBuf,
    pub corpus: PathBuf,
}

impl Beside {
    /// `None`, with a line that says why, where there is nothing to compare with.
    pub fn new(name: &str) -> Result<Option<Self>, String> {
        if !Path::new(CORPUS).is_dir() {
            println!("skipped: no corpus beside the project");
            return Ok(None);
        }
        if Command::new("spin").arg("-V").output().is_err() {
            println!("skipped: spin is not installed, so there is nothing to compare with");
            return Ok(None);
        }
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let corpus = Path::new(CORPUS).canonicalize().map_err(|e| e.to_string())?;
        let volee = built(&root)?;
        let folder = std::env::temp_dir().join(format!("volee-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
        Ok(Some(Beside { root, volee, folder, corpus }))
    }

    /// Makes SPIN's verifier for a model; whether that was possible.
    pub fn make_verifier(&self, model: &Path, flags: &str) -> bool {
        let build = format!(
            "spin -a {} >/dev/null && gcc -O2 -w {flags} -DMEMLIM=4000 -o pan pan.c",
            model.display()
        );
        let made = Command::new("bash").args(["-c", &build]).current_dir(&self.folder).output();
        made.is_ok_and(|made| made.status.success())
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
