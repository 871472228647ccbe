//! Progress of a long search on stderr: only on a terminal, and only when the search lasts.

use std::io::IsTerminal as _;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use volee::report::{bytes, count};
use volee::system::{Progress, Snapshot, guard};

const PATIENCE: Duration = Duration::from_millis(500);

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
        if !self.shown {
            return;
        }
        let now = Instant::now();
        let since = now.duration_since(self.last.0);
        if now.duration_since(self.start) < PATIENCE || since < Duration::from_millis(100) {
            return;
        }
        self.rate = snapshot.states.saturating_sub(self.last.1) as f64 / since.as_secs_f64();
        self.last = (now, snapshot.states);
        self.draw(snapshot);
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
