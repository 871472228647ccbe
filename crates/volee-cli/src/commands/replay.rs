//! `volee replay MODEL TRACE`: re-executes a stored run and shows it in any form.

use std::path::Path;

use clap::Args;
use volee::Model;
use volee::report::{Answer, Trace, run_from_word};
use volee::system::{Run, Witness, replay_end};

use crate::args::ModelArgs;
use crate::context::Context;
use crate::outcome::{Ended, Failure, Outcome};
use crate::witness::{LONGEST_RUN, TraceArgs};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  volee replay mutex.pml bug.json                  a trace that `check --trace bug.json` has written
  volee replay mutex.pml run:0.2.1x5               the run that `check` has printed
  volee replay mutex.pml bug.json --trace bug.svg  as a message-sequence chart")]
pub struct Replay {
    #[command(flatten)]
    model: ModelArgs,

    /// A trace file, or the run itself as `check` prints it (run:…)
    #[arg(value_name = "TRACE")]
    run: String,

    #[command(flatten)]
    trace: TraceArgs,
}

impl Replay {
    pub fn run(mut self, context: &Context) -> Ended {
        self.trace.validate()?;
        let stored = self.stored()?;
        if let Some(trace) = &stored {
            // A trace remembers how its model was read, so that it always replays.
            self.model.defines.clone_from(&trace.defines);
            self.model.plain = trace.plain;
            self.model.copies.clone_from(&trace.copies);
            self.model.capacity = trace.capacity;
        }
        let witness = match &stored {
            Some(trace) => trace.witness.clone(),
            None => run_from_word(&self.run).map_err(|e| Failure::new(e.to_string()))?,
        };
        let mut model = self.model.open(context)?;
        let run = self.execute(&mut model, &witness, stored.as_ref())?;
        let trace = stored.unwrap_or_else(|| self.fresh_trace(&model, &witness, &run));
        self.report(context, &model, &trace, &run)
    }

    fn stored(&self) -> Result<Option<Trace>, Failure> {
        if self.run.starts_with("run:") {
            return Ok(None);
        }
        let bytes = volee::model::read_bytes(Path::new(&self.run))?;
        let trace = Trace::from_json(&String::from_utf8_lossy(&bytes)).map_err(|e| {
            Failure::new(format!("`{}`: {e}", self.run)).with_help(
                "give a file written by `volee check MODEL --trace FILE.json`, or a run such as run:0.2.1x5",
            )
        })?;
        Ok(Some(trace))
    }

    fn execute(&self, model: &mut Model, witness: &Witness, stored: Option<&Trace>) -> Result<Run, Failure> {
        let other_model = "was the model changed since the trace was made, or read with other -D or --plain?";
        let run = replay_end(model.system.as_mut(), witness, LONGEST_RUN).map_err(|e| {
            Failure::new(format!("the trace does not fit `{}`: {e}", model.name)).with_help(other_model)
        })?;
        if let Some(trace) = stored {
            trace.compare(&run).map_err(|e| {
                Failure::new(format!("the trace does not fit `{}`: {e}", model.name)).with_help(other_model)
            })?;
        }
        Ok(run)
    }

    fn fresh_trace(&self, model: &Model, witness: &Witness, run: &Run) -> Trace {
        Trace::new(&model.name, &self.model.defines, self.model.plain, "a run", witness, run)
            .read_with(&self.model.copies, self.model.capacity)
    }

    fn report(&self, context: &Context, model: &Model, trace: &Trace, run: &Run) -> Ended {
        let mut text = format!("{}\n", context.palette.strong(format!("{}:", trace.title())));
        text.push_str(&self.trace.text(run, &model.name, context.palette));
        for path in self.trace.write(trace, run, true)? {
            text.push_str(&format!("written to {}\n", path.display()));
        }
        let mut answer = Answer::new("replay").about(&model.name, "explicit");
        answer.set("steps", run.skipped + run.steps.len());
        answer.add("question", trace.question.as_str());
        answer.add("witness", volee::report::run_value(run));
        Ok(Outcome::new(answer, text))
    }
}
