//! Where tokens begin and end in a text: the longest one wins, blanks and spliced lines between them are
//! skipped.
//!
//! By hand, because the tokens are few: a generated lexer is as fast, but its generator and the regular
//! expressions that it reads took longer to compile than half of this crate.

use std::ops::Range;

use crate::token::Tok;

/// A token or a comment, and where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Lexeme {
    pub tok: Tok,
    pub span: Range<usize>,
}

/// Gives the lexemes of a text, up to its end.
pub(crate) struct Lexer<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Lexer<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Lexer { text, at: 0 }
    }
}

impl Iterator for Lexer<'_> {
    type Item = Lexeme;

    fn next(&mut self) -> Option<Lexeme> {
        let text = self.text.as_bytes();
        self.at += blanks(&text[self.at..]);
        let start = self.at;
        let first = *text.get(start)?;
        let (tok, length) = token(first, &self.text[start..]);
        self.at += length;
        Some(Lexeme { tok, span: start..self.at })
    }
}

/// The length of what separates tokens.
fn blanks(text: &[u8]) -> usize {
    let mut length = 0;
    loop {
        length += match text[length..] {
            [b' ' | b'\t' | b'\r' | b'\x0b' | b'\x0c', ..] => 1,
            [b'\\', ..] => match splice(&text[length..]) {
                0 => return length,
                splice => splice,
            },
            _ => return length,
        };
    }
}

/// The length of a backslash and the end of its line, or 0.
fn splice(text: &[u8]) -> usize {
    match text {
        [b'\\', b'\n', ..] => 2,
        [b'\\', b'\r', b'\n', ..] => 3,
        _ => 0,
    }
}

/// The token at the beginning of a text that begins so, and its length.
fn token(first: u8, text: &str) -> (Tok, usize) {
    let bytes = text.as_bytes();
    let second = bytes.get(1).copied();
    let run = |is: fn(u8) -> bool| bytes.iter().position(|&b| !is(b)).unwrap_or(bytes.len());
    let pair = |pairs: &[(u8, Tok)], single: Tok| {
        let longer = pairs.iter().find(|(other, _)| second == Some(*other));
        longer.map_or((single, 1), |&(_, tok)| (tok, 2))
    };
    match first {
        b'A'..=b'Z' | b'a'..=b'z' | b'_' => (Tok::Name, run(|b| b.is_ascii_alphanumeric() || b == b'_')),
        b'0'..=b'9' => (Tok::Number, run(|b| b.is_ascii_digit())),
        b'"' => quoted_text(bytes),
        b'\'' => character(text),
        b'/' if second == Some(b'/') => (Tok::LineComment, line_comment(bytes)),
        b'/' if second == Some(b'*') => match text[2..].find("*/") {
            Some(end) => (Tok::BlockComment, end + 4),
            None => (Tok::Unterminated, text.len()),
        },
        b'/' => pair(&[(b'\\', Tok::Wedge)], Tok::Slash),
        b'*' => pair(&[(b'/', Tok::StrayCommentEnd)], Tok::Star),
        b'\\' => pair(&[(b'/', Tok::Vee)], Tok::Other),
        b'\n' => (Tok::Newline, 1),
        b'(' => (Tok::LParen, 1),
        b')' => (Tok::RParen, 1),
        b'[' => (Tok::LBracket, 1),
        b']' => (Tok::RBracket, 1),
        b'{' => (Tok::LBrace, 1),
        b'}' => (Tok::RBrace, 1),
        b';' => (Tok::Semi, 1),
        b',' => (Tok::Comma, 1),
        b'%' => (Tok::Percent, 1),
        b'^' => (Tok::Caret, 1),
        b'~' => (Tok::Tilde, 1),
        b'@' => (Tok::AtSign, 1),
        b'.' => pair(&[(b'.', Tok::DotDot)], Tok::Dot),
        b':' => pair(&[(b':', Tok::Sep)], Tok::Colon),
        b'+' => pair(&[(b'+', Tok::Incr)], Tok::Plus),
        b'-' => pair(&[(b'>', Tok::Arrow), (b'-', Tok::Decr)], Tok::Minus),
        b'&' => pair(&[(b'&', Tok::AndAnd)], Tok::Amp),
        b'|' => pair(&[(b'|', Tok::OrOr)], Tok::Pipe),
        b'!' => pair(&[(b'!', Tok::BangBang), (b'=', Tok::NotEq)], Tok::Bang),
        b'=' => pair(&[(b'=', Tok::EqEq)], Tok::Assign),
        b'<' => pair(&[(b'=', Tok::Le), (b'<', Tok::Shl)], Tok::Lt),
        b'>' => pair(&[(b'=', Tok::Ge), (b'>', Tok::Shr)], Tok::Gt),
        b'?' => pair(&[(b'?', Tok::QuestQuest)], Tok::Quest),
        b'#' => pair(&[(b'#', Tok::HashHash)], Tok::Hash),
        _ => (Tok::Other, text.chars().next().map_or(1, char::len_utf8)),
    }
}

