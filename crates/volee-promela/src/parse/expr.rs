//! Expressions, from tight to loose as in SPIN's grammar. All binary operators group to the left.

use super::{Failed, Parsed, Parser};
use crate::ast::{Expr, ExprKind, Name, Path, ReceiveArgument, Segment, TemporalOp};
use crate::intern::kw;
use crate::model::{BinaryOp, ChannelTest, UnaryOp};
use crate::source::{Advice, At};
use crate::token::{Tok, Token};

/// An operator between two operands.
#[derive(Clone, Copy)]
enum Infix {
    Plain(BinaryOp),
    Temporal(TemporalOp),
}

impl Parser<'_> {
    pub(super) fn expr(&mut self) -> Parsed<Expr> {
        self.binary(0)
    }

    /// An expression of operators that bind at least as tightly as `least`.
    fn binary(&mut self, least: u8) -> Parsed<Expr> {
        let mut left = self.unary()?;
        while let Some((operator, strength, tokens)) = self.infix() {
            if strength < least {
                break;
            }
            let at = self.at();
            for _ in 0..tokens {
                self.next();
            }
            let right = self.nested(|p| p.binary(strength + 1))?;
            let kind = match operator {
                Infix::Plain(op) => ExprKind::Binary(op, Box::new(left), Box::new(right)),
                Infix::Temporal(op) => ExprKind::Temporal(op, vec![left, right]),
            };
            left = self.check_depth(Expr::new(at, kind))?;
        }
        Ok(left)
    }

    /// The operator that comes next, how tightly it binds, and how many tokens it has.
    fn infix(&self) -> Option<(Infix, u8, usize)> {
        let token = self.peek();
        if self.in_ltl
            && let Some((op, strength, tokens)) = self.temporal_infix(token)
        {
            return Some((Infix::Temporal(op), strength, tokens));
        }
        let (op, strength) = match token.tok {
            Tok::Vee if self.in_ltl => (BinaryOp::Or, 2),
            Tok::Wedge if self.in_ltl => (BinaryOp::And, 3),
            Tok::Minus if self.at_line_end() => return None,
            tok => binary(tok)?,
        };
        Some((Infix::Plain(op), strength, 1))
    }

    fn temporal_infix(&self, token: Token) -> Option<(TemporalOp, u8, usize)> {
        Some(match token.tok {
            Tok::Arrow => (TemporalOp::Implies, 1, 1),
            Tok::Lt if self.peek_at(1).tok == Tok::Arrow && self.peek_at(1).is_glued() => {
                (TemporalOp::Equivalent, 1, 2)
            }
            Tok::Name => match token.sym {
                kw::IMPLIES => (TemporalOp::Implies, 1, 1),
                kw::EQUIVALENT => (TemporalOp::Equivalent, 1, 1),
                kw::U | kw::UNTIL | kw::STRONGUNTIL => (TemporalOp::Until, 4, 1),
                kw::V | kw::RELEASE => (TemporalOp::Release, 4, 1),
                kw::W | kw::WEAKUNTIL => (TemporalOp::WeakUntil, 4, 1),
                _ => return None,
            },
            _ => return None,
        })
    }

    fn unary(&mut self) -> Parsed<Expr> {
        let at = self.at();
        let Some((prefix, tokens)) = self.prefix() else { return self.primary() };
        for _ in 0..tokens {
            self.next();
        }
        let operand = Box::new(self.nested(Self::unary)?);
        let kind = match prefix {
            Prefix::Plain(op) => ExprKind::Unary(op, operand),
            Prefix::NotNot => {
                let inner = Expr::new(at, ExprKind::Unary(UnaryOp::Not, operand));
                ExprKind::Unary(UnaryOp::Not, Box::new(inner))
            }
            Prefix::Temporal(op) => ExprKind::Temporal(op, vec![*operand]),
        };
        self.check_depth(Expr::new(at, kind))
    }

    fn prefix(&self) -> Option<(Prefix, usize)> {
        let token = self.peek();
        Some(match token.tok {
            Tok::Bang => (Prefix::Plain(UnaryOp::Not), 1),
            Tok::BangBang => (Prefix::NotNot, 1),
            Tok::Minus => (Prefix::Plain(UnaryOp::Negate), 1),
            Tok::Tilde => (Prefix::Plain(UnaryOp::Complement), 1),
            Tok::LBracket if self.in_ltl && self.peek_at(1).tok == Tok::RBracket => {
                (Prefix::Temporal(TemporalOp::Always), 2)
            }
            Tok::Lt if self.in_ltl && self.peek_at(1).tok == Tok::Gt => {
                (Prefix::Temporal(TemporalOp::Eventually), 2)
            }
            Tok::Name if self.in_ltl => match token.sym {
                kw::X | kw::NEXT => (Prefix::Temporal(TemporalOp::Next), 1),
                kw::ALWAYS => (Prefix::Temporal(TemporalOp::Always), 1),
                kw::EVENTUALLY => (Prefix::Temporal(TemporalOp::Eventually), 1),
                _ => return None,
            },
            _ => return None,
        })
    }

    fn primary(&mut self) -> Parsed<Expr> {
        let token = self.peek();
        match token.tok {
            Tok::Number | Tok::Char => self.number(),
            Tok::LParen => self.nested(Self::parenthesised),
            Tok::Name => self.word(token),
            _ => self.unexpected("an expression"),
        }
    }

    /// A number or character.
    pub(super) fn number(&mut self) -> Parsed<Expr> {
        let token = self.next();
        let text = self.interner.text(token.sym);
        let value = match token.tok {
            Tok::Char => character(text),
            Tok::Number => match text.parse::<i64>() {
                Ok(value) if value <= i64::from(u32::MAX) => value as i32,
                _ => {
                    let text = self.text(token.sym);
                    self.sources
                        .error(token.at, text.len(), format!("the number {text} is too large"))
                        .advise("numbers have 32 bits");
                    0
                }
            },
            _ => return self.unexpected("a number"),
        };
        Ok(Expr::new(token.at, ExprKind::Number(value)))
    }

    /// `(e)` or `(a -> b : c)`
    fn parenthesised(&mut self) -> Parsed<Expr> {
        let at = self.at();
        self.open(Tok::LParen, "`(`")?;
        let mut result = self.expr()?;
        if self.eat(Tok::Arrow) {
            let second = self.expr()?;
            result = self.conditional(at, result, second)?;
        } else if self.is(Tok::Colon)
            && let ExprKind::Temporal(TemporalOp::Implies, both) = &mut result.kind
            && let (Some(second), Some(first)) = (both.pop(), both.pop())
        {
            // In a formula the arrow was taken for an implication.
            result = self.conditional(at, first, second)?;
        }
        self.close(Tok::RParen, "`)`")?;
        Ok(result)
    }

    /// The rest of `(first -> second : third)`.
    fn conditional(&mut self, at: At, first: Expr, second: Expr) -> Parsed<Expr> {
        self.expect(Tok::Colon, "`:` and the value for the other case")?;
        let third = self.expr()?;
        self.check_depth(Expr::new(at, ExprKind::Conditional(Box::new([first, second, third]))))
    }

    fn word(&mut self, token: Token) -> Parsed<Expr> {
        let at = token.at;
        let constant = |p: &mut Self, value| {
            p.next();
            Ok(Expr::new(at, ExprKind::Number(value)))
        };
        match token.sym {
            kw::TRUE | kw::SKIP => constant(self, 1),
            kw::FALSE => constant(self, 0),
            kw::TIMEOUT => {
                self.next();
                Ok(Expr::new(at, ExprKind::Timeout))
            }
            kw::NP => {
                self.next();
                Ok(Expr::new(at, ExprKind::NonProgress))
            }
            kw::RUN => self.run(at),
            kw::LEN => self.channel_test(ChannelTest::Len),
            kw::FULL => self.channel_test(ChannelTest::Full),
            kw::EMPTY => self.channel_test(ChannelTest::Empty),
            kw::NFULL => self.channel_test(ChannelTest::NotFull),
            kw::NEMPTY => self.channel_test(ChannelTest::NotEmpty),
            kw::ENABLED => self.call(ExprKind::Enabled),
            kw::PC_VALUE => self.call(ExprKind::PcValue),
            kw::GET_PRIORITY => self.call(ExprKind::GetPriority),
            kw::C_EXPR => self.embedded_c(),
            kw::EVAL => {
                self.sources.error(at, 4, "`eval` is only for the arguments of a receive");
                Err(Failed)
            }
            sym if sym.is_keyword() => self.unexpected("an expression"),
            sym if self.proctypes.contains(&sym) && self.is_remote() => self.remote(),
            _ => self.variable_or_poll(),
        }
    }

    /// `enabled(e)` and its like.
    fn call(&mut self, make: fn(Box<Expr>) -> ExprKind) -> Parsed<Expr> {
        let at = self.next().at;
        self.open(Tok::LParen, "`(`")?;
        let argument = self.nested(Self::expr)?;
        self.close(Tok::RParen, "`)`")?;
        Ok(Expr::new(at, make(Box::new(argument))))
    }

    fn channel_test(&mut self, test: ChannelTest) -> Parsed<Expr> {
        let at = self.next().at;
        self.open(Tok::LParen, "`(`")?;
        let channel = self.path()?;
        self.close(Tok::RParen, "`)`")?;
        Ok(Expr::new(at, ExprKind::Channel(test, channel)))
    }

    fn run(&mut self, at: At) -> Parsed<Expr> {
        self.next();
        let name = self.name("the name of a proctype")?;
        self.open(Tok::LParen, "`(` and the arguments")?;
        let arguments = if self.is(Tok::RParen) { Vec::new() } else { self.arguments()? };
        self.close(Tok::RParen, "`)`")?;
        let priority = self.priority()?.map(Box::new);
        Ok(Expr::new(at, ExprKind::Run { name, arguments, priority }))
    }

    /// `priority n`, if it is there.
    pub(super) fn priority(&mut self) -> Parsed<Option<Expr>> {
        if !self.eat_word(kw::PRIORITY) {
            return Ok(None);
        }
        Ok(Some(self.nested(Self::primary)?))
    }

    /// Expressions with commas between them.
    pub(super) fn arguments(&mut self) -> Parsed<Vec<Expr>> {
        let mut arguments = vec![self.nested(Self::expr)?];
        while self.eat(Tok::Comma) {
            arguments.push(self.nested(Self::expr)?);
        }
        Ok(arguments)
    }

    /// Whether the name here, of a proctype, begins `P[i]@l`, `P[i]:v`, `P@l` or `P:v`.
    fn is_remote(&self) -> bool {
        let follows = |token: Token| token.tok == Tok::AtSign || token.tok == Tok::Colon;
        if self.peek_at(1).tok != Tok::LBracket {
            return follows(self.peek_at(1));
        }
        let mut depth = 0usize;
        for ahead in 1.. {
            match self.peek_at(ahead).tok {
                Tok::LBracket => depth += 1,
                Tok::RBracket if depth == 1 => return follows(self.peek_at(ahead + 1)),
                Tok::RBracket => depth -= 1,
                Tok::Eof | Tok::Semi | Tok::LBrace | Tok::RBrace => return false,
                _ => {}
            }
        }
        false
    }

    fn remote(&mut self) -> Parsed<Expr> {
        let proctype = self.name("the name of a proctype")?;
        let at = proctype.at;
        let pid = if self.is(Tok::LBracket) { Some(Box::new(self.index()?)) } else { None };
        if self.eat(Tok::AtSign) {
            let label = self.name("a label")?;
            return Ok(Expr::new(at, ExprKind::RemoteLabel { proctype, pid, label }));
        }
        self.expect(Tok::Colon, "`@` and a label, or `:` and a variable")?;
        let path = self.path()?;
        Ok(Expr::new(at, ExprKind::RemoteVariable { proctype, pid, path }))
    }

    fn variable_or_poll(&mut self) -> Parsed<Expr> {
        let path = self.path()?;
        let at = path.first().at;
        let random = self.is(Tok::QuestQuest);
        if !random && !self.is(Tok::Quest) {
            return Ok(Expr::new(at, ExprKind::Path(path)));
        }
        if self.peek_at(1).tok != Tok::LBracket {
            self.next();
            let at = self.at();
            self.sources
                .error(at, 1, "a receive cannot stand inside an expression")
                .advise("to ask whether a message is there, write `c?[…]`; to choose between two values, `(c -> a : b)`");
            return Err(Failed);
        }
        self.next();
        self.open(Tok::LBracket, "`[`")?;
        let arguments = self.receive_arguments()?;
        self.close(Tok::RBracket, "`]`")?;
        Ok(Expr::new(at, ExprKind::Poll { channel: path, random, arguments }))
    }

    /// `a[i].b`
    pub(super) fn path(&mut self) -> Parsed<Path> {
        let mut segments = vec![self.segment("a variable")?];
        while self.eat(Tok::Dot) {
            segments.push(self.segment("the name of a field")?);
        }
        Ok(Path { segments })
    }

    fn segment(&mut self, what: &str) -> Parsed<Segment> {
        let name: Name = self.name(what)?;
        let indexed = self.is(Tok::LBracket) && !(self.in_ltl && self.peek_at(1).tok == Tok::RBracket);
        let index = if indexed { Some(Box::new(self.index()?)) } else { None };
        Ok(Segment { name, index })
    }

    fn index(&mut self) -> Parsed<Expr> {
        self.open(Tok::LBracket, "`[`")?;
        let index = self.nested(Self::expr)?;
        self.close(Tok::RBracket, "`]`")?;
        Ok(index)
    }

    /// The arguments of a receive or poll: `a, b`, `a(b, c)`, `(a, b)`.
    pub(super) fn receive_arguments(&mut self) -> Parsed<Vec<ReceiveArgument>> {
        let mut arguments = Vec::new();
        let mut opened = 0usize;
        loop {
            while self.is(Tok::LParen) {
                self.open(Tok::LParen, "`(`")?;
                opened += 1;
            }
            arguments.push(self.receive_argument()?);
            while opened > 0 && self.is(Tok::RParen) {
                self.close(Tok::RParen, "`)`")?;
                opened -= 1;
            }
            let nested = self.is(Tok::LParen) && !self.at_line_end();
            if !nested && !self.eat(Tok::Comma) {
                break;
            }
        }
        if opened > 0 {
            return self.unexpected("`)`");
        }
        Ok(arguments)
    }

    fn receive_argument(&mut self) -> Parsed<ReceiveArgument> {
        let token = self.peek();
        match token.tok {
            Tok::Name if token.sym == kw::EVAL => {
                self.next();
                self.open(Tok::LParen, "`(`")?;
                let value = self.nested(Self::expr)?;
                self.close(Tok::RParen, "`)`")?;
                Ok(ReceiveArgument::Eval(value))
            }
            Tok::Name if [kw::TRUE, kw::FALSE, kw::SKIP].contains(&token.sym) => {
                Ok(ReceiveArgument::Number(self.primary()?))
            }
            Tok::Name if !token.sym.is_keyword() => Ok(ReceiveArgument::Path(self.path()?)),
            Tok::Number | Tok::Char => Ok(ReceiveArgument::Number(self.number()?)),
            Tok::Minus => {
                self.next();
                let mut value = self.number()?;
                if let ExprKind::Number(n) = &mut value.kind {
                    *n = n.wrapping_neg();
                }
                Ok(ReceiveArgument::Number(value))
            }
            _ => self.unexpected("a variable, a constant, `_` or `eval(…)`"),
        }
    }
}

