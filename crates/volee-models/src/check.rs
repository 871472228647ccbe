//! Asking about a model: a builder with one verb, answers that can be asserted in a test, and the same
//! reports, explorer, comparisons and tests as for a model in a file.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use volee::graphs::Comparison;
use volee::lts::Relation;
use volee::render::RunView;
use volee::render::check::{View, answers as rendered};
use volee::render::replay::replayed;
use volee::replay::{Recorded, replay};
use volee::report::{Filter, Palette, run_from_word, run_to_word};
use volee::search::{Fairness, Order};
use volee::system::{Budget, Meter, Quiet, Run};
use volee::{Answers, Ask, AskError, Engine, Graphs, Kind, Made, Question, Settings, Source, ask};
use volee_page::{Server, ServerError};

use crate::explored::Explored;
use crate::model::Model;

/// A model as a source: for everything that the library can do with one.
pub fn source<M: Model + Send + Sync + 'static>(model: Arc<M>) -> Source {
    let claims = model.properties().into_iter().filter_map(|property| property.question());
    let claims: Vec<Question> = claims.filter(|question| question.kind() == Kind::Ltl).collect();
    let name = model.name();
    Source::made(&name, Made::new(move || Box::new(Explored::new(Arc::clone(&model))), claims))
}

/// Whether two models are equal in a sense, and what tells them apart: actions are compared by what they
/// print. `hide` are patterns of actions that nobody sees.
///
/// # Errors
/// A pattern makes no sense, or there is not enough memory.
pub fn compare(
    first: &Source,
    second: &Source,
    relation: Relation,
    hide: &[&str],
) -> Result<Comparison, AskError> {
    // Models of one type have one name, and a graph is meant by its name.
    let named = |source: &Source, number: u8| Source::new(format!("model {number}"), source.options.clone());
    let made = vec![named(first, 1), named(second, 2)];
    let hide = hide.iter().map(ToString::to_string).collect();
    let graphs = Graphs { hide, made: made.clone(), ..Graphs::default() };
    let meter = Meter::start(Budget { memory: volee::usual_memory(), ..Budget::default() });
    graphs.compare(&made[0].path, &made[1].path, relation, &meter, &mut Quiet)
}

/// Serves the explorer for a model on loopback, until the process ends; its address is printed.
///
/// # Errors
/// The port is taken.
pub fn explore(source: Source, port: u16) -> Result<(), ServerError> {
    let server = Server::new(source, None, &Filter::default(), port)?;
    println!("{}", server.url());
    server.run(&AtomicBool::new(false));
    Ok(())
}

/// Questions about a model that are being put together.
pub struct Check<M: Model> {
    model: Arc<M>,
    source: Source,
    settings: Settings,
    engine: Engine,
    budget: Budget,
    deadlocks: bool,
    only: Vec<String>,
}

