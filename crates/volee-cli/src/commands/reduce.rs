//! `volee reduce A -o B --relation R`: the smallest system equal to A, with a certificate that is checked.

use std::path::PathBuf;

use clap::Args;
use volee::graphs::{Method, Reduction};
use volee::render::graphs::reduced;
use volee::{AskError, files};

use crate::args::BudgetArgs;
use crate::context::Context;
use crate::explicit::{self, SourceArgs, Stop};
use crate::outcome::{Ended, Failure, Outcome};
use crate::progress::ProgressLine;

#[derive(Debug, Args)]
#[command(after_help = "\
Relations: strong, branching, branching-divergence, weak, weak-divergence, trace, weak-trace;
also tau-cycles (internal cycles become states), determinise, reachable.

Examples:
  volee reduce protocol.aut -o small.aut                         modulo strong bisimulation
  volee reduce protocol.aut --relation branching -o small.aut    internal steps abstracted away
  volee reduce protocol.aut --hide 'ACK.*' --relation branching  with some labels made internal
  volee reduce model.pml --relation trace -o traces.dot          of any model, as a picture")]
pub struct Reduce {
    /// The system: a file of states and steps, or any model, which is then explored; - is stdin
    #[arg(value_name = "MODEL")]
    model: PathBuf,

    /// Where the result goes; the extension chooses the format, - is stdout
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// What the result preserves
    #[arg(long, value_name = "RELATION", default_value = "strong")]
    relation: String,

    /// Write the class of each state, one line `state class` each
    #[arg(long, value_name = "FILE")]
    classes: Option<PathBuf>,

    #[command(flatten)]
    source: SourceArgs,

    #[command(flatten)]
    budget: BudgetArgs,
}

impl Reduce {
    pub fn run(self, context: &Context) -> Ended {
        self.reduce(context).or_else(|stop| stop.end("reduce", &self.relation, context))
    }

    fn reduce(&self, context: &Context) -> Result<Outcome, Stop> {
        let method = Method::parse(&self.relation)?;
        let meter = self.budget.meter(context);
        let mut progress = ProgressLine::new(meter.budget().memory);
        let found = self.source.graphs().reduce(&self.model, method, &meter, &mut progress)?;
        drop(progress);
        context.warn(&found.warnings);
        self.write(&found.reduction, context)?;
        let output = self.output.as_deref();
        let outcome = reduced(&found, &self.model, &self.relation, output, &meter, context.palette);
        Ok(match output {
            Some(path) if path.as_os_str() == "-" => Outcome::new(outcome.answer, ""),
            _ => outcome,
        })
    }

    fn write(&self, reduction: &Reduction, context: &Context) -> Result<(), Stop> {
        if let Some(path) = &self.output {
            explicit::write(&reduction.lts, path, context)?;
        }
        let Some(path) = &self.classes else { return Ok(()) };
        let Some(class_of) = reduction.certificate.class_of() else {
            return Err(Failure::new(format!("`{}` does not divide states into classes", self.relation))
                .with_help("leave --classes out")
                .into());
        };
        files::write_with(path, |out| {
            let mut lines = class_of.iter().enumerate().filter(|(_, class)| **class != u32::MAX);
            let written = lines.try_for_each(|(state, class)| writeln!(out, "{state} {class}"));
            written.map_err(|e| AskError::from(files::cannot_write(path, &e)))
        })?;
        Ok(())
    }
}
