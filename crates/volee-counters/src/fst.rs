//! The input language of FAST (`.fst`): a model of counters over the naturals, and a strategy of which we
//! read the question: the initial region of `post*`, and the region that the reachable set is intersected
//! with.

use volee_integers::{Affine, Conjunct, Int, Row};
use volee_system::Diagnostic;

use crate::program::{Domain, Instruction, LocationId, Program, Region, Transition};
use crate::text::{Conjunction, Names, Parsed, Token, Tokens, formula, linear, negation};

/// Variables of a model before it counts as malformed.
const VARIABLES: usize = 4_096;

/// Reads a `.fst` text.
///
/// # Errors
/// What is wrong with it, each with its place.
pub fn parse_fst(file: &str, text: &str) -> Result<Program, Vec<Diagnostic>> {
    let mut tokens = Tokens::of(file, text).map_err(|e| vec![e])?;
    let mut reader = Reader::default();
    match reader.model(&mut tokens) {
        Ok(()) if reader.errors.is_empty() => {}
        Ok(()) => return Err(reader.errors),
        Err(e) => {
            reader.errors.push(e);
            return Err(reader.errors);
        }
    }
    reader.strategy(&mut tokens).map_err(|e| vec![e])?;
    reader.finish(&tokens).map_err(|e| vec![e])
}

/// Reads a condition on the variables and the location of a program, as in a region of `.fst`:
/// `state = s3 && x = 456`. A name that is no identifier of the language cannot be used.
///
/// # Errors
/// The text is not a condition; the place counts from its first character.
pub fn parse_condition(program: &Program, text: &str) -> Result<Condition, Diagnostic> {
    let mut tokens = Tokens::of("condition", text)?;
    let reader = Reader {
        scope: Scope { variables: program.variables.clone(), states: program.locations.clone() },
        ..Reader::default()
    };
    let found = formula(&mut tokens, &reader.scope)?;
    if *tokens.peek() != Token::End {
        return Err(tokens.unexpected("the end of the condition"));
    }
    let opposite = negation(&found, &tokens)?;
    Ok(Condition { holds: reader.regions(&found), fails: reader.regions(&opposite) })
}

/// Where a condition holds and where it does not.
#[derive(Debug, Clone)]
pub struct Condition {
    /// Where it holds.
    pub holds: Vec<Region>,
    /// Where it does not.
    pub fails: Vec<Region>,
}

/// The names of a model; the control location is one more column after the variables.
#[derive(Default)]
struct Scope {
    variables: Vec<String>,
    states: Vec<String>,
}

impl Names for Scope {
    fn lookup(&self, name: &str) -> Option<usize> {
        self.variables.iter().position(|v| v == name)
    }
    fn count(&self) -> usize {
        self.variables.len() + 1
    }
    fn location(&self, name: &str) -> Option<Row> {
        let index = self.states.iter().position(|s| s == name)?;
        let mut row = vec![Int::ZERO; self.count() + 1];
        row[0] = -&Int::from(index);
        row[self.count()] = Int::ONE;
        Some(row)
    }
}

/// What a name of the strategy stands for.
enum Value {
    Formula(Vec<Conjunction>),
    /// `post*(initial, transitions)`.
    Reachable {
        initial: String,
        transitions: Option<String>,
    },
    /// An intersection of two regions.
    Meet(String, String),
    Transitions(Vec<String>),
}

#[derive(Default)]
struct Reader {
    scope: Scope,
    transitions: Vec<Transition>,
    values: Vec<(String, Value)>,
    /// `subSet(a, b)`: the reachable set `a` must lie in `b`.
    subset: Option<(String, String)>,
    errors: Vec<Diagnostic>,
}

