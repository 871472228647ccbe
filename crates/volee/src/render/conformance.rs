//! Tests and their runs: what a test does, how large it is, what happened on the wire.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::json;
use volee_conform::run::{Event, Report};
use volee_conform::{DELTA, Livelock, Move, Node, Selected, Sizes, Suite, TestGraph, Verdict};
use volee_report::{
    Answer, CaseOutcome, JunitCase, Palette, QuestionAnswer, VerdictWord, count, counted, junit, run_mermaid,
    run_svg, seconds,
};
use volee_system::{
    Action, Diagnostic, Event as Message, EventKind, Limit, Meter, Reason, ReasonKind, Run, RunState, RunStep,
};

use super::{Outcome, peak_memory};
use crate::conformance::{Campaign, Derived, Misbehaviour, Tried};
use crate::files;

/// A test case with more steps is not printed.
const SHOWN: usize = 60;
/// Of a longer run only the end is printed.
const EVENTS_SHOWN: usize = 30;
/// Steps that a chart shows.
const LONGEST_CHART: usize = 200;

/// What is told of tests, whatever they are.
pub struct Telling<'a> {
    /// The file of the specification, or those of the tests.
    pub model: String,
    /// What the tests are for.
    pub question: String,
    /// What counts as quiescence.
    pub livelock: Livelock,
    /// Where they were written to.
    pub written: Option<&'a std::path::Path>,
    /// The clock.
    pub meter: &'a Meter,
    /// Colours, or none.
    pub palette: Palette,
}

/// What counts as quiescence, in words.
pub fn quiescence(livelock: Livelock) -> &'static str {
    match livelock {
        Livelock::Quiescent => "deadlock, no output, livelock",
        Livelock::Ignored => "deadlock, no output (livelock does not count)",
    }
}

