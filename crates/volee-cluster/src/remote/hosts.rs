//! The host file: which workers a cluster has.
//!
//! ```toml
//! workers = ["10.0.0.2:7001", "10.0.0.3:7001"]
//! ```
//!
//! An address that stands there twice is used for two processes.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::ClusterError;
use crate::threads::MOST_WORKERS;

/// A host file that was read.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Hosts {
    /// The addresses of the workers.
    pub workers: Vec<String>,
    /// A file with the shared secret, unless the call names one; relative to the host file.
    #[serde(default)]
    pub secret_file: Option<PathBuf>,
}

impl Hosts {
    /// Reads a host file.
    ///
    /// # Errors
    /// The file cannot be read or is no host file.
    pub fn read(path: &Path) -> Result<Self, ClusterError> {
        let name = path.display();
        let text = std::fs::read_to_string(path)
            .map_err(|error| ClusterError::Call(format!("cannot read the host file `{name}`: {error}")))?;
        let mut hosts = Self::parse(&text).map_err(|why| ClusterError::Call(format!("`{name}`: {why}")))?;
        let folder = path.parent().unwrap_or(Path::new(""));
        hosts.secret_file = hosts.secret_file.map(|file| folder.join(file));
        Ok(hosts)
    }

    fn parse(text: &str) -> Result<Self, String> {
        let hosts: Hosts = toml::from_str(text).map_err(|error| {
            format!(
                "{}\na host file has one line: workers = [\"host:port\", \"host:port\"]",
                error.to_string().trim()
            )
        })?;
        if hosts.workers.is_empty() {
            return Err("there are no workers: write workers = [\"host:port\", …]".into());
        }
        if hosts.workers.len() > MOST_WORKERS {
            return Err(format!("there are more than {MOST_WORKERS} workers"));
        }
        match hosts.workers.iter().find(|address| !address.contains(':')) {
            Some(address) => Err(format!("`{address}` has no port: write host:port")),
            None => Ok(hosts),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_file_lists_addresses_and_says_what_is_wrong() {
        let hosts = Hosts::parse("workers = [\"a:1\", \"b:2\"]\nsecret-file = \"s\"").expect("well-formed");
        assert_eq!((hosts.workers.len(), hosts.secret_file), (2, Some("s".into())));
        for (text, what) in [
            ("workers = []", "no workers"),
            ("workers = [\"a\"]", "no port"),
            ("worker = [\"a:1\"]", "unknown field"),
            ("workers = 3", "workers = ["),
        ] {
            let why = Hosts::parse(text).expect_err(text);
            assert!(why.contains(what), "{why}");
        }
    }
}
