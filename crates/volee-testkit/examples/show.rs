//! Prints the program of a seed: `cargo run -p volee-testkit --example show -- 17 [peer]`.

use volee_testkit::promela::{Audience, program};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let seed = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(0);
    let audience = if arguments.next().is_some() { Audience::Peer } else { Audience::Ourselves };
    print!("{}", program(seed, audience));
}
