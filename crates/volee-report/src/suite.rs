//! Answers about several models as one: a table for people, one frame for machines, JUnit for a CI server.
//!
//! Each model was asked in a process of its own, so what is put together here are machine-readable answers. A
//! project may say what it expects of a model; then a verdict counts as good if it is the expected one, and
//! as bad if it is another.

use std::fmt::Write as _;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use volee_system::{Diagnostic, Limit, Severity};

use crate::{
    Answer, CaseOutcome, ErrorEntry, JunitCase, Palette, QuestionAnswer, VerdictWord, count, counted,
    junit_suites, seconds,
};

/// What is expected of a model; of what is not named, that it holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Expected {
    /// The worst of all verdicts.
    pub whole: Option<VerdictWord>,
    /// The verdicts of single questions, by their names or what the model calls them.
    pub questions: Vec<(String, VerdictWord)>,
}

impl Expected {
    fn of(&self, question: &str) -> Option<VerdictWord> {
        self.questions.iter().find(|(word, _)| means(word, question)).map(|(_, verdict)| *verdict)
    }
}

/// Whether a question is meant by `word`: its whole name, the word of its kind, or the model's name for it.
fn means(word: &str, question: &str) -> bool {
    let (kind, name) = question.split_once(' ').unwrap_or((question, ""));
    word == question || word == kind || (word == name && matches!(kind, "ltl" | "never"))
}

/// The parts of a machine-readable answer that matter here.
#[derive(Debug, Clone, Deserialize)]
pub struct MemberAnswer {
    /// The engine that answered.
    #[serde(default)]
    pub engine: Option<String>,
    /// The worst of the results.
    pub verdict: VerdictWord,
    /// One per question.
    #[serde(default)]
    pub results: Vec<QuestionAnswer>,
    /// Figures by name.
    #[serde(default)]
    pub statistics: Map<String, Value>,
    /// What is wrong with the model or the call.
    #[serde(default)]
    pub errors: Vec<ErrorEntry>,
    /// What its author should know.
    #[serde(default)]
    pub warnings: Vec<ErrorEntry>,
    /// The answer as people read it.
    #[serde(default)]
    pub text: String,
}

impl MemberAnswer {
    /// The answer where a limit came before any question.
    pub fn unknown(limit: &Limit) -> Self {
        MemberAnswer {
            engine: None,
            verdict: VerdictWord::Unknown,
            results: vec![QuestionAnswer::unknown("check", limit)],
            statistics: Map::new(),
            errors: Vec::new(),
            warnings: Vec::new(),
            text: String::new(),
        }
    }
}

/// A model that was checked.
#[derive(Debug, Clone)]
pub struct Member {
    /// The model's file.
    pub model: String,
    /// What it is called: its file, unless a project names it.
    pub name: String,
    /// What is expected of it.
    pub expected: Expected,
    /// The answer.
    pub answer: MemberAnswer,
}

/// What a member's answer counts for.
#[derive(Debug, Clone)]
pub struct Judged {
    /// The worst of all that is not as expected; `holds` if everything is.
    pub verdict: VerdictWord,
    /// What each result counts for, in their order.
    pub results: Vec<VerdictWord>,
    /// What was expected of questions that nobody asked, in sentences.
    pub missing: Vec<String>,
}

impl Member {
    /// Compares the answer with what was expected.
    pub fn judged(&self) -> Judged {
        let actual = self.answer.verdict;
        let results: Vec<VerdictWord> = match self.expected.whole {
            Some(whole) if whole == actual => vec![VerdictWord::Holds; self.answer.results.len()],
            Some(_) if actual == VerdictWord::Holds => {
                vec![VerdictWord::Violated; self.answer.results.len()]
            }
            Some(_) => self.answer.results.iter().map(|result| result.verdict).collect(),
            None => self.by_question(),
        };
        let missing = self.missing();
        let mut verdict = results.iter().copied().max().unwrap_or(VerdictWord::Holds);
        if actual == VerdictWord::Error && self.expected.whole != Some(VerdictWord::Error) {
            verdict = VerdictWord::Error;
        }
        if self.expected.whole.is_some_and(|whole| whole != actual) {
            verdict = verdict.max(if actual == VerdictWord::Holds { VerdictWord::Violated } else { actual });
        }
        if !missing.is_empty() {
            verdict = VerdictWord::Error;
        }
        Judged { verdict, results, missing }
    }

