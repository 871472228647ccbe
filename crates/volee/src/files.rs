//! Reading texts, and writing files whole or not at all: a temporary file beside the target, renamed when it
//! is complete.
//!
//! A reader never sees half a file, and a full disk or Ctrl-C leaves the old one as it was.

use std::fs::{File, Permissions};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{BufRead as _, BufReader, BufWriter, ErrorKind, Read as _, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use tempfile::NamedTempFile;
use volee_report::{Trace, brief};
use volee_system::Diagnostic;

/// The largest model.
const LARGEST_MODEL: u64 = 1 << 30;
/// The largest text of another kind: equations have no other form.
const LARGEST_TEXT: u64 = 4 << 30;

/// The temporary file that is being written, for whoever ends the process before it is complete.
static UNFINISHED: Mutex<Option<PathBuf>> = Mutex::new(None);

/// The process is about to end: removes what is incomplete. Waits for nobody.
pub fn abandon() {
    if let Some(path) = UNFINISHED.try_lock().ok().and_then(|mut unfinished| unfinished.take()) {
        let _ = std::fs::remove_file(path);
    }
}

fn remember_unfinished(path: Option<PathBuf>) {
    if let Ok(mut unfinished) = UNFINISHED.lock() {
        *unfinished = path;
    }
}

/// Reads a text file; what is not UTF-8 in it becomes a replacement character, which a parser then refuses
/// with its place.
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
    let file = File::open(path).map_err(complain)?;
    let metadata = file.metadata().map_err(complain)?;
    if metadata.is_dir() {
        return Err(explain(path, &ErrorKind::IsADirectory.into()));
    }
    let mut bytes = Vec::new();
    if metadata.is_file() {
        file.take(largest + 1).read_to_end(&mut bytes).map_err(complain)?;
    } else {
        read_stream(path, file.take(largest + 1), &mut bytes)?;
    }
    match bytes.len() as u64 > largest {
        true => Err(cannot_read(path, &format!("it is larger than {} GB", largest >> 30))),
        false => Ok(bytes),
    }
}

/// A pipe may have any length, and a device none; what is no text is not read to its end.
fn read_stream(path: &Path, stream: std::io::Take<File>, bytes: &mut Vec<u8>) -> Result<(), Diagnostic> {
    let mut pieces = BufReader::with_capacity(1 << 16, stream);
    loop {
        let piece = pieces.fill_buf().map_err(|e| explain(path, &e))?;
        let length = piece.len();
        if piece.contains(&0) {
            return Err(cannot_read(path, "it is no text, for it has bytes that are zero"));
        }
        bytes.extend_from_slice(piece);
        pieces.consume(length);
        if length == 0 {
            return Ok(());
        }
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
    // A link stays, and what it leads to is replaced.
    let target = if path.is_symlink() { path.canonicalize().ok() } else { None };
    let target = target.as_deref().unwrap_or(path);
    let folder = match target.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let temporary = temporary_in(folder).map_err(|e| cannot_write(path, &e))?;
    remember_unfinished(Some(temporary.path().to_path_buf()));
    let written = complete(temporary, target, fill, path);
    remember_unfinished(None);
    written
}

fn complete<E: From<Diagnostic>>(
    temporary: NamedTempFile,
    target: &Path,
    fill: impl FnOnce(&mut dyn Write) -> Result<(), E>,
    path: &Path,
) -> Result<(), E> {
    let mut out = BufWriter::new(temporary);
    fill(&mut out)?;
    let temporary = out.into_inner().map_err(|e| cannot_write(path, e.error()))?;
    if let Ok(old) = target.metadata() {
        // Where this fails the file has the mode of a new one.
        let _ = temporary.as_file().set_permissions(old.permissions());
    }
    temporary.persist(target).map_err(|e| cannot_write(path, &e.error))?;
    Ok(())
}

/// A file that is new gets the mode of any new file of this user, not the private one of temporary files.
fn temporary_in(folder: &Path) -> std::io::Result<NamedTempFile> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        tempfile::Builder::new().permissions(Permissions::from_mode(0o666)).tempfile_in(folder)
    }
    #[cfg(not(unix))]
    NamedTempFile::new_in(folder)
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

