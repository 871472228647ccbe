//! The specification patterns of Dwyer, Avrunin and Corbett (ICSE 1999), as macros of the formula language.
//!
//! Each exists for the whole run and for four scopes: before `r`, after `q`, between `q` and `r`, and after
//! `q` until `r`. They are ordinary text in the language, parsed when used, so that what they mean can be
//! read here.

/// A named formula with parameters.
#[derive(Debug, Clone)]
pub(super) struct Macro {
    pub name: String,
    pub parameters: Vec<String>,
    /// The text in which the body stands, ending with it, so that messages have true places.
    pub text: String,
    /// Where the body starts.
    pub start: usize,
}

/// Name, parameters, body.
const PATTERNS: &[(&str, &str, &str)] = &[
    ("absence", "p", "[]!p"),
    ("absence_before", "p r", "<>r -> (!p U r)"),
    ("absence_after", "p q", "[](q -> []!p)"),
    ("absence_between", "p q r", "[]((q && !r && <>r) -> (!p U r))"),
    ("absence_after_until", "p q r", "[]((q && !r) -> (!p W r))"),
    ("existence", "p", "<>p"),
    ("existence_before", "p r", "!r W (p && !r)"),
    ("existence_after", "p q", "[]!q || <>(q && <>p)"),
    ("existence_between", "p q r", "[]((q && !r) -> (!r W (p && !r)))"),
    ("existence_after_until", "p q r", "[]((q && !r) -> (!r U (p && !r)))"),
    ("universality", "p", "[]p"),
    ("universality_before", "p r", "<>r -> (p U r)"),
    ("universality_after", "p q", "[](q -> []p)"),
    ("universality_between", "p q r", "[]((q && !r && <>r) -> (p U r))"),
    ("universality_after_until", "p q r", "[]((q && !r) -> (p W r))"),
    ("precedence", "s p", "!p W s"),
    ("precedence_before", "s p r", "<>r -> (!p U (s || r))"),
    ("precedence_after", "s p q", "[]!q || <>(q && (!p W s))"),
    ("precedence_between", "s p q r", "[]((q && !r && <>r) -> (!p U (s || r)))"),
    ("precedence_after_until", "s p q r", "[]((q && !r) -> (!p W (s || r)))"),
    ("response", "p s", "[](p -> <>s)"),
    ("response_before", "p s r", "<>r -> ((p -> (!r U (s && !r))) U r)"),
    ("response_after", "p s q", "[](q -> [](p -> <>s))"),
    ("response_between", "p s q r", "[]((q && !r && <>r) -> ((p -> (!r U (s && !r))) U r))"),
    ("response_after_until", "p s q r", "[]((q && !r) -> ((p -> (!r U (s && !r))) W r))"),
    ("at_most_twice", "p", "!p W (p W (!p W (p W []!p)))"),
    ("precedence_chain", "s t p", "<>p -> (!p U (s && !p && X(!p U t)))"),
    ("response_chain", "p s t", "[](p -> <>(s && X<>t))"),
];

/// The patterns as macros.
pub(super) fn library() -> Vec<Macro> {
    PATTERNS
        .iter()
        .map(|(name, parameters, body)| Macro {
            name: (*name).into(),
            parameters: parameters.split(' ').map(str::to_string).collect(),
            text: (*body).into(),
            start: 0,
        })
        .collect()
}

/// The patterns a user can call, as `name(p, q)`.
pub fn pattern_names() -> Vec<String> {
    PATTERNS
        .iter()
        .map(|(name, parameters, _)| format!("{name}({})", parameters.replace(' ', ", ")))
        .collect()
}
