//! The one door: questions in, answers out, whoever answers them.
//!
//! ```
//! use volee::{Engine, Question, Source, ask};
//! use volee::system::{Budget, Quiet};
//!
//! let source = Source::open("../../models/demo/courier.pml").expect("it is there").define("FIXED", "1");
//! let answers = ask(&source)
//!     .question(Question::Deadlock)
//!     .question(Question::Assertions)
//!     .engine(Engine::Explicit)
//!     .budget(Budget { memory: Some(512 << 20), ..Budget::default() })
//!     .run(&mut Quiet)
//!     .expect("it can be asked");
//! assert!(answers.all_hold());
//! ```

use std::sync::Arc;

use volee_logic::formula::AtomKind;
use volee_search::{Approximation, Names, Statistics};
use volee_system::{Budget, Diagnostic, Meter, Progress, System};

use crate::answer::{Answer, Answers, AskError};
use crate::audit;
use crate::claims::claims;
use crate::engine::{Engine, Way};
use crate::engines::{self, Job, Part};
use crate::model::Model;
use crate::question::{Kind, Question};
use crate::refusal::{Refusal, Refused};
use crate::settings::{Asked, Settings};
use crate::silence;
use crate::source::{Source, Subject};

/// The memory of an approximate search that was not told how much it may have: its table does not grow, so it
/// takes nearly all of it at once, and a larger one is slower.
const APPROXIMATE_MEMORY: u64 = 512 << 20;

/// Questions that are being put together.
#[derive(Clone)]
pub struct Ask<'a> {
    pub(crate) subject: Subject<'a>,
    questions: Vec<Question>,
    claims: Vec<String>,
    usual: bool,
    only: Vec<String>,
    skip: Vec<String>,
    pub(crate) engine: Engine,
    pub(crate) settings: Settings,
    budget: Budget,
}

/// Asks about a model file. Without any question of its own, a call asks the usual ones: see [`Ask::usual`].
pub fn ask(source: &Source) -> Ask<'_> {
    Ask::new(Subject::Source(source))
}

