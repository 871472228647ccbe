//! Behaviour of the Promela front end.

mod corpus;
mod executability;
mod format;
mod forms;
mod fuzz;
mod hostile;
mod lints;
mod messages;
mod preprocessor;
mod semantics;
mod statements;
mod told;
mod why;

use volee_promela::{Model, Options, parse};
use volee_system::{Diagnostic, Severity};

/// A model that must be right.
fn model(text: &str) -> Model {
    let (model, diagnostics) = parse("test.pml", text, &Options::default());
    let messages: Vec<String> = diagnostics.iter().map(ToString::to_string).collect();
    model.unwrap_or_else(|| panic!("{}\nin:\n{text}", messages.join("\n")))
}

/// The errors of a text, one line each: place, message, advice.
fn errors(text: &str) -> Vec<String> {
    let (_, diagnostics) = parse("m", text, &Options::default());
    diagnostics.iter().filter(|d| d.severity == Severity::Error).map(show).collect()
}

fn show(diagnostic: &Diagnostic) -> String {
    let help = diagnostic.help.as_ref().map(|help| format!(" ({help})")).unwrap_or_default();
    format!("{diagnostic}{help}")
}
