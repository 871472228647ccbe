//! `cargo xtask bench cluster [MESSAGES CAPACITY]`: several workers beside the sequential solver, in one run.
//!
//! The alternating bit protocol, formula F1 and deadlock freedom: CPU time, wall time, memory, messages and
//! what of them goes into finding the end, by one worker, by two threads and by two processes over loopback;
//! then how much an early answer explores, and a complete test graph for *ten visible actions*. The CPU time of the busier process is what the wall time cannot be
//! below, and what it hardly exceeds on a machine that has nothing else to do. The run is stored in
//! `bench/cluster.csv`.
//!
//! `--scale` is the scale model: up to 64 parts in one process, moved round by round, without any network, so
//! that messages and memory per worker are exact and the time is what the slowest part of each round needs
//! plus what a network would. It is stored in `bench/cluster-scale.csv`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use volee::bes::model::ModelGraph;
use volee::bes::solve::partition::{Partition, Share};
use volee::logic::mu::{Equations, Library, parse};
use volee::lts::generate::AlternatingBit;
use volee::system::part::{Outbox, Packet, Part, Work};
use xtask::worker::Worker;

const F1: &str = "nu X . ([/PUT.*/] mu Y . ((nu Z . <tau> Z) or (<true> true and [not /GET.*/] false) \
                  or (<true> true and [true] Y)) and [true] X)";
const NO_DEADLOCK: &str = "nu X . (<true> true and [true] X)";
/// A property that fails after a few steps: the second message is never put twice in a row.
const EARLY: &str = "[true* . \"GET !1\" . true* . \"GET !2\"] false";

/// Two blocks, the outer of which ends early if the inner is closed in time.
const LIVELOCK: &str = "mu X . ((nu Y . <tau> Y) or <true> X)";

/// What a call cost and said.
struct Measured {
    cpu: f64,
    /// The CPU time of the worker that used most, where workers are processes.
    busiest: Option<f64>,
    wall: f64,
    answer: String,
}

pub fn bench(arguments: &[String]) -> Result<(), String> {
    let numbers: Vec<u16> = arguments.iter().filter_map(|a| a.parse().ok()).collect();
    let (messages, capacity) = match numbers[..] {
        [messages, capacity] => (messages, capacity as u8),
        _ => (256, 3),
    };
    if arguments.iter().any(|a| a == "--scale") {
        let mut table = String::new();
        scale(messages.min(128), capacity, &mut table)?;
        return store("cluster-scale.csv", &table);
    }
    let folder = std::env::temp_dir().join(format!("volee-bench-cluster-{}", std::process::id()));
    std::fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
    let model = folder.join("abp.family");
    std::fs::write(&model, format!("abp messages={messages} capacity={capacity}\n"))
        .map_err(|e| e.to_string())?;
    let mut table = String::from(
        "system,question,how,verdict,cpu_seconds,cpu_ratio,busiest_worker_ratio,wall_seconds,wall_ratio,\
         memory_per_worker_mb,memory_ratio,variables,messages,termination_messages,termination_share\n",
    );
    let volee = binary()?;
    let bench = Bench { volee: &volee, folder: &folder, system: &format!("abp {messages} {capacity}") };
    let model = model.display().to_string();
    for (name, formula) in
        [("F1", F1), ("no deadlock", NO_DEADLOCK), ("early", EARLY), ("livelock", LIVELOCK)]
    {
        let words = vec!["check", &model, "--mu", formula];
        let alone = &[("sequential bfs", &["--solver", "bfs"][..]), ("sequential auto", &[])];
        bench.compare(&Question { name, words, alone }, &mut table)?;
    }
    let words = ["tests", &model, "--after", "10", "--inputs", "PUT*", "--outputs", "GET*", "--complete"];
    let alone = &[("sequential", &[][..])];
    bench.compare(&Question { name: "tests", words: words.to_vec(), alone }, &mut table)?;
    let _ = std::fs::remove_dir_all(&folder);
    store("cluster.csv", &table)
}

