//! What a caller in Python gives: a model, and options as one text of JSON.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use pyo3::prelude::*;
use serde_json::Value;
use volee::system::{Budget, Diagnostic, Meter, parse_size};
use volee::{Made, Options, Source, usual_memory};

use crate::generator::{Generated, Shared};
use crate::watcher::{Stop, Watcher};
use crate::wrong;

/// What a call is about: the path of a file, or a model that is written in Python.
#[derive(FromPyObject)]
pub enum Subject {
    File(PathBuf),
    Model(Py<PyAny>),
}

impl Subject {
    /// The name in answers.
    pub fn name(&self, py: Python<'_>) -> PyResult<String> {
        match self {
            Subject::File(path) => Ok(path.display().to_string()),
            Subject::Model(model) => model.getattr(py, "name")?.extract(py),
        }
    }
}

/// All that a call needs to begin: its options, and what ends it.
pub struct Call {
    pub given: Given,
    pub stop: Stop,
    pub watcher: Watcher,
}

impl Call {
    pub fn new(options: &str, progress: Option<Py<PyAny>>) -> PyResult<Self> {
        let stop = Stop::default();
        Ok(Call { given: Given::read(options)?, watcher: Watcher::new(&stop, progress), stop })
    }

    /// The model as it is to be read.
    pub fn source(&mut self, py: Python<'_>, subject: &Subject) -> PyResult<Source> {
        let model = match subject {
            Subject::File(path) => return Ok(self.given.source(path)),
            Subject::Model(model) => model.clone_ref(py),
        };
        self.watcher.stays = true;
        let shared = Arc::new(Shared::new(py, model, &self.stop));
        let made = Made::new(move || Box::new(Generated::new(&shared)), []);
        Ok(Source::made(&subject.name(py)?, made))
    }

    pub fn budget(&self) -> PyResult<Budget> {
        self.given.budget(&self.stop.cancelled)
    }

    pub fn meter(&self) -> PyResult<Meter> {
        let budget = self.budget()?;
        Ok(Meter::start(Budget { memory: budget.memory.or_else(usual_memory), ..budget }))
    }
}

/// The options of a call.
pub struct Given(Value);

impl Given {
    fn read(options: &str) -> PyResult<Self> {
        let value = serde_json::from_str(options);
        value
            .map(Given)
            .map_err(|e| wrong(&[Diagnostic::error(format!("the options are no JSON: {e}"), None)]))
    }

    pub fn text(&self, name: &str) -> Option<String> {
        self.0[name].as_str().map(str::to_string)
    }

    pub fn number(&self, name: &str) -> Option<u64> {
        self.0[name].as_u64()
    }

    pub fn flag(&self, name: &str) -> bool {
        self.0[name].as_bool().unwrap_or_default()
    }

    pub fn list(&self, name: &str) -> Vec<String> {
        let items = self.0[name].as_array().into_iter().flatten();
        items.filter_map(|item| item.as_str().map(str::to_string)).collect()
    }

    /// The model of this name, whose text may be given instead of a file.
    fn source(&self, model: &Path) -> Source {
        let texts = self.text("text").map(|text| (model.to_path_buf(), text));
        let copies = self.0["copies"].as_object().into_iter().flatten();
        let copies = copies.filter_map(|(name, n)| Some((name.clone(), u32::try_from(n.as_u64()?).ok()?)));
        let options = Options {
            defines: self.list("define"),
            plain: self.flag("plain"),
            copies: copies.collect(),
            capacity: self.number("capacity").and_then(|n| u32::try_from(n).ok()),
            texts: texts.into_iter().collect(),
            ..Options::default()
        };
        Source::new(model, options)
    }

    fn budget(&self, cancelled: &Arc<AtomicBool>) -> PyResult<Budget> {
        let memory = match self.text("memory") {
            Some(text) => {
                Some(parse_size(&text).map_err(|e| wrong(&[Diagnostic::error(e.to_string(), None)]))?)
            }
            None => self.number("memory"),
        };
        let seconds = self.0["time"].as_f64().and_then(|s| Duration::try_from_secs_f64(s).ok());
        Ok(Budget {
            memory,
            time: seconds,
            depth: self.number("depth"),
            cancelled: Arc::clone(cancelled),
            since: None,
        })
    }
}
