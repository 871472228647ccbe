//! `volee replay MODEL TRACE`: re-executes a stored run in the program as it was written, and looks whether it shows what it is
//! said to show.

use std::path::Path;

use clap::Args;
use volee::judge::{Confirmed, Ending, judge};
use volee::model::Naming;
use volee::render::RunView;
use volee::report::{Answer, Claim, QuestionAnswer, Trace, run_from_word, run_value};
use volee::system::{Witness, replay_end};
use volee::{LONGEST_RUN, Model};

use crate::args::ModelArgs;
use crate::context::Context;
use crate::outcome::{Ended, Failure, Outcome};
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

    /// What the run must show: deadlock, assertions, 'invariant EXPR', 'reachable EXPR', 'ltl FORMULA' …; a trace file says it
    /// itself
    #[arg(long, value_name = "WHAT")]
    shows: Option<String>,

    #[command(flatten)]
    trace: TraceArgs,

    #[command(flatten)]
    only: OnlyArgs,
}

impl Replay {
    pub fn run(mut self, context: &Context) -> Ended {
        let view = self.trace.view(self.only.only.is_some())?;
        let stored = self.stored()?;
        // Runs are those of the plain program. Only traces of old may name steps of a merged one.
        self.model.plain = stored.as_ref().is_none_or(|trace| trace.plain);
        if let Some(trace) = &stored {
            // A trace remembers how its model was read, so that it always replays.
            self.model.defines.clone_from(&trace.defines);
            self.model.copies.clone_from(&trace.copies);
            self.model.capacity = trace.capacity;
        }
        let witness = match &stored {
            Some(trace) => trace.witness.clone(),
            None => run_from_word(&self.run).map_err(|e| Failure::new(e.to_string()))?,
        };
        let claim = match &self.shows {
            Some(text) => Some(text.parse::<Claim>().map_err(|e| Failure::new(e.to_string()))?),
            None => stored.as_ref().and_then(|trace| trace.claim.clone()),
        };
        let mut model = self.model.open(context)?;
        let confirmed = confirm(&mut model, &witness, claim.as_ref(), stored.as_ref())?;
        let trace = self.told(&model, &confirmed, claim.as_ref(), stored.as_ref());
        self.report(context, &view, &model, &trace, &confirmed)
    }

    fn stored(&self) -> Result<Option<Trace>, Failure> {
        if self.run.starts_with("run:") {
            return Ok(None);
        }
        let bytes = volee::files::read_bytes(Path::new(&self.run))?;
        let trace = Trace::from_json(&String::from_utf8_lossy(&bytes)).map_err(|e| {
            Failure::new(format!("`{}`: {e}", self.run)).with_help(
                "give a file written by `volee check MODEL --trace FILE.json`, or a run such as run:0.2.1x5",
            )
        })?;
        Ok(Some(trace))
    }

    /// The run that was confirmed, to be stored again.
    fn told(
        &self,
        model: &Model,
        confirmed: &Confirmed,
        claim: Option<&Claim>,
        stored: Option<&Trace>,
    ) -> Trace {
        let question = match (stored, claim) {
            (Some(trace), _) => trace.question.clone(),
            (None, Some(claim)) => claim.to_string(),
            (None, None) => "a run".to_string(),
        };
        let plain = self.model.plain || model.promela.is_some();
        let Confirmed { witness, run, .. } = confirmed;
        Trace::new(&model.name, &self.model.defines, plain, &question, witness, run)
            .read_with(&self.model.copies, self.model.capacity)
            .claiming(claim.cloned())
    }

    fn report(
        &self,
        context: &Context,
        view: &RunView,
        model: &Model,
        trace: &Trace,
        confirmed: &Confirmed,
    ) -> Ended {
        let (palette, run) = (context.palette, &confirmed.run);
        let mut text = format!("{}\n", palette.strong(format!("{}:", trace.title())));
        text.push_str(&view.text(run, &model.name, palette));
        let mut answer = Answer::new("replay").about(&model.name, "explicit");
        answer.set("steps", run.skipped + run.steps.len());
        answer.add("question", trace.question.as_str());
        answer.add("witness", run_value(run));
        answer.add("ending", word(&confirmed.ending));
        let reason = match &trace.claim {
            Some(claim) => {
                answer.add("confirmed", claim.to_string());
                confirmed.reason(claim)
            }
            None => confirmed.ending.reason(),
        };
        let told = match (&reason, &trace.claim) {
            (Some(reason), Some(_)) => palette.bad(format!("confirmed: {}", reason.message)),
            (Some(reason), None) => palette.bad(&reason.message),
            (None, Some(claim)) => palette.good(format!("confirmed: {claim}")),
            (None, None) => palette.faint(sentence(&confirmed.ending)),
        };
        text.push_str(&format!("{told}\n"));
        match &reason {
            Some(reason) => answer.push(QuestionAnswer::violated(&trace.question, reason, Some(run))),
            None if trace.claim.is_some() => {
                answer.push(QuestionAnswer::holds(&trace.question).with_run(run));
            }
            None => {}
        }
        for path in view.write(trace, run, true)? {
            text.push_str(&format!("written to {}\n", path.display()));
        }
        Ok(Outcome::new(answer, text))
    }
}

/// Replays a run in the plain program and looks whether it shows what is claimed.
fn confirm(
    model: &mut Model,
    witness: &Witness,
    claim: Option<&Claim>,
    stored: Option<&Trace>,
) -> Result<Confirmed, Failure> {
    let refuse = |why: String| {
        Failure::new(format!("the trace does not fit `{}`: {why}", model.name))
            .with_help("was the trace or the model changed since the trace was made, or is the model read with other -D?")
    };
    let lowered = model.promela.as_ref();
    let system = model.system.as_mut();
    if let Some(trace) = stored {
        let run = replay_end(system, witness, LONGEST_RUN).map_err(|e| refuse(e.to_string()))?;
        trace.compare(&run).map_err(|e| refuse(e.to_string()))?;
    }
    judge(lowered, Naming::default(), system, witness, claim).map_err(|objection| match claim {
        Some(claim) => refuse(format!("it does not show `{claim}`: {objection}")),
        None => refuse(objection.to_string()),
    })
}

fn word(ending: &Ending) -> &'static str {
    match ending {
        Ending::Fault(_) => "fault",
        Ending::Deadlock => "deadlock",
        Ending::ValidEnd => "end",
        Ending::Cycle => "cycle",
        Ending::GoesOn => "steps",
    }
}

fn sentence(ending: &Ending) -> &'static str {
    match ending {
        Ending::Fault(_) => "the last step meets an error",
        Ending::Deadlock => "no step is possible here, and this is not a valid end",
        Ending::ValidEnd => "no step is possible here: a valid end",
        Ending::Cycle => "the cycle can be repeated for ever",
        Ending::GoesOn => "the run could go on from here",
    }
}
