//! What a step changes: the variables that differ between two states of a run.
//!
//! Processes and channels come and go, so the two lists may differ in length; a variable that is gone is not
//! a change (the step's own text says that a process ended), one that is new is.

use std::collections::HashMap;

use volee_system::{RunState, Variable};

/// Whether a variable is not one of the model but tells where a process is: its name ends in `@`.
pub fn is_location(variable: &Variable) -> bool {
    variable.name.ends_with('@')
}

/// The variables of `after` that are new or have another value than in `before`, in the order of `after`.
pub fn changes<'a>(before: &'a RunState, after: &'a RunState) -> impl Iterator<Item = &'a Variable> {
    let same_shape = before.variables.len() == after.variables.len()
        && before.variables.iter().zip(&after.variables).all(|(a, b)| a.name == b.name);
    let old: HashMap<&str, &str> = match same_shape {
        true => HashMap::new(),
        false => before.variables.iter().map(|v| (v.name.as_str(), v.value.as_str())).collect(),
    };
    after.variables.iter().enumerate().filter_map(move |(i, v)| {
        let earlier = match same_shape {
            true => Some(before.variables[i].value.as_str()),
            false => old.get(v.name.as_str()).copied(),
        };
        (earlier != Some(v.value.as_str())).then_some(v)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(pairs: &[(&str, &str)]) -> RunState {
        let variables =
            pairs.iter().map(|(n, v)| Variable { name: (*n).into(), value: (*v).into() }).collect();
        RunState { variables }
    }

    fn names(before: &RunState, after: &RunState) -> Vec<String> {
        changes(before, after).map(|v| format!("{}={}", v.name, v.value)).collect()
    }

    #[test]
    fn only_what_differs_is_a_change() {
        let a = state(&[("x", "1"), ("y", "2")]);
        assert_eq!(names(&a, &state(&[("x", "1"), ("y", "3")])), ["y=3"]);
        assert_eq!(names(&a, &a), Vec::<String>::new());
    }

    #[test]
    fn a_new_variable_is_a_change_and_a_lost_one_is_not() {
        let a = state(&[("x", "1")]);
        let b = state(&[("x", "1"), ("P[1]:k", "0")]);
        assert_eq!(names(&a, &b), ["P[1]:k=0"]);
        assert_eq!(names(&b, &a), Vec::<String>::new());
    }
}