fn store(name: &str, table: &str) -> Result<(), String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../bench").join(name);
    std::fs::write(&path, table).map_err(|e| format!("{}: {e}", path.display()))
}

/// The release binary, built first.
fn binary() -> Result<PathBuf, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let status = Command::new("cargo")
        .args(["build", "--release", "--quiet", "-p", "volee-cli"])
        .current_dir(&root)
        .status()
        .map_err(|e| e.to_string())?;
    let path = root.join("target/release/volee");
    if status.success() && path.exists() { Ok(path) } else { Err("the binary cannot be built".into()) }
}

/// What is asked, and how one process alone is asked; the first way is what all others are compared with.
struct Question<'a> {
    name: &'a str,
    words: Vec<&'a str>,
    alone: &'a [(&'a str, &'a [&'a str])],
}

/// What is the same for all questions.
struct Bench<'a> {
    volee: &'a Path,
    folder: &'a Path,
    system: &'a str,
}

impl Bench<'_> {
    /// One question, all ways.
    fn compare(&self, question: &Question<'_>, table: &mut String) -> Result<(), String> {
        let arguments = |extra: &[&str]| -> Vec<String> {
            let words = question.words.iter().chain(&["--format", "json"]).chain(extra);
            words.map(|word| (*word).to_string()).collect()
        };
        println!("{}, {}", self.system, question.name);
        let mut base: Option<Measured> = None;
        for &(how, extra) in question.alone {
            let measured = call(self.volee, &arguments(extra))?;
            self.row(question.name, (how, 0), &measured, base.as_ref().unwrap_or(&measured), table);
            base.get_or_insert(measured);
        }
        let base = base.ok_or("nothing to compare with")?;
        let mut row = |how: (&str, usize), measured: &Measured| {
            self.row(question.name, how, measured, &base, table);
        };
        row(("1 worker", 1), &call(self.volee, &arguments(&["--workers", "1"]))?);
        row(("2 threads", 2), &call(self.volee, &arguments(&["--workers", "2"]))?);
        row(("2 processes", 2), &processes(self.volee, self.folder, 2, arguments)?);
        Ok(())
    }

    /// One line of the table: a way of so many workers, beside what one process needs.
    fn row(
        &self,
        question: &str,
        (how, workers): (&str, usize),
        measured: &Measured,
        base: &Measured,
        table: &mut String,
    ) {
        let all = |name: &str| figures(&measured.answer, name);
        let peaks = all("peak_memory_bytes");
        let usual = figures(&base.answer, "peak_memory_bytes").into_iter().fold(1.0, f64::max);
        // One figure for all, then one per worker.
        let memory = peaks.iter().skip(usize::from(workers > 0)).copied().fold(0.0, f64::max);
        let memory = if workers == 0 { peaks.first().copied().unwrap_or(0.0) } else { memory };
        let (messages, ends): (f64, f64) =
            (all("messages").iter().sum::<f64>() + 0.0, all("progress_messages").iter().sum::<f64>() + 0.0);
        let met = [all("variables"), all("specification_states")].concat();
        let line = format!(
            "{},{question},{how},{},{:.2},{:.2},{},{:.2},{:.2},{:.0},{:.2},{},{messages},{ends},{:.6}",
            self.system,
            verdict(&measured.answer),
            measured.cpu,
            measured.cpu / base.cpu,
            measured.busiest.map_or_else(String::new, |b| format!("{:.2}", b / base.cpu)),
            measured.wall,
            measured.wall / base.wall,
            memory / 1e6,
            memory / usual,
            met.first().copied().unwrap_or(0.0),
            if messages > 0.0 { ends / messages } else { 0.0 },
        );
        println!("  {line}");
        let _ = writeln!(table, "{line}");
    }
}

/// Two workers as processes of their own; their CPU time counts.
fn processes(
    volee: &Path,
    folder: &Path,
    count: usize,
    arguments: impl Fn(&[&str]) -> Vec<String>,
) -> Result<Measured, String> {
    let (workers, hosts) = Worker::several(volee, folder, count)?;
    let mut measured = call(volee, &arguments(&["--cluster", &hosts.display().to_string()]))?;
    let mut busiest = 0.0f64;
    for worker in workers {
        let spent = worker.end()?;
        measured.cpu += spent;
        busiest = busiest.max(spent);
    }
    measured.busiest = Some(busiest);
    Ok(measured)
}

