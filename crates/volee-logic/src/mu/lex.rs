//! Tokens of the mu-calculus.
//!
//! Written by hand because two tokens are raw text: `/regex/` and `{state predicate}`; the latter belongs to
//! the system's own expression language and must reach it untouched.

use volee_system::{Diagnostic, Place, Scanner};

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
    let mut text = Scanner::new(file, text);
    let (mut tokens, mut errors) = (Vec::new(), Vec::new());
    while tokens.last().is_none_or(|last: &Spanned| last.token != Token::End) {
        match next(&mut text) {
            Ok(token) => tokens.push(token),
            Err(error) => errors.push(error),
        }
    }
    if errors.is_empty() { Ok(tokens) } else { Err(errors) }
}

fn next(text: &mut Scanner<'_>) -> Result<Spanned, Diagnostic> {
    text.skip(&[("--", "\n"), ("(*", "*)")])
        .map_err(|start| text.error(start..start + 2, "this comment is never closed with `*)`"))?;
    let (start, place) = (text.at, text.place());
    let token = token(text)?;
    let length = text.text[start..text.at].chars().count() as u32;
    Ok(Spanned { token, span: Span { place, length } })
}

fn token(text: &mut Scanner<'_>) -> Result<Token, Diagnostic> {
    let Some(first) = text.peek() else { return Ok(Token::End) };
    let word = text.word();
    if !word.is_empty() {
        return Ok(Token::Word(text.take(word.len()).into()));
    }
    match first {
        '"' | '/' | '\'' => {
            // Only the delimiter is unescaped, so that a label is written as it is listed.
            let quoted = text.quoted(first, |c| c == first);
            let quoted =
                quoted.ok_or_else(|| unclosed(text, format!("this text is never closed with `{first}`")))?;
            Ok(if first == '"' { Token::Label(quoted) } else { Token::Pattern(quoted) })
        }
        '{' => braces(text),
        _ => match text.symbol(&MARKS) {
            Some(mark) => Ok(Token::Mark(mark)),
            None => Err(meaningless(text, first)),
        },
    }
}

fn braces(text: &mut Scanner<'_>) -> Result<Token, Diagnostic> {
    let mut depth = 0u32;
    for (at, c) in text.rest().char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Ok(Token::Braces(text.take(at + 1)[1..at].to_string()));
        }
    }
    Err(unclosed(text, "this state predicate is never closed with `}`".into()))
}

/// An error about what has no end; nothing more can be read.
fn unclosed(text: &mut Scanner<'_>, message: String) -> Diagnostic {
    let start = text.at;
    text.at = text.text.len();
    text.error(start..start + 1, message)
}

fn meaningless(text: &mut Scanner<'_>, first: char) -> Diagnostic {
    let start = text.at;
    text.take(first.len_utf8());
    let error = text.error(start..text.at, format!("`{first}` means nothing in a formula"));
    match first {
        '0'..='9' | '=' | '!' | '%' => {
            error.with_help("a condition on the model's variables stands in braces, as in AG {x < 3}")
        }
        _ => error,
    }
}