impl<M: Model + Send + Sync + 'static> Check<M> {
    /// Asks for deadlocks, failed assertions and all properties.
    pub fn new(model: M) -> Self {
        let model = Arc::new(model);
        Check {
            source: source(Arc::clone(&model)),
            model,
            settings: Settings::default(),
            engine: Engine::Auto,
            budget: Budget::default(),
            deadlocks: true,
            only: Vec::new(),
        }
    }

    /// A state in which nothing can happen is as good as any.
    #[must_use]
    pub fn without_deadlocks(self) -> Self {
        Check { deadlocks: false, ..self }
    }

    /// Asks only for the property of this name; several can be named. `deadlock` and `assertions` are names,
    /// too.
    #[must_use]
    pub fn property(mut self, name: &str) -> Self {
        self.only.push(name.into());
        self
    }

    /// Level by level: runs are shortest.
    #[must_use]
    pub fn breadth_first(mut self) -> Self {
        self.settings.order = Order::BreadthFirst;
        self
    }

    /// Does not stop at the first error.
    #[must_use]
    pub fn all_errors(mut self) -> Self {
        self.settings.all_errors = true;
        self
    }

    /// Of infinite runs only those count in which every process that could always act does.
    #[must_use]
    pub fn fair(mut self) -> Self {
        self.settings.fairness = Fairness::Weak;
        self
    }

    /// Searches with this many threads.
    #[must_use]
    pub fn workers(self, number: usize) -> Self {
        Check { engine: Engine::Workers(number), ..self }
    }

    /// Memory in bytes, for states, stack and tables.
    #[must_use]
    pub fn memory(mut self, bytes: u64) -> Self {
        self.budget.memory = Some(bytes);
        self
    }

    /// Time.
    #[must_use]
    pub fn time(mut self, most: Duration) -> Self {
        self.budget.time = Some(most);
        self
    }

    /// The questions by the names of properties.
    fn questions(&self) -> Vec<(String, Question)> {
        let mut all = vec![("assertions".to_string(), Question::Assertions)];
        if self.deadlocks || self.only.iter().any(|name| name == "deadlock") {
            all.insert(0, ("deadlock".into(), Question::Deadlock));
        }
        let own = self.model.properties();
        all.extend(own.iter().filter_map(|p| Some((p.name().to_string(), p.question()?))));
        let missing = self.only.iter().find(|name| !all.iter().any(|(n, _)| n == *name));
        if let Some(name) = missing {
            let known: Vec<&str> = all.iter().map(|(name, _)| name.as_str()).collect();
            panic!("no property is called `{name}`; there are {}", known.join(", "));
        }
        all.retain(|(name, _)| self.only.is_empty() || self.only.contains(name));
        all
    }

    /// The questions as the library takes them: for other engines and settings than the ones here.
    pub fn ask(&self) -> Ask<'_> {
        let questions = self.questions().into_iter().map(|(_, question)| question);
        let asked = ask(&self.source).questions(questions).engine(self.engine.clone());
        asked.settings(self.settings.clone()).budget(self.budget.clone())
    }

    /// The model as a source.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// Answers all questions.
    ///
    /// # Panics
    /// A formula cannot be read, or speaks of what the model does not name; or a question cannot be asked in
    /// this way.
    pub fn run(&self) -> Checked {
        let questions = self.questions();
        let (about_runs, about_states): (Vec<_>, Vec<_>) =
            questions.iter().map(|(_, q)| q.clone()).partition(|q| q.kind() == Kind::Ltl);
        let mut answers: Option<Answers> = None;
        // What is about runs is answered by one search each; fairness means something for them only, and
        // workers for the others.
        for (group, of_runs) in [(about_states, false), (about_runs, true)] {
            if group.is_empty() {
                continue;
            }
            let mut settings = self.settings.clone();
            let mut engine = self.engine.clone();
            match of_runs {
                true => {
                    settings.all_errors = false;
                    engine = Engine::Auto;
                }
                false => settings.fairness = Fairness::None,
            }
            let asked = ask(&self.source).questions(group).engine(engine).settings(settings);
            let part = match asked.budget(self.budget.clone()).run(&mut Quiet) {
                Ok(part) => part,
                Err(wrong) => panic!("{}: {}", self.model.name(), sentence(&wrong)),
            };
            match &mut answers {
                None => answers = Some(part),
                Some(all) => all.answers.extend(part.answers),
            }
        }
        let names = questions.into_iter().map(|(name, question)| (question, name)).collect();
        Checked { source: self.source.clone(), answers: answers.unwrap_or_default(), names }
    }

    /// Runs, and panics with the report unless everything holds.
    ///
    /// # Panics
    /// Something does not hold, or is not known.
    #[track_caller]
    pub fn assert_holds(&self) -> Checked {
        let checked = self.run();
        checked.assert_holds();
        checked
    }

    /// Asks for one property alone, and panics unless it is violated; gives the run that shows it; what never
    /// happens has none.
    ///
    /// # Panics
    /// The property holds, or is not known.
    #[track_caller]
    pub fn assert_violated(self, property: &str) -> Option<Run> {
        let alone = Check { only: vec![property.into()], ..self };
        alone.run().assert_violated(property)
    }

    /// A run by its ordinals, as a report has printed it, told again.
    ///
    /// # Panics
    /// It is no run of the model.
    pub fn replay(&self, run: &str) -> String {
        let witness = run_from_word(run).unwrap_or_else(|wrong| panic!("{wrong}"));
        let again = replay(&self.source, Recorded::Ordinals(witness), None)
            .unwrap_or_else(|wrong| panic!("{}", sentence(&wrong)));
        match replayed(&again, &RunView::default(), Palette::Plain) {
            Ok(told) => told.text,
            Err(wrong) => panic!("{wrong}"),
        }
    }

    /// Serves the explorer on loopback until the process ends; any free port is taken, and the address is
    /// printed.
    ///
    /// # Errors
    /// No port is free.
    pub fn explore(&self) -> Result<(), ServerError> {
        explore(self.source.clone(), 0)
    }
}

