//! Stored runs: a trace names a run by ordinals, with all that is needed to replay it and to notice when it
//! no longer fits the model.
//!
//! Two forms: a JSON file, with labels and options; and, for runs short enough to be pasted into a shell, one
//! word such as `run:0.2.1x5~3.0` (ordinals with a repeat count, the cycle of a lasso after `~`, which is
//! empty if the run has ended, another initial state than the first as `run:2@…`).

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use volee_system::{Run, Witness};

use crate::Claim;

const FORMAT: &str = "volee-trace-1";
const MOST_STEPS: usize = 1 << 26;

/// A stored run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trace {
    format: String,
    /// The model as the user named it.
    pub model: String,
    /// Preprocessor definitions that were given.
    pub defines: Vec<String>,
    /// Whether optimisations were off.
    pub plain: bool,
    /// Processes of a type that were started, where their number was given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub copies: Vec<(String, u32)>,
    /// The capacity of buffers, where it was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity: Option<u32>,
    /// The question it answers.
    pub question: String,
    /// What it is said to show, so that it can be looked at again; stored runs of old have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claim: Option<Claim>,
    /// The run.
    pub witness: Witness,
    /// The labels of the steps, or of the last ones, to compare with when it is replayed.
    pub labels: Vec<String>,
}

/// A trace that cannot be read or does not fit its model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TraceError {
    /// Not a trace at all.
    #[error("this is not a trace of volee: {0}")]
    NotATrace(String),
    /// The inline form is malformed.
    #[error("`{0}` is not a run: write ordinals such as run:0.2.1x5, the cycle of a lasso after `~`")]
    BadRun(String),
    /// Steps were cut or added.
    #[error("the trace names {labels} steps and has {steps}: it was cut or changed")]
    Cut {
        /// Labels that it has.
        labels: usize,
        /// Steps that it has.
        steps: usize,
    },
    /// The model does something else at some step.
    #[error("step {step} of the trace is `{expected}`, but the model now does `{found}` there")]
    Differs {
        /// The step, from 1.
        step: usize,
        /// The label in the trace.
        expected: String,
        /// The label in the model.
        found: String,
    },
}

impl Trace {
    /// The trace of a run that was replayed.
    pub fn new(
        model: &str,
        defines: &[String],
        plain: bool,
        question: &str,
        witness: &Witness,
        run: &Run,
    ) -> Self {
        Trace {
            format: FORMAT.into(),
            model: model.into(),
            defines: defines.to_vec(),
            plain,
            copies: Vec::new(),
            capacity: None,
            question: question.into(),
            claim: None,
            witness: witness.clone(),
            labels: run.steps.iter().map(|s| s.label.clone()).collect(),
        }
    }

    /// The same trace of a model that was read with other numbers than its own: of processes, of messages in
    /// a buffer.
    #[must_use]
    pub fn read_with(mut self, copies: &[(String, u32)], capacity: Option<u32>) -> Self {
        (self.copies, self.capacity) = (copies.to_vec(), capacity);
        self
    }

    /// The same trace, said to show something.
    #[must_use]
    pub fn claiming(mut self, claim: Option<Claim>) -> Self {
        self.claim = claim;
        self
    }

    /// A heading for charts: what is shown, of which model.
    pub fn title(&self) -> String {
        format!("{}: {}", self.model, self.question)
    }

    /// Reads the JSON form.
    ///
    /// # Errors
    /// The text is not a trace.
    pub fn from_json(text: &str) -> Result<Self, TraceError> {
        let trace: Trace = serde_json::from_str(text).map_err(|e| TraceError::NotATrace(e.to_string()))?;
        match trace.format == FORMAT {
            true => Ok(trace),
            false => Err(TraceError::NotATrace(format!("its format is `{}`, not `{FORMAT}`", trace.format))),
        }
    }

    /// Writes the JSON form.
    pub fn to_json(&self) -> String {
        crate::json_text(self)
    }

    /// Compares the labels with those of the replayed run.
    ///
    /// # Errors
    /// The first step that differs.
    pub fn compare(&self, run: &Run) -> Result<(), TraceError> {
        let (labels, steps) = (self.labels.len(), run.steps.len());
        if labels > 0 && labels != steps {
            return Err(TraceError::Cut { labels, steps });
        }
        let pairs = self.labels.iter().rev().zip(run.steps.iter().rev()).rev();
        let first = run.skipped + run.steps.len().saturating_sub(self.labels.len());
        for (at, (label, step)) in pairs.enumerate() {
            if *label != step.label {
                let (expected, found) = (label.clone(), step.label.clone());
                return Err(TraceError::Differs { step: first + at + 1, expected, found });
            }
        }
        Ok(())
    }
}

