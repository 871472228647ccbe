//! `volee check MODEL --engine families`: one answer for every number of processes.

use std::fmt::Write as _;
use std::path::Path;

use clap::Args;
use serde_json::json;
use volee::Model;
use volee::families::{
    self, Certificate, Checked, Choice, Family, FamilyError, Instance, Net, Questions, family_of,
    name_processes, read_spec,
};
use volee::program::{Expr, NodeId, ProctypeId};
use volee::promela::{Lowered, parse_predicate};
use volee::report::{Answer, QuestionAnswer, Trace, VerdictWord, count, counted, seconds};
use volee::system::{Diagnostic, Run, Verdict, replay_end};

use super::Check;
use crate::context::Context;
use crate::outcome::{Ended, Failure, Outcome};
use crate::progress::ProgressLine;
use crate::witness::LONGEST_RUN;

/// What only this engine asks for.
#[derive(Debug, Clone, Args)]
pub struct FamiliesArgs {
    /// With --engine families: the process types that come in any number
    #[arg(long, value_name = "PROCTYPE", value_delimiter = ',', help_heading = "Families")]
    for_any: Vec<String>,

    /// How: by turns, backward (bra), Karp–Miller (frakm), Emerson–Namjoshi (fraen), cut-offs (fbra), or instance by
    /// instance
    #[arg(long, value_name = "METHOD", default_value = "auto", value_parser = Choice::NAMES, help_heading = "Families")]
    method: String,

    /// Points of control that must never be occupied together, e.g. Client@critical,Client@critical
    #[arg(long, value_name = "P@LABEL,…", help_heading = "Families")]
    cover: Vec<String>,

    /// Print only the numbers of processes of the smallest violating instance
    #[arg(long, help_heading = "Families")]
    sizes: bool,
}

impl FamiliesArgs {
    /// The first flag that was given, to refuse it where another engine runs.
    pub fn given(&self) -> Option<&'static str> {
        let flags = [
            (!self.for_any.is_empty(), "--for-any"),
            (self.method != "auto", "--method"),
            (!self.cover.is_empty(), "--cover"),
            (self.sizes, "--sizes"),
        ];
        flags.into_iter().find(|f| f.0).map(|f| f.1)
    }
}

/// What is checked: a net as it is, or the net of a program.
enum Subject {
    Net(Net),
    Family(Box<Family>),
}

impl Subject {
    fn net(&self) -> &Net {
        match self {
            Subject::Net(net) => net,
            Subject::Family(family) => &family.net,
        }
    }

    /// The numbers that an initial marking stands for, by name.
    fn sizes(&self, initial: usize, marking: &[u32]) -> Vec<(String, u32)> {
        match self {
            Subject::Family(family) => {
                family.sizes(marking).into_iter().map(|(name, n)| (name.to_string(), n)).collect()
            }
            Subject::Net(net) => {
                let open = &net.initial[initial].open;
                let chosen = (0..net.places.len()).filter(|&p| open[p]);
                chosen.map(|p| (net.places[p].clone(), marking[p])).collect()
            }
        }
    }
}

/// Runs the check.
pub fn run(check: &Check, context: &Context) -> Ended {
    let subject = open(check, context)?;
    let choice = Choice::parse(&check.families.method).unwrap_or_default();
    let meter = check.budget.meter(context);
    let checked = {
        let mut progress = ProgressLine::new(meter.budget().memory);
        families::check(subject.net(), choice, meter.budget().clone(), &mut progress).map_err(failure)?
    };
    let mut report = Report { check, context, subject: &subject, text: String::new() };
    report.answer(&checked, meter.elapsed().as_secs_f64())
}

fn failure(error: FamilyError) -> Failure {
    match error {
        FamilyError::Refused(all) => all.into(),
        other @ FamilyError::Malformed { .. } => Failure::new(other.to_string()),
    }
}

