//! Which labels are inputs, which are outputs; all others are hidden.
//!
//! A pattern is a name (the label itself, or the part before its first space, offer or bracket: `PUT` means
//! `PUT !1` and the channel `c` means `c!msg`), an array of channels (`q[*]`), a prefix (`PUT*`), or a
//! regular expression for the whole label (`/PUT.*/`). Without patterns labels that start with `?` are inputs and those that start with `!`
//! outputs, as papers write them. When only inputs are named, everything else is an output, as for TGV; and
//! the other way round.

use regex_lite::{Regex, RegexBuilder};
use volee_logic::formula::{EventMatcher, EventPattern, LabelPattern};
use volee_lts::is_internal;

use crate::{ConformError, Kind};

/// A pattern for labels.
#[derive(Debug, Clone)]
pub enum Matcher {
    /// A label or its gate.
    Name(String),
    /// Any channel of an array: `q[*]`.
    Array(String),
    /// The beginning of a label.
    Prefix(String),
    /// A regular expression for the whole label.
    Regex(Regex),
    /// A statement in this line of a program.
    Line(u32),
    /// An event of a program: `ask!REQ,_`, `Client[2]:ask!REQ,1`.
    Event(String, EventMatcher),
}

impl Matcher {
    /// Reads `NAME`, `PREFIX*`, `/REGEX/` or an event of a program.
    ///
    /// # Errors
    /// The regular expression is not one.
    pub fn parse(text: &str) -> Result<Matcher, ConformError> {
        if text.len() >= 2 && text.starts_with('/') && text.ends_with('/') {
            return Ok(Matcher::Regex(whole(&text[1..text.len() - 1])?));
        }
        if let Some(event) = event(text) {
            return Ok(Matcher::Event(text.into(), event));
        }
        if let Some(array) = text.strip_suffix("[*]").or_else(|| text.strip_suffix("[_]")) {
            return Ok(Matcher::Array(array.into()));
        }
        Ok(match text.strip_suffix('*') {
            Some(prefix) => Matcher::Prefix(prefix.into()),
            None => Matcher::Name(text.into()),
        })
    }

    /// Reads a list divided by commas; a regular expression stands alone, because it may have commas.
    ///
    /// # Errors
    /// A regular expression is not one.
    pub fn parse_list(text: &str) -> Result<Vec<Matcher>, ConformError> {
        if text.starts_with('/') {
            return Ok(vec![Matcher::parse(text)?]);
        }
        text.split(',').map(str::trim).filter(|t| !t.is_empty()).map(Matcher::parse).collect()
    }

    /// The pattern as it is written.
    pub fn text(&self) -> String {
        match self {
            Matcher::Name(name) => name.clone(),
            Matcher::Event(text, _) => text.clone(),
            Matcher::Array(name) => format!("{name}[*]"),
            Matcher::Prefix(prefix) => format!("{prefix}*"),
            Matcher::Line(line) => format!("line {line}"),
            Matcher::Regex(regex) => {
                let inner = regex.as_str();
                format!(
                    "/{}/",
                    inner.strip_prefix("^(?:").and_then(|t| t.strip_suffix(")$")).unwrap_or(inner)
                )
            }
        }
    }

    /// Whether a label is meant.
    pub fn matches(&self, label: &str) -> bool {
        match self {
            Matcher::Name(name) => label == name || gate(label) == name,
            Matcher::Array(name) => gate(label).strip_prefix(name.as_str()).is_some_and(is_index),
            Matcher::Prefix(prefix) => label.starts_with(prefix.as_str()),
            Matcher::Regex(regex) => regex.is_match(label),
            Matcher::Line(_) => false,
            Matcher::Event(text, event) => label == text || event.matches(label),
        }
    }
}

/// What a text means that is written as an event of a program: a channel operation, or with a process in
/// front.
pub(crate) fn event(text: &str) -> Option<EventMatcher> {
    let pattern = EventPattern::parse(text);
    let is_event = pattern.process.is_some() || matches!(pattern.label, LabelPattern::Channel(_));
    pattern.matcher().ok().filter(|_| is_event)
}

/// A regular expression that must match a whole text.
pub(crate) fn whole(pattern: &str) -> Result<Regex, ConformError> {
    RegexBuilder::new(&format!("^(?:{pattern})$"))
        .size_limit(1 << 20)
        .build()
        .map_err(|e| ConformError::input(format!("`{pattern}` is not a regular expression: {e}")))
}

/// `q` of `q[1]`.
fn array(channel: &str) -> &str {
    channel.split('[').next().unwrap_or(channel)
}

fn is_index(text: &str) -> bool {
    text.starts_with('[') && text.ends_with(']')
}

fn gate(label: &str) -> &str {
    let end = label.find([' ', '!', '?', '(', '\t']).unwrap_or(label.len());
    &label[..end]
}

/// Which labels a tester can send, and which it can see.
#[derive(Debug, Clone, Default)]
pub struct Interface {
    /// The labels the tester sends.
    pub inputs: Vec<Matcher>,
    /// The labels the tester sees.
    pub outputs: Vec<Matcher>,
    /// Labels that nobody sees, whatever the other two say.
    pub hidden: Vec<Matcher>,
    /// The names are those of channels of a program: what passes through them is seen, with its values.
    pub channels: bool,
}

