//! Comparisons with peers, benchmarks with stored runs, figures: everything that is not the product itself.
//!
//! `cargo xtask corpus promela` and the like. Each subject has a file of its own, with a `run(arguments)`; to
//! add one, add its module and its line in `dispatch`.

mod bench;
mod beside;
mod browser;
mod claims_bench;
mod cluster;
mod conform;
mod counters;
mod equations;
mod errors_bench;
mod families;
mod limits;
mod lts;
mod memory;
mod memory_bench;
mod memory_plot;
mod memory_twin;
mod models;
mod nets;
mod package;
mod python;
mod resident;
mod speedup;
mod temporal;
mod temporal_bench;
/// The worked example, measured as it is.
#[allow(dead_code)]
#[path = "../../crates/volee-models/examples/models/two_phase.rs"]
mod two_phase;

use std::process::ExitCode;

/// Counts what is held, so that fuzzing sees inputs that take too much.
#[global_allocator]
static ALLOCATOR: volee::store::Counting = volee::store::Counting;

const USAGE: &str = "\
usage: cargo xtask SUBJECT [WHAT] [ARGUMENTS]

subjects:
";

/// What can be run: its name, what it does, and how.
type Subject = (&'static str, &'static str, fn(&[String]) -> Result<(), String>);

const SUBJECTS: &[Subject] = &[
    ("bench", "measurements beside those of peers", bench::run),
    ("browser", "the explorer in a real browser: `install`, `test`, `measure`, `screenshots`", browser::run),
    (
        "figures",
        "`memory`: searches in ever less memory; `resident`: their peak from outside; `families`: ten problems; \
         `speedup`: several workers against one",
        figures,
    ),
    ("corpus", "compares with the answers of independent tools", xtask::corpus::run),
    (
        "faults",
        "known verdicts, disturbed: kills, stops, signals, cut links: [COUNT [SEED [BINARY]]]",
        xtask::faults::run,
    ),
    ("fuzz", "mutated inputs for every parser and for the wire: [SECONDS [SEED [TARGET]]]", xtask::fuzz::run),
    ("limits", "every verb and engine on inputs that are too large, in 64 MB and 2 s", limits::run),
    ("oracle", "compares random cases with a peer on this machine", xtask::oracle::run),
    ("package", "`deb`, `tar`, `tree`: what people install, with manual pages and completions", package::run),
    ("python", "the Python package: `test` (its wheel, in an environment of its own), `wheel`", python::run),
    (
        "temporal",
        "`oracle`: claims against SPIN's verdicts; `curves`: the 1989 figures; `random`: a naive evaluator",
        temporal::run,
    ),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match dispatch(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::from(2)
        }
    }
}

fn figures(arguments: &[String]) -> Result<(), String> {
    match arguments.first().map(String::as_str) {
        Some("memory") => memory::run(&arguments[1..]),
        Some("resident") => resident::run(&arguments[1..]),
        Some("families") => families::run(&arguments[1..]),
        Some("speedup") => speedup::run(&arguments[1..]),
        _ => Err(
            "usage: cargo xtask figures memory [DIRECTORY [FAMILY]] | resident [MODEL [MEMORY]] | families | \
             speedup [FILE]"
                .into(),
        ),
    }
}

fn dispatch(arguments: &[String]) -> Result<(), String> {
    let named = arguments.first().and_then(|name| SUBJECTS.iter().find(|(subject, ..)| subject == name));
    match named {
        Some((_, _, run)) => run(&arguments[1..]),
        None => {
            let lines = SUBJECTS.iter().map(|(name, what, _)| format!("  {name:<10} {what}\n"));
            Err(format!("{USAGE}{}", lines.collect::<String>()))
        }
    }
}
