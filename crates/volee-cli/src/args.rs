//! Arguments that several verbs share: the model, the budgets, the workers. Flatten them into the verb's own.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use volee::names::{Named, value};
use volee::report::{Palette, quoted};
use volee::system::{Budget, Meter, parse_duration};
use volee::{Cluster, Engine, Keep, Model, Options, Source};

use crate::context::Context;
use crate::outcome::Failure;

/// A value of a setting, by the name that the library gives it.
pub fn named<T: Copy + Send + Sync + 'static>(all: &'static [Named<T>]) -> impl TypedValueParser<Value = T> {
    let possible = |(name, _, about): &'static Named<T>| match about.is_empty() {
        true => PossibleValue::new(*name),
        false => PossibleValue::new(*name).help(*about),
    };
    PossibleValuesParser::new(all.iter().map(possible))
        .map(|name| value(all, &name).expect("clap gives one of these names"))
}

/// What a user says about a model, which may begin with a minus (`-end-`, `-x < 3`), but is not a flag whose
/// place it has taken.
pub fn said(text: &str) -> Result<String, String> {
    let is_short = text.len() == 2 && text.as_bytes()[1].is_ascii_alphabetic();
    match text.strip_prefix('-') {
        Some(rest) if rest.starts_with('-') || is_short => Err("a value is missing: this is a flag".into()),
        _ => Ok(text.into()),
    }
}

/// A model file and how it is read.
#[derive(Debug, Clone, Args)]
pub struct ModelArgs {
    /// The model: a file whose extension tells its language
    #[arg(value_name = "MODEL")]
    pub model: PathBuf,

    #[command(flatten)]
    reading: ReadingArgs,
}

/// How a model is read.
#[derive(Debug, Clone, Args)]
pub struct ReadingArgs {
    /// Define a preprocessor name, as in `#define NAME VALUE`
    #[arg(short = 'D', value_name = "NAME[=VALUE]", help_heading = "Model")]
    pub defines: Vec<String>,

    /// Switch every optimisation of the model off: all states and steps of the language's semantics
    #[arg(long, help_heading = "Model")]
    pub plain: bool,

    /// Start this many processes of a type, whatever the model says of it
    #[arg(long, value_name = "PROCTYPE=N", value_parser = parse_copies, value_delimiter = ',', help_heading = "Model")]
    pub copies: Vec<(String, u32)>,

    /// Let every buffered channel hold this many messages, whatever the model says of it
    #[arg(long, value_name = "N", help_heading = "Model")]
    pub capacity: Option<u32>,
}

fn parse_copies(text: &str) -> Result<(String, u32), String> {
    let parsed = text.split_once('=').and_then(|(name, n)| Some((name.trim(), n.trim().parse().ok()?)));
    let (name, n) = parsed.ok_or("write a process type and a number, as in Client=2")?;
    Ok((name.to_string(), n))
}

impl ReadingArgs {
    /// The options for opening the model.
    pub fn options(&self) -> Options {
        Options {
            defines: self.defines.clone(),
            plain: self.plain,
            dormant: false,
            copies: self.copies.clone(),
            capacity: self.capacity,
            ..Options::default()
        }
    }
}

impl ModelArgs {
    /// The options for opening the model.
    pub fn options(&self) -> Options {
        self.reading.options()
    }

    /// The same model with every optimisation off.
    #[must_use]
    pub fn plain(mut self) -> Self {
        self.reading.plain = true;
        self
    }

    /// The model and all its options.
    pub fn source(&self) -> Source {
        Source::new(&self.model, self.options())
    }

    /// Reads the model; warnings go to stderr.
    pub fn open(&self, context: &Context) -> Result<Model, Failure> {
        let model = self.source().model()?;
        context.warn(&model.warnings);
        Ok(model)
    }
}

