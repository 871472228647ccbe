//! What goes on for ever: whether some run passes bad locations again and again.
//!
//! A run that does is a lasso ([`crate::lasso`]). Loops of the control graph through a bad location are
//! composed to one instruction; that a vector x begins such a loop which then adds the same w(x) in each
//! round, and makes no guard smaller, are linear conditions on x, so that one question about a reachable set
//! finds it, whether the loop comes back to its state or grows. First come loops that pass each location once;
//! then those that pass some twice, such as one step up and one down at the same location.
//!
//! That no run does needs everything that is reachable, so it is told only where the search has come to its
//! end. It is a descent: of the transitions that can follow each other for ever, a linear form of the
//! variables is found that none of them makes larger, and some make smaller although it is never negative
//! there. These are taken finitely often, and what is left falls apart, until no part passes a bad location.
//! Other code checks it ([`crate::certificate`]).
//!
//! Runs that are neither are not decided: there is no method for all counter programs.

use std::cell::LazyCell;
use std::collections::{BTreeSet, VecDeque};

use volee_integers::{Conjunct, Effort, Exhausted, Int, Row, Set};
use volee_system::{Budget, Limit, Meter, strong_components};

use crate::certificate::check_never_within;
use crate::check::Statistics;
use crate::forward::{Forward, Progress, effort_within};
use crate::lasso::{Lasso, Rounds};
use crate::program::{Instruction, LocationId, Program, TransitionId, unit};

/// Transitions of one loop, loops, and paths that are tried for them.
const LENGTH: usize = 12;
const LOOPS: usize = 2_000;
const PATHS: usize = 60_000;
/// Steps of the search before simple loops are tried; then, and of all loops, four times as many, and so on.
const FIRST_LOOK: u64 = 64;
/// Work for one question.
const WORK: u64 = 30_000_000;
/// Transitions of a part for which sums of two forms are tried.
const FEW_FORMS: usize = 16;

/// Whether some run passes bad locations for ever.
#[derive(Debug, Clone)]
pub enum Recurrence {
    /// This one does, and it was replayed.
    Forever {
        /// The run.
        lasso: Box<Lasso>,
        /// What its replay shows.
        rounds: Rounds,
    },
    /// None does; the descent was checked.
    Never(Descent),
    /// Not known.
    Unknown(Limit),
}

/// Why no run passes bad locations for ever.
#[derive(Debug, Clone)]
pub struct Descent {
    /// All that is reachable, by location.
    pub sets: Vec<Set>,
    /// What becomes smaller, one after the other.
    pub stages: Vec<Stage>,
}

/// A linear form that falls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stage {
    /// Transitions that can follow each other for ever; none makes the form larger.
    pub among: Vec<TransitionId>,
    /// The form.
    pub form: Row,
    /// Those of them that make it smaller; it is not negative before.
    pub falls: Vec<TransitionId>,
}

/// The answer, and what was done.
#[derive(Debug, Clone)]
pub struct Recurring {
    /// Yes, no, or why not known.
    pub recurrence: Recurrence,
    /// What was done.
    pub statistics: Statistics,
}

/// Decides whether some run passes locations that have bad vectors again and again.
pub fn recurrence(program: &Program, budget: &Budget) -> Recurring {
    let meter = Meter::start(budget.clone());
    let mut search = Forward::new(program, true, &meter);
    let recurrence = decide(program, &mut search, &meter);
    let statistics = Statistics {
        forward_steps: search.steps,
        forward_sets: search.size(),
        meta_transitions: search.cycles.count(),
        ..Statistics::default()
    };
    Recurring { recurrence, statistics }
}

