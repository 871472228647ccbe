//! What the two small input languages share: tokens with places, linear expressions, boolean formulas and
//! their disjunctive form. Everything is bounded: nesting, number of disjuncts, length of numbers.

use std::sync::Arc;

use num_bigint::BigInt;
use volee_integers::{Int, Row};
use volee_system::{Diagnostic, Place, Scanner};

/// Parentheses inside parentheses before the input counts as malformed.
const NESTING: usize = 200;
/// Disjuncts of one formula.
const DISJUNCTS: usize = 1_024;
/// Digits of one number.
const DIGITS: usize = 1_000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Token {
    Word(String),
    Number(Int),
    Text,
    Symbol(&'static str),
    End,
}

impl Token {
    pub(crate) fn describe(&self) -> String {
        match self {
            Token::Word(w) => format!("`{w}`"),
            Token::Number(n) => format!("`{n}`"),
            Token::Text => "a string".to_owned(),
            Token::Symbol(s) => format!("`{s}`"),
            Token::End => "the end of the file".to_owned(),
        }
    }
}

/// Longest first, so that `:=` is not `:` and `=`.
const SYMBOLS: [&str; 28] = [
    ":=", "&&", "||", ">=", "<=", "!=", "==", "->", "=", "<", ">", "!", "+", "-", "*", "'", "(", ")", "{",
    "}", "[", "]", ",", ";", ":", ".", "&", "|",
];

pub(crate) struct Tokens {
    tokens: Vec<(Token, u32, u32)>,
    /// Whether the token follows the one before it without a gap.
    glued: Vec<bool>,
    at: usize,
    file: Arc<str>,
}

pub(crate) type Parsed<T> = Result<T, Diagnostic>;

impl Tokens {
    pub(crate) fn of(file: &str, text: &str) -> Parsed<Tokens> {
        let mut text = Scanner::new(file, text);
        let (mut tokens, mut glued, mut end) = (Vec::new(), Vec::new(), usize::MAX);
        loop {
            // A comment without an end ends with the text.
            let _ = text.skip(&[("//", "\n"), ("/*", "*/")]);
            let place = text.place();
            glued.push(text.at == end);
            if text.rest().is_empty() {
                tokens.push((Token::End, place.line, place.column));
                return Ok(Tokens { tokens, glued, at: 0, file: text.file });
            }
            let token = token(&mut text).map_err(|message| Diagnostic::error(message, place.clone()))?;
            tokens.push((token, place.line, place.column));
            end = text.at;
        }
    }

    pub(crate) fn peek(&self) -> &Token {
        &self.tokens[self.at].0
    }

    pub(crate) fn peek_second(&self) -> &Token {
        &self.tokens[(self.at + 1).min(self.tokens.len() - 1)].0
    }

    pub(crate) fn place(&self) -> Place {
        let (_, line, column) = &self.tokens[self.at];
        Place::new(Arc::clone(&self.file), *line, *column)
    }

    pub(crate) fn next(&mut self) -> Token {
        let token = self.tokens[self.at].0.clone();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    pub(crate) fn position(&self) -> usize {
        self.at
    }

    pub(crate) fn return_to(&mut self, position: usize) {
        self.at = position;
    }

    pub(crate) fn accept(&mut self, symbol: &str) -> bool {
        let found = matches!(self.peek(), Token::Symbol(s) if *s == symbol);
        if found {
            self.next();
        }
        found
    }

    pub(crate) fn accept_word(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), Token::Word(w) if w == word);
        if found {
            self.next();
        }
        found
    }

    pub(crate) fn expect(&mut self, symbol: &str) -> Parsed<()> {
        if self.accept(symbol) { Ok(()) } else { Err(self.unexpected(&format!("`{symbol}`"))) }
    }

    pub(crate) fn expect_word(&mut self, word: &str) -> Parsed<()> {
        if self.accept_word(word) { Ok(()) } else { Err(self.unexpected(&format!("`{word}`"))) }
    }

    pub(crate) fn word(&mut self, what: &str) -> Parsed<String> {
        match self.peek() {
            Token::Word(_) => {
                let Token::Word(w) = self.next() else { return Err(self.unexpected(what)) };
                Ok(w)
            }
            _ => Err(self.unexpected(what)),
        }
    }

    pub(crate) fn unexpected(&self, wanted: &str) -> Diagnostic {
        Diagnostic::error(format!("expected {wanted}, found {}", self.peek().describe()), self.place())
    }

    pub(crate) fn error(&self, message: impl Into<String>) -> Diagnostic {
        Diagnostic::error(message, self.place())
    }

    /// Skips to just after the next `symbol`, so that parsing can go on after an error.
    pub(crate) fn recover(&mut self, symbol: &str) {
        while *self.peek() != Token::End {
            if self.accept(symbol) {
                return;
            }
            self.next();
        }
    }
}

