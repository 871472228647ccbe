//! The formula language.

use volee_logic::formula::{AtomKind, Formula, parse};
use volee_system::Random;

fn text(formula: &str) -> String {
    parse(formula, "formula").map(|f| f.to_string()).unwrap_or_else(|e| {
        let help = e.help.clone().map(|h| format!(" [{h}]")).unwrap_or_default();
        format!("{e}{help}")
    })
}

fn atoms(formula: &Formula) -> Vec<String> {
    formula.atoms().into_iter().map(|a| formula.atom_text(a)).collect()
}

#[test]
fn precedence_is_that_of_spin() {
    for (written, meant) in [
        ("p U q && r", "(p U q) && r"),
        ("p -> q -> r", "(p -> q) -> r"),
        ("p U q U r", "(p U q) U r"),
        ("[] p -> <> q", "([]p) -> (<>q)"),
        ("[]p U q", "([]p) U q"),
        ("!p U q", "(!p) U q"),
        ("p || q && r", "p || (q && r)"),
        ("<>[]p", "<>([]p)"),
        ("always eventually p", "[]<>p"),
        ("□(p ⇒ ◇q)", "[](p -> <>q)"),
        ("p U x == 2", "p U (x == 2)"),
        ("[] x + 1 < 3", "[](x + 1 < 3)"),
        ("(<>a) U ([]b)", "(F a) U (G b)"),
        ("response(p, s)", "[](p -> <>s)"),
        ("let both(a, b) = a && b; [] both(p, q)", "[](p && q)"),
        ("p W q", "q R (p || q)"),
        ("1 U p", "<>p"),
    ] {
        assert_eq!(text(written), text(meant), "{written}");
    }
}

#[test]
fn expressions_of_the_model_are_atoms() {
    let formula = parse(
        "(len(q[1]) > 0 -> q[1]?[white]) U (P[0]@cs && train[0]@A + train[1]@A <= 1 || P:v == 3 || done)",
        "f",
    )
    .expect("parses");
    assert_eq!(
        atoms(&formula),
        [
            "{len(q[1]) > 0}",
            "{q[1]?[white]}",
            "{P[0]@cs}",
            "{train[0]@A + train[1]@A <= 1}",
            "{P:v == 3}",
            "done"
        ]
    );
}

#[test]
fn events_are_names_labels_regular_expressions_and_channel_operations() {
    let formula =
        parse(r#"[](a -> <>("PUT !1" || /GET.*/ || c!msg(1,_) || Sender[2]:c?ack || {x > {1}}))"#, "f")
            .expect("parses");
    assert_eq!(atoms(&formula), ["\"PUT !1\"", "/GET.*/", "c!msg(1,_)", "Sender[2]:c?ack", "{x > {1}}", "a"]);
    let events = formula.pool.atoms().iter().filter(|a| matches!(a.kind, AtomKind::Event(_))).count();
    assert_eq!(events, 4);
}

#[test]
fn mistakes_have_a_place_and_advice() {
    for (formula, message) in [
        ("", "f:1:1: the formula ends where a formula must come"),
        ("p &&", "f:1:5: the formula ends where a formula must come"),
        (
            "p q",
            "f:1:3: expected an operator (`&&`, `||`, `->`, `<->`, `U`, `W`, `R`), `)` or the end, found `q`",
        ),
        ("[](p -> (q)", "f:1:3: this `(` is never closed"),
        ("p)", "f:1:2: this `)` closes nothing"),
        (
            "p\n  untl q",
            "f:2:3: expected an operator (`&&`, `||`, `->`, `<->`, `U`, `W`, `R`), `)` or the end, found `untl` [did you mean `until`?]",
        ),
        ("respons(p, q)", "f:1:1: there is no pattern `respons` [did you mean `response`?]"),
        ("response(p)", "f:1:1: `response` takes 2 arguments, but 1 are given [write response(p, s)]"),
        ("/(/", "f:1:1: the regular expression is not valid: found open group without closing ')'"),
        ("\"abc", "f:1:1: this quoted label has no closing `\"`"),
        ("{x", "f:1:1: this `{` is never closed"),
        ("p U U q", "f:1:5: expected a formula, found `U`"),
        (
            "([]p) == 2",
            "f:1:7: `==` compares or computes values, but one side is a formula [put the comparison in parentheses, or the whole expression in braces `{…}`]",
        ),
        ("let a = a; a", "f:1:9: `a` uses other macros more than 32 deep; does it use itself?"),
        ("a, b", "f:1:2: a `,` only separates the arguments of a pattern"),
    ] {
        let got = parse(formula, "f").map(|f| f.to_string()).unwrap_or_else(|e| {
            let help = e.help.clone().map(|h| format!(" [{h}]")).unwrap_or_default();
            format!("{e}{help}")
        });
        assert_eq!(got, message, "{formula}");
    }
}

#[test]
fn what_is_printed_reads_back() {
    use volee_logic::formula::{Shape, random_formula};
    let mut random = Random::new(7);
    for _ in 0..500 {
        let formula = random_formula(&mut random, Shape { atoms: 3, operators: 8 });
        let once = parse(&formula.to_string(), "f").expect("reads back").to_string();
        assert_eq!(text(&once), once);
    }
}

#[test]
fn a_hundred_thousand_operators_neither_overflow_nor_hang() {
    const N: usize = 100_000;
    let chain = |op: &str| format!("{}p", format!("p{op}").repeat(N));
    for formula in [
        format!("{}p{}", "(".repeat(N), ")".repeat(N)),
        format!("{}p", "!".repeat(N)),
        format!("{}p", "[]".repeat(N)),
        format!("{}p", "X ".repeat(N)),
        chain(" && "),
        chain(" U "),
        chain(" -> "),
        format!("{}p{}", "(p U ".repeat(N), ")".repeat(N)),
    ] {
        let parsed = parse(&formula, "f").expect("parses");
        let outcome = volee_logic::tl::compile(
            &parsed.pool,
            parsed.root,
            &parsed.atoms(),
            volee_logic::tl::Alphabet::Sets,
            volee_logic::tl::Limits::default(),
        );
        // Either an automaton or a clear refusal.
        if let Err(error) = outcome {
            assert!(error.to_string().contains("more than"));
        }
        if let Err(error) = volee_logic::ltl::translate(&parsed) {
            assert!(error.to_string().contains("more than"));
        }
    }
}

#[test]
fn a_tower_of_macros_is_linear() {
    let mut text = String::from("let m0(a) = [](a -> <>a);");
    for i in 1..30 {
        text += &format!("let m{i}(a) = m{}(a) && m{}(!a);", i - 1, i - 1);
    }
    let formula = parse(&format!("{text} m29(p)"), "f").expect("parses");
    assert!(formula.pool.len() < 1000);
}
