//! The engines behind the door, one file each: what is asked becomes a call of a room, what comes back an
//! [`Answer`].

mod accounts;
pub(crate) mod channels;
pub(crate) mod counters;
pub(crate) mod cutoffs;
mod endless;
pub(crate) mod equations;
pub(crate) mod explicit;
pub(crate) mod families;
mod recurring;
mod retrace;
pub(crate) mod temporal;
mod watchers;
pub(crate) mod watching;
pub(crate) mod workers;

use serde_json::{Map, Value};
use volee_promela::Lowered;
use volee_report::Claim;
use volee_search::{Fairness, Runs, Statistics};
use volee_system::{
    Covered, Diagnostic, Draft, Fault, Meter, Progress, Reason, ReasonKind, Unreached, Verdict, Witness,
};

use crate::answer::{Answer, AskError, Figures, Role, ShownRun};
use crate::engine::{Engine, Way};
use crate::judge::{Confirmed, Defect, judge, plain_machine};
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
    pub coverage: Vec<Covered>,
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
        Engine::Auto if subject.extension() == "spec" => vec![Question::Coverable],
        Engine::Auto if subject.extension() == "scm" => vec![Question::Bounded],
        Engine::Auto | Engine::Explicit | Engine::Workers(_) | Engine::Cluster(_) => {
            vec![Question::Deadlock, Question::Assertions]
        }
    }
}

/// Whether an engine answers its usual questions beside all others.
pub(crate) fn always_usual(engine: &Engine) -> bool {
    matches!(engine, Engine::Families)
}

/// The claims of a model that are asked when nothing else is: formulas and never claims, by those who decide
/// them all.
pub(crate) fn usual_claims(engine: &Engine, claims: &[Question]) -> Vec<Question> {
    let decides = matches!(engine, Engine::Auto | Engine::Explicit | Engine::Workers(_) | Engine::Cluster(_));
    let mut all = if decides { claims.to_vec() } else { Vec::new() };
    all.retain(|claim| matches!(claim.kind(), Kind::Ltl | Kind::Never));
    all
}

/// A run that the judge is to confirm.
pub(crate) struct Found<'a> {
    /// The model, where it is a program.
    pub lowered: Option<&'a Lowered>,
    /// The system that was searched.
    pub draft: &'a mut dyn Draft,
    /// The model as the user names it.
    pub model: &'a str,
    pub witness: &'a Witness,
    pub question: &'a Question,
    /// What is wrong, if anything is.
    pub reason: Option<&'a Reason>,
}

/// What a run of a question is shown for.
pub(crate) fn claim_of(question: &Question, reason: Option<&Reason>, settings: &Settings) -> Option<Claim> {
    let kind = match question {
        Question::RuntimeErrors => Kind::Assertions,
        Question::Part { .. } => return None,
        other => other.kind(),
    };
    if kind == Kind::Assertions || !kind.has_runs() {
        return kind.has_runs().then(|| Claim::new(kind, ""));
    }
    let text = match question {
        Question::Invariant(text) | Question::Reachable(text) | Question::Tl(text) => text.as_str(),
        Question::Ltl { text, .. } | Question::Automaton { text, .. } | Question::Never(text) => text,
        _ => "",
    };
    let mut claim = Claim::new(kind, text);
    let cycles = matches!(claim.kind, Kind::Ltl | Kind::Never | Kind::Progress | Kind::Acceptance);
    claim.fair = cycles && settings.fairness == Fairness::Weak;
    claim.strongly_fair = cycles && settings.fairness == Fairness::Strong;
    claim.maximal = claim.kind == Kind::Tl && settings.runs == Runs::Maximal;
    claim.error = reason.is_some_and(|r| matches!(r.kind, ReasonKind::Assertion | ReasonKind::RuntimeError));
    Some(claim)
}

/// No run leaves the library that the plain program does not confirm.
pub(crate) fn judged(
    found: Found<'_>,
    role: Role,
    options: &Options,
    claim: Option<Claim>,
) -> Result<(ShownRun, Option<Fault>), AskError> {
    let Found { lowered, draft, model, witness, question, reason } = found;
    let naming = options.naming;
    let options = if lowered.is_some() { options.plainly() } else { options.clone() };
    match judge(lowered, naming, draft, witness, claim.as_ref()) {
        Ok(Confirmed { witness, run, fault, .. }) => {
            let why = explained(lowered, draft, &witness, question);
            let witness = Some(witness);
            let shown = ShownRun {
                role,
                run,
                witness,
                options,
                single: None,
                length: None,
                more: None,
                claim,
                why,
                grows: false,
            };
            Ok((shown, fault))
        }
        Err(objection) => {
            let text = std::fs::read(model).ok();
            let (options, question) = (format!("{options:?}"), question.to_string());
            let text = text.as_deref();
            Err(Defect::unconfirmed(&objection, model, text, &options, &question, reason, witness).into())
        }
    }
}

/// What there is to say about the end of a confirmed run, by the plain program.
fn explained(
    lowered: Option<&Lowered>,
    draft: &mut dyn Draft,
    witness: &Witness,
    question: &Question,
) -> Vec<String> {
    let mut plain = lowered.map(plain_machine);
    let draft = plain.as_mut().map_or(draft, |machine| machine as &mut dyn Draft);
    volee_report::why(draft, witness, &question.conditions())
}

/// What one search answers, with its runs confirmed by the plain program.
pub(crate) fn told(
    job: &Job<'_>,
    model: &mut Model,
    question: Question,
    way: Way,
    found: &volee_search::Answer,
    options: &Options,
) -> Result<Answer, AskError> {
    let mut answer = Answer::new(question.clone(), way.engine(), found.verdict.clone());
    (answer.errors, answer.at_least) = (found.errors, found.at_least);
    let mut confirmed = |witness: &Witness, reason: Option<&Reason>, role| {
        let claim = claim_of(&question, reason, job.settings);
        let draft = model.draft.as_mut();
        let lowered = model.promela.as_ref();
        let found = Found { lowered, draft, model: &model.name, witness, question: &question, reason };
        judged(found, role, options, claim)
    };
    match &mut answer.verdict {
        Verdict::Holds => {
            if let Some(witness) = &found.witness {
                answer.runs.push(confirmed(witness, None, Role::Goal)?.0);
            }
        }
        Verdict::Unknown(_) => {}
        Verdict::Violated(violations) => {
            // What never happens has no run to show.
            for violation in violations.iter_mut().filter(|v| v.reason.kind != ReasonKind::Unreachable) {
                let (shown, fault) = confirmed(&violation.witness, Some(&violation.reason), Role::Violation)?;
                if let Some(fault) = fault {
                    violation.reason = fault.into();
                }
                violation.witness = shown.witness.clone().unwrap_or_default();
                answer.runs.push(shown);
            }
        }
    }
    Ok(answer)
}
