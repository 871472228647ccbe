//! `volee reduce A -o B --relation R`: the smallest system equal to A, with a certificate that is checked.

use std::path::PathBuf;

use clap::Args;
use volee::lts::{Certificate, Lts, Method, Reduction, reduce};
use volee::report::{Answer, seconds};

use crate::args::BudgetArgs;
use crate::context::Context;
use crate::explicit::{self, SourceArgs, Stop};
use crate::files;
use crate::outcome::{Ended, Failure, Outcome};

#[derive(Debug, Args)]
#[command(after_help = "\
Relations: strong, branching, branching-divergence, weak, weak-divergence, trace, weak-trace;
also tau-cycles (internal cycles become states), determinise, reachable.

Examples:
  volee reduce protocol.aut -o small.aut                         modulo strong bisimulation
  volee reduce protocol.aut --relation branching -o small.aut    internal steps abstracted away
  volee reduce protocol.aut --hide 'ACK.*' --relation branching  with some labels made internal
  volee reduce model.pml --relation trace -o traces.dot          of any model, as a picture")]
pub struct Reduce {
    /// The system: a file of states and steps, or any model, which is then explored; - is stdin
    #[arg(value_name = "MODEL")]
    model: PathBuf,

    /// Where the result goes; the extension chooses the format, - is stdout
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// What the result preserves
    #[arg(long, value_name = "RELATION", default_value = "strong")]
    relation: String,

    /// Write the class of each state, one line `state class` each
    #[arg(long, value_name = "FILE")]
    classes: Option<PathBuf>,

    #[command(flatten)]
    source: SourceArgs,

    #[command(flatten)]
    budget: BudgetArgs,
}

impl Reduce {
    pub fn run(self, context: &Context) -> Ended {
        self.reduce(context).or_else(|stop| stop.end("reduce", &self.relation, context))
    }

    fn reduce(&self, context: &Context) -> Result<Outcome, Stop> {
        let method = Method::parse(&self.relation)?;
        let meter = self.budget.meter(context);
        let lts = self.source.load(&self.model, &meter, context)?;
        let reduction = reduce(&lts, method, &meter)?;
        reduction.certificate.check(&lts, &reduction.lts).map_err(|e| {
            Failure::new(format!("a reduction was found but {e}"))
                .with_help("this is a defect of volee; please report it with the system and the command")
        })?;
        let certified = !matches!(reduction.certificate, Certificate::None);
        self.write(&reduction, context)?;

        let mut answer = Answer::new("reduce").about(self.model.display().to_string(), "explicit");
        explicit::statistics(&mut answer, &reduction.lts, &meter);
        answer.set("states_before", lts.state_count());
        answer.set("transitions_before", lts.transition_count());
        answer.add("relation", self.relation.as_str());
        answer.add("certificate_checked", certified);
        let text = match self.output.as_deref() {
            Some(path) if path.as_os_str() == "-" => String::new(),
            _ => self.text(&lts, &reduction.lts, certified, meter.elapsed().as_secs_f64(), context),
        };
        Ok(Outcome::new(answer, text))
    }

    fn write(&self, reduction: &Reduction, context: &Context) -> Result<(), Stop> {
        if let Some(path) = &self.output {
            explicit::write(&reduction.lts, path, context)?;
        }
        let Some(path) = &self.classes else { return Ok(()) };
        let Some(class_of) = reduction.certificate.class_of() else {
            return Err(Failure::new(format!("`{}` does not divide states into classes", self.relation))
                .with_help("leave --classes out")
                .into());
        };
        files::write_with(path, |out| {
            let mut lines = class_of.iter().enumerate().filter(|(_, class)| **class != u32::MAX);
            lines
                .try_for_each(|(state, class)| writeln!(out, "{state} {class}"))
                .map_err(|e| files::cannot_write(path, &e))
        })?;
        Ok(())
    }

    fn text(&self, before: &Lts, after: &Lts, certified: bool, time: f64, context: &Context) -> String {
        let palette = context.palette;
        let checked = if certified { "; certificate checked" } else { "" };
        let written = match &self.output {
            Some(path) => format!("written to {}\n", path.display()),
            None => String::new(),
        };
        format!(
            "{}: {}\n{}: {} ({})\n{written}{}\n",
            palette.name(self.model.display()),
            explicit::size(before),
            palette.strong("reduced"),
            explicit::size(after),
            self.relation,
            palette.faint(format!("{}{checked}", seconds(time))),
        )
    }
}
