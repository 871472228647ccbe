//! Families: one answer for every number of processes.
//!
//! Each question is a net of its own. A violation is followed in the explicit model with that many processes
//! before it is told, so that its run is one of that model.

use serde_json::{Map, json};
use volee_families::{
    self as families, Asked, Certificate as Proof, Checked, Choice, Counterexample, Family, FamilyError,
    Followed, Kind, Method, Property, Questions, Seen, Statistics, family_of, follow,
};
use volee_nets::{Instance, Net, read_spec};
use volee_program::optimise::{Observed, forget_unread};
use volee_program::{Expr, NodeId, ProctypeId, Program};
use volee_promela::Lowered;
use volee_report::{count, counted, seconds};
use volee_system::{Diagnostic, Draft, Verdict, Witness, walk};

use super::counters::expression;
use super::{Found, Job, Part, claim_of, cutoffs, judged, recurring};
use crate::answer::{Answer, AskError, Certificate, Role, ShownRun, limit, violated};
use crate::engine::Way;
use crate::files::read_bytes;
use crate::model::Options;
use crate::properties::{of_buchi, of_ltl, of_never, of_tl};
use crate::question::Question;

/// A question that was decided.
pub(super) struct Decided {
    pub question: Question,
    pub checked: Checked,
    pub sizes: Vec<(String, u32)>,
    pub run: Option<ShownRun>,
    /// What proves it, where that is no certificate of reachability.
    pub proof: Option<String>,
}

/// Answers questions about all members of a family.
pub(crate) fn answer(job: &mut Job<'_>, questions: &[Question]) -> Result<Part, AskError> {
    if job.settings.diagnostic && chosen(job) != Choice::Only(Method::CutOff) {
        return Err(AskError::new(
            "a diagnostic of a family is the graph of a cut-off, which other methods do not make",
            "choose the method fbra, or none",
        ));
    }
    let decided = match job.subject.extension() == "spec" {
        true => vec![decide_net(job, questions)?],
        false => decide_program(job, questions)?,
    };
    Ok(told(job, decided))
}

fn wrong(error: FamilyError) -> AskError {
    match error {
        FamilyError::Refused(all) => all.into(),
        other @ FamilyError::Malformed(_) => Diagnostic::error(other.to_string(), None).into(),
    }
}

fn decide_program(job: &mut Job<'_>, questions: &[Question]) -> Result<Vec<Decided>, AskError> {
    let Some(lowered) = job.open()?.promela else {
        return Err(Diagnostic::error("families are read from Promela models and .spec nets", None).into());
    };
    let mut all = Vec::new();
    for (family, asked, question) in asked_of(job, &lowered, questions)? {
        all.push(decide(job, &family, &asked, question)?);
    }
    if all.is_empty() {
        return Err(AskError::new(
            "there is nothing to check: the model has no assertion that could fail",
            "ask for deadlocks alone, for an invariant, for points of control that must stay apart or with a formula, or add an assertion",
        ));
    }
    Ok(all)
}

/// One family for what is asked of states, and one for each property.
fn asked_of(
    job: &Job<'_>,
    lowered: &Lowered,
    questions: &[Question],
) -> Result<Vec<(Family, Asked, Question)>, AskError> {
    let about_states = states_questions(lowered, questions)?;
    let of = |property: Option<&Property>| {
        family_of(&relevant(lowered, &about_states, property), &job.settings.for_any, &about_states, property)
            .map_err(wrong)
    };
    let mut all = Vec::new();
    let states = of(None)?;
    for asked in &states.asked {
        let question = match &asked.kind {
            Kind::Faults if questions.contains(&Question::Assertions) => Question::Assertions,
            Kind::Deadlock => Question::Deadlock,
            Kind::Faults | Kind::Property | Kind::Liveness => continue,
            Kind::Invariant(text) => Question::Invariant(text.clone()),
            Kind::Cover(text) => Question::Apart(text.clone()),
        };
        all.push((states.clone(), asked.clone(), question));
    }
    for question in questions {
        let properties = properties(lowered, question)?;
        let several = properties.len() > 1;
        for (number, property) in properties.iter().enumerate() {
            let family = of(Some(property))?;
            let part = match several {
                true => Question::Part { of: Box::new(question.clone()), number: number + 1 },
                false => question.clone(),
            };
            let asked = family.asked.clone();
            all.extend(asked.into_iter().map(|asked| (family.clone(), asked, part.clone())));
        }
    }
    Ok(all)
}

