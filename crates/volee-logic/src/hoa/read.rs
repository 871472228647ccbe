//! HOA in: deterministic or nondeterministic automata with (generalised) Büchi acceptance, on states or
//! transitions.
//!
//! What the engines cannot use (alternation, several initial states, other acceptance conditions) is refused
//! by name. Sizes come from what the text mentions, never from its `States:` line or from the number of a
//! state.

use std::collections::BTreeMap;

use hashbrown::HashMap;
use volee_system::{Diagnostic, Scanner, is_word};

use crate::automaton::{Automaton, Edge, MAX_SETS};
use crate::bdd::{Bdd, Manager};

/// The most atomic propositions.
const MAX_ATOMS: u32 = 1024;

/// Reads one automaton.
///
/// # Errors
/// The text is not HOA, or uses something that is not supported; with its place.
pub fn read_hoa(text: &str, file: &str) -> Result<Automaton, Diagnostic> {
    let mut reader = Reader {
        text: Scanner::new(file, text),
        aliases: HashMap::new(),
        automaton: Automaton::empty(Vec::new()),
        states: BTreeMap::new(),
    };
    let initial = reader.header()?;
    reader.body()?;
    reader.finish(initial)
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Token<'a> {
    Word(&'a str),
    Header(&'a str),
    Text(String),
    Number(u32),
    Alias(&'a str),
    Symbol(char),
    Body,
    End,
    Eof,
}

struct Reader<'a> {
    text: Scanner<'a>,
    aliases: HashMap<String, Bdd>,
    automaton: Automaton,
    /// The states that the text mentions, by their numbers there.
    states: BTreeMap<u32, Vec<Edge>>,
}

impl<'a> Reader<'a> {
    fn error(&self, at: usize, message: impl Into<String>) -> Diagnostic {
        self.text.error(at..at, message)
    }

    /// Takes blanks and comments; where the next token begins.
    fn skip(&mut self) -> usize {
        // A comment without an end ends with the text.
        let _ = self.text.skip(&[("/*", "*/")]);
        self.text.at
    }

    fn next(&mut self) -> Result<Token<'a>, Diagnostic> {
        let start = self.skip();
        let text = &mut self.text;
        let Some(c) = text.peek() else { return Ok(Token::Eof) };
        let is_name = |c: char| is_word(c) || c == '-';
        if text.eat("--BODY--") {
            return Ok(Token::Body);
        }
        if text.eat("--END--") {
            return Ok(Token::End);
        }
        if c.is_ascii_digit() {
            let digits = text.take_while(|c| c.is_ascii_digit());
            let value = digits.parse().map_err(|_| self.error(start, "this number is too large"))?;
            return Ok(Token::Number(value));
        }
        if c.is_alphabetic() || c == '_' {
            let word = text.take_while(is_name);
            return Ok(if text.eat(":") { Token::Header(word) } else { Token::Word(word) });
        }
        if c == '"' {
            let value = text.quoted('"', |_| true);
            return value.map(Token::Text).ok_or_else(|| self.error(start, "this string is not closed"));
        }
        text.take(c.len_utf8());
        Ok(if c == '@' { Token::Alias(text.take_while(is_name)) } else { Token::Symbol(c) })
    }

    fn peek(&mut self) -> Result<Token<'a>, Diagnostic> {
        let at = self.text.at;
        let token = self.next()?;
        self.text.at = at;
        Ok(token)
    }

    fn number(&mut self, what: &str) -> Result<u32, Diagnostic> {
        let at = self.skip();
        match self.next()? {
            Token::Number(n) => Ok(n),
            _ => Err(self.error(at, format!("expected {what}"))),
        }
    }

    /// Reads the header; gives the initial state.
    fn header(&mut self) -> Result<u32, Diagnostic> {
        match self.next()? {
            Token::Header("HOA") => {}
            _ => {
                return Err(
                    self.error(0, "this is not an automaton in the Hanoi format: `HOA: v1` must come first")
                );
            }
        }
        let mut initial = None;
        loop {
            let at = self.skip();
            match self.next()? {
                Token::Body => break,
                Token::Header("Start") => {
                    if initial.is_some() {
                        return Err(self.error(at, "several initial states are not supported"));
                    }
                    initial = Some(self.number("the number of the initial state")?);
                    if self.peek()? == Token::Symbol('&') {
                        return Err(self.error(self.text.at, "alternating automata are not supported"));
                    }
                }
                Token::Header("AP") => self.propositions()?,
                Token::Header("Acceptance") => self.acceptance()?,
                Token::Header("Alias") => self.alias()?,
                Token::Eof => return Err(self.error(at, "the header ends without `--BODY--`")),
                _ => {}
            }
        }
        initial.ok_or_else(|| {
            self.error(self.text.at, "the header has no `Start:`, so the automaton has no initial state")
        })
    }

    fn propositions(&mut self) -> Result<(), Diagnostic> {
        let at = self.text.at;
        let count = self.number("the number of atomic propositions")?;
        if count > MAX_ATOMS {
            return Err(
                self.error(at, format!("more than {MAX_ATOMS} atomic propositions are not supported"))
            );
        }
        for _ in 0..count {
            match self.next()? {
                Token::Text(name) => self.automaton.atoms.push(name),
                _ => {
                    return Err(
                        self.error(at, format!("expected the {count} names of the atomic propositions"))
                    );
                }
            }
        }
        Ok(())
    }

    /// Only conjunctions of `Inf(set)`, each set once, and `t`.
    fn acceptance(&mut self) -> Result<(), Diagnostic> {
        let at = self.skip();
        let sets = self.number("the number of acceptance sets")?;
        if sets > MAX_SETS {
            return Err(self.error(at, format!("more than {MAX_SETS} acceptance sets are not supported")));
        }
        let start = self.text.at;
        while !matches!(self.peek()?, Token::Header(_) | Token::Body | Token::Eof) {
            self.next()?;
        }
        let condition: String = self.text.text[start..self.text.at].split_whitespace().collect();
        let condition = condition.replace(['(', ')'], "");
        let mut named: Vec<u32> = Vec::new();
        for part in condition.split('&').filter(|p| *p != "t") {
            match part.strip_prefix("Inf").and_then(|n| n.parse().ok()) {
                Some(set) if set < sets => named.push(set),
                _ => {
                    let message =
                        format!("the acceptance condition `{condition}` is not (generalised) Büchi");
                    return Err(self.error(at, message));
                }
            }
        }
        named.sort_unstable();
        named.dedup();
        if named.len() as u32 != sets {
            return Err(self.error(at, "every acceptance set must be named in the condition"));
        }
        self.automaton.sets = sets;
        Ok(())
    }

    fn alias(&mut self) -> Result<(), Diagnostic> {
        let at = self.text.at;
        let Token::Alias(name) = self.next()? else {
            return Err(self.error(at, "expected the name of the alias, as `@name`"));
        };
        let value = self.label(false)?;
        self.aliases.insert(name.to_string(), value);
        Ok(())
    }

    /// A label expression: with `!`, `&`, `|` and brackets, up to `]` if `bracketed`. Two stacks, no
    /// recursion.
    fn label(&mut self, bracketed: bool) -> Result<Bdd, Diagnostic> {
        let mut operands: Vec<Bdd> = Vec::new();
        let mut operators: Vec<char> = Vec::new();
        loop {
            let at = self.skip();
            match self.next()? {
                Token::Symbol(c @ ('!' | '(')) => {
                    operators.push(c);
                    continue;
                }
                token => {
                    let operand = self.label_operand(token, at)?;
                    operands.push(operand);
                }
            }
            loop {
                while operators.last() == Some(&'!') {
                    self.reduce(&mut operands, &mut operators);
                }
                let mark = self.text.at;
                match self.next()? {
                    Token::Symbol(c @ ('&' | '|')) => {
                        while operators.last().is_some_and(|&o| o != '(' && (o == '&' || c == '|')) {
                            self.reduce(&mut operands, &mut operators);
                        }
                        operators.push(c);
                        break;
                    }
                    Token::Symbol(')') if operators.contains(&'(') => {
                        while operators.last() != Some(&'(') {
                            self.reduce(&mut operands, &mut operators);
                        }
                        operators.pop();
                    }
                    Token::Symbol(']') if bracketed && !operators.contains(&'(') => {
                        return Ok(self.close(operands, operators));
                    }
                    _ if bracketed || operators.contains(&'(') => {
                        return Err(self.error(mark, "expected `&`, `|` or the end of the label"));
                    }
                    _ => {
                        self.text.at = mark;
                        return Ok(self.close(operands, operators));
                    }
                }
            }
        }
    }

    fn close(&mut self, mut operands: Vec<Bdd>, mut operators: Vec<char>) -> Bdd {
        while !operators.is_empty() {
            self.reduce(&mut operands, &mut operators);
        }
        operands.pop().expect("a label has an operand")
    }

    fn reduce(&mut self, operands: &mut Vec<Bdd>, operators: &mut Vec<char>) {
        let manager: &mut Manager = &mut self.automaton.manager;
        let b = operands.pop().expect("operators follow operands");
        let result = match operators.pop() {
            Some('!') => manager.not(b),
            Some('&') => {
                let a = operands.pop().expect("`&` has two operands");
                manager.and(a, b)
            }
            _ => {
                let a = operands.pop().expect("`|` has two operands");
                manager.or(a, b)
            }
        };
        operands.push(result);
    }

    fn label_operand(&mut self, token: Token<'a>, at: usize) -> Result<Bdd, Diagnostic> {
        match token {
            Token::Word("t") => Ok(Bdd::TRUE),
            Token::Word("f") => Ok(Bdd::FALSE),
            Token::Number(n) if (n as usize) < self.automaton.atoms.len() => {
                Ok(self.automaton.manager.literal(n, true))
            }
            Token::Number(n) => Err(self.error(at, format!("there is no atomic proposition number {n}"))),
            Token::Alias(name) => {
                let known = self.aliases.get(name).copied();
                known.ok_or_else(|| self.error(at, format!("the alias `@{name}` is not defined")))
            }
            _ => {
                Err(self
                    .error(at, "expected a label: a proposition's number, `t`, `f`, `!`, `(` or an alias"))
            }
        }
    }

    fn marks(&mut self) -> Result<u64, Diagnostic> {
        if self.peek()? != Token::Symbol('{') {
            return Ok(0);
        }
        self.next()?;
        let mut marks = 0;
        loop {
            let at = self.skip();
            match self.next()? {
                Token::Symbol('}') => return Ok(marks),
                Token::Number(set) if set < self.automaton.sets => marks |= 1 << set,
                _ => return Err(self.error(at, "expected the numbers of acceptance sets and `}`")),
            }
        }
    }

    fn state_number(&mut self) -> Result<u32, Diagnostic> {
        self.skip();
        let state = self.number("the number of a state")?;
        self.states.entry(state).or_default();
        Ok(state)
    }

    fn body(&mut self) -> Result<(), Diagnostic> {
        loop {
            let at = self.skip();
            match self.next()? {
                Token::End => return Ok(()),
                Token::Header("State") => self.state()?,
                _ => return Err(self.error(at, "expected `State:` or `--END--`")),
            }
        }
    }

    fn state(&mut self) -> Result<(), Diagnostic> {
        let mut state_label = None;
        if self.peek()? == Token::Symbol('[') {
            self.next()?;
            state_label = Some(self.label(true)?);
        }
        let state = self.state_number()?;
        if let Token::Text(_) = self.peek()? {
            self.next()?;
        }
        let state_marks = self.marks()?;
        let mut implicit = 0u32;
        loop {
            let at = self.skip();
            let own = match self.peek()? {
                Token::Symbol('[') => {
                    self.next()?;
                    Some(self.label(true)?)
                }
                Token::Number(_) => None,
                _ => return Ok(()),
            };
            let target = self.state_number()?;
            if self.peek()? == Token::Symbol('&') {
                return Err(self.error(self.text.at, "alternating automata are not supported"));
            }
            let guard = match (own, state_label) {
                (Some(guard), _) | (None, Some(guard)) => guard,
                (None, None) => self.implicit_label(&mut implicit, at)?,
            };
            let marks = state_marks | self.marks()?;
            self.states.entry(state).or_default().push(Edge { guard, marks, target });
        }
    }

    /// Without labels, the transitions of a state are for all letters in the order of binary numbers.
    fn implicit_label(&mut self, count: &mut u32, at: usize) -> Result<Bdd, Diagnostic> {
        let atoms = self.automaton.atoms.len() as u32;
        if atoms > 16 || *count >= 1 << atoms {
            return Err(
                self.error(at, "this transition has no label, and the state has all its implicit ones")
            );
        }
        let literals: Vec<(u32, bool)> = (0..atoms).map(|a| (a, *count >> a & 1 == 1)).collect();
        *count += 1;
        Ok(self.automaton.manager.cube(&literals))
    }

    fn finish(mut self, initial: u32) -> Result<Automaton, Diagnostic> {
        if !self.states.contains_key(&initial) {
            return Err(
                self.error(self.text.text.len(), format!("the initial state {initial} is not in the body"))
            );
        }
        if self.automaton.manager.exhausted() {
            return Err(self.error(0, "the labels of this automaton are too large"));
        }
        // Numbers may have gaps of any size; a state is called by its place among those that are mentioned.
        let place: HashMap<u32, u32> = self.states.keys().copied().zip(0..).collect();
        self.automaton.initial = place[&initial];
        self.automaton.states = self.states.into_values().collect();
        for edge in self.automaton.states.iter_mut().flatten() {
            edge.target = place[&edge.target];
        }
        self.automaton.merge_edges();
        Ok(self.automaton)
    }
}