/// Calls volee and measures it.
fn call(volee: &Path, arguments: &[String]) -> Result<Measured, String> {
    let quoted: Vec<String> = arguments.iter().map(|a| format!("'{}'", a.replace('\'', "'\\''"))).collect();
    let script = format!("TIMEFORMAT='cpu %U %S'; time '{}' {}", volee.display(), quoted.join(" "));
    let start = Instant::now();
    let output = Command::new("bash").arg("-c").arg(script).output().map_err(|e| e.to_string())?;
    let wall = start.elapsed().as_secs_f64();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    let line = errors.lines().rev().find_map(|l| l.strip_prefix("cpu ")).ok_or("no CPU time")?;
    let cpu = line.split_whitespace().filter_map(|t| t.parse::<f64>().ok()).sum();
    let answer = String::from_utf8_lossy(&output.stdout).into_owned();
    if verdict(&answer) == "?" {
        return Err(format!("{arguments:?}: {answer}{errors}"));
    }
    Ok(Measured { cpu, busiest: None, wall, answer })
}

fn verdict(answer: &str) -> &'static str {
    let found = ["holds", "violated", "unknown"].into_iter().find(|word| {
        answer.contains(&format!("\"verdict\":\"{word}\""))
            || answer.contains(&format!("\"verdict\": \"{word}\""))
    });
    found.unwrap_or("?")
}

/// All numbers with this name, in their order.
fn figures(answer: &str, name: &str) -> Vec<f64> {
    let key = format!("\"{name}\":");
    let numbers = answer.split(&key).skip(1);
    numbers
        .filter_map(|rest| {
            let rest = rest.trim_start();
            let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
            rest[..end].parse().ok()
        })
        .collect()
}

/// What a network is taken to cost: seconds per round, and bytes per second in and out of a worker.
const LATENCY: f64 = 60e-6;
const BANDWIDTH: f64 = 110e6;

/// What one size of cluster would do.
struct Simulated {
    rounds: u64,
    messages: u64,
    bytes: u64,
    packets: u64,
    memory: u64,
    /// The states of the largest worker over the mean.
    imbalance: f64,
    cpu: f64,
    /// Seconds of the worker that works most: if nobody ever waited, the answer would come after these.
    busiest: f64,
    /// Seconds until the answer if everybody waited for the slowest at the end of each round, and with the
    /// network.
    wall: f64,
    wall_with_network: f64,
}

/// The scale model: P parts, moved round by round.
fn scale(messages: u16, capacity: u8, table: &mut String) -> Result<(), String> {
    println!("scale model: abp {messages} {capacity}");
    let _ = writeln!(
        table,
        "system,question,workers,rounds,messages_per_worker,megabytes_per_worker,packets_per_worker,memory_mb_per_worker,\
         imbalance,cpu_seconds,busiest_seconds,speedup_at_most,seconds_in_rounds,speedup_in_rounds,seconds_with_network,\
         speedup_with_network"
    );
    for (question, formula) in [("F1", F1), ("no deadlock", NO_DEADLOCK)] {
        let mut alone = 0.0;
        for workers in [1, 2, 4, 8, 16, 32, 64] {
            let s = simulate(messages, capacity, formula, workers)?;
            if workers == 1 {
                alone = s.cpu;
            }
            let per = |n: u64| n as f64 / f64::from(workers);
            let line = format!(
                "abp {messages} {capacity},{question},{workers},{},{:.0},{:.2},{:.0},{:.2},{:.3},{:.2},{:.3},{:.1},{:.3},{:.1},{:.3},{:.1}",
                s.rounds,
                per(s.messages),
                per(s.bytes) / 1e6,
                per(s.packets),
                s.memory as f64 / 1e6,
                s.imbalance,
                s.cpu,
                s.busiest,
                alone / s.busiest,
                s.wall,
                alone / s.wall,
                s.wall_with_network,
                alone / s.wall_with_network,
            );
            println!("  {line}");
            let _ = writeln!(table, "{line}");
        }
    }
    Ok(())
}

