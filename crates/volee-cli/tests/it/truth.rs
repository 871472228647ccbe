//! No wrong answer: what is shown is the program as it was written, and what is claimed is what is shown.

use crate::sandbox::Sandbox;

const LOCAL_STEPS: &str = "byte g; active proctype P() { byte l; l = 1; l = 2; g = l }\n";

#[test]
fn a_formula_over_steps_sees_every_step() {
    let sandbox = Sandbox::new();
    sandbox.write("m.pml", LOCAL_STEPS);
    for formula in ["[true* . \"P[0] l = 2\"] false", "[true . true . true . true] false"] {
        let answered = sandbox.volee_with(&["check", "m.pml", "--mu", formula], "");
        assert_eq!(answered.code, 1, "{formula}: {}{}", answered.stdout, answered.stderr);
    }
}

#[test]
fn programs_that_differ_in_local_steps_are_not_equal() {
    let sandbox = Sandbox::new();
    sandbox.write("a.pml", LOCAL_STEPS);
    sandbox.write("b.pml", "byte g; active proctype P() { byte l; l = 1; g = l + 1 }\n");
    for relation in ["strong", "branching", "weak", "trace"] {
        let answered = sandbox.volee(&format!("compare a.pml b.pml --relation {relation}"));
        assert_eq!(answered.code, 1, "{relation}: {}{}", answered.stdout, answered.stderr);
        let same = sandbox.volee(&format!("compare a.pml a.pml --relation {relation}"));
        assert_eq!(same.code, 0, "{relation}: {}{}", same.stdout, same.stderr);
    }
    assert_eq!(sandbox.volee("convert a.pml a.aut").code, 0);
    assert!(sandbox.read("a.aut").contains("l = 2"), "{}", sandbox.read("a.aut"));
}
