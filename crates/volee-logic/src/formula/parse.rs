//! The parser: operator precedence with an explicit stack, so that nesting costs memory and never the call
//! stack.
//!
//! Temporal operators and the expressions of the model live in one grammar, as in SPIN's `ltl` blocks:
//! `x == 2 U done` needs no marks. An operand is a formula or still an expression; comparisons and arithmetic
//! join expressions to larger ones, and the first logical operator turns an expression into an atom whose
//! text goes to the system unread. Braces mark such a text explicitly.

use std::sync::Arc;

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use volee_system::{Diagnostic, Scanner};

use super::patterns::{Macro, library};
use super::scan::{
    BINARY_WORDS, Binary, PREFIX_WORDS, Prefix, binary, nearest, next_span, prefix, skip_space,
};
use super::{AtomKind, Formula, NodeId, Pool, Span};

/// How deep macros may use macros.
const MACRO_DEPTH: u32 = 32;

/// Reads a formula. `file` names the text in messages.
///
/// # Errors
/// The first mistake, with its place.
pub fn parse(text: &str, file: &str) -> Result<Formula, Diagnostic> {
    let mut shared = Shared {
        pool: Pool::new(),
        macros: library(),
        expansions: HashMap::with_hasher(FixedState::default()),
    };
    let mut parser = Parser::new(Scanner::new(file, text), &mut shared, &[], 0);
    parser.definitions()?;
    let root = parser.formula()?;
    Ok(Formula { pool: shared.pool, root })
}

/// What the parsers of a formula and of the macros it uses have in common.
pub(super) struct Shared {
    pub pool: Pool,
    pub macros: Vec<Macro>,
    /// A macro with the same arguments is expanded once: no tower of definitions is exponential.
    expansions: HashMap<(usize, Vec<NodeId>), NodeId, FixedState>,
}

/// A formula, or still an expression of the system.
#[derive(Debug, Clone, Copy)]
pub(super) enum Operand {
    Formula(NodeId),
    /// A part of the text, with and without the brackets around it, and whether it is a bare name.
    Expression {
        outer: Span,
        inner: Span,
        bare: bool,
    },
}

impl Operand {
    pub fn expression(start: usize, end: usize, bare: bool) -> Self {
        let span = Span { start, end };
        Operand::Expression { outer: span, inner: span, bare }
    }
}

enum Frame {
    Prefix(Prefix, usize),
    Binary(Binary, Span),
    Paren(usize),
    Call { index: usize, name: Span, arguments: Vec<NodeId> },
}

pub(super) struct Parser<'a, 'p> {
    pub scanner: Scanner<'a>,
    pub shared: &'p mut Shared,
    /// Names that stand for the arguments of the macro being expanded.
    pub parameters: &'p [(String, NodeId)],
    operands: Vec<Operand>,
    frames: Vec<Frame>,
    depth: u32,
}

impl<'a, 'p> Parser<'a, 'p> {
    fn new(
        scanner: Scanner<'a>,
        shared: &'p mut Shared,
        parameters: &'p [(String, NodeId)],
        depth: u32,
    ) -> Self {
        Parser { scanner, shared, parameters, operands: Vec::new(), frames: Vec::new(), depth }
    }

    /// `let name(p, q) = body;` any number of times before the formula.
    fn definitions(&mut self) -> Result<(), Diagnostic> {
        loop {
            skip_space(&mut self.scanner);
            if self.scanner.word() != "let" {
                return Ok(());
            }
            self.scanner.at += "let".len();
            skip_space(&mut self.scanner);
            let name = self.scanner.word().to_string();
            if name.is_empty() {
                return Err(self.unexpected("the name of a macro"));
            }
            self.scanner.at += name.len();
            skip_space(&mut self.scanner);
            let mut parameters = Vec::new();
            if self.scanner.peek() == Some('(') {
                let inside = self.scanner.balanced()?;
                parameters = inside.split(',').map(|p| p.trim().to_string()).collect();
            }
            skip_space(&mut self.scanner);
            if !self.scanner.eat("=") {
                return Err(self.unexpected("`=` and the formula that the macro stands for"));
            }
            let start = self.scanner.at;
            let Some(length) = self.scanner.rest().find(';') else {
                let span = Span { start: start - 1, end: start };
                return Err(self.scanner.error(span, "the definition that starts here has no closing `;`"));
            };
            let text = self.scanner.text[..start + length].to_string();
            self.scanner.at = start + length + 1;
            self.shared.macros.insert(0, Macro { name, parameters, text, start });
        }
    }

    fn formula(&mut self) -> Result<NodeId, Diagnostic> {
        self.operand()?;
        while self.operator()? {
            self.operand()?;
        }
        let last = self.operands.pop().expect("an operand was read");
        Ok(self.as_formula(last))
    }

    /// Reads prefix operators and opening brackets up to and including one operand.
    fn operand(&mut self) -> Result<(), Diagnostic> {
        loop {
            skip_space(&mut self.scanner);
            let start = self.scanner.at;
            if self.scanner.eat("(") {
                self.frames.push(Frame::Paren(start));
            } else if let Some(prefix) = prefix(&mut self.scanner) {
                self.frames.push(Frame::Prefix(prefix, start));
            } else if !self.open_call()? {
                let operand = self.primary()?;
                self.operands.push(operand);
                return Ok(());
            }
        }
    }