fn simulate(messages: u16, capacity: u8, formula: &str, workers: u16) -> Result<Simulated, String> {
    let tree = parse("f", formula, &Library::standard()).map_err(|e| format!("{e:?}"))?;
    let equations = Equations::new(tree.normalise().map_err(|e| e.to_string())?);
    let mut systems: Vec<AlternatingBit> =
        (0..workers).map(|_| AlternatingBit::new(messages, capacity)).collect();
    let mut parts = Vec::new();
    for (me, system) in (0u16..).zip(&mut systems) {
        let graph = ModelGraph::new(system, equations.clone(), Vec::new()).map_err(|e| e.to_string())?;
        parts.push(Partition::new(graph, Share { me, peers: workers }).map_err(|e| e.to_string())?);
    }
    let peers = usize::from(workers);
    let mut outs: Vec<Outbox> = (0..peers).map(|me| Outbox::new(me, peers)).collect();
    let mut mail: Vec<Vec<(usize, Packet)>> = vec![Vec::new(); peers];
    let mut s = Simulated {
        rounds: 0,
        messages: 0,
        bytes: 0,
        packets: 0,
        memory: 0,
        imbalance: 1.0,
        cpu: 0.0,
        busiest: 0.0,
        wall: 0.0,
        wall_with_network: 0.0,
    };
    let mut quantum = 16;
    let mut busy = vec![0.0; peers];
    loop {
        let mut next: Vec<Vec<(usize, Packet)>> = vec![Vec::new(); peers];
        let (mut slowest, mut busiest, mut idle, mut decided) = (0.0f64, 0.0f64, true, false);
        for me in 0..peers {
            let start = Instant::now();
            for (from, packet) in mail[me].drain(..) {
                parts[me].receive(from, packet.kind, &packet.bytes).map_err(|e| e.to_string())?;
            }
            let work = parts[me].work(quantum, &mut outs[me]).map_err(|e| e.to_string())?;
            let spent = start.elapsed().as_secs_f64();
            (s.cpu, slowest) = (s.cpu + spent, slowest.max(spent));
            busy[me] += spent;
            idle &= work == Work::Idle;
            decided |= work == Work::Decided;
            let mut sent = 0;
            for packet in outs[me].take() {
                sent += packet.bytes.len() as u64;
                s.messages += u64::from(packet.records);
                s.packets += 1;
                next[usize::from(packet.to)].push((me, packet));
            }
            s.bytes += sent;
            busiest = busiest.max(sent as f64);
        }
        s.rounds += 1;
        s.wall += slowest;
        // A worker sends while it works; what does not fit into that time is waited for.
        let network = if peers > 1 { LATENCY + (busiest / BANDWIDTH - slowest).max(0.0) } else { 0.0 };
        s.wall_with_network += slowest + network;
        let quiet = idle && next.iter().all(Vec::is_empty);
        mail = next;
        quantum = (quantum * 2).min(1024);
        if decided || quiet && !close(&mut parts)? {
            break;
        }
    }
    let states: Vec<u64> = parts.iter().map(|part| part.figures().states).collect();
    let mean = states.iter().sum::<u64>() as f64 / f64::from(workers);
    s.imbalance = states.iter().max().map_or(1.0, |most| *most as f64 / mean.max(1.0));
    s.busiest = busy.into_iter().fold(0.0, f64::max);
    s.memory = parts.iter().map(|part| part.figures().memory).max().unwrap_or(0);
    Ok(s)
}

/// Closes the next block everywhere; tells whether there is more to do.
fn close<P: Part>(parts: &mut [P]) -> Result<bool, String> {
    let mut more = false;
    for part in parts {
        more = part.next_stage().map_err(|e| e.to_string())?;
    }
    Ok(more)
}
