//! Reading texts, and writing files whole or not at all: a temporary file beside the target, renamed when it is complete.
//!
//! A reader never sees half a file, and a full disk or Ctrl-C leaves the old one as it was.

use std::io::{BufWriter, ErrorKind, Write};
use std::path::Path;

use tempfile::NamedTempFile;
use volee::report::brief;

use crate::outcome::Failure;

/// The largest text that is read whole.
const LARGEST_TEXT: u64 = 4 << 30;

/// Reads a text file; what is not UTF-8 in it becomes a replacement character, which a parser then refuses with its
/// place.
pub fn read_text(path: &Path) -> Result<String, Failure> {
    let shown = path.display();
    let cannot = |error: std::io::Error| match error.kind() {
        ErrorKind::NotFound => Failure::new(format!("there is no file `{shown}`")),
        _ => Failure::new(format!("cannot read `{shown}`: {error}")),
    };
    let metadata = std::fs::metadata(path).map_err(cannot)?;
    if metadata.len() > LARGEST_TEXT {
        return Err(Failure::new(format!("`{shown}` has more than 4 GB")));
    }
    let bytes = std::fs::read(path).map_err(cannot)?;
    Ok(String::from_utf8(bytes).unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned()))
}

/// Writes `contents` to `path`.
pub fn write(path: &Path, contents: impl AsRef<[u8]>) -> Result<(), Failure> {
    write_with(path, |out| out.write_all(contents.as_ref()).map_err(|e| cannot_write(path, &e)))
}

/// Writes what `fill` writes to `path`; when `fill` fails, `path` is left as it was.
pub fn write_with(
    path: &Path,
    fill: impl FnOnce(&mut dyn Write) -> Result<(), Failure>,
) -> Result<(), Failure> {
    if path.is_dir() {
        return Err(Failure::new(format!("cannot write `{}`: it is a directory", path.display())));
    }
    // A pipe or a device (`/dev/stdout`) cannot be replaced by renaming.
    if path.metadata().is_ok_and(|m| !m.is_file()) {
        let file = std::fs::File::options().write(true).open(path).map_err(|e| cannot_write(path, &e))?;
        let mut out = BufWriter::new(file);
        fill(&mut out)?;
        return out.flush().map_err(|e| cannot_write(path, &e));
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

/// The failure behind an error of the operating system.
pub fn cannot_write(path: &Path, error: &std::io::Error) -> Failure {
    let shown = brief(&path.display().to_string());
    let has_folder = path.parent().is_some_and(|f| f.as_os_str().is_empty() || f.is_dir());
    match error.kind() {
        ErrorKind::NotFound if !has_folder => {
            Failure::new(format!("cannot write `{shown}`: its folder does not exist"))
                .with_help("create the folder first, or choose another place")
        }
        ErrorKind::PermissionDenied => Failure::new(format!("cannot write `{shown}`: permission denied")),
        _ => Failure::new(format!("cannot write `{shown}`: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_write_leaves_the_old_file() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("out.txt");
        write(&path, "old").expect("it can be written");
        let failed = write_with(&path, |out| {
            out.write_all(b"half of the new").expect("it is a buffer");
            Err(Failure::new("stopped"))
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
        assert!(failure.diagnostics[0].message.contains("folder does not exist"));
    }
}
