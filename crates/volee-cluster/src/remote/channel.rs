//! A connection to somebody who has proved the secret: everything on it is encrypted and authenticated, in
//! both directions.
//!
//! Two libraries do the work. SPAKE2 (Abdalla and Pointcheval 2005; RFC 9382) makes a fresh strong key of the
//! shared secret: what travels is a blinded random point, so that a listener learns nothing, and who takes
//! part can try one secret for each connection, never many afterwards, however short the secret is. Noise
//! (Perrin, `NNpsk0`) then proves on both sides that the key is the same, and makes the keys of the
//! connection from it and from new Diffie-Hellman shares. What it is for is bound into both, so that no part
//! of one conversation fits into another.
//!
//! Nothing is said before the other side has proved itself: the version and the role of each side travel
//! inside Noise. A frame is its length (two bytes) and its ciphertext; its number, which both sides count, is
//! its nonce, so that a frame that is changed, repeated, left out or moved is noticed.

use std::io::{Error, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use snow::StatelessTransportState;
use spake2::{Ed25519Group, Identity, Password, Spake2};
use timely::communication::allocator::zero_copy::stream::Stream;

use super::secret::Secret;
use super::user::is_same_user;
use super::{VERSION, words};

const MAGIC: [u8; 8] = *b"volee\0\0\x02";
const PATTERN: &str = "Noise_NNpsk0_25519_ChaChaPoly_BLAKE2s";
/// A blinded point and the side it is of.
const SHARE: usize = 33;
/// The largest frame of Noise, and what it has of its own.
const LARGEST: usize = 65535;
const TAG: usize = 16;

const NO_SECRET: &str = "it does not know the secret (or we do not): both must be given the same file";
/// Whoever has another secret closes the connection, and so does a line that is cut.
const CLOSED: &str = "the connection was closed before it had answered: it does not know the secret (or we do not), or the line was cut";

/// One side of a connection. Clones are the same connection.
pub struct Channel {
    stream: TcpStream,
    keys: Arc<StatelessTransportState>,
    outgoing: Arc<Mutex<Outgoing>>,
    incoming: Arc<Mutex<Incoming>>,
}

struct Outgoing {
    sent: u64,
    frame: Vec<u8>,
}

struct Incoming {
    received: u64,
    frame: Vec<u8>,
    plain: Vec<u8>,
    /// What of `plain` is not read yet.
    unread: std::ops::Range<usize>,
}

/// What each side tells of itself, once it knows that the other knows the secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Hello {
    version: String,
    role: String,
}

/// Both ends of a connection, as one of them sees it.
#[derive(Debug, Clone, Copy)]
pub struct Ends<'a> {
    /// What the connection is for.
    pub purpose: &'a str,
    /// Who this side is.
    pub role: &'a str,
    /// How long all of the handshake may take.
    pub patience: Duration,
}

/// The side that has connected. Gives the channel and who the other is.
pub fn greet(stream: TcpStream, secret: &Secret, ends: Ends<'_>) -> Result<(Channel, String), String> {
    greet_as(VERSION, stream, secret, ends)
}

fn greet_as(
    version: &str,
    stream: TcpStream,
    secret: &Secret,
    ends: Ends<'_>,
) -> Result<(Channel, String), String> {
    check_user(&stream, secret)?;
    let mut line = Until::new(&stream, ends.patience);
    let (password, caller, called) = identities(secret, ends.purpose);
    let (exchange, share) = Spake2::<Ed25519Group>::start_a(&password, &caller, &called);
    line.write_all(&[&MAGIC[..], &share].concat()).map_err(|e| words(&e))?;
    let theirs = line.share()?;
    let key = exchange.finish(&theirs).map_err(|_| "it does not speak volee's language".to_string())?;
    let key = key_of(&key)?;
    let prologue = [&MAGIC[..], ends.purpose.as_bytes()].concat();
    let mut noise = builder(&key, &prologue)?.build_initiator().map_err(told)?;
    line.send(&mut noise, version, ends.role)?;
    // Who cannot read this closes the connection.
    let hello = match line.receive(&mut noise) {
        Err(Handshake::Line(error))
            if !matches!(error.kind(), ErrorKind::TimedOut | ErrorKind::WouldBlock) =>
        {
            return Err(CLOSED.into());
        }
        Err(Handshake::Line(error)) => return Err(words(&error)),
        Err(Handshake::Key) => return Err(NO_SECRET.into()),
        Ok(hello) => hello,
    };
    check_version(version, &hello)?;
    Ok((Channel::new(stream, noise)?, hello.role))
}

