//! Several models in one call: which they are, each asked in a process of its own, and again when its files
//! change.
//!
//! A process each, because the limits of a process hold whatever it does: a model that is too large, or that
//! makes volee fail, costs the others nothing, and a check whose model has changed meanwhile is ended at
//! once.

mod call;
mod project;
mod round;
mod watch;

pub use call::{Outcome as CallOutcome, call};
pub use project::{PROJECT_FILE, find_project, read_project};
pub use round::{Round, watch};
pub use watch::{Watched, files_of};

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use volee_report::{Expected, Member, MemberAnswer};
use volee_system::{Diagnostic, Place, parse_duration};

use crate::model::FRONT_ENDS;

/// Folders below which nobody keeps models.
const PASSED_OVER: [&str; 2] = ["target", "node_modules"];
/// How deep folders are looked into: a link may lead in circles.
const DEEPEST: usize = 16;

/// A model to be checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// The file.
    pub model: PathBuf,
    /// What it is called in answers.
    pub name: String,
    /// Options of the check.
    pub given: Vec<Given>,
    /// What should come out.
    pub expected: Expected,
    /// Where a project names it.
    pub place: Option<Place>,
}

impl Task {
    /// The time that the project gives it, within what is left of the whole.
    pub fn time(&self, left: Option<Duration>) -> Option<Duration> {
        let own =
            self.given.iter().find(|given| given.name == "time").and_then(|g| g.values.as_ref()?.first());
        let own = own.and_then(|text| parse_duration(text).ok());
        left.map(|left| own.map_or(left, |own| own.min(left)))
    }

    /// The model with what was found out about it.
    fn member(&self, answer: MemberAnswer) -> Member {
        let (model, name) = (self.model.display().to_string(), self.name.clone());
        Member { model, name, expected: self.expected.clone(), answer }
    }
}

/// An option of the check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Given {
    /// Its name.
    pub name: String,
    /// Its values, none for a switch; `None` where it is switched off.
    pub values: Option<Vec<String>>,
    /// Where it is given.
    pub place: Place,
}

/// The tasks of a call that names these files and folders; a project file stands for its own.
///
/// # Errors
/// A project is wrong, or a folder has no model in it.
pub fn tasks(named: &[PathBuf]) -> Result<Vec<Task>, Vec<Diagnostic>> {
    let mut all = Vec::new();
    for path in named {
        if path.extension().is_some_and(|e| e == "toml") {
            all.extend(read_project(path)?);
        } else if path.is_dir() {
            let models = models_in(path);
            if models.is_empty() {
                let message = format!("there is no model in the folder `{}`", path.display());
                return Err(vec![Diagnostic::error(message, None).with_help(known_extensions())]);
            }
            all.extend(models.into_iter().map(task));
        } else {
            all.push(task(path.clone()));
        }
    }
    Ok(all)
}

fn task(model: PathBuf) -> Task {
    let name = model.display().to_string();
    Task { model, name, given: Vec::new(), expected: Expected::default(), place: None }
}

fn known_extensions() -> String {
    let all: Vec<String> =
        FRONT_ENDS.iter().flat_map(|f| f.extensions).map(|extension| format!(".{extension}")).collect();
    format!("models are files that end in {}", all.join(", "))
}

/// The models of a folder and of the folders in it, sorted; what another one includes is a part of that one.
pub fn models_in(folder: &Path) -> Vec<PathBuf> {
    let mut found = BTreeSet::new();
    let mut open = vec![(folder.to_path_buf(), 0)];
    while let Some((folder, depth)) = open.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = entry.path();
            if name.starts_with('.') || PASSED_OVER.contains(&name.as_str()) {
                continue;
            }
            if path.is_dir() {
                if depth < DEEPEST {
                    open.push((path, depth + 1));
                }
            } else if is_model(&name) {
                found.insert(path);
            }
        }
    }
    let parts: BTreeSet<PathBuf> =
        found.iter().flat_map(|model| files_of(model).into_iter().skip(1)).collect();
    found.into_iter().filter(|model| !parts.contains(model)).collect()
}

fn is_model(name: &str) -> bool {
    let name = name.to_lowercase();
    let has = |extension: &str| name.strip_suffix(extension).is_some_and(|rest| rest.ends_with('.'));
    FRONT_ENDS.iter().flat_map(|front_end| front_end.extensions).any(|extension| has(extension))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_has_its_models_but_not_their_parts() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for (name, text) in [
            ("a.pml", "#include \"lib/macros.pml\"\nactive proctype P() { skip }"),
            ("lib/macros.pml", "#define N 3"),
            ("nets/n.pnml", ""),
            ("nets/g.AUT", ""),
            ("notes.txt", ""),
            (".hidden/x.pml", ""),
            ("target/y.pml", ""),
        ] {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("it can be created");
            std::fs::write(path, text).expect("it can be written");
        }
        let names: Vec<String> = models_in(folder.path())
            .iter()
            .map(|p| p.strip_prefix(folder.path()).expect("inside").display().to_string())
            .collect();
        assert_eq!(names, ["a.pml", "nets/g.AUT", "nets/n.pnml"]);
        assert!(
            tasks(&[folder.path().join("lib/none")]).is_ok(),
            "that it is missing is told when it is read"
        );
    }
}
