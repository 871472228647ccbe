//! The names of flags: no other part of volee knows them. What the library refuses is told here in their
//! terms.

use clap::parser::ValueSource;
use clap::{ArgMatches, Command};
use volee::conformance::{NO_CHANNELS, NOTHING_VISIBLE};
use volee::system::Diagnostic;
use volee::{AskError, Kind, NAME_OF_CLAIM, NO_FAMILY, NOTHING_ASKED, Refusal, Refused, Setting, Why};

use crate::outcome::Failure;

/// The flag by which something is set.
pub fn of_setting(setting: Setting) -> &'static str {
    match setting {
        Setting::Defines => "-D",
        Setting::Plain => "--plain",
        Setting::Copies => "--copies",
        Setting::Capacity => "--capacity",
        Setting::Naming => "--labels",
        Setting::Memory => "--memory",
        Setting::Time => "--time",
        Setting::Depth => "--max-depth",
        Setting::Order => "--search",
        Setting::AllErrors => "--all-errors",
        Setting::MaxErrors => "--max-errors",
        Setting::Reduction => "--reduction",
        Setting::Replacement => "--replacement",
        Setting::States => "--memory in states",
        Setting::Approximation => "--approximate",
        Setting::Seed => "--seed",
        Setting::Fairness => "--fair",
        Setting::Emptiness => "--emptiness",
        Setting::Runs => "--runs",
        Setting::Macros => "--macros",
        Setting::Solver => "--solver",
        Setting::Diagnostic => "--diagnostic",
        Setting::ForAny => "--for-any",
        Setting::Method => "--method",
        Setting::Sizes => "--sizes",
        Setting::Symbolic => "--symbolic",
        Setting::Parameters => "--parameter",
        Setting::Assumptions => "--assume",
        Setting::Direction => "--direction",
        Setting::Audit => "--audit",
        Setting::Coverage => "--coverage",
        Setting::Checkpoint => "--checkpoint",
        Setting::Spill => "--spill",
        Setting::Hunt => "--hunt",
    }
}

/// What was said in the call of `check` itself, though it has a default.
pub fn said(command: &Command, matches: &ArgMatches) -> Vec<Setting> {
    let (Some(check), Some(matches)) =
        (command.find_subcommand("check"), matches.subcommand_matches("check"))
    else {
        return Vec::new();
    };
    let is_said = |arg: &&clap::Arg| {
        !arg.get_default_values().is_empty()
            && matches.value_source(arg.get_id().as_str()) == Some(ValueSource::CommandLine)
    };
    let flags: Vec<&str> = check.get_arguments().filter(is_said).filter_map(clap::Arg::get_long).collect();
    if flags.is_empty() {
        return Vec::new();
    }
    let names = |setting: &Setting| flags.contains(&of_setting(*setting).trim_start_matches('-'));
    Setting::ALL.into_iter().filter(names).collect()
}

/// The flag by which a question is asked; none for what is asked anyway.
pub fn of_question(kind: Kind) -> Option<&'static str> {
    Some(match kind {
        Kind::Invariant => "--invariant",
        Kind::Reachable => "--reachable",
        Kind::Ltl => "--ltl",
        Kind::Tl => "--tl",
        Kind::Automaton => "--buchi",
        Kind::Never => "--property",
        Kind::Progress => "--progress",
        Kind::Acceptance => "--acceptance",
        Kind::Mu => "--mu",
        Kind::Apart => "--cover",
        Kind::Deadlock
        | Kind::Assertions
        | Kind::RuntimeErrors
        | Kind::Coverable
        | Kind::Target
        | Kind::Bounded => return None,
    })
}

/// How an engine is asked.
fn of_engine(name: &str) -> String {
    match name {
        "workers" => "--workers and --cluster".into(),
        other => format!("--engine {other}"),
    }
}

fn name(what: Refused) -> String {
    match what {
        Refused::Setting(setting) => of_setting(setting).into(),
        Refused::Claim(_) => "--property".into(),
        Refused::Question(kind) => {
            of_question(kind).map_or_else(|| format!("the question `{}`", kind.word()), Into::into)
        }
    }
}

