//! Lines to and from a program, over its standard streams or TCP, such that nothing it does can hang the
//! tester.
//!
//! One thread reads, one writes; both are left alone when the test ends, because a program may keep a stream
//! open for ever. What is read waits in a short queue: a program that floods is slowed down by its own pipe
//! instead of filling our memory. A line has a greatest length, and a line that is not text is told apart.
//!
//! A program runs in a process group of its own, which is ended with the test: whatever it has started goes
//! with it, also when this process is ended from outside ([`end_programs`]).

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::interface::whole;

/// Lines that wait to be looked at.
const QUEUE: usize = 256;
/// The longest line.
const LONGEST: usize = 64 << 10;
/// How long a program may take to read what it is sent.
const PATIENCE: Duration = Duration::from_secs(3);
/// How long a program may take to end when its input does.
const GRACE: Duration = Duration::from_millis(300);

/// What is passed on of a program's complaints.
const MOST_COMPLAINTS: u64 = 64 << 10;

/// The process groups of programs that run, by the number of their first process.
static RUNNING: Mutex<Vec<u32>> = Mutex::new(Vec::new());

/// What comes from a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Heard {
    /// A line of text.
    Line(String),
    /// A line that is not text; its first bytes.
    Binary(Vec<u8>),
    /// A line without an end in sight.
    Endless,
    /// The stream has ended; how the program ended, where that is known.
    End(Option<String>),
}

/// A program that cannot be started or reached.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// There is no such program.
    #[error("there is no program `{0}`")]
    Missing(String),
    /// It is there but does not start.
    #[error("`{0}` cannot be started: {1}")]
    Unstartable(String, io::Error),
    /// It never says that it is ready.
    #[error("the program is not ready: {0}")]
    NotReady(String),
    /// Nobody answers.
    #[error("nobody answers at {0}: {1}")]
    Unreachable(String, String),
}

/// Why a stimulus did not arrive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Deaf {
    /// The stream is closed.
    Closed,
    /// It does not read.
    Slow,
}

/// Carries lines to and from an implementation.
pub trait Adapter {
    /// Sends a line.
    ///
    /// # Errors
    /// It does not arrive.
    fn say(&mut self, line: &str) -> Result<(), Deaf>;

    /// Waits for a line; nothing, if none comes in time. The end of the stream is told again and again.
    fn hear(&mut self, wait: Duration) -> Option<Heard>;
}

/// A connection to a program.
pub struct Wire {
    heard: Receiver<Heard>,
    ended: Option<Heard>,
    say: Option<SyncSender<Vec<u8>>>,
    said: Receiver<bool>,
    child: Option<Child>,
    socket: Option<TcpStream>,
}

impl Wire {
    /// Starts a program and talks to it over its standard streams.
    ///
    /// # Errors
    /// It does not start.
    pub fn program(command: &[OsString]) -> Result<Wire, StartError> {
        let mut child = start(command, Stdio::piped(), Stdio::piped())?;
        let name = || command[0].to_string_lossy().into_owned();
        let broken = || StartError::Unstartable(name(), io::Error::other("it has no standard streams"));
        let input = child.stdin.take().ok_or_else(broken)?;
        let output = child.stdout.take().ok_or_else(broken)?;
        Ok(Wire::new(output, input, Some(child), None))
    }

    /// Connects to a server, starting it first where a command is given; tries for `patience`.
    ///
    /// # Errors
    /// The program does not start, or nobody answers.
    pub fn tcp(address: &str, command: &[OsString], patience: Duration) -> Result<Wire, StartError> {
        let mut child = match command.is_empty() {
            true => None,
            false => Some(start(command, Stdio::null(), Stdio::null())?),
        };
        let connected = connect(address, &mut child, patience);
        let reader = connected.and_then(|socket| match socket.try_clone() {
            Ok(reader) => Ok((socket, reader)),
            Err(e) => Err(StartError::Unreachable(address.into(), e.to_string())),
        });
        match reader.and_then(|(socket, reader)| {
            let _ = socket.set_nodelay(true);
            let writer =
                socket.try_clone().map_err(|e| StartError::Unreachable(address.into(), e.to_string()))?;
            Ok((socket, reader, writer))
        }) {
            Ok((socket, reader, writer)) => Ok(Wire::new(reader, writer, child, Some(socket))),
            Err(error) => {
                child.as_mut().map(end);
                Err(error)
            }
        }
    }

