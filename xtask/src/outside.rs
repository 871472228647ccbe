//! Programs that commands here call, and the folder that they are called in.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder of the repository.
pub fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    root.canonicalize().unwrap_or(root)
}

/// Runs a program to its end, with what it prints.
pub fn called(command: &mut Command) -> Result<(), String> {
    let told = format!("{command:?}");
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{told}: {status}")),
        Err(error) => Err(format!("{told}: {error}")),
    }
}
