//! How a verb ends: with an outcome (an answer and its text), or with a failure (the input or the call is
//! wrong).

use serde_json::{Map, Value};
pub use volee::render::Outcome;
use volee::report::VerdictWord;
use volee::system::Diagnostic;

/// What is wrong with the input or the call: exit code 2. Or with volee itself: exit code 4.
#[derive(Debug)]
pub struct Failure {
    /// At least one message, each with its place and advice where there are any.
    pub diagnostics: Vec<Diagnostic>,
    /// Everything that is needed to report a defect of volee, where it is one.
    pub defect: Option<Map<String, Value>>,
}

/// The exit code when volee itself is wrong.
const DEFECT: u8 = 4;

impl Failure {
    /// A failure that is one sentence, without a full stop.
    pub fn new(message: impl Into<String>) -> Self {
        Diagnostic::error(message, None).into()
    }

    /// A defect of volee, with all that is needed to report it, by name.
    pub fn defect(message: impl Into<String>, details: Vec<(&str, String)>) -> Self {
        let lines: Vec<String> = details.iter().map(|(name, value)| format!("{name}: {value}")).collect();
        let help = "this is a defect of volee, not of your model; please report it with the model, the command and these lines:";
        let failure = Failure::new(message).with_help(format!("{help}\n{}", lines.join("\n")));
        let details = details.into_iter().map(|(name, value)| (name.to_string(), Value::from(value)));
        Failure { defect: Some(details.collect()), ..failure }
    }

    /// The exit code.
    pub fn exit_code(&self) -> u8 {
        if self.defect.is_some() { DEFECT } else { VerdictWord::Error.exit_code() }
    }

    /// The same failure with advice to its last message.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        if let Some(last) = self.diagnostics.last_mut() {
            last.help = Some(help.into());
        }
        self
    }
}

impl From<Diagnostic> for Failure {
    fn from(diagnostic: Diagnostic) -> Self {
        Failure { diagnostics: vec![diagnostic], defect: None }
    }
}

impl From<Vec<Diagnostic>> for Failure {
    fn from(diagnostics: Vec<Diagnostic>) -> Self {
        Failure { diagnostics, defect: None }
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Failure::new(format!("{error:#}"))
    }
}

/// What every verb returns.
pub type Ended = Result<Outcome, Failure>;
