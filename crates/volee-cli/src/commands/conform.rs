//! `volee conform TEST -- COMMAND`: tests against a real program.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use serde_json::json;
use volee::conform::run::{Event, Mapping, RandomWalk, Report, Rules, StoredTest, Wire, execute};
use volee::conform::{
    DELTA, Determinised, Livelock, MetaId, Moves, Purpose, Specification, TestGraph, Verdict, read_test,
};
use volee::report::{
    Answer, CaseOutcome, JunitCase, Palette, QuestionAnswer, VerdictWord, counted, junit, run_mermaid,
    run_svg, seconds,
};
use volee::system::{
    Action, EventKind, Limit, Meter, Reason, ReasonKind, Run, RunState, RunStep, parse_duration,
};
use volee::{Model, Naming, Options};

use crate::args::BudgetArgs;
use crate::conformance::{self, InterfaceArgs};
use crate::context::Context;
use crate::explicit::Stop;
use crate::files;
use crate::outcome::{Ended, Failure, Outcome};
use crate::progress::ProgressLine;

/// How long a server that we start may take to be there, and one that should be there already.
const CONNECTING: [Duration; 2] = [Duration::from_secs(5), Duration::from_millis(500)];
/// Coverage is told of specifications with at most this many determinised states.
const MOST_COUNTED: usize = 1 << 20;
/// Of a longer run only the end is printed.
const SHOWN: usize = 30;
/// A chart shows this many steps.
const LONGEST_CHART: usize = 200;

#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes: 0 all runs pass, 1 some run fails, 3 none fails but some is inconclusive.

