//! Comparisons: every relation agrees with its definition, and every difference shows.

use volee_lts::generate::{AlternatingBit, chain, family};
use volee_lts::{
    Compared, Difference, Lts, Method, Relation, Side, compare, compare_on_the_fly, read_aut, reduce, relabel,
};
use volee_system::{Budget, Limit, Meter, Quiet, Random, System};

use crate::families::explicit;
use crate::naive::Union;
use crate::reductions::{meter, small};

fn differ(a: &Lts, b: &Lts, relation: Relation) -> Option<Difference> {
    compare(a, b, relation, &meter()).expect("no budget, and every difference confirmed")
}

/// A variation of a system: random pairs are almost never equal otherwise.
fn vary(lts: &Lts, rng: &mut Random) -> Lts {
    let method = Method::ALL[rng.part_of(Method::ALL.len() as u64) as usize].1;
    let reduced = reduce(lts, method, &meter()).expect("no budget").lts;
    if reduced.state_count() > 12 { small(rng) } else { reduced }
}

#[test]
fn ten_thousand_random_pairs_agree_with_the_definitions() {
    let mut rng = Random::new(1991);
    let mut related = [0; Relation::ALL.len()];
    for case in 0..10_000 {
        let a = small(&mut rng);
        let b = if rng.chance(1, 2) { vary(&a, &mut rng) } else { small(&mut rng) };
        let union = Union::new(&a, &b);
        for (at, relation) in Relation::ALL.into_iter().enumerate() {
            let expected = union.related(relation);
            let difference = differ(&a, &b, relation);
            assert_eq!(difference.is_none(), expected, "case {case}, {relation}");
            related[at] += usize::from(expected);
        }
    }
    for (at, count) in related.into_iter().enumerate() {
        assert!((1000..9900).contains(&count), "{}: {count} related pairs test little", Relation::ALL[at]);
    }
}

fn aut(text: &str) -> Lts {
    read_aut(&mut text.as_bytes(), "x", None).expect("sound")
}

#[test]
fn the_vending_machines_differ_by_a_formula_but_not_by_a_trace() {
    let one = aut("des (0, 3, 4)\n(0, coin, 1)\n(1, tea, 2)\n(1, coffee, 3)\n");
    let two = aut("des (0, 4, 5)\n(0, coin, 1)\n(0, coin, 2)\n(1, tea, 3)\n(2, coffee, 4)\n");
    assert!(differ(&one, &two, Relation::Trace).is_none());
    let Some(Difference::Formula { formula, holds_in }) = differ(&one, &two, Relation::Strong) else {
        panic!("they are not bisimilar")
    };
    assert_eq!(holds_in, Side::First);
    assert_eq!(formula.to_string(), "<\"coin\"> (<\"tea\"> true and <\"coffee\"> true)");
    assert!(differ(&two, &one, Relation::SimulationPreorder).is_none());
    let Some(Difference::Formula { formula, .. }) = differ(&one, &two, Relation::SimulationPreorder) else {
        panic!("the second cannot do both after a coin")
    };
    assert_eq!(formula.to_string(), "<\"coin\"> (<\"coffee\"> true and <\"tea\"> true)");
}

#[test]
fn a_trace_difference_is_a_shortest_one() {
    let one = explicit(&mut AlternatingBit::new(2, 1));
    let rule = volee_lts::Relabelling::parse_rename("GET !1=GET !0").expect("sound");
    let two = relabel(one.clone(), &[rule]);
    let Some(Difference::Trace { trace, possible_in }) = differ(&one, &two, Relation::WeakTrace) else {
        panic!("they differ")
    };
    assert_eq!(trace.len(), 2, "{trace:?}");
    assert_eq!(trace[0], "PUT !1");
    let _ = possible_in;
    assert!(differ(&one, &two, Relation::WeakTracePreorder).is_some());
}

#[test]
fn the_alternating_bit_protocol_is_a_buffer_unless_it_may_loop() {
    let one = explicit(&mut AlternatingBit::new(3, 1));
    let two = explicit(&mut AlternatingBit::new(3, 2));
    assert!(differ(&one, &two, Relation::Branching).is_none());
    assert!(differ(&one, &two, Relation::Weak).is_none());
    assert!(differ(&one, &two, Relation::Strong).is_some());
    let buffer = reduce(&one, Method::parse("branching").expect("known"), &meter()).expect("small").lts;
    assert!(differ(&one, &buffer, Relation::Branching).is_none());
    let difference = differ(&one, &buffer, Relation::BranchingDivergence);
    assert!(difference.is_some(), "the buffer cannot lose messages for ever");
}

