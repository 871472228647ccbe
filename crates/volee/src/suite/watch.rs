//! Which files a model is made of, and whether they have changed.
//!
//! Includes are found in the text, not by the front end: also a model that is wrong is watched. Files are
//! looked at several times a second, which costs nothing for the dozens of files of a project and works on
//! every kind of disk.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Files beyond this are not followed: they include each other without end.
const MOST_FILES: usize = 1000;

/// A model's file and all that it includes, the model first.
pub fn files_of(model: &Path) -> Vec<PathBuf> {
    let mut all = vec![model.to_path_buf()];
    let mut seen: BTreeSet<PathBuf> = all.iter().cloned().collect();
    let mut next = 0;
    while next < all.len() && all.len() < MOST_FILES {
        let folder = all[next].parent().unwrap_or(Path::new("")).to_path_buf();
        for name in includes(&all[next]) {
            let path = folder.join(name);
            if seen.insert(path.clone()) {
                all.push(path);
            }
        }
        next += 1;
    }
    all
}

fn includes(path: &Path) -> Vec<String> {
    let bytes = std::fs::metadata(path).is_ok_and(|m| m.is_file() && m.len() < 1 << 24);
    let text = bytes.then(|| std::fs::read_to_string(path).ok()).flatten().unwrap_or_default();
    let name = |line: &str| {
        let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("include")?.trim_start();
        let rest = rest.strip_prefix('"')?;
        Some(rest.split_once('"')?.0.to_string())
    };
    text.lines().filter_map(name).collect()
}

/// Files as they were when they were last looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Watched(BTreeMap<PathBuf, Option<(SystemTime, u64)>>);

impl Watched {
    /// These files as they are now; one that is not there may come.
    pub fn now(files: impl IntoIterator<Item = PathBuf>) -> Self {
        Watched(files.into_iter().map(|path| (path.clone(), state(&path))).collect())
    }

    /// Whether the same files look the same in both; folders do not count.
    pub fn same_contents(&self, other: &Watched) -> bool {
        let files = |watched: &Watched| {
            let files = watched.0.iter().filter(|(path, _)| !path.is_dir());
            files.map(|(path, state)| (path.clone(), *state)).collect::<Vec<_>>()
        };
        files(self) == files(other)
    }

    /// The files that are not as they were.
    pub fn changed(&self) -> Vec<PathBuf> {
        self.0.iter().filter(|(path, was)| state(path) != **was).map(|(path, _)| path.clone()).collect()
    }
}

fn state(path: &Path) -> Option<(SystemTime, u64)> {
    let metadata = std::fs::metadata(path).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_made_of_all_it_includes_even_in_circles() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let write = |name: &str, text: &str| {
            std::fs::write(folder.path().join(name), text).expect("it can be written");
        };
        write("m.pml", "#include \"a.h\"\n  # include \"b.h\"\nnonsense {");
        write("a.h", "#include \"b.h\"\n#include \"m.pml\"\n");
        let files = files_of(&folder.path().join("m.pml"));
        let names: Vec<String> =
            files.iter().map(|p| p.file_name().expect("a name").to_string_lossy().into_owned()).collect();
        assert_eq!(names, ["m.pml", "a.h", "b.h"]);
        let watched = Watched::now(files);
        assert_eq!(watched.changed(), Vec::<PathBuf>::new());
        write("b.h", "#define N 2");
        assert_eq!(watched.changed(), [folder.path().join("b.h")]);
        write("m.pml", "another length");
        assert_eq!(watched.changed().len(), 2);
    }
}
