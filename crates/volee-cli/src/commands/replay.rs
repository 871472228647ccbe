//! `volee replay MODEL TRACE`: re-executes a stored run in the program as it was written, and looks whether
//! it shows what it is said to show.

use clap::Args;
use volee::render::replay::replayed;
use volee::replay::{Recorded, replay};
use volee::report::Claim;

use crate::args::ModelArgs;
use crate::context::Context;
use crate::outcome::{Ended, Failure};
use crate::witness::{OnlyArgs, TraceArgs};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  volee replay mutex.pml bug.json                  a trace that `check --trace bug.json` has written
  volee replay mutex.pml run:0.2.1x5               the run that `check` has printed
  volee replay mutex.pml run:0.2.1x5 --shows deadlock
                                                   refused unless it ends in a deadlock
  volee replay mutex.pml bug.json --trace bug.svg  as a message-sequence chart")]
pub struct Replay {
    #[command(flatten)]
    model: ModelArgs,

    /// A trace file, or the run itself as `check` prints it (run:…)
    #[arg(value_name = "TRACE")]
    run: String,

    /// What the run must show: deadlock, assertions, 'invariant EXPR', 'reachable EXPR', 'ltl FORMULA' …; a
    /// trace file says it itself
    #[arg(long, value_name = "WHAT")]
    shows: Option<String>,

    #[command(flatten)]
    trace: TraceArgs,

    #[command(flatten)]
    only: OnlyArgs,
}

impl Replay {
    pub fn run(self, context: &Context) -> Ended {
        let view = self.trace.view(self.only.only.is_some())?;
        let claim = self.shows.as_ref().map(|text| text.parse::<Claim>()).transpose();
        let claim = claim.map_err(|e| Failure::new(e.to_string()))?;
        let recorded = Recorded::given(&self.run).map_err(|wrong| {
            match wrong.help.is_none() && !self.run.starts_with("run:") {
            true => wrong.with_help(
                "give a file written by `volee check MODEL --trace FILE.json`, or a run such as run:0.2.1x5",
            ),
            false => wrong,
        }
        })?;
        let found = replay(&self.model.source(), recorded, claim)?;
        context.warn(&found.warnings);
        Ok(replayed(&found, &view, context.palette)?)
    }
}
