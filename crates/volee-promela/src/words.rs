//! The words of the language and of a text, for tools that work on text.

use crate::intern::{Interner, KNOWN, Sym, kw};
use crate::token::{Tok, tokenize};

/// The reserved words.
pub const KEYWORDS: &[&str] = KNOWN.split_at(kw::XS.0 as usize + 1).0.split_at(kw::ACTIVE.0 as usize).1;

/// Whether a word cannot be a name that somebody declares.
pub fn is_reserved(word: &str) -> bool {
    KEYWORDS.contains(&word) || ["_", "_pid", "_nr_pr", "_last", "_priority", "STDIN"].contains(&word)
}

/// A name in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Word<'t> {
    /// The name.
    pub text: &'t str,
    /// Its first byte.
    pub start: usize,
    /// Whether it belongs to what stands before it: a field, a label, the target of a jump.
    pub is_member: bool,
}

/// The names in a text, also in what the preprocessor would leave out, but not those in comments and strings.
pub fn names(text: &str) -> impl Iterator<Item = Word<'_>> {
    let mut interner = Interner::new();
    let tokens = tokenize(0, text, &mut interner);
    let mut before: Option<(Tok, Sym)> = None;
    let mut all = Vec::new();
    for (i, token) in tokens.iter().enumerate() {
        if token.tok == Tok::Name {
            let start = token.at.offset as usize;
            let length = interner.text(token.sym).len();
            let after_member =
                before.is_some_and(|(tok, sym)| matches!(tok, Tok::Dot | Tok::AtSign) || sym == kw::GOTO);
            let is_label = tokens.get(i + 1).is_some_and(|next| next.tok == Tok::Colon);
            all.push(Word { text: &text[start..start + length], start, is_member: after_member || is_label });
        }
        before = Some((token.tok, token.sym));
    }
    all.into_iter()
}

/// Whether what is written behind this text is read: not where a comment or a string is open.
pub fn is_open_to_code(text: &str) -> bool {
    let mut rest = text;
    while let Some(at) = rest.find(['"', '/', '\'']) {
        let (opening, behind) = rest[at..].split_at(1);
        let end = match opening {
            "\"" => end_of_string(behind),
            "'" => Some(behind.char_indices().nth(1).filter(|(_, c)| *c == '\'').map_or(0, |(at, _)| at + 1)),
            _ if behind.starts_with('*') => behind[1..].find("*/").map(|end| end + 3),
            _ if behind.starts_with('/') => end_of_line(behind),
            _ => Some(0),
        };
        let Some(end) = end.and_then(|end| behind.get(end..)) else { return false };
        rest = end;
    }
    true
}

/// Behind the quote that closes a string, or the line that leaves it open.
fn end_of_string(text: &str) -> Option<usize> {
    let mut is_escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' | '\n' => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// Behind the line, and those that a backslash joins to it.
fn end_of_line(text: &str) -> Option<usize> {
    let ends = text.match_indices('\n').map(|(at, _)| at);
    let mut ends = ends.filter(|&at| !text[..at].trim_end_matches('\r').ends_with('\\'));
    ends.next().map(|at| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_are_those_of_the_lexer() {
        assert!(KEYWORDS.contains(&"active") && KEYWORDS.contains(&"xs") && !KEYWORDS.contains(&""));
        assert!(is_reserved("_pid") && is_reserved("do") && !is_reserved("in"));
    }

    #[test]
    fn what_is_typed_into_comments_and_strings_is_not_read() {
        let read = [
            "",
            "x",
            "a / b",
            "/* x */ y",
            "// x\ny",
            "\"x\" y",
            "\"x\\\"\" y",
            "'\"' y",
            "\"x\ny",
            "'/' + 'é' é",
        ];
        let unread =
            ["/* x", "/*/", "// x", "// x \\\ny", "\"x", "\"x\\\"", "x // \"", "/* x */ // y", "\"é"];
        assert!(read.iter().all(|text| is_open_to_code(text)));
        let wrong: Vec<&&str> = unread.iter().filter(|text| is_open_to_code(text)).collect();
        assert!(wrong.is_empty(), "{wrong:?}");
    }

    #[test]
    fn names_are_found_outside_comments() {
        let found: Vec<(&str, bool)> =
            names("x /* y */ = a.b; goto c // d").map(|w| (w.text, w.is_member)).collect();
        assert_eq!(found, [("x", false), ("a", false), ("b", true), ("goto", false), ("c", true)]);
    }
}