fn open(check: &Check, context: &Context) -> Result<Subject, Failure> {
    let path = &check.model.model;
    if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("spec")) {
        return open_net(check, path).map(Subject::Net);
    }
    let model = check.model.open_dormant(context)?;
    let Model { promela: Some(lowered), .. } = model else {
        return Err(Failure::new("families are read from Promela models and .spec nets"));
    };
    let questions = questions(check, &lowered)?;
    let family = family_of(&lowered.program, &check.families.for_any, &questions).map_err(failure)?;
    if family.net.targets.is_empty() {
        return Err(Failure::new("there is nothing to check: the model has no assertion that could fail").with_help(
            "add an assertion, or ask with --invariant EXPR or --cover P@LABEL,P@LABEL",
        ));
    }
    Ok(Subject::Family(Box::new(family)))
}

fn open_net(check: &Check, path: &Path) -> Result<Net, Failure> {
    let wrong = check.families.for_any.first().map(|_| "--for-any").or(check.families.cover.first().map(|_| "--cover"));
    let wrong = wrong.or(check.invariant.first().map(|_| "--invariant"));
    if let Some(flag) = wrong {
        return Err(Failure::new(format!("{flag} is for Promela models; a net has its own initial and target sections")));
    }
    let bytes = volee::model::read_bytes(path)?;
    Ok(read_spec(&path.display().to_string(), &String::from_utf8_lossy(&bytes))?)
}

fn questions(check: &Check, lowered: &Lowered) -> Result<Questions, Failure> {
    let mut questions = Questions::default();
    for text in &check.invariant {
        questions.invariants.push((text.clone(), expression(lowered, "--invariant", text)?));
    }
    for text in &check.families.cover {
        let points = text.split(',').map(|point| point_of(lowered, point.trim())).collect::<Result<_, _>>()?;
        questions.covers.push((text.clone(), points));
    }
    Ok(questions)
}

fn expression(lowered: &Lowered, flag: &str, text: &str) -> Result<Expr, Failure> {
    let complain = |wrong: Diagnostic| {
        let message = format!("{flag} `{text}`: {}", wrong.message);
        Diagnostic { message, place: None, ..wrong }
    };
    let parsed = parse_predicate(lowered.model(), text)
        .map_err(|all| Failure::from(all.into_iter().map(complain).collect::<Vec<_>>()))?;
    lowered.expression(&parsed).map_err(|wrong| complain(wrong).into())
}

fn point_of(lowered: &Lowered, text: &str) -> Result<(ProctypeId, NodeId), Failure> {
    match expression(lowered, "--cover", text)? {
        Expr::At { proctype, pid: None, node, .. } => Ok((proctype, node)),
        _ => Err(Failure::new(format!("--cover `{text}`: write a process type and a label, as in Client@critical"))),
    }
}

struct Report<'a> {
    check: &'a Check,
    context: &'a Context,
    subject: &'a Subject,
    text: String,
}

