//! Tokens of the mu-calculus.
//!
//! Written by hand because two tokens are raw text: `/regex/` and `{state predicate}`; the latter belongs to the
//! system's own expression language and must reach it untouched.

use std::sync::Arc;

use volee_system::{Diagnostic, Place};

/// Where a token stands: its first character and how many it has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Span {
    pub place: Place,
    pub length: u32,
}

impl Span {
    pub fn error(&self, message: impl Into<String>) -> Diagnostic {
        Diagnostic::error(message, self.place.clone()).spanning(self.length)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    /// A word: keyword, variable, macro or parameter.
    Word(String),
    /// `"label"`, without its quotes.
    Label(String),
    /// `/regex/` or `'regex'`, without its delimiters.
    Pattern(String),
    /// `{text}`, without its braces.
    Braces(String),
    /// Punctuation.
    Mark(&'static str),
    /// The end of the text.
    End,
}

impl Token {
    pub fn describe(&self) -> String {
        match self {
            Token::Word(word) => format!("`{word}`"),
            Token::Label(text) => format!("the label \"{text}\""),
            Token::Pattern(text) => format!("the pattern /{text}/"),
            Token::Braces(text) => format!("`{{{text}}}`"),
            Token::Mark(mark) => format!("`{mark}`"),
            Token::End => "the end of the formula".into(),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Spanned {
    pub token: Token,
    pub span: Span,
}

/// Longest first, so that the first match is the right one.
const MARKS: [&str; 19] =
    ["=>", "&&", "||", "(", ")", "<", ">", "[", "]", ".", ",", "|", "*", "+", "?", "!", "@", "=", "&"];

/// Splits a text into tokens; the last one is always [`Token::End`].
pub(super) fn lex(file: &str, text: &str) -> Result<Vec<Spanned>, Vec<Diagnostic>> {
    let mut lexer = Lexer { file: file.into(), rest: text, line: 1, column: 1 };
    let mut tokens = Vec::new();
    let mut errors = Vec::new();
    loop {
        match lexer.next() {
            Ok(token) => {
                let end = token.token == Token::End;
                tokens.push(token);
                if end {
                    break;
                }
            }
            Err(error) => errors.push(error),
        }
    }
    if errors.is_empty() { Ok(tokens) } else { Err(errors) }
}

struct Lexer<'a> {
    file: Arc<str>,
    rest: &'a str,
    line: u32,
    column: u32,
}

impl Lexer<'_> {
    fn place(&self) -> Place {
        Place::new(self.file.clone(), self.line, self.column)
    }

    /// Takes `bytes` bytes of the text and counts lines and columns.
    fn take(&mut self, bytes: usize) -> (String, u32) {
        let (taken, rest) = self.rest.split_at(bytes);
        self.rest = rest;
        let mut characters = 0;
        for c in taken.chars() {
            characters += 1;
            if c == '\n' {
                self.line = self.line.saturating_add(1);
                self.column = 1;
            } else {
                self.column = self.column.saturating_add(1);
            }
        }
        (taken.into(), characters)
    }

    fn skip_blanks(&mut self) -> Result<(), Diagnostic> {
        loop {
            let blanks = self.rest.len() - self.rest.trim_start().len();
            self.take(blanks);
            if self.rest.starts_with("--") {
                let end = self.rest.find('\n').unwrap_or(self.rest.len());
                self.take(end);
            } else if self.rest.starts_with("(*") {
                let place = self.place();
                match self.rest.find("*)") {
                    Some(end) => {
                        self.take(end + 2);
                    }
                    None => {
                        self.take(self.rest.len());
                        return Err(
                            Diagnostic::error("this comment is never closed with `*)`", place).spanning(2)
                        );
                    }
                }
            } else {
                return Ok(());
            }
        }
    }

    fn next(&mut self) -> Result<Spanned, Diagnostic> {
        self.skip_blanks()?;
        let place = self.place();
        let Some(first) = self.rest.chars().next() else {
            return Ok(Spanned { token: Token::End, span: Span { place, length: 0 } });
        };
        if first.is_alphabetic() || first == '_' {
            let end = self.rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(self.rest.len());
            let (word, length) = self.take(end);
            return Ok(Spanned { token: Token::Word(word), span: Span { place, length } });
        }
        match first {
            '"' | '/' | '\'' => self.quoted(first, place),
            '{' => self.braces(place),
            _ => {
                if let Some(mark) = MARKS.iter().find(|mark| self.rest.starts_with(**mark)) {
                    let (_, length) = self.take(mark.len());
                    return Ok(Spanned { token: Token::Mark(mark), span: Span { place, length } });
                }
                self.take(first.len_utf8());
                let error =
                    Diagnostic::error(format!("`{first}` means nothing in a formula"), place).spanning(1);
                Err(match first {
                    '0'..='9' | '=' | '!' | '%' => error
                        .with_help("a condition on the model's variables stands in braces, as in AG {x < 3}"),
                    _ => error,
                })
            }
        }
    }

    /// A label or pattern; a backslash keeps the delimiter from ending it. In labels `\"` and `\\` are unescaped, in
    /// patterns only the delimiter is.
    fn quoted(&mut self, quote: char, place: Place) -> Result<Spanned, Diagnostic> {
        let mut text = String::new();
        let mut escaped = false;
        for (at, c) in self.rest.char_indices().skip(1) {
            if escaped {
                if c != quote && !(quote == '"' && c == '\\') {
                    text.push('\\');
                }
                text.push(c);
                escaped = false;
            } else if c == '\\' {
                escaped = true;
            } else if c == quote {
                let (_, length) = self.take(at + 1);
                let token = if quote == '"' { Token::Label(text) } else { Token::Pattern(text) };
                return Ok(Spanned { token, span: Span { place, length } });
            } else {
                text.push(c);
            }
        }
        self.take(self.rest.len());
        Err(Diagnostic::error(format!("this text is never closed with `{quote}`"), place).spanning(1))
    }

    fn braces(&mut self, place: Place) -> Result<Spanned, Diagnostic> {
        let mut depth = 0u32;
        for (at, c) in self.rest.char_indices() {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                let (text, length) = self.take(at + 1);
                let inner = text[1..text.len() - 1].to_string();
                return Ok(Spanned { token: Token::Braces(inner), span: Span { place, length } });
            }
        }
        self.take(self.rest.len());
        Err(Diagnostic::error("this state predicate is never closed with `}`", place).spanning(1))
    }
}
