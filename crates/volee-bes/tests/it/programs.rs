//! Programs by name and from memory: what formulas say of random programs is the same when states have names
//! and steps are remembered as when the interpreter makes every step of every state.

use std::sync::Arc;

use volee_bes::certificate::{Nobody, check};
use volee_bes::model::ModelGraph;
use volee_bes::{BooleanGraph as _, SolveError, Solver, solve};
use volee_logic::mu::{Equations, Library, parse};
use volee_program::{LabelStyle, MachineOptions};
use volee_promela::{Options, lower};
use volee_system::{Budget, Meter, Quiet};
use volee_testkit::promela::{Audience, program};

/// Random programs; `VOLEE_PROGRAMS` asks for more.
fn count() -> u64 {
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
const FORMULAS: [&str; 6] = [
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
