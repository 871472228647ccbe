//! The parser of the mu-calculus: tokens in, a checked [`Tree`] or diagnostics out.
//!
//! Prefix operators (modalities, fixed points, negation, CTL) bind tightest, then `and`, `or`, `implies`; so
//! `[a] mu Y . f and g` is `([a] mu Y . f) and g`, as in the published formulas. Chains of prefixes and of
//! binary operators are loops; only parentheses nest, and their depth is bounded.

mod abbreviations;
mod monotone;
mod regular;

use std::collections::HashMap;

use volee_system::{Diagnostic, Place};

use self::monotone::non_monotone;
use super::action::Action;
use super::equations::Sign;
use super::lex::{Span, Spanned, Token, lex};
use super::library::{Library, RESERVED};
use super::tree::{Modality, Regular, RegularId, StatePredicate, Term, TermId, Tree};
use crate::formula::scan::nearest;

/// How deep parentheses may nest.
const MAXIMUM_NESTING: u32 = 200;

/// Reads a formula, with macro definitions in front of it if there are any.
///
/// # Errors
/// What is wrong with the text: syntax, unbound variables, variables under an odd number of negations.
pub fn parse(file: &str, text: &str, library: &Library) -> Result<Tree, Vec<Diagnostic>> {
    let tokens = lex(file, text)?;
    let mut library = library.clone();
    let expanded = library
        .take_definitions(&tokens)
        .and_then(|rest| library.expand(rest))
        .map_err(|error| vec![error])?;
    let mut parser = Parser::new(&expanded, &library);
    let root = parser.whole().map_err(|error| vec![error])?;
    let unbound = std::mem::take(&mut parser.unbound);
    let tree = parser.finish(root);
    let mut errors = unbound;
    errors.extend(non_monotone(&tree));
    if errors.is_empty() { Ok(tree) } else { Err(errors) }
}

struct Parser<'t> {
    tokens: &'t [Spanned],
    /// For suggestions only: its macros are expanded already.
    library: &'t Library,
    at: usize,
    nesting: u32,
    terms: Vec<Term>,
    places: Vec<(Place, u32)>,
    regulars: Vec<Regular>,
    actions: Vec<Action>,
    predicates: Vec<StatePredicate>,
    variables: Vec<String>,
    /// Binders in scope, by name, innermost last.
    scope: HashMap<String, Vec<u32>>,
    /// All unbound variables are reported, not only the first.
    unbound: Vec<Diagnostic>,
}

/// A prefix operator waiting for its operand.
enum Prefix {
    Not,
    Modal(Modality, RegularId),
    Fix(Sign, u32, String),
    Ctl(String),
}

impl<'t> Parser<'t> {
    fn new(tokens: &'t [Spanned], library: &'t Library) -> Self {
        Parser {
            tokens,
            library,
            at: 0,
            nesting: 0,
            terms: Vec::new(),
            places: Vec::new(),
            regulars: Vec::new(),
            actions: Vec::new(),
            predicates: Vec::new(),
            variables: Vec::new(),
            scope: HashMap::new(),
            unbound: Vec::new(),
        }
    }

    fn finish(self, root: TermId) -> Tree {
        Tree {
            terms: self.terms,
            places: self.places,
            regulars: self.regulars,
            actions: self.actions,
            predicates: self.predicates,
            variables: self.variables,
            root,
        }
    }

