//! Answers as people read them and as machines do: a table of verdicts first, then what there is to say about
//! each.

use std::fmt::Write as _;

use serde_json::Value;
use volee_report::{
    Answer as Frame, Palette, QuestionAnswer, Trace, VerdictWord, annotated_source, count, counted, excerpt,
    run_value, shares,
};
use volee_system::{Diagnostic, Limit, Reason, ReasonKind, Unreached, Verdict, Witness};

use super::{Outcome, RunView};
use crate::answer::{Answer, Answers, Certificate, Figures, Role, ShownRun};
use crate::html::coverage_note;
use crate::model::Options;
use crate::source::Source;

/// Beyond this many steps it is worth asking for a shorter run.
const LONG: usize = 60;

/// How answers are shown, in the words of whoever shows them.
pub struct View<'a> {
    /// Colours, or none.
    pub palette: Palette,
    /// How runs are shown and stored.
    pub run: RunView,
    /// What to tell under a long run.
    pub shorter: Option<&'a str>,
    /// How to ask the claims of the model that were not asked.
    pub all_claims: &'a str,
    /// Whether to tell how often each statement ran.
    pub coverage: bool,
    /// What to try next when a limit has left a question open.
    pub advise: &'a dyn Fn(&Limit, &Figures) -> Option<String>,
    /// The command that replays a run of a model that is read with these options.
    pub replay: &'a dyn Fn(&Options, &Trace) -> Result<String, Diagnostic>,
}

/// Answers about a model, as an outcome.
///
/// # Errors
/// A file cannot be written.
pub fn answers(source: &Source, answers: &Answers, view: &View<'_>) -> Result<Outcome, Diagnostic> {
    let name = source.path.display().to_string();
    let frame = Frame::new("check").about(&name, answers.engine);
    Report { view, name, frame, table: String::new(), details: String::new(), runs: 0 }.write(answers)
}

/// What is put together.
struct Report<'a> {
    view: &'a View<'a>,
    name: String,
    frame: Frame,
    table: String,
    details: String,
    runs: usize,
}

