//! Statements and sequences of them, with recovery: a statement that makes no sense is skipped.

use super::{Failed, Parsed, Parser};
use crate::ast::{Block, Body, Expr, ExprKind, Name, Path, Sequence, Statement, StatementKind};
use crate::intern::{Sym, kw};
use crate::model::{BinaryOp, ExclusiveKind};
use crate::source::{Advice, At};
use crate::token::{Tok, Token};

impl Parser<'_> {
    /// `{ … }` of a proctype, claim or trace.
    pub(super) fn body(&mut self) -> Parsed<Body> {
        let open = self.expect(Tok::LBrace, "`{`")?;
        self.in_body = true;
        let statements = self.filled_sequence(open, "there are no statements here");
        self.in_body = false;
        let end = self.at();
        if self.is(Tok::Eof) {
            self.sources.error(open.at, 1, "this `{` is never closed");
            return Err(Failed);
        }
        self.expect(Tok::RBrace, "`}`")?;
        Ok(Body { statements, end })
    }

    /// A sequence that must not be empty, unless because of errors.
    fn filled_sequence(&mut self, open: Token, complaint: &str) -> Sequence {
        let errors = self.sources.error_count();
        let statements = self.sequence();
        if statements.is_empty() && self.sources.error_count() == errors {
            let length = self.interner.text(open.sym).len();
            self.sources.error(open.at, length, complaint).advise("write at least `skip`");
        }
        statements
    }

    /// Statements up to what cannot be one: `}`, `::`, `fi`, `od`, the end.
    fn sequence(&mut self) -> Sequence {
        let mut statements = Vec::new();
        loop {
            while self.eat(Tok::Semi) || self.eat(Tok::Arrow) {}
            if self.at_sequence_end() || self.sources.too_many_errors() {
                return statements;
            }
            let start = self.position;
            match self.step() {
                Ok(statement) => {
                    if self.is(Tok::Arrow) && matches!(statement.kind, StatementKind::Assign(..)) {
                        self.sources.arrows.push(statement.at);
                    }
                    statements.push(statement);
                }
                Err(Failed) => {
                    self.skip_statement(start);
                    continue;
                }
            }
            if !self.at_separator() {
                let _: Parsed<()> = self.unexpected("`;` or a new line between two statements");
                // The next statement may be fine: nothing is skipped, but something must be read.
                if self.position == start {
                    self.next();
                }
            }
        }
    }

    fn at_sequence_end(&self) -> bool {
        matches!(self.peek().tok, Tok::RBrace | Tok::Sep | Tok::Eof)
            || self.is_word(kw::FI)
            || self.is_word(kw::OD)
    }

    /// Whether what stands here may follow a statement.
    fn at_separator(&self) -> bool {
        if self.at_sequence_end() || matches!(self.peek().tok, Tok::Semi | Tok::Arrow) || self.at_line_end() {
            return true;
        }
        let last = self.position.checked_sub(1).map(|p| self.tokens[p]);
        last.is_some_and(|t| {
            t.tok == Tok::RBrace || t.is(kw::ELSE) || t.tok == Tok::RParen && self.after_call
        })
    }

    /// Goes on behind a statement that failed: to a separator or the end of the sequence, over whole blocks.
    fn skip_statement(&mut self, start: usize) {
        self.open = 0;
        if self.position == start {
            self.next();
        }
        let (mut depth, mut braces) = (0usize, 0usize);
        loop {
            let token = self.peek();
            let outside = depth == 0 && braces == 0;
            let ends = self.at_sequence_end() || token.tok == Tok::Semi || token.starts_line();
            match token.tok {
                Tok::Eof => return,
                Tok::RBrace if braces == 0 => return,
                _ if outside && ends => return,
                Tok::LBrace => braces += 1,
                Tok::RBrace => braces -= 1,
                Tok::Name if token.sym == kw::IF || token.sym == kw::DO => depth += 1,
                Tok::Name if token.sym == kw::FI || token.sym == kw::OD => depth = depth.saturating_sub(1),
                _ => {}
            }
            self.next();
        }
    }

    /// A statement, perhaps with an escape: `a unless b`.
    fn step(&mut self) -> Parsed<Statement> {
        self.after_call = false;
        let statement = self.nested(Self::statement)?;
        if !self.eat_word(kw::UNLESS) {
            return Ok(statement);
        }
        let escape = self.nested(Self::statement)?;
        let at = statement.at;
        let kind = StatementKind::Unless(Box::new(statement), Box::new(escape));
        Ok(Statement { labels: Vec::new(), at, kind })
    }

    /// A statement with its labels.
    fn statement(&mut self) -> Parsed<Statement> {
        let mut labels = Vec::new();
        while self.at_label() {
            labels.push(self.name("a label")?);
            self.next();
        }
        let Some(&label) = labels.last() else { return self.plain_statement() };
        if self.at_sequence_end() || self.is(Tok::Semi) || self.is(Tok::Arrow) {
            // A label before nothing labels a `skip`.
            let kind = StatementKind::Expression(Expr::new(label.at, ExprKind::Number(1)));
            return Ok(Statement { labels, at: label.at, kind });
        }
        if self.at_declaration() || self.is_word(kw::XR) || self.is_word(kw::XS) {
            let text = self.text(label.sym);
            self.sources
                .error(label.at, text.len(), format!("the label `{text}` stands before a declaration"))
                .advise("put the label behind it, before a statement");
        }
        let mut statement = self.plain_statement()?;
        labels.append(&mut statement.labels);
        Ok(Statement { labels, ..statement })
    }

    fn at_label(&self) -> bool {
        let token = self.peek();
        let is_name = token.tok == Tok::Name && !token.sym.is_keyword();
        let assigns = self.peek_at(2).tok == Tok::Assign && self.peek_at(2).is_glued();
        is_name && self.peek_at(1).tok == Tok::Colon && !assigns && !self.declared.contains(&token.sym)
    }

    fn plain_statement(&mut self) -> Parsed<Statement> {
        let token = self.peek();
        let at = token.at;
        self.foreign_statement()?;
        self.foreign_declaration()?;
        let kind = match token.tok {
            Tok::LBrace => return self.block_statement(),
            Tok::Name if token.sym.is_keyword() && !self.at_declaration() => {
                return self.keyword_statement(token.sym, at);
            }
            Tok::Name if self.at_declaration() => StatementKind::Declaration(self.declaration()?),
            Tok::Name if self.peek_at(1).tok == Tok::LParen && !self.peek_at(1).follows_break() => {
                self.after_call = true;
                let statement = self.inline_call(&[])?;
                self.after_call = true;
                return Ok(statement);
            }
            Tok::Name => return self.name_statement(at),
            _ => StatementKind::Expression(self.expr_statement()?),
        };
        Ok(Statement { labels: Vec::new(), at, kind })
    }

    fn expr_statement(&mut self) -> Parsed<Expr> {
        match self.peek().tok {
            Tok::Name
            | Tok::Number
            | Tok::Char
            | Tok::LParen
            | Tok::Bang
            | Tok::BangBang
            | Tok::Minus
            | Tok::Tilde => self.expr(),
            _ => self.unexpected("a statement"),
        }
    }

    /// `{ … }` as a statement.
    pub(super) fn block_statement(&mut self) -> Parsed<Statement> {
        let at = self.at();
        let block = self.block()?;
        Ok(Statement { labels: Vec::new(), at, kind: StatementKind::Block(block) })
    }

    fn block(&mut self) -> Parsed<Block> {
        if !self.is(Tok::LBrace) {
            let failed = self.unexpected("`{`");
            if let Some(last) = self.sources.last() {
                last.advise("write `{ … }` around it, also around one statement");
            }
            return failed;
        }
        let open = self.next();
        let statements = self.filled_sequence(open, "there are no statements here");
        if !self.is(Tok::RBrace) && !self.sources.too_many_errors() {
            let found = self.describe(self.peek());
            self.sources.error(open.at, 1, format!("this `{{` is not closed before {found}"));
            return Err(Failed);
        }
        self.next();
        Ok(Block { statements })
    }

    fn keyword_statement(&mut self, word: Sym, at: At) -> Parsed<Statement> {
        let kind = match word {
            kw::IF => StatementKind::If(self.options(kw::FI)?),
            kw::DO => StatementKind::Do(self.options(kw::OD)?),
            kw::ATOMIC => {
                self.next();
                StatementKind::Atomic(self.block()?)
            }
            kw::D_STEP => {
                self.next();
                StatementKind::DStep(self.block()?)
            }
            kw::FOR => self.for_loop()?,
            kw::SELECT => self.select()?,
            kw::BREAK => {
                self.next();
                StatementKind::Break
            }
            kw::ELSE => {
                self.next();
                StatementKind::Else
            }
            kw::GOTO => {
                self.next();
                StatementKind::Goto(self.name("a label")?)
            }
            kw::ASSERT => {
                self.next();
                StatementKind::Assert(self.expr()?)
            }
            kw::PRINTF => self.printf()?,
            kw::PRINTM => {
                self.next();
                self.open(Tok::LParen, "`(`")?;
                let value = self.expr()?;
                self.close(Tok::RParen, "`)`")?;
                StatementKind::Printm(value)
            }
            kw::SET_PRIORITY => {
                self.next();
                self.open(Tok::LParen, "`(`")?;
                let pid = self.expr()?;
                self.expect(Tok::Comma, "`,` and the priority")?;
                let priority = self.expr()?;
                self.close(Tok::RParen, "`)`")?;
                StatementKind::SetPriority(pid, priority)
            }
            kw::XR | kw::XS => self.exclusive(word)?,
            kw::C_CODE | kw::C_DECL | kw::C_STATE | kw::C_TRACK => return self.embedded_c(),
            kw::RETURN => {
                self.sources
                    .error(at, 6, "`return` is only for inlines whose call is assigned")
                    .advise("call the inline as `x = name(…)`");
                return Err(Failed);
            }
            kw::PROCTYPE
            | kw::D_PROCTYPE
            | kw::INIT
            | kw::NEVER
            | kw::ACTIVE
            | kw::LTL
            | kw::TYPEDEF
            | kw::INLINE
            | kw::TRACE
            | kw::NOTRACE => {
                let text = self.text(word);
                self.sources
                    .error(at, text.len(), format!("`{text}` cannot stand inside a body"))
                    .advise("is a `}` missing above?");
                return Err(Failed);
            }
            _ => StatementKind::Expression(self.expr_statement()?),
        };
        Ok(Statement { labels: Vec::new(), at, kind })
    }

    /// `:: … :: …` between `if` and `fi` or `do` and `od`.
    fn options(&mut self, end: Sym) -> Parsed<Vec<Sequence>> {
        let open = self.next();
        let mut options = Vec::new();
        while self.eat(Tok::Semi) {}
        if !self.is(Tok::Sep) {
            let failed = self.unexpected("`::` and the first option");
            let is_if = end == kw::FI;
            if let Some(last) = self.sources.last() {
                last.advise(match is_if {
                    true => "write `if :: condition -> … :: else -> … fi`",
                    false => "write `do :: condition -> … :: else -> break od`",
                });
            }
            self.skip_options();
            return failed;
        }
        while self.is(Tok::Sep) {
            let sep = self.next();
            options.push(self.filled_sequence(sep, "this option is empty"));
        }
        if self.eat_word(end) {
            return Ok(options);
        }
        let (open_text, end_text) = (self.text(open.sym), self.text(end));
        let habit = self
            .is(Tok::RBrace)
            .then_some("every `if` has a `fi` of its own, every `do` an `od`, also inside another's `else`");
        let found = self.describe(self.peek());
        if !self.sources.too_many_errors() {
            let message = format!("this `{open_text}` is not closed by `{end_text}` before {found}");
            let told = self.sources.error(open.at, 2, message);
            if let Some(habit) = habit {
                told.advise(habit);
            }
        }
        // The wrong one of `fi` and `od` was meant to be the right one.
        if self.is_word(kw::FI) || self.is_word(kw::OD) {
            self.next();
        }
        Err(Failed)
    }

    /// Goes behind the `fi` or `od` of the statement that we are in, or to the end of the body.
    fn skip_options(&mut self) {
        let (mut depth, mut braces) = (1usize, 0usize);
        while depth > 0 {
            let token = self.peek();
            match token.tok {
                Tok::Eof => return,
                Tok::RBrace if braces == 0 => return,
                Tok::LBrace => braces += 1,
                Tok::RBrace => braces -= 1,
                Tok::Name if token.sym == kw::IF || token.sym == kw::DO => depth += 1,
                Tok::Name if token.sym == kw::FI || token.sym == kw::OD => depth -= 1,
                _ => {}
            }
            self.next();
        }
    }

    /// `for (i : a .. b) { … }` or `for (i in a) { … }`
    fn for_loop(&mut self) -> Parsed<StatementKind> {
        self.next();
        self.open(Tok::LParen, "`(`")?;
        if self.peek_at(1).tok == Tok::Name && self.peek().sym.is_keyword() {
            let at = self.at();
            self.sources
                .error(at, 1, "the variable of a `for` is declared before it")
                .advise("write `byte i; for (i : 0 .. n - 1) { … }`");
            return Err(Failed);
        }
        let variable = self.path()?;
        if self.eat_word(kw::IN) {
            let collection = self.path()?;
            self.close(Tok::RParen, "`)`")?;
            self.eat(Tok::Semi);
            return Ok(StatementKind::ForIn { variable, collection, body: self.block()? });
        }
        if self.is(Tok::Assign) {
            let at = self.at();
            self.sources
                .error(at, 1, "a `for` of Promela has a range")
                .advise("write `for (i : 0 .. n - 1) { … }`");
            return Err(Failed);
        }
        let (from, to) = self.range("`: from .. to` or `in` and an array or channel")?;
        self.eat(Tok::Semi);
        Ok(StatementKind::ForRange { variable, from, to, body: self.block()? })
    }

    /// `: a .. b)`
    fn range(&mut self, what: &str) -> Parsed<(Expr, Expr)> {
        self.expect(Tok::Colon, what)?;
        let from = self.expr()?;
        self.expect(Tok::DotDot, "`..` and the upper bound")?;
        let to = self.expr()?;
        self.close(Tok::RParen, "`)`")?;
        Ok((from, to))
    }

    /// `select (i : a .. b)`
    fn select(&mut self) -> Parsed<StatementKind> {
        self.next();
        self.open(Tok::LParen, "`(`")?;
        let variable = self.path()?;
        let plain = variable.as_name().is_some_and(|name| !self.interner.text(name.sym).contains('_'));
        let bounds = self.position + 1;
        let (from, to) = self.range("`:` and a range")?;
        let literal = plain
            && self.expanding.is_empty()
            && self.position == bounds + 4
            && self.tokens[bounds].tok == Tok::Number
            && self.tokens[bounds + 2].tok == Tok::Number;
        Ok(StatementKind::Select { variable, from, to, literal })
    }

    fn printf(&mut self) -> Parsed<StatementKind> {
        self.next();
        self.open(Tok::LParen, "`(`")?;
        let format = self.expect(Tok::Text, "a string")?;
        let arguments = if self.eat(Tok::Comma) { self.arguments()? } else { Vec::new() };
        self.close(Tok::RParen, "`,` or `)`")?;
        Ok(StatementKind::Printf { format: Name { sym: format.sym, at: format.at }, arguments })
    }

    /// `xr a, b`
    fn exclusive(&mut self, word: Sym) -> Parsed<StatementKind> {
        self.next();
        let kind = if word == kw::XR { ExclusiveKind::Receive } else { ExclusiveKind::Send };
        let mut channels = vec![self.path()?];
        while self.eat(Tok::Comma) {
            channels.push(self.path()?);
        }
        Ok(StatementKind::Exclusive(kind, channels))
    }

    /// A statement that begins with a variable: an assignment, a send, a receive, or an expression.
    fn name_statement(&mut self, at: At) -> Parsed<Statement> {
        let start = self.position;
        let path = self.path()?;
        self.foreign_assignment(&path)?;
        let next = self.peek().tok;
        let polls = self.peek_at(1).tok == Tok::LBracket;
        let kind = match next {
            Tok::Assign => return self.assignment(path, start, at),
            Tok::Incr => {
                self.next();
                StatementKind::Step(path, BinaryOp::Add)
            }
            Tok::Decr => {
                self.next();
                StatementKind::Step(path, BinaryOp::Sub)
            }
            Tok::Bang | Tok::BangBang if !self.at_line_end() => {
                self.next();
                let arguments = self.send_arguments()?;
                StatementKind::Send { channel: path, sorted: next == Tok::BangBang, arguments }
            }
            Tok::Quest | Tok::QuestQuest if !polls => self.receive(path)?,
            _ => {
                self.position = start;
                StatementKind::Expression(self.expr()?)
            }
        };
        Ok(Statement { labels: Vec::new(), at, kind })
    }

    fn assignment(&mut self, target: Path, start: usize, at: At) -> Parsed<Statement> {
        let result = self.tokens[start..self.position].to_vec();
        self.next();
        let next = self.peek();
        if next.tok == Tok::Name && self.peek_at(1).tok == Tok::LParen && self.inlines.contains_key(&next.sym)
        {
            let statement = self.inline_call(&result)?;
            self.after_call = true;
            return Ok(statement);
        }
        let value = self.expr()?;
        Ok(Statement { labels: Vec::new(), at, kind: StatementKind::Assign(target, value) })
    }

    /// `a, b` or `a(b, c)`
    fn send_arguments(&mut self) -> Parsed<Vec<Expr>> {
        let mut arguments = self.arguments()?;
        if self.is(Tok::LParen) && !self.at_line_end() {
            self.open(Tok::LParen, "`(`")?;
            if !self.is(Tok::RParen) {
                arguments.extend(self.arguments()?);
            }
            self.close(Tok::RParen, "`,` or `)`")?;
        }
        Ok(arguments)
    }

    fn receive(&mut self, channel: Path) -> Parsed<StatementKind> {
        let random = self.next().tok == Tok::QuestQuest;
        let keep = self.eat(Tok::Lt);
        let arguments = self.receive_arguments()?;
        if keep {
            self.expect(Tok::Gt, "`>`")?;
        }
        Ok(StatementKind::Receive { channel, random, keep, arguments })
    }

    /// `c_code { … }` and its like: refused by name, and skipped.
    pub(super) fn embedded_c<T>(&mut self) -> Parsed<T> {
        let word = self.next();
        let text = self.text(word.sym);
        self.sources
            .error(word.at, text.len(), format!("embedded C (`{text}`) is not supported"))
            .advise("volee has no C compiler behind it; write the step in Promela");
        let mut depth = 0usize;
        loop {
            match self.peek().tok {
                Tok::LBrace | Tok::LBracket => depth += 1,
                Tok::RBrace | Tok::RBracket if depth <= 1 => {
                    let last = self.is(Tok::RBrace);
                    if depth == 1 {
                        self.next();
                    }
                    if last {
                        return Err(Failed);
                    }
                    depth = 0;
                    continue;
                }
                Tok::RBrace | Tok::RBracket => depth -= 1,
                Tok::Text => {}
                Tok::Eof => return Err(Failed),
                _ if depth == 0 => return Err(Failed),
                _ => {}
            }
            self.next();
        }
    }
}
