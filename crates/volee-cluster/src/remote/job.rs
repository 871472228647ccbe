//! The process of one job on one worker: connects to the others, runs its part, reports to the coordinator.
//!
//! It may end at any time without harm to anybody: it does so when the coordinator is gone or silent, when
//! its parent is gone, when a connection to another worker breaks, and when it panics; each time it says why,
//! if anybody listens.
//!
//! A process that is done does not end by itself. Knowing that all is over comes from a message, and what
//! this process has told the others may still wait for timely's network threads when the result is ready
//! here: a process that ended then would take the last words with it, and the others would report it as lost.
//! So it waits until the coordinator, which has all results then, closes the connection.

use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use timely::WorkerConfig;
use timely::communication::Hooks;
use timely::communication::allocator::zero_copy::initialize::initialize_networking_from_sockets;
use timely::communication::allocator::{Allocator, ProcessBuilder};
use timely::worker::Worker;
use volee_system::part::PartError;
use volee_system::{Budget, Meter};

use super::channel::{Channel, Ends, answer, greet};
use super::{
    Command, LARGE, Order, PATIENCE, PULSE, Report, SILENCE, SMALL, Secret, receive, receive_bytes, send,
    set_deadline, watch_closely, words,
};
use crate::drive::{Account, Driver, Handed, Overseer, Stop};
use crate::threads::{check, overweight};

/// The code with which a job's process ends before its result is told.
const GONE: i32 = 3;
/// How long a process that cannot go on waits for the coordinator to have read why, and to close the
/// connection. Its other connections stay open meanwhile, so that nobody takes it for lost.
const LINGER: Duration = Duration::from_secs(3);

/// Pieces of what a process goes on from that may be on their way.
const AHEAD: u32 = 8;

/// What the connection of a coordinator with the process of a job is for.
pub(super) const JOB: &str = "a job";
/// What the connections between the processes of a job are for.
const PEERS: &str = "parts of a job";

/// The memory that a job may use on this machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct Room {
    /// When nobody says how much.
    pub usual: Option<u64>,
    /// Whatever the coordinator says.
    pub most: Option<u64>,
}

impl Room {
    fn of(self, asked: Option<u64>) -> Option<u64> {
        match (asked, self.most) {
            (Some(asked), Some(most)) => Some(asked.min(most)),
            (asked, most) => asked.or(most).or(self.usual),
        }
    }
}

/// The way to the coordinator, for all threads of the process.
#[derive(Clone)]
struct Wire(Arc<Mutex<Line>>);

struct Line {
    stream: Channel,
    /// The result is told; whatever breaks now, breaks because the job is over.
    done: bool,
}

impl Wire {
    fn new(stream: Channel) -> Self {
        Wire(Arc::new(Mutex::new(Line { stream, done: false })))
    }

    fn line(&self) -> MutexGuard<'_, Line> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends a report; a coordinator that is gone ends the process.
    fn tell(&self, report: &Report) {
        let mut line = self.line();
        if send(&mut line.stream, report).is_err() {
            std::process::exit(line.code());
        }
    }

    /// Sends the result and waits for the end of the job.
    fn finish(&self, bytes: Vec<u8>) -> ! {
        let mut line = self.line();
        if send(&mut line.stream, &Report::Done(bytes)).is_err() {
            std::process::exit(GONE);
        }
        line.done = true;
        drop(line);
        loop {
            std::thread::park();
        }
    }

    /// Says why this process cannot go on, and ends it.
    fn end(&self, report: &Report) -> ! {
        let mut line = self.line();
        if line.done {
            std::process::exit(0);
        }
        if send(&mut line.stream, report).is_ok() {
            let _ = line.stream.tcp().shutdown(Shutdown::Write);
            std::thread::sleep(LINGER);
        }
        std::process::exit(GONE);
    }
}

impl Line {
    fn code(&self) -> i32 {
        if self.done { 0 } else { GONE }
    }
}

/// Watches the part of this process.
struct Watchman {
    meter: Meter,
    memory: Option<u64>,
    account: Arc<Mutex<Account>>,
    wire: Wire,
    keeps: bool,
    resumes: bool,
    is_full: bool,
    /// The number of the last pause that is wanted.
    pause: Arc<AtomicU32>,
    /// What this process goes on from; nothing after the last piece.
    pieces: Receiver<Option<Vec<u8>>>,
    has_asked: bool,
}

impl Overseer for Watchman {
    fn look(&mut self, account: &Account) -> Result<(), Stop> {
        *self.account.lock().unwrap_or_else(PoisonError::into_inner) = *account;
        if !self.keeps {
            return check(&self.meter, self.memory, account);
        }
        if let Some(limit) = overweight(self.memory, account).filter(|_| !self.is_full) {
            self.is_full = true;
            self.wire.tell(&Report::Full(PartError::from(limit).into()));
        }
        Ok(())
    }

    fn wanted_pause(&self) -> u32 {
        self.pause.load(Ordering::Acquire)
    }

