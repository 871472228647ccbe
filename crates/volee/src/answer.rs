//! What comes out: one type for the answers of every engine.

use std::fmt;
use std::path::Path;

use serde_json::{Map, Value};
use volee_bes::explain::{Explanation, to_aut, to_dot};
use volee_conform::ConformError;
use volee_lts::LtsError;
use volee_report::Claim;
use volee_system::{Covered, Diagnostic, Limit, Reason, Run, Unreached, Verdict, Violation, Witness};

use crate::judge::Defect;
use crate::model::Options;
use crate::question::Question;
use crate::refusal::Refusal;

/// Of a run longer than this only the end is kept: each step carries all that is to be said about it.
pub const LONGEST_RUN: usize = 10_000;

/// The answer to one question.
#[derive(Debug, Clone)]
pub struct Answer {
    /// What was asked.
    pub question: Question,
    /// The engine that answered.
    pub engine: &'static str,
    /// The answer.
    pub verdict: Verdict,
    /// How many errors were met, also those without a run of their own.
    pub errors: u64,
    /// There may be more of them.
    pub at_least: bool,
    /// The runs that show it: one per violation, or one that shows how what was asked for comes true. What
    /// never happens has none.
    pub runs: Vec<ShownRun>,
    /// What shows that it holds, or why a formula is false.
    pub certificate: Option<Certificate>,
    /// What else there is to say about the verdict, in few words.
    pub remark: Option<String>,
    /// Sentences that belong to the verdict: for which numbers, with which capacities.
    pub notes: Vec<String>,
    /// How many processes of each type the smallest violating member of a family has.
    pub sizes: Option<Vec<(String, u32)>>,
    /// The first run with its repeating end taken a dozen times.
    pub longer: Option<Witness>,
    /// The graph that has settled a question about a family by cut-offs, where it is small enough to be
    /// looked at.
    pub erg: Option<Box<volee_families::Erg>>,
}

/// A run that was replayed before it left the library.
#[derive(Debug, Clone)]
pub struct ShownRun {
    /// What it is.
    pub role: Role,
    /// The run.
    pub run: Run,
    /// The run by ordinals, where a system can replay it.
    pub witness: Option<Witness>,
    /// The same run one step at a time, where `run` tells many rounds of a loop as one.
    pub single: Option<Run>,
    /// How the model is read for it.
    pub options: Options,
    /// What there is to say about its length, unless it is the number of its steps.
    pub length: Option<String>,
    /// Its states in the terms of the engine, added to the machine-readable form.
    pub more: Option<Value>,
    /// What it shows, in a form that can be looked at again; the judge has confirmed it.
    pub claim: Option<Claim>,
    /// What there is to say about its end: why nobody moves, what never happens in its cycle.
    pub why: Vec<String>,
    /// It goes on for ever although no state comes again: integers grow.
    pub grows: bool,
}

/// What a run is to the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// How something goes wrong.
    Violation,
    /// How it begins, where one run is not all of it.
    Beginning,
    /// How a goal is reached.
    Goal,
    /// What makes a formula true.
    Evidence,
}

/// What shows that an answer is right.
#[derive(Debug, Clone)]
pub enum Certificate {
    /// Every reachable state was looked at.
    Explored,
    /// A set that is closed under all steps and has nothing bad in it, checked by other code than has found
    /// it.
    ClosedSet,
    /// An inductive invariant of all members of a family, checked by other code than has found it.
    Invariant {
        /// What it is, in words.
        sentence: String,
    },
    /// The largest contents of each channel.
    Capacities(Vec<(String, usize)>),
    /// The part of a system that shows why a formula is true or false, checked by other code than has found
    /// it.
    Explanation(Box<Explanation>),
}

/// The forms in which an explanation is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExplanationForm {
    /// As a labelled transition system.
    Aut,
    /// As a picture for Graphviz.
    Dot,
}

impl ExplanationForm {
    /// The form that an extension names.
    ///
    /// # Errors
    /// It names none.
    pub fn of(path: &Path) -> Result<ExplanationForm, Diagnostic> {
        match path.extension().and_then(|e| e.to_str()) {
            Some("aut") => Ok(ExplanationForm::Aut),
            Some("dot" | "gv") => Ok(ExplanationForm::Dot),
            _ => {
                let message = format!("`{}`: a diagnostic is written as .aut or .dot", path.display());
                Err(Diagnostic::error(message, None))
            }
        }
    }
}

