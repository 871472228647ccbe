//! The parser: from tokens to the syntax tree, by recursive descent.
//!
//! A function that cannot make sense of the tokens reports that and returns [`Failed`]; the loops over
//! statements and over declarations catch it, skip to where the next one seems to begin, and go on, so that
//! one run shows all mistakes. Nesting is bounded, as it is recursion here and in everything that walks the
//! tree.
//!
//! Line ends matter in one respect only: as in SPIN they may stand for the semicolon between two statements,
//! so at the beginning of a line `-`, `!` and `(` begin a statement rather than go on with the one before.

mod declaration;
mod expr;
mod habits;
mod inline;
mod statement;
mod unit;

use std::rc::Rc;

use hashbrown::{HashMap, HashSet};

use crate::ast::{Expr, Name, Unit};
use crate::intern::{Interner, Sym, kw};
use crate::limits::{MAX_EXPRESSION_DEPTH, MAX_NESTING};
use crate::source::{Advice, At, Sources};
use crate::suggest::closest;
use crate::token::{Tok, Token};
pub(crate) use expr::binary;
use inline::Inline;

/// The input made no sense here; a diagnostic says so.
#[derive(Debug)]
pub(crate) struct Failed;

pub(crate) type Parsed<T> = Result<T, Failed>;

/// A parser over one stream of tokens, and over the bodies of the inlines that are called in it.
pub(crate) struct Parser<'a> {
    tokens: Rc<[Token]>,
    position: usize,
    sources: &'a mut Sources,
    interner: &'a mut Interner,
    inlines: HashMap<Sym, Rc<Inline>>,
    /// Where each inline definition begins and ends.
    definitions: HashMap<usize, usize>,
    typedefs: HashSet<Sym>,
    /// All proctypes of the model, and those declared before the current token.
    proctypes: HashSet<Sym>,
    declared: HashSet<Sym>,
    /// The inlines being expanded, outermost first, and what all of them expanded to so far.
    expanding: Vec<Sym>,
    expanded: usize,
    nesting: usize,
    /// How many parentheses and brackets are open.
    open: usize,
    /// Whether line ends may end statements: in bodies, not in global declarations.
    in_body: bool,
    /// Whether temporal operators are operators.
    in_ltl: bool,
    /// The statement just read was the call of an inline, whose body ends with a brace.
    after_call: bool,
}

/// Parses a whole model.
pub(crate) fn parse(tokens: Vec<Token>, sources: &mut Sources, interner: &mut Interner) -> Vec<Unit> {
    let mut parser = Parser::new(tokens, sources, interner);
    parser.scan_ahead();
    parser.units()
}

/// Parses one expression that is all there is; proctypes are known beforehand.
pub(crate) fn parse_expression(
    tokens: Vec<Token>,
    proctypes: HashSet<Sym>,
    sources: &mut Sources,
    interner: &mut Interner,
) -> Parsed<Expr> {
    let mut parser = Parser::new(tokens, sources, interner);
    parser.proctypes = proctypes;
    let expr = parser.expr()?;
    if parser.peek().tok != Tok::Eof {
        return parser.unexpected("the end of the expression");
    }
    Ok(expr)
}

impl<'a> Parser<'a> {
    fn new(tokens: Vec<Token>, sources: &'a mut Sources, interner: &'a mut Interner) -> Self {
        Parser {
            tokens: tokens.into(),
            position: 0,
            sources,
            interner,
            inlines: HashMap::new(),
            definitions: HashMap::new(),
            typedefs: HashSet::new(),
            proctypes: HashSet::new(),
            declared: HashSet::new(),
            expanding: Vec::new(),
            expanded: 0,
            nesting: 0,
            open: 0,
            in_body: false,
            in_ltl: false,
            after_call: false,
        }
    }

    fn peek(&self) -> Token {
        self.peek_at(0)
    }

    /// The token `ahead` of the next; the last one is always `Eof`, for ever.
    fn peek_at(&self, ahead: usize) -> Token {
        let last = self.tokens.len() - 1;
        self.tokens[(self.position + ahead).min(last)]
    }

    fn next(&mut self) -> Token {
        let token = self.peek();
        if self.position < self.tokens.len() - 1 {
            self.position += 1;
        }
        token
    }

    fn at(&self) -> At {
        self.peek().at
    }

    fn is(&self, tok: Tok) -> bool {
        self.peek().tok == tok
    }

