//! The benchmark of Joubert and Mateescu 2006, section 4.2, small enough for every day: accept after 10
//! visible actions on the alternating bit protocol. `cargo xtask bench conform` has it in full size.

use volee_bes::Solver;
use volee_conform::{
    Determinised, Interface, Livelock, Matcher, Purpose, Selected, Specification, by_equations, direct,
};
use volee_lts::generate::AlternatingBit;
use volee_lts::{Relation, compare};
use volee_system::{Budget, Meter, Quiet};

fn with(use_it: impl FnOnce(&mut Determinised<'_>, &Meter) -> Selected) -> Selected {
    let meter = Meter::start(Budget::default());
    let list = |text: &str| Matcher::parse_list(text).expect("patterns");
    let interface = Interface { inputs: list("PUT"), outputs: list("GET"), ..Interface::default() };
    let (mut system, mut quiet) = (AlternatingBit::new(16, 3), Quiet);
    let seen = Specification::new(&mut system, interface, Livelock::Quiescent, &meter, &mut quiet);
    use_it(&mut Determinised::new(seen, Purpose::after(10).expect("not 0")), &meter)
}

#[test]
fn both_methods_give_the_same_graph_of_the_published_purpose() {
    let one = with(|product, _| direct(product).expect("a test"));
    let other =
        with(|product, meter| by_equations(product, Solver::Auto, meter, &mut Quiet).expect("a test").0);
    assert_eq!(one.sizes.specification_states, 28_528, "all states of the protocol");
    assert_eq!((one.sizes.nodes, one.sizes.edges), (1_169, 3_313));
    assert_eq!((other.sizes.raw_states, other.sizes.raw_transitions), (56_865, 202_356));
    let meter = Meter::start(Budget::default());
    let (small, same) =
        (one.graph.reduced(&meter).expect("small"), other.graph.reduced(&meter).expect("small"));
    assert_eq!((small.node_count(), small.edge_count()), (85, 245));
    let difference = compare(&small.to_lts(), &same.to_lts(), Relation::Strong, &meter).expect("small");
    assert!(difference.is_none());
    assert!(small.case().is_controllable());
}
