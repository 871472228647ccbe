//! Graphs and what was done to them: sizes, differences, figures.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Map, Value, json};
use volee_lts::generate::Family;
use volee_lts::{Certificate, Difference, Info, Lts, Relation, Side};
use volee_report::{Answer, Palette, QuestionAnswer, count, counted, seconds};
use volee_system::{Meter, Reason, ReasonKind};

use super::{Outcome, peak_memory};
use crate::graphs::{Comparison, Described, Events, Reduced};

/// The longest formula that an answer carries whole.
const LONGEST_FORMULA: usize = 100_000;
/// A graph with more transitions than this is not shown.
const LARGEST_SHOWN: usize = 40;
/// How many labels the text lists.
const LABELS_SHOWN: usize = 12;

/// `3 states, 4 transitions`.
pub fn size(lts: &Lts) -> String {
    let states = counted(lts.state_count(), "state");
    format!("{states}, {} transitions", count(lts.transition_count() as u64))
}

/// Puts the size of a system and the resources used into the answer.
pub fn statistics(answer: &mut Answer, lts: &Lts, meter: &Meter) {
    answer.set("states", lts.state_count());
    answer.set("transitions", lts.transition_count());
    answer.set("seconds", meter.elapsed().as_secs_f64());
    if let Some(peak) = peak_memory() {
        answer.set("peak_memory_bytes", peak);
    }
}

/// A member of a family that was written to a file, `-` for the standard output, which then belongs to the
/// system.
///
/// `spelled` is how the caller spells a parameter and its value.
pub fn generated(
    family: &Family,
    values: &[u64],
    spelled: &dyn Fn(&str, u64) -> String,
    lts: &Lts,
    path: &Path,
    meter: &Meter,
) -> Outcome {
    let mut answer = Answer::new("generate").about(family.name, "explicit");
    let mut shown = family.name.to_string();
    for (parameter, value) in family.parameters.iter().zip(values) {
        answer.set(parameter.name, *value);
        let _ = write!(shown, " {}", spelled(parameter.name, *value));
    }
    // A family may have a parameter of the same name; the figures of the result come first.
    statistics(&mut answer, lts, meter);
    if path.as_os_str() == "-" {
        return Outcome::new(answer, "");
    }
    let time = seconds(meter.elapsed().as_secs_f64());
    Outcome::new(answer, format!("{shown}\nwritten to {}: {}, {time}\n", path.display(), size(lts)))
}

/// Two systems that were compared, by the names of their files; with the seed, where chance played a part.
pub fn comparison(
    compared: &Comparison,
    names: [&Path; 2],
    seed: Option<u64>,
    meter: &Meter,
    palette: Palette,
) -> Outcome {
    let names = Names(names.map(|name| name.display().to_string()));
    let [first, second] = &names.0;
    let engine = if compared.systems.is_some() { "explicit" } else { "on-the-fly" };
    let mut answer = Answer::new("compare").about(first, engine);
    answer.add("second", second.as_str());
    answer.add("relation", compared.relation.name());
    let elapsed = meter.elapsed().as_secs_f64();
    let mut lines = String::new();
    if let Some([one, other]) = &compared.systems {
        statistics(&mut answer, one, meter);
        answer.set("states_second", other.state_count());
        answer.set("transitions_second", other.transition_count());
        lines = format!("{first}: {}; {second}: {}; {}", size(one), size(other), seconds(elapsed));
    }
    if let Some((pairs, traversals, replaced)) = compared.lazily {
        answer.set("pairs", pairs);
        answer.set("traversals", traversals);
        answer.set("replaced", replaced);
        seed.into_iter().for_each(|seed| answer.set("seed", seed));
        answer.set("seconds", elapsed);
        let traversals = counted(traversals as usize, "traversal");
        let (pairs, replaced) = (count(pairs), count(replaced));
        lines =
            format!("{pairs} pairs of states in {traversals}, {replaced} forgotten, {}", seconds(elapsed));
    }
    let text = names.verdict(compared, &mut answer, palette);
    Outcome::new(answer, format!("{text}{}\n", palette.faint(lines)))
}

/// The names of two systems.
struct Names([String; 2]);

impl Names {
    fn of(&self, side: Side) -> &str {
        match side {
            Side::First => &self.0[0],
            Side::Second => &self.0[1],
        }
    }

    /// Puts the verdict into the answer, and says it in words.
    fn verdict(&self, compared: &Comparison, answer: &mut Answer, palette: Palette) -> String {
        let relation = compared.relation;
        match &compared.difference {
            None => {
                answer.push(QuestionAnswer::holds(relation.name()));
                format!("{} {relation}: {}\n", palette.good("holds"), self.agreement(relation))
            }
            Some(difference) => {
                answer.push(self.violated(relation, difference));
                format!("{} {relation}\n{}", palette.bad("violated"), self.explain(difference))
            }
        }
    }

    fn agreement(&self, relation: Relation) -> String {
        let [a, b] = &self.0;
        match relation {
            Relation::TracePreorder | Relation::WeakTracePreorder => {
                format!("every trace of {a} is one of {b}")
            }
            Relation::SimulationPreorder | Relation::WeakSimulationPreorder => format!("{b} simulates {a}"),
            _ => format!("{a} and {b} are equal"),
        }
    }

    fn violated(&self, relation: Relation, difference: &Difference) -> QuestionAnswer {
        let (message, witness) = match difference {
            Difference::Trace { trace, possible_in } => (
                format!("a trace of {} is not one of the other", self.of(*possible_in)),
                json!({ "steps": trace, "possible_in": self.of(*possible_in) }),
            ),
            Difference::Formula { formula, holds_in } => (
                format!("a formula holds in {} and not in the other", self.of(*holds_in)),
                json!({
                    "formula": formula.text(LONGEST_FORMULA),
                    "steps": formula.as_trace(),
                    "holds_in": self.of(*holds_in),
                }),
            ),
        };
        let reason = Reason { kind: ReasonKind::Different, message, place: None };
        let mut result = QuestionAnswer::violated(relation.name(), &reason, None);
        result.witness = Some(witness);
        result
    }

