//! The one scanner: a cursor in a text that knows its place, for whoever reads a small language.
//!
//! Each language has tokens of its own and says which comments it has; what is the same in all of them is
//! here: blanks, words, symbols, quoted texts, brackets, and where in the file something stands. Places are
//! counted on from the last one that was asked for, so that whoever asks for them in the order of the text
//! reads it once. (Promela has its own scanner, whose places go through macros and included files; `.aut`
//! files are read as bytes, in chunks.)

use std::cell::Cell;
use std::ops::Range;
use std::sync::Arc;

use crate::{Diagnostic, Place};

/// How a comment begins and ends. One that ends with a line leaves the end of the line.
pub type Comment = (&'static str, &'static str);

/// A cursor in a text.
#[derive(Debug, Clone)]
pub struct Scanner<'t> {
    /// All of the text.
    pub text: &'t str,
    /// Where the cursor is, in bytes.
    pub at: usize,
    /// What the text is called in messages.
    pub file: Arc<str>,
    /// The place that was asked for last: offset, line, column.
    known: Cell<(usize, u32, u32)>,
}

impl<'t> Scanner<'t> {
    /// A cursor at the beginning.
    pub fn new(file: impl Into<Arc<str>>, text: &'t str) -> Self {
        Scanner { text, at: 0, file: file.into(), known: Cell::new((0, 1, 1)) }
    }

    /// What has not been taken.
    pub fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    /// The character at the cursor.
    pub fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Takes this many bytes.
    pub fn take(&mut self, bytes: usize) -> &'t str {
        let taken = &self.rest()[..bytes];
        self.at += bytes;
        taken
    }

    /// Takes the characters of a kind.
    pub fn take_while(&mut self, is: impl Fn(char) -> bool) -> &'t str {
        self.take(prefix(self.rest(), is).len())
    }

    /// Takes `symbol` if it comes next.
    pub fn eat(&mut self, symbol: &str) -> bool {
        let found = self.rest().starts_with(symbol);
        self.at += if found { symbol.len() } else { 0 };
        found
    }

    /// Takes the first of these symbols that comes next: longer ones stand before their beginnings.
    pub fn symbol(&mut self, symbols: &[&'static str]) -> Option<&'static str> {
        symbols.iter().copied().find(|symbol| self.eat(symbol))
    }

    /// Takes blanks and comments.
    ///
    /// # Errors
    /// Where a comment begins that has no end; the cursor is then at the end.
    pub fn skip(&mut self, comments: &[Comment]) -> Result<(), usize> {
        loop {
            self.take_while(char::is_whitespace);
            let rest = self.rest();
            let Some((open, close)) = comments.iter().find(|(open, _)| rest.starts_with(open)) else {
                return Ok(());
            };
            let start = self.at;
            match rest[open.len()..].find(close) {
                Some(length) => self.at += open.len() + length + close.len(),
                None => {
                    self.at = self.text.len();
                    return if *close == "\n" { Ok(()) } else { Err(start) };
                }
            }
        }
    }

    /// The name at the cursor, not taken; empty if there is none.
    pub fn word(&self) -> &'t str {
        match self.peek() {
            Some(c) if c.is_alphabetic() || c == '_' => prefix(self.rest(), is_word),
            _ => "",
        }
    }

    /// The number at the cursor, not taken; empty if there is none.
    pub fn digits(&self) -> &'t str {
        prefix(self.rest(), |c| c.is_ascii_digit())
    }

    /// Takes a text between two `quote`s, the cursor being on the first. A backslash protects what follows
    /// it, and is itself no part of the text before a character that is `unescaped`. Nothing is taken where
    /// the second quote is missing.
    pub fn quoted(&mut self, quote: char, unescaped: impl Fn(char) -> bool) -> Option<String> {
        let (mut text, mut protected) = (String::new(), false);
        for (offset, c) in self.rest().char_indices().skip(1) {
            match c {
                '\\' if !protected => {
                    protected = true;
                    continue;
                }
                c if c == quote && !protected => {
                    self.at += offset + c.len_utf8();
                    return Some(text);
                }
                c => {
                    if protected && !unescaped(c) {
                        text.push('\\');
                    }
                    text.push(c);
                }
            }
            protected = false;
        }
        None
    }

    /// Takes everything up to the bracket that closes the one at the cursor; gives what is between.
    ///
    /// # Errors
    /// Brackets do not match.
    pub fn balanced(&mut self) -> Result<&'t str, Diagnostic> {
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
                        return Err(
                            self.error(here..here + 1, format!("`{c}` closes nothing that is open here"))
                        );
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
        Err(self.error(start..start + 1, format!("this `{open}` is never closed")))
    }

    /// The place of the cursor.
    pub fn place(&self) -> Place {
        self.place_of(self.at)
    }

    /// The place of an offset.
    pub fn place_of(&self, offset: usize) -> Place {
        let offset = offset.min(self.text.len());
        let known = self.known.get();
        let (from, mut line, mut column) = if known.0 <= offset { known } else { (0, 1, 1) };
        for c in self.text[from..offset].chars() {
            match c {
                '\n' => (line, column) = (line.saturating_add(1), 1),
                _ => column = column.saturating_add(1),
            }
        }
        self.known.set((offset, line, column));
        Place::new(Arc::clone(&self.file), line, column)
    }

    /// An error about a part of the text.
    pub fn error(&self, part: impl Into<Range<usize>>, message: impl Into<String>) -> Diagnostic {
        let part = part.into();
        let end = part.end.min(self.text.len());
        let length = self.text[part.start.min(end)..end].chars().count();
        Diagnostic::error(message, self.place_of(part.start))
            .spanning(u32::try_from(length).unwrap_or(u32::MAX))
    }
}

fn prefix(text: &str, is: impl Fn(char) -> bool) -> &str {
    &text[..text.find(|c| !is(c)).unwrap_or(text.len())]
}

/// Whether a character may stand within a name.
pub fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_characters_and_may_be_asked_for_in_any_order() {
        let scanner = Scanner::new("f", "äb\n c");
        let at = |offset: usize| (scanner.place_of(offset).line, scanner.place_of(offset).column);
        assert_eq!([at(5), at(0), at(2), at(4), at(99)], [(2, 2), (1, 1), (1, 2), (2, 1), (2, 3)]);
    }

    #[test]
    fn comments_end_with_their_own_end() {
        let comments = [("//", "\n"), ("/*", "*/")];
        let mut scanner = Scanner::new("f", " // x */\n /* // \n */y/*");
        assert_eq!((scanner.skip(&comments), scanner.word()), (Ok(()), "y"));
        scanner.take(1);
        let start = scanner.at;
        assert_eq!((scanner.skip(&comments), scanner.rest()), (Err(start), ""));
        assert_eq!(Scanner::new("f", "// x").skip(&comments), Ok(()));
        assert_eq!(Scanner::new("f", "/*/").skip(&comments), Err(0), "what opens does not close");
    }

    #[test]
    fn a_backslash_protects_a_quote_and_stays_before_everything_else() {
        let mut scanner = Scanner::new("f", r#""a\"b\n\\"c"#);
        assert_eq!(scanner.clone().quoted('"', |c| c == '"').as_deref(), Some(r#"a"b\n\\"#));
        assert_eq!(scanner.quoted('"', |c| c != 'n').as_deref(), Some(r#"a"b\n\"#));
        assert_eq!(scanner.rest(), "c");
        assert_eq!(Scanner::new("f", r#""a\""#).quoted('"', |_| true), None);
    }
}