fn decide(program: &Program, search: &mut Forward<'_>, meter: &Meter) -> Recurrence {
    let graph = Graph::of(program);
    let simple = graph.loops(1, meter);
    // There are many more of these, so they are tried only where a search goes on for long or nothing else helps.
    let twice = LazyCell::new(|| graph.loops(2, meter));
    let within_time = || effort_within(meter, 0);
    let _ = search.start();
    let mut look = FIRST_LOOK;
    let limit = loop {
        if let Err(limit) = meter.check() {
            break Some(limit);
        }
        match search.step(meter) {
            Progress::Working => {}
            Progress::Stopped(limit) => break Some(limit),
            Progress::Closed | Progress::Bad { .. } => break None,
        }
        if search.steps >= look {
            let mut found = lasso(program, search, &simple, &within_time());
            if found.is_none() && look > FIRST_LOOK {
                found = lasso(program, search, &twice, &within_time());
            }
            if let Some(found) = found {
                return found;
            }
            look *= 4;
        }
    };
    if let Some(found) = lasso(program, search, &simple, &Effort::new(0)) {
        return found;
    }
    let otherwise = match limit {
        Some(limit) => limit,
        None => match never(program, &graph, search.sets(), &within_time()) {
            Ok(descent) => return Recurrence::Never(descent),
            Err(limit) => limit,
        },
    };
    let last = lasso(program, search, &twice, &within_time());
    last.unwrap_or_else(|| Recurrence::Unknown(meter.check().err().unwrap_or(otherwise)))
}

/// A descent, checked, in all that is reachable; or why there is none.
fn never(program: &Program, graph: &Graph<'_>, sets: Vec<Set>, effort: &Effort) -> Result<Descent, Limit> {
    let other = |message: String| Limit::Other { message };
    let stages = match graph.descend(&sets, effort) {
        Ok(Ok(stages)) => stages,
        Ok(Err(stuck)) => return Err(other(graph.stuck(&stuck))),
        Err(e @ Exhausted) => return Err(other(e.to_string())),
    };
    let descent = Descent { sets, stages };
    check_never_within(program, &descent, effort)
        .map_err(|e| other(format!("the certificate does not check: {e}")))?;
    Ok(descent)
}

/// A vector of what was found from which one of the loops can be taken for ever.
fn lasso(program: &Program, search: &Forward<'_>, loops: &[Loop], effort: &Effort) -> Option<Recurrence> {
    for each in loops {
        for (node, set) in search.alive_at(each.head) {
            effort.refill(WORK);
            let Ok(Some(values)) = set.with(&each.equations, &each.inequalities).sample(effort) else {
                continue;
            };
            let Ok(Some(prefix)) = search.witness(node, &values) else { continue };
            let lasso = Box::new(Lasso { prefix, body: each.word.clone() });
            // Only a run that replays is an answer.
            if let Ok(rounds) = lasso.replay(program) {
                return Some(Recurrence::Forever { lasso, rounds });
            }
        }
    }
    None
}

/// A loop through a bad location, and where it can be taken for ever.
struct Loop {
    head: LocationId,
    word: Vec<TransitionId>,
    equations: Vec<Row>,
    inequalities: Vec<Row>,
}

impl Loop {
    fn new(head: LocationId, word: Vec<TransitionId>, instruction: &Instruction) -> Self {
        let n = instruction.update.dimension();
        let next = |row: &Row| instruction.update.pull(row);
        // What the second round adds to a variable is what the first one did.
        let steady = |i: usize| {
            let (before, after) = (unit(n, i), next(&unit(n, i)));
            sum(&sum(&next(&after), &after, -2), &before, 1)
        };
        let equations = (0..n).map(steady).filter(|row| row.iter().any(|c| !c.is_zero())).collect();
        let slopes = instruction.guard.iter().map(|row| sum(&next(row), row, -1));
        let inequalities = instruction.guard.iter().cloned().chain(slopes).collect();
        Loop { head, word, equations, inequalities }
    }
}

/// `one + times * other`.
fn sum(one: &[Int], other: &[Int], times: i64) -> Row {
    let times = Int::from(times);
    one.iter().zip(other).map(|(a, b)| a + &(&times * b)).collect()
}

/// The control graph as far as bad locations are on its cycles.
struct Graph<'a> {
    program: &'a Program,
    bad: Vec<bool>,
    leaving: Vec<Vec<TransitionId>>,
}

impl<'a> Graph<'a> {
    fn of(program: &'a Program) -> Self {
        let mut bad = vec![false; program.locations.len()];
        program.bad.iter().for_each(|region| bad[region.location.index()] = true);
        let leaving = program.leaving();
        let successor = |at: u32, next: &mut usize| {
            let id = leaving[at as usize].get(*next)?;
            *next += 1;
            Some(program.transition(*id).to.0)
        };
        let parts = strong_components(program.locations.len(), 0..program.locations.len() as u32, successor);
        let mut recurs = vec![false; parts.count as usize];
        bad.iter()
            .zip(&parts.of)
            .filter(|(bad, _)| **bad)
            .for_each(|(_, &part)| recurs[part as usize] = true);
        let stays = |id: &TransitionId| {
            let transition = program.transition(*id);
            let part = parts.of[transition.from.index()];
            part == parts.of[transition.to.index()] && recurs[part as usize]
        };
        let leaving = leaving.iter().map(|all| all.iter().copied().filter(stays).collect()).collect();
        Graph { program, bad, leaving }
    }

