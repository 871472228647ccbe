//! The input language of mist (`.spec`): counters over the naturals with guarded affine rules, and target sets that
//! must not be reached. Nets with transfers and resets are written in it.

use volee_integers::{Affine, Conjunct, Int, Row};
use volee_system::Diagnostic;

use crate::program::{Domain, Instruction, LocationId, Program, Region, Transition, unit};
use crate::text::{Comments, Conjunction, Names, Parsed, Token, Tokens, comparison, linear};

/// Variables of a net before it counts as malformed.
const VARIABLES: usize = 4_096;

/// Reads a `.spec` text.
///
/// # Errors
/// What is wrong with it, each with its place.
pub fn parse_spec(file: &str, text: &str) -> Result<Program, Vec<Diagnostic>> {
    let mut tokens = Tokens::of(file, text, Comments::Hash).map_err(|e| vec![e])?;
    let mut errors = Vec::new();
    let program = read(&mut tokens, &mut errors);
    match program {
        Ok(program) if errors.is_empty() => Ok(program),
        Ok(_) => Err(errors),
        Err(e) => {
            errors.push(e);
            Err(errors)
        }
    }
}

struct Scope(Vec<String>);

impl Names for Scope {
    fn lookup(&self, name: &str) -> Option<usize> {
        self.0.iter().position(|v| v == name)
    }
    fn count(&self) -> usize {
        self.0.len()
    }
}

fn read(t: &mut Tokens, errors: &mut Vec<Diagnostic>) -> Parsed<Program> {
    t.expect_word("vars")?;
    let mut names: Vec<String> = Vec::new();
    while !matches!(t.peek(), Token::Word(w) if w == "rules") {
        let place = t.place();
        let name = t.word("a variable or `rules`")?;
        if names.contains(&name) {
            return Err(Diagnostic::error(format!("`{name}` is declared twice"), place));
        }
        names.push(name);
        t.accept(",");
        if names.len() > VARIABLES {
            return Err(t.error(format!("more than {VARIABLES} variables")));
        }
    }
    t.next();
    let scope = Scope(names);
    let mut transitions = Vec::new();
    while !at_section(t) && *t.peek() != Token::End {
        if let Err(e) = rule(t, &scope, &mut transitions) {
            errors.push(e);
            t.recover(";");
        }
    }
    t.expect_word("init")?;
    let initial = conjunctions(t, &scope)?;
    t.expect_word("target")?;
    let bad = conjunctions(t, &scope)?;
    if t.accept_word("invariants") || t.accept_word("invariant") {
        // Hints for other tools; what they claim follows from the rules.
        while *t.peek() != Token::End {
            t.next();
        }
    }
    if *t.peek() != Token::End {
        return Err(t.unexpected("the end of the file"));
    }
    let n = scope.count();
    let location = LocationId(0);
    let region = |rows: Conjunction| Region { location, conjunct: Conjunct::new(n, Vec::new(), rows) };
    let mut program = Program {
        variables: scope.0,
        locations: vec!["net".to_owned()],
        transitions,
        initial: initial.into_iter().map(region).collect(),
        bad: bad.into_iter().map(region).collect(),
        parameters: Vec::new(),
        domain: Domain::Naturals,
    };
    program.close_domain();
    Ok(program)
}

fn at_section(t: &Tokens) -> bool {
    matches!(t.peek(), Token::Word(w) if w == "init" || w == "target" || w.starts_with("invariant"))
        && !matches!(t.peek_second(), Token::Symbol(">=" | "=" | "'" | "->"))
}

fn rule(t: &mut Tokens, scope: &Scope, transitions: &mut Vec<Transition>) -> Parsed<()> {
    let place = t.place();
    let mut guards: Vec<Conjunction> = vec![Vec::new()];
    if !matches!(t.peek(), Token::Symbol("->")) && !t.accept_word("true") {
        guards = one_conjunction(t, scope)?;
    }
    t.expect("->")?;
    let mut update = Affine::identity(scope.count());
    let mut assigned = vec![false; scope.count()];
    while !matches!(t.peek(), Token::Symbol(";")) {
        let place = t.place();
        let name = t.word("a variable")?;
        let Some(at) = scope.lookup(&name) else {
            return Err(Diagnostic::error(format!("there is no variable `{name}`"), place));
        };
        if std::mem::replace(&mut assigned[at], true) {
            return Err(Diagnostic::error(format!("`{name}` is assigned twice"), place));
        }
        t.expect("'")?;
        t.expect("=")?;
        update.set(at, linear(t, scope)?);
        if !t.accept(",") {
            break;
        }
    }
    t.expect(";")?;
    let name = format!("rule {}", transitions.len() + 1);
    for guard in guards {
        transitions.push(Transition {
            name: name.clone(),
            from: LocationId(0),
            to: LocationId(0),
            instruction: Instruction { guard, update: update.clone() },
            place: Some(place.clone()),
        });
    }
    Ok(())
}

/// Several conjunctions, one after the other without a comma between them.
fn conjunctions(t: &mut Tokens, scope: &Scope) -> Parsed<Vec<Conjunction>> {
    let mut out = Vec::new();
    while !at_section(t) && *t.peek() != Token::End {
        out.extend(one_conjunction(t, scope)?);
    }
    Ok(out)
}

/// Comparisons separated by commas; `x in [1, 2]` as well. A disjunction because of `!=`.
fn one_conjunction(t: &mut Tokens, scope: &Scope) -> Parsed<Vec<Conjunction>> {
    let mut out: Vec<Conjunction> = vec![Vec::new()];
    loop {
        let is_range = matches!(t.peek_second(), Token::Word(w) if w == "in");
        let next = if is_range { vec![range(t, scope)?] } else { comparison(t, scope)? };
        out = crate::text::both(&out, &next);
        if out.len() > 1_024 {
            return Err(t.error("this condition has too many alternatives"));
        }
        if !t.accept(",") {
            return Ok(out);
        }
    }
}

fn range(t: &mut Tokens, scope: &Scope) -> Parsed<Vec<Row>> {
    let place = t.place();
    let name = t.word("a variable")?;
    let Some(at) = scope.lookup(&name) else {
        return Err(Diagnostic::error(format!("there is no variable `{name}`"), place));
    };
    t.expect_word("in")?;
    t.expect("[")?;
    let low = linear(t, scope)?;
    t.expect(",")?;
    let high = linear(t, scope)?;
    t.expect("]")?;
    let own = unit(scope.count(), at);
    let minus = |a: &Row, b: &Row| -> Row { a.iter().zip(b).map(|(a, b): (&Int, &Int)| a - b).collect() };
    Ok(vec![minus(&own, &low), minus(&high, &own)])
}
