//! States by number, whose steps are made once: the same values as from the states themselves, whatever states
//! look like, and no confirmation of steps that the system does not make again.

use std::borrow::Cow;

use volee_bes::certificate::{Nobody, check};
use volee_bes::model::ModelGraph;
use volee_bes::random::formula;
use volee_bes::{BooleanGraph as _, SolveError, Solver, solve};
use volee_logic::mu::{Equations, Library, parse};
use volee_system::{Budget, Flow, Label, Meter, Quiet, Random, Sink, Step, System};

use crate::naive::{LABELS, Small, evaluate};
use crate::random::cases;

/// A small system whose states have more bytes than they need.
#[derive(Clone)]
pub(crate) struct Padded {
    pub small: Small,
    /// The bytes of state n.
    pub length: fn(u8) -> usize,
    /// Enumerations so far, and after how many a state has one step less.
    pub asked: u64,
    pub honest: u64,
}

impl Padded {
    fn pad(&self, state: u8) -> Vec<u8> {
        let mut bytes = vec![state.wrapping_mul(31); (self.length)(state)];
        bytes[0] = state;
        bytes
    }
}

impl System for Padded {
    fn initial(&mut self, push: &mut dyn FnMut(&[u8]) -> Flow) -> Flow {
        self.small.initial.iter().try_for_each(|&state| push(&self.pad(state)))
    }
    fn steps(&mut self, state: &[u8], sink: &mut dyn Sink) -> Flow {
        assert_eq!(state, self.pad(state[0]), "only states are asked for");
        let steps = &self.small.steps[usize::from(state[0])];
        let few = self.asked >= self.honest;
        self.asked += 1;
        let steps = if few { steps.split_last().map_or(&[][..], |(_, others)| others) } else { steps };
        steps.iter().try_for_each(|&(label, target)| sink.push(Step::labelled(label), &self.pad(target)))
    }
    fn label(&self, label: Label) -> Cow<'_, str> {
        LABELS[label.0 as usize].into()
    }
}

/// Few bytes for all, as many as a word has at most and one more, for some, and many.
pub(crate) const LENGTHS: [fn(u8) -> usize; 4] =
    [|_| 1, |state| 1 + usize::from(state) % 15, |state| 14 + usize::from(state) % 4, |_| 40];

#[test]
fn random_formulas_have_the_same_values_when_states_are_numbers() {
    let meter = Meter::start(Budget::default());
    let mut large = 0;
    for seed in 0..cases(8_000) {
        let mut random = Random::new(seed ^ 0x6d61_6465);
        let small = Small::random(&mut random);
        let size = if seed % 8 == 0 { 40 } else { 2 + random.below(9) as u32 };
        let text = formula(size, random.number());
        let tree = parse("f", &text, &Library::empty()).expect("generated formulas are well-formed");
        let set = evaluate(&small, &tree);
        let expected = small.initial.iter().all(|s| set >> s & 1 == 1);
        let Ok(normal) = tree.normalise() else { continue };
        let equations = Equations::new(normal);
        if !equations.alternation_free() {
            continue;
        }
        let length = LENGTHS[(seed % 4) as usize];
        for solver in Solver::ALL {
            let mut system = Padded { small: small.clone(), length, asked: 0, honest: u64::MAX };
            let mut graph = ModelGraph::new(&mut system, equations.clone(), Vec::new()).expect("a model");
            // All steps are kept, or those of some states, or none.
            graph.number_states([None, Some(40), Some(0)][(seed / 4 % 3) as usize]);
            large += u64::from(graph.nodes() > 12);
            match solve(&mut graph, solver, &meter, &mut Quiet) {
                Ok(solved) => {
                    assert_eq!(solved.value, expected, "{solver:?} seed {seed}: {text}");
                    let checked = check(&mut graph, &solved.solution, solved.value, &meter, &mut Nobody);
                    assert_eq!(checked, Ok(()), "{solver:?} seed {seed}: {text}");
                }
                Err(SolveError::Cyclic) if solver == Solver::Acyclic => {}
                Err(SolveError::Mixed(_)) if solver == Solver::Economical => {}
                Err(error) => panic!("{solver:?} {error} seed {seed}: {text}"),
            }
        }
    }
    assert!(large > 20, "also formulas with more nodes than states have cells for: {large}");
}

#[test]
fn steps_that_the_system_does_not_make_again_confirm_nothing() {
    let meter = Meter::start(Budget::default());
    let small =
        Small { steps: vec![vec![(0, 1), (1, 2)], vec![(0, 0)], vec![(0, 0), (0, 2)]], initial: vec![0] };
    let tree = parse("f", "nu X . (<true> true and [true] X)", &Library::empty()).expect("a formula");
    let equations = Equations::new(tree.normalise().expect("small"));
    for length in LENGTHS {
        // Honest for ever; then until each of the moments at which the answer is checked.
        let run = |honest: u64| {
            let mut system = Padded { small: small.clone(), length, asked: 0, honest };
            let mut graph = ModelGraph::new(&mut system, equations.clone(), Vec::new()).expect("a model");
            graph.number_states(None);
            let solved = solve(&mut graph, Solver::Auto, &meter, &mut Quiet).expect("no trouble");
            assert!(solved.value);
            let before = graph.system().asked;
            let checked = check(&mut graph, &solved.solution, true, &meter, &mut Nobody);
            (before, system.asked, checked)
        };
        let (before, after, checked) = run(u64::MAX);
        assert_eq!((after - before, checked), (3, Ok(())), "each state is looked at once more");
        for honest in before..after {
            assert!(run(honest).2.is_err(), "{honest}");
        }
    }
}