    /// `name(` of a macro opens a call.
    fn open_call(&mut self) -> Result<bool, Diagnostic> {
        let word = self.scanner.word();
        let name = next_span(&self.scanner);
        let after = self.scanner.text[name.end..].trim_start();
        if word.is_empty() || !after.starts_with('(') || self.parameters.iter().any(|(p, _)| p == word) {
            return Ok(false);
        }
        let macros = &self.shared.macros;
        if let Some(index) = macros.iter().position(|m| m.name == word && !m.parameters.is_empty()) {
            self.scanner.at = self.scanner.text.len() - after.len() + 1;
            self.frames.push(Frame::Call { index, name, arguments: Vec::new() });
            return Ok(true);
        }
        match nearest(word, macros.iter().map(|m| m.name.as_str())) {
            Some(near) => {
                let help = format!("did you mean `{near}`?");
                Err(self.scanner.error(name, format!("there is no pattern `{word}`")).with_help(help))
            }
            None => Ok(false),
        }
    }

    /// Reads what may follow an operand; whether another operand must come.
    fn operator(&mut self) -> Result<bool, Diagnostic> {
        loop {
            skip_space(&mut self.scanner);
            let start = self.scanner.at;
            match self.scanner.peek() {
                None => {
                    self.reduce(0)?;
                    return match self.frames.pop() {
                        None => Ok(false),
                        Some(Frame::Call { name, .. }) => {
                            Err(self.scanner.error(name, "the arguments of this pattern are not closed"))
                        }
                        Some(Frame::Paren(open)) => {
                            let span = Span { start: open, end: open + 1 };
                            Err(self.scanner.error(span, "this `(` is never closed"))
                        }
                        Some(_) => unreachable!("reduce leaves brackets only"),
                    };
                }
                Some(')') => {
                    self.scanner.at += 1;
                    self.close(start)?;
                }
                Some(',') => {
                    self.scanner.at += 1;
                    self.argument(start)?;
                    return Ok(true);
                }
                Some(_) => {
                    let Some(op) = binary(&mut self.scanner) else {
                        return Err(self.unexpected_operator());
                    };
                    self.reduce(op.precedence())?;
                    self.frames.push(Frame::Binary(op, Span { start, end: self.scanner.at }));
                    return Ok(true);
                }
            }
        }
    }

    /// `,` ends an argument of a pattern.
    fn argument(&mut self, comma: usize) -> Result<(), Diagnostic> {
        self.reduce(0)?;
        let operand = self.operands.pop().expect("an operand came before the comma");
        let node = self.as_formula(operand);
        match self.frames.last_mut() {
            Some(Frame::Call { arguments, .. }) => {
                arguments.push(node);
                Ok(())
            }
            _ => {
                let span = Span { start: comma, end: comma + 1 };
                Err(self.scanner.error(span, "a `,` only separates the arguments of a pattern"))
            }
        }
    }

    /// `)` closes a group or a call.
    fn close(&mut self, at: usize) -> Result<(), Diagnostic> {
        self.reduce(0)?;
        match self.frames.pop() {
            Some(Frame::Paren(open)) => {
                if let Some(Operand::Expression { outer, .. }) = self.operands.last_mut() {
                    *outer = Span { start: open, end: at + 1 };
                }
                Ok(())
            }
            Some(Frame::Call { index, name, mut arguments }) => {
                let operand = self.operands.pop().expect("an operand came before the bracket");
                arguments.push(self.as_formula(operand));
                let node = self.expand(index, arguments, name)?;
                self.operands.push(Operand::Formula(node));
                Ok(())
            }
            _ => {
                let span = Span { start: at, end: at + 1 };
                Err(self.scanner.error(span, "this `)` closes nothing"))
            }
        }
    }

    /// Applies the operators on the stack that bind at least as tightly as `precedence`.
    fn reduce(&mut self, precedence: u8) -> Result<(), Diagnostic> {
        loop {
            match self.frames.last() {
                Some(&Frame::Prefix(op, start)) if op.precedence() >= precedence => {
                    self.frames.pop();
                    self.apply_prefix(op, start)?;
                }
                Some(&Frame::Binary(op, span)) if op.precedence() >= precedence => {
                    self.frames.pop();
                    self.apply_binary(op, span)?;
                }
                _ => return Ok(()),
            }
        }
    }

    fn apply_prefix(&mut self, op: Prefix, start: usize) -> Result<(), Diagnostic> {
        let operand = self.operands.pop().expect("a prefix operator has an operand");
        if op == Prefix::Expression {
            let Operand::Expression { outer, .. } = operand else {
                let span = Span { start, end: start + 1 };
                let message = "this operator applies to numbers, but a formula follows";
                return Err(self.scanner.error(span, message).with_help("write `!` for negation"));
            };
            self.operands.push(Operand::expression(start, outer.end, false));
            return Ok(());
        }
        let a = self.as_formula(operand);
        let pool = &mut self.shared.pool;
        let node = match op {
            Prefix::Not => pool.not(a),
            Prefix::Next => pool.next(a),
            Prefix::WeakNext => pool.weak_next(a),
            Prefix::Globally => pool.globally(a),
            Prefix::Finally => pool.finally(a),
            Prefix::Expression => unreachable!("handled above"),
        };
        self.operands.push(Operand::Formula(node));
        Ok(())
    }

