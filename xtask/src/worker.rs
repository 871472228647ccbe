//! Workers on this machine, for whoever measures or disturbs them.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// How long a worker may take to notice that its last job has ended.
const SETTLING: Duration = Duration::from_millis(700);

/// A worker that listens; it ends with this value, and its jobs do.
pub struct Worker {
    /// Its process.
    pub child: Child,
    /// Where it listens.
    pub address: String,
}

impl Worker {
    /// Starts one, on any free port of loopback.
    ///
    /// # Errors
    /// It does not start, or says nothing.
    pub fn start(binary: &Path) -> Result<Self, String> {
        let mut child = Command::new(binary)
            .args(["worker", "--listen", "127.0.0.1:0"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|e| e.to_string())?;
        let mut line = String::new();
        let out = child.stdout.take().ok_or("it has no output")?;
        BufReader::new(out).read_line(&mut line).map_err(|e| e.to_string())?;
        let address =
            line.trim().strip_prefix("listening on ").ok_or(format!("a worker said {line}"))?.to_string();
        Ok(Worker { child, address })
    }

    /// This many workers, and the host file that names them.
    ///
    /// # Errors
    /// One does not start, or the file cannot be written.
    pub fn several(binary: &Path, folder: &Path, count: usize) -> Result<(Vec<Self>, PathBuf), String> {
        let workers = (0..count).map(|_| Worker::start(binary)).collect::<Result<Vec<_>, _>>()?;
        let addresses: Vec<&str> = workers.iter().map(|worker| worker.address.as_str()).collect();
        let hosts = folder.join("hosts.toml");
        std::fs::write(&hosts, format!("workers = {addresses:?}\n")).map_err(|e| e.to_string())?;
        Ok((workers, hosts))
    }

    /// The processes of its jobs: threads of the worker start them, and each thread has its own list.
    pub fn jobs(&self) -> Vec<String> {
        let tasks =
            std::fs::read_dir(format!("/proc/{}/task", self.child.id())).into_iter().flatten().flatten();
        let lists = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
        lists.flat_map(|list| list.split_whitespace().map(String::from).collect::<Vec<_>>()).collect()
    }

    /// Ends it, and tells the CPU time, in seconds, of the jobs it has waited for.
    ///
    /// # Errors
    /// The system does not tell.
    pub fn end(self) -> Result<f64, String> {
        std::thread::sleep(SETTLING);
        let stat =
            std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).map_err(|e| e.to_string())?;
        // Fields 16 and 17: CPU time of children in user and system mode, in hundredths of a second.
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        let ticks = |at: usize| fields.get(at).and_then(|t| t.parse::<f64>().ok()).unwrap_or(0.0);
        Ok((ticks(13) + ticks(14)) / 100.0)
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.jobs().iter().for_each(|job| signal("-KILL", job));
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Sends a signal to a process, which may be gone already.
pub fn signal(kind: &str, process: &str) {
    let _ = Command::new("kill").args([kind, process]).stderr(Stdio::null()).status();
}
