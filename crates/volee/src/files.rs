//! Reading texts, and writing files whole or not at all: a temporary file beside the target, renamed when it is complete.
//!
//! A reader never sees half a file, and a full disk or Ctrl-C leaves the old one as it was.

use std::io::{BufWriter, ErrorKind, Read as _, Write};
use std::path::Path;

use tempfile::NamedTempFile;
use volee_report::brief;
use volee_system::Diagnostic;

/// The largest model.
const LARGEST_MODEL: u64 = 1 << 30;
/// The largest text of another kind: equations have no other form.
const LARGEST_TEXT: u64 = 4 << 30;

/// Reads a text file; what is not UTF-8 in it becomes a replacement character, which a parser then refuses with its
/// place.
///
/// # Errors
/// The file cannot be read, or is too large.
pub fn read_text(path: &Path) -> Result<String, Diagnostic> {
    let bytes = read(path, LARGEST_TEXT)?;
    Ok(String::from_utf8(bytes).unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned()))
}

/// Reads a whole file, with messages that say what to do instead of an error number.
///
/// # Errors
/// The file cannot be read, or is too large to be a model.
pub fn read_bytes(path: &Path) -> Result<Vec<u8>, Diagnostic> {
    read(path, LARGEST_MODEL)
}

fn read(path: &Path, largest: u64) -> Result<Vec<u8>, Diagnostic> {
    let complain = |e: std::io::Error| explain(path, &e);
    let file = std::fs::File::open(path).map_err(complain)?;
    if file.metadata().map_err(complain)?.is_dir() {
        return Err(explain(path, &ErrorKind::IsADirectory.into()));
    }
    let mut bytes = Vec::new();
    file.take(largest + 1).read_to_end(&mut bytes).map_err(complain)?;
    match bytes.len() as u64 > largest {
        true => Err(cannot_read(path, &format!("it is larger than {} GB", largest >> 30))),
        false => Ok(bytes),
    }
}

fn cannot_read(path: &Path, why: &str) -> Diagnostic {
    Diagnostic::error(format!("cannot read `{}`: {why}", brief(&path.display().to_string())), None)
}

/// An error of the operating system in words.
pub(crate) fn explain(path: &Path, error: &std::io::Error) -> Diagnostic {
    match error.kind() {
        ErrorKind::NotFound => cannot_read(path, "there is no such file"),
        ErrorKind::PermissionDenied => cannot_read(path, "permission denied"),
        ErrorKind::IsADirectory => cannot_read(path, "it is a directory").with_help("name a file inside it"),
        _ => cannot_read(path, &error.to_string()),
    }
}

/// Writes `contents` to `path`.
///
/// # Errors
/// It cannot be written.
pub fn write(path: &Path, contents: impl AsRef<[u8]>) -> Result<(), Diagnostic> {
    write_with(path, |out| out.write_all(contents.as_ref()).map_err(|e| cannot_write(path, &e)))
}

/// Writes what `fill` writes to `path`; when `fill` fails, `path` is left as it was.
///
/// # Errors
/// It cannot be written, or `fill` fails.
pub fn write_with<E: From<Diagnostic>>(
    path: &Path,
    fill: impl FnOnce(&mut dyn Write) -> Result<(), E>,
) -> Result<(), E> {
    if path.is_dir() {
        let message = format!("cannot write `{}`: it is a directory", path.display());
        return Err(Diagnostic::error(message, None).into());
    }
    // A pipe or a device (`/dev/stdout`) cannot be replaced by renaming.
    if path.metadata().is_ok_and(|m| !m.is_file()) {
        let file = std::fs::File::options().write(true).open(path).map_err(|e| cannot_write(path, &e))?;
        let mut out = BufWriter::new(file);
        fill(&mut out)?;
        return Ok(out.flush().map_err(|e| cannot_write(path, &e))?);
    }
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let temporary = NamedTempFile::new_in(folder).map_err(|e| cannot_write(path, &e))?;
    let mut out = BufWriter::new(temporary);
    fill(&mut out)?;
    let temporary = out.into_inner().map_err(|e| cannot_write(path, e.error()))?;
    readable_by_all(&temporary);
    temporary.persist(path).map_err(|e| cannot_write(path, &e.error))?;
    Ok(())
}

/// Temporary files are private to their owner; a result is not.
fn readable_by_all(file: &NamedTempFile) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        // Where this fails the file is merely more private than usual.
        let _ = file.as_file().set_permissions(std::fs::Permissions::from_mode(0o644));
    }
    #[cfg(not(unix))]
    let _ = file;
}

/// An error of the operating system in words.
pub fn cannot_write(path: &Path, error: &std::io::Error) -> Diagnostic {
    let shown = brief(&path.display().to_string());
    let has_folder = path.parent().is_some_and(|f| f.as_os_str().is_empty() || f.is_dir());
    match error.kind() {
        ErrorKind::NotFound if !has_folder => {
            Diagnostic::error(format!("cannot write `{shown}`: its folder does not exist"), None)
                .with_help("create the folder first, or choose another place")
        }
        ErrorKind::PermissionDenied => {
            Diagnostic::error(format!("cannot write `{shown}`: permission denied"), None)
        }
        _ => Diagnostic::error(format!("cannot write `{shown}`: {error}"), None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_file_and_a_directory_are_told_apart() {
        let missing = read_bytes(Path::new("no/such/file.pml")).expect_err("it does not exist");
        assert!(missing.message.contains("no such file"));
        let directory = read_bytes(Path::new(env!("CARGO_MANIFEST_DIR"))).expect_err("it is a directory");
        assert!(directory.message.contains("directory"));
    }

    #[test]
    fn a_failed_write_leaves_the_old_file() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("out.txt");
        write(&path, "old").expect("it can be written");
        let failed = write_with(&path, |out| {
            out.write_all(b"half of the new").expect("it is a buffer");
            Err(Diagnostic::error("stopped", None))
        });
        assert!(failed.is_err());
        assert_eq!(std::fs::read_to_string(&path).expect("it is there"), "old");
        assert_eq!(
            std::fs::read_dir(folder.path()).expect("it is there").count(),
            1,
            "nothing is left behind"
        );
    }

    #[test]
    fn a_missing_folder_is_named() {
        let failure = write(Path::new("/no/such/folder/out.txt"), "x").expect_err("there is no such folder");
        assert!(failure.message.contains("folder does not exist"));
    }
}
