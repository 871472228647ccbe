//! Spaces inside a line: what stands between two tokens depends on both and, for `-`, `!`, `?`, `<`, on what
//! the first is part of.

use logos::Logos;

use super::pieces::Piece;
use crate::token::Tok;

/// What was written last, as far as the next space depends on it.
#[derive(Default)]
pub(super) struct Spacing {
    last: Option<Last>,
    /// How many braces of an `ltl` block are open: formulas keep their spaces.
    formula: usize,
    /// An `ltl` stands before the brace that comes.
    in_formula_head: bool,
    /// The word that decides what a brace opens: `of`, `mtype`, `typedef`, or none.
    list_word: bool,
    /// Inside `c?<…>`.
    keep: bool,
}

struct Last {
    tok: Tok,
    text: String,
    /// It stands before its operand, or opens something: nothing comes between.
    prefix: bool,
    /// It is the `>` of `c?<x>`, which is no operator.
    closes: bool,
    is_keyword: bool,
}

/// Operators that stand between two operands and nowhere else.
pub(super) fn is_infix(tok: Tok) -> bool {
    matches!(
        tok,
        Tok::Plus
            | Tok::Star
            | Tok::Slash
            | Tok::Percent
            | Tok::Amp
            | Tok::AndAnd
            | Tok::Pipe
            | Tok::OrOr
            | Tok::Caret
            | Tok::NotEq
            | Tok::EqEq
            | Tok::Lt
            | Tok::Le
            | Tok::Shl
            | Tok::Gt
            | Tok::Ge
            | Tok::Shr
            | Tok::Assign
            | Tok::DotDot
            | Tok::Wedge
            | Tok::Vee
    )
}

/// Whether a space stands between a comment and a token behind it.
pub(super) fn stands_apart(piece: &Piece) -> bool {
    use super::pieces::Kind;
    !matches!(piece.kind, Kind::Token(Tok::Semi | Tok::Comma | Tok::RParen | Tok::RBracket))
}

/// Keywords that a parenthesis follows like the name of a function.
const CALLS: &[&str] = &[
    "assert",
    "printf",
    "printm",
    "len",
    "full",
    "empty",
    "nfull",
    "nempty",
    "enabled",
    "eval",
    "pc_value",
    "get_priority",
    "set_priority",
];

impl Spacing {
    /// Forgets what came before a directive.
    pub(super) fn restart(&mut self) {
        self.last = None;
    }

    /// Whether the token just written opens a block or a choice.
    pub(super) fn after_open(&self) -> bool {
        self.last.as_ref().is_some_and(|l| l.tok == Tok::LBrace || l.text == "if" || l.text == "do")
    }

    /// Whether the brace that comes opens a list of names, types, fields or values, or a formula.
    pub(super) fn opens_list(&self) -> bool {
        self.list_word || self.in_formula_head || self.last.as_ref().is_some_and(|l| l.tok == Tok::Assign)
    }

    /// Whether what comes goes on with what stands there.
    pub(super) fn continues(&self) -> bool {
        self.last.as_ref().is_some_and(|l| is_infix(l.tok) && !l.closes || l.tok == Tok::Minus)
    }

    /// Whether a space stands before a token.
    pub(super) fn between(&self, next: &Piece) -> bool {
        let Some(last) = &self.last else { return false };
        let super::pieces::Kind::Token(tok) = next.kind else { return true };
        let wanted = match self.formula > 0 {
            true => next.space_before,
            false => self.wanted(last, tok, next),
        };
        wanted || clash(&last.text, next.text)
    }

    fn wanted(&self, last: &Last, tok: Tok, next: &Piece) -> bool {
        if last.tok == Tok::Colon || tok == Tok::Colon && !matches!(last.tok, Tok::Name) {
            return next.space_before;
        }
        if tok == Tok::Colon {
            return next.space_before && !next.ends_line;
        }
        // `<->` is one operator to a formula, and two tokens.
        if tok == Tok::Arrow && last.tok == Tok::Lt {
            return next.space_before;
        }
        if matches!(
            tok,
            Tok::RParen
                | Tok::RBracket
                | Tok::Comma
                | Tok::Semi
                | Tok::Dot
                | Tok::AtSign
                | Tok::Incr
                | Tok::Decr
        ) {
            return false;
        }
        if matches!(last.tok, Tok::LParen | Tok::LBracket | Tok::Dot | Tok::AtSign) || last.prefix {
            return false;
        }
        match tok {
            Tok::LParen => {
                !(last.tok == Tok::Name && (!last.is_keyword || CALLS.contains(&&*last.text)))
                    && last.tok != Tok::RBracket
            }
            Tok::LBracket => last.is_keyword || !matches!(last.tok, Tok::Name | Tok::RBracket | Tok::RParen),
            Tok::Bang | Tok::BangBang | Tok::Quest | Tok::QuestQuest => !is_operand(last),
            Tok::Gt if self.keep => false,
            _ => true,
        }
    }

    /// Notes that a token was written.
    pub(super) fn take(&mut self, piece: &Piece, tok: Tok) {
        let operand = self.last.as_ref().is_some_and(is_operand);
        let starts_line = piece.lines_before > 0;
        let after_receive = matches!(self.last.as_ref().map(|l| l.tok), Some(Tok::Quest | Tok::QuestQuest));
        let closes = tok == Tok::Gt && std::mem::take(&mut self.keep);
        let prefix = match tok {
            Tok::Minus | Tok::Tilde => !operand || starts_line,
            Tok::Bang | Tok::BangBang | Tok::Quest | Tok::QuestQuest => true,
            Tok::Lt if after_receive => {
                self.keep = true;
                true
            }
            _ => false,
        };
        match tok {
            Tok::Semi | Tok::Arrow | Tok::LBrace | Tok::RBrace => self.keep = false,
            _ => {}
        }
        self.braces(piece, tok);
        let is_keyword = tok == Tok::Name && crate::words::KEYWORDS.contains(&piece.text);
        self.last = Some(Last { tok, text: piece.text.to_owned(), prefix, closes, is_keyword });
    }

    fn braces(&mut self, piece: &Piece, tok: Tok) {
        match tok {
            Tok::Name if piece.text == "ltl" => self.in_formula_head = true,
            Tok::Name if piece.text == "of" || piece.text == "mtype" || piece.text == "typedef" => {
                self.list_word = true
            }
            Tok::LBrace => {
                if std::mem::take(&mut self.in_formula_head) || self.formula > 0 {
                    self.formula += 1;
                }
                self.list_word = false;
            }
            Tok::RBrace => self.formula = self.formula.saturating_sub(1),
            Tok::Semi | Tok::LParen => (self.list_word, self.in_formula_head) = (false, false),
            _ => {}
        }
    }
}

fn is_operand(last: &Last) -> bool {
    match last.tok {
        Tok::Name => !last.is_keyword || ["true", "false", "skip", "timeout", "np_"].contains(&&*last.text),
        Tok::Number | Tok::Char | Tok::Text | Tok::RParen | Tok::RBracket => true,
        _ => false,
    }
}

/// Whether two spellings without a space between them would be read as something else.
fn clash(first: &str, second: &str) -> bool {
    let joined = format!("{first}{second}");
    let mut lexer = Tok::lexer(&joined);
    let first_is = lexer.next().is_some_and(|t| t.is_ok()) && lexer.span() == (0..first.len());
    !(first_is && lexer.next().is_some_and(|t| t.is_ok()) && lexer.span() == (first.len()..joined.len()))
}
