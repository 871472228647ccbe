//! `volee compare A B --relation R`: equal, or a trace or formula that tells them apart, checked on both.

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use volee::lts::{Difference, Relation, Side, compare};
use volee::report::{Answer, QuestionAnswer, seconds};
use volee::system::{Reason, ReasonKind};

use crate::args::BudgetArgs;
use crate::context::Context;
use crate::explicit::{self, SourceArgs, Stop};
use crate::outcome::{Ended, Outcome};

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
        let first = self.source.load(&self.first, &meter, context)?;
        let second = self.source.load_alone(&self.second, &meter, context)?;
        let difference = compare(&first, &second, relation, &meter)?;

        let mut answer = Answer::new("compare").about(self.first.display().to_string(), "explicit");
        answer.add("second", self.second.display().to_string());
        answer.add("relation", relation.name());
        explicit::statistics(&mut answer, &first, &meter);
        answer.set("states_second", second.state_count());
        answer.set("transitions_second", second.transition_count());
        let mut text = String::new();
        match &difference {
            None => {
                answer.push(QuestionAnswer::holds(relation.name()));
                let _ = writeln!(text, "{} {relation}: {}", context.palette.good("holds"), self.agreement(relation));
            }
            Some(difference) => {
                answer.push(self.violated(relation, difference));
                let _ = writeln!(text, "{} {relation}", context.palette.bad("violated"));
                text.push_str(&self.explain(difference));
            }
        }
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

    fn agreement(&self, relation: Relation) -> String {
        let (a, b) = (self.first.display(), self.second.display());
        match relation {
            Relation::TracePreorder | Relation::WeakTracePreorder => format!("every trace of {a} is one of {b}"),
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
                format!("a formula that holds in {file} only (checked on both):\n  {}\n", formula.to_string().trim_end())
            }
        }
    }
}
