//! `volee info A`: the figures of a system, and its graph where it is small enough to be read.

use std::path::PathBuf;

use clap::Args;
use volee::render::graphs::{described, events};

use crate::args::BudgetArgs;
use crate::context::Context;
use crate::explicit::{self, SourceArgs, Stop};
use crate::outcome::{Ended, Outcome};
use crate::progress::ProgressLine;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  volee info protocol.aut
  volee info model.pml --events             what formulas, rules and purposes may name
  volee info protocol.aut --hide 'ACK.*'    with some labels made internal
  volee info model.pml --picture small.dot  the reduced graph as a picture")]
pub struct Info {
    /// The system: a file of states and steps, or any model, which is then explored; - is stdin
    #[arg(value_name = "MODEL")]
    model: PathBuf,

    /// List what happens in the model, as every formula, rule and purpose may name it
    #[arg(long)]
    events: bool,

    /// Write the graph, reduced modulo branching bisimulation, e.g. to a .dot file
    #[arg(long, value_name = "FILE")]
    picture: Option<PathBuf>,

    #[command(flatten)]
    source: SourceArgs,

    #[command(flatten)]
    budget: BudgetArgs,
}

impl Info {
    pub fn run(self, context: &Context) -> Ended {
        self.info(context).or_else(|stop| stop.end("info", "info", context))
    }

    fn info(&self, context: &Context) -> Result<Outcome, Stop> {
        let (meter, graphs) = (self.budget.meter(context), self.source.graphs());
        let mut progress = ProgressLine::new(meter.budget().memory);
        if self.events {
            let found = graphs.events(&self.model, &meter, &mut progress)?;
            context.warn(&found.warnings);
            return Ok(events(&found, &self.model, context.palette));
        }
        let found = graphs.describe(&self.model, &meter, &mut progress)?;
        context.warn(&found.warnings);
        if let Some(path) = &self.picture {
            explicit::write(&found.small, path, context)?;
        }
        Ok(described(&found, &self.model, &meter, context.palette))
    }
}
