//! The coordinator: starts a job on all workers, watches it, and makes one answer or one message of what
//! comes back.
//!
//! When something goes wrong it waits a moment for everybody's view of it, because the worker that is heard
//! of first is often not the one to blame: when one dies, its peers report broken connections before its own
//! silence is noticed. Then it closes all connections, which ends the job everywhere.
//!
//! Silence is judged by when bytes last came, not by when messages were understood (evidence may take long on
//! a slow line), and not while this process itself was not given the processor: a loaded machine is no dead
//! one.

mod kept;

use std::io::Read;
use std::net::{TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use volee_system::{Limit, Meter};

use self::kept::Shipping;
use super::channel::{Channel, Ends, greet};
use super::job::{JOB, address_of};
use super::secret::challenge;
use super::{
    ClusterError, Command, LARGE, Order, PATIENCE, PULSE, Report, SILENCE, SMALL, Secret, Welcome, receive,
    send, send_bytes, set_deadline, watch_closely, words,
};
use crate::drive::{Account, Handed};
use crate::kept::Keeping;
use crate::threads::Failure;

/// How long to wait for other views of a failure.
const OTHER_VIEWS: Duration = Duration::from_millis(400);
/// How long to wait for a better reason than that one worker accuses another.
const ACCUSED: Duration = Duration::from_secs(4);

/// How long the process of a job may take to start and say its first word.
const START: Duration = Duration::from_secs(20);
/// When this process was away for so long, it has been deaf, not the others silent.
const DEAF: Duration = Duration::from_secs(1);

/// What may wait to be heard: who tells more waits, so that what is written to a file is not all in memory.
const WAITING: usize = 64;
/// How long to wait for something to happen while workers get what they go on from.
const SOON: Duration = Duration::from_millis(1);
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
    /// It has been sent its order.
    Asked,
    Report(Report),
    Closed(String),
}

/// How a worker stands.
enum Standing {
    /// Its order is on the way; nothing else must be written to it.
    Unasked,
    /// Nothing was heard of the process yet that is to do the job.
    Asked(Instant),
    Starting,
    Ready(u16),
    Done(Vec<u8>),
}

/// When bytes last came from a worker, in milliseconds since the job began.
#[derive(Clone)]
struct Clock(Arc<AtomicU64>, Instant);

impl Clock {
    fn note(&self) {
        self.0.store(self.1.elapsed().as_millis() as u64, Ordering::Relaxed);
    }

    fn silence(&self) -> Duration {
        self.1.elapsed().saturating_sub(Duration::from_millis(self.0.load(Ordering::Relaxed)))
    }
}

/// A connection that notes when something came.
struct Noting {
    stream: Channel,
    clock: Clock,
}

impl Read for Noting {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.stream.read(buffer)?;
        self.clock.note();
        Ok(read)
    }
}

struct Member {
    who: String,
    stream: Channel,
    clock: Clock,
    /// When its account last changed: a process that only says that it is there does not work.
    moved: Instant,
    standing: Standing,
    account: Account,
    /// Pieces of what it goes on from that it can take.
    takes: u32,
}

struct Job<'m> {
    members: Vec<Member>,
    inbox: Receiver<(usize, Heard)>,
    meter: &'m Meter,
    view: &'m mut dyn FnMut(&[Account]),
    /// Silence counts from here at the earliest.
    attentive: Instant,
    awake: Instant,
    pulse: Instant,
    /// What the workers go on from, as far as they have not got it.
    shipping: Option<Shipping>,
    /// The first worker that has reached a limit of its own.
    full: Option<Failure>,
    /// The first that was handed out in a pause that was asked for at the start.
    early: Option<(usize, Handed)>,
}

/// What one turn of watching has shown.
enum Turn {
    Problem(Problem),
    Handed(usize, Handed),
    Nothing,
}

/// The name of a worker in messages.
pub fn name_of(number: usize, address: &str) -> String {
    format!("worker {} ({address})", number + 1)
}

/// Runs a job on workers; `view` sees the accounts of all of them now and then; `keeping` has what they know
/// kept, where they can be kept. Gives what each worker has made.
///
/// # Errors
/// The job could not be started, or some worker could not go on.
pub fn run(
    workers: &[String],
    secret: &Secret,
    payload: &[u8],
    meter: &Meter,
    view: &mut dyn FnMut(&[Account]),
    mut keeping: Option<&mut Keeping<'_>>,
) -> Result<Vec<Vec<u8>>, JobError> {
    let supply = match &mut keeping {
        Some(keeping) => keeping.supply(workers.len()).map_err(without_loss)?,
        None => None,
    };
    let (sender, inbox) = sync_channel(WAITING);
    let now = Instant::now();
    let mut job = Job {
        members: connect(workers, secret)?,
        inbox,
        meter,
        view,
        attentive: now,
        awake: now,
        pulse: now,
        shipping: supply.map(Shipping::new),
        full: None,
        early: None,
    };
    job.start(&Arc::from(payload), &sender, keeping.as_deref())?;
    drop(sender);
    let ended = job.watch(keeping);
    // Closing the connections ends the job wherever it still runs.
    for member in &job.members {
        let _ = member.stream.tcp().shutdown(std::net::Shutdown::Both);
    }
    ended
}

