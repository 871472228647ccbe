//! Workers in other processes, on this machine or on others.
//!
//! `volee worker` listens ([`listener`]). Whoever has a question connects to each worker ([`coordinator`]),
//! both prove that they know the secret, and the worker starts a process of its own for the job ([`job`])
//! that takes over the connection and makes keys of its own for it: whatever happens to a job, the worker
//! survives it. The processes of a job connect to each other, prove that they belong to it, and hand the
//! channels to timely. All that is said on any of these connections is encrypted and authenticated (the
//! module `channel`).
//!
//! This *control plane* beside timely's data plane is what makes faults harmless. Every process of a job
//! reports a few times a second; silence, a closed connection or a report of trouble ends the job everywhere,
//! with a message that names the worker. Nobody waits for ever: every connection, every handshake and every
//! silence has its deadline.

mod channel;
pub mod coordinator;
pub mod hosts;
pub mod job;
pub mod listener;
mod secret;
mod user;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use volee_system::part::PartError;

pub use self::secret::Secret;
use self::secret::Token;
use crate::drive::Account;

/// Both sides must be of this version.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// How long connecting may take, and all of a handshake.
pub const PATIENCE: Duration = Duration::from_secs(5);
/// How often each side says that it is there.
const PULSE: Duration = Duration::from_millis(200);
/// After this long without a word the other side is taken for dead: thirty pulses, so that a machine on which
/// many compete for the processor is not taken for one that hangs.
pub const SILENCE: Duration = Duration::from_secs(6);

/// The largest message that is not a model or evidence.
const SMALL: usize = 1 << 12;
/// The largest message of a friend: a model and its options, or evidence.
const LARGE: usize = 2 << 30;

/// What is wrong before a job has started: the call, a worker that is not there, a version, a secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ClusterError {
    /// The call makes no sense.
    #[error("{0}")]
    Call(String),
    /// A worker cannot be used.
    #[error("{who}: {message}")]
    Worker {
        /// Which worker.
        who: String,
        /// What is wrong with it.
        message: String,
    },
}

/// What a worker says to a coordinator that has proved the secret, before a process takes over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
enum Welcome {
    Accepted,
    Refused(String),
}

/// What a process of a job is to do. Behind it come the bytes of the question, in words that only the caller
/// understands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Order {
    session: Token,
    me: u16,
    peers: u16,
    memory: Option<u64>,
    milliseconds: Option<u64>,
    /// What it knows is kept: limits are told, and the coordinator ends the job.
    keeps: bool,
    /// It goes on from what it asks the coordinator for.
    resumes: bool,
    /// The number of the pause that is wanted at once, or 0.
    pause: u32,
}

/// From the coordinator to the process of a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
enum Command {
    /// Where the others are.
    Peers(Vec<String>),
    /// The coordinator is still there.
    Pulse,
    /// All are to pause and to hand out what they have, for the time of this number.
    Pause(u32),
    /// A piece of what it goes on from.
    Piece(Vec<u8>),
    /// That was the last of them.
    Whole,
}

/// From the process of a job to the coordinator.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Report {
    /// It listens for the others on this port.
    Ready(u16),
    /// It is still there.
    Pulse(Account),
    /// It is done.
    Done(Vec<u8>),
    /// It cannot go on.
    Stopped(Trouble),
    /// The connection to this other worker is lost.
    Lost(u16, String),
    /// It failed.
    Panicked(String),
    /// It can take this many more pieces of what it goes on from.
    Takes(u32),
    /// A piece of what it has.
    Piece(Vec<u8>),
    /// That was all, for the pause of this number.
    Whole(u32),
    /// What it does now is not kept: there is nothing for the pause of this number.
    Nothing(u32),
    /// It has reached a limit, and waits to be kept.
    Full(Trouble),
}

/// A [`PartError`] that travels.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
enum Trouble {
    Limit(String),
    Memory(u64, String),
    Time(u64),
    Meaning(String),
    Defect(String),
}

impl From<PartError> for Trouble {
    fn from(error: PartError) -> Self {
        use volee_system::Limit;
        match error {
            PartError::Limit(Limit::Memory { budget, needed }) => Trouble::Memory(budget, needed),
            PartError::Limit(Limit::Time { milliseconds }) => Trouble::Time(milliseconds),
            PartError::Limit(other) => Trouble::Limit(other.to_string()),
            PartError::Trouble(message) => Trouble::Meaning(message),
            PartError::Defect(message) => Trouble::Defect(message),
        }
    }
}