/// The one-word form of a run.
pub fn run_to_word(witness: &Witness) -> String {
    let mut word = String::from("run:");
    if witness.initial > 0 {
        let _ = write!(word, "{}@", witness.initial);
    }
    let split = witness.loop_start.unwrap_or(witness.steps.len()).min(witness.steps.len());
    word.push_str(&ordinals(&witness.steps[..split]));
    if witness.loop_start.is_some() {
        word.push('~');
        word.push_str(&ordinals(&witness.steps[split..]));
    }
    word
}

fn ordinals(steps: &[u32]) -> String {
    let runs = steps.chunk_by(|a, b| a == b).map(|same| match same {
        [one] => one.to_string(),
        _ => format!("{}x{}", same[0], same.len()),
    });
    runs.collect::<Vec<_>>().join(".")
}

/// Reads the one-word form of a run.
///
/// # Errors
/// The word is not a run.
pub fn run_from_word(word: &str) -> Result<Witness, TraceError> {
    let bad = || TraceError::BadRun(word.chars().take(80).collect());
    let rest = word.strip_prefix("run:").ok_or_else(bad)?;
    let (initial, rest) = match rest.split_once('@') {
        Some((number, rest)) => (number.parse().map_err(|_| bad())?, rest),
        None => (0, rest),
    };
    let (prefix, cycle) = match rest.split_once('~') {
        Some((prefix, cycle)) => (prefix, Some(cycle)),
        None => (rest, None),
    };
    let mut steps = Vec::new();
    read_ordinals(prefix, &mut steps).ok_or_else(bad)?;
    let loop_start = cycle.is_some().then_some(steps.len());
    read_ordinals(cycle.unwrap_or_default(), &mut steps).ok_or_else(bad)?;
    Ok(Witness { initial, steps, loop_start })
}

fn read_ordinals(text: &str, steps: &mut Vec<u32>) -> Option<()> {
    for item in text.split('.').filter(|_| !text.is_empty()) {
        let (ordinal, times) = match item.split_once('x') {
            Some((ordinal, times)) => (ordinal, times.parse::<usize>().ok()?),
            None => (item, 1),
        };
        let ordinal: u32 = ordinal.parse().ok()?;
        if times > MOST_STEPS - steps.len() {
            return None;
        }
        steps.extend(std::iter::repeat_n(ordinal, times));
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip(initial: u32, steps: &[u32], loop_start: Option<usize>) -> String {
        let witness = Witness { initial, steps: steps.to_vec(), loop_start };
        let word = run_to_word(&witness);
        assert_eq!(run_from_word(&word), Ok(witness));
        word
    }

    #[test]
    fn words_are_short_and_come_back() {
        assert_eq!(round_trip(0, &[0, 2, 1, 1, 1, 3], None), "run:0.2.1x3.3");
        assert_eq!(round_trip(0, &[0, 2, 2, 2], Some(2)), "run:0.2~2x2");
        assert_eq!(round_trip(0, &[5, 5], Some(0)), "run:~5x2");
        assert_eq!(round_trip(4, &[], None), "run:4@");
        assert_eq!(round_trip(0, &[0, 0, 0], Some(3)), "run:0x3~", "a run that has ended");
    }

    #[test]
    fn words_that_are_no_runs_are_refused() {
        for word in
            ["", "0.1", "run:0..1", "run:a", "run:0~1~", "run:1x99999999999", "run:-1", "run:1x100000000"]
        {
            assert!(run_from_word(word).is_err(), "{word}");
        }
    }

    #[test]
    fn a_changed_model_is_noticed() {
        let step = |label: &str| volee_system::RunStep {
            ordinal: 0,
            label: label.into(),
            actions: Vec::new(),
            fault: None,
            state: volee_system::RunState { variables: Vec::new() },
        };
        let initial = volee_system::RunState { variables: Vec::new() };
        let run =
            Run { skipped: 0, initial: initial.clone(), steps: vec![step("a"), step("b")], loop_start: None };
        let witness = Witness { initial: 0, steps: vec![0, 0], loop_start: None };
        let trace = Trace::new("m.pml", &[], false, "deadlock", &witness, &run);
        let trace = Trace::from_json(&trace.to_json()).expect("it was just written");
        assert_eq!(trace.compare(&run), Ok(()));
        let other = Run { skipped: 0, initial, steps: vec![step("a"), step("c")], loop_start: None };
        assert!(matches!(trace.compare(&other), Err(TraceError::Differs { step: 2, .. })));
    }
}
