//! `volee convert IN OUT`: the same system in another format; a model that is not a graph is explored first.

use std::path::PathBuf;

use clap::Args;
use volee::files;
use volee::render::graphs::{size, statistics};
use volee::report::{Answer, Filter, counted, seconds};

use crate::args::BudgetArgs;
use crate::context::Context;
use crate::explicit::{self, SourceArgs, Stop};
use crate::outcome::{Ended, Failure, Outcome};
use crate::progress::ProgressLine;

#[derive(Debug, Args)]
#[command(after_help = "\
Formats of results: .aut (text), .vlts (compact), .dot (for Graphviz); .aut and .vlts also with .gz or .zst. As .svg, or as .dot
with --show, a small model becomes a picture of its states with their variables.

Examples:
  volee convert model.pml states.aut                  the whole state space of a model
  volee convert mutex.pml mutex.dot                   for Graphviz: dot -Tsvg mutex.dot -o mutex.svg
  volee convert mutex.pml mutex.svg --show inside     a picture, with the variables that are named
  volee convert states.aut states.vlts                compact, with a checksum
  volee convert a.aut both.aut --with b.aut --sync 'put.*'   a network of two systems")]
pub struct Convert {
    /// The system: a file of states and steps, or any model, which is then explored; - is stdin
    #[arg(value_name = "IN")]
    input: PathBuf,

    /// Where it goes; the extension chooses the format, - is stdout
    #[arg(value_name = "OUT")]
    output: PathBuf,

    /// In a picture, show only these variables of each state [default: all]
    #[arg(long, value_name = "VARIABLE", value_delimiter = ',')]
    show: Vec<String>,

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
        let extension = self.output.extension().map(|e| e.to_ascii_lowercase()).unwrap_or_default();
        if extension == "svg" || (!self.show.is_empty() && (extension == "dot" || extension == "gv")) {
            return self.draw(extension == "svg", context);
        }
        if !self.show.is_empty() {
            return Err(Failure::new("--show is for pictures: .svg or .dot").into());
        }
        volee::graphs::Format::of(&self.output)?;
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

    /// The states of a small model as a picture.
    fn draw(&self, as_svg: bool, context: &Context) -> Result<Outcome, Stop> {
        let meter = self.budget.meter(context);
        let filter = Filter { show: self.show.clone(), ..Filter::default() };
        let read = self.source.graphs().picture(&self.input, &filter, &meter)?;
        context.warn(&read.warnings);
        let picture = read.system;
        files::write(&self.output, if as_svg { picture.svg() } else { picture.dot() })?;
        let mut answer = Answer::new("convert").about(self.input.display().to_string(), "explicit");
        answer.set("states", picture.len());
        answer.add("written", self.output.display().to_string());
        let states = counted(picture.len(), "state");
        Ok(Outcome::new(answer, format!("written to {}: {states}\n", self.output.display())))
    }
}
