//! `volee simulate MODEL`: takes steps at random, or one by one as the user chooses.

mod interactive;
mod lines;

use std::fmt::Write as _;

use clap::Args;
use volee::render::RunView;
use volee::report::{Answer, QuestionAnswer, Trace, counted, run_value};
use volee::system::replay_end;
use volee::walk::{Ending, Walk};
use volee::{LONGEST_RUN, Model};

use crate::args::ModelArgs;
use crate::context::Context;
use crate::outcome::{Ended, Failure, Outcome};
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

    /// Stop after so many steps
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
        let mut walk = Walk::new(model.system.as_mut(), seed)?;
        let ending = match self.interactive {
            true => interactive::converse(&mut walk, model.system.as_mut(), &model.name, context)?,
            false => walk.at_random(model.system.as_mut(), self.steps as usize, &|| context.is_cancelled()),
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
        let witness = walk.witness();
        let run = replay_end(model.system.as_mut(), &witness, LONGEST_RUN)
            .map_err(|e| Failure::new(format!("the run does not replay: {e}")))?;
        let question = if self.interactive { "an interactive run" } else { "a random run" };
        let options = self.plain().options();
        let trace = Trace::new(&model.name, &options.defines, options.plain, question, &witness, &run)
            .read_with(&options.copies, options.capacity)
            .claiming(ending.claim());

        let mut answer = Answer::new("simulate").about(&model.name, "explicit");
        answer.set("steps", walk.len());
        answer.set("seed", seed);
        answer.add("ending", ending.word());
        let palette = context.palette;
        let mut text = String::new();
        if !self.interactive {
            let _ =
                writeln!(text, "{}", palette.strong(format!("a random run of {}, seed {seed}:", model.name)));
            text.push_str(&view.text(&run, &model.name, palette));
        }
        match ending.reason() {
            Some(reason) => {
                let _ = writeln!(text, "{}", palette.bad(&reason.message));
                answer.push(QuestionAnswer::violated("simulation", &reason, Some(&run)));
            }
            None => {
                let _ = writeln!(text, "{}", sentence(ending, walk.len()));
                answer.add("witness", run_value(&run));
            }
        }
        for path in view.write(&trace, &run, true)? {
            let _ = writeln!(text, "written to {}", path.display());
        }
        if !run.steps.is_empty() {
            let command = replay_command(&self.model.model, &options, &trace)?;
            let _ = writeln!(text, "replay it with:\n  {}", palette.name(command));
        }
        Ok(Outcome::new(answer, text))
    }
}

fn sentence(ending: &Ending, steps: usize) -> String {
    let steps = counted(steps, "step");
    match ending {
        Ending::ValidEnd => format!("every process reached its end after {steps}"),
        Ending::Steps => format!("stopped after {steps}; --steps asks for more"),
        _ => format!("stopped after {steps}"),
    }
}

/// A seed that differs from run to run; it is printed, so that the run can be had again.
fn some_seed() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map_or(1, |d| d.as_nanos() as u64 % 1_000_000)
}
