//! `volee worker`: waits for coordinators, lets them in when they know the secret, and starts a process per
//! job.
//!
//! The process takes the connection over as its standard input and makes keys of its own for it; this one has
//! read nothing of what follows its own words.

use std::net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use super::channel::{Channel, Ends, answer};
use super::{ClusterError, PATIENCE, Secret, Welcome, send};

/// Handshakes that may be under way at once; more strangers than this have to wait.
const MOST_GUESTS: usize = 32;

/// A worker that listens.
pub struct Listener {
    listener: TcpListener,
    secret: Secret,
    most_jobs: usize,
}

impl Listener {
    /// Listens on an address.
    ///
    /// # Errors
    /// The address cannot be used, or is open to the network while there is no secret.
    pub fn bind(address: &str, secret: Secret) -> Result<Self, ClusterError> {
        let complain = |why: String| ClusterError::Call(format!("cannot listen on {address}: {why}"));
        let addresses: Vec<SocketAddr> =
            address.to_socket_addrs().map_err(|error| complain(error.to_string()))?.collect();
        if !secret.is_given() && !addresses.iter().all(|a| a.ip().is_loopback()) {
            return Err(complain(
                "without a secret a worker listens on loopback only; give it a file with the secret that all share".into(),
            ));
        }
        let listener = TcpListener::bind(&addresses[..]).map_err(|error| complain(error.to_string()))?;
        Ok(Listener { listener, secret, most_jobs: usize::MAX })
    }

    /// The same with this many jobs at once at most; others are told to come again.
    #[must_use]
    pub fn with_most_jobs(self, most_jobs: usize) -> Self {
        Listener { most_jobs, ..self }
    }

    /// The address it listens on.
    ///
    /// # Errors
    /// The system does not tell.
    pub fn address(&self) -> Result<SocketAddr, ClusterError> {
        self.listener.local_addr().map_err(|error| ClusterError::Call(error.to_string()))
    }

    /// Serves for ever. `command` makes the process of a job, `note` hears what happens.
    ///
    /// # Errors
    /// The listening socket is broken.
    pub fn serve(
        &self,
        command: impl Fn() -> Command + Sync,
        note: impl Fn(&str) + Sync,
    ) -> Result<(), ClusterError> {
        let guests = AtomicUsize::new(0);
        let jobs = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            loop {
                let (stream, from) = match self.listener.accept() {
                    Ok(accepted) => accepted,
                    // One connection that failed says nothing about the next.
                    Err(_) => {
                        std::thread::sleep(std::time::Duration::from_millis(20));
                        continue;
                    }
                };
                if guests.load(Ordering::Relaxed) >= MOST_GUESTS {
                    note(&format!("{from}: refused, too many connections at once"));
                    continue;
                }
                guests.fetch_add(1, Ordering::Relaxed);
                let (command, note, guests, jobs) = (&command, &note, &guests, &jobs);
                scope.spawn(move || {
                    let admitted = self.admit(stream);
                    // A job is no guest: whoever has proved the secret keeps no stranger's place.
                    guests.fetch_sub(1, Ordering::Relaxed);
                    match admitted.and_then(|channel| self.run_job(channel, command(), jobs)) {
                        Ok(how) => note(&format!("{from}: {how}")),
                        Err(why) => note(&format!("{from}: refused, {why}")),
                    }
                });
            }
        })
    }

    /// Lets a coordinator in.
    fn admit(&self, stream: TcpStream) -> Result<Channel, String> {
        super::watch_closely(&stream);
        let ends = Ends { purpose: "job for a worker", role: "worker", patience: PATIENCE };
        Ok(answer(stream, &self.secret, ends)?.0)
    }

    /// Runs a job to its end, if there is room for it.
    fn run_job(&self, mut channel: Channel, command: Command, jobs: &AtomicUsize) -> Result<String, String> {
        let told = |error: std::io::Error| super::words(&error);
        let room = jobs.fetch_add(1, Ordering::Relaxed) < self.most_jobs;
        let ran = match room {
            true => {
                let accepted = send(&mut channel, &Welcome::Accepted).map_err(told);
                accepted.and_then(|()| Self::start(channel.into_tcp(), command))
            }
            false => {
                let why = "it has as many jobs as it takes".to_string();
                send(&mut channel, &Welcome::Refused(why.clone())).map_err(told).and(Err(why))
            }
        };
        jobs.fetch_sub(1, Ordering::Relaxed);
        ran
    }

    fn start(stream: TcpStream, mut command: Command) -> Result<String, String> {
        command.stdin(Stdio::from(OwnedFd::from(stream))).stdout(Stdio::null());
        let mut child = command.spawn().map_err(|error| format!("cannot start a process: {error}"))?;
        // The command holds the connection too; the process of the job alone must.
        drop(command);
        let status = child.wait().map_err(|error| error.to_string())?;
        Ok(format!("a job ended ({status})"))
    }
}
