//! Declarations of variables, channels, fields and parameters.

use super::{Parsed, Parser};
use crate::ast::{Declaration, Declarator, Init, Name, TypeName};
use crate::intern::kw;
use crate::model::Visibility;
use crate::source::Advice;
use crate::token::{Tok, Token};

impl Parser<'_> {
    /// Whether a declaration of variables begins here.
    pub(super) fn at_declaration(&self) -> bool {
        let token = self.peek();
        token.tok == Tok::Name
            && (is_basic_type(token)
                || [kw::HIDDEN, kw::SHOW, kw::LOCAL].contains(&token.sym)
                || self.at_struct_declaration())
    }

    /// Whether `Type name` begins here: two names in one line.
    fn at_struct_declaration(&self) -> bool {
        let (first, second) = (self.peek(), self.peek_at(1));
        let is_name = |t: Token| t.tok == Tok::Name && !t.sym.is_keyword();
        is_name(first)
            && is_name(second)
            && (self.typedefs.contains(&first.sym) || !second.follows_break())
            && !(self.in_ltl && second.sym == kw::U)
    }

    /// `hidden byte a, b[3] = 2`, without what ends it.
    pub(super) fn declaration(&mut self) -> Parsed<Declaration> {
        let visibility = match self.peek().sym {
            kw::HIDDEN => Visibility::Hidden,
            kw::SHOW => Visibility::Show,
            kw::LOCAL => Visibility::Local,
            _ => Visibility::Plain,
        };
        if visibility != Visibility::Plain {
            self.next();
        }
        let (ty, _) = self.type_name()?;
        let mut variables = vec![self.declarator()?];
        while self.is(Tok::Comma) && !self.type_follows_comma() {
            self.next();
            variables.push(self.declarator()?);
        }
        Ok(Declaration { visibility, ty, variables })
    }

    /// `byte a, byte b`: the comma ends the declaration.
    fn type_follows_comma(&self) -> bool {
        let next = self.peek_at(1);
        next.tok == Tok::Name
            && (is_basic_type(next) || self.typedefs.contains(&next.sym) && self.peek_at(2).tok == Tok::Name)
    }

    /// Declarations with semicolons between them, as in parameter lists and typedefs, up to `end`.
    pub(super) fn declarations(&mut self, end: Tok) -> Parsed<Vec<Declaration>> {
        let mut all = Vec::new();
        loop {
            while self.eat(Tok::Semi) || self.eat(Tok::Arrow) || self.eat(Tok::Comma) {}
            if self.is(end) || self.is(Tok::Eof) {
                return Ok(all);
            }
            all.push(self.declaration()?);
            let separated = [Tok::Semi, Tok::Arrow, Tok::Comma, end].contains(&self.peek().tok)
                || self.peek().follows_break();
            if !separated {
                return self.unexpected("`;`");
            }
        }
    }

    /// A type, with its position.
    fn type_name(&mut self) -> Parsed<(TypeName, Token)> {
        let token = self.peek();
        if token.tok != Tok::Name {
            return self.unexpected("a type");
        }
        let ty = match token.sym {
            kw::BIT | kw::BOOL => TypeName::Bit,
            kw::BYTE => TypeName::Byte,
            kw::PID_TYPE => TypeName::Pid,
            kw::SHORT => TypeName::Short,
            kw::INT => TypeName::Int,
            kw::UNSIGNED => TypeName::Unsigned,
            kw::CHAN => TypeName::Chan,
            kw::MTYPE => {
                self.next();
                let set = if self.eat(Tok::Colon) { Some(self.name("the name of an mtype")?) } else { None };
                return Ok((TypeName::Mtype(set), token));
            }
            sym if sym.is_keyword() => return self.unexpected("a type"),
            sym => {
                if !self.typedefs.contains(&sym) {
                    let known: Vec<_> = self.typedefs.iter().copied().chain(BASIC_TYPES).collect();
                    let message = format!("there is no type `{}`", self.text(sym));
                    self.no_type(Name { sym, at: token.at }, message, &known);
                    // Going on lets the variables be declared, so that their uses are no further errors.
                }
                TypeName::Struct(Name { sym, at: token.at })
            }
        };
        self.next();
        Ok((ty, token))
    }

    /// `a`, `a[3]`, `a : 4`, each perhaps with an initial value.
    fn declarator(&mut self) -> Parsed<Declarator> {
        let name = self.name("the name of a variable")?;
        let mut declarator = Declarator { name, width: None, length: None, init: Init::None };
        if self.is(Tok::LBracket) {
            self.open(Tok::LBracket, "`[`")?;
            if self.is(Tok::RBracket) {
                let at = self.at();
                self.sources.error(at, 1, "the length of the array is missing").advise("write `name[3]`");
                return Err(super::Failed);
            }
            declarator.length = Some(self.nested(Self::expr)?);
            self.close(Tok::RBracket, "`]`")?;
        } else if self.eat(Tok::Colon) {
            if !self.is(Tok::Number) {
                return self.unexpected("a number of bits");
            }
            declarator.width = Some(self.number()?);
        }
        if self.eat(Tok::Assign) {
            declarator.init = self.initialiser()?;
        }
        Ok(declarator)
    }

    fn initialiser(&mut self) -> Parsed<Init> {
        let at = self.at();
        match self.peek().tok {
            Tok::LBracket => self.channel_initialiser(),
            Tok::LBrace => {
                self.next();
                let mut values = vec![self.nested(Self::expr)?];
                while self.eat(Tok::Comma) {
                    values.push(self.nested(Self::expr)?);
                }
                self.expect(Tok::RBrace, "`,` or `}`")?;
                Ok(Init::List(values, at))
            }
            _ => Ok(Init::Value(self.nested(Self::expr)?)),
        }
    }

    /// `[2] of { byte, mtype }`
    fn channel_initialiser(&mut self) -> Parsed<Init> {
        self.open(Tok::LBracket, "`[`")?;
        let capacity = self.nested(Self::expr)?;
        self.close(Tok::RBracket, "`]`")?;
        if !self.eat_word(kw::OF) {
            return self.unexpected("`of` and the types of a message");
        }
        self.expect(Tok::LBrace, "`{` and the types of a message")?;
        let mut fields = Vec::new();
        loop {
            let (ty, token) = self.type_name()?;
            if let TypeName::Unsigned = ty {
                self.sources
                    .error(token.at, 8, "`unsigned` cannot be the type of a message field")
                    .advise("use `byte`, `short` or `int`");
            }
            fields.push((ty, token.at));
            if !self.eat(Tok::Comma) {
                break;
            }
        }
        self.expect(Tok::RBrace, "`,` or `}`")?;
        Ok(Init::Channel { capacity, fields })
    }
}

const BASIC_TYPES: [crate::intern::Sym; 9] =
    [kw::BIT, kw::BOOL, kw::BYTE, kw::PID_TYPE, kw::SHORT, kw::INT, kw::UNSIGNED, kw::CHAN, kw::MTYPE];

fn is_basic_type(token: Token) -> bool {
    token.tok == Tok::Name && BASIC_TYPES.contains(&token.sym)
}