    /// Loops through bad locations that pass some location so many times, and none more often; short ones first.
    fn loops(&self, passes: usize, meter: &Meter) -> Vec<Loop> {
        let mut all = Vec::new();
        let mut queue: VecDeque<(LocationId, Vec<TransitionId>, Instruction)> = self
            .program
            .location_ids()
            .filter(|at| self.bad[at.index()] && !self.leaving[at.index()].is_empty())
            .map(|head| (head, Vec::new(), Instruction::skip(self.program.dimension())))
            .collect();
        let mut paths = queue.len();
        while let Some((head, path, instruction)) = queue.pop_front() {
            if all.len() >= LOOPS || meter.check().is_err() {
                break;
            }
            let to = |id: &TransitionId| self.program.transition(*id).to;
            let times = |at: LocationId| path.iter().filter(|id| to(id) == at).count();
            let here = path.last().map_or(head, to);
            if !path.is_empty() && here == head && path.iter().any(|id| times(to(id)) == passes) {
                all.push(Loop::new(head, path.clone(), &instruction));
            }
            if path.len() >= LENGTH || times(head) == passes {
                continue;
            }
            for &id in &self.leaving[here.index()] {
                if paths >= PATHS || times(to(&id)) == passes {
                    continue;
                }
                if let Some(next) = instruction.then(&self.program.transition(id).instruction) {
                    let mut longer = path.clone();
                    longer.push(id);
                    queue.push_back((head, longer, next));
                    paths += 1;
                }
            }
        }
        all
    }

    /// What falls, stage by stage, until no transitions that pass a bad location can follow each other for
    /// ever; or those for which nothing was found.
    fn descend(
        &self,
        sets: &[Set],
        effort: &Effort,
    ) -> Result<Result<Vec<Stage>, Vec<TransitionId>>, Exhausted> {
        let followers = self.followers(sets, effort)?;
        let mut stages = Vec::new();
        let mut work = self.parts(&followers, &(0..followers.len()).collect());
        while let Some(among) = work.pop() {
            let Some(stage) = self.stage(&among, sets, effort)? else { return Ok(Err(among)) };
            let left = among.iter().filter(|id| !stage.falls.contains(id)).map(|id| id.index()).collect();
            stages.push(stage);
            work.extend(self.parts(&followers, &left));
        }
        Ok(Ok(stages))
    }

    /// For each transition those that can follow it, and the other way round only where it can be taken.
    fn followers(&self, sets: &[Set], effort: &Effort) -> Result<Vec<Vec<u32>>, Exhausted> {
        let mut all = vec![Vec::new(); self.program.transitions.len()];
        for &id in self.leaving.iter().flatten() {
            let transition = self.program.transition(id);
            for &next in &self.leaving[transition.to.index()] {
                let then = &self.program.transition(next).instruction.guard;
                let then: Vec<Row> = then.iter().map(|row| transition.instruction.update.pull(row)).collect();
                for set in domain(self.program, sets, id) {
                    effort.refill(WORK);
                    if !set.with(&[], &then).is_empty(effort)? {
                        all[id.index()].push(next.0);
                        break;
                    }
                }
            }
        }
        Ok(all)
    }

    /// The parts of some transitions whose members can follow each other for ever, and pass a bad location.
    fn parts(&self, followers: &[Vec<u32>], of: &BTreeSet<usize>) -> Vec<Vec<TransitionId>> {
        let successor = |at: u32, next: &mut usize| {
            let all = &followers[at as usize];
            while let Some(&to) = all.get(*next) {
                *next += 1;
                if of.contains(&(to as usize)) {
                    return Some(to);
                }
            }
            None
        };
        let found = strong_components(followers.len(), of.iter().map(|&at| at as u32), successor);
        let is_bad = |&at: &usize| self.bad[self.program.transitions[at].from.index()];
        let goes_on = |part: &Vec<usize>| part.len() > 1 || followers[part[0]].contains(&(part[0] as u32));
        let parts = found.members().into_iter().filter(|part| goes_on(part) && part.iter().any(is_bad));
        parts.map(|part| part.into_iter().map(|at| TransitionId(at as u32)).collect()).collect()
    }

