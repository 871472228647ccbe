//! Explicit systems for the verbs that need the whole graph: read as they are, or any other model explored first;
//! labels hidden and renamed, several files composed.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, ValueEnum};
use volee::logic::formula::{EventPattern, split_process};
use volee::lts::{
    Composition, Format, Lts, LtsError, Meant, Relabelling, apply_all, explore, explore_as, read_file,
    relabel, write_as, write_file,
};
use volee::report::{Answer, QuestionAnswer, count, counted};
use volee::system::{Fault, FaultId, Flow, Label, Limit, Meter, Sink};
use volee::{Model, Naming, Options, System};

use crate::context::Context;
use crate::files;
use crate::outcome::{Ended, Failure, Outcome};
use crate::progress::ProgressLine;

/// How systems are read and what is done to their labels first.
#[derive(Debug, Clone, Args)]
pub struct SourceArgs {
    /// Make events internal: a pattern (`ask!REQ,_`, `Client[*]:ask`), or a regular expression for the whole label
    #[arg(long, value_name = "PATTERN", help_heading = "Labels")]
    hide: Vec<String>,

    /// Give events another text: a pattern, or a regular expression for the whole label, of which $1 is the first group
    #[arg(long, value_name = "PATTERN=TEXT", help_heading = "Labels")]
    rename: Vec<String>,

    /// What the steps of a program are called: what happens (`ask!REQ,1`), that and who does it, or the text of statements
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = Labels::Events, help_heading = "Labels")]
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

/// What the steps of a program are called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Labels {
    Events,
    Who,
    Text,
}

/// Why there is no system: the input is wrong, or a limit was reached.
pub enum Stop {
    Wrong(Failure),
    Limit(Limit),
}

impl From<LtsError> for Stop {
    fn from(error: LtsError) -> Self {
        match error {
            LtsError::Limit(limit) => Stop::Limit(limit),
            LtsError::Input(diagnostic) => Stop::Wrong(diagnostic.into()),
            LtsError::Io { path, source } => {
                Stop::Wrong(Failure::new(format!("`{}`: {source}", path.display())))
            }
            other => Stop::Wrong(Failure::new(other.to_string())),
        }
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
    /// The first system: composed with others if asked, labels changed.
    pub fn load(&self, path: &Path, meter: &Meter, context: &Context) -> Result<Lts, Stop> {
        let mut lts = self.open(path, meter, context)?;
        if !self.with.is_empty() {
            let mut parts = vec![lts];
            for other in &self.with {
                parts.push(self.open(other, meter, context)?);
            }
            let mut network = Composition::new(parts, self.sync.as_deref())?;
            lts = explore(&mut network, meter, &mut ProgressLine::new(meter.budget().memory))?;
            return Ok(relabel(lts, &self.rules()?));
        }
        Ok(lts)
    }

    /// A further system: labels changed as those of the first.
    pub fn load_alone(&self, path: &Path, meter: &Meter, context: &Context) -> Result<Lts, Stop> {
        let lts = self.open(path, meter, context)?;
        // Those of the first were changed after it was composed.
        Ok(if self.with.is_empty() { lts } else { relabel(lts, &self.rules()?) })
    }

    /// A system to be explored step by step; what needs the whole graph is refused.
    pub fn open_lazily(&self, path: &Path, context: &Context) -> Result<Box<dyn System>, Stop> {
        if !self.hide.is_empty() || !self.rename.is_empty() || !self.with.is_empty() {
            return Err(Failure::new("--hide, --rename and --with need the whole graph")
                .with_help("leave --on-the-fly out")
                .into());
        }
        if is_explicit(path) {
            return Ok(Box::new(read_file(path)?));
        }
        let system = self.open_model(path, context)?.system;
        Ok(match self.labels {
            Labels::Events => Box::new(Anonymous { system }),
            Labels::Who | Labels::Text => system,
        })
    }

    /// A system whose labels tell who acts.
    pub fn open_telling_who(&self, path: &Path, context: &Context) -> Result<Box<dyn System>, Stop> {
        if is_explicit(path) {
            return Ok(Box::new(read_file(path)?));
        }
        Ok(self.open_model(path, context)?.system)
    }

    fn rules(&self) -> Result<Vec<Relabelling>, Stop> {
        let mut rules = Vec::new();
        for pattern in &self.hide {
            rules.push(Relabelling::hide(pattern)?.or_where(meant_by(pattern)?));
        }
        for rule in &self.rename {
            let pattern = Relabelling::pattern_of(rule)?;
            rules.push(Relabelling::parse_rename(rule)?.or_where(meant_by(&pattern)?));
        }
        Ok(rules)
    }

    /// A system with its labels changed, unless that has to wait until it is composed with others.
    fn open(&self, path: &Path, meter: &Meter, context: &Context) -> Result<Lts, Stop> {
        let rules = if self.with.is_empty() { self.rules()? } else { Vec::new() };
        if is_explicit(path) {
            return Ok(relabel(read_file(path)?, &rules));
        }
        let mut model = self.open_model(path, context)?;
        let mut name = |names: &[String]| self.name(names, &rules);
        Ok(explore_as(
            model.system.as_mut(),
            &mut name,
            meter,
            &mut ProgressLine::new(meter.budget().memory),
        )?)
    }

    /// What a step with these names is called after all rules: rules see who acts, also where the label does not tell.
    fn name(&self, names: &[String], rules: &[Relabelling]) -> Option<String> {
        let anonymous = names.iter().map(|name| without_who(name));
        let all: Vec<String> = names.iter().cloned().chain(anonymous).collect();
        let (text, changed) = apply_all(rules, &all)?;
        Some(if changed || self.labels != Labels::Events { text } else { without_who(&text) })
    }

    /// Every step has a label that somebody may look at, and no relation here is blind to all of them: strong equivalence
    /// counts steps, the others tell apart what was not hidden, and what is hidden is chosen after the system is read. So
    /// nothing is merged, whether `--plain` is given or not.
    fn open_model(&self, path: &Path, context: &Context) -> Result<Model, Stop> {
        let options = Options { defines: self.defines.clone(), plain: self.plain, ..Options::default() };
        let naming = match self.labels {
            Labels::Text => Naming::Text,
            Labels::Events | Labels::Who => Naming::Events,
        };
        let options = Options { naming, ..options.step_by_step() };
        let model = Model::open(path, &options).map_err(|d| Stop::Wrong(d.into()))?;
        context.warn(&model.warnings);
        Ok(model)
    }
}

/// The steps that a pattern of the one grammar means.
fn meant_by(pattern: &str) -> Result<Meant, Stop> {
    // A text that is no pattern of an event may still be a regular expression.
    let matcher = EventPattern::parse(pattern).matcher().map_err(|e| Failure::new(e.to_string()))?;
    Ok(Arc::new(move |name| matcher.matches(name)))
}

/// `in?5; out!5` of `P[0]:in?5; P[0]:out!5`.
fn without_who(text: &str) -> String {
    let event = |part: &'_ str| split_process(part).map_or(part, |(_, _, event)| event).to_owned();
    text.split("; ").map(event).collect::<Vec<_>>().join("; ")
}

/// A system whose labels do not tell who acts.
struct Anonymous {
    system: Box<dyn System>,
}

impl System for Anonymous {
    fn initial(&mut self, push: &mut dyn FnMut(&[u8]) -> Flow) -> Flow {
        self.system.initial(push)
    }

