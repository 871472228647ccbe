//! The coordinator: starts a job on all workers, watches it, and makes one answer or one message of what comes back.
//!
//! When something goes wrong it waits a moment for everybody's view of it, because the worker that is heard of first is
//! often not the one to blame: when one dies, its peers report broken connections before its own silence is noticed.
//! Then it closes all connections, which ends the job everywhere.

use std::net::{TcpStream, ToSocketAddrs};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use volee_system::Meter;

use super::job::address_of;
use super::secret::challenge;
use super::{
    ClusterError, Command, LARGE, Order, PATIENCE, PULSE, Report, SILENCE, Secret, greet, receive, send,
    set_deadline, watch_closely, words,
};
use crate::drive::Account;
use crate::threads::Failure;

/// How long to wait for other views of a failure.
const OTHER_VIEWS: Duration = Duration::from_millis(400);

/// How long a process may say that it is there and do nothing.
const STANDSTILL: Duration = Duration::from_secs(60);

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JobError {
    /// The job could not be started.
    #[error(transparent)]
    Cluster(#[from] ClusterError),
    /// It was started and failed; `lost` are the workers that cannot be used again.
    #[error("{failure}")]
    Failed {
        /// What happened first.
        failure: Failure,
        /// The numbers of the workers that are gone.
        lost: Vec<usize>,
    },
}

/// What a thread that listens to a worker has heard.
enum Heard {
    Report(Report),
    Closed(String),
}

/// How a worker stands.
enum Standing {
    Starting,
    Ready(u16),
    Done(Vec<u8>),
}

struct Member {
    who: String,
    stream: TcpStream,
    heard: Instant,
    /// When its account last changed: a process that only says that it is there does not work.
    moved: Instant,
    standing: Standing,
    account: Account,
}

struct Job<'m> {
    members: Vec<Member>,
    inbox: Receiver<(usize, Heard)>,
    meter: &'m Meter,
}

/// The name of a worker in messages.
pub fn name_of(number: usize, address: &str) -> String {
    format!("worker {} ({address})", number + 1)
}

/// Runs a job on workers; `view` sees the accounts of all of them now and then. Gives what each worker has made.
///
/// # Errors
/// The job could not be started, or some worker could not go on.
pub fn run(
    workers: &[String],
    secret: &Secret,
    payload: &[u8],
    meter: &Meter,
    view: &mut dyn FnMut(&[Account]),
) -> Result<Vec<Vec<u8>>, JobError> {
    let (sender, inbox) = channel();
    let mut job = Job { members: connect(workers, secret)?, inbox, meter };
    job.start(payload, sender)?;
    let ended = job.watch(view);
    // Closing the connections ends the job wherever it still runs.
    for member in &job.members {
        let _ = member.stream.shutdown(std::net::Shutdown::Both);
    }
    ended
}

/// Connects to all workers, each with its deadline, all at once.
fn connect(workers: &[String], secret: &Secret) -> Result<Vec<Member>, ClusterError> {
    let connected: Vec<Result<Member, ClusterError>> = std::thread::scope(|scope| {
        let threads: Vec<_> = workers
            .iter()
            .enumerate()
            .map(|(number, address)| scope.spawn(move || connect_one(number, address, secret)))
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| Err(no_thread()))).collect()
    });
    connected.into_iter().collect()
}

fn no_thread() -> ClusterError {
    ClusterError::Call("a thread that connects to a worker failed".into())
}

fn connect_one(number: usize, address: &str, secret: &Secret) -> Result<Member, ClusterError> {
    let who = name_of(number, address);
    let wrong = |message: String| ClusterError::Worker { who: who.clone(), message };
    let mut addresses = address.to_socket_addrs().map_err(|error| wrong(error.to_string()))?;
    let first = addresses.next().ok_or_else(|| wrong("there is no such host".into()))?;
    let mut stream = TcpStream::connect_timeout(&first, PATIENCE).map_err(|error| wrong(words(&error)))?;
    watch_closely(&stream);
    greet(&mut stream, secret, "coordinator", "worker").map_err(wrong)?;
    Ok(Member {
        who,
        stream,
        heard: Instant::now(),
        moved: Instant::now(),
        standing: Standing::Starting,
        account: Account::default(),
    })
}

