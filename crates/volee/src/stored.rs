//! What volee has stored as JSON and people may want to look at: a test, or the log of conformance runs.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Value, json};
use tempfile::TempDir;
use volee_conform::run::Report;
use volee_conform::{Verdict, read_test};
use volee_report::{FileNames, VerdictWord, run_story};
use volee_system::{Diagnostic, Place};

use crate::answer::AskError;
use crate::files;
use crate::render::conformance::as_run;

/// What a file of JSON holds.
pub enum Stored {
    /// Conformance runs, as the data of a page.
    Log(Value),
    /// A test graph, as a transition system.
    Test(Graph),
}

/// A transition system in a file that lasts as long as this.
pub struct Graph {
    _folder: TempDir,
    path: PathBuf,
}

impl Graph {
    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

#[derive(Deserialize)]
struct Log {
    runs: Vec<Logged>,
}

#[derive(Deserialize)]
struct Logged {
    test: String,
    run: Report,
}

/// Reads a test or a log.
///
/// # Errors
/// The file cannot be read, or is neither.
pub fn stored(path: &Path) -> Result<Stored, Diagnostic> {
    let text = files::read_text(path)?;
    let value: Value = serde_json::from_str(&text).map_err(|e| {
        let number = |n: usize| u32::try_from(n.max(1)).unwrap_or(u32::MAX);
        let place = Place::new(path.display().to_string(), number(e.line()), number(e.column()));
        Diagnostic::error(format!("this is no JSON: {e}"), place)
    })?;
    match value.get("runs").is_some() {
        true => log(path, &text).map(Stored::Log),
        false => test(path, &text).map(Stored::Test),
    }
}

fn test(path: &Path, text: &str) -> Result<Graph, Diagnostic> {
    let wrong = |error: AskError| match error {
        AskError::Input(mut all) if !all.is_empty() => all.remove(0),
        other => Diagnostic::error(other.to_string(), None),
    };
    let (_, graph) = read_test(text).map_err(|e| wrong(e.into()))?;
    let folder = tempfile::tempdir().map_err(|e| files::cannot_write(Path::new("a temporary folder"), &e))?;
    let stem = path.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
    let path = folder.path().join(format!("{stem}.aut"));
    files::write_with(&path, |out| volee_lts::write_as(&graph.to_lts(), &path, out).map_err(AskError::from))
        .map_err(wrong)?;
    Ok(Graph { _folder: folder, path })
}

fn log(path: &Path, text: &str) -> Result<Value, Diagnostic> {
    let log: Log = serde_json::from_str(text).map_err(|e| {
        Diagnostic::error(format!("`{}` is no log of conformance runs: {e}", path.display()), None)
            .with_help("the log of a conformance run is such a file")
    })?;
    let names = FileNames::new(std::iter::empty());
    let story = |one: &Logged| run_story(&as_run(&one.run), &one.test, &names);
    // The one to look at first is the first that failed.
    let first = log.runs.iter().position(|one| one.run.verdict == Verdict::Fail).unwrap_or(0);
    let others = log.runs.iter().enumerate().filter(|(at, _)| *at != first).map(|(_, one)| story(one));
    let result = |one: &Logged| {
        let word = match one.run.verdict {
            Verdict::Pass => VerdictWord::Holds,
            Verdict::Fail => VerdictWord::Violated,
            Verdict::Inconclusive => VerdictWord::Unknown,
        };
        json!({ "question": one.test, "verdict": word, "message": one.run.message })
    };
    Ok(json!({
        "still": true,
        "model": { "name": path.display().to_string(), "language": "conformance log", "files": [] },
        "run": log.runs.get(first).map(story),
        "more": others.collect::<Vec<_>>(),
        "answer": {
            "results": log.runs.iter().map(result).collect::<Vec<_>>(),
            "statistics": { "runs": log.runs.len(), "seconds": log.runs.iter().map(|r| r.run.seconds).sum::<f64>() },
            "notes": [],
            "coverage": [],
            "coverage_note": "",
        },
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &str, text: &str) -> Result<Stored, Diagnostic> {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("it can be written");
        stored(&path)
    }

    #[test]
    fn a_log_is_a_page_that_begins_with_what_failed() {
        let run = |verdict: &str| {
            json!({ "verdict": verdict, "cause": "purpose", "message": "so it is", "seconds": 0.5,
                    "log": [{ "milliseconds": 1, "event": "sent", "label": "?coin", "line": "coin" },
                            { "milliseconds": 2, "event": "seen", "label": null, "line": "coffee" },
                            { "milliseconds": 3, "event": "silence" }] })
        };
        let log = json!({ "tool": "volee", "runs": [
            { "test": "one", "seed": 1, "run": run("pass") }, { "test": "two", "seed": 2, "run": run("fail") }] });
        let Ok(Stored::Log(data)) = read("log.json", &log.to_string()) else { panic!("it is a log") };
        assert_eq!(data["run"]["title"], "two");
        assert_eq!(data["run"]["steps"].as_array().map(Vec::len), Some(4));
        assert_eq!(data["more"][0]["title"], "one");
        assert_eq!(data["answer"]["results"][1]["verdict"], "violated");
    }

    #[test]
    fn what_is_neither_a_test_nor_a_log_is_told() {
        let wrong = |text: &str| read("x.json", text).err().map(|e| e.to_string()).unwrap_or_default();
        assert!(wrong("{").contains("x.json:1:1: this is no JSON"), "{}", wrong("{"));
        assert!(wrong("{}").contains("not a test of volee"), "{}", wrong("{}"));
        assert!(wrong("{\"runs\": 3}").contains("no log of conformance runs"));
    }
}