    /// Reads what the program says until a line says that it is ready; what comes before is no part of a
    /// test.
    ///
    /// # Errors
    /// The program ends, or no such line comes in time.
    pub fn wait_until_ready(&mut self, ready: &str, patience: Duration) -> Result<(), StartError> {
        let ready = whole(ready).map_err(|error| StartError::NotReady(error.to_string()))?;
        let deadline = Instant::now() + patience;
        loop {
            match self.hear(deadline.saturating_duration_since(Instant::now())) {
                Some(Heard::Line(line)) if ready.is_match(&line) => return Ok(()),
                Some(Heard::Line(_) | Heard::Binary(_)) => {}
                Some(Heard::Endless) => return Err(StartError::NotReady("its first line never ends".into())),
                Some(Heard::End(status)) => {
                    let how = status.map(|status| format!(" ({status})")).unwrap_or_default();
                    return Err(StartError::NotReady(format!("it has ended{how}")));
                }
                None => return Err(StartError::NotReady(format!("no line says so in {patience:?}"))),
            }
        }
    }

    fn new(
        reader: impl Read + Send + 'static,
        writer: impl Write + Send + 'static,
        child: Option<Child>,
        socket: Option<TcpStream>,
    ) -> Wire {
        let (lines, heard) = sync_channel(QUEUE);
        let (say, to_say) = sync_channel::<Vec<u8>>(1);
        let (done, said) = channel();
        thread::spawn(move || listen(reader, &lines));
        thread::spawn(move || speak(writer, &to_say, &done));
        Wire { heard, ended: None, say: Some(say), said, child, socket }
    }
}

impl Adapter for Wire {
    fn say(&mut self, line: &str) -> Result<(), Deaf> {
        let Some(say) = &self.say else { return Err(Deaf::Closed) };
        let mut bytes = line.as_bytes().to_vec();
        bytes.push(b'\n');
        if say.try_send(bytes).is_err() {
            return Err(Deaf::Slow);
        }
        match self.said.recv_timeout(PATIENCE) {
            Ok(true) => Ok(()),
            Ok(false) | Err(RecvTimeoutError::Disconnected) => Err(Deaf::Closed),
            Err(RecvTimeoutError::Timeout) => Err(Deaf::Slow),
        }
    }

    fn hear(&mut self, wait: Duration) -> Option<Heard> {
        if let Some(end) = &self.ended {
            return Some(end.clone());
        }
        let heard = match self.heard.recv_timeout(wait) {
            Ok(heard) => heard,
            Err(RecvTimeoutError::Timeout) => return None,
            Err(RecvTimeoutError::Disconnected) => Heard::End(None),
        };
        if let Heard::End(_) = heard {
            let status = self.child.as_mut().and_then(|child| wait_for(child, GRACE));
            let end = Heard::End(status.filter(|_| self.socket.is_none()));
            self.ended = Some(end.clone());
            return Some(end);
        }
        Some(heard)
    }
}

impl Drop for Wire {
    /// Closes the streams, gives the program a moment, and ends it.
    fn drop(&mut self) {
        self.say = None;
        if let Some(socket) = &self.socket {
            let _ = socket.shutdown(std::net::Shutdown::Both);
        }
        if let Some(child) = &mut self.child {
            // A server does not end by itself; and who does may have started others.
            if self.socket.is_none() {
                wait_for(child, GRACE);
            }
            end(child);
        }
    }
}

/// Ends a program and all that it has started.
fn end(child: &mut Child) {
    end_group(child.id());
    let _ = child.kill();
    let _ = child.wait();
    if let Ok(mut running) = RUNNING.lock() {
        running.retain(|group| *group != child.id());
    }
}

