//! The answer of a process that its guard ends: in the form that was asked for, unknown, with what was
//! reached so far.
//!
//! It is written by another thread than the one that works, which may be anywhere: so nothing is locked here,
//! and the answer goes straight to the descriptor.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use volee::files;
use volee::report::{Answer, QuestionAnswer, VerdictWord, bytes, count, seconds};
use volee::system::Limit;
use volee::system::guard::Cut;
use volee::system::memory;

use crate::cli::Format;

/// Whether stdout carries a system rather than the answer.
static STDOUT_TAKEN: AtomicBool = AtomicBool::new(false);

/// From now on stdout carries what was asked to be written there.
pub fn take_stdout() {
    STDOUT_TAKEN.store(true, Ordering::Relaxed);
}

/// Writes the answer and ends the process.
pub fn answer(format: Format, verb: &str, limit: &Limit, at: &Cut) {
    clear_away();
    let text = match format {
        Format::Text => text(limit, at),
        Format::Json => json(verb, limit, at).to_json(),
    };
    let code = match write_all(text.as_bytes(), STDOUT_TAKEN.load(Ordering::Relaxed)) {
        Ok(()) => VerdictWord::Unknown.exit_code(),
        Err(_) => VerdictWord::Error.exit_code(),
    };
    std::process::exit(i32::from(code));
}

/// Ends a process whose answer is being written, or was.
pub fn leave() {
    clear_away();
    std::process::exit(i32::from(VerdictWord::Unknown.exit_code()));
}

/// What must not outlive the process.
fn clear_away() {
    files::abandon();
    volee::conformance::end_programs();
}

/// Somebody else answers, and then ends the process.
pub fn wait_for_end() -> ! {
    loop {
        std::thread::sleep(Duration::from_secs(1));
    }
}

fn text(limit: &Limit, at: &Cut) -> String {
    let mut figures = vec![seconds(at.elapsed.as_secs_f64())];
    if at.progress.states > 0 {
        let (states, transitions) = (count(at.progress.states), count(at.progress.transitions));
        figures.insert(0, format!("{states} states, {transitions} transitions so far"));
    }
    figures.extend(memory::resident().map(bytes));
    format!("{:<9} {limit}\n{}\n", "unknown", figures.join(", "))
}

fn json(verb: &str, limit: &Limit, at: &Cut) -> Answer {
    let mut answer = Answer::new(verb);
    answer.push(QuestionAnswer::unknown(verb, limit));
    answer.set("states", at.progress.states);
    answer.set("transitions", at.progress.transitions);
    answer.set("depth", at.progress.max_depth);
    answer.set("seconds", at.elapsed.as_secs_f64());
    if let Some(resident) = memory::resident() {
        answer.set("peak_memory_bytes", resident);
    }
    answer
}

/// To stdout, unless that carries a system, which is then left incomplete.
fn write_all(mut text: &[u8], aside: bool) -> Result<(), rustix::io::Errno> {
    let to = if aside { rustix::stdio::stderr() } else { rustix::stdio::stdout() };
    while !text.is_empty() {
        match rustix::io::write(to, text) {
            Ok(written) => text = &text[written..],
            Err(rustix::io::Errno::INTR) => {}
            Err(rustix::io::Errno::PIPE) => return Ok(()),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
