//! `volee tests SPEC --purpose P`: tests from a specification, to be run with `volee conform`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use volee::Model;
use volee::bes::Solver;
use volee::conform::{
    ConformError, DELTA, Determinised, Matcher, Move, Node, Purpose, Selected, Sizes, Specification, Suite,
    TestFile, TestGraph, by_equations, covering_suite, direct, ioco, test_of_trace, write_dot,
};
use volee::logic::formula;
use volee::report::{Answer, QuestionAnswer, count, counted, seconds};
use volee::system::{Diagnostic, Meter};

use crate::args::{BudgetArgs, ModelArgs};
use crate::conformance::{self, InterfaceArgs};
use crate::context::Context;
use crate::explicit::{self, Stop};
use crate::files;
use crate::outcome::{Ended, Failure, Outcome};
use crate::progress::ProgressLine;

/// A test case with more steps is not printed.
const SHOWN: usize = 60;

#[derive(Debug, Args)]
#[command(after_help = "\
A purpose in .aut watches the labels of the specification before hiding: texts or regular expressions, * for any
other; states with a step ACCEPT or REFUSE end the test. Where it says nothing it stays where it is.

Examples:
  volee tests coffee.aut --purpose coffee-comes.aut -o test.json     a test case, for volee conform
  volee tests coffee.aut --tl '<> coffee' --complete -o graph.dot    all tests, as a picture
  volee tests server.pml --inputs request --outputs reply --suite -o tests
  volee tests spec.aut --against implementation.aut                  do two models conform, and the test that shows not")]
pub struct Tests {
    #[command(flatten)]
    model: ModelArgs,

    #[command(flatten)]
    goal: Goal,

    /// All tests for the purpose in one graph
    #[arg(long, conflicts_with = "case")]
    complete: bool,

    /// A controllable test case, the shortest (this is the default)
    #[arg(long)]
    case: bool,

    /// Where it goes: .json (for volee conform), .aut or .dot; of a suite the folder
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,

    /// How the test graph is selected
    #[arg(long, value_enum, default_value_t = MethodArg::Direct)]
    method: MethodArg,

    /// Leave the test graph as it is instead of reducing it modulo strong bisimulation
    #[arg(long)]
    unreduced: bool,

    #[command(flatten)]
    interface: InterfaceArgs,

    #[command(flatten)]
    budget: BudgetArgs,
}

/// What the tests are for.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
struct Goal {
    /// A purpose: an automaton in .aut
    #[arg(long, value_name = "FILE.aut", help_heading = "Purpose")]
    purpose: Option<PathBuf>,

    /// A purpose: reach a trace that satisfies this finite-trace formula over labels
    #[arg(long, value_name = "FORMULA", help_heading = "Purpose")]
    tl: Option<String>,

    /// A purpose: this label or statement happens (NAME, PREFIX*, /REGEX/, or line:N of a Promela model)
    #[arg(long, value_name = "WHAT", help_heading = "Purpose")]
    cover: Option<String>,

    /// A purpose: this many visible actions
    #[arg(long, value_name = "N", help_heading = "Purpose")]
    after: Option<usize>,

    /// No purpose: test cases that together cover every visible transition
    #[arg(long, help_heading = "Purpose")]
    suite: bool,

    /// No purpose: the test that this model of an implementation fails, if it does not conform
    #[arg(long, value_name = "MODEL", help_heading = "Purpose")]
    against: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum MethodArg {
    /// Determinise the product, then search backward from acceptance
    Direct,
    /// As the diagnostic of a boolean equation system over the product, then determinise
    Equations,
}

impl Tests {
    pub fn run(self, context: &Context) -> Ended {
        let meter = self.budget.meter(context);
        self.tests(&meter, context).or_else(|stop| stop.end("tests", &self.question(), context))
    }

    fn question(&self) -> String {
        match &self.goal {
            Goal { purpose: Some(path), .. } => format!("purpose {}", path.display()),
            Goal { tl: Some(text), .. } => format!("tl {text}"),
            Goal { cover: Some(what), .. } => format!("cover {what}"),
            Goal { after: Some(n), .. } => format!("after {n} visible actions"),
            Goal { against: Some(path), .. } => format!("ioco {}", path.display()),
            _ => "suite".into(),
        }
    }

