//! Reads `.spec` nets, the format of the coverability benchmarks.
//!
//! ```text
//! vars     x y z
//! rules    x >= 1, y = 0 -> x' = x - 1, z' = z + y + 1, y' = 0;
//! init     x >= 1, y = 0, z = 0
//! target   z >= 2
//!          x >= 3, y >= 1
//! invariants  x = 1, y = 1
//! ```
//!
//! Atoms joined by commas are a conjunction; an atom that follows without a comma starts the next
//! alternative. Besides `>=` and `=` there are `<=`, `<`, `>` and `x in [1, 3]`. A place that `init` does not
//! name may hold any number of tokens. A net without a target has no question of its own. Lines of
//! `invariants` are only hints, so a false one does no harm. The reader takes any text, reports every error
//! it can with its place, and allocates in proportion to it.

use std::collections::{BTreeMap, HashMap, HashSet};

use volee_system::{Diagnostic, Place, Scanner};

use crate::net::{Bound, Initial, MAX_TOKENS, Net, PlaceId, Row, Target, Transition};

/// After this many errors the rest is most likely a consequence.
const MAX_ERRORS: usize = 20;

/// Initial markings that ranges may be written out into.
const MAX_INITIAL: usize = 256;

/// Reads a `.spec` net; `file` is only for messages.
///
/// # Errors
/// Everything that is wrong with the text, in its order; never empty.
pub fn read_spec(file: &str, text: &str) -> Result<Net, Vec<Diagnostic>> {
    let mut errors = Vec::new();
    let tokens = lex(file, text, &mut errors);
    let mut reader = Reader { tokens, at: 0, errors, names: HashMap::new(), net: Net::default() };
    reader.net();
    let Reader { net, mut errors, .. } = reader;
    if errors.is_empty()
        && let Err(error) = net.validate()
    {
        errors.push(Diagnostic::error(error.to_string(), Place::new(file, 1, 1)));
    }
    if errors.is_empty() { Ok(net) } else { Err(errors) }
}

/// Reads conditions alone, `x >= 2, y = 0`, about the places of a net.
///
/// # Errors
/// What is wrong with the text first.
pub(crate) fn read_condition(net: &Net, text: &str) -> Result<Target, Diagnostic> {
    let mut errors = Vec::new();
    let tokens = lex("the condition", text, &mut errors);
    let names: HashMap<&str, PlaceId> =
        net.places.iter().enumerate().map(|(i, name)| (name.as_str(), PlaceId(i as u32))).collect();
    let asked = Net { places: net.places.clone(), ..Net::default() };
    let mut reader = Reader { tokens, at: 0, errors, names, net: asked };
    let bounds = reader.conjunction().and_then(|atoms| reader.bounds(0, atoms));
    if reader.errors.is_empty() && *reader.peek() != Kind::End {
        reader.unexpected("`,` between conditions");
    }
    match (reader.errors.into_iter().next(), bounds) {
        (None, Some((at_least, at_most))) => Ok(Target { name: text.into(), at_least, at_most }),
        (Some(error), _) => Err(error),
        (None, None) => Err(Diagnostic::error("there is no condition", None)),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind<'t> {
    Name(&'t str),
    Number(u32),
    Symbol(&'static str),
    End,
}

#[derive(Debug, Clone)]
struct Token<'t> {
    kind: Kind<'t>,
    place: Place,
    length: u32,
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '.' | '@' | ':' | '$' | '[' | ']' | '~')
}

const SYMBOLS: [&str; 14] = [">=", "<=", "->", "&&", "==", ">", "<", "*", "=", ",", ";", "'", "+", "-"];

fn lex<'t>(file: &str, text: &'t str, errors: &mut Vec<Diagnostic>) -> Vec<Token<'t>> {
    let mut text = Scanner::new(file, text);
    let mut tokens = Vec::new();
    loop {
        // A comment ends with its line, so that none is open at the end.
        let _ = text.skip(&[("#", "\n")]);
        let (start, place) = (text.at, text.place());
        let kind = match text.peek() {
            None => Some(Kind::End),
            Some(c) if is_name(c) => Some(name_or_number(text.take_while(is_name))),
            Some(_) => text.symbol(&SYMBOLS).map(|symbol| match symbol {
                "&&" => Kind::Symbol(","),
                "==" => Kind::Symbol("="),
                symbol => Kind::Symbol(symbol),
            }),
        };
        let Some(kind) = kind else {
            let c = text.peek().unwrap_or_default();
            text.take(c.len_utf8());
            if errors.len() < MAX_ERRORS && c != '\u{feff}' {
                errors.push(text.error(start..text.at, format!("`{c}` means nothing in a .spec net")));
            }
            continue;
        };
        let length = u32::try_from(text.text[start..text.at].chars().count()).unwrap_or(u32::MAX);
        tokens.push(Token { kind, place, length });
        if kind == Kind::End {
            return tokens;
        }
    }
}

