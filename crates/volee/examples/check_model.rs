//! Opens a model, looks at every state, and tells the shortest way to the first error.
//!
//! cargo run --example check_model -- models/demo/courier.pml

use std::process::ExitCode;

use volee::report::{Palette, TextLayout, run_text};
use volee::search::{Check, Order, check};
use volee::system::{Budget, Meter, Quiet, Verdict, replay};
use volee::{Model, Options};

fn main() -> ExitCode {
    let path = std::env::args().nth(1).unwrap_or_else(|| "models/demo/courier.pml".into());
    let mut model = match Model::open(&path, &Options::default()) {
        Ok(model) => model,
        Err(messages) => {
            messages.iter().for_each(|m| eprintln!("{m}"));
            return ExitCode::from(2);
        }
    };
    let meter = Meter::start(Budget { memory: Some(1 << 30), ..Budget::default() });
    let questions = Check::new().order(Order::BreadthFirst);
    let outcome = check(model.system.as_mut(), &questions, &meter, &mut Quiet);
    println!("{} states, {} transitions", outcome.statistics.states, outcome.statistics.transitions);
    for answer in &outcome.answers {
        let Verdict::Violated(violations) = &answer.verdict else { continue };
        let first = &violations[0];
        println!("{}: {}", answer.question, first.reason.message);
        let run = replay(model.system.as_mut(), &first.witness).expect("a witness replays");
        let layout = TextLayout { palette: Palette::Plain, model: &path, longest: 100 };
        print!("{}", run_text(&run, layout));
        return ExitCode::from(1);
    }
    ExitCode::SUCCESS
}
