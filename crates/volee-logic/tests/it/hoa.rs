//! Automata as text.

use volee_logic::automaton::intersection_is_empty;
use volee_logic::formula::{Shape, parse, random_formula};
use volee_logic::hoa::{dfa_dot, dfa_hoa, dot, hoa, never_claim, read_hoa};
use volee_logic::ltl::{translate, translate_to_buchi};
use volee_logic::tl::{Alphabet, Limits, compile};
use volee_system::Random;

#[test]
fn what_is_written_reads_back_as_the_same_automaton() {
    let mut random = Random::new(5);
    for _ in 0..200 {
        let formula = random_formula(&mut random, Shape { atoms: 2, operators: 6 });
        for mut automaton in
            [translate(&formula).expect("small"), translate_to_buchi(&formula).expect("small")]
        {
            let text = hoa(&mut automaton, &formula.to_string());
            let mut again = read_hoa(&text, "a.hoa").expect("reads back");
            assert_eq!(again.len(), automaton.len(), "{text}");
            assert_eq!(hoa(&mut again, &formula.to_string()), text);
            let negation = translate(&formula.clone().negated()).expect("small");
            assert!(intersection_is_empty(negation, &mut again) || again.atoms.len() < 2, "{text}");
        }
    }
}

#[test]
fn labels_on_states_aliases_and_implicit_labels_are_read() {
    let text = "HOA: v1\nStart: 0\nAP: 2 \"a\" \"b\"\nAcceptance: 1 Inf(0)\nAlias: @x 0 & !1\n--BODY--\n\
                State: [@x | (1 & !0)] 0 {0} 1\nState: 1 \"two\" 0 1 0 1\n--END--\n";
    let mut automaton = read_hoa(text, "a.hoa").expect("reads");
    assert_eq!(automaton.len(), 2);
    let guard = automaton.states[0][0].guard;
    assert_eq!(automaton.guard_cubes(guard).map(|c| c.len()), Some(2));
    assert_eq!(automaton.states[1].len(), 2);
    assert_eq!(automaton.state_marks(0), 1);
}

#[test]
fn what_is_not_supported_is_refused_with_its_place() {
    for (text, message) in [
        ("", "a.hoa:1:1: this is not an automaton in the Hanoi format: `HOA: v1` must come first"),
        ("HOA: v1\nStart: 0\n", "a.hoa:3:1: the header ends without `--BODY--`"),
        (
            "HOA: v1\nStart: 0\nAcceptance: 2 Inf(0)|Fin(1)\n--BODY--\n--END--",
            "a.hoa:3:13: the acceptance condition `Inf0|Fin1` is not (generalised) Büchi",
        ),
        ("HOA: v1\nStart: 0&1\n--BODY--", "a.hoa:2:9: alternating automata are not supported"),
        (
            "HOA: v1\nStart: 0\nAP: 1 \"a\"\nAcceptance: 0 t\n--BODY--\nState: 0\n[1] 0\n--END--",
            "a.hoa:7:2: there is no atomic proposition number 1",
        ),
        (
            "HOA: v1\nStart: 7\nAP: 0\nAcceptance: 0 t\n--BODY--\nState: 0\n--END--",
            "a.hoa:7:8: the initial state 7 is not in the body",
        ),
        (
            "HOA: v1\nStart: 0\nAP: 1 \"a\"\nAcceptance: 0 t\n--BODY--\nState: 0\n[(0] 0\n--END--",
            "a.hoa:7:4: expected `&`, `|` or the end of the label",
        ),
    ] {
        let error = read_hoa(text, "a.hoa").err().map(|e| e.to_string());
        assert_eq!(error.as_deref(), Some(message), "{text}");
    }
}

#[test]
fn a_state_may_have_any_number_and_costs_no_more_for_it() {
    let text = "HOA: v1\nStart: 4000000000\nAP: 0\nAcceptance: 1 Inf(0)\n--BODY--\nState: 4000000000 [t] 7\nState: 7 {0} [t] 7\n--END--";
    let automaton = read_hoa(text, "a.hoa").expect("it is one");
    assert_eq!((automaton.len(), automaton.initial), (2, 1));
    assert_eq!((automaton.states[1][0].target, automaton.state_marks(0)), (0, 1));
}

#[test]
fn a_never_claim_is_what_spin_reads() {
    let formula = parse("[]<>{x == 2}", "f").expect("parses").negated();
    let mut automaton = translate_to_buchi(&formula).expect("small");
    assert_eq!(
        never_claim(&mut automaton, "!([]<>x == 2)"),
        "never { /* !([]<>x == 2) */\nT0_init:\n  do\n  :: (1) -> goto T0_init\n  :: (!(x == 2)) -> goto accept_S1\n  od;\n\
         accept_S1:\n  do\n  :: (!(x == 2)) -> goto accept_S1\n  od;\n}\n"
    );
}

#[test]
fn finite_trace_automata_are_written_too() {
    let formula = parse("[](a -> X b)", "f").expect("parses");
    let dfa = compile(&formula.pool, formula.root, &formula.atoms(), Alphabet::Events, Limits::default());
    let dfa = dfa.expect("small");
    let names: Vec<String> = formula.atoms().iter().map(|&a| formula.atom_text(a)).collect();
    assert!(read_hoa(&dfa_hoa(&dfa, &names, "x"), "a").is_ok_and(|a| a.len() == 3));
    assert_eq!(dfa_dot(&dfa, &names).matches(" -> ").count(), 4);
    let mut automaton = translate(&formula).expect("small");
    assert!(dot(&mut automaton).starts_with("digraph"));
}
