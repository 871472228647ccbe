//! The extension module behind the Python package `volee`: each function asks the library and gives its
//! machine-readable answer as a text of JSON, of which `volee/__init__.py` makes dataclasses.
//!
//! The interpreter's lock is given back while the library works. It is taken now and then to look for Ctrl-C
//! and to tell the progress, and for every state of a model that is written in Python.

mod check;
mod generator;
mod given;
mod graphs;
mod watcher;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use volee::AskError;
use volee::report::Answer;
use volee::system::Diagnostic;

/// Counts what is held, so that a budget of memory binds.
#[global_allocator]
static ALLOCATOR: volee::store::Counting = volee::store::Counting;

pyo3::create_exception!(_volee, InputError, PyValueError);

/// What is wrong with a model or a question, as an exception: a sentence, and all messages as JSON.
fn wrong(diagnostics: &[Diagnostic]) -> PyErr {
    let lines: Vec<String> = diagnostics.iter().map(ToString::to_string).collect();
    InputError::new_err((lines.join("\n"), Answer::wrong("", diagnostics).to_json()))
}

/// There is nothing of that kind with this name.
fn unknown(kind: &str, name: &str, known: &[&str]) -> PyErr {
    let help = format!("there is {}", known.join(", "));
    wrong(&[Diagnostic::error(format!("there is no {kind} `{name}`"), None).with_help(help)])
}

/// Why there is no answer, as an exception.
fn refused(error: &AskError) -> PyErr {
    match error {
        AskError::Input(diagnostics) => wrong(diagnostics),
        other => wrong(&[Diagnostic::error(other.to_string(), None)]),
    }
}

#[pymodule]
fn _volee(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("InputError", module.py().get_type::<InputError>())?;
    module.add("version", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<check::Checked>()?;
    module.add_function(wrap_pyfunction!(check::check, module)?)?;
    module.add_function(wrap_pyfunction!(graphs::simulate, module)?)?;
    module.add_function(wrap_pyfunction!(graphs::compare, module)?)?;
    module.add_function(wrap_pyfunction!(graphs::reduce, module)?)?;
    module.add_function(wrap_pyfunction!(graphs::solve, module)?)?;
    module.add_function(wrap_pyfunction!(graphs::tests, module)?)?;
    Ok(())
}
