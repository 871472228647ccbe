//! Reading the text of a formula piece by piece: a cursor, and the tokens it finds.
//!
//! The scanner is told whether an operand or an operator may come next, because characters mean different things
//! in the two places: `!` negates or sends, `/` opens a regular expression or divides.

use std::sync::Arc;

use volee_system::{Diagnostic, Place};

use super::Span;

/// Binary operators, loosest first, as in SPIN's grammar of `ltl` blocks: all group to the left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Binary {
    Implies,
    Iff,
    Or,
    Xor,
    And,
    Until,
    WeakUntil,
    Release,
    StrongRelease,
    /// An operator of expressions: comparison or arithmetic. The number is its precedence.
    Expression(u8),
}

impl Binary {
    pub fn precedence(self) -> u8 {
        match self {
            Binary::Implies | Binary::Iff => 1,
            Binary::Or | Binary::Xor => 2,
            Binary::And => 3,
            Binary::Until | Binary::WeakUntil | Binary::Release | Binary::StrongRelease => 4,
            Binary::Expression(p) => p,
        }
    }
}

/// Prefix operators; they bind tighter than binary logical ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Prefix {
    Not,
    Next,
    WeakNext,
    Globally,
    Finally,
    /// The minus sign and the bitwise complement of expressions.
    Expression,
}

impl Prefix {
    /// Negation binds tightest; a temporal operator looser than comparisons, so that `[] x == 2` is what it seems.
    pub fn precedence(self) -> u8 {
        match self {
            Prefix::Not | Prefix::Expression => 13,
            Prefix::Next | Prefix::WeakNext | Prefix::Globally | Prefix::Finally => 5,
        }
    }
}

const PREFIX_SYMBOLS: &[(&str, Prefix)] = &[
    ("[]", Prefix::Globally),
    ("<>", Prefix::Finally),
    ("!", Prefix::Not),
    ("¬", Prefix::Not),
    ("□", Prefix::Globally),
    ("◻", Prefix::Globally),
    ("◇", Prefix::Finally),
    ("◊", Prefix::Finally),
    ("○", Prefix::WeakNext),
    ("⊙", Prefix::Next),
    ("-", Prefix::Expression),
    ("~", Prefix::Expression),
];

pub(super) const PREFIX_WORDS: &[(&str, Prefix)] = &[
    ("G", Prefix::Globally),
    ("F", Prefix::Finally),
    ("X", Prefix::Next),
    ("WX", Prefix::WeakNext),
    ("always", Prefix::Globally),
    ("eventually", Prefix::Finally),
    ("next", Prefix::Next),
    ("not", Prefix::Not),
];

/// Longer symbols come before their beginnings.
const BINARY_SYMBOLS: &[(&str, Binary)] = &[
    ("<->", Binary::Iff),
    ("<=>", Binary::Iff),
    ("->", Binary::Implies),
    ("=>", Binary::Implies),
    ("⇒", Binary::Implies),
    ("→", Binary::Implies),
    ("⊃", Binary::Implies),
    ("⇔", Binary::Iff),
    ("↔", Binary::Iff),
    ("≡", Binary::Iff),
    ("||", Binary::Or),
    ("\\/", Binary::Or),
    ("|", Binary::Or),
    ("∨", Binary::Or),
    ("^", Binary::Xor),
    ("⊕", Binary::Xor),
    ("&&", Binary::And),
    ("/\\", Binary::And),
    ("&", Binary::And),
    ("∧", Binary::And),
    ("==", Binary::Expression(8)),
    ("!=", Binary::Expression(8)),
    ("<<", Binary::Expression(10)),
    (">>", Binary::Expression(10)),
    ("<=", Binary::Expression(9)),
    (">=", Binary::Expression(9)),
    ("<", Binary::Expression(9)),
    (">", Binary::Expression(9)),
    ("+", Binary::Expression(11)),
    ("-", Binary::Expression(11)),
    ("*", Binary::Expression(12)),
    ("/", Binary::Expression(12)),
    ("%", Binary::Expression(12)),
];

pub(super) const BINARY_WORDS: &[(&str, Binary)] = &[
    ("U", Binary::Until),
    ("W", Binary::WeakUntil),
    ("R", Binary::Release),
    ("V", Binary::Release),
    ("M", Binary::StrongRelease),
    ("until", Binary::Until),
    ("stronguntil", Binary::Until),
    ("weakuntil", Binary::WeakUntil),
    ("release", Binary::Release),
    ("implies", Binary::Implies),
    ("equivalent", Binary::Iff),
    ("and", Binary::And),
    ("or", Binary::Or),
    ("xor", Binary::Xor),
];

/// A cursor in the text.
pub(super) struct Scanner<'a> {
    pub text: &'a str,
    pub at: usize,
    pub file: Arc<str>,
}

impl<'a> Scanner<'a> {
    pub fn new(text: &'a str, file: Arc<str>) -> Self {
        Scanner { text, at: 0, file }
    }

