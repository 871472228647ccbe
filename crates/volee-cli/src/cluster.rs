//! The same question on several workers: threads of this process (`--workers`) or processes elsewhere (`--cluster`).
//!
//! A [`Task`] is all that a worker must know: the model and the question. A thread opens the model file itself; a process
//! gets the file and those it includes ([`crate::luggage`]) and opens them in a folder of its own. Both then do the same, and
//! give bytes back that are joined here.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tempfile::TempDir;
use volee::bes::format::read_bes;
use volee::bes::model::ModelGraph;
use volee::cluster::drive::{Account, Driver, Stop};
use volee::cluster::remote::coordinator::{self, JobError};
use volee::cluster::remote::hosts::Hosts;
use volee::cluster::remote::{ClusterError, Secret};
use volee::cluster::threads::{Failure as Fault, MOST_WORKERS, on_threads};
use volee::cluster::{equations, search};
use volee::logic::mu::{Equations, Library, parse};
use volee::report::{Answer, bytes, count};
use volee::search::Check;
use volee::system::part::PartError;
use volee::system::{Diagnostic, Limit, Meter, System};
use volee::{Model, Options};

use crate::files;
use crate::luggage::Luggage;
use crate::outcome::Failure;

/// Where a question is answered.
#[derive(Debug, Clone, Default, Args)]
pub struct ClusterArgs {
    /// Answer with several workers on this machine, which share the memory budget
    #[arg(long, value_name = "N", help_heading = "Workers", conflicts_with = "cluster")]
    pub workers: Option<usize>,

    /// Answer with the workers of a host file (see `volee worker`), each of which may use the memory budget
    #[arg(long, value_name = "HOSTS.toml", help_heading = "Workers")]
    pub cluster: Option<PathBuf>,

    /// With --cluster: a file with the secret that all workers share
    #[arg(long, value_name = "FILE", help_heading = "Workers", requires = "cluster")]
    pub secret_file: Option<PathBuf>,

    /// With --cluster: when a worker is lost, ask the others again, up to this many times
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Workers", requires = "cluster")]
    pub restart: u32,
}

/// The workers of a call.
enum Place {
    Threads(usize),
    Processes { workers: Vec<String>, secret: Secret, restarts: u32 },
}

impl ClusterArgs {
    /// Whether several workers are asked for.
    pub fn asked(&self) -> bool {
        self.workers.is_some() || self.cluster.is_some()
    }

    fn place(&self) -> Result<Place, Failure> {
        if let Some(path) = &self.cluster {
            let hosts = Hosts::read(path).map_err(wrong)?;
            let file = self.secret_file.clone().or(hosts.secret_file);
            let secret = file.map(|file| Secret::read(&file)).transpose().map_err(wrong)?.unwrap_or_default();
            return Ok(Place::Processes { workers: hosts.workers, secret, restarts: self.restart });
        }
        match self.workers.unwrap_or(1) {
            n if (1..=MOST_WORKERS).contains(&n) => Ok(Place::Threads(n)),
            _ => Err(Failure::new(format!("--workers takes a number from 1 to {MOST_WORKERS}"))),
        }
    }
}

fn wrong(error: ClusterError) -> Failure {
    Failure::new(error.to_string())
}

/// All that a worker must know.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Task {
    file: PathBuf,
    /// The files that it includes.
    included: Vec<PathBuf>,
    /// All of them with their bytes, where they travel.
    luggage: Option<Luggage>,
    defines: Vec<String>,
    plain: bool,
    question: Question,
}

/// What is asked.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Question {
    /// Deadlocks, assertions, invariants and goals of a model.
    Search { invariants: Vec<String>, goals: Vec<String>, all_errors: bool },
    /// A formula of the mu-calculus, with files of macros.
    Formula { name: String, text: String, macros: Vec<(String, String)> },
    /// The main variable of a system of equations.
    Equations,
}

/// What workers have made of a task.
pub struct Made {
    /// The bytes of each.
    pub parts: Vec<Vec<u8>>,
    /// The workers, by name.
    pub names: Vec<String>,
    /// The model as the workers name it, where that is not how it was named in the call.
    pub alias: Option<String>,
}

/// Why there is no answer.
pub enum Unmade {
    /// The call or the workers are wrong.
    Wrong(Failure),
    /// A limit, or a worker that was lost.
    Limit(Limit),
}

impl Task {
    pub fn new(file: &Path, options: &Options, question: Question) -> Self {
        let (defines, plain) = (options.defines.clone(), options.plain);
        Task { file: file.to_path_buf(), included: Vec::new(), luggage: None, defines, plain, question }
    }

    /// The task with the files that the model includes, which must travel with it.
    pub fn including(mut self, model: &Model) -> Self {
        let included = model.promela.iter().flat_map(|promela| promela.included());
        self.included = included.map(PathBuf::from).collect();
        self
    }

