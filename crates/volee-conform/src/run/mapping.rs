//! How labels look on the wire: a small TOML file.
//!
//! ```text
//! ignore = ['#.*']                      # lines that mean nothing
//! end = 'reply!CLOSED'                  # the label of the end of the stream, where the specification has one
//!
//! [[send]]
//! label = 'request\?OPEN,(\d+)'         # a regular expression for the whole label
//! line = 'OPEN $1'
//!
//! [[receive]]
//! line = 'OK (\d+)'                     # a regular expression for the whole line
//! label = 'reply!OK,$1'
//! ```
//!
//! Without rules for a direction, label and line are the same text.

use regex_lite::Regex;
use serde::Deserialize;
use volee_system::{Diagnostic, Place};

use crate::ConformError;
use crate::interface::whole;

/// Labels to lines and back.
#[derive(Debug, Clone, Default)]
pub struct Mapping {
    send: Vec<(Regex, String)>,
    receive: Vec<(Regex, String)>,
    ignore: Vec<Regex>,
    /// The label of the end of the stream.
    pub end: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MappingFile {
    #[serde(default)]
    send: Vec<Rule>,
    #[serde(default)]
    receive: Vec<Rule>,
    #[serde(default)]
    ignore: Vec<String>,
    end: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    label: String,
    line: String,
}

impl Mapping {
    /// Reads a mapping; `name` is how messages call the file.
    ///
    /// # Errors
    /// It is not TOML, has fields that mean nothing, or an expression is not one.
    pub fn parse(text: &str, name: &str) -> Result<Mapping, ConformError> {
        let file: MappingFile = toml::from_str(text).map_err(|error| {
            let start = error.span().map_or(0, |span| span.start).min(text.len());
            let before = text.get(..start).unwrap_or_default();
            let line = before.matches('\n').count() as u32 + 1;
            let column = before.rsplit('\n').next().unwrap_or_default().chars().count() as u32 + 1;
            let message = error.message().lines().next().unwrap_or("it cannot be read").to_owned();
            ConformError::from(Diagnostic::error(message, Place::new(name, line, column)))
        })?;
        let rules = |rules: Vec<Rule>, by: fn(&Rule) -> (&String, &String)| {
            let one = |rule: &Rule| {
                let (pattern, text) = by(rule);
                Ok((whole(pattern)?, text.clone()))
            };
            rules.iter().map(one).collect::<Result<Vec<_>, ConformError>>()
        };
        Ok(Mapping {
            send: rules(file.send, |r| (&r.label, &r.line))?,
            receive: rules(file.receive, |r| (&r.line, &r.label))?,
            ignore: file.ignore.iter().map(|p| whole(p)).collect::<Result<_, _>>()?,
            end: file.end,
        })
    }

    /// The line that sends a label.
    ///
    /// # Errors
    /// No rule is about it.
    pub fn line(&self, label: &str) -> Result<String, ConformError> {
        apply(&self.send, label).ok_or_else(|| {
            let message = format!("no [[send]] rule of the mapping says how `{label}` is sent");
            ConformError::advised(message, "add one: label = '…' (a regular expression), line = '…'")
        })
    }

    /// The label that a line means; `None` where no rule is about it.
    pub fn label(&self, line: &str) -> Option<String> {
        apply(&self.receive, line)
    }

    /// Whether a line means nothing.
    pub fn ignores(&self, line: &str) -> bool {
        self.ignore.iter().any(|r| r.is_match(line))
    }
}

fn apply(rules: &[(Regex, String)], text: &str) -> Option<String> {
    if rules.is_empty() {
        return Some(text.into());
    }
    rules.iter().find_map(|(pattern, result)| {
        let groups = pattern.captures(text)?;
        let mut out = String::new();
        groups.expand(result, &mut out);
        Some(out)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_and_lines_are_turned_into_each_other() {
        let text = "ignore = ['#.*']\n[[send]]\nlabel = 'req\\?OPEN,(\\d+)'\nline = 'OPEN $1'\n[[receive]]\nline = 'OK (\\d+)'\nlabel = 'rep!OK,${1}'\n";
        let mapping = Mapping::parse(text, "m.toml").expect("a mapping");
        assert_eq!(mapping.line("req?OPEN,7").expect("a rule"), "OPEN 7");
        assert!(mapping.line("req?CLOSE").is_err());
        assert_eq!(mapping.label("OK 3").as_deref(), Some("rep!OK,3"));
        assert_eq!(mapping.label("what"), None);
        assert!(mapping.ignores("# log"));
    }

    #[test]
    fn wrong_mappings_say_where() {
        for (text, expected) in [
            ("[[send]]\nlabel = 'a'\n", "m.toml:1:1"),
            ("colour = 1\n", "colour"),
            ("ignore = ['(']\n", "not a regular expression"),
            ("x = = 1", "m.toml:1"),
        ] {
            let said = Mapping::parse(text, "m.toml").map(drop).expect_err("it is wrong").to_string();
            assert!(said.contains(expected), "{said}");
        }
    }
}
