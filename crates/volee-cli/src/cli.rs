//! From arguments to exit code: parses the call, runs the verb, prints its answer in the form asked for.

use std::any::Any;
use std::ffi::OsString;
use std::io::Write as _;
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{CommandFactory as _, FromArgMatches as _, Parser, ValueEnum};
use volee::report::{Answer, VerdictWord, diagnostics_text};
use volee::system::{Amount, Diagnostic, guard, parse_duration};

use crate::commands::Command;
use crate::context::Context;
use crate::cut;
use crate::flags;
use crate::outcome::{Ended, Failure, Outcome};
use crate::suite::{Suite, SuiteArgs};

/// Of a call about several models, the one that is checked by this process: the first word of its call.
pub const MEMBER: &str = "--member=";

fn is_member(arguments: &[OsString]) -> bool {
    arguments.get(1).is_some_and(|word| word.as_encoded_bytes().starts_with(MEMBER.as_bytes()))
}

/// volee verifies concurrent systems and protocols, on the fly: does it deadlock, can this go wrong, show me
/// how.
#[derive(Debug, Parser)]
#[command(name = "volee", version, arg_required_else_help = true, max_term_width = 100)]
#[command(after_help = "\
Exit codes: 0 holds, 1 violated, 2 the input or the call is wrong, 3 a limit was reached,
            4 volee itself is at fault.
Start with: volee demo")]
pub struct Cli {
    /// How the answer is written: text for people, or one JSON object on stdout
    #[arg(long, global = true, value_enum, default_value_t = Format::Text)]
    pub format: Format,

    /// Memory for all that is done, e.g. 512M or 2G [default: three quarters of what is free]; for a search
    /// also the states that it may keep, e.g. 1000states
    #[arg(long, global = true, value_name = "SIZE", value_parser = Amount::parse, help_heading = "Budget")]
    pub memory: Option<Amount>,

    /// Time for all that is done, e.g. 10s, 500ms or 5m
    #[arg(long, global = true, value_name = "TIME", value_parser = parse_duration, help_heading = "Budget")]
    pub time: Option<Duration>,

    /// Check only this model, for the call that asks about several
    #[arg(long, hide = true, value_name = "MODEL")]
    pub member: Option<PathBuf>,

    /// The name of the command.
    #[arg(skip)]
    pub verb: String,

    #[command(subcommand)]
    pub command: Command,
}

impl Cli {
    /// Whether processes of their own do the work.
    pub fn is_suite(&self) -> bool {
        matches!(&self.command, Command::Check(check) if Suite::of(check, &[]).is_some())
    }
}

/// The call that these words make, the program's name first.
pub fn parse(arguments: &[OsString]) -> Result<Cli, clap::Error> {
    // What a project says may be said again by the user, who then has the last word.
    let mut command = Cli::command().args_override_self(is_member(arguments));
    let matches = command.try_get_matches_from_mut(arguments)?;
    let mut cli = Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command))?;
    cli.verb = matches.subcommand_name().unwrap_or_default().to_string();
    if let Command::Check(check) = &mut cli.command {
        check.said = flags::said(&command, &matches);
    }
    if let (Some(model), Command::Check(check)) = (&cli.member, &mut cli.command) {
        check.models = vec![model.clone()];
        check.suite = SuiteArgs::default();
        cli.format = Format::Json;
    }
    // They are made once in a run and are many small pieces: to give them back takes longer than a small check.
    std::mem::forget((command, matches));
    Ok(cli)
}

/// The forms of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Text,
    Json,
}

/// Runs the program on its arguments, the program's name first.
pub fn run(arguments: Vec<OsString>) -> ExitCode {
    quiet_panics();
    let arguments = automaton_forms(arguments);
    let cli = match parse(&arguments) {
        Ok(cli) => cli,
        Err(error) => return answer_usage(&arguments, &error),
    };
    let context = Context::new(&cli);
    let verb = cli.verb.as_str();
    if context.states.is_some() && verb != "check" {
        let failure = Failure::new("only the searches of `volee check` count their memory in states");
        return print_failure(&context, verb, &failure.with_help("give --memory in bytes, for example 64M"));
    }
    let ended = std::panic::catch_unwind(AssertUnwindSafe(|| {
        if let Command::Check(check) = &cli.command
            && let Some(suite) = Suite::of(check, &arguments)
        {
            return suite.run(&context);
        }
        cli.command.run(&context)
    }));
    let ended = ended.unwrap_or_else(|panic| Err(internal_error(panic.as_ref())));
    if !guard::claim_answer() {
        cut::wait_for_end();
    }
    match ended {
        Ok(outcome) => print_outcome(&context, outcome),
        Err(failure) => print_failure(&context, verb, &failure),
    }
}

/// Runs another verb from within one, as if the user had called it.
pub fn call(words: Vec<OsString>, context: &Context) -> Ended {
    let arguments = std::iter::once(OsString::from("volee")).chain(words);
    let cli = Cli::try_parse_from(arguments).map_err(|e| Failure::new(e.to_string()))?;
    cli.command.run(context)
}

/// `volee automaton F --format dot` means `--as dot`: the forms of an automaton are asked for like those of
/// an answer.
fn automaton_forms(mut arguments: Vec<OsString>) -> Vec<OsString> {
    if arguments.get(1).is_none_or(|verb| verb != "automaton") {
        return arguments;
    }
    for at in 2..arguments.len() {
        let form = |a: &OsString| ["dot", "hoa", "never"].iter().any(|f| a == f);
        if arguments[at] == "--format" && arguments.get(at + 1).is_some_and(form) {
            arguments[at] = "--as".into();
        }
    }
    arguments
}

