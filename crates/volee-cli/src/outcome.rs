//! How a verb ends: with an outcome (an answer and its text), or with a failure (the input or the call is wrong).

use volee::report::Answer;
use volee::system::Diagnostic;

/// An answer, for machines and for people. The exit code follows from the answer's verdict.
pub struct Outcome {
    /// What `--format json` prints.
    pub answer: Answer,
    /// What is printed otherwise; ends with a line feed unless empty.
    pub text: String,
}

impl Outcome {
    /// An outcome from its two forms.
    pub fn new(answer: Answer, text: impl Into<String>) -> Self {
        Outcome { answer, text: text.into() }
    }

    /// The outcome of a verb that only produces a text: JSON carries it as `output`.
    pub fn output(command: &str, text: impl Into<String>) -> Self {
        let text = text.into();
        let mut answer = Answer::new(command);
        answer.add("output", text.as_str());
        Outcome { answer, text }
    }
}

/// What is wrong with the input or the call: exit code 2.
#[derive(Debug)]
pub struct Failure {
    /// At least one message, each with its place and advice where there are any.
    pub diagnostics: Vec<Diagnostic>,
}

impl Failure {
    /// A failure that is one sentence, without a full stop.
    pub fn new(message: impl Into<String>) -> Self {
        Diagnostic::error(message, None).into()
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
        Failure { diagnostics: vec![diagnostic] }
    }
}

impl From<Vec<Diagnostic>> for Failure {
    fn from(diagnostics: Vec<Diagnostic>) -> Self {
        Failure { diagnostics }
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Failure::new(format!("{error:#}"))
    }
}

/// What every verb returns.
pub type Ended = Result<Outcome, Failure>;
