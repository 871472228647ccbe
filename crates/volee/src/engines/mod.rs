//! The engines behind the door, one file each: what is asked becomes a call of a room, what comes back an [`Answer`].

pub(crate) mod channels;
pub(crate) mod counters;
pub(crate) mod equations;
pub(crate) mod explicit;
pub(crate) mod families;
mod retrace;
pub(crate) mod temporal;
pub(crate) mod workers;

use serde_json::{Map, Value};
use volee_search::Statistics;
use volee_system::{Diagnostic, Meter, Progress, Run, System, Unreached, Witness, replay_end};

use crate::answer::{Answer, AskError, Figures, LONGEST_RUN, Role, ShownRun};
use crate::engine::{Engine, Way};
use crate::model::{Model, Options};
use crate::question::{Kind, Question};
use crate::settings::Settings;
use crate::source::Subject;

/// What an engine is given.
pub(crate) struct Job<'a> {
    pub subject: &'a Subject<'a>,
    pub engine: &'a Engine,
    pub settings: &'a Settings,
    pub meter: &'a Meter,
    pub progress: &'a mut dyn Progress,
    /// The model as it was read to find out what there is to ask; the first who needs it takes it.
    pub read: Option<Model>,
}

impl Job<'_> {
    /// The model as the caller wants it read.
    pub fn open(&mut self) -> Result<Model, AskError> {
        match self.read.take() {
            Some(model) => Ok(model),
            None => self.open_as(&self.subject.options()),
        }
    }

    /// The model read in another way.
    pub fn open_as(&self, options: &Options) -> Result<Model, AskError> {
        Ok(self.subject.open(options)?)
    }
}

/// What an engine gives back.
#[derive(Default)]
pub(crate) struct Part {
    pub answers: Vec<Answer>,
    pub warnings: Vec<Diagnostic>,
    pub figures: Figures,
    pub fields: Map<String, Value>,
    pub remarks: Vec<String>,
    /// What the questions speak of and no explored step is.
    pub silent: Vec<String>,
    pub unreached: Option<Vec<Unreached>>,
    /// The figures of a search, and whether it has seen all states: they are added up.
    pub explored: Option<(Statistics, bool)>,
}

/// Reads the model, for those engines that read it as a system or a program.
pub(crate) fn read(subject: &Subject<'_>, engine: &Engine) -> Result<Option<Model>, AskError> {
    let by_itself = match engine {
        Engine::Families => subject.extension() == "spec",
        Engine::Counters => matches!(subject.extension().as_str(), "spec" | "fst"),
        Engine::Channels => subject.extension() == "scm",
        _ => false,
    };
    if by_itself {
        return Ok(None);
    }
    let dormant = matches!(engine, Engine::Families);
    Ok(Some(subject.open(&Options { dormant, ..subject.options() })?))
}

/// The questions that an engine answers when it is not told which.
pub(crate) fn usual(subject: &Subject<'_>, engine: &Engine, read: Option<&Model>) -> Vec<Question> {
    match engine {
        Engine::Channels => vec![Question::Bounded],
        Engine::Families if read.is_none() => vec![Question::Coverable],
        Engine::Families => vec![Question::Assertions],
        Engine::Counters if read.is_none() => vec![Question::Target],
        Engine::Counters => vec![Question::Deadlock, Question::Assertions, Question::RuntimeErrors],
        Engine::Equations => Vec::new(),
        Engine::Auto if subject.extension() == "fst" => vec![Question::Target],
        Engine::Auto | Engine::Explicit | Engine::Workers(_) | Engine::Cluster(_) => {
            vec![Question::Deadlock, Question::Assertions]
        }
    }
}

/// Whether an engine answers its usual questions beside all others.
pub(crate) fn always_usual(engine: &Engine) -> bool {
    matches!(engine, Engine::Families)
}

/// The claims of a model that are asked when nothing else is: formulas and never claims, by those who decide them all.
pub(crate) fn usual_claims(engine: &Engine, claims: &[Question]) -> Vec<Question> {
    let decides = matches!(engine, Engine::Auto | Engine::Explicit);
    let mut all = if decides { claims.to_vec() } else { Vec::new() };
    all.retain(|claim| matches!(claim.kind(), Kind::Ltl | Kind::Never));
    all
}

/// No run leaves the library that does not replay.
pub(crate) fn judged(system: &mut dyn System, witness: &Witness) -> Result<Run, AskError> {
    replay_end(system, witness, LONGEST_RUN)
        .map_err(|error| AskError::Defect(format!("a counterexample was found but does not replay: {error}")))
}

/// A run of the model, replayed.
pub(crate) fn shown(
    system: &mut dyn System,
    witness: &Witness,
    role: Role,
    options: &Options,
) -> Result<ShownRun, AskError> {
    let run = judged(system, witness)?;
    Ok(ShownRun {
        role,
        run,
        witness: Some(witness.clone()),
        options: options.clone(),
        single: None,
        length: None,
        more: None,
    })
}

/// What one search answers, with its runs replayed by `system`.
pub(crate) fn told(
    system: &mut dyn System,
    question: Question,
    way: Way,
    found: &volee_search::Answer,
    options: &Options,
) -> Result<Answer, AskError> {
    use volee_system::{ReasonKind, Verdict};
    let mut answer = Answer::new(question, way.engine(), found.verdict.clone());
    answer.errors = found.errors;
    match &found.verdict {
        Verdict::Holds => {
            if let Some(witness) = &found.witness {
                answer.runs.push(shown(system, witness, Role::Goal, options)?);
            }
        }
        Verdict::Unknown(_) => {}
        Verdict::Violated(violations) => {
            // What never happens has no run to show.
            for violation in violations.iter().filter(|v| v.reason.kind != ReasonKind::Unreachable) {
                answer.runs.push(shown(system, &violation.witness, Role::Violation, options)?);
            }
        }
    }
    Ok(answer)
}
