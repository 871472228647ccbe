//! Where the corpus is, and `cargo xtask corpus WHAT`.
//!
//! The corpus (models and the answers of independent tools) lives beside the checkout and is never part of
//! it.

use std::path::{Path, PathBuf};

/// A folder of the corpus, if it is there.
pub fn folder(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/corpus").join(name);
    path.is_dir().then_some(path)
}

/// Runs a comparison.
///
/// # Errors
/// The corpus is not there, or the comparison found a difference.
pub fn run(arguments: &[String]) -> Result<(), String> {
    match arguments.first().map(String::as_str) {
        Some("promela") => crate::promela::corpus(&arguments[1..]),
        Some("reduction") => crate::reduction::run(&arguments[1..]),
        Some("bounded") => crate::bounded::corpus(&arguments[1..]),
        Some("cluster") => crate::workers::corpus(&arguments[1..]),
        _ => Err(
            "usage: cargo xtask corpus promela|reduction|bounded|cluster [--below STATES] [--time SECONDS] [MODEL]"
                .into(),
        ),
    }
}
