//! `volee check MODEL --engine families`: one answer for every number of processes.
//!
//! Each question is a net of its own. A violation is followed in the explicit model with that many processes before it is
//! told, so that its run is one of `volee replay MODEL … --copies …`.

use std::collections::HashMap;
use std::path::Path;

use clap::Args;
use serde_json::{Map, json};
use volee::families::{
    self, Asked, Certificate, Checked, Choice, Counterexample, Family, FamilyError, Followed, Property,
    Questions, family_of, follow,
};
use volee::nets::{Instance, Net, read_spec};
use volee::program::{Expr, NodeId, ProctypeId};
use volee::promela::{Lowered, parse_predicate};
use volee::report::{count, counted, seconds};
use volee::search;
use volee::system::{Diagnostic, Flow, Limit, Meter, Step, System, Verdict, Violation, Witness};
use volee::{Model, Options};

use super::{Check, temporal};
use crate::context::Context;
use crate::outcome::{Ended, Failure, Outcome};
use crate::progress::ProgressLine;
use crate::report::Report;

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

/// What is checked: a net as it is, or the nets of a program's questions.
enum Subject {
    Net(Box<Net>),
    Families(Vec<Family>),
}

/// A question that was decided.
struct Decided {
    question: String,
    checked: Checked,
    sizes: Vec<(String, u32)>,
    /// The model that has the run of a violation, and how it was read.
    shown: Option<(Box<dyn System>, Options)>,
}

/// Runs the check.
pub fn run(check: &Check, context: &Context) -> Ended {
    let (subject, unasked) = open(check, context)?;
    let meter = check.budget.meter(context);
    let mut all = Vec::new();
    match &subject {
        Subject::Net(net) => all.push(decide_net(check, net, &meter)?),
        Subject::Families(families) => {
            for family in families {
                for asked in &family.asked {
                    all.push(decide(check, family, asked, &meter)?);
                }
            }
        }
    }
    report(check, context, all, &unasked, meter.elapsed().as_secs_f64())
}

fn failure(error: FamilyError) -> Failure {
    match error {
        FamilyError::Refused(all) => all.into(),
        other @ FamilyError::Malformed(_) => Failure::new(other.to_string()),
    }
}

fn open(check: &Check, context: &Context) -> Result<(Subject, Vec<String>), Failure> {
    if !check.reachable.is_empty() {
        return Err(Failure::new("--reachable is a question for the explicit search").with_help(
            "--engine families asks what must never happen: --invariant, --cover, --tl or an assertion",
        ));
    }
    let path = &check.model.model;
    if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("spec")) {
        return Ok((Subject::Net(Box::new(open_net(check, path)?)), Vec::new()));
    }
    let model = check.model.open_dormant(context)?;
    let unasked = if check.temporal.asked() { Vec::new() } else { temporal::unasked(&model) };
    let Model { promela: Some(lowered), .. } = model else {
        return Err(Failure::new("families are read from Promela models and .spec nets"));
    };
    let families = families_of(check, &lowered)?;
    if families.iter().all(|f| f.asked.is_empty()) {
        return Err(Failure::new("there is nothing to check: the model has no assertion that could fail")
            .with_help(
                "add an assertion, or ask with --invariant EXPR, --cover P@LABEL,P@LABEL or --tl FORMULA",
            ));
    }
    Ok((Subject::Families(families), unasked))
}

/// One family for what is asked of states, and one for each property.
fn families_of(check: &Check, lowered: &Lowered) -> Result<Vec<Family>, Failure> {
    let questions = questions(check, lowered)?;
    let of = |property: Option<&Property>| {
        family_of(&lowered.program, &check.families.for_any, &questions, property).map_err(failure)
    };
    let mut all = vec![of(None)?];
    for property in check.temporal.properties(lowered)? {
        all.push(of(Some(&property))?);
    }
    Ok(all)
}

fn decided(check: &Check, net: &Net, meter: &Meter) -> Result<Checked, Failure> {
    let choice = Choice::parse(&check.families.method).unwrap_or_default();
    let mut progress = ProgressLine::new(meter.budget().memory);
    let mut budget = meter.budget().clone();
    budget.time = budget.time.map(|time| time.saturating_sub(meter.elapsed()));
    families::check(net, choice, budget, &mut progress).map_err(failure)
}

fn decide(check: &Check, family: &Family, asked: &Asked, meter: &Meter) -> Result<Decided, Failure> {
    let net = family.net(asked);
    let mut checked = decided(check, &net, meter)?;
    let question = asked.question.clone();
    let Some(example) = checked.counterexample.clone() else {
        return Ok(Decided { question, checked, sizes: Vec::new(), shown: None });
    };
    let sizes: Vec<(String, u32)> =
        family.sizes(&example.marking).into_iter().map(|(name, n)| (name.to_string(), n)).collect();
    let options = Options { plain: true, copies: sizes.clone(), ..check.model.options() };
    let mut shown = None;
    match in_the_model(check, family, &net, asked, &example, &options) {
        Ok((system, Followed { witness, reason })) => {
            checked.verdict = Verdict::Violated(vec![Violation { reason, witness }]);
            shown = Some((system, options));
        }
        Err(why) => {
            let message = format!("a violation was found, but {why}; this is a defect of volee");
            checked.verdict = Verdict::Unknown(Limit::Other { message });
        }
    }
    Ok(Decided { question, checked, sizes, shown })
}