/// Connects to all workers, each with its deadline, all at once.
fn connect(workers: &[String], secret: &Secret) -> Result<Vec<Member>, JobError> {
    let connected: Vec<Result<Member, JobError>> = std::thread::scope(|scope| {
        let threads: Vec<_> = workers
            .iter()
            .enumerate()
            .map(|(number, address)| scope.spawn(move || connect_one(number, address, secret)))
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| Err(no_thread().into()))).collect()
    });
    connected.into_iter().collect()
}

/// A failure for which no worker is to blame.
fn without_loss(failure: Failure) -> JobError {
    JobError::Failed { failure, lost: Vec::new() }
}

fn no_thread() -> ClusterError {
    ClusterError::Call("a thread that connects to a worker failed".into())
}

/// Connects to a worker. One that cannot be used is an error of the call; one that has proved the secret and
/// is gone before it has begun is lost, like any other that is.
fn connect_one(number: usize, address: &str, secret: &Secret) -> Result<Member, JobError> {
    let who = name_of(number, address);
    let wrong = |message: String| ClusterError::Worker { who: who.clone(), message };
    let mut addresses = address.to_socket_addrs().map_err(|error| wrong(error.to_string()))?;
    let first = addresses.next().ok_or_else(|| wrong("there is no such host".into()))?;
    let stream = TcpStream::connect_timeout(&first, PATIENCE).map_err(|error| wrong(words(&error)))?;
    watch_closely(&stream);
    let ends = Ends { purpose: "job for a worker", role: "coordinator", patience: PATIENCE };
    let (mut channel, _) = greet(stream, secret, ends).map_err(wrong)?;
    let gone = |message: String| {
        let message = format!("was lost before it had begun: {message}");
        JobError::Failed { failure: Failure::Lost { who: who.clone(), message }, lost: vec![number] }
    };
    set_deadline(channel.tcp(), Some(PATIENCE)).map_err(|error| gone(words(&error)))?;
    match receive(&mut channel, SMALL).map_err(|error| gone(words(&error)))? {
        Welcome::Accepted => {}
        Welcome::Refused(why) => return Err(wrong(format!("it refused: {why}")).into()),
    }
    // The process of the job takes over, and makes keys of its own.
    let ends = Ends { purpose: JOB, patience: START, ..ends };
    let (stream, _) = greet(channel.into_tcp(), secret, ends).map_err(gone)?;
    Ok(Member {
        who,
        stream,
        clock: Clock(Arc::default(), Instant::now()),
        moved: Instant::now(),
        standing: Standing::Unasked,
        account: Account::default(),
        takes: 0,
    })
}

