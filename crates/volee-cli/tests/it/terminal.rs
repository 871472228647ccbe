//! A conversation on a terminal: a pseudo-terminal on whose other end keys are pressed and the screen is
//! read.
//!
//! It is read only when something is expected, so a program that prints much waits for us and does not run
//! ahead.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::process::{Child, Command};
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::sandbox::Sandbox;

/// After so long, whatever is waited for does not come.
const PATIENCE: Duration = Duration::from_secs(120);

const UP: &str = "\x1b[A";
const LEFT: &str = "\x1b[D";
const DELETE: &str = "\x7f";
const ENTER: &str = "\r";
const CTRL_A: &str = "\x01";
const CTRL_C: &str = "\x03";

struct Terminal {
    screen: File,
    child: Child,
    /// What was printed and not yet looked at.
    unread: String,
    _done: Sender<()>,
}

impl Terminal {
    fn new(sandbox: &Sandbox, words: &str) -> Terminal {
        // A program that has our end too never learns that it is closed.
        let ours =
            openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).expect("a terminal");
        grantpt(&ours).and_then(|()| unlockpt(&ours)).expect("it can be used");
        let name = ptsname(&ours, Vec::new()).expect("it has a name").into_string().expect("a plain one");
        let flags = OpenptFlags::NOCTTY.bits().cast_signed();
        let open = || {
            let mut options = OpenOptions::new();
            options.read(true).write(true).custom_flags(flags).open(&name).expect("the other end")
        };
        let mut command = Command::new(env!("CARGO_BIN_EXE_volee"));
        command.args(words.split_whitespace()).current_dir(sandbox.path("")).env("TERM", "xterm");
        command.env("NO_COLOR", "1").stdin(open()).stdout(open()).stderr(open());
        let child = command.spawn().expect("it starts");
        let (_done, over) = channel();
        let pid = Pid::from_child(&child);
        std::thread::spawn(move || {
            if over.recv_timeout(PATIENCE) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
                let _ = kill_process(pid, Signal::KILL);
            }
        });
        Terminal { screen: ours.into(), child, unread: String::new(), _done }
    }

    fn press(&mut self, keys: &[&str]) {
        self.screen.write_all(keys.concat().as_bytes()).expect("it takes keys");
    }

    /// Reads on until this is on the screen, and gives all before it.
    fn expect(&mut self, text: &str) -> String {
        loop {
            if let Some(at) = self.unread.find(text) {
                let rest = self.unread.split_off(at + text.len());
                return std::mem::replace(&mut self.unread, rest);
            }
            let mut some = [0; 4096];
            match self.screen.read(&mut some) {
                Ok(n) if n > 0 => self.unread += &String::from_utf8_lossy(&some[..n]),
                // The other end is closed.
                _ => panic!("`{text}` was not printed, but {}", self.unread),
            }
        }
    }

    /// Interrupts what is going on.
    fn interrupt(&self) {
        kill_process(Pid::from_child(&self.child), Signal::INT).expect("it runs");
    }

    fn code(mut self) -> Option<i32> {
        let mut rest = Vec::new();
        // Ends with an error when the other end is closed.
        let _ = self.screen.read_to_end(&mut rest);
        self.child.wait().expect("it ends").code()
    }
}

const COUNTER: &str = "byte x; active proctype P() { do :: x < 200 -> x++ :: x > 100 -> x = 0 od }";

fn conversation(sandbox: &Sandbox) -> Terminal {
    sandbox.write("counter.pml", COUNTER);
    let mut terminal = Terminal::new(sandbox, "simulate counter.pml -i --seed 5");
    terminal.expect("after 0 steps");
    terminal.expect("> ");
    terminal
}

#[test]
fn lines_are_edited_and_remembered() {
    let sandbox = Sandbox::new();
    let mut terminal = conversation(&sandbox);
    terminal.press(&["u x == 39", DELETE, ENTER]);
    terminal.expect("`x == 3` is true after 6 steps");
    terminal.expect("> ");
    terminal.press(&["e x * 1", LEFT, "2", ENTER]);
    terminal.expect("x * 21 = 63");
    terminal.expect("> ");
    terminal.press(&["x + 4", CTRL_A, "e ", ENTER]);
    terminal.expect("x + 4 = 7");
    terminal.expect("> ");
    terminal.press(&["0", ENTER]);
    terminal.expect("> ");
    terminal.press(&["0", ENTER]);
    terminal.expect("after 8 steps");
    terminal.expect("> ");
    // A line that is given twice is remembered once.
    terminal.press(&[UP, UP, ENTER]);
    terminal.expect("x + 4 = 8");
    terminal.expect("> ");
    terminal.press(&["q", ENTER]);
    terminal.expect("volee replay counter.pml run:");
    assert_eq!(terminal.code(), Some(0));
}

#[test]
fn steps_are_undone_and_done_again() {
    let sandbox = Sandbox::new();
    let mut terminal = conversation(&sandbox);
    terminal.press(&["r 4", ENTER]);
    terminal.expect("after 4 steps");
    terminal.expect("> ");
    terminal.press(&["b 3", ENTER]);
    terminal.expect("after 1 step");
    terminal.expect("> ");
    terminal.press(&["e x", ENTER]);
    terminal.expect("x = 0");
    terminal.expect("> ");
    terminal.press(&["y 3", ENTER]);
    terminal.expect("after 4 steps");
    terminal.expect("> ");
    terminal.press(&["e x", ENTER]);
    terminal.expect("x = 2");
    terminal.expect("> ");
    terminal.press(&["q", ENTER]);
    assert_eq!(terminal.code(), Some(0));
}

#[test]
fn an_interrupt_at_the_prompt_keeps_the_run_and_two_end_it() {
    let sandbox = Sandbox::new();
    let mut terminal = conversation(&sandbox);
    terminal.press(&["r 2", ENTER]);
    terminal.expect("after 2 steps");
    terminal.expect("> ");
    terminal.press(&["half a li", CTRL_C]);
    terminal.expect("(the run is kept: q, Ctrl-D or Ctrl-C again ends it)");
    terminal.expect("> ");
    terminal.press(&["e x", ENTER]);
    terminal.expect("x = 1");
    terminal.expect("> ");
    terminal.press(&[CTRL_C]);
    terminal.expect("> ");
    terminal.press(&[CTRL_C]);
    terminal.expect("volee replay counter.pml run:");
    assert_eq!(terminal.code(), Some(0));
}

#[test]
fn an_interrupt_while_it_walks_stops_the_walk_and_keeps_the_run() {
    let sandbox = Sandbox::new();
    let mut terminal = conversation(&sandbox);
    terminal.press(&["u x == 255", ENTER]);
    terminal.expect("x = 9");
    terminal.interrupt();
    // Nothing is read meanwhile, so it stands where the screen is full until it has seen that it is
    // interrupted.
    std::thread::sleep(Duration::from_millis(200));
    terminal.expect("stopped; the run is kept");
    terminal.expect("`x == 255` did not become true in");
    terminal.expect("> ");
    terminal.press(&["b", ENTER]);
    terminal.expect("after");
    terminal.expect("> ");
    terminal.press(&["q", ENTER]);
    terminal.expect("volee replay counter.pml run:");
    assert_eq!(terminal.code(), Some(0));
}
