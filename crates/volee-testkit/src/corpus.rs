//! The shared corpus, and peers: what a test compares with where it is there, and a line that is seen where
//! it is not.
//!
//! A skip is written to the process's stderr itself, which the test harness does not capture, with the number
//! of skips so far in this process, and added to the file that `VOLEE_SKIPS` names: a run is many processes,
//! and whoever starts it (`.ci/run`) counts the lines when all have ended. `VOLEE_SKIP_IS_FAILURE=corpus`
//! makes a missing corpus a failure, `VOLEE_SKIP_IS_FAILURE=all` a missing peer, too: peers are optional, and
//! a machine where nobody installed them is no reason to fail.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

static SKIPPED: AtomicUsize = AtomicUsize::new(0);

/// A part of the corpus beside the checkout, `promela` for instance. Where it is not there, the comparison is
/// skipped and that is seen.
pub fn corpus(part: &str) -> Option<PathBuf> {
    let found = folder(part);
    if found.is_none() {
        no_corpus(part);
    }
    found
}

fn folder(part: &str) -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = root.join("../shared/corpus").join(part);
    folder.is_dir().then_some(folder)
}

/// Whether all these programs can be called here; if not, the comparison is skipped and that is seen.
pub fn peers(programs: &[&str]) -> bool {
    let missing = programs.iter().find(|program| !is_there(program));
    if let Some(program) = missing {
        skip(&format!("`{program}` is not installed"));
    }
    missing.is_none()
}

/// Whether a program can be called here.
pub fn is_there(program: &str) -> bool {
    let mut call = Command::new(program);
    call.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).arg("--version");
    call.status().is_ok()
}

/// Says that a comparison with a part of the corpus is not made.
///
/// # Panics
/// `VOLEE_SKIP_IS_FAILURE` is set, to anything.
pub fn no_corpus(part: &str) {
    tell(&format!("the corpus `{part}` is not beside this checkout"), &["corpus", "all"]);
}

/// Says that a comparison is not made, because a peer is missing.
///
/// # Panics
/// `VOLEE_SKIP_IS_FAILURE` is `all`.
pub fn skip(why: &str) {
    tell(why, &["all"]);
}

fn tell(why: &str, failures: &[&str]) {
    let count = SKIPPED.fetch_add(1, Ordering::Relaxed) + 1;
    let line = format!("skipped: {why} ({count} comparisons skipped so far in this process)\n");
    let _ = std::io::stderr().lock().write_all(line.as_bytes());
    if let Some(ledger) = std::env::var_os("VOLEE_SKIPS") {
        let opened = OpenOptions::new().append(true).create(true).open(ledger);
        let _ = opened.and_then(|mut file| file.write_all(line.as_bytes()));
    }
    let failure =
        std::env::var("VOLEE_SKIP_IS_FAILURE").is_ok_and(|value| failures.contains(&value.as_str()));
    assert!(!failure, "a skipped comparison is a failure here: {why}");
}