    /// Has all workers do their parts.
    pub fn run(&self, args: &ClusterArgs, meter: &Meter) -> Result<Made, Unmade> {
        let mut line = View::new();
        match args.place().map_err(Unmade::Wrong)? {
            Place::Threads(workers) => {
                let work = |driver: &mut Driver<'_>| self.work(driver, &self.file, None);
                let parts = on_threads(workers, meter, &mut |accounts| line.show(accounts), work);
                let parts = parts.map_err(|fault| unmade(&fault))?;
                Ok(Made { parts, names: (1..=workers).map(|n| format!("worker {n}")).collect(), alias: None })
            }
            Place::Processes { workers, secret, restarts } => {
                let luggage = Luggage::pack(&self.file, &self.included).map_err(Unmade::Wrong)?;
                let alias = luggage.alias(&self.file);
                let shipped = Task { luggage: Some(luggage), ..self.clone() };
                let payload = postcard::to_stdvec(&shipped).map_err(|error| {
                    Unmade::Wrong(Failure::new(format!("the question cannot be sent: {error}")))
                })?;
                let made = on_processes(workers, &secret, restarts, &payload, meter, &mut line)?;
                Ok(Made { alias, ..made })
            }
        }
    }

    /// One worker's part of a task that was shipped to it.
    pub fn work_shipped(driver: &mut Driver<'_>, payload: &[u8]) -> Result<Vec<u8>, Stop> {
        let task: Task =
            postcard::from_bytes(payload).map_err(|_| trouble("the question makes no sense here"))?;
        let luggage = task.luggage.as_ref().ok_or_else(|| trouble("the model was not sent"))?;
        let (folder, path) = luggage.unpack().map_err(|why| trouble(&why))?;
        task.work(driver, &path, Some(folder))
    }

    /// One worker's part. The folder that the model is in is not needed once it is open.
    fn work(&self, driver: &mut Driver<'_>, path: &Path, folder: Option<TempDir>) -> Result<Vec<u8>, Stop> {
        match &self.question {
            Question::Search { invariants, goals, all_errors } => {
                let mut model = self.open(path)?;
                drop(folder);
                let system = model.system.as_mut();
                let check = questions(system, invariants, goals, *all_errors).map_err(|d| first(vec![d]))?;
                encode(&search::work(driver, system, &check)?)
            }
            Question::Formula { name, text, macros } => {
                let equations = formula(name, text, macros).map_err(first)?;
                let mut model = self.open(path)?;
                drop(folder);
                let graph = ModelGraph::new(model.system.as_mut(), equations).map_err(|d| first(vec![d]))?;
                encode(&equations::work(driver, graph)?)
            }
            Question::Equations => {
                let text = std::fs::read_to_string(path).map_err(|error| trouble(&error.to_string()))?;
                drop(folder);
                let file = read_bes(&path.display().to_string(), &text).map_err(|d| first(vec![d]))?;
                encode(&equations::work(driver, &file.system)?)
            }
        }
    }

    fn open(&self, path: &Path) -> Result<Model, Stop> {
        let options = Options { defines: self.defines.clone(), plain: self.plain, ..Options::default() };
        Model::open(path, &options).map_err(first)
    }
}

fn trouble(message: &str) -> Stop {
    Stop::Part(PartError::Trouble(message.into()))
}

fn first(diagnostics: Vec<Diagnostic>) -> Stop {
    trouble(&diagnostics.first().map_or_else(|| "the model cannot be read".into(), ToString::to_string))
}

fn encode<T: Serialize>(part: &T) -> Result<Vec<u8>, Stop> {
    postcard::to_stdvec(part).map_err(|error| Stop::Part(PartError::Defect(error.to_string())))
}

/// Reads what the workers have made.
pub fn decode<T: for<'de> Deserialize<'de>>(made: &Made) -> Result<Vec<T>, Failure> {
    let parts: Result<Vec<T>, _> = made.parts.iter().map(|bytes| postcard::from_bytes(bytes)).collect();
    parts.map_err(|error| Failure::new(format!("a worker's answer cannot be read: {error}")))
}

/// The questions of a search, compiled for a system.
pub fn questions(
    system: &mut dyn System,
    invariants: &[String],
    goals: &[String],
    all_errors: bool,
) -> Result<Check, Diagnostic> {
    let mut check = Check::new().all_errors(all_errors);
    for text in invariants {
        check = check.invariant(text, system.predicate(text)?);
    }
    for text in goals {
        check = check.goal(text, system.predicate(text)?);
    }
    Ok(check)
}

fn formula(name: &str, text: &str, macros: &[(String, String)]) -> Result<Equations, Vec<Diagnostic>> {
    let mut library = Library::standard();
    for (name, text) in macros {
        library.add(name, text)?;
    }
    let normal = parse(name, text, &library)?.normalise().map_err(|wrong| vec![wrong])?;
    Ok(Equations::new(normal))
}

