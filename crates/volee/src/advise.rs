//! One model, every engine: which of them fit, what each could answer, and what in the model stands in the
//! way of the others.
//!
//! Nothing is searched. Each engine is asked to read the model as it would to answer, and its own reasons are
//! told, each with its place and what to change. What depends on the question alone is in the table of
//! `engine.rs`.
//!
//! ```
//! use volee::{Source, advise};
//!
//! let source = Source::open("../../models/demo/courier.pml").expect("it is there");
//! let advice = advise(&source).expect("it can be read");
//! assert!(advice.uses.iter().any(|u| u.way == "explicit" && u.fits()));
//! ```

use volee_channels::Buffered;
use volee_counters::{ProcessOptions, translate};
use volee_families::{FamilyError, Questions, family_of};
use volee_program::{Action, Expr, Program, Scope};
use volee_promela::Lowered;
use volee_system::{Budget, Diagnostic};

use crate::answer::AskError;
use crate::claims::claims;
use crate::engine::Engine;
use crate::engines::families::relevant;
use crate::engines::watching;
use crate::model::{Model, Options};
use crate::question::{Kind, Question};
use crate::settings::{Asked, Settings};
use crate::source::Source;

/// What can be done with a model.
#[derive(Debug, Clone)]
pub struct Advice {
    /// The model as the user names it.
    pub model: String,
    /// What kind of file it is.
    pub language: &'static str,
    /// Every way to use it, whether it fits or not.
    pub uses: Vec<Use>,
    /// What the author of the model should know.
    pub warnings: Vec<Diagnostic>,
}

/// One way to use a model: an engine, or what is done with it beside checking.
#[derive(Debug, Clone)]
pub struct Use {
    /// Its name: an engine, or `comparison`, `tests`, `program`.
    pub way: &'static str,
    /// What it is for, a clause without a full stop.
    pub purpose: &'static str,
    /// The kinds of questions that it answers about this model.
    pub answers: Vec<Kind>,
    /// The claims of the model that it decides, and those that it does not, with the reason.
    pub claims: Vec<(Question, Result<(), String>)>,
    /// What must be named.
    pub needs: Vec<Need>,
    /// What stands in the way; nothing where it fits.
    pub obstacles: Vec<Diagnostic>,
    /// What else there is to know.
    pub remarks: Vec<String>,
}

/// Something that must be named for an engine to be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Need {
    /// A process type that can come in any number, and what can be asked then.
    ForAny(String, Asks),
    /// Channels over which a tester sends and sees: those of the model.
    Channels(Vec<String>),
}

/// What can be asked of a family.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asks {
    /// Assertions, which the model has.
    Assertions,
    /// Deadlock: there is no assertion that could fail.
    Deadlock,
    /// Only what the user adds, a condition or a formula.
    Condition,
}

impl Use {
    /// Whether the model can be used in this way as it is.
    pub fn fits(&self) -> bool {
        self.obstacles.is_empty()
    }

    fn new(way: &'static str, purpose: &'static str) -> Self {
        let (answers, claims, needs, obstacles, remarks) = Default::default();
        Use { way, purpose, answers, claims, needs, obstacles, remarks }
    }
}

/// Looks at a model with the eyes of every engine.
///
/// # Errors
/// The model cannot be read at all.
pub fn advise(source: &Source) -> Result<Advice, AskError> {
    let model = Model::open(&source.path, &Options { dormant: true, ..source.options.clone() })?;
    // Whoever explores needs processes that are there at the start.
    let explored = Model::open(&source.path, &source.options).err().unwrap_or_default();
    let uses = vec![
        explicit(source, &model, &explored),
        families(source, &model),
        channels(source, &model),
        counters(source, &model),
        equations(source, &model, &explored),
        comparison(&explored),
        tests(&model, &explored),
        program(&model, &explored),
    ];
    Ok(Advice { model: model.name, language: model.language, uses, warnings: model.warnings })
}

/// What an engine says of kinds of questions, and of the model's own claims.
fn with_questions(mut one: Use, engine: &Engine, source: &Source, model: &Model) -> Use {
    one.answers = Kind::ALL.into_iter().filter(|kind| engine.way(*kind).is_ok()).collect();
    let settings = Settings::default();
    let budget = Budget::default();
    let asked = Asked { settings: &settings, options: &source.options, budget: &budget };
    let told = |claim: Question| {
        let refused = engine.refuses(&claim, &asked).map(|refusal| refusal.to_string());
        (claim, refused.map_or(Ok(()), Err))
    };
    one.claims = claims(model).into_iter().map(told).collect();
    one
}

