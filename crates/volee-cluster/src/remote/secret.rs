//! The shared secret: who does not know it is refused, and it never travels.
//!
//! What is made of it, and how it is proved, is told in `channel`. The processes of one job share a secret
//! that is made from it and from a random number of the coordinator's, so that a connection of one job is
//! none of another.

use std::path::Path;

use hmac::{Hmac, Mac};
use sha2::Sha256;

use super::ClusterError;

/// A random number that names a job.
pub type Token = [u8; 32];

/// What all workers of a cluster share. Without a file it is empty, and workers listen on loopback only.
#[derive(Clone, Default)]
pub struct Secret(Vec<u8>);

/// The shortest secret that is taken from a file.
const SHORTEST: usize = 8;

impl Secret {
    /// Reads a secret; white space around it does not count.
    ///
    /// # Errors
    /// The file cannot be read, or holds no secret worth the name.
    pub fn read(path: &Path) -> Result<Self, ClusterError> {
        let complain =
            |why: String| ClusterError::Call(format!("the secret file `{}` {why}", path.display()));
        let text = std::fs::read(path).map_err(|error| complain(format!("cannot be read: {error}")))?;
        let trimmed = text.trim_ascii();
        if trimmed.len() < SHORTEST {
            return Err(complain(format!("holds fewer than {SHORTEST} bytes, which is no secret")));
        }
        Ok(Secret(trimmed.to_vec()))
    }

    /// A secret of these bytes.
    #[cfg(test)]
    pub(super) fn new(bytes: &[u8]) -> Self {
        Secret(bytes.to_vec())
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Whether there is one.
    pub fn is_given(&self) -> bool {
        !self.0.is_empty()
    }

    fn mac(&self, parts: &[&[u8]]) -> Hmac<Sha256> {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).expect("a key of any length is one");
        for part in parts {
            mac.update(&(part.len() as u64).to_le_bytes());
            mac.update(part);
        }
        mac
    }

    /// The secret of one session between workers.
    pub fn of_session(&self, session: &Token) -> Secret {
        Secret(self.mac(&[b"session", session]).finalize().into_bytes().to_vec())
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret")
    }
}

/// A fresh random number.
///
/// # Errors
/// The system has no random numbers.
pub fn challenge() -> Result<Token, ClusterError> {
    let mut token = [0; 32];
    getrandom::fill(&mut token)
        .map_err(|error| ClusterError::Call(format!("the system gives no random numbers: {error}")))?;
    Ok(token)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_session_has_a_secret_of_its_own() {
        let secret = Secret::new(b"correct horse");
        let (a, b) = (challenge().expect("random"), challenge().expect("random"));
        assert_eq!(secret.of_session(&a).bytes(), secret.of_session(&a).bytes());
        assert_ne!(secret.of_session(&a).bytes(), secret.of_session(&b).bytes());
        assert_ne!(secret.of_session(&a).bytes(), Secret::new(b"battery staple").of_session(&a).bytes());
    }
}
