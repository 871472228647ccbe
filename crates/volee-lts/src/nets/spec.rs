//! `.spec` files of the coverability tools (mist): `vars`, `rules`, `init`, `target`, `invariants`.
//!
//! A rule is `x >= 1, y >= 2 -> x' = x - 1, y' = y + x + 1;`. `#` starts a comment. Invariants are hints for other
//! tools and are skipped.

use volee_system::{Diagnostic, Place};

use super::{Comparison, Condition, Names, Net, Rule, Update};

const SECTIONS: [&str; 5] = ["vars", "rules", "init", "target", "invariants"];

/// Reads a net; `name` is how messages call it.
///
/// # Errors
/// The text is not such a net.
pub fn read_spec(text: &str, name: &str) -> Result<Net, Diagnostic> {
    let mut reader = Reader { tokens: tokens(text, name)?, at: 0, file: name };
    reader.section("vars")?;
    let counters = reader.counters()?;
    let names = Names::new(&counters);
    let mut net = Net::new(counters);
    reader.section("rules")?;
    while !reader.at_section() {
        let rule = reader.rule(&names, net.rules.len() + 1)?;
        net.rules.push(rule);
    }
    reader.section("init")?;
    for condition in reader.conditions(&names)? {
        net.initial[condition.counter] = condition.value;
        match condition.comparison {
            Comparison::AtLeast => net.open.push(condition.counter),
            Comparison::Equal => {}
            Comparison::AtMost => {
                return Err(Diagnostic::error("an initial marking cannot have an upper bound", None));
            }
        }
    }
    if reader.word() == Some("target") {
        reader.at += 1;
        while reader.at < reader.tokens.len() && !reader.at_section() {
            let target = reader.conditions(&names)?;
            net.targets.push(target);
        }
    }
    Ok(net)
}

/// Conditions alone: `x >= 2, y = 0`.
pub(super) fn conditions(text: &str, counters: &[String]) -> Result<Vec<Condition>, Diagnostic> {
    let text = text.replace("&&", ",").replace("==", "=");
    let mut reader = Reader { tokens: tokens(&text, "the condition")?, at: 0, file: "the condition" };
    let all = reader.conditions(&Names::new(counters))?;
    if reader.at < reader.tokens.len() {
        return Err(reader.wrong("expected `,` between conditions"));
    }
    Ok(all)
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Word(String),
    Number(u32),
    Symbol(&'static str),
}

struct Placed {
    token: Token,
    line: u32,
    column: u32,
}

const SYMBOLS: [&str; 12] = [">=", "<=", "->", "=", "+", "-", "*", ",", ";", "'", ">", "<"];

fn tokens(text: &str, file: &str) -> Result<Vec<Placed>, Diagnostic> {
    let mut all = Vec::new();
    for (line_number, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default();
        let mut at = 0;
        while at < line.len() {
            let rest = &line[at..];
            let first = rest.chars().next().unwrap_or(' ');
            let place = (line_number as u32 + 1, line[..at].chars().count() as u32 + 1);
            let complain = |message: String| Diagnostic::error(message, Place::new(file, place.0, place.1));
            let length = if first.is_whitespace() {
                first.len_utf8()
            } else if first.is_ascii_digit() {
                let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
                let value = rest[..digits]
                    .parse()
                    .map_err(|_| complain(format!("{} is too large", &rest[..digits])))?;
                all.push(Placed { token: Token::Number(value), line: place.0, column: place.1 });
                digits
            } else if first.is_alphabetic() || first == '_' {
                let length =
                    rest.find(|c: char| !(c.is_alphanumeric() || "_.:[]".contains(c))).unwrap_or(rest.len());
                all.push(Placed {
                    token: Token::Word(rest[..length].into()),
                    line: place.0,
                    column: place.1,
                });
                length
            } else if let Some(symbol) = SYMBOLS.iter().find(|s| rest.starts_with(**s)) {
                all.push(Placed { token: Token::Symbol(symbol), line: place.0, column: place.1 });
                symbol.len()
            } else {
                return Err(complain(format!("`{first}` has no meaning here")));
            };
            at += length;
        }
    }
    Ok(all)
}

struct Reader<'a> {
    tokens: Vec<Placed>,
    at: usize,
    file: &'a str,
}