/// The side that was connected to. Gives the channel and who the other is.
pub fn answer(stream: TcpStream, secret: &Secret, ends: Ends<'_>) -> Result<(Channel, String), String> {
    check_user(&stream, secret)?;
    let mut line = Until::new(&stream, ends.patience);
    let theirs = line.share()?;
    let (password, caller, called) = identities(secret, ends.purpose);
    let (exchange, share) = Spake2::<Ed25519Group>::start_b(&password, &caller, &called);
    line.write_all(&[&MAGIC[..], &share].concat()).map_err(|e| words(&e))?;
    let key = exchange.finish(&theirs).map_err(|_| "it does not speak volee's language".to_string())?;
    let key = key_of(&key)?;
    let prologue = [&MAGIC[..], ends.purpose.as_bytes()].concat();
    let mut noise = builder(&key, &prologue)?.build_responder().map_err(told)?;
    let hello = match line.receive(&mut noise) {
        Err(Handshake::Line(error)) => return Err(words(&error)),
        Err(Handshake::Key) => return Err("wrong secret".into()),
        Ok(hello) => hello,
    };
    line.send(&mut noise, VERSION, ends.role)?;
    check_version(VERSION, &hello)?;
    Ok((Channel::new(stream, noise)?, hello.role))
}

fn identities(secret: &Secret, purpose: &str) -> (Password, Identity, Identity) {
    let end = |side: &str| Identity::new(format!("volee {side} {purpose}").as_bytes());
    (Password::new(secret.bytes()), end("caller"), end("called"))
}

fn key_of(key: &[u8]) -> Result<[u8; 32], String> {
    key.try_into().map_err(|_| "the key exchange gave no key of 32 bytes".to_string())
}

fn builder<'a>(key: &'a [u8; 32], prologue: &'a [u8]) -> Result<snow::Builder<'a>, String> {
    let pattern = PATTERN.parse().map_err(told)?;
    snow::Builder::new(pattern).psk(0, key).and_then(|b| b.prologue(prologue)).map_err(told)
}

fn told(error: snow::Error) -> String {
    error.to_string()
}

fn check_version(own: &str, hello: &Hello) -> Result<(), String> {
    match hello.version == own {
        true => Ok(()),
        false => Err(format!("it runs volee {}, and this is volee {own}", hello.version)),
    }
}

/// Without a secret who connects is let in because the machine and the user are the same, and for no other
/// reason.
fn check_user(stream: &TcpStream, secret: &Secret) -> Result<(), String> {
    if secret.is_given() || is_same_user(stream) {
        return Ok(());
    }
    Err("without a secret both sides must be the same user on the same machine".into())
}

/// What ends a handshake.
enum Handshake {
    Line(Error),
    /// The other's message is not made with our key.
    Key,
}

/// A connection on which everything must be over at a certain time, however slowly bytes come.
struct Until<'a> {
    stream: &'a TcpStream,
    end: Instant,
}

impl<'a> Until<'a> {
    fn new(stream: &'a TcpStream, patience: Duration) -> Self {
        Until { stream, end: Instant::now() + patience }
    }

