//! Counter programs written down in a few lines, for tests.

use volee_counters::{Domain, Instruction, LocationId, Program, Region, Transition};
use volee_integers::{Affine, Conjunct, Int, Row};

/// A program over all integers, with unnamed locations.
pub fn program(variables: &[&str], locations: &[&str]) -> Program {
    Program {
        variables: variables.iter().map(|v| (*v).to_owned()).collect(),
        locations: locations.iter().map(|v| (*v).to_owned()).collect(),
        transitions: Vec::new(),
        initial: Vec::new(),
        bad: Vec::new(),
        parameters: Vec::new(),
        domain: Domain::Integers,
    }
}

/// A linear form: `[("x", 2), ("", 1)]` is 2x + 1.
pub fn form(p: &Program, terms: &[(&str, i64)]) -> Row {
    let mut row = vec![Int::ZERO; p.variables.len() + 1];
    for (name, c) in terms {
        let at = p.variables.iter().position(|v| v == name).map_or(0, |i| i + 1);
        row[at] = Int::from(*c);
    }
    row
}

/// Adds a transition; `guard` rows must not be negative, `update` assigns variables.
pub fn step(
    p: &mut Program,
    name: &str,
    from: u32,
    to: u32,
    guard: &[&[(&str, i64)]],
    update: &[(&str, &[(&str, i64)])],
) {
    let guard = guard.iter().map(|terms| form(p, terms)).collect();
    let mut map = Affine::identity(p.variables.len());
    for (name, terms) in update {
        let at = p.variables.iter().position(|v| v == name).expect("a variable");
        map.set(at, form(p, terms));
    }
    p.transitions.push(Transition {
        name: name.to_owned(),
        from: LocationId(from),
        to: LocationId(to),
        instruction: Instruction { guard, update: map },
        place: None,
    });
}

/// A region at a location where the rows of `zero` vanish and those of `positive` are not negative.
pub fn region(p: &Program, location: u32, zero: &[&[(&str, i64)]], positive: &[&[(&str, i64)]]) -> Region {
    let rows = |forms: &[&[(&str, i64)]]| forms.iter().map(|t| form(p, t)).collect();
    Region {
        location: LocationId(location),
        conjunct: Conjunct::new(p.variables.len(), rows(zero), rows(positive)),
    }
}
