//! Where the explorer touches the library: a model opened as the plain program, and questions asked at the
//! door.
//!
//! The explorer always steps the plain program: what the user wrote, nothing merged and nothing forgotten.
//! Questions are asked of the plain program as well, so that a run that is found is a run that can be walked
//! through.

use serde::Deserialize;
use volee::search::{Fairness, Order};
use volee::system::{Budget, Progress};
use volee::{Answers, AskError, Engine, Model, Question, Settings, Source, ask};

/// A question as the page asks it.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Wish {
    /// Deadlocks, assertions, run-time errors.
    Safety,
    /// An expression that must always be true.
    Invariant { text: String },
    /// An expression that must be true at some time.
    Reachable { text: String },
    /// A formula about infinite runs.
    Ltl { text: String },
    /// A formula about finite runs, over events.
    Tl { text: String },
    /// A formula of the mu-calculus.
    Mu { text: String },
    /// An `ltl` block or a never claim of the model.
    Property { text: String },
    /// No run goes on for ever without progress.
    Progress,
}

/// How a question is to be answered.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default)]
pub struct How {
    /// Breadth-first, for a shortest run.
    pub shortest: bool,
    /// Only fair runs count.
    pub fair: bool,
}

/// The same model as the plain program.
pub fn plain(source: &Source) -> Source {
    source.clone().plain()
}

/// The source files of a model: the one that was named, and those it includes.
pub fn files(model: &Model) -> Vec<(String, String)> {
    let included = model.promela.iter().flat_map(|p| p.included()).map(str::to_string);
    let names = std::iter::once(model.name.clone()).chain(included);
    names.filter_map(|name| volee::text_of(&name).map(|text| (name, text))).collect()
}

/// The claims of a model, by name, with their text.
pub fn properties(model: &Model) -> Vec<(String, String)> {
    let told = volee::claims::claims(model).into_iter().filter_map(|question| match question {
        Question::Ltl { name: Some(name), text } => Some((name, text)),
        Question::Never(name) => Some((name, "never claim".to_string())),
        _ => None,
    });
    told.collect()
}

/// Answers a question of the page.
///
/// # Errors
/// It means nothing for this model.
pub fn check(
    source: &Source,
    wish: &Wish,
    how: How,
    budget: Budget,
    progress: &mut dyn Progress,
) -> Result<Answers, AskError> {
    // What a question does not heed is not set: the door would refuse it.
    let coverage = !matches!(wish, Wish::Mu { .. });
    let mut settings = Settings { coverage, ..Settings::default() };
    match wish {
        Wish::Safety | Wish::Invariant { .. } | Wish::Reachable { .. } | Wish::Tl { .. } if how.shortest => {
            settings.order = Order::BreadthFirst;
        }
        Wish::Ltl { .. } | Wish::Property { .. } | Wish::Progress if how.fair => {
            settings.fairness = Fairness::Weak;
        }
        _ => {}
    }
    let source = plain(source);
    let asked = ask(&source).engine(Engine::Auto).settings(settings).budget(budget);
    let asked = match wish {
        Wish::Safety => asked.question(Question::Deadlock).question(Question::Assertions),
        Wish::Invariant { text } => asked.question(Question::invariant(text)),
        Wish::Reachable { text } => asked.question(Question::reachable(text)),
        Wish::Ltl { text } => asked.question(Question::ltl(text)),
        Wish::Tl { text } => asked.question(Question::Tl(text.clone())),
        Wish::Mu { text } => asked.question(Question::mu(text)),
        Wish::Property { text } => asked.claim(text),
        Wish::Progress => asked.question(Question::Progress),
    };
    asked.run(progress)
}
