//! `cargo xtask bench models [--stateright DIRECTORY] [--smaller N]`: models in Rust beside the same models
//! in Promela, and beside Stateright.
//!
//! Ours run here, one after the other and in turns, by one worker, with all states kept exactly and CPU time
//! of the whole process taken; the best of three counts. Both are asked the same: the properties of the
//! model, which its twin has as expressions; and once more nothing but assertions, where a search of Promela
//! need not look at its states. Stateright is a peer that is not part of this repository: who has a checkout
//! of it, with its examples built (`cargo build --release --examples`), names it, and its binaries are run in
//! the same turns, on one core, their CPU time taken from the kernel. It keeps fingerprints of 64 bits where
//! we keep states.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use volee::search::Reduction;
use volee::system::Quiet;
use volee::{Engine, Question, Settings, Source, ask};
use volee_models::{Model, Pack, Property, Row, source};
use xtask::clock::process_seconds;

use crate::two_phase::TwoPhase;

const TURNS: usize = 3;

/// Threads that add one to a number under a lock: Stateright's example `increment_lock`.
struct Increment {
    threads: u8,
}

#[derive(Clone, Debug, Pack)]
struct Numbers {
    number: u8,
    locked: bool,
    threads: Row<Thread>,
}

#[derive(Clone, Copy, Debug, Pack)]
struct Thread {
    seen: u8,
    line: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Act {
    Lock(u8),
    Read(u8),
    Write(u8),
    Release(u8),
}

impl Model for Increment {
    type State = Numbers;
    type Action = Act;

    fn initial(&self) -> Vec<Numbers> {
        let threads = Row::of(usize::from(self.threads), Thread { seen: 0, line: 0 });
        vec![Numbers { number: 0, locked: false, threads }]
    }

    fn actions(&self, state: &Numbers, actions: &mut Vec<Act>) {
        for (id, thread) in (0u8..).zip(state.threads.iter()) {
            match thread.line {
                0 if !state.locked => actions.push(Act::Lock(id)),
                1 => actions.push(Act::Read(id)),
                2 => actions.push(Act::Write(id)),
                3 => actions.push(Act::Release(id)),
                _ => {}
            }
        }
    }

    fn apply(&self, state: &mut Numbers, act: &Act) {
        let (Act::Lock(id) | Act::Read(id) | Act::Write(id) | Act::Release(id)) = *act;
        let thread = &mut state.threads[usize::from(id)];
        thread.line += 1;
        match act {
            Act::Lock(_) => state.locked = true,
            Act::Read(_) => thread.seen = state.number,
            Act::Write(_) => state.number = thread.seen + 1,
            Act::Release(_) => state.locked = false,
        }
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("fin", |_, state: &Numbers| {
                state.threads.iter().filter(|t| t.line >= 3).count() == usize::from(state.number)
            }),
            Property::always("mutex", |_, state: &Numbers| {
                state.threads.iter().filter(|t| (1..4).contains(&t.line)).count() <= 1
            }),
        ]
    }

    fn may_end(&self, _: &Numbers) -> bool {
        true
    }
}

/// A model in Rust, the same in Promela, and the peer's.
struct Case {
    name: &'static str,
    size: u8,
    rust: Source,
    questions: Vec<Question>,
    promela: Source,
    /// The same questions about the twin.
    twins: Vec<Question>,
    /// What the peer calls it.
    peer: &'static str,
}

/// What one search took.
#[derive(Debug, Clone, Copy)]
struct Taken {
    states: u64,
    seconds: f64,
}

impl Taken {
    fn rate(self) -> f64 {
        self.states as f64 / self.seconds.max(1e-9)
    }
}

