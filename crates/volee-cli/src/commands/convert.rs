//! `volee convert IN OUT`: the same system in another format; a model that is not a graph is explored first.

use std::path::PathBuf;

use clap::Args;
use volee::render::graphs::{size, statistics};
use volee::report::{Answer, seconds};

use crate::args::BudgetArgs;
use crate::context::Context;
use crate::explicit::{self, SourceArgs, Stop};
use crate::outcome::{Ended, Outcome};
use crate::progress::ProgressLine;

#[derive(Debug, Args)]
#[command(after_help = "\
Formats of results: .aut (text), .vlts (compact), .dot (a picture); .aut and .vlts also with .gz or .zst.

Examples:
  volee convert model.pml states.aut                  the whole state space of a model
  volee convert mutex.pml mutex.dot                   for Graphviz: dot -Tsvg mutex.dot -o mutex.svg
  volee convert states.aut states.vlts                compact, with a checksum
  volee convert a.aut both.aut --with b.aut --sync 'put.*'   a network of two systems")]
pub struct Convert {
    /// The system: a file of states and steps, or any model, which is then explored; - is stdin
    #[arg(value_name = "IN")]
    input: PathBuf,

    /// Where it goes; the extension chooses the format, - is stdout
    #[arg(value_name = "OUT")]
    output: PathBuf,

    #[command(flatten)]
    source: SourceArgs,

    #[command(flatten)]
    budget: BudgetArgs,
}

impl Convert {
    pub fn run(self, context: &Context) -> Ended {
        self.convert(context).or_else(|stop| stop.end("convert", "convert", context))
    }

    fn convert(&self, context: &Context) -> Result<Outcome, Stop> {
        volee::lts::Format::of(&self.output)?;
        let meter = self.budget.meter(context);
        let mut progress = ProgressLine::new(meter.budget().memory);
        let read = self.source.graphs().load(&self.input, &meter, &mut progress)?;
        drop(progress);
        context.warn(&read.warnings);
        let lts = read.system;
        explicit::write(&lts, &self.output, context)?;
        let mut answer = Answer::new("convert").about(self.input.display().to_string(), "explicit");
        statistics(&mut answer, &lts, &meter);
        answer.add("written", self.output.display().to_string());
        if self.output.as_os_str() == "-" {
            return Ok(Outcome::new(answer, ""));
        }
        let time = seconds(meter.elapsed().as_secs_f64());
        let text = format!("written to {}: {}, {time}\n", self.output.display(), size(&lts));
        Ok(Outcome::new(answer, text))
    }
}