/// The explicit model of that size and the run in it.
fn in_the_model(
    check: &Check,
    family: &Family,
    net: &Net,
    asked: &Asked,
    example: &Counterexample,
    options: &Options,
) -> Result<(Box<dyn System>, Followed), String> {
    let dormant = Options { dormant: true, ..options.clone() };
    let open = |all: Vec<Diagnostic>| all.first().map(ToString::to_string).unwrap_or_default();
    let mut model = Model::open(&check.model.model, &dormant).map_err(open)?;
    let followed = follow(family, net, asked, example, model.system.as_mut())?;
    Ok((model.system, followed))
}

fn decide_net(check: &Check, net: &Net, meter: &Meter) -> Result<Decided, Failure> {
    let mut checked = decided(check, net, meter)?;
    let question = "no target is covered".to_string();
    let Some(example) = checked.counterexample.clone() else {
        return Ok(Decided { question, checked, sizes: Vec::new(), shown: None });
    };
    let open = &net.initial[example.initial].open;
    let chosen = (0..net.places.len()).filter(|&p| open[p]);
    let sizes: Vec<(String, u32)> = chosen.map(|p| (net.places[p].clone(), example.marking[p])).collect();
    let mut options = check.model.options();
    options.defines.extend(sizes.iter().map(|(place, n)| format!("{place}={n}")));
    let shown = explicit_net(check, net, &example, &options);
    if let (Some((_, found)), Verdict::Violated(violations)) = (&shown, &mut checked.verdict) {
        violations.iter_mut().for_each(|violation| violation.witness.clone_from(found));
    }
    Ok(Decided { question, checked, sizes, shown: shown.map(|(system, _)| (system, options)) })
}

/// Steps times transitions of a net that are looked at to find a run again.
const MOST_WORK: usize = 2_000_000;

/// The explicit net with those tokens and the run in it, found marking by marking.
fn explicit_net(
    check: &Check,
    net: &Net,
    example: &Counterexample,
    options: &Options,
) -> Option<(Box<dyn System>, Witness)> {
    if example.trace.len().saturating_mul(net.transitions.len()) > MOST_WORK {
        return None;
    }
    let mut system = Model::open(&check.model.model, options).ok()?.system;
    let mut state = Vec::new();
    let mut passed = 0;
    let _ = system.initial(&mut |initial| {
        state = initial.to_vec();
        passed += 1;
        if passed > example.initial { Flow::Break(()) } else { Flow::Continue(()) }
    });
    let mut marking = example.marking.clone();
    let mut steps = Vec::new();
    for t in &example.trace {
        marking = net.transitions[t.index()].fire(&marking)?;
        let mut all: Vec<Vec<u8>> = Vec::new();
        let _ = system.steps(&state, &mut |_: Step, target: &[u8]| {
            all.push(target.to_vec());
            Flow::Continue(())
        });
        let ordinal = all.iter().position(|target| is_marking(system.as_ref(), target, net, &marking))?;
        steps.push(u32::try_from(ordinal).ok()?);
        state = all.swap_remove(ordinal);
    }
    let target = system.predicate("target").ok()?;
    let is_bad = system.holds(target, &state).is_ok_and(|bad| bad);
    is_bad.then_some((
        system,
        Witness { initial: u32::try_from(example.initial).ok()?, steps, loop_start: None },
    ))
}

fn is_marking(system: &dyn System, state: &[u8], net: &Net, marking: &[u32]) -> bool {
    let shown = system.variables(state).into_iter().filter(|v| v.value != "0").map(|v| (v.name, v.value));
    let marked = net.places.iter().zip(marking).filter(|(_, n)| **n > 0);
    let wanted = marked.map(|(place, n)| (place.clone(), n.to_string()));
    shown.collect::<HashMap<_, _>>() == wanted.collect::<HashMap<_, _>>()
}

fn open_net(check: &Check, path: &Path) -> Result<Net, Failure> {
    let wrong = check.families.for_any.first().map(|_| "--for-any").or(check
        .families
        .cover
        .first()
        .map(|_| "--cover"));
    let wrong = wrong.or(check.invariant.first().map(|_| "--invariant")).or(check.temporal.given());
    if let Some(flag) = wrong {
        return Err(Failure::new(format!(
            "{flag} is for Promela models; a net has its own initial and target sections"
        )));
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
        let points =
            text.split(',').map(|point| point_of(lowered, point.trim())).collect::<Result<_, _>>()?;
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
        _ => Err(Failure::new(format!(
            "--cover `{text}`: write a process type and a label, as in Client@critical"
        ))),
    }
}