    fn left(&self) -> std::io::Result<Option<Duration>> {
        let left = self.end.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(ErrorKind::TimedOut.into()) } else { Ok(Some(left)) }
    }

    /// The other's magic and share.
    fn share(&mut self) -> Result<[u8; SHARE], String> {
        let mut magic = MAGIC;
        self.read_exact(&mut magic).map_err(|e| words(&e))?;
        if magic != MAGIC {
            return Err("it does not speak volee's language".into());
        }
        let mut share = [0; SHARE];
        self.read_exact(&mut share).map_err(|e| words(&e))?;
        Ok(share)
    }

    fn send(&mut self, noise: &mut snow::HandshakeState, version: &str, role: &str) -> Result<(), String> {
        let hello = Hello { version: version.into(), role: role.into() };
        let hello = postcard::to_stdvec(&hello).map_err(|e| e.to_string())?;
        let mut frame = vec![0; 2 + LARGEST];
        let length = noise.write_message(&hello, &mut frame[2..]).map_err(told)?;
        frame.truncate(2 + length);
        frame[..2].copy_from_slice(&(length as u16).to_le_bytes());
        self.write_all(&frame).map_err(|e| words(&e))
    }

    fn receive(&mut self, noise: &mut snow::HandshakeState) -> Result<Hello, Handshake> {
        let mut length = [0; 2];
        self.read_exact(&mut length).map_err(Handshake::Line)?;
        let mut frame = vec![0; usize::from(u16::from_le_bytes(length))];
        self.read_exact(&mut frame).map_err(Handshake::Line)?;
        let mut hello = vec![0; frame.len()];
        let length = noise.read_message(&frame, &mut hello).map_err(|_| Handshake::Key)?;
        postcard::from_bytes(&hello[..length]).map_err(|_| Handshake::Key)
    }
}

impl Read for Until<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.stream.set_read_timeout(self.left()?)?;
        self.stream.read(buffer)
    }
}

impl Write for Until<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.stream.set_write_timeout(self.left()?)?;
        self.stream.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.stream.flush()
    }
}

impl Channel {
    /// What follows has no deadlines but those that are set.
    fn new(stream: TcpStream, noise: snow::HandshakeState) -> Result<Self, String> {
        super::set_deadline(&stream, None).map_err(|e| words(&e))?;
        let keys = noise.into_stateless_transport_mode().map_err(told)?;
        let outgoing = Outgoing { sent: 0, frame: vec![0; 2 + LARGEST] };
        let incoming =
            Incoming { received: 0, frame: vec![0; LARGEST], plain: vec![0; LARGEST], unread: 0..0 };
        Ok(Channel {
            stream,
            keys: Arc::new(keys),
            outgoing: Arc::new(Mutex::new(outgoing)),
            incoming: Arc::new(Mutex::new(incoming)),
        })
    }

    /// The connection below.
    pub fn tcp(&self) -> &TcpStream {
        &self.stream
    }

    /// Another handle to the same connection.
    pub fn handle(&self) -> std::io::Result<Self> {
        Ok(Channel {
            stream: self.stream.try_clone()?,
            keys: Arc::clone(&self.keys),
            outgoing: Arc::clone(&self.outgoing),
            incoming: Arc::clone(&self.incoming),
        })
    }

    /// The connection without its keys, for another process that makes its own.
    pub fn into_tcp(self) -> TcpStream {
        self.stream
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Incoming {
    /// Takes the next frame in; `false` at the end of the connection.
    fn fill(&mut self, mut stream: &TcpStream, keys: &StatelessTransportState) -> std::io::Result<bool> {
        let mut length = [0; 2];
        match stream.read(&mut length[..1])? {
            0 => return Ok(false),
            _ => stream.read_exact(&mut length[1..])?,
        }
        let frame = &mut self.frame[..usize::from(u16::from_le_bytes(length))];
        stream.read_exact(frame)?;
        let plain = keys.read_message(self.received, frame, &mut self.plain).map_err(|_| {
            Error::new(ErrorKind::InvalidData, "what came is not what was sent: somebody has changed it")
        })?;
        self.received += 1;
        self.unread = 0..plain;
        Ok(true)
    }
}

impl Read for Channel {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let mut incoming = lock(&self.incoming);
        while incoming.unread.is_empty() {
            if !incoming.fill(&self.stream, &self.keys)? {
                return Ok(0);
            }
        }
        let length = buffer.len().min(incoming.unread.len());
        let start = incoming.unread.start;
        buffer[..length].copy_from_slice(&incoming.plain[start..start + length]);
        incoming.unread.start += length;
        Ok(length)
    }
}

impl Write for Channel {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if bytes.is_empty() {
            return Ok(0);
        }
        let mut outgoing = lock(&self.outgoing);
        let Outgoing { sent, frame } = &mut *outgoing;
        let taken = bytes.len().min(LARGEST - TAG);
        let length = self
            .keys
            .write_message(*sent, &bytes[..taken], &mut frame[2..])
            .map_err(|e| Error::other(told(e)))?;
        *sent += 1;
        frame[..2].copy_from_slice(&(length as u16).to_le_bytes());
        self.stream.write_all(&frame[..2 + length])?;
        Ok(taken)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.stream.flush()
    }
}