impl Report<'_> {
    fn answer(&mut self, checked: &Checked, elapsed: f64) -> Ended {
        let name = self.check.model.model.display().to_string();
        let mut answer = Answer::new("check").about(&name, "families");
        let question = "every size";
        match &checked.verdict {
            Verdict::Holds => {
                self.row(VerdictWord::Holds, "for all numbers of processes");
                self.certificate(checked);
                answer.push(QuestionAnswer::holds(question));
            }
            Verdict::Unknown(limit) => {
                self.row(VerdictWord::Unknown, &limit.to_string());
                answer.push(QuestionAnswer::unknown(question, limit));
            }
            Verdict::Violated(violations) => {
                for violation in violations {
                    let run = self.violated(checked, question, violation)?;
                    answer.push(QuestionAnswer::violated(question, &violation.reason, Some(&run)));
                }
                answer.add("sizes", self.sizes_json(checked));
                answer.add("least", checked.least);
            }
        }
        let s = &checked.statistics;
        answer.set("states", s.states);
        answer.set("transitions", s.transitions);
        answer.set("seconds", elapsed);
        answer.set("pruned", s.pruned);
        answer.set("inequalities", s.inequalities);
        answer.add("method", checked.method.name());
        let line = format!(
            "answered by {}: {} kept, {} looked at, {}",
            checked.method.name(),
            count(s.states),
            count(s.transitions),
            seconds(elapsed)
        );
        let _ = writeln!(self.text, "\n{}", self.context.palette.faint(line));
        Ok(Outcome::new(answer, std::mem::take(&mut self.text)))
    }

    fn row(&mut self, word: VerdictWord, note: &str) {
        let palette = self.context.palette;
        let coloured = match word {
            VerdictWord::Holds => palette.good(word.as_str()),
            VerdictWord::Unknown => palette.doubtful(word.as_str()),
            VerdictWord::Violated | VerdictWord::Error => palette.bad(word.as_str()),
        };
        let _ = writeln!(self.text, "{coloured} {note}");
    }

    fn certificate(&mut self, checked: &Checked) {
        let what = match &checked.certificate {
            Some(Certificate::Backward { unmarked, inequalities, basis }) => format!(
                "{} to the bad markings, all kept out by {} and {} that no run fills",
                counted(basis.len(), "minimal way"),
                counted(inequalities.len(), "linear invariant"),
                counted(unmarked.len(), "place"),
            ),
            Some(Certificate::Forward { cover }) => {
                format!("{} with ω cover everything reachable", counted(cover.len(), "marking"))
            }
            Some(Certificate::Projection { places, contents }) => format!(
                "{} of {} are enough to see it",
                counted(contents.len(), "configuration"),
                counted(places.len(), "place")
            ),
            None => return,
        };
        let _ = writeln!(self.text, "proof, re-checked: {what}");
    }

    fn sizes(&self, checked: &Checked) -> Vec<(String, u32)> {
        checked.counterexample.as_ref().map(|e| self.subject.sizes(e.initial, &e.marking)).unwrap_or_default()
    }

    fn sizes_json(&self, checked: &Checked) -> serde_json::Value {
        self.sizes(checked).into_iter().map(|(name, n)| (name, json!(n))).collect::<serde_json::Map<_, _>>().into()
    }

    fn violated(
        &mut self,
        checked: &Checked,
        question: &str,
        violation: &volee::system::Violation,
    ) -> Result<Run, Failure> {
        let example = checked.counterexample.as_ref().expect("a violation has its instance");
        let mut instance = Instance::new(self.subject.net(), example.marking.clone());
        let mut run = replay_end(&mut instance, &violation.witness, LONGEST_RUN).map_err(|e| {
            Failure::new(format!("a counterexample was found but does not replay: {e}"))
                .with_help("this is a defect of volee; please report it with the model and the command")
        })?;
        name_processes(self.subject.net(), example, &mut run);
        let sizes: Vec<String> = self.sizes(checked).iter().map(|(name, n)| format!("{n} {name}")).collect();
        let numbers = if sizes.is_empty() { "as it stands".to_string() } else { format!("with {}", sizes.join(", ")) };
        if self.check.families.sizes {
            let _ = writeln!(self.text, "{}", sizes.join(", "));
            return Ok(run);
        }
        self.row(VerdictWord::Violated, &numbers);
        if checked.least {
            let _ = writeln!(self.text, "no smaller instance is");
        }
        let palette = self.context.palette;
        let _ = writeln!(self.text, "\n{}", palette.bad(&violation.reason.message));
        let length = counted(run.skipped + run.steps.len(), "step");
        let _ = writeln!(self.text, "{} ({length}):", palette.strong("how it happens"));
        let name = self.check.model.model.display().to_string();
        self.text.push_str(&self.check.trace.text(&run, &name, palette));
        let options = self.check.model.options();
        let trace = Trace::new(&name, &options.defines, options.plain, question, &violation.witness, &run);
        for path in self.check.trace.write(&trace, &run)? {
            let _ = writeln!(self.text, "written to {}", path.display());
        }
        Ok(run)
    }
}
