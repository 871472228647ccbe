//! `cargo xtask oracle WHAT`: random cases compared with a peer that is installed on this machine.

use crate::promela::option;

/// Runs a comparison.
///
/// # Errors
/// The peer is not there, or something differs.
pub fn run(arguments: &[String]) -> Result<(), String> {
    let number = |name: &str, default: u64| {
        option(arguments, name)
            .map_or(Ok(default), |t| t.parse().map_err(|_| format!("{name} takes a number")))
    };
    match arguments.first().map(String::as_str) {
        Some("programs") => crate::programs::run(arguments),
        Some("integers") => crate::integers::oracle(number("--count", 50_000)?, number("--seed", 1)?),
        _ => Err("usage: cargo xtask oracle programs|integers [--count N] [--seed S] [--spin]".into()),
    }
}