impl Answers {
    /// Writes what shows why the first formula is true or false, or the graph of a cut-off; tells whether
    /// there was such a thing.
    ///
    /// # Errors
    /// It is not complete, or the file cannot be written.
    pub fn write_explanation(&self, path: &Path, form: ExplanationForm) -> Result<bool, Diagnostic> {
        if let Some(erg) = self.iter().find_map(|answer| answer.erg.as_ref()) {
            return crate::files::write(path, crate::engines::cutoffs::drawn(erg, form)).map(|()| true);
        }
        let mut certificates = self.iter().filter_map(|answer| answer.certificate.as_ref());
        let explained = certificates.find(|certificate| matches!(certificate, Certificate::Explanation(_)));
        let Some(explained) = explained else { return Ok(false) };
        let text = explained.explanation(form).ok_or_else(|| {
            Diagnostic::error("the diagnostic is not complete, so it is not written", None).with_help(
                "it may be too large: a universal property that holds is shown only by the whole system",
            )
        })?;
        crate::files::write(path, text).map(|()| true)
    }
}

impl Certificate {
    /// An explanation as a text; `None` if there is none, or if it was too large to be kept whole.
    pub fn explanation(&self, form: ExplanationForm) -> Option<String> {
        let Certificate::Explanation(explanation) = self else { return None };
        let text = match form {
            ExplanationForm::Aut => to_aut,
            ExplanationForm::Dot => to_dot,
        };
        explanation.complete.then(|| text(explanation))
    }

    /// Why a formula is true or false, in sentences.
    pub fn why(&self) -> &[String] {
        match self {
            Certificate::Explanation(explanation) => &explanation.why,
            _ => &[],
        }
    }
}

impl Answer {
    /// The answer to a question, without anything to show for it yet.
    pub(crate) fn new(question: Question, engine: &'static str, verdict: Verdict) -> Self {
        Answer {
            question,
            engine,
            verdict,
            errors: 0,
            at_least: true,
            runs: Vec::new(),
            certificate: None,
            remark: None,
            notes: Vec::new(),
            sizes: None,
            longer: None,
            erg: None,
        }
    }

    /// Whether it holds.
    pub fn holds(&self) -> bool {
        self.verdict == Verdict::Holds
    }

    /// Whether it is violated.
    pub fn is_violated(&self) -> bool {
        matches!(self.verdict, Verdict::Violated(_))
    }

    /// The first run that shows it.
    pub fn run(&self) -> Option<&Run> {
        self.runs.first().map(|shown| &shown.run)
    }

    /// What is wrong, the first of all.
    pub fn reason(&self) -> Option<&Reason> {
        match &self.verdict {
            Verdict::Violated(violations) => violations.first().map(|v| &v.reason),
            _ => None,
        }
    }
}

/// Figures by name: `states`, `transitions`, `seconds` and so on.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Figures(pub Map<String, Value>);

impl Figures {
    /// Sets a figure.
    pub fn set(&mut self, name: &str, value: impl Into<Value>) {
        self.0.insert(name.to_string(), value.into());
    }

    /// A figure that is a whole number.
    pub fn number(&self, name: &str) -> Option<u64> {
        self.0.get(name).and_then(Value::as_u64)
    }

    /// States that were looked at, or sets of them.
    pub fn states(&self) -> u64 {
        self.number("states").unwrap_or_default()
    }

    /// Wall-clock seconds.
    pub fn seconds(&self) -> f64 {
        self.0.get("seconds").and_then(Value::as_f64).unwrap_or_default()
    }
}

/// The answers to all questions of a call.
#[derive(Debug, Clone, Default)]
pub struct Answers {
    /// One per question, in the order of the questions; more where a question falls into parts.
    pub answers: Vec<Answer>,
    /// The engine that answered, the first if there were several.
    pub engine: &'static str,
    /// What it took.
    pub figures: Figures,
    /// Sentences about what it took.
    pub remarks: Vec<String>,
    /// What an engine has to say for itself, by name.
    pub fields: Map<String, Value>,
    /// What the author of the model should know.
    pub warnings: Vec<Diagnostic>,
    /// Claims of the model that were not asked.
    pub unasked: Vec<Question>,
    /// What the questions speak of and no explored step is: an answer about it says little.
    pub silent: Vec<String>,
    /// Variables that invariants and formulas speak of and no statement writes.
    pub constant: Vec<String>,
    /// Statements that no run executes, where that is known.
    pub unreached: Option<Vec<Unreached>>,
    /// How often each statement was executed by the first search that keeps count; see
    /// [`crate::coverage_note`].
    pub coverage: Vec<Covered>,
}

