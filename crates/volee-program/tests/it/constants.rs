//! What is told to be constant: only where all that an expression reads keeps its value.

use crate::graph::lowered;

const SOURCE: &str = "byte limit = 3; byte x; byte table[3]; byte kept[2]; bool flag; mtype = { A, B }; mtype kind = A;
    typedef Pair { byte left; byte right }; Pair pair;
    chan c = [1] of { byte }; byte got; hidden byte trash;
    inline bump() { x++ }
    active proctype P() { byte own = 4; do :: x < limit -> bump() :: table[x % 3] = 1 :: c!x :: c?got :: pair.left++ :: own-- od }";

fn told(expression: &str) -> Vec<String> {
    let lowered = lowered(SOURCE);
    let expr = lowered.predicate(expression).expect(expression);
    volee_program::constants(&lowered.program, &expr)
}

#[test]
fn what_is_never_written_is_told() {
    for (expression, names) in [
        ("limit == 3", &["limit"][..]),
        ("limit > 0 && !flag", &["flag", "limit"]),
        ("kept[0] + kept[1] < 2", &["kept"]),
        ("kind == A", &["kind"]),
        ("(limit > 2 -> 1 : flag)", &["flag", "limit"]),
        ("~limit != -limit", &["limit"]),
    ] {
        assert_eq!(told(expression), names, "{expression}");
    }
}

#[test]
fn beside_something_that_changes_nothing_is_told() {
    for expression in [
        "x <= limit",
        "x >= 0",
        "flag || x < 3",
        "table[0] == 0",
        "table[limit % 3] == 0",
        "kept[x % 2] == 0",
        "got < limit",
        "len(c) <= limit",
        "pair.left >= limit",
        "P[0]:own == limit",
        "_nr_pr == limit",
    ] {
        assert_eq!(told(expression), Vec::<String>::new(), "{expression}");
    }
}

#[test]
fn parts_of_structures_are_told_one_by_one() {
    assert!(!told("pair.right == 0").is_empty());
    assert!(told("pair.left == 0").is_empty());
    assert!(told("pair.left + pair.right == 0").is_empty());
}

#[test]
fn an_expression_that_reads_nothing_has_nothing_to_tell() {
    assert!(told("true").is_empty());
    assert!(told("1 + 1 == 2").is_empty());
}
