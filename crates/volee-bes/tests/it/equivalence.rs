//! Bisimulation as boolean equations agrees with partition refinement.

use volee_bes::certificate::{Nobody, check};
use volee_bes::equivalence::{PairGraph, Relation};
use volee_bes::{Solver, solve};
use volee_lts::{Lts, explore};
use volee_system::{Budget, Meter, Quiet, Random};

use crate::naive::Small;

fn refined(left: &Lts, right: &Lts, relation: volee_lts::Relation) -> bool {
    let meter = Meter::start(Budget::default());
    volee_lts::compare(left, right, relation, &meter).expect("no limit").is_none()
}

#[test]
fn random_systems_are_bisimilar_by_equations_exactly_when_they_are_by_refinement() {
    let meter = Meter::start(Budget::default());
    let mut equal = [0; 2];
    for seed in 0..1500 {
        let mut random = Random::new(seed ^ 0xb15);
        let mut small = || {
            let mut system = Small::random(&mut random);
            system.initial.truncate(1);
            // Few labels, so that systems are often equal.
            system.steps.iter_mut().flatten().for_each(|(label, _)| *label = 1 + *label % 2);
            system
        };
        let (mut left, mut right) = (small(), small());
        let a = explore(&mut left, &meter, &mut Quiet).expect("small");
        let b = explore(&mut right, &meter, &mut Quiet).expect("small");
        let relations =
            [(Relation::Strong, volee_lts::Relation::Strong), (Relation::Weak, volee_lts::Relation::Weak)];
        for (i, (ours, theirs)) in relations.into_iter().enumerate() {
            let expected = refined(&a, &b, theirs);
            equal[i] += usize::from(expected);
            for solver in [Solver::DepthFirst, Solver::BreadthFirst] {
                let mut graph = PairGraph::new(&mut left, &mut right, ours);
                let solved = solve(&mut graph, solver, &meter, &mut Quiet).expect("small");
                assert_eq!(solved.value, expected, "seed {seed} {ours:?} {solver:?}");
                assert_eq!(check(&mut graph, &solved.solution, solved.value, &meter, &mut Nobody), Ok(()));
            }
        }
    }
    assert!(equal[0] > 20 && equal[1] > equal[0], "{equal:?}");
}
