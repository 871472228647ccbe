//! Guards as text: sums of cubes, in the notation of each format.

use crate::bdd::Literal;

/// How a format writes boolean expressions.
pub(super) struct Notation<'a> {
    pub always: &'a str,
    pub and: &'a str,
    pub or: &'a str,
    /// The text of an atom.
    pub atom: &'a dyn Fn(u32) -> String,
}

/// A sum of cubes in the given notation.
pub(super) fn text(cubes: Option<&[Vec<Literal>]>, notation: &Notation<'_>) -> String {
    let Some(cubes) = cubes else { return "…".into() };
    let term = |cube: &Vec<Literal>| {
        let mut literals = cube.clone();
        literals.sort_unstable();
        let factors: Vec<String> = literals
            .iter()
            .map(|&(atom, positive)| format!("{}{}", if positive { "" } else { "!" }, (notation.atom)(atom)))
            .collect();
        if factors.is_empty() { notation.always.to_string() } else { factors.join(notation.and) }
    };
    let mut terms: Vec<String> = cubes.iter().map(term).collect();
    terms.sort();
    match terms.len() {
        1 => terms.remove(0),
        _ => terms.iter().map(|t| format!("({t})")).collect::<Vec<_>>().join(notation.or),
    }
}
