//! `cargo xtask figures resident [MODEL [MEMORY]]`: the peak resident memory of a search within a budget,
//! from outside.
//!
//! Runs the release binary on a model of ten million states with `--memory 64M` and reads the high-water mark
//! of its resident set from the system while it runs. It must stay below the budget plus 24 MB, and the
//! search must end with a verdict.

use std::process::{Command, Stdio};
use std::time::Duration;

const MODEL: &str = "models/gen/levels.pml";
const BUDGET: u64 = 64;
/// What the program itself, its libraries and the allocator may take, in megabytes.
const OVERHEAD: u64 = 24;

pub fn run(arguments: &[String]) -> Result<(), String> {
    let model = arguments.first().map_or(MODEL, String::as_str);
    let budget: u64 = match arguments.get(1) {
        Some(text) => text.trim_end_matches('M').parse().map_err(|_| "MEMORY is like 64M")?,
        None => BUDGET,
    };
    let mut child = Command::new("target/release/volee")
        .args(["check", model, "--memory", &format!("{budget}M"), "--format", "json"])
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|e| format!("build volee first (cargo build --release): {e}"))?;
    let mut peak = 0;
    while child.try_wait().map_err(|e| e.to_string())?.is_none() {
        peak = peak.max(high_water_mark(child.id()).unwrap_or(0));
        std::thread::sleep(Duration::from_millis(5));
    }
    let output = child.wait_with_output().map_err(|e| e.to_string())?;
    let code = output.status.code();
    println!("{}", String::from_utf8_lossy(&output.stdout));
    println!("{model}: exit code {code:?}, peak {peak} kB resident, with {budget} MB of budget");
    let allowed = (budget + OVERHEAD) * 1024;
    if peak > allowed {
        return Err(format!("that is more than {allowed} kB"));
    }
    if matches!(code, Some(0 | 1)) { Ok(()) } else { Err("there is no verdict".into()) }
}

/// The most memory a process had resident so far, in kB.
pub fn high_water_mark(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}
