//! The parser of the mu-calculus: tokens in, a checked [`Tree`] or diagnostics out.
//!
//! Prefix operators (modalities, fixed points, negation, CTL) bind tightest, then `and`, `or`, `implies`; so
//! `[a] mu Y . f and g` is `([a] mu Y . f) and g`, as in the published formulas. Chains of prefixes and of binary
//! operators are loops; only parentheses nest, and their depth is bounded.

use std::collections::HashMap;

use regex::RegexBuilder;
use volee_system::{Diagnostic, Place};

use super::action::{Action, Labels};
use super::equations::Sign;
use super::lex::{Span, Spanned, Token, lex};
use super::library::{Library, RESERVED};
use super::tree::{Modality, Regular, RegularId, StatePredicate, Term, TermId, Tree};

/// How deep parentheses may nest.
const MAXIMUM_NESTING: u32 = 200;
/// How often `{n,m}` may repeat.
const MAXIMUM_REPEAT: u32 = 1000;

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
    let mut parser = Parser::new(&expanded);
    let root = parser.whole().map_err(|error| vec![error])?;
    let unbound = std::mem::take(&mut parser.unbound);
    let tree = parser.finish(root);
    let mut errors = unbound;
    errors.extend(non_monotone(&tree));
    if errors.is_empty() { Ok(tree) } else { Err(errors) }
}

struct Parser<'t> {
    tokens: &'t [Spanned],
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

/// A regular expression, or an action predicate that is not yet a step.
enum Run {
    Action(Action),
    Regular(RegularId),
}

