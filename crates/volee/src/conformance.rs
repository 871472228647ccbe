//! Tests from a specification, and tests against a program that should be what its specification says.
//!
//! ```
//! use volee::{Contract, Goal, Source, system::{Budget, Meter, Quiet}};
//!
//! let server = Source::open("../../examples/connection/connection.pml").expect("it is there");
//! let contract = Contract { inputs: vec!["request".into()], outputs: vec!["reply".into()], ..Contract::new(server) };
//! let made = contract.test(&Goal::After(2), &Meter::start(Budget::default()), &mut Quiet).expect("it is sound");
//! assert!(made.case().is_some_and(|test| test.edge_count() > 0));
//! ```

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use volee_bes::Solver;
pub use volee_conform::run::{Mapping, Rules, Wire, end_programs};
use volee_conform::run::{RandomWalk, Report, StoredTest, execute};
use volee_conform::{
    ConformError, DELTA, Determinised, Interface, Matcher, MetaId, Moves, PartialTests, Purpose,
    Specification, Suite, TestFile, by_equations, covering_suite, direct, ioco, join, read_test, start,
    test_of_trace, write_dot,
};
pub use volee_conform::{Livelock, Selected, TestGraph, Verdict};
use volee_logic::formula;
use volee_system::{Diagnostic, Meter, Progress, Snapshot};

use crate::answer::AskError;
use crate::engine::Engine;
use crate::engines::workers;
use crate::files;
use crate::model::{Model, Naming, Options};
use crate::source::Source;

/// Coverage is told of specifications with at most this many determinised states.
const MOST_COUNTED: usize = 1 << 20;
/// The code of the message that a program has no channels named by which it talks to its environment.
pub const NO_CHANNELS: &str = "no-channels-named";
/// The code of the message that no label is an input or an output.
pub const NOTHING_VISIBLE: &str = "nothing-visible";

/// A specification and what a tester sends and sees of it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Contract {
    /// The specification.
    pub source: Source,
    /// What the tester sends: labels, `PREFIX*`, `/REGEX/`, with commas; of a program channels.
    pub inputs: Vec<String>,
    /// What the tester sees.
    pub outputs: Vec<String>,
    /// What nobody sees, whatever the other two say.
    pub hidden: Vec<String>,
    /// Whether internal steps for ever count as silence.
    pub livelock: Livelock,
    /// How the test graph is selected.
    pub selection: Selection,
}

/// What a test is for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Goal {
    /// An automaton in a file.
    Automaton(PathBuf),
    /// An automaton as text, in the format `.aut`, and what it is called.
    Text(String, String),
    /// A trace that satisfies a finite-trace formula over labels.
    Formula(String),
    /// A label or a statement happens: a name, `PREFIX*`, `/REGEX/`, or `line:N`.
    Cover(String),
    /// A number of visible actions.
    After(usize),
}

impl std::fmt::Display for Goal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Goal::Automaton(path) => write!(f, "purpose {}", path.display()),
            Goal::Text(name, _) => write!(f, "purpose {name}"),
            Goal::Formula(text) => write!(f, "tl {text}"),
            Goal::Cover(what) => write!(f, "cover {what}"),
            Goal::After(actions) => write!(f, "after {actions} visible actions"),
        }
    }
}

/// How a test graph is selected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Selection {
    /// Determinise the product, then search backward from acceptance.
    #[default]
    Direct,
    /// As the diagnostic of a boolean equation system over the product, then determinise.
    Equations,
}

/// What was made of a specification, and what is to be known about it.
#[derive(Debug)]
pub struct Derived<T> {
    /// The tests.
    pub tests: T,
    /// Labels that are neither inputs nor outputs.
    pub hidden: Vec<String>,
    /// Texts of the purpose that no label matched.
    pub unmatched: Vec<String>,
    /// What the author of the specification should know.
    pub warnings: Vec<Diagnostic>,
    /// What workers did, where there were several: in a line, and one by one.
    pub workers: Option<(String, Value)>,
}

