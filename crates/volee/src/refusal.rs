//! Why something cannot be asked, as a value. Whoever talks to people adds the names that they know: flags,
//! menus, fields.

use std::fmt;

use crate::question::Kind;
use crate::settings::Setting;

/// Why something cannot be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// What is refused.
    pub what: Refused,
    /// Why.
    pub why: Why,
}

/// What is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Refused {
    /// A kind of question.
    Question(Kind),
    /// A claim of the model.
    Claim(Kind),
    /// Something that was set.
    Setting(Setting),
}

/// Why it is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// Another engine does that.
    OtherEngine {
        /// Who was asked.
        asked: &'static str,
        /// Who does it.
        does: &'static str,
    },
    /// It makes sense for these questions only, and none of them is asked.
    NotAsked(&'static [Kind]),
    /// It does not go together with what else is set.
    NotWith(Setting),
    /// It makes sense only when this is set as well.
    Needs(Setting),
    /// It is about one search, and what is asked needs several.
    OneSearch,
    /// It does not change what this engine does.
    NoEffect {
        /// Who was asked.
        asked: &'static str,
        /// A sentence that says why.
        because: &'static str,
    },
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refused::Question(kind) => write!(f, "the question `{}`", kind.word()),
            Refused::Claim(kind) => write!(f, "the model's own claim (`{}`)", kind.word()),
            Refused::Setting(setting) => f.write_str(setting.words()),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = self.what;
        match &self.why {
            Why::OtherEngine { asked, does } => write!(f, "{what} is for the {does} engine, not for {asked}"),
            Why::NotAsked(kinds) => {
                let kinds: Vec<String> = kinds.iter().map(|k| format!("`{}`", k.word())).collect();
                write!(f, "{what} means something for the questions {} only", kinds.join(", "))
            }
            Why::NotWith(other) => write!(f, "{what} and {} do not go together", other.words()),
            Why::Needs(other) => write!(f, "{what} needs {}", other.words()),
            Why::OneSearch => write!(f, "{what} is for one search, and these questions need several"),
            Why::NoEffect { asked, because } => write!(f, "{what} is not for the {asked} engine: {because}"),
        }
    }
}
