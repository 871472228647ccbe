//! What a verb may know of its surroundings: the format asked for, whether colours make sense, and Ctrl-C.

use std::cell::RefCell;
use std::env;
use std::io::IsTerminal as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use volee::report::{Palette, VerdictWord, diagnostics_text};
use volee::system::Diagnostic;

use crate::cli::Format;

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
    /// Set while the program waits for the user: Ctrl-C then ends it at once.
    waiting: Arc<AtomicBool>,
    warnings: RefCell<Vec<Diagnostic>>,
}

impl Context {
    /// Looks at the terminal and takes over Ctrl-C.
    pub fn new(format: Format) -> Self {
        let cancelled = Arc::new(AtomicBool::new(false));
        let waiting = Arc::new(AtomicBool::new(false));
        let (flag, at_once) = (Arc::clone(&cancelled), Arc::clone(&waiting));
        // Without a handler Ctrl-C ends the program at once, which is the usual thing: no reason to refuse to run.
        let _ = ctrlc::set_handler(move || {
            if flag.swap(true, Ordering::Relaxed) || at_once.load(Ordering::Relaxed) {
                std::process::exit(i32::from(VerdictWord::Unknown.exit_code()));
            }
        });
        Context {
            format,
            palette: palette(std::io::stdout().is_terminal()),
            errors: palette(std::io::stderr().is_terminal()),
            cancelled,
            waiting,
            warnings: RefCell::default(),
        }
    }

    /// Tells the user what a front end wants them to know: at once on stderr, or within the JSON answer.
    pub fn warn(&self, warnings: &[Diagnostic]) {
        match self.format {
            Format::Text => eprint!("{}", diagnostics_text(warnings, self.errors)),
            Format::Json => self.warnings.borrow_mut().extend_from_slice(warnings),
        }
    }

    /// The warnings for the JSON answer.
    pub fn take_warnings(&self) -> Vec<Diagnostic> {
        self.warnings.take()
    }

    /// From now on the program mostly waits for its user.
    pub fn expect_user(&self) {
        self.waiting.store(true, Ordering::Relaxed);
    }

    /// Whether Ctrl-C was pressed.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }
}

fn palette(is_terminal: bool) -> Palette {
    let refused = env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty())
        || env::var_os("TERM").is_some_and(|t| t == "dumb");
    if is_terminal && !refused { Palette::Colour } else { Palette::Plain }
}
