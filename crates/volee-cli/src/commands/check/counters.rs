//! `volee check MODEL --engine counters`: unbounded integers, by sets of them.

use std::fmt::Write as _;
use std::time::Instant;

use serde_json::{Map, Value, json};
use volee::counters::{
    self, CounterRun, Direction, Options, Outcome as Found, Parametric, Program, Region, State, Statistics,
};
use volee::integers::{Effort, Set};
use volee::report::{Answer, QuestionAnswer, VerdictWord, count, seconds};
use volee::system::{Budget, FaultKind, Reason, ReasonKind};

use super::Check;
use crate::context::Context;
use crate::counters::Subject;
use crate::outcome::{Ended, Failure, Outcome};

/// What must not be reached, or what must be.
struct Question {
    name: String,
    bad: Vec<Region>,
    kind: ReasonKind,
    message: String,
    place: Option<volee::system::Place>,
    /// A bad vector is what was hoped for.
    goal: bool,
}

/// Runs the check.
pub fn run(check: &Check, context: &Context) -> Ended {
    let start = Instant::now();
    let subject = Subject::open(&check.model, &check.counters, context)?;
    let questions = questions(check, &subject)?;
    let budget = check.budget.budget(context);
    let name = check.model.model.display().to_string();
    let mut report = Report {
        context,
        subject: &subject,
        answer: Answer::new("check").about(&name, "counters"),
        table: String::new(),
        details: String::new(),
        total: Statistics::default(),
        direction: check.direction.into(),
    };
    for question in questions {
        let left = budget.time.map(|t| t.saturating_sub(start.elapsed()));
        let program = Program { bad: question.bad.clone(), ..subject.program().clone() };
        report.ask(&question, &program, &Budget { time: left, ..budget.clone() })?;
    }
    Ok(report.finish(start.elapsed().as_secs_f64()))
}

fn questions(check: &Check, subject: &Subject) -> Result<Vec<Question>, Failure> {
    let mut out = Vec::new();
    match subject {
        Subject::Program(program) => {
            if !program.bad.is_empty() {
                out.push(Question {
                    name: "target".into(),
                    bad: program.bad.clone(),
                    kind: ReasonKind::Invariant,
                    message: "the target of the model can be reached".into(),
                    place: None,
                    goal: false,
                });
            }
        }
        Subject::Processes(both) => {
            let translation = &both.0;
            if let Some(bad) = &translation.deadlocks {
                out.push(Question {
                    name: "deadlock".into(),
                    bad: bad.clone(),
                    kind: ReasonKind::InvalidEndState,
                    message: "no process can move, and not all are at a proper end".into(),
                    place: None,
                    goal: false,
                });
            }
            for (name, fault, kind) in [
                ("assertions", FaultKind::Assertion, ReasonKind::Assertion),
                ("run-time errors", FaultKind::Runtime, ReasonKind::RuntimeError),
            ] {
                let failures: Vec<_> = translation.failures.iter().filter(|f| f.kind == fault).collect();
                if failures.is_empty() && fault == FaultKind::Runtime {
                    continue;
                }
                let dimension = translation.program.dimension();
                let everything = || volee::integers::Conjunct::universe(dimension);
                let region =
                    |f: &&volee::counters::Failure| Region { location: f.location, conjunct: everything() };
                out.push(Question {
                    name: name.into(),
                    bad: failures.iter().map(region).collect(),
                    kind,
                    message: String::new(),
                    place: None,
                    goal: false,
                });
            }
        }
    }
    for text in &check.invariant {
        out.push(Question {
            name: format!("invariant {text}"),
            bad: subject.regions("--invariant", text, false)?,
            kind: ReasonKind::Invariant,
            message: format!("{text} is false"),
            place: None,
            goal: false,
        });
    }
    for text in &check.reachable {
        out.push(Question {
            name: format!("reachable {text}"),
            bad: subject.regions("--reachable", text, true)?,
            kind: ReasonKind::Unreachable,
            message: format!("{text} is never true"),
            place: None,
            goal: true,
        });
    }
    if out.is_empty() {
        return Err(Failure::new("there is nothing to check: the model names no target")
            .with_help("ask with --invariant EXPR or --reachable EXPR, or use `volee reachable`"));
    }
    Ok(out)
}

struct Report<'a> {
    context: &'a Context,
    subject: &'a Subject,
    answer: Answer,
    table: String,
    details: String,
    total: Statistics,
    direction: Direction,
}

