//! Nets as counter programs: one location, one variable per place, over the naturals.

use volee_integers::{Affine, Conjunct, Int, Row};
use volee_nets::{Bound, Net};
use volee_system::Diagnostic;

use crate::program::{Domain, Instruction, LocationId, Program, Region, Transition, unit};

/// Places of a net before it is too large for sets of vectors.
const VARIABLES: usize = 4_096;

/// Reads a `.spec` text.
///
/// # Errors
/// What is wrong with it, each with its place.
pub fn parse_spec(file: &str, text: &str) -> Result<Program, Vec<Diagnostic>> {
    of_net(&volee_nets::read_spec(file, text)?)
}

/// The counter program of a net; its targets are what must not be reached.
///
/// # Errors
/// The net has too many places.
pub fn of_net(net: &Net) -> Result<Program, Vec<Diagnostic>> {
    let n = net.places.len();
    if n > VARIABLES {
        return Err(vec![Diagnostic::error(format!("the net has more than {VARIABLES} places"), None)]);
    }
    let location = LocationId(0);
    let region = |rows: Vec<Row>| Region { location, conjunct: Conjunct::new(n, Vec::new(), rows) };
    let initial = net.initial.iter().map(|initial| {
        let exact = |p: usize| (!initial.open[p]).then(|| at_most(n, p, initial.base[p]));
        region((0..n).flat_map(|p| [Some(at_least(n, p, initial.base[p])), exact(p)]).flatten().collect())
    });
    let mut program = Program {
        variables: net.places.clone(),
        locations: vec!["net".to_owned()],
        transitions: net.transitions.iter().map(|t| transition(n, t)).collect(),
        initial: initial.collect(),
        bad: net.targets.iter().map(|t| region(bounds(n, &t.at_least, &t.at_most))).collect(),
        parameters: Vec::new(),
        domain: Domain::Naturals,
    };
    program.close_domain();
    Ok(program)
}

fn transition(n: usize, t: &volee_nets::Transition) -> Transition {
    let mut update = Affine::identity(n);
    for row in &t.rows {
        let mut form = vec![Int::ZERO; n + 1];
        form[0] = Int::from(row.constant);
        for source in &row.sources {
            form[source.index() + 1] += &Int::ONE;
        }
        for (factor, place) in &row.terms {
            form[place.index() + 1] += &Int::from(*factor);
        }
        update.set(row.place.index(), form);
    }
    let instruction = Instruction { guard: bounds(n, &t.at_least, &t.at_most), update };
    let (from, to) = (LocationId(0), LocationId(0));
    Transition { name: t.name.clone(), from, to, instruction, place: t.source.clone() }
}

fn bounds(n: usize, low: &[Bound], high: &[Bound]) -> Vec<Row> {
    let low = low.iter().map(|b| at_least(n, b.place.index(), b.tokens));
    low.chain(high.iter().map(|b| at_most(n, b.place.index(), b.tokens))).collect()
}

fn at_least(n: usize, place: usize, tokens: u32) -> Row {
    let mut row = unit(n, place);
    row[0] = -&Int::from(i64::from(tokens));
    row
}

fn at_most(n: usize, place: usize, tokens: u32) -> Row {
    let mut row: Row = unit(n, place).iter().map(|c| -c).collect();
    row[0] = Int::from(i64::from(tokens));
    row
}
