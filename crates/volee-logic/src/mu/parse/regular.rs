//! Regular expressions over actions: what stands in a modality.
//!
//! An action predicate stays one as long as it can, so that `not`, `and` and `or` join predicates of a single
//! step; it becomes a step when it is put in a sequence, repeated, or ends the modality.

use volee_system::Diagnostic;

use super::super::action::{Action, Labels};
use super::super::lex::{Span, Token};
use super::super::tree::{Regular, RegularId};
use super::Parser;
use crate::formula::LabelPattern;

/// How often `{n,m}` may repeat.
const MAXIMUM_REPEAT: u32 = 1000;

/// A regular expression, or an action predicate that is not yet a step.
enum Run {
    Action(Action),
    Regular(RegularId),
}

impl Parser<'_> {
    pub(super) fn intern(&mut self, action: Action) -> usize {
        self.actions.iter().position(|a| *a == action).unwrap_or_else(|| {
            self.actions.push(action);
            self.actions.len() - 1
        })
    }

    pub(super) fn run_then(&mut self, close: &'static str) -> Result<RegularId, Diagnostic> {
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
            Token::Label(text) => Run::Action(event(LabelPattern::Exact(text), &span)?),
            Token::Pattern(text) => Run::Action(event(LabelPattern::Regex(text), &span)?),
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

/// A text in quotes, or a regular expression.
fn event(label: LabelPattern, span: &Span) -> Result<Action, Diagnostic> {
    let text = match &label {
        LabelPattern::Regex(text) => text.clone(),
        _ => String::new(),
    };
    Action::event(label)
        .map_err(|error| span.error(format!("`{text}` is not a regular expression: {}", error.reason())))
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
