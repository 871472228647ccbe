//! Tokens, and the lexer that makes them from one file.
//!
//! The preprocessor works on these tokens, not on text, so each keeps its place. Nothing is an error here: a
//! stray quote in a part that `#if` removes must do no harm, so what is no token becomes [`Tok::Other`] and
//! is complained about when it reaches the parser.

use logos::{Lexer, Logos};

use crate::intern::{Interner, Sym};
use crate::source::At;

/// The kinds of tokens. Keywords are names; their spelling tells them apart.
#[derive(Logos, Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[logos(skip r"[ \t\r\x0b\x0c]+")]
#[logos(skip r"\\\r?\n")]
#[rustfmt::skip]
pub(crate) enum Tok {
    #[token("\n")] Newline,
    #[regex(r"//([^\n\\]|\\\r?\n|\\)*", priority = 20, allow_greedy = true)] LineComment,
    #[token("/*", block_comment)] BlockComment,
    #[token("*/")] StrayCommentEnd,
    #[regex(r"[A-Za-z_][A-Za-z0-9_]*")] Name,
    #[regex(r"[0-9]+")] Number,
    #[regex(r#""([^"\\\n]|\\[^\n]|\\\r?\n)*""#)] Text,
    #[regex(r"'([^'\\\n]|\\[^\n])'")] Char,
    #[token("(")] LParen, #[token(")")] RParen,
    #[token("[")] LBracket, #[token("]")] RBracket,
    #[token("{")] LBrace, #[token("}")] RBrace,
    #[token(";")] Semi, #[token("->")] Arrow, #[token(",")] Comma,
    #[token(".")] Dot, #[token("..")] DotDot, #[token(":")] Colon, #[token("::")] Sep,
    #[token("+")] Plus, #[token("++")] Incr, #[token("-")] Minus, #[token("--")] Decr,
    #[token("*")] Star, #[token("/")] Slash, #[token("%")] Percent,
    #[token("&")] Amp, #[token("&&")] AndAnd, #[token("|")] Pipe, #[token("||")] OrOr,
    #[token("^")] Caret, #[token("~")] Tilde,
    #[token("!")] Bang, #[token("!!")] BangBang, #[token("!=")] NotEq,
    #[token("=")] Assign, #[token("==")] EqEq,
    #[token("<")] Lt, #[token("<=")] Le, #[token("<<")] Shl,
    #[token(">")] Gt, #[token(">=")] Ge, #[token(">>")] Shr,
    #[token("?")] Quest, #[token("??")] QuestQuest,
    #[token("@")] AtSign, #[token("#")] Hash, #[token("##")] HashHash,
    #[token("/\\")] Wedge, #[token("\\/")] Vee,
    /// A comment that never ends.
    Unterminated,
    /// What no token begins with.
    Other,
    Eof,
}

fn block_comment(lexer: &mut Lexer<Tok>) -> Result<(), ()> {
    match lexer.remainder().find("*/") {
        Some(end) => {
            lexer.bump(end + 2);
            Ok(())
        }
        None => {
            lexer.bump(lexer.remainder().len());
            Err(())
        }
    }
}

/// The first token of its line.
pub(crate) const LINE_START: u8 = 1;
/// Something stands between it and the token before.
pub(crate) const SPACE_BEFORE: u8 = 2;
/// The name of a macro that must not be expanded any more.
pub(crate) const PAINTED: u8 = 4;
/// A line ends before it without its being the first of a line in the preprocessor's eyes: after a comment or
/// a macro call of several lines.
pub(crate) const BREAK_BEFORE: u8 = 8;

/// A token.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Token {
    pub tok: Tok,
    pub flags: u8,
    pub sym: Sym,
    pub at: At,
}

impl Token {
    pub(crate) fn starts_line(self) -> bool {
        self.flags & LINE_START != 0
    }

    /// Whether a line ends before it.
    pub(crate) fn follows_break(self) -> bool {
        self.flags & (LINE_START | BREAK_BEFORE) != 0
    }

    /// Whether this is the given keyword or name.
    pub(crate) fn is(self, sym: Sym) -> bool {
        self.tok == Tok::Name && self.sym == sym
    }

    /// Whether nothing stands between this token and the one before it.
    pub(crate) fn is_glued(self) -> bool {
        self.flags & (LINE_START | SPACE_BEFORE) == 0
    }
}

/// Cuts the text of a file into tokens.
pub(crate) fn tokenize(file: u32, text: &str, interner: &mut Interner) -> Vec<Token> {
    let mut tokens = Vec::with_capacity(text.len() / 4 + 1);
    let mut flags = LINE_START;
    let mut end_of_previous = 0;
    let mut lexer = Tok::lexer(text);
    while let Some(result) = lexer.next() {
        let span = lexer.span();
        if span.start != end_of_previous {
            flags |= SPACE_BEFORE;
        }
        end_of_previous = span.end;
        let slice = lexer.slice();
        let tok = match result {
            Ok(Tok::Newline) => {
                flags |= LINE_START;
                continue;
            }
            // SPIN overlooks the end of a comment that is none, as it stands after a comment in a comment.
            Ok(Tok::LineComment | Tok::BlockComment | Tok::StrayCommentEnd) => {
                flags |= SPACE_BEFORE;
                if slice.starts_with("/*") && slice.contains('\n') {
                    flags |= BREAK_BEFORE;
                }
                continue;
            }
            Ok(tok) => tok,
            Err(()) if slice.starts_with("/*") => Tok::Unterminated,
            Err(()) => Tok::Other,
        };
        let spelling = if tok == Tok::Unterminated { "/*" } else { slice };
        let at = At { offset: span.start as u32, file, origin: 0 };
        tokens.push(Token { tok, flags, sym: interner.intern(spelling), at });
        flags = 0;
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spell(text: &str) -> Vec<String> {
        let mut interner = Interner::new();
        let tokens = tokenize(0, text, &mut interner);
        tokens.iter().map(|t| format!("{:?}:{}", t.tok, interner.text(t.sym))).collect()
    }

    #[test]
    fn the_longest_token_wins() {
        let expected = [
            "Name:c",
            "QuestQuest:??",
            "Lt:<",
            "Name:x",
            "Gt:>",
            "Arrow:->",
            "Number:1",
            "DotDot:..",
            "Name:N",
        ];
        assert_eq!(spell("c??<x>->1..N"), expected);
    }

    #[test]
    fn comments_and_spliced_lines_vanish() {
        assert_eq!(spell("/* a /* b */ */ c"), ["Name:c"]);
        assert_eq!(spell("a /* b\n */ // c \\\n d\n \\\n e"), ["Name:a", "Name:e"]);
    }

    #[test]
    fn what_never_ends_is_one_bad_token() {
        assert_eq!(spell("x /* y"), ["Name:x", "Unterminated:/*"]);
        assert_eq!(spell("\"y"), ["Other:\"y"]);
        assert_eq!(spell("don't"), ["Name:don", "Other:'t"]);
    }
}
