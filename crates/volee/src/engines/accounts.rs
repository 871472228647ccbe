//! What several workers did, told to people and to programs.

use serde_json::{Value, json};
use volee_cluster::drive::Account;
use volee_report::{bytes, count};
use volee_system::Snapshot;

use super::Part;

/// All workers in one snapshot.
pub(super) fn sum(accounts: &[Account]) -> Snapshot {
    let total = |figure: fn(&Account) -> u64| accounts.iter().map(figure).sum();
    Snapshot {
        states: total(|a| a.figures.states),
        transitions: total(|a| a.figures.transitions),
        pending: total(|a| a.figures.pending),
        memory: total(|a| a.peak.max(a.figures.memory)),
        ..Snapshot::default()
    }
}

/// What the workers did, in one line and one by one.
pub(super) fn together(accounts: &[Account], names: &[String]) -> Part {
    let all = sum(accounts);
    let total = |figure: fn(&Account) -> u64| accounts.iter().map(figure).sum::<u64>();
    let seconds = |figure: fn(&Account) -> f64| accounts.iter().map(figure).sum::<f64>();
    let (elapsed, idle) = (seconds(|a| a.elapsed), seconds(|a| a.idle));
    let most = accounts.iter().map(|a| a.figures.states).max().unwrap_or(0);
    // The mean share of the states over the largest: 1 when all workers have as many.
    let balance = if most == 0 { 1.0 } else { all.states as f64 / accounts.len() as f64 / most as f64 };
    let line = format!(
        "{} workers: {} states, {} edges, {} messages ({} to find the end), {}, {:.0} % idle, balance {balance:.2}",
        accounts.len(),
        count(all.states),
        count(all.transitions),
        count(total(|a| a.messages)),
        count(total(|a| a.progress)),
        bytes(all.memory),
        if elapsed > 0.0 { 100.0 * idle / elapsed } else { 0.0 },
    );
    let entries: Vec<Value> = accounts.iter().zip(names).map(|(a, name)| entry(a, name)).collect();
    let mut part = Part { remarks: vec![line], ..Part::default() };
    part.fields.insert("workers".into(), entries.into());
    part
}

fn entry(a: &Account, name: &str) -> Value {
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
}
