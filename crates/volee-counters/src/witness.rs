//! Witnesses: runs as words with exponents, `t1 (t2 t3)^1000000 t4`, and their replay with exact integers.
//!
//! A loop that runs a million times is not written out and not executed a million times either. Its first
//! rounds and its last are executed step by step; in between each round adds the same vector, so every guard
//! is a linear function of the round's number, and true at both ends means true throughout. The replay knows
//! nothing of how the search found the word.

use std::fmt;

use volee_integers::{Affine, Int, Row};

use crate::program::{LocationId, Program, TransitionId, evaluate};

/// Rounds of a loop before it settles into a translation.
const SETTLE: usize = 4;
/// Loops inside loops.
const NESTING: usize = 8;

/// A run: where it starts, and what happens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Witness {
    /// The first location.
    pub location: LocationId,
    /// The first vector.
    pub values: Vec<Int>,
    /// The word.
    pub parts: Vec<Part>,
}

/// A part of a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// One transition.
    Step(TransitionId),
    /// A word repeated.
    Repeat {
        /// How often.
        count: Count,
        /// What.
        body: Vec<Part>,
    },
}

/// How often a word is repeated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Count {
    /// A number.
    Times(Int),
    /// A linear form of the variables at the start of the loop.
    Form(Row),
}

/// Why a word is not a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReplayError {
    /// The first vector is not initial.
    NotInitial,
    /// The transition does not start at the location reached.
    WrongLocation(TransitionId),
    /// The guard is false.
    Disabled(TransitionId),
    /// A loop's number of rounds is negative or its rounds do not settle into a translation.
    Loop,
    /// The run ends where nothing is wrong.
    NotBad,
}

impl fmt::Display for ReplayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReplayError::NotInitial => write!(f, "the run does not start in an initial state"),
            ReplayError::WrongLocation(t) => write!(f, "transition {} does not start where the run is", t.0),
            ReplayError::Disabled(t) => write!(f, "transition {} is not enabled", t.0),
            ReplayError::Loop => write!(f, "a loop of the run cannot be followed"),
            ReplayError::NotBad => write!(f, "the run does not end in a bad state"),
        }
    }
}

/// A state of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State {
    /// Where.
    pub location: LocationId,
    /// The values of the variables.
    pub values: Vec<Int>,
}

impl Witness {
    /// Executes the run; gives the state after each part of the word, the start included.
    ///
    /// # Errors
    /// The word is not a run of the program.
    pub fn replay(&self, program: &Program) -> Result<Vec<State>, ReplayError> {
        let mut state = State { location: self.location, values: self.values.clone() };
        if !program.initial.iter().any(|r| r.location == state.location && holds(&r.conjunct, &state.values))
        {
            return Err(ReplayError::NotInitial);
        }
        let mut states = vec![state.clone()];
        for part in &self.parts {
            run(program, part, &mut state, 0)?;
            states.push(state.clone());
        }
        Ok(states)
    }

    /// Executes the run and checks that it ends in a bad state.
    ///
    /// # Errors
    /// It is not a run, or its end is not bad.
    pub fn replay_to_bad(&self, program: &Program) -> Result<Vec<State>, ReplayError> {
        let states = self.replay(program)?;
        let last = states.last().ok_or(ReplayError::NotBad)?;
        let bad = program.bad.iter().any(|r| r.location == last.location && holds(&r.conjunct, &last.values));
        if bad { Ok(states) } else { Err(ReplayError::NotBad) }
    }

    /// All transitions in their order, loops written out; `None` where there are more than `most` or the word
    /// is no run.
    pub fn written_out(&self, program: &Program, most: usize) -> Option<Vec<TransitionId>> {
        let mut state = State { location: self.location, values: self.values.clone() };
        let mut out = Vec::new();
        write_out(program, &self.parts, &mut state, most, &mut out, 0)?;
        Some(out)
    }

    /// Every single state of the run, with all rounds of its loops; `None` if there are more than `most`, or
    /// it is no run.
    pub fn unfolded(&self, program: &Program, most: usize) -> Option<Vec<State>> {
        let mut states = vec![State { location: self.location, values: self.values.clone() }];
        unfold(program, &self.parts, &mut states, most, 0)?;
        Some(states)
    }