impl Derived<Option<Selected>> {
    /// The shortest controllable test case, if there is a test at all.
    pub fn case(&self) -> Option<TestGraph> {
        self.tests.as_ref().map(|selected| selected.graph.case())
    }
}

/// The forms of a test file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TestForm {
    /// To be run.
    Json,
    /// A picture.
    Dot,
    /// A transition system.
    Lts,
}

impl TestForm {
    /// The form that an extension names.
    ///
    /// # Errors
    /// It names none.
    pub fn of(path: &Path) -> Result<TestForm, Diagnostic> {
        match path.extension().and_then(|e| e.to_str()) {
            Some("json") => Ok(TestForm::Json),
            Some("dot" | "gv") => Ok(TestForm::Dot),
            Some("aut") => Ok(TestForm::Lts),
            _ => Err(Diagnostic::error(
                format!("`{}`: the extension names no form of a test", path.display()),
                None,
            )
            .with_help("known are .json (for volee conform), .aut and .dot")),
        }
    }
}

impl Contract {
    /// Writes a test, in the form that the extension names; `purpose` is what it is for.
    ///
    /// # Errors
    /// The extension names no form, or the file cannot be written.
    pub fn write_test(&self, test: &TestGraph, path: &Path, purpose: &str) -> Result<(), AskError> {
        let form = TestForm::of(path)?;
        files::write_with(path, |out| -> Result<(), AskError> {
            let written = match form {
                TestForm::Lts => return Ok(volee_lts::write_as(&test.to_lts(), path, out)?),
                TestForm::Dot => write_dot(test, out),
                TestForm::Json => {
                    TestFile::new(test, &self.source.path.display().to_string(), purpose, self.livelock)
                        .write(out)
                }
            };
            Ok(written.map_err(|e| files::cannot_write(path, &e))?)
        })
    }

    /// Writes the tests of a suite into a folder.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn write_suite(&self, suite: &Suite, folder: &Path) -> Result<(), AskError> {
        std::fs::create_dir_all(folder).map_err(|e| files::cannot_write(folder, &e))?;
        for (at, test) in suite.tests.iter().enumerate() {
            let path = folder.join(format!("test-{:03}.json", at + 1));
            self.write_test(&test.case, &path, &format!("cover {}", test.path.join(" · ")))?;
        }
        Ok(())
    }
}

/// How an implementation that does not conform shows it.
#[derive(Debug)]
pub struct Misbehaviour {
    /// What is done, in the labels of the specification.
    pub trace: Vec<String>,
    /// What the implementation then does and may not.
    pub output: String,
    /// The test that shows it.
    pub test: TestGraph,
}

impl Contract {
    /// A specification whose inputs start with `?` and whose outputs start with `!`.
    pub fn new(source: Source) -> Self {
        Contract {
            source,
            inputs: Vec::new(),
            outputs: Vec::new(),
            hidden: Vec::new(),
            livelock: Livelock::Quiescent,
            selection: Selection::default(),
        }
    }