    fn tests(&self, meter: &Meter, context: &Context) -> Result<Outcome, Stop> {
        if let Some(path) = self.output.as_deref().filter(|_| !self.goal.suite) {
            Form::of(path)?;
        }
        let mut model = conformance::open(&self.model, context)?;
        let purpose = self.purpose(&model)?;
        let interface = self.interface.interface(&model)?;
        let mut progress = ProgressLine::new(meter.budget().memory);
        let mut solving = ProgressLine::new(meter.budget().memory);
        let livelock = self.interface.livelock();
        let specification =
            Specification::new(model.system.as_mut(), interface, livelock, meter, &mut progress);
        let mut product = Determinised::new(specification, purpose);
        if self.goal.suite {
            return self.suite(&mut product, meter, context);
        }
        if let Some(other) = &self.goal.against {
            return self.against(&mut product, other, meter, context);
        }
        let selected = match self.method {
            MethodArg::Direct => direct(&mut product),
            MethodArg::Equations => {
                by_equations(&mut product, Solver::Auto, meter, &mut solving).map(|(s, _)| s)
            }
        };
        let unmatched = product.purpose().unmatched();
        let selected = match selected {
            Err(ConformError::NoTest) if product.specification().actions().len() == 1 => {
                return Err(nothing_visible(&product).into());
            }
            Err(ConformError::NoTest) => {
                let name = self.model.model.display().to_string();
                return conformance::no_test(&self.question(), &name, &unmatched, context)
                    .map_err(Stop::Wrong);
            }
            other => other?,
        };
        if !unmatched.is_empty() {
            let shown: Vec<String> = unmatched.iter().take(5).map(|t| format!("`{t}`")).collect();
            let message = format!("no label that was met matches {} of the purpose", shown.join(", "));
            context.warn(&[Diagnostic::warning(message, None)]);
        }
        let hidden = hidden(&product);
        self.selected(&selected, &hidden, meter, context)
    }

    /// The end of a verb that made one test.
    fn selected(
        &self,
        selected: &Selected,
        hidden: &str,
        meter: &Meter,
        context: &Context,
    ) -> Result<Outcome, Stop> {
        let reduced = match self.unreduced {
            true => None,
            false => Some(selected.graph.reduced(meter)?),
        };
        let graph = reduced.as_ref().unwrap_or(&selected.graph);
        let case = (!self.complete).then(|| graph.case());
        let test = case.as_ref().unwrap_or(graph);
        let question = self.question();
        if let Some(path) = &self.output {
            self.write(test, path, &question)?;
        }
        let mut answer = self.answer(&question, &selected.sizes, meter);
        answer.set("nodes_reduced", graph.node_count());
        answer.set("edges_reduced", graph.edge_count());
        answer.set("states", test.node_count());
        answer.set("transitions", test.edge_count());
        answer.add("quiescence", self.interface.quiescence());
        let palette = context.palette;
        let form = if self.complete { "complete test graph" } else { "test case" };
        let mut text = format!("{} {question}: a {form} with {}\n", palette.good("holds"), size(test));
        if let Some(path) = &self.output {
            let _ = writeln!(text, "written to {}", path.display());
        } else if test.edge_count() <= SHOWN {
            text.push_str(&listing(test));
        }
        let _ = writeln!(text, "complete test graph: {}", sizes(&selected.sizes, graph, reduced.is_some()));
        let explored = format!(
            "specification: {} states, {} transitions met; determinised: {} states; {}",
            count(selected.sizes.specification_states),
            count(selected.sizes.specification_transitions),
            count(selected.sizes.meta_states),
            seconds(meter.elapsed().as_secs_f64())
        );
        let _ = writeln!(
            text,
            "quiescence: {}{hidden}\n{}",
            self.interface.quiescence(),
            palette.faint(explored)
        );
        Ok(Outcome::new(answer, text))
    }

    fn answer(&self, question: &str, sizes: &Sizes, meter: &Meter) -> Answer {
        let mut answer = Answer::new("tests").about(self.model.model.display().to_string(), "conformance");
        answer.push(QuestionAnswer::holds(question));
        if let Ok(serde_json::Value::Object(fields)) = serde_json::to_value(sizes) {
            fields.into_iter().for_each(|(name, value)| answer.set(&name, value));
        }
        answer.set("seconds", meter.elapsed().as_secs_f64());
        if let Some(peak) = explicit::peak_memory() {
            answer.set("peak_memory_bytes", peak);
        }
        answer
    }

    fn purpose(&self, model: &Model) -> Result<Purpose, Stop> {
        Ok(match &self.goal {
            Goal { purpose: Some(path), .. } => {
                Purpose::automaton(&volee::lts::read_file(path)?).map_err(|error| placed(error, path))?
            }
            Goal { tl: Some(text), .. } => {
                let formula = formula::parse(text, "--tl").map_err(Failure::from)?;
                Purpose::formula(&formula)?
            }
            Goal { cover: Some(what), .. } => Purpose::cover(covered(what, model)?),
            Goal { after: Some(n), .. } => Purpose::after(*n)?,
            _ => Purpose::nothing(),
        })
    }

