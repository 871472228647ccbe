//! Every way to search for infinite runs answers as a naive evaluator does; `cargo xtask temporal random`
//! asks many more.

use volee_testkit::products::{Compared, compare};

#[test]
fn products_with_and_without_reduction_agree_with_a_naive_evaluator() {
    let compared = compare(500, 0x7e4);
    let Compared { formulas, violated, unfair, smaller, invariants, recognised, loose, merged } = compared;
    assert!(violated > formulas / 20 && unfair > formulas / 40, "{violated} {unfair}");
    assert!(smaller > formulas / 50 && invariants > formulas / 200, "{smaller} {invariants}");
    assert!(recognised > formulas / 200, "{recognised}");
    assert!(loose > formulas / 20 && merged > formulas / 100, "{loose} {merged}");
}
