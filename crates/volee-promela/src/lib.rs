//! The Promela front end: text in, a resolved [`Model`] and [`Diagnostic`]s out.
//!
//! ```text
//! text ─► preprocess ─► tokens with places ─► parse ─► tree ─► resolve ─► Model
//! ```
//!
//! Nothing here panics on bad input or allocates by a number that an input names without a bound
//! ([`limits`]). All errors that can be found are reported at once, each with its place in the original file.

mod ast;
pub mod census;
pub mod format;
pub mod index;
mod intern;
pub mod limits;
pub mod lint;
mod lower;
pub mod model;
mod parse;
mod preprocess;
pub mod render;
mod resolve;
mod source;
mod suggest;
mod token;
pub mod words;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hashbrown::HashMap;
pub use index::Index;
use intern::Interner;
use lint::Weight;
pub use lower::{Lowered, lower};
pub use model::Model;
use resolve::Resolver;
use source::Sources;
use volee_system::{Diagnostic, Severity};

/// What the user says beside the file.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// `NAME` or `NAME=VALUE`; a name without a value is defined as 1.
    pub defines: Vec<(String, Option<String>)>,
    /// Where `#include` looks after the directory of the including file.
    pub include_dirs: Vec<PathBuf>,
    /// Texts that stand for files, as an editor has them before they are saved.
    pub open: OpenFiles,
    /// The folder below which all included files must be, links followed.
    pub within: Option<PathBuf>,
}

/// Texts by the path of the file that they stand for.
pub type OpenFiles = HashMap<PathBuf, Arc<str>>;

/// Everything there is to know of a text without running it.
#[derive(Debug, Clone)]
pub struct Study {
    /// The model, if nothing is wrong with it.
    pub model: Option<Model>,
    /// What is wrong, and what all lints say.
    pub diagnostics: Vec<Diagnostic>,
    /// What the names mean, as far as they could be understood.
    pub index: Index,
}

/// Reads and resolves a model file. The model is present if no diagnostic is an error.
pub fn load(path: &Path, options: &Options) -> (Option<Model>, Vec<Diagnostic>) {
    match preprocess::read_source(path) {
        Ok(text) => parse(&path.display().to_string(), &text, options),
        Err(message) => (None, vec![Diagnostic::error(message, None)]),
    }
}

/// Resolves the text of a model; `file` names it in places, and its directory is where `#include` looks
/// first. The model is present if no diagnostic is an error.
pub fn parse(file: &str, text: &str, options: &Options) -> (Option<Model>, Vec<Diagnostic>) {
    let mut sources = Sources::new();
    let mut interner = Interner::new();
    let read = preprocess::preprocess(file, text, options, &[], &mut sources, &mut interner);
    if !read.complete {
        return (None, sources.into_diagnostics());
    }
    let units = parse::parse(read.tokens, &mut sources, &mut interner);
    // Unknown names after a broken declaration are noise, so names are looked at only when the syntax is
    // right.
    let model = match sources.has_errors() {
        true => None,
        false => Some(resolve::resolve(file, &units, &mut sources, &mut interner)),
    };
    let model = model.filter(|_| !sources.has_errors());
    let model = model.map(|model| Model { macros: read.macros, included: read.included, ..model });
    let slips = model.as_ref().map(|model| lint::run(model, &sources, Weight::Slip));
    let mut diagnostics = sources.into_diagnostics();
    diagnostics.extend(slips.into_iter().flatten());
    (model, diagnostics)
}

/// Resolves the text of a model as [`parse`] does, with all lints, and tells what every name in it means.
/// There is an index of text with mistakes too.
pub fn study(file: &str, text: &str, options: &Options) -> Study {
    let mut sources = Sources::new();
    sources.notes = Some(Box::default());
    let mut interner = Interner::new();
    let read = preprocess::preprocess(file, text, options, &[], &mut sources, &mut interner);
    let units =
        if read.complete { parse::parse(read.tokens, &mut sources, &mut interner) } else { Vec::new() };
    let syntax = sources.has_errors().then(|| sources.diagnostics().to_vec());
    let model = resolve::resolve(file, &units, &mut sources, &mut interner);
    let is_whole = !sources.has_errors();
    let notes = sources.notes.take().unwrap_or_default();
    let index = index::build(&sources, &notes, &model, &interner, read.main);
    let model = is_whole.then_some(Model { macros: read.macros, included: read.included, ..model });
    let lints = model.as_ref().map(|model| lint::run(model, &sources, Weight::Untidy));
    let mut diagnostics = syntax.unwrap_or_else(|| sources.into_diagnostics());
    diagnostics.extend(lints.into_iter().flatten());
    Study { model, diagnostics, index }
}

/// Resolves an expression over a finished model, such as the invariant `x < 3 && P[1]@cs`: globals, symbolic
/// names, macros, and remote references to the labels and variables of processes. Places count from line 1,
/// column 1 of `text`.
///
/// # Errors
/// The text is not an expression, or names what the model does not have.
pub fn parse_predicate(model: &Model, text: &str) -> Result<model::Expr, Vec<Diagnostic>> {
    let mut sources = Sources::new();
    let mut interner = Interner::new();
    let options = Options::default();
    let read =
        preprocess::preprocess("predicate", text, &options, &model.macros, &mut sources, &mut interner);
    let proctypes = model.proctypes.iter().map(|p| interner.intern(&p.name)).collect();
    let parsed = parse::parse_expression(read.tokens, proctypes, &mut sources, &mut interner);
    let resolved = match parsed {
        Ok(expr) => Resolver::over(model.clone(), &mut sources, &mut interner).predicate(&expr).ok(),
        Err(parse::Failed) => None,
    };
    match resolved {
        Some(expr) if !sources.has_errors() => Ok(expr),
        _ => Err(sources.into_diagnostics().into_iter().filter(|d| d.severity == Severity::Error).collect()),
    }
}
