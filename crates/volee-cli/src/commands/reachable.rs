//! `volee reachable MODEL`: everything that the unbounded integers of a model can be, location by location.

use clap::Args;
use serde_json::{Map, Value, json};
use volee::counters;
use volee::integers::Effort;
use volee::report::{Answer, QuestionAnswer, seconds};

use super::check::sets_text;
use crate::args::{BudgetArgs, ModelArgs};
use crate::context::Context;
use crate::counters::{CountersArgs, Subject};
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
        let subject = Subject::open(&self.model, &self.counters, context)?;
        let program = subject.program();
        let meter = self.budget.meter(context);
        let found = counters::reachable(program, meter.budget());
        let elapsed = meter.elapsed().as_secs_f64();

        let name = self.model.model.display().to_string();
        let mut answer = Answer::new("reachable").about(&name, "counters");
        answer.push(match &found.limit {
            None => QuestionAnswer::holds("reachable set"),
            Some(limit) => QuestionAnswer::unknown("reachable set", limit),
        });
        let effort = Effort::ample();
        let sets: Map<String, Value> = found
            .sets
            .iter()
            .enumerate()
            .filter(|(i, s)| subject.is_visible(*i) && !s.conjuncts().is_empty())
            .map(|(i, s)| {
                let set = s.coalesced(&effort).unwrap_or_else(|_| s.clone());
                (program.locations[i].clone(), json!(set.display(&program.variables).to_string()))
            })
            .collect();
        answer.add("sets", sets);
        answer.set("states", found.statistics.forward_sets);
        answer.set("transitions", found.statistics.forward_steps);
        answer.set("seconds", elapsed);

        let palette = context.palette;
        let title = match &found.limit {
            None => palette.good("reachable (closed under every transition, re-checked)"),
            Some(limit) => palette.doubtful(format!("some of what is reachable ({limit})")),
        };
        let line = format!(
            "{} sets, {} steps, {} meta-transitions, {}",
            found.statistics.forward_sets,
            found.statistics.forward_steps,
            found.statistics.meta_transitions,
            seconds(elapsed)
        );
        let sets = sets_text(&subject, program, &found.sets, usize::MAX);
        Ok(Outcome::new(answer, format!("{title}\n{sets}\n{}\n", palette.faint(line))))
    }
}
