//! Meta-transitions: a cycle of the program, composed into one instruction, repeated any number of times in
//! one step (Boigelot & Wolper 1994, sections 3.2 and 3.3).
//!
//! A cycle qualifies when its map settles into a translation after a few rounds (for `A² = A`, after one),
//! which is checked after every composition. A loop inside a loop becomes one instruction when its exit fixes
//! the number of rounds as an integer linear form of the variables; then the outer loop is a cycle like any
//! other.

use volee_integers::{Conjunct, Effort, Exhausted, Int, Row};

use crate::program::{Instruction, LocationId, Program, TransitionId, inequalities};
use crate::witness::{Count, Part, along};

/// Rounds after which a cycle must be a translation.
const SETTLE: usize = 2;
/// Edges of one cycle of the control graph.
const LENGTH: usize = 12;
/// Cycles kept for one program.
const CYCLES: usize = 600;
/// Paths tried from one location, and in all.
const PATHS: usize = 4_000;
const ALL_PATHS: usize = 60_000;

/// A meta-transition.
#[derive(Debug, Clone)]
pub(crate) struct Cycle {
    pub(crate) head: LocationId,
    pub(crate) word: Vec<Part>,
    pub(crate) instruction: Instruction,
    /// Rounds before each further one adds `vector`.
    pub(crate) settle: usize,
    pub(crate) vector: Vec<Int>,
}

impl Cycle {
    /// `None` if repetition is not periodic or brings nothing new.
    pub(crate) fn new(head: LocationId, word: Vec<Part>, instruction: Instruction) -> Option<Cycle> {
        let (settle, vector) = instruction.update.translation(SETTLE)?;
        let moves = vector.iter().any(|v| !v.is_zero());
        moves.then_some(Cycle { head, word, instruction, settle, vector })
    }

    /// The vectors after `settle` rounds.
    pub(crate) fn settled(&self, from: &Conjunct) -> Conjunct {
        let mut out = from.clone();
        for _ in 0..self.settle {
            out = self.instruction.image(&out);
        }
        out
    }

    /// The vectors after more than `settle` rounds. The rounds before are plain steps.
    pub(crate) fn closure(&self, from: &Conjunct) -> Conjunct {
        self.settled(from).translated(&self.vector, &self.instruction.guard)
    }

    /// The vectors from which one or more rounds lead into `to`; only for cycles that are translations at
    /// once.
    pub(crate) fn closure_back(&self, to: &Conjunct) -> Option<Conjunct> {
        (self.settle == 0).then(|| to.translated_back(&self.vector, &self.instruction.guard))
    }

    /// A vector of `from` and a number of rounds that lead to `target`.
    pub(crate) fn explain(
        &self,
        from: &Conjunct,
        target: &[Int],
        effort: &Effort,
    ) -> Result<Option<(Vec<Int>, Int)>, Exhausted> {
        // One unknown, the number of translations: target - j * vector is in the settled set, guards at both
        // ends.
        let settled = self.settled(from);
        let n = target.len();
        let mut rows_equal: Vec<Row> = Vec::new();
        for (i, (t, v)) in target.iter().zip(&self.vector).enumerate() {
            let mut row = vec![Int::ZERO; n + 2];
            row[0] = -t;
            row[i + 1] = Int::ONE;
            row[n + 1] = v.clone();
            rows_equal.push(row);
        }
        let mut positive = vec![Int::ZERO; n + 2];
        positive[0] = Int::MINUS_ONE;
        positive[n + 1] = Int::ONE;
        let mut rows = vec![positive];
        for row in &self.instruction.guard {
            let mut first = row.clone();
            first.push(Int::ZERO);
            rows.push(first);
            // Before the last round: target - vector.
            let before: Vec<Int> = target.iter().zip(&self.vector).map(|(t, v)| t - v).collect();
            let value = crate::program::evaluate(row, &before);
            if value.is_negative() {
                return Ok(None);
            }
        }
        let extended = extend(&settled);
        let Some(point) = extended.with(&rows_equal, &rows).sample(effort)? else { return Ok(None) };
        let rounds = point[n].clone();
        let mut at = point[..n].to_vec();
        for back in (0..self.settle).rev() {
            let mut before = from.clone();
            for _ in 0..back {
                before = self.instruction.image(&before);
            }
            let reached = self.instruction.preimage(&Conjunct::point(&at));
            match before.intersect(&reached).sample(effort)? {
                Some(point) => at = point,
                None => return Ok(None),
            }
        }
        Ok(Some((at, &rounds + &Int::from(self.settle))))
    }
}

