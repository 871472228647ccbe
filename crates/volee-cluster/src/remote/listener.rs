//! `volee worker`: waits for coordinators, lets them in when they know the secret, and starts a process per job.
//!
//! The process takes the connection over as its standard input; this one has read nothing of what follows the handshake.

use std::net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};

use super::{ClusterError, Secret, answer};

/// Handshakes that may be under way at once; more strangers than this have to wait.
const MOST_GUESTS: usize = 32;

/// A worker that listens.
pub struct Listener {
    listener: TcpListener,
    secret: Secret,
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
        Ok(Listener { listener, secret })
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
        let guests = std::sync::atomic::AtomicUsize::new(0);
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
                if guests.load(std::sync::atomic::Ordering::Relaxed) >= MOST_GUESTS {
                    note(&format!("{from}: refused, too many connections at once"));
                    continue;
                }
                guests.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                let (command, note, guests) = (&command, &note, &guests);
                scope.spawn(move || {
                    match self.admit(stream, command()) {
                        Ok(how) => note(&format!("{from}: {how}")),
                        Err(why) => note(&format!("{from}: refused, {why}")),
                    }
                    guests.fetch_sub(1, std::sync::atomic::Ordering::Relaxed);
                });
            }
        })
    }

    /// Lets a coordinator in and runs its job to the end.
    fn admit(&self, mut stream: TcpStream, mut command: Command) -> Result<String, String> {
        super::watch_closely(&stream);
        answer(&mut stream, &self.secret, "worker", "coordinator")?;
        super::set_deadline(&stream, None).map_err(|error| super::words(&error))?;
        command.stdin(Stdio::from(OwnedFd::from(stream))).stdout(Stdio::null());
        let mut child = command.spawn().map_err(|error| format!("cannot start a process: {error}"))?;
        // The command holds the connection too; the process of the job alone must.
        drop(command);
        let status = child.wait().map_err(|error| error.to_string())?;
        Ok(format!("a job ended ({status})"))
    }
}
