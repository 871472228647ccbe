//! Sets print as the paper prints them.

use volee_integers::{Conjunct, Effort, Set, row};

fn shown(c: Conjunct, names: &[&str]) -> String {
    let effort = Effort::ample();
    Set::from(c).coalesced(&effort).expect("small").display(names).to_string()
}

#[test]
fn a_periodic_set_prints_its_period() {
    let c = Conjunct::new(1, vec![row(&[0, 1, -2])], vec![row(&[0, 0, 1]), row(&[500_000, 0, -1])]);
    assert_eq!(shown(c, &["x"]), "{ x = 2k : 0 <= k <= 500000 }");
    let c = Conjunct::new(1, vec![row(&[-2, 1, -2])], vec![row(&[0, 0, 1]), row(&[500_000, 0, -1])]);
    assert_eq!(shown(c, &["x"]), "{ x = 2k + 2 : 0 <= k <= 500000 }");
}

#[test]
fn constraints_on_one_form_become_a_chain() {
    let c = Conjunct::new(2, vec![], vec![row(&[-1, 1, 0]), row(&[9, -1, 0]), row(&[0, -1, 1])]);
    assert_eq!(shown(c, &["x", "y"]), "{ 1 <= x <= 9, x <= y }");
}

#[test]
fn points_unions_and_everything_have_their_notation() {
    assert_eq!(shown(Conjunct::point(&row(&[7, -3])), &["x", "y"]), "{ x = 7, y = -3 }");
    assert_eq!(shown(Conjunct::universe(2), &["x", "y"]), "{ any x, y }");
    assert_eq!(Set::empty(1).display(&["x"]).to_string(), "{ }");
    let two = Set::of(1, [Conjunct::point(&row(&[1])), Conjunct::point(&row(&[5]))]);
    assert_eq!(two.display(&["x"]).to_string(), "{ x = 1 } or { x = 5 }");
}