    /// The word in notation, with the transitions' names.
    pub fn notation(&self, program: &Program) -> String {
        notation(program, &self.parts)
    }

    /// The number of steps when all loops are written out; `None` where a count depends on variables.
    pub fn length(&self) -> Option<Int> {
        length(&self.parts, 0)
    }
}

fn write_out(
    program: &Program,
    parts: &[Part],
    state: &mut State,
    most: usize,
    out: &mut Vec<TransitionId>,
    depth: usize,
) -> Option<()> {
    for part in parts {
        match part {
            Part::Step(id) => {
                if out.len() >= most {
                    return None;
                }
                run(program, part, state, depth).ok()?;
                out.push(*id);
            }
            Part::Repeat { count, body } => {
                let rounds = match count {
                    Count::Times(n) => n.to_i64()?,
                    Count::Form(row) => evaluate(row, &state.values).to_i64()?,
                };
                if depth >= NESTING || rounds > most as i64 {
                    return None;
                }
                for _ in 0..rounds {
                    write_out(program, body, state, most, out, depth + 1)?;
                }
            }
        }
    }
    Some(())
}

/// A replayed run, for display.
#[derive(Debug, Clone)]
pub struct CounterRun {
    /// The parts of the word in notation.
    pub words: Vec<String>,
    /// The first state and the state after each part.
    pub states: Vec<State>,
    /// The number of steps when all loops are written out, where it is a number.
    pub length: Option<Int>,
}

impl CounterRun {
    /// From a witness and the states that its replay gave.
    pub fn new(program: &Program, witness: &Witness, states: Vec<State>) -> Self {
        let words = witness.parts.iter().map(|p| notation(program, std::slice::from_ref(p))).collect();
        CounterRun { words, states, length: witness.length() }
    }
}

fn unfold(
    program: &Program,
    parts: &[Part],
    states: &mut Vec<State>,
    most: usize,
    depth: usize,
) -> Option<()> {
    for part in parts {
        let mut state = states.last()?.clone();
        match part {
            Part::Step(_) => {
                run(program, part, &mut state, depth).ok()?;
                states.push(state);
            }
            Part::Repeat { count, body } if depth < NESTING => {
                let rounds = match count {
                    Count::Times(n) => n.to_i64()?,
                    Count::Form(row) => evaluate(row, &state.values).to_i64()?,
                };
                for _ in 0..rounds {
                    unfold(program, body, states, most, depth + 1)?;
                    if states.len() > most {
                        return None;
                    }
                }
            }
            Part::Repeat { .. } => return None,
        }
    }
    (states.len() <= most).then_some(())
}

fn length(parts: &[Part], depth: usize) -> Option<Int> {
    let mut sum = Int::ZERO;
    for part in parts {
        match part {
            Part::Step(_) => sum += &Int::ONE,
            Part::Repeat { count: Count::Times(n), body } if depth < NESTING => {
                sum += &(n * &length(body, depth + 1)?);
            }
            Part::Repeat { .. } => return None,
        }
    }
    Some(sum)
}

/// Initial and bad regions of a program have no hidden columns, so that membership is evaluation; any hidden
/// column counts as not satisfied.
pub(crate) fn holds(conjunct: &volee_integers::Conjunct, values: &[Int]) -> bool {
    conjunct.hidden() == 0
        && !conjunct.is_plainly_empty()
        && conjunct.equations().iter().all(|r| evaluate(r, values).is_zero())
        && conjunct.inequalities().iter().all(|r| !evaluate(r, values).is_negative())
}

fn run(program: &Program, part: &Part, state: &mut State, depth: usize) -> Result<(), ReplayError> {
    match part {
        Part::Step(id) => {
            let transition = program.transition(*id);
            if transition.from != state.location {
                return Err(ReplayError::WrongLocation(*id));
            }
            if !transition.instruction.is_enabled(&state.values) {
                return Err(ReplayError::Disabled(*id));
            }
            state.values = transition.instruction.update.apply(&state.values);
            state.location = transition.to;
            Ok(())
        }
        Part::Repeat { count, body } if depth < NESTING => {
            let rounds = match count {
                Count::Times(n) => n.clone(),
                Count::Form(row) => evaluate(row, &state.values),
            };
            // A loop inside a loop takes at least one round in each: only then do the rounds at both ends of
            // the outer loop, first and last of the inner one, surround all others.
            if matches!(count, Count::Form(_)) && !rounds.is_positive() {
                return Err(ReplayError::Loop);
            }
            repeat(program, body, rounds, state, depth)
        }
        Part::Repeat { .. } => Err(ReplayError::Loop),
    }
}