/// The program as far as it matters to the questions: a counter that nobody reads would have a place in the
/// net for each of its values.
pub(crate) fn relevant(lowered: &Lowered, questions: &Questions, property: Option<&Property>) -> Program {
    let mut observed = Observed::default();
    questions.invariants.iter().for_each(|(_, condition)| observed.add(condition));
    for atom in property.iter().flat_map(|p| &p.atoms) {
        if let Seen::Condition(condition) = atom {
            observed.add(condition);
        }
    }
    forget_unread(&lowered.program, &observed)
}

/// A question about runs as property automata.
fn properties(lowered: &Lowered, question: &Question) -> Result<Vec<Property>, AskError> {
    Ok(match question {
        Question::Tl(text) => of_tl(lowered, text)?,
        Question::Ltl { text, .. } => of_ltl(lowered, &question.to_string(), text)?,
        Question::Never(_) => vec![of_never(lowered)?],
        Question::Automaton { name, text } => {
            vec![of_buchi(lowered, volee_logic::hoa::read_hoa(text, name)?, name)?]
        }
        _ => Vec::new(),
    })
}

fn states_questions(lowered: &Lowered, questions: &[Question]) -> Result<Questions, AskError> {
    let mut all = Questions::default();
    for question in questions {
        match question {
            Question::Deadlock => all.deadlock = true,
            Question::Invariant(text) => {
                all.invariants.push((text.clone(), expression(lowered, "invariant", text)?));
            }
            Question::Apart(text) => {
                let points = text.split(',').map(|point| point_of(lowered, point.trim()));
                all.covers.push((text.clone(), points.collect::<Result<_, _>>()?));
            }
            _ => {}
        }
    }
    Ok(all)
}

fn point_of(lowered: &Lowered, text: &str) -> Result<(ProctypeId, NodeId), AskError> {
    match expression(lowered, "the point of control", text)? {
        Expr::At { proctype, pid: None, node, .. } => Ok((proctype, node)),
        _ => Err(AskError::new(
            format!("`{text}` is no point of control"),
            "write a process type and a label, as in Client@critical",
        )),
    }
}

/// Who wants a diagnostic wants a cut-off.
fn chosen(job: &Job<'_>) -> Choice {
    match job.settings.method {
        Choice::Auto if job.settings.diagnostic => Choice::Only(Method::CutOff),
        method => method,
    }
}

pub(super) fn checked(job: &mut Job<'_>, net: &Net) -> Result<Checked, AskError> {
    families::check(net, chosen(job), job.meter.left(), job.progress).map_err(wrong)
}

fn decide(
    job: &mut Job<'_>,
    family: &Family,
    asked: &Asked,
    question: Question,
) -> Result<Decided, AskError> {
    if asked.kind == Kind::Liveness {
        return recurring::decide(job, family, asked, question);
    }
    let net = family.net(asked);
    let mut checked = checked(job, &net)?;
    let Some(example) = checked.counterexample.clone() else {
        return Ok(Decided { question, checked, sizes: Vec::new(), run: None, proof: None });
    };
    let sizes = family.sizes(&example.marking).into_iter().map(|(name, n)| (name.to_string(), n));
    let sizes: Vec<(String, u32)> = sizes.collect();
    let mut options = Options { plain: true, ..job.subject.options() };
    options.copies.retain(|(name, _)| !sizes.iter().any(|(other, _)| other == name));
    options.copies.extend(sizes.iter().cloned());
    let mut run = None;
    match in_the_model(job, family, &net, asked, &example, &options) {
        Ok((mut draft, Followed { witness, reason })) => {
            // What a family is decided for is a set of finite runs: temporal claims are its own, and their
            // runs are only replayed.
            let claim = claim_of(&question, Some(&reason), job.settings);
            let claim = claim.filter(|c| matches!(c.kind, crate::Kind::Assertions | crate::Kind::Invariant));
            let (model, draft) = (job.subject.name(), draft.as_mut());
            let found = Found {
                lowered: None,
                draft,
                model: &model,
                witness: &witness,
                question: &question,
                reason: Some(&reason),
            };
            run = Some(judged(found, Role::Violation, &options, claim)?.0);
            checked.verdict = violated(reason, witness);
        }
        Err(why) => {
            let message = format!("a violation was found, but {why}; this is a defect of volee");
            checked.verdict = Verdict::Unknown(limit(message));
        }
    }
    Ok(Decided { question, checked, sizes, run, proof: None })
}

