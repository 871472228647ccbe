//! Events: which steps a formula, a rule or a purpose means. One grammar for every verb.
//!
//! A step has a text and may have other names: an event of a program is `ask!REQ,1`, with who did it
//! `Client[1]:ask!REQ,1`, and the statement behind it `Client[1] ask!REQ,me`; a step of a transition system
//! is its label, `PUT !1`. A bare name means what has exactly this text, or whose gate (the part before a
//! space or an offer) has it; a quoted text means exactly itself; a regular expression must match the whole;
//! `c!msg` means the sending of `msg` on `c` whatever else travels with it. `_` stands for any value, `[*]`
//! or `[_]` for any number, and a process in front restricts an event to the steps of that process.

use std::fmt;

use regex_lite::Regex;

/// A process by its name, and by its number if one is meant.
pub type Who = (String, Option<u32>);

/// Which steps an event atom stands for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct EventPattern {
    /// The process that must act.
    pub process: Option<Who>,
    /// The label.
    pub label: LabelPattern,
}

/// The part of an event pattern that looks at the label.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum LabelPattern {
    /// A label or its gate.
    Name(String),
    /// The whole label; in a channel operation `_` is any value.
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

impl PatternError {
    /// What is wrong with the regular expression.
    pub fn reason(&self) -> &str {
        &self.0
    }
}

impl EventPattern {
    /// A pattern for any process.
    pub fn any_process(label: LabelPattern) -> Self {
        EventPattern { process: None, label }
    }

    /// Exactly this text, in which a process may stand in front.
    pub fn exact(text: &str) -> Self {
        match split_pattern(text) {
            Some((who, rest)) => EventPattern { process: Some(who), label: LabelPattern::Exact(rest.into()) },
            None => EventPattern::any_process(LabelPattern::Exact(text.into())),
        }
    }

    /// A pattern that stands alone, as in a rule or an interface: `"exact"`, `/regular expression/`,
    /// `Client[*]:ask!REQ,_`.
    pub fn parse(text: &str) -> Self {
        let between = |mark: char| {
            let inner = text.strip_prefix(mark)?.strip_suffix(mark)?;
            Some(inner.replace(&format!("\\{mark}"), &mark.to_string()))
        };
        if let Some(regex) = between('/') {
            return EventPattern::any_process(LabelPattern::Regex(regex));
        }
        if let Some(exact) = between('"') {
            return EventPattern::exact(&exact);
        }
        let (process, rest) = match split_pattern(text) {
            Some((who, rest)) => (Some(who), rest),
            None => (None, text),
        };
        let label = match is_channel_operation(rest) {
            true => LabelPattern::Channel(rest.into()),
            false => LabelPattern::Name(rest.into()),
        };
        EventPattern { process, label }
    }

    /// Prepares the pattern for many steps.
    ///
    /// # Errors
    /// A regular expression that is not one.
    pub fn matcher(&self) -> Result<EventMatcher, PatternError> {
        let given = match &self.label {
            LabelPattern::Exact(text) if self.process.is_none() => EventPattern::exact(text),
            _ => self.clone(),
        };
        let label = match &given.label {
            LabelPattern::Name(name) => LabelMatcher::Name(name.clone()),
            LabelPattern::Exact(text) => LabelMatcher::exact(text),
            LabelPattern::Channel(text) => LabelMatcher::Channel(Operation::read(text)),
            LabelPattern::Regex(text) => {
                let anchored = format!("^(?:{text})$");
                let regex = regex_lite::RegexBuilder::new(&anchored).size_limit(1 << 20).build();
                LabelMatcher::Regex(regex.map_err(|e| PatternError(e.to_string()))?)
            }
        };
        Ok(EventMatcher { process: given.process, label })
    }
}

/// A prepared [`EventPattern`].
#[derive(Debug, Clone)]
pub struct EventMatcher {
    process: Option<Who>,
    label: LabelMatcher,
}

