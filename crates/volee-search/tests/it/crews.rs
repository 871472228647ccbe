//! Claims by several threads: what they say is what one says, on products that make tables and fields grow on
//! the way, with errors and without, and when they are ended early.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use volee_logic::formula::parse;
use volee_program::{Machine, MachineOptions};
use volee_promela::{Options, lower, parse as parse_model};
use volee_search::{
    BoundAtom, Claim, ClaimOptions, ClaimOutcome, Crew, Fairness, LtlQuestion, Reduction, check_claim,
};
use volee_system::{
    Budget, Components, FaultId, Flow, Label, Limit, Meter, PredicateId, Quiet, Sink, Step, System, Verdict,
};

/// Numbers that lead to larger ones and so to an end: runs are short, states many, and names soon too long
/// for a word. One of them may lead back.
#[derive(Clone)]
struct Tree {
    states: u32,
    back: Option<u32>,
    bytes: usize,
}

impl Tree {
    fn state(&self, number: u32) -> Vec<u8> {
        let mixed = (u64::from(number) + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15).to_le_bytes();
        let mut state = number.to_le_bytes().to_vec();
        state.extend_from_slice(&mixed[..self.bytes]);
        state
    }

    fn number(state: &[u8]) -> u32 {
        u32::from_le_bytes([state[0], state[1], state[2], state[3]])
    }
}

impl System for Tree {
    fn initial(&mut self, push: &mut dyn FnMut(&[u8]) -> Flow) -> Flow {
        push(&self.state(0))
    }

    fn steps(&mut self, state: &[u8], sink: &mut dyn Sink) -> Flow {
        let number = Tree::number(state);
        let back = (self.back == Some(number)).then_some(number / 8);
        for target in [number * 2 + 1, number * 2 + 2, number * 2 + 3].into_iter().chain(back) {
            if target < self.states {
                sink.push(Step::labelled(0), &self.state(target))?;
            }
        }
        Flow::Continue(())
    }

    fn label(&self, _: Label) -> Cow<'_, str> {
        "step".into()
    }

    /// The first is true in every fifth state, the second where runs end, the third from a state on.
    fn holds(&mut self, predicate: PredicateId, state: &[u8]) -> Result<bool, FaultId> {
        let number = Tree::number(state);
        Ok(match predicate.0 {
            0 => number % 5 == 3,
            1 => number * 2 + 1 >= self.states,
            _ => number > 20,
        })
    }

    fn components(&self) -> Option<Components> {
        Some(Components { ends: (1..=4 + self.bytes as u32).collect(), records: None })
    }
}

fn claim(text: &str) -> Claim {
    let formula = parse(text, "formula").expect("a formula");
    let number = |text: &str| match text {
        "a" => 0,
        "b" => 1,
        _ => 2,
    };
    let atoms = formula.atoms().into_iter().map(|id| formula.atom_text(id));
    let atoms = atoms.map(|text| BoundAtom::Predicate(PredicateId(number(&text)))).collect();
    LtlQuestion::with_atoms(formula, atoms).expect("small").claim().clone()
}

fn meter() -> Meter {
    Meter::start(Budget { memory: Some(1 << 30), ..Budget::default() })
}

fn by_crew<S: System + Clone + Sync + 'static>(
    system: &S,
    claim: &Claim,
    options: ClaimOptions<'_>,
    (workers, from): (usize, u64),
    meter: &Meter,
) -> ClaimOutcome {
    let another = || Some((Box::new(system.clone()) as Box<dyn System>, claim.clone()));
    let crew = Crew::new(workers, &another).from(from);
    let options = ClaimOptions { crew: Some(&crew), ..options };
    check_claim(&mut system.clone(), claim, options, meter, &mut Quiet)
}

/// What is told by workers is what one tells; whether they took part, and whether the claim holds.
fn compare<S: System + Clone + Sync + 'static>(
    system: &S,
    claim: &Claim,
    options: ClaimOptions<'_>,
    crew: (usize, u64),
    context: &str,
) -> (bool, bool) {
    let alone = check_claim(&mut system.clone(), claim, options, &meter(), &mut Quiet);
    let several = by_crew(system, claim, options, crew, &meter());
    assert_eq!(several.verdict, alone.verdict, "{context}");
    let sorted = |outcome: &ClaimOutcome| {
        let mut letters = outcome.letters.clone();
        letters.sort_unstable();
        letters
    };
    if alone.verdict == Verdict::Holds {
        // Where one thread settles the reduced system on its way, several do not.
        if options.settles_first || !options.reduces() {
            assert_eq!(several.statistics.states, alone.statistics.states, "{context}");
        }
        assert_eq!(sorted(&several), sorted(&alone), "{context}");
    }
    (several.statistics.workers == crew.0 as u64, alone.verdict == Verdict::Holds)
}

