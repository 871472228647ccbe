//! One check in a process of its own, and what it answered.

use std::io::Read as _;
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use volee_report::MemberAnswer;

/// How often the caller is asked whether to go on.
const PERIOD: Duration = Duration::from_millis(20);

/// What came of a call.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "it is taken apart where it is made")]
pub enum Outcome {
    /// Its answer, as it was given and taken apart.
    Answered(Value, MemberAnswer),
    /// The caller did not want to go on.
    Ended,
}

/// Runs a command that prints one machine-readable answer, as long as `go_on` says so. A command that prints
/// none is an answer too: that it failed.
pub fn call(mut command: Command, go_on: &mut dyn FnMut() -> bool) -> Outcome {
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => return failed(&format!("the check cannot be started: {error}")),
    };
    let mut stdout = child.stdout.take();
    let reader = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = stdout.as_mut().map(|out| out.read_to_end(&mut bytes));
        bytes
    });
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if go_on() => std::thread::sleep(PERIOD),
            Ok(None) => {
                let _ = child.kill();
                let _ = child.wait();
                return Outcome::Ended;
            }
            Err(error) => return failed(&format!("the check is lost: {error}")),
        }
    };
    answered(&reader.join().unwrap_or_default(), status)
}

fn answered(bytes: &[u8], status: ExitStatus) -> Outcome {
    let parsed = serde_json::from_slice::<Value>(bytes).ok();
    let parsed = parsed.and_then(|v| Some((serde_json::from_value(v.clone()).ok()?, v)));
    match parsed {
        Some((answer, value)) => Outcome::Answered(value, answer),
        None => failed(&format!("the check ended without an answer: {status}")),
    }
}

fn failed(message: &str) -> Outcome {
    let error = json!({ "message": message, "file": null, "line": null, "column": null });
    let value = json!({ "tool": "volee", "command": "check", "verdict": "error", "results": [], "statistics": {},
                        "errors": [error] });
    let answer = serde_json::from_value(value.clone());
    Outcome::Answered(value, answer.unwrap_or_else(|e| unreachable!("it is an answer: {e}")))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn shell(line: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", line]);
        command
    }

    #[test]
    fn an_answer_is_read_and_its_absence_is_one() {
        let good = call(shell("echo '{\"verdict\":\"holds\"}'"), &mut || true);
        assert!(matches!(good, Outcome::Answered(_, a) if a.verdict.as_str() == "holds"));
        let Outcome::Answered(_, bad) = call(shell("kill -9 $$"), &mut || true) else {
            panic!("it is an answer")
        };
        assert_eq!(bad.verdict.as_str(), "error");
        assert!(bad.errors[0].message.contains("signal"), "{}", bad.errors[0].message);
    }

    #[test]
    fn a_call_that_is_no_longer_wanted_is_ended() {
        assert!(matches!(call(shell("sleep 1000"), &mut || false), Outcome::Ended));
    }
}
