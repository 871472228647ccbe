//! Five models in Rust: `cargo run --example models -- two-phase`, with `--explore` the explorer, with
//! `--report FILE` a page.

mod bounded_buffer;
mod election;
mod german;
mod queue;
mod two_phase;

use bounded_buffer::{BoundedBuffer, Wakes};
use volee_models::{Check, Model};

const USAGE: &str = "models: two-phase [N], election [N], german [N], queue, buffer [N], java-buffer [N]; then --explore or --report FILE";

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let number = |usual: u8| words.get(1).and_then(|word| word.parse().ok()).unwrap_or(usual);
    match words.first().map(String::as_str) {
        Some("two-phase") => answer(two_phase::TwoPhase::new(number(5)).check(), &words),
        Some("election") => answer(election::election(number(3), 2).check(), &words),
        Some("german") => answer(german::German { clients: number(3), hasty: false }.check(), &words),
        Some("queue") => answer(queue::LockFreeQueue::reuse(true).check(), &words),
        Some("buffer") => answer(buffer(number(4), Wakes::TheOthers).check(), &words),
        Some("java-buffer") => answer(buffer(number(4), Wakes::Anybody).check(), &words),
        _ => println!("{USAGE}"),
    }
}

fn buffer(producers: u8, wakes: Wakes) -> BoundedBuffer {
    BoundedBuffer { producers, consumers: 3, capacity: 3, wakes }
}

/// Checks a model, and shows it as it is asked for.
fn answer<M: Model + Send + Sync + 'static>(check: Check<M>, words: &[String]) {
    if words.iter().any(|word| word == "--explore") {
        if let Err(wrong) = check.explore() {
            println!("{wrong}");
        }
        return;
    }
    let checked = check.run();
    print!("{}", checked.text());
    let file = words.iter().position(|word| word == "--report").and_then(|at| words.get(at + 1));
    if let Some(file) = file {
        match checked.write_report(file) {
            Ok(()) => println!("report written to {file}"),
            Err(wrong) => println!("{file}: {wrong}"),
        }
    }
}