#[test]
fn deep_systems_need_no_deep_recursion() {
    let (one, two) = (chain(4000).expect("small"), chain(4001).expect("small"));
    let Some(Difference::Formula { formula, .. }) = differ(&one, &two, Relation::Strong) else {
        panic!("they differ at the end")
    };
    assert!(formula.nodes().len() > 4000);
    assert!(formula.to_string().len() > 4000);
    assert!(differ(&one, &two, Relation::Branching).is_some());
    assert!(differ(&one, &two, Relation::Trace).is_some());
}

#[test]
fn a_sliding_window_delivers_in_order() {
    let f = family("window").expect("known");
    let (one, two) = (f.make(&[2, 2, 1]).expect("small"), f.make(&[2, 2, 2]).expect("small"));
    let (mut one, mut two) = (one, two);
    assert!(differ(&explicit(&mut *one), &explicit(&mut *two), Relation::Branching).is_none());
}

fn on_the_fly(
    systems: [&mut dyn System; 2],
    relation: Relation,
    memory: Option<u64>,
) -> Result<Compared, volee_lts::LtsError> {
    let meter = Meter::start(Budget { memory, ..Budget::default() });
    let (mut one, mut two) =
        (|names: &[String]| names.first().cloned(), |names: &[String]| names.first().cloned());
    compare_on_the_fly(systems, [&mut one, &mut two], relation, &meter, &mut Quiet, 7)
}

fn differ_on_the_fly(
    a: &Lts,
    b: &Lts,
    relation: Relation,
    memory: Option<u64>,
) -> Result<bool, volee_lts::LtsError> {
    on_the_fly([&mut &*a, &mut &*b], relation, memory).map(|c| c.difference.is_some())
}

#[test]
fn comparing_on_the_fly_agrees_with_the_definition_in_any_memory() {
    let mut rng = Random::new(1990);
    let mut starved = 0;
    for case in 0..6_000 {
        let a = small(&mut rng);
        let b = if rng.chance(1, 2) { vary(&a, &mut rng) } else { small(&mut rng) };
        let relation = [Relation::Strong, Relation::Weak, Relation::Branching][case % 3];
        let expected = !Union::new(&a, &b).related(relation);
        let found = differ_on_the_fly(&a, &b, relation, None).expect("no budget");
        assert_eq!(found, expected, "case {case} {relation}");
        match differ_on_the_fly(&a, &b, relation, Some(6000 + rng.part_of(4000))) {
            Ok(found) => assert_eq!(found, expected, "case {case} in little memory"),
            Err(volee_lts::LtsError::Limit(Limit::Memory { .. })) => starved += 1,
            Err(other) => panic!("case {case}: {other}"),
        }
    }
    assert!(starved < 5000, "{starved} starved");
    let line = chain(40).expect("small");
    let starved = differ_on_the_fly(&line, &line, Relation::Weak, Some(300));
    assert!(matches!(starved, Err(volee_lts::LtsError::Limit(Limit::Memory { .. }))), "{starved:?}");
}

#[test]
fn comparing_on_the_fly_stops_at_the_first_difference() {
    let mut one = AlternatingBit::new(200, 3);
    let mut two = AlternatingBit::new(201, 3);
    let compared = on_the_fly([&mut one, &mut two], Relation::Strong, None).expect("no budget");
    let Some(Difference::Formula { formula, .. }) = compared.difference else { panic!("they differ") };
    assert_eq!(formula.to_string(), "not <\"PUT !200\"> true");
    assert!(compared.pairs < 100_000, "{} pairs", compared.pairs);
}

#[test]
fn a_deterministic_system_needs_one_traversal_and_may_forget() {
    let f = family("philosophers").expect("known");
    let compared = |memory: Option<u64>| {
        let (mut one, mut two) = (f.make(&[3]).expect("small"), f.make(&[3]).expect("small"));
        on_the_fly([&mut *one, &mut *two], Relation::Strong, memory)
    };
    let full = compared(None).expect("no budget");
    assert!(full.difference.is_none());
    assert_eq!((full.traversals, full.replaced), (1, 0));
    assert!(full.path_bytes <= 100 * full.longest_path, "{full:?}");
    // The least memory that is enough, to one in eight.
    let mut memory = 300;
    let least = loop {
        match compared(Some(memory)) {
            Ok(least) => break least,
            Err(_) => memory += memory / 8,
        }
    };
    assert!(least.difference.is_none());
    assert!(least.replaced > 0 && least.pairs > full.pairs, "{least:?}");
}