fn repeat(
    program: &Program,
    body: &[Part],
    mut left: Int,
    state: &mut State,
    depth: usize,
) -> Result<(), ReplayError> {
    if left.is_negative() {
        return Err(ReplayError::Loop);
    }
    let round = |state: &mut State| body.iter().try_for_each(|p| run(program, p, state, depth + 1));
    // Enough rounds for the map to settle, and one more whose guards are one end of the line.
    for _ in 0..=SETTLE {
        if left.is_zero() {
            return Ok(());
        }
        round(state)?;
        left = &left - &Int::ONE;
    }
    if left <= Int::ONE {
        return if left.is_zero() { Ok(()) } else { round(state) };
    }
    let effect = effect(program, body, depth).ok_or(ReplayError::Loop)?;
    let (settled, vector) = effect.translation(SETTLE).ok_or(ReplayError::Loop)?;
    if settled > SETTLE {
        return Err(ReplayError::Loop);
    }
    let jump = &left - &Int::ONE;
    for (x, v) in state.values.iter_mut().zip(&vector) {
        *x += &(v * &jump);
    }
    round(state)
}

/// The map that a word computes.
fn effect(program: &Program, body: &[Part], depth: usize) -> Option<Affine> {
    let n = program.dimension();
    let mut map = Affine::identity(n);
    for part in body {
        let next = match part {
            Part::Step(id) => program.transition(*id).instruction.update.clone(),
            Part::Repeat { count: Count::Form(form), body } if depth < NESTING => {
                let (settled, vector) = effect(program, body, depth + 1)?.translation(0)?;
                if settled != 0 {
                    return None;
                }
                along(form, &vector)
            }
            Part::Repeat { .. } => return None,
        };
        map = map.then(&next);
    }
    Some(map)
}

/// `x := x + form(x) * vector`.
pub(crate) fn along(form: &[Int], vector: &[Int]) -> Affine {
    let mut out = Affine::identity(vector.len());
    for (i, v) in vector.iter().enumerate() {
        if v.is_zero() {
            continue;
        }
        let mut row: Row = form.iter().map(|c| c * v).collect();
        row[i + 1] += &Int::ONE;
        out.set(i, row);
    }
    out
}

fn notation(program: &Program, parts: &[Part]) -> String {
    let one = |part: &Part| match part {
        Part::Step(id) => program.transition(*id).name.clone(),
        Part::Repeat { count, body } => {
            let inner = notation(program, body);
            match count {
                Count::Times(n) if n.is_one() => inner,
                Count::Times(n) => format!("({inner})^{n}"),
                Count::Form(row) => format!("({inner})^[{}]", form_text(row, &program.variables)),
            }
        }
    };
    parts.iter().map(one).collect::<Vec<_>>().join(" ")
}

pub(crate) fn form_text(row: &[Int], names: &[String]) -> String {
    let mut out = String::new();
    for (c, name) in row[1..].iter().zip(names).filter(|(c, _)| !c.is_zero()) {
        let sign = if c.is_negative() { "-" } else { "+" };
        let magnitude = c.abs();
        if !out.is_empty() {
            out.push_str(&format!(" {sign} "));
        } else if c.is_negative() {
            out.push('-');
        }
        if !magnitude.is_one() {
            out.push_str(&magnitude.to_string());
        }
        out.push_str(name);
    }
    if out.is_empty() || !row[0].is_zero() {
        if out.is_empty() {
            out.push_str(&row[0].to_string());
        } else {
            let sign = if row[0].is_negative() { "-" } else { "+" };
            out.push_str(&format!(" {sign} {}", row[0].abs()));
        }
    }
    out
}