impl Telling<'_> {
    /// One test: the graph as it was selected, as it was reduced (if it was), and what was asked for of it.
    pub fn test(
        &self,
        selected: &Selected,
        reduced: Option<&TestGraph>,
        test: &TestGraph,
        form: &str,
        hidden: &[String],
    ) -> Outcome {
        let graph = reduced.unwrap_or(&selected.graph);
        let mut answer = self.answer(&selected.sizes);
        answer.set("nodes_reduced", graph.node_count());
        answer.set("edges_reduced", graph.edge_count());
        answer.set("states", test.node_count());
        answer.set("transitions", test.edge_count());
        answer.add("quiescence", quiescence(self.livelock));
        let question = &self.question;
        let mut text = format!("{} {question}: a {form} with {}\n", self.palette.good("holds"), size(test));
        if let Some(path) = self.written {
            let _ = writeln!(text, "written to {}", path.display());
        } else if test.edge_count() <= SHOWN {
            text.push_str(&listing(test));
        }
        let _ = writeln!(text, "complete test graph: {}", sizes(&selected.sizes, reduced));
        let explored = format!(
            "specification: {} states, {} transitions met; determinised: {} states; {}",
            count(selected.sizes.specification_states),
            count(selected.sizes.specification_transitions),
            count(selected.sizes.meta_states),
            self.seconds()
        );
        text.push_str(&self.ending(hidden, &explored));
        Outcome::new(answer, text)
    }

    /// A suite.
    pub fn suite(&self, made: &Derived<Suite>) -> Outcome {
        let suite = &made.tests;
        let mut text = format!(
            "{} suite: {} cover {} of {} visible transitions\n",
            self.palette.good("holds"),
            counted(suite.tests.len(), "test case"),
            suite.covered,
            suite.transitions
        );
        if let Some(folder) = self.written {
            let _ = writeln!(text, "written to {}", folder.display());
        }
        for (at, test) in suite.tests.iter().enumerate() {
            let _ = writeln!(text, "  {:>3}  {}", at + 1, test.path.join(" · "));
        }
        let states = counted(suite.states, "state");
        let figures = format!("determinised specification: {states}; {}", self.seconds());
        text.push_str(&self.ending(&made.hidden, &figures));
        let mut answer = self.answer(&Sizes::default());
        answer.set("tests", suite.tests.len());
        answer.set("covered", suite.covered);
        answer.set("transitions", suite.transitions);
        answer.set("states", suite.states);
        Outcome::new(answer, text)
    }

    /// There is no test: not an error of the call, but a fact about specification and purpose.
    pub fn no_test(&self, unmatched: &[String]) -> Outcome {
        let mut message = "no test exists: the specification cannot do what the purpose asks for".to_string();
        if !unmatched.is_empty() {
            message = format!("{message}; no label that was met matches {}", some(unmatched));
        }
        let mut answer = Answer::new("tests").about(&self.model, "conformance");
        let reason = Reason { kind: ReasonKind::Unreachable, message: message.clone(), place: None };
        answer.push(QuestionAnswer::violated(&self.question, &reason, None));
        Outcome::new(answer, format!("{} {}: {message}\n", self.palette.bad("violated"), self.question))
    }

    /// Whether an implementation conforms.
    pub fn compliance(&self, found: Option<&Misbehaviour>) -> Outcome {
        let question = &self.question;
        let mut answer = Answer::new("tests").about(&self.model, "conformance");
        answer.set("seconds", self.meter.elapsed().as_secs_f64());
        let Some(bad) = found else {
            answer.push(QuestionAnswer::holds(question));
            let text = format!("{} {question}: it conforms\n", self.palette.good("holds"));
            return Outcome::new(answer, format!("{text}quiescence: {}\n", quiescence(self.livelock)));
        };
        let message =
            format!("after the trace below the implementation does `{}`, which is not allowed", bad.output);
        let reason = Reason { kind: ReasonKind::Different, message: message.clone(), place: None };
        let mut result = QuestionAnswer::violated(question, &reason, None);
        result.witness = Some(json!({ "steps": bad.trace, "output": bad.output }));
        answer.push(result);
        let mut text = format!("{} {question}: {message}\n", self.palette.bad("violated"));
        bad.trace.iter().for_each(|label| text.push_str(&format!("  {label}\n")));
        if let Some(path) = self.written {
            let _ = writeln!(text, "its test is written to {}", path.display());
        }
        Outcome::new(answer, text)
    }

    fn answer(&self, sizes: &Sizes) -> Answer {
        let mut answer = Answer::new("tests").about(&self.model, "conformance");
        answer.push(QuestionAnswer::holds(&self.question));
        if let Ok(serde_json::Value::Object(fields)) = serde_json::to_value(sizes) {
            fields.into_iter().for_each(|(name, value)| answer.set(&name, value));
        }
        answer.set("seconds", self.meter.elapsed().as_secs_f64());
        if let Some(peak) = peak_memory() {
            answer.set("peak_memory_bytes", peak);
        }
        answer
    }

    /// What counts as silence, which labels are hidden (that might surprise), and what it took.
    fn ending(&self, hidden: &[String], figures: &str) -> String {
        let hidden = match hidden {
            [] => String::new(),
            [first, ..] => format!("; {} hidden, for example `{first}`", counted(hidden.len(), "label")),
        };
        let words = quiescence(self.livelock);
        format!("quiescence: {words}{hidden}\n{}\n", self.palette.faint(figures))
    }

    fn seconds(&self) -> String {
        seconds(self.meter.elapsed().as_secs_f64())
    }
}

/// The first of some texts.
pub fn some(texts: &[String]) -> String {
    let shown: Vec<String> = texts.iter().take(5).map(|text| format!("`{text}`")).collect();
    shown.join(", ")
}

fn size(graph: &TestGraph) -> String {
    format!("{}, {}", counted(graph.node_count(), "node"), counted(graph.edge_count(), "step"))
}

