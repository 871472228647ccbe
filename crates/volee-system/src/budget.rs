//! Budgets: how much memory, time and depth a search may use, and the limit it hits when that is not enough.
//!
//! Running out is a value ([`Limit`]), never a panic: the verdict is then `Unknown` and says what was needed.
//! A [`Meter`] is a budget at work; engines ask it every few thousand steps, so that Ctrl-C and a limit of
//! time are honoured without a system call per state.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::memory;

/// What a search may use. `None` is no bound.
#[derive(Debug, Clone, Default)]
pub struct Budget {
    /// Bytes for states, stack and tables together.
    pub memory: Option<u64>,
    /// Wall-clock time.
    pub time: Option<Duration>,
    /// Steps from an initial state.
    pub depth: Option<u64>,
    /// Set from outside (Ctrl-C) to end the search with a partial report.
    pub cancelled: Arc<AtomicBool>,
    /// When the clock was started, where that was before the search: reading the model takes time too.
    pub since: Option<Instant>,
}

/// The limit that ended a search before it had an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Limit {
    /// The memory budget is used up; `needed` says what would not fit.
    Memory {
        /// The budget in bytes.
        budget: u64,
        /// What was needed, in words.
        needed: String,
    },
    /// The time is used up.
    Time {
        /// The budget in milliseconds.
        milliseconds: u64,
    },
    /// Some path is longer than the depth that was allowed.
    Depth {
        /// The bound on depth.
        bound: u64,
    },
    /// Somebody asked the search to stop.
    Cancelled,
    /// An approximation was asked for: no error was found, but not all states were seen for certain.
    Approximation {
        /// What is known of the coverage, in words.
        coverage: String,
    },
    /// Any other limit of a particular engine, in words.
    Other {
        /// A sentence without a full stop.
        message: String,
    },
}

impl Limit {
    /// The word of the machine-readable answer for this limit.
    pub fn kind(&self) -> &'static str {
        match self {
            Limit::Memory { .. } => "memory",
            Limit::Time { .. } => "time",
            Limit::Depth { .. } => "depth",
            Limit::Cancelled => "cancelled",
            Limit::Approximation { .. } => "approximation",
            Limit::Other { .. } => "limit",
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Limit::Memory { budget, needed } => {
                write!(f, "the memory budget of {} is used up: {needed}", Bytes(*budget))
            }
            Limit::Time { milliseconds } => {
                write!(f, "the time limit of {} s is used up", *milliseconds as f64 / 1000.0)
            }
            Limit::Depth { bound } => write!(f, "some run is longer than the depth limit of {bound} steps"),
            Limit::Cancelled => write!(f, "interrupted"),
            Limit::Approximation { coverage } => {
                write!(f, "no error found by an approximate search: {coverage}")
            }
            Limit::Other { message } => write!(f, "{message}"),
        }
    }
}

struct Bytes(u64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            b if b >= 1 << 30 => write!(f, "{:.1} GB", b as f64 / f64::from(1 << 30)),
            b if b >= 1 << 20 => write!(f, "{:.1} MB", b as f64 / f64::from(1 << 20)),
            b => write!(f, "{b} bytes"),
        }
    }
}

/// A budget at work: started when the search starts.
#[derive(Debug, Clone)]
pub struct Meter {
    budget: Budget,
    start: Instant,
}

impl Meter {
    /// Starts the clock, or takes over one that runs.
    pub fn start(budget: Budget) -> Self {
        let start = budget.since.unwrap_or_else(Instant::now);
        Meter { budget, start }
    }

    /// A budget of what is left of this one, for a part of the work with a clock of its own.
    pub fn left(&self) -> Budget {
        let time = self.budget.time.map(|time| time.saturating_sub(self.elapsed()));
        Budget { time, since: None, ..self.budget.clone() }
    }

    /// What is left, with one of this many shares of the time.
    pub fn share(&self, shares: u32) -> Budget {
        let left = self.left();
        Budget { time: left.time.map(|time| time / shares.max(1)), ..left }
    }

    /// The budget this meter watches.
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// The same with this much memory.
    #[must_use]
    pub fn with_memory(&self, bytes: u64) -> Self {
        Meter { budget: Budget { memory: Some(bytes), ..self.budget.clone() }, start: self.start }
    }

    /// Time since the start.
    pub fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    /// Checks time, cancellation, and what the allocator says is held.
    ///
    /// # Errors
    /// The limit that was hit.
    pub fn check(&self) -> Result<(), Limit> {
        if self.budget.cancelled.load(Ordering::Relaxed) {
            return Err(Limit::Cancelled);
        }
        match self.budget.time {
            Some(time) if self.start.elapsed() >= time => {
                Err(Limit::Time { milliseconds: u64::try_from(time.as_millis()).unwrap_or(u64::MAX) })
            }
            _ => self.check_room(0),
        }
    }

