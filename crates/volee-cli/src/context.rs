//! What a verb may know of its surroundings: the format asked for, whether colours make sense, and Ctrl-C.

use std::cell::{Cell, RefCell};
use std::env;
use std::io::IsTerminal as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use volee::report::{Palette, diagnostics_text};
use volee::system::guard::{self, Limits};
use volee::system::{Amount, Budget, Diagnostic};
use volee::{cores, usual_memory};

use crate::cli::{Cli, Format};
use crate::cut;

/// The surroundings of one call.
pub struct Context {
    /// The form of the answer.
    pub format: Format,
    /// Colours for text on stdout.
    pub palette: Palette,
    /// Colours for messages on stderr.
    pub errors: Palette,
    /// Set by Ctrl-C; every budget carries it, so that a search ends with a partial report.
    pub cancelled: Arc<AtomicBool>,
    warnings: RefCell<Vec<Diagnostic>>,
    memory: Option<u64>,
    /// The states that a search may keep, where memory is counted in them.
    pub states: Option<usize>,
    time: Option<Duration>,
    start: Instant,
    told: Cell<bool>,
    /// Whether another process asks, which shows the text to people.
    pub is_member: bool,
}

impl Context {
    /// Looks at the terminal, takes over Ctrl-C, and has the limits of the whole process watched.
    pub fn new(cli: &Cli) -> Self {
        let (format, verb, start) = (cli.format, cli.verb.clone(), Instant::now());
        let cancelled = Arc::new(AtomicBool::new(false));
        // Servers live as long as their users want; what they are asked has limits of its own.
        let serves = matches!(verb.as_str(), "lsp" | "explore" | "worker");
        let (bytes, states) = match cli.memory {
            Some(Amount::Bytes(bytes)) => (Some(bytes), None),
            Some(Amount::States(states)) => (None, Some(states)),
            None => (None, None),
        };
        let usual = if serves { || None } else { usual_limit };
        // Of several models each has a process that keeps the time itself, and tells what it has found by
        // then.
        let time = cli.time.filter(|_| !cli.is_suite());
        let signalled = Arc::default();
        let limits = Limits {
            memory: bytes,
            usual,
            time,
            start,
            signalled: Arc::clone(&signalled),
            cancelled: Arc::clone(&cancelled),
        };
        let end = move |limit, at| cut::answer(format, &verb, &limit, &at);
        // Where nobody watches, Ctrl-C ends the program at once, which is the usual thing.
        if guard::watch(limits, end, cut::leave).is_ok() {
            for signal in [SIGINT, SIGTERM, SIGHUP] {
                let _ = signal_hook::flag::register(signal, Arc::clone(&signalled));
            }
        }
        Context {
            format,
            palette: palette(std::io::stdout().is_terminal()),
            errors: palette(std::io::stderr().is_terminal()),
            cancelled,
            warnings: RefCell::default(),
            memory: bytes,
            states,
            time: cli.time,
            start,
            told: Cell::default(),
            is_member: cli.member.is_some(),
        }
    }

    /// Tells the user what a front end wants them to know: at once on stderr, or within the JSON answer.
    pub fn warn(&self, warnings: &[Diagnostic]) {
        match self.format {
            Format::Text => eprint!("{}", diagnostics_text(warnings, self.errors)),
            Format::Json => self.warnings.borrow_mut().extend_from_slice(warnings),
        }
    }

    /// What the whole process may use, as it was given, with Ctrl-C wired to it; its clock runs since the
    /// start.
    pub fn budget(&self) -> Budget {
        let cancelled = Arc::clone(&self.cancelled);
        Budget { memory: self.memory, time: self.time, depth: None, cancelled, since: Some(self.start) }
    }

    /// What is left of the time for all that is done.
    pub fn time_left(&self) -> Option<Duration> {
        self.time.map(|time| time.saturating_sub(self.start.elapsed()))
    }

    /// The memory that the process may use.
    pub fn memory(&self) -> Option<u64> {
        self.memory.or_else(usual_memory)
    }

    /// The warnings for the JSON answer.
    pub fn take_warnings(&self) -> Vec<Diagnostic> {
        self.warnings.take()
    }

    /// The verb has printed its answer itself: nothing is left to say at its end.
    pub fn told(&self) {
        self.told.set(true);
    }

    /// Whether the answer was printed already.
    pub fn is_told(&self) -> bool {
        self.told.get()
    }

    /// Whether Ctrl-C was pressed.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }
}

/// What the system is asked for takes as long as a small check: here the guard asks, while the model is read.
fn usual_limit() -> Option<u64> {
    cores();
    usual_memory()
}

fn palette(is_terminal: bool) -> Palette {
    let refused = env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty())
        || env::var_os("TERM").is_some_and(|t| t == "dumb");
    let forced = env::var_os("CLICOLOR_FORCE").is_some_and(|v| v != "0" && !v.is_empty());
    if (is_terminal || forced) && !refused { Palette::Colour } else { Palette::Plain }
}
