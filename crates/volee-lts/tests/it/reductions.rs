//! Reductions: sizes of the corpus' oracle, certificates, and random systems against the definitions.

use std::path::PathBuf;

use volee_lts::generate::{AlternatingBit, Shape, random};
use volee_lts::{Divergence, Lts, Method, Reduction, Relation, read_file, reduce};
use volee_system::{Budget, Limit, Meter, Random};

use crate::families::explicit;
use crate::naive::Union;

pub fn meter() -> Meter {
    Meter::start(Budget::default())
}

fn certified(lts: &Lts, method: Method) -> Reduction {
    let reduction = reduce(lts, method, &meter()).expect("no budget");
    reduction.certificate.check(lts, &reduction.lts).expect("a sound certificate");
    reduction
}

fn size(lts: &Lts) -> (usize, usize) {
    (lts.state_count(), lts.transition_count())
}

pub fn small(rng: &mut Random) -> Lts {
    let states = 1 + rng.part_of(7) as u32;
    let shape = Shape {
        states,
        transitions: rng.part_of(u64::from(states) * 3) as u32,
        labels: 1 + rng.part_of(2) as u32,
        internal: [0, 30, 60][rng.part_of(3) as usize],
    };
    random(shape, rng).expect("small")
}

#[test]
fn reductions_of_random_systems_have_as_many_states_as_there_are_classes() {
    let mut rng = Random::new(20);
    let methods = [
        (Method::Strong, Relation::Strong),
        (Method::Branching(Divergence::Ignored), Relation::Branching),
        (Method::Branching(Divergence::Preserved), Relation::BranchingDivergence),
        (Method::Weak(Divergence::Ignored), Relation::Weak),
        (Method::Weak(Divergence::Preserved), Relation::WeakDivergence),
    ];
    for case in 0..4000 {
        let lts = small(&mut rng);
        for (method, relation) in methods {
            let reduced = certified(&lts, method).lts;
            let union = Union::new(&lts, &reduced);
            assert_eq!(
                reduced.state_count(),
                Union::single(&lts).classes(relation),
                "case {case}, {relation}: {:?}",
                lts.transitions().collect::<Vec<_>>()
            );
            assert!(union.related(relation), "case {case}, {relation}");
            let again = certified(&reduced, method).lts;
            assert_eq!(size(&again), size(&reduced), "case {case}, {relation} twice");
        }
        for (method, relation) in [
            (Method::Trace, Relation::Trace),
            (Method::WeakTrace, Relation::WeakTrace),
            (Method::Determinise, Relation::Trace),
            (Method::TauCycles, Relation::BranchingDivergence),
            (Method::Reachable, Relation::Strong),
        ] {
            let reduced = certified(&lts, method).lts;
            if reduced.state_count() + lts.state_count() <= 32 {
                assert!(Union::new(&lts, &reduced).related(relation), "case {case}, {method:?}");
            }
        }
    }
}

#[test]
fn a_wrong_certificate_is_refused() {
    let lts = explicit(&mut AlternatingBit::new(2, 1));
    let mut refused = 0;
    for method in
        [Method::Strong, Method::Branching(Divergence::Ignored), Method::Weak(Divergence::Preserved)]
    {
        let reduction = certified(&lts, method);
        for other in [Method::Strong, Method::Branching(Divergence::Preserved), Method::Trace] {
            let reduced = certified(&lts, other).lts;
            if size(&reduced) != size(&reduction.lts) {
                let small = reduced.state_count() < reduction.lts.state_count();
                // A map into a system of another size cannot be checked; cut it to what exists.
                if !small {
                    assert!(reduction.certificate.check(&lts, &reduced).is_err());
                    refused += 1;
                }
            }
        }
    }
    assert!(refused > 0);
}

#[test]
fn the_budget_bounds_weak_and_trace_reductions() {
    let shape = Shape { states: 200, transitions: 500, labels: 2, internal: 0 };
    let lts = random(shape, &mut Random::new(5)).expect("small");
    let meter = Meter::start(Budget { memory: Some(1 << 20), ..Budget::default() });
    let result = reduce(&lts, Method::Trace, &meter);
    assert!(matches!(result, Err(volee_lts::LtsError::Limit(Limit::Memory { .. }))));
}

fn corpus() -> Option<PathBuf> {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/corpus/lts"));
    if folder.is_dir() {
        return Some(folder);
    }
    println!("skipped: {} is not there", folder.display());
    None
}

#[test]
fn the_corpus_reduces_to_the_sizes_of_its_oracle() {
    let Some(folder) = corpus() else { return };
    let oracle = std::fs::read_to_string(folder.join("oracle.csv")).expect("oracle.csv");
    let mut checked = 0;
    for line in oracle.lines().skip(1) {
        // The columns that matter stand before and after the only quoted ones.
        let columns: Vec<&str> = line.split(',').collect();
        let number = |from_end: usize| columns[columns.len() - from_end].parse::<usize>().expect("a number");
        let lts = match columns[0].strip_prefix("abq_").and_then(|r| r.strip_suffix(".aut")) {
            Some("256_3") => continue,
            Some(parameters) => {
                let (n, c) = parameters.split_once('_').expect("messages and capacity");
                explicit(&mut AlternatingBit::new(n.parse().expect("N"), c.parse().expect("C")))
            }
            None => read_file(&folder.join(columns[0])).expect(columns[0]),
        };
        assert_eq!(
            size(&lts),
            (columns[1].parse().expect("n"), columns[2].parse().expect("m")),
            "{}",
            columns[0]
        );
        assert_eq!(size(&certified(&lts, Method::Strong).lts), (number(5), number(4)), "{}", columns[0]);
        let branching = certified(&lts, Method::Branching(Divergence::Ignored)).lts;
        assert_eq!(size(&branching), (number(3), number(2)), "{}", columns[0]);
        certified(&lts, Method::Branching(Divergence::Preserved));
        checked += 1;
    }
    assert_eq!(checked, 11);
}
