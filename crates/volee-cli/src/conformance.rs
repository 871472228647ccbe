//! What the verbs `tests` and `conform` share: the interface of a specification, and how errors end a verb.

use clap::{Args, ValueEnum};
use volee::Model;
use volee::conform::{ConformError, Interface, Livelock, Matcher};
use volee::report::{Answer, QuestionAnswer};

use crate::args::ModelArgs;
use crate::context::Context;
use crate::explicit::Stop;
use crate::outcome::{Ended, Failure, Outcome};

/// Which labels a tester sends and sees.
#[derive(Debug, Clone, Args)]
pub struct InterfaceArgs {
    /// What the tester sends: labels, PREFIX*, /REGEX/; of a Promela model channels [default: ?…]
    #[arg(long, value_name = "LIST", help_heading = "Interface")]
    inputs: Vec<String>,

    /// What the tester sees: labels, PREFIX*, /REGEX/; of a Promela model channels [default: !…]
    #[arg(long, value_name = "LIST", help_heading = "Interface")]
    outputs: Vec<String>,

    /// What nobody sees, whatever the other two lists say
    #[arg(long, value_name = "LIST", help_heading = "Interface")]
    hide: Vec<String>,

    /// Whether internal steps for ever count as silence
    #[arg(long, value_enum, default_value_t = LivelockArg::Quiescent, help_heading = "Interface")]
    livelock: LivelockArg,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum LivelockArg {
    /// A state on a cycle of internal steps is quiescent (TGV)
    Quiescent,
    /// Only states without outputs and internal steps are (Tretmans)
    Ignored,
}

impl InterfaceArgs {
    /// The interface of a model.
    pub fn interface(&self, model: &Model) -> Result<Interface, Failure> {
        let list = |texts: &[String]| -> Result<Vec<Matcher>, Failure> {
            let mut all = Vec::new();
            for text in texts {
                all.extend(Matcher::parse_list(text).map_err(failure)?);
            }
            Ok(all)
        };
        let channels = model.promela.is_some();
        if channels && (self.inputs.is_empty() || self.outputs.is_empty()) {
            return Err(Failure::new(
                "a program talks to its environment through channels, and none are named",
            )
            .with_help(
                "say which with --inputs CHANNEL,… and --outputs CHANNEL,…, as the specification sees them",
            ));
        }
        Ok(Interface {
            inputs: list(&self.inputs)?,
            outputs: list(&self.outputs)?,
            hidden: list(&self.hide)?,
            channels,
        })
    }

    pub fn livelock(&self) -> Livelock {
        match self.livelock {
            LivelockArg::Quiescent => Livelock::Quiescent,
            LivelockArg::Ignored => Livelock::Ignored,
        }
    }

    /// What counts as quiescence, in words.
    pub fn quiescence(&self) -> &'static str {
        quiescence(self.livelock())
    }
}

/// What counts as quiescence, in words.
pub fn quiescence(livelock: Livelock) -> &'static str {
    match livelock {
        Livelock::Quiescent => "deadlock, no output, livelock",
        Livelock::Ignored => "deadlock, no output (livelock does not count)",
    }
}

/// Opens a specification: merged steps of a program would hide messages, so there are none.
pub fn open(model: &ModelArgs, context: &Context) -> Result<Model, Failure> {
    model.open_step_by_step(context)
}

/// What is wrong, in the terms of a verb.
pub fn failure(error: ConformError) -> Failure {
    match error {
        ConformError::Input(diagnostic) => diagnostic.into(),
        other => Failure::new(other.to_string()),
    }
}

impl From<ConformError> for Stop {
    fn from(error: ConformError) -> Self {
        match error {
            ConformError::Limit(limit) => Stop::Limit(limit),
            other => Stop::Wrong(failure(other)),
        }
    }
}

/// The answer that there is no test: not an error of the call, but a fact about specification and purpose.
pub fn no_test(question: &str, model: &str, unmatched: &[String], context: &Context) -> Ended {
    let mut message = "no test exists: the specification cannot do what the purpose asks for".to_string();
    if !unmatched.is_empty() {
        let shown: Vec<String> = unmatched.iter().take(5).map(|t| format!("`{t}`")).collect();
        message = format!("{message}; no label that was met matches {}", shown.join(", "));
    }
    let reason = volee::system::Reason {
        kind: volee::system::ReasonKind::Unreachable,
        message: message.clone(),
        place: None,
    };
    let mut answer = Answer::new("tests").about(model, "conformance");
    answer.push(QuestionAnswer::violated(question, &reason, None));
    Ok(Outcome::new(answer, format!("{} {question}: {message}\n", context.palette.bad("violated"))))
}
