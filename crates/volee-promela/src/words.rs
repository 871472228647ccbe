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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_are_those_of_the_lexer() {
        assert!(KEYWORDS.contains(&"active") && KEYWORDS.contains(&"xs") && !KEYWORDS.contains(&""));
        assert!(is_reserved("_pid") && is_reserved("do") && !is_reserved("in"));
    }

    #[test]
    fn names_are_found_outside_comments() {
        let found: Vec<(&str, bool)> =
            names("x /* y */ = a.b; goto c // d").map(|w| (w.text, w.is_member)).collect();
        assert_eq!(found, [("x", false), ("a", false), ("b", true), ("goto", false), ("c", true)]);
    }
}