    fn apply_binary(&mut self, op: Binary, span: Span) -> Result<(), Diagnostic> {
        let second = self.operands.pop().expect("a binary operator has two operands");
        let first = self.operands.pop().expect("a binary operator has two operands");
        if let Binary::Expression(_) = op {
            let (Operand::Expression { outer: a, .. }, Operand::Expression { outer: b, .. }) =
                (first, second)
            else {
                let symbol = &self.scanner.text[span.start..span.end];
                let message = format!("`{symbol}` compares or computes values, but one side is a formula");
                let help = "put the comparison in parentheses, or the whole expression in braces `{…}`";
                return Err(self.scanner.error(span, message).with_help(help));
            };
            self.operands.push(Operand::expression(a.start, b.end, false));
            return Ok(());
        }
        let (a, b) = (self.as_formula(first), self.as_formula(second));
        let pool = &mut self.shared.pool;
        let node = match op {
            Binary::Implies => pool.implies(a, b),
            Binary::Iff => pool.iff(a, b),
            Binary::Or => pool.or(a, b),
            Binary::Xor => {
                let same = pool.iff(a, b);
                pool.not(same)
            }
            Binary::And => pool.and(a, b),
            Binary::Until => pool.until(a, b),
            Binary::WeakUntil => pool.weak_until(a, b),
            Binary::Release => pool.release(a, b),
            Binary::StrongRelease => pool.strong_release(a, b),
            Binary::Expression(_) => unreachable!("handled above"),
        };
        self.operands.push(Operand::Formula(node));
        Ok(())
    }

    /// An expression becomes an atom.
    fn as_formula(&mut self, operand: Operand) -> NodeId {
        let (span, bare) = match operand {
            Operand::Formula(node) => return node,
            Operand::Expression { inner, bare, .. } => (inner, bare),
        };
        let text = &self.scanner.text[span.start..span.end];
        match text {
            "0" => Pool::FALSE,
            "1" => Pool::TRUE,
            _ if bare => self.shared.pool.atom(AtomKind::Name(text.into()), span),
            _ => self.shared.pool.atom(AtomKind::Predicate(text.into()), span),
        }
    }

    /// Whether a comma would end an argument here.
    pub fn in_arguments(&self) -> bool {
        self.frames.iter().any(|frame| matches!(frame, Frame::Call { .. }))
    }

    /// What a macro with these arguments stands for.
    pub fn expand(&mut self, index: usize, arguments: Vec<NodeId>, name: Span) -> Result<NodeId, Diagnostic> {
        if let Some(&node) = self.shared.expansions.get(&(index, arguments.clone())) {
            return Ok(node);
        }
        let called = self.shared.macros[index].clone();
        let (wanted, given) = (called.parameters.len(), arguments.len());
        if wanted != given {
            let message = format!("`{}` takes {wanted} arguments, but {given} are given", called.name);
            let quotes =
                if given > wanted { "; an event with several values is one argument in quotes" } else { "" };
            let help = format!("write {}({}){quotes}", called.name, called.parameters.join(", "));
            return Err(self.scanner.error(name, message).with_help(help));
        }
        if self.depth >= MACRO_DEPTH {
            let message = format!(
                "`{}` uses other macros more than {MACRO_DEPTH} deep; does it use itself?",
                called.name
            );
            return Err(self.scanner.error(name, message));
        }
        let bound: Vec<(String, NodeId)> =
            called.parameters.iter().cloned().zip(arguments.iter().copied()).collect();
        let file: Arc<str> = self.scanner.file.clone();
        let mut scanner = Scanner::new(file, &called.text);
        scanner.at = called.start;
        let node = Parser::new(scanner, self.shared, &bound, self.depth + 1).formula()?;
        self.shared.expansions.insert((index, arguments), node);
        Ok(node)
    }

    /// The error for something else than what may stand here.
    pub fn unexpected(&self, expected: &str) -> Diagnostic {
        let span = next_span(&self.scanner);
        let found = &self.scanner.text[span.start..span.end];
        if found.is_empty() {
            return self.scanner.error(span, format!("the formula ends where {expected} must come"));
        }
        self.scanner.error(span, format!("expected {expected}, found `{found}`"))
    }

    fn unexpected_operator(&self) -> Diagnostic {
        let error = self.unexpected("an operator (`&&`, `||`, `->`, `<->`, `U`, `W`, `R`), `)` or the end");
        let words = BINARY_WORDS.iter().map(|(w, _)| *w).chain(PREFIX_WORDS.iter().map(|(w, _)| *w));
        match nearest(self.scanner.word(), words) {
            Some(near) => error.with_help(format!("did you mean `{near}`?")),
            None => error,
        }
    }
}
