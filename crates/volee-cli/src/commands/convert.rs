//! `volee convert IN OUT`: explores a model completely and writes its state space in another format.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use volee::lts::{Lts, LtsError, explore, write_aut};
use volee::report::{Answer, QuestionAnswer, count, seconds, write_dot};

use crate::args::{BudgetArgs, ModelArgs};
use crate::context::Context;
use crate::files;
use crate::outcome::{Ended, Failure, Outcome};
use crate::progress::ProgressLine;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  volee convert mutex.pml mutex.aut       the state space, for tools that read transition systems
  volee convert mutex.pml mutex.dot       for Graphviz: dot -Tsvg mutex.dot -o mutex.svg
  volee convert big.pml big.aut --memory 4G")]
pub struct Convert {
    #[command(flatten)]
    model: ModelArgs,

    /// The file to write; its extension chooses the format: .aut or .dot
    #[arg(value_name = "OUT")]
    out: PathBuf,

    #[command(flatten)]
    budget: BudgetArgs,
}

/// The formats of a state space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Target {
    Aut,
    Dot,
}

impl Target {
    fn of(path: &Path) -> Result<Target, Failure> {
        match path.extension().and_then(|e| e.to_str()).map(str::to_lowercase).as_deref() {
            Some("aut") => Ok(Target::Aut),
            Some("dot" | "gv") => Ok(Target::Dot),
            _ => Err(Failure::new(format!("`{}`: the extension names no format of a state space", path.display()))
                .with_help("state spaces are written as .aut or .dot")),
        }
    }
}

impl Convert {
    pub fn run(self, context: &Context) -> Ended {
        let target = Target::of(&self.out)?;
        let mut model = self.model.open(context)?;
        let meter = self.budget.meter(context);
        let explored = {
            let mut progress = ProgressLine::new(meter.budget().memory);
            explore(model.system.as_mut(), &meter, &mut progress)
        };
        let mut answer = Answer::new("convert").about(&model.name, "explicit");
        answer.set("seconds", meter.elapsed().as_secs_f64());
        let lts = match explored {
            Ok(lts) => lts,
            Err(LtsError::Limit(limit)) => {
                answer.push(QuestionAnswer::unknown("state space", &limit));
                let text = format!("unknown: {limit}\nnothing was written\n");
                return Ok(Outcome::new(answer, text));
            }
            Err(LtsError::Input(diagnostic)) => return Err(diagnostic.into()),
            Err(other) => return Err(Failure::new(other.to_string())),
        };
        answer.set("states", lts.state_count());
        answer.set("transitions", lts.transition_count());
        answer.add("written", self.out.display().to_string());
        self.write(target, &lts)?;
        let text = format!(
            "{}: {} states, {} transitions, {}\n",
            self.out.display(),
            count(lts.state_count() as u64),
            count(lts.transition_count() as u64),
            seconds(meter.elapsed().as_secs_f64()),
        );
        Ok(Outcome::new(answer, text))
    }

    fn write(&self, target: Target, lts: &Lts) -> Result<(), Failure> {
        files::write_with(&self.out, |out: &mut dyn Write| {
            let written = match target {
                Target::Aut => write_aut(lts, out),
                Target::Dot => {
                    let edges = lts.transitions().map(|(source, edge)| (source.index(), lts.name(edge.label), edge.target.index()));
                    let name = self.model.model.display().to_string();
                    write_dot(out, &name, lts.initial().index(), edges)
                }
            };
            written.map_err(|e| files::cannot_write(&self.out, &e))
        })
    }
}
