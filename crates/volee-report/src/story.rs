//! A run as the page reads it: the first state whole, then each step with what it did and what it changed.
//!
//! The page rebuilds the state after any step from the changes, so that a run of ten thousand steps is a few
//! megabytes and needs no engine to be walked through. Changes name a variable by its number as long as the
//! list of variables stays the same; when processes come or go the new list is told whole.

use serde_json::{Map, Value, json};
use volee_system::{Action, Fault, Place, Run, RunStep, Variable};

/// The files that places name, by number: a run names its files thousands of times.
#[derive(Debug, Clone, Default)]
pub struct FileNames(Vec<String>);

impl FileNames {
    /// Files that are known beforehand, in their order.
    pub fn new(names: impl IntoIterator<Item = String>) -> Self {
        FileNames(names.into_iter().collect())
    }

    /// A place as the page reads it: the number of the file, line, column. Places in files that are not shown
    /// have none.
    pub fn place(&self, place: Option<&Place>) -> Value {
        let known = place.and_then(|p| Some((self.0.iter().position(|n| **n == *p.file)?, p)));
        known.map_or(Value::Null, |(file, p)| json!([file, p.line, p.column]))
    }
}

/// A run as the page reads it.
pub fn run_story(run: &Run, title: &str, files: &FileNames) -> Value {
    let mut before = &run.initial.variables;
    let mut steps = Vec::with_capacity(run.steps.len());
    for step in &run.steps {
        steps.push(step_story(before, step, files));
        before = &step.state.variables;
    }
    json!({
        "title": title,
        "skipped": run.skipped,
        "initial": variables(&run.initial.variables),
        "steps": steps,
        "loop": run.loop_start,
    })
}

/// One step as the page reads it.
pub fn step_story(before: &[Variable], step: &RunStep, files: &FileNames) -> Value {
    let mut story = told(&step.actions, &step.label, step.fault.as_ref(), files);
    story.insert("ordinal".into(), step.ordinal.into());
    let after = &step.state.variables;
    let same = before.len() == after.len() && before.iter().zip(after).all(|(a, b)| a.name == b.name);
    if same {
        let pairs = before.iter().zip(after).enumerate().filter(|(_, (a, b))| a.value != b.value);
        let changed: Vec<Value> = pairs.map(|(i, (_, b))| json!([i, b.value])).collect();
        story.insert("changed".into(), changed.into());
    } else {
        story.insert("variables".into(), variables(after));
    }
    Value::Object(story)
}

fn told(actions: &[Action], label: &str, fault: Option<&Fault>, files: &FileNames) -> Map<String, Value> {
    let mut story = Map::new();
    story.insert("label".into(), label.into());
    story.insert("actions".into(), actions.iter().map(|a| action(a, files)).collect());
    if let Some(fault) = fault {
        let at = files.place(fault.place.as_ref());
        story.insert("fault".into(), json!({ "message": fault.message, "at": at }));
    }
    story
}

fn action(action: &Action, files: &FileNames) -> Value {
    let mut story = Map::new();
    story.insert("process".into(), action.process.as_str().into());
    story.insert("pid".into(), action.pid.into());
    story.insert("text".into(), action.text.as_str().into());
    story.insert("at".into(), files.place(action.place.as_ref()));
    if let Some(event) = &action.event {
        story.insert("event".into(), json!(event));
    }
    if let Some(output) = &action.output {
        story.insert("output".into(), output.as_str().into());
    }
    Value::Object(story)
}

/// Variables as pairs of name and value.
pub fn variables(all: &[Variable]) -> Value {
    all.iter().map(|v| json!([v.name, v.value])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use volee_system::RunState;

    fn state(pairs: &[(&str, &str)]) -> RunState {
        let all = pairs.iter().map(|(n, v)| Variable { name: (*n).into(), value: (*v).into() });
        RunState { variables: all.collect() }
    }

    fn step(pairs: &[(&str, &str)]) -> RunStep {
        let place = Some(Place::new("m.pml", 3, 7));
        let action = Action { process: "P".into(), pid: 1, place, ..Action::plain("x++") };
        RunStep {
            ordinal: 2,
            label: "P[1] x++".into(),
            actions: vec![action],
            fault: None,
            state: state(pairs),
        }
    }

    #[test]
    fn a_step_tells_changes_by_number_and_a_new_list_whole() {
        let steps = vec![step(&[("x", "1"), ("y", "0")]), step(&[("x", "1"), ("y", "0"), ("P[2]:k", "5")])];
        let run = Run { skipped: 0, initial: state(&[("x", "0"), ("y", "0")]), steps, loop_start: None };
        let story = run_story(&run, "a run", &FileNames::new(["m.pml".to_string()]));
        assert_eq!(story["initial"], json!([["x", "0"], ["y", "0"]]));
        assert_eq!(story["steps"][0]["changed"], json!([[0, "1"]]));
        assert_eq!(story["steps"][0]["actions"][0]["at"], json!([0, 3, 7]));
        assert_eq!(story["steps"][1]["variables"][2], json!(["P[2]:k", "5"]));
        assert!(story["steps"][1].get("changed").is_none());
    }

    #[test]
    fn places_in_files_that_are_not_shown_are_left_out() {
        let files = FileNames::default();
        assert_eq!(files.place(Some(&Place::new("m.pml", 1, 1))), Value::Null);
    }
}