fn token(text: &mut Scanner<'_>) -> Result<Token, String> {
    let first = text.peek().unwrap_or(' ');
    if first.is_ascii_digit() {
        let digits = text.take_while(|c| c.is_ascii_digit());
        if digits.len() > DIGITS {
            return Err(format!("a number of {} digits is too long: at most {DIGITS}", digits.len()));
        }
        let number = digits.parse::<BigInt>().map_err(|e| e.to_string())?;
        return Ok(Token::Number(Int::from(number)));
    }
    if first.is_ascii_alphabetic() || first == '_' {
        return Ok(Token::Word(text.take_while(|c| c.is_ascii_alphanumeric() || c == '_').to_owned()));
    }
    if first == '"' {
        let end = text.rest()[1..].find('"').ok_or("this string has no end")?;
        text.take(end + 2);
        return Ok(Token::Text);
    }
    let symbol = text.symbol(&SYMBOLS).map(Token::Symbol);
    symbol.ok_or_else(|| format!("`{}` has no meaning here", first.escape_debug()))
}

/// A conjunction of rows that must not be negative.
pub(crate) type Conjunction = Vec<Row>;

/// The names that expressions may use.
pub(crate) trait Names {
    fn lookup(&self, name: &str) -> Option<usize>;
    fn count(&self) -> usize;
    /// A condition on the control location, `state = name`, as a set of disjuncts over names the language
    /// knows.
    fn location(&self, _name: &str) -> Option<Row> {
        None
    }
}

/// A linear expression: `2 * x - y + 3`, `-(x + y)`.
pub(crate) fn linear(tokens: &mut Tokens, names: &dyn Names) -> Parsed<Row> {
    sum(tokens, names, 0)
}

fn sum(tokens: &mut Tokens, names: &dyn Names, depth: usize) -> Parsed<Row> {
    let mut total = vec![Int::ZERO; names.count() + 1];
    let mut sign = if tokens.accept("-") { Int::MINUS_ONE } else { Int::ONE };
    loop {
        let term = product(tokens, names, depth)?;
        for (t, c) in total.iter_mut().zip(&term) {
            *t += &(&sign * c);
        }
        sign = if tokens.accept("+") {
            Int::ONE
        } else if tokens.accept("-") {
            Int::MINUS_ONE
        } else {
            return Ok(total);
        };
    }
}

fn product(tokens: &mut Tokens, names: &dyn Names, depth: usize) -> Parsed<Row> {
    let mut left = factor(tokens, names, depth)?;
    while matches!(tokens.peek(), Token::Symbol("*")) {
        let place = tokens.place();
        tokens.next();
        let right = factor(tokens, names, depth)?;
        let is_constant = |row: &Row| row[1..].iter().all(Int::is_zero);
        let (scale, row) = if is_constant(&left) {
            (left[0].clone(), right)
        } else if is_constant(&right) {
            (right[0].clone(), left)
        } else {
            return Err(Diagnostic::error("this product of two variables is not linear", place)
                .with_help("the counters engine handles sums of variables with constant factors"));
        };
        left = row.iter().map(|c| c * &scale).collect();
    }
    Ok(left)
}

fn factor(tokens: &mut Tokens, names: &dyn Names, depth: usize) -> Parsed<Row> {
    if depth > NESTING {
        return Err(tokens.error(format!("more than {NESTING} parentheses inside each other")));
    }
    let mut row = vec![Int::ZERO; names.count() + 1];
    match tokens.peek().clone() {
        Token::Number(n) => {
            tokens.next();
            row[0] = n;
            // 2x means 2 * x, but `>= 2` at the end of a line does not multiply what follows.
            if tokens.glued[tokens.at]
                && let Token::Word(w) = tokens.peek()
                && let Some(i) = names.lookup(w)
            {
                tokens.next();
                row[i + 1] = std::mem::take(&mut row[0]);
            }
            Ok(row)
        }
        Token::Word(w) => match names.lookup(&w) {
            Some(i) => {
                tokens.next();
                row[i + 1] = Int::ONE;
                Ok(row)
            }
            None => Err(tokens.error(format!("there is no variable `{w}`")).spanning(w.len() as u32)),
        },
        Token::Symbol("(") => {
            tokens.next();
            let inner = sum(tokens, names, depth + 1)?;
            tokens.expect(")")?;
            Ok(inner)
        }
        Token::Symbol("-") => {
            tokens.next();
            Ok(factor(tokens, names, depth + 1)?.iter().map(|c| -c).collect())
        }
        _ => Err(tokens.unexpected("a number or a variable")),
    }
}