impl<'t> Parser<'t> {
    fn new(tokens: &'t [Spanned]) -> Self {
        Parser {
            tokens,
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
                        Err(span.error(format!("there is no macro called `{word}` here")))
                    }
                    None => {
                        self.unbound.push(
                            span.error(format!(
                                "`{word}` is not bound by any `mu {word} .` or `nu {word} .` around it"
                            ))
                            .with_help("a macro is used with its arguments in parentheses"),
                        );
                        Ok(self.push(Term::Constant(false), span))
                    }
                }
            }
        }
    }

    /// `A [f U g]`, `E [f U g]` and their weak forms with `W`.
    fn until(&mut self, quantifier: &str, span: &Span) -> Result<TermId, Diagnostic> {
        self.enter()?;
        self.advance();
        self.expect("[")?;
        let hold = self.formula()?;
        let weak = match self.peek() {
            Token::Word(w) if w == "U" || w == "W" => w == "W",
            _ => return Err(self.unexpected("`U` or `W`")),
        };
        self.advance();
        let goal = self.formula()?;
        self.expect("]")?;
        self.nesting -= 1;
        let sign = if weak { Sign::Nu } else { Sign::Mu };
        let next = |p: &mut Self, x| match (quantifier, weak) {
            ("A", false) => {
                let live = p.live(span);
                let all = p.modal(Modality::Necessarily, x, span);
                p.push(Term::And(live, all), span)
            }
            ("A", true) => p.modal(Modality::Necessarily, x, span),
            (_, false) => p.modal(Modality::Possibly, x, span),
            (_, true) => {
                let stuck = p.stuck(span);
                let some = p.modal(Modality::Possibly, x, span);
                p.push(Term::Or(stuck, some), span)
            }
        };
        Ok(self.fixed_point(sign, span, |p, x| {
            let step = next(p, x);
            let on = p.push(Term::And(hold, step), span);
            p.push(Term::Or(goal, on), span)
        }))
    }

    /// The CTL operators over maximal runs: a run may end in a state without steps.
    fn ctl(&mut self, word: &str, f: TermId, span: &Span) -> TermId {
        match word {
            "AX" => self.modal(Modality::Necessarily, f, span),
            "EX" => self.modal(Modality::Possibly, f, span),
            "AG" => self.fixed_point(Sign::Nu, span, |p, x| {
                let next = p.modal(Modality::Necessarily, x, span);
                p.push(Term::And(f, next), span)
            }),
            "EF" => self.fixed_point(Sign::Mu, span, |p, x| {
                let next = p.modal(Modality::Possibly, x, span);
                p.push(Term::Or(f, next), span)
            }),
            "AF" => self.fixed_point(Sign::Mu, span, |p, x| {
                let live = p.live(span);
                let all = p.modal(Modality::Necessarily, x, span);
                let next = p.push(Term::And(live, all), span);
                p.push(Term::Or(f, next), span)
            }),
            _ => self.fixed_point(Sign::Nu, span, |p, x| {
                let stuck = p.stuck(span);
                let some = p.modal(Modality::Possibly, x, span);
                let next = p.push(Term::Or(stuck, some), span);
                p.push(Term::And(f, next), span)
            }),
        }
    }

    fn fixed_point(
        &mut self,
        sign: Sign,
        span: &Span,
        body: impl FnOnce(&mut Self, TermId) -> TermId,
    ) -> TermId {
        let variable = u32::try_from(self.variables.len()).expect("the number of tokens is bounded");
        self.variables.push("_".into());
        let x = self.push(Term::Variable(variable), span);
        let body = body(self, x);
        self.push(Term::Fix(sign, variable, body), span)
    }

    fn modal(&mut self, modality: Modality, f: TermId, span: &Span) -> TermId {
        let any = self.intern(Action::Constant(true));
        let run = self.push_regular(Regular::Step(any));
        self.push(Term::Modal(modality, run, f), span)
    }

    fn live(&mut self, span: &Span) -> TermId {
        let yes = self.push(Term::Constant(true), span);
        self.modal(Modality::Possibly, yes, span)
    }

    fn stuck(&mut self, span: &Span) -> TermId {
        let no = self.push(Term::Constant(false), span);
        self.modal(Modality::Necessarily, no, span)
    }

    fn intern(&mut self, action: Action) -> usize {
        self.actions.iter().position(|a| *a == action).unwrap_or_else(|| {
            self.actions.push(action);
            self.actions.len() - 1
        })
    }

    // Regular expressions over actions.

    fn run_then(&mut self, close: &'static str) -> Result<RegularId, Diagnostic> {
        self.enter()?;
        let span = self.span();
        let run = self.choice()?;
        let run = self.as_regular(run);
        self.expect(close)?;
        self.nesting -= 1;
        if self.actions.len() > Labels::MAXIMUM {
            let message =
                format!("a formula may use at most {} different action predicates", Labels::MAXIMUM);
            return Err(span.error(message));
        }
        Ok(run)
    }

    fn as_regular(&mut self, run: Run) -> RegularId {
        match run {
            Run::Regular(id) => id,
            Run::Action(action) => {
                let action = self.intern(action);
                self.push_regular(Regular::Step(action))
            }
        }
    }

    fn choice(&mut self) -> Result<Run, Diagnostic> {
        let first = self.sequence()?;
        if *self.peek() != Token::Mark("|") {
            return Ok(first);
        }
        let mut all = vec![self.as_regular(first)];
        while self.eat(&["|"], "") {
            let next = self.sequence()?;
            all.push(self.as_regular(next));
        }
        Ok(Run::Regular(self.push_regular(Regular::Choice(all))))
    }

    fn sequence(&mut self) -> Result<Run, Diagnostic> {
        let first = self.action_or()?;
        if *self.peek() != Token::Mark(".") {
            return Ok(first);
        }
        let mut all = vec![self.as_regular(first)];
        while self.eat(&["."], "") {
            let next = self.action_or()?;
            all.push(self.as_regular(next));
        }
        Ok(Run::Regular(self.push_regular(Regular::Sequence(all))))
    }

    /// `or` joins actions; between longer runs it means the same as `|`.
    fn action_or(&mut self) -> Result<Run, Diagnostic> {
        let first = self.action_and()?;
        if !self.is_word("or") && *self.peek() != Token::Mark("||") {
            return Ok(first);
        }
        let mut all = vec![first];
        while self.eat(&["||"], "or") {
            all.push(self.action_and()?);
        }
        if all.iter().all(|run| matches!(run, Run::Action(_))) {
            let actions = all.into_iter().filter_map(|run| match run {
                Run::Action(action) => Some(action),
                Run::Regular(_) => None,
            });
            return Ok(Run::Action(Action::Or(actions.collect())));
        }
        let all = all.into_iter().map(|run| self.as_regular(run)).collect();
        Ok(Run::Regular(self.push_regular(Regular::Choice(all))))
    }

    fn action_and(&mut self) -> Result<Run, Diagnostic> {
        let span = self.span();
        let first = self.action_not()?;
        if !self.is_word("and") && !matches!(self.peek(), Token::Mark("&&" | "&")) {
            return Ok(first);
        }
        let mut all = vec![only_action(first, &span)?];
        while self.eat(&["&&", "&"], "and") {
            let span = self.span();
            let next = self.action_not()?;
            all.push(only_action(next, &span)?);
        }
        Ok(Run::Action(Action::And(all)))
    }

    fn action_not(&mut self) -> Result<Run, Diagnostic> {
        let mut negations = 0;
        while self.eat(&["!"], "not") {
            negations += 1;
        }
        let span = self.span();
        let run = self.repeated()?;
        if negations == 0 {
            return Ok(run);
        }
        let action = only_action(run, &span)?;
        Ok(Run::Action(if negations % 2 == 1 { Action::Not(Box::new(action)) } else { action }))
    }

    fn repeated(&mut self) -> Result<Run, Diagnostic> {
        let mut run = self.run_atom()?;
        loop {
            let span = self.span();
            let (least, most) = match self.peek() {
                Token::Mark("*") => (0, None),
                Token::Mark("+") => (1, None),
                Token::Mark("?") => (0, Some(1)),
                Token::Braces(text) => repetition(text, &span)?,
                _ => return Ok(run),
            };
            self.advance();
            let inner = self.as_regular(run);
            let regular = if (least, most) == (0, None) {
                Regular::Star(inner)
            } else {
                Regular::Repeat(inner, least, most)
            };
            run = Run::Regular(self.push_regular(regular));
        }
    }

    fn run_atom(&mut self) -> Result<Run, Diagnostic> {
        let span = self.span();
        let atom = match self.peek().clone() {
            Token::Label(text) => Run::Action(Action::Label(text)),
            Token::Pattern(text) => Run::Action(Action::Pattern(pattern(&text, &span)?)),
            Token::Word(word) => match word.as_str() {
                "true" | "any" => Run::Action(Action::Constant(true)),
                "false" => Run::Action(Action::Constant(false)),
                "tau" | "i" => Run::Action(Action::Internal),
                "nil" => Run::Regular(self.push_regular(Regular::Nil)),
                _ => {
                    return Err(span.error(format!("`{word}` is not an action")).with_help(format!(
                        "labels stand in quotes: \"{word}\"; patterns between slashes: /{word}.*/"
                    )));
                }
            },
            Token::Mark("(") => {
                self.enter()?;
                self.advance();
                let inner = self.choice()?;
                self.expect(")")?;
                self.nesting -= 1;
                return Ok(inner);
            }
            Token::Mark("?") => {
                self.advance();
                self.enter()?;
                self.expect("(")?;
                let test = self.formula()?;
                self.expect(")")?;
                self.nesting -= 1;
                return Ok(Run::Regular(self.push_regular(Regular::Test(test))));
            }
            _ => return Err(self.unexpected("an action such as \"label\", /pattern/, tau or true")),
        };
        self.advance();
        Ok(atom)
    }
}

