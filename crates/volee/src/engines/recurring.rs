//! What happens for ever in families: formulas of LTL whose violation no finite run shows.
//!
//! Small members are asked explicitly, because most violations show there. That no member at all violates the
//! formula takes two proofs: no run ends in a state that violates it by lasting, and no run passes accepting
//! states for ever (`volee-families/src/recurrence.rs`). A violation counts when an explicit member shows it.

use volee_families::{Asked, Checked, Family, Method, Recurrence, Statistics, recurrence};
use volee_report::counted;
use volee_system::{Budget, Meter, Verdict};

use super::Job;
use super::families::{Decided, checked};
use crate::answer::{Answer, AskError, limit};
use crate::ask::ask;
use crate::engine::Engine;
use crate::model::Options;
use crate::question::Question;
use crate::source::Source;

/// Processes of each type in the members that are asked first, and in those that are asked where a violation
/// is known to be.
const FIRST: u32 = 2;
const LAST: u32 = 8;

/// Decides one such formula.
pub(super) fn decide(
    job: &mut Job<'_>,
    family: &Family,
    asked: &Asked,
    question: Question,
) -> Result<Decided, AskError> {
    let net = family.net(asked);
    let named = family.sizes(&vec![0; net.places.len()]);
    if let Some((name, _)) = named.iter().find(|(_, regulated)| *regulated > 0) {
        return Err(AskError::new(
            format!("`{question}` tells processes of `{name}` apart, and is about what happens for ever"),
            "leave their numbers out, or ask one instance, with a number of processes",
        ));
    }
    let names: Vec<String> = named.iter().map(|(name, _)| name.to_string()).collect();
    let every = |n: u32| names.iter().map(|name| (name.clone(), n)).collect::<Vec<_>>();
    for n in 1..=FIRST {
        if let Some(found) = member(job, &question, every(n), n == 1)? {
            return Ok(found);
        }
    }
    let mut ends = checked(job, &net)?;
    if let Some(example) = ends.counterexample.take() {
        let sizes = family.sizes(&example.marking).into_iter().map(|(name, n)| (name.to_string(), n));
        let found = member(job, &question, sizes.collect(), false)?;
        let message = "a run that ends violates it, but the explicit model does not show it".to_string();
        return Ok(found.unwrap_or_else(|| unknown(question, Verdict::Unknown(limit(message)))));
    }
    if let Verdict::Unknown(_) = ends.verdict {
        return Ok(unknown(question, ends.verdict));
    }
    match recurrence(&net, &family.accepting, &Meter::start(job.meter.left())) {
        Recurrence::Never(ranking) => {
            let sentence = format!(
                "no run ends badly, and in {} with ω {} of ranks fall whenever what is bad recurs",
                counted(ranking.nodes.len(), "marking"),
                counted(ranking.stages.len(), "level"),
            );
            let proof = Some(sentence);
            let statistics = Statistics {
                states: ranking.nodes.len() as u64,
                transitions: ranking.edges.len() as u64,
                ..ends.statistics
            };
            let checked = Checked { statistics, method: Method::KarpMiller, ..ends };
            Ok(Decided { question, checked, sizes: Vec::new(), run: None, proof })
        }
        Recurrence::Somewhere => {
            for n in FIRST + 1..=LAST {
                if let Some(found) = member(job, &question, every(n), false)? {
                    return Ok(found);
                }
            }
            let message =
                format!("some member violates it, but none with up to {LAST} processes of each type");
            Ok(unknown(question, Verdict::Unknown(limit(message))))
        }
        Recurrence::Unknown(why) => Ok(unknown(question, Verdict::Unknown(why))),
    }
}

fn unknown(question: Question, verdict: Verdict) -> Decided {
    Decided { question, checked: plain(verdict, false), sizes: Vec::new(), run: None, proof: None }
}

fn plain(verdict: Verdict, least: bool) -> Checked {
    Checked {
        verdict,
        certificate: None,
        counterexample: None,
        least,
        method: Method::Instances,
        statistics: Statistics::default(),
        why: None,
    }
}

/// Asks one member; nothing where it does not violate the formula, or is too large to say.
fn member(
    job: &mut Job<'_>,
    question: &Question,
    sizes: Vec<(String, u32)>,
    least: bool,
) -> Result<Option<Decided>, AskError> {
    let Some(path) = job.subject.file() else { return Ok(None) };
    let mut options: Options = job.subject.options();
    options.copies.retain(|(name, _)| !sizes.iter().any(|(other, _)| other == name));
    options.copies.extend(sizes.iter().cloned());
    let left = job.meter.left();
    // No member may take all there is: the proof comes after the first of them.
    let budget =
        Budget { time: left.time.map(|time| time / 4), memory: left.memory.map(|bytes| bytes / 4), ..left };
    let source = Source::new(path, options);
    let asked = ask(&source).question(question.clone()).engine(Engine::Explicit).budget(budget);
    let answers = asked.run(job.progress)?;
    let is_it = |answer: &Answer| answer.question == *question;
    let Some(mut answer) = answers.answers.into_iter().find(is_it) else { return Ok(None) };
    if !matches!(answer.verdict, Verdict::Violated(_)) {
        return Ok(None);
    }
    let run = if answer.runs.is_empty() { None } else { Some(answer.runs.swap_remove(0)) };
    let mut checked = plain(answer.verdict, least);
    checked.statistics.states = answers.figures.number("states").unwrap_or_default();
    checked.statistics.transitions = answers.figures.number("transitions").unwrap_or_default();
    Ok(Some(Decided { question: question.clone(), checked, sizes, run, proof: None }))
}
