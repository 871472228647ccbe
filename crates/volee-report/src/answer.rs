//! The machine-readable answer: one object per call, the same frame for every command.
//!
//! Fields may be added, never renamed; scripts depend on them. A command fills in what it knows: `check` its
//! questions, `reduce` the size of its result. What ended badly is an answer too: the same frame with
//! `errors`.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use volee_system::{Diagnostic, Limit, Place, Reason, Run, Severity, Variable, Verdict};

use crate::typed::Typed;

/// The four words an answer can be, from best to worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum VerdictWord {
    /// Everything asked for is so.
    Holds,
    /// A limit was reached before an answer.
    Unknown,
    /// Something is not as it should be, and the answer shows it.
    Violated,
    /// The input or the call is wrong: there is no answer.
    Error,
}

impl VerdictWord {
    /// The exit code of a command that answers this.
    pub fn exit_code(self) -> u8 {
        match self {
            VerdictWord::Holds => 0,
            VerdictWord::Violated => 1,
            VerdictWord::Error => 2,
            VerdictWord::Unknown => 3,
        }
    }

    /// The word itself.
    pub fn as_str(self) -> &'static str {
        match self {
            VerdictWord::Holds => "holds",
            VerdictWord::Unknown => "unknown",
            VerdictWord::Violated => "violated",
            VerdictWord::Error => "error",
        }
    }
}

impl From<&Verdict> for VerdictWord {
    fn from(verdict: &Verdict) -> Self {
        match verdict {
            Verdict::Holds => VerdictWord::Holds,
            Verdict::Violated(_) => VerdictWord::Violated,
            Verdict::Unknown(_) => VerdictWord::Unknown,
        }
    }
}

/// The whole answer of one call.
#[derive(Debug, Clone, Serialize)]
pub struct Answer {
    tool: &'static str,
    version: &'static str,
    /// The command, e.g. `check`.
    pub command: String,
    /// The model as the user named it.
    pub model: Option<String>,
    /// The engine that answered, e.g. `explicit`.
    pub engine: Option<String>,
    verdict: VerdictWord,
    /// One entry per question, or per violation where all errors were asked for.
    pub results: Vec<QuestionAnswer>,
    /// Figures by name: `states`, `transitions`, `seconds` and so on.
    pub statistics: Map<String, Value>,
    /// What is wrong with the input or the call.
    pub errors: Vec<ErrorEntry>,
    /// Whatever else a command has to say, under names of its own.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

impl Answer {
    /// An answer without results, which counts as `holds`.
    pub fn new(command: impl Into<String>) -> Self {
        Answer {
            tool: "volee",
            version: env!("CARGO_PKG_VERSION"),
            command: command.into(),
            model: None,
            engine: None,
            verdict: VerdictWord::Holds,
            results: Vec::new(),
            statistics: Map::new(),
            errors: Vec::new(),
            more: Map::new(),
        }
    }

    /// The answer when the input or the call is wrong.
    pub fn wrong(command: impl Into<String>, diagnostics: &[Diagnostic]) -> Self {
        let mut answer = Answer::new(command);
        answer.errors = diagnostics.iter().map(ErrorEntry::from).collect();
        answer.verdict = VerdictWord::Error;
        answer
    }

    /// Names the model and the engine.
    #[must_use]
    pub fn about(mut self, model: impl Into<String>, engine: impl Into<String>) -> Self {
        self.model = Some(model.into());
        self.engine = Some(engine.into());
        self
    }

    /// Adds a result; the verdict of the answer is the worst of its results.
    pub fn push(&mut self, result: QuestionAnswer) {
        self.verdict = self.verdict.max(result.verdict);
        self.results.push(result);
    }

    /// Adds a result that counts as another verdict than its own: it is as it was expected to be, or is not.
    pub fn push_as(&mut self, counts: VerdictWord, result: QuestionAnswer) {
        self.verdict = self.verdict.max(counts);
        self.results.push(result);
    }

    /// The answer is at least as bad as this.
    pub fn worsen(&mut self, verdict: VerdictWord) {
        self.verdict = self.verdict.max(verdict);
    }

    /// Sets one figure of `statistics`.
    pub fn set(&mut self, name: &str, value: impl Into<Value>) {
        self.statistics.insert(name.to_string(), value.into());
    }

    /// Adds a field beside those of the frame.
    pub fn add(&mut self, name: &str, value: impl Into<Value>) {
        self.more.insert(name.to_string(), value.into());
    }

