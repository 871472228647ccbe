//! A run that was stored or printed, re-executed in the program as it was written, and whether it shows what
//! it is said to show.
//!
//! ```
//! use volee::replay::{Recorded, replay};
//! use volee::{Question, Source, ask, system::Quiet};
//!
//! let source = Source::open("../../models/demo/courier.pml").expect("it is there");
//! let answers = ask(&source).question(Question::Assertions).run(&mut Quiet).expect("it can be asked");
//! let shown = &answers.answers[0].runs[0];
//! let run = Recorded::Ordinals(shown.witness.clone().expect("programs replay"));
//! let replayed = replay(&source, run, shown.claim.clone()).expect("it is a run of the program");
//! assert_eq!(replayed.trace.claim, shown.claim);
//! ```

use std::path::Path;

use volee_report::{Claim, Trace, run_from_word};
use volee_system::{Diagnostic, Witness, replay_end};

use crate::answer::{AskError, LONGEST_RUN};
use crate::judge::{Confirmed, judge};
use crate::model::{Model, Naming, Options};
use crate::source::Source;

/// A run that is to be replayed.
#[derive(Debug, Clone)]
pub enum Recorded {
    /// As it was stored: it knows how its model was read, and notices when the model has changed.
    Stored(Box<Trace>),
    /// By the ordinals of its steps in the plain program.
    Ordinals(Witness),
}

impl Recorded {
    /// A run as it is written in one word (`run:0.2.1x5`), or from the file that is named.
    ///
    /// # Errors
    /// It is no run, or the file cannot be read.
    pub fn given(text: &str) -> Result<Recorded, Diagnostic> {
        if text.starts_with("run:") {
            let run = run_from_word(text).map_err(|e| Diagnostic::error(e.to_string(), None))?;
            return Ok(Recorded::Ordinals(run));
        }
        let bytes = crate::files::read_bytes(Path::new(text))?;
        let trace = Trace::from_json(&String::from_utf8_lossy(&bytes))
            .map_err(|e| Diagnostic::error(format!("`{text}`: {e}"), None))?;
        Ok(Recorded::Stored(Box::new(trace)))
    }
}

/// A run that was replayed.
pub struct Replayed {
    /// The name of the model.
    pub model: String,
    /// The run, to be stored again.
    pub trace: Trace,
    /// What the judge has seen.
    pub confirmed: Confirmed,
    /// What the author of the model should know.
    pub warnings: Vec<Diagnostic>,
}

/// Replays a run in the plain program and looks whether it shows what is claimed: by `claim`, or else by the
/// trace itself.
///
/// # Errors
/// The model is wrong, the run is none of it, or it does not show what is claimed.
pub fn replay(source: &Source, run: Recorded, claim: Option<Claim>) -> Result<Replayed, AskError> {
    let (stored, witness) = match run {
        Recorded::Stored(trace) => {
            let witness = trace.witness.clone();
            (Some(*trace), witness)
        }
        Recorded::Ordinals(witness) => (None, witness),
    };
    let claim = claim.or_else(|| stored.as_ref().and_then(|trace| trace.claim.clone()));
    let options = options(&source.options, stored.as_ref());
    let mut model = Model::open(&source.path, &options)?;
    let confirmed = confirm(&mut model, &witness, claim.as_ref(), stored.as_ref())?;
    let question = match (&stored, &claim) {
        (Some(trace), _) => trace.question.clone(),
        (None, Some(claim)) => claim.to_string(),
        (None, None) => "a run".to_string(),
    };
    let plain = options.plain || model.promela.is_some();
    let trace =
        Trace::new(&model.name, &options.defines, plain, &question, &confirmed.witness, &confirmed.run)
            .read_with(&options.copies, options.capacity)
            .claiming(claim);
    Ok(Replayed { model: model.name, trace, confirmed, warnings: model.warnings })
}

/// Runs are those of the plain program; only traces of old may name steps of a merged one. A trace remembers
/// how its model was read, so that it always replays.
fn options(given: &Options, stored: Option<&Trace>) -> Options {
    let Some(trace) = stored else { return Options { plain: true, ..given.clone() } };
    Options {
        plain: trace.plain,
        defines: trace.defines.clone(),
        copies: trace.copies.clone(),
        capacity: trace.capacity,
        ..given.clone()
    }
}

fn confirm(
    model: &mut Model,
    witness: &Witness,
    claim: Option<&Claim>,
    stored: Option<&Trace>,
) -> Result<Confirmed, Diagnostic> {
    let refuse = |why: String| {
        Diagnostic::error(format!("the trace does not fit `{}`: {why}", model.name), None)
            .with_help("was the trace or the model changed since the trace was made, or is the model read with other definitions?")
    };
    let lowered = model.promela.as_ref();
    let draft = model.draft.as_mut();
    if let Some(trace) = stored {
        let run = replay_end(draft.system(), witness, LONGEST_RUN).map_err(|e| refuse(e.to_string()))?;
        trace.compare(&run).map_err(|e| refuse(e.to_string()))?;
    }
    judge(lowered, Naming::default(), draft, witness, claim).map_err(|objection| match claim {
        Some(claim) => refuse(format!("it does not show `{claim}`: {objection}")),
        None => refuse(objection.to_string()),
    })
}