/// The explicit model of that size and the run in it.
fn in_the_model(
    job: &Job<'_>,
    family: &Family,
    net: &Net,
    asked: &Asked,
    example: &Counterexample,
    options: &Options,
) -> Result<(Box<dyn Draft>, Followed), String> {
    let dormant = Options { dormant: true, ..options.clone() };
    let mut model = job.open_as(&dormant).map_err(|error| error.to_string())?;
    let followed = follow(family, net, asked, example, model.draft.as_mut())?;
    Ok((model.draft, followed))
}

fn decide_net(job: &mut Job<'_>, questions: &[Question]) -> Result<Decided, AskError> {
    let own = |message: String| AskError::from(Diagnostic::error(message, None));
    if let Some(question) = questions.iter().find(|q| **q != Question::Coverable) {
        return Err(own(format!("`{question}` is for Promela models; a net has its own target section")));
    }
    let options = job.subject.options();
    if !job.settings.for_any.is_empty() || options != Options::default() {
        return Err(own("a net has its own initial section, which says what comes in any number".into()));
    }
    let Some(path) = job.subject.file() else { return Err(own("nets are read from files".into())) };
    let net = read_spec(&path.display().to_string(), &String::from_utf8_lossy(&read_bytes(path)?))?;
    let mut checked = checked(job, &net)?;
    let question = Question::Coverable;
    let Some(example) = checked.counterexample.clone() else {
        return Ok(Decided { question, checked, sizes: Vec::new(), run: None, proof: None });
    };
    let open = &net.initial[example.initial].open;
    let chosen = (0..net.places.len()).filter(|&p| open[p]);
    let sizes: Vec<(String, u32)> = chosen.map(|p| (net.places[p].clone(), example.marking[p])).collect();
    let mut instance = options.clone();
    instance.defines.extend(sizes.iter().map(|(place, n)| format!("{place}={n}")));
    let run = match explicit_net(job, &checked.verdict, &example, &instance) {
        Some((mut draft, witness)) => {
            if let Verdict::Violated(violations) = &mut checked.verdict {
                violations.iter_mut().for_each(|violation| violation.witness.clone_from(&witness));
            }
            Some(replayed(job, draft.as_mut(), &witness, &instance)?)
        }
        // A net that only this engine reads: its own instance shows the run, which nobody else can replay.
        None => match &checked.verdict {
            Verdict::Violated(violations) => {
                let mut instance = Instance::new(&net, example.marking.clone());
                let run = replayed(job, &mut instance, &violations[0].witness, &options)?;
                Some(ShownRun { witness: None, ..run })
            }
            _ => None,
        },
    };
    Ok(Decided { question, checked, sizes, run, proof: None })
}

/// A run of a net, which is its own judge.
fn replayed(
    job: &Job<'_>,
    draft: &mut dyn Draft,
    witness: &Witness,
    options: &Options,
) -> Result<ShownRun, AskError> {
    let (model, question) = (job.subject.name(), &Question::Coverable);
    let found = Found { lowered: None, draft, model: &model, witness, question, reason: None };
    Ok(judged(found, Role::Violation, options, None)?.0)
}

/// The explicit net with those tokens and the run in it, which ends in the target.
fn explicit_net(
    job: &Job<'_>,
    found: &Verdict,
    example: &Counterexample,
    options: &Options,
) -> Option<(Box<dyn Draft>, Witness)> {
    let Verdict::Violated(violations) = found else { return None };
    let initial = u32::try_from(example.initial).ok()?;
    let witness = Witness { initial, ..violations.first()?.witness.clone() };
    let mut draft = job.open_as(options).ok()?.draft;
    let target = draft.predicate("target").ok()?;
    let mut is_bad = false;
    walk(draft.system(), &witness, |system, state, step| {
        is_bad = step.is_none() && system.holds(target, state).is_ok_and(|bad| bad);
    })
    .ok()?;
    is_bad.then_some((draft, witness))
}