fn end_group(group: u32) {
    let group = i32::try_from(group).ok().and_then(rustix::process::Pid::from_raw);
    if let Some(group) = group {
        // Who is gone need not be ended.
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
}

/// Ends all programs under test, before this process is ended. Waits for nobody.
pub fn end_programs() {
    if let Ok(running) = RUNNING.try_lock() {
        running.iter().copied().for_each(end_group);
    }
}

/// Passes on what a program complains about, up to a bound; the rest is read, so that it never waits, and
/// dropped.
fn pass_complaints(mut complaints: impl Read) {
    let passed = io::copy(&mut complaints.by_ref().take(MOST_COMPLAINTS), &mut io::stderr()).unwrap_or(0);
    if passed >= MOST_COMPLAINTS {
        let _ = io::stderr().write_all(b"\n(the program complains on; no more of it is shown)\n");
    }
    let _ = io::copy(&mut complaints, &mut io::sink());
}

fn start(command: &[OsString], input: Stdio, output: Stdio) -> Result<Child, StartError> {
    let Some((program, arguments)) = command.split_first() else {
        return Err(StartError::Missing(String::new()));
    };
    let mut command = Command::new(program);
    command.args(arguments).stdin(input).stdout(output).stderr(Stdio::piped());
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = command.spawn().map_err(|e| {
        let name = program.to_string_lossy().into_owned();
        match e.kind() {
            io::ErrorKind::NotFound => StartError::Missing(name),
            _ => StartError::Unstartable(name, e),
        }
    })?;
    if let Ok(mut running) = RUNNING.lock() {
        running.push(child.id());
    }
    if let Some(complaints) = child.stderr.take() {
        thread::spawn(move || pass_complaints(complaints));
    }
    Ok(child)
}

fn wait_for(child: &mut Child, patience: Duration) -> Option<String> {
    let deadline = Instant::now() + patience;
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status.to_string()),
            Ok(None) if Instant::now() < deadline => thread::sleep(Duration::from_millis(5)),
            _ => return None,
        }
    }
}

fn connect(address: &str, child: &mut Option<Child>, patience: Duration) -> Result<TcpStream, StartError> {
    let unreachable = |why: String| StartError::Unreachable(address.into(), why);
    let places: Vec<_> = address.to_socket_addrs().map_err(|e| unreachable(e.to_string()))?.collect();
    let deadline = Instant::now() + patience;
    loop {
        let mut why = "the name has no address".to_owned();
        for place in &places {
            match TcpStream::connect_timeout(place, patience.max(Duration::from_millis(1))) {
                Ok(socket) => return Ok(socket),
                Err(e) => why = e.to_string(),
            }
        }
        if let Some(status) = child.as_mut().and_then(|c| wait_for(c, Duration::ZERO)) {
            return Err(unreachable(format!("the server has ended ({status})")));
        }
        if Instant::now() >= deadline {
            return Err(unreachable(why));
        }
        thread::sleep(Duration::from_millis(20));
    }
}

fn speak(mut writer: impl Write, lines: &Receiver<Vec<u8>>, done: &Sender<bool>) {
    while let Ok(line) = lines.recv() {
        let written = writer.write_all(&line).and_then(|()| writer.flush());
        if done.send(written.is_ok()).is_err() || written.is_err() {
            return;
        }
    }
}

fn listen(mut reader: impl Read, lines: &SyncSender<Heard>) {
    let mut buffer = vec![0u8; 8 << 10];
    let mut line = Vec::new();
    loop {
        let got = match reader.read(&mut buffer) {
            Ok(0) => break,
            Ok(got) => got,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => break,
        };
        for part in buffer[..got].split_inclusive(|&b| b == b'\n') {
            line.extend_from_slice(part);
            if line.len() > LONGEST {
                let _ = lines.send(Heard::Endless);
                return;
            }
            if line.ends_with(b"\n") {
                if lines.send(understood(&line)).is_err() {
                    return;
                }
                line.clear();
            }
        }
    }
    if !line.is_empty() && lines.send(understood(&line)).is_err() {
        return;
    }
    let _ = lines.send(Heard::End(None));
}

fn understood(line: &[u8]) -> Heard {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    match std::str::from_utf8(line) {
        Ok(text) if !text.chars().any(|c| c.is_control() && c != '\t') => Heard::Line(text.into()),
        _ => Heard::Binary(line.iter().take(16).copied().collect()),
    }
}
