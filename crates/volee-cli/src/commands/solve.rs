//! `volee solve FILE`: a system of boolean equations (`.bes`) or a parity game (`.gm`).

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::PossibleValuesParser;
use volee::bes::certificate::{Nobody, check};
use volee::bes::explicit::Explicit;
use volee::bes::format::{game_to_equations, read_bes, read_gm, write_bes, write_gm};
use volee::bes::game::{Game, Player, build, verify, zielonka};
use volee::bes::random::{Shape, equations};
use volee::bes::{BooleanGraph, SolveError, Solver, Trouble, solve};
use volee::report::{Answer, QuestionAnswer, bytes, counted, seconds};
use volee::system::{Limit, Meter, Reason, ReasonKind};

use volee::{Engine, solve_shared};

use crate::args::{BudgetArgs, WorkersArgs};
use crate::context::Context;
use crate::files;
use crate::outcome::{Ended, Failure, Outcome};
use crate::progress::ProgressLine;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  volee solve system.bes                     the value of the main variable: exit code 0 true, 1 false
  volee solve game.gm                        who wins: 0 the even player (true), 1 the odd player (false)
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

    /// How equations are solved: auto, dfs, bfs, acyclic or economical; games are solved by Zielonka's algorithm
    #[arg(long, value_name = "SOLVER", default_value = "auto",
          value_parser = PossibleValuesParser::new(Solver::ALL.map(|s| s.0)))]
    solver: String,

    /// Write the system to a .bes or .gm file (a game has only what the main variable reaches)
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    #[command(flatten)]
    budget: BudgetArgs,

    #[command(flatten)]
    workers: WorkersArgs,
}

/// What a file holds.
enum Input {
    Equations(Explicit, Vec<String>),
    Game(Game, u32),
}

/// How the two values are put into words.
struct Said {
    yes: String,
    no: String,
}

/// What came out.
struct Resolution {
    value: bool,
    method: &'static str,
    variables: u64,
    edges: u64,
    memory: u64,
}

impl Solve {
    pub fn run(self, context: &Context) -> Ended {
        let input = self.input()?;
        let engine = self.workers.engine()?;
        let meter = self.budget.meter(context);
        if let Some(path) = &self.output {
            self.write(&input, path, &meter)?;
        }
        let name = self.file.as_ref().map_or_else(|| "random".into(), |f| f.display().to_string());
        let mut answer = Answer::new("solve").about(&name, "equations");
        let (said, solved) = match &input {
            Input::Equations(system, names) => {
                let main = system.main();
                let main = names.get(main as usize).cloned().unwrap_or_else(|| format!("x{main}"));
                let said = Said { yes: format!("{main} is true"), no: format!("{main} is false") };
                (said, self.equations(system, engine.as_ref(), &meter))
            }
            Input::Game(game, start) => {
                let wins = |who| format!("the {who} player wins from vertex {start}");
                (Said { yes: wins("even"), no: wins("odd") }, game_winner(game, *start, &meter))
            }
        };
        let palette = context.palette;
        let mut text = String::new();
        match solved {
            Ok(solved) => {
                // A value is neither good nor bad news, so it is said in plain words; machines get the usual verdict.
                let Said { yes, no } = said;
                let _ = writeln!(text, "{}", palette.strong(if solved.value { &yes } else { &no }));
                let reason = Reason { kind: ReasonKind::Formula, message: no, place: None };
                answer.push(match solved.value {
                    true => QuestionAnswer::holds(&yes),
                    false => QuestionAnswer::violated(&yes, &reason, None),
                });
                answer.set("value", solved.value);
                self.costs(&solved, &meter, &mut answer, &mut text, context);
            }
            Err(SolveError::Limit(limit)) => {
                let question = said.yes;
                let unknown = palette.doubtful(format!("{:<9}", "unknown"));
                let _ = writeln!(text, "{unknown} whether {question}  ({limit})");
                answer.push(QuestionAnswer::unknown(&question, &limit));
            }
            Err(other) => return Err(Failure::new(other.to_string())),
        }
        Ok(Outcome::new(answer, text))
    }

    fn costs(
        &self,
        solved: &Resolution,
        meter: &Meter,
        answer: &mut Answer,
        text: &mut String,
        context: &Context,
    ) {
        let elapsed = meter.elapsed().as_secs_f64();
        answer.set("variables", solved.variables);
        answer.set("transitions", solved.edges);
        answer.set("seconds", elapsed);
        answer.set("peak_memory_bytes", solved.memory);
        answer.set("solver", solved.method);
        answer.set("seed", self.seed);
        let line = format!(
            "{}: {}, {} looked at, {}, {}; the certificate was checked",
            solved.method,
            counted(solved.variables as usize, "variable"),
            counted(solved.edges as usize, "edge"),
            seconds(elapsed),
            bytes(solved.memory),
        );
        let _ = writeln!(text, "{}", context.palette.faint(line));
    }