    /// The complete test graph for a goal; none where the specification cannot do what is asked for.
    ///
    /// # Errors
    /// The specification or the goal makes no sense, or a limit is reached.
    pub fn test(
        &self,
        goal: &Goal,
        meter: &Meter,
        progress: &mut dyn Progress,
    ) -> Result<Derived<Option<Selected>>, AskError> {
        let progress = RefCell::new(progress);
        let select = |product: &mut Determinised<'_>| {
            let selected = match self.selection {
                Selection::Direct => direct(product),
                Selection::Equations => {
                    by_equations(product, Solver::Auto, meter, &mut Shared(&progress)).map(|(s, _)| s)
                }
            };
            match selected {
                Err(ConformError::NoTest) if product.specification().actions().len() == 1 => {
                    Err(nothing_visible(product.specification().labels().iter().map(|l| l.name.as_str())))
                }
                Err(ConformError::NoTest) => Ok(None),
                other => {
                    let Selected { graph, sizes } = other?;
                    Ok(Some(Selected { graph: graph.in_order(), sizes }))
                }
            }
        };
        self.explore(&|model| goal.purpose(model), meter, &mut Shared(&progress), select)
    }

    /// The same graph by several workers, each of which determinises and searches its own part.
    ///
    /// # Errors
    /// As for one; or the workers are wrong, or one was lost.
    pub fn test_on(
        &self,
        engine: &Engine,
        goal: &Goal,
        meter: &Meter,
        progress: &mut dyn Progress,
    ) -> Result<Derived<Option<Selected>>, AskError> {
        if self.selection == Selection::Equations {
            return Err(AskError::new(
                "workers select tests from the determinised product",
                "leave out how the graph is selected, or the workers",
            ));
        }
        let goal = goal.by_itself()?;
        let begun =
            self.explore(&|model| goal.purpose(model), meter, progress, |product| match start(product) {
                Err(ConformError::NoTest) => Ok(false),
                other => Ok(other.map(|_| true)?),
            })?;
        let warnings = begun.warnings;
        if !begun.tests {
            let (hidden, unmatched) = (begun.hidden, begun.unmatched);
            return Ok(Derived { tests: None, hidden, unmatched, warnings, workers: None });
        }
        let made = workers::tests(self, &goal, engine, meter, progress)?;
        let tests = match join(&made.parts) {
            Err(ConformError::NoTest) if made.parts.iter().all(PartialTests::sees_nothing) => {
                let labels = made.parts.iter().flat_map(|part| &part.hidden);
                return Err(nothing_visible(labels.map(String::as_str)));
            }
            Err(ConformError::NoTest) => None,
            joined => Some(joined?),
        };
        let texts = |of: fn(&PartialTests) -> &Vec<String>| -> BTreeSet<&String> {
            made.parts.iter().flat_map(of).collect()
        };
        let silent = |name: &str| matches!(name, "i" | "tau");
        let hidden = texts(|part| &part.hidden).into_iter().filter(|name| !silent(name)).cloned().collect();
        let unmatched = texts(|part| &part.unmatched).into_iter();
        let unmatched =
            unmatched.filter(|text| made.parts.iter().all(|part| part.unmatched.contains(text))).cloned();
        Ok(Derived { tests, hidden, unmatched: unmatched.collect(), warnings, workers: Some(made.told) })
    }

    /// The product of a model, read as [`Contract::options`] says, and a goal.
    pub(crate) fn product<'s>(
        &self,
        goal: &Goal,
        model: &'s mut Model,
        meter: &'s Meter,
        progress: &'s mut dyn Progress,
    ) -> Result<Determinised<'s>, AskError> {
        let (purpose, interface) = (goal.purpose(model)?, self.interface(model)?);
        let system = model.draft.system();
        let specification = Specification::new(system, interface, self.livelock, meter, progress);
        Ok(Determinised::new(specification, purpose))
    }

    /// How the specification is read. Merged steps of a program would hide messages, so there are none; and a
    /// step is told by what happens in it, so that purposes mean it as formulas do.
    pub(crate) fn options(source: &Options) -> Options {
        Options { naming: Naming::Events, ..source.step_by_step() }
    }

    /// Test cases that together cover every visible transition.
    ///
    /// # Errors
    /// The specification makes no sense, or a limit is reached.
    pub fn suite(&self, meter: &Meter, progress: &mut dyn Progress) -> Result<Derived<Suite>, AskError> {
        self.explore(&|_| Ok(Purpose::nothing()), meter, progress, |product| {
            let suite = covering_suite(product, usize::MAX)?;
            match suite.transitions {
                0 => Err(nothing_visible(product.specification().labels().iter().map(|l| l.name.as_str()))),
                _ => Ok(suite),
            }
        })
    }

    /// Whether a model of an implementation conforms; if not, how it shows.
    ///
    /// # Errors
    /// One of the models makes no sense, or a limit is reached.
    pub fn against(
        &self,
        implementation: &Path,
        meter: &Meter,
        progress: &mut dyn Progress,
    ) -> Result<Derived<Option<Misbehaviour>>, AskError> {
        let options = Options { made: None, ..self.source.options.clone() };
        self.against_source(Source::new(implementation, options), meter, progress)
    }

    /// The same for an implementation that is read in its own way, or no file.
    ///
    /// # Errors
    /// As for [`Contract::against`].
    pub fn against_source(
        &self,
        implementation: Source,
        meter: &Meter,
        progress: &mut dyn Progress,
    ) -> Result<Derived<Option<Misbehaviour>>, AskError> {
        let other = Contract { source: implementation, ..self.clone() };
        let progress = RefCell::new(progress);
        self.explore(&|_| Ok(Purpose::nothing()), meter, &mut Shared(&progress), |product| {
            let nothing = |_: &Model| Ok(Purpose::nothing());
            let compared = other
                .explore(&nothing, meter, &mut Shared(&progress), |theirs| Ok(ioco(product, theirs)?))?;
            let Some(bad) = compared.tests else { return Ok(None) };
            let names = product.specification().actions();
            let trace = bad.trace.iter().map(|action| names.name(*action).to_owned()).collect();
            let test = test_of_trace(product, &bad.trace)?;
            Ok(Some(Misbehaviour { trace, output: bad.output, test }))
        })
    }

    /// Runs a program against the specification itself, walked at random from one seed after the other.
    ///
    /// # Errors
    /// The specification makes no sense, the program cannot be reached, or a limit is reached.
    pub fn walk(
        &self,
        seed: u64,
        trial: &Trial<'_>,
        meter: &Meter,
        progress: &mut dyn Progress,
    ) -> Result<Derived<Campaign>, AskError> {
        self.explore(&|_| Ok(Purpose::nothing()), meter, progress, |product| {
            let mut runs = Vec::new();
            let mut taken: BTreeSet<(u32, String)> = BTreeSet::new();
            for seed in (0..trial.runs).map(|run| seed.wrapping_add(run as u64)) {
                let mut walk = RandomWalk::new(product, seed);
                let report = execute(&mut walk, &mut (trial.wire)()?, trial.mapping, &trial.rules, meter)?;
                taken.extend(report.taken.iter().filter_map(|(node, label)| Some((*node, label.clone()?))));
                let name = format!("{} (seed {seed})", self.source.path.display());
                runs.push(Tried { name, report, seed: Some(seed) });
            }
            let coverage = transitions(product).map(|transitions| (taken.len(), transitions));
            Ok(Campaign { runs, coverage, quiescence: Some(self.livelock) })
        })
    }

    /// Explores the product of the specification and a purpose.
    fn explore<T>(
        &self,
        purpose: &dyn Fn(&Model) -> Result<Purpose, AskError>,
        meter: &Meter,
        progress: &mut dyn Progress,
        make: impl FnOnce(&mut Determinised<'_>) -> Result<T, AskError>,
    ) -> Result<Derived<T>, AskError> {
        let mut model = Model::open(&self.source.path, &Self::options(&self.source.options))?;
        let (purpose, interface) = (purpose(&model)?, self.interface(&model)?);
        model.warnings.extend(unnamed(&interface, &model));
        let system = model.draft.system();
        let specification = Specification::new(system, interface, self.livelock, meter, progress);
        let mut product = Determinised::new(specification, purpose);
        let tests = make(&mut product)?;
        let unmatched = product.purpose().unmatched();
        let labels = product.specification().labels().iter();
        let unseen = labels.filter(|l| l.action.is_none() && !matches!(l.name.as_str(), "i" | "tau"));
        let hidden = unseen.map(|label| label.name.clone()).collect();
        Ok(Derived { tests, hidden, unmatched, warnings: model.warnings, workers: None })
    }

    fn interface(&self, model: &Model) -> Result<Interface, AskError> {
        let list = |texts: &[String]| -> Result<Vec<Matcher>, ConformError> {
            let lists: Result<Vec<_>, _> = texts.iter().map(|text| Matcher::parse_list(text)).collect();
            Ok(lists?.concat())
        };
        let channels = model.promela.is_some();
        if channels && self.inputs.is_empty() && self.outputs.is_empty() {
            let message = "a program talks to its environment through channels, and none are named";
            return Err(coded(message, NO_CHANNELS));
        }
        let (inputs, outputs, hidden) = (list(&self.inputs)?, list(&self.outputs)?, list(&self.hidden)?);
        Ok(Interface { inputs, outputs, hidden, channels })
    }
}

