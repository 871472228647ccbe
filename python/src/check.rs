//! `check`: questions about a model, and its answers in all forms.

use pyo3::prelude::*;
use volee::render::RunView;
use volee::render::check::{View, answers as rendered};
use volee::report::{Filter, Palette, QuestionAnswer, Trace, diagnostics_text, run_svg, run_to_word};
use volee::search::{Fairness, Order};
use volee::system::Verdict;
use volee::{Answers, Ask, AskError, Engine, Question, Settings, ShownRun, Source, ask, report_page};

use crate::given::{Call, Given, Subject};
use crate::{refused, unknown, wrong};

/// Steps beyond which a chart has only the beginning and the end of a run.
pub const LONGEST_CHART: usize = 400;

/// Answers, in all forms.
#[pyclass(frozen)]
pub struct Checked {
    source: Source,
    answers: Answers,
    json: String,
    text: String,
}

#[pymethods]
impl Checked {
    /// The machine-readable answer.
    fn json(&self) -> &str {
        &self.json
    }

    /// The answer as people read it.
    fn text(&self) -> &str {
        &self.text
    }

    /// The run of a result as a message-sequence chart, where it has one.
    fn svg(&self, result: usize) -> Option<String> {
        let (title, run) = self.runs().into_iter().nth(result)?;
        Some(run_svg(&run?.run, &title, LONGEST_CHART))
    }

    /// The whole answer as one page that stands alone.
    fn html(&self) -> String {
        report_page(&self.source, &self.answers, &Filter::default())
    }
}

impl Checked {
    /// One per result: what was asked, and the run that shows the answer.
    fn runs(&self) -> Vec<(String, Option<&ShownRun>)> {
        let mut all = Vec::new();
        for answer in &self.answers {
            let number = match &answer.verdict {
                Verdict::Violated(violations) => violations.len(),
                _ => 1,
            };
            let unknown = matches!(answer.verdict, Verdict::Unknown(_));
            let shown = |n| if unknown { None } else { answer.runs.get(n) };
            all.extend((0..number).map(|n| (answer.question.to_string(), shown(n))));
        }
        all
    }
}

#[pyfunction]
#[pyo3(signature = (model, options, progress=None))]
pub fn check(
    py: Python<'_>,
    model: Subject,
    options: &str,
    progress: Option<Py<PyAny>>,
) -> PyResult<Checked> {
    let mut call = Call::new(options, progress)?;
    let source = call.source(py, &model)?;
    let (budget, given) = (call.budget()?, &call.given);
    let asked = questions(ask(&source), given).engine(engine(given)?);
    let asked = asked.settings(settings(given)?).budget(budget);
    let outcome = call.watcher.follow(py, |progress| asked.run(progress))?;
    let answers = match outcome {
        Ok(answers) => answers,
        Err(AskError::Limit(limit)) => return Ok(unanswered(source, &limit)),
        Err(error) => return Err(refused(&error)),
    };
    let covered = given.flag("coverage");
    let told = call.watcher.follow(py, |_| {
        let replay =
            |trace: &Trace| format!("volee replay {} {}", source.path.display(), run_to_word(&trace.witness));
        let view = View {
            palette: Palette::Plain,
            run: RunView::default(),
            shorter: None,
            all_claims: "properties=[\"all\"]",
            coverage: covered,
            advise: &|_, _| None,
            replay: &|_, trace| Ok(replay(trace)),
        };
        rendered(&source, &answers, &view)
    })?;
    let mut told = told.map_err(|d| wrong(&[d]))?;
    told.answer.warn(&answers.warnings);
    let text = diagnostics_text(&answers.warnings, Palette::Plain) + &told.text;
    Ok(Checked { json: told.answer.to_json(), text, source, answers })
}

/// A limit was reached before there was anything to answer with.
fn unanswered(source: Source, limit: &volee::system::Limit) -> Checked {
    let mut answer = volee::report::Answer::new("check").about(source.path.display().to_string(), "explicit");
    answer.push(QuestionAnswer::unknown("check", limit));
    Checked {
        json: answer.to_json(),
        text: format!("unknown   {limit}\n"),
        source,
        answers: Answers::default(),
    }
}

fn settings(given: &Given) -> PyResult<Settings> {
    Ok(Settings {
        order: if given.flag("shortest") { Order::BreadthFirst } else { Order::DepthFirst },
        all_errors: given.flag("all_errors"),
        seed: given.number("seed").unwrap_or_default(),
        fairness: match given.text("fair").as_deref() {
            None | Some("none") => Fairness::None,
            Some("weak") => Fairness::Weak,
            Some("strong") => Fairness::Strong,
            Some(other) => return Err(unknown("fairness", other, &["none", "weak", "strong"])),
        },
        for_any: given.list("for_any"),
        parameters: given.list("parameters"),
        assumptions: given.list("assume"),
        audit: given.flag("audit"),
        coverage: given.flag("coverage"),
        ..Settings::default()
    })
}

fn engine(given: &Given) -> PyResult<Engine> {
    if let Some(workers) = given.number("workers") {
        return Ok(Engine::Workers(usize::try_from(workers).unwrap_or(1)));
    }
    let Some(name) = given.text("engine") else { return Ok(Engine::Explicit) };
    Engine::named(&name).ok_or_else(|| unknown("engine", &name, &Engine::NAMES))
}

fn questions<'a>(mut asked: Ask<'a>, given: &Given) -> Ask<'a> {
    let about_states =
        [("invariant", Question::invariant as fn(String) -> Question), ("reachable", Question::reachable)];
    let about_runs = [
        ("ltl", Question::ltl as fn(String) -> Question),
        ("mu", Question::mu),
        ("tl", Question::Tl as fn(String) -> Question),
    ];
    let mut states = false;
    for (name, make) in about_states {
        states |= !given.list(name).is_empty();
        asked = asked.questions(given.list(name).into_iter().map(make));
    }
    let mut runs = !given.list("properties").is_empty();
    for (name, make) in about_runs {
        runs |= !given.list(name).is_empty();
        asked = asked.questions(given.list(name).into_iter().map(make));
    }
    for name in given.list("properties") {
        asked = asked.claim(name);
    }
    asked = asked.only(given.list("only")).skip(given.list("skip"));
    // Questions about runs stand for themselves, those about states come on top of the usual ones.
    if states || !runs { asked.usual() } else { asked }
}