impl EventMatcher {
    /// Whether a step with this text is meant.
    pub fn matches(&self, text: &str) -> bool {
        let Some((name, pid, event)) = split_process(text) else {
            return self.process.is_none() && self.label.matches(text);
        };
        let process_fits = match &self.process {
            None => true,
            Some((wanted, number)) => is_process(wanted, name) && number.is_none_or(|n| n == pid),
        };
        process_fits && (self.label.matches(event) || self.label.matches(text))
    }

    /// Whether a step that has these names is meant.
    pub fn matches_any<T: AsRef<str>>(&self, names: &[T]) -> bool {
        names.iter().any(|name| self.matches(name.as_ref()))
    }

    /// Whether a step may be meant in which some process of this type does this.
    pub fn may_mean(&self, process: &str, event: &str) -> bool {
        if self.process.as_ref().is_some_and(|(wanted, _)| !is_process(wanted, process)) {
            return false;
        }
        let numbered = || {
            (0..=u32::from(u8::MAX)).any(|pid| {
                [':', ' '].iter().any(|mark| self.label.matches(&format!("{process}[{pid}]{mark}{event}")))
            })
        };
        self.label.matches(event) || self.label.may_begin_with(process) && numbered()
    }

    /// Whether an event that this process does is meant.
    pub fn matches_event(&self, event: &str) -> bool {
        self.label.matches(event)
    }
}

/// The initial process is written `init`, and known as `:init:`.
fn is_process(wanted: &str, name: &str) -> bool {
    wanted == "_" || wanted.trim_matches(':') == name.trim_matches(':')
}

/// `Sender[2]:c!msg` and `Sender[2] c!msg` as `Sender`, 2, `c!msg`.
pub fn split_process(text: &str) -> Option<(&str, u32, &str)> {
    let open = text.find('[')?;
    let close = open + text[open..].find(']')?;
    let rest = text[close + 1..].strip_prefix([':', ' ']).filter(|rest| !is_assigned(rest))?;
    let name = &text[..open];
    is_word(name.trim_matches(':')).then_some(())?;
    Some((name, text[open + 1..close].parse().ok()?, rest))
}

/// What stands in front is then no process but an element of an array: `a[1] = 3`.
fn is_assigned(rest: &str) -> bool {
    rest.starts_with('=')
}

/// The same for a pattern, whose process may have no number, or any.
fn split_pattern<'t>(text: &'t str) -> Option<(Who, &'t str)> {
    if let Some((name, pid, rest)) = split_process(text) {
        return Some(((name.into(), Some(pid)), rest));
    }
    let any = |text: &'t str| ["[*]", "[_]"].iter().find_map(|mark| text.split_once(mark));
    if let Some((name, rest)) = any(text)
        && is_word(name.trim_matches(':'))
        && let Some(rest) = rest.strip_prefix([':', ' ']).filter(|rest| !is_assigned(rest))
    {
        return (!rest.is_empty()).then(|| ((name.into(), None), rest));
    }
    let (name, rest) = text.split_once(':')?;
    // `c?x:y` and `a : b` are not about processes.
    (is_word(name) && !rest.is_empty() && !rest.starts_with([':', ' '])).then(|| ((name.into(), None), rest))
}

fn is_word(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|c| c.is_alphabetic() || c == '_')
        && chars.all(|c| c.is_alphanumeric() || c == '_')
}

/// `c!msg`, `q[1]?REQ,_`: a channel, an operator, values; without spaces.
fn is_channel_operation(text: &str) -> bool {
    let Some(at) = text.find(['!', '?']) else { return false };
    let channel = &text[..at];
    !channel.is_empty()
        && channel.chars().all(|c| c.is_alphanumeric() || "_.[]*".contains(c))
        && !text[at..].contains([' ', '='])
}