    fn input(&self) -> Result<Input, Failure> {
        let Some(path) = &self.file else { return self.make() };
        let name = path.display().to_string();
        match path.extension().and_then(|e| e.to_str()) {
            Some("bes") => {
                let file = read_bes(&name, &files::read_text(path)?)?;
                Ok(Input::Equations(file.system, file.names))
            }
            Some("gm" | "pg") => {
                let file = read_gm(&name, &files::read_text(path)?)?;
                Ok(Input::Game(file.game, file.start))
            }
            _ => Err(Failure::new(format!("`{name}` is neither equations nor a game"))
                .with_help("equations have the extension .bes, parity games .gm")),
        }
    }

    fn make(&self) -> Result<Input, Failure> {
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
        let shape = Shape {
            variables,
            degree,
            blocks,
            conjunctions: self.conjunctions,
            alternating: self.alternating,
        };
        Ok(Input::Equations(equations(shape, self.seed), Vec::new()))
    }

    fn equations(
        &self,
        system: &Explicit,
        engine: Option<&Engine>,
        meter: &Meter,
    ) -> Result<Resolution, SolveError> {
        if let Some(engine) = engine {
            return self.by_workers(system, engine, meter);
        }
        let mut graph = system;
        let mut progress = ProgressLine::new(meter.budget().memory);
        if !graph.alternation_free() {
            let built = build(&mut graph, meter, &mut progress)?;
            return game_winner(&built.game, 0, meter);
        }
        let solver = Solver::ALL.iter().find(|(n, _)| *n == self.solver).map_or(Solver::Auto, |(_, s)| *s);
        let solved = solve(&mut graph, solver, meter, &mut progress)?;
        check(&mut graph, &solved.solution, solved.value, meter, &mut Nobody)?;
        let s = solved.statistics;
        Ok(Resolution {
            value: solved.value,
            method: solved.solver.name(),
            variables: s.variables,
            edges: s.edges,
            memory: s.memory,
        })
    }

    /// By several workers, each of which reads the file itself.
    fn by_workers(
        &self,
        system: &Explicit,
        engine: &Engine,
        meter: &Meter,
    ) -> Result<Resolution, SolveError> {
        let trouble = |message: String| SolveError::Trouble(Trouble(message));
        let Some(file) = self.file.as_deref().filter(|_| (&system).alternation_free()) else {
            let message = "workers solve alternation-free systems that are in a file; leave out --workers and --cluster";
            return Err(trouble(message.into()));
        };
        let mut progress = ProgressLine::new(meter.budget().memory);
        let joint = match solve_shared(file, engine, meter, &mut progress) {
            Ok(Ok(joint)) => joint,
            Ok(Err(limit)) => return Err(SolveError::Limit(limit)),
            Err(error) => return Err(trouble(error.to_string())),
        };
        joint.check(&mut &*system, meter)?;
        let s = joint.statistics;
        Ok(Resolution {
            value: joint.value,
            method: "workers",
            variables: s.variables,
            edges: s.edges,
            memory: s.memory,
        })
    }

    fn write(&self, input: &Input, path: &Path, meter: &Meter) -> Result<(), Failure> {
        let text = match (path.extension().and_then(|e| e.to_str()), input) {
            (Some("bes"), Input::Equations(system, names)) => {
                write_bes(system, |v| names.get(v as usize).cloned().unwrap_or_else(|| format!("x{v}")))
            }
            (Some("bes"), Input::Game(game, start)) => {
                let system = game_to_equations(game, *start)
                    .ok_or_else(|| Failure::new("the game has more than 65536 different priorities"))?;
                write_bes(&system, |v| format!("x{v}"))
            }
            (Some("gm" | "pg"), Input::Game(game, start)) => write_gm(game, *start),
            (Some("gm" | "pg"), Input::Equations(system, _)) => {
                let mut progress = ProgressLine::new(meter.budget().memory);
                let built =
                    build(&mut &*system, meter, &mut progress).map_err(|e| Failure::new(e.to_string()))?;
                write_gm(&built.game, 0)
            }
            _ => {
                return Err(Failure::new(format!(
                    "`{}`: systems are written as .bes or .gm",
                    path.display()
                )));
            }
        };
        files::write(path, text)
    }
}

fn game_winner(game: &Game, start: u32, meter: &Meter) -> Result<Resolution, SolveError> {
    let winning = zielonka(game, meter)?;
    verify(game, &winning, start).map_err(|defect| {
        let message =
            format!("the answer was not confirmed ({defect}); this is a defect of volee, please report it");
        SolveError::Limit(Limit::Other { message })
    })?;
    let edges = game.edge_count() as u64;
    Ok(Resolution {
        value: winning.winner[start as usize] == Player::Even,
        method: "zielonka",
        variables: game.len() as u64,
        edges,
        memory: game.len() as u64 * 30 + edges * 8,
    })
}