/// A run as text: as it is given, or from the file that is named.
///
/// # Errors
/// The file cannot be read.
pub fn given_run(given: &str) -> Result<String, Diagnostic> {
    if given.starts_with("run:") {
        return Ok(given.to_string());
    }
    let bytes = read_bytes(Path::new(given))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Stores a trace in the temporary folder, under a name that depends on the run alone.
///
/// # Errors
/// The file cannot be written.
pub fn store_trace(model: &Path, trace: &Trace) -> Result<PathBuf, Diagnostic> {
    let stem = model.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
    let mut digest = DefaultHasher::new();
    let claim = trace.claim.as_ref().map(ToString::to_string);
    (&trace.witness.steps, trace.witness.loop_start, &trace.labels, &trace.defines, claim).hash(&mut digest);
    let path = std::env::temp_dir().join(format!("volee-{stem}-{:016x}.trace.json", digest.finish()));
    write(&path, trace.to_json())?;
    Ok(path)
}

/// What a program has written into a folder, so that it knows its own files again and leaves those of others
/// alone.
pub struct Record {
    folder: PathBuf,
    name: &'static str,
}

impl Record {
    /// The record that is kept in the file `name` of a folder.
    pub fn new(folder: &Path, name: &'static str) -> Self {
        Record { folder: folder.to_path_buf(), name }
    }

    /// The first of these files that is there and was not written by an earlier call, or was changed since.
    pub fn stranger(&self, files: &[&str]) -> Option<PathBuf> {
        let written = std::fs::read_to_string(self.folder.join(self.name)).unwrap_or_default();
        let is_strange = |name: &&&str| {
            let line = self.line(name);
            line.is_some_and(|line| !written.lines().any(|l| l == line))
        };
        files.iter().find(is_strange).map(|name| self.folder.join(name))
    }

    /// Remembers these files as they are.
    ///
    /// # Errors
    /// The record cannot be written.
    pub fn remember(&self, files: &[&str]) -> Result<(), Diagnostic> {
        let lines = files.iter().filter_map(|name| Some(self.line(name)? + "\n"));
        write(&self.folder.join(self.name), lines.collect::<String>())
    }

    /// A file and a sum of what is in it (Fowler, Noll and Vo's, of 64 bits): enough to see a change.
    fn line(&self, name: &str) -> Option<String> {
        let bytes = std::fs::read(self.folder.join(name)).ok()?;
        let sum = bytes
            .iter()
            .fold(0xcbf2_9ce4_8422_2325_u64, |h, b| (h ^ u64::from(*b)).wrapping_mul(0x100_0000_01b3));
        Some(format!("{name} {sum:016x}"))
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

    #[cfg(unix)]
    #[test]
    fn a_device_that_never_ends_is_not_read_to_its_end() {
        let zeroes = read_bytes(Path::new("/dev/zero")).expect_err("it is no text");
        assert!(zeroes.message.contains("no text"), "{}", zeroes.message);
        assert_eq!(read_bytes(Path::new("/dev/null")).expect("an empty text"), b"");
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_is_there_keeps_its_mode_and_a_link_stays_a_link() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (path, link) = (folder.path().join("out.txt"), folder.path().join("link.txt"));
        std::fs::write(&path, "old").expect("it can be written");
        std::fs::set_permissions(&path, Permissions::from_mode(0o640)).expect("it is ours");
        std::os::unix::fs::symlink(&path, &link).expect("it can be made");
        write(&link, "new").expect("it can be written");
        assert_eq!(std::fs::read_to_string(&path).expect("it is there"), "new");
        assert_eq!(path.metadata().expect("it is there").permissions().mode() & 0o777, 0o640);
        assert!(link.is_symlink());
    }

    #[test]
    fn a_missing_folder_is_named() {
        let failure = write(Path::new("/no/such/folder/out.txt"), "x").expect_err("there is no such folder");
        assert!(failure.message.contains("folder does not exist"));
    }
}
