//! `volee solve FILE`: a system of boolean equations (`.bes`) or a parity game (`.gm`).

use std::path::PathBuf;

use clap::Args;
use volee::names::SOLVERS;
use volee::render::resolution;
use volee::settings::Solver;
use volee::solve::{How, Shape};
use volee::{Engine, Equations, files};

use crate::args::{BudgetArgs, KeepingArgs, WorkersArgs, named};
use crate::context::Context;
use crate::outcome::{Ended, Failure};
use crate::progress::ProgressLine;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  volee solve system.bes                     the main variable: exit code 0 true, 1 false
  volee solve game.gm                        who wins: 0 the even player, 1 the odd one
  volee solve game.gm -o game.bes            the same as equations
  volee solve --random 1000,3,2 -o r.bes     1000 variables, at most 3 successors, 2 blocks")]
pub struct Solve {
    /// The equations (.bes) or the game (.gm)
    #[arg(value_name = "FILE", required_unless_present = "random")]
    file: Option<PathBuf>,

    /// A random system instead of a file: variables, largest number of successors, blocks
    #[arg(long, value_name = "V,D,B", value_delimiter = ',', num_args = 1, conflicts_with = "file")]
    random: Vec<u32>,

    /// With --random: let blocks depend on earlier ones, so that fixed points alternate
    #[arg(long, requires = "random")]
    alternating: bool,

    /// With --random: how many of 100 variables are conjunctions
    #[arg(long, value_name = "PERCENT", default_value_t = 50)]
    conjunctions: u32,

    /// With --random: the seed of chance
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// How equations are solved: auto, dfs, bfs, acyclic or economical; games are solved by Zielonka's
    /// algorithm
    #[arg(long, value_name = "SOLVER", default_value = "auto",
          value_parser = named(&SOLVERS))]
    solver: Solver,

    /// Write the system to a .bes or .gm file (a game has only what the main variable reaches)
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    #[command(flatten)]
    budget: BudgetArgs,

    #[command(flatten)]
    pub keeping: KeepingArgs,

    #[command(flatten)]
    workers: WorkersArgs,
}

impl Solve {
    pub fn run(self, context: &Context) -> Ended {
        let input = self.input()?;
        let workers = self.workers.engine()?;
        let meter = self.budget.meter(context);
        let mut progress = ProgressLine::new(meter.budget().memory);
        if let Some(path) = &self.output {
            files::write(path, input.text_for(path, &meter, &mut progress)?)?;
        }
        let name = self.file.as_ref().map_or_else(|| "random".into(), |f| f.display().to_string());
        let (solver, keep) = (self.solver, self.keeping.keep());
        let kept = keep
            .map(|keep| input.kept(&keep, solver, self.file.as_deref(), workers.is_some()))
            .transpose()?;
        let how = How { solver, kept: kept.as_ref(), crew: None };
        let solved = input.solve(how, self.shared(workers.as_ref())?, &meter, &mut progress);
        drop(progress);
        let mut outcome = resolution(&input, &name, solved, self.seed, &meter, context.palette)?;
        outcome.text.push_str(&self.keeping.told(context.palette));
        Ok(outcome)
    }

    /// The workers and the file that each of them reads.
    fn shared<'a>(
        &'a self,
        workers: Option<&'a Engine>,
    ) -> Result<Option<(&'a std::path::Path, &'a Engine)>, Failure> {
        match (workers, &self.file) {
            (None, _) => Ok(None),
            (Some(engine), Some(file)) => Ok(Some((file, engine))),
            (Some(_), None) => Err(Failure::new("workers solve alternation-free systems that are in a file")
                .with_help("leave out --workers and --cluster")),
        }
    }

    fn input(&self) -> Result<Equations, Failure> {
        let Some(path) = &self.file else { return self.make() };
        Ok(Equations::read(path, &files::read_text(path)?)?)
    }

    fn make(&self) -> Result<Equations, Failure> {
        let [variables, degree, blocks] = self.random[..] else {
            return Err(Failure::new("--random needs three numbers: variables, successors, blocks")
                .with_help("for example --random 1000,3,2"));
        };
        let bounded = variables >= 1 && u64::from(variables) * u64::from(degree) <= 1 << 31;
        let Some(blocks) = u16::try_from(blocks).ok().filter(|b| bounded && *b >= 1) else {
            return Err(Failure::new(
                "--random makes from 1 variable to 2147483648 edges, in 1 to 65535 blocks",
            ));
        };
        let (conjunctions, alternating) = (self.conjunctions, self.alternating);
        let shape = Shape { variables, degree, blocks, conjunctions, alternating };
        Ok(Equations::random(shape, self.seed))
    }
}