    fn explain(&self, difference: &Difference) -> String {
        match difference {
            Difference::Trace { trace, possible_in } => {
                let other = if *possible_in == Side::First { Side::Second } else { Side::First };
                let steps: String = trace.iter().map(|label| format!("  {label}\n")).collect();
                let (own, other) = (self.of(*possible_in), self.of(other));
                format!("a trace of {own} that {other} does not have:\n{steps}")
            }
            Difference::Formula { formula, holds_in } => format!(
                "a formula that holds in {} only (checked on both):\n  {}\n",
                self.of(*holds_in),
                formula.to_string().trim_end()
            ),
        }
    }
}

/// A system that was made smaller, in the sense of `relation`, and the file it was written to.
pub fn reduced(
    reduced: &Reduced,
    model: &Path,
    relation: &str,
    written: Option<&Path>,
    meter: &Meter,
    palette: Palette,
) -> Outcome {
    let (before, after) = (&reduced.before, &reduced.reduction.lts);
    let certified = !matches!(reduced.reduction.certificate, Certificate::None);
    let mut answer = Answer::new("reduce").about(model.display().to_string(), "explicit");
    statistics(&mut answer, after, meter);
    answer.set("states_before", before.state_count());
    answer.set("transitions_before", before.transition_count());
    answer.add("relation", relation);
    answer.add("certificate_checked", certified);
    let checked = if certified { "; certificate checked" } else { "" };
    let written = written.map(|path| format!("written to {}\n", path.display())).unwrap_or_default();
    let text = format!(
        "{}: {}\n{}: {} ({relation})\n{written}{}\n",
        palette.name(model.display()),
        size(before),
        palette.strong("reduced"),
        size(after),
        palette.faint(format!("{}{checked}", seconds(meter.elapsed().as_secs_f64()))),
    );
    Outcome::new(answer, text)
}

/// The figures of a system.
pub fn described(described: &Described, model: &Path, meter: &Meter, palette: Palette) -> Outcome {
    let Described { system, figures, small, .. } = described;
    let mut answer = Answer::new("info").about(model.display().to_string(), "explicit");
    statistics(&mut answer, system, meter);
    let mut text = format!("{}\n", palette.name(model.display()));
    for (name, value) in rows(figures) {
        answer.set(&name.replace([' ', '-'], "_"), value);
        let _ = writeln!(text, "  {name:<26} {:>14}", count(value as u64));
    }
    answer.set("deterministic", figures.deterministic);
    answer.set("branching_states", small.state_count());
    answer.set("branching_transitions", small.transition_count());
    let uses: Map<String, Value> =
        figures.label_uses.iter().map(|(name, uses)| (name.clone(), Value::from(*uses))).collect();
    answer.add("labels", uses);
    let deterministic = if figures.deterministic { "yes" } else { "no" };
    let _ = writeln!(text, "  {:<26} {deterministic:>14}", "deterministic");
    let _ = writeln!(text, "{}", palette.strong("labels by use"));
    for (name, uses) in figures.label_uses.iter().take(LABELS_SHOWN) {
        let _ = writeln!(text, "  {name:<26} {:>14}", count(*uses as u64));
    }
    if figures.label_uses.len() > LABELS_SHOWN {
        let _ = writeln!(text, "  and {} more", count((figures.label_uses.len() - LABELS_SHOWN) as u64));
    }
    let _ = writeln!(text, "{}: {}", palette.strong("modulo branching bisimulation"), size(small));
    if small.transition_count() <= LARGEST_SHOWN {
        for (source, edge) in small.transitions() {
            let _ = writeln!(text, "  {} --{}--> {}", source.0, small.name(edge.label), edge.target.0);
        }
    }
    Outcome::new(answer, text)
}

fn rows(figures: &Info) -> Vec<(&'static str, usize)> {
    vec![
        ("states", figures.states),
        ("reachable", figures.reachable),
        ("transitions", figures.transitions),
        ("internal transitions", figures.internal),
        ("different labels", figures.labels),
        ("largest out-degree", figures.out_degree),
        ("largest in-degree", figures.in_degree),
        ("deadlocks", figures.deadlocks),
        ("on internal cycles", figures.on_internal_cycles),
        ("components", figures.components),
        ("largest component", figures.largest_component),
    ]
}

/// The events of a model, each with the number of steps that are it. A limit cuts the list short, and that is
/// said.
pub fn events(found: &Events, model: &Path, palette: Palette) -> Outcome {
    let mut answer = Answer::new("info").about(model.display().to_string(), "explicit");
    answer.push(match &found.limit {
        None => QuestionAnswer::holds("events"),
        Some(limit) => QuestionAnswer::unknown("events", limit),
    });
    let mut text = String::new();
    for (event, uses) in &found.events {
        let _ = writeln!(text, "{uses:>10}  {event}");
    }
    let number = counted(found.events.len(), "event");
    let line = match &found.limit {
        None => {
            format!(
                "{number}; the process in front may be left out, _ stands for any value, [*] for any number"
            )
        }
        Some(limit) => format!("{number} so far: {limit}"),
    };
    let _ = writeln!(text, "{}", palette.faint(line));
    let listed: Map<String, Value> =
        found.events.iter().map(|(event, uses)| (event.clone(), Value::from(*uses))).collect();
    answer.add("events", listed);
    Outcome::new(answer, text)
}