/// What the author of an interface should know: channels that the program does not have.
fn unnamed(interface: &Interface, model: &Model) -> Vec<Diagnostic> {
    let Some(lowered) = &model.promela else { return Vec::new() };
    let local = lowered.program.proctypes.iter().flat_map(|proctype| &proctype.channels);
    let all = lowered.program.channels.iter().chain(local);
    let names: Vec<&str> = all.map(|one| one.name.split('[').next().unwrap_or(&one.name)).collect();
    let told = |name: String| Diagnostic::warning(format!("no channel is meant by `{name}`"), None);
    interface.unnamed(&names).into_iter().map(told).collect()
}

impl Goal {
    /// The same goal without files, for workers elsewhere.
    fn by_itself(&self) -> Result<Goal, AskError> {
        let Goal::Automaton(path) = self else { return Ok(self.clone()) };
        let mut text = Vec::new();
        volee_lts::write_aut(&volee_lts::read_file(path)?, &mut text)
            .map_err(|error| files::cannot_write(path, &error))?;
        Ok(Goal::Text(path.display().to_string(), String::from_utf8_lossy(&text).into_owned()))
    }

    fn purpose(&self, model: &Model) -> Result<Purpose, AskError> {
        let named = |name: &str, lts: &volee_lts::Lts| {
            Purpose::automaton(lts).map_err(|error| match error {
                ConformError::Input(mut diagnostic) => {
                    diagnostic.message = format!("{name}: {}", diagnostic.message);
                    ConformError::Input(diagnostic)
                }
                other => other,
            })
        };
        Ok(match self {
            Goal::Automaton(path) => named(&path.display().to_string(), &volee_lts::read_file(path)?)?,
            Goal::Text(name, text) => {
                let size = text.len() as u64;
                named(name, &volee_lts::read_aut(&mut text.as_bytes(), name, Some(size))?)?
            }
            Goal::Formula(text) => Purpose::formula(&formula::parse(text, "tl formula")?)?,
            Goal::Cover(what) => Purpose::cover(covered(what, model)?),
            Goal::After(number) => Purpose::after(*number)?,
        })
    }
}