    fn by_question(&self) -> Vec<VerdictWord> {
        let results = &self.answer.results;
        let foreseen = |r: &QuestionAnswer| {
            r.verdict == VerdictWord::Violated && self.expected.of(&r.question) == Some(VerdictWord::Violated)
        };
        let stopped = results.iter().any(foreseen);
        let counts = |result: &QuestionAnswer| match self.expected.of(&result.question) {
            Some(expected) if expected == result.verdict => VerdictWord::Holds,
            Some(_) if result.verdict == VerdictWord::Holds => VerdictWord::Violated,
            Some(_) => result.verdict,
            // A search that ends at the error it was expected to find leaves the other questions open.
            None if stopped && result.reason.as_ref().is_some_and(|r| r.kind == "limit") => {
                VerdictWord::Holds
            }
            None => result.verdict,
        };
        results.iter().map(counts).collect()
    }

    fn missing(&self) -> Vec<String> {
        if self.answer.verdict == VerdictWord::Error {
            return Vec::new();
        }
        let asked: Vec<&str> = self.answer.results.iter().map(|r| r.question.as_str()).collect();
        let unknown =
            self.expected.questions.iter().filter(|(word, _)| !asked.iter().any(|q| means(word, q)));
        unknown
            .map(|(word, _)| {
                format!("{}: no question is called `{word}`; there are {}", self.name, asked.join(", "))
            })
            .collect()
    }

    /// The first thing that there is to say about the verdict.
    pub fn reason(&self) -> Option<String> {
        if let Some(error) = self.answer.errors.first() {
            let place = error.place().map(|p| format!("{p}: ")).unwrap_or_default();
            return Some(format!("{place}{}", error.message));
        }
        let worst = self.answer.results.iter().find(|r| r.verdict == self.answer.verdict)?;
        worst.reason.as_ref().map(|reason| format!("{}: {}", worst.question, reason.message))
    }

    fn number(&self, name: &str) -> u64 {
        self.answer.statistics.get(name).and_then(Value::as_u64).unwrap_or_default()
    }

    fn seconds(&self) -> f64 {
        self.answer.statistics.get("seconds").and_then(Value::as_f64).unwrap_or_default()
    }

    fn row(&self, judged: &Judged) -> ModelRow {
        ModelRow {
            model: self.model.clone(),
            name: self.name.clone(),
            verdict: self.answer.verdict,
            counts: judged.verdict,
            as_expected: judged.verdict == VerdictWord::Holds,
        }
    }
}

/// A row of the table of models.
#[derive(Debug, Clone, serde::Serialize)]
pub struct ModelRow {
    model: String,
    name: String,
    verdict: VerdictWord,
    counts: VerdictWord,
    as_expected: bool,
}

/// All answers in one frame; each result tells its model.
pub fn suite_answer(members: &[Member]) -> Answer {
    let mut answer = Answer::new("check");
    let mut models = Vec::new();
    for member in members {
        let judged = member.judged();
        for (result, counts) in member.answer.results.iter().zip(&judged.results) {
            let expected = member.expected.of(&result.question);
            let result = QuestionAnswer { model: Some(member.name.clone()), expected, ..result.clone() };
            answer.push_as(*counts, result);
        }
        for error in &member.answer.errors {
            answer.errors.push(error.clone());
        }
        for sentence in &judged.missing {
            let wrong = Diagnostic::error(sentence.clone(), None);
            answer.errors.push(ErrorEntry::from(&wrong));
        }
        answer.worsen(judged.verdict);
        let mut row = serde_json::to_value(member.row(&judged)).unwrap_or_default();
        row["engine"] = json!(member.answer.engine);
        row["expected"] = json!(member.expected.whole);
        row["statistics"] = Value::Object(member.answer.statistics.clone());
        models.push(row);
    }
    for figure in ["states", "transitions"] {
        answer.set(figure, members.iter().map(|m| m.number(figure)).sum::<u64>());
    }
    answer.set("seconds", members.iter().map(Member::seconds).sum::<f64>());
    answer.set("models", members.len());
    answer.add("models", models);
    answer
}

/// One line per model, and one that counts them.
pub fn suite_table(members: &[Member], palette: Palette) -> String {
    let width = members.iter().map(|m| m.name.chars().count()).max().unwrap_or(0);
    let mut out = String::new();
    for member in members {
        let judged = member.judged();
        let word = format!("{:<9}", member.answer.verdict.as_str());
        let word = match judged.verdict {
            VerdictWord::Holds => palette.good(word),
            VerdictWord::Unknown => palette.doubtful(word),
            VerdictWord::Violated | VerdictWord::Error => palette.bad(word),
        };
        let note = palette.faint(note(member, &judged));
        let _ = writeln!(out, "{word} {:<width$}  {note}", member.name);
        for sentence in &judged.missing {
            let _ = writeln!(out, "          {}", palette.bad(sentence));
        }
    }
    let _ = writeln!(out, "{}", palette.strong(totals(members)));
    out
}

