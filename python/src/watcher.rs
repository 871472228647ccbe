//! What happens between a search and the interpreter: Ctrl-C ends the search, and a function may be told how far it is.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use pyo3::prelude::*;
use volee::system::{Progress, Snapshot};

/// How often the interpreter is asked.
const PERIOD: Duration = Duration::from_millis(50);

/// Ends a search when Python raises something, and keeps what it was.
#[derive(Clone, Default)]
pub struct Stop {
    pub cancelled: Arc<AtomicBool>,
    raised: Arc<Mutex<Option<PyErr>>>,
}

impl Stop {
    /// Something was raised: the search is to end.
    pub fn raise(&self, error: PyErr) {
        if let Ok(mut raised) = self.raised.lock() {
            raised.get_or_insert(error);
        }
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// What was raised, if anything.
    pub fn check(&self) -> PyResult<()> {
        let raised = self.raised.lock().ok().and_then(|mut raised| raised.take());
        raised.map_or(Ok(()), Err)
    }
}

/// Follows a search.
pub struct Watcher {
    stop: Stop,
    callback: Option<Py<PyAny>>,
    last: Instant,
}

impl Watcher {
    pub fn new(stop: &Stop, callback: Option<Py<PyAny>>) -> Self {
        Watcher { stop: stop.clone(), callback, last: Instant::now() }
    }
}

impl Progress for Watcher {
    fn report(&mut self, at: &Snapshot) {
        if self.last.elapsed() < PERIOD {
            return;
        }
        self.last = Instant::now();
        let told = Python::attach(|py| {
            py.check_signals()?;
            match &self.callback {
                Some(callback) => {
                    callback.call1(py, (at.states, at.transitions, at.max_depth, at.memory)).map(drop)
                }
                None => Ok(()),
            }
        });
        if let Err(error) = told {
            self.stop.raise(error);
        }
    }
}