impl Report<'_> {
    fn ask(&mut self, question: &Question, program: &Program, budget: &Budget) -> Result<(), Failure> {
        if !program.parameters.is_empty() {
            let found = counters::parametric(program, budget).map_err(|e| Failure::new(e.to_string()))?;
            self.add(&found.statistics);
            self.parametric(question, program, &found);
            return Ok(());
        }
        let options = Options { direction: self.direction, budget: budget.clone() };
        let found = counters::check(program, &options);
        self.add(&found.statistics);
        match found.outcome {
            Found::Holds { .. } => self.closed(question),
            Found::Violated { witness, states, .. } => {
                let run = CounterRun::new(program, &witness, states);
                self.reached(question, program, &run);
            }
            Found::Unknown(limit) => {
                self.answer.push(QuestionAnswer::unknown(&question.name, &limit));
                self.row(VerdictWord::Unknown, &question.name, &limit.to_string());
                self.sets("found so far", program, &found.sets);
            }
        }
        Ok(())
    }

    /// Nothing bad is reachable.
    fn closed(&mut self, question: &Question) {
        let note = "shown by a closed set, re-checked";
        if question.goal {
            let reason = reason(question);
            self.answer.push(QuestionAnswer::violated(&question.name, &reason, None));
            self.row(VerdictWord::Violated, &question.name, note);
            let _ = writeln!(self.details, "\n{}", reason.message);
        } else {
            self.answer.push(QuestionAnswer::holds(&question.name));
            self.row(VerdictWord::Holds, &question.name, note);
        }
    }

    /// A bad vector (or a goal) is reachable.
    fn reached(&mut self, question: &Question, program: &Program, run: &CounterRun) {
        let mut reason = reason(question);
        if let (Subject::Processes(both), Some(last)) = (self.subject, run.states.last()) {
            let failure = both.0.failures.iter().find(|f| f.location == last.location);
            if let Some(failure) = failure {
                reason.message = failure.message.clone();
                reason.place = failure.place.clone();
            }
        }
        let witness = Some(run_json(program, run));
        let palette = self.context.palette;
        let _ = writeln!(self.details);
        if question.goal {
            self.answer.push(QuestionAnswer { witness, ..QuestionAnswer::holds(&question.name) });
            self.row(VerdictWord::Holds, &question.name, "");
        } else {
            let answer = QuestionAnswer::violated(&question.name, &reason, None);
            self.answer.push(QuestionAnswer { witness, ..answer });
            self.row(VerdictWord::Violated, &question.name, "");
            let _ = writeln!(self.details, "{}: {}", palette.bad(&question.name), reason.message);
            if let Some(place) = &reason.place {
                let _ = writeln!(self.details, "  at {place}");
            }
        }
        let steps = run.length.as_ref().map_or_else(|| "many".to_owned(), ToString::to_string);
        let title = if question.goal { "reached by" } else { "how it happens" };
        let _ = writeln!(self.details, "{} ({steps} steps, replayed):", palette.strong(title));
        self.details.push_str(&run_text(program, run));
    }

    fn parametric(&mut self, question: &Question, program: &Program, found: &Parametric) {
        let names: Vec<&String> = program.parameters.iter().map(|&p| &program.variables[p]).collect();
        let shown = found.values.display(&names).to_string();
        let nothing = found.values.conjuncts().is_empty();
        let word = if question.goal { "reachable" } else { "violated" };
        let when = match (&found.limit, nothing) {
            (None, true) => format!("never {word}, for all values of {}", list(&names)),
            (None, false) => format!("{word} iff {}", bare(&shown)),
            (Some(_), true) => format!("not {word} as far as the search came"),
            (Some(_), false) => format!("{word} at least when {}", bare(&shown)),
        };
        self.answer.add("parameters", json!({ "values": shown, "exact": found.limit.is_none() }));
        match (found.is_reached(), &found.limit) {
            (Some(reached), _) if reached == question.goal => {
                self.answer.push(QuestionAnswer::holds(&question.name));
                self.row(VerdictWord::Holds, &question.name, &when);
            }
            (None, Some(limit)) => {
                self.answer.push(QuestionAnswer::unknown(&question.name, limit));
                self.row(VerdictWord::Unknown, &question.name, &format!("{when}: {limit}"));
            }
            _ => {
                let reason = Reason { message: when.clone(), ..reason(question) };
                self.answer.push(QuestionAnswer::violated(&question.name, &reason, None));
                self.row(VerdictWord::Violated, &question.name, &when);
            }
        }
    }

    fn sets(&mut self, title: &str, program: &Program, sets: &[Set]) {
        let shown = sets_text(self.subject, program, sets, 40);
        if !shown.is_empty() {
            let _ = writeln!(self.details, "\n{}\n{shown}", self.context.palette.strong(title));
        }
    }

    fn row(&mut self, word: VerdictWord, question: &str, note: &str) {
        let palette = self.context.palette;
        let padded = format!("{:<9}", word.as_str());
        let coloured = match word {
            VerdictWord::Holds => palette.good(padded),
            VerdictWord::Unknown => palette.doubtful(padded),
            VerdictWord::Violated | VerdictWord::Error => palette.bad(padded),
        };
        let note = if note.is_empty() { String::new() } else { palette.faint(format!("  ({note})")) };
        let _ = writeln!(self.table, "{coloured} {question}{note}");
    }

    fn add(&mut self, s: &Statistics) {
        self.total.forward_steps += s.forward_steps;
        self.total.backward_steps += s.backward_steps;
        self.total.forward_sets += s.forward_sets;
        self.total.backward_sets += s.backward_sets;
        self.total.meta_transitions = self.total.meta_transitions.max(s.meta_transitions);
    }

    fn finish(mut self, elapsed: f64) -> Outcome {
        let steps = self.total.forward_steps + self.total.backward_steps;
        let sets = self.total.forward_sets + self.total.backward_sets;
        self.answer.set("states", sets);
        self.answer.set("transitions", steps);
        self.answer.set("seconds", elapsed);
        self.answer.set("meta_transitions", self.total.meta_transitions);
        let line = format!(
            "{} sets, {} steps, {} meta-transitions, {}",
            count(sets as u64),
            count(steps),
            self.total.meta_transitions,
            seconds(elapsed)
        );
        let _ = writeln!(self.details, "\n{}", self.context.palette.faint(line));
        Outcome::new(self.answer, format!("{}{}", self.table, self.details))
    }
}

