//! `volee compare A B --relation R`: equal, or a trace or formula that tells them apart, checked on both.

use std::path::PathBuf;

use clap::Args;
use volee::graphs::Relation;
use volee::render::graphs::comparison;

use crate::args::BudgetArgs;
use crate::context::Context;
use crate::explicit::{SourceArgs, Stop};
use crate::outcome::{Ended, Outcome};
use crate::progress::ProgressLine;

#[derive(Debug, Args)]
#[command(after_help = "\
Relations: strong, branching, branching-divergence, weak, weak-divergence, trace, weak-trace, simulation,
weak-simulation; and one way only: trace-preorder, weak-trace-preorder, simulation-preorder,
weak-simulation-preorder (everything that A does, B does).

Examples:
  volee compare spec.aut protocol.aut --relation branching
  volee compare spec.aut model.pml --hide 'ack.*' --relation weak-trace
  volee compare big.pml bigger.pml --on-the-fly --memory 256M      neither is built
  volee compare impl.aut spec.aut --relation weak-trace-preorder   A does nothing that B does not")]
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

    /// Build neither system, stop at the first difference (strong, weak, branching); honours small --memory
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
        let (meter, graphs) = (self.budget.meter(context), self.source.graphs());
        let mut progress = ProgressLine::new(meter.budget().memory);
        let compared = match self.on_the_fly {
            true => {
                let both = [self.first.as_path(), &self.second];
                graphs.compare_lazily(both, relation, self.seed, &meter, &mut progress)?
            }
            false => graphs.compare(&self.first, &self.second, relation, &meter, &mut progress)?,
        };
        drop(progress);
        context.warn(&compared.warnings);
        let names = [self.first.as_path(), &self.second];
        let seed = self.on_the_fly.then_some(self.seed);
        Ok(comparison(&compared, names, seed, &meter, context.palette))
    }
}
