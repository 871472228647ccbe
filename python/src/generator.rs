//! A model that is written in Python: an object with `initial()`, `successors(state)`, `names()`,
//! `holds(name, state)` and `variables(state)`. Its states are kept by Python and numbered in the order in
//! which they are met; the number is the state.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyDict;
use volee::System;
use volee::system::{Diagnostic, Draft, FaultId, Flow, Label, PredicateId, Sink, Step, Variable};

use crate::watcher::Stop;

/// What all systems of a call share, so that a number means the same state to each.
pub struct Shared {
    model: Py<PyAny>,
    stop: Stop,
    tables: Mutex<Tables>,
}

struct Tables {
    states: Vec<Py<PyAny>>,
    numbers: Py<PyDict>,
    labels: Vec<String>,
    label_numbers: HashMap<String, u32>,
}

impl Shared {
    pub fn new(py: Python<'_>, model: Py<PyAny>, stop: &Stop) -> Self {
        let tables = Tables {
            states: Vec::new(),
            numbers: PyDict::new(py).unbind(),
            labels: Vec::new(),
            label_numbers: HashMap::new(),
        };
        Shared { model, stop: stop.clone(), tables: Mutex::new(tables) }
    }

    fn tables(&self) -> MutexGuard<'_, Tables> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hashing a state runs code of the user, so nothing is locked meanwhile; only the thread with the
    /// interpreter comes here.
    fn number(&self, state: &Bound<'_, PyAny>) -> PyResult<u32> {
        let py = state.py();
        let numbers = self.tables().numbers.clone_ref(py);
        let numbers = numbers.bind(py);
        if let Some(known) = numbers.get_item(state)? {
            return known.extract();
        }
        let mut tables = self.tables();
        let number = u32::try_from(tables.states.len()).unwrap_or(u32::MAX);
        tables.states.push(state.clone().unbind());
        drop(tables);
        numbers.set_item(state, number)?;
        Ok(number)
    }

    fn label(&self, text: String) -> u32 {
        let mut tables = self.tables();
        if let Some(known) = tables.label_numbers.get(&text) {
            return *known;
        }
        let number = u32::try_from(tables.labels.len()).unwrap_or(u32::MAX);
        tables.labels.push(text.clone());
        tables.label_numbers.insert(text, number);
        number
    }

    fn state<'py>(&self, py: Python<'py>, state: &[u8]) -> PyResult<Bound<'py, PyAny>> {
        let number = state.first_chunk().map(|bytes| u32::from_le_bytes(*bytes)).unwrap_or_default();
        let tables = self.tables();
        let found = tables.states.get(number as usize).map(|state| state.bind(py).clone());
        found.ok_or_else(|| crate::wrong(&[Diagnostic::error("a state that was never met", None)]))
    }
}

/// The model as a system.
pub struct Generated {
    shared: Arc<Shared>,
    predicates: Vec<String>,
}

impl Generated {
    pub fn new(shared: &Arc<Shared>) -> Self {
        Generated { shared: Arc::clone(shared), predicates: Vec::new() }
    }

    /// Asks the model; what it raises ends the search, and after that it is not asked again.
    fn ask<T>(&self, question: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>) -> Option<T> {
        if self.shared.stop.cancelled.load(Ordering::Relaxed) {
            return None;
        }
        let asked = Python::attach(|py| {
            py.check_signals()?;
            question(self.shared.model.bind(py))
        });
        asked.map_err(|error| self.shared.stop.raise(error)).ok()
    }

    fn successors(&self, model: &Bound<'_, PyAny>, state: &[u8]) -> PyResult<Vec<(u32, u32)>> {
        let state = self.shared.state(model.py(), state)?;
        let mut found = Vec::new();
        for item in model.call_method1("successors", (state,))?.try_iter()? {
            let (label, target): (String, Bound<'_, PyAny>) = item?.extract()?;
            found.push((self.shared.label(label), self.shared.number(&target)?));
        }
        Ok(found)
    }
}

impl System for Generated {
    fn initial(&mut self, push: &mut dyn FnMut(&[u8]) -> Flow) -> Flow {
        let found = self.ask(|model| {
            let states = model.call_method0("initial")?;
            states.try_iter()?.map(|state| self.shared.number(&state?)).collect::<PyResult<Vec<u32>>>()
        });
        for number in found.unwrap_or_default() {
            push(&number.to_le_bytes())?;
        }
        ControlFlow::Continue(())
    }

    fn steps(&mut self, state: &[u8], sink: &mut dyn Sink) -> Flow {
        let found = self.ask(|model| self.successors(model, state));
        for (label, target) in found.unwrap_or_default() {
            sink.push(Step::labelled(label), &target.to_le_bytes())?;
        }
        ControlFlow::Continue(())
    }

    fn label(&self, label: Label) -> Cow<'_, str> {
        self.shared.tables().labels.get(label.0 as usize).cloned().unwrap_or_default().into()
    }

    fn is_valid_end(&mut self, state: &[u8]) -> bool {
        let is_end = self.ask(|model| {
            model.call_method1("is_end", (self.shared.state(model.py(), state)?,))?.extract::<bool>()
        });
        is_end.unwrap_or_default()
    }

    fn variables(&self, state: &[u8]) -> Vec<Variable> {
        let told = self.ask(|model| {
            let state = self.shared.state(model.py(), state)?;
            model.call_method1("variables", (state,))?.extract::<Vec<(String, String)>>()
        });
        told.unwrap_or_default().into_iter().map(|(name, value)| Variable { name, value }).collect()
    }

    fn holds(&mut self, predicate: PredicateId, state: &[u8]) -> Result<bool, FaultId> {
        let name = self.predicates.get(predicate.0 as usize).cloned().unwrap_or_default();
        let holds = self.ask(|model| {
            let state = self.shared.state(model.py(), state)?;
            model.call_method1("holds", (name, state))?.extract::<bool>()
        });
        // What was raised ends the search, so what is said here counts for nothing.
        Ok(holds.unwrap_or(true))
    }
}

impl Draft for Generated {
    fn predicate(&mut self, text: &str) -> Result<PredicateId, Diagnostic> {
        let names =
            self.ask(|model| model.call_method0("names")?.extract::<Vec<String>>()).unwrap_or_default();
        if !names.iter().any(|name| name == text) {
            let message = format!("the model has no predicate `{text}`");
            return Err(Diagnostic::error(message, None).with_help(format!("it has {}", names.join(", "))));
        }
        self.predicates.push(text.to_string());
        Ok(PredicateId(u32::try_from(self.predicates.len() - 1).unwrap_or(u32::MAX)))
    }

    fn system(&mut self) -> &mut dyn System {
        self
    }

    fn build(self: Box<Self>) -> Box<dyn System> {
        self
    }
}