impl Reader<'_> {
    fn place(&self) -> Option<Place> {
        let placed = self.tokens.get(self.at).or_else(|| self.tokens.last())?;
        Some(Place::new(self.file, placed.line, placed.column))
    }

    fn wrong(&self, message: impl Into<String>) -> Diagnostic {
        let place = self.place().unwrap_or_else(|| Place::new(self.file, 1, 1));
        Diagnostic::error(message, place)
    }

    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at).map(|p| &p.token)
    }

    fn word(&self) -> Option<&str> {
        match self.peek() {
            Some(Token::Word(word)) => Some(word),
            _ => None,
        }
    }

    fn at_section(&self) -> bool {
        // A counter may be called like a section; it is then followed by a comparison or a prime.
        let next = self.tokens.get(self.at + 1).map(|p| &p.token);
        self.peek().is_none()
            || self.word().is_some_and(|w| SECTIONS.contains(&w)) && !matches!(next, Some(Token::Symbol(_)))
    }

    fn section(&mut self, name: &str) -> Result<(), Diagnostic> {
        if self.word() != Some(name) {
            return Err(self.wrong(format!("expected the section `{name}`")));
        }
        self.at += 1;
        Ok(())
    }

    fn takes(&mut self, symbol: &str) -> bool {
        let found = matches!(self.peek(), Some(Token::Symbol(s)) if *s == symbol);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, symbol: &str) -> Result<(), Diagnostic> {
        if self.takes(symbol) { Ok(()) } else { Err(self.wrong(format!("expected `{symbol}`"))) }
    }

    fn counters(&mut self) -> Result<Vec<String>, Diagnostic> {
        let mut counters: Vec<String> = Vec::new();
        let mut seen = std::collections::HashSet::new();
        while !self.at_section() {
            self.takes(",");
            let Some(word) = self.word() else { return Err(self.wrong("expected the name of a counter")) };
            let word = word.to_owned();
            if !seen.insert(word.clone()) {
                return Err(self.wrong(format!("the counter `{word}` is declared twice")));
            }
            counters.push(word);
            self.at += 1;
        }
        Ok(counters)
    }

    fn counter(&mut self, names: &Names) -> Result<usize, Diagnostic> {
        let Some(word) = self.word() else { return Err(self.wrong("expected the name of a counter")) };
        let found = names.find(word, self.place())?;
        self.at += 1;
        Ok(found)
    }

    fn number(&mut self) -> Result<u32, Diagnostic> {
        match self.peek() {
            Some(&Token::Number(value)) => {
                self.at += 1;
                Ok(value)
            }
            _ => Err(self.wrong("expected a number")),
        }
    }

    fn condition(&mut self, names: &Names) -> Result<Condition, Diagnostic> {
        let counter = self.counter(names)?;
        let (comparison, more) = match () {
            () if self.takes(">=") => (Comparison::AtLeast, 0),
            () if self.takes(">") => (Comparison::AtLeast, 1),
            () if self.takes("<=") => (Comparison::AtMost, 0),
            () if self.takes("<") => return self.below(counter),
            () if self.takes("=") => (Comparison::Equal, 0),
            () => return Err(self.wrong("expected `>=`, `>`, `=`, `<` or `<=`")),
        };
        let value = self.number()?.saturating_add(more);
        Ok(Condition { counter, comparison, value })
    }

    /// The condition after `<`.
    fn below(&mut self, counter: usize) -> Result<Condition, Diagnostic> {
        let never = self.wrong("no counter is ever below 0");
        let value = self.number()?.checked_sub(1).ok_or(never)?;
        Ok(Condition { counter, comparison: Comparison::AtMost, value })
    }

    fn conditions(&mut self, names: &Names) -> Result<Vec<Condition>, Diagnostic> {
        let mut all = vec![self.condition(names)?];
        while self.takes(",") {
            all.push(self.condition(names)?);
        }
        Ok(all)
    }

    fn rule(&mut self, names: &Names, number: usize) -> Result<Rule, Diagnostic> {
        let guards = if self.word() == Some("true") || matches!(self.peek(), Some(Token::Symbol("->"))) {
            self.at += usize::from(self.word() == Some("true"));
            Vec::new()
        } else {
            self.conditions(names)?
        };
        self.expect("->")?;
        let mut updates = Vec::new();
        while !self.takes(";") {
            updates.push(self.update(names)?);
            if !self.takes(",") {
                self.expect(";")?;
                break;
            }
        }
        Ok(Rule { name: format!("rule {number}"), guards, updates })
    }

    fn update(&mut self, names: &Names) -> Result<Update, Diagnostic> {
        let counter = self.counter(names)?;
        self.expect("'")?;
        self.expect("=")?;
        let mut update = Update { counter, terms: Vec::new(), constant: 0 };
        let mut sign = if self.takes("-") { -1 } else { 1 };
        loop {
            match self.peek() {
                Some(&Token::Number(value)) => {
                    self.at += 1;
                    if self.takes("*") {
                        let counter = self.counter(names)?;
                        update.terms.push((sign * i64::from(value), counter));
                    } else {
                        update.constant += sign * i64::from(value);
                    }
                }
                _ => {
                    let counter = self.counter(names)?;
                    update.terms.push((sign, counter));
                }
            }
            sign = match () {
                () if self.takes("+") => 1,
                () if self.takes("-") => -1,
                () => return Ok(update),
            };
        }
    }
}
