//! `volee check` about several models: files, folders, a project; with a summary, files for CI servers, and
//! --watch.
//!
//! Every model is checked by a call of this binary of its own: `volee --member MODEL`, then what the project
//! says, then the words of the user, which count where both speak. What is done with the answers is the
//! library's.

use std::ffi::OsString;
use std::io::{IsTerminal as _, Write as _};
use std::path::PathBuf;
use std::process::Command as Process;
use std::time::Duration;

use clap::Args;
use clap::error::ContextKind;
use volee::files;
use volee::report::{
    Answer, Member, Palette, alone_json, annotations, diagnostics_text, one_line, sarif, suite_answer,
    suite_junit, suite_text,
};
use volee::suite::{self, Given, Round, Task, find_project};
use volee::system::Diagnostic;

use crate::cli::{self, Format, MEMBER};
use crate::commands::check::Check;
use crate::context::Context;
use crate::outcome::{Ended, Failure, Outcome};

/// Options that are about the whole call.
const OF_THE_CALL: [&str; 7] = ["watch", "junit", "sarif", "github", "format", "help", "version"];

/// What is done with the answers about all models.
#[derive(Debug, Default, Args)]
pub struct SuiteArgs {
    /// Check again whenever a model, or a file that it includes, changes; Ctrl-C ends it
    #[arg(long, help_heading = "Several models")]
    watch: bool,

    /// Write the verdicts as JUnit XML, a suite for each model
    #[arg(long, value_name = "FILE.xml", help_heading = "Several models")]
    junit: Option<PathBuf>,

    /// Write what is wrong as SARIF, with the runs as code flows
    #[arg(long, value_name = "FILE.sarif", help_heading = "Several models")]
    sarif: Option<PathBuf>,

    /// Print annotations for GitHub; on its machines that is the default
    #[arg(long, help_heading = "Several models")]
    github: bool,
}

impl SuiteArgs {
    fn annotates(&self) -> bool {
        self.github || std::env::var_os("GITHUB_ACTIONS").is_some_and(|v| v == "true")
    }

    fn is_given(&self) -> bool {
        self.watch || self.junit.is_some() || self.sarif.is_some() || self.annotates()
    }
}

/// A call about several models.
pub struct Suite<'a> {
    check: &'a Check,
    words: &'a [OsString],
}

impl<'a> Suite<'a> {
    /// The suite that a call asks for; `None` if it is about one model and nothing else.
    pub fn of(check: &'a Check, words: &'a [OsString]) -> Option<Self> {
        let suite = Suite { check, words };
        (!suite.is_alone() || check.suite.is_given()).then_some(suite)
    }

    pub fn run(&self, context: &Context) -> Ended {
        if self.check.suite.watch {
            return self.watch(context);
        }
        let mut round = self.look()?;
        round.check(&|task| self.process(task, context), &mut || !context.is_cancelled());
        let outcome = self.tell(&round.reached(), context)?;
        if let ([Some((_, value))], Format::Json, true) =
            (&round.answers[..], context.format, self.is_alone())
        {
            let _ = std::io::stdout().write_all(alone_json(value).as_bytes());
            context.told();
        }
        Ok(outcome)
    }

    /// Whether a single file is named.
    fn is_alone(&self) -> bool {
        matches!(&self.check.models[..], [one] if one.extension().is_none_or(|e| e != "toml") && !one.is_dir())
    }

    /// The models, with the options of each looked at before anything is done.
    fn look(&self) -> Result<Round, Failure> {
        let mut named = self.check.models.clone();
        if named.is_empty() {
            let here = std::env::current_dir().unwrap_or_default();
            let project = find_project(&here).ok_or_else(|| {
                Failure::new("no model is named, and there is no volee.toml here or in a folder above")
                    .with_help("name a model, as in `volee check mutex.pml`, or write a volee.toml")
            })?;
            named.push(project);
        }
        let tasks = suite::tasks(&named)?;
        if let Some(flag) = self.check.single_file().filter(|_| tasks.len() > 1) {
            let message = format!("{flag} names one file, and there are {} models", tasks.len());
            return Err(Failure::new(message).with_help("in volee.toml each model may name its own"));
        }
        let wrong: Vec<Diagnostic> = tasks.iter().filter_map(|task| self.complaint(task)).collect();
        if !wrong.is_empty() {
            return Err(wrong.into());
        }
        Ok(Round::new(tasks, &named))
    }

    /// What is wrong with the options that a project gives to a model.
    fn complaint(&self, task: &Task) -> Option<Diagnostic> {
        let at = |given: &Given, message: String| Diagnostic::error(message, given.place.clone());
        if let Some(given) = task.given.iter().find(|g| OF_THE_CALL.contains(&g.name.as_str())) {
            return Some(at(given, format!("`{}` is about the whole call, not about a model", given.name)));
        }
        let words = std::iter::once("volee".into()).chain(self.member(task, None));
        let error = cli::parse(&words.collect::<Vec<_>>()).err()?;
        let flag = error.get(ContextKind::InvalidArg).map(ToString::to_string).unwrap_or_default();
        let culprit = task.given.iter().find(|g| named_by(&flag, &option(&g.name)));
        let text = error.to_string();
        let message = text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_string();
        match culprit {
            Some(given) => {
                Some(at(given, message).with_help("a key is an option of `volee check`; see its --help"))
            }
            None => Some(Diagnostic::error(message, task.place.clone())),
        }
    }

