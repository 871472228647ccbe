//! A run that was chosen, by chance or by somebody: what is told of it and where it is kept.

use std::fmt::Write as _;

use volee_report::{Answer, Palette, QuestionAnswer, Trace, counted, run_value};
use volee_system::{Diagnostic, replay_end};

use super::{Outcome, RunView};
use crate::answer::LONGEST_RUN;
use crate::model::{Model, Options};
use crate::walk::{Ending, Walk};

/// What is told of a simulation.
pub struct SimulationTelling<'a> {
    /// How the run came about.
    pub question: &'static str,
    /// Where chance started; a run that was not left to chance was shown while it was chosen.
    pub seed: u64,
    /// How it ended.
    pub ending: &'a Ending,
    /// How it is shown.
    pub view: &'a RunView,
    /// How more steps are asked for.
    pub more: &'a str,
    /// Colours, or none.
    pub palette: Palette,
}

impl SimulationTelling<'_> {
    /// The outcome, and the run as it is stored.
    ///
    /// # Errors
    /// The run does not replay, or a file cannot be written.
    pub fn outcome(
        &self,
        model: &mut Model,
        walk: &Walk,
        options: &Options,
        shown: bool,
    ) -> Result<(Outcome, Trace), Diagnostic> {
        let witness = walk.witness();
        let run = replay_end(model.draft.system(), &witness, LONGEST_RUN)
            .map_err(|e| Diagnostic::error(format!("the run does not replay: {e}"), None))?;
        let trace = Trace::new(&model.name, &options.defines, options.plain, self.question, &witness, &run)
            .read_with(&options.copies, options.capacity)
            .claiming(self.ending.claim());
        let mut answer = Answer::new("simulate").about(&model.name, "explicit");
        answer.set("steps", walk.len());
        answer.set("seed", self.seed);
        answer.add("ending", self.ending.word());
        let mut text = String::new();
        if !shown {
            let heading = format!("{} of {}, seed {}:", self.question, model.name, self.seed);
            let _ = writeln!(text, "{}", self.palette.strong(heading));
            text.push_str(&self.view.text(&run, &model.name, self.palette));
        }
        match self.ending.reason() {
            Some(reason) => {
                let _ = writeln!(text, "{}", self.palette.bad(&reason.message));
                answer.push(QuestionAnswer::violated("simulation", &reason, Some(&run)));
            }
            None => {
                let _ = writeln!(text, "{}", self.sentence(walk.len()));
                answer.add("witness", run_value(&run));
            }
        }
        for path in self.view.write(&trace, &run, true)? {
            let _ = writeln!(text, "written to {}", path.display());
        }
        Ok((Outcome::new(answer, text), trace))
    }

    fn sentence(&self, steps: usize) -> String {
        let steps = counted(steps, "step");
        match self.ending {
            Ending::ValidEnd => format!("every process reached its end after {steps}"),
            Ending::Steps => format!("stopped after {steps}; {}", self.more),
            _ => format!("stopped after {steps}"),
        }
    }
}
