//! Checks: the texts as they are in the editor, asked about through the door of the library in a thread of
//! its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use lsp_server::RequestId;
use serde_json::{Value, json};
use volee::system::{Budget, Place, Progress, Run, Snapshot, Unreached, Verdict};
use volee::{Answer, Answers, Question, Source};

/// How many of the last steps of a run are shown.
const STEPS: usize = 50;

/// What a check of a text has found.
#[derive(Debug, Clone, Default)]
pub(crate) struct Results {
    pub findings: Vec<Finding>,
    /// Statements that no run executes; known only after a check that saw every state.
    pub unreached: Vec<Unreached>,
}

/// A question whose answer is no.
#[derive(Debug, Clone)]
pub(crate) struct Finding {
    pub question: String,
    pub message: String,
    pub place: Option<Place>,
    /// The last steps of the run that shows it.
    pub steps: Vec<(Place, String)>,
}

/// What is to be checked.
#[derive(Debug, Clone)]
pub(crate) struct Job {
    pub source: Source,
    /// An `ltl` block or a never claim; deadlocks, assertions and run-time errors if none.
    pub property: Option<String>,
    pub budget: Budget,
}

/// The end of a check.
pub(crate) struct Finished {
    pub request: RequestId,
    pub uri: lsp_types::Uri,
    pub version: i32,
    pub outcome: Result<Report, String>,
}

/// A check's answers, for the editor and for people.
pub(crate) struct Report {
    pub results: Results,
    /// The answer of the command.
    pub value: Value,
    /// One line that tells it.
    pub line: String,
}

/// A check under way.
pub(crate) struct Running {
    pub cancelled: Arc<AtomicBool>,
    pub token: String,
    pub thread: JoinHandle<()>,
}

impl Running {
    pub(crate) fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }
}

/// Hands each snapshot on.
pub(crate) struct Tell<F: FnMut(&Snapshot)>(pub F);

impl<F: FnMut(&Snapshot)> Progress for Tell<F> {
    fn report(&mut self, snapshot: &Snapshot) {
        (self.0)(snapshot);
    }
}

/// Runs a check.
pub(crate) fn run(job: &Job, progress: &mut dyn Progress) -> Result<Report, String> {
    let ask = volee::ask(&job.source).budget(job.budget.clone());
    let ask = match &job.property {
        None => ask.questions([Question::Deadlock, Question::Assertions]),
        Some(name) => ask.claim(name),
    };
    let answers = ask.run(progress).map_err(|error| error.to_string())?;
    Ok(report(answers))
}

fn report(answers: Answers) -> Report {
    let mut results =
        Results { findings: Vec::new(), unreached: answers.unreached.clone().unwrap_or_default() };
    let (mut values, mut lines) = (Vec::new(), Vec::new());
    for answer in answers.iter() {
        let question = answer.question.to_string();
        let (word, note) = match &answer.verdict {
            Verdict::Holds => ("holds", String::new()),
            Verdict::Unknown(limit) => ("unknown", format!(": {limit}")),
            Verdict::Violated(all) => {
                ("violated", all.first().map(|v| format!(": {}", v.reason.message)).unwrap_or_default())
            }
        };
        lines.push(format!("{question} {word}{note}"));
        let found = findings(&question, answer);
        let shown: Vec<Value> = found
            .iter()
            .map(|f| {
                let steps: Vec<String> =
                    f.steps.iter().map(|(place, text)| format!("{place}: {text}")).collect();
                json!({ "message": f.message, "line": f.place.as_ref().map(|p| p.line), "steps": steps })
            })
            .collect();
        values.push(json!({ "question": question, "verdict": word, "violations": shown }));
        results.findings.extend(found);
    }
    let (states, transitions) =
        (answers.figures.states(), answers.figures.number("transitions").unwrap_or_default());
    let value = json!({
        "results": values,
        "states": states,
        "transitions": transitions,
        "unreached": results.unreached.iter().map(|u| u.text.clone()).collect::<Vec<_>>(),
    });
    let line = format!("{} ({states} states, {transitions} transitions)", lines.join("; "));
    Report { results, value, line }
}

/// The violations of an answer with the ends of their runs. One without a place is shown at its last step.
fn findings(question: &str, answer: &Answer) -> Vec<Finding> {
    let Verdict::Violated(all) = &answer.verdict else { return Vec::new() };
    let mut runs = answer.runs.iter().map(|shown| steps(&shown.run));
    let finding = |violation: &volee::system::Violation| {
        let steps = runs.next().unwrap_or_default();
        let place = violation.reason.place.clone().or_else(|| steps.last().map(|(place, _)| place.clone()));
        Finding { question: question.to_owned(), message: violation.reason.message.clone(), place, steps }
    };
    all.iter().map(finding).collect()
}

/// The last steps of a run that stand somewhere.
fn steps(run: &Run) -> Vec<(Place, String)> {
    let actions = run.steps.iter().flat_map(|step| &step.actions);
    let all = actions.filter_map(|action| {
        let text = format!("{} {}: {}", action.process, action.pid, action.text);
        action.place.clone().map(|place| (place, text))
    });
    let mut all: Vec<(Place, String)> = all.collect();
    all.drain(..all.len().saturating_sub(STEPS));
    all
}
