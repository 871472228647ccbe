//! What verbs that end in a run share: the flags about how it is shown and stored, and the command that
//! replays it.

use std::path::{Path, PathBuf};

use clap::Args;
use volee::Options;
use volee::files::store_trace;
use volee::render::RunView;
use volee::report::{Filter, Trace, quoted, run_to_word};
use volee::system::Diagnostic;

use crate::args::said;

/// Commands longer than this are for files, not for people.
const LONGEST_WORD: usize = 600;
/// So are claims longer than this.
const LONGEST_CLAIM: usize = 200;

/// How a run is shown and stored.
#[derive(Debug, Clone, Args)]
pub struct TraceArgs {
    /// Write the run to a file; its extension chooses the form: .json for `volee replay`, .svg or .mmd
    /// (Mermaid) for a message-sequence chart, .html for a page to walk through it, .itf.json for Apalache
    /// and Quint, .txt for text
    #[arg(long, value_name = "FILE", help_heading = "Run")]
    pub trace: Vec<PathBuf>,

    /// Show every step of a long run
    #[arg(long, help_heading = "Run")]
    pub every_step: bool,

    #[command(flatten)]
    pub filter: FilterArgs,
}

/// What of a run is shown.
#[derive(Debug, Clone, Args)]
pub struct FilterArgs {
    /// Do not show what a process does (Client, or one by its number: Client(2)), or an event (ask!REQ,_)
    #[arg(long, value_name = "WHAT", value_parser = said, allow_hyphen_values = true, help_heading = "Run")]
    hide: Vec<String>,

    /// Show only these variables; a name means all of an array, and every local of that name
    #[arg(long, value_name = "VARIABLE", value_delimiter = ',', help_heading = "Run")]
    show: Vec<String>,
}

impl FilterArgs {
    /// As the library takes it.
    pub fn filter(&self, only_messages: bool) -> Result<Filter, Diagnostic> {
        volee::render::filter(only_messages, &self.hide, &self.show)
    }
}

/// The word of `--only` that is about the run; the others of `volee check` are about questions.
pub const MESSAGES: &str = "messages";

/// What of a run is shown, for verbs whose `--only` is about nothing else.
#[derive(Debug, Clone, Args)]
pub struct OnlyArgs {
    /// Show only messages that are sent, received or handed over, and what goes wrong
    #[arg(long, value_name = "WHAT", value_parser = [MESSAGES], help_heading = "Run")]
    pub only: Option<String>,
}

impl TraceArgs {
    /// How a run is shown; extensions that mean nothing are refused before a long search rather than after
    /// it.
    pub fn view(&self, only_messages: bool) -> Result<RunView, Diagnostic> {
        let filter = self.filter.filter(only_messages)?;
        let view = RunView { files: self.trace.clone(), every_step: self.every_step, filter };
        view.validate().map(|()| view)
    }
}

/// The command that replays a run: the run itself where it is short, else a file in the temporary folder.
pub fn replay_command(model: &Path, options: &Options, trace: &Trace) -> Result<String, Diagnostic> {
    let mut words = vec!["volee".to_string(), "replay".to_string(), quoted(&model.display().to_string())];
    let word = run_to_word(&trace.witness);
    let claim = trace.claim.as_ref().map(ToString::to_string);
    let is_short = word.len() <= LONGEST_WORD
        && claim.as_ref().is_none_or(|c| c.len() <= LONGEST_CLAIM && !c.contains('\n'));
    if is_short {
        words.push(word);
        words.extend(claim.map(|claim| format!("--shows {}", quoted(&claim))));
        words.extend(options.defines.iter().map(|d| format!("-D{}", quoted(d))));
        let copies: Vec<String> = options.copies.iter().map(|(name, n)| format!("{name}={n}")).collect();
        words.extend((!copies.is_empty()).then(|| format!("--copies {}", copies.join(","))));
        words.extend(options.capacity.map(|n| format!("--capacity {n}")));
    } else {
        words.push(quoted(&store_trace(model, trace)?.display().to_string()));
    }
    Ok(words.join(" "))
}