/// What a search may use beside what the whole process may.
#[derive(Debug, Clone, Args)]
pub struct BudgetArgs {
    /// Length of the longest run that is looked at, in steps
    #[arg(long, value_name = "STEPS", help_heading = "Budget")]
    pub max_depth: Option<u64>,
}

impl BudgetArgs {
    /// The budget as it was given, with Ctrl-C wired to it.
    pub fn given(&self, context: &Context) -> Budget {
        Budget { depth: self.max_depth, ..context.budget() }
    }

    /// The budget with its clock started.
    pub fn meter(&self, context: &Context) -> Meter {
        let given = self.given(context);
        Meter::start(Budget { memory: context.memory(), ..given })
    }
}

/// Where long work is kept.
#[derive(Debug, Clone, Args)]
pub struct KeepingArgs {
    /// Keep the search in a file now and then, and at a limit or a signal: `volee resume FILE` goes on with
    /// it
    #[arg(long, value_name = "FILE", help_heading = "Long searches")]
    pub checkpoint: Option<PathBuf>,

    /// With --checkpoint: the time between two of them
    #[arg(long, value_name = "TIME", default_value = "5min", value_parser = parse_duration, requires = "checkpoint",
          help_heading = "Long searches")]
    checkpoint_every: Duration,

    /// The words of the call that is gone on with.
    #[arg(skip)]
    resumed: Option<Vec<String>>,
}

impl KeepingArgs {
    /// Where to keep what this call does.
    pub fn keep(&self) -> Option<Keep> {
        let words = || std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
        let (call, resume) = (self.resumed.clone().unwrap_or_else(words), self.resumed.is_some());
        self.checkpoint.clone().map(|file| Keep { file, every: self.checkpoint_every, call, resume })
    }

    /// Goes on from a file, with these words of its call.
    pub fn resume(&mut self, call: Vec<String>, file: PathBuf) {
        (self.resumed, self.checkpoint) = (Some(call), Some(file));
    }

    /// How to go on with what is kept, where something is.
    pub fn told(&self, palette: Palette) -> String {
        let told =
            |file: &PathBuf| format!("kept: volee resume {} goes on", quoted(&file.display().to_string()));
        let file = self.checkpoint.as_ref().filter(|file| file.exists());
        file.map_or_else(String::new, |file| format!("{}\n", palette.faint(told(file))))
    }
}

/// Where a question is answered.
#[derive(Debug, Clone, Default, Args)]
pub struct WorkersArgs {
    /// Threads that search together once there are many states (32,768); all cores unless something else is
    /// said
    #[arg(long, value_name = "N", help_heading = "Workers", conflicts_with = "cluster")]
    pub workers: Option<usize>,

    /// Answer with the workers of a host file (see `volee worker`), each of which may use the memory budget
    #[arg(long, value_name = "HOSTS.toml", help_heading = "Workers")]
    pub cluster: Option<PathBuf>,

    /// With --cluster: a file with the secret that all workers share
    #[arg(long, value_name = "FILE", help_heading = "Workers", requires = "cluster")]
    pub secret_file: Option<PathBuf>,

    /// With --cluster: when a worker is lost, ask the others again, up to this many times
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Workers", requires = "cluster")]
    pub restart: u32,
}

impl WorkersArgs {
    /// The workers, if several are asked for.
    pub fn engine(&self) -> Result<Option<Engine>, Failure> {
        if let Some(path) = &self.cluster {
            let cluster = Cluster::read(path, self.secret_file.as_deref())
                .map_err(|error| Failure::new(error.to_string()))?;
            return Ok(Some(Engine::Cluster(Cluster { restarts: self.restart, ..cluster })));
        }
        let stray =
            self.secret_file.as_ref().map(|_| "--secret-file").or((self.restart > 0).then_some("--restart"));
        match stray {
            Some(flag) => Err(Failure::new(format!("{flag} needs --cluster"))),
            None => Ok(self.workers.map(Engine::Workers)),
        }
    }
}
