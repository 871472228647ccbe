//! Inlines: definitions, and calls expanded in place.
//!
//! An inline is text with parameters. A call is replaced by the tokens of the body with the tokens of the
//! arguments in place of the parameters, and parsed there and then. Tokens stand where they stand in the body
//! (arguments where their parameter stands) and remember the call. In `x = f(…)` each `return e` of the body
//! becomes `x = e`.

use std::rc::Rc;

use super::{Failed, Parsed, Parser};
use crate::ast::{Name, Statement};
use crate::index::Role;
use crate::index::notes::Entity;
use crate::intern::{Sym, kw};
use crate::limits::{MAX_INLINE_NESTING, MAX_PARAMETERS, MAX_TOKENS};
use crate::source::{Advice, At, Origin};
use crate::token::{BREAK_BEFORE, LINE_START, SPACE_BEFORE, Tok, Token};

/// An inline definition.
#[derive(Debug)]
pub(super) struct Inline {
    name: Name,
    parameters: Vec<Sym>,
    /// From `{` to `}`.
    body: Vec<Token>,
}

impl Parser<'_> {
    /// Learns the names of proctypes and the inlines before parsing, so that they may be used above their
    /// definition.
    pub(super) fn scan_ahead(&mut self) {
        let mut position = 0;
        while position < self.tokens.len() {
            let token = self.tokens[position];
            if token.is(kw::PROCTYPE) || token.is(kw::D_PROCTYPE) {
                let name = self.tokens[(position + 1).min(self.tokens.len() - 1)];
                if name.tok == Tok::Name {
                    self.proctypes.insert(name.sym);
                }
            }
            if token.is(kw::INLINE) {
                self.position = position + 1;
                if let Ok(inline) = self.inline_definition() {
                    self.remember(inline);
                }
                self.definitions.insert(position, self.position);
                position = self.position.max(position + 1);
                continue;
            }
            position += 1;
        }
        self.position = 0;
    }

    fn remember(&mut self, inline: Inline) {
        if let Some(known) = self.inlines.get(&inline.name.sym) {
            let before = self.sources.place(known.name.at);
            let text = self.text(inline.name.sym);
            self.sources
                .error(inline.name.at, text.len(), format!("the inline `{text}` is already defined"))
                .advise(format!("the other definition is at {before}"));
            return;
        }
        self.inlines.insert(inline.name.sym, Rc::new(inline));
    }

    /// `name(a, b) { … }`, from the name on.
    fn inline_definition(&mut self) -> Parsed<Inline> {
        let name = self.name("the name of the inline")?;
        self.expect(Tok::LParen, "`(` and the parameters")?;
        let mut parameters = Vec::new();
        while !self.is(Tok::RParen) {
            let parameter = self.name("the name of a parameter, or `)`")?;
            let entity = Entity::InlineParameter(name.sym, parameters.len() as u32);
            self.sources.note(parameter, entity, Role::Declare);
            parameters.push(parameter.sym);
            if parameters.len() > MAX_PARAMETERS {
                let message = format!("an inline can have at most {MAX_PARAMETERS} parameters");
                self.sources.error(parameter.at, 1, message);
                return Err(Failed);
            }
            if !self.is(Tok::RParen) {
                self.expect(Tok::Comma, "`,` or `)`")?;
            }
        }
        self.next();
        let start = self.position;
        let open = self.expect(Tok::LBrace, "`{` and the body of the inline")?;
        let mut depth = 1usize;
        while depth > 0 {
            match self.next().tok {
                Tok::LBrace => depth += 1,
                Tok::RBrace => depth -= 1,
                Tok::Eof => {
                    let text = self.text(name.sym);
                    self.sources.error(
                        open.at,
                        1,
                        format!("the body of the inline `{text}` is never closed"),
                    );
                    return Err(Failed);
                }
                _ => {}
            }
        }
        let body = self.tokens[start..self.position].to_vec();
        self.note_inline(name, &parameters, &body);
        Ok(Inline { name, parameters, body })
    }

    fn note_inline(&mut self, name: Name, parameters: &[Sym], body: &[Token]) {
        let Some(notes) = &mut self.sources.notes else { return };
        let entity = Entity::Inline(name.sym);
        let names: Vec<&str> = parameters.iter().map(|&p| self.interner.text(p)).collect();
        let text = format!("inline {}({})", self.interner.text(name.sym), names.join(", "));
        notes.texts.insert(entity, text);
        notes.add(name.at, name.sym, entity, Role::Declare);
        for token in body.iter().filter(|t| t.tok == Tok::Name) {
            if let Some(which) = parameters.iter().position(|&p| p == token.sym) {
                notes.add(token.at, token.sym, Entity::InlineParameter(name.sym, which as u32), Role::Read);
            }
        }
    }

    /// Skips a definition that [`Parser::scan_ahead`] has read.
    pub(super) fn skip_inline_definition(&mut self) {
        let end = self.definitions.get(&self.position).copied();
        self.position = end.unwrap_or(self.position + 1).min(self.tokens.len() - 1);
    }

    /// A call `f(…)`, from the name on; `result` are the tokens of `x` in `x = f(…)`.
    pub(super) fn inline_call(&mut self, result: &[Token]) -> Parsed<Statement> {
        let call = self.name("the name of an inline")?;
        let arguments = self.inline_arguments()?;
        let Some(inline) = self.inlines.get(&call.sym).cloned() else {
            let known: Vec<Sym> = self.inlines.keys().copied().collect();
            let text = self.text(call.sym);
            let what = if self.proctypes.contains(&call.sym) { "a proctype" } else { "not an inline" };
            let is_proctype = self.proctypes.contains(&call.sym);
            self.unknown(call, format!("`{text}` is {what}, so it cannot be called like this"), &known);
            if let (true, Some(last)) = (is_proctype, self.sources.last()) {
                last.advise(format!("write `run {text}(…)` to start one"));
            }
            return Err(Failed);
        };
        self.sources.note(call, Entity::Inline(call.sym), Role::Read);
        self.check_call(call, &inline, arguments.len())?;
        let tokens = self.expand(call, &inline, &arguments, result);
        self.expanded += tokens.len();
        if self.expanded > MAX_TOKENS {
            let message = format!("inlines expand to more than {MAX_TOKENS} tokens");
            self.sources
                .error(call.at, 0, message)
                .advise("look for inlines that call others many times over");
            self.position = self.tokens.len() - 1;
            return Err(Failed);
        }
        self.parse_expansion(call, tokens)
    }

    fn check_call(&mut self, call: Name, inline: &Inline, count: usize) -> Parsed<()> {
        let text = self.text(call.sym);
        if self.expanding.contains(&call.sym) {
            self.sources
                .error(call.at, text.len(), format!("the inline `{text}` calls itself"))
                .advise("an inline is copied into place, so it cannot be recursive; use a proctype");
            return Err(Failed);
        }
        if self.expanding.len() >= MAX_INLINE_NESTING {
            let message = format!("inlines call each other more than {MAX_INLINE_NESTING} deep");
            self.sources.error(call.at, text.len(), message);
            return Err(Failed);
        }
        if count != inline.parameters.len() {
            let place = self.sources.place(inline.name.at);
            let wanted = inline.parameters.len();
            let message = format!("the inline `{text}` has {wanted} parameters but gets {count} arguments");
            self.sources.error(call.at, text.len(), message).advise(format!("it is defined at {place}"));
            return Err(Failed);
        }
        Ok(())
    }

    /// The arguments as tokens, with the parentheses around them.
    fn inline_arguments(&mut self) -> Parsed<Vec<Vec<Token>>> {
        let open = self.expect(Tok::LParen, "`(` and the arguments")?;
        let mut arguments = vec![Vec::new()];
        let mut depth = 1usize;
        loop {
            let token = self.next();
            match token.tok {
                Tok::LParen | Tok::LBracket | Tok::LBrace => depth += 1,
                Tok::RParen | Tok::RBracket | Tok::RBrace => depth -= 1,
                Tok::Comma if depth == 1 => {
                    arguments.push(Vec::new());
                    continue;
                }
                Tok::Eof => {
                    self.sources.error(open.at, 1, "this call is never closed").advise("add the missing `)`");
                    return Err(Failed);
                }
                _ => {}
            }
            if depth == 0 {
                break;
            }
            arguments.last_mut().expect("there is always one").push(token);
        }
        if arguments.len() == 1 && arguments[0].is_empty() {
            arguments.clear();
        }
        Ok(arguments)
    }

    /// The body with arguments for parameters, and an `Eof`.
    fn expand(
        &mut self,
        call: Name,
        inline: &Inline,
        arguments: &[Vec<Token>],
        result: &[Token],
    ) -> Vec<Token> {
        let name = self.interner.shared(call.sym);
        let origin = self.sources.add_origin(Origin::Inline { name, call: call.at, written: None });
        let assign = self.interner.intern("=");
        let mut tokens = Vec::with_capacity(inline.body.len() + 1);
        for &token in &inline.body {
            let at = At { origin, ..token.at };
            let parameter = inline.parameters.iter().position(|&p| token.is(p));
            if let Some(argument) = parameter.map(|p| arguments[p].as_slice()) {
                self.place_argument(&mut tokens, argument, token.flags, at);
            } else if token.is(kw::RETURN) && !result.is_empty() {
                self.place_argument(&mut tokens, result, token.flags, at);
                tokens.push(Token { tok: Tok::Assign, flags: SPACE_BEFORE, sym: assign, at });
            } else {
                let at = self.sources.made(at, token.at);
                tokens.push(Token { at, ..token });
            }
        }
        let at = call.at;
        tokens.push(Token { tok: Tok::Eof, flags: LINE_START, sym: kw::EMPTY_SPELLING, at });
        tokens
    }

    fn parse_expansion(&mut self, call: Name, tokens: Vec<Token>) -> Parsed<Statement> {
        let tokens = std::mem::replace(&mut self.tokens, tokens.into());
        let position = std::mem::replace(&mut self.position, 0);
        let open = std::mem::replace(&mut self.open, 0);
        self.expanding.push(call.sym);
        let block = self.nested(Self::block_statement);
        self.expanding.pop();
        self.tokens = tokens;
        self.position = position;
        self.open = open;
        block
    }

    fn place_argument(&mut self, tokens: &mut Vec<Token>, argument: &[Token], flags: u8, at: At) {
        for (i, &token) in argument.iter().enumerate() {
            let flags = if i == 0 { flags } else { token.flags & !(LINE_START | BREAK_BEFORE) };
            let at = self.sources.made(at, token.at);
            tokens.push(Token { at, flags, ..token });
        }
    }
}