    fn steps(&mut self, state: &[u8], sink: &mut dyn Sink) -> Flow {
        self.system.steps(state, sink)
    }

    fn label(&self, label: Label) -> Cow<'_, str> {
        without_who(&self.system.label(label)).into()
    }

    fn fault(&self, fault: FaultId) -> Fault {
        self.system.fault(fault)
    }
}

/// Whether a file has the whole graph in it, so that it need not be explored.
fn is_explicit(path: &Path) -> bool {
    let names_a_format = path.extension().is_some() || path == Path::new("-");
    names_a_format && Format::of(path).is_ok()
}

/// Writes a system; `-` is stdout, which JSON answers need for themselves.
pub fn write(lts: &Lts, path: &Path, context: &Context) -> Result<(), Stop> {
    if path == Path::new("-") {
        if context.format == crate::cli::Format::Json {
            return Err(Failure::new("the answer in JSON goes to stdout, so the system cannot")
                .with_help("name a file with -o")
                .into());
        }
        return match write_file(lts, path) {
            // A closed pipe is the reader's choice, not an error.
            Err(LtsError::Io { source, .. }) if source.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
            other => Ok(other?),
        };
    }
    Format::of(path)?;
    let mut written = Ok(());
    files::write_with(path, |out| {
        written = write_as(lts, path, out);
        match &written {
            Ok(()) => Ok(()),
            Err(error) => Err(Failure::new(error.to_string())),
        }
    })?;
    Ok(written?)
}

/// `3 states, 4 transitions`.
pub fn size(lts: &Lts) -> String {
    let states = counted(lts.state_count(), "state");
    format!("{states}, {} transitions", count(lts.transition_count() as u64))
}

/// Puts the size of a system and the resources used into the answer.
pub fn statistics(answer: &mut Answer, lts: &Lts, meter: &Meter) {
    answer.set("states", lts.state_count());
    answer.set("transitions", lts.transition_count());
    answer.set("seconds", meter.elapsed().as_secs_f64());
    if let Some(peak) = peak_memory() {
        answer.set("peak_memory_bytes", peak);
    }
}

/// The most memory this process has had, where the system tells.
pub fn peak_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find(|l| l.starts_with("VmHWM:"))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes << 10)
}