/// Puts the answers together.
fn told(job: &Job<'_>, all: Vec<Decided>) -> Part {
    let mut part = Part::default();
    let alone = all.len() == 1;
    let mut total = Statistics::default();
    let elapsed = job.meter.elapsed().as_secs_f64();
    for decided in all {
        let Decided { question, checked, sizes, run, proof } = decided;
        let s = &checked.statistics;
        total.states += s.states;
        total.transitions += s.transitions;
        total.pruned += s.pruned;
        total.inequalities += s.inequalities;
        let method = checked.method.name();
        let which = if alone { String::new() } else { format!("{question}: ") };
        let time = if alone { format!(", {}", seconds(elapsed)) } else { String::new() };
        let (kept, looked_at) = (count(s.states), count(s.transitions));
        part.remarks.push(format!("{which}answered by {method}: {kept} kept, {looked_at} looked at{time}"));
        let violated = matches!(checked.verdict, Verdict::Violated(_));
        if violated && !part.fields.contains_key("sizes") {
            let numbers: Map<_, _> = sizes.iter().map(|(n, k)| (n.clone(), json!(k))).collect();
            part.fields.insert("sizes".into(), numbers.into());
            part.fields.insert("least".into(), checked.least.into());
        }
        part.fields.insert("method".into(), method.into());
        let proof = proof.or_else(|| checked.certificate.as_ref().map(certificate));
        let mut notes = notes(&checked, &sizes, proof.as_deref());
        // Who asks for cut-offs wants to see them; to others they are one proof of several.
        let shown = chosen(job) == Choice::Only(Method::CutOff);
        let why = checked.why.filter(|_| shown);
        if let Some(why) = &why {
            notes.extend(cutoffs::table(why));
            let (inductions, erg) = cutoffs::values(why);
            part.fields.insert("inductions".into(), inductions);
            part.fields.extend(erg.map(|erg| ("erg".to_string(), erg)));
        }
        let mut answer = Answer::new(question, Way::Families.engine(), checked.verdict);
        answer.errors = u64::from(violated);
        answer.runs.extend(run);
        answer.notes = notes;
        answer.erg = why.and_then(|why| why.erg).map(Box::new);
        answer.sizes = violated.then_some(sizes);
        answer.certificate = proof.map(|sentence| Certificate::Invariant { sentence });
        part.answers.push(answer);
    }
    if job.settings.diagnostic && part.answers.iter().all(|answer| answer.erg.is_none()) {
        part.remarks.push("no graph of a cut-off is small enough to be drawn".into());
    }
    if !alone {
        part.remarks.push(format!("all in {}", seconds(elapsed)));
    }
    part.figures.set("states", total.states);
    part.figures.set("transitions", total.transitions);
    part.figures.set("pruned", total.pruned);
    part.figures.set("inequalities", total.inequalities);
    part.figures.set("seconds", elapsed);
    part
}

fn numbers(sizes: &[(String, u32)]) -> String {
    let all: Vec<String> = sizes.iter().map(|(name, n)| format!("{n} {name}")).collect();
    if all.is_empty() { "as it stands".to_string() } else { all.join(", ") }
}

/// What stands under a verdict: for which numbers it is true, and what proves it.
fn notes(checked: &Checked, sizes: &[(String, u32)], proof: Option<&str>) -> Vec<String> {
    match &checked.verdict {
        Verdict::Violated(_) => {
            let least = if checked.least { "; no smaller instance is violated" } else { "" };
            vec![format!("          with {}{least}", numbers(sizes))]
        }
        Verdict::Holds => {
            let proof = proof.map(|proof| format!("          proof, re-checked: {proof}"));
            std::iter::once("          for all numbers of processes".to_string()).chain(proof).collect()
        }
        Verdict::Unknown(_) => Vec::new(),
    }
}

fn certificate(certificate: &Proof) -> String {
    match certificate {
        Proof::Backward { unmarked, inequalities, basis } => format!(
            "{} to the bad markings, all kept out by {} and {} that no run fills",
            counted(basis.len(), "minimal way"),
            counted(inequalities.len(), "linear invariant"),
            counted(unmarked.len(), "place"),
        ),
        Proof::Forward { cover } => {
            format!("{} with ω cover everything reachable", counted(cover.len(), "marking"))
        }
        Proof::Projection { places, contents } => format!(
            "{} of {} are enough to see it",
            counted(contents.len(), "configuration"),
            counted(places.len(), "place")
        ),
        Proof::Sets { sets, control } => format!(
            "{} of markings that no step leaves, over {}",
            counted(*sets, "set"),
            counted(*control, "control state")
        ),
    }
}