    fn peek(&self) -> &'t Token {
        &self.tokens[self.at].token
    }

    fn span(&self) -> Span {
        self.tokens[self.at].span.clone()
    }

    fn advance(&mut self) {
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Token::Word(w) if w == word)
    }

    fn eat(&mut self, marks: &[&str], word: &str) -> bool {
        let found = match self.peek() {
            Token::Mark(mark) => marks.contains(mark),
            Token::Word(w) => w == word,
            _ => false,
        };
        if found {
            self.advance();
        }
        found
    }

    fn expect(&mut self, mark: &'static str) -> Result<(), Diagnostic> {
        if self.eat(&[mark], "") { Ok(()) } else { Err(self.unexpected(&format!("`{mark}`"))) }
    }

    fn unexpected(&self, wanted: &str) -> Diagnostic {
        self.span().error(format!("expected {wanted}, found {}", self.peek().describe()))
    }

    fn enter(&mut self) -> Result<(), Diagnostic> {
        self.nesting += 1;
        if self.nesting > MAXIMUM_NESTING {
            return Err(self.span().error(format!("parentheses nest deeper than {MAXIMUM_NESTING}")));
        }
        Ok(())
    }

    fn push(&mut self, term: Term, span: &Span) -> TermId {
        let id = TermId(u32::try_from(self.terms.len()).expect("the number of tokens is bounded"));
        self.terms.push(term);
        self.places.push((span.place.clone(), span.length));
        id
    }

    fn push_regular(&mut self, regular: Regular) -> RegularId {
        let id = RegularId(u32::try_from(self.regulars.len()).expect("the number of tokens is bounded"));
        self.regulars.push(regular);
        id
    }

    fn whole(&mut self) -> Result<TermId, Diagnostic> {
        let root = self.formula()?;
        if *self.peek() == Token::End {
            return Ok(root);
        }
        Err(self.unexpected("an operator or the end of the formula"))
    }

    fn formula(&mut self) -> Result<TermId, Diagnostic> {
        // Implication associates to the right: the operands are folded from the end.
        let mut operands = vec![self.disjunction()?];
        let mut spans = Vec::new();
        loop {
            let span = self.span();
            if !self.eat(&["=>"], "implies") {
                break;
            }
            spans.push(span);
            operands.push(self.disjunction()?);
        }
        let mut result = operands.pop().expect("one operand was read");
        while let (Some(left), Some(span)) = (operands.pop(), spans.pop()) {
            result = self.push(Term::Implies(left, result), &span);
        }
        Ok(result)
    }

    fn disjunction(&mut self) -> Result<TermId, Diagnostic> {
        let mut left = self.conjunction()?;
        loop {
            let span = self.span();
            if !self.eat(&["||", "|"], "or") {
                return Ok(left);
            }
            let right = self.conjunction()?;
            left = self.push(Term::Or(left, right), &span);
        }
    }

    fn conjunction(&mut self) -> Result<TermId, Diagnostic> {
        let mut left = self.unary()?;
        loop {
            let span = self.span();
            if !self.eat(&["&&", "&"], "and") {
                return Ok(left);
            }
            let right = self.unary()?;
            left = self.push(Term::And(left, right), &span);
        }
    }

    /// A chain of prefix operators and what they apply to.
    fn unary(&mut self) -> Result<TermId, Diagnostic> {
        let mut prefixes: Vec<(Prefix, Span)> = Vec::new();
        let mut result = loop {
            let span = self.span();
            match self.prefix()? {
                Some(prefix) => {
                    if let Prefix::Modal(modality, run) = &prefix
                        && self.eat(&["@"], "")
                    {
                        break self.push(Term::Forever(*modality, *run), &span);
                    }
                    prefixes.push((prefix, span));
                }
                None => break self.primary()?,
            }
        };
        while let Some((prefix, span)) = prefixes.pop() {
            result = match prefix {
                Prefix::Not => self.push(Term::Not(result), &span),
                Prefix::Modal(modality, run) => self.push(Term::Modal(modality, run, result), &span),
                Prefix::Fix(sign, variable, name) => {
                    self.scope.get_mut(&name).expect("the binder was entered").pop();
                    self.push(Term::Fix(sign, variable, result), &span)
                }
                Prefix::Ctl(word) => self.ctl(&word, result, &span),
            };
        }
        Ok(result)
    }

    fn prefix(&mut self) -> Result<Option<Prefix>, Diagnostic> {
        if self.eat(&["!"], "not") {
            return Ok(Some(Prefix::Not));
        }
        if self.eat(&["<"], "") {
            let run = self.run_then(">")?;
            return Ok(Some(Prefix::Modal(Modality::Possibly, run)));
        }
        if self.eat(&["["], "") {
            let run = self.run_then("]")?;
            return Ok(Some(Prefix::Modal(Modality::Necessarily, run)));
        }
        for (word, sign) in [("mu", Sign::Mu), ("nu", Sign::Nu), ("min", Sign::Mu), ("max", Sign::Nu)] {
            if self.eat(&[], word) {
                return self.binder(sign).map(Some);
            }
        }
        if let Token::Word(word) = self.peek()
            && ["AG", "AF", "AX", "EG", "EF", "EX"].contains(&word.as_str())
        {
            self.advance();
            return Ok(Some(Prefix::Ctl(word.clone())));
        }
        Ok(None)
    }

    fn binder(&mut self, sign: Sign) -> Result<Prefix, Diagnostic> {
        let Token::Word(name) = self.peek() else {
            return Err(self.unexpected("the name of a variable"));
        };
        if RESERVED.contains(&name.as_str()) {
            let message = format!("`{name}` has a meaning of its own and cannot be a variable");
            return Err(self.span().error(message));
        }
        self.advance();
        self.expect(".")?;
        let variable = u32::try_from(self.variables.len()).expect("the number of tokens is bounded");
        // A macro's variables carry a number after an apostrophe; people need not see it.
        self.variables.push(name.split('\'').next().unwrap_or(name).to_string());
        self.scope.entry(name.clone()).or_default().push(variable);
        Ok(Prefix::Fix(sign, variable, name.clone()))
    }

    fn primary(&mut self) -> Result<TermId, Diagnostic> {
        let span = self.span();
        match self.peek().clone() {
            Token::Mark("(") => {
                self.enter()?;
                self.advance();
                let inner = self.formula()?;
                self.expect(")")?;
                self.nesting -= 1;
                Ok(inner)
            }
            Token::Braces(text) => {
                self.advance();
                let place = Place { column: span.place.column + 1, ..span.place.clone() };
                self.predicates.push(StatePredicate { text, place });
                Ok(self.push(Term::Predicate(self.predicates.len() - 1), &span))
            }
            Token::Word(word) => self.word(&word, &span),
            Token::Label(text) => Err(span
                .error(format!("the label \"{text}\" is not a formula"))
                .with_help(format!("write <\"{text}\"> true for \"it can do {text}\""))),
            _ => Err(self.unexpected("a formula")),
        }
    }

    fn word(&mut self, word: &str, span: &Span) -> Result<TermId, Diagnostic> {
        match word {
            "true" | "false" => {
                self.advance();
                Ok(self.push(Term::Constant(word == "true"), span))
            }
            "deadlock" | "live" => {
                self.advance();
                Ok(if word == "live" { self.live(span) } else { self.stuck(span) })
            }
            "A" | "E" => self.until(word, span),
            _ if RESERVED.contains(&word) => Err(self.unexpected("a formula")),
            _ => {
                self.advance();
                match self.scope.get(word).and_then(|binders| binders.last()) {
                    Some(&variable) => Ok(self.push(Term::Variable(variable), span)),
                    None if *self.peek() == Token::Mark("(") => {
                        let error = span.error(format!("there is no macro called `{word}` here"));
                        Err(match nearest(word, self.library.names().into_iter().map(|(name, _)| name)) {
                            Some(near) => error.with_help(format!("did you mean `{near}`?")),
                            None => error,
                        })
                    }
                    None => {
                        // Binders that were left are still known by name.
                        let help = if self.scope.contains_key(word) {
                            format!(
                                "a fixed point ends before the next `and`, `or`, `implies`: write `mu {word} . ( … )` or `nu {word} . ( … )` with all of it in the parentheses"
                            )
                        } else {
                            "a macro is used with its arguments in parentheses".to_string()
                        };
                        self.unbound.push(
                            span.error(format!(
                                "`{word}` is not bound by any `mu {word} .` or `nu {word} .` around it"
                            ))
                            .with_help(help),
                        );
                        Ok(self.push(Term::Constant(false), span))
                    }
                }
            }
        }
    }
}