impl Interface {
    /// What a label is.
    ///
    /// # Errors
    /// It is both an input and an output.
    pub fn kind(&self, label: &str) -> Result<Kind, ConformError> {
        let among = |matchers: &[Matcher]| matchers.iter().any(|m| m.matches(label));
        if is_internal(label.as_bytes()) || among(&self.hidden) {
            return Ok(Kind::Internal);
        }
        Ok(match (self.inputs.is_empty(), self.outputs.is_empty()) {
            (true, true) if label.starts_with('?') => Kind::Input,
            (true, true) if label.starts_with('!') => Kind::Output,
            (true, true) => Kind::Internal,
            (false, true) if !self.channels => {
                if among(&self.inputs) {
                    Kind::Input
                } else {
                    Kind::Output
                }
            }
            (true, false) if !self.channels => {
                if among(&self.outputs) {
                    Kind::Output
                } else {
                    Kind::Input
                }
            }
            _ => match (among(&self.inputs), among(&self.outputs)) {
                (true, true) => {
                    let message = format!("`{label}` is named both as an input and as an output");
                    return Err(ConformError::advised(
                        message,
                        "each label goes one way: narrow one of the two lists",
                    ));
                }
                (true, false) => Kind::Input,
                (false, true) => Kind::Output,
                (false, false) => Kind::Internal,
            },
        })
    }

    /// The patterns that mean none of these channels, as they are written; an array is known by its name.
    pub fn unnamed(&self, channels: &[&str]) -> Vec<String> {
        let means = |pattern: &Matcher, channel: &str| match pattern {
            Matcher::Array(name) => name == channel,
            Matcher::Regex(regex) => regex.is_match(channel) || regex.is_match(&format!("{channel}[0]")),
            Matcher::Name(name) => array(name) == channel,
            // What else there is may mean single messages.
            _ => true,
        };
        let patterns = self.inputs.iter().chain(&self.outputs).chain(&self.hidden);
        let silent = patterns.filter(|pattern| !channels.iter().any(|channel| means(pattern, channel)));
        silent.map(Matcher::text).collect()
    }

    /// Whether messages on this channel are seen; `c` names all of an array `c[0]`, `c[1]`, ….
    pub(crate) fn names_channel(&self, channel: &str) -> bool {
        self.channel_kind(channel).map_or(true, |kind| kind != Kind::Internal)
    }

    /// What messages on a channel are.
    pub(crate) fn channel_kind(&self, channel: &str) -> Result<Kind, ConformError> {
        match self.kind(channel)? {
            Kind::Internal => self.kind(array(channel)),
            kind => Ok(kind),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interface(inputs: &str, outputs: &str) -> Interface {
        let list = |text: &str| Matcher::parse_list(text).expect("patterns");
        Interface { inputs: list(inputs), outputs: list(outputs), ..Interface::default() }
    }

    #[test]
    fn names_prefixes_and_regular_expressions_choose_labels() {
        let i = interface("PUT, ask*", "/GET !(1|2)/");
        let kinds =
            ["PUT !1", "PUTS", "ask_again", "GET !1", "GET !3", "i"].map(|l| i.kind(l).expect("one way"));
        use Kind::{Input, Internal, Output};
        assert_eq!(kinds, [Input, Internal, Input, Output, Internal, Internal]);
    }

    #[test]
    fn an_array_of_channels_is_named_by_a_star() {
        for pattern in ["q[*]", "q[_]"] {
            let i = Interface { channels: true, ..interface("ask", pattern) };
            let kinds = ["q[0]", "q[12]", "qq[0]", "ask"].map(|c| i.channel_kind(c).expect("one way"));
            assert_eq!(kinds, [Kind::Output, Kind::Output, Kind::Internal, Kind::Input]);
        }
    }

    #[test]
    fn patterns_that_mean_nothing_are_known() {
        let i = Interface { channels: true, ..interface("ask,nix[1]", "q[2],r[*],no[_],/a.*/,s!1") };
        assert_eq!(i.unnamed(&["ask", "q", "r"]), ["nix[1]", "no[*]"]);
        assert_eq!(i.unnamed(&["nix", "no", "q"]), ["ask", "r[*]", "/a.*/"]);
    }

    #[test]
    fn one_list_alone_decides_the_other() {
        assert_eq!(interface("a", "").kind("b").expect("one way"), Kind::Output);
        assert_eq!(interface("", "a").kind("b").expect("one way"), Kind::Input);
        assert_eq!(interface("", "").kind("?coin").expect("one way"), Kind::Input);
        assert_eq!(interface("", "").kind("coin").expect("one way"), Kind::Internal);
    }

    #[test]
    fn a_label_that_goes_both_ways_is_refused() {
        assert!(interface("a*", "ab").kind("ab").is_err());
        assert!(Matcher::parse("/(/").is_err());
    }
}
