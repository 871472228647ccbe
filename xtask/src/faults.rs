//! `cargo xtask faults [COUNT [SEED [BINARY]]]`: runs whose answer is known, disturbed at random moments.
//!
//! Searches and resolutions that are kept in a file, searches by threads, and searches by two workers over loopback, through
//! a relay whose links can be cut. Processes are killed, stopped for a while, interrupted; jobs of workers
//! are, too. Afterwards: the verdict is the known one or an honest unknown, a kept search goes on to the
//! known one, nobody waits longer than ten seconds, and no process is left. A small number of rounds is a
//! test.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use volee_testkit::Random;

use crate::worker::{Worker, signal};

/// Counters side by side; with BAD, the last state is an error.
const MODEL: &str = "\
byte a, b, c, d;
active proctype A() { do :: a < TOP -> a++ :: a == TOP -> break od }
active proctype B() { do :: b < TOP -> b++ :: b == TOP -> break od }
active proctype C() { do :: c < TOP -> c++ :: c == TOP -> break od }
active proctype D() { do :: d < TOP -> d++ :: d == TOP -> break od; assert(BAD == 0 || a + b + c + d < 4 * TOP) }
";

/// Nobody may take longer to end.
const PATIENCE: Duration = Duration::from_secs(10);

/// What is disturbed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Kept,
    KeptBreadthFirst,
    KeptThreads,
    KeptLassos,
    KeptLassosOfThreads,
    KeptEquations,
    KeptEquationsOfThreads,
    Threads,
    Cluster,
    KeptCluster,
    KeptLassosOfCluster,
    KeptEquationsOfCluster,
}

impl Kind {
    fn has_equations(self) -> bool {
        matches!(self, Kind::KeptEquations | Kind::KeptEquationsOfThreads | Kind::KeptEquationsOfCluster)
    }

    fn has_workers(self) -> bool {
        matches!(
            self,
            Kind::Cluster | Kind::KeptCluster | Kind::KeptLassosOfCluster | Kind::KeptEquationsOfCluster
        )
    }
}

/// How.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    Kill,
    StopAndGo,
    Interrupt,
    Terminate,
    KillJob,
    StopAndGoJob,
    CutLinks,
}

impl Fault {
    fn ends(self) -> bool {
        matches!(self, Fault::Kill | Fault::Interrupt | Fault::Terminate)
    }
}

/// How the disturbed runs ended.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Tally {
    /// Rounds.
    pub rounds: u32,
    /// The known verdict, although disturbed.
    pub right: u32,
    /// An honest unknown.
    pub unknown: u32,
    /// A worker that was cut off before it was known, and is named.
    pub strangers: u32,
    /// Killed, with nothing said.
    pub killed: u32,
    /// Gone on with, to the known verdict.
    pub resumed: u32,
}

/// A relay between workers, whose links can be cut.
struct Relay {
    address: String,
    links: Arc<Mutex<Vec<TcpStream>>>,
}

impl Relay {
    fn start(to: String) -> std::io::Result<Relay> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?.to_string();
        let links: Arc<Mutex<Vec<TcpStream>>> = Arc::default();
        let kept = Arc::clone(&links);
        // It ends with the process.
        std::thread::spawn(move || {
            for from in listener.incoming().flatten() {
                let Ok(onward) = TcpStream::connect(&to) else { continue };
                if let (Ok(a), Ok(b)) = (from.try_clone(), onward.try_clone()) {
                    kept.lock().expect("nobody panics").extend([a, b]);
                }
                if let (Ok(a), Ok(b)) = (from.try_clone(), onward.try_clone()) {
                    std::thread::spawn(move || pass(a, b));
                }
                std::thread::spawn(move || pass(onward, from));
            }
        });
        Ok(Relay { address, links })
    }

    fn cut(&self) {
        for link in self.links.lock().expect("nobody panics").drain(..) {
            let _ = link.shutdown(Shutdown::Both);
        }
    }
}