fn name_or_number(word: &str) -> Kind<'_> {
    if word.bytes().all(|b| b.is_ascii_digit()) {
        // A number that does not fit becomes one that the checks of `number` refuse.
        Kind::Number(word.parse().unwrap_or(u32::MAX))
    } else {
        Kind::Name(word)
    }
}

/// Bounds on a place.
struct Atom {
    place: PlaceId,
    least: u32,
    most: Option<u32>,
}

struct Reader<'t> {
    tokens: Vec<Token<'t>>,
    at: usize,
    errors: Vec<Diagnostic>,
    names: HashMap<&'t str, PlaceId>,
    net: Net,
}

impl<'t> Reader<'t> {
    fn peek(&self) -> &Kind<'t> {
        &self.tokens[self.at].kind
    }

    fn next(&mut self) -> Kind<'t> {
        let kind = self.tokens[self.at].kind;
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
        kind
    }

    fn accept(&mut self, kind: &Kind<'_>) -> bool {
        let found = self.peek() == kind;
        if found {
            self.next();
        }
        found
    }

    fn error_at(&mut self, at: usize, message: String, help: Option<&str>) {
        if self.errors.len() >= MAX_ERRORS {
            return;
        }
        let token = &self.tokens[at];
        let mut error = Diagnostic::error(message, token.place.clone()).spanning(token.length);
        error.help = help.map(String::from);
        self.errors.push(error);
    }

    fn unexpected(&mut self, wanted: &str) {
        let found = match self.peek() {
            Kind::Name(name) => format!("`{name}`"),
            Kind::Number(n) => format!("`{n}`"),
            Kind::Symbol(symbol) => format!("`{symbol}`"),
            Kind::End => "the end of the text".into(),
        };
        self.error_at(self.at, format!("expected {wanted}, found {found}"), None);
    }

    /// A place may be called like a section; it is then followed by a comparison or a prime.
    fn at_section(&self) -> bool {
        let next = self.tokens.get(self.at + 1).map(|t| &t.kind);
        let compared = matches!(next, Some(Kind::Symbol(">=" | "<=" | ">" | "<" | "=" | "'")));
        match self.peek() {
            Kind::End => true,
            Kind::Name("rules" | "init" | "target" | "invariants") => !compared,
            _ => false,
        }
    }

    fn section(&mut self, name: &'static str) -> bool {
        if self.accept(&Kind::Name(name)) {
            return true;
        }
        let help =
            "a net has the sections vars, rules, init, target and, if it likes, invariants, in this order";
        self.error_at(self.at, format!("expected the section `{name}`"), Some(help));
        false
    }

    fn net(&mut self) {
        if !self.section("vars") {
            return;
        }
        self.declarations();
        if !self.section("rules") {
            return;
        }
        while !self.at_section() && self.errors.len() < MAX_ERRORS {
            self.rule();
        }
        if !self.section("init") {
            return;
        }
        self.initial();
        if *self.peek() == Kind::End {
            return;
        }
        if !self.section("target") {
            return;
        }
        self.targets();
        if self.accept(&Kind::Name("invariants")) {
            self.invariants();
        }
        if self.errors.is_empty() && *self.peek() != Kind::End {
            self.unexpected("the end of the net");
        }
    }

    fn declarations(&mut self) {
        while let Kind::Name(name) = *self.peek() {
            if self.at_section() {
                return;
            }
            let id = PlaceId(u32::try_from(self.net.places.len()).unwrap_or(u32::MAX));
            if self.names.insert(name, id).is_some() {
                self.error_at(self.at, format!("the place `{name}` is declared twice"), None);
            }
            self.net.places.push(name.to_string());
            self.next();
            self.accept(&Kind::Symbol(","));
        }
    }

    fn place(&mut self) -> Option<PlaceId> {
        let Kind::Name(name) = *self.peek() else {
            self.unexpected("the name of a place");
            return None;
        };
        let found = self.names.get(name).copied();
        if found.is_none() {
            self.error_at(self.at, format!("`{name}` is not declared"), Some("list it under `vars`"));
        }
        self.next();
        found
    }

    fn number(&mut self) -> Option<u32> {
        match *self.peek() {
            Kind::Number(n) if n <= MAX_TOKENS => {
                self.next();
                Some(n)
            }
            Kind::Number(_) => {
                self.error_at(self.at, format!("numbers are at most {MAX_TOKENS}"), None);
                None
            }
            _ => {
                self.unexpected("a number");
                None
            }
        }
    }

    fn atom(&mut self) -> Option<Atom> {
        let place = self.place();
        let operator = self.next();
        let at = self.at;
        let (least, most) = match operator {
            Kind::Symbol(">=") => (self.number()?, None),
            Kind::Symbol(">") => (self.number()?.saturating_add(1), None),
            Kind::Symbol("<=") => (0, Some(self.number()?)),
            Kind::Symbol("<") => {
                let Some(most) = self.number()?.checked_sub(1) else {
                    self.error_at(at, "no place holds less than 0 tokens".into(), None);
                    return None;
                };
                (0, Some(most))
            }
            Kind::Symbol("=") => {
                let exactly = self.number()?;
                (exactly, Some(exactly))
            }
            Kind::Name("in") => self.range()?,
            _ => {
                self.at = at.saturating_sub(1);
                self.unexpected("`>=`, `=`, `<=`, `>`, `<` or `in [1, 2]`");
                return None;
            }
        };
        Some(Atom { place: place?, least, most })
    }

    /// `[1, 3]`; names may contain brackets, so that the text comes in words such as `[1`.
    fn range(&mut self) -> Option<(u32, Option<u32>)> {
        let at = self.at;
        let mut text = String::new();
        while !text.ends_with(']') && text.len() < 40 {
            match self.next() {
                Kind::Name(word) => text.push_str(word),
                Kind::Number(n) => text.push_str(&n.to_string()),
                Kind::Symbol(",") => text.push(','),
                _ => break,
            }
        }
        let inner = text.strip_prefix('[').and_then(|t| t.strip_suffix(']')).and_then(|t| t.split_once(','));
        let read = |t: &str| t.trim().parse::<u32>().ok().filter(|n| *n <= MAX_TOKENS);
        let bounds = inner.and_then(|(low, high)| Some((read(low)?, Some(read(high)?))));
        if bounds.is_none() {
            self.error_at(at, "expected a range such as `[1, 3]`".into(), None);
        }
        bounds
    }

    /// Atoms joined by commas; a comma at the end of a line may be followed by the next section.
    fn conjunction(&mut self) -> Option<Vec<Atom>> {
        let mut atoms = vec![self.atom()?];
        while self.accept(&Kind::Symbol(",")) {
            if self.at_section() {
                break;
            }
            atoms.push(self.atom()?);
        }
        Some(atoms)
    }

    /// Several conjunctions up to the next section; after an error the rest of the section is skipped.
    fn alternatives(&mut self) -> Vec<(usize, Vec<Atom>)> {
        let mut all = Vec::new();
        while !self.at_section() {
            let at = self.at;
            match self.conjunction() {
                Some(atoms) => all.push((at, atoms)),
                None => {
                    while !self.at_section() {
                        self.next();
                    }
                }
            }
        }
        all
    }

    fn rule(&mut self) {
        if self.try_rule().is_none() {
            while !matches!(self.peek(), Kind::Symbol(";")) && !self.at_section() {
                self.next();
            }
            self.accept(&Kind::Symbol(";"));
        }
    }

    fn try_rule(&mut self) -> Option<()> {
        let start = self.at;
        let guard = match self.peek() {
            Kind::Symbol("->") => Vec::new(),
            Kind::Name("true") if !self.names.contains_key("true") => {
                self.next();
                Vec::new()
            }
            _ => self.conjunction()?,
        };
        if !self.accept(&Kind::Symbol("->")) {
            self.unexpected("`->` or `,`");
            return None;
        }
        let mut rows: Vec<Row> = Vec::new();
        let mut assigned = HashSet::new();
        while !matches!(self.peek(), Kind::Symbol(";")) {
            let at = self.at;
            let row = self.update()?;
            if !assigned.insert(row.place) {
                let name = self.net.places[row.place.index()].clone();
                self.error_at(at, format!("`{name}` is assigned twice in one rule"), None);
            }
            rows.push(row);
            if !self.accept(&Kind::Symbol(",")) {
                break;
            }
        }
        if !self.accept(&Kind::Symbol(";")) {
            self.unexpected("`,` or `;`");
            return None;
        }
        let (at_least, at_most) = self.bounds(start, guard)?;
        rows.retain(|r| !(r.is_plain() && r.constant == 0));
        rows.sort_by_key(|r| r.place);
        let name = format!("rule {}", self.net.transitions.len() + 1);
        let source = Some(self.tokens[start].place.clone());
        self.net.transitions.push(Transition { name, at_least, at_most, rows, movers: Vec::new(), source });
        Some(())
    }

    /// `x' = y + z - 1`
    fn update(&mut self) -> Option<Row> {
        let place = self.place()?;
        if !self.accept(&Kind::Symbol("'")) {
            self.unexpected("`'`");
            return None;
        }
        if !self.accept(&Kind::Symbol("=")) {
            self.unexpected("`=`");
            return None;
        }
        let mut constant = 0_i64;
        let mut factors: BTreeMap<PlaceId, i64> = BTreeMap::new();
        let mut negative = self.accept(&Kind::Symbol("-"));
        loop {
            let at = self.at;
            let mut factor = 1;
            let mut is_term = true;
            if let Kind::Number(_) = self.peek() {
                factor = i64::from(self.number()?);
                is_term = self.accept(&Kind::Symbol("*"));
            }
            let signed = if negative { -factor } else { factor };
            let sum = if is_term { factors.entry(self.place()?).or_default() } else { &mut constant };
            *sum += signed;
            if sum.unsigned_abs() > u64::from(MAX_TOKENS) {
                self.error_at(at, format!("numbers are at most {MAX_TOKENS}"), None);
                return None;
            }
            negative = match self.peek() {
                Kind::Symbol("+") => false,
                Kind::Symbol("-") => true,
                _ => break,
            };
            self.next();
        }
        let once = factors.iter().filter(|(_, k)| **k == 1).map(|(p, _)| *p).collect();
        let terms = factors.iter().filter(|(_, k)| **k != 1 && **k != 0).map(|(p, k)| (*k, *p)).collect();
        Some(Row { place, sources: once, constant, terms })
    }

    fn bounds(&mut self, at: usize, atoms: Vec<Atom>) -> Option<(Vec<Bound>, Vec<Bound>)> {
        let mut low: HashMap<PlaceId, u32> = HashMap::new();
        let mut high: HashMap<PlaceId, u32> = HashMap::new();
        for atom in &atoms {
            let least = low.entry(atom.place).or_default();
            *least = (*least).max(atom.least);
            if let Some(bound) = atom.most {
                let most = high.entry(atom.place).or_insert(bound);
                *most = (*most).min(bound);
            }
        }
        for (place, most) in &high {
            if low.get(place).is_some_and(|least| least > most) {
                let name = self.net.places[place.index()].clone();
                self.error_at(at, format!("no number of tokens satisfies the bounds on `{name}`"), None);
                return None;
            }
        }
        let sorted = |map: HashMap<PlaceId, u32>| {
            let mut bounds: Vec<Bound> =
                map.into_iter().map(|(place, tokens)| Bound { place, tokens }).collect();
            bounds.sort_unstable();
            bounds
        };
        low.retain(|_, n| *n > 0);
        Some((sorted(low), sorted(high)))
    }

    fn initial(&mut self) {
        let places = self.net.places.len();
        for (at, atoms) in self.alternatives() {
            let Some((low, high)) = self.bounds(at, atoms) else { continue };
            let mut initial = Initial { base: vec![0; places], open: vec![true; places] };
            for bound in &low {
                initial.base[bound.place.index()] = bound.tokens;
            }
            for bound in &high {
                initial.open[bound.place.index()] = false;
            }
            let mut all = vec![initial];
            for bound in high {
                let place = bound.place.index();
                let least = all[0].base[place];
                let choices = (bound.tokens - least) as usize + 1;
                if all.len().saturating_mul(choices) > MAX_INITIAL {
                    self.error_at(at, format!("more than {MAX_INITIAL} initial markings"), None);
                    return;
                }
                let with = |initial: &Initial, tokens: u32| {
                    let mut next = initial.clone();
                    next.base[place] = tokens;
                    next
                };
                all = all.iter().flat_map(|i| (least..=bound.tokens).map(move |n| with(i, n))).collect();
            }
            self.net.initial.extend(all);
        }
        if self.net.initial.is_empty() && self.errors.is_empty() {
            self.unexpected("an initial marking such as `x = 1, y = 0`");
        }
    }

    fn targets(&mut self) {
        for (at, atoms) in self.alternatives() {
            let line = self.tokens[at].place.line;
            if let Some((at_least, at_most)) = self.bounds(at, atoms) {
                let name = format!("target {} (line {line})", self.net.targets.len() + 1);
                self.net.targets.push(Target { name, at_least, at_most });
            }
        }
        if self.net.targets.is_empty() && self.errors.is_empty() {
            self.unexpected("a target such as `x >= 2`");
        }
    }

    fn invariants(&mut self) {
        for (_, atoms) in self.alternatives() {
            let mut group: Vec<PlaceId> = atoms.iter().map(|a| a.place).collect();
            group.sort_unstable();
            group.dedup();
            if atoms.iter().all(|a| a.least == 1) {
                self.net.groups.push(group);
            }
        }
    }
}