    fn write(&self, test: &TestGraph, path: &Path, purpose: &str) -> Result<(), Stop> {
        match Form::of(path)? {
            Form::Lts => {
                let mut written = Ok(());
                files::write_with(path, |out| {
                    written = volee::lts::write_as(&test.to_lts(), path, out);
                    Ok(())
                })?;
                written?;
            }
            Form::Dot => files::write_with(path, |out| {
                write_dot(test, out).map_err(|e| files::cannot_write(path, &e))
            })?,
            Form::Json => {
                let name = self.model.model.display().to_string();
                let file = TestFile::new(test, &name, purpose, self.interface.livelock());
                files::write_with(path, |out| file.write(out).map_err(|e| files::cannot_write(path, &e)))?;
            }
        }
        Ok(())
    }

    fn suite(
        &self,
        product: &mut Determinised<'_>,
        meter: &Meter,
        context: &Context,
    ) -> Result<Outcome, Stop> {
        let suite = covering_suite(product, usize::MAX)?;
        if suite.transitions == 0 {
            return Err(nothing_visible(product).into());
        }
        let mut text = format!(
            "{} suite: {} cover {} of {} visible transitions\n",
            context.palette.good("holds"),
            counted(suite.tests.len(), "test case"),
            suite.covered,
            suite.transitions
        );
        if let Some(folder) = &self.output {
            self.write_suite(&suite, folder)?;
            let _ = writeln!(text, "written to {}", folder.display());
        }
        for (at, test) in suite.tests.iter().enumerate() {
            let _ = writeln!(text, "  {:>3}  {}", at + 1, test.path.join(" · "));
        }
        let figures = format!(
            "determinised specification: {}; {}",
            counted(suite.states, "state"),
            seconds(meter.elapsed().as_secs_f64())
        );
        let _ = writeln!(
            text,
            "quiescence: {}{}\n{}",
            self.interface.quiescence(),
            hidden(product),
            context.palette.faint(figures)
        );
        let mut answer = self.answer("suite", &Sizes::default(), meter);
        answer.set("tests", suite.tests.len());
        answer.set("covered", suite.covered);
        answer.set("transitions", suite.transitions);
        answer.set("states", suite.states);
        Ok(Outcome::new(answer, text))
    }

    fn write_suite(&self, suite: &Suite, folder: &Path) -> Result<(), Stop> {
        std::fs::create_dir_all(folder).map_err(|e| files::cannot_write(folder, &e))?;
        for (at, test) in suite.tests.iter().enumerate() {
            let path = folder.join(format!("test-{:03}.json", at + 1));
            self.write(&test.case, &path, &format!("cover {}", test.path.join(" · ")))?;
        }
        Ok(())
    }