impl From<Trouble> for PartError {
    fn from(trouble: Trouble) -> Self {
        use volee_system::Limit;
        match trouble {
            Trouble::Memory(budget, needed) => PartError::Limit(Limit::Memory { budget, needed }),
            Trouble::Time(milliseconds) => PartError::Limit(Limit::Time { milliseconds }),
            Trouble::Limit(message) => PartError::Limit(Limit::Other { message }),
            Trouble::Meaning(message) => PartError::Trouble(message),
            Trouble::Defect(message) => PartError::Defect(message),
        }
    }
}

/// Writes a message behind its length.
fn send<T: Serialize>(stream: &mut impl Write, message: &T) -> std::io::Result<()> {
    send_bytes(stream, &postcard::to_stdvec(message).map_err(std::io::Error::other)?)
}

/// Writes bytes behind their length.
fn send_bytes(stream: &mut impl Write, bytes: &[u8]) -> std::io::Result<()> {
    let length = u32::try_from(bytes.len()).map_err(std::io::Error::other)?.to_le_bytes();
    if bytes.len() <= SMALL {
        stream.write_all(&[&length, bytes].concat())?;
    } else {
        stream.write_all(&length)?;
        stream.write_all(bytes)?;
    }
    stream.flush()
}

/// Reads a message of at most `most` bytes. Reads no byte beyond it.
fn receive<T: DeserializeOwned>(stream: &mut impl Read, most: usize) -> std::io::Result<T> {
    let bytes = receive_bytes(stream, most)?;
    postcard::from_bytes(&bytes).map_err(|_| std::io::Error::other("a message makes no sense"))
}

/// Reads at most `most` bytes behind their length.
fn receive_bytes(stream: &mut impl Read, most: usize) -> std::io::Result<Vec<u8>> {
    let mut length = [0; 4];
    stream.read_exact(&mut length)?;
    let length = u32::from_le_bytes(length) as usize;
    if length > most {
        return Err(std::io::Error::other("a message is longer than any that volee sends"));
    }
    let mut bytes = Vec::new();
    stream.take(length as u64).read_to_end(&mut bytes)?;
    if bytes.len() < length {
        return Err(std::io::ErrorKind::UnexpectedEof.into());
    }
    Ok(bytes)
}

/// Reads bytes as every message that travels, for those who try what happens with bytes that are none: how
/// many were understood.
pub fn understands(mut bytes: &[u8]) -> usize {
    let mut understood = 0;
    while let Ok(message) = receive_bytes(&mut bytes, SMALL) {
        understood += usize::from(postcard::from_bytes::<Welcome>(&message).is_ok());
        understood += usize::from(postcard::from_bytes::<Order>(&message).is_ok());
        understood += usize::from(postcard::from_bytes::<Command>(&message).is_ok());
        understood += usize::from(postcard::from_bytes::<Report>(&message).is_ok());
    }
    understood
}

/// An error of a connection, in words.
fn words(error: &std::io::Error) -> String {
    use std::io::ErrorKind::{ConnectionRefused, ConnectionReset, TimedOut, UnexpectedEof, WouldBlock};
    match error.kind() {
        ConnectionRefused => "nobody listens there".into(),
        ConnectionReset | UnexpectedEof => "the connection was closed".into(),
        TimedOut | WouldBlock => "no answer in time".into(),
        _ => error.to_string(),
    }
}

fn set_deadline(stream: &TcpStream, deadline: Option<Duration>) -> std::io::Result<()> {
    stream.set_read_timeout(deadline)?;
    stream.set_write_timeout(deadline)
}

/// Makes a connection fail within seconds when the other side is gone without a word.
fn watch_closely(stream: &TcpStream) {
    let socket = socket2::SockRef::from(stream);
    let keepalive =
        socket2::TcpKeepalive::new().with_time(Duration::from_secs(2)).with_interval(Duration::from_secs(1));
    // A system that cannot do this notices later; the control plane notices in any case.
    let _ = socket.set_tcp_keepalive(&keepalive);
    let _ = socket.set_tcp_user_timeout(Some(SILENCE));
    let _ = stream.set_nodelay(true);
}