    /// Adds what a front end wants the author of the input to know.
    pub fn warn(&mut self, warnings: &[Diagnostic]) {
        if !warnings.is_empty() {
            let entries: Vec<ErrorEntry> = warnings.iter().map(ErrorEntry::from).collect();
            self.add("warnings", serde_json::to_value(entries).unwrap_or_default());
        }
    }

    /// The worst of the results.
    pub fn verdict(&self) -> VerdictWord {
        self.verdict
    }

    /// The object as one JSON text, with a line feed at its end.
    pub fn to_json(&self) -> String {
        crate::json_text(self)
    }
}

/// The answer to one question.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct QuestionAnswer {
    /// What was asked, e.g. `deadlock`, `assertions`, `invariant x < 3`.
    pub question: String,
    /// The answer.
    pub verdict: VerdictWord,
    /// Why, where there is something to say.
    pub reason: Option<ReasonEntry>,
    /// The run that shows it.
    pub witness: Option<Value>,
    /// What there is to say about the end of the run: why nobody moves, what never happens in its cycle.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub why: Vec<String>,
    /// The command that replays it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay: Option<String>,
    /// How many errors of this question were met, where they were counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<u64>,
    /// There may be more of them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub at_least: bool,
    /// The model, where the answer is about several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// What the verdict was expected to be, where a project says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<VerdictWord>,
}

impl QuestionAnswer {
    /// A question that holds.
    pub fn holds(question: impl Into<String>) -> Self {
        QuestionAnswer {
            question: question.into(),
            verdict: VerdictWord::Holds,
            reason: None,
            witness: None,
            why: Vec::new(),
            replay: None,
            times: None,
            at_least: false,
            model: None,
            expected: None,
        }
    }

    /// The same answer with a run that shows it.
    #[must_use]
    pub fn with_run(self, run: &Run) -> Self {
        QuestionAnswer { witness: Some(run_value(run)), ..self }
    }

    /// The same answer with the command that replays its run.
    #[must_use]
    pub fn with_replay(self, command: String) -> Self {
        QuestionAnswer { replay: Some(command), ..self }
    }

    /// A question that ran into a limit.
    pub fn unknown(question: impl Into<String>, limit: &Limit) -> Self {
        QuestionAnswer {
            question: question.into(),
            verdict: VerdictWord::Unknown,
            reason: Some(ReasonEntry::from(limit)),
            witness: None,
            why: Vec::new(),
            replay: None,
            times: None,
            at_least: false,
            model: None,
            expected: None,
        }
    }

    /// A question that is violated, with the run that shows it where there is one.
    pub fn violated(question: impl Into<String>, reason: &Reason, run: Option<&Run>) -> Self {
        QuestionAnswer {
            question: question.into(),
            verdict: VerdictWord::Violated,
            reason: Some(ReasonEntry::from(reason)),
            witness: run.map(run_value),
            why: Vec::new(),
            replay: None,
            times: None,
            at_least: false,
            model: None,
            expected: None,
        }
    }
}

/// Why a question is violated or unknown.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ReasonEntry {
    /// A word of the list in the book, e.g. `invalid-end-state`, `memory`.
    pub kind: String,
    /// A sentence.
    pub message: String,
    /// The place, where there is one.
    #[serde(flatten)]
    place: PlaceFields,
}

impl ReasonEntry {
    /// The place, where there is one.
    pub fn place(&self) -> Option<Place> {
        self.place.place()
    }
}

impl From<&Limit> for ReasonEntry {
    fn from(limit: &Limit) -> Self {
        ReasonEntry {
            kind: limit.kind().to_string(),
            message: limit.to_string(),
            place: PlaceFields::default(),
        }
    }
}

impl From<&Reason> for ReasonEntry {
    fn from(reason: &Reason) -> Self {
        let kind = serde_json::to_value(reason.kind).ok();
        ReasonEntry {
            kind: kind.and_then(|k| k.as_str().map(str::to_string)).unwrap_or_default(),
            message: reason.message.clone(),
            place: reason.place.as_ref().into(),
        }
    }
}

/// One thing that is wrong with the input or the call.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ErrorEntry {
    /// What is wrong.
    pub message: String,
    /// Where.
    #[serde(flatten)]
    place: PlaceFields,
    /// How many characters from there on it is about, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    length: Option<u32>,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
    /// What kind of mistake it is, where it has a name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
}

impl ErrorEntry {
    /// The place, where there is one.
    pub fn place(&self) -> Option<Place> {
        self.place.place()
    }

