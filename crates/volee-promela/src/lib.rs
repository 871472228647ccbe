//! The Promela front end: text in, a resolved [`Model`] and [`Diagnostic`]s out.
//!
//! ```text
//! text ─► preprocess ─► tokens with places ─► parse ─► tree ─► resolve ─► Model
//! ```
//!
//! Nothing here panics on bad input or allocates by a number that an input names without a bound ([`limits`]). All
//! errors that can be found are reported at once, each with its place in the original file.

pub mod limits;
mod lower;
pub mod model;

use std::path::{Path, PathBuf};

pub use lower::{Lowered, lower};
pub use model::Model;
use volee_system::Diagnostic;

/// What the user says beside the file.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// `-D NAME` or `-D NAME=VALUE`; a name without a value is defined as 1.
    pub defines: Vec<(String, Option<String>)>,
    /// Where `#include` looks after the directory of the including file.
    pub include_dirs: Vec<PathBuf>,
}

/// Reads and resolves a model file. The model is present if no diagnostic is an error.
pub fn load(path: &Path, options: &Options) -> (Option<Model>, Vec<Diagnostic>) {
    let name = path.display().to_string();
    match std::fs::read(path) {
        Ok(bytes) => parse(&name, &String::from_utf8_lossy(&bytes), options),
        Err(error) => (None, vec![Diagnostic::error(format!("cannot read {name}: {error}"), None)]),
    }
}

/// Resolves the text of a model; `file` names it in places, and its directory is where `#include` looks first.
pub fn parse(file: &str, _text: &str, _options: &Options) -> (Option<Model>, Vec<Diagnostic>) {
    (None, vec![Diagnostic::error(format!("{file}: the parser is not there yet"), None)])
}

/// Reads an expression over the global names of a model.
///
/// # Errors
/// All that is wrong with it, with places counted in `text`.
pub fn parse_predicate(_model: &Model, text: &str) -> Result<model::Expr, Vec<Diagnostic>> {
    Err(vec![Diagnostic::error(format!("`{text}` cannot be read yet"), None)])
}
