//! Explicit systems on the command line: the flags by which the verbs that need whole graphs read them, and
//! where results go.

use std::path::{Path, PathBuf};

use clap::Args;
use volee::graphs::{Format, Labels, Lts, LtsError, write_as, write_file};
use volee::names::LABELS;
use volee::report::{Answer, QuestionAnswer};
use volee::system::{Diagnostic, Limit};
use volee::{AskError, Graphs, files};

use crate::args::{named, said};
use crate::context::Context;
use crate::outcome::{Ended, Failure, Outcome};

/// How systems are read and what is done to their labels first.
#[derive(Debug, Clone, Args)]
pub struct SourceArgs {
    /// Make events internal: a pattern (`ask!REQ,_`, `Client[*]:ask`), or a regular expression for the whole
    /// label
    #[arg(long, value_name = "PATTERN", value_parser = said, allow_hyphen_values = true, help_heading = "Labels")]
    hide: Vec<String>,

    /// Give events another text: a pattern, or a regular expression for the whole label, of which $1 is the
    /// first group
    #[arg(long, value_name = "PATTERN=TEXT", value_parser = said, allow_hyphen_values = true, help_heading = "Labels")]
    rename: Vec<String>,

    /// What the steps of a program are called: what happens (`ask!REQ,1`), that and who does it, or the text
    /// of statements
    #[arg(long, value_name = "WHAT", value_parser = named(&LABELS), default_value = "events", help_heading = "Labels")]
    labels: Labels,

    /// Run another system in parallel with the (first) one
    #[arg(long, value_name = "FILE", help_heading = "Composition")]
    with: Vec<PathBuf>,

    /// With --with: labels that match happen in all components that know them at once
    #[arg(long, value_name = "REGEX", requires = "with", help_heading = "Composition")]
    sync: Option<String>,

    /// Define a preprocessor name, as in `#define NAME VALUE`
    #[arg(short = 'D', value_name = "NAME[=VALUE]", help_heading = "Model")]
    defines: Vec<String>,

    /// All states and steps of the language's semantics: so it is always where the graph itself is looked at
    #[arg(long, help_heading = "Model")]
    plain: bool,
}

/// Why there is no system: the input is wrong, or a limit was reached.
pub enum Stop {
    Wrong(Failure),
    Limit(Limit),
}

impl From<AskError> for Stop {
    fn from(error: AskError) -> Self {
        match error {
            AskError::Limit(limit) => Stop::Limit(limit),
            other => Stop::Wrong(other.into()),
        }
    }
}

impl From<LtsError> for Stop {
    fn from(error: LtsError) -> Self {
        AskError::from(error).into()
    }
}

impl From<Diagnostic> for Stop {
    fn from(diagnostic: Diagnostic) -> Self {
        AskError::from(diagnostic).into()
    }
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Stop::Wrong(failure)
    }
}

impl Stop {
    /// The end of a verb that stopped: exit code 2, or 3 with the limit as the answer to `question`.
    pub fn end(self, verb: &str, question: &str, context: &Context) -> Ended {
        match self {
            Stop::Wrong(failure) => Err(failure),
            Stop::Limit(limit) => {
                let mut answer = Answer::new(verb);
                answer.push(QuestionAnswer::unknown(question, &limit));
                let text = format!("{} {question}: {limit}\n", context.palette.doubtful("unknown"));
                Ok(Outcome::new(answer, text))
            }
        }
    }
}

impl SourceArgs {
    /// How graphs are read.
    pub fn graphs(&self) -> Graphs {
        Graphs {
            hide: self.hide.clone(),
            rename: self.rename.clone(),
            labels: self.labels,
            with: self.with.clone(),
            sync: self.sync.clone(),
            defines: self.defines.clone(),
            plain: self.plain,
            made: Vec::new(),
        }
    }
}

/// Writes a system; `-` is stdout, which JSON answers need for themselves.
pub fn write(lts: &Lts, path: &Path, context: &Context) -> Result<(), Stop> {
    if path == Path::new("-") {
        if context.format == crate::cli::Format::Json {
            return Err(Failure::new("the answer in JSON goes to stdout, so the system cannot")
                .with_help("name a file with -o")
                .into());
        }
        crate::cut::take_stdout();
        return match write_file(lts, path) {
            // A closed pipe is the reader's choice, not an error.
            Err(LtsError::Io { source, .. }) if source.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
            other => Ok(other?),
        };
    }
    Format::of(path)?;
    Ok(files::write_with(path, |out| Ok::<(), AskError>(write_as(lts, path, out)?))?)
}
