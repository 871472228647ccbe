//! Everything but checks: random runs, comparisons, smaller systems, equations, tests.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use pyo3::prelude::*;
use volee::bes::{SolveError, Solver};
use volee::conform::TestFile;
use volee::lts::{Method, Relation, write_as};
use volee::render::Outcome;
use volee::render::conformance::Telling;
use volee::render::graphs::{comparison, reduced};
use volee::report::{Answer, Palette, QuestionAnswer, run_svg, run_value};
use volee::system::{Diagnostic, Limit, Meter, Progress, Reason, ReasonKind, replay_end};
use volee::walk::Walk;
use volee::{AskError, Contract, Equations, Goal, Graphs, LONGEST_RUN};

use crate::check::LONGEST_CHART;
use crate::given::{Call, Given, Subject};
use crate::{refused, unknown, wrong};

/// A text of JSON, and what was made beside it.
type Told = (String, Option<String>);

/// The answer of a call that may have run into a limit.
fn ended(verb: &str, question: &str, outcome: Result<Outcome, AskError>) -> PyResult<String> {
    match outcome {
        Ok(outcome) => Ok(outcome.answer.to_json()),
        Err(AskError::Limit(limit)) => Ok(limited(verb, question, &limit)),
        Err(error) => Err(refused(&error)),
    }
}

fn limited(verb: &str, question: &str, limit: &Limit) -> String {
    let mut answer = Answer::new(verb);
    answer.push(QuestionAnswer::unknown(question, limit));
    answer.to_json()
}

/// A random run: the answer, and its chart.
#[pyfunction]
pub fn simulate(py: Python<'_>, model: Subject, options: &str) -> PyResult<Told> {
    let mut call = Call::new(options, None)?;
    let source = call.source(py, &model)?.plain();
    let (steps, seed) = (call.given.number("steps").unwrap_or(100), call.given.number("seed").unwrap_or(1));
    let cancelled = &call.stop.cancelled;
    call.watcher.follow(py, |_| {
        let mut model = source.model().map_err(|all| wrong(&all))?;
        let system = model.draft.system();
        let mut walk = Walk::new(system, seed).map_err(|d| wrong(&[d]))?;
        let steps = usize::try_from(steps).unwrap_or(usize::MAX);
        let ending = walk.at_random(system, steps, &|| cancelled.load(Ordering::Relaxed));
        let run = replay_end(system, &walk.witness(), LONGEST_RUN)
            .map_err(|e| wrong(&[Diagnostic::error(format!("the run does not replay: {e}"), None)]))?;
        let mut answer = Answer::new("simulate").about(&model.name, "explicit");
        answer.set("steps", walk.len());
        answer.set("seed", seed);
        answer.add("ending", ending.word());
        match ending.reason() {
            Some(reason) => answer.push(QuestionAnswer::violated("simulation", &reason, Some(&run))),
            None => answer.add("witness", run_value(&run)),
        }
        answer.warn(&model.warnings);
        let chart = run_svg(&run, &format!("a random run of {}", model.name), LONGEST_CHART);
        Ok((answer.to_json(), Some(chart)))
    })?
}

impl Call {
    /// How systems are compared or reduced, and by what names these are meant.
    fn graphs<const N: usize>(
        &mut self,
        py: Python<'_>,
        subjects: [&Subject; N],
    ) -> PyResult<(Graphs, [PathBuf; N])> {
        let mut names = subjects.map(|_| PathBuf::new());
        let mut made = Vec::new();
        for (name, subject) in names.iter_mut().zip(subjects) {
            let mut source = self.source(py, subject)?;
            if source.options.made.is_some() {
                // A name with a number is no file, and no other model.
                source.path = format!("{} ({})", source.path.display(), made.len() + 1).into();
                made.push(source.clone());
            }
            *name = source.path;
        }
        let given = &self.given;
        let graphs = Graphs {
            hide: given.list("hide"),
            rename: given.list("rename"),
            defines: given.list("define"),
            plain: given.flag("plain"),
            made,
            ..Graphs::default()
        };
        Ok((graphs, names))
    }
}

#[pyfunction]
#[pyo3(signature = (first, second, relation, options, progress=None))]
pub fn compare(
    py: Python<'_>,
    first: Subject,
    second: Subject,
    relation: &str,
    options: &str,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let mut call = Call::new(options, progress)?;
    let sense: Relation = relation.parse().map_err(|e| refused(&AskError::from(e)))?;
    let (graphs, [one, other]) = call.graphs(py, [&first, &second])?;
    let meter = call.meter()?;
    let outcome = call.watcher.follow(py, |progress| {
        let compared = graphs.compare(&one, &other, sense, &meter, progress)?;
        Ok(comparison(&compared, [&one, &other], None, &meter, Palette::Plain))
    })?;
    ended("compare", relation, outcome)
}