#[test]
fn products_that_outgrow_tables_and_words_are_decided_alike() {
    let (mut held, mut violated) = (0, 0);
    for (states, bytes, from) in [(3_000, 2, 1), (12_000, 8, 100), (12_000, 1, 6_000)] {
        for back in [None, Some((states / 2 - 100) | 7), Some(0)] {
            let tree = Tree { states, back, bytes };
            for (text, shared) in [
                ("[](a -> <>b)", true),
                ("[]<>b", true),
                ("<>b", true),
                ("[](a -> <>(c && <>b))", true),
                ("[]<>a -> []<>b", true),
                // Cycles of both kinds from the beginning: one alone looks at them.
                ("<>[]b", false),
            ] {
                let claim = claim(text);
                for workers in [2, 8] {
                    let context = format!("{text}, {states} states, back {back:?}, {workers} workers");
                    let (took_part, holds) =
                        compare(&tree, &claim, ClaimOptions::default(), (workers, from), &context);
                    assert_eq!(took_part, shared && holds, "{context}");
                    (held, violated) = (held + u32::from(holds), violated + u32::from(!holds));
                }
                let fair = ClaimOptions { fairness: Fairness::Weak, ..ClaimOptions::default() };
                compare(&tree, &claim, fair, (2, from), text);
            }
        }
    }
    assert!(held > 30 && violated > 30, "{held} {violated}");
}

fn counters() -> Machine {
    let text =
        "byte x; active [3] proctype P() { byte i; do :: i < 30 -> i++ :: i == 30 -> x = 1; break od }";
    let (model, _) = parse_model("model.pml", text, &Options::default());
    lower(Arc::new(model.expect("it is Promela"))).expect("small").machine(MachineOptions::default())
}

#[test]
fn a_large_program_has_the_same_answers_and_runs_with_any_number_of_workers() {
    for (text, holds) in
        [("<>(x == 1)", true), ("[]((x == 1) -> <>[](x == 1))", true), ("[]<>(x == 0)", false)]
    {
        let mut machine = counters();
        let formula = parse(text, "formula").expect("a formula");
        let question = LtlQuestion::new(&mut machine, formula, text, "formula").expect("small");
        for reduction in [Reduction::None, Reduction::Persistent] {
            for settles_first in [false, true] {
                let options = ClaimOptions { reduction, settles_first, ..ClaimOptions::default() };
                for crew in [(1, 0), (2, 50), (3, 1_000), (8, 10)] {
                    let context = format!("{text}, {reduction:?}, settled {settles_first}, {crew:?}");
                    let (took_part, verdict) = compare(&machine, question.claim(), options, crew, &context);
                    let large = reduction == Reduction::None;
                    assert!(!large || took_part == (holds && crew.0 > 1), "{context}");
                    assert_eq!(verdict, holds, "{context}");
                }
            }
        }
    }
}

#[test]
fn workers_end_when_time_is_up_or_the_user_has_enough() {
    let tree = Tree { states: 60_000, back: None, bytes: 2 };
    let claim = claim("[](a -> <>b)");
    let late = Budget { time: Some(Duration::ZERO), ..Budget::default() };
    let enough = Budget { cancelled: Arc::new(AtomicBool::new(true)), ..Budget::default() };
    for (budget, is_told) in [
        (late, (|limit| matches!(limit, Limit::Time { .. })) as fn(&Limit) -> bool),
        (enough, |limit| matches!(limit, Limit::Cancelled)),
    ] {
        let outcome = by_crew(&tree, &claim, ClaimOptions::default(), (3, 1), &Meter::start(budget));
        assert!(matches!(&outcome.verdict, Verdict::Unknown(limit) if is_told(limit)), "{outcome:?}");
    }
}

#[test]
fn with_little_memory_or_without_workers_one_goes_on_alone() {
    let tree = Tree { states: 20_000, back: None, bytes: 2 };
    let claim = claim("[](a -> <>b)");
    let alone = check_claim(&mut tree.clone(), &claim, ClaimOptions::default(), &meter(), &mut Quiet);
    assert_eq!(alone.verdict, Verdict::Holds);
    let little = Meter::start(Budget { memory: Some(32 << 20), ..Budget::default() });
    let outcome = by_crew(&tree, &claim, ClaimOptions::default(), (2, 1), &little);
    assert_eq!((outcome.verdict, outcome.statistics.workers), (Verdict::Holds, 0));
    let crew = Crew::new(2, &|| None).from(1);
    let options = ClaimOptions { crew: Some(&crew), ..ClaimOptions::default() };
    let outcome = check_claim(&mut tree.clone(), &claim, options, &meter(), &mut Quiet);
    assert_eq!((outcome.verdict, outcome.statistics.workers), (Verdict::Holds, 0));
    let other = || Some((Box::new(tree.clone()) as Box<dyn System>, self::claim("<>b")));
    let crew = Crew::new(2, &other).from(1);
    let options = ClaimOptions { crew: Some(&crew), ..ClaimOptions::default() };
    let outcome = check_claim(&mut tree.clone(), &claim, options, &meter(), &mut Quiet);
    assert_eq!((outcome.verdict, outcome.statistics.workers), (Verdict::Holds, 0));
}