/// A prepared [`LabelPattern`].
#[derive(Debug, Clone)]
enum LabelMatcher {
    Name(String),
    Exact(String),
    /// An exact channel operation: `_` is any value, but there are no more than are written.
    Operation(String, Operation),
    Regex(Regex),
    Channel(Operation),
}

impl LabelMatcher {
    fn exact(text: &str) -> Self {
        match is_channel_operation(text) {
            true => LabelMatcher::Operation(text.into(), Operation::read(text)),
            false => LabelMatcher::Exact(text.into()),
        }
    }

    /// Whether a text that begins like this can match.
    fn may_begin_with(&self, start: &str) -> bool {
        match self {
            LabelMatcher::Name(text) | LabelMatcher::Exact(text) | LabelMatcher::Operation(text, _) => {
                text.starts_with(start)
            }
            LabelMatcher::Channel(operation) => operation.channel.starts_with(start),
            LabelMatcher::Regex(_) => true,
        }
    }

    fn matches(&self, label: &str) -> bool {
        match self {
            LabelMatcher::Name(name) => label == name || gate(label) == name,
            LabelMatcher::Exact(text) => label == text,
            LabelMatcher::Operation(text, operation) => {
                label == text || {
                    let given = Operation::read(label);
                    given.values.len() == operation.values.len() && operation.means(&given)
                }
            }
            LabelMatcher::Regex(regex) => regex.is_match(label),
            LabelMatcher::Channel(operation) => operation.means(&Operation::read(label)),
        }
    }
}

/// The part of a label before its offers: `PUT` of `PUT !1 ?x`, `c` of `c!msg`.
fn gate(label: &str) -> &str {
    let end = label.find([' ', '!', '?', '(', '\t']).unwrap_or(label.len());
    &label[..end]
}

/// A channel operation taken apart: `c!msg`, `c!msg(3)`, `c!msg,3` and `c ! msg, 3` are written differently
/// and mean the same. A sorted or random operation is one all the same; one that leaves the message there,
/// `c?<x>`, is another.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Operation {
    channel: String,
    operator: String,
    values: Vec<String>,
}

impl Operation {
    fn read(text: &str) -> Self {
        let compact: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        let at = compact.find(['!', '?']).unwrap_or(compact.len());
        let rest = compact[at..].trim_start_matches(['!', '?']);
        let mut operator = compact[at..].chars().next().map(String::from).unwrap_or_default();
        if rest.starts_with('<') {
            operator.push('<');
        }
        let values = rest.split(['(', ')', ',', '<', '>']).filter(|v| !v.is_empty());
        let values = values.map(|v| match v {
            "true" => "1".to_string(),
            "false" => "0".to_string(),
            other => other.to_string(),
        });
        Operation { channel: compact[..at].to_string(), operator, values: values.collect() }
    }

