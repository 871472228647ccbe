//! Programs by name and from memory: what formulas say of random programs is the same when states have names
//! and steps are remembered as when the interpreter makes every step of every state.

use std::borrow::Cow;
use std::sync::Arc;

use volee_bes::certificate::{Nobody, check};
use volee_bes::model::ModelGraph;
use volee_bes::{BooleanGraph as _, SolveError, Solver, solve};
use volee_logic::mu::{Equations, Library, parse};
use volee_program::{LabelStyle, MachineOptions};
use volee_promela::{Options, lower};
use volee_system::{
    Budget, Components, Divisible, Fineness, Flow, Label, Limit, Meter, Part, Quiet, Sink, Step, System,
    Touched,
};
use volee_testkit::promela::{Audience, program};

/// Random programs; `VOLEE_PROGRAMS` asks for more.
pub(crate) fn count() -> u64 {
    std::env::var("VOLEE_PROGRAMS").ok().and_then(|text| text.parse().ok()).unwrap_or(300)
}

/// How a graph comes by the steps of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Interpreted,
    Numbered,
    Remembered,
}

/// Formulas that look at no label, and one that does.
pub(crate) const FORMULAS: [&str; 6] = [
    "nu X . (<true> true and [true] X)",
    "mu X . (([true] false and true) or <true> X)",
    "nu X . ((mu Y . (<true> Y or [true] false)) and [true] X)",
    "nu X . ((mu Y . ([true] false or (<true> true and [true] Y))) or <true> X)",
    "mu X . [true] X",
    "nu X . ([/.*!.*/] (mu Y . (<true> true and [not /.*[?].*/] Y)) and [true] X)",
];

#[test]
fn formulas_of_random_programs_have_the_same_values_from_memory() {
    let (mut compared, mut held) = (0, 0);
    for seed in 0..count() {
        let text = program(seed, Audience::Ourselves).to_string();
        let (model, _) = volee_promela::parse("random.pml", &text, &Options::default());
        let Some(lowered) = model.and_then(|model| lower(Arc::new(model)).ok()) else { continue };
        let formula = FORMULAS[(seed % 6) as usize];
        let tree = parse("f", formula, &Library::empty()).expect("a formula");
        let equations = Equations::new(tree.normalise().expect("small"));
        let sees_labels = formula.contains('/');
        let value = |labels: LabelStyle, way: Way| -> Result<(bool, u64), SolveError> {
            let options = MachineOptions { single_steps: true, labels, ..MachineOptions::default() };
            let mut machine = lowered.machine(options);
            let budget = Budget { memory: Some(1 << 26), ..Budget::default() };
            let meter = Meter::start(budget);
            let mut graph = ModelGraph::new(&mut machine, equations.clone(), Vec::new()).expect("a model");
            match way {
                Way::Interpreted => {}
                Way::Numbered => graph.number_states(None),
                Way::Remembered => graph.remember_steps(),
            }
            let solved = solve(&mut graph, Solver::Auto, &meter, &mut Quiet)?;
            check(&mut graph, &solved.solution, solved.value, &meter, &mut Nobody)?;
            assert_eq!(graph.memory() > 0, way == Way::Numbered);
            Ok((solved.value, solved.statistics.places))
        };
        let Ok(expected) = value(LabelStyle::Events, Way::Interpreted) else { continue };
        let labels = if sees_labels { LabelStyle::Events } else { LabelStyle::Statements };
        for way in [Way::Numbered, Way::Remembered] {
            assert_eq!(value(labels, way), Ok(expected), "{way:?} seed {seed}, {formula}\n{text}");
        }
        compared += 1;
        held += u64::from(expected.0);
    }
    assert!(compared > count() / 2 && held > 0 && held < compared, "{held} of {compared}");
}

/// A program that leaves out the last step of each part, and tells them all where it is asked for the steps of
/// a state.
pub(crate) struct Sloppy<S>(pub S);

impl<S: System> System for Sloppy<S> {
    fn initial(&mut self, push: &mut dyn FnMut(&[u8]) -> Flow) -> Flow {
        self.0.initial(push)
    }
    fn steps(&mut self, state: &[u8], sink: &mut dyn Sink) -> Flow {
        self.0.steps(state, sink)
    }
    fn label(&self, label: Label) -> Cow<'_, str> {
        self.0.label(label)
    }
    fn left_out(&self) -> Option<Limit> {
        self.0.left_out()
    }
    fn components(&self) -> Option<Components> {
        self.0.components()
    }
    fn divisible(&mut self) -> Option<&mut dyn Divisible> {
        self.0.divisible().is_some().then_some(self as &mut dyn Divisible)
    }
}

impl<S: System> Divisible for Sloppy<S> {
    fn parts(
        &mut self,
        state: &[u8],
        record: u8,
        fineness: Fineness,
        kinds: &[Vec<u8>],
        parts: &mut Vec<Part>,
    ) {
        self.0.divisible().expect("parts").parts(state, record, fineness, kinds, parts);
    }
    fn divide(&mut self, state: &[u8]) {
        self.0.divisible().expect("parts").divide(state);
    }
    fn part_steps(
        &mut self,
        part: Part,
        told: Option<(&mut Touched, &[Vec<u8>])>,
        sink: &mut dyn Sink,
    ) -> Flow {
        let mut steps: Vec<(Step, Vec<u8>)> = Vec::new();
        let parts = self.0.divisible().expect("parts");
        let _ = parts.part_steps(part, told, &mut |step: Step, target: &[u8]| {
            steps.push((step, target.to_vec()));
            Flow::Continue(())
        });
        steps.pop();
        steps.iter().try_for_each(|(step, target)| sink.push(*step, target))
    }
}

/// Whoever checks an answer believes nothing that is remembered.
#[test]
fn an_answer_from_steps_that_are_remembered_wrongly_is_not_confirmed() {
    let (mut refused, mut right) = (0, 0);
    for seed in 0..count() {
        let text = program(seed, Audience::Ourselves).to_string();
        let (model, _) = volee_promela::parse("random.pml", &text, &Options::default());
        let Some(lowered) = model.and_then(|model| lower(Arc::new(model)).ok()) else { continue };
        let formula = FORMULAS[(seed % 5) as usize];
        let equations = Equations::new(
            parse("f", formula, &Library::empty()).expect("a formula").normalise().expect("small"),
        );
        let labels = LabelStyle::Statements;
        let machine = || lowered.machine(MachineOptions { single_steps: true, labels, ..Default::default() });
        let meter = Meter::start(Budget { memory: Some(1 << 26), ..Budget::default() });
        let value = |system: &mut dyn System, way: Way| -> Result<bool, SolveError> {
            let mut graph = ModelGraph::new(system, equations.clone(), Vec::new()).expect("a model");
            match way {
                Way::Interpreted => {}
                Way::Numbered => graph.number_states(None),
                Way::Remembered => graph.remember_steps(),
            }
            let solved = solve(&mut graph, Solver::Auto, &meter, &mut Quiet)?;
            check(&mut graph, &solved.solution, solved.value, &meter, &mut Nobody)?;
            Ok(solved.value)
        };
        let Ok(expected) = value(&mut machine(), Way::Interpreted) else { continue };
        for way in [Way::Numbered, Way::Remembered] {
            match value(&mut Sloppy(machine()), way) {
                Ok(found) => {
                    assert_eq!(found, expected, "{way:?} seed {seed}, {formula}\n{text}");
                    right += 1;
                }
                Err(_) => refused += 1,
            }
        }
    }
    assert!(refused > 20 && right > 20, "{refused} refused, {right} right");
}
