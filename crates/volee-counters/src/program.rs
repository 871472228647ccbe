//! Counter programs: control locations, and between them instructions `T x <= u -> x := A x + b` over
//! unbounded integers (Boigelot & Wolper 1994, section 2). Every front end of this crate becomes one of
//! these.

use volee_integers::{Affine, Conjunct, Int, Row, Set};
use volee_system::Place;

/// A control location.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LocationId(pub u32);

impl LocationId {
    /// The position in [`Program::locations`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A transition of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TransitionId(pub u32);

impl TransitionId {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// A guarded affine assignment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instruction {
    /// Rows that must not be negative before the assignment.
    pub guard: Vec<Row>,
    /// The assignment.
    pub update: Affine,
}

impl Instruction {
    /// Does nothing, always.
    pub fn skip(dimension: usize) -> Self {
        Instruction { guard: Vec::new(), update: Affine::identity(dimension) }
    }

    /// First `self`, then `next`; `None` if the guards contradict each other plainly.
    pub fn then(&self, next: &Instruction) -> Option<Instruction> {
        let mut guard = self.guard.clone();
        guard.extend(next.guard.iter().map(|row| self.update.pull(row)));
        let guard = tidy(self.update.dimension(), guard)?;
        Some(Instruction { guard, update: self.update.then(&next.update) })
    }

    /// The vectors reached from a conjunct in one execution.
    pub fn image(&self, of: &Conjunct) -> Conjunct {
        self.update.image(&of.with(&[], &self.guard))
    }

    /// The vectors from which one execution leads into a conjunct.
    pub fn preimage(&self, of: &Conjunct) -> Conjunct {
        self.update.preimage(of).with(&[], &self.guard)
    }

    /// Whether the instruction can be executed at a vector.
    pub fn is_enabled(&self, at: &[Int]) -> bool {
        self.guard.iter().all(|row| !evaluate(row, at).is_negative())
    }
}

/// The value of a linear form.
pub(crate) fn evaluate(row: &[Int], at: &[Int]) -> Int {
    let mut sum = row[0].clone();
    for (c, x) in row[1..].iter().zip(at) {
        if !c.is_zero() {
            sum += &(c * x);
        }
    }
    sum
}

/// Normalised, without duplicates; `None` if plainly contradictory.
pub(crate) fn tidy(dimension: usize, guard: Vec<Row>) -> Option<Vec<Row>> {
    let conjunct = Conjunct::new(dimension, Vec::new(), guard);
    (!conjunct.is_plainly_empty()).then(|| inequalities(&conjunct))
}

/// The constraints as inequalities only; the conjunct has no hidden columns.
pub(crate) fn inequalities(conjunct: &Conjunct) -> Vec<Row> {
    let mut rows = conjunct.inequalities().to_vec();
    for row in conjunct.equations() {
        rows.push(row.clone());
        rows.push(row.iter().map(|c| -c).collect());
    }
    rows
}

/// An instruction between two locations.
#[derive(Debug, Clone)]
pub struct Transition {
    /// Its name in the source.
    pub name: String,
    /// Where it starts.
    pub from: LocationId,
    /// Where it ends.
    pub to: LocationId,
    /// What it does.
    pub instruction: Instruction,
    /// Where it stands in the source.
    pub place: Option<Place>,
}

/// Vectors at one location.
#[derive(Debug, Clone)]
pub struct Region {
    /// The location.
    pub location: LocationId,
    /// The vectors.
    pub conjunct: Conjunct,
}

/// Whether variables may be negative.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Domain {
    /// All integers.
    Integers,
    /// A step that would make a variable negative is not possible (nets, `.spec`, `.fst`).
    Naturals,
}

/// A counter program and the question asked of it.
#[derive(Debug, Clone)]
pub struct Program {
    /// The names of the variables.
    pub variables: Vec<String>,
    /// The names of the locations.
    pub locations: Vec<String>,
    /// The instructions.
    pub transitions: Vec<Transition>,
    /// Where runs start.
    pub initial: Vec<Region>,
    /// What must not be reached.
    pub bad: Vec<Region>,
    /// Variables that answers may depend on; no transition changes them.
    pub parameters: Vec<usize>,
    /// The values that variables range over.
    pub domain: Domain,
}

impl Program {
    /// The number of variables.
    pub fn dimension(&self) -> usize {
        self.variables.len()
    }

    /// The transition behind an id.
    pub fn transition(&self, id: TransitionId) -> &Transition {
        &self.transitions[id.index()]
    }

    /// All transition ids, in order.
    pub fn transition_ids(&self) -> impl Iterator<Item = TransitionId> + use<> {
        (0..self.transitions.len() as u32).map(TransitionId)
    }

    /// The transitions that leave each location.
    pub(crate) fn leaving(&self) -> Vec<Vec<TransitionId>> {
        let mut out = vec![Vec::new(); self.locations.len()];
        self.transition_ids().for_each(|t| out[self.transition(t).from.index()].push(t));
        out
    }

    /// The transitions that enter each location.
    pub(crate) fn entering(&self) -> Vec<Vec<TransitionId>> {
        let mut out = vec![Vec::new(); self.locations.len()];
        self.transition_ids().for_each(|t| out[self.transition(t).to.index()].push(t));
        out
    }

    /// All location ids, in order.
    pub fn location_ids(&self) -> impl Iterator<Item = LocationId> + use<> {
        (0..self.locations.len() as u32).map(LocationId)
    }

    /// Makes the domain explicit: over the naturals, initial vectors are not negative and no step leads below 0.
    /// Front ends call this last.
    pub(crate) fn close_domain(&mut self) {
        if self.domain == Domain::Integers {
            return;
        }
        let n = self.dimension();
        let natural = naturals(n);
        for region in self.initial.iter_mut().chain(&mut self.bad) {
            region.conjunct = region.conjunct.with(&[], &natural);
        }
        self.initial.retain(|r| !r.conjunct.is_plainly_empty());
        self.bad.retain(|r| !r.conjunct.is_plainly_empty());
        for transition in &mut self.transitions {
            let instruction = &mut transition.instruction;
            let stays = (0..n).filter_map(|i| instruction.update.component(i));
            // A form without negative numbers cannot leave the naturals.
            let risky = stays.filter(|row| row.iter().any(Int::is_negative)).cloned();
            let rows = instruction.guard.iter().cloned().chain(risky).collect();
            match tidy(n, rows) {
                Some(guard) => instruction.guard = guard,
                None => instruction.guard = vec![impossible(n)],
            }
        }
    }

    /// The bad vectors at a location.
    pub fn bad_at(&self, location: LocationId) -> Set {
        let here = self.bad.iter().filter(|r| r.location == location);
        Set::of(self.dimension(), here.map(|r| r.conjunct.clone()))
    }
}

/// `x >= 0` for every variable.
pub(crate) fn naturals(dimension: usize) -> Vec<Row> {
    (0..dimension).map(|i| unit(dimension, i)).collect()
}

/// The form that is variable `i`.
pub(crate) fn unit(dimension: usize, i: usize) -> Row {
    let mut row = vec![Int::ZERO; dimension + 1];
    row[i + 1] = Int::ONE;
    row
}

fn impossible(dimension: usize) -> Row {
    let mut row = vec![Int::ZERO; dimension + 1];
    row[0] = Int::MINUS_ONE;
    row
}