fn refused(refusal: &Refusal) -> Failure {
    let what = name(refusal.what);
    match refusal.why {
        Why::OtherEngine { asked: "workers", .. } => Failure::new(format!(
            "{what} and several workers do not go together"
        ))
        .with_help(
            "workers answer deadlocks, assertions, invariants, goals and alternation-free formulas of --mu",
        ),
        Why::OtherEngine { does: "explicit", asked } => {
            let message = format!("{what} is for the explicit search, not for {}", of_engine(asked));
            Failure::new(message).with_help("leave --engine out")
        }
        Why::OtherEngine { does, .. } => Failure::new(format!("{what} needs {}", of_engine(does))),
        Why::NotAsked(kinds) => {
            let mut flags: Vec<&str> = kinds.iter().filter_map(|kind| of_question(*kind)).collect();
            flags.dedup();
            let usual = kinds.contains(&Kind::Deadlock);
            let about = if usual { "deadlocks, assertions, " } else { "" };
            let message = format!("{what} changes nothing for what is asked here");
            Failure::new(message).with_help(format!("it is for {about}{}", flags.join(", ")))
        }
        Why::OneSearch => Failure::new(format!("{what} is for one search, and these questions need several"))
            .with_help("ask one of them at a time: `--only` and `--skip` choose"),
        Why::NotWith(other) => Failure::new(format!("{what} and {} do not go together", of_setting(other)))
            .with_help(remedy(refusal.what, other)),
        Why::Needs(Setting::Emptiness) => Failure::new(format!("{what} needs --emptiness nested")),
        Why::Needs(other) => Failure::new(format!("{what} needs {}", of_setting(other))),
        Why::NoEffect { asked, because } => {
            let help = match refusal.what {
                Refused::Setting(Setting::Approximation) => "use --approximate bitstate".to_string(),
                _ => format!("leave {what} out"),
            };
            let asked = if asked == "explicit" { String::new() } else { format!(" of {}", of_engine(asked)) };
            Failure::new(format!("{what} changes nothing in the answers{asked}: {because}")).with_help(help)
        }
    }
}

fn remedy(what: Refused, other: Setting) -> &'static str {
    match (what, other) {
        (Refused::Setting(Setting::Emptiness), Setting::Approximation) => {
            "the search by components needs every state exactly; use --emptiness nested with --approximate"
        }
        (Refused::Setting(Setting::Fairness), _) => {
            "--fair needs the search by components, which needs every state exactly; leave --approximate and --emptiness nested out"
        }
        _ => "leave one of them out",
    }
}

/// A message about a formula names it after the flag it was given by; one about what was not named says how
/// that is done.
fn named(mut diagnostic: Diagnostic) -> Diagnostic {
    let help = match diagnostic.code.as_deref() {
        Some(NO_CHANNELS) => {
            "say which with --inputs CHANNEL,… and --outputs CHANNEL,…, as the specification sees them"
        }
        Some(NOTHING_VISIBLE) => {
            "say which are with --inputs and --outputs; without them inputs start with ? and outputs with !"
        }
        Some(NAME_OF_CLAIM) => "it is a property of the model: ask for it with --property",
        Some(NOTHING_ASKED) => "ask something, as in --mu '[true*] <true> true' (there is no deadlock)",
        Some(NO_FAMILY) => {
            diagnostic.help = diagnostic.help.map(|help| format!("{help} (--for-any NAME)"));
            ""
        }
        _ => "",
    };
    if !help.is_empty() {
        diagnostic.help = Some(help.into());
    }
    if let Some(place) = &mut diagnostic.place {
        let is_it = |kind: &Kind| place.file.strip_suffix(" formula") == Some(kind.word());
        if let Some(flag) = Kind::ALL.into_iter().find(is_it).and_then(of_question) {
            place.file = flag.into();
        }
    }
    diagnostic
}

impl From<AskError> for Failure {
    fn from(error: AskError) -> Self {
        match error {
            AskError::Refused(refusal) => refused(&refusal),
            AskError::Input(all) => all.into_iter().map(named).collect::<Vec<_>>().into(),
            AskError::Limit(limit) => Failure::new(limit.to_string()),
            AskError::Defect(defect) => Failure::defect(defect.message, defect.details),
        }
    }
}
