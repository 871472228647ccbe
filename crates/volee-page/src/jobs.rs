//! Checks that the page has started: one at a time, each in a thread of its own, watched by asking.
//!
//! A check opens the model anew, so that it disturbs nobody, and has a budget of memory and time whatever the
//! page says.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use volee::system::{Budget, Diagnostic, Progress, Snapshot};
use volee::{Answers, AskError, Source};

use crate::explorer::Complaint;
use crate::seam::{How, Wish, check};

/// The most memory that a check may use, and what it uses if nobody says.
const MOST_MEMORY: u64 = 16 << 30;
const USUAL_MEMORY: u64 = 1 << 30;
const USUAL_TIME: Duration = Duration::from_secs(300);
const LONGEST_TIME: Duration = Duration::from_secs(24 * 3600);

/// What a check may use, as the page says it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Limits {
    /// Bytes.
    pub memory: Option<u64>,
    /// Time.
    pub time: Option<Duration>,
}

/// The check that was started last.
#[derive(Default)]
pub struct Jobs {
    current: Option<Arc<Job>>,
    count: u64,
}

/// One check.
struct Job {
    number: u64,
    start: Instant,
    memory: u64,
    time: Duration,
    cancelled: Arc<AtomicBool>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    snapshot: Snapshot,
    seconds: f64,
    ended: Option<Result<Arc<Answers>, Vec<String>>>,
}

impl Job {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Passes snapshots on, not too often.
struct Watcher<'a> {
    job: &'a Job,
}

impl Progress for Watcher<'_> {
    fn report(&mut self, snapshot: &Snapshot) {
        let mut state = self.job.state();
        state.snapshot = *snapshot;
        state.seconds = self.job.start.elapsed().as_secs_f64();
    }
}

impl Jobs {
    /// Starts a check; the one before must have ended.
    ///
    /// # Errors
    /// Another one is still at work.
    pub fn start(
        &mut self,
        source: &Source,
        wish: Wish,
        how: How,
        limits: Limits,
    ) -> Result<Value, Complaint> {
        if self.current.as_ref().is_some_and(|job| job.state().ended.is_none()) {
            return Err(Complaint("another check is still at work: stop it first".into()));
        }
        self.count += 1;
        let job = Arc::new(Job {
            number: self.count,
            start: Instant::now(),
            memory: limits.memory.unwrap_or(USUAL_MEMORY).min(MOST_MEMORY),
            time: limits.time.unwrap_or(USUAL_TIME).min(LONGEST_TIME),
            cancelled: Arc::new(AtomicBool::new(false)),
            state: Mutex::default(),
        });
        self.current = Some(Arc::clone(&job));
        let (source, number) = (source.clone(), job.number);
        let work = move || {
            let budget = Budget {
                memory: Some(job.memory),
                time: Some(job.time),
                cancelled: Arc::clone(&job.cancelled),
                ..Budget::default()
            };
            let asked = std::panic::AssertUnwindSafe(|| {
                check(&source, &wish, how, budget, &mut Watcher { job: &job })
                    .map_err(|error| sentences(&error))
            });
            let ended = std::panic::catch_unwind(asked).unwrap_or_else(|_| {
                Err(vec!["the check failed: this is a defect of volee, please report it".to_string()])
            });
            let mut state = job.state();
            state.seconds = job.start.elapsed().as_secs_f64();
            state.ended = Some(ended.map(Arc::new));
        };
        std::thread::Builder::new()
            .name("check".into())
            .spawn(work)
            .map_err(|e| Complaint(format!("no thread for the check: {e}")))?;
        Ok(json!({ "job": number }))
    }

    /// Asks the check to stop; it ends with what it knows.
    pub fn stop(&self) {
        if let Some(job) = &self.current {
            job.cancelled.store(true, Ordering::Relaxed);
        }
    }

    /// How far the check is, and what it has found once it has ended.
    ///
    /// # Errors
    /// There is no such check.
    pub fn look(&self, number: u64) -> Result<(Value, Option<Arc<Answers>>), Complaint> {
        let job = self.current.as_ref().filter(|job| job.number == number);
        let job = job.ok_or_else(|| Complaint(format!("there is no check {number}")))?;
        let state = job.state();
        let seconds = if state.ended.is_some() { state.seconds } else { job.start.elapsed().as_secs_f64() };
        let mut told = json!({
            "running": state.ended.is_none(),
            "snapshot": state.snapshot,
            "seconds": seconds,
            "budget": { "memory": job.memory, "seconds": job.time.as_secs_f64() },
        });
        match &state.ended {
            Some(Err(wrong)) => {
                told["errors"] = json!(wrong);
                Ok((told, None))
            }
            Some(Ok(checked)) => Ok((told, Some(Arc::clone(checked)))),
            None => Ok((told, None)),
        }
    }
}

fn sentences(error: &AskError) -> Vec<String> {
    match error {
        AskError::Input(all) => {
            all.iter().map(|wrong: &Diagnostic| Complaint::from(wrong.clone()).0).collect()
        }
        other => vec![other.to_string()],
    }
}
