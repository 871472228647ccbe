//! What a run is said to show, in a form that can be looked at again: stored with the run, and one word of
//! the command that replays it.
//!
//! As text it is the kind and what it is about: `deadlock`, `invariant x < 3`, `ltl []<>p`; in front of it
//! `fair` or `strongly-fair` where only such runs count, `maximal` where a finite-trace formula is about
//! whole runs, `error` where what was met is not an answer to the question but an error on the way.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// What a run is said to show.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// Of which kind it is.
    pub kind: Kind,
    /// The expression, formula or automaton it is about, or the name of a claim of the model; empty if it
    /// needs none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// Only runs count in which nobody waits for ever.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fair: bool,
    /// Only runs count in which everybody moves again and again who can again and again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub strongly_fair: bool,
    /// The formula is about whole runs, not about their beginnings.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub maximal: bool,
    /// The run ends in a failed assertion or a run-time error, met while the question was looked at.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub error: bool,
}

/// The kinds of questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs, reason = "each is a kind of question, explained where they are asked")]
pub enum Kind {
    Deadlock,
    Assertions,
    RuntimeErrors,
    Invariant,
    Reachable,
    Ltl,
    Tl,
    Automaton,
    Never,
    Progress,
    Acceptance,
    Mu,
    Apart,
    Coverable,
    Target,
    Bounded,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 16] = [
        Kind::Deadlock,
        Kind::Assertions,
        Kind::RuntimeErrors,
        Kind::Invariant,
        Kind::Reachable,
        Kind::Ltl,
        Kind::Tl,
        Kind::Automaton,
        Kind::Never,
        Kind::Progress,
        Kind::Acceptance,
        Kind::Mu,
        Kind::Apart,
        Kind::Coverable,
        Kind::Target,
        Kind::Bounded,
    ];

    /// The word that names of questions of this kind are or begin with.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Deadlock => "deadlock",
            Kind::Assertions => "assertions",
            Kind::RuntimeErrors => "run-time errors",
            Kind::Invariant => "invariant",
            Kind::Reachable => "reachable",
            Kind::Ltl => "ltl",
            Kind::Tl => "tl",
            Kind::Automaton => "automaton",
            Kind::Never => "never",
            Kind::Progress => "progress",
            Kind::Acceptance => "acceptance",
            Kind::Mu => "mu",
            Kind::Apart => "never together",
            Kind::Coverable => "no target is covered",
            Kind::Target => "target",
            Kind::Bounded => "channels are bounded",
        }
    }

    /// Whether a run can show it, which is then what is wrong, or for `reachable` what was looked for.
    pub fn has_runs(self) -> bool {
        (Kind::Deadlock..=Kind::Acceptance).contains(&self) && self != Kind::RuntimeErrors
    }

    /// Whether it may speak of steps by their names.
    pub fn is_about_steps(self) -> bool {
        matches!(self, Kind::Ltl | Kind::Tl | Kind::Automaton)
    }

    /// Whether it is about an expression, a formula or an automaton.
    fn has_text(self) -> bool {
        self.is_about_steps() || matches!(self, Kind::Invariant | Kind::Reachable)
    }
}

impl Claim {
    /// A claim about a text, which is empty where it needs none.
    pub fn new(kind: Kind, text: impl Into<String>) -> Self {
        Claim { kind, text: text.into(), fair: false, strongly_fair: false, maximal: false, error: false }
    }
}

impl fmt::Display for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = [
            (self.error, "error "),
            (self.fair, "fair "),
            (self.strongly_fair, "strongly-fair "),
            (self.maximal, "maximal "),
        ];
        for (said, word) in words {
            f.write_str(if said { word } else { "" })?;
        }
        f.write_str(self.kind.word())?;
        if self.text.is_empty() { Ok(()) } else { write!(f, " {}", self.text) }
    }
}

/// A text that is no claim.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is nothing that a run can show: write deadlock, assertions, invariant EXPR, reachable EXPR, ltl FORMULA, …"
)]
pub struct NoClaim(String);

impl FromStr for Claim {
    type Err = NoClaim;

    fn from_str(text: &str) -> Result<Self, NoClaim> {
        let no_claim = || NoClaim(text.chars().take(80).collect());
        let mut claim = Claim::new(Kind::Deadlock, "");
        let mut rest = text.trim();
        loop {
            let (word, more) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
            rest = more.trim_start();
            match word {
                "error" => claim.error = true,
                "fair" => claim.fair = true,
                "strongly-fair" => claim.strongly_fair = true,
                "maximal" => claim.maximal = true,
                _ => {
                    let known = Kind::ALL.into_iter().find(|kind| kind.has_runs() && kind.word() == word);
                    claim.kind = known.ok_or_else(no_claim)?;
                    break;
                }
            }
        }
        claim.text = rest.to_string();
        let complete = claim.kind.has_text() != claim.text.is_empty() || claim.kind == Kind::Never;
        if complete { Ok(claim) } else { Err(no_claim()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_come_back_from_their_text() {
        let all = ["deadlock", "assertions", "invariant x < 3", "reachable a && b", "ltl []<>p", "progress"];
        let more = [
            "fair ltl <>[] (p -> q)",
            "strongly-fair ltl p",
            "maximal tl a",
            "error ltl []p",
            "never",
            "never no_loss",
        ];
        for text in all.into_iter().chain(more) {
            let claim: Claim = text.parse().unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(claim.to_string(), text);
            let json = serde_json::to_string(&claim).expect("it can be written");
            assert_eq!(serde_json::from_str::<Claim>(&json).expect("it was just written"), claim);
        }
    }

    #[test]
    fn what_is_no_claim_is_refused() {
        for text in ["", "fair", "invariant", "ltl ", "deadlock here", "anything"] {
            assert!(text.parse::<Claim>().is_err(), "{text}");
        }
    }
}
