//! The top level: proctypes, claims, formulas, global declarations.

use super::{Failed, Parsed, Parser};
use crate::ast::{Expr, Name, Proctype, Unit};
use crate::intern::kw;
use crate::source::{Advice, At};
use crate::token::Tok;

impl Parser<'_> {
    pub(super) fn units(&mut self) -> Vec<Unit> {
        let mut units = Vec::new();
        loop {
            while self.eat(Tok::Semi) || self.eat(Tok::Arrow) {}
            if self.is(Tok::Eof) || self.sources.too_many_errors() {
                return units;
            }
            let start = self.position;
            match self.unit() {
                Ok(Some(unit)) => units.push(unit),
                Ok(None) => {}
                Err(Failed) => self.skip_unit(start),
            }
            self.note_unit(start);
        }
    }

    fn note_unit(&mut self, start: usize) {
        let (first, last) = (self.tokens[start], self.tokens[self.position.saturating_sub(1)]);
        let length = self.interner.text(last.sym).len() as u32;
        if let Some(notes) = &mut self.sources.notes {
            notes.units.push((first.at, last.at, length));
        }
    }

    /// Goes on behind a unit that failed: to what looks like the beginning of the next.
    fn skip_unit(&mut self, start: usize) {
        (self.open, self.in_body, self.in_ltl) = (0, false, false);
        if self.position == start {
            self.next();
        }
        loop {
            let token = self.peek();
            let begins = token.tok == Tok::Name
                && [
                    kw::PROCTYPE,
                    kw::D_PROCTYPE,
                    kw::INIT,
                    kw::NEVER,
                    kw::LTL,
                    kw::TYPEDEF,
                    kw::INLINE,
                    kw::ACTIVE,
                    kw::TRACE,
                    kw::NOTRACE,
                ]
                .contains(&token.sym);
            if begins || token.tok == Tok::Eof || token.tok == Tok::Semi {
                return;
            }
            if token.starts_line() && self.at_declaration() {
                return;
            }
            self.next();
        }
    }

    fn unit(&mut self) -> Parsed<Option<Unit>> {
        let token = self.peek();
        if token.tok != Tok::Name {
            return self.unexpected("a declaration or a proctype");
        }
        let at = token.at;
        self.foreign_declaration()?;
        let unit = match token.sym {
            kw::ACTIVE | kw::PROCTYPE | kw::D_PROCTYPE => Unit::Proctype(self.proctype()?),
            kw::INIT => {
                self.next();
                let priority = self.priority()?;
                Unit::Init { at, priority, body: self.body()? }
            }
            kw::NEVER => {
                self.next();
                let name =
                    if self.is(Tok::LBrace) { None } else { Some(self.name("the claim's name or `{`")?) };
                Unit::Never { name, at, body: self.body()? }
            }
            kw::TRACE | kw::NOTRACE => {
                self.next();
                Unit::Trace { forbids: token.sym == kw::NOTRACE, at, body: self.body()? }
            }
            kw::LTL => self.ltl(at)?,
            kw::TYPEDEF => self.typedef()?,
            kw::INLINE => {
                self.skip_inline_definition();
                return Ok(None);
            }
            kw::MTYPE if self.at_mtype_declaration() => self.mtype()?,
            kw::C_CODE | kw::C_DECL | kw::C_STATE | kw::C_TRACK | kw::C_EXPR => return self.embedded_c(),
            _ if self.at_declaration() && self.peek_at(2).tok != Tok::LParen => {
                Unit::Declaration(self.declaration()?)
            }
            _ if token.sym.is_keyword() && self.at_declaration() && self.peek_at(1).tok == Tok::Name => {
                return self.foreign_function();
            }
            sym => {
                let known = [
                    kw::PROCTYPE,
                    kw::ACTIVE,
                    kw::INIT,
                    kw::NEVER,
                    kw::LTL,
                    kw::TYPEDEF,
                    kw::INLINE,
                    kw::MTYPE,
                    kw::BYTE,
                    kw::INT,
                    kw::BOOL,
                    kw::CHAN,
                    kw::SHORT,
                    kw::HIDDEN,
                ];
                let message = format!("expected a declaration or a proctype, found `{}`", self.text(sym));
                self.unknown(Name { sym, at }, message, &known);
                return Err(Failed);
            }
        };
        Ok(Some(unit))
    }

    fn proctype(&mut self) -> Parsed<Proctype> {
        let active = if self.is_word(kw::ACTIVE) { Some(self.active()?) } else { None };
        let deterministic = self.is_word(kw::D_PROCTYPE);
        if !deterministic && !self.is_word(kw::PROCTYPE) {
            return self.unexpected("`proctype`");
        }
        self.next();
        let name = self.name("the name of the proctype")?;
        self.declared.insert(name.sym);
        self.open(Tok::LParen, "`(` and the parameters")?;
        let parameters = self.declarations(Tok::RParen)?;
        self.close(Tok::RParen, "`)`")?;
        let priority = self.priority()?;
        let provided = if self.eat_word(kw::PROVIDED) { Some(self.provided()?) } else { None };
        let body = self.body()?;
        Ok(Proctype { name, deterministic, active, parameters, priority, provided, body })
    }

    /// `active` or `active [n]`
    fn active(&mut self) -> Parsed<Expr> {
        let at = self.next().at;
        if !self.is(Tok::LBracket) {
            return Ok(Expr::new(at, crate::ast::ExprKind::Number(1)));
        }
        self.open(Tok::LBracket, "`[`")?;
        let count = self.nested(Self::expr)?;
        self.close(Tok::RBracket, "`]`")?;
        Ok(count)
    }

    fn provided(&mut self) -> Parsed<Expr> {
        self.open(Tok::LParen, "`(` and a condition")?;
        let condition = self.nested(Self::expr)?;
        self.close(Tok::RParen, "`)`")?;
        Ok(condition)
    }

    fn ltl(&mut self, at: At) -> Parsed<Unit> {
        self.next();
        let name = if self.is(Tok::LBrace) { None } else { Some(self.name("the formula's name or `{`")?) };
        self.expect(Tok::LBrace, "`{` and a formula")?;
        self.in_ltl = true;
        let formula = self.expr();
        self.in_ltl = false;
        let formula = formula?;
        while self.eat(Tok::Semi) {}
        self.expect(Tok::RBrace, "an operator or `}`")?;
        Ok(Unit::Ltl { name, at, formula })
    }

    fn typedef(&mut self) -> Parsed<Unit> {
        self.next();
        if self.peek_at(1).tok == Tok::LBrace && self.interner.text(self.peek().sym) == "struct" {
            let at = self.at();
            self.sources
                .error(at, "struct".len(), "a type has its name before its fields")
                .advise("write `typedef Name { byte a; int b }`");
            return Err(Failed);
        }
        let name = self.name("the name of the type")?;
        self.typedefs.insert(name.sym);
        self.expect(Tok::LBrace, "`{` and the fields")?;
        self.in_body = true;
        let fields = self.declarations(Tok::RBrace);
        self.in_body = false;
        let fields = fields?;
        self.expect(Tok::RBrace, "`}`")?;
        if fields.is_empty() {
            let text = self.text(name.sym);
            self.sources.error(name.at, text.len(), format!("the type `{text}` has no fields"));
        }
        Ok(Unit::Typedef { name, fields })
    }

    /// Whether `mtype = {`, `mtype {` or `mtype:name = {` stands here rather than a variable.
    fn at_mtype_declaration(&self) -> bool {
        match self.peek_at(1).tok {
            Tok::Assign | Tok::LBrace => true,
            Tok::Colon => matches!(self.peek_at(3).tok, Tok::Assign | Tok::LBrace),
            _ => false,
        }
    }

    fn mtype(&mut self) -> Parsed<Unit> {
        self.next();
        let set = if self.eat(Tok::Colon) { Some(self.name("the name of the set")?) } else { None };
        self.eat(Tok::Assign);
        let open = self.expect(Tok::LBrace, "`{` and the names")?;
        let mut names = Vec::new();
        while !self.is(Tok::RBrace) {
            names.push(self.name("a name or `}`")?);
            while self.eat(Tok::Comma) {}
        }
        self.next();
        if names.is_empty() {
            self.sources.error(open.at, 1, "this mtype has no names").advise("write `mtype = { one, two }`");
        }
        Ok(Unit::Mtype { set, names })
    }
}