fn print_outcome(context: &Context, mut outcome: Outcome) -> ExitCode {
    let code = outcome.answer.verdict().exit_code();
    let text = match context.format {
        _ if context.is_told() => String::new(),
        Format::Text => outcome.text,
        Format::Json => {
            outcome.answer.warn(&context.take_warnings());
            if context.is_member {
                outcome.answer.add("text", outcome.text);
            }
            outcome.answer.to_json()
        }
    };
    to_stdout(&text, code)
}

fn print_failure(context: &Context, verb: &str, failure: &Failure) -> ExitCode {
    let code = failure.exit_code();
    match context.format {
        Format::Text => {
            to_stderr(&diagnostics_text(&failure.diagnostics, context.errors));
            ExitCode::from(code)
        }
        Format::Json => {
            let mut answer = Answer::wrong(verb, &failure.diagnostics);
            if let Some(defect) = &failure.defect {
                answer.add("defect", defect.clone());
            }
            to_stdout(&answer.to_json(), code)
        }
    }
}

/// A call that clap did not accept, or that asked for help or the version.
fn answer_usage(arguments: &[OsString], error: &clap::Error) -> ExitCode {
    use clap::error::ErrorKind;
    let is_help = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    let code = if is_help { 0 } else { VerdictWord::Error.exit_code() };
    let forgotten = forgotten_verb(arguments, error);
    if !asks_for_json(arguments) {
        return match (error.print(), is_help) {
            (Err(failed), true) => cannot_print(&failed, code),
            _ => {
                to_stderr(&forgotten.map(|hint| format!("\n  {hint}\n")).unwrap_or_default());
                ExitCode::from(code)
            }
        };
    }
    let verb = verb_of(arguments);
    let text = error.render().to_string() + &forgotten.unwrap_or_default();
    let answer = if is_help {
        let mut answer = Answer::new(verb);
        answer.add("output", text);
        answer
    } else {
        let message = text.trim().strip_prefix("error: ").unwrap_or(text.trim()).to_string();
        Answer::wrong(verb, &[Diagnostic::error(message, None)])
    };
    to_stdout(&answer.to_json(), code)
}

/// What a user meant who named a model where a verb is expected.
fn forgotten_verb(arguments: &[OsString], error: &clap::Error) -> Option<String> {
    if error.kind() != clap::error::ErrorKind::InvalidSubcommand {
        return None;
    }
    let words = || arguments.iter().skip(1).filter_map(|a| a.to_str());
    let is_model = |word: &&str| {
        let extensions = volee::model::FRONT_ENDS.iter().flat_map(|front_end| front_end.extensions);
        extensions.into_iter().any(|e| word.ends_with(&format!(".{e}")))
    };
    // A word that is no model is a verb that is misspelt.
    words().find(|word| !word.starts_with('-')).filter(is_model)?;
    Some(format!(
        "what is to be done with it? To check a model: volee check {}",
        words().collect::<Vec<_>>().join(" ")
    ))
}

/// Whether `--format json` is among the arguments, even when the rest of them makes no sense.
fn asks_for_json(arguments: &[OsString]) -> bool {
    if is_member(arguments) {
        return true;
    }
    let mut before: Option<&str> = None;
    for argument in arguments.iter().skip(1) {
        let argument = argument.to_str();
        match argument {
            Some("--") => return false,
            Some("--format=json") => return true,
            Some("json") if before == Some("--format") => return true,
            _ => before = argument,
        }
    }
    false
}

/// The verb that a call names, as far as one can tell.
fn verb_of(arguments: &[OsString]) -> String {
    let verbs: Vec<String> = Cli::command().get_subcommands().map(|c| c.get_name().to_string()).collect();
    let named = arguments.iter().skip(1).filter_map(|a| a.to_str()).find(|a| verbs.iter().any(|v| v == a));
    named.unwrap_or_default().to_string()
}

/// A panic is a defect of volee: the user gets a sentence, not a stack trace, unless they ask for one.
fn quiet_panics() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if std::env::var_os("RUST_BACKTRACE").is_some() {
            usual(info);
        } else if let Some(place) = info.location() {
            to_stderr(&format!("volee failed at {}:{}\n", place.file(), place.line()));
        }
    }));
}

fn internal_error(panic: &(dyn Any + Send)) -> Failure {
    let text = panic
        .downcast_ref::<&str>()
        .map(|s| (*s).to_string())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no message".to_string());
    let version = ("version", env!("CARGO_PKG_VERSION").to_string());
    let hint = ("where", "RUST_BACKTRACE=1 shows where it happened".to_string());
    Failure::defect(format!("volee failed, and no verdict was reached: {text}"), vec![version, hint])
}

/// Writes an answer and gives the exit code: an answer that cannot be written is none.
fn to_stdout(text: &str, code: u8) -> ExitCode {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => ExitCode::from(code),
        Err(error) => cannot_print(&error, code),
    }
}

/// A closed pipe (`volee … | head`) is the reader's choice, not an error; anything else is.
fn cannot_print(error: &std::io::Error, code: u8) -> ExitCode {
    if error.kind() == std::io::ErrorKind::BrokenPipe {
        return ExitCode::from(code);
    }
    to_stderr(&format!("the answer cannot be written: {error}\n"));
    ExitCode::from(VerdictWord::Error.exit_code())
}

fn to_stderr(text: &str) {
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<OsString> {
        text.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn the_arguments_are_well_formed() {
        Cli::command().debug_assert();
    }

    #[test]
    fn json_is_recognised_in_a_call_that_makes_no_sense() {
        assert!(asks_for_json(&words("volee chekc --format json x")));
        assert!(asks_for_json(&words("volee --format=json")));
        assert!(!asks_for_json(&words("volee check json --format text")));
        assert!(!asks_for_json(&words("volee conform t -- --format json")));
    }
}