impl Job<'_> {
    /// Sends the orders and starts to listen.
    fn start(&mut self, payload: &[u8], sender: Sender<(usize, Heard)>) -> Result<(), JobError> {
        let session = challenge()?;
        let peers = self.members.len() as u16;
        let budget = self.meter.budget();
        for (number, member) in self.members.iter_mut().enumerate() {
            let order = Order {
                session,
                me: number as u16,
                peers,
                memory: budget.memory,
                milliseconds: budget.time.map(|time| time.as_millis() as u64),
                payload: payload.to_vec(),
            };
            let who = member.who.clone();
            let wrong =
                |error: std::io::Error| ClusterError::Worker { who: who.clone(), message: words(&error) };
            send(&mut member.stream, &order).map_err(wrong)?;
            set_deadline(&member.stream, None).map_err(wrong)?;
            member.heard = Instant::now();
            let (mut stream, sender) = (member.stream.try_clone().map_err(wrong)?, sender.clone());
            std::thread::spawn(move || {
                loop {
                    let heard = match receive::<Report>(&mut stream, LARGE) {
                        Ok(report) => Heard::Report(report),
                        Err(error) => Heard::Closed(words(&error)),
                    };
                    let closed = matches!(heard, Heard::Closed(_));
                    if sender.send((number, heard)).is_err() || closed {
                        return;
                    }
                }
            });
        }
        Ok(())
    }

    /// Watches the job to its end.
    fn watch(&mut self, view: &mut dyn FnMut(&[Account])) -> Result<Vec<Vec<u8>>, JobError> {
        let mut pulse = Instant::now();
        loop {
            let problem = match self.inbox.recv_timeout(PULSE / 4) {
                Ok((number, heard)) => self.hear(number, heard),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => Some(Problem::Silent(0)),
            };
            let problem = problem.or_else(|| self.silent());
            if let Some(problem) = problem {
                return Err(self.blame(problem));
            }
            if let Err(limit) = self.meter.check() {
                let failure = Failure::Part { who: "all workers".into(), error: limit.into() };
                return Err(JobError::Failed { failure, lost: Vec::new() });
            }
            if self.members.iter().all(|m| matches!(m.standing, Standing::Done(_))) {
                return Ok(self.members.iter_mut().map(Member::result).collect());
            }
            if pulse.elapsed() >= PULSE {
                pulse = Instant::now();
                for member in &mut self.members {
                    // A connection that is broken is noticed by who listens to it.
                    let _ = send(&mut member.stream, &Command::Pulse);
                }
                view(&self.members.iter().map(|m| m.account).collect::<Vec<_>>());
            }
        }
    }

    /// Takes one report in.
    fn hear(&mut self, number: usize, heard: Heard) -> Option<Problem> {
        let member = &mut self.members[number];
        member.heard = Instant::now();
        match heard {
            Heard::Report(Report::Pulse(account)) => {
                if account != member.account || account == Account::default() {
                    member.moved = Instant::now();
                }
                member.account = account;
            }
            Heard::Report(Report::Ready(port)) => {
                member.standing = Standing::Ready(port);
                return self.introduce(number);
            }
            Heard::Report(Report::Done(bytes)) => member.standing = Standing::Done(bytes),
            Heard::Report(Report::Stopped(trouble)) => {
                let (who, error) = (member.who.clone(), trouble.into());
                return Some(Problem::Told(number, Failure::Part { who, error }));
            }
            Heard::Report(Report::Lost(peer, message)) => {
                return Some(Problem::Accused(number, usize::from(peer), message));
            }
            Heard::Report(Report::Panicked(message)) => {
                let (who, message) = (member.who.clone(), format!("failed: {message}"));
                return Some(Problem::Told(number, Failure::Lost { who, message }));
            }
            Heard::Closed(_) if matches!(member.standing, Standing::Done(_)) => {}
            Heard::Closed(why) => return Some(Problem::Closed(number, why)),
        }
        None
    }

    /// Tells everybody where the others are, once all are ready.
    fn introduce(&mut self, number: usize) -> Option<Problem> {
        let mut addresses = Vec::new();
        for member in &self.members {
            let Standing::Ready(port) = member.standing else { return None };
            match address_of(&member.stream, port) {
                Ok(address) => addresses.push(address),
                Err(error) => return Some(Problem::Closed(number, words(&error))),
            }
        }
        for member in &mut self.members {
            let _ = send(&mut member.stream, &Command::Peers(addresses.clone()));
        }
        None
    }

    fn silent(&self) -> Option<Problem> {
        let silent = |m: &Member| {
            let stuck = m.heard.elapsed() > SILENCE || m.moved.elapsed() > STANDSTILL;
            stuck && !matches!(m.standing, Standing::Done(_))
        };
        self.members.iter().position(silent).map(Problem::Silent)
    }

    /// Finds out whose fault it is.
    fn blame(&mut self, first: Problem) -> JobError {
        let mut problems = vec![first];
        let deadline = Instant::now() + OTHER_VIEWS;
        while let Some(left) = deadline.checked_duration_since(Instant::now()) {
            match self.inbox.recv_timeout(left) {
                Ok((number, heard)) => problems.extend(self.hear(number, heard)),
                Err(_) => break,
            }
        }
        let spoke = |number: usize, problems: &[Problem]| {
            problems
                .iter()
                .any(|p| matches!(p, Problem::Told(n, _) | Problem::Accused(n, ..) if *n == number))
        };
        // Who fell silent or closed without a word is to blame; then who tells of itself; then who is accused.
        let mut lost: Vec<usize> = Vec::new();
        for problem in &problems {
            match problem {
                Problem::Silent(number) => lost.push(*number),
                Problem::Closed(number, _) if !spoke(*number, &problems) => lost.push(*number),
                _ => {}
            }
        }
        let told = problems.iter().find_map(|p| match p {
            Problem::Told(number, failure) => Some((*number, failure.clone())),
            _ => None,
        });
        if lost.is_empty()
            && let Some((number, failure)) = told
        {
            let gone = matches!(failure, Failure::Lost { .. });
            return JobError::Failed { failure, lost: gone.then_some(number).into_iter().collect() };
        }
        if lost.is_empty() {
            lost.extend(problems.iter().find_map(|p| match p {
                Problem::Accused(_, peer, _) => Some(*peer),
                _ => None,
            }));
        }
        lost.sort_unstable();
        lost.dedup();
        let number = lost.first().copied().unwrap_or(0).min(self.members.len() - 1);
        let failure =
            Failure::Lost { who: self.members[number].who.clone(), message: self.fate(number, &problems) };
        JobError::Failed { failure, lost }
    }

    /// What happened to a worker, in words.
    fn fate(&self, number: usize, problems: &[Problem]) -> String {
        let own = problems.iter().find_map(|p| match p {
            Problem::Silent(n) if *n == number => {
                Some("does not answer any more; it hangs or cannot be reached".to_string())
            }
            Problem::Closed(n, why) if *n == number => Some(format!("is gone: {why}")),
            _ => None,
        });
        own.unwrap_or_else(|| {
            let accuser = problems.iter().find_map(|p| match p {
                Problem::Accused(from, _, message) => Some((*from, message.as_str())),
                _ => None,
            });
            let (from, message) = accuser.unwrap_or((number, "nobody says why"));
            format!("cannot be reached by {} any more: {message}", self.members[from].who)
        })
    }
}

impl Member {
    fn result(&mut self) -> Vec<u8> {
        match &mut self.standing {
            Standing::Done(bytes) => std::mem::take(bytes),
            _ => Vec::new(),
        }
    }
}

/// What went wrong, as somebody sees it.
enum Problem {
    /// A worker tells of itself.
    Told(usize, Failure),
    /// A worker says that it has lost another.
    Accused(usize, usize, String),
    /// A connection was closed.
    Closed(usize, String),
    /// A worker has been silent for too long.
    Silent(usize),
}