    pub fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    pub fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub fn skip_space(&mut self) {
        loop {
            let trimmed = self.rest().trim_start();
            self.at = self.text.len() - trimmed.len();
            if trimmed.starts_with("//") || trimmed.starts_with("/*") {
                let end = if trimmed.starts_with("//") { trimmed.find('\n') } else { trimmed.find("*/") };
                self.at = end.map_or(self.text.len(), |e| self.at + e + 2).min(self.text.len());
                while !self.text.is_char_boundary(self.at) {
                    self.at += 1;
                }
                continue;
            }
            return;
        }
    }

    /// Takes `symbol` if it comes next.
    pub fn eat(&mut self, symbol: &str) -> bool {
        let found = self.rest().starts_with(symbol);
        if found {
            self.at += symbol.len();
        }
        found
    }

    /// The identifier at the cursor, not taken; empty if there is none.
    pub fn word(&self) -> &'a str {
        let rest = self.rest();
        let starts = rest.chars().next().is_some_and(|c| c.is_alphabetic() || c == '_');
        if !starts {
            return "";
        }
        let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        &rest[..end]
    }

    /// The number at the cursor, not taken; empty if there is none.
    pub fn digits(&self) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        &rest[..end]
    }

    pub fn prefix(&mut self) -> Option<Prefix> {
        let word = self.word();
        if !word.is_empty() {
            let op = PREFIX_WORDS.iter().find(|(w, _)| *w == word)?.1;
            self.at += word.len();
            return Some(op);
        }
        PREFIX_SYMBOLS.iter().find(|(s, _)| self.eat(s)).map(|(_, op)| *op)
    }

    pub fn binary(&mut self) -> Option<Binary> {
        let word = self.word();
        if !word.is_empty() {
            let op = BINARY_WORDS.iter().find(|(w, _)| *w == word)?.1;
            self.at += word.len();
            return Some(op);
        }
        BINARY_SYMBOLS.iter().find(|(s, _)| self.eat(s)).map(|(_, op)| *op)
    }

    /// Takes everything up to the bracket that closes the one at the cursor; gives what is between.
    pub fn balanced(&mut self) -> Result<&'a str, Diagnostic> {
        let start = self.at;
        let mut closing: Vec<char> = Vec::new();
        for (offset, c) in self.rest().char_indices() {
            match c {
                '(' => closing.push(')'),
                '[' => closing.push(']'),
                '{' => closing.push('}'),
                ')' | ']' | '}' => {
                    if closing.pop() != Some(c) {
                        let here = start + offset;
                        let span = Span { start: here, end: here + 1 };
                        return Err(self.error(span, format!("`{c}` closes nothing that is open here")));
                    }
                    if closing.is_empty() {
                        self.at = start + offset + 1;
                        return Ok(&self.text[start + 1..start + offset]);
                    }
                }
                _ => {}
            }
        }
        let open = &self.text[start..start + 1];
        Err(self.error(Span { start, end: start + 1 }, format!("this `{open}` is never closed")))
    }

    /// Takes a text between two `delimiter`s, the cursor being on the first; a backslash protects the next one.
    pub fn quoted(&mut self, delimiter: char, what: &str) -> Result<String, Diagnostic> {
        let start = self.at;
        let mut text = String::new();
        let mut protected = false;
        for (offset, c) in self.rest().char_indices().skip(1) {
            match c {
                '\\' if !protected => {
                    protected = true;
                    continue;
                }
                c if c == delimiter && !protected => {
                    self.at = start + offset + c.len_utf8();
                    return Ok(text);
                }
                c => {
                    if protected && c != delimiter {
                        text.push('\\');
                    }
                    text.push(c);
                }
            }
            protected = false;
        }
        Err(self.error(Span { start, end: start + 1 }, format!("this {what} has no closing `{delimiter}`")))
    }

    /// An error about a part of the text.
    pub fn error(&self, span: Span, message: impl Into<String>) -> Diagnostic {
        let before = &self.text[..span.start];
        let line = before.matches('\n').count() as u32 + 1;
        let column = before.rsplit('\n').next().unwrap_or("").chars().count() as u32 + 1;
        let length = self.text[span.start..span.end.min(self.text.len())].chars().count() as u32;
        Diagnostic::error(message, Place::new(self.file.clone(), line, column)).spanning(length)
    }

    /// The span of what comes next, for messages: a word, a number, or one character.
    pub fn next_span(&self) -> Span {
        let length = match (self.word().len(), self.digits().len()) {
            (0, 0) => self.peek().map_or(0, char::len_utf8),
            (w, d) => w.max(d),
        };
        Span { start: self.at, end: self.at + length }
    }
}

/// The candidate nearest to a misspelt word, if one is near enough to be meant.
pub(crate) fn nearest<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let allowed = if word.chars().count() < 5 { 1 } else { 2 };
    candidates
        .filter(|c| c.len() > 2)
        .map(|c| (distance(word, c), c))
        .filter(|(d, _)| (1..=allowed).contains(d))
        .min()
        .map(|(_, c)| c)
}

/// The edit distance of two short words (long ones are never near).
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len().abs_diff(b.len()) > 2 {
        return usize::MAX;
    }
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.iter().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, cb) in b.iter().enumerate() {
            let cost = (diagonal + usize::from(ca != cb)).min(row[j] + 1).min(row[j + 1] + 1);
            diagonal = std::mem::replace(&mut row[j + 1], cost);
        }
    }
    row[b.len()]
}