    /// Checks that the process may hold this many bytes more, before they are asked for.
    ///
    /// # Errors
    /// The memory limit.
    pub fn check_room(&self, bytes: u64) -> Result<(), Limit> {
        match memory::exceeded(bytes) {
            Some(budget) => Err(Limit::Memory { budget, needed: "what was being done needs more".into() }),
            None => Ok(()),
        }
    }

    /// Checks that `used` bytes are within the memory budget; `needed` says in words what asked for them.
    ///
    /// # Errors
    /// The memory limit.
    pub fn check_memory(&self, used: u64, needed: impl FnOnce() -> String) -> Result<(), Limit> {
        match self.budget.memory {
            Some(budget) if used > budget => Err(Limit::Memory { budget, needed: needed() }),
            _ => Ok(()),
        }
    }
}

/// A size or duration that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a {what}: write {example}")]
pub struct ParseBudgetError {
    text: String,
    what: &'static str,
    example: &'static str,
}

/// Reads `512M`, `2G`, `64k`, `1048576`: powers of 1024.
///
/// # Errors
/// The text is not a size.
pub fn parse_size(text: &str) -> Result<u64, ParseBudgetError> {
    let error =
        || ParseBudgetError { text: text.into(), what: "size", example: "for example 64M, 2G or 1048576" };
    let trimmed = text.trim().trim_end_matches(['B', 'b']).trim_end_matches('i');
    let (digits, shift) = match trimmed.chars().last() {
        Some('k' | 'K') => (&trimmed[..trimmed.len() - 1], 10),
        Some('m' | 'M') => (&trimmed[..trimmed.len() - 1], 20),
        Some('g' | 'G') => (&trimmed[..trimmed.len() - 1], 30),
        Some('t' | 'T') => (&trimmed[..trimmed.len() - 1], 40),
        _ => (trimmed, 0),
    };
    let number: u64 = digits.parse().map_err(|_| error())?;
    number.checked_mul(1 << shift).ok_or_else(error)
}

/// Reads `10s`, `500ms`, `5m`, `2h`, `1.5s`; a bare number is seconds.
///
/// # Errors
/// The text is not a duration.
pub fn parse_duration(text: &str) -> Result<Duration, ParseBudgetError> {
    let error =
        || ParseBudgetError { text: text.into(), what: "duration", example: "for example 10s, 500ms or 5m" };
    let trimmed = text.trim();
    let split = trimmed.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(trimmed.len());
    let number: f64 = trimmed[..split].parse().map_err(|_| error())?;
    let scale = match &trimmed[split..] {
        "ms" => 0.001,
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err(error()),
    };
    Duration::try_from_secs_f64(number * scale).map_err(|_| error())
}

/// How much memory there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Amount {
    /// In bytes.
    Bytes(u64),
    /// As many as this number of states take.
    States(usize),
}

impl Amount {
    /// Reads `64M` or `1000states`.
    ///
    /// # Errors
    /// The text is no amount.
    pub fn parse(text: &str) -> Result<Amount, String> {
        let states = text.trim().strip_suffix("states").or_else(|| text.trim().strip_suffix("state"));
        let Some(number) = states else {
            return parse_size(text).map(Amount::Bytes).map_err(|error| error.to_string());
        };
        match number.trim().parse() {
            Ok(number) if number > 0 => Ok(Amount::States(number)),
            _ => Err(format!("`{text}` is no number of states: for example 1000states")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_powers_of_1024() {
        assert_eq!(parse_size("64M"), Ok(64 << 20));
        assert_eq!(parse_size("2GiB"), Ok(2 << 30));
        assert_eq!(parse_size("17"), Ok(17));
        assert!(parse_size("M").is_err());
        assert!(parse_size("-1").is_err());
        assert!(parse_size("99999999999999999999G").is_err());
    }

    #[test]
    fn durations_need_a_known_unit() {
        assert_eq!(parse_duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(parse_duration("2"), Ok(Duration::from_secs(2)));
        assert!(parse_duration("-3s").is_err());
        assert!(parse_duration("3 weeks").is_err());
    }

    #[test]
    fn a_cancelled_budget_stops_the_search() {
        let meter = Meter::start(Budget::default());
        assert_eq!(meter.check(), Ok(()));
        meter.budget().cancelled.store(true, Ordering::Relaxed);
        assert_eq!(meter.check(), Err(Limit::Cancelled));
    }
}