fn case<M: Model + Send + Sync + 'static>(
    name: &'static str,
    size: u8,
    model: M,
    promela: &str,
    twins: Vec<Question>,
    peer: &'static str,
) -> Case {
    let questions = model.properties().iter().filter_map(Property::question).collect();
    let twin = Path::new("crates/volee-models/twins").join(promela);
    // As it was written: an optimised program forgets what nobody reads, and has fewer states.
    let promela = Source::new(twin, volee::Options::default()).define("N", &size.to_string()).plain();
    Case { name, size, rust: source(Arc::new(model)), questions, promela, twins, peer }
}

/// An expression for each of so many, joined.
fn of_each(size: u8, operator: &str, one: impl Fn(u8) -> String) -> String {
    (0..size).map(one).collect::<Vec<_>>().join(operator)
}

fn two_phase(size: u8) -> Case {
    let all = |operator, state| of_each(size, operator, |i| format!("manager[{i}] == {state}"));
    let consistent = format!("!(({}) && ({}))", all(" || ", "aborted"), all(" || ", "committed"));
    let twins = vec![
        Question::invariant(consistent),
        Question::reachable(all(" && ", "aborted")),
        Question::reachable(all(" && ", "committed")),
    ];
    case("two-phase commit", size, TwoPhase::new(size), "two_phase.pml", twins, "2pc")
}

fn lock(size: u8) -> Case {
    let at = |labels: &[&str]| {
        of_each(size, " + ", |i| {
            let one = labels.iter().map(|label| format!("Thread[{i}]@{label}"));
            format!("({})", one.collect::<Vec<_>>().join(" || "))
        })
    };
    let twins = vec![
        Question::invariant(format!("{} == number", at(&["written", "end"]))),
        Question::invariant(format!("{} <= 1", at(&["locked_it", "seen_it", "written"]))),
    ];
    case("increment under a lock", size, Increment { threads: size }, "lock.pml", twins, "increment_lock")
}

/// One exact search of all states by this thread alone, without reduction.
fn explored(source: &Source, questions: &[Question]) -> Result<Taken, String> {
    let settings = Settings { reduction: Some(Reduction::None), ..Settings::default() };
    let asked = ask(source).engine(Engine::Workers(1)).settings(settings);
    let asked = asked.question(Question::Assertions).questions(questions.iter().cloned());
    let start = process_seconds();
    let answers = asked.run(&mut Quiet).map_err(|wrong| format!("{wrong:?}"))?;
    let seconds = process_seconds() - start;
    match answers.all_hold() {
        true => Ok(Taken { states: answers.figures.states(), seconds }),
        false => Err(format!("{}: something does not hold", source.path.display())),
    }
}

/// One search by the peer, on one core; nothing where it is not there.
fn by_peer(directory: &Path, case: &Case) -> Result<Taken, String> {
    let program = directory.join("target/release/examples").join(case.peer);
    if !program.exists() {
        return Err(format!("{} is not there", program.display()));
    }
    // The shell tells the CPU time of what it has run.
    let script = r#"taskset -c 0 "$0" check "$1"; times"#;
    let words = [program.as_os_str(), case.size.to_string().as_ref()].map(std::ffi::OsStr::to_os_string);
    let output =
        Command::new("bash").arg("-c").arg(script).args(words).output().map_err(|e| e.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout);
    let unique = |line: &str| line.split("unique=").nth(1)?.split(',').next()?.trim().parse().ok();
    let states = text.lines().filter(|l| l.starts_with("Done")).find_map(unique);
    let states = states.ok_or_else(|| format!("{} says nothing of states: {text}", program.display()))?;
    let seconds = text.lines().last().map(|l| l.split_whitespace().filter_map(minutes).sum()).unwrap_or(0.0);
    Ok(Taken { states, seconds })
}

/// Seconds of `0m1.250s`.
fn minutes(text: &str) -> Option<f64> {
    let (minutes, seconds) = text.strip_suffix('s')?.split_once('m')?;
    Some(minutes.parse::<f64>().ok()? * 60.0 + seconds.parse::<f64>().ok()?)
}

fn best(old: Option<Taken>, new: Taken) -> Option<Taken> {
    Some(match old {
        Some(old) if old.seconds <= new.seconds => old,
        _ => new,
    })
}

