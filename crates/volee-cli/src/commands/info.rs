//! `volee info A`: the figures of a system, and its graph where it is small enough to be read.

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;
use serde_json::{Map, Value};
use volee::lts::{Divergence, Info as Figures, Lts, Method, events, info, reduce};
use volee::report::{Answer, QuestionAnswer, count, counted};
use volee::system::Meter;

use crate::args::BudgetArgs;
use crate::context::Context;
use crate::explicit::{self, SourceArgs, Stop};
use crate::outcome::{Ended, Outcome};
use crate::progress::ProgressLine;

/// A graph with more transitions than this is not shown.
const LARGEST_SHOWN: usize = 40;
/// How many labels the text lists.
const LABELS_SHOWN: usize = 12;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  volee info protocol.aut
  volee info model.pml --events             what formulas, rules and purposes may name
  volee info protocol.aut --hide 'ACK.*'    with some labels made internal
  volee info model.pml --picture small.dot  the reduced graph as a picture")]
pub struct Info {
    /// The system: a file of states and steps, or any model, which is then explored; - is stdin
    #[arg(value_name = "MODEL")]
    model: PathBuf,

    /// List what happens in the model, as every formula, rule and purpose may name it
    #[arg(long)]
    events: bool,

    /// Write the graph, reduced modulo branching bisimulation, e.g. to a .dot file
    #[arg(long, value_name = "FILE")]
    picture: Option<PathBuf>,

    #[command(flatten)]
    source: SourceArgs,

    #[command(flatten)]
    budget: BudgetArgs,
}

impl Info {
    pub fn run(self, context: &Context) -> Ended {
        self.info(context).or_else(|stop| stop.end("info", "info", context))
    }

    fn info(&self, context: &Context) -> Result<Outcome, Stop> {
        let meter = self.budget.meter(context);
        if self.events {
            return self.list_events(&meter, context);
        }
        let lts = self.source.load(&self.model, &meter, context)?;
        let figures = info(&lts);
        let small = reduced(&lts, &meter)?;
        if let Some(path) = &self.picture {
            explicit::write(&small, path, context)?;
        }
        let mut answer = Answer::new("info").about(self.model.display().to_string(), "explicit");
        explicit::statistics(&mut answer, &lts, &meter);
        for (name, value) in rows(&figures) {
            answer.set(&name.replace([' ', '-'], "_"), value);
        }
        answer.set("deterministic", figures.deterministic);
        answer.set("branching_states", small.state_count());
        answer.set("branching_transitions", small.transition_count());
        let uses: Map<String, Value> =
            figures.label_uses.iter().map(|(name, uses)| (name.clone(), Value::from(*uses))).collect();
        answer.add("labels", uses);
        Ok(Outcome::new(answer, self.text(&figures, &small, context)))
    }

    /// The events of a model, each with the number of steps that are it. A limit cuts the list short, and that is said.
    fn list_events(&self, meter: &Meter, context: &Context) -> Result<Outcome, Stop> {
        let mut system = self.source.open_telling_who(&self.model, context)?;
        let mut progress = ProgressLine::new(meter.budget().memory);
        let (events, limit) = events(system.as_mut(), meter, &mut progress)?;
        drop(progress);
        let mut answer = Answer::new("info").about(self.model.display().to_string(), "explicit");
        match &limit {
            None => answer.push(QuestionAnswer::holds("events")),
            Some(limit) => answer.push(QuestionAnswer::unknown("events", limit)),
        }
        let mut text = String::new();
        for (event, uses) in &events {
            let _ = writeln!(text, "{uses:>10}  {event}");
        }
        let found = counted(events.len(), "event");
        let line = match limit {
            None => format!(
                "{found}; the process in front may be left out, _ stands for any value, [*] for any number"
            ),
            Some(limit) => format!("{found} so far: {limit}"),
        };
        let _ = writeln!(text, "{}", context.palette.faint(line));
        let listed: Map<String, Value> = events.into_iter().map(|(e, uses)| (e, Value::from(uses))).collect();
        answer.add("events", listed);
        Ok(Outcome::new(answer, text))
    }

    fn text(&self, figures: &Figures, small: &Lts, context: &Context) -> String {
        let palette = context.palette;
        let mut text = format!("{}\n", palette.name(self.model.display()));
        for (name, value) in rows(figures) {
            let _ = writeln!(text, "  {name:<26} {:>14}", count(value as u64));
        }
        let deterministic = if figures.deterministic { "yes" } else { "no" };
        let _ = writeln!(text, "  {:<26} {deterministic:>14}", "deterministic");
        let _ = writeln!(text, "{}", palette.strong("labels by use"));
        for (name, uses) in figures.label_uses.iter().take(LABELS_SHOWN) {
            let _ = writeln!(text, "  {name:<26} {:>14}", count(*uses as u64));
        }
        if figures.label_uses.len() > LABELS_SHOWN {
            let _ = writeln!(text, "  and {} more", count((figures.label_uses.len() - LABELS_SHOWN) as u64));
        }
        let _ =
            writeln!(text, "{}: {}", palette.strong("modulo branching bisimulation"), explicit::size(small));
        if small.transition_count() <= LARGEST_SHOWN {
            for (source, edge) in small.transitions() {
                let _ = writeln!(text, "  {} --{}--> {}", source.0, small.name(edge.label), edge.target.0);
            }
        }
        text
    }
}

fn reduced(lts: &Lts, meter: &Meter) -> Result<Lts, Stop> {
    Ok(reduce(lts, Method::Branching(Divergence::Preserved), meter)?.lts)
}

fn rows(figures: &Figures) -> Vec<(&'static str, usize)> {
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
