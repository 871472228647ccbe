//! Arguments that several verbs share: the model, the budgets. Flatten them into the verb's own.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use volee::system::{Budget, Meter, parse_duration, parse_size};
use volee::{Model, Options};

use crate::context::Context;
use crate::outcome::Failure;

/// A model file and how it is read.
#[derive(Debug, Clone, Args)]
pub struct ModelArgs {
    /// The model: a file whose extension tells its language
    #[arg(value_name = "MODEL")]
    pub model: PathBuf,

    /// Define a preprocessor name, as in `#define NAME VALUE`
    #[arg(short = 'D', value_name = "NAME[=VALUE]", help_heading = "Model")]
    pub defines: Vec<String>,

    /// Switch every optimisation of the model off: all states and steps of the language's semantics
    #[arg(long, help_heading = "Model")]
    pub plain: bool,

    /// Start so many processes of a type, whatever the model says of it
    #[arg(long, value_name = "PROCTYPE=N", value_parser = parse_copies, value_delimiter = ',', help_heading = "Model")]
    pub copies: Vec<(String, u32)>,

    /// Let every buffered channel hold so many messages, whatever the model says of it
    #[arg(long, value_name = "N", help_heading = "Model")]
    pub capacity: Option<u32>,
}

fn parse_copies(text: &str) -> Result<(String, u32), String> {
    let parsed = text.split_once('=').and_then(|(name, n)| Some((name.trim(), n.trim().parse().ok()?)));
    let (name, n) = parsed.ok_or("write a process type and a number, as in Client=2")?;
    Ok((name.to_string(), n))
}

impl ModelArgs {
    /// The options for opening the model.
    pub fn options(&self) -> Options {
        Options {
            defines: self.defines.clone(),
            plain: self.plain,
            dormant: false,
            copies: self.copies.clone(),
            capacity: self.capacity,
        }
    }

    /// Reads the model; warnings go to stderr.
    pub fn open(&self, context: &Context) -> Result<Model, Failure> {
        self.open_as(context, self.options())
    }

    /// Reads a model in which no process need be there at the start; warnings go to stderr.
    pub fn open_dormant(&self, context: &Context) -> Result<Model, Failure> {
        self.open_as(context, Options { dormant: true, ..self.options() })
    }

    fn open_as(&self, context: &Context, options: Options) -> Result<Model, Failure> {
        let model = Model::open(&self.model, &options)?;
        context.warn(&model.warnings);
        Ok(model)
    }
}

/// What a search may use.
#[derive(Debug, Clone, Args)]
pub struct BudgetArgs {
    /// Memory for states, stack and tables, e.g. 512M or 2G [default: three quarters of what is free]
    #[arg(long, value_name = "SIZE", value_parser = parse_size, help_heading = "Budget")]
    pub memory: Option<u64>,

    /// Time, e.g. 10s, 500ms or 5m
    #[arg(long, value_name = "TIME", value_parser = parse_duration, help_heading = "Budget")]
    pub time: Option<Duration>,

    /// Length of the longest run that is looked at, in steps
    #[arg(long, value_name = "STEPS", help_heading = "Budget")]
    pub max_depth: Option<u64>,
}

impl BudgetArgs {
    /// The budget, with Ctrl-C wired to it.
    pub fn budget(&self, context: &Context) -> Budget {
        Budget {
            memory: self.memory.or_else(usual_memory),
            time: self.time,
            depth: self.max_depth,
            cancelled: context.cancelled.clone(),
        }
    }

    /// The budget with its clock started.
    pub fn meter(&self, context: &Context) -> Meter {
        Meter::start(self.budget(context))
    }
}

/// The memory that a search may use when nobody says how much: three quarters of what is free.
pub fn usual_memory() -> Option<u64> {
    free_memory().map(|free| free / 4 * 3)
}

/// The memory that the machine can still give, where the system tells.
fn free_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find(|l| l.starts_with("MemAvailable:"))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes << 10)
}
