//! `volee conform TEST -- COMMAND`: tests against a real program.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use volee::conformance::{Campaign, Mapping, Rules, Trial, Verdict, Wire, run_tests};
use volee::render::conformance::{Chart, campaign as rendered, junit_report, log, write_chart};
use volee::system::{Diagnostic, Meter, parse_duration};
use volee::{AskError, Options, Source, files};

use crate::args::BudgetArgs;
use crate::conformance::InterfaceArgs;
use crate::context::Context;
use crate::explicit::Stop;
use crate::outcome::{Ended, Failure, Outcome};
use crate::progress::ProgressLine;

/// How long a server that should be there already may take to answer.
const CONNECTING: Duration = Duration::from_millis(500);

#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes: 0 all runs pass, 1 some run fails, 3 none fails but some is inconclusive.

Examples:
  volee conform test.json -- ./server --verbose                       by stdin and stdout, in lines
  volee conform tests/*.json --mapping lines.toml --tcp localhost:7000 -- ./server 7000
  volee conform spec.pml --inputs request --outputs reply --random 200 --runs 20 -- ./server
  volee conform test.json --log run.json --chart run.svg --junit report.xml -- ./server")]
pub struct Conform {
    /// The tests, as written by `volee tests -o NAME.json` (or .aut); with --random the specification
    #[arg(value_name = "TEST", required = true, num_args = 1..)]
    tests: Vec<PathBuf>,

    /// The program and its arguments; with --tcp the server to start, if it is not running yet
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,

    /// Connect to this address instead of the program's standard streams
    #[arg(long, value_name = "HOST:PORT")]
    tcp: Option<String>,

    /// How labels look on the wire: a TOML file with [[send]] and [[receive]] rules
    #[arg(long, value_name = "FILE.toml")]
    mapping: Option<PathBuf>,

    /// Nothing for this long is quiescence
    #[arg(long, value_name = "TIME", value_parser = parse_duration, default_value = "1s")]
    timeout: Duration,

    /// A test begins when the program has said a line like this (a regular expression); what it says before
    /// is no part of it
    #[arg(long, value_name = "LINE", conflicts_with = "tcp")]
    ready: Option<String>,

    /// How long the program may take to be ready, or to answer at its address
    #[arg(long, value_name = "TIME", value_parser = parse_duration, default_value = "10s")]
    start_time: Duration,

    /// Stimuli, outputs and silences after which a run is inconclusive
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    steps: usize,

    /// A stimulus has been taken when it was sent: messages cannot cross
    #[arg(long)]
    synchronous: bool,

    /// No purpose: walk through the specification at random, this many steps per run
    #[arg(long, value_name = "N")]
    random: Option<usize>,

    /// Run each test this many times
    #[arg(long, value_name = "N", default_value_t = 1)]
    runs: usize,

    /// The seed of the first random run; the others follow
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// Write what happened in every run as JSON
    #[arg(long, value_name = "FILE.json", help_heading = "Reports")]
    log: Option<PathBuf>,

    /// Write the first run that does not pass (or the last run) as a message-sequence chart: .svg or .mmd
    #[arg(long, value_name = "FILE", help_heading = "Reports")]
    chart: Option<PathBuf>,

    /// Write a JUnit report
    #[arg(long, value_name = "FILE.xml", help_heading = "Reports")]
    junit: Option<PathBuf>,

    /// With --random: define a preprocessor name of the specification
    #[arg(short = 'D', value_name = "NAME[=VALUE]", help_heading = "Interface")]
    defines: Vec<String>,

    #[command(flatten)]
    interface: InterfaceArgs,

    #[command(flatten)]
    budget: BudgetArgs,
}

impl Conform {
    pub fn run(self, context: &Context) -> Ended {
        let meter = self.budget.meter(context);
        self.conform(&meter, context).or_else(|stop| stop.end("conform", "conformance", context))
    }

    fn conform(&self, meter: &Meter, context: &Context) -> Result<Outcome, Stop> {
        if self.tcp.is_none() && self.command.is_empty() {
            return Err(Failure::new("there is nothing to test: neither a program nor --tcp is given")
                .with_help("write the program after --, for example: volee conform test.json -- ./server")
                .into());
        }
        if let Some(path) = &self.chart {
            Chart::of(path)?;
        }
        let mapping = match &self.mapping {
            Some(path) => Mapping::parse(&files::read_text(path)?, &path.display().to_string())
                .map_err(AskError::from)?,
            None => Mapping::default(),
        };
        let campaign = self.campaign(&mapping, meter, context)?;
        if let Some(path) = &self.log {
            files::write(path, log(&campaign))?;
        }
        if let Some(path) = &self.chart {
            write_chart(&campaign, path)?;
        }
        if let Some(path) = &self.junit {
            files::write(path, junit_report(&campaign))?;
        }
        let name = self.tests.iter().map(|p| p.display().to_string()).collect::<Vec<_>>().join(" ");
        let seed = self.random.map(|_| self.seed);
        Ok(rendered(&campaign, &name, seed, self.timeout, meter, context.palette))
    }

    fn campaign(&self, mapping: &Mapping, meter: &Meter, context: &Context) -> Result<Campaign, Stop> {
        let (steps, at_bound) = match self.random {
            Some(steps) => (steps, Verdict::Pass),
            None => (self.steps, Verdict::Inconclusive),
        };
        let rules = Rules { silence: self.timeout, steps, at_bound, synchronous: self.synchronous };
        let trial = Trial { mapping, rules, runs: self.runs, wire: &|| self.wire() };
        if self.random.is_none() {
            return Ok(run_tests(&self.tests, &trial, meter)?);
        }
        let [path] = self.tests.as_slice() else {
            return Err(
                Failure::new("--random walks through one specification, not through several files").into()
            );
        };
        let options = Options { defines: self.defines.clone(), ..Options::default() };
        let contract = self.interface.contract(Source::new(path, options));
        let mut progress = ProgressLine::new(meter.budget().memory);
        let made = contract.walk(self.seed, &trial, meter, &mut progress)?;
        context.warn(&made.warnings);
        Ok(made.tests)
    }

    fn wire(&self) -> Result<Wire, AskError> {
        let wire = match &self.tcp {
            Some(address) if self.command.is_empty() => Wire::tcp(address, &[], CONNECTING),
            Some(address) => Wire::tcp(address, &self.command, self.start_time),
            None => Wire::program(&self.command),
        };
        let wire = wire.and_then(|mut wire| match &self.ready {
            Some(line) => wire.wait_until_ready(line, self.start_time).map(|()| wire),
            None => Ok(wire),
        });
        wire.map_err(|e| {
            let help = match &self.tcp {
                Some(_) => "start the server first, or give its command after --",
                None => "the words after -- are run as they are: the path of a program and its arguments",
            };
            Diagnostic::error(e.to_string(), None).with_help(help).into()
        })
    }
}
