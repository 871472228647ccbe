//! What several workers did, told to people and to programs.

use serde_json::{Value, json};
use volee_cluster::drive::Account;
use volee_report::{bytes, count, counted};
use volee_system::{Meter, Snapshot};

use super::Part;
use crate::answer::Answer;

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

/// What the workers had done when a limit ended them, as far as was heard.
pub(super) fn cut(answers: Vec<Answer>, all: &Snapshot, meter: &Meter) -> Part {
    let mut part = Part { answers, ..Part::default() };
    if all.states > 0 {
        part.figures.set("states", all.states);
        part.figures.set("transitions", all.transitions);
        part.figures.set("seconds", meter.elapsed().as_secs_f64());
        part.figures.set("peak_memory_bytes", all.memory);
        part.figures.set("bytes_per_state", all.memory as f64 / all.states as f64);
    }
    part
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
        "{}: {} states, {} edges, {} messages ({} to find the end), {}, {:.0} % idle, balance {balance:.2}",
        counted(accounts.len(), "worker"),
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
