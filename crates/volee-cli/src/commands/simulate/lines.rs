//! Where the lines of a conversation come from: an editor with history on a terminal, plain lines from a
//! pipe.
//!
//! Ctrl-C never loses the run. At the editor it asks whether one means it; a pipe is read by a thread of its
//! own, so that Ctrl-C is seen while nobody writes.

use std::io::{BufRead as _, IsTerminal as _, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use rustyline::DefaultEditor;
use rustyline::error::ReadlineError;
use volee::conversation::{Lines, Next};

const PROMPT: &str = "> ";
const BREATH: Duration = Duration::from_millis(30);

/// An editor with history, or what comes through a pipe.
pub enum Input {
    Editor { editor: Box<DefaultEditor>, doubted: bool },
    Pipe(Receiver<String>),
}

impl Input {
    /// An editor where stdin and stdout are a terminal and nothing else is to be printed there.
    pub fn new(may_edit: bool) -> Self {
        let terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
        if may_edit
            && terminal
            && let Ok(editor) = DefaultEditor::new()
        {
            return Input::Editor { editor: Box::new(editor), doubted: false };
        }
        let (send, lines) = channel();
        std::thread::spawn(move || {
            for line in std::io::stdin().lock().lines().map_while(Result::ok) {
                if send.send(line).is_err() {
                    return;
                }
            }
        });
        Input::Pipe(lines)
    }
}

impl Lines for Input {
    fn next(&mut self, out: &mut dyn Write, cancelled: &AtomicBool) -> std::io::Result<Next> {
        match self {
            Input::Editor { editor, doubted } => Ok(edited(editor, doubted)),
            Input::Pipe(lines) => {
                write!(out, "{PROMPT}")?;
                out.flush()?;
                Ok(piped(lines, cancelled))
            }
        }
    }
}

fn edited(editor: &mut DefaultEditor, doubted: &mut bool) -> Next {
    match editor.readline(PROMPT) {
        Ok(line) => {
            *doubted = false;
            if !line.trim().is_empty() {
                // A line that is not remembered is still a line.
                let _ = editor.add_history_entry(line.as_str());
            }
            Next::Line(line)
        }
        Err(ReadlineError::Interrupted) if !*doubted => {
            *doubted = true;
            Next::Doubt
        }
        Err(_) => Next::End,
    }
}

fn piped(lines: &Receiver<String>, cancelled: &AtomicBool) -> Next {
    loop {
        match lines.recv_timeout(BREATH) {
            Ok(line) => return Next::Line(line),
            Err(RecvTimeoutError::Disconnected) => return Next::End,
            Err(RecvTimeoutError::Timeout) if cancelled.load(Ordering::Relaxed) => return Next::End,
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}
