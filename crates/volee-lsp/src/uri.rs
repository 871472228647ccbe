//! Files as addresses and back.

use std::path::{Path, PathBuf};
use std::str::FromStr as _;

use lsp_types::Uri;

/// The file that an address names; for what is not saved yet, a name without a directory.
pub(crate) fn path_of(uri: &Uri) -> PathBuf {
    let path = uri.path().as_estr().decode().into_string_lossy().into_owned();
    // `/c:/models/m.pml`
    let bytes = path.as_bytes();
    let drive = cfg!(windows) && bytes.len() > 2 && bytes[0] == b'/' && bytes[2] == b':';
    PathBuf::from(if drive { path[1..].to_owned() } else { path })
}

/// The address of a file.
pub(crate) fn uri_of(path: &Path) -> Option<Uri> {
    let path = std::path::absolute(path).ok()?;
    let text = path.to_string_lossy().replace('\\', "/");
    let mut address = String::from(if text.starts_with('/') { "file://" } else { "file:///" });
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' | b':' => {
                address.push(byte as char)
            }
            _ => address.push_str(&format!("%{byte:02X}")),
        }
    }
    Uri::from_str(&address).ok()
}

/// Whether two paths name one file.
pub(crate) fn same_file(a: &Path, b: &Path) -> bool {
    a == b || matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_comes_back_from_its_address() {
        let path = Path::new("/tmp/a model/für 𝒳 (1).pml");
        let uri = uri_of(path).expect("an address");
        assert!(uri.as_str().is_ascii());
        assert_eq!(path_of(&uri), path);
    }
}