impl Reader {
    fn model(&mut self, t: &mut Tokens) -> Parsed<()> {
        t.expect_word("model")?;
        t.word("the name of the model")?;
        t.expect("{")?;
        t.expect_word("var")?;
        self.scope.variables = names(t, "a variable")?;
        if self.scope.variables.len() > VARIABLES {
            return Err(t.error(format!("more than {VARIABLES} variables")));
        }
        t.expect_word("states")?;
        self.scope.states = names(t, "a state")?;
        while !t.accept("}") {
            if let Err(e) = self.transition(t) {
                self.errors.push(e);
                t.recover("}");
                t.accept(";");
                if *t.peek() == Token::End {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    fn transition(&mut self, t: &mut Tokens) -> Parsed<()> {
        t.expect_word("transition")?;
        let place = t.place();
        let name = t.word("the name of the transition")?;
        t.expect(":=")?;
        t.expect("{")?;
        let n = self.scope.variables.len();
        let (mut from, mut to) = (LocationId(0), LocationId(0));
        let mut guard: Vec<Conjunction> = vec![Vec::new()];
        let mut update = Affine::identity(n);
        while !t.accept("}") {
            let field = t.word("`from`, `to`, `guard` or `action`")?;
            t.expect(":=")?;
            match field.as_str() {
                "from" => from = self.state(t)?,
                "to" => to = self.state(t)?,
                "guard" => guard = formula(t, &self.scope)?,
                "action" => self.action(t, &mut update)?,
                _ => return Err(t.error(format!("`{field}` is not a part of a transition"))),
            }
            t.expect(";")?;
        }
        t.accept(";");
        let alternatives = self.at_location(&guard, from);
        for guard in alternatives {
            let instruction = Instruction { guard, update: update.clone() };
            let place = Some(place.clone());
            self.transitions.push(Transition { name: name.clone(), from, to, instruction, place });
        }
        Ok(())
    }

    fn state(&self, t: &mut Tokens) -> Parsed<LocationId> {
        let place = t.place();
        let name = t.word("the name of a state")?;
        match self.scope.states.iter().position(|s| *s == name) {
            Some(i) => Ok(LocationId(i as u32)),
            None => Err(Diagnostic::error(format!("there is no state `{name}`"), place)),
        }
    }

    fn action(&self, t: &mut Tokens, update: &mut Affine) -> Parsed<()> {
        let mut assigned = vec![false; self.scope.variables.len()];
        while !matches!(t.peek(), Token::Symbol(";")) {
            let place = t.place();
            let name = t.word("a variable")?;
            let Some(at) = self.scope.lookup(&name) else {
                return Err(Diagnostic::error(format!("there is no variable `{name}`"), place));
            };
            if std::mem::replace(&mut assigned[at], true) {
                return Err(Diagnostic::error(format!("`{name}` is assigned twice"), place));
            }
            t.expect("'")?;
            t.expect("=")?;
            let mut row = linear(t, &self.scope)?;
            row.pop();
            update.set(at, row);
            if !t.accept(",") {
                break;
            }
        }
        Ok(())
    }

    /// The alternatives of a formula at one location, over the variables alone.
    fn at_location(&self, formula: &[Conjunction], location: LocationId) -> Vec<Conjunction> {
        let value = Int::from(location.index());
        let at = |conjunction: &Conjunction| -> Option<Conjunction> {
            let mut rows = Vec::new();
            for row in conjunction {
                let mut row = row.clone();
                let state = row.pop()?;
                row[0] += &(&state * &value);
                if row[1..].iter().any(|c| !c.is_zero()) {
                    rows.push(row);
                } else if row[0].is_negative() {
                    return None;
                }
            }
            Some(rows)
        };
        formula.iter().filter_map(at).collect()
    }

    /// A formula as regions, location by location.
    fn regions(&self, formula: &[Conjunction]) -> Vec<Region> {
        let n = self.scope.variables.len();
        let mut out = Vec::new();
        for i in 0..self.scope.states.len() as u32 {
            for rows in self.at_location(formula, LocationId(i)) {
                let conjunct = Conjunct::new(n, Vec::new(), rows);
                if !conjunct.is_plainly_empty() {
                    out.push(Region { location: LocationId(i), conjunct });
                }
            }
        }
        out
    }

    fn strategy(&mut self, t: &mut Tokens) -> Parsed<()> {
        if *t.peek() == Token::End {
            return Ok(());
        }
        t.expect_word("strategy")?;
        t.word("the name of the strategy")?;
        t.expect("{")?;
        loop {
            match t.peek().clone() {
                Token::End => return Err(t.unexpected("`}` at the end of the strategy")),
                Token::Symbol("}") => return Ok(()),
                Token::Word(w) if w == "Region" => self.region(t)?,
                Token::Word(w) if w == "Transitions" => self.transition_set(t)?,
                Token::Word(w) if w == "subSet" => {
                    t.next();
                    t.expect("(")?;
                    let small = t.word("a region")?;
                    t.expect(",")?;
                    let big = t.word("a region")?;
                    self.subset = Some((small, big));
                }
                // Settings, conditions and messages do not change the question.
                _ => {
                    t.next();
                }
            }
        }
    }

    fn region(&mut self, t: &mut Tokens) -> Parsed<()> {
        t.next();
        let name = t.word("the name of a region")?;
        t.expect(":=")?;
        let value = if t.accept("{") {
            let value = Value::Formula(formula(t, &self.scope)?);
            t.expect("}")?;
            value
        } else {
            let first = t.word("a region")?;
            if first == "post" {
                t.expect("*")?;
                t.expect("(")?;
                let initial = t.word("the initial region")?;
                let transitions = if t.accept(",") { Some(t.word("a set of transitions")?) } else { None };
                t.recover(")");
                Value::Reachable { initial, transitions }
            } else if t.accept("&&") {
                Value::Meet(first, t.word("a region")?)
            } else {
                return Err(t.error("only regions `{…}`, `post*(…)` and `a && b` are understood here"));
            }
        };
        t.expect(";")?;
        self.values.push((name, value));
        Ok(())
    }

    fn transition_set(&mut self, t: &mut Tokens) -> Parsed<()> {
        t.next();
        let name = t.word("a name")?;
        t.expect(":=")?;
        t.expect("{")?;
        let mut members = Vec::new();
        while !t.accept("}") {
            members.push(t.word("the name of a transition")?);
            if !t.accept(",") {
                t.expect("}")?;
                break;
            }
        }
        t.expect(";")?;
        self.values.push((name, Value::Transitions(members)));
        Ok(())
    }

    fn value(&self, name: &str) -> Option<&Value> {
        self.values.iter().rev().find(|(n, _)| n == name).map(|(_, v)| v)
    }

    fn formula_of(&self, name: &str, t: &Tokens) -> Parsed<&[Conjunction]> {
        match self.value(name) {
            Some(Value::Formula(f)) => Ok(f),
            _ => Err(t.error(format!("the region `{name}` is not given by a formula"))),
        }
    }

    fn finish(mut self, t: &Tokens) -> Parsed<Program> {
        let reachable = self.values.iter().find_map(|(name, v)| match v {
            Value::Reachable { initial, transitions } => {
                Some((name.clone(), initial.clone(), transitions.clone()))
            }
            _ => None,
        });
        let Some((name, initial, chosen)) = reachable else {
            return Err(t.error("the strategy computes no reachable set").with_help("write post*(init, t)"));
        };
        if let Some(chosen) = chosen
            && let Some(Value::Transitions(members)) = self.value(&chosen)
        {
            let members = members.clone();
            self.transitions.retain(|t| members.contains(&t.name));
        }
        let initial = self.formula_of(&initial, t)?.to_vec();
        let bad = match &self.subset {
            Some((small, big)) if *small == name => negation(self.formula_of(big, t)?, t)?,
            _ => {
                let other = self.values.iter().find_map(|(_, v)| match v {
                    Value::Meet(a, b) if *a == name => Some(b.clone()),
                    Value::Meet(a, b) if *b == name => Some(a.clone()),
                    _ => None,
                });
                match other {
                    Some(other) => self.formula_of(&other, t)?.to_vec(),
                    None => Vec::new(),
                }
            }
        };
        let (initial, bad) = (self.regions(&initial), self.regions(&bad));
        let mut program = Program {
            variables: self.scope.variables,
            locations: self.scope.states,
            transitions: self.transitions,
            initial,
            bad,
            parameters: Vec::new(),
            domain: Domain::Naturals,
        };
        program.close_domain();
        Ok(program)
    }
}

fn names(t: &mut Tokens, what: &str) -> Parsed<Vec<String>> {
    let mut out: Vec<String> = Vec::new();
    loop {
        let place = t.place();
        let name = t.word(what)?;
        if out.contains(&name) {
            return Err(Diagnostic::error(format!("`{name}` is declared twice"), place));
        }
        out.push(name);
        if !t.accept(",") {
            t.expect(";")?;
            return Ok(out);
        }
    }
}