/// Why there are no answers, in words.
fn sentence(wrong: &AskError) -> String {
    match wrong {
        AskError::Refused(refusal) => refusal.to_string(),
        AskError::Input(all) => {
            let told = all.iter().map(|d| match &d.help {
                Some(help) => format!("{d} ({help})"),
                None => d.to_string(),
            });
            told.collect::<Vec<_>>().join("; ")
        }
        AskError::Limit(limit) => limit.to_string(),
        AskError::Defect(defect) => defect.to_string(),
    }
}

/// The answers to the questions about a model.
#[derive(Debug, Clone)]
pub struct Checked {
    source: Source,
    answers: Answers,
    /// The property behind each question.
    names: Vec<(Question, String)>,
}

impl Checked {
    /// The answers themselves.
    pub fn answers(&self) -> &Answers {
        &self.answers
    }

    /// Distinct states of the search that answers what is about states.
    pub fn states(&self) -> u64 {
        self.answers.figures.states()
    }

    /// Whether everything holds.
    pub fn holds(&self) -> bool {
        self.answers.all_hold()
    }

    /// The report as text: verdicts, and for each violation the run that shows it.
    pub fn text(&self) -> String {
        let view = View {
            palette: Palette::Plain,
            run: RunView::default(),
            shorter: Some("(.breadth_first() finds a shortest run)"),
            all_claims: "name them with .property(…)",
            coverage: false,
            advise: &|_, _| None,
            replay: &|_, trace| Ok(format!(".check().replay(\"{}\")", run_to_word(&trace.witness))),
        };
        match rendered(&self.source, &self.answers, &view) {
            Ok(outcome) => outcome.text,
            Err(wrong) => wrong.to_string(),
        }
    }

    /// The report as one page that can be sent around: the explorer without its engine.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write_report(&self, path: impl AsRef<Path>) -> std::io::Result<()> {
        std::fs::write(path, volee::report_page(&self.source, &self.answers, &Filter::default()))
    }

    /// Panics with the report unless everything holds.
    ///
    /// # Panics
    /// Something does not hold, or is not known.
    #[track_caller]
    pub fn assert_holds(&self) {
        assert!(self.holds(), "{} does not hold:\n\n{}", self.source.path.display(), self.text());
    }

    /// Panics unless this property is violated; gives the run that shows it; what never happens has none.
    ///
    /// # Panics
    /// The property holds, is not known, was not asked or is none.
    #[track_caller]
    pub fn assert_violated(&self, property: &str) -> Option<Run> {
        let Some((question, _)) = self.names.iter().find(|(_, name)| name == property) else {
            let known: Vec<&str> = self.names.iter().map(|(_, name)| name.as_str()).collect();
            panic!("no property is called `{property}`; there are {}", known.join(", "));
        };
        let answer = self.answers.iter().find(|answer| answer.question == *question);
        match answer {
            Some(answer) if answer.is_violated() => answer.run().cloned(),
            _ => panic!("`{property}` is not violated:\n\n{}", self.text()),
        }
    }
}