    /// The words of the call that checks one model.
    fn member(&self, task: &Task, left: Option<Duration>) -> Vec<OsString> {
        let verb = self.words.iter().position(|word| word == "check").unwrap_or(0);
        let tail = &self.words[(verb + 1).min(self.words.len())..];
        let (mut before, after) = match tail.iter().position(|word| word == "--") {
            Some(at) => (tail[..at].to_vec(), &tail[at..]),
            None => (tail.to_vec(), &[][..]),
        };
        if let Some(left) = left {
            before.push(format!("--time={}ms", left.as_millis()).into());
        }
        let mut first = OsString::from(MEMBER);
        first.push(&task.model);
        let mut words = vec![first];
        words.extend(self.words[1.min(verb)..=verb].iter().cloned());
        words.extend(task.given.iter().flat_map(options));
        words.extend(before.into_iter().chain(after.iter().cloned()));
        words
    }

    /// The process that checks one model.
    fn process(&self, task: &Task, context: &Context) -> Process {
        let mut process = Process::new(std::env::current_exe().unwrap_or_else(|_| "volee".into()));
        process.args(self.member(task, task.time(context.time_left()))).env_remove("GITHUB_ACTIONS");
        if context.palette == Palette::Colour {
            process.env("CLICOLOR_FORCE", "1");
        }
        process
    }

    /// The answer about all of them, and the files that are asked for.
    fn tell(&self, members: &[Member], context: &Context) -> Ended {
        let args = &self.check.suite;
        if let Some(path) = &args.junit {
            files::write(path, suite_junit(members))?;
        }
        if let Some(path) = &args.sarif {
            files::write(path, sarif(members))?;
        }
        let alone = self.is_alone();
        let annotated = if args.annotates() { annotations(members) } else { String::new() };
        if context.format == Format::Json {
            eprint!("{annotated}");
            return Ok(Outcome::new(suite_answer(members), ""));
        }
        for member in members {
            eprint!("{}", diagnostics_text(&member.messages(), context.errors));
        }
        let text = suite_text(members, alone, context.palette);
        Ok(Outcome::new(suite_answer(members), text + &annotated))
    }

    fn watch(&self, context: &Context) -> Ended {
        let mut last = None;
        suite::watch(
            &|| self.look().map_err(|failure| failure.diagnostics),
            &|task| self.process(task, context),
            &mut |round, members| last = Some(self.show(round, members, context)),
            &|| !context.is_cancelled(),
        );
        context.told();
        last.unwrap_or_else(|| Ok(Outcome::new(suite_answer(&[]), "")))
    }

    /// Prints the answer of a round.
    fn show(&self, round: &Round, members: &[Member], context: &Context) -> Ended {
        let ended = match round.wrong.is_empty() {
            false => Err(round.wrong.clone().into()),
            true => self.tell(members, context),
        };
        let mut out = std::io::stdout().lock();
        let text = match (&ended, context.format) {
            (Ok(outcome), Format::Json) => one_line(&outcome.answer.to_json()),
            (Err(failure), Format::Json) => one_line(&Answer::wrong("check", &failure.diagnostics).to_json()),
            (Ok(outcome), Format::Text) => outcome.text.clone(),
            (Err(failure), Format::Text) => diagnostics_text(&failure.diagnostics, context.palette),
        };
        let clear = if std::io::stdout().is_terminal() { "\u{1b}[2J\u{1b}[H" } else { "" };
        let waits = if context.format == Format::Text { "waiting for changes (Ctrl-C ends)\n" } else { "" };
        let _ = write!(out, "{clear}{text}{waits}").and_then(|()| out.flush());
        ended
    }
}

fn option(name: &str) -> String {
    match name {
        "define" | "D" => "-D".into(),
        _ => format!("--{name}"),
    }
}

/// Whether clap means this option: its name, perhaps with its value behind it.
fn named_by(told: &str, option: &str) -> bool {
    told.strip_prefix(option).is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '-'))
}

/// An option of a project as words of a call.
fn options(given: &Given) -> Vec<OsString> {
    let Some(values) = &given.values else { return Vec::new() };
    let option = option(&given.name);
    if values.is_empty() {
        return vec![option.into()];
    }
    let glue = if option == "-D" { "" } else { "=" };
    values.iter().map(|value| format!("{option}{glue}{value}").into()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_is_known_by_what_clap_tells_of_it() {
        assert!(named_by("--time <TIME>", "--time"));
        assert!(named_by("--no-such", "--no-such"));
        assert!(!named_by("--max-depth <STEPS>", "--max"));
    }
}
