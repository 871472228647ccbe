//! The modal mu-calculus with regular modalities, after the specification language of EVALUATOR (Joubert &
//! Mateescu 2006, section 3.1), written in ASCII: `nu X . (<true> true and [true] X)`.
//!
//! A text becomes tokens (`lex`), macros are expanded (`library`), the rest is parsed into a [`Tree`]
//! ([`parse`]) whose variables are all bound and monotone; the tree is brought into positive normal form
//! without regular modalities ([`Formula`], `normal`), and that into modal equations ([`Equations`],
//! `equations`), which is what a solver of boolean equations reads.

mod action;
mod equations;
mod lex;
mod library;
mod normal;
mod parse;
mod print;
mod tree;

pub use action::{Action, ActionId, Labels};
pub use equations::{Equation, Equations, Item, Local, LocalOp, Operator, Sign};
pub use library::Library;
pub use normal::{Formula, Node, NodeId, VariableId};
pub use parse::parse;
pub use tree::{Modality, Regular, RegularId, StatePredicate, Term, TermId, Tree};

use volee_system::Diagnostic;

/// Reads a formula with the standard library of macros and brings it into positive normal form.
///
/// # Errors
/// Everything that is wrong with the text, each with its place.
pub fn read(file: &str, text: &str) -> Result<Formula, Vec<Diagnostic>> {
    let tree = parse(file, text, &Library::standard())?;
    tree.normalise().map_err(|diagnostic| vec![diagnostic])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn errors(text: &str) -> Vec<String> {
        let errors = read("f", text).expect_err("this formula is wrong");
        errors.iter().map(|e| e.to_string()).collect()
    }

    fn depth(text: &str) -> u32 {
        Equations::new(read("f", text).expect("a formula")).alternation_depth
    }

    #[test]
    fn prefixes_bind_tighter_than_and() {
        let formula = read("f", r#"nu X . ([true] mu Y . (<"b"> Y) and [true] X)"#).expect("a formula");
        assert_eq!(formula.to_string(), r#"nu X . ([true] mu Y . <"b"> Y and [true] X)"#);
    }

    #[test]
    fn negation_turns_everything_into_its_dual() {
        let formula = read("f", r#"not mu X . (<"a" . "b"*> X or {x > 1})"#).expect("a formula");
        assert_eq!(formula.to_string(), r#"nu X . (["a"] nu X2 . (X and ["b"] X2) and not {x > 1})"#);
    }

    #[test]
    fn unbound_and_non_monotone_variables_are_refused_with_their_places() {
        assert_eq!(
            errors("mu X . (X or Y and Z)"),
            [
                "f:1:14: `Y` is not bound by any `mu Y .` or `nu Y .` around it",
                "f:1:20: `Z` is not bound by any `mu Z .` or `nu Z .` around it"
            ]
        );
        assert!(
            errors("mu X .\n (not X)")[0].starts_with("f:2:7: `X` stands under an odd number of negations")
        );
        assert!(errors("mu X . [?(X)] X")[0].starts_with("f:1:11: `X` stands under"));
        assert!(read("f", "mu X . not <true> not X").is_ok());
        assert!(read("f", "nu X . (not X => <true> X)").is_ok());
    }

    #[test]
    fn a_variable_after_the_end_of_its_fixed_point_is_told_how_far_that_reaches() {
        let help = |text| read("f", text).expect_err("unbound")[0].help.clone().unwrap_or_default();
        assert!(help("nu X . <true> true and [true] X").contains("`nu X . ( … )`"));
        assert!(help("nu X . <true> true and [true] Y").contains("macro"));
    }

    #[test]
    fn ill_formed_texts_are_refused_with_their_places() {
        for (text, message) in [
            ("", "f:1:1: expected a formula, found the end of the formula"),
            ("<a> true", "f:1:2: `a` is not an action"),
            ("\"a\"", "f:1:1: the label \"a\" is not a formula"),
            ("<\"a\" true", "f:1:6: expected `>`, found `true`"),
            ("[not \"a\"*] true", "f:1:6: `not` and `and` apply to single actions"),
            ("</(/> true", "f:1:2: `(` is not a regular expression"),
            ("true true", "f:1:6: expected an operator or the end"),
            ("mu true . true", "f:1:4: `true` has a meaning of its own"),
            ("{x", "f:1:1: this state predicate is never closed"),
            ("<\"a\"{2,1}> true", "f:1:5: `{2,1}` is not a repetition"),
            ("response(\"a\")", "f:1:1: `response` takes 2 argument(s), but 1 are given"),
            ("(* never", "f:1:1: this comment is never closed"),
        ] {
            assert!(errors(text)[0].starts_with(message), "{text}: {:?}", errors(text));
        }
        let deep = "(".repeat(100_000);
        assert!(errors(&deep)[0].contains("nest deeper than 200"));
        let long = format!("{}true", "not ".repeat(50_000));
        assert_eq!(read("f", &long).expect("a long chain of prefixes").to_string(), "true");
        assert!(errors("<(\"a\"{1000}){1000}> true")[0].contains("more than 60000 subformulas"));
    }

    #[test]
    fn macros_are_hygienic_and_see_only_earlier_ones() {
        let text = "macro ever(F) = mu X . (F or <true> X) end_macro nu X . ever(<true> X)";
        let tree = parse("f", text, &Library::empty()).expect("a formula");
        let formula = tree.normalise().expect("small");
        assert_eq!(formula.to_string(), "nu X . mu X . (<true> X or <true> X)");
        assert_eq!(Equations::new(formula).alternation_depth, 2, "the inner X is another variable");
        let text = "macro a() = b() end_macro macro b() = true end_macro a()";
        assert!(errors(text)[0].contains("there is no macro called `b` here"));
    }

    #[test]
    fn slips_get_a_hint() {
        let help = |text: &str| {
            let errors = parse("f", text, &Library::standard()).expect_err("a slip");
            errors[0].help.clone().unwrap_or_default()
        };
        assert_eq!(help("respons(\"a\", \"b\")"), "did you mean `response`?");
        assert!(help("AG (x < 3)").contains("braces"));
    }

    #[test]
    fn the_standard_library_is_well_formed() {
        let library = Library::standard();
        for (name, parameters) in library.names() {
            let actions = ["\"a\""; 3];
            let formulas = ["true", "\"a\"", "true"];
            let calls = [actions, formulas, ["\"a\"", "true", "true"]];
            let readable = calls.iter().any(|arguments| {
                let call = format!("{name}({})", arguments[..parameters].join(", "));
                parse("f", &call, &library).is_ok()
            });
            assert!(readable, "{name}");
        }
    }

    #[test]
    fn alternation_depth_counts_only_real_dependencies() {
        assert_eq!(depth("true"), 0);
        assert_eq!(depth("nu X . (<true> true and [true] X)"), 1);
        assert_eq!(depth("mu X . ((nu Y . <tau> Y) or <true> X)"), 1);
        assert_eq!(depth("nu X . mu Y . (<\"a\"> X or <true> Y)"), 2);
        assert_eq!(depth("nu X . mu Y . nu Z . (<\"a\"> X or <true> Y or <\"b\"> Z)"), 3);
        assert_eq!(depth("nu X . ((mu Y . (<true> Y or <true> X)) and (mu Z . (<true> Z or <true> X)))"), 2);
    }

    #[test]
    fn blocks_are_sorted_from_the_outermost_in() {
        let text = r#"nu X . (["a"] mu Y . ((nu Z . <tau> Z) or (<true> true and [true] Y)) and [true] X)"#;
        let equations = Equations::new(read("f", text).expect("F1"));
        assert_eq!(equations.blocks, [Sign::Nu, Sign::Mu, Sign::Nu]);
        assert_eq!(equations.equations.len(), 4, "X, Y, the conjunction in Y, Z");
        assert!(equations.alternation_free());
    }
}