impl Report<'_> {
    /// The whole answer.
    fn write(mut self, answers: &Answers) -> Result<Outcome, Diagnostic> {
        for answer in answers {
            self.answer(answer, answers)?;
        }
        if answers.answers.is_empty() {
            self.note(&format!("`{}` has no ltl blocks and no never claim: nothing was checked", self.name));
        }
        self.unasked(answers);
        self.frame.add("silent", answers.silent.clone());
        if !answers.constant.is_empty() {
            self.frame.add("constant", answers.constant.clone());
        }
        if let Some(unreached) = &answers.unreached {
            self.unreached(unreached);
        }
        if self.view.coverage && !answers.coverage.is_empty() {
            self.covered(answers);
        }
        self.frame.statistics.extend(answers.figures.0.clone());
        self.frame.more.extend(answers.fields.clone());
        let _ = writeln!(self.details);
        for remark in &answers.remarks {
            let _ = writeln!(self.details, "{}", self.view.palette.faint(remark));
        }
        Ok(Outcome::new(self.frame, format!("{}{}", self.table, self.details)))
    }

    fn answer(&mut self, answer: &Answer, all: &Answers) -> Result<(), Diagnostic> {
        let question = answer.question.to_string();
        let note = match &answer.verdict {
            Verdict::Unknown(limit) => limit.to_string(),
            Verdict::Violated(_) if answer.errors > 1 => {
                let bound = if answer.at_least { "at least " } else { "" };
                format!("{bound}{} times", count(answer.errors))
            }
            _ => String::new(),
        };
        self.row(&question, VerdictWord::from(&answer.verdict), answer.remark.as_ref().unwrap_or(&note));
        answer.notes.iter().for_each(|line| self.note(line));
        let why = answer.certificate.as_ref().map_or(&[][..], Certificate::why);
        if !why.is_empty() {
            let _ = writeln!(self.details, "\n{}", self.view.palette.strong("why:"));
            for sentence in why {
                let _ = writeln!(self.details, "  {sentence}");
            }
        }
        let results = match &answer.verdict {
            Verdict::Holds => vec![self.holds(answer, &question, why.is_empty())?],
            Verdict::Unknown(limit) => {
                let why: Vec<String> = (self.view.advise)(limit, &all.figures).into_iter().collect();
                why.iter().for_each(|line| self.note(&format!("          {line}")));
                vec![QuestionAnswer { why, ..QuestionAnswer::unknown(&question, limit) }]
            }
            Verdict::Violated(violations) => {
                let mut results = Vec::new();
                for (number, violation) in violations.iter().enumerate() {
                    let shown = answer.runs.get(number);
                    let mut result = self.violation(&question, &violation.reason, shown, why.is_empty())?;
                    if shown.is_none() {
                        result.why.clone_from(&answer.notes);
                    }
                    // That there is at least one error is said by the verdict, and what never happens has none.
                    let is_counted = violation.reason.kind != ReasonKind::Unreachable;
                    if is_counted && (answer.errors > 1 || !answer.at_least) {
                        (result.times, result.at_least) = (Some(answer.errors), answer.at_least);
                    }
                    results.push(result);
                }
                results
            }
        };
        results.into_iter().for_each(|result| self.frame.push(result));
        if let (Some(witness), Some(shown)) = (&answer.longer, answer.runs.first()) {
            let command = self.longer(&question, shown, witness)?;
            self.frame.add("replay_dozen", command);
        }
        Ok(())
    }

    fn holds(
        &mut self,
        answer: &Answer,
        question: &str,
        heading: bool,
    ) -> Result<QuestionAnswer, Diagnostic> {
        let result = QuestionAnswer::holds(question);
        let Some(shown) = answer.runs.first() else { return Ok(result) };
        if heading {
            let _ = writeln!(self.details, "\n{}:", self.view.palette.good(question));
        }
        self.with_run(result, question, shown)
    }

    fn violation(
        &mut self,
        question: &str,
        reason: &Reason,
        shown: Option<&ShownRun>,
        heading: bool,
    ) -> Result<QuestionAnswer, Diagnostic> {
        let palette = self.view.palette;
        if heading {
            let _ = writeln!(self.details, "\n{}: {}", palette.bad(question), reason.message);
        }
        if let Some(place) = &reason.place {
            match excerpt(place, palette) {
                Some(lines) => self.details.push_str(&lines),
                None => drop(writeln!(self.details, "  at {place}")),
            }
        }
        let result = QuestionAnswer::violated(question, reason, None);
        match shown {
            Some(shown) => self.with_run(result, question, shown),
            None => Ok(result),
        }
    }

    /// Shows a run, stores the first one where asked to, and tells the command that replays it.
    fn with_run(
        &mut self,
        result: QuestionAnswer,
        question: &str,
        shown: &ShownRun,
    ) -> Result<QuestionAnswer, Diagnostic> {
        let palette = self.view.palette;
        let run = &shown.run;
        let steps = run.skipped + run.steps.len();
        let length = shown.length.clone().unwrap_or_else(|| match steps {
            0 => "in the initial state".to_string(),
            n => counted(n, "step"),
        });
        let title = match shown.role {
            Role::Violation => "how it happens",
            Role::Beginning => "how it begins",
            Role::Goal => "reached by",
            Role::Evidence => "shown by",
        };
        let _ = writeln!(self.details, "{} ({length}):", palette.strong(title));
        self.details.push_str(&self.view.run.text(run, &self.name, palette));
        if !shown.why.is_empty() {
            let goes_on = run.loop_start.is_some() || shown.grows;
            let title = if goes_on { "why it goes on like that" } else { "why nobody moves" };
            let _ = writeln!(self.details, "{}:", palette.strong(title));
            for line in &shown.why {
                let _ = writeln!(self.details, "  {line}");
            }
        }
        let trace = self.stored(question, shown, shown.witness.as_ref());
        if self.runs == 0 {
            let written =
                self.view.run.write(&trace, shown.single.as_ref().unwrap_or(run), shown.witness.is_some())?;
            for path in written {
                let _ = writeln!(self.details, "written to {}", path.display());
            }
            for path in self.view.run.unwritten(shown.witness.is_some()) {
                let line = format!("not written to {}: this run cannot be replayed", path.display());
                let _ = writeln!(self.details, "{}", palette.doubtful(line));
            }
        }
        self.runs += 1;
        let why = shown.why.clone();
        let result = QuestionAnswer { witness: Some(merged(shown)), why, ..result };
        if shown.witness.is_none() {
            return Ok(result);
        }
        let command = (self.view.replay)(&shown.options, &trace)?;
        let _ = writeln!(self.details, "replay it with:\n  {}", palette.name(&command));
        if let Some(hint) = self.view.shorter.filter(|_| steps > LONG) {
            let _ = writeln!(self.details, "{}", palette.faint(hint));
        }
        Ok(result.with_replay(command))
    }

    fn stored(&self, question: &str, shown: &ShownRun, witness: Option<&Witness>) -> Trace {
        let options = &shown.options;
        let witness = witness.cloned().unwrap_or_default();
        let run = shown.single.as_ref().unwrap_or(&shown.run);
        Trace::new(&self.name, &options.defines, options.plain, question, &witness, run)
            .read_with(&options.copies, options.capacity)
            .claiming(shown.claim.clone())
    }

    /// The command that replays a run with its repeating end taken many times.
    fn longer(&self, question: &str, shown: &ShownRun, witness: &Witness) -> Result<String, Diagnostic> {
        let mut trace = self.stored(question, shown, Some(witness));
        trace.labels.clear();
        trace.claim = None;
        (self.view.replay)(&shown.options, &trace)
    }

    /// A line below the table of verdicts.
    fn note(&mut self, line: &str) {
        let _ = writeln!(self.table, "{}", self.view.palette.faint(line));
    }

    /// Says which claims of the model were not looked at.
    fn unasked(&mut self, answers: &Answers) {
        if answers.unasked.is_empty() {
            return;
        }
        let names: Vec<String> = answers.unasked.iter().map(ToString::to_string).collect();
        self.note(&format!("not checked: {} ({})", names.join(", "), self.view.all_claims));
        self.frame.add("unasked", names);
    }

    fn row(&mut self, question: &str, word: VerdictWord, note: &str) {
        let palette = self.view.palette;
        let padded = format!("{:<9}", word.as_str());
        let coloured = match word {
            VerdictWord::Holds => palette.good(padded),
            VerdictWord::Unknown => palette.doubtful(padded),
            VerdictWord::Violated | VerdictWord::Error => palette.bad(padded),
        };
        let note = if note.is_empty() { String::new() } else { palette.faint(format!("  ({note})")) };
        let _ = writeln!(self.table, "{coloured} {question}{note}");
    }

    /// Adds how often each statement ran: shares by process type, and the source with numbers in its margin.
    fn covered(&mut self, answers: &Answers) {
        let palette = self.view.palette;
        let note = coverage_note(answers);
        let _ = writeln!(self.details, "\n{} ({note})", palette.strong("coverage"));
        for (process, ran, all) in shares(&answers.coverage) {
            let share = 100 * ran / all.max(1);
            let _ = writeln!(
                self.details,
                "  {:<24} {share:>3} %  ({ran} of {all} statements)",
                palette.name(&process)
            );
        }
        self.details.push_str(&annotated_source(&self.name, &answers.coverage));
        self.frame.add("coverage", serde_json::to_value(&answers.coverage).unwrap_or_default());
        self.frame.add("coverage_of", note);
    }

    /// Adds the statements that no run executes.
    fn unreached(&mut self, unreached: &[Unreached]) {
        self.frame.add("unreached", serde_json::to_value(unreached).unwrap_or_default());
        if unreached.is_empty() {
            return;
        }
        let palette = self.view.palette;
        let _ = writeln!(self.details, "\n{}", palette.strong("never reached:"));
        let mut process = "";
        for statement in unreached {
            if statement.process != process {
                process = &statement.process;
                let _ = writeln!(self.details, "  {}", palette.name(process));
            }
            let place = statement.place.as_ref().map(|p| format!("line {}", p.line)).unwrap_or_default();
            let _ = writeln!(self.details, "    {place:<10} {}", statement.text);
        }
    }
}

