//! A run in Apalache's Informal Trace Format (its ADR 15), which Quint, Apalache and their viewers read.
//!
//! The format wants every variable in every state. Processes and channels come and go in our runs, so a
//! variable that a state does not have is `#unserializable`, the format's word for a value that it cannot
//! express.

use std::collections::HashMap;

use serde_json::{Map, Value, json};
use volee_system::{Run, RunState};

use crate::growth::{Return, returns};
use crate::typed::Typed;

/// The run as ITF JSON; `source` names the model.
pub fn run_itf(run: &Run, source: &str) -> String {
    let all: Vec<&RunState> =
        std::iter::once(&run.initial).chain(run.steps.iter().map(|s| &s.state)).collect();
    // The last state of a lasso is the one its cycle starts with; ITF leaves it out and names the index to go
    // back to. A run that has ended stays in its last state. A loop that fills channels, or counts, comes
    // back to no state; ITF has no word for it.
    let back = returns(run);
    let cycle = run.loop_start.filter(|_| matches!(back, Some(Return::Same | Return::Ended)));
    let kept = if back == Some(Return::Same) { all.len() - 1 } else { all.len() };
    let vars = variables(&all);
    let mut states = Vec::with_capacity(kept);
    for (index, state) in all[..kept].iter().enumerate() {
        let action = index.checked_sub(1).map(|i| run.steps[i].label.as_str());
        states.push(state_value(state, index, action, &vars));
    }
    let mut trace = json!({
        "#meta": {
            "format": "ITF",
            "format-description": "https://apalache-mc.org/docs/adr/015adr-trace.html",
            "description": "a run found by volee",
            "source": source,
        },
        "vars": vars,
        "states": states,
    });
    if let Some(start) = cycle {
        trace["loop"] = json!(start);
    }
    let mut text = trace.to_string();
    text.push('\n');
    text
}

/// Every variable of any state, in the order of appearance.
fn variables<'a>(states: &[&'a RunState]) -> Vec<&'a str> {
    let mut seen = std::collections::HashSet::new();
    let names = states.iter().flat_map(|s| &s.variables).map(|v| v.name.as_str());
    names.filter(|name| seen.insert(*name)).collect()
}

fn state_value(state: &RunState, index: usize, action: Option<&str>, vars: &[&str]) -> Value {
    let values: HashMap<&str, &str> =
        state.variables.iter().map(|v| (v.name.as_str(), v.value.as_str())).collect();
    let mut object = Map::new();
    let meta = match action {
        Some(action) => json!({ "index": index, "action": action }),
        None => json!({ "index": index }),
    };
    object.insert("#meta".into(), meta);
    for name in vars {
        let value = match values.get(name) {
            Some(text) => Typed::of(text).itf(),
            None => json!({ "#unserializable": "absent" }),
        };
        object.insert((*name).to_string(), value);
    }
    Value::Object(object)
}

#[cfg(test)]
mod tests {
    use super::*;
    use volee_system::{RunStep, Variable};

    fn state(pairs: &[(&str, &str)]) -> RunState {
        let variables =
            pairs.iter().map(|(n, v)| Variable { name: (*n).into(), value: (*v).into() }).collect();
        RunState { variables }
    }

    fn step(state: RunState) -> RunStep {
        RunStep { ordinal: 0, label: "go".into(), actions: Vec::new(), fault: None, state }
    }

    #[test]
    fn every_state_has_every_variable() {
        let steps = vec![step(state(&[("x", "1"), ("P[1]:k", "red")])), step(state(&[("x", "true")]))];
        let run = Run { skipped: 0, initial: state(&[("x", "0")]), steps, loop_start: None };
        let itf: Value = serde_json::from_str(&run_itf(&run, "m.pml")).expect("valid JSON");
        assert_eq!(itf["vars"], json!(["x", "P[1]:k"]));
        assert_eq!(itf["states"][0]["P[1]:k"], json!({ "#unserializable": "absent" }));
        assert_eq!(itf["states"][1]["x"], json!({ "#bigint": "1" }));
        assert_eq!(itf["states"][1]["P[1]:k"], "red");
        assert_eq!(itf["states"][2]["x"], true);
        assert_eq!(itf["states"][2]["#meta"]["action"], "go");
    }

    #[test]
    fn a_lasso_names_the_state_it_goes_back_to() {
        let steps = vec![step(state(&[("x", "1")])), step(state(&[("x", "2")])), step(state(&[("x", "1")]))];
        let run = Run { skipped: 0, initial: state(&[("x", "0")]), steps, loop_start: Some(1) };
        let itf: Value = serde_json::from_str(&run_itf(&run, "m.pml")).expect("valid JSON");
        assert_eq!(itf["loop"], 1);
        assert_eq!(itf["states"].as_array().expect("states").len(), 3);
        let ended = Run { loop_start: Some(3), ..run };
        let itf: Value = serde_json::from_str(&run_itf(&ended, "m.pml")).expect("valid JSON");
        assert_eq!(itf["loop"], 3, "a run that has ended stays in its last state");
        assert_eq!(itf["states"].as_array().expect("states").len(), 4);
    }
}
