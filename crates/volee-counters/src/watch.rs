//! A counter program beside an automaton that watches its runs: a counter program again.
//!
//! The explicit half of a state is a control location, so an automaton multiplies locations and nothing else,
//! and what is bad of a run that can be seen after finitely many steps becomes a bad location of the product.
//! A letter is what happens in a step and which conditions are true; a condition splits a transition in two,
//! but only where the automaton goes on differently. Indivisible sequences are one step: while one is under
//! way the product remembers what has happened in it.

use std::collections::HashMap;

use volee_integers::{Affine, Conjunct, Row};

use crate::fst::Condition;
use crate::processes::{Formula, remove_internal};
use crate::program::{
    Instruction, LocationId, Program, Region, Transition, TransitionId, inequalities, tidy,
};

/// Locations of a product before it counts as too large.
const LOCATIONS: usize = 60_000;
/// Transitions between them.
const TRANSITIONS: usize = 400_000;
/// Letters that can be read in one location.
const LETTERS: usize = 1_024;

/// An automaton that reads runs. It may have several ways to go on, and then each of them counts.
pub trait Watcher {
    /// Where it starts.
    fn initial(&mut self) -> u32;
    /// Where a letter leads, given by a bit for each atom.
    fn step(&mut self, from: u32, letter: u64) -> Vec<u32>;
    /// Whether being there is bad.
    fn is_bad(&self, state: u32) -> bool;
    /// Whether nothing bad can follow.
    fn is_settled(&self, state: u32) -> bool;
    /// Whether only a run is bad that passes bad states again and again.
    fn is_recurrent(&self) -> bool {
        false
    }
}

/// Which state the conditions of a letter are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reading {
    /// A letter is a step and the state after it; nothing is read before the first step.
    Steps,
    /// The initial state is a letter, then each step with the state after it.
    States,
    /// A letter is a step and the state before it; the last state of a run that ends is read for ever.
    Sources,
}

/// A counter program and what can be seen in its runs.
#[derive(Debug)]
pub struct Watched<'a> {
    /// The program.
    pub program: &'a Program,
    /// For each of its transitions the events that it is, a bit for each atom.
    pub events: &'a [u64],
    /// For each of its locations whether it is seen from outside, and not inside an indivisible sequence.
    pub visible: &'a [bool],
    /// For each of its locations whether it stands for an error and not for a state.
    pub failed: &'a [bool],
    /// Where runs end.
    pub ends: &'a [Region],
    /// The atoms that are conditions: their bits, and where they hold.
    pub conditions: Vec<(u32, Condition)>,
    /// Which states conditions are about.
    pub reading: Reading,
    /// Whether being somewhere bad counts only where the run ends.
    pub only_at_ends: bool,
}

/// The product is too large.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooLarge;

impl std::fmt::Display for TooLarge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "the explicit half of the model beside the automaton of the formula has more than {LOCATIONS} states"
        )
    }
}

type Result<T> = std::result::Result<T, TooLarge>;

/// What can be read in a location, and where: together they are everything.
type Letters = Vec<(u64, Vec<Row>)>;

/// A location of the product: of the program and of the automaton, and inside an indivisible sequence what has
/// happened in it.
type Key = (u32, u32, Option<u64>);

/// The program beside an automaton; what is bad of it is bad of the product.
///
/// # Errors
/// The product is too large.
pub fn beside(watched: &Watched<'_>, watcher: &mut dyn Watcher) -> Result<Program> {
    let ends = by_location(watched.ends, watched.program.locations.len());
    let mut builder = Builder {
        watched,
        watcher,
        letters: vec![None; watched.program.locations.len()],
        holds: split(&watched.conditions, watched.program.locations.len()),
        ends,
        numbers: HashMap::new(),
        keys: Vec::new(),
        transitions: Vec::new(),
    };
    let initial = builder.start()?;
    let leaving = watched.program.leaving();
    let mut at = 0;
    while at < builder.keys.len() {
        for transition in &leaving[builder.keys[at].0 as usize] {
            builder.follow(at as u32, transition.index())?;
        }
        builder.repeat(at as u32)?;
        if builder.keys.len() > LOCATIONS || builder.transitions.len() > TRANSITIONS {
            return Err(TooLarge);
        }
        at += 1;
    }
    Ok(builder.finish(initial))
}

/// Where runs of a program that is seen as it is end; nothing where that is too complicated.
pub fn ends_of(program: &Program) -> Option<Vec<Region>> {
    let guard = |&t: &TransitionId| program.transition(t).instruction.guard.clone();
    let guards = program.leaving().into_iter().map(|leaving| leaving.iter().map(guard).collect());
    outside(program.dimension(), guards)
}

