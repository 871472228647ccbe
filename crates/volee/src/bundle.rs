//! The files of a model on their way to workers elsewhere: the model itself and what it includes.
//!
//! Files keep their places to each other, because an include is looked for beside the file that has it. Where
//! all of them are below the current folder they are also named there as they were named here, so that places
//! in messages are the same.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};
use tempfile::TempDir;
use volee_system::Diagnostic;

/// Files by their places to each other; the first is the model.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Bundle {
    files: Vec<(PathBuf, Vec<u8>)>,
}

impl Bundle {
    /// Reads a model and what it includes.
    pub fn pack(model: &Path, included: &[PathBuf]) -> Result<Self, Diagnostic> {
        let unreadable = |path: &Path, error: std::io::Error| {
            Diagnostic::error(format!("cannot read `{}`: {error}", path.display()), None)
        };
        let here = std::env::current_dir().map_err(|error| unreadable(Path::new("."), error))?;
        let model = flat(&here.join(model));
        let others: BTreeSet<PathBuf> = included.iter().map(|path| flat(&here.join(path))).collect();
        let all: Vec<PathBuf> =
            std::iter::once(model.clone()).chain(others.into_iter().filter(|path| *path != model)).collect();
        let root = if all.iter().all(|path| path.starts_with(&here)) { here } else { common(&all) };
        let mut files = Vec::new();
        for path in all {
            let bytes = std::fs::read(&path).map_err(|error| unreadable(&path, error))?;
            files.push((path.strip_prefix(&root).unwrap_or(&path).to_path_buf(), bytes));
        }
        Ok(Bundle { files })
    }

    /// The files by name, with their contents.
    pub fn files(&self) -> impl Iterator<Item = (&Path, &[u8])> {
        self.files.iter().map(|(path, bytes)| (path.as_path(), bytes.as_slice()))
    }

    /// How workers name the model, where that is not how it was named here.
    pub fn alias(&self, named: &Path) -> Option<String> {
        let (path, _) = self.files.first()?;
        (path != named).then(|| path.display().to_string())
    }

    /// Puts all files into a folder of their own, goes there, and tells how the model is named from there.
    pub fn unpack(&self) -> Result<(TempDir, PathBuf), String> {
        let wrong = |error: std::io::Error| format!("the model cannot be kept: {error}");
        let folder = tempfile::tempdir().map_err(wrong)?;
        for (path, bytes) in &self.files {
            if !path.components().all(|part| matches!(part, Component::Normal(_))) {
                return Err(format!("`{}` is no place for a file of a model", path.display()));
            }
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap_or(folder.path())).map_err(wrong)?;
            std::fs::write(&path, bytes).map_err(wrong)?;
        }
        std::env::set_current_dir(folder.path()).map_err(wrong)?;
        let (model, _) = self.files.first().ok_or("the model was not sent")?;
        Ok((folder, model.clone()))
    }
}

/// A path without `.` and `..`.
fn flat(path: &Path) -> PathBuf {
    let mut flat = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(flat.pop()),
            other => flat.push(other),
        }
    }
    flat
}

/// The folder that all these files are below.
fn common(paths: &[PathBuf]) -> PathBuf {
    let mut root = paths.first().and_then(|path| path.parent()).map(Path::to_path_buf).unwrap_or_default();
    while !paths.iter().all(|path| path.starts_with(&root)) && root.pop() {}
    root
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_flattened_and_their_common_folder_is_found() {
        assert_eq!(flat(Path::new("/a/./b/../c.pml")), Path::new("/a/c.pml"));
        let paths = ["/a/b/c/m.pml", "/a/b/lib/x.h", "/a/b/c/y.h"].map(PathBuf::from);
        assert_eq!(common(&paths), Path::new("/a/b"));
    }

    #[test]
    fn files_outside_the_folder_are_not_unpacked() {
        let bundle = Bundle { files: vec![(PathBuf::from("../x.pml"), Vec::new())] };
        assert!(bundle.unpack().expect_err("it lies outside").contains("no place"));
    }
}