/// Asks about a system of the caller's own; `make` is called once by each worker.
pub fn ask_system<'a, S: System + 'static>(make: impl Fn() -> S + Send + Sync + 'a) -> Ask<'a> {
    Ask::new(Subject::System(Arc::new(move || Box::new(Box::new(make()) as Box<dyn System>))))
}

impl<'a> Ask<'a> {
    pub(crate) fn new(subject: Subject<'a>) -> Self {
        Ask {
            subject,
            questions: Vec::new(),
            claims: Vec::new(),
            usual: false,
            only: Vec::new(),
            skip: Vec::new(),
            engine: Engine::Auto,
            settings: Settings::default(),
            budget: Budget::default(),
        }
    }

    /// Adds a question.
    #[must_use]
    pub fn question(mut self, question: Question) -> Self {
        self.questions.push(question);
        self
    }

    /// Adds questions.
    #[must_use]
    pub fn questions(mut self, questions: impl IntoIterator<Item = Question>) -> Self {
        self.questions.extend(questions);
        self
    }

    /// Adds a claim of the model by its name, `all` for all of them.
    #[must_use]
    pub fn claim(mut self, name: impl Into<String>) -> Self {
        self.claims.push(name.into());
        self
    }

    /// Adds the usual questions: deadlock, assertions and every claim of the model that the engine decides;
    /// or the one question that the engine is for.
    #[must_use]
    pub fn usual(mut self) -> Self {
        self.usual = true;
        self
    }

    /// Of all questions, asks only those that are meant by one of these words: see [`Question::is_meant_by`].
    #[must_use]
    pub fn only(mut self, words: impl IntoIterator<Item = String>) -> Self {
        self.only.extend(words);
        self
    }

    /// Leaves out the questions that are meant by one of these words.
    #[must_use]
    pub fn skip(mut self, words: impl IntoIterator<Item = String>) -> Self {
        self.skip.extend(words);
        self
    }

    /// Who answers.
    #[must_use]
    pub fn engine(self, engine: Engine) -> Self {
        Ask { engine, ..self }
    }

    /// How questions are answered.
    #[must_use]
    pub fn settings(self, settings: Settings) -> Self {
        Ask { settings, ..self }
    }

    /// What may be used. Memory that is not bounded is three quarters of what is free.
    #[must_use]
    pub fn budget(self, budget: Budget) -> Self {
        Ask { budget, ..self }
    }

    /// Answers the questions.
    ///
    /// # Errors
    /// The model or a question is wrong, or cannot be asked in this way.
    pub fn run(self, progress: &mut dyn Progress) -> Result<Answers, AskError> {
        let options = self.subject.options();
        let asked = Asked { settings: &self.settings, options: &options, budget: &self.budget };
        // What cannot be asked is refused before the model is read.
        // Whether a setting concerns any question is known then only if the model has none of its own.
        let alone = !self.usual && self.claims.is_empty();
        let is_certain = |refusal: &Refusal| alone || !matches!(refusal.what, Refused::Setting(_));
        let refusal = self.engine.refuses_all(&self.questions, &asked);
        if let Some(refusal) = refusal.filter(|refusal| !self.questions.is_empty() && is_certain(refusal)) {
            return Err(refusal.into());
        }
        let read = engines::read(&self.subject, &self.engine)?;
        let questions = self.selected(read.as_ref())?;
        if let Some(refusal) = self.engine.refuses_all(&questions, &asked).filter(|_| !questions.is_empty()) {
            return Err(refusal.into());
        }
        let mut answers = Answers { engine: self.engine_of(&questions), ..Answers::default() };
        let names = read.as_ref().map(claims).unwrap_or_default();
        if let Some(model) = &read {
            answers.silent = silence::unknown_events(&self.engine, model, &questions);
            answers.warnings.clone_from(&model.warnings);
            answers.unasked = self.unasked(model, &questions);
            answers.constant = constants(model, &questions, &self.settings.macros);
        }
        let meter = Meter::start(self.whole_budget());
        let mut job = Job {
            subject: &self.subject,
            engine: &self.engine,
            settings: &self.settings,
            meter: &meter,
            progress: &mut *progress,
            read,
        };
        let mut explored = Explored::default();
        for (way, group) in grouped(&self.engine, &questions)? {
            let part = answer(&mut job, way, &group).map_err(|error| by_name(error, &group, &names))?;
            explored.join(&mut answers, part);
        }
        self.ask_for_silence(&mut job, &mut answers);
        explored.tell(&mut answers, &job);
        if self.settings.audit {
            audit::audit(&self, &questions, &mut answers, &meter, progress)?;
        }
        Ok(answers)
    }

    /// Asks those engines that do not see what never happens; what they cannot be asked is not told.
    fn ask_for_silence(&self, job: &mut Job<'_>, answers: &mut Answers) {
        for (told, question) in silence::further_questions(&self.engine, answers) {
            let Ok(way) = self.engine.way(question.kind()) else { return };
            job.read = engines::read(&self.subject, &self.engine).ok().flatten();
            let asked = answer(job, way, std::slice::from_ref(&question));
            let is_false = |part: Part| {
                let mut own = part.answers.iter().filter(|answer| answer.question == question).peekable();
                own.peek().is_some() && own.all(Answer::holds)
            };
            if asked.is_ok_and(is_false) && !answers.silent.contains(&told) {
                answers.silent.push(told);
            }
        }
    }

    fn engine_of(&self, questions: &[Question]) -> &'static str {
        let way = questions.first().and_then(|first| self.engine.way(first.kind()).ok());
        way.map_or(self.engine.name(), Way::engine)
    }

    fn whole_budget(&self) -> Budget {
        let approximate = self.settings.approximation.map(|_: Approximation| APPROXIMATE_MEMORY);
        let memory = match &self.engine {
            // Workers elsewhere know best how much they have.
            Engine::Cluster(_) => self.budget.memory,
            _ => self.budget.memory.or(approximate).or_else(usual_memory),
        };
        Budget { memory, ..self.budget.clone() }
    }

    /// The questions of the call: those that were named, claims by name, the usual ones; less what was not
    /// wanted.
    fn selected(&self, read: Option<&Model>) -> Result<Vec<Question>, AskError> {
        let none = self.questions.is_empty() && self.claims.is_empty();
        let mut all = Vec::new();
        let mut of_model = read.map(claims).unwrap_or_default();
        let usual = self.usual || none;
        if usual || engines::always_usual(&self.engine) {
            all.extend(engines::usual(&self.subject, &self.engine, read));
        }
        // A family is asked for deadlocks where somebody wants to know: some member often waits for others
        // that are not there.
        let wanted = self.only.iter().any(|word| word == Kind::Deadlock.word());
        if wanted && matches!(self.engine, Engine::Families) && read.is_some() {
            all.insert(0, Question::Deadlock);
        }
        let (about_states, others): (Vec<_>, Vec<_>) = self.questions.iter().cloned().partition(|q| {
            matches!(q.kind(), Kind::Deadlock | Kind::Assertions | Kind::Invariant | Kind::Reachable)
        });
        all.extend(about_states);
        // The model's own claims come after what is asked of its states.
        if usual {
            all.extend(engines::usual_claims(&self.engine, &of_model));
        }
        for wanted in &self.claims {
            let found = of_model.iter().filter(|c| wanted == "all" || c.claim() == Some(wanted)).cloned();
            let before = all.len();
            all.extend(found);
            if all.len() == before && wanted != "all" {
                return Err(no_claim(wanted, &of_model));
            }
        }
        all.extend(others);
        let mut seen = std::collections::HashSet::new();
        all.retain(|question| seen.insert(question.clone()));
        of_model.extend(all.iter().filter(|question| question.claim().is_none()).cloned());
        self.chosen(all, &of_model)
    }

    /// The questions that are wanted of all that there are.
    fn chosen(&self, mut all: Vec<Question>, known: &[Question]) -> Result<Vec<Question>, AskError> {
        let is_kind = |word: &str| word == "claims" || Kind::ALL.iter().any(|kind| kind.word() == word);
        let unknown =
            |word: &&String| !is_kind(word) && !known.iter().any(|question| question.is_meant_by(word));
        let names = || known.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        if let Some(word) = self.only.iter().chain(&self.skip).find(unknown) {
            let message = format!("no question is called `{}`", volee_report::brief(word));
            return Err(AskError::new(message, &format!("there are {}", names())));
        }
        let before = all.len();
        if !self.only.is_empty() {
            all.retain(|question| self.only.iter().any(|word| question.is_meant_by(word)));
        }
        all.retain(|question| !self.skip.iter().any(|word| question.is_meant_by(word)));
        let left_out = all.is_empty() && before > 0;
        if left_out || (all.is_empty() && self.claims.is_empty()) {
            let words: Vec<String> =
                self.only.iter().chain(&self.skip).map(|word| format!("`{word}`")).collect();
            let message = match words.is_empty() {
                true => format!("nothing is asked that the engine `{}` answers", self.engine.name()),
                false => format!("nothing is left to ask, given {}", words.join(", ")),
            };
            let help = if known.is_empty() { String::new() } else { format!("there are {}", names()) };
            let code = known.is_empty().then(|| NOTHING_ASKED.into());
            let error = Diagnostic::error(message, None).with_help(help);
            return Err(Diagnostic { code, ..error }.into());
        }
        Ok(all)
    }

    /// What the model claims and nobody asks, unless other questions about runs were chosen instead.
    fn unasked(&self, model: &Model, questions: &[Question]) -> Vec<Question> {
        let chosen = |q: &Question| {
            matches!(usual_of(q.kind()), Way::Cycles | Way::Monitor | Way::Deterministic | Way::Equations)
        };
        let chose = !self.claims.is_empty() || self.questions.iter().any(chosen);
        let mut left = claims(model);
        left.retain(|claim| !questions.contains(claim) && (self.usual || !chose));
        left
    }
}