fn only_action(run: Run, span: &Span) -> Result<Action, Diagnostic> {
    match run {
        Run::Action(action) => Ok(action),
        Run::Regular(_) => Err(span
            .error("`not` and `and` apply to single actions, and this is a sequence of them")
            .with_help("write (not \"a\")* for \"any number of steps other than a\"")),
    }
}

/// A pattern matches whole labels.
fn pattern(text: &str, span: &Span) -> Result<regex::Regex, Diagnostic> {
    RegexBuilder::new(&format!("^(?:{text})$")).size_limit(1 << 20).build().map_err(|error| {
        let reason = error.to_string();
        let last = reason.lines().last().unwrap_or_default().trim_start_matches("error: ").to_string();
        span.error(format!("`{text}` is not a regular expression: {last}"))
    })
}

/// `n`, `n,` or `n,m`.
fn repetition(text: &str, span: &Span) -> Result<(u32, Option<u32>), Diagnostic> {
    let bad = || {
        span.error(format!("`{{{text}}}` is not a repetition"))
            .with_help(format!("write {{2}}, {{2,}} or {{2,5}}, at most {MAXIMUM_REPEAT} times"))
    };
    let number =
        |digits: &str| digits.trim().parse::<u32>().ok().filter(|n| *n <= MAXIMUM_REPEAT).ok_or_else(bad);
    match text.split_once(',') {
        None => number(text).map(|n| (n, Some(n))),
        Some((least, most)) if most.trim().is_empty() => number(least).map(|n| (n, None)),
        Some((least, most)) => {
            let (least, most) = (number(least)?, number(most)?);
            if least <= most { Ok((least, Some(most))) } else { Err(bad()) }
        }
    }
}

