//! What the verbs over unbounded integers share: which variables are unbounded, and opening a model as a counter
//! program.

use std::path::Path;

use clap::{Args, ValueEnum};
use volee::counters::{
    Direction, ProcessOptions, Program, Region, Translation, parse_condition, parse_fst, parse_spec,
    translate,
};
use volee::program::Expr;
use volee::promela::{Lowered, parse_predicate};
use volee::system::Diagnostic;

use crate::args::ModelArgs;
use crate::context::Context;
use crate::outcome::Failure;

/// What only this engine asks for.
#[derive(Debug, Clone, Args)]
pub struct CountersArgs {
    /// With --engine counters: the int variables that are unbounded [default: all]
    #[arg(long, value_name = "VARIABLE", value_delimiter = ',', help_heading = "Counters")]
    pub symbolic: Vec<String>,

    /// Variables whose initial values are left open; the answer says for which of them
    #[arg(long, value_name = "VARIABLE", value_delimiter = ',', help_heading = "Counters")]
    pub parameter: Vec<String>,

    /// What is known of the initial values, e.g. 'N >= 1'
    #[arg(long, value_name = "EXPR", help_heading = "Counters")]
    pub assume: Vec<String>,
}

/// Where the symbolic search starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum SearchDirection {
    /// From the initial states.
    Forward,
    /// From the bad states.
    Backward,
    /// From both, in turn.
    #[default]
    Both,
}

impl From<SearchDirection> for Direction {
    fn from(direction: SearchDirection) -> Self {
        match direction {
            SearchDirection::Forward => Direction::Forward,
            SearchDirection::Backward => Direction::Backward,
            SearchDirection::Both => Direction::Both,
        }
    }
}

impl CountersArgs {
    /// The first flag that was given, to refuse it where another engine runs.
    pub fn given(&self) -> Option<&'static str> {
        let flags = [
            (!self.symbolic.is_empty(), "--symbolic"),
            (!self.parameter.is_empty(), "--parameter"),
            (!self.assume.is_empty(), "--assume"),
        ];
        flags.into_iter().find(|f| f.0).map(|f| f.1)
    }
}

/// A model as a counter program.
pub enum Subject {
    /// Given as one (`.fst`, `.spec`), with its own question.
    Program(Box<Program>),
    /// A Promela model.
    Processes(Box<(Translation, Lowered)>),
}

impl Subject {
    /// The counter program.
    pub fn program(&self) -> &Program {
        match self {
            Subject::Program(program) => program,
            Subject::Processes(both) => &both.0.program,
        }
    }

    /// Whether a location is a state that users know of.
    pub fn is_visible(&self, location: usize) -> bool {
        match self {
            Subject::Program(_) => true,
            Subject::Processes(both) => both.0.visible[location],
        }
    }

    /// Opens a model.
    pub fn open(model: &ModelArgs, args: &CountersArgs, context: &Context) -> Result<Subject, Failure> {
        let extension = model.model.extension().map(|e| e.to_string_lossy().to_lowercase());
        match extension.as_deref() {
            Some("fst" | "spec") => open_program(&model.model, args),
            _ => open_processes(model, args, context),
        }
    }

    /// Where an expression given by `flag` is true (or false).
    pub fn regions(&self, flag: &str, text: &str, wanted: bool) -> Result<Vec<Region>, Failure> {
        let complain = |wrong: Diagnostic| -> Failure { expression_error(flag, text, wrong).into() };
        match self {
            Subject::Program(program) => {
                let condition = parse_condition(program, text).map_err(complain)?;
                Ok(if wanted { condition.holds } else { condition.fails })
            }
            Subject::Processes(both) => {
                let expr = expression(&both.1, flag, text)?;
                both.0.regions(&expr, wanted).map_err(complain)
            }
        }
    }
}

fn open_program(path: &Path, args: &CountersArgs) -> Result<Subject, Failure> {
    let bytes = volee::model::read_bytes(path)?;
    let (name, text) = (path.display().to_string(), String::from_utf8_lossy(&bytes));
    let is_fst = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("fst"));
    let mut program = if is_fst { parse_fst(&name, &text)? } else { parse_spec(&name, &text)? };
    if !args.symbolic.is_empty() {
        return Err(Failure::new("--symbolic is for Promela models; here every variable is unbounded"));
    }
    for parameter in &args.parameter {
        let Some(at) = program.variables.iter().position(|v| v == parameter) else {
            return Err(Failure::new(format!("--parameter {parameter}: the model has no such variable")));
        };
        let changed = program.transitions.iter().find(|t| t.instruction.update.component(at).is_some());
        if let Some(t) = changed {
            return Err(Failure::new(format!("--parameter {parameter}: transition {} changes it", t.name)));
        }
        program.parameters.push(at);
    }
    for text in &args.assume {
        let condition = parse_condition(&program, text)
            .map_err(|wrong| Failure::from(expression_error("--assume", text, wrong)))?;
        let both = program.initial.iter().flat_map(|r| {
            condition
                .holds
                .iter()
                .filter(|h| h.location == r.location)
                .map(|h| Region { location: r.location, conjunct: r.conjunct.intersect(&h.conjunct) })
        });
        program.initial = both.filter(|r| !r.conjunct.is_plainly_empty()).collect();
    }
    Ok(Subject::Program(Box::new(program)))
}

fn open_processes(model: &ModelArgs, args: &CountersArgs, context: &Context) -> Result<Subject, Failure> {
    let Some(lowered) = model.open(context)?.promela else {
        return Err(Failure::new("unbounded integers are read from Promela models, .fst and .spec files"));
    };
    let assumptions =
        args.assume.iter().map(|text| expression(&lowered, "--assume", text)).collect::<Result<_, _>>()?;
    let options = ProcessOptions {
        symbolic: (!args.symbolic.is_empty()).then(|| args.symbolic.clone()),
        parameters: args.parameter.clone(),
        assumptions,
    };
    let translation = translate(&lowered.program, &options)?;
    Ok(Subject::Processes(Box::new((translation, lowered))))
}

fn expression(lowered: &Lowered, flag: &str, text: &str) -> Result<Expr, Failure> {
    let complain = |wrong: Diagnostic| expression_error(flag, text, wrong);
    let parsed = parse_predicate(lowered.model(), text)
        .map_err(|all| Failure::from(all.into_iter().map(complain).collect::<Vec<_>>()))?;
    lowered.expression(&parsed).map_err(|wrong| complain(wrong).into())
}

fn expression_error(flag: &str, text: &str, wrong: Diagnostic) -> Diagnostic {
    let message = format!("{flag} `{text}`: {}", wrong.message);
    Diagnostic { message, place: None, ..wrong }
}
