//! Answers and runs as one self-contained page: the explorer without its engine, to be sent by mail.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Value, json};
use volee_report::{Behind, FileNames, Filter, page, run_story};
use volee_system::{Covered, Run, Verdict, collect_initial, collect_steps};

use crate::answer::{Answer, Answers, ShownRun};
use crate::model::Model;
use crate::source::Source;

/// Files that are longer than this are not shown.
const LONGEST_FILE: usize = 2 << 20;
/// Files that a page shows at most: the model, and what it includes.
const MOST_FILES: usize = 50;
/// Steps that are walked to look closely at the last state of a run.
const LONGEST_WALK: usize = 1 << 20;

/// The answers to the questions of a call as a page: verdicts, reasons, runs, source, coverage, figures.
pub fn report_page(source: &Source, answers: &Answers, filter: &Filter) -> String {
    let runs: Vec<(&Answer, &ShownRun)> =
        answers.iter().flat_map(|a| a.runs.iter().map(move |run| (a, run))).collect();
    let sources = Sources::of(&source.path, runs.iter().map(|(_, shown)| &shown.run), &answers.coverage);
    let mut stories: Vec<Value> = runs
        .iter()
        .map(|(answer, shown)| run_story(&shown.run, &answer.question.to_string(), &sources.names))
        .collect();
    let first = if stories.is_empty() { Value::Null } else { stories.remove(0) };
    let end = runs.first().and_then(|(_, shown)| last_state(source, shown)).unwrap_or(Value::Null);
    let results: Vec<Value> = answers.iter().flat_map(|a| results(a, &sources.names)).collect();
    let data = json!({
        "model": sources.model(&source.path),
        "run": first,
        "more": stories,
        "view": view(filter),
        "end": end,
        "answer": {
            "results": results,
            "statistics": answers.figures.0,
            "notes": answers.remarks,
            "coverage": covered(&answers.coverage, &sources.names),
            "coverage_note": coverage_note(answers),
        },
    });
    page(&source.path.display().to_string(), &data, Behind::Nothing).html
}

/// A run alone as a page.
pub fn run_page(model: &Path, title: &str, run: &Run, filter: &Filter) -> String {
    let sources = Sources::of(model, [run].into_iter(), &[]);
    let data = json!({
        "model": sources.model(model),
        "run": run_story(run, title, &sources.names),
        "more": [],
        "view": view(filter),
    });
    page(title, &data, Behind::Nothing).html
}

/// What of a run a page shows to begin with: nothing is taken out of it.
pub fn view(filter: &Filter) -> Value {
    json!({ "messages": filter.only_messages, "hide": filter.hide, "show": filter.show })
}

/// How far coverage goes: a search that ended early has not seen everything, and one with reduction leaves
/// steps out.
pub fn coverage_note(answers: &Answers) -> &'static str {
    let complete = answers.figures.0.get("complete").and_then(Value::as_bool).unwrap_or(false);
    let reduced = answers.figures.number("reduced_expansions").unwrap_or_default() > 0;
    match (complete, reduced) {
        (true, false) => "of all states",
        (true, true) => {
            "with reduction: steps that were left out are not counted, so numbers may be smaller than in all runs"
        }
        (false, false) => "of the part of the state space that was searched",
        (false, true) => "of the part that was searched, with reduction",
    }
}

/// One entry for each violation, or one for the verdict.
fn results(answer: &Answer, names: &FileNames) -> Vec<Value> {
    let question = answer.question.to_string();
    let why =
        |number: usize| answer.runs.get(number).map(|shown| &shown.why).unwrap_or(&answer.notes).clone();
    match &answer.verdict {
        Verdict::Holds => vec![json!({ "question": question, "verdict": "holds", "message": answer.remark })],
        Verdict::Unknown(limit) => {
            vec![json!({ "question": question, "verdict": "unknown", "message": limit.to_string() })]
        }
        Verdict::Violated(all) => {
            let entry = |(number, v): (usize, &volee_system::Violation)| {
                json!({
                    "question": question,
                    "verdict": "violated",
                    "message": v.reason.message,
                    "place": names.place(v.reason.place.as_ref()),
                    "why": why(number),
                })
            };
            all.iter().enumerate().map(entry).collect()
        }
    }
}

fn covered(coverage: &[Covered], names: &FileNames) -> Vec<Value> {
    let entry = |c: &Covered| {
        let at = names.place(c.place.as_ref());
        json!({ "process": c.process, "text": c.text, "at": at, "times": c.times })
    };
    coverage.iter().map(entry).collect()
}

/// The last state of a run, looked at closely.
fn last_state(source: &Source, shown: &ShownRun) -> Option<Value> {
    let witness = shown.witness.as_ref().filter(|w| w.steps.len() <= LONGEST_WALK)?;
    let mut model = Model::open(&source.path, &shown.options).ok()?;
    let system = model.draft.system();
    let mut state = collect_initial(system).into_iter().nth(witness.initial as usize)?;
    for &ordinal in &witness.steps {
        let mut possible = collect_steps(system, &state);
        let ordinal = Some(ordinal as usize).filter(|&o| o < possible.len())?;
        state = possible.swap_remove(ordinal).1;
    }
    let stuck = collect_steps(system, &state).iter().all(|(step, _)| step.stays);
    let end = match stuck {
        true if system.is_valid_end(&state) => "valid",
        true => "deadlock",
        false => "",
    };
    Some(json!({ "inspection": volee_system::inspect(system, &state), "end": end }))
}

/// The files that places name: the model's own first.
struct Sources {
    files: Vec<(String, String)>,
    names: FileNames,
}

impl Sources {
    fn of<'a>(model: &Path, runs: impl Iterator<Item = &'a Run>, coverage: &[Covered]) -> Self {
        let actions = runs.flat_map(|run| &run.steps).flat_map(|step| &step.actions);
        let in_runs = actions.filter_map(|action| action.place.as_ref());
        let places = in_runs.chain(coverage.iter().filter_map(|c| c.place.as_ref()));
        let own = model.display().to_string();
        let others: BTreeSet<String> =
            places.map(|place| place.file.to_string()).filter(|file| *file != own).collect();
        let names = std::iter::once(own).chain(others).take(MOST_FILES);
        let files: Vec<(String, String)> =
            names.filter_map(|name| text_of(&name).map(|text| (name, text))).collect();
        let names = FileNames::new(files.iter().map(|(name, _)| name.clone()));
        Sources { files, names }
    }

    fn model(&self, path: &Path) -> Value {
        let files: Vec<Value> =
            self.files.iter().map(|(name, text)| json!({ "name": name, "text": text })).collect();
        let language = crate::model::recognise(path).map_or("", |front_end| front_end.language);
        json!({ "name": path.display().to_string(), "language": language, "files": files })
    }
}

/// The text of a source file that is short enough to be shown.
pub fn text_of(name: &str) -> Option<String> {
    let bytes = crate::files::read_bytes(name.as_ref()).ok()?;
    let is_text = bytes.len() <= LONGEST_FILE && !bytes[..bytes.len().min(4096)].contains(&0);
    is_text.then(|| String::from_utf8_lossy(&bytes).into_owned())
}
