//! `cargo xtask bench lts [MESSAGES [CAPACITY]]`: reading and reducing the alternating bit protocol, CPU time
//! and memory.
//!
//! Ours and the peers' on the same file in the same run, one after the other; peers (`ltsconvert` of mCRL2,
//! `merc-lts`) only where they are installed, else the published figures for N=256, C=3 stand beside ours.
//! The run is stored in `bench/lts.csv`.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What peers needed for N=256, C=3 on another two-core machine: seconds of CPU, megabytes.
const PUBLISHED: &str = "\
published, N=256 C=3, reading included:
  strong     MERC 15.2 s /  582 MB   mCRL2 20.3 s / 1817 MB
  branching  MERC 19.9 s / 1018 MB   mCRL2 17.2 s / 1804 MB";

/// One measurement.
struct Measured {
    tool: &'static str,
    task: &'static str,
    cpu: f64,
    megabytes: f64,
}

/// Runs the benchmark.
pub fn bench(arguments: &[String]) -> Result<(), String> {
    let number = |at: usize, default: u32| match arguments.get(at) {
        Some(text) => text.parse().map_err(|_| format!("`{text}` is not a number")),
        None => Ok(default),
    };
    let (messages, capacity) = (number(0, 256)?, number(1, 2)?);
    let volee = PathBuf::from("target/release/volee");
    if !volee.is_file() {
        return Err("build first: cargo build --release -p volee-cli".into());
    }
    let folder = std::env::temp_dir().join(format!("volee-bench-lts-{}", std::process::id()));
    fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
    let file = folder.join("abp.aut");
    let result = measure_all(&volee, &file, messages, capacity);
    // What is left behind would only cost room.
    let _ = fs::remove_dir_all(&folder);
    store(messages, capacity, &result?)
}

fn measure_all(volee: &Path, file: &Path, messages: u32, capacity: u32) -> Result<Vec<Measured>, String> {
    let (n, c) = (messages.to_string(), capacity.to_string());
    let path = file.display().to_string();
    let volee = volee.display().to_string();
    let mut all = Vec::new();
    all.push(measure(
        "volee",
        "generate",
        &volee,
        &["generate", "abp", "--messages", &n, "--capacity", &c, "-o", &path],
    )?);
    let size = fs::metadata(file).map_err(|e| e.to_string())?.len() as f64 / 1e6;
    for round in 0..3 {
        all.push(measure("volee", "read", &volee, &["reduce", &path, "--relation", "reachable"])?);
        for relation in ["strong", "branching"] {
            all.push(measure("volee", relation, &volee, &["reduce", &path, "--relation", relation])?);
            if round == 0 {
                all.extend(peers(relation, &path));
            }
        }
    }
    println!("abp N={messages} C={capacity}: {size:.0} MB of text");
    Ok(all)
}

/// The peers that are installed.
fn peers(relation: &'static str, path: &str) -> Vec<Measured> {
    let mcrl2 = if relation == "strong" { "bisim" } else { "branching-bisim" };
    let equivalence = format!("--equivalence={mcrl2}");
    let calls: [(&'static str, &str, Vec<&str>); 2] = [
        ("mCRL2", "ltsconvert", vec![&equivalence, path, "/dev/null", "--out=aut"]),
        (
            "MERC",
            "merc-lts",
            vec!["reduce", if relation == "strong" { "strong-bisim" } else { "branching-bisim" }, path],
        ),
    ];
    calls
        .into_iter()
        .filter_map(|(tool, program, words)| measure(tool, relation, program, &words).ok())
        .collect()
}

/// Runs a program and takes its CPU time and peak memory from `/usr/bin/time`-like accounting of the shell.
fn measure(
    tool: &'static str,
    task: &'static str,
    program: &str,
    words: &[&str],
) -> Result<Measured, String> {
    let output = Command::new("/usr/bin/env")
        .args(["python3", "-c", ACCOUNT, program])
        .args(words)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .output()
        .map_err(|e| e.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut numbers = text.split_whitespace().filter_map(|w| w.parse::<f64>().ok());
    match (output.status.success(), numbers.next(), numbers.next()) {
        (true, Some(cpu), Some(megabytes)) => Ok(Measured { tool, task, cpu, megabytes }),
        _ => Err(format!("{program} {}: it did not run", words.join(" "))),
    }
}

/// Runs a command and prints its CPU seconds and its largest memory: the operating system's own account of a
/// child.
pub const ACCOUNT: &str = "\
import os, subprocess, sys, resource
code = subprocess.call(sys.argv[1:], stdout=subprocess.DEVNULL)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)
sys.exit(code)";

fn store(messages: u32, capacity: u32, all: &[Measured]) -> Result<(), String> {
    println!("{:<8} {:<10} {:>8} {:>9}", "tool", "task", "CPU s", "MB");
    for m in all {
        println!("{:<8} {:<10} {:>8.2} {:>9.0}", m.tool, m.task, m.cpu, m.megabytes);
    }
    println!("{PUBLISHED}");
    fs::create_dir_all("bench").map_err(|e| e.to_string())?;
    let path = Path::new("bench/lts.csv");
    let is_new = !path.exists();
    let mut file = fs::File::options().create(true).append(true).open(path).map_err(|e| e.to_string())?;
    let mut lines = String::new();
    if is_new {
        lines.push_str("messages,capacity,tool,task,cpu_seconds,megabytes\n");
    }
    for m in all {
        lines.push_str(&format!(
            "{messages},{capacity},{},{},{:.2},{:.0}\n",
            m.tool, m.task, m.cpu, m.megabytes
        ));
    }
    file.write_all(lines.as_bytes()).map_err(|e| e.to_string())
}