/// The length of a comment that ends with its line, which may be spliced.
fn line_comment(text: &[u8]) -> usize {
    let mut length = 2;
    loop {
        length += match text.get(length) {
            None | Some(b'\n') => return length,
            Some(b'\\') => splice(&text[length..]).max(1),
            Some(_) => 1,
        };
    }
}

/// A text in double quotes. One that does not end in its line is no token.
fn quoted_text(text: &[u8]) -> (Tok, usize) {
    let mut length = 1;
    loop {
        length += match text[length..] {
            [b'"', ..] => return (Tok::Text, length + 1),
            [] | [b'\n', ..] => return (Tok::Other, length),
            [b'\\'] => return (Tok::Other, length + 1),
            [b'\\', ..] => splice(&text[length..]).max(2),
            _ => 1,
        };
    }
}

/// A character in single quotes, which a backslash may precede.
fn character(text: &str) -> (Tok, usize) {
    let bytes = text.as_bytes();
    let escape = usize::from(bytes.get(1) == Some(&b'\\'));
    let inside = text[1 + escape..].chars().next().filter(|&c| c != '\n' && (escape == 1 || c != '\''));
    let length = 1 + escape + inside.map_or(0, char::len_utf8);
    match bytes.get(length) {
        Some(b'\'') if inside.is_some() => (Tok::Char, length + 1),
        _ => (Tok::Other, length),
    }
}

#[cfg(test)]
mod tests {
    use volee_system::Random;

    use super::*;

    fn lexemes(text: &str) -> Vec<(Tok, &str)> {
        Lexer::new(text).map(|lexeme| (lexeme.tok, &text[lexeme.span])).collect()
    }

    #[test]
    fn the_longest_operator_wins() {
        use Tok::*;
        let text = "-->->=>>>!!!=/\\\\/..:::*/";
        let expected = [
            (Decr, "--"),
            (Gt, ">"),
            (Arrow, "->"),
            (Assign, "="),
            (Shr, ">>"),
            (Gt, ">"),
            (BangBang, "!!"),
            (NotEq, "!="),
            (Wedge, "/\\"),
            (Vee, "\\/"),
            (DotDot, ".."),
            (Sep, "::"),
            (Colon, ":"),
            (StrayCommentEnd, "*/"),
        ];
        assert_eq!(lexemes(text), expected);
    }

    #[test]
    fn comments_and_texts_go_on_in_spliced_lines() {
        assert_eq!(lexemes("// a \\\r\n b\\c\nd")[0], (Tok::LineComment, "// a \\\r\n b\\c"));
        assert_eq!(lexemes("\"a \\\n \\\" \\\r\n b\" c")[0], (Tok::Text, "\"a \\\n \\\" \\\r\n b\""));
        assert_eq!(lexemes("a\\\r\n\\\nb"), [(Tok::Name, "a"), (Tok::Name, "b")]);
        assert_eq!(lexemes("/*/ x */y"), [(Tok::BlockComment, "/*/ x */"), (Tok::Name, "y")]);
    }

    #[test]
    fn characters_are_one_character() {
        for text in ["'a'", "'é'", "'\\''", "'\\n'", "'\\é'", "'\"'"] {
            assert_eq!(lexemes(text), [(Tok::Char, text)]);
        }
        assert_eq!(lexemes("''"), [(Tok::Other, "'"), (Tok::Other, "'")]);
        assert_eq!(lexemes("'ab'")[0], (Tok::Other, "'a"));
        assert_eq!(lexemes("'\n")[0], (Tok::Other, "'"));
    }

    /// Whatever the text, what is between lexemes is blank, and they come to its end.
    #[test]
    fn lexemes_cover_the_text() {
        let pieces = [
            "\\",
            "\n",
            "\r",
            "\"",
            "'",
            "/",
            "*",
            "é",
            "a",
            "1",
            "-",
            ">",
            ".",
            " ",
            "\u{10348}",
            "\0",
            "$",
        ];
        let mut numbers = Random::new(7);
        for _ in 0..20_000 {
            let text: String = (0..12).map(|_| *numbers.pick(&pieces)).collect();
            let mut end = 0;
            for Lexeme { span, .. } in Lexer::new(&text) {
                assert!(span.start < span.end, "{text:?}");
                assert_eq!(blanks(&text.as_bytes()[end..span.start]), span.start - end, "{text:?}");
                end = span.end;
            }
            assert_eq!(blanks(&text.as_bytes()[end..]), text.len() - end, "{text:?}");
        }
    }
}