/// The variables that invariants and formulas speak of and no statement writes.
fn constants(model: &Model, questions: &[Question], macros: &[(String, String)]) -> Vec<String> {
    let Some(lowered) = &model.promela else { return Vec::new() };
    let mut names = Vec::new();
    for question in questions {
        let texts = match question {
            Question::Invariant(text) | Question::Reachable(text) => vec![text.clone()],
            Question::Ltl { text, .. } => state_texts(text, Names::States),
            Question::Tl(text) => state_texts(text, Names::Events),
            Question::Mu { .. } => engines::equations::state_texts(question, macros),
            _ => continue,
        };
        let read = texts.iter().filter_map(|text| lowered.predicate(text).ok());
        names.extend(read.flat_map(|expr| volee_program::constants(&lowered.program, &expr)));
    }
    names.sort();
    names.dedup();
    names
}

/// What a formula says of states.
fn state_texts(formula: &str, names: Names) -> Vec<String> {
    let Ok(parsed) = volee_logic::formula::parse(formula, "formula") else { return Vec::new() };
    let text = |kind: &AtomKind| match kind {
        AtomKind::Name(_) if names == Names::Events => None,
        AtomKind::Name(text) | AtomKind::Predicate(text) => Some(text.clone()),
        AtomKind::Event(_) => None,
    };
    parsed.atoms().iter().filter_map(|id| text(&parsed.pool.atoms()[id.0 as usize].kind)).collect()
}

