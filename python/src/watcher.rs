//! What happens between a call and the interpreter: Ctrl-C ends the call, and a function may be told how far
//! it is.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use pyo3::prelude::*;
use volee::system::{Progress, Snapshot};

/// How often the interpreter is asked.
const PERIOD: Duration = Duration::from_millis(50);

/// Ends a call when Python raises something, and keeps what it was.
#[derive(Clone, Default)]
pub struct Stop {
    pub cancelled: Arc<AtomicBool>,
    raised: Arc<Mutex<Option<PyErr>>>,
}

impl Stop {
    /// Something was raised: the call is to end.
    pub fn raise(&self, error: PyErr) {
        self.raised.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// What was raised, if anything.
    fn check(&self) -> PyResult<()> {
        self.raised.lock().unwrap_or_else(PoisonError::into_inner).take().map_or(Ok(()), Err)
    }
}

/// Follows a call: looks for signals, and tells the caller's function how far it is.
pub struct Watcher {
    stop: Stop,
    callback: Option<Py<PyAny>>,
    /// Models in Python are asked by the thread that called, so that Ctrl-C reaches their code too.
    pub stays: bool,
}

impl Watcher {
    pub fn new(stop: &Stop, callback: Option<Py<PyAny>>) -> Self {
        Watcher { stop: stop.clone(), callback, stays: false }
    }

    /// Does the work while the interpreter may do something else. Some phases tell nothing of themselves for
    /// long, so that the work has a thread of its own and this one looks after the interpreter.
    pub fn follow<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut dyn Progress) -> T + Send,
    ) -> PyResult<T> {
        let done = py.detach(|| match self.stays {
            true => work(&mut Here { watcher: self, last: Instant::now() }),
            false => self.beside(work),
        });
        self.stop.check()?;
        Ok(done)
    }

    fn beside<T: Send>(&self, work: impl FnOnce(&mut dyn Progress) -> T + Send) -> T {
        let latest = Latest(Arc::default());
        let mut seen = latest.clone();
        let (sender, receiver) = channel();
        std::thread::scope(|scope| {
            let worker = scope.spawn(move || sender.send(work(&mut seen)));
            loop {
                match receiver.recv_timeout(PERIOD) {
                    Ok(done) => return done,
                    Err(RecvTimeoutError::Timeout) => self.look(latest.get().as_ref()),
                    Err(RecvTimeoutError::Disconnected) => match worker.join() {
                        Err(panic) => resume_unwind(panic),
                        Ok(_) => unreachable!("a thread that ends has sent what it did"),
                    },
                }
            }
        })
    }

    fn look(&self, at: Option<&Snapshot>) {
        let told = Python::attach(|py| {
            py.check_signals()?;
            match (&self.callback, at) {
                (Some(callback), Some(at)) => {
                    callback.call1(py, (at.states, at.transitions, at.max_depth, at.memory)).map(drop)
                }
                _ => Ok(()),
            }
        });
        if let Err(error) = told {
            self.stop.raise(error);
        }
    }
}

/// The last snapshot of a search in another thread.
#[derive(Clone)]
struct Latest(Arc<Mutex<Option<Snapshot>>>);

impl Latest {
    fn get(&self) -> Option<Snapshot> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Progress for Latest {
    fn report(&mut self, at: &Snapshot) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(*at);
    }
}

/// A search in the thread that called.
struct Here<'a> {
    watcher: &'a Watcher,
    last: Instant,
}

impl Progress for Here<'_> {
    fn report(&mut self, at: &Snapshot) {
        if self.last.elapsed() >= PERIOD {
            self.last = Instant::now();
            self.watcher.look(Some(at));
        }
    }
}