fn extension(source: &Source) -> String {
    if source.options.made.is_some() { String::new() } else { source.extension() }
}

fn explicit(source: &Source, model: &Model, explored: &[Diagnostic]) -> Use {
    let mut one = Use::new("explicit", "a search of all states, one by one or by several workers");
    one = with_questions(one, &Engine::Explicit, source, model);
    one.obstacles = explored.to_vec();
    match extension(source).as_str() {
        "scm" => one.remarks.push("channels are unbounded, so a search need not end".into()),
        "spec" | "fst" => {
            one.remarks.push("one instance: the least number of tokens, or the one that is chosen".into())
        }
        _ => {}
    }
    one
}

/// The process types that may come in any number: those that do already, or that nobody starts; else all.
fn candidates(program: &Program) -> Vec<String> {
    let copies = |number: usize| program.active.iter().filter(|p| usize::from(p.0) == number).count();
    let named = program.proctypes.iter().enumerate().filter(|(_, p)| p.name != ":init:");
    let all: Vec<(usize, String)> = named.map(|(number, p)| (copies(number), p.name.clone())).collect();
    let several: Vec<String> =
        all.iter().filter(|(copies, _)| *copies != 1).map(|(_, name)| name.clone()).collect();
    if several.is_empty() { all.into_iter().map(|(_, name)| name).collect() } else { several }
}

fn families(source: &Source, model: &Model) -> Use {
    let one = Use::new("families", "one answer for every number of processes");
    let mut one = with_questions(one, &Engine::Families, source, model);
    if extension(source) == "spec" {
        one.answers.retain(|kind| *kind == Kind::Coverable);
        return one;
    }
    one.answers.retain(|kind| *kind != Kind::Coverable);
    let Some(lowered) = &model.promela else {
        one.obstacles.push(unread("families are read from Promela models and .spec nets", model));
        return one;
    };
    let as_family = |name: &str, deadlock: bool| {
        let questions = Questions { deadlock, ..Questions::default() };
        let program = relevant(lowered, &questions, None);
        family_of(&program, &[name.to_string()], &questions, None)
    };
    let mut refused = Vec::new();
    for name in candidates(&lowered.program) {
        match as_family(&name, false) {
            Ok(family) => {
                // Whether deadlock is decided matters only where nothing else is: finding out costs as much
                // again.
                let asks = match family.asked.is_empty() {
                    false => Asks::Assertions,
                    true if as_family(&name, true).is_ok() => Asks::Deadlock,
                    true => Asks::Condition,
                };
                one.needs.push(Need::ForAny(name, asks));
            }
            Err(error) => {
                let all = match error {
                    FamilyError::Refused(all) => all,
                    other @ FamilyError::Malformed(_) => vec![Diagnostic::error(other.to_string(), None)],
                };
                refused.push((name, all));
            }
        }
    }
    if one.needs.is_empty() {
        let none = || vec![Diagnostic::error("there is no process type that could come in any number", None)];
        one.obstacles = refused.into_iter().next().map_or_else(none, |(_, all)| all);
        for wrong in one.obstacles.iter_mut().filter(|d| d.help.is_none()) {
            let help = "say it without that, or ask the explicit search about one number of processes after the other";
            wrong.help = Some(help.into());
        }
        return one;
    }
    for (name, all) in refused {
        let why = all.first().map(|wrong| match &wrong.help {
            Some(help) => format!("{wrong} ({help})"),
            None => wrong.to_string(),
        });
        one.remarks.push(format!("not with `{name}` in any number: {}", why.unwrap_or_default()));
    }
    one
}

fn channels(source: &Source, model: &Model) -> Use {
    let one = Use::new("channels", "whether any finite buffer is enough, and which is");
    let mut one = with_questions(one, &Engine::Channels, source, model);
    match &model.promela {
        _ if extension(source) == "scm" => {}
        Some(lowered) => {
            if let Err(all) = Buffered::new(&lowered.program) {
                one.obstacles = all;
            }
        }
        None => one.obstacles.push(unread("channels are read from Promela models and .scm machines", model)),
    }
    for wrong in one.obstacles.iter_mut().filter(|d| d.help.is_none()) {
        wrong.help = Some(match wrong.message.contains("no buffered channel") {
            true => "give a channel room for messages: `chan c = [1] of { byte }` outside all processes".into(),
            false => "receive what stands at the front of a channel declared outside all processes, and decide by what was received".to_string(),
        });
    }
    one
}

