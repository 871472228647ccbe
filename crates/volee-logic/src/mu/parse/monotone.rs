//! Whether fixed points exist: no variable may stand below an odd number of negations.

use volee_system::Diagnostic;

use super::super::tree::{Modality, Regular, RegularId, Term, Tree};

/// Variables below an odd number of negations from their binder. A term has one parent, so its polarity is
/// the parent's, turned by `not`, by the left of an implication and by a test under a box.
pub(super) fn non_monotone(tree: &Tree) -> Vec<Diagnostic> {
    let mut negative = vec![false; tree.terms.len()];
    let mut binder_negative = vec![false; tree.variables.len()];
    let mut errors = Vec::new();
    for at in (0..tree.terms.len()).rev() {
        let here = negative[at];
        match &tree.terms[at] {
            Term::Constant(_) | Term::Predicate(_) => {}
            Term::Not(f) => negative[f.0 as usize] = !here,
            Term::And(f, g) | Term::Or(f, g) => {
                negative[f.0 as usize] = here;
                negative[g.0 as usize] = here;
            }
            Term::Implies(f, g) => {
                negative[f.0 as usize] = !here;
                negative[g.0 as usize] = here;
            }
            Term::Modal(modality, run, f) => {
                negative[f.0 as usize] = here;
                mark_tests(tree, *run, here != (*modality == Modality::Necessarily), &mut negative);
            }
            Term::Forever(modality, run) => {
                mark_tests(tree, *run, here != (*modality == Modality::Necessarily), &mut negative);
            }
            Term::Fix(_, variable, body) => {
                binder_negative[*variable as usize] = here;
                negative[body.0 as usize] = here;
            }
            Term::Variable(variable) => {
                if binder_negative[*variable as usize] != here {
                    let (place, length) = tree.places[at].clone();
                    let name = &tree.variables[*variable as usize];
                    errors.push(
                        Diagnostic::error(
                            format!("`{name}` stands under an odd number of negations from its binder, so its fixed point may not exist"),
                            place,
                        )
                        .spanning(length),
                    );
                }
            }
        }
    }
    errors.reverse();
    errors
}

fn mark_tests(tree: &Tree, run: RegularId, polarity: bool, negative: &mut [bool]) {
    let mut stack = vec![run];
    while let Some(id) = stack.pop() {
        match tree.regular(id) {
            Regular::Step(_) | Regular::Nil => {}
            Regular::Test(f) => negative[f.0 as usize] = polarity,
            Regular::Sequence(all) | Regular::Choice(all) => stack.extend(all),
            Regular::Star(inner) | Regular::Repeat(inner, ..) => stack.push(*inner),
        }
    }
}
