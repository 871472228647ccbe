//! `volee compare A B --relation R`: equal, or a trace or formula that tells them apart, checked on both.

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use volee::lts::{Difference, Relation, Side, compare, compare_on_the_fly};
use volee::report::{Answer, QuestionAnswer, count, counted, seconds};
use volee::system::{Meter, Reason, ReasonKind};

use crate::args::BudgetArgs;
use crate::context::Context;
use crate::explicit::{self, SourceArgs, Stop};
use crate::outcome::{Ended, Failure, Outcome};
use crate::progress::ProgressLine;

/// The longest formula that an answer carries whole.
const LONGEST_FORMULA: usize = 100_000;

#[derive(Debug, Args)]
#[command(after_help = "\
Relations: strong, branching, branching-divergence, weak, weak-divergence, trace, weak-trace, simulation,
weak-simulation; and one way only: trace-preorder, weak-trace-preorder, simulation-preorder,
weak-simulation-preorder (everything that A does, B does).

Examples:
  volee compare spec.aut protocol.aut --relation branching
  volee compare spec.aut model.pml --hide 'ack.*' --relation weak-trace
  volee compare big.pml bigger.pml --on-the-fly --memory 256M      strong, neither is built
  volee compare impl.aut spec.aut --relation weak-trace-preorder   safety: A does nothing that B does not")]
pub struct Compare {
    /// The first system: a file of states and steps, or any model, which is then explored
    #[arg(value_name = "A")]
    first: PathBuf,

    /// The second system
    #[arg(value_name = "B")]
    second: PathBuf,

    /// In which sense they are to be equal
    #[arg(long, value_name = "RELATION", default_value = "strong")]
    relation: String,

    /// Build neither system and stop at the first difference; only for strong, honours small --memory
    #[arg(long)]
    on_the_fly: bool,

    /// With --on-the-fly: the seed that chooses what is forgotten when memory is short
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    #[command(flatten)]
    source: SourceArgs,

    #[command(flatten)]
    budget: BudgetArgs,
}

impl Compare {
    pub fn run(self, context: &Context) -> Ended {
        self.compare(context).or_else(|stop| stop.end("compare", &self.relation, context))
    }

    fn compare(&self, context: &Context) -> Result<Outcome, Stop> {
        let relation: Relation = self.relation.parse()?;
        let meter = self.budget.meter(context);
        if self.on_the_fly {
            return self.compare_on_the_fly(relation, &meter, context);
        }
        let first = self.source.load(&self.first, &meter, context)?;
        let second = self.source.load_alone(&self.second, &meter, context)?;
        let difference = compare(&first, &second, relation, &meter)?;

        let mut answer = Answer::new("compare").about(self.first.display().to_string(), "explicit");
        answer.add("second", self.second.display().to_string());
        answer.add("relation", relation.name());
        explicit::statistics(&mut answer, &first, &meter);
        answer.set("states_second", second.state_count());
        answer.set("transitions_second", second.transition_count());
        let mut text = self.verdict(relation, difference.as_ref(), &mut answer, context);
        let sizes = format!(
            "{}: {}; {}: {}; {}",
            self.first.display(),
            explicit::size(&first),
            self.second.display(),
            explicit::size(&second),
            seconds(meter.elapsed().as_secs_f64())
        );
        let _ = writeln!(text, "{}", context.palette.faint(sizes));
        Ok(Outcome::new(answer, text))
    }

    /// Puts the verdict into the answer, and says it in words.
    fn verdict(
        &self,
        relation: Relation,
        difference: Option<&Difference>,
        answer: &mut Answer,
        context: &Context,
    ) -> String {
        match difference {
            None => {
                answer.push(QuestionAnswer::holds(relation.name()));
                format!("{} {relation}: {}\n", context.palette.good("holds"), self.agreement(relation))
            }
            Some(difference) => {
                answer.push(self.violated(relation, difference));
                format!("{} {relation}\n{}", context.palette.bad("violated"), self.explain(difference))
            }
        }
    }

    fn compare_on_the_fly(
        &self,
        relation: Relation,
        meter: &Meter,
        context: &Context,
    ) -> Result<Outcome, Stop> {
        if relation != Relation::Strong {
            return Err(Failure::new(format!(
                "only strong bisimulation is compared on the fly, not {relation}"
            ))
            .with_help("leave --on-the-fly out")
            .into());
        }
        let mut first = self.source.open_lazily(&self.first, context)?;
        let mut second = self.source.open_lazily(&self.second, context)?;
        let mut progress = ProgressLine::new(meter.budget().memory);
        let compared = compare_on_the_fly(first.as_mut(), second.as_mut(), meter, &mut progress, self.seed)?;
        drop(progress);
        let mut answer = Answer::new("compare").about(self.first.display().to_string(), "on-the-fly");
        answer.add("second", self.second.display().to_string());
        answer.add("relation", relation.name());
        answer.set("pairs", compared.pairs);
        answer.set("traversals", compared.traversals);
        answer.set("replaced", compared.replaced);
        answer.set("seed", self.seed);
        answer.set("seconds", meter.elapsed().as_secs_f64());
        let mut text = self.verdict(relation, compared.difference.as_ref(), &mut answer, context);
        let figures = format!(
            "{} pairs of states in {}, {} forgotten, {}",
            count(compared.pairs),
            counted(compared.traversals as usize, "traversal"),
            count(compared.replaced),
            seconds(meter.elapsed().as_secs_f64())
        );
        let _ = writeln!(text, "{}", context.palette.faint(figures));
        Ok(Outcome::new(answer, text))
    }

    fn agreement(&self, relation: Relation) -> String {
        let (a, b) = (self.first.display(), self.second.display());
        match relation {
            Relation::TracePreorder | Relation::WeakTracePreorder => {
                format!("every trace of {a} is one of {b}")
            }
            Relation::SimulationPreorder | Relation::WeakSimulationPreorder => format!("{b} simulates {a}"),
            _ => format!("{a} and {b} are equal"),
        }
    }

    fn file(&self, side: Side) -> String {
        match side {
            Side::First => self.first.display().to_string(),
            Side::Second => self.second.display().to_string(),
        }
    }

    fn violated(&self, relation: Relation, difference: &Difference) -> QuestionAnswer {
        let (message, witness) = match difference {
            Difference::Trace { trace, possible_in } => (
                format!("a trace of {} is not one of the other", self.file(*possible_in)),
                json!({ "steps": trace, "possible_in": self.file(*possible_in) }),
            ),
            Difference::Formula { formula, holds_in } => (
                format!("a formula holds in {} and not in the other", self.file(*holds_in)),
                json!({
                    "formula": formula.text(LONGEST_FORMULA),
                    "steps": formula.as_trace(),
                    "holds_in": self.file(*holds_in),
                }),
            ),
        };
        let reason = Reason { kind: ReasonKind::Different, message, place: None };
        let mut result = QuestionAnswer::violated(relation.name(), &reason, None);
        result.witness = Some(witness);
        result
    }

    fn explain(&self, difference: &Difference) -> String {
        match difference {
            Difference::Trace { trace, possible_in } => {
                let other = if *possible_in == Side::First { Side::Second } else { Side::First };
                let steps: String = trace.iter().map(|label| format!("  {label}\n")).collect();
                let (own, other) = (self.file(*possible_in), self.file(other));
                format!("a trace of {own} that {other} does not have:\n{steps}")
            }
            Difference::Formula { formula, holds_in } => {
                let file = self.file(*holds_in);
                format!(
                    "a formula that holds in {file} only (checked on both):\n  {}\n",
                    formula.to_string().trim_end()
                )
            }
        }
    }
}