    /// A form that falls among these transitions.
    fn stage(
        &self,
        among: &[TransitionId],
        sets: &[Set],
        effort: &Effort,
    ) -> Result<Option<Stage>, Exhausted> {
        for form in self.forms(among, sets) {
            if let Some(falls) = self.falls(among, &form, sets, effort)? {
                return Ok(Some(Stage { among: among.to_vec(), form, falls }));
            }
        }
        Ok(None)
    }

    /// Forms that are not negative where some of these transitions are taken: their guards, and what the sets
    /// are bounded by; where there are few, the sums of two as well.
    fn forms(&self, among: &[TransitionId], sets: &[Set]) -> Vec<Row> {
        let mut all: Vec<Row> = Vec::new();
        let n = self.program.dimension();
        let mut add = |row: &[Int]| {
            let moves = row[1..].iter().any(|c| !c.is_zero());
            if moves && !all.iter().any(|known| known == row) {
                all.push(row.to_vec());
            }
        };
        for &id in among {
            self.program.transition(id).instruction.guard.iter().for_each(|row| add(row));
        }
        for &id in among {
            for set in sets[self.program.transition(id).from.index()].conjuncts() {
                let plain = |row: &&Row| row[n + 1..].iter().all(Int::is_zero);
                set.inequalities().iter().filter(plain).for_each(|row| add(&row[..=n]));
            }
        }
        if all.len() <= FEW_FORMS {
            let pairs = (0..all.len()).flat_map(|i| (0..i).map(move |j| (i, j)));
            let sums: Vec<Row> = pairs.map(|(i, j)| sum(&all[i], &all[j], 1)).collect();
            all.extend(sums);
        }
        all
    }

    /// The transitions that make a form smaller, which is not negative before; nothing where there are none or
    /// some make it larger.
    fn falls(
        &self,
        among: &[TransitionId],
        form: &Row,
        sets: &[Set],
        effort: &Effort,
    ) -> Result<Option<Vec<TransitionId>>, Exhausted> {
        let mut falls = Vec::new();
        for &id in among {
            let fall = sum(form, &self.program.transition(id).instruction.update.pull(form), -1);
            let is_never = |row: &Row| is_never(self.program, sets, id, row, effort);
            if !is_never(&below(&fall, 0))? {
                return Ok(None);
            }
            if is_never(&below(&fall, 1))? && is_never(&below(form, 0))? {
                falls.push(id);
            }
        }
        Ok((!falls.is_empty()).then_some(falls))
    }

    /// What is said where nothing was found.
    fn stuck(&self, among: &[TransitionId]) -> String {
        let names: Vec<&str> =
            among.iter().take(4).map(|id| self.program.transition(*id).name.as_str()).collect();
        let more = if among.len() > names.len() { ", …" } else { "" };
        format!(
            "what repeats `{}`{more} can be shown neither to go on for ever nor to come to an end",
            names.join("`, `")
        )
    }
}

/// The form is less than a number.
fn below(form: &[Int], number: i64) -> Row {
    let mut row: Row = form.iter().map(|c| -c).collect();
    row[0] += &Int::from(number - 1);
    row
}

/// The vectors at which a transition can be taken.
fn domain<'s>(
    program: &'s Program,
    sets: &'s [Set],
    id: TransitionId,
) -> impl Iterator<Item = Conjunct> + 's {
    let transition = program.transition(id);
    let here = sets[transition.from.index()].conjuncts().iter();
    here.map(|set| set.with(&[], &transition.instruction.guard))
}

/// Whether a form is negative wherever a transition can be taken.
fn is_never(
    program: &Program,
    sets: &[Set],
    id: TransitionId,
    form: &Row,
    effort: &Effort,
) -> Result<bool, Exhausted> {
    for set in domain(program, sets, id) {
        effort.refill(WORK);
        if !set.with(&[], std::slice::from_ref(form)).is_empty(effort)? {
            return Ok(false);
        }
    }
    Ok(true)
}
