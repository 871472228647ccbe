//! Macros and libraries of patterns, and their expansion.
//!
//! A library is a text of definitions `macro NAME(P, Q) = body end_macro`. Expansion happens on tokens, so
//! that a parameter can stand for a formula, an action or a regular expression alike. Unlike plain textual
//! macros it is hygienic: variables bound in a body are renamed for each use, so an argument that mentions
//! `X` never falls into the hands of a `mu X` of the body. A body may use only macros defined before it,
//! hence expansion ends. Tokens of a body get the place of the call: messages point into the text the user
//! wrote.

use std::collections::HashMap;

use volee_system::Diagnostic;

use super::lex::{Spanned, Token, lex};

/// Definitions that formulas may use.
#[derive(Debug, Clone, Default)]
pub struct Library {
    macros: HashMap<String, Macro>,
    defined: usize,
}

#[derive(Debug, Clone)]
struct Macro {
    parameters: Vec<String>,
    body: Vec<Spanned>,
    /// Position in the order of definition: a body sees only what came before.
    order: usize,
}

/// What no macro or variable may be called.
pub(super) const RESERVED: [&str; 29] = [
    "true",
    "false",
    "not",
    "and",
    "or",
    "implies",
    "mu",
    "nu",
    "nil",
    "tau",
    "any",
    "macro",
    "end_macro",
    "A",
    "E",
    "U",
    "W",
    "AG",
    "AF",
    "AX",
    "EG",
    "EF",
    "EX",
    "deadlock",
    "live",
    "i",
    "min",
    "max",
    "library",
];

/// An expansion beyond this many tokens is refused.
const MAXIMUM_TOKENS: usize = 200_000;

/// The patterns everybody needs. ACTL operators carry an action predicate; the property patterns follow the
/// usual names of specification patterns (absence, response, precedence, …) over all runs of a system.
const STANDARD: &str = r#"
-- ACTL: along steps that satisfy A.
macro EX_A(A, F) = <A> F end_macro
macro AX_A(A, F) = (<A> true and [A] F and [not (A)] false) end_macro
macro EF_A(A, F) = mu X . (F or <A> X) end_macro
macro AG_A(A, F) = nu X . (F and [A] X) end_macro
macro AF_A(A, F) = mu X . (F or (<true> true and [A] X and [not (A)] false)) end_macro
macro EG_A(A, F) = nu X . (F and ([true] false or <A> X)) end_macro
macro EU_A(F, A, G) = mu X . (G or (F and <A> X)) end_macro
macro AU_A(F, A, G) = mu X . (G or (F and <true> true and [A] X and [not (A)] false)) end_macro

-- Actions and runs.
macro can_do(A) = <true* . A> true end_macro
macro never(A) = [true* . A] false end_macro
macro inevitable(A) = mu X . (<true> true and [not (A)] X) end_macro
macro livelock() = <true*> <tau> @ end_macro
macro no_deadlock() = [true*] <true> true end_macro

-- Specification patterns.
macro absence(A) = never(A) end_macro
macro absence_after(A, B) = [true* . B . true* . A] false end_macro
macro existence(A) = inevitable(A) end_macro
macro response(A, B) = [true* . A] inevitable(B) end_macro
macro fair_response(A, B) = [true* . A . (not (B))*] <true* . B> true end_macro
macro precedence(A, B) = [(not (A))* . B] false end_macro
macro always_possible(A) = [true*] <true* . A> true end_macro
macro between(A, B, C) = [true* . A . (not (C))* . B] false end_macro
"#;

impl Library {
    /// No definitions at all.
    pub fn empty() -> Self {
        Library::default()
    }

    /// The patterns that come with volee.
    pub fn standard() -> Self {
        let mut library = Library::empty();
        library
            .add("standard library", STANDARD)
            .expect("the standard library is well-formed, a test reads it");
        library
    }

    /// Adds the definitions of a text; they may use everything defined before.
    ///
    /// # Errors
    /// The text is not a list of definitions.
    pub fn add(&mut self, file: &str, text: &str) -> Result<(), Vec<Diagnostic>> {
        let tokens = lex(file, text)?;
        let rest = self.take_definitions(&tokens).map_err(|error| vec![error])?;
        if rest[0].token != Token::End {
            let message = format!("expected `macro`, found {}", rest[0].token.describe());
            return Err(vec![rest[0].span.error(message)]);
        }
        Ok(())
    }