impl Answers {
    /// The answers, one after the other.
    pub fn iter(&self) -> std::slice::Iter<'_, Answer> {
        self.answers.iter()
    }

    /// Whether every question holds.
    pub fn all_hold(&self) -> bool {
        self.answers.iter().all(Answer::holds)
    }
}

impl<'a> IntoIterator for &'a Answers {
    type Item = &'a Answer;
    type IntoIter = std::slice::Iter<'a, Answer>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl IntoIterator for Answers {
    type Item = Answer;
    type IntoIter = std::vec::IntoIter<Answer>;

    fn into_iter(self) -> Self::IntoIter {
        self.answers.into_iter()
    }
}

/// Why there are no answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AskError {
    /// It cannot be asked in this way.
    Refused(Refusal),
    /// The model, a formula or an expression is wrong, or the workers are.
    Input(Vec<Diagnostic>),
    /// A limit was reached before there was anything to answer with.
    Limit(Limit),
    /// An answer was found but is not confirmed by the plain program: a defect of volee.
    Defect(Box<Defect>),
}

impl AskError {
    /// One sentence.
    pub(crate) fn new(message: impl Into<String>, help: &str) -> Self {
        Diagnostic::error(message, None).with_help(help).into()
    }

    /// What is wrong with an expression or formula that stands in no file: told by its column.
    pub(crate) fn expression(question: &str, text: &str, wrong: Diagnostic) -> Self {
        let column = wrong.place.as_ref().map(|p| format!(", column {}", p.column)).unwrap_or_default();
        let message = format!("{question} `{}`{column}: {}", volee_report::brief(text), wrong.message);
        Diagnostic { message, place: None, ..wrong }.into()
    }
}

impl From<Diagnostic> for AskError {
    fn from(diagnostic: Diagnostic) -> Self {
        AskError::Input(vec![diagnostic])
    }
}

impl From<Vec<Diagnostic>> for AskError {
    fn from(diagnostics: Vec<Diagnostic>) -> Self {
        AskError::Input(diagnostics)
    }
}

impl From<Defect> for AskError {
    fn from(defect: Defect) -> Self {
        AskError::Defect(Box::new(defect))
    }
}

impl From<Limit> for AskError {
    fn from(limit: Limit) -> Self {
        AskError::Limit(limit)
    }
}

impl From<LtsError> for AskError {
    fn from(error: LtsError) -> Self {
        match error {
            LtsError::Limit(limit) => AskError::Limit(limit),
            LtsError::Input(diagnostic) => diagnostic.into(),
            LtsError::Io { path, source } => {
                Diagnostic::error(format!("`{}`: {source}", path.display()), None).into()
            }
            other => Diagnostic::error(other.to_string(), None).into(),
        }
    }
}

impl From<ConformError> for AskError {
    fn from(error: ConformError) -> Self {
        match error {
            ConformError::Limit(limit) => AskError::Limit(limit),
            ConformError::Input(diagnostic) => diagnostic.into(),
            none @ ConformError::NoTest => Diagnostic::error(none.to_string(), None).into(),
        }
    }
}

impl From<Refusal> for AskError {
    fn from(refusal: Refusal) -> Self {
        AskError::Refused(refusal)
    }
}

impl fmt::Display for AskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AskError::Refused(refusal) => write!(f, "{refusal}"),
            AskError::Limit(limit) => write!(f, "{limit}"),
            AskError::Defect(defect) => write!(f, "{defect}"),
            AskError::Input(all) => {
                let lines: Vec<String> = all.iter().map(ToString::to_string).collect();
                write!(f, "{}", lines.join("\n"))
            }
        }
    }
}

impl std::error::Error for AskError {}

/// A verdict with one violation that has no run of its own.
pub(crate) fn violated(reason: Reason, witness: Witness) -> Verdict {
    Verdict::Violated(vec![Violation { reason, witness }])
}

/// A limit in words.
pub(crate) fn limit(message: impl Into<String>) -> Limit {
    Limit::Other { message: message.into() }
}
