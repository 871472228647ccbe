//! `volee simulate MODEL`: takes steps at random, or one by one as the user chooses.

mod lines;

use std::fmt::Write as _;

use clap::Args;
use volee::Model;
use volee::conversation;
use volee::render::{RunView, SimulationTelling};
use volee::walk::{Ending, Walk, some_seed};

use self::lines::Input;
use crate::args::ModelArgs;
use crate::cli::Format;
use crate::context::Context;
use crate::outcome::Ended;
use crate::witness::{OnlyArgs, TraceArgs, replay_command};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  volee simulate mutex.pml                    a random run; its seed is printed
  volee simulate mutex.pml --seed 7           the same run every time
  volee simulate mutex.pml -i                 choose each step, go back, look at variables
  volee simulate mutex.pml --trace run.svg    the run as a message-sequence chart")]
pub struct Simulate {
    #[command(flatten)]
    model: ModelArgs,

    /// Choose each step from the list of those that are possible
    #[arg(short, long)]
    interactive: bool,

    /// Where the random choices start; the same seed gives the same run [default: another one each time]
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,

    /// Stop after this many steps
    #[arg(long, value_name = "COUNT", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    steps: u32,

    #[command(flatten)]
    trace: TraceArgs,

    #[command(flatten)]
    only: OnlyArgs,
}

impl Simulate {
    pub fn run(self, context: &Context) -> Ended {
        let view = self.trace.view(self.only.only.is_some())?;
        // What is chosen and seen are the steps and variables of the program as it was written.
        let mut model = self.plain().open(context)?;
        let seed = self.seed.unwrap_or_else(some_seed);
        let mut walk = Walk::new(model.draft.system(), seed)?;
        let ending = match self.interactive {
            true => converse(&mut walk, &mut model, context),
            false => walk.at_random(model.draft.system(), self.steps as usize, &|| context.is_cancelled()),
        };
        self.report(context, &mut model, &walk, seed, &ending, &view)
    }

    fn plain(&self) -> ModelArgs {
        self.model.clone().plain()
    }

    fn report(
        &self,
        context: &Context,
        model: &mut Model,
        walk: &Walk,
        seed: u64,
        ending: &Ending,
        view: &RunView,
    ) -> Ended {
        let question = if self.interactive { "an interactive run" } else { "a random run" };
        let options = self.plain().options();
        let telling = SimulationTelling {
            question,
            seed,
            ending,
            view,
            more: "--steps asks for more",
            palette: context.palette,
        };
        let (mut outcome, trace) = telling.outcome(model, walk, &options, self.interactive)?;
        if !walk.is_empty() {
            let command = replay_command(&self.model.model, &options, &trace)?;
            let _ = writeln!(outcome.text, "replay it with:\n  {}", context.palette.name(command));
        }
        Ok(outcome)
    }
}

/// Talks on stdout, or on stderr when the answer has to be JSON.
fn converse(walk: &mut Walk, model: &mut Model, context: &Context) -> Ending {
    let (mut out, palette): (Box<dyn std::io::Write>, _) = match context.format {
        Format::Text => (Box::new(std::io::stdout()), context.palette),
        Format::Json => (Box::new(std::io::stderr()), context.errors),
    };
    let mut lines = Input::new(context.format == Format::Text);
    let (draft, cancelled) = (model.draft.as_mut(), context.cancelled.as_ref());
    conversation::converse(walk, draft, &model.name, (&mut lines, &mut out), palette, cancelled)
}