    /// The names of the macros with their numbers of parameters, sorted.
    pub fn names(&self) -> Vec<(&str, usize)> {
        let mut names: Vec<_> =
            self.macros.iter().map(|(name, m)| (name.as_str(), m.parameters.len())).collect();
        names.sort_unstable();
        names
    }

    /// Reads the definitions at the start of `tokens` and gives what follows them.
    pub(super) fn take_definitions<'t>(
        &mut self,
        mut tokens: &'t [Spanned],
    ) -> Result<&'t [Spanned], Diagnostic> {
        while is_word(&tokens[0], "macro") {
            tokens = self.take_definition(&tokens[1..])?;
        }
        Ok(tokens)
    }

    fn take_definition<'t>(&mut self, tokens: &'t [Spanned]) -> Result<&'t [Spanned], Diagnostic> {
        let mut at = 0;
        let name = expect_name(tokens, &mut at, "the macro's name")?;
        let mut parameters = Vec::new();
        expect_mark(tokens, &mut at, "(")?;
        while tokens[at].token != Token::Mark(")") {
            if !parameters.is_empty() {
                expect_mark(tokens, &mut at, ",")?;
            }
            let span = tokens[at].span.clone();
            let parameter = expect_parameter(tokens, &mut at)?;
            if parameters.contains(&parameter) {
                return Err(span.error(format!("two parameters are called `{parameter}`")));
            }
            parameters.push(parameter);
        }
        expect_mark(tokens, &mut at, ")")?;
        expect_mark(tokens, &mut at, "=")?;
        let length = tokens[at..].iter().position(|t| is_word(t, "end_macro")).ok_or_else(|| {
            tokens[0].span.error(format!("the definition of `{name}` is never closed with `end_macro`"))
        })?;
        let body = tokens[at..at + length].to_vec();
        self.defined += 1;
        self.macros.insert(name, Macro { parameters, body, order: self.defined });
        Ok(&tokens[at + length + 1..])
    }

    /// Replaces all macro calls.
    pub(super) fn expand(&self, tokens: &[Spanned]) -> Result<Vec<Spanned>, Diagnostic> {
        let mut expansion = Expansion { library: self, output: Vec::new(), uses: 0 };
        expansion.run(tokens)?;
        Ok(expansion.output)
    }
}

struct Expansion<'l> {
    library: &'l Library,
    output: Vec<Spanned>,
    uses: u32,
}

/// A token still to be expanded, and which macros it may call: those with an order below `visible`.
struct Pending {
    token: Spanned,
    visible: usize,
}

impl Expansion<'_> {
    /// Works on a stack of pending tokens, the next one on top, so deep expansions need no recursion.
    fn run(&mut self, tokens: &[Spanned]) -> Result<(), Diagnostic> {
        let mut pending: Vec<Pending> =
            tokens.iter().rev().map(|t| Pending { token: t.clone(), visible: usize::MAX }).collect();
        while let Some(Pending { token, visible }) = pending.pop() {
            if pending.len() + self.output.len() > MAXIMUM_TOKENS {
                return Err(token.span.error("the macros of this formula expand to more than 200000 tokens"));
            }
            let Token::Word(name) = &token.token else {
                self.output.push(token);
                continue;
            };
            match self.library.macros.get(name) {
                Some(definition) if definition.order < visible => {
                    self.call(name, definition, &token, &mut pending)?
                }
                _ => self.output.push(token),
            }
        }
        Ok(())
    }

    fn call(
        &mut self,
        name: &str,
        definition: &Macro,
        call: &Spanned,
        pending: &mut Vec<Pending>,
    ) -> Result<(), Diagnostic> {
        let arguments = take_arguments(call, pending)?;
        if arguments.len() != definition.parameters.len() {
            let message = format!(
                "`{name}` takes {} argument(s), but {} are given",
                definition.parameters.len(),
                arguments.len()
            );
            return Err(call.span.error(message));
        }
        self.uses += 1;
        let bound = bound_names(&definition.body);
        let at_call = |token: Token| Spanned { token, span: call.span.clone() };
        let open = |token| Pending { token: at_call(token), visible: 0 };
        pending.push(open(Token::Mark(")")));
        for token in definition.body.iter().rev() {
            let word = match &token.token {
                Token::Word(word) => word.as_str(),
                _ => "",
            };
            if let Some(i) = definition.parameters.iter().position(|p| p == word) {
                pending.push(open(Token::Mark(")")));
                pending.extend(
                    arguments[i].iter().rev().map(|p| Pending { token: p.token.clone(), visible: p.visible }),
                );
                pending.push(open(Token::Mark("(")));
            } else if bound.contains(&word) {
                pending.push(open(Token::Word(format!("{word}'{}", self.uses))));
            } else {
                pending.push(Pending { token: at_call(token.token.clone()), visible: definition.order });
            }
        }
        pending.push(open(Token::Mark("(")));
        Ok(())
    }
}