/// A smaller system: the answer, and the system in the format `.aut`.
#[pyfunction]
#[pyo3(signature = (model, relation, options, progress=None))]
pub fn reduce(
    py: Python<'_>,
    model: Subject,
    relation: &str,
    options: &str,
    progress: Option<Py<PyAny>>,
) -> PyResult<Told> {
    let mut call = Call::new(options, progress)?;
    let method = Method::parse(relation).map_err(|e| refused(&AskError::from(e)))?;
    let (graphs, [path]) = call.graphs(py, [&model])?;
    let meter = call.meter()?;
    let mut text = Vec::new();
    let outcome = call.watcher.follow(py, |progress| -> Result<Outcome, AskError> {
        let found = graphs.reduce(&path, method, &meter, progress)?;
        write_as(&found.reduction.lts, Path::new("reduced.aut"), &mut text)?;
        Ok(reduced(&found, &path, relation, None, &meter, Palette::Plain))
    })?;
    let json = ended("reduce", relation, outcome)?;
    Ok((json, Some(String::from_utf8_lossy(&text).into_owned()).filter(|text| !text.is_empty())))
}

#[pyfunction]
#[pyo3(signature = (file, text, options, progress=None))]
pub fn solve(
    py: Python<'_>,
    file: PathBuf,
    text: &str,
    options: &str,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let call = Call::new(options, progress)?;
    let name = call.given.text("solver").unwrap_or_else(|| "auto".into());
    let solver = Solver::ALL.into_iter().find(|solver| solver.name() == name);
    let solver = solver.ok_or_else(|| unknown("solver", &name, &Solver::ALL.map(Solver::name)))?;
    let meter = call.meter()?;
    let outcome = call.watcher.follow(py, |progress| {
        let equations = Equations::read(&file, text).map_err(|d| wrong(&[d]))?;
        let (yes, no) = equations.sentences();
        Ok::<_, PyErr>((equations.solve(solver, None, &meter, progress), yes, no))
    })?;
    let (solved, yes, no) = outcome?;
    let mut answer = Answer::new("solve").about(file.display().to_string(), "equations");
    match solved {
        Ok(solved) => {
            let reason = Reason { kind: ReasonKind::Formula, message: no, place: None };
            answer.push(match solved.value {
                true => QuestionAnswer::holds(&yes),
                false => QuestionAnswer::violated(&yes, &reason, None),
            });
            answer.set("value", solved.value);
            answer.set("variables", solved.variables);
            answer.set("transitions", solved.edges);
            answer.set("seconds", meter.elapsed().as_secs_f64());
        }
        Err(SolveError::Limit(limit)) => return Ok(limited("solve", &yes, &limit)),
        Err(other) => return Err(wrong(&[Diagnostic::error(other.to_string(), None)])),
    }
    Ok(answer.to_json())
}

/// Tests of a specification: the answer, and the test for `volee conform` where it is one.
#[pyfunction]
#[pyo3(signature = (model, options, progress=None))]
pub fn tests(py: Python<'_>, model: Subject, options: &str, progress: Option<Py<PyAny>>) -> PyResult<Told> {
    let mut call = Call::new(options, progress)?;
    let source = call.source(py, &model)?;
    let (name, meter, given) = (model.name(py)?, call.meter()?, &call.given);
    let contract = Contract {
        inputs: given.list("inputs"),
        outputs: given.list("outputs"),
        hidden: given.list("hide"),
        ..Contract::new(source)
    };
    let goal = goal(given);
    let question = goal.as_ref().map_or_else(|| "suite".to_string(), |(_, question)| question.clone());
    let made =
        call.watcher.follow(py, |progress| make(&contract, goal, &question, &name, &meter, progress))?;
    let (outcome, test) = match made {
        Ok((outcome, test)) => (Ok(outcome), test),
        Err(error) => (Err(error), None),
    };
    Ok((ended("tests", &question, outcome)?, test))
}

fn goal(given: &Given) -> Option<(Goal, String)> {
    if let Some(path) = given.text("purpose") {
        return Some((Goal::Automaton(PathBuf::from(&path)), format!("purpose {path}")));
    }
    if let Some(text) = given.text("tl") {
        return Some((Goal::Formula(text.clone()), format!("tl {text}")));
    }
    if let Some(what) = given.text("cover") {
        return Some((Goal::Cover(what.clone()), format!("cover {what}")));
    }
    let after = given.number("after")?;
    Some((
        Goal::After(usize::try_from(after).unwrap_or(usize::MAX)),
        format!("after {after} visible actions"),
    ))
}

fn make(
    contract: &Contract,
    goal: Option<(Goal, String)>,
    question: &str,
    model: &str,
    meter: &Meter,
    progress: &mut dyn Progress,
) -> Result<(Outcome, Option<String>), AskError> {
    let telling = Telling {
        model: model.to_string(),
        question: question.to_string(),
        livelock: contract.livelock,
        written: None,
        meter,
        palette: Palette::Plain,
    };
    let Some((goal, _)) = goal else { return Ok((telling.suite(&contract.suite(meter, progress)?), None)) };
    let made = contract.test(&goal, meter, progress)?;
    let Some(selected) = &made.tests else { return Ok((telling.no_test(&made.unmatched), None)) };
    let small = selected.graph.reduced(meter)?;
    let case = small.case();
    let mut text = Vec::new();
    TestFile::new(&case, model, question, contract.livelock)
        .write(&mut text)
        .map_err(|e| Diagnostic::error(e.to_string(), None))?;
    let outcome = telling.test(selected, Some(&small), &case, "test case", &made.hidden);
    Ok((outcome, Some(String::from_utf8_lossy(&text).into_owned())))
}
