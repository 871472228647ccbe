//! A counter program explored like any other system: its initial values chosen, its integers exact, however
//! large.
//!
//! A state is the number of the location and, of each variable, a byte for the length and the bytes of the
//! number. This is what replays and judges the runs that the symbolic search finds; it knows nothing of how
//! they were found.

use std::borrow::Cow;

use num_bigint::BigInt;
use volee_integers::{Conjunct, Effort, Int, Row};
use volee_system::{
    Action, Diagnostic, Draft, Fault, FaultId, FaultKind, Flow, Label, PredicateId, Sink, Step, System,
    Variable,
};

use crate::fst::parse_condition;
use crate::program::{LocationId, Program, Region, TransitionId};
use crate::witness::{State, Witness, holds};

/// A counter program with its initial values chosen, as a [`System`].
#[derive(Debug, Clone)]
pub struct Instance {
    program: Program,
    leaving: Vec<Vec<TransitionId>>,
    initial: Vec<State>,
    predicates: Vec<Vec<Region>>,
}

impl Instance {
    /// The program from one vector of each of its initial regions, with these variables chosen; and the
    /// variables that could as well start with another value.
    ///
    /// # Errors
    /// A variable is unknown, or no initial vector has these values.
    pub fn new(program: Program, chosen: &[(String, Int)]) -> Result<(Self, Vec<String>), Diagnostic> {
        let mut equations: Vec<Row> = Vec::new();
        for (name, value) in chosen {
            let Some(at) = program.variables.iter().position(|v| v == name) else {
                return Err(Diagnostic::error(format!("the model has no variable `{name}`"), None));
            };
            equations.push(difference(program.dimension(), at, value, &Int::ONE));
        }
        let mut initial = Vec::new();
        let mut open = vec![false; program.dimension()];
        for region in &program.initial {
            let conjunct = region.conjunct.with(&equations, &[]);
            let Some(values) = conjunct.sample(&Effort::ample()).map_err(|_| undecided())? else { continue };
            for (at, open) in open.iter_mut().enumerate() {
                *open = *open || has_another(&conjunct, at, &values[at])?;
            }
            initial.push(State { location: region.location, values });
        }
        if initial.is_empty() {
            return Err(Diagnostic::error("no initial state of the model has these values", None));
        }
        let open = program.variables.iter().zip(open).filter(|(_, open)| *open).map(|(name, _)| name.clone());
        let (open, leaving) = (open.collect(), program.leaving());
        Ok((Instance { program, leaving, initial, predicates: Vec::new() }, open))
    }

    /// The ordinals of a run of the program, which starts where this instance does; none where it has more
    /// than `most` steps or starts elsewhere.
    pub fn ordinals(&self, witness: &Witness, most: usize) -> Option<volee_system::Witness> {
        let mut state = State { location: witness.location, values: witness.values.clone() };
        let initial = self.initial.iter().position(|start| *start == state)?;
        let mut steps = Vec::new();
        for taken in witness.written_out(&self.program, most)? {
            let ordinal = self.enabled(&state).position(|t| t == taken)?;
            steps.push(u32::try_from(ordinal).ok()?);
            self.take(taken, &mut state);
        }
        Some(volee_system::Witness { initial: u32::try_from(initial).ok()?, steps, loop_start: None })
    }

    fn enabled(&self, state: &State) -> impl Iterator<Item = TransitionId> {
        let leaving = self.leaving[state.location.index()].iter().copied();
        leaving.filter(|t| self.program.transition(*t).instruction.is_enabled(&state.values))
    }

    fn take(&self, transition: TransitionId, state: &mut State) {
        let transition = self.program.transition(transition);
        state.values = transition.instruction.update.apply(&state.values);
        state.location = transition.to;
    }
}

/// `sign` times the difference of a variable and a value.
fn difference(dimension: usize, variable: usize, value: &Int, sign: &Int) -> Row {
    let mut row = vec![Int::from(0); dimension + 1];
    row[0] = &Int::from(0) - &(value * sign);
    row[variable + 1] = sign.clone();
    row
}