/// Runs a task on processes, again without those that were lost as often as allowed.
fn on_processes(
    mut workers: Vec<String>,
    secret: &Secret,
    mut restarts: u32,
    payload: &[u8],
    meter: &Meter,
    line: &mut View,
) -> Result<Made, Unmade> {
    loop {
        match coordinator::run(&workers, secret, payload, meter, &mut |accounts| line.show(accounts)) {
            Ok(parts) => {
                let names = workers.iter().enumerate().map(|(n, address)| coordinator::name_of(n, address));
                return Ok(Made { parts, names: names.collect(), alias: None });
            }
            Err(JobError::Cluster(error)) => return Err(Unmade::Wrong(wrong(error))),
            Err(JobError::Failed { failure, lost })
                if restarts > 0 && !lost.is_empty() && lost.len() < workers.len() =>
            {
                restarts -= 1;
                line.say(&format!("{failure}; starting again with {} workers", workers.len() - lost.len()));
                let mut number = 0;
                workers.retain(|_| {
                    number += 1;
                    !lost.contains(&(number - 1))
                });
            }
            Err(JobError::Failed { failure, .. }) => return Err(unmade(&failure)),
        }
    }
}

fn unmade(fault: &Fault) -> Unmade {
    match fault {
        Fault::Part { error: PartError::Trouble(_), .. } => Unmade::Wrong(Failure::new(fault.to_string())),
        _ => Unmade::Limit(fault.limit()),
    }
}

/// All workers in one line on stderr, when it is a terminal and the work lasts.
struct View {
    start: Instant,
    drawn: Instant,
    bar: Option<ProgressBar>,
    shown: bool,
}

impl View {
    fn new() -> Self {
        use std::io::IsTerminal as _;
        let now = Instant::now();
        View { start: now, drawn: now, bar: None, shown: std::io::stderr().is_terminal() }
    }

    fn say(&mut self, message: &str) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
        eprintln!("{message}");
    }

    fn show(&mut self, accounts: &[Account]) {
        let now = Instant::now();
        let early = now.duration_since(self.start) < Duration::from_millis(500);
        if !self.shown || early || now.duration_since(self.drawn) < Duration::from_millis(100) {
            return;
        }
        self.drawn = now;
        let bar = self.bar.get_or_insert_with(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}") {
                bar.set_style(style);
            }
            bar
        });
        bar.set_message(Together::new(accounts).line());
        bar.tick();
    }
}

impl Drop for View {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// The figures of all workers together.
pub struct Together<'a> {
    accounts: &'a [Account],
}

impl<'a> Together<'a> {
    pub fn new(accounts: &'a [Account]) -> Self {
        Together { accounts }
    }

    fn sum(&self, figure: impl Fn(&Account) -> u64) -> u64 {
        self.accounts.iter().map(figure).sum()
    }

    /// The share of the time in which workers had nothing to do.
    fn idle(&self) -> f64 {
        let elapsed: f64 = self.accounts.iter().map(|a| a.elapsed).sum();
        let idle: f64 = self.accounts.iter().map(|a| a.idle).sum();
        if elapsed > 0.0 { idle / elapsed } else { 0.0 }
    }

    /// The mean share of the states over the largest: 1 when all workers have as many.
    fn balance(&self) -> f64 {
        let most = self.accounts.iter().map(|a| a.figures.states).max().unwrap_or(0);
        let all = self.sum(|a| a.figures.states);
        if most == 0 { 1.0 } else { all as f64 / self.accounts.len() as f64 / most as f64 }
    }

    /// One line for people.
    pub fn line(&self) -> String {
        format!(
            "{} workers: {} states, {} edges, {} messages ({} to find the end), {}, {:.0} % idle, balance {:.2}",
            self.accounts.len(),
            count(self.sum(|a| a.figures.states)),
            count(self.sum(|a| a.figures.transitions)),
            count(self.sum(|a| a.messages)),
            count(self.sum(|a| a.progress)),
            bytes(self.sum(|a| a.peak.max(a.figures.memory))),
            100.0 * self.idle(),
            self.balance(),
        )
    }

    /// One entry per worker for the machine-readable answer.
    pub fn put(&self, names: &[String], answer: &mut Answer) {
        let entries: Vec<_> = self
            .accounts
            .iter()
            .zip(names)
            .map(|(a, name)| {
                json!({
                    "name": name,
                    "states": a.figures.states,
                    "transitions": a.figures.transitions,
                    "expanded": a.figures.expanded,
                    "messages": a.messages,
                    "packets": a.packets,
                    "message_bytes": a.bytes,
                    "progress_messages": a.progress,
                    "peak_memory_bytes": a.peak,
                    "idle_seconds": a.idle,
                    "seconds": a.elapsed,
                })
            })
            .collect();
        answer.add("workers", entries);
    }
}

/// The files of macros of a call, to be shipped.
pub fn macro_files(paths: &[PathBuf]) -> Result<Vec<(String, String)>, Failure> {
    paths.iter().map(|path| Ok((path.display().to_string(), files::read_text(path)?))).collect()
}

/// What cannot be asked of several workers.
pub fn refuse(flag: &str) -> Failure {
    Failure::new(format!("{flag} and several workers do not go together")).with_help(
        "workers answer deadlocks, assertions, invariants, goals and alternation-free formulas of --mu",
    )
}