/// Measures, prints a table, and stores it.
pub fn bench(arguments: &[String]) -> Result<(), String> {
    let after = |flag: &str| {
        arguments.iter().position(|word| word == flag).and_then(|at| arguments.get(at + 1)).cloned()
    };
    let directory = after("--stateright").map(PathBuf::from);
    let smaller = after("--smaller").map_or(Ok(0), |n| n.parse::<u8>()).map_err(|e| e.to_string())?;
    let (managers, threads) = (9u8.saturating_sub(smaller).max(2), 9u8.saturating_sub(smaller).max(2));
    let mut rows = Vec::new();
    for case in [two_phase(managers), lock(threads)] {
        measure(&case, directory.as_deref(), &mut rows)?;
    }
    if directory.is_none() {
        println!("skipped: Stateright (name a checkout with its examples built: --stateright DIRECTORY)");
    }
    store(&rows)
}

/// What is asked, who is asked and what it took, in turns.
fn measure(case: &Case, directory: Option<&Path>, rows: &mut Vec<[String; 8]>) -> Result<(), String> {
    let all = [("properties", &*case.questions, &*case.twins), ("assertions", &[], &[])];
    let mut taken = [[None; 3]; 2];
    for _ in 0..TURNS {
        for ((_, rust, promela), taken) in all.iter().zip(&mut taken) {
            taken[0] = best(taken[0], explored(&case.rust, rust)?);
            taken[1] = best(taken[1], explored(&case.promela, promela)?);
        }
        if let Some(directory) = directory {
            taken[0][2] = best(taken[0][2], by_peer(directory, case)?);
        }
    }
    for ((asked, ..), taken) in all.iter().zip(taken) {
        let rust = taken[0].ok_or("nothing was measured")?;
        for (who, taken) in ["Rust", "Promela", "Stateright"].into_iter().zip(taken) {
            let Some(taken) = taken else { continue };
            rows.push(row(case, asked, who, taken, rust.rate() / taken.rate()));
        }
    }
    Ok(())
}

/// A line of the table, printed.
fn row(case: &Case, asked: &str, who: &str, taken: Taken, ratio: f64) -> [String; 8] {
    println!(
        "{:<24} {:>3}  {asked:<10} {who:<10} {:>12} states {:>9.3} s CPU {:>12.0} states/s   Rust is {ratio:.2} x",
        case.name,
        case.size,
        taken.states,
        taken.seconds,
        taken.rate()
    );
    [
        case.name.to_string(),
        case.size.to_string(),
        asked.to_string(),
        who.to_string(),
        taken.states.to_string(),
        format!("{:.3}", taken.seconds),
        format!("{:.0}", taken.rate()),
        format!("{ratio:.2}"),
    ]
}

fn store(rows: &[[String; 8]]) -> Result<(), String> {
    let mut writer = csv::Writer::from_path("bench/models.csv").map_err(|e| e.to_string())?;
    let head =
        ["model", "size", "asked", "who", "states", "cpu_seconds", "states_per_second", "rust_is_faster_by"];
    writer.write_record(head).map_err(|e| e.to_string())?;
    rows.iter().try_for_each(|row| writer.write_record(row)).map_err(|e| e.to_string())?;
    writer.flush().map_err(|e| e.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_in_rust_have_the_states_of_their_twins_in_promela() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        for size in 2..5 {
            for mut case in [two_phase(size), lock(size)] {
                case.promela.path = root.join(&case.promela.path);
                let rust = explored(&case.rust, &case.questions).expect("it holds");
                let twin = explored(&case.promela, &case.twins).expect("it holds");
                assert_eq!(rust.states, twin.states, "{} {size}", case.name);
            }
        }
    }

    #[test]
    fn the_shells_way_to_tell_time_is_understood() {
        assert_eq!(minutes("1m2.500s"), Some(62.5));
        assert_eq!(minutes("Done"), None);
    }
}