/// The patterns of what is to be covered.
fn covered(what: &str, model: &Model) -> Result<Vec<Matcher>, AskError> {
    let Some(line) = what.strip_prefix("line:") else { return Ok(vec![Matcher::parse(what)?]) };
    let wrong = |message: String| AskError::from(Diagnostic::error(message, None));
    let line: u32 = line.parse().map_err(|_| wrong(format!("`{what}` names no line: write line:12")))?;
    let Some(lowered) = &model.promela else {
        return Err(wrong(format!("`{what}`: only Promela models have lines")));
    };
    let transitions = lowered.program.proctypes.iter().flat_map(|p| &p.nodes).flat_map(|n| &n.transitions);
    let mut lines = transitions.filter_map(|t| t.statement.place.as_ref().map(|p| p.line));
    match lines.any(|l| l == line) {
        true => Ok(vec![Matcher::Line(line)]),
        false => Err(wrong(format!("no statement starts in line {line} of the model"))),
    }
}

fn nothing_visible<'l>(labels: impl Iterator<Item = &'l str>) -> AskError {
    let labels: Vec<String> = labels.take(4).map(|label| format!("`{label}`")).collect();
    let message = format!("no label is an input or an output; the labels are {}, …", labels.join(", "));
    coded(message, NOTHING_VISIBLE)
}