/// The same set with one more visible column after the others, free.
fn extend(conjunct: &Conjunct) -> Conjunct {
    let n = conjunct.dimension();
    let widen = |rows: &[Row]| -> Vec<Row> {
        rows.iter()
            .map(|r| {
                let mut out = r[..=n].to_vec();
                out.push(Int::ZERO);
                out.extend_from_slice(&r[n + 1..]);
                out
            })
            .collect()
    };
    if conjunct.is_plainly_empty() {
        let mut never = vec![Int::ZERO; n + 2];
        never[0] = Int::MINUS_ONE;
        return Conjunct::new(n + 1, Vec::new(), vec![never]);
    }
    Conjunct::new(n + 1, widen(conjunct.equations()), widen(conjunct.inequalities()))
}

/// One instruction for "at least one round of the translation, then `exit`", and the number of rounds, if the
/// exit fixes it (section 3.3).
fn collapse(
    cycle: &Cycle,
    exit: &Instruction,
    effort: &Effort,
) -> Result<Option<(Instruction, Row)>, Exhausted> {
    let n = cycle.vector.len();
    let k = n + 1;
    let mut rows = Vec::new();
    let mut at = |row: &Row, rounds_offset: i64, with_rounds: bool| {
        // row at x + (k + offset) * vector, or at x.
        let mut out = row.clone();
        out.push(Int::ZERO);
        if with_rounds {
            for (c, v) in row[1..].iter().zip(&cycle.vector) {
                let slope = c * v;
                out[k] += &slope;
                out[0] += &(&slope * &Int::from(rounds_offset));
            }
        }
        rows.push(out);
    };
    for row in &cycle.instruction.guard {
        at(row, 0, false);
        at(row, -1, true);
    }
    for row in &exit.guard {
        at(row, 0, true);
    }
    let mut positive = vec![Int::ZERO; n + 2];
    positive[0] = Int::MINUS_ONE;
    positive[k] = Int::ONE;
    rows.push(positive);
    let system = Conjunct::new(n + 1, Vec::new(), rows).reduced(effort)?;
    if system.is_plainly_empty() {
        return Ok(None);
    }
    let Some(equation) = system.equations().iter().find(|e| e[k].is_unit()) else { return Ok(None) };
    let mut count: Row = equation[..=n].to_vec();
    if equation[k].is_one() {
        count.iter_mut().for_each(|c| *c = -&*c);
    }
    let mut keep = vec![true; n + 1];
    keep[n] = false;
    let guard = system.project(&keep);
    if guard.hidden() > 0 {
        return Ok(None);
    }
    let update = along(&count, &cycle.vector).then(&exit.update);
    Ok(Some((Instruction { guard: inequalities(&guard), update }, count)))
}

/// An edge of the control graph: a transition, or a collapsed loop followed by one.
struct Edge {
    from: LocationId,
    to: LocationId,
    word: Vec<Part>,
    instruction: Instruction,
}

/// The meta-transitions of a program, as they become known.
pub(crate) struct Cycles {
    by_head: Vec<Vec<Cycle>>,
    count: usize,
}

