//! Compares the programs of some seeds: `cargo run -p volee-testkit --features agreement --example programs
//! -- SEED COUNT [spin]`. `cargo xtask oracle programs` does the same with never claims and two workers.

use volee_testkit::agreement::Hooks;
use volee_testkit::spin::Spin;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize| arguments.get(at).and_then(|text| text.parse().ok());
    let (seed, count) = (number(0).unwrap_or(0), number(1).unwrap_or(100));
    let spin = arguments.iter().any(|a| a == "spin").then(|| Spin::new().expect("SPIN is asked for"));
    println!("{}", volee_testkit::oracle::run(seed..seed + count, spin.as_ref(), Hooks::default()));
}
