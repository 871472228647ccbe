//! `cargo xtask oracle WHAT`: random cases compared with a peer that is installed on this machine.

use crate::promela::option;

/// Runs a comparison.
///
/// # Errors
/// A wrong call, the peer is not there, or something differs.
pub fn run(arguments: &[String]) -> Result<(), String> {
    let number = |name: &str, default: u64| {
        option(arguments, name)
            .map_or(Ok(default), |t| t.parse().map_err(|_| format!("{name} takes a number")))
    };
    match arguments.split_first().map(|(what, rest)| (what.as_str(), rest)) {
        Some(("programs", rest)) => crate::programs::run(rest),
        Some(("integers", rest)) => {
            understood(rest, &["--count", "--seed"], &[])?;
            crate::integers::oracle(number("--count", 50_000)?, number("--seed", 1)?)
        }
        _ => Err(format!(
            "usage: {}\n       cargo xtask oracle integers [--count N] [--seed S]",
            crate::programs::USAGE
        )),
    }
}

/// Every argument is one of those that take a number, with its number, or one of those that take none.
///
/// # Errors
/// The first that is not, in a sentence.
pub(crate) fn understood(arguments: &[String], numbers: &[&str], bare: &[&str]) -> Result<(), String> {
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        if bare.contains(&argument.as_str()) {
            continue;
        }
        if !numbers.contains(&argument.as_str()) {
            let known = [numbers, bare].concat().join(", ");
            return Err(format!("`{argument}` is not an argument here; there are {known}"));
        }
        if rest.next().is_none_or(|value| value.parse::<u64>().is_err()) {
            return Err(format!("{argument} takes a number"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(text: &str) -> Result<(), String> {
        run(&text.split_whitespace().map(String::from).collect::<Vec<_>>())
    }

    #[test]
    fn a_wrong_call_starts_nothing_and_says_what_is_wrong() {
        for (text, expected) in [
            ("", "usage"),
            ("program", "usage"),
            ("programs --help", "usage"),
            ("integers --help", "not an argument"),
            ("programs --cuont 5", "`--cuont` is not an argument"),
            ("programs 100", "`100` is not an argument"),
            ("programs --count", "--count takes a number"),
            ("programs --count many", "--count takes a number"),
            ("programs --count --spin", "--count takes a number"),
        ] {
            let message = call(text).expect_err(text);
            assert!(message.contains(expected), "{text}: {message}");
        }
    }
}
