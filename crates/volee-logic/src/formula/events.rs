//! Events: which labels a formula means.
//!
//! A label's text comes from the model: `PUT !1` in a transition system, `c!msg(3)` in Promela. A bare name means
//! the label with exactly this text, or whose gate (the part before a space or an offer) has it; a quoted text
//! means exactly itself; a regular expression must match the whole label; `c!msg` means the sending of `msg` on `c`
//! whatever else travels with it. A process in front restricts an event to the steps of that process.

use std::fmt;

use regex::Regex;

/// Which steps an event atom stands for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct EventPattern {
    /// The process that must act: its name, and its number if one is meant.
    pub process: Option<(String, Option<u32>)>,
    /// The label.
    pub label: LabelPattern,
}

/// The part of an event pattern that looks at the label.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum LabelPattern {
    /// A label or its gate.
    Name(String),
    /// The whole label.
    Exact(String),
    /// A regular expression for the whole label.
    Regex(String),
    /// A channel operation, written without spaces: `c!msg`, `c?msg(1,_)`.
    Channel(String),
}

/// A pattern that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the regular expression is not valid: {0}")]
pub struct PatternError(String);

impl EventPattern {
    /// A pattern for any process.
    pub fn any_process(label: LabelPattern) -> Self {
        EventPattern { process: None, label }
    }

    /// Prepares the label part for matching many labels.
    ///
    /// # Errors
    /// A regular expression that is not one.
    pub fn matcher(&self) -> Result<LabelMatcher, PatternError> {
        Ok(match &self.label {
            LabelPattern::Name(name) => LabelMatcher::Name(name.clone()),
            LabelPattern::Exact(text) => LabelMatcher::Exact(text.clone()),
            LabelPattern::Channel(text) => LabelMatcher::Channel(text.clone()),
            LabelPattern::Regex(text) => {
                let anchored = format!("^(?:{text})$");
                let regex = regex::RegexBuilder::new(&anchored).size_limit(1 << 20).build();
                LabelMatcher::Regex(regex.map_err(|e| PatternError(last_line(&e.to_string())))?)
            }
        })
    }
}

fn last_line(text: &str) -> String {
    text.lines().last().unwrap_or_default().trim_start_matches("error: ").to_string()
}

/// A prepared [`LabelPattern`].
#[derive(Debug, Clone)]
pub enum LabelMatcher {
    /// See [`LabelPattern::Name`].
    Name(String),
    /// See [`LabelPattern::Exact`].
    Exact(String),
    /// See [`LabelPattern::Regex`].
    Regex(Regex),
    /// See [`LabelPattern::Channel`].
    Channel(String),
}

impl LabelMatcher {
    /// Whether a label is meant.
    pub fn matches(&self, label: &str) -> bool {
        match self {
            LabelMatcher::Name(name) => label == name || gate(label) == name,
            LabelMatcher::Exact(text) => label == text,
            LabelMatcher::Regex(regex) => regex.is_match(label),
            LabelMatcher::Channel(text) => channel_matches(text, label),
        }
    }
}

/// The part of a label before its offers: `PUT` of `PUT !1 ?x`, `c` of `c!msg`.
fn gate(label: &str) -> &str {
    let end = label.find([' ', '!', '?', '(', '\t']).unwrap_or(label.len());
    &label[..end]
}

/// `c!msg` means `c!msg`, `c!msg(3)`, `c!msg,3` and `c ! msg`, but not `c!msgs`. An argument `_` means any.
fn channel_matches(pattern: &str, label: &str) -> bool {
    let parts = |text: &str| -> Vec<String> {
        let compact: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        let at = compact.find(['!', '?']).unwrap_or(compact.len());
        let rest = compact[at..].trim_start_matches(['!', '?']);
        let operator = compact[at..compact.len() - rest.len()].to_string();
        let mut parts = vec![compact[..at].to_string(), operator];
        parts.extend(rest.split(['(', ')', ',']).filter(|p| !p.is_empty()).map(str::to_string));
        parts
    };
    let (wanted, given) = (parts(pattern), parts(label));
    wanted.len() <= given.len() && wanted.iter().zip(&given).all(|(w, g)| w == "_" || w == g)
}

impl fmt::Display for EventPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.process {
            Some((name, Some(pid))) => write!(f, "{name}[{pid}]:")?,
            Some((name, None)) => write!(f, "{name}:")?,
            None => {}
        }
        match &self.label {
            LabelPattern::Name(text) | LabelPattern::Channel(text) => f.write_str(text),
            LabelPattern::Exact(text) => write!(f, "{text:?}"),
            LabelPattern::Regex(text) => write!(f, "/{}/", text.replace('/', "\\/")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(label: LabelPattern, text: &str) -> bool {
        EventPattern::any_process(label).matcher().expect("a valid pattern").matches(text)
    }

    #[test]
    fn a_name_means_its_label_and_its_gate() {
        let put = || LabelPattern::Name("PUT".into());
        assert!(matches(put(), "PUT"));
        assert!(matches(put(), "PUT !1"));
        assert!(!matches(put(), "PUTS"));
    }

    #[test]
    fn a_channel_operation_means_its_message_whatever_travels_with_it() {
        let send = || LabelPattern::Channel("c!msg".into());
        assert!(matches(send(), "c!msg(3)"));
        assert!(matches(send(), "c ! msg, 4"));
        assert!(!matches(send(), "c!msgs"));
        assert!(!matches(send(), "c?msg"));
        assert!(matches(LabelPattern::Channel("c!_,4".into()), "c!msg,4"));
    }

    #[test]
    fn a_regular_expression_matches_whole_labels() {
        assert!(matches(LabelPattern::Regex("PUT.*".into()), "PUT !1"));
        assert!(!matches(LabelPattern::Regex("UT".into()), "PUT"));
        let bad = EventPattern::any_process(LabelPattern::Regex("(".into()));
        assert!(bad.matcher().is_err());
    }
}