    fn is_word(&self, sym: Sym) -> bool {
        self.peek().is(sym)
    }

    fn eat(&mut self, tok: Tok) -> bool {
        let found = self.is(tok);
        if found {
            self.next();
        }
        found
    }

    fn eat_word(&mut self, sym: Sym) -> bool {
        let found = self.is_word(sym);
        if found {
            self.next();
        }
        found
    }

    fn expect(&mut self, tok: Tok, what: &str) -> Parsed<Token> {
        if self.is(tok) { Ok(self.next()) } else { self.unexpected(what) }
    }

    /// An opening parenthesis or bracket, inside which line ends mean nothing.
    fn open(&mut self, tok: Tok, what: &str) -> Parsed<()> {
        self.expect(tok, what)?;
        self.open += 1;
        Ok(())
    }

    fn close(&mut self, tok: Tok, what: &str) -> Parsed<()> {
        self.open = self.open.saturating_sub(1);
        self.expect(tok, what)?;
        Ok(())
    }

    /// A name that is not a keyword.
    fn name(&mut self, what: &str) -> Parsed<Name> {
        let token = self.peek();
        if token.tok != Tok::Name {
            return self.unexpected(what);
        }
        if token.sym.is_keyword() {
            let text = self.text(token.sym);
            self.sources
                .error(token.at, text.len(), format!("expected {what}, found the keyword `{text}`"))
                .advise(match token.sym {
                    kw::INT | kw::BYTE | kw::SHORT | kw::BOOL | kw::BIT => {
                        "a type is one word, and stands once before the names"
                    }
                    _ => "choose another name",
                });
            return Err(Failed);
        }
        self.next();
        Ok(Name { sym: token.sym, at: token.at })
    }

    /// A spelling for a message.
    fn text(&self, sym: Sym) -> String {
        self.interner.display(sym)
    }

    /// Whether a line ends here that may end a statement.
    fn at_line_end(&self) -> bool {
        self.in_body && self.open == 0 && self.peek().follows_break()
    }

    /// Runs `parse` one level deeper, or fails when that is too deep.
    fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.nesting >= MAX_NESTING {
            let at = self.at();
            self.sources
                .error(at, 1, format!("this nests more than {MAX_NESTING} levels deep"))
                .advise("take parts out into variables, macros or inlines");
            return Err(Failed);
        }
        self.nesting += 1;
        let result = parse(self);
        self.nesting -= 1;
        result
    }

    fn check_depth(&mut self, expr: Expr) -> Parsed<Expr> {
        if expr.depth as usize <= MAX_EXPRESSION_DEPTH {
            return Ok(expr);
        }
        let message =
            format!("this expression has more than {MAX_EXPRESSION_DEPTH} operators one in the other");
        self.sources.error(expr.at, 1, message).advise("split it into several");
        Err(Failed)
    }

    /// Reports that something else was expected.
    fn unexpected<T>(&mut self, expected: &str) -> Parsed<T> {
        let token = self.peek();
        let found = self.describe(token);
        let length = self.interner.text(token.sym).chars().count();
        let message = match token.tok {
            Tok::Unterminated => "this comment is never closed".into(),
            Tok::Other if self.interner.text(token.sym).starts_with('"') => {
                "this string is never closed".into()
            }
            _ => format!("expected {expected}, found {found}"),
        };
        self.sources.error(token.at, length, message);
        self.advise_habit(token);
        Err(Failed)
    }

    fn describe(&self, token: Token) -> String {
        match token.tok {
            Tok::Eof => "the end".into(),
            _ => {
                let text: String = self.interner.text(token.sym).chars().take(40).collect();
                match text.chars().any(char::is_control) {
                    true => format!("`{}`", text.escape_debug()),
                    false => format!("`{text}`"),
                }
            }
        }
    }

    /// Reports an unknown name with the known one that looks most like it.
    fn unknown(&mut self, name: Name, message: String, known: &[Sym]) {
        let text = self.text(name.sym);
        let known = if self.sources.too_many_errors() { &[] } else { known };
        let names = known.iter().map(|&sym| self.interner.text(sym));
        let help = closest(&text, names).map(|other| format!("did you mean `{other}`?"));
        let diagnostic = self.sources.error(name.at, text.len(), message);
        if let Some(help) = help {
            diagnostic.advise(help);
        }
    }
}