impl Stream for Channel {
    fn try_clone(&self) -> std::io::Result<Self> {
        self.handle()
    }

    fn set_nonblocking(&self, nonblocking: bool) -> std::io::Result<()> {
        self.stream.set_nonblocking(nonblocking)
    }

    fn shutdown(&self, how: Shutdown) -> std::io::Result<()> {
        self.stream.shutdown(how)
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    const HERE: Ends<'_> = Ends { purpose: "a test", role: "one", patience: Duration::from_secs(10) };

    type Greeted = Result<(Channel, String), String>;

    /// Both ends, after `greeting` on one of them.
    fn pair(
        ours: &str,
        theirs: &str,
        greeting: impl FnOnce(TcpStream, &Secret) -> Greeted + Send + 'static,
    ) -> (Greeted, Greeted) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
        let address = listener.local_addr().expect("it has one");
        let (ours, theirs) = (Secret::new(ours.as_bytes()), Secret::new(theirs.as_bytes()));
        let caller =
            std::thread::spawn(move || greeting(TcpStream::connect(address).expect("loopback"), &ours));
        let (stream, _) = listener.accept().expect("it comes");
        let called = answer(stream, &theirs, Ends { role: "two", ..HERE });
        (caller.join().expect("it ends"), called)
    }

    #[test]
    fn what_is_sent_arrives_in_both_directions_and_nobody_else_can_read_it() {
        let (caller, called) = pair("the same secret", "the same secret", |s, secret| greet(s, secret, HERE));
        let ((mut caller, two), (mut called, one)) = (caller.expect("let in"), called.expect("let in"));
        assert_eq!((one.as_str(), two.as_str()), ("one", "two"));
        let long: Vec<u8> = (0..200_000_u32).map(|n| (n % 251) as u8).collect();
        let mut back = called.handle().expect("a handle");
        let text = long.clone();
        let sender = std::thread::spawn(move || back.write_all(&text));
        let mut came = vec![0; long.len()];
        caller.read_exact(&mut came).expect("all of it");
        sender.join().expect("it ends").expect("it is sent");
        assert!(came == long);
        // Somebody who writes on the line without the keys is noticed.
        caller.tcp().write_all(&[20, 0]).and_then(|()| caller.tcp().write_all(&[7; 20])).expect("the line");
        let changed = called.read(&mut [0; 8]).expect_err("it is no frame");
        assert_eq!(changed.kind(), ErrorKind::InvalidData);
    }

    #[test]
    fn who_does_not_know_the_secret_learns_nothing_but_that() {
        let (caller, called) = pair("one secret", "another one", |s, secret| greet(s, secret, HERE));
        assert!(caller.map(|_| ()).expect_err("refused").contains("does not know the secret"));
        assert_eq!(called.map(|_| ()).expect_err("refused"), "wrong secret");
    }

    #[test]
    fn a_conversation_for_one_purpose_is_none_for_another() {
        let other = Ends { purpose: "another test", ..HERE };
        let (caller, called) =
            pair("the same secret", "the same secret", move |s, secret| greet(s, secret, other));
        assert!(caller.is_err() && called.is_err());
    }

    #[test]
    fn another_version_is_told_to_both() {
        let (caller, called) =
            pair("the same secret", "the same secret", |s, secret| greet_as("9.9.9", s, secret, HERE));
        assert!(caller.map(|_| ()).expect_err("refused").contains("it runs volee"));
        assert!(called.map(|_| ()).expect_err("refused").contains("it runs volee 9.9.9"));
    }

    #[test]
    fn who_says_a_byte_now_and_then_does_not_keep_the_door_open() {
        let slow = Ends { patience: Duration::from_millis(300), ..HERE };
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
        let address = listener.local_addr().expect("it has one");
        let drip = std::thread::spawn(move || {
            let mut stream = TcpStream::connect(address).expect("loopback");
            while stream.write_all(b"v").is_ok() {
                std::thread::sleep(Duration::from_millis(100));
            }
        });
        let (stream, _) = listener.accept().expect("it comes");
        assert!(answer(stream, &Secret::new(b"the same secret"), slow).is_err());
        drip.join().expect("it is dropped");
    }
}
