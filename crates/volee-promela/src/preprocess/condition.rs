//! The conditions of `#if`, `#elif`, `#ifdef` and `#ifndef`.
//!
//! Values are 64-bit integers; an unknown name is 0, as in C.

use super::Preprocessor;
use crate::intern::kw;
use crate::limits::MAX_MACRO_NESTING;
use crate::parse::binary;
use crate::source::{Advice, At};
use crate::token::{Tok, Token};

impl Preprocessor<'_> {
    /// Whether the condition of a directive holds; with a message if it makes no sense.
    pub(super) fn condition(&mut self, word: Token, rest: &[Token]) -> bool {
        if word.sym == kw::IFDEF || word.sym == kw::IFNDEF {
            let Some(name) = rest.first().filter(|t| t.tok == Tok::Name) else {
                let text = self.interner.text(word.sym).to_owned();
                self.sources.error(word.at, text.len(), format!("`#{text}` needs the name of a macro"));
                return false;
            };
            self.mention(*name);
            return self.macros.contains_key(&name.sym) == (word.sym == kw::IFDEF);
        }
        let Some(line) = self.answer_defined(word, rest) else { return false };
        let tokens = self.expand_line(&line);
        let mut evaluation = Evaluation { tokens: &tokens, position: 0, depth: 0, end: word.at };
        let result = evaluation.binary(0, self).and_then(|value| match evaluation.peek() {
            None => Ok(value),
            Some(token) => Err((token.at, "the condition should end here")),
        });
        match result {
            Ok(value) => value != 0,
            Err((at, message)) => {
                self.sources
                    .error(at, 1, message)
                    .advise("a condition has numbers, macros, `defined` and operators");
                false
            }
        }
    }

    /// Replaces `defined X` and `defined(X)`, which must happen before macros are expanded.
    fn answer_defined(&mut self, word: Token, line: &[Token]) -> Option<Vec<Token>> {
        let mut result = Vec::with_capacity(line.len());
        let mut position = 0;
        while position < line.len() {
            let token = line[position];
            if !token.is(kw::DEFINED) {
                result.push(token);
                position += 1;
                continue;
            }
            let closed = line.get(position + 1).is_some_and(|t| t.tok == Tok::LParen);
            let name = line.get(position + 1 + usize::from(closed)).filter(|t| t.tok == Tok::Name);
            let ends = !closed || line.get(position + 3).is_some_and(|t| t.tok == Tok::RParen);
            let (Some(name), true) = (name, ends) else {
                self.sources.error(word.at, 0, "`defined` needs the name of a macro");
                return None;
            };
            self.mention(*name);
            let answer = if self.macros.contains_key(&name.sym) { "1" } else { "0" };
            result.push(Token { tok: Tok::Number, sym: self.interner.intern(answer), ..token });
            position += if closed { 4 } else { 2 };
        }
        Some(result)
    }
}

type Value = Result<i64, (At, &'static str)>;

/// How tightly `?` binds: looser than all other operators.
const CHOICE: u8 = 1;

/// A condition being evaluated.
struct Evaluation<'t> {
    tokens: &'t [Token],
    position: usize,
    depth: usize,
    end: At,
}

impl Evaluation<'_> {
    fn peek(&self) -> Option<Token> {
        self.tokens.get(self.position).copied()
    }

    fn here(&self) -> At {
        self.peek().map_or(self.end, |t| t.at)
    }

    /// An expression of operators that bind at least as tightly as `least`.
    fn binary(&mut self, least: u8, pre: &Preprocessor) -> Value {
        self.depth += 1;
        if self.depth > MAX_MACRO_NESTING {
            return Err((self.here(), "this condition nests too deeply"));
        }
        let mut left = self.unary(pre)?;
        while let Some(token) = self.peek() {
            if token.tok == Tok::Quest && least <= CHOICE {
                self.position += 1;
                let yes = self.binary(0, pre)?;
                if self.peek().is_none_or(|t| t.tok != Tok::Colon) {
                    return Err((self.here(), "`:` is missing after `?`"));
                }
                self.position += 1;
                let no = self.binary(CHOICE, pre)?;
                left = if left != 0 { yes } else { no };
                continue;
            }
            let Some((op, strength)) = binary(token.tok).filter(|(_, strength)| *strength >= least) else {
                break;
            };
            self.position += 1;
            let right = self.binary(strength + 1, pre)?;
            left = op.apply_exactly(left, right).ok_or((token.at, "division by zero, or an overflow"))?;
        }
        self.depth -= 1;
        Ok(left)
    }

    fn unary(&mut self, pre: &Preprocessor) -> Value {
        let mut pending = Vec::new();
        loop {
            let Some(token) = self.peek() else { return Err((self.end, "a value is missing here")) };
            self.position += 1;
            let mut value = match token.tok {
                Tok::Bang | Tok::Minus | Tok::Tilde | Tok::Plus => {
                    pending.push(token.tok);
                    continue;
                }
                Tok::LParen => {
                    let value = self.binary(0, pre)?;
                    if self.peek().is_none_or(|t| t.tok != Tok::RParen) {
                        return Err((self.here(), "`)` is missing here"));
                    }
                    self.position += 1;
                    value
                }
                Tok::Number => pre.interner.text(token.sym).parse().unwrap_or(i64::MAX),
                Tok::Char => pre.interner.text(token.sym).as_bytes().get(1).map_or(0, |&b| i64::from(b)),
                Tok::Name => 0,
                _ => return Err((token.at, "a value is missing here")),
            };
            for operator in pending.into_iter().rev() {
                value = match operator {
                    Tok::Bang => i64::from(value == 0),
                    Tok::Minus => value.wrapping_neg(),
                    Tok::Tilde => !value,
                    _ => value,
                };
            }
            return Ok(value);
        }
    }
}
