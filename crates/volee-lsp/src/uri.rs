//! Files as addresses and back. An address is what RFC 3986 calls a reference: with a scheme or without one;
//! what is none is refused where it is read.

use std::net::Ipv6Addr;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// An address as it was written: two of them are the same only if their letters are.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Uri(String);

impl Uri {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn scheme(&self) -> Option<&str> {
        Parts::of(&self.0).scheme
    }

    /// The path with its characters for their codes; what is no UTF-8 then is replaced.
    fn path(&self) -> String {
        let mut pieces = Parts::of(&self.0).path.split('%');
        let mut bytes = pieces.next().unwrap_or_default().as_bytes().to_vec();
        for piece in pieces {
            let (code, rest) = piece.split_at_checked(2).unwrap_or((piece, ""));
            bytes.extend(u8::from_str_radix(code, 16));
            bytes.extend(rest.as_bytes());
        }
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

impl TryFrom<String> for Uri {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        if Parts::of(&text).are_valid() { Ok(Uri(text)) } else { Err(format!("`{text}` is not an address")) }
    }
}

/// What the marks of an address separate.
struct Parts<'u> {
    scheme: Option<&'u str>,
    authority: Option<&'u str>,
    path: &'u str,
    query: &'u str,
    fragment: &'u str,
}

impl<'u> Parts<'u> {
    fn of(text: &'u str) -> Self {
        let (text, fragment) = text.split_once('#').unwrap_or((text, ""));
        let (text, query) = text.split_once('?').unwrap_or((text, ""));
        // A colon behind a slash belongs to the path.
        let (scheme, text) = match text.split_once(':') {
            Some((scheme, rest)) if !scheme.contains('/') => (Some(scheme), rest),
            _ => (None, text),
        };
        let (authority, path) = match text.strip_prefix("//") {
            Some(text) => {
                let (authority, path) = text.split_at(text.find('/').unwrap_or(text.len()));
                (Some(authority), path)
            }
            None => (None, text),
        };
        Parts { scheme, authority, path, query, fragment }
    }

    fn are_valid(&self) -> bool {
        self.scheme.is_none_or(is_scheme)
            && self.authority.is_none_or(is_authority)
            && consists_of(self.path, b":@/")
            && consists_of(self.query, b":@/?")
            && consists_of(self.fragment, b":@/?")
    }
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b))
}

/// `user@host:port`, where only the host must be there, and may be empty.
fn is_authority(text: &str) -> bool {
    let (user, text) = text.split_once('@').unwrap_or(("", text));
    let (is_host, port) = match text.strip_prefix('[').and_then(|text| text.split_once(']')) {
        Some((host, port)) => (host.parse::<Ipv6Addr>().is_ok(), port),
        None => {
            let (host, port) = text.split_at(text.find(':').unwrap_or(text.len()));
            (consists_of(host, b""), port)
        }
    };
    let is_port = port.strip_prefix(':').map_or(port.is_empty(), |p| p.bytes().all(|b| b.is_ascii_digit()));
    consists_of(user, b":") && is_host && is_port
}

/// Whether a text has only codes, the characters that never separate anything, and those named.
fn consists_of(text: &str, more: &[u8]) -> bool {
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        let fits = match byte {
            b'%' => [bytes.next(), bytes.next()].iter().all(|b| b.is_some_and(|b| b.is_ascii_hexdigit())),
            _ => byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=".contains(&byte) || more.contains(&byte),
        };
        if !fits {
            return false;
        }
    }
    true
}

/// The file that an address names; for what is not saved yet, a name without a directory.
pub(crate) fn path_of(uri: &Uri) -> PathBuf {
    let path = uri.path();
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
    Uri::try_from(address).ok()
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
    #[test]
    fn what_is_no_address_is_refused() {
        for text in [
            "",
            "a.pml",
            "a/b:c",
            "file:///a.pml",
            "untitled:Untitled-1",
            "FILE:/a?b=%20#c/d?",
            "//host",
            "x://me:it@host:80/a",
            "x://[::1]:/a",
            "file:///c%3A/a.pml",
        ] {
            assert!(Uri::try_from(text.to_owned()).is_ok(), "{text}");
        }
        for text in [
            ":a",
            "1:a",
            "a b:c",
            "file:///a b",
            "file:///ü",
            "file:///%4",
            "file:///%4g",
            "file:///[a]",
            "a#b#c",
            "x://host:8a/",
            "x://a:b:c/",
            "x://[::1/a",
            "x://[1::2::3]/",
            "x://[::1]80/",
            "x://a@b@c/",
        ] {
            assert!(Uri::try_from(text.to_owned()).is_err(), "{text}");
        }
    }

    #[test]
    fn a_path_is_what_stands_between_the_marks() {
        let path = |text: &str| path_of(&Uri::try_from(text.to_owned()).expect("an address"));
        assert_eq!(path("x://me@host:80/a%2Fb%3f?c#d"), Path::new("/a/b?"));
        assert_eq!(path("untitled:Untitled-1"), Path::new("Untitled-1"));
        assert_eq!(path("a/b:c"), Path::new("a/b:c"));
        assert_eq!(path("//host"), Path::new(""));
        assert_eq!(path("file:///%FFa%C3%BC"), Path::new("/\u{FFFD}aü"));
    }
}
