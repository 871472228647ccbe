//! What the page can ask, as JSON: one question per request, each of them a line of [`Ask`].

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use volee::report::VerdictWord;
use volee::system::{Verdict, Witness, parse_duration, parse_size};
use volee::{Answer, Answers, Source, coverage_note};

use crate::explorer::{Complaint, Explorer, StateNumber, Told, Words};
use crate::jobs::{Jobs, Limits};
use crate::seam::{How, Wish};
use crate::walk::Walk;

/// A question of the page.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "ask")]
enum Ask {
    /// All about a state.
    Look { state: u32 },
    /// Random steps, until a condition if one is given.
    Walk { state: u32, steps: usize, seed: u64, until: Option<String> },
    /// A shortest way to a condition.
    Nearest { state: u32, until: String },
    /// Values of an expression.
    Evaluate { expression: String, states: Vec<u32> },
    /// The states of a property's automaton along a run.
    Track { formula: String, states: Vec<u32>, labels: Vec<String> },
    /// A run as `check` prints or stores it.
    Load { text: String },
    /// A run by its ordinals.
    Replay { initial: u32, steps: Vec<u32>, title: String },
    /// Begin anew.
    Forget,
    /// Start a check.
    Check {
        question: Wish,
        #[serde(default)]
        how: How,
        memory: Option<String>,
        time: Option<String>,
    },
    /// How far a check is.
    Progress { job: u64 },
    /// End a check early.
    Stop,
}

/// Everything behind the page.
pub struct Desk {
    /// The model.
    pub explorer: Explorer,
    /// Its file and options, for checks.
    pub source: Source,
    /// The checks.
    pub jobs: Jobs,
}

impl Desk {
    /// Answers one question.
    pub fn answer(&mut self, body: &[u8]) -> Told {
        let ask: Ask =
            serde_json::from_slice(body).map_err(|e| Complaint(format!("this is no question: {e}")))?;
        match ask {
            Ask::Look { state } => self.explorer.look(StateNumber(state)),
            Ask::Walk { state, steps, seed, until } => {
                let until = until.filter(|text| !text.trim().is_empty());
                self.explorer.walk(&Walk { from: state, steps, seed, until })
            }
            Ask::Nearest { state, until } => self.explorer.nearest(state, &until),
            Ask::Evaluate { expression, states } => self.explorer.evaluate(&expression, &states),
            Ask::Track { formula, states, labels } => self.explorer.track(&formula, &states, &labels),
            Ask::Load { text } => self.explorer.load(&text, Words::Plain),
            Ask::Replay { initial, steps, title } => {
                self.explorer.replay(&Witness { initial, steps, loop_start: None }, &title)
            }
            Ask::Forget => self.explorer.forget(),
            Ask::Check { question, how, memory, time } => {
                let limits = limits(memory.as_deref(), time.as_deref())?;
                self.jobs.start(&self.source, question, how, limits)
            }
            Ask::Progress { job } => self.progress(job),
            Ask::Stop => {
                self.jobs.stop();
                Ok(Value::Null)
            }
        }
    }

    fn progress(&mut self, job: u64) -> Told {
        let (mut told, answers) = self.jobs.look(job)?;
        if let Some(answers) = answers {
            told["answers"] = answers.iter().map(|answer| self.told(answer)).collect();
            told["statistics"] = Value::Object(answers.figures.0.clone());
            told["notes"] = json!(answers.remarks);
            told["coverage"] = self.coverage(&answers);
            told["coverage_note"] = coverage_note(&answers).into();
        }
        Ok(told)
    }

    /// An answer with its first run, as the page walks through it.
    fn told(&mut self, answer: &Answer) -> Value {
        let question = answer.question.to_string();
        let shown = answer.runs.first();
        let run =
            shown.and_then(|s| s.witness.as_ref()).map(|witness| self.explorer.replay(witness, &question));
        let (run, lost) = match run {
            Some(Ok(run)) => (run, None),
            Some(Err(complaint)) => (Value::Null, Some(complaint.0)),
            None => (Value::Null, None),
        };
        let message = match (&answer.verdict, answer.reason()) {
            (Verdict::Unknown(limit), _) => Some(limit.to_string()),
            (_, Some(reason)) => Some(reason.message.clone()),
            _ => answer.remark.clone(),
        };
        let mut why = shown.map(|s| s.why.clone()).unwrap_or_default();
        why.extend(answer.notes.iter().cloned());
        why.extend(answer.certificate.iter().flat_map(|c| c.why().iter().cloned()));
        json!({
            "question": question,
            "verdict": VerdictWord::from(&answer.verdict).as_str(),
            "message": message,
            "kind": answer.reason().map(|r| json!(r.kind)),
            "why": why,
            "run": run,
            "lost": lost,
        })
    }

    fn coverage(&self, answers: &Answers) -> Value {
        let covered = answers.coverage.iter().map(|c| {
            let at = self.explorer.names.place(c.place.as_ref());
            json!({ "process": c.process, "text": c.text, "at": at, "times": c.times })
        });
        covered.collect()
    }
}

fn limits(memory: Option<&str>, time: Option<&str>) -> Result<Limits, Complaint> {
    let given = |text: &Option<&str>| text.is_some_and(|t| !t.trim().is_empty());
    let memory = match memory.filter(|_| given(&memory)) {
        Some(text) => Some(parse_size(text).map_err(|e| Complaint(e.to_string()))?),
        None => None,
    };
    let time: Option<Duration> = match time.filter(|_| given(&time)) {
        Some(text) => Some(parse_duration(text).map_err(|e| Complaint(e.to_string()))?),
        None => None,
    };
    Ok(Limits { memory, time })
}