/// Whether a variable has another value in a set than this one.
fn has_another(conjunct: &Conjunct, variable: usize, value: &Int) -> Result<bool, Diagnostic> {
    for sign in [Int::ONE, Int::from(-1)] {
        let mut further = difference(conjunct.dimension(), variable, value, &sign);
        further[0] = &further[0] - &Int::ONE;
        if !conjunct.with(&[], &[further]).is_empty(&Effort::ample()).map_err(|_| undecided())? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn undecided() -> Diagnostic {
    Diagnostic::error("the initial condition is too complicated to choose a state from", None)
}

/// The bytes of a state; `None` where a number is too long.
fn encode(state: &State, bytes: &mut Vec<u8>) -> Option<()> {
    bytes.clear();
    bytes.extend(state.location.0.to_le_bytes());
    for value in &state.values {
        let digits = value.to_big().to_signed_bytes_le();
        bytes.push(u8::try_from(digits.len()).ok()?);
        bytes.extend(digits);
    }
    Some(())
}

fn decode(bytes: &[u8]) -> State {
    let (location, mut rest) = bytes.split_at(4.min(bytes.len()));
    let location = LocationId(location.try_into().map_or(0, u32::from_le_bytes));
    let mut values = Vec::new();
    while let Some((&length, digits)) = rest.split_first() {
        let (value, after) = digits.split_at(usize::from(length).min(digits.len()));
        values.push(Int::from(BigInt::from_signed_bytes_le(value)));
        rest = after;
    }
    State { location, values }
}

impl System for Instance {
    fn initial(&mut self, push: &mut dyn FnMut(&[u8]) -> Flow) -> Flow {
        let mut bytes = Vec::new();
        for state in &self.initial {
            if encode(state, &mut bytes).is_some() {
                push(&bytes)?;
            }
        }
        Flow::Continue(())
    }

    fn steps(&mut self, state: &[u8], sink: &mut dyn Sink) -> Flow {
        let source = decode(state);
        let mut bytes = Vec::new();
        for transition in self.enabled(&source) {
            let mut target = source.clone();
            self.take(transition, &mut target);
            let step = Step::labelled(transition.0);
            match encode(&target, &mut bytes) {
                Some(()) => sink.push(step, &bytes)?,
                None => sink.push(Step { fault: Some(FaultId(0)), stays: true, ..step }, state)?,
            }
        }
        Flow::Continue(())
    }

    fn label(&self, label: Label) -> Cow<'_, str> {
        self.program.transition(TransitionId(label.0)).name.as_str().into()
    }

    fn fault(&self, _: FaultId) -> Fault {
        let message = "an integer has more than 2000 bits".into();
        Fault { kind: FaultKind::Runtime, message, place: None }
    }

    fn explain(&mut self, state: &[u8], ordinal: usize) -> Vec<Action> {
        let taken = self.enabled(&decode(state)).nth(ordinal);
        let transition = taken.map(|t| self.program.transition(t));
        transition
            .map(|t| Action { place: t.place.clone(), ..Action::plain(t.name.as_str()) })
            .into_iter()
            .collect()
    }

    fn variables(&self, state: &[u8]) -> Vec<Variable> {
        let state = decode(state);
        let location = self.program.locations[state.location.index()].clone();
        let values = self.program.variables.iter().zip(&state.values);
        let values = values.map(|(name, value)| Variable { name: name.clone(), value: value.to_string() });
        std::iter::once(Variable { name: "location".into(), value: location }).chain(values).collect()
    }

    fn holds(&mut self, predicate: PredicateId, state: &[u8]) -> Result<bool, FaultId> {
        let state = decode(state);
        let regions = &self.predicates[predicate.0 as usize];
        Ok(regions.iter().any(|r| r.location == state.location && holds(&r.conjunct, &state.values)))
    }
}

impl Draft for Instance {
    /// `target`, or a condition over variables and `state`, as in `.fst`.
    fn predicate(&mut self, text: &str) -> Result<PredicateId, Diagnostic> {
        let regions = match text.trim() {
            "target" if !self.program.bad.is_empty() => self.program.bad.clone(),
            _ => parse_condition(&self.program, text)?.holds,
        };
        self.predicates.push(regions);
        Ok(PredicateId(self.predicates.len() as u32 - 1))
    }

    fn system(&mut self) -> &mut dyn System {
        self
    }

    fn build(self: Box<Self>) -> Box<dyn System> {
        self
    }
}

#[cfg(test)]
mod tests {
    use volee_system::{collect_initial, collect_steps, replay};

    use super::*;
    use crate::fst::parse_fst;
    use crate::witness::{Count, Part};

    const TWO_WAYS: &str = "model m { var x, y; states a, b;
        transition up := { from := a; to := a; guard := x < 3; action := x' = x + 1; };
        transition over := { from := a; to := b; guard := x >= y; action := y' = x + 5; }; }
        strategy s { Region init := { state = a && x = 1 }; Transitions t := { up, over }; Region reach := post*(init, t); }";

    fn chosen(values: &[(&str, i64)]) -> Vec<(String, Int)> {
        values.iter().map(|(name, value)| ((*name).to_string(), Int::from(*value))).collect()
    }

    #[test]
    fn an_initial_value_is_chosen_and_what_stays_open_is_told() {
        let program = parse_fst("m.fst", TWO_WAYS).expect("sound");
        let (_, open) = Instance::new(program.clone(), &[]).expect("there is an initial state");
        assert_eq!(open, ["y"]);
        let (mut instance, open) = Instance::new(program.clone(), &chosen(&[("y", 2)])).expect("y is open");
        assert!(open.is_empty());
        let state = collect_initial(&mut instance).remove(0);
        let shown: Vec<String> = instance.variables(&state).into_iter().map(|v| v.value).collect();
        assert_eq!(shown, ["a", "1", "2"]);
        assert_eq!(collect_steps(&mut instance, &state).len(), 1, "x is too small to go over");
        assert!(Instance::new(program.clone(), &chosen(&[("x", 7)])).is_err(), "x starts with 1");
        assert!(Instance::new(program, &chosen(&[("z", 7)])).is_err(), "there is no z");
    }

    #[test]
    fn a_run_with_loops_is_a_run_by_ordinals() {
        let program = parse_fst("m.fst", TWO_WAYS).expect("sound");
        let body = vec![Part::Step(TransitionId(0))];
        let parts =
            vec![Part::Repeat { count: Count::Times(Int::from(2)), body }, Part::Step(TransitionId(1))];
        let values = vec![Int::from(1), Int::from(2)];
        let run = Witness { location: LocationId(0), values, parts };
        let (mut instance, _) = Instance::new(program, &chosen(&[("y", 2)])).expect("y is open");
        let witness = instance.ordinals(&run, 100).expect("it is short");
        // At x = 2 and x = 3 both transitions are possible: `up` before `over`.
        assert_eq!(witness.steps, [0, 0, 0]);
        let run = replay(&mut instance, &witness).expect("it replays");
        assert_eq!(run.steps[2].label, "over");
        assert_eq!(run.steps[2].state.variables[2].value, "8");
        assert!(
            instance
                .ordinals(&Witness { parts: Vec::new(), location: LocationId(1), values: vec![] }, 9)
                .is_none()
        );
    }

    #[test]
    fn numbers_of_any_size_are_states() {
        for value in [0, 1, -1, 127, 128, -128, -129, i64::MAX, i64::MIN] {
            let values = vec![Int::from(value), &Int::from(value) * &Int::from(i64::MAX)];
            let state = State { location: LocationId(3), values };
            let mut bytes = Vec::new();
            encode(&state, &mut bytes).expect("it is short");
            assert_eq!(decode(&bytes), state);
        }
    }
}