/// The arguments of a call, split at commas outside all brackets.
fn take_arguments(call: &Spanned, pending: &mut Vec<Pending>) -> Result<Vec<Vec<Pending>>, Diagnostic> {
    let missing = || {
        call.span.error(format!("{} is a macro: give its arguments in parentheses", call.token.describe()))
    };
    match pending.pop() {
        Some(p) if p.token.token == Token::Mark("(") => {}
        _ => return Err(missing()),
    }
    let mut arguments: Vec<Vec<Pending>> = vec![Vec::new()];
    let mut depth = 0u32;
    while let Some(p) = pending.pop() {
        match p.token.token {
            Token::Mark(")") if depth == 0 => {
                if arguments.len() == 1 && arguments[0].is_empty() {
                    arguments.clear();
                }
                return Ok(arguments);
            }
            Token::Mark(",") if depth == 0 => {
                arguments.push(Vec::new());
                continue;
            }
            Token::Mark("(" | "[") => depth += 1,
            Token::Mark(")" | "]") => depth = depth.saturating_sub(1),
            Token::End => break,
            _ => {}
        }
        arguments.last_mut().expect("there is always an argument being read").push(p);
    }
    Err(call.span.error("the arguments of this macro are never closed with `)`"))
}

/// The variables that a body binds.
fn bound_names(body: &[Spanned]) -> Vec<&str> {
    body.windows(2)
        .filter(|pair| is_word(&pair[0], "mu") || is_word(&pair[0], "nu"))
        .filter_map(|pair| match &pair[1].token {
            Token::Word(name) => Some(name.as_str()),
            _ => None,
        })
        .collect()
}

fn is_word(token: &Spanned, word: &str) -> bool {
    matches!(&token.token, Token::Word(w) if w == word)
}

fn expect_name(tokens: &[Spanned], at: &mut usize, what: &str) -> Result<String, Diagnostic> {
    let token = &tokens[*at];
    match &token.token {
        Token::Word(name) if RESERVED.contains(&name.as_str()) => {
            Err(token.span.error(format!("`{name}` has a meaning of its own and cannot be {what}")))
        }
        Token::Word(name) => {
            *at += 1;
            Ok(name.clone())
        }
        other => Err(token.span.error(format!("expected {what}, found {}", other.describe()))),
    }
}

/// Parameters live only inside their macro, so `A` and `E`, which the CTL operators use, are allowed.
fn expect_parameter(tokens: &[Spanned], at: &mut usize) -> Result<String, Diagnostic> {
    if let Token::Word(name) = &tokens[*at].token
        && (name == "A" || name == "E")
    {
        *at += 1;
        return Ok(name.clone());
    }
    expect_name(tokens, at, "a parameter")
}

fn expect_mark(tokens: &[Spanned], at: &mut usize, mark: &'static str) -> Result<(), Diagnostic> {
    let token = &tokens[*at];
    if token.token != Token::Mark(mark) {
        return Err(token.span.error(format!("expected `{mark}`, found {}", token.token.describe())));
    }
    *at += 1;
    Ok(())
}
