//! Workers in a program of one's own: they listen on loopback, and each job that they take is a process of
//! the same program.

use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

pub use volee_cluster::remote::listener::Listener;
pub use volee_cluster::remote::{ClusterError, Secret, job};

use crate::ask::usual_memory;
use crate::engine::Cluster;
use crate::engines::workers::work_shipped;

/// What tells a process that it was started for a job.
const JOB: &str = "VOLEE_JOB";

/// Whether jobs are done where they are asked for.
static JOINED: AtomicBool = AtomicBool::new(false);

/// The first line of a program that uses [`Cluster::here`]: a process that was started for a job does it and
/// ends here.
pub fn do_jobs() {
    if std::env::var_os(JOB).is_some() {
        let room = job::Room { usual: usual_memory(), most: None };
        job::run(&Secret::default(), room, work_shipped);
    }
    JOINED.store(true, Ordering::Relaxed);
}

impl Cluster {
    /// A number of workers of this program, which listen on loopback as long as it lives.
    ///
    /// # Errors
    /// [`do_jobs`] was not called before, or there is no address to listen on.
    pub fn here(number: usize) -> Result<Self, ClusterError> {
        if !JOINED.load(Ordering::Relaxed) {
            return Err(ClusterError::Call("the program does not begin with `volee::do_jobs()`".into()));
        }
        let program = std::env::current_exe().map_err(|error| ClusterError::Call(error.to_string()))?;
        let mut workers = Vec::new();
        for _ in 0..number {
            let listener = Listener::bind("127.0.0.1:0", Secret::default())?;
            workers.push(listener.address()?.to_string());
            let program = program.clone();
            let command = move || {
                let mut command = Command::new(&program);
                command.env(JOB, "1");
                command
            };
            std::thread::spawn(move || listener.serve(command, |_| {}));
        }
        Ok(Cluster { workers, secret: Secret::default(), restarts: 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_does_no_jobs_has_no_workers() {
        assert!(Cluster::here(1).is_err_and(|why| why.to_string().contains("do_jobs")));
    }
}
