//! `volee advise MODEL`: which engines fit a model, what each could answer, and what stands in the way of the
//! others.

use std::path::Path;

use clap::Args;
use volee::advise::{Asks, Need, Use, advise};
use volee::render::advise::advised;
use volee::report::quoted;

use crate::args::ModelArgs;
use crate::context::Context;
use crate::outcome::Ended;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  volee advise server.pml                  what each engine could answer, or what stands in its way
  volee advise server.pml --format json    the same for a script
  volee check server.pml --engine auto     the answers, and which engines could answer more")]
pub struct Advise {
    #[command(flatten)]
    model: ModelArgs,
}

impl Advise {
    pub fn run(self, context: &Context) -> Ended {
        let advice = advise(&self.model.source())?;
        context.warn(&advice.warnings);
        let path = self.model.model.as_path();
        Ok(advised(&advice, &|one| commands(path, one), context.palette))
    }
}

/// The commands by which a model is used in a way.
pub fn commands(model: &Path, one: &Use) -> Vec<String> {
    if !one.fits() {
        return Vec::new();
    }
    let model = quoted(&model.display().to_string());
    let channels = || {
        let named = one.needs.iter().find_map(|need| match need {
            Need::Channels(names) => Some(names.as_slice()),
            Need::ForAny(..) => None,
        });
        match named {
            None => String::new(),
            Some([]) => " --inputs CHANNEL --outputs CHANNEL".into(),
            Some([both]) => format!(" --inputs {both} --outputs {both}"),
            Some([first, rest @ ..]) => format!(" --inputs {first} --outputs {}", rest.join(",")),
        }
    };
    match one.way {
        "explicit" => vec![format!("volee check {model}")],
        "families" if one.needs.is_empty() => vec![format!("volee check {model} --engine families")],
        "families" => one.needs.iter().filter_map(|need| for_any(&model, need)).collect(),
        "equations" => vec![format!("volee check {model} --mu '[true*] <true> true'")],
        "comparison" => vec![format!("volee compare {model} OTHER --relation branching")],
        "tests" => vec![format!("volee tests {model}{} --suite -o tests", channels())],
        "program" => vec![format!("volee conform {model}{} --random 100 -- COMMAND", channels())],
        engine => vec![format!("volee check {model} --engine {engine}")],
    }
}

/// The command that asks about a process type in any number.
fn for_any(model: &str, need: &Need) -> Option<String> {
    let Need::ForAny(name, asks) = need else { return None };
    let asked = match asks {
        Asks::Assertions => "",
        Asks::Deadlock => " --only deadlock",
        Asks::Condition => " --invariant CONDITION",
    };
    Some(format!("volee check {model} --engine families --for-any {name}{asked}"))
}
