//! The `volee` binary: reads the arguments, runs one verb, prints one answer, exits with one of five codes.
//!
//! A verb lives in a file of its own under `commands/` and knows neither stdout nor exit codes: it returns an
//! [`Outcome`](volee::render::Outcome) (the machine-readable answer and the text for people) or a
//! [`Failure`](outcome::Failure) (what is wrong with the input). What is common to all verbs is here: the
//! frame of `--format json`, which appears exactly once whatever happens, Ctrl-C, panics, and closed pipes.

mod advice;
mod args;
mod cli;
mod commands;
mod conformance;
mod context;
mod cut;
mod explicit;
mod flags;
mod outcome;
mod progress;
mod suite;
mod witness;

use std::process::ExitCode;

// Counts what is held, so that `--memory` binds every verb and every phase.
use volee_allocator as _;

fn main() -> ExitCode {
    volee::store::return_freed_memory();
    cli::run(std::env::args_os().collect())
}