fn usual_of(kind: Kind) -> Way {
    Engine::Auto.way(kind).unwrap_or(Way::Search)
}

fn no_claim(wanted: &str, of_model: &[Question]) -> AskError {
    let names: Vec<&str> = of_model.iter().filter_map(Question::claim).collect();
    let help = match names.len() {
        0 => "it has no ltl blocks and no never claim".to_string(),
        _ => format!("it has {}", names.join(", ")),
    };
    Diagnostic::error(format!("the model has no property `{}`", volee_report::brief(wanted)), None)
        .with_help(help)
        .into()
}

/// The code of the message that nobody has asked what an engine answers.
pub const NOTHING_ASKED: &str = "nothing-asked";

/// The code of the message that a formula is the name of a claim of the model.
pub const NAME_OF_CLAIM: &str = "name-of-a-claim";

/// Why questions have no answer; whoever wrote the name of a claim where a formula should be is told so.
fn by_name(error: AskError, asked: &[Question], claims: &[Question]) -> AskError {
    let is_name = |text: &str| claims.iter().any(|claim| claim.claim() == Some(text.trim()));
    let meant = asked.iter().any(|question| match question {
        Question::Ltl { name: None, text } | Question::Tl(text) => is_name(text),
        _ => false,
    });
    match error {
        AskError::Input(mut all) if meant => {
            for diagnostic in all.iter_mut().filter(|d| d.help.is_none()) {
                diagnostic.help = Some("it is a property of the model: ask for it by its name".into());
                diagnostic.code = Some(NAME_OF_CLAIM.into());
            }
            AskError::Input(all)
        }
        other => other,
    }
}

/// The questions by the ways in which they are answered; what one search can decide is together.
fn grouped(engine: &Engine, questions: &[Question]) -> Result<Vec<(Way, Vec<Question>)>, AskError> {
    let mut groups: Vec<(Way, Vec<Question>)> = Vec::new();
    for question in questions {
        let way = match engine.way(question.kind())? {
            Way::CountedTraces | Way::CountedModal => Way::Counters,
            way => way,
        };
        let together = matches!(way, Way::Search | Way::SharedSearch | Way::Families | Way::Counters);
        match groups.iter_mut().find(|(other, _)| *other == way && together) {
            Some((_, group)) => group.push(question.clone()),
            None => groups.push((way, vec![question.clone()])),
        }
    }
    Ok(groups)
}

