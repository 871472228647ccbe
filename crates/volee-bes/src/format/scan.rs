//! Words, numbers, quoted texts and single marks, with their places.

use std::sync::Arc;

use volee_system::{Diagnostic, Place};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token<'t> {
    Word(&'t str),
    Quoted(&'t str),
    Mark(char),
    End,
}

pub(super) struct Scanner<'t> {
    file: Arc<str>,
    rest: &'t str,
    line: u32,
    column: u32,
    /// The token that was looked at, and where it stands.
    ahead: Option<(Token<'t>, Place)>,
}

impl<'t> Scanner<'t> {
    pub fn new(file: &str, text: &'t str) -> Self {
        Scanner { file: file.into(), rest: text, line: 1, column: 1, ahead: None }
    }

    pub fn peek(&mut self) -> Token<'t> {
        if self.ahead.is_none() {
            self.ahead = Some(self.scan());
        }
        self.ahead.as_ref().map_or(Token::End, |(token, _)| *token)
    }

    pub fn next(&mut self) -> Token<'t> {
        let token = self.peek();
        self.ahead = None;
        token
    }

    /// The place of the token that comes next.
    pub fn place(&mut self) -> Place {
        self.peek();
        self.ahead.as_ref().map_or_else(|| self.here(), |(_, place)| place.clone())
    }

    pub fn unexpected(&mut self, wanted: &str) -> Diagnostic {
        let place = self.place();
        let found = match self.peek() {
            Token::Word(word) => format!("`{}`", word.chars().take(40).collect::<String>()),
            Token::Quoted(_) => "a quoted text".into(),
            Token::Mark(mark) => format!("`{mark}`"),
            Token::End => "the end of the file".into(),
        };
        Diagnostic::error(format!("expected {wanted}, found {found}"), place)
    }

    pub fn expect(&mut self, mark: char) -> Result<(), Diagnostic> {
        if self.peek() != Token::Mark(mark) {
            return Err(self.unexpected(&format!("`{mark}`")));
        }
        self.next();
        Ok(())
    }

    pub fn word(&mut self, what: &str) -> Result<&'t str, Diagnostic> {
        match self.peek() {
            Token::Word(word) => {
                self.next();
                Ok(word)
            }
            _ => Err(self.unexpected(what)),
        }
    }

    pub fn number(&mut self, what: &str) -> Result<u32, Diagnostic> {
        let place = self.place();
        let word = self.word(what)?;
        word.parse().map_err(|_| {
            let shown: String = word.chars().take(40).collect();
            Diagnostic::error(format!("`{shown}` is not {what}: a number from 0 to {}", u32::MAX), place)
        })
    }

    fn here(&self) -> Place {
        Place::new(self.file.clone(), self.line, self.column)
    }

    fn take(&mut self, bytes: usize) -> &'t str {
        let (taken, rest) = self.rest.split_at(bytes);
        self.rest = rest;
        for c in taken.chars() {
            if c == '\n' {
                self.line = self.line.saturating_add(1);
                self.column = 1;
            } else {
                self.column = self.column.saturating_add(1);
            }
        }
        taken
    }

    fn scan(&mut self) -> (Token<'t>, Place) {
        loop {
            let blanks = self.rest.len() - self.rest.trim_start().len();
            self.take(blanks);
            if !self.rest.starts_with("--") {
                break;
            }
            let end = self.rest.find('\n').unwrap_or(self.rest.len());
            self.take(end);
        }
        let place = self.here();
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let token = match self.rest.chars().next() {
            None => Token::End,
            Some(c) if is_word(c) => {
                let end = self.rest.find(|c| !is_word(c)).unwrap_or(self.rest.len());
                Token::Word(self.take(end))
            }
            Some('"') => {
                let end = self.rest[1..].find('"').map_or(self.rest.len(), |at| at + 2);
                Token::Quoted(self.take(end).trim_matches('"'))
            }
            Some(c) => {
                self.take(c.len_utf8());
                Token::Mark(c)
            }
        };
        (token, place)
    }
}