/// A message that a caller recognises, to say what to do about it in its own terms.
fn coded(message: impl Into<String>, code: &str) -> AskError {
    Diagnostic { code: Some(code.into()), ..Diagnostic::error(message, None) }.into()
}

/// One progress for two who do not work at the same time.
struct Shared<'a, 'p>(&'a RefCell<&'p mut dyn Progress>);

impl Progress for Shared<'_, '_> {
    fn report(&mut self, snapshot: &Snapshot) {
        self.0.borrow_mut().report(snapshot);
    }

    fn say(&mut self, message: &str) {
        self.0.borrow_mut().say(message);
    }
}

/// How tests are run.
pub struct Trial<'a> {
    /// How labels look on the wire.
    pub mapping: &'a Mapping,
    /// When a run ends.
    pub rules: Rules,
    /// How often.
    pub runs: usize,
    /// Reaches the program, anew for every run.
    pub wire: &'a dyn Fn() -> Result<Wire, AskError>,
}

/// One run.
#[derive(Debug)]
pub struct Tried {
    /// What was run: the file, and the seed where there is one.
    pub name: String,
    /// How it went.
    pub report: Report,
    /// The seed of a random run.
    pub seed: Option<u64>,
}

/// All runs.
#[derive(Debug)]
pub struct Campaign {
    /// One after the other.
    pub runs: Vec<Tried>,
    /// How many visible transitions of the specification random runs have taken, and how many there are; none
    /// where the specification is too large to be counted.
    pub coverage: Option<(usize, usize)>,
    /// What counted as quiescence, where that is known.
    pub quiescence: Option<Livelock>,
}

/// Runs stored tests against a program.
///
/// # Errors
/// A test cannot be read, the program cannot be reached, or a limit is reached.
pub fn run_tests(paths: &[PathBuf], trial: &Trial<'_>, meter: &Meter) -> Result<Campaign, AskError> {
    let tests: Vec<_> = paths.iter().map(|path| stored(path)).collect::<Result<_, _>>()?;
    let quiescence = tests.iter().find_map(|(_, livelock)| *livelock);
    let mut runs = Vec::new();
    for (path, (graph, _)) in paths.iter().zip(&tests) {
        for _ in 0..trial.runs {
            let mut test = StoredTest::new(graph);
            let report = execute(&mut test, &mut (trial.wire)()?, trial.mapping, &trial.rules, meter)?;
            runs.push(Tried { name: path.display().to_string(), report, seed: None });
        }
    }
    Ok(Campaign { runs, coverage: None, quiescence })
}

/// A test, and what it takes for quiescence, where it says so.
fn stored(path: &Path) -> Result<(TestGraph, Option<Livelock>), AskError> {
    if path.extension().is_some_and(|e| e == "json") {
        let (file, graph) = read_test(&files::read_text(path)?)?;
        return Ok((graph, Some(file.livelock())));
    }
    Ok((TestGraph::from_lts(&volee_lts::read_file(path)?)?, None))
}

/// How many visible transitions the determinised specification has; `None` when it is too large to be
/// counted.
fn transitions(product: &mut Determinised<'_>) -> Option<usize> {
    let mut count = 0;
    let mut next = 0;
    let mut moves = Moves::new();
    while next < product.meta_count() {
        if next > MOST_COUNTED {
            return None;
        }
        product.moves(MetaId(next as u32), &mut moves).ok()?;
        count += moves.iter().filter(|(action, _)| *action != DELTA).count();
        next += 1;
    }
    Some(count)
}