/// Everything outside these regions; nothing where that is too complicated.
pub fn elsewhere(program: &Program, regions: &[Region]) -> Option<Vec<Region>> {
    outside(program.dimension(), by_location(regions, program.locations.len()).into_iter())
}

/// What is in none of the conjunctions of each location.
fn outside(dimension: usize, of: impl Iterator<Item = Vec<Vec<Row>>>) -> Option<Vec<Region>> {
    let mut all = Vec::new();
    for (at, conjunctions) in of.enumerate() {
        for rows in Formula(conjunctions).not().ok()?.0 {
            let conjunct = Conjunct::new(dimension, Vec::new(), rows);
            all.push(Region { location: LocationId(at as u32), conjunct });
        }
    }
    Some(all)
}

fn by_location(regions: &[Region], locations: usize) -> Vec<Vec<Vec<Row>>> {
    let mut all = vec![Vec::new(); locations];
    regions.iter().for_each(|r| all[r.location.index()].push(inequalities(&r.conjunct)));
    all
}

/// A condition by location: where it holds, and where it does not.
type Split = (u32, Vec<Vec<Vec<Row>>>, Vec<Vec<Vec<Row>>>);

fn split(conditions: &[(u32, Condition)], locations: usize) -> Vec<Split> {
    let both = |(bit, c): &(u32, Condition)| {
        (*bit, by_location(&c.holds, locations), by_location(&c.fails, locations))
    };
    conditions.iter().map(both).collect()
}

struct Builder<'a, 'w> {
    watched: &'a Watched<'a>,
    watcher: &'w mut dyn Watcher,
    letters: Vec<Option<Letters>>,
    holds: Vec<Split>,
    ends: Vec<Vec<Vec<Row>>>,
    numbers: HashMap<Key, u32>,
    keys: Vec<Key>,
    transitions: Vec<Transition>,
}

impl Builder<'_, '_> {
    fn number(&mut self, key: Key) -> u32 {
        let keys = &mut self.keys;
        *self.numbers.entry(key).or_insert_with(|| {
            keys.push(key);
            keys.len() as u32 - 1
        })
    }

    /// The initial regions of the product.
    fn start(&mut self) -> Result<Vec<Region>> {
        let first = self.watcher.initial();
        let mut all = Vec::new();
        for region in &self.watched.program.initial {
            let at = region.location.0;
            if self.watched.reading != Reading::States {
                let location = LocationId(self.number((at, first, None)));
                all.push(Region { location, conjunct: region.conjunct.clone() });
                continue;
            }
            for (letter, rows) in self.letters(at)? {
                let conjunct = region.conjunct.with(&[], &rows);
                for state in self.watcher.step(first, letter) {
                    if !conjunct.is_plainly_empty() && !self.watcher.is_settled(state) {
                        let location = LocationId(self.number((at, state, None)));
                        all.push(Region { location, conjunct: conjunct.clone() });
                    }
                }
            }
        }
        Ok(all)
    }

    /// Whether nothing that follows matters, because the run is bad already.
    fn is_over(&self, state: u32) -> bool {
        self.watcher.is_bad(state) && !self.watcher.is_recurrent()
    }

    /// What can be read in a location.
    fn letters(&mut self, at: u32) -> Result<Letters> {
        if let Some(known) = &self.letters[at as usize] {
            return Ok(known.clone());
        }
        let n = self.watched.program.dimension();
        let mut all: Letters = vec![(0, Vec::new())];
        for (bit, holds, fails) in &self.holds {
            let mut next = Vec::new();
            for (letter, rows) in &all {
                for (extra, regions) in [(1 << bit, &holds[at as usize]), (0, &fails[at as usize])] {
                    for region in regions {
                        let both = rows.iter().chain(region).cloned().collect();
                        next.extend(tidy(n, both).map(|rows| (letter | extra, rows)));
                    }
                }
            }
            if next.len() > LETTERS {
                return Err(TooLarge);
            }
            all = next;
        }
        self.letters[at as usize] = Some(all.clone());
        Ok(all)
    }

    /// Where letters that are read in a location, with these events, lead from a state: under which
    /// conditions, and none where they make no difference.
    fn moves(&mut self, state: u32, events: u64, letters: &Letters) -> Vec<(Vec<Row>, Vec<u32>)> {
        let mut all: Vec<(Vec<Row>, Vec<u32>)> = Vec::new();
        for (letter, rows) in letters {
            let mut next = self.watcher.step(state, letter | events);
            next.sort_unstable();
            next.dedup();
            next.retain(|&state| !self.watcher.is_settled(state));
            all.push((rows.clone(), next));
        }
        if let Some((_, first)) = all.first()
            && all.iter().all(|(_, next)| next == first)
        {
            return vec![(Vec::new(), first.clone())];
        }
        all
    }

