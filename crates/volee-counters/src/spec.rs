//! Nets as counter programs over the naturals: one variable per place, or, where sets of places are known to
//! hold exactly one token together, the marked ones as the location and variables for the other places only.

use std::collections::HashMap;

use volee_integers::{Affine, Conjunct, Int, Row};
use volee_nets::{Bound, Initial, Net, PlaceId};
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

/// Locations and transitions before control counts as too large.
const CONTROL: usize = 5_000;
const TRANSITIONS: usize = 60_000;

/// A net with its control as locations.
#[derive(Debug)]
pub struct ControlledNet {
    /// The counter program; its bad vectors are the targets of the net.
    pub program: Program,
    /// For each transition of the program that of the net.
    pub transitions: Vec<volee_nets::TransitionId>,
    /// Where each place is: the position of a variable, or the group that it belongs to.
    role: Vec<Role>,
    /// For each location the marked place of each group.
    marked: Vec<Vec<u32>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Variable(usize),
    Control(usize),
}

impl ControlledNet {
    /// `None` where control is too large.
    pub fn new(net: &Net) -> Option<ControlledNet> {
        let mut role = vec![None; net.places.len()];
        let mut groups = 0;
        for group in net.checked_groups() {
            if group.iter().all(|p| role[p.index()].is_none()) {
                group.iter().for_each(|p| role[p.index()] = Some(Role::Control(groups)));
                groups += 1;
            }
        }
        let mut variables = Vec::new();
        let mut place = |p: usize| {
            variables.push(net.places[p].clone());
            Role::Variable(variables.len() - 1)
        };
        let role: Vec<Role> =
            role.into_iter().enumerate().map(|(p, r)| r.unwrap_or_else(|| place(p))).collect();
        let program = Program {
            variables,
            locations: Vec::new(),
            transitions: Vec::new(),
            initial: Vec::new(),
            bad: Vec::new(),
            parameters: Vec::new(),
            domain: Domain::Naturals,
        };
        let controlled = ControlledNet { program, transitions: Vec::new(), role, marked: Vec::new() };
        controlled.explored(net, groups)
    }

    fn explored(mut self, net: &Net, groups: usize) -> Option<ControlledNet> {
        let mut numbers: HashMap<Vec<u32>, u32> = HashMap::new();
        for initial in &net.initial {
            let mut marked = vec![0; groups];
            for (p, role) in self.role.iter().enumerate() {
                if let Role::Control(g) = role
                    && initial.base[p] == 1
                {
                    marked[*g] = p as u32;
                }
            }
            let location = self.location(net, &mut numbers, marked);
            let conjunct = self.start(initial);
            self.program.initial.push(Region { location, conjunct });
        }
        let mut at = 0;
        while at < self.marked.len() {
            for (number, t) in net.transitions.iter().enumerate() {
                if let Some((instruction, marked)) = self.step(t, &self.marked[at]) {
                    let to = self.location(net, &mut numbers, marked);
                    let from = LocationId(at as u32);
                    let (name, place) = (t.name.clone(), t.source.clone());
                    self.program.transitions.push(Transition { name, from, to, instruction, place });
                    self.transitions.push(volee_nets::TransitionId(number as u32));
                }
            }
            if self.marked.len() > CONTROL || self.transitions.len() > TRANSITIONS {
                return None;
            }
            at += 1;
        }
        for target in &net.targets {
            for at in 0..self.marked.len() {
                if let Some(rows) = self.bounds(&target.at_least, &target.at_most, &self.marked[at]) {
                    let conjunct = Conjunct::new(self.program.dimension(), Vec::new(), rows);
                    self.program.bad.push(Region { location: LocationId(at as u32), conjunct });
                }
            }
        }
        self.program.close_domain();
        Some(self)
    }

    fn location(&mut self, net: &Net, numbers: &mut HashMap<Vec<u32>, u32>, marked: Vec<u32>) -> LocationId {
        let fresh = self.marked.len() as u32;
        let number = *numbers.entry(marked.clone()).or_insert(fresh);
        if number == fresh {
            let names: Vec<&str> = marked.iter().map(|&p| net.places[p as usize].as_str()).collect();
            self.program.locations.push(names.join(", "));
            self.marked.push(marked);
        }
        LocationId(number)
    }

    fn start(&self, initial: &Initial) -> Conjunct {
        let n = self.program.dimension();
        let mut rows = Vec::new();
        for (p, role) in self.role.iter().enumerate() {
            if let Role::Variable(v) = *role {
                rows.push(at_least(n, v, initial.base[p]));
                if !initial.open[p] {
                    rows.push(at_most(n, v, initial.base[p]));
                }
            }
        }
        Conjunct::new(n, Vec::new(), rows)
    }

    /// Bounds on variables where those on control hold.
    fn bounds(&self, low: &[Bound], high: &[Bound], marked: &[u32]) -> Option<Vec<Row>> {
        let n = self.program.dimension();
        let mut rows = Vec::new();
        for (bounds, is_low) in [(low, true), (high, false)] {
            for bound in bounds {
                match self.role[bound.place.index()] {
                    Role::Variable(v) if is_low => rows.push(at_least(n, v, bound.tokens)),
                    Role::Variable(v) => rows.push(at_most(n, v, bound.tokens)),
                    Role::Control(g) => {
                        let tokens = u32::from(marked[g] == bound.place.0);
                        if if is_low { tokens < bound.tokens } else { tokens > bound.tokens } {
                            return None;
                        }
                    }
                }
            }
        }
        Some(rows)
    }

    /// What a transition of the net does where control is `marked`.
    fn step(&self, t: &volee_nets::Transition, marked: &[u32]) -> Option<(Instruction, Vec<u32>)> {
        let n = self.program.dimension();
        let guard = self.bounds(&t.at_least, &t.at_most, marked)?;
        let mut update = Affine::identity(n);
        let mut next = marked.to_vec();
        for row in &t.rows {
            let mut form = vec![Int::ZERO; n + 1];
            form[0] = Int::from(row.constant);
            let mut add = |factor: i64, place: PlaceId| match self.role[place.index()] {
                Role::Variable(v) => form[v + 1] += &Int::from(factor),
                Role::Control(g) if marked[g] == place.0 => form[0] += &Int::from(factor),
                Role::Control(_) => {}
            };
            row.sources.iter().for_each(|s| add(1, *s));
            row.terms.iter().for_each(|(k, p)| add(*k, *p));
            match self.role[row.place.index()] {
                Role::Variable(v) => update.set(v, form),
                // Rows of a group are plain, so that the value is a number.
                Role::Control(_) if form[0].is_negative() => return None,
                Role::Control(g) if form[0].is_one() => next[g] = row.place.0,
                Role::Control(_) => {}
            }
        }
        Some((Instruction { guard, update }, next))
    }

    /// The marking of the net that a state of the program stands for; `None` where it has too many tokens.
    pub fn marking(&self, state: &crate::State) -> Option<Vec<u32>> {
        let marked = &self.marked[state.location.index()];
        let tokens = |(p, role): (usize, &Role)| match *role {
            Role::Variable(v) => state.values[v].to_i64().and_then(|n| u32::try_from(n).ok()),
            Role::Control(g) => Some(u32::from(marked[g] == p as u32)),
        };
        self.role.iter().enumerate().map(tokens).collect()
    }
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