/// What stands behind a model in the table.
fn note(member: &Member, judged: &Judged) -> String {
    let figures = format!(
        "{}, {} states, {}",
        counted(member.answer.results.len(), "question"),
        count(member.number("states")),
        seconds(member.seconds())
    );
    let reason = member.reason().unwrap_or(figures.clone());
    match (member.answer.verdict, judged.verdict) {
        (VerdictWord::Holds, VerdictWord::Holds) => figures,
        (_, VerdictWord::Holds) => format!("as expected ({reason})"),
        (VerdictWord::Holds, _) => "an error is expected, and none is found".to_string(),
        _ => reason,
    }
}

fn totals(members: &[Member]) -> String {
    let judged: Vec<(VerdictWord, VerdictWord)> =
        members.iter().map(|m| (m.answer.verdict, m.judged().verdict)).collect();
    let number = |wanted: &dyn Fn(&(VerdictWord, VerdictWord)) -> bool| {
        judged.iter().filter(|pair| wanted(pair)).count()
    };
    let good = VerdictWord::Holds;
    let counts = [
        (number(&|(actual, counts)| *actual == good && *counts == good), "hold"),
        (number(&|(actual, counts)| *actual != good && *counts == good), "not to hold, as expected"),
        (number(&|(_, counts)| *counts == VerdictWord::Violated), "violated or not as expected"),
        (number(&|(_, counts)| *counts == VerdictWord::Unknown), "unknown"),
        (number(&|(_, counts)| *counts == VerdictWord::Error), "wrong"),
    ];
    let parts: Vec<String> =
        counts.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect();
    format!("{}: {}", counted(members.len(), "model"), parts.join(", "))
}

/// A suite per model, a case per question.
pub fn suite_junit(members: &[Member]) -> String {
    let suites: Vec<(String, Vec<JunitCase>)> = members.iter().map(|m| (m.name.clone(), cases(m))).collect();
    junit_suites(suites.iter().map(|(name, cases)| (name.as_str(), cases.as_slice())))
}

fn cases(member: &Member) -> Vec<JunitCase> {
    let judged = member.judged();
    let mut cases: Vec<JunitCase> = Vec::new();
    let share = member.seconds() / member.answer.results.len().max(1) as f64;
    for (result, counts) in member.answer.results.iter().zip(&judged.results) {
        let (word, message) = match &result.reason {
            Some(reason) => (reason.kind.clone(), located(reason.place(), &reason.message)),
            None => ("not-as-expected".into(), format!("it {}", result.verdict.as_str())),
        };
        let outcome = match counts {
            VerdictWord::Holds => CaseOutcome::Passed,
            VerdictWord::Violated => CaseOutcome::Failed(word, message),
            VerdictWord::Unknown | VerdictWord::Error => CaseOutcome::Undecided(word, message),
        };
        let bad = *counts == VerdictWord::Violated && cases.iter().all(|c| c.output.is_empty());
        let output = if bad { member.answer.text.clone() } else { String::new() };
        cases.push(JunitCase { name: result.question.clone(), seconds: share, outcome, output });
    }
    let whole = |word: &str, message: String| JunitCase {
        name: "model".into(),
        seconds: 0.0,
        outcome: CaseOutcome::Undecided(word.into(), message),
        output: String::new(),
    };
    if judged.verdict == VerdictWord::Error {
        let errors = member.answer.errors.iter();
        cases.extend(errors.map(|e| whole("error", located(e.place(), &e.message))));
        cases.extend(judged.missing.iter().map(|sentence| whole("expectation", sentence.clone())));
    } else if cases.is_empty() {
        cases.push(JunitCase { outcome: CaseOutcome::Passed, ..whole("", String::new()) });
    }
    cases
}

fn located(place: Option<volee_system::Place>, message: &str) -> String {
    place.map_or_else(|| message.to_string(), |place| format!("{place}: {message}"))
}

/// What people read of all answers: those that are not as they should be whole, then a table; `alone` means
/// one model and no table.
pub fn suite_text(members: &[Member], alone: bool, palette: Palette) -> String {
    let mut text = String::new();
    for member in members {
        let quiet = !alone && member.judged().verdict == VerdictWord::Holds;
        if !quiet && !member.answer.text.is_empty() {
            let heading = palette.strong(format!("── {} ──", member.name));
            let heading = if alone { String::new() } else { format!("{heading}\n") };
            text.push_str(&format!("{heading}{}\n", member.answer.text.trim_end()));
        }
    }
    if !alone || text.is_empty() {
        text.push_str(&suite_table(members, palette));
    }
    text
}

/// An answer on one line, for whoever reads a stream of them.
pub fn one_line(json: &str) -> String {
    serde_json::from_str::<Value>(json).map(|v| format!("{v}\n")).unwrap_or_default()
}

/// The answer about the only model, as if it had been asked alone.
pub fn alone_json(value: &Value) -> String {
    let mut value = value.clone();
    if let Some(fields) = value.as_object_mut() {
        fields.remove("text");
    }
    serde_json::to_string_pretty(&value).unwrap_or_default() + "\n"
}

