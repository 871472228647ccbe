//! Opens a model, asks the usual questions, and tells the shortest way to the first error.
//!
//! cargo run --example check_model -- models/demo/courier.pml

use std::error::Error;

use volee::report::{Palette, TextLayout, run_text};
use volee::search::Order;
use volee::system::Quiet;
use volee::{Settings, Source, ask};

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "models/demo/courier.pml".into());
    let settings = Settings { order: Order::BreadthFirst, ..Settings::default() };
    let answers = ask(&Source::open(&path)?).settings(settings).run(&mut Quiet)?;
    println!("{} states", answers.figures.states());
    for answer in &answers {
        let (Some(reason), Some(run)) = (answer.reason(), answer.run()) else { continue };
        println!("{}: {}", answer.question, reason.message);
        print!("{}", run_text(run, TextLayout { palette: Palette::Plain, model: &path, longest: 100 }));
    }
    Ok(())
}