fn sizes(sizes: &Sizes, reduced: Option<&TestGraph>) -> String {
    let raw = match sizes.raw_states {
        0 => String::new(),
        n => format!("raw {} states, {} transitions; ", count(n), count(sizes.raw_transitions)),
    };
    let all = format!("{raw}{} nodes, {} steps", count(sizes.nodes), count(sizes.edges));
    match reduced {
        Some(graph) => format!("{all}; reduced: {}", size(graph)),
        None => all,
    }
}

/// A small test in words.
fn listing(test: &TestGraph) -> String {
    let plan = test.plan();
    let mut text = String::new();
    let target = |node: Node| match node {
        Node::PASS => "PASS".to_string(),
        Node::INCONCLUSIVE => "INCONCLUSIVE".to_string(),
        inner => format!("go to {}", inner.0),
    };
    for node in test.nodes() {
        let sending = matches!(plan[node.0 as usize], Move::Send(_));
        // Nobody waits for silence where there is something to send.
        let told = test.edges(node).iter().filter(|e| !(sending && e.action == DELTA));
        for (at, edge) in told.enumerate() {
            let number = if at == 0 { format!("{:>4}", node.0) } else { "    ".into() };
            let (name, input) = (test.actions().name(edge.action), test.actions().is_input(edge.action));
            let verb = match (input, sending) {
                (true, _) => "send",
                (false, true) => "or see",
                (false, false) => "see",
            };
            let _ = writeln!(text, "{number}  {verb} {name}: {}", target(edge.target));
        }
    }
    text.push_str("      see anything else: FAIL\n");
    text
}

/// All runs of a campaign: their verdicts, the log of the first that does not pass, and what they covered.
pub fn campaign(
    campaign: &Campaign,
    name: &str,
    seed: Option<u64>,
    silence: std::time::Duration,
    meter: &Meter,
    palette: Palette,
) -> Outcome {
    let Campaign { runs, coverage, quiescence: livelock } = campaign;
    let mut answer = Answer::new("conform").about(name, "conformance");
    let mut text = String::new();
    for one in runs {
        answer.push(result(one));
        let verdict = match one.report.verdict {
            Verdict::Pass => palette.good("pass"),
            Verdict::Fail => palette.bad("fail"),
            Verdict::Inconclusive => palette.doubtful("inconclusive"),
        };
        let _ = writeln!(text, "{verdict} {}: {}", one.name, one.report.message);
    }
    if let Some(wrong) = runs.iter().find(|run| run.report.verdict != Verdict::Pass) {
        text.push_str(&log_text(&wrong.report, palette));
    }
    let number = |verdict| runs.iter().filter(|run| run.report.verdict == verdict).count();
    let (pass, fail, open) = (number(Verdict::Pass), number(Verdict::Fail), number(Verdict::Inconclusive));
    for (name, value) in [("runs", runs.len()), ("pass", pass), ("fail", fail), ("inconclusive", open)] {
        answer.set(name, value);
    }
    if runs.len() > 1 {
        let runs = counted(runs.len(), "run");
        let _ = writeln!(text, "{runs}: {pass} pass, {fail} fail, {open} inconclusive");
    }
    if let Some((covered, transitions)) = coverage {
        answer.set("covered", *covered);
        answer.set("transitions", *transitions);
        let _ =
            writeln!(text, "coverage: {covered} of {transitions} visible transitions of the specification");
    }
    let elapsed = meter.elapsed().as_secs_f64();
    answer.set("seconds", elapsed);
    if let Some(seed) = seed {
        answer.set("seed", seed);
        let _ = writeln!(text, "seed {seed}");
    }
    if let Some(livelock) = livelock {
        let words = quiescence(*livelock);
        answer.add("quiescence", words);
        let _ = writeln!(text, "quiescence: {words}");
    }
    let waits = format!("silence is {}; {}", seconds(silence.as_secs_f64()), seconds(elapsed));
    let _ = writeln!(text, "{}", palette.faint(waits));
    Outcome::new(answer, text)
}

