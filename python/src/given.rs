//! What a caller in Python gives: a model and options, as one text of JSON.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use pyo3::PyResult;
use serde_json::Value;
use volee::system::{Budget, Diagnostic, Meter, parse_size};
use volee::{Options, Source, usual_memory};

use crate::wrong;

/// The options of a call.
pub struct Given(Value);

impl Given {
    pub fn read(options: &str) -> PyResult<Self> {
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
    pub fn source(&self, model: &str) -> Source {
        let texts = self.text("text").map(|text| (PathBuf::from(model), text));
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
        Source::new(Path::new(model), options)
    }

    pub fn budget(&self, cancelled: &Arc<AtomicBool>) -> PyResult<Budget> {
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

    pub fn meter(&self, cancelled: &Arc<AtomicBool>) -> PyResult<Meter> {
        let budget = self.budget(cancelled)?;
        Ok(Meter::start(Budget { memory: budget.memory.or_else(usual_memory), ..budget }))
    }
}
