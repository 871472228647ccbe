//! `volee reachable MODEL`: everything that the unbounded integers of a model can be, location by location.

use std::fmt::Write as _;

use clap::Args;
use serde_json::{Map, Value};
use volee::report::{Answer, QuestionAnswer, seconds};
use volee::{Settings, reachable};

use super::check::CountersArgs;
use crate::args::{BudgetArgs, ModelArgs};
use crate::context::Context;
use crate::outcome::{Ended, Outcome};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  volee reachable lift.pml                              the reachable values of every int, as sets
  volee reachable lift.pml --parameter N --assume 'N >= 1'
                                                        with N left open
  volee reachable protocol.fst --time 10s               what was found in ten seconds")]
pub struct Reachable {
    #[command(flatten)]
    model: ModelArgs,

    #[command(flatten)]
    counters: CountersArgs,

    #[command(flatten)]
    budget: BudgetArgs,
}

impl Reachable {
    pub fn run(self, context: &Context) -> Ended {
        let mut settings = Settings::default();
        self.counters.apply(&mut settings);
        let meter = self.budget.meter(context);
        let reached = reachable(&self.model.source(), &settings, meter.budget())?;
        context.warn(&reached.warnings);
        let found = &reached.found;
        let elapsed = meter.elapsed().as_secs_f64();

        let name = self.model.model.display().to_string();
        let mut answer = Answer::new("reachable").about(&name, "counters");
        answer.push(match &found.limit {
            None => QuestionAnswer::holds("reachable set"),
            Some(limit) => QuestionAnswer::unknown("reachable set", limit),
        });
        let sets: Map<String, Value> =
            reached.sets.iter().map(|(location, set)| (location.clone(), set.as_str().into())).collect();
        answer.add("sets", sets);
        answer.set("states", found.statistics.forward_sets);
        answer.set("transitions", found.statistics.forward_steps);
        answer.set("seconds", elapsed);

        let palette = context.palette;
        let mut text = match &found.limit {
            None => palette.good("reachable (closed under every transition, re-checked)"),
            Some(limit) => palette.doubtful(format!("some of what is reachable ({limit})")),
        };
        for (location, set) in &reached.sets {
            let _ = write!(text, "\n  {location}: {set}");
        }
        let line = format!(
            "{} sets, {} steps, {} meta-transitions, {}",
            found.statistics.forward_sets,
            found.statistics.forward_steps,
            found.statistics.meta_transitions,
            seconds(elapsed)
        );
        let _ = write!(text, "\n\n{}\n", palette.faint(line));
        Ok(Outcome::new(answer, text))
    }
}
