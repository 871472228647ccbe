//! The pieces of a text for the formatter: tokens, comments, whole directives, each with the line ends before
//! it.

use logos::Logos;
use volee_system::Diagnostic;

use super::place;
use crate::token::Tok;

/// How wide a tab is in a text that somebody else wrote.
pub(super) const TAB: usize = 8;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Token(Tok),
    LineComment,
    BlockComment,
    /// `#define …` with all its lines.
    Directive,
}

#[derive(Debug, Clone)]
pub(super) struct Piece<'t> {
    pub kind: Kind,
    pub text: &'t str,
    pub lines_before: usize,
    pub space_before: bool,
    /// Whether nothing follows it in its line.
    pub ends_line: bool,
    /// The column it begins at.
    pub column: usize,
}

impl Piece<'_> {
    pub(super) fn is(&self, word: &str) -> bool {
        self.kind == Kind::Token(Tok::Name) && self.text == word
    }
}

/// The column behind a piece of a line.
pub(super) fn columns(text: &str, tab: usize) -> usize {
    text.chars().fold(0, |column, c| if c == '\t' { (column / tab + 1) * tab } else { column + 1 })
}

/// Cuts a text into pieces.
pub(super) fn cut<'t>(file: &str, text: &'t str) -> Result<Vec<Piece<'t>>, Diagnostic> {
    let refuse = |at: usize, message: &str| {
        Err(Diagnostic::error(message, place(file, text, at))
            .with_help("repair it first; the text is left as it is"))
    };
    let mut pieces: Vec<Piece> = Vec::new();
    let (mut position, mut lines, mut fresh) = (0, 0, true);
    while position < text.len() {
        let rest = &text[position..];
        let start = position;
        if fresh && rest.trim_start_matches([' ', '\t', '\x0b', '\x0c', '\r']).starts_with('#') {
            let skipped = rest.len() - rest.trim_start_matches([' ', '\t', '\x0b', '\x0c', '\r']).len();
            let end = position + dropped_end(rest).unwrap_or_else(|| directive_end(rest));
            let directive = text[position + skipped..end].trim_end();
            pieces.push(Piece {
                kind: Kind::Directive,
                text: directive,
                lines_before: lines,
                space_before: true,
                ends_line: true,
                column: 0,
            });
            (position, lines) = (end, 0);
            continue;
        }
        let mut lexer = Tok::lexer(rest);
        let Some(result) = lexer.next() else {
            if rest.contains('\\') {
                return refuse(start, "a line that goes on in the next cannot be formatted");
            }
            break;
        };
        let span = lexer.span();
        if rest[..span.start].contains('\\') {
            return refuse(start, "a line that goes on in the next cannot be formatted");
        }
        let at = position + span.start;
        position += span.end;
        let slice = &text[at..position];
        let kind = match result {
            Ok(Tok::Newline) => {
                lines += 1;
                fresh = true;
                continue;
            }
            Ok(Tok::LineComment) => Kind::LineComment,
            Ok(Tok::BlockComment) => Kind::BlockComment,
            Ok(Tok::StrayCommentEnd) => return refuse(at, "the end of a comment without its beginning"),
            Ok(tok) => Kind::Token(tok),
            Err(()) => return refuse(at, "this is not a token of Promela"),
        };
        let line_start = text[..at].rfind('\n').map_or(0, |i| i + 1);
        let after = &text[position..];
        let ends_line = after.trim_start_matches([' ', '\t', '\r']).is_empty()
            || after.trim_start_matches([' ', '\t', '\r']).starts_with('\n');
        pieces.push(Piece {
            kind,
            text: slice,
            lines_before: lines,
            space_before: span.start > 0 || lines > 0,
            ends_line,
            column: columns(&text[line_start..at], TAB),
        });
        // A directive may follow a comment at the beginning of its line.
        fresh &= kind == Kind::BlockComment;
        lines = 0;
    }
    Ok(pieces)
}

/// How long a part is that `#if 0` takes out: it may be anything, so it stays as it is.
fn dropped_end(text: &str) -> Option<usize> {
    let word = |line: &str| line.trim_start().strip_prefix('#').map(|rest| rest.trim_start().to_owned());
    let first = word(text.lines().next()?)?;
    if first.split_whitespace().collect::<Vec<_>>() != ["if", "0"] {
        return None;
    }
    let (mut depth, mut end) = (0usize, 0);
    for line in text.split_inclusive('\n') {
        end += line.len();
        match word(line) {
            Some(directive) if directive.starts_with("if") => depth += 1,
            Some(directive) if directive.starts_with("el") && depth == 1 => {
                return Some(text[..end - line.len()].trim_end_matches(['\n', '\r']).len());
            }
            Some(directive) if directive.starts_with("endif") => {
                depth -= 1;
                if depth == 0 {
                    return Some(end - line.len() + line.trim_end_matches(['\n', '\r']).len());
                }
            }
            _ => {}
        }
    }
    None
}

/// How long a directive is: to the end of its line, over continued lines and comments that go on.
fn directive_end(text: &str) -> usize {
    let bytes = text.as_bytes();
    let (mut i, mut quote) = (0, None);
    while i < bytes.len() {
        match (bytes[i], quote) {
            (b'\\', _) => {
                i += 1 + usize::from(bytes.get(i + 1) == Some(&b'\r'));
            }
            (b'\n', _) => return i,
            (b'/', None) if bytes.get(i + 1) == Some(&b'*') => {
                i = text[i + 2..].find("*/").map_or(bytes.len(), |end| i + 2 + end + 1);
            }
            (b'/', None) if bytes.get(i + 1) == Some(&b'/') => {
                // A comment ends with its line, unless that goes on.
                while i < bytes.len() && bytes[i] != b'\n' {
                    i += 1 + usize::from(bytes[i] == b'\\');
                }
                return i.min(bytes.len());
            }
            (b'"', None) => quote = Some(b'"'),
            (b'"', Some(_)) => quote = None,
            _ => {}
        }
        i += 1;
    }
    bytes.len()
}