/// What happened in every run, as JSON.
pub fn log(campaign: &Campaign) -> String {
    let runs = campaign.runs.iter();
    let runs: Vec<_> =
        runs.map(|run| json!({ "test": run.name, "seed": run.seed, "run": run.report })).collect();
    format!("{:#}\n", json!({ "tool": "volee", "runs": runs }))
}

/// A JUnit report.
pub fn junit_report(campaign: &Campaign) -> String {
    junit("volee conform", &campaign.runs.iter().map(case).collect::<Vec<_>>())
}

fn cause(report: &Report) -> String {
    serde_json::to_value(report.cause).ok().and_then(|v| v.as_str().map(str::to_owned)).unwrap_or_default()
}

/// A run in the machine-readable answer.
fn result(run: &Tried) -> QuestionAnswer {
    let message = run.report.message.clone();
    let mut result = match run.report.verdict {
        Verdict::Pass => QuestionAnswer::holds(&run.name),
        Verdict::Fail => {
            let reason = Reason { kind: ReasonKind::Different, message, place: None };
            QuestionAnswer::violated(&run.name, &reason, None)
        }
        Verdict::Inconclusive => QuestionAnswer::unknown(&run.name, &Limit::Other { message }),
    };
    debug_assert!(result.verdict != VerdictWord::Error);
    if let Some(reason) = &mut result.reason {
        reason.kind = cause(&run.report);
    }
    result.witness = serde_json::to_value(&run.report.log).ok().map(|log| json!({ "steps": log }));
    result
}

fn case(run: &Tried) -> JunitCase {
    let (kind, message) = (cause(&run.report), run.report.message.clone());
    let outcome = match run.report.verdict {
        Verdict::Pass => CaseOutcome::Passed,
        Verdict::Fail => CaseOutcome::Failed(kind, message),
        Verdict::Inconclusive => CaseOutcome::Undecided(kind, message),
    };
    let output = log_text(&run.report, Palette::Plain);
    JunitCase { name: run.name.clone(), seconds: run.report.seconds, outcome, output }
}

/// The end of a run, for people.
fn log_text(report: &Report, palette: Palette) -> String {
    let skipped = report.log.len().saturating_sub(EVENTS_SHOWN);
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

/// A run of a test as a run of two processes that meet in messages.
pub fn as_run(report: &Report) -> Run {
    let nothing = || RunState { variables: Vec::new() };
    let message = |from: &str, pid: u32, to: &str, label: &str| Action {
        process: from.into(),
        pid,
        event: Some(Message {
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

/// The forms of a chart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Chart {
    /// A picture.
    Svg,
    /// A text that is drawn by others.
    Mermaid,
}

impl Chart {
    /// The form that an extension names.
    ///
    /// # Errors
    /// It names none.
    pub fn of(path: &Path) -> Result<Chart, Diagnostic> {
        match path.extension().and_then(|e| e.to_str()) {
            Some("svg") => Ok(Chart::Svg),
            Some("mmd" | "mermaid") => Ok(Chart::Mermaid),
            _ => Err(Diagnostic::error(
                format!("`{}`: the extension names no form of a chart", path.display()),
                None,
            )
            .with_help("known are .svg and .mmd (Mermaid)")),
        }
    }
}

/// Draws the first run that does not pass, or the last.
///
/// # Errors
/// The extension names no form of a chart, or the file cannot be written.
pub fn write_chart(campaign: &Campaign, path: &Path) -> Result<(), Diagnostic> {
    let form = Chart::of(path)?;
    let runs = &campaign.runs;
    let Some(shown) = runs.iter().find(|run| run.report.verdict != Verdict::Pass).or(runs.last()) else {
        return Ok(());
    };
    let run = as_run(&shown.report);
    files::write(
        path,
        match form {
            Chart::Svg => run_svg(&run, &shown.name, LONGEST_CHART),
            Chart::Mermaid => run_mermaid(&run, LONGEST_CHART),
        },
    )
}