/// Puts the answers together.
fn report(check: &Check, context: &Context, all: Vec<Decided>, unasked: &[String], elapsed: f64) -> Ended {
    let mut report = Report::new(context, "families", &check.model, &check.trace);
    let mut lines: Vec<String> = Vec::new();
    let alone = all.len() == 1;
    let mut only_sizes = String::new();
    let (mut states, mut transitions, mut pruned, mut inequalities) = (0, 0, 0, 0);
    let mut first_violation = true;
    for mut decided in all {
        let Decided { question, checked, sizes, .. } = &decided;
        let s = &checked.statistics;
        states += s.states;
        transitions += s.transitions;
        pruned += s.pruned;
        inequalities += s.inequalities;
        let method = checked.method.name();
        let which = if alone { String::new() } else { format!("{question}: ") };
        let (kept, looked_at) = (count(s.states), count(s.transitions));
        lines.push(format!("{which}answered by {method}: {kept} kept, {looked_at} looked at"));
        if first_violation && matches!(checked.verdict, Verdict::Violated(_)) {
            first_violation = false;
            report
                .answer
                .add("sizes", sizes.iter().map(|(n, k)| (n.clone(), json!(k))).collect::<Map<_, _>>());
            report.answer.add("least", checked.least);
            only_sizes = numbers(sizes);
        }
        report.answer.add("method", method);
        let note = note(checked, sizes);
        show(&mut report, &mut decided, check)?;
        if let Some(note) = note {
            report.note(&note);
        }
    }
    report.unasked(unasked);
    report.answer.set("states", states);
    report.answer.set("transitions", transitions);
    report.answer.set("pruned", pruned);
    report.answer.set("inequalities", inequalities);
    report.answer.set("seconds", elapsed);
    report.figure("");
    let time = seconds(elapsed);
    match &lines[..] {
        [line] => report.figure(&format!("{line}, {time}")),
        _ => {
            lines.iter().for_each(|line| report.figure(line));
            report.figure(&format!("all in {time}"));
        }
    }
    let Outcome { answer, text } = report.finish();
    if check.families.sizes && !first_violation {
        return Ok(Outcome::new(answer, only_sizes + "\n"));
    }
    Ok(Outcome::new(answer, text))
}

/// Tells a question and its answer; a run is one of the model that was read for it.
fn show(report: &mut Report<'_>, decided: &mut Decided, check: &Check) -> Result<(), Failure> {
    let answer = search::Answer {
        question: decided.question.clone(),
        verdict: decided.checked.verdict.clone(),
        errors: 1,
        witness: None,
    };
    match (&mut decided.shown, &decided.checked.counterexample) {
        (Some((system, options)), _) => {
            report.read_with(options.clone());
            report.question(system.as_mut(), &answer)
        }
        // A net that only this engine reads: its own instance shows the run.
        (None, Some(example)) if matches!(answer.verdict, Verdict::Violated(_)) => {
            let net = open_net(check, &check.model.model)?;
            report.question(&mut Instance::new(&net, example.marking.clone()), &answer)
        }
        _ => report.question(&mut Instance::new(&Net::default(), Vec::new()), &answer),
    }
}

fn numbers(sizes: &[(String, u32)]) -> String {
    let all: Vec<String> = sizes.iter().map(|(name, n)| format!("{n} {name}")).collect();
    if all.is_empty() { "as it stands".to_string() } else { all.join(", ") }
}

/// What stands under a verdict: for which numbers it is true, and what proves it.
fn note(checked: &Checked, sizes: &[(String, u32)]) -> Option<String> {
    match &checked.verdict {
        Verdict::Violated(_) => {
            let least = if checked.least { "; no smaller instance is violated" } else { "" };
            Some(format!("          with {}{least}", numbers(sizes)))
        }
        Verdict::Holds => {
            let proof = certificate(checked.certificate.as_ref()?);
            Some(format!("          for all numbers of processes\n          proof, re-checked: {proof}"))
        }
        Verdict::Unknown(_) => None,
    }
}

fn certificate(certificate: &Certificate) -> String {
    match certificate {
        Certificate::Backward { unmarked, inequalities, basis } => format!(
            "{} to the bad markings, all kept out by {} and {} that no run fills",
            counted(basis.len(), "minimal way"),
            counted(inequalities.len(), "linear invariant"),
            counted(unmarked.len(), "place"),
        ),
        Certificate::Forward { cover } => {
            format!("{} with ω cover everything reachable", counted(cover.len(), "marking"))
        }
        Certificate::Projection { places, contents } => format!(
            "{} of {} are enough to see it",
            counted(contents.len(), "configuration"),
            counted(places.len(), "place")
        ),
    }
}
