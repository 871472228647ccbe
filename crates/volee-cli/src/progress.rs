//! Progress of a long search on stderr: one line that changes on a terminal, elsewhere a line every ten
//! seconds, as logs want it; and only when the search lasts.

use std::io::IsTerminal as _;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use volee::report::{bytes, count};
use volee::system::{Progress, Snapshot, guard};

const PATIENCE: Duration = Duration::from_millis(500);
const ON_A_TERMINAL: Duration = Duration::from_millis(100);
const IN_A_LOG: Duration = Duration::from_secs(10);

/// One line on stderr that follows a search: states, states per second, transitions, depth, memory.
pub struct ProgressLine {
    start: Instant,
    budget: Option<u64>,
    last: (Instant, u64),
    rate: f64,
    bar: Option<ProgressBar>,
    shown: bool,
}

impl ProgressLine {
    /// Starts the clock; `budget` is the memory that the search may use.
    pub fn new(budget: Option<u64>) -> Self {
        let start = Instant::now();
        let shown = std::io::stderr().is_terminal();
        ProgressLine { start, budget, last: (start, 0), rate: 0.0, bar: None, shown }
    }

    fn is_due(&self, now: Instant) -> bool {
        let period = if self.shown { ON_A_TERMINAL } else { IN_A_LOG };
        now.duration_since(self.start) >= PATIENCE && now.duration_since(self.last.0) >= period
    }

    /// A line of a log.
    fn line(&self, snapshot: &Snapshot, now: Instant) -> String {
        let elapsed = now.duration_since(self.start).as_secs();
        format!("after {elapsed} s: {}", describe(snapshot, self.rate, self.budget))
    }

    fn draw(&mut self, snapshot: &Snapshot) {
        let bar = self.bar.get_or_insert_with(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}") {
                bar.set_style(style);
            }
            bar
        });
        bar.set_message(describe(snapshot, self.rate, self.budget));
        bar.tick();
    }
}

impl Progress for ProgressLine {
    fn report(&mut self, snapshot: &Snapshot) {
        guard::note(snapshot);
        let now = Instant::now();
        if !self.is_due(now) {
            return;
        }
        let since = now.duration_since(self.last.0);
        self.rate = snapshot.states.saturating_sub(self.last.1) as f64 / since.as_secs_f64();
        self.last = (now, snapshot.states);
        match self.shown {
            true => self.draw(snapshot),
            false => eprintln!("{}", self.line(snapshot, now)),
        }
    }

    fn say(&mut self, message: &str) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
        eprintln!("{message}");
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn describe(snapshot: &Snapshot, rate: f64, budget: Option<u64>) -> String {
    let memory = match budget {
        Some(budget) => format!("{} of {}", bytes(snapshot.memory), bytes(budget)),
        None => bytes(snapshot.memory),
    };
    let pending = match snapshot.pending {
        0 => String::new(),
        n => format!(", {} pending", count(n)),
    };
    format!(
        "{} states ({}/s), {} transitions, depth {}{pending}, {memory}",
        count(snapshot.states),
        count(rate as u64),
        count(snapshot.transitions),
        count(snapshot.depth),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_gets_a_line_every_ten_seconds_and_a_terminal_ten_in_one() {
        let start = Instant::now();
        let mut line =
            ProgressLine { start, budget: None, last: (start, 0), rate: 0.0, bar: None, shown: false };
        let after = |ms: u64| start + Duration::from_millis(ms);
        assert!(!line.is_due(after(9_999)) && line.is_due(after(10_000)));
        let snapshot = Snapshot { states: 1234, ..Snapshot::default() };
        assert!(line.line(&snapshot, after(10_400)).starts_with("after 10 s: 1,234 states"));
        line.shown = true;
        assert!(!line.is_due(after(400)) && line.is_due(after(600)));
        line.last = (after(600), 7);
        assert!(!line.is_due(after(650)) && line.is_due(after(700)));
    }
}