impl Cycles {
    /// The cycles of the control graph, inner loops collapsed.
    pub(crate) fn of_control_graph(program: &Program, effort: &Effort) -> Cycles {
        let mut out = Cycles { by_head: vec![Vec::new(); program.locations.len()], count: 0 };
        let mut edges: Vec<Edge> = program
            .transition_ids()
            .map(|id| {
                let t = program.transition(id);
                Edge {
                    from: t.from,
                    to: t.to,
                    word: vec![Part::Step(id)],
                    instruction: t.instruction.clone(),
                }
            })
            .collect();
        out.add_simple_cycles(program, &edges);
        if program.locations.len() > 1 {
            let collapsed = out.collapsed_edges(program, effort);
            if !collapsed.is_empty() {
                edges.extend(collapsed);
                out.add_simple_cycles(program, &edges);
            }
        }
        out
    }

    /// The cycles that start at a location.
    pub(crate) fn at(&self, location: LocationId) -> &[Cycle] {
        &self.by_head[location.index()]
    }

    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Adds a cycle unless it is known; whether it was new.
    pub(crate) fn add(&mut self, cycle: Cycle) -> bool {
        let here = &mut self.by_head[cycle.head.index()];
        if self.count >= CYCLES || here.iter().any(|c| c.instruction == cycle.instruction) {
            return false;
        }
        here.push(cycle);
        self.count += 1;
        true
    }

    /// Adds the cycle of a word of transitions that starts and ends at `head`.
    pub(crate) fn add_word(&mut self, program: &Program, head: LocationId, word: &[TransitionId]) -> bool {
        let mut instruction = Instruction::skip(program.dimension());
        for id in word {
            match instruction.then(&program.transition(*id).instruction) {
                Some(next) => instruction = next,
                None => return false,
            }
        }
        let parts = word.iter().map(|id| Part::Step(*id)).collect();
        Cycle::new(head, parts, instruction).is_some_and(|c| self.add(c))
    }

    fn add_simple_cycles(&mut self, program: &Program, edges: &[Edge]) {
        let mut leaving = vec![Vec::new(); program.locations.len()];
        for (i, edge) in edges.iter().enumerate().rev() {
            leaving[edge.from.index()].push(i);
        }
        let mut all_tried = 0;
        for head in program.location_ids() {
            let start = Instruction::skip(program.dimension());
            // Explicit stack of paths: the edges taken, the composition so far.
            let mut stack: Vec<(Vec<usize>, Instruction)> = vec![(Vec::new(), start)];
            let mut tried = 0;
            while let Some((path, instruction)) = stack.pop() {
                tried += 1;
                all_tried += 1;
                if tried > PATHS || all_tried > ALL_PATHS || self.count >= CYCLES {
                    break;
                }
                let here = path.last().map_or(head, |&e| edges[e].to);
                if !path.is_empty() && here == head {
                    let word = path.iter().flat_map(|&e| edges[e].word.clone()).collect();
                    if let Some(cycle) = Cycle::new(head, word, instruction) {
                        self.add(cycle);
                    }
                    continue;
                }
                if path.len() >= LENGTH {
                    continue;
                }
                for &i in &leaving[here.index()] {
                    let edge = &edges[i];
                    let visited = path.iter().any(|&e| edges[e].to == edge.to);
                    if visited && edge.to != head {
                        continue;
                    }
                    let Some(next) = instruction.then(&edge.instruction) else { continue };
                    let mut longer = path.clone();
                    longer.push(i);
                    stack.push((longer, next));
                }
            }
        }
    }

    fn collapsed_edges(&self, program: &Program, effort: &Effort) -> Vec<Edge> {
        let mut out = Vec::new();
        for id in program.transition_ids() {
            let exit = program.transition(id);
            for cycle in self.at(exit.from) {
                // Loops that settle at once keep the count's meaning simple: rounds from the entry on.
                let leaves = cycle.word.first() != Some(&Part::Step(id));
                if cycle.settle > 0 || !leaves {
                    continue;
                }
                let Ok(Some((instruction, count))) = collapse(cycle, &exit.instruction, effort) else {
                    continue;
                };
                let rounds = Part::Repeat { count: Count::Form(count), body: cycle.word.clone() };
                let word = vec![rounds, Part::Step(id)];
                out.push(Edge { from: exit.from, to: exit.to, word, instruction });
            }
        }
        out
    }
}
