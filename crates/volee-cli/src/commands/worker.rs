//! `volee worker --listen ADDR`: does parts of other people's questions, for `--cluster`.

use std::io::Write as _;
use std::path::PathBuf;

use clap::Args;
use volee::worker::{Listener, Secret, job};
use volee::{usual_memory, work_shipped};

use crate::context::Context;
use crate::outcome::{Ended, Failure};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  volee worker --listen 127.0.0.1:7001                            on this machine only
  volee worker --listen 10.0.0.2:7001 --secret-file secret.txt    for those who know the secret
  volee check big.pml --cluster hosts.toml --secret-file secret.txt
                                          where hosts.toml says: workers = [\"10.0.0.2:7001\", \"10.0.0.3:7001\"]")]
pub struct Worker {
    /// The address to listen on; port 0 takes any free port and says which
    #[arg(long, value_name = "HOST:PORT", required_unless_present = "job", default_value = "127.0.0.1:7001")]
    listen: String,

    /// A file with the secret that all workers of a cluster share; without it only loopback is listened on
    #[arg(long, value_name = "FILE")]
    secret_file: Option<PathBuf>,

    /// How many jobs may run at once; further ones are refused. --memory bounds each of them
    #[arg(long, value_name = "N", default_value_t = 8)]
    max_jobs: usize,

    /// Do the job of the connection on standard input (used by the worker itself)
    #[arg(long, hide = true)]
    job: bool,
}

impl Worker {
    pub fn run(self, context: &Context) -> Ended {
        let secret = self.secret_file.as_deref().map(Secret::read).transpose();
        let secret = secret.map_err(|error| Failure::new(error.to_string()))?.unwrap_or_default();
        if self.job {
            let room = job::Room { usual: usual_memory(), most: context.budget().memory };
            job::run(&secret, room, work_shipped);
        }
        let listener =
            Listener::bind(&self.listen, secret).map_err(|error| Failure::new(error.to_string()))?;
        let listener = listener.with_most_jobs(self.max_jobs);
        let address = listener.address().map_err(|error| Failure::new(error.to_string()))?;
        let program = std::env::current_exe()
            .map_err(|error| Failure::new(format!("the program cannot find itself: {error}")))?;
        let mut out = std::io::stdout();
        // Whoever starts workers reads the address from here.
        let _ = writeln!(out, "listening on {address}").and_then(|()| out.flush());
        let memory = context.budget().memory;
        let command = || {
            let mut command = std::process::Command::new(&program);
            command.args(["worker", "--job"]);
            if let Some(memory) = memory {
                command.arg("--memory").arg(memory.to_string());
            }
            if let Some(file) = &self.secret_file {
                command.arg("--secret-file").arg(file);
            }
            command
        };
        let served = listener.serve(command, |line| eprintln!("{line}"));
        served.map_err(|error| Failure::new(error.to_string()))?;
        Err(Failure::new("the worker has stopped listening"))
    }
}