Examples:
  volee conform test.json -- ./server --verbose                       over stdin and stdout, a line per message
  volee conform tests/*.json --mapping lines.toml --tcp localhost:7000 -- ./server 7000
  volee conform spec.pml --inputs request --outputs reply --random 200 --runs 20 --seed 7 -- ./server
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

/// One run.
struct Done {
    name: String,
    report: Report,
    seed: Option<u64>,
}

/// All runs of a call.
struct Campaign {
    done: Vec<Done>,
    coverage: Option<Coverage>,
    quiescence: Option<Livelock>,
}

/// What a campaign of random runs has covered.
#[derive(Debug, Clone, Copy)]
struct Coverage {
    covered: usize,
    transitions: usize,
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
            chart_form(path)?;
        }
        let mapping = match &self.mapping {
            Some(path) => Mapping::parse(&files::read_text(path)?, &path.display().to_string())?,
            None => Mapping::default(),
        };
        let campaign = match self.random {
            Some(steps) => {
                let (done, coverage) = self.random(steps, &mapping, meter, context)?;
                Campaign { done, coverage, quiescence: Some(self.interface.livelock()) }
            }
            None => {
                let (done, quiescence) = self.stored(&mapping, meter)?;
                Campaign { done, coverage: None, quiescence }
            }
        };
        self.write(&campaign.done)?;
        Ok(self.outcome(&campaign, meter, context))
    }

    fn wire(&self) -> Result<Wire, Stop> {
        let wire = match &self.tcp {
            Some(address) => {
                Wire::tcp(address, &self.command, CONNECTING[usize::from(self.command.is_empty())])
            }
            None => Wire::program(&self.command),
        };
        wire.map_err(|e| {
            let help = match &self.tcp {
                Some(_) => "start the server first, or give its command after --",
                None => "the words after -- are run as they are: the path of a program and its arguments",
            };
            Failure::new(e.to_string()).with_help(help).into()
        })
    }

    fn rules(&self, steps: usize, at_bound: Verdict) -> Rules {
        Rules { silence: self.timeout, steps, at_bound, synchronous: self.synchronous }
    }

    fn stored(&self, mapping: &Mapping, meter: &Meter) -> Result<(Vec<Done>, Option<Livelock>), Stop> {
        let mut tests = Vec::new();
        let mut quiescence = None;
        for path in &self.tests {
            let (graph, livelock) = read(path)?;
            quiescence = quiescence.or(livelock);
            tests.push((path.display().to_string(), graph));
        }
        let rules = self.rules(self.steps, Verdict::Inconclusive);
        let mut done = Vec::new();
        for (name, graph) in &tests {
            for _ in 0..self.runs {
                let mut wire = self.wire()?;
                let report = execute(&mut StoredTest::new(graph), &mut wire, mapping, &rules, meter)?;
                done.push(Done { name: name.clone(), report, seed: None });
            }
        }
        Ok((done, quiescence))
    }

    /// Random runs through the specification.
    fn random(
        &self,
        steps: usize,
        mapping: &Mapping,
        meter: &Meter,
        context: &Context,
    ) -> Result<(Vec<Done>, Option<Coverage>), Stop> {
        let [path] = self.tests.as_slice() else {
            return Err(
                Failure::new("--random walks through one specification, not through several files").into()
            );
        };
        let options = Options {
            defines: self.defines.clone(),
            single_steps: true,
            naming: Naming::Text,
            ..Options::default()
        };
        let mut model = Model::open(path, &options).map_err(Failure::from)?;
        context.warn(&model.warnings);
        let interface = self.interface.interface(&model)?;
        let mut progress = ProgressLine::new(meter.budget().memory);
        let livelock = self.interface.livelock();
        let specification =
            Specification::new(model.system.as_mut(), interface, livelock, meter, &mut progress);
        let mut product = Determinised::new(specification, Purpose::nothing());
        let rules = self.rules(steps, Verdict::Pass);
        let mut done = Vec::new();
        let mut taken: BTreeSet<(u32, String)> = BTreeSet::new();
        for run in 0..self.runs {
            let seed = self.seed.wrapping_add(run as u64);
            let mut wire = self.wire()?;
            let report =
                execute(&mut RandomWalk::new(&mut product, seed), &mut wire, mapping, &rules, meter)?;
            taken.extend(report.taken.iter().filter_map(|(node, label)| Some((*node, label.clone()?))));
            done.push(Done { name: format!("{} (seed {seed})", path.display()), report, seed: Some(seed) });
        }
        // A specification too large to be counted has no coverage to report.
        let coverage =
            transitions(&mut product).map(|transitions| Coverage { covered: taken.len(), transitions });
        Ok((done, coverage))
    }

    fn write(&self, done: &[Done]) -> Result<(), Stop> {
        if let Some(path) = &self.log {
            let runs: Vec<_> =
                done.iter().map(|d| json!({ "test": d.name, "seed": d.seed, "run": d.report })).collect();
            let text = serde_json::to_string_pretty(&json!({ "tool": "volee", "runs": runs }))
                .map_err(|e| Failure::new(e.to_string()))?;
            files::write(path, text + "\n")?;
        }
        let shown = done.iter().find(|d| d.report.verdict != Verdict::Pass).or(done.last());
        if let (Some(path), Some(done)) = (&self.chart, shown) {
            let run = chart(&done.report);
            let text = match chart_form(path)? {
                ChartForm::Svg => run_svg(&run, &done.name, LONGEST_CHART),
                ChartForm::Mermaid => run_mermaid(&run, LONGEST_CHART),
            };
            files::write(path, text)?;
        }
        if let Some(path) = &self.junit {
            files::write(path, junit("volee conform", &done.iter().map(case).collect::<Vec<_>>()))?;
        }
        Ok(())
    }

    fn outcome(&self, campaign: &Campaign, meter: &Meter, context: &Context) -> Outcome {
        let Campaign { done, coverage, quiescence } = campaign;
        let name = self.tests.iter().map(|p| p.display().to_string()).collect::<Vec<_>>().join(" ");
        let mut answer = Answer::new("conform").about(name, "conformance");
        let mut text = String::new();
        for one in done {
            answer.push(result(one));
            let palette = context.palette;
            let verdict = match one.report.verdict {
                Verdict::Pass => palette.good("pass"),
                Verdict::Fail => palette.bad("fail"),
                Verdict::Inconclusive => palette.doubtful("inconclusive"),
            };
            let _ = writeln!(text, "{verdict} {}: {}", one.name, one.report.message);
        }
        if let Some(wrong) = done.iter().find(|d| d.report.verdict != Verdict::Pass) {
            text.push_str(&log_text(&wrong.report, context.palette));
        }
        let number = |verdict| done.iter().filter(|d| d.report.verdict == verdict).count();
        let (pass, fail, open) =
            (number(Verdict::Pass), number(Verdict::Fail), number(Verdict::Inconclusive));
        for (name, value) in [("runs", done.len()), ("pass", pass), ("fail", fail), ("inconclusive", open)] {
            answer.set(name, value);
        }
        if done.len() > 1 {
            let _ = writeln!(
                text,
                "{}: {pass} pass, {fail} fail, {open} inconclusive",
                counted(done.len(), "run")
            );
        }
        if let Some(Coverage { covered, transitions }) = coverage {
            answer.set("covered", *covered);
            answer.set("transitions", *transitions);
            let _ = writeln!(
                text,
                "coverage: {covered} of {transitions} visible transitions of the specification"
            );
        }
        answer.set("seconds", meter.elapsed().as_secs_f64());
        if self.random.is_some() {
            answer.set("seed", self.seed);
            let _ = writeln!(text, "seed {}", self.seed);
        }
        if let Some(livelock) = quiescence {
            let words = conformance::quiescence(*livelock);
            answer.add("quiescence", words);
            let _ = writeln!(text, "quiescence: {words}");
        }
        let waits = format!(
            "silence is {}; {}",
            seconds(self.timeout.as_secs_f64()),
            seconds(meter.elapsed().as_secs_f64())
        );
        let _ = writeln!(text, "{}", context.palette.faint(waits));
        Outcome::new(answer, text)
    }
}

/// A test, and what it takes for quiescence, where it says so.
fn read(path: &Path) -> Result<(TestGraph, Option<Livelock>), Stop> {
    if path.extension().is_some_and(|e| e == "json") {
        let (file, graph) = read_test(&files::read_text(path)?)?;
        return Ok((graph, Some(file.livelock())));
    }
    Ok((TestGraph::from_lts(&volee::lts::read_file(path)?)?, None))
}

/// How many visible transitions the determinised specification has; `None` when it is too large to be counted.
fn transitions(product: &mut Determinised<'_>) -> Option<usize> {
    let mut count = 0;
    let mut next = 0;
    let mut moves = Moves::new();
    while next < product.meta_count() {
        if next > MOST_COUNTED {
            return None;
        }
        product.moves(MetaId(next as u32), &mut moves).ok()?;
        count += moves.iter().filter(|(action, _)| *action != DELTA).count();
        next += 1;
    }
    Some(count)
}

fn cause(report: &Report) -> String {
    serde_json::to_value(report.cause).ok().and_then(|v| v.as_str().map(str::to_owned)).unwrap_or_default()
}

/// A run in the machine-readable answer.
fn result(done: &Done) -> QuestionAnswer {
    let message = done.report.message.clone();
    let mut result = match done.report.verdict {
        Verdict::Pass => QuestionAnswer::holds(&done.name),
        Verdict::Fail => {
            let reason = Reason { kind: ReasonKind::Different, message, place: None };
            QuestionAnswer::violated(&done.name, &reason, None)
        }
        Verdict::Inconclusive => QuestionAnswer::unknown(&done.name, &Limit::Other { message }),
    };
    debug_assert!(result.verdict != VerdictWord::Error);
    if let Some(reason) = &mut result.reason {
        reason.kind = cause(&done.report);
    }
    result.witness = serde_json::to_value(&done.report.log).ok().map(|log| json!({ "steps": log }));
    result
}

fn case(done: &Done) -> JunitCase {
    let (kind, message) = (cause(&done.report), done.report.message.clone());
    let outcome = match done.report.verdict {
        Verdict::Pass => CaseOutcome::Passed,
        Verdict::Fail => CaseOutcome::Failed(kind, message),
        Verdict::Inconclusive => CaseOutcome::Undecided(kind, message),
    };
    let output = log_text(&done.report, Palette::Plain);
    JunitCase { name: done.name.clone(), seconds: done.report.seconds, outcome, output }
}

/// The end of a run, for people.
fn log_text(report: &Report, palette: Palette) -> String {
    let skipped = report.log.len().saturating_sub(SHOWN);
    let mut text = String::new();
    if skipped > 0 {
        let _ = writeln!(text, "  … {skipped} events before …");
    }
    for (at, entry) in report.log.iter().enumerate().skip(skipped) {
        let line = |label: &str, line: &str| match label == line {
            true => String::new(),
            false => format!("   {}", palette.faint(format!("`{line}`"))),
        };
        let what = match &entry.event {
            Event::Sent { label, line: sent } => format!("→ {label}{}", line(label, sent)),
            Event::Seen { label: Some(label), line: seen } => format!("← {label}{}", line(label, seen)),
            Event::Seen { label: None, line } => format!("← `{line}`"),
            Event::Silence => "  silence".into(),
            Event::Ended { status } => {
                format!("← the stream ends{}", status.as_ref().map_or(String::new(), |s| format!(" ({s})")))
            }
        };
        let _ = writeln!(text, "  {:>4}  {what}", at + 1);
    }
    text
}

enum ChartForm {
    Svg,
    Mermaid,
}

fn chart_form(path: &Path) -> Result<ChartForm, Failure> {
    match path.extension().and_then(|e| e.to_str()) {
        Some("svg") => Ok(ChartForm::Svg),
        Some("mmd" | "mermaid") => Ok(ChartForm::Mermaid),
        _ => Err(Failure::new(format!("`{}`: the extension names no form of a chart", path.display()))
            .with_help("known are .svg and .mmd (Mermaid)")),
    }
}

/// A run of a test as a run of two processes that meet in messages.
fn chart(report: &Report) -> Run {
    let nothing = || RunState { variables: Vec::new() };
    let message = |from: &str, pid: u32, to: &str, label: &str| Action {
        process: from.into(),
        pid,
        event: Some(volee::system::Event {
            kind: EventKind::Rendezvous,
            channel: label.into(),
            channel_id: 0,
            values: Vec::new(),
            partner: Some((to.into(), 1 - pid)),
        }),
        ..Action::plain(label)
    };
    let quiet =
        |pid: u32, process: &str, text: &str| Action { process: process.into(), pid, ..Action::plain(text) };
    let (tester, implementation) = ("tester", "implementation");
    let mut steps: Vec<RunStep> = Vec::new();
    for entry in &report.log {
        let action = match &entry.event {
            Event::Sent { label, .. } => message(tester, 0, implementation, label),
            Event::Seen { label, line } => message(implementation, 1, tester, label.as_ref().unwrap_or(line)),
            Event::Silence => quiet(1, implementation, "silence"),
            Event::Ended { .. } => quiet(1, implementation, "the stream ends"),
        };
        let label = action.text.clone();
        steps.push(RunStep { ordinal: 0, label, actions: vec![action], fault: None, state: nothing() });
    }
    let verdict = format!("{:?}: {}", report.verdict, report.message);
    let last = quiet(0, tester, &verdict);
    steps.push(RunStep { ordinal: 0, label: verdict, actions: vec![last], fault: None, state: nothing() });
    Run { skipped: 0, initial: nothing(), steps, loop_start: None }
}
