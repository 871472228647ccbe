//! Searches that are kept in a file: what the file says of itself, and whether a search may go on from it.
//!
//! A search may go on if it is the same question about the same model, asked of the same version of volee:
//! the file has digests of all files of the model and of all questions and settings. What may be used
//! (memory, time) is not part of them.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use volee_report::brief;
use volee_store::checkpoint::{self, Checkpoint, CheckpointError, read_header};
use volee_system::{Diagnostic, Limit, Verdict};

use crate::answer::AskError;
use crate::bundle::Bundle;
use crate::engines::Job;
use crate::engines::workers::included;
use crate::model::Model;
use crate::question::Question;
use crate::settings::Settings;

/// The usual time between two checkpoints.
pub const USUAL_INTERVAL: Duration = Duration::from_secs(300);

/// Where a search is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keep {
    /// The file.
    pub file: PathBuf,
    /// The time between two checkpoints.
    pub every: Duration,
    /// Words from which the caller can ask the same again.
    pub call: Vec<String>,
    /// Go on from what the file has.
    pub resume: bool,
}

impl Keep {
    /// In this file, as often as usual.
    pub fn new(file: impl Into<PathBuf>) -> Self {
        Keep { file: file.into(), every: USUAL_INTERVAL, call: Vec::new(), resume: false }
    }
}

/// What a file says of its search.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    /// The version of volee.
    pub version: String,
    /// The words of the call.
    pub call: Vec<String>,
    /// The folder in which it was made.
    pub folder: PathBuf,
    /// The files of the model, with their digests.
    files: Vec<(PathBuf, String)>,
    /// The digest of questions and settings.
    asked: String,
}

impl Kept {
    /// Reads what a file says, and whether it is whole.
    ///
    /// # Errors
    /// It is not a checkpoint, or damaged, or of another version.
    pub fn read(file: &Path) -> Result<Self, Diagnostic> {
        let shown = brief(&file.display().to_string());
        let wrong = |why: String| Diagnostic::error(format!("cannot go on with `{shown}`: {why}"), None);
        let header = read_header(file).map_err(|error| match &error {
            CheckpointError::Io(io) => crate::files::explain(file, io),
            other => wrong(other.to_string()),
        })?;
        let kept: Kept =
            serde_json::from_slice(&header).map_err(|_| wrong("it is of another version of volee".into()))?;
        match kept.version == VERSION {
            true => Ok(kept),
            false => {
                Err(wrong(format!("it was written by volee {}, and this is volee {VERSION}", kept.version))
                    .with_help("go on with the same version, or begin anew"))
            }
        }
    }

    /// Why a search cannot go on from this one.
    fn differs(&self, now: &Kept) -> Option<String> {
        for (path, digest) in &self.files {
            match now.files.iter().find(|(other, _)| other == path) {
                Some((_, other)) if other == digest => {}
                Some(_) => return Some(format!("`{}` has changed since", path.display())),
                None => return Some(format!("the model was `{}`", path.display())),
            }
        }
        if self.files.len() != now.files.len() {
            return Some("the model has other files than before".into());
        }
        (self.asked != now.asked).then(|| "it was asked something else, or with other options".into())
    }
}

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The file of a search, if it is to be kept; a file that is there already is not overwritten.
pub(crate) fn prepare(
    job: &Job<'_>,
    model: &Model,
    questions: &[Question],
) -> Result<Option<Checkpoint>, AskError> {
    let Some(keep) = &job.settings.checkpoint else { return Ok(None) };
    let files = match job.subject.file() {
        Some(path) => Bundle::pack(path, &included(model))?
            .files()
            .map(|(path, bytes)| (path.to_path_buf(), digest(bytes)))
            .collect(),
        None => Vec::new(),
    };
    let settings = Settings { checkpoint: None, ..job.settings.clone() };
    // Several workers keep other things than one.
    let ways: Vec<_> = questions.iter().map(|question| job.engine.way(question.kind()).ok()).collect();
    let asked = (job.subject.options(), questions, settings, job.meter.budget().depth, ways);
    prepared(keep, files, format!("{asked:?}").as_bytes()).map(Some)
}

/// The file of a resolution of equations, which are in this file or nowhere, and are solved in this way.
pub(crate) fn prepare_equations(
    keep: &Keep,
    file: Option<&Path>,
    asked: &[u8],
) -> Result<Checkpoint, AskError> {
    let read = |path: &Path| match std::fs::read(path) {
        Ok(bytes) => Ok((path.to_path_buf(), digest(&bytes))),
        Err(error) => Err(crate::files::explain(path, &error)),
    };
    prepared(keep, file.map(read).transpose()?.into_iter().collect(), asked)
}

fn prepared(keep: &Keep, files: Vec<(PathBuf, String)>, asked: &[u8]) -> Result<Checkpoint, AskError> {
    let folder = std::env::current_dir().unwrap_or_default();
    let now = Kept { version: VERSION.into(), call: keep.call.clone(), folder, files, asked: digest(asked) };
    if keep.resume {
        if let Some(why) = Kept::read(&keep.file)?.differs(&now) {
            let message = format!("cannot go on with `{}`: {why}", brief(&keep.file.display().to_string()));
            return Err(AskError::new(message, "begin anew: remove the file and ask again"));
        }
    } else if keep.file.exists() {
        let message = format!("`{}` exists already", brief(&keep.file.display().to_string()));
        return Err(AskError::new(
            message,
            "go on with the search that it keeps, or remove it to begin anew",
        ));
    }
    let header = serde_json::to_vec(&now).map_err(|e| Diagnostic::error(e.to_string(), None))?;
    Ok(Checkpoint { path: keep.file.clone(), every: keep.every, header, resume: keep.resume })
}

/// Removes the file of a search that has ended; one that a limit has ended is gone on with.
pub(crate) fn forget<'v>(kept: Option<&Checkpoint>, mut verdicts: impl Iterator<Item = &'v Verdict>) {
    let open = |verdict: &Verdict| match verdict {
        Verdict::Unknown(limit) => !matches!(limit, Limit::Depth { .. }),
        _ => false,
    };
    if let Some(kept) = kept.filter(|_| !verdicts.any(open)) {
        checkpoint::remove(&kept.path);
    }
}

fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
