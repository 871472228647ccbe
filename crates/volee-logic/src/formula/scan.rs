//! Reading the text of a formula piece by piece: a cursor, and the tokens it finds.
//!
//! The scanner is told whether an operand or an operator may come next, because characters mean different
//! things in the two places: `!` negates or sends, `/` opens a regular expression or divides.

use std::ops::Range;

use volee_system::{Diagnostic, Scanner};

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
    /// Negation binds tightest; a temporal operator looser than comparisons, so that `[] x == 2` is what it
    /// seems.
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

/// The comments of formulas.
pub(super) fn skip_space(scanner: &mut Scanner<'_>) {
    // A comment without an end ends with the formula.
    let _ = scanner.skip(&[("//", "\n"), ("/*", "*/")]);
}

pub(super) fn prefix(scanner: &mut Scanner<'_>) -> Option<Prefix> {
    operator(scanner, PREFIX_WORDS, PREFIX_SYMBOLS)
}

pub(super) fn binary(scanner: &mut Scanner<'_>) -> Option<Binary> {
    operator(scanner, BINARY_WORDS, BINARY_SYMBOLS)
}

fn operator<T: Copy>(scanner: &mut Scanner<'_>, words: &[(&str, T)], symbols: &[(&str, T)]) -> Option<T> {
    let word = scanner.word();
    if word.is_empty() {
        return symbols.iter().find(|(symbol, _)| scanner.eat(symbol)).map(|(_, op)| *op);
    }
    let (_, op) = words.iter().find(|(w, _)| *w == word)?;
    scanner.take(word.len());
    Some(*op)
}

/// Takes a text between two `delimiter`s, the cursor being on the first; a backslash protects the next one.
pub(super) fn quoted(scanner: &mut Scanner<'_>, delimiter: char, what: &str) -> Result<String, Diagnostic> {
    let (start, text) = (scanner.at, scanner.quoted(delimiter, |c| c == delimiter));
    text.ok_or_else(|| scanner.error(start..start + 1, format!("this {what} has no closing `{delimiter}`")))
}

/// The span of what comes next, for messages: a word, a number, or one character.
pub(super) fn next_span(scanner: &Scanner<'_>) -> Span {
    let length = match (scanner.word().len(), scanner.digits().len()) {
        (0, 0) => scanner.peek().map_or(0, char::len_utf8),
        (w, d) => w.max(d),
    };
    Span { start: scanner.at, end: scanner.at + length }
}

impl From<Span> for Range<usize> {
    fn from(span: Span) -> Self {
        span.start..span.end
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