impl Job<'_> {
    /// Has each worker sent its order and listened to, by a thread of its own: a slow line keeps nobody else
    /// waiting.
    fn start(
        &mut self,
        payload: &Arc<[u8]>,
        sender: &SyncSender<(usize, Heard)>,
        keeping: Option<&Keeping<'_>>,
    ) -> Result<(), JobError> {
        let session = challenge()?;
        let peers = self.members.len() as u16;
        let budget = self.meter.budget();
        let resumes = self.shipping.is_some();
        let wanted = |keeping: &Keeping<'_>| {
            let limit = keeping.limit(&[], self.meter);
            keeping.wanted(limit.is_some(), self.meter)
        };
        let pause = keeping.and_then(wanted).unwrap_or(0);
        for (number, member) in self.members.iter_mut().enumerate() {
            let order = Order {
                session,
                me: number as u16,
                peers,
                memory: budget.memory,
                milliseconds: budget.time.map(|time| time.as_millis() as u64),
                keeps: keeping.is_some(),
                resumes,
                pause,
            };
            let who = &member.who;
            let wrong =
                |error: std::io::Error| ClusterError::Worker { who: who.clone(), message: words(&error) };
            set_deadline(member.stream.tcp(), Some(SILENCE)).map_err(wrong)?;
            let stream = member.stream.handle().map_err(wrong)?;
            let (line, payload) = (Noting { stream, clock: member.clock.clone() }, Arc::clone(payload));
            let sender = sender.clone();
            // It ends when the connection does, or when nobody listens to it any more.
            std::thread::spawn(move || {
                attend(line, &order, payload, |heard| sender.send((number, heard)).is_ok());
            });
        }
        Ok(())
    }

    /// Watches the job to its end.
    fn watch(&mut self, mut keeping: Option<&mut Keeping<'_>>) -> Result<Vec<Vec<u8>>, JobError> {
        loop {
            match self.turn() {
                Turn::Problem(problem) => return Err(self.blame(problem)),
                Turn::Handed(worker, handed) => self.early = Some((worker, handed)),
                Turn::Nothing => {}
            }
            if self.members.iter().all(|m| matches!(m.standing, Standing::Done(_))) {
                return Ok(self.members.iter_mut().map(Member::result).collect());
            }
            match &mut keeping {
                Some(keeping) => self.keep(keeping)?,
                None => self.meter.check().map_err(|limit| without_loss(of_all(limit)))?,
            }
        }
    }

    /// Waits a moment for something to happen.
    fn turn(&mut self) -> Turn {
        let patience = if self.shipping.is_some() { SOON } else { PULSE / 4 };
        let turn = match self.inbox.recv_timeout(patience) {
            Ok((number, heard)) => self.hear(number, heard),
            Err(RecvTimeoutError::Timeout) => Turn::Nothing,
            Err(RecvTimeoutError::Disconnected) => Turn::Problem(Problem::Silent(0)),
        };
        if self.awake.elapsed() > DEAF {
            self.attentive = Instant::now();
        }
        self.awake = Instant::now();
        if let (Turn::Nothing, Some(silent)) = (&turn, self.silent().next()) {
            return Turn::Problem(Problem::Silent(silent));
        }
        if self.pulse.elapsed() >= PULSE {
            self.pulse = Instant::now();
            self.tell_all(&Command::Pulse);
            let accounts = self.accounts();
            (self.view)(&accounts);
        }
        turn
    }

    /// Tells all that have got their orders.
    fn tell_all(&mut self, command: &Command) {
        for member in self.members.iter_mut().filter(|m| !matches!(m.standing, Standing::Unasked)) {
            // A connection that is broken is noticed by who listens to it.
            let _ = send(&mut member.stream, command);
        }
    }

    fn accounts(&self) -> Vec<Account> {
        self.members.iter().map(|m| m.account).collect()
    }

    /// Takes one report in.
    fn hear(&mut self, number: usize, heard: Heard) -> Turn {
        let member = &mut self.members[number];
        if matches!((&heard, &member.standing), (Heard::Report(_), Standing::Asked(_))) {
            member.standing = Standing::Starting;
            member.moved = Instant::now();
        }
        match heard {
            Heard::Asked => member.standing = Standing::Asked(Instant::now()),
            Heard::Report(Report::Pulse(account)) => {
                if account != member.account || account == Account::default() {
                    member.moved = Instant::now();
                }
                member.account = account;
            }
            Heard::Report(Report::Ready(port)) => {
                member.standing = Standing::Ready(port);
                return self.introduce(number).map_or(Turn::Nothing, Turn::Problem);
            }
            Heard::Report(Report::Takes(pieces)) => {
                member.takes = member.takes.saturating_add(pieces);
                self.members.iter_mut().for_each(|member| member.moved = Instant::now());
            }
            Heard::Report(Report::Piece(piece)) => return Turn::Handed(number, Handed::Piece(piece)),
            Heard::Report(Report::Whole(pause)) => return Turn::Handed(number, Handed::Whole(pause)),
            Heard::Report(Report::Nothing(pause)) => return Turn::Handed(number, Handed::Nothing(pause)),
            Heard::Report(Report::Full(trouble)) => {
                let (who, error) = (member.who.clone(), trouble.into());
                self.full.get_or_insert(Failure::Part { who, error });
            }
            Heard::Report(Report::Done(bytes)) => member.standing = Standing::Done(bytes),
            Heard::Report(Report::Stopped(trouble)) => {
                let (who, error) = (member.who.clone(), trouble.into());
                return Turn::Problem(Problem::Told(number, Failure::Part { who, error }));
            }
            Heard::Report(Report::Lost(peer, message)) => {
                return Turn::Problem(Problem::Accused(number, usize::from(peer), message));
            }
            Heard::Report(Report::Panicked(message)) => {
                let (who, message) = (member.who.clone(), format!("failed: {message}"));
                return Turn::Problem(Problem::Told(number, Failure::Lost { who, message }));
            }
            Heard::Closed(_) if matches!(member.standing, Standing::Done(_)) => {}
            Heard::Closed(why) => return Turn::Problem(Problem::Closed(number, why)),
        }
        Turn::Nothing
    }

    /// Tells everybody where the others are, once all are ready.
    fn introduce(&mut self, number: usize) -> Option<Problem> {
        let mut addresses = Vec::new();
        for member in &self.members {
            let Standing::Ready(port) = member.standing else { return None };
            match address_of(member.stream.tcp(), port) {
                Ok(address) => addresses.push(address),
                Err(error) => return Some(Problem::Closed(number, words(&error))),
            }
        }
        for member in &mut self.members {
            let _ = send(&mut member.stream, &Command::Peers(addresses.clone()));
        }
        None
    }

    /// The workers that have been silent for too long, or that say they are there and do nothing.
    fn silent(&self) -> impl Iterator<Item = usize> {
        let attentive = self.attentive.elapsed();
        let is_silent = move |member: &Member| match member.standing {
            Standing::Unasked | Standing::Done(_) => false,
            Standing::Asked(since) => since.elapsed().min(attentive) > START,
            Standing::Starting | Standing::Ready(_) => {
                member.clock.silence().min(attentive) > SILENCE || member.moved.elapsed() > STANDSTILL
            }
        };
        (0..self.members.len()).filter(move |number| is_silent(&self.members[*number]))
    }

    /// Gathers what everybody says of a failure: for a moment only when it is clear who is to blame, longer
    /// when there are accusations alone.
    fn views(&mut self, first: Problem) -> Vec<Problem> {
        let mut problems = vec![first];
        let start = Instant::now();
        loop {
            let clear = problems.iter().any(|p| !matches!(p, Problem::Accused(..)));
            let patience = if clear { OTHER_VIEWS } else { ACCUSED };
            let Some(left) = patience.checked_sub(start.elapsed()) else { return problems };
            match self.inbox.recv_timeout(left.min(PULSE)) {
                Ok((number, heard)) => {
                    if let Turn::Problem(problem) = self.hear(number, heard) {
                        problems.push(problem);
                    }
                }
                Err(RecvTimeoutError::Timeout) => problems.extend(self.silent().map(Problem::Silent)),
                Err(RecvTimeoutError::Disconnected) => return problems,
            }
        }
    }

    /// Finds out whose fault it is.
    fn blame(&mut self, first: Problem) -> JobError {
        let problems = self.views(first);
        let spoke = |number: usize, problems: &[Problem]| {
            problems
                .iter()
                .any(|p| matches!(p, Problem::Told(n, _) | Problem::Accused(n, ..) if *n == number))
        };
        // Who fell silent or closed without a word is to blame; then who tells of itself; then who is
        // accused.
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
            lost.extend(most_accused(&problems));
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
                Problem::Accused(from, peer, message) if *peer == number => Some((*from, message.as_str())),
                _ => None,
            });
            let (from, message) = accuser.unwrap_or((number, "nobody says why"));
            format!("cannot be reached by {} any more: {message}", self.members[from].who)
        })
    }
}

