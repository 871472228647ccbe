//! The shared secret: who does not know it is refused, and it never travels.
//!
//! Both sides of a connection send a fresh random challenge and answer the other's with an HMAC over both challenges,
//! their role and the version, under the secret. A recorded answer is worth nothing, because the challenge is new each
//! time; an answer in one role is none in the other. What follows on the connection is not encrypted: on networks that
//! others listen to, use a tunnel.

use std::path::Path;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use super::ClusterError;

/// A random challenge, or the answer to one.
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

    /// The answer of a role to a challenge.
    pub fn answer(&self, role: &str, challenge: &Token, own: &Token) -> Token {
        let mac = self.mac(&[role.as_bytes(), challenge, own, super::VERSION.as_bytes()]);
        mac.finalize().into_bytes().into()
    }

    /// Whether an answer is right, in a time that does not tell where it is wrong.
    pub fn accepts(&self, role: &str, challenge: &Token, own: &Token, answer: &Token) -> bool {
        let mac = self.mac(&[role.as_bytes(), challenge, own, super::VERSION.as_bytes()]);
        mac.verify_slice(answer).is_ok()
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

/// A fresh challenge.
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
    fn an_answer_is_good_for_one_secret_one_role_and_one_challenge() {
        let (ours, theirs) = (Secret(b"correct horse".to_vec()), Secret(b"battery staple".to_vec()));
        let (a, b) = (challenge().expect("random"), challenge().expect("random"));
        let answer = ours.answer("worker", &a, &b);
        assert!(ours.accepts("worker", &a, &b, &answer));
        assert!(!theirs.accepts("worker", &a, &b, &answer));
        assert!(!ours.accepts("coordinator", &a, &b, &answer));
        assert!(!ours.accepts("worker", &b, &a, &answer));
    }
}