    /// The message again, as an error or a warning.
    pub fn diagnostic(&self, severity: Severity) -> Diagnostic {
        let code = self.code.as_deref().map(Into::into);
        let length = self.length.unwrap_or(0);
        let error = Diagnostic::error(self.message.clone(), self.place());
        Diagnostic { severity, length, help: self.help.clone(), code, ..error }
    }
}

impl From<&Diagnostic> for ErrorEntry {
    fn from(diagnostic: &Diagnostic) -> Self {
        ErrorEntry {
            message: diagnostic.message.clone(),
            place: diagnostic.place.as_ref().into(),
            length: (diagnostic.length > 0).then_some(diagnostic.length),
            help: diagnostic.help.clone(),
            code: diagnostic.code.as_deref().map(str::to_owned),
        }
    }
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct PlaceFields {
    file: Option<String>,
    line: Option<u32>,
    column: Option<u32>,
}

impl PlaceFields {
    fn place(&self) -> Option<Place> {
        Some(Place::new(self.file.as_deref()?, self.line?, self.column?))
    }
}

impl From<Option<&Place>> for PlaceFields {
    fn from(place: Option<&Place>) -> Self {
        match place {
            Some(p) => {
                PlaceFields { file: Some(p.file.to_string()), line: Some(p.line), column: Some(p.column) }
            }
            None => PlaceFields::default(),
        }
    }
}

/// A run as the answer carries it: the whole first state, then what each step changes. Of a very long run
/// only the end is told; `skipped` is the number of steps before.
pub fn run_value(run: &Run) -> Value {
    let mut before = &run.initial;
    let mut steps = Vec::with_capacity(run.steps.len());
    for step in &run.steps {
        let changed: Vec<&Variable> = crate::changes(before, &step.state).collect();
        steps.push(serde_json::json!({
            "ordinal": step.ordinal,
            "label": step.label,
            "actions": step.actions,
            "fault": step.fault,
            "changed": texts(&changed),
            "values": values(&changed),
        }));
        before = &step.state;
    }
    let initial: Vec<&Variable> = run.initial.variables.iter().collect();
    serde_json::json!({
        "skipped": run.skipped,
        "initial": texts(&initial),
        "initial_values": values(&initial),
        "steps": steps,
        "loop_start": run.loop_start,
    })
}

/// Variables as people read them.
fn texts(variables: &[&Variable]) -> Map<String, Value> {
    variables.iter().map(|v| (v.name.clone(), Value::from(v.value.as_str()))).collect()
}

/// The same as what they are: numbers, truth values, sequences of messages.
fn values(variables: &[&Variable]) -> Map<String, Value> {
    variables.iter().map(|v| (v.name.clone(), Typed::of(&v.value).json())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use volee_system::ReasonKind;

    #[test]
    fn the_verdict_is_the_worst_of_the_results() {
        let mut answer = Answer::new("check");
        assert_eq!(answer.verdict().exit_code(), 0);
        answer.push(QuestionAnswer::holds("assertions"));
        assert_eq!(answer.verdict(), VerdictWord::Holds);
        answer.push(QuestionAnswer::unknown("deadlock", &Limit::Cancelled));
        assert_eq!(answer.verdict().exit_code(), 3);
        let reason = Reason {
            kind: ReasonKind::InvalidEndState,
            message: "stuck".into(),
            place: Some(Place::new("a.pml", 3, 4)),
        };
        answer.push(QuestionAnswer::violated("deadlock", &reason, None));
        assert_eq!(answer.verdict().exit_code(), 1);
        let json: Value = serde_json::from_str(&answer.to_json()).expect("valid JSON");
        assert_eq!(json["verdict"], "violated");
        assert_eq!(json["results"][2]["reason"]["kind"], "invalid-end-state");
        assert_eq!(json["results"][2]["reason"]["line"], 3);
        assert_eq!(json["results"][0]["reason"], Value::Null);
    }

    #[test]
    fn a_wrong_call_keeps_the_frame() {
        let answer = Answer::wrong("check", &[Diagnostic::error("no such file", None)]);
        let json: Value = serde_json::from_str(&answer.to_json()).expect("valid JSON");
        for field in
            ["tool", "version", "command", "model", "engine", "verdict", "results", "statistics", "errors"]
        {
            assert!(json.get(field).is_some(), "{field} is missing");
        }
        assert_eq!(json["errors"][0]["message"], "no such file");
        assert_eq!(answer.verdict().exit_code(), 2);
    }
}