/// A comparison of linear expressions as a disjunction.
pub(crate) fn comparison(tokens: &mut Tokens, names: &dyn Names) -> Parsed<Vec<Conjunction>> {
    let left = linear(tokens, names)?;
    let operator = match tokens.peek() {
        Token::Symbol(s @ (">=" | "<=" | ">" | "<" | "=" | "==" | "!=")) => *s,
        _ => return Err(tokens.unexpected("a comparison")),
    };
    tokens.next();
    let right = linear(tokens, names)?;
    let minus = |a: &Row, b: &Row, offset: Int| -> Row {
        let mut out: Row = a.iter().zip(b).map(|(a, b)| a - b).collect();
        out[0] += &offset;
        out
    };
    Ok(match operator {
        ">=" => vec![vec![minus(&left, &right, Int::ZERO)]],
        "<=" => vec![vec![minus(&right, &left, Int::ZERO)]],
        ">" => vec![vec![minus(&left, &right, Int::MINUS_ONE)]],
        "<" => vec![vec![minus(&right, &left, Int::MINUS_ONE)]],
        "!=" => vec![vec![minus(&left, &right, Int::MINUS_ONE)], vec![minus(&right, &left, Int::MINUS_ONE)]],
        _ => vec![vec![minus(&left, &right, Int::ZERO), minus(&right, &left, Int::ZERO)]],
    })
}

/// A boolean formula of comparisons in disjunctive form.
pub(crate) fn formula(tokens: &mut Tokens, names: &dyn Names) -> Parsed<Vec<Conjunction>> {
    disjunction(tokens, names, 0)
}

fn disjunction(tokens: &mut Tokens, names: &dyn Names, depth: usize) -> Parsed<Vec<Conjunction>> {
    let mut out = conjunction(tokens, names, depth)?;
    while tokens.accept("||") || tokens.accept("|") {
        out.extend(conjunction(tokens, names, depth)?);
        bounded(&out, tokens)?;
    }
    Ok(out)
}

fn conjunction(tokens: &mut Tokens, names: &dyn Names, depth: usize) -> Parsed<Vec<Conjunction>> {
    let mut out = atom(tokens, names, depth)?;
    while tokens.accept("&&") || tokens.accept("&") {
        let next = atom(tokens, names, depth)?;
        out = both(&out, &next);
        bounded(&out, tokens)?;
    }
    Ok(out)
}

pub(crate) fn both(a: &[Conjunction], b: &[Conjunction]) -> Vec<Conjunction> {
    a.iter().flat_map(|a| b.iter().map(move |b| a.iter().chain(b).cloned().collect())).collect()
}

fn bounded(disjuncts: &[Conjunction], tokens: &Tokens) -> Parsed<()> {
    if disjuncts.len() <= DISJUNCTS {
        return Ok(());
    }
    Err(tokens.error(format!("this formula has more than {DISJUNCTS} alternatives")))
}

fn atom(tokens: &mut Tokens, names: &dyn Names, depth: usize) -> Parsed<Vec<Conjunction>> {
    if depth > NESTING {
        return Err(tokens.error(format!("more than {NESTING} parentheses inside each other")));
    }
    if tokens.accept_word("true") {
        return Ok(vec![Vec::new()]);
    }
    if tokens.accept_word("false") {
        return Ok(Vec::new());
    }
    if tokens.accept("!") {
        let inner = atom(tokens, names, depth + 1)?;
        return negation(&inner, tokens);
    }
    if matches!(tokens.peek(), Token::Word(w) if w == "state")
        && matches!(tokens.peek_second(), Token::Symbol("=" | "=="))
    {
        tokens.next();
        tokens.next();
        let name = tokens.word("the name of a state")?;
        return match names.location(&name) {
            Some(row) => Ok(vec![vec![row.clone(), row.iter().map(|c| -c).collect()]]),
            None => Err(tokens.error(format!("there is no state `{name}`"))),
        };
    }
    if matches!(tokens.peek(), Token::Symbol("(")) {
        // A parenthesis may hold a formula or an expression; the formula is tried first.
        let start = tokens.position();
        tokens.next();
        if let Ok(inner) = disjunction(tokens, names, depth + 1)
            && tokens.accept(")")
            && !matches!(
                tokens.peek(),
                Token::Symbol(">=" | "<=" | ">" | "<" | "=" | "==" | "!=" | "+" | "-" | "*")
            )
        {
            return Ok(inner);
        }
        tokens.return_to(start);
    }
    comparison(tokens, names)
}

/// The complement of a disjunctive form.
pub(crate) fn negation(disjuncts: &[Conjunction], tokens: &Tokens) -> Parsed<Vec<Conjunction>> {
    let mut out: Vec<Conjunction> = vec![Vec::new()];
    for conjunction in disjuncts {
        let options: Vec<Conjunction> = conjunction
            .iter()
            .map(|row| {
                let mut not: Row = row.iter().map(|c| -c).collect();
                not[0] += &Int::MINUS_ONE;
                vec![not]
            })
            .collect();
        out = both(&out, &options);
        bounded(&out, tokens)?;
    }
    Ok(out)
}