/// A limit that concerns all workers alike.
fn of_all(limit: Limit) -> Failure {
    Failure::Part { who: "all workers".into(), error: limit.into() }
}

/// Sends a worker its order and tells what comes back, until nothing does or nobody wants to know.
fn attend(mut line: Noting, order: &Order, payload: Arc<[u8]>, tell: impl Fn(Heard) -> bool) {
    let asked = send(&mut line.stream, order).and_then(|()| send_bytes(&mut line.stream, &payload));
    drop(payload);
    let mut heard = match asked.and_then(|()| set_deadline(line.stream.tcp(), None)) {
        Ok(()) => Heard::Asked,
        Err(error) => Heard::Closed(words(&error)),
    };
    loop {
        let closed = matches!(heard, Heard::Closed(_));
        if !tell(heard) || closed {
            return;
        }
        heard = match receive::<Report>(&mut line, LARGE) {
            Ok(report) => Heard::Report(report),
            Err(error) => Heard::Closed(words(&error)),
        };
    }
}

/// The worker that most others say they cannot reach, of several the first that was named.
fn most_accused(problems: &[Problem]) -> Option<usize> {
    let accused = |p: &Problem| if let Problem::Accused(_, peer, _) = p { Some(*peer) } else { None };
    let all: Vec<usize> = problems.iter().filter_map(accused).collect();
    let most = all.iter().map(|peer| all.iter().filter(|other| *other == peer).count()).max()?;
    all.iter().copied().find(|peer| all.iter().filter(|other| *other == peer).count() == most)
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