/// A run as the machine-readable answer carries it, with what its engine adds.
fn merged(shown: &ShownRun) -> Value {
    let mut value = run_value(&shown.run);
    let Some(more) = &shown.more else { return value };
    if let (Some(initial), Some(extra)) = (value["initial"].as_object_mut(), more["initial"].as_object()) {
        initial.extend(extra.clone());
    }
    let states = more["states"].as_array().into_iter().flatten();
    for (step, state) in value["steps"].as_array_mut().into_iter().flatten().zip(states) {
        step["state"] = state.clone();
    }
    value
}

/// What is said of a variable that nobody writes is true or false from the start.
pub fn never_changes(name: &str) -> Diagnostic {
    Diagnostic::warning(format!("`{name}` never changes: no statement of the model writes it"), None)
        .with_help("what is asked about it is decided by its initial value")
}

/// Only the numbers of processes, where there are any.
pub fn sizes(answers: &Answers, outcome: Outcome) -> Outcome {
    let Some(sizes) = answers.iter().find_map(|answer| answer.sizes.as_ref()) else { return outcome };
    let all: Vec<String> = sizes.iter().map(|(name, n)| format!("{n} {name}")).collect();
    let text = if all.is_empty() { "as it stands".to_string() } else { all.join(", ") };
    Outcome::new(outcome.answer, text + "\n")
}