    /// Adds what one transition of the program becomes.
    fn follow(&mut self, from: u32, number: usize) -> Result<()> {
        let (at, state, pending) = self.keys[from as usize];
        let transition = &self.watched.program.transitions[number];
        let to = transition.to.0;
        if self.is_over(state) && !self.watched.only_at_ends || self.watched.failed[to as usize] {
            return Ok(());
        }
        let events = pending.unwrap_or(0) | self.watched.events[number];
        let seen = self.watched.visible[to as usize];
        if self.watched.reading != Reading::Sources {
            if !seen {
                return self.add(from, transition, Vec::new(), (to, state, Some(events)));
            }
            let letters = self.letters(to)?;
            for (rows, next) in self.moves(state, events, &letters) {
                let update = &transition.instruction.update;
                let guard: Vec<Row> = rows.iter().map(|row| update.pull(row)).collect();
                for state in next {
                    self.add(from, transition, guard.clone(), (to, state, None))?;
                }
            }
            return Ok(());
        }
        // What is read was true when the sequence began.
        let letters = if pending.is_some() { vec![(0, Vec::new())] } else { self.letters(at)? };
        if !seen {
            for (letter, rows) in letters {
                self.add(from, transition, rows, (to, state, Some(letter | events)))?;
            }
            return Ok(());
        }
        for (rows, next) in self.moves(state, events, &letters) {
            for state in next {
                self.add(from, transition, rows.clone(), (to, state, None))?;
            }
        }
        Ok(())
    }

    /// Adds that the last state of a run is read for ever.
    fn repeat(&mut self, from: u32) -> Result<()> {
        let (at, state, pending) = self.keys[from as usize];
        let over = pending.is_some() || self.is_over(state) || self.watched.failed[at as usize];
        if self.watched.reading != Reading::Sources || over || self.ends[at as usize].is_empty() {
            return Ok(());
        }
        let letters = self.letters(at)?;
        let n = self.watched.program.dimension();
        for end in self.ends[at as usize].clone() {
            let staying = Transition {
                name: "the run has ended".to_owned(),
                from: LocationId(at),
                to: LocationId(at),
                instruction: Instruction { guard: end, update: Affine::identity(n) },
                place: None,
            };
            for (rows, next) in self.moves(state, 0, &letters) {
                let stays = self.watcher.is_recurrent();
                for state in next.into_iter().filter(|next| stays || *next != state) {
                    self.add(from, &staying, rows.clone(), (at, state, None))?;
                }
            }
        }
        Ok(())
    }

    fn add(&mut self, from: u32, transition: &Transition, rows: Vec<Row>, to: Key) -> Result<()> {
        let own = &transition.instruction;
        let guard = own.guard.iter().cloned().chain(rows).collect();
        let Some(guard) = tidy(self.watched.program.dimension(), guard) else { return Ok(()) };
        let to = LocationId(self.number(to));
        let instruction = Instruction { guard, update: own.update.clone() };
        let (name, place) = (transition.name.clone(), transition.place.clone());
        self.transitions.push(Transition { name, from: LocationId(from), to, instruction, place });
        if self.transitions.len() > TRANSITIONS {
            return Err(TooLarge);
        }
        Ok(())
    }

    fn finish(self, initial: Vec<Region>) -> Program {
        let Builder { watched, watcher, ends, keys, transitions, .. } = self;
        let base = watched.program;
        let n = base.dimension();
        let mut bad = Vec::new();
        for (number, &(at, state, pending)) in keys.iter().enumerate() {
            if pending.is_some() || !watcher.is_bad(state) {
                continue;
            }
            let location = LocationId(number as u32);
            if watched.only_at_ends {
                let rows = ends[at as usize].iter();
                let conjunct = |rows: &Vec<Row>| Conjunct::new(n, Vec::new(), rows.clone());
                bad.extend(rows.map(|rows| Region { location, conjunct: conjunct(rows) }));
            } else {
                bad.push(Region { location, conjunct: Conjunct::universe(n) });
            }
        }
        let mut program = Program {
            variables: base.variables.clone(),
            locations: keys.iter().map(|key| base.locations[key.0 as usize].clone()).collect(),
            transitions,
            initial,
            bad,
            parameters: base.parameters.clone(),
            domain: base.domain,
        };
        let visible: Vec<bool> = keys.iter().map(|key| key.2.is_none()).collect();
        remove_internal(&mut program, &visible);
        program
    }
}