/// Variables below an odd number of negations from their binder. A term has one parent, so its polarity is the
/// parent's, turned by `not`, by the left of an implication and by a test under a box.
fn non_monotone(tree: &Tree) -> Vec<Diagnostic> {
    let mut negative = vec![false; tree.terms.len()];
    let mut binder_negative = vec![false; tree.variables.len()];
    let mut errors = Vec::new();
    for at in (0..tree.terms.len()).rev() {
        let here = negative[at];
        match &tree.terms[at] {
            Term::Constant(_) | Term::Predicate(_) => {}
            Term::Not(f) => negative[f.0 as usize] = !here,
            Term::And(f, g) | Term::Or(f, g) => {
                negative[f.0 as usize] = here;
                negative[g.0 as usize] = here;
            }
            Term::Implies(f, g) => {
                negative[f.0 as usize] = !here;
                negative[g.0 as usize] = here;
            }
            Term::Modal(modality, run, f) => {
                negative[f.0 as usize] = here;
                mark_tests(tree, *run, here != (*modality == Modality::Necessarily), &mut negative);
            }
            Term::Forever(modality, run) => {
                mark_tests(tree, *run, here != (*modality == Modality::Necessarily), &mut negative);
            }
            Term::Fix(_, variable, body) => {
                binder_negative[*variable as usize] = here;
                negative[body.0 as usize] = here;
            }
            Term::Variable(variable) => {
                if binder_negative[*variable as usize] != here {
                    let (place, length) = tree.places[at].clone();
                    let name = &tree.variables[*variable as usize];
                    errors.push(
                        Diagnostic::error(
                            format!("`{name}` stands under an odd number of negations from its binder, so its fixed point may not exist"),
                            place,
                        )
                        .spanning(length),
                    );
                }
            }
        }
    }
    errors.reverse();
    errors
}

fn mark_tests(tree: &Tree, run: RegularId, polarity: bool, negative: &mut [bool]) {
    let mut stack = vec![run];
    while let Some(id) = stack.pop() {
        match tree.regular(id) {
            Regular::Step(_) | Regular::Nil => {}
            Regular::Test(f) => negative[f.0 as usize] = polarity,
            Regular::Sequence(all) | Regular::Choice(all) => stack.extend(all),
            Regular::Star(inner) | Regular::Repeat(inner, ..) => stack.push(*inner),
        }
    }
}
