//! Compositions and figures.

use volee_lts::{Composition, Info, Lts, Relation, compare, info, read_aut};

use crate::families::explicit;
use crate::reductions::meter;

fn aut(text: &str) -> Lts {
    read_aut(&mut text.as_bytes(), "x", None).expect("sound")
}

fn buffer(input: &str, output: &str) -> Lts {
    aut(&format!("des (0, 2, 2)\n(0, {input}, 1)\n(1, {output}, 0)\n"))
}

#[test]
fn two_one_place_buffers_are_a_buffer_of_two_places() {
    let parts = vec![buffer("in", "mid"), buffer("mid", "out")];
    let network = explicit(&mut Composition::new(parts, Some("mid")).expect("sound"));
    assert_eq!((network.state_count(), network.transition_count()), (4, 5));
    let hidden = volee_lts::relabel(network, &[volee_lts::Relabelling::hide("mid").expect("sound")]);
    let two = aut("des (0, 4, 3)\n(0, in, 1)\n(1, in, 2)\n(1, out, 0)\n(2, out, 1)\n");
    assert!(compare(&hidden, &two, Relation::Branching, &meter()).expect("small").is_none());
}

#[test]
fn without_a_pattern_components_go_their_own_ways() {
    let parts = vec![buffer("a", "b"), buffer("a", "b"), buffer("a", "b")];
    let free = explicit(&mut Composition::new(parts.clone(), None).expect("sound"));
    assert_eq!((free.state_count(), free.transition_count()), (8, 24));
    let bound = explicit(&mut Composition::new(parts, Some(".*")).expect("sound"));
    assert_eq!((bound.state_count(), bound.transition_count()), (2, 2));
}

#[test]
fn a_choice_of_every_partner_is_a_step() {
    let one = aut("des (0, 2, 3)\n(0, a, 1)\n(0, a, 2)\n");
    let network = explicit(&mut Composition::new(vec![one.clone(), one], Some("a")).expect("sound"));
    assert_eq!((network.state_count(), network.transition_count()), (5, 4));
}

#[test]
fn figures_of_a_system_are_counted() {
    let lts = aut("des (0, 6, 6)\n(0, a, 1)\n(1, i, 2)\n(2, i, 1)\n(2, b, 3)\n(0, a, 3)\n(4, i, 4)\n");
    let Info { label_uses, .. } = info(&lts);
    assert_eq!(label_uses[0], ("i".to_owned(), 3));
    let figures = info(&lts);
    assert_eq!((figures.states, figures.reachable, figures.transitions, figures.internal), (6, 4, 6, 3));
    assert_eq!((figures.labels, figures.out_degree, figures.in_degree), (3, 2, 2));
    assert_eq!((figures.deadlocks, figures.on_internal_cycles), (2, 3));
    assert_eq!((figures.components, figures.largest_component, figures.deterministic), (5, 2, false));
}