    /// Compares two models, and makes the test that tells them apart.
    fn against(
        &self,
        product: &mut Determinised<'_>,
        other: &Path,
        meter: &Meter,
        context: &Context,
    ) -> Result<Outcome, Stop> {
        let mut model =
            conformance::open(&ModelArgs { model: other.to_path_buf(), ..self.model.clone() }, context)?;
        let interface = self.interface.interface(&model)?;
        let mut progress = ProgressLine::new(meter.budget().memory);
        let theirs = Specification::new(
            model.system.as_mut(),
            interface,
            self.interface.livelock(),
            meter,
            &mut progress,
        );
        let bad = ioco(product, &mut Determinised::new(theirs, Purpose::nothing()))?;
        let question = self.question();
        let mut answer = Answer::new("tests").about(self.model.model.display().to_string(), "conformance");
        answer.set("seconds", meter.elapsed().as_secs_f64());
        let Some(bad) = bad else {
            answer.push(QuestionAnswer::holds(&question));
            let text = format!("{} {question}: it conforms\n", context.palette.good("holds"));
            return Ok(Outcome::new(answer, format!("{text}quiescence: {}\n", self.interface.quiescence())));
        };
        let names: Vec<String> =
            bad.trace.iter().map(|a| product.specification().actions().name(*a).to_owned()).collect();
        let message =
            format!("after the trace below the implementation does `{}`, which is not allowed", bad.output);
        let case = test_of_trace(product, &bad.trace)?;
        if let Some(path) = &self.output {
            self.write(&case, path, &format!("{question}: {}", names.join(" · ")))?;
        }
        let reason = volee::system::Reason {
            kind: volee::system::ReasonKind::Different,
            message: message.clone(),
            place: None,
        };
        let mut result = QuestionAnswer::violated(&question, &reason, None);
        result.witness = Some(serde_json::json!({ "steps": names, "output": bad.output }));
        answer.push(result);
        let mut text = format!("{} {question}: {message}\n", context.palette.bad("violated"));
        names.iter().for_each(|n| text.push_str(&format!("  {n}\n")));
        if let Some(path) = &self.output {
            let _ = writeln!(text, "its test is written to {}", path.display());
        }
        Ok(Outcome::new(answer, text))
    }
}

/// The forms of a test file.
enum Form {
    Json,
    Dot,
    Lts,
}

impl Form {
    fn of(path: &Path) -> Result<Form, Failure> {
        match path.extension().and_then(|e| e.to_str()) {
            Some("json") => Ok(Form::Json),
            Some("dot" | "gv") => Ok(Form::Dot),
            Some("aut") => Ok(Form::Lts),
            _ => Err(Failure::new(format!("`{}`: the extension names no form of a test", path.display()))
                .with_help("known are .json (for volee conform), .aut and .dot")),
        }
    }
}

/// A message about a purpose names its file.
fn placed(error: ConformError, path: &Path) -> Stop {
    match error {
        ConformError::Input(mut diagnostic) => {
            diagnostic.message = format!("{}: {}", path.display(), diagnostic.message);
            Stop::Wrong(diagnostic.into())
        }
        other => other.into(),
    }
}

/// The patterns behind `--cover`.
fn covered(what: &str, model: &Model) -> Result<Vec<Matcher>, Stop> {
    let Some(line) = what.strip_prefix("line:") else { return Ok(vec![Matcher::parse(what)?]) };
    let wrong = |message: String| Stop::Wrong(Failure::new(message));
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

fn nothing_visible(product: &Determinised<'_>) -> Failure {
    let labels: Vec<String> =
        product.specification().labels().iter().take(4).map(|l| format!("`{}`", l.name)).collect();
    Failure::new(format!("no label is an input or an output; the labels are {}, …", labels.join(", ")))
        .with_help(
            "say which are with --inputs and --outputs; without them inputs start with ? and outputs with !",
        )
}

/// Which labels are hidden, where that might surprise.
fn hidden(product: &Determinised<'_>) -> String {
    let labels = product.specification().labels();
    let hidden: Vec<&str> = labels
        .iter()
        .filter(|l| l.action.is_none() && !matches!(l.name.as_str(), "i" | "tau"))
        .map(|l| l.name.as_str())
        .collect();
    match hidden.len() {
        0 => String::new(),
        n => format!("; {} hidden, for example `{}`", counted(n, "label"), hidden[0]),
    }
}

fn size(graph: &TestGraph) -> String {
    format!("{}, {}", counted(graph.node_count(), "node"), counted(graph.edge_count(), "step"))
}

fn sizes(sizes: &Sizes, graph: &TestGraph, reduced: bool) -> String {
    let raw = match sizes.raw_states {
        0 => String::new(),
        n => format!("raw {} states, {} transitions; ", count(n), count(sizes.raw_transitions)),
    };
    let all = format!("{raw}{} nodes, {} steps", count(sizes.nodes), count(sizes.edges));
    match reduced {
        true => format!("{all}; reduced: {}", size(graph)),
        false => all,
    }
}

/// A small test in words.
fn listing(test: &TestGraph) -> String {
    let plan = test.plan();
    let mut text = String::new();
    let target = |node: Node| match node {
        Node::PASS => "PASS".to_string(),
        Node::INCONCLUSIVE => "INCONCLUSIVE".to_string(),
        inner => format!("go to {}", inner.0),
    };
    for node in test.nodes() {
        let sending = matches!(plan[node.0 as usize], Move::Send(_));
        // Nobody waits for silence where there is something to send.
        let told = test.edges(node).iter().filter(|e| !(sending && e.action == DELTA));
        for (at, edge) in told.enumerate() {
            let number = if at == 0 { format!("{:>4}", node.0) } else { "    ".into() };
            let (name, input) = (test.actions().name(edge.action), test.actions().is_input(edge.action));
            let verb = match (input, sending) {
                (true, _) => "send",
                (false, true) => "or see",
                (false, false) => "see",
            };
            let _ = writeln!(text, "{number}  {verb} {name}: {}", target(edge.target));
        }
    }
    text.push_str("      see anything else: FAIL\n");
    text
}