    fn hand_out(&mut self, handed: Handed) -> Result<(), Stop> {
        self.wire.tell(&match handed {
            Handed::Piece(piece) => Report::Piece(piece),
            Handed::Whole(pause) => Report::Whole(pause),
            Handed::Nothing(pause) => Report::Nothing(pause),
        });
        Ok(())
    }

    fn resumes(&self) -> bool {
        self.resumes
    }

    fn next_piece(&mut self, _: &Account) -> Result<Option<Vec<u8>>, Stop> {
        // So that the next ones are on their way while one is taken.
        let takes = if std::mem::replace(&mut self.has_asked, true) { 1 } else { AHEAD };
        self.wire.tell(&Report::Takes(takes));
        self.pieces.recv().map_err(|_| Stop::Elsewhere)
    }
}

/// Runs the job that the connection on standard input asks for, and ends the process. `work` does this
/// worker's part of it, given the payload, and makes bytes of its result.
pub fn run(
    secret: &Secret,
    room: Room,
    work: impl FnOnce(&mut Driver<'_>, &[u8]) -> Result<Vec<u8>, Stop>,
) -> ! {
    let parent = std::os::unix::process::parent_id();
    let ends = Ends { purpose: JOB, role: "job", patience: PATIENCE };
    let greeted = connection().and_then(|stream| answer(stream, secret, ends).ok());
    let Some((stream, _)) = greeted else { std::process::exit(GONE) };
    let Ok(clone) = stream.handle() else { std::process::exit(GONE) };
    let wire = Wire::new(clone);
    report_panics(wire.clone());
    let mut stream = stream;
    let Ok(mut order) = receive::<Order>(&mut stream, SMALL) else { std::process::exit(GONE) };
    let Ok(payload) = receive_bytes(&mut stream, LARGE) else { std::process::exit(GONE) };
    order.memory = room.of(order.memory);
    let account = Arc::new(Mutex::new(Account::default()));
    let beat = Arc::clone(&account);
    let pulse = wire.clone();
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(PULSE);
            if std::os::unix::process::parent_id() != parent {
                std::process::exit(GONE);
            }
            pulse.tell(&Report::Pulse(*beat.lock().unwrap_or_else(PoisonError::into_inner)));
        }
    });
    let work = |driver: &mut Driver<'_>| work(driver, &payload);
    let result = serve(&wire, stream, secret, &order, Arc::clone(&account), work);
    match result {
        Ok(bytes) => wire.finish(bytes),
        Err(Stop::Part(error)) => wire.end(&Report::Stopped(error.into())),
        Err(Stop::Elsewhere) => std::process::exit(GONE),
    }
}

/// The connection that the listener has handed over.
fn connection() -> Option<TcpStream> {
    use std::os::fd::AsFd;
    let owned = std::io::stdin().as_fd().try_clone_to_owned().ok()?;
    let stream = TcpStream::from(owned);
    stream.peer_addr().ok()?;
    Some(stream)
}

/// A panic of any thread ends the process and says so; one of timely's network threads names the worker it
/// was for.
fn report_panics(wire: Wire) {
    std::panic::set_hook(Box::new(move |info| {
        let message = info.payload_as_str().unwrap_or("without a message").to_string();
        let thread = std::thread::current();
        let name = thread.name().unwrap_or_default();
        let peer = name.strip_prefix("timely:recv-").or_else(|| name.strip_prefix("timely:send-"));
        let report = match peer.and_then(|number| number.parse().ok()) {
            Some(peer) => Report::Lost(peer, message.replace("timely communication error: ", "")),
            None => Report::Panicked(message),
        };
        wire.end(&report);
    }));
}