fn counters(source: &Source, model: &Model) -> Use {
    let one =
        Use::new("counters", "integers taken as unbounded, by sets of them, also for any initial value");
    let mut one = with_questions(one, &Engine::Counters, source, model);
    for (claim, decided) in one.claims.iter_mut().filter(|(claim, _)| matches!(claim, Question::Ltl { .. })) {
        if let Some(why) = watching::refuses(claim, &Settings::default()) {
            *decided = Err(why);
        }
    }
    let own_target = matches!(extension(source).as_str(), "fst" | "spec");
    one.answers.retain(|kind| match own_target {
        true => matches!(kind, Kind::Target | Kind::Invariant | Kind::Reachable),
        false => *kind != Kind::Target,
    });
    match &model.promela {
        _ if own_target => {}
        Some(lowered) => {
            if let Err(all) = translate(&lowered.program, &ProcessOptions::default()) {
                one.obstacles = all;
            }
        }
        None => {
            let message = "unbounded integers are read from Promela models, .fst and .spec files";
            one.obstacles.push(unread(message, model));
        }
    }
    for wrong in one.obstacles.iter_mut().filter(|d| d.help.is_none()) {
        wrong.help = Some(match wrong.message.contains("never claims") {
            true => "ask the claim of the explicit search, and this engine in a copy without it".into(),
            false => "make the part that it names smaller, or ask the explicit search".to_string(),
        });
    }
    one
}

fn equations(source: &Source, model: &Model, explored: &[Diagnostic]) -> Use {
    let one = Use::new("equations", "formulas of the mu-calculus over events, as boolean equations");
    let mut one = with_questions(one, &Engine::Equations, source, model);
    one.obstacles = explored.to_vec();
    one
}

fn comparison(explored: &[Diagnostic]) -> Use {
    let mut one = Use::new(
        "comparison",
        "equal to another system or not, in thirteen senses; smaller systems that are equal",
    );
    one.obstacles = explored.to_vec();
    one
}

/// The channels by which the processes of a program talk, that exist from the start.
fn talked_over(lowered: &Lowered) -> Vec<String> {
    let program = &lowered.program;
    let transitions = program.proctypes.iter().flat_map(|p| &p.nodes).flat_map(|n| &n.transitions);
    let mut used = Vec::new();
    for transition in transitions {
        collect_channels(&transition.action, &mut used);
    }
    let mut names: Vec<String> = program
        .channels
        .iter()
        .filter(|c| c.holder.scope == Scope::Global && used.contains(&c.holder.offset))
        .map(|c| c.name.split('[').next().unwrap_or(&c.name).to_string())
        .collect();
    names.dedup();
    names
}

/// The globals that hold the channels of an action.
fn collect_channels(action: &Action, used: &mut Vec<u32>) {
    match action {
        Action::Send { channel, .. } | Action::Receive { channel, .. } => {
            if let Expr::Load(location) = channel
                && location.scope == Scope::Global
            {
                used.push(location.offset);
            }
        }
        Action::Sequence(actions) => actions.iter().for_each(|a| collect_channels(a, used)),
        _ => {}
    }
}

/// What a tester needs of a specification.
fn visible(mut one: Use, model: &Model, explored: &[Diagnostic]) -> Use {
    one.obstacles = explored.to_vec();
    let Some(lowered) = &model.promela else {
        one.remarks.push(
            "inputs are labels that begin with `?`, outputs those with `!`, unless others are named".into(),
        );
        return one;
    };
    let names = talked_over(lowered);
    if names.is_empty() && one.obstacles.is_empty() {
        let wrong = Diagnostic::error(
            "no process sends or receives over a global channel, so a tester sees nothing",
            None,
        );
        one.obstacles.push(wrong.with_help("declare the channels to the environment outside all processes"));
    }
    one.needs.push(Need::Channels(names));
    one
}

fn tests(model: &Model, explored: &[Diagnostic]) -> Use {
    visible(
        Use::new("tests", "tests made from the model: for a goal, or a suite that covers it"),
        model,
        explored,
    )
}

fn program(model: &Model, explored: &[Diagnostic]) -> Use {
    let purpose = "a real program run against the tests, or against the model itself";
    visible(Use::new("program", purpose), model, explored)
}

/// A kind of model that an engine does not read.
fn unread(message: &str, model: &Model) -> Diagnostic {
    let help =
        format!("this is a {}; ask the explicit search, or write the model in one of those", model.language);
    Diagnostic::error(message, None).with_help(help)
}
