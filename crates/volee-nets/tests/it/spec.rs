//! The reader of `.spec` nets.

use volee_families::{Choice, check};
use volee_nets::read_spec;
use volee_system::{Budget, Quiet, Random, Verdict};

const RING: &str = "vars think wait use\nrules\nthink >= 1 -> use' = use + 1, wait' = wait + think - 1, think' = 0;\n\
                    use >= 1 -> use' = use - 1, think' = think + wait + 1, wait' = 0;\n\
                    init think >= 1, wait = 0, use = 0\ntarget use >= 2\ninvariants think=1, wait=1, use=1\n";

fn errors(text: &str) -> Vec<String> {
    read_spec("n.spec", text).expect_err("the text is wrong").iter().map(ToString::to_string).collect()
}

#[test]
fn transfers_resets_and_constants_are_read() {
    let net = read_spec("n.spec", RING).expect("a good net");
    assert_eq!(net.transitions.len(), 2);
    assert!(!net.transitions[0].is_plain());
    let checked = check(&net, Choice::Auto, Budget::default(), &mut Quiet).expect("well formed");
    assert_eq!(checked.verdict, Verdict::Holds);
}

#[test]
fn a_target_covered_initially_is_violated_with_an_empty_run() {
    let net = read_spec("n.spec", "vars p\nrules\ninit p = 1\ntarget p >= 1").expect("a good net");
    let checked = check(&net, Choice::Auto, Budget::default(), &mut Quiet).expect("well formed");
    assert!(matches!(checked.verdict, Verdict::Violated(_)));
    assert!(checked.counterexample.expect("violated").trace.is_empty());
}

#[test]
fn an_atom_without_a_comma_before_it_starts_the_next_alternative() {
    let net = read_spec("n.spec", "vars p q\nrules\ninit p = 1,\nq = 0\ntarget p >= 2\nq >= 1, p >= 1")
        .expect("good");
    assert_eq!(net.initial.len(), 1);
    assert_eq!(net.targets.len(), 2);
}

#[test]
fn every_error_has_its_place() {
    let text = "vars x y x\nrules\nx >= 1 -> z' = z + 1;\ny $ 1 -> ;\nx >= 1 -> x' = x, x' = 1;\ninit x = 0\ntarget y >= 1";
    let all = errors(text);
    assert!(all.iter().any(|e| e.starts_with("n.spec:1:10: the place `x` is declared twice")), "{all:?}");
    assert!(all.iter().any(|e| e.starts_with("n.spec:3:11: `z` is not declared")), "{all:?}");
    assert!(all.iter().any(|e| e.starts_with("n.spec:4:3: expected `>=`, `=`")), "{all:?}");
    assert!(all.iter().any(|e| e.starts_with("n.spec:5:19: `x` is assigned twice")), "{all:?}");
    assert_eq!(errors(""), ["n.spec:1:1: expected the section `vars`"]);
    assert_eq!(errors("vars x rules init x = 99999999999 target x >= 1").len(), 1);
    assert!(
        errors("vars x rules x >= 1, x = 0 -> ; init x = 0 target x >= 1")[0].contains("no number of tokens")
    );
}

#[test]
fn every_comparison_and_factor_is_read() {
    let text = "vars x y rules x > 1, y <= 4 -> x' = 2 * x - y + 1; x < 3, y in [1, 2] -> y' = x + x; x==2 -> ;\n\
                init x in [1, 3], y = 0 target x >= 2 && y = 1";
    let net = read_spec("n.spec", text).expect("a good net");
    let marking = |x: u32, y: u32| vec![x, y];
    assert_eq!(net.transitions[0].fire(&marking(2, 3)), Some(marking(2, 3)));
    assert_eq!(net.transitions[0].fire(&marking(1, 3)), None);
    assert_eq!(net.transitions[0].fire(&marking(2, 5)), None);
    assert_eq!(net.transitions[1].fire(&marking(2, 1)), Some(marking(2, 4)));
    assert_eq!(net.transitions[1].fire(&marking(2, 3)), None);
    let starts: Vec<&[u32]> = net.initial.iter().map(|i| &i.base[..]).collect();
    assert_eq!(starts, [[1, 0], [2, 0], [3, 0]]);
    assert!(net.targets[0].contains(&marking(5, 1)) && !net.targets[0].contains(&marking(5, 2)));
    let refused =
        check(&net, Choice::Auto, Budget::default(), &mut Quiet).expect_err("not monotone").to_string();
    assert!(refused.contains("n.spec:1:16") && refused.contains("subtracted"), "{refused}");
    assert!(errors("vars x rules init x in [0, 999] target x >= 1")[0].contains("initial markings"));
    assert!(errors("vars x rules x < 0 -> ; init x = 1 target x >= 1")[0].contains("less than 0"));
}

/// What each engine says of `target` in a net of one rule.
#[test]
fn a_place_that_init_does_not_name_means_the_same_to_every_engine() {
    let text = "vars a b rules a >= 3 -> a' = a - 3, b' = b + 1; init b = 0 target b >= 1";
    let net = read_spec("n.spec", text).expect("a good net");
    let checked = check(&net, Choice::Auto, Budget::default(), &mut Quiet).expect("well formed");
    assert!(matches!(checked.verdict, Verdict::Violated(_)));
    assert_eq!(checked.counterexample.expect("violated").marking, [3, 0]);
    let program = volee_counters::parse_spec("n.spec", text).expect("a good net");
    let answer = volee_counters::check(&program, &volee_counters::Options::default());
    assert!(matches!(answer.outcome, volee_counters::Outcome::Violated { .. }));
    let reaches = |net: volee_nets::Net| {
        let mut system = volee_nets::Instance::least(net);
        crate::explored::markings(&mut system).iter().any(|m| m[1] >= 1)
    };
    assert!(!reaches(net.clone()), "the least instance has none to take");
    let mut chosen = net;
    chosen.start_with("a", 3).expect("there is an a");
    assert!(reaches(chosen));
}

#[test]
fn no_text_makes_the_reader_panic() {
    let mut random = Random::new(7);
    let pieces = [
        "vars",
        "rules",
        "init",
        "target",
        "x",
        "y",
        "'",
        ">=",
        "=",
        "->",
        ",",
        ";",
        "+",
        "-",
        "1",
        "#",
        "\n",
        "é",
        "999999999999",
        "<=",
        "*",
        "in",
        "[1,",
    ];
    for _ in 0..3_000 {
        let mut text = String::from(if random.below(2) == 0 { "vars x y\nrules\n" } else { "" });
        for _ in 0..random.below(30) {
            text.push_str(pieces[random.below(pieces.len() as u32) as usize]);
            text.push(' ');
        }
        let _ = read_spec("fuzz.spec", &text);
        let at = random.below(RING.len() as u32) as usize;
        let _ = read_spec("fuzz.spec", &format!("{}{}", &RING[..at], text));
    }
}