fn serve(
    wire: &Wire,
    mut control: Channel,
    secret: &Secret,
    order: &Order,
    account: Arc<Mutex<Account>>,
    work: impl FnOnce(&mut Driver<'_>) -> Result<Vec<u8>, Stop>,
) -> Result<Vec<u8>, Stop> {
    let session = secret.of_session(&order.session);
    let here = control.tcp().local_addr().map_err(|error| trouble(&error))?.ip();
    let listener = TcpListener::bind(SocketAddr::new(here, 0)).map_err(|error| trouble(&error))?;
    let port = listener.local_addr().map_err(|error| trouble(&error))?.port();
    wire.tell(&Report::Ready(port));
    let pause = Arc::new(AtomicU32::new(order.pause));
    let peers = peers(&mut control, usize::from(order.peers), &pause)?;
    let (line, wanted, (sender, pieces)) = (wire.clone(), Arc::clone(&pause), channel());
    std::thread::spawn(move || listen(control, &line, &wanted, &sender));
    let sockets = connect_all(&listener, &peers, usize::from(order.me), &session)?;
    drop(listener);
    let builders = ProcessBuilder::new_typed_vector(1, Hooks::default().refill, None);
    let joined =
        initialize_networking_from_sockets(builders, sockets, usize::from(order.me), 1, Hooks::default());
    let (mut builders, guard) = joined.map_err(|error| trouble(&error))?;
    // The guard waits for the network threads, which may wait for workers that are gone; the process just
    // ends.
    std::mem::forget(guard);
    let builder = builders.pop().ok_or(PartError::Defect("timely made no worker".into()))?;
    let mut worker =
        Worker::new(WorkerConfig::default(), Allocator::Tcp(builder.build()), Some(Instant::now()));
    let time = order.milliseconds.map(Duration::from_millis);
    let meter = Meter::start(Budget { memory: order.memory, time, ..Budget::default() });
    let mut watchman = Watchman {
        meter,
        memory: order.memory,
        account,
        wire: wire.clone(),
        keeps: order.keeps,
        resumes: order.resumes,
        is_full: false,
        pause,
        pieces,
        has_asked: false,
    };
    let mut driver = Driver::new(&mut worker, &mut watchman);
    let result = work(&mut driver)?;
    driver.finish()?;
    Ok(result)
}

fn trouble(error: &std::io::Error) -> PartError {
    PartError::Trouble(words(error))
}

/// Waits for the coordinator to tell where the others are.
fn peers(control: &mut Channel, count: usize, pause: &AtomicU32) -> Result<Vec<String>, Stop> {
    set_deadline(control.tcp(), Some(SILENCE)).map_err(|error| trouble(&error))?;
    loop {
        match receive::<Command>(control, LARGE) {
            Ok(Command::Peers(peers)) if peers.len() == count => return Ok(peers),
            Ok(Command::Pause(number)) => pause.store(number, Ordering::Release),
            Ok(Command::Pulse) => {}
            Ok(_) | Err(_) => return Err(Stop::Elsewhere),
        }
    }
}

/// Listens to the coordinator; when it is gone or silent, so is this process.
fn listen(mut control: Channel, wire: &Wire, pause: &AtomicU32, pieces: &Sender<Option<Vec<u8>>>) {
    while let Ok(command) = receive::<Command>(&mut control, LARGE) {
        // Who does not want pieces any more is at its end.
        let _ = match command {
            Command::Pause(number) => {
                pause.store(number, Ordering::Release);
                Ok(())
            }
            Command::Piece(piece) => pieces.send(Some(piece)),
            Command::Whole => pieces.send(None),
            Command::Pulse | Command::Peers(_) => Ok(()),
        };
    }
    // Who sends something at this moment holds the line; it will find out by itself.
    std::process::exit(wire.0.try_lock().map_or(GONE, |line| line.code()));
}

/// Connects this process with all others of the job: with those before it by calling, with those after it by
/// waiting. Only who knows the session's secret gets in, or hears more than a random number.
fn connect_all(
    listener: &TcpListener,
    peers: &[String],
    me: usize,
    session: &Secret,
) -> Result<Vec<Option<Channel>>, Stop> {
    let mut sockets: Vec<Option<Channel>> = peers.iter().map(|_| None).collect();
    for (other, address) in peers.iter().enumerate().take(me) {
        let lost = |why: String| {
            PartError::Trouble(format!("cannot reach worker {} at {address}: {why}", other + 1))
        };
        let address: SocketAddr = address.parse().map_err(|_| lost("this is no address".into()))?;
        let stream = TcpStream::connect_timeout(&address, PATIENCE).map_err(|error| lost(words(&error)))?;
        watch_closely(&stream);
        let ends = Ends { purpose: PEERS, role: &me.to_string(), patience: PATIENCE };
        let (channel, who) = greet(stream, session, ends).map_err(lost)?;
        if who != other.to_string() {
            return Err(lost(format!("it says that it is part {who}")).into());
        }
        sockets[other] = Some(channel);
    }
    let deadline = Instant::now() + 2 * PATIENCE;
    listener.set_nonblocking(true).map_err(|error| trouble(&error))?;
    while let Some(missing) = sockets.iter().skip(me + 1).position(Option::is_none) {
        if Instant::now() > deadline {
            let message = format!("worker {} never connected", me + missing + 2);
            return Err(PartError::Trouble(message).into());
        }
        let Ok((stream, _)) = listener.accept() else {
            std::thread::sleep(Duration::from_millis(2));
            continue;
        };
        // A stranger is dropped; who belongs here tries once only, so a failure shows as one that never
        // connected.
        if let Some((other, channel)) = admit(stream, me, peers.len(), session)
            && sockets[other].is_none()
        {
            sockets[other] = Some(channel);
        }
    }
    Ok(sockets)
}

fn admit(stream: TcpStream, me: usize, peers: usize, session: &Secret) -> Option<(usize, Channel)> {
    stream.set_nonblocking(false).ok()?;
    watch_closely(&stream);
    let ends = Ends { purpose: PEERS, role: &me.to_string(), patience: PATIENCE };
    let (channel, who) = answer(stream, session, ends).ok()?;
    let other = who.parse().ok().filter(|other| (me + 1..peers).contains(other))?;
    Some((other, channel))
}

/// The address of a worker's process, given where its listener is and the port it told.
pub(super) fn address_of(control: &TcpStream, port: u16) -> std::io::Result<String> {
    let ip: IpAddr = control.peer_addr()?.ip();
    Ok(SocketAddr::new(ip, port).to_string())
}