fn reason(question: &Question) -> Reason {
    Reason { kind: question.kind, message: question.message.clone(), place: question.place.clone() }
}

fn list(names: &[&String]) -> String {
    names.iter().map(|n| n.as_str()).collect::<Vec<_>>().join(", ")
}

/// A set without its braces where it is one condition.
fn bare(shown: &str) -> String {
    shown.replace("{ ", "").replace(" }", "")
}

/// The sets of the locations, those that users know of.
pub fn sets_text(subject: &Subject, program: &Program, sets: &[Set], longest: usize) -> String {
    let effort = Effort::ample();
    let mut out = String::new();
    let shown = sets.iter().enumerate().filter(|(i, s)| subject.is_visible(*i) && !s.conjuncts().is_empty());
    for (line, (i, set)) in shown.enumerate() {
        if line >= longest {
            let _ = writeln!(out, "  …");
            break;
        }
        let set = set.coalesced(&effort).unwrap_or_else(|_| set.clone());
        let _ = writeln!(out, "  {}: {}", program.locations[i], set.display(&program.variables));
    }
    out
}

fn run_text(program: &Program, run: &CounterRun) -> String {
    let mut out = String::new();
    let width = run.words.iter().map(|w| w.chars().count()).max().unwrap_or(0).clamp(5, 48);
    let mut before: Option<&State> = None;
    for (i, state) in run.states.iter().enumerate() {
        let word = if i == 0 { "start" } else { run.words[i - 1].as_str() };
        let changed = values(program, state, before);
        let location = &program.locations[state.location.index()];
        let _ = writeln!(out, "  {word:<width$}  {location}  {}", changed.join(", "));
        before = Some(state);
    }
    out
}

fn values(program: &Program, state: &State, before: Option<&State>) -> Vec<String> {
    let all = program.variables.iter().zip(&state.values).enumerate();
    let changed = all.filter(|(i, (_, v))| before.is_none_or(|b| b.values[*i] != **v));
    changed.map(|(_, (name, v))| format!("{name} = {v}")).collect()
}

fn run_json(program: &Program, run: &CounterRun) -> Value {
    let state = |s: &State| {
        let values: Map<String, Value> =
            program.variables.iter().zip(&s.values).map(|(n, v)| (n.clone(), json!(v.to_string()))).collect();
        json!({ "location": program.locations[s.location.index()], "values": values })
    };
    let steps: Vec<Value> = run
        .words
        .iter()
        .zip(run.states.iter().skip(1))
        .map(|(word, s)| json!({ "label": word, "state": state(s) }))
        .collect();
    json!({ "initial": run.states.first().map(state), "steps": steps, "loop_start": null })
}