fn pass(mut from: TcpStream, mut to: TcpStream) {
    let mut piece = [0; 1 << 14];
    while let Ok(length @ 1..) = from.read(&mut piece) {
        if to.write_all(&piece[..length]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Write);
}

/// Where everything happens.
struct Stage {
    binary: PathBuf,
    folder: PathBuf,
    workers: Vec<Worker>,
    relay: Relay,
    random: Random,
    tally: Tally,
}

impl Stage {
    fn start(&self, words: &[String]) -> Result<Child, String> {
        let answer = File::create(self.folder.join("answer.json")).map_err(|e| e.to_string())?;
        let mut command = Command::new(&self.binary);
        command.args(words).current_dir(&self.folder).process_group(0);
        command.stdout(answer).stderr(Stdio::null()).spawn().map_err(|e| e.to_string())
    }

    /// The exit code; `None` for a process that a signal has ended.
    fn end(&self, child: &mut Child, what: &str) -> Result<Option<i32>, String> {
        let start = Instant::now();
        loop {
            if let Some(status) = child.try_wait().map_err(|e| e.to_string())? {
                return Ok(status.code());
            }
            if start.elapsed() > PATIENCE {
                signal("-KILL", &child.id().to_string());
                let _ = child.wait();
                return Err(format!("{what}: it did not end in {} s", PATIENCE.as_secs()));
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    fn nap(&mut self, most: Duration) {
        let most = most.as_micros().max(1) as usize;
        std::thread::sleep(Duration::from_micros(self.random.below(most) as u64));
    }

    /// Disturbs a process, and tells its exit code.
    fn disturb(&mut self, child: &mut Child, fault: Fault, usual: Duration) -> Result<Option<i32>, String> {
        self.nap(usual);
        let id = child.id().to_string();
        let jobs: Vec<String> = self.workers[1].jobs();
        match fault {
            Fault::Kill => signal("-KILL", &id),
            Fault::Interrupt => signal("-INT", &id),
            Fault::Terminate => signal("-TERM", &id),
            Fault::KillJob => jobs.iter().for_each(|job| signal("-KILL", job)),
            Fault::CutLinks => self.relay.cut(),
            Fault::StopAndGo | Fault::StopAndGoJob => {
                let all = if fault == Fault::StopAndGo { vec![id] } else { jobs };
                all.iter().for_each(|process| signal("-STOP", process));
                self.nap(Duration::from_millis(300));
                all.iter().for_each(|process| signal("-CONT", process));
            }
        }
        self.end(child, &format!("{fault:?}"))
    }

    /// Whether nothing of a call is left: nobody in its group, no job of a worker.
    fn nobody_is_left(&self, group: u32) -> Result<(), String> {
        let start = Instant::now();
        loop {
            let group =
                Command::new("kill").args(["-0", "--", &format!("-{group}")]).stderr(Stdio::null()).status();
            let alone = !group.is_ok_and(|status| status.success());
            if alone && self.workers.iter().all(|worker| worker.jobs().is_empty()) {
                return Ok(());
            }
            if start.elapsed() > PATIENCE {
                return Err(format!("processes are left after {} s", PATIENCE.as_secs()));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn words(&self, kind: Kind, bad: bool) -> Vec<String> {
        let mut line = format!("check m.pml -D BAD={} --format json", u8::from(bad));
        if !kind.has_equations() {
            line.push_str(" --reduction none");
        }
        line.push_str(match kind {
            Kind::Kept => " -D TOP=11 --checkpoint kept.ck --checkpoint-every 20ms",
            Kind::KeptBreadthFirst => " -D TOP=9 --search bfs --checkpoint kept.ck --checkpoint-every 20ms",
            Kind::KeptThreads => " -D TOP=20 --workers 2 --checkpoint kept.ck --checkpoint-every 20ms",
            Kind::KeptLassos => " -D TOP=9 --ltl []<>(a<200) --checkpoint kept.ck --checkpoint-every 20ms",
            Kind::KeptLassosOfThreads => {
                " -D TOP=11 --ltl [](a==9-><>(a!=9)) --workers 2 --checkpoint kept.ck --checkpoint-every 20ms"
            }
            // An end can be reached from everywhere; a step can not be taken everywhere.
            Kind::KeptEquations if bad => {
                " -D TOP=9 --mu [true*]<true>true --checkpoint kept.ck --checkpoint-every 20ms"
            }
            Kind::KeptEquations => {
                " -D TOP=9 --mu [true*]<true*>[true]false --checkpoint kept.ck --checkpoint-every 20ms"
            }
            Kind::KeptEquationsOfThreads if bad => {
                " -D TOP=8 --mu [true*]<true>true --workers 2 --checkpoint kept.ck --checkpoint-every 20ms"
            }
            Kind::KeptEquationsOfThreads => {
                " -D TOP=8 --mu [true*]<true*>[true]false --workers 2 --checkpoint kept.ck --checkpoint-every 20ms"
            }
            Kind::Threads => " -D TOP=20 --workers 2",
            Kind::Cluster => " -D TOP=9 --cluster hosts.toml",
            Kind::KeptCluster => {
                " -D TOP=11 --cluster hosts.toml --checkpoint kept.ck --checkpoint-every 20ms"
            }
            Kind::KeptLassosOfCluster => {
                " -D TOP=8 --ltl []<>(a<200) --cluster hosts.toml --checkpoint kept.ck --checkpoint-every 20ms"
            }
            Kind::KeptEquationsOfCluster if bad => {
                " -D TOP=8 --mu [true*]<true>true --cluster hosts.toml --checkpoint kept.ck --checkpoint-every 20ms"
            }
            Kind::KeptEquationsOfCluster => {
                " -D TOP=8 --mu [true*]<true*>[true]false --cluster hosts.toml --checkpoint kept.ck --checkpoint-every 20ms"
            }
        });
        line.split(' ').map(String::from).collect()
    }

    /// One round: a call that is disturbed, and what is left of it.
    fn round(&mut self, kind: Kind, usual: Duration, bad: bool) -> Result<(), String> {
        let faults: &[Fault] = match kind.has_workers() {
            true => &[
                Fault::Kill,
                Fault::StopAndGo,
                Fault::Interrupt,
                Fault::Terminate,
                Fault::KillJob,
                Fault::StopAndGoJob,
                Fault::CutLinks,
            ],
            false => &[Fault::Kill, Fault::Kill, Fault::StopAndGo, Fault::Interrupt, Fault::Terminate],
        };
        let right = i32::from(bad);
        let mut words = self.words(kind, bad);
        self.tally.rounds += 1;
        for again in 0.. {
            let fault = *self.random.pick(faults);
            let mut child = self.start(&words)?;
            let group = child.id();
            let code = match again {
                // Enough: it is left alone now.
                4.. => self.end(&mut child, "undisturbed")?,
                _ => self.disturb(&mut child, fault, usual)?,
            };
            self.nobody_is_left(group)?;
            let told = || format!("{kind:?}, {fault:?}, try {again}, {words:?}: {}", self.answer());
            match code {
                Some(code) if code == right => {
                    self.tally.right += u32::from(again == 0);
                    self.tally.resumed += u32::from(again > 0);
                    return Ok(());
                }
                Some(3) if again < 4 => self.tally.unknown += 1,
                // A signal that comes before the program has taken it over ends it like any other.
                None if again < 4 && fault.ends() => self.tally.killed += 1,
                // A line that is cut before anybody has proved the secret may as well be a stranger's: it is
                // named as such.
                Some(2) if again < 4 && fault == Fault::CutLinks && self.is_stranger() => {
                    self.tally.strangers += 1;
                }
                other => return Err(format!("it ended with {other:?}: {}", told())),
            }
            if !self.folder.join("kept.ck").exists() {
                return Ok(());
            }
            words = ["resume", "kept.ck", "--format", "json"].map(String::from).to_vec();
        }
        Ok(())
    }

    /// Whether the answer names the worker behind the relay, and says that its connection was closed.
    fn is_stranger(&self) -> bool {
        let answer = self.answer();
        answer.contains(&self.relay.address) && answer.contains("the connection was closed")
    }

    fn answer(&self) -> String {
        std::fs::read_to_string(self.folder.join("answer.json")).unwrap_or_default()
    }
}

/// Disturbs this many runs.
///
/// # Errors
/// What went wrong.
pub fn faults(binary: &Path, count: u32, seed: u64) -> Result<Tally, String> {
    let folder = std::env::temp_dir().join(format!("volee-faults-{}", std::process::id()));
    std::fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
    let done = in_folder(binary, &folder, count, seed);
    if done.is_ok() {
        let _ = std::fs::remove_dir_all(&folder);
    }
    done
}

fn in_folder(binary: &Path, folder: &Path, count: u32, seed: u64) -> Result<Tally, String> {
    let workers = vec![Worker::start(binary)?, Worker::start(binary)?];
    let relay = Relay::start(workers[1].address.clone()).map_err(|e| e.to_string())?;
    let hosts = format!("workers = [\"{}\", \"{}\"]\n", workers[0].address, relay.address);
    std::fs::write(folder.join("m.pml"), MODEL).map_err(|e| e.to_string())?;
    std::fs::write(folder.join("hosts.toml"), hosts).map_err(|e| e.to_string())?;
    let (random, tally) = (Random::new(seed), Tally::default());
    let mut stage = Stage { binary: binary.into(), folder: folder.into(), workers, relay, random, tally };
    let kinds = [
        Kind::Kept,
        Kind::KeptBreadthFirst,
        Kind::KeptThreads,
        Kind::KeptLassos,
        Kind::KeptLassosOfThreads,
        Kind::KeptEquations,
        Kind::KeptEquationsOfThreads,
        Kind::Threads,
        Kind::Cluster,
        Kind::KeptCluster,
        Kind::KeptLassosOfCluster,
        Kind::KeptEquationsOfCluster,
    ];
    let mut usual = Vec::new();
    for kind in kinds {
        let start = Instant::now();
        let mut child = stage.start(&stage.words(kind, false))?;
        let code = stage.end(&mut child, &format!("{kind:?}"))?;
        if code != Some(0) {
            return Err(format!("{kind:?}, undisturbed, ended with {code:?}: {}", stage.answer()));
        }
        usual.push(start.elapsed());
    }
    for round in 0..count as usize {
        let at = round % kinds.len();
        let bad = stage.random.one_in(2);
        let _ = std::fs::remove_file(folder.join("kept.ck"));
        let done = stage.round(kinds[at], usual[at], bad);
        done.map_err(|why| format!("seed {seed}, round {round}: {why}"))?;
    }
    Ok(stage.tally)
}

/// `cargo xtask faults`.
///
/// # Errors
/// What went wrong.
pub fn run(arguments: &[String]) -> Result<(), String> {
    let number = |at: usize, usual: u64| match arguments.get(at) {
        Some(text) => text.parse().map_err(|_| format!("`{text}` is not a number")),
        None => Ok(usual),
    };
    let (count, seed) = (number(0, 500)?, number(1, volee_testkit::seed_of_the_day())?);
    let binary = arguments.get(2).map_or("target/release/volee", String::as_str);
    let binary = std::fs::canonicalize(binary).map_err(|e| format!("build volee first ({binary}): {e}"))?;
    let start = Instant::now();
    let tally = faults(&binary, u32::try_from(count).unwrap_or(u32::MAX), seed)?;
    println!(
        "{} rounds in {:.0} s (seed {seed}): {} right although disturbed, {} unknown, {} cut off from a worker before it was known, {} killed, {} gone on with to the \
         right verdict; no wrong verdict, no process left, nobody waited for longer than {} s",
        tally.rounds,
        start.elapsed().as_secs_f64(),
        tally.right,
        tally.unknown,
        tally.strangers,
        tally.killed,
        tally.resumed,
        PATIENCE.as_secs(),
    );
    Ok(())
}