    /// Whether this, as a pattern, means an operation that may carry more values.
    fn means(&self, given: &Operation) -> bool {
        let array = ["[*]", "[_]"].iter().find_map(|mark| self.channel.strip_suffix(mark));
        let channel_fits = match array {
            Some(array) => given.channel.strip_prefix(array).is_some_and(|rest| rest.starts_with('[')),
            None => self.channel == given.channel || self.channel == "_",
        };
        channel_fits
            && self.operator == given.operator
            && self.values.len() <= given.values.len()
            && self.values.iter().zip(&given.values).all(|(w, g)| w == "_" || w == g)
    }
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
            LabelPattern::Exact(text) => write!(f, "\"{}\"", text.replace('"', "\\\"")),
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
    fn one_grammar_stands_alone_too() {
        for (pattern, event, meant) in [
            ("ask!REQ,1", "Client[1]:ask!REQ,1", true),
            ("ask!REQ", "Client[1]:ask!REQ,1", true),
            ("\"ask!REQ\"", "Client[1]:ask!REQ,1", false),
            ("\"ask!REQ,_\"", "Client[1]:ask!REQ,1", true),
            ("\"ask!REQ(1)\"", "Client[1]:ask!REQ,1", true),
            ("ask!REQ,2", "Client[1]:ask!REQ,1", false),
            ("ask?REQ,1", "Client[1]:ask!REQ,1", false),
            ("Client[*]:ask!_,1", "Client[1]:ask!REQ,1", true),
            ("Client:ask!_,1", "Client[1]:ask!REQ,1", true),
            ("Client[2]:ask!_,1", "Client[1]:ask!REQ,1", false),
            ("Server[*]:ask!_,1", "Client[1]:ask!REQ,1", false),
            ("\"Client[*]:ask!_,1\"", "Client[1]:ask!REQ,1", true),
            ("init:r!7", ":init:[0]:r!7", true),
            ("q[*]!REQ", "P[0]:q[3]!REQ", true),
            ("q[_]!REQ", "P[0]:q[3]!REQ", true),
            ("Client[_]:ask!REQ", "Client[1]:ask!REQ,1", true),
            ("_[*]:ask!REQ", "Client[1]:ask!REQ,1", true),
            ("_:crit", "Client[1]:crit", true),
            ("\"Client[*] n = me\"", "Client[1] n = me", true),
            ("\"Client[*] n = me\"", "Server[1] n = me", false),
            ("\"a[1] = 3\"", "Client[1]:a[1] = 3", true),
            ("\"a[1] = 3\"", "Client[1] a[1] = 3", true),
            ("\"Client[1]:a[1] = 3\"", "Client[1]:a[1] = 3", true),
            ("\"a[1] = 3\"", "Client[1]:a[2] = 3", false),
            ("q[1]!REQ", "P[0]:q[3]!REQ", false),
            ("c!1", "P[0]:c!true", true),
            ("c?REQ", "P[0]:c?<REQ>", false),
            ("c?<REQ>", "P[0]:c?<REQ>", true),
            ("/ask.*/", "Client[1]:ask!REQ,1", true),
            ("/Client.*/", "Client[1]:ask!REQ,1", true),
            ("\"P[0] x = 1\"", "P[0] x = 1", true),
            ("\"x = 1\"", "P[0]:x = 1", true),
            ("\"x = 1\"", "P[0]:x = 12", false),
            ("\"PUT\"", "PUT !1", false),
            ("PUT", "PUT !1", true),
        ] {
            let matcher = EventPattern::parse(pattern).matcher().expect("a valid pattern");
            assert_eq!(matcher.matches(event), meant, "{pattern} {event}");
        }
    }

    #[test]
    fn what_some_process_may_do_is_meant_if_some_number_of_it_is() {
        for (pattern, process, event, meant) in [
            ("x", "P", "x = 1", true),
            ("\"x = 1\"", "P", "x = 1", true),
            ("\"x = 1\"", "P", "x = 2", false),
            ("P[7]:\"x = 1\"", "P", "y = 1", false),
            ("\"P[7]:x = 1\"", "P", "x = 1", true),
            ("\"Q[7]:x = 1\"", "P", "x = 1", false),
            ("\"P[7] x = 1\"", "P", "x = 1", true),
            ("/P.17.:x.*/", "P", "x = 1", true),
            ("/P.17.:y.*/", "P", "x = 1", false),
            ("/.* x = 1/", "P", "x = 1", true),
            ("ask!REQ", "P", "x = 1", false),
            ("init:lab", ":init:", "lab", true),
        ] {
            let matcher = EventPattern::parse(pattern).matcher().expect("a valid pattern");
            assert_eq!(matcher.may_mean(process, event), meant, "{pattern} {process} {event}");
        }
    }

    #[test]
    fn a_regular_expression_matches_whole_labels() {
        assert!(matches(LabelPattern::Regex("PUT.*".into()), "PUT !1"));
        assert!(!matches(LabelPattern::Regex("UT".into()), "PUT"));
        let bad = EventPattern::any_process(LabelPattern::Regex("(".into()));
        assert!(bad.matcher().is_err());
    }
}