fn answer(job: &mut Job<'_>, way: Way, questions: &[Question]) -> Result<Part, AskError> {
    match way {
        Way::Search => engines::explicit::answer(job, questions),
        Way::Cycles | Way::Monitor | Way::Deterministic => engines::temporal::answer(job, &questions[0]),
        Way::Equations => engines::equations::answer(job, &questions[0]),
        Way::SharedSearch => engines::workers::search(job, questions),
        Way::SharedCycles | Way::SharedMonitor | Way::SharedDeterministic => {
            engines::workers::runs(job, &questions[0])
        }
        Way::SharedEquations => engines::workers::equations(job, &questions[0]),
        Way::Families => engines::families::answer(job, questions),
        Way::Counters | Way::CountedTraces | Way::CountedModal => engines::counters::answer(job, questions),
        Way::Channels => engines::channels::answer(job, &questions[0]),
    }
}

/// The figures of several searches together.
#[derive(Default)]
struct Explored {
    total: Option<(Statistics, bool)>,
    remarks: Vec<String>,
}

impl Explored {
    fn join(&mut self, answers: &mut Answers, mut part: Part) {
        // A question about runs tells of an assertion that fails on the way, which may be known already.
        let known = |a: &Answer| {
            a.question == Question::Assertions && answers.iter().any(|b| b.question == a.question)
        };
        let new: Vec<Answer> = part.answers.into_iter().filter(|answer| !known(answer)).collect();
        answers.answers.extend(new);
        part.silent.retain(|pattern| !answers.silent.contains(pattern));
        answers.silent.extend(part.silent);
        answers.warnings.extend(part.warnings);
        answers.figures.0.extend(part.figures.0);
        answers.fields.extend(part.fields);
        answers.unreached = answers.unreached.take().or(part.unreached);
        if answers.coverage.is_empty() {
            answers.coverage = part.coverage;
        }
        self.remarks.extend(part.remarks);
        let Some((more, complete)) = part.explored else { return };
        let (total, all) = self.total.get_or_insert_with(|| (Statistics::default(), true));
        *all &= complete;
        total.states += more.states;
        total.transitions += more.transitions;
        total.reduced += more.reduced;
        total.max_depth = total.max_depth.max(more.max_depth);
        total.workers = total.workers.max(more.workers);
        total.memory_bytes = total.memory_bytes.max(more.memory_bytes);
        total.table_bytes = total.table_bytes.max(more.table_bytes);
        total.disk_bytes = total.disk_bytes.max(more.disk_bytes);
        total.swarm = total.swarm.take().or(more.swarm);
        if more.turnover.is_some() {
            total.turnover = more.turnover;
        }
    }

    fn tell(self, answers: &mut Answers, job: &Job<'_>) {
        if let Some((mut total, complete)) = self.total {
            total.seconds = job.meter.elapsed().as_secs_f64();
            total.bytes_per_state = total.memory_bytes as f64 / total.states.max(1) as f64;
            engines::explicit::figures(&total, complete, job, answers);
        }
        answers.remarks.extend(self.remarks);
    }
}

/// The memory that a search may use when nobody says how much: three quarters of what is free, where the
/// system tells. It is looked up once, before searches take some of it themselves.
pub fn usual_memory() -> Option<u64> {
    static MEMORY: std::sync::OnceLock<Option<u64>> = std::sync::OnceLock::new();
    *MEMORY.get_or_init(free_memory)
}

/// How many threads this process may run at once. It is looked up once.
pub fn cores() -> usize {
    static CORES: std::sync::OnceLock<usize> = std::sync::OnceLock::new();
    *CORES.get_or_init(|| std::thread::available_parallelism().map_or(1, std::num::NonZero::get))
}

fn free_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find(|l| l.starts_with("MemAvailable:"))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some((kilobytes << 10) / 4 * 3)
}