/// An operator before its operand.
#[derive(Clone, Copy)]
enum Prefix {
    Plain(UnaryOp),
    /// `!!`, which the lexer takes for a sorted send.
    NotNot,
    Temporal(TemporalOp),
}

/// The value of `'c'` or `'\n'`.
fn character(text: &str) -> i32 {
    let mut inner = text.trim_start_matches('\'').chars();
    let c = match inner.next() {
        Some('\\') => match inner.next() {
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            Some('f') => '\x0c',
            Some(c) => c,
            None => '\\',
        },
        Some(c) => c,
        None => '\'',
    };
    c as i32
}

/// An operator with two operands, and how tightly it binds.
pub(crate) fn binary(tok: Tok) -> Option<(BinaryOp, u8)> {
    Some(match tok {
        Tok::OrOr => (BinaryOp::Or, 2),
        Tok::AndAnd => (BinaryOp::And, 3),
        Tok::Pipe => (BinaryOp::BitOr, 5),
        Tok::Caret => (BinaryOp::BitXor, 6),
        Tok::Amp => (BinaryOp::BitAnd, 7),
        Tok::EqEq => (BinaryOp::Eq, 8),
        Tok::NotEq => (BinaryOp::Ne, 8),
        Tok::Gt => (BinaryOp::Gt, 9),
        Tok::Lt => (BinaryOp::Lt, 9),
        Tok::Ge => (BinaryOp::Ge, 9),
        Tok::Le => (BinaryOp::Le, 9),
        Tok::Shl => (BinaryOp::Shl, 10),
        Tok::Shr => (BinaryOp::Shr, 10),
        Tok::Plus => (BinaryOp::Add, 11),
        Tok::Minus => (BinaryOp::Sub, 11),
        Tok::Star => (BinaryOp::Mul, 12),
        Tok::Slash => (BinaryOp::Div, 12),
        Tok::Percent => (BinaryOp::Rem, 12),
        _ => return None,
    })
}
