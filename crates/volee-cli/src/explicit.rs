//! Explicit systems for the verbs that need the whole graph: read as they are, or any other model explored first;
//! labels hidden and renamed, several files composed.

use std::path::{Path, PathBuf};

use clap::Args;
use volee::lts::{
    Composition, Format, Lts, LtsError, Relabelling, explore, read_file, relabel, write_as, write_file,
};
use volee::report::{Answer, QuestionAnswer, count, counted};
use volee::system::{Limit, Meter};
use volee::{Model, Options, System};

use crate::context::Context;
use crate::files;
use crate::outcome::{Ended, Failure, Outcome};
use crate::progress::ProgressLine;

/// How systems are read and what is done to their labels first.
#[derive(Debug, Clone, Args)]
pub struct SourceArgs {
    /// Make labels internal that match this regular expression as a whole
    #[arg(long, value_name = "REGEX", help_heading = "Labels")]
    hide: Vec<String>,

    /// Give labels that match REGEX as a whole another text; $1 is its first group
    #[arg(long, value_name = "REGEX=TEXT", help_heading = "Labels")]
    rename: Vec<String>,

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
    #[arg(long = "plain", help_heading = "Model")]
    _plain: bool,
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
        }
        self.relabel(lts)
    }

    /// A further system: labels changed as those of the first.
    pub fn load_alone(&self, path: &Path, meter: &Meter, context: &Context) -> Result<Lts, Stop> {
        self.relabel(self.open(path, meter, context)?)
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
        Ok(self.open_model(path, context)?.system)
    }

    fn relabel(&self, lts: Lts) -> Result<Lts, Stop> {
        let mut rules = Vec::new();
        for pattern in &self.hide {
            rules.push(Relabelling::hide(pattern)?);
        }
        for rule in &self.rename {
            rules.push(Relabelling::parse_rename(rule)?);
        }
        Ok(relabel(lts, &rules))
    }

    fn open(&self, path: &Path, meter: &Meter, context: &Context) -> Result<Lts, Stop> {
        if is_explicit(path) {
            return Ok(read_file(path)?);
        }
        let mut model = self.open_model(path, context)?;
        Ok(explore(model.system.as_mut(), meter, &mut ProgressLine::new(meter.budget().memory))?)
    }

    /// Every step has a label that somebody may look at, and no relation here is blind to all of them: strong equivalence
    /// counts steps, the others tell apart what was not hidden, and what is hidden is chosen after the system is read. So
    /// nothing is merged, whether `--plain` is given or not.
    fn open_model(&self, path: &Path, context: &Context) -> Result<Model, Stop> {
        let options = Options { defines: self.defines.clone(), plain: true, ..Options::default() };
        let model = Model::open(path, &options).map_err(|d| Stop::Wrong(d.into()))?;
        context.warn(&model.warnings);
        Ok(model)
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