impl Member {
    /// Errors and warnings of the model, as people read them.
    pub fn messages(&self) -> Vec<Diagnostic> {
        let errors = self.answer.errors.iter().map(|e| e.diagnostic(Severity::Error));
        errors.chain(self.answer.warnings.iter().map(|w| w.diagnostic(Severity::Warning))).collect()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A model with these verdicts of its questions.
    pub(crate) fn member(results: &[(&str, &str)], expected: Expected) -> Member {
        let worst = results.iter().map(|(_, word)| word_of(word)).max().expect("a result");
        let results: Vec<Value> = results
            .iter()
            .map(|(question, verdict)| {
                let reason = (*verdict != "holds").then(|| {
                    json!({ "kind": if *verdict == "unknown" { "limit" } else { "assertion" }, "message": "100 % wrong",
                            "file": "a b.pml", "line": 3, "column": 4 })
                });
                json!({ "question": question, "verdict": verdict, "reason": reason, "witness": null })
            })
            .collect();
        let answer = json!({ "verdict": worst, "results": results, "statistics": { "states": 7, "seconds": 0.5 },
                             "errors": [], "text": "how it happens" });
        let answer = serde_json::from_value(answer).expect("it is an answer");
        Member { model: "a b.pml".into(), name: "a b.pml".into(), expected, answer }
    }

    fn word_of(word: &str) -> VerdictWord {
        serde_json::from_value(json!(word)).expect("a verdict")
    }

    fn expecting(pairs: &[(&str, &str)]) -> Expected {
        let questions = pairs.iter().map(|(q, v)| (q.to_string(), word_of(v))).collect();
        Expected { whole: None, questions }
    }

    #[test]
    fn without_expectations_everything_has_to_hold() {
        let good = member(&[("deadlock", "holds")], Expected::default());
        assert_eq!(good.judged().verdict, VerdictWord::Holds);
        let bad = member(&[("deadlock", "holds"), ("assertions", "violated")], Expected::default());
        assert_eq!(bad.judged().verdict, VerdictWord::Violated);
    }

    #[test]
    fn an_error_that_is_expected_is_good_and_its_absence_is_not() {
        let whole = |word| Expected { whole: Some(word_of(word)), ..Expected::default() };
        let found = member(&[("deadlock", "unknown"), ("assertions", "violated")], whole("violated"));
        assert_eq!(found.judged().verdict, VerdictWord::Holds);
        let none = member(&[("deadlock", "holds")], whole("violated"));
        assert_eq!(none.judged().verdict, VerdictWord::Violated);
        let open = member(&[("deadlock", "unknown")], whole("holds"));
        assert_eq!(open.judged().verdict, VerdictWord::Unknown);
    }

    #[test]
    fn single_questions_are_meant_by_their_names() {
        let results = [("deadlock", "unknown"), ("assertions", "violated"), ("ltl fair", "violated")];
        let both = member(&results, expecting(&[("assertions", "violated"), ("fair", "violated")]));
        assert_eq!(both.judged().verdict, VerdictWord::Holds, "what the first error leaves open is no news");
        let one = member(&results, expecting(&[("assertions", "violated")]));
        assert_eq!(one.judged().verdict, VerdictWord::Violated);
        let misspelt = member(&results, expecting(&[("asertions", "violated")]));
        assert_eq!(misspelt.judged().verdict, VerdictWord::Error);
        assert!(
            misspelt.judged().missing[0].contains("`asertions`; there are deadlock, assertions, ltl fair")
        );
    }

    #[test]
    fn the_frame_has_every_result_with_its_model() {
        let expected = Expected { whole: Some(VerdictWord::Violated), ..Expected::default() };
        let members = [
            member(&[("deadlock", "holds")], Expected::default()),
            member(&[("deadlock", "violated")], expected),
        ];
        let json: Value = serde_json::from_str(&suite_answer(&members).to_json()).expect("it is JSON");
        assert_eq!(json["verdict"], "holds");
        assert_eq!(json["results"][1]["verdict"], "violated");
        assert_eq!(json["results"][1]["model"], "a b.pml");
        assert_eq!(json["models"][1]["as_expected"], true);
        assert_eq!(json["statistics"]["states"], 14);
    }

    #[test]
    fn junit_has_a_suite_per_model_and_a_case_per_question() {
        let members = [
            member(&[("deadlock", "holds"), ("assertions", "violated")], Expected::default()),
            member(&[("deadlock", "unknown")], Expected::default()),
        ];
        let text = suite_junit(&members);
        assert!(text.contains("tests=\"3\" skipped=\"0\" failures=\"1\" errors=\"1\""), "{text}");
        assert!(text.contains("a b.pml:3:4: 100 % wrong"), "{text}");
        assert_eq!(text.matches("<testsuite ").count(), 2, "{text}");
    }
}
