//! Claims by several threads: what they say is what one says, on products that make tables and fields grow on
//! the way, with errors and without, and when they are ended early.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::Duration;

use volee_logic::formula::parse;
use volee_program::{Machine, MachineOptions};
use volee_promela::{Options, lower, parse as parse_model};
use volee_search::{
    BoundAtom, Claim, ClaimOptions, ClaimOutcome, Crew, Fairness, LtlQuestion, Reduction, check_claim,
};
use volee_store::checkpoint::{Checkpoint, read_header};
use volee_system::{
    Budget, Components, FaultId, Flow, Label, Limit, Meter, PredicateId, Quiet, Random, Sink, Step, System,
    Verdict,
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

/// A tree that interrupts all who look at it after this many expansions of any.
#[derive(Clone)]
struct Cut {
    tree: Tree,
    expansions: Arc<AtomicI64>,
    cancelled: Arc<AtomicBool>,
}

impl System for Cut {
    fn initial(&mut self, push: &mut dyn FnMut(&[u8]) -> Flow) -> Flow {
        self.tree.initial(push)
    }

    fn steps(&mut self, state: &[u8], sink: &mut dyn Sink) -> Flow {
        if self.expansions.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.cancelled.store(true, Ordering::Relaxed);
        }
        self.tree.steps(state, sink)
    }

    fn label(&self, label: Label) -> Cow<'_, str> {
        self.tree.label(label)
    }

    fn holds(&mut self, predicate: PredicateId, state: &[u8]) -> Result<bool, FaultId> {
        self.tree.holds(predicate, state)
    }

    fn components(&self) -> Option<Components> {
        self.tree.components()
    }
}

#[test]
fn workers_that_are_interrupted_again_and_again_go_on_from_their_file() {
    let (mut cuts, mut held, mut violated, mut shared) = (0, 0, 0, 0);
    let mut random = Random::new(2013);
    for (states, bytes, from) in [(9_000, 2, 500), (20_000, 8, 1_000)] {
        for back in [None, Some((states / 2 - 100) | 7)] {
            let tree = Tree { states, back, bytes };
            // The automaton of the last begins with cycles of both kinds, and is for one thread.
            for text in ["[](a -> <>b)", "<>b", "[](a -> <>(c && <>b))", "[](a -> <>[]b)", "[]<>a -> []<>b"] {
                let claim = claim(text);
                let alone =
                    check_claim(&mut tree.clone(), &claim, ClaimOptions::default(), &meter(), &mut Quiet);
                let folder = tempfile::tempdir().expect("a folder");
                let path = folder.path().join("search");
                let every = Duration::from_millis([0, 3_600_000][random.below(2)]);
                let mut kept = Checkpoint { path, every, header: b"head".to_vec(), resume: false };
                let outcome = loop {
                    let cancelled = Arc::new(AtomicBool::new(false));
                    let few = 3_000 + random.below(3_000) as i64;
                    let expansions = Arc::new(AtomicI64::new(few));
                    let cut = Cut { tree: tree.clone(), expansions, cancelled: Arc::clone(&cancelled) };
                    let meter =
                        Meter::start(Budget { cancelled, memory: Some(1 << 30), ..Budget::default() });
                    let options = ClaimOptions { checkpoint: Some(&kept), ..ClaimOptions::default() };
                    let workers = [2, 3, 8, 1][random.below(4)];
                    let outcome = by_crew(&cut, &claim, options, (workers, from), &meter);
                    if outcome.verdict != Verdict::Unknown(Limit::Cancelled) {
                        break outcome;
                    }
                    assert_eq!(read_header(&kept.path).expect("it is whole"), b"head");
                    (kept.resume, cuts) = (true, cuts + 1);
                };
                let context = format!("{text}, {states} states, back {back:?}");
                assert_eq!(outcome.verdict, alone.verdict, "{context}");
                shared += u32::from(outcome.statistics.workers > 0);
                match alone.verdict == Verdict::Holds {
                    true => {
                        held += 1;
                        assert_eq!(outcome.statistics.states, alone.statistics.states, "{context}");
                        let sorted = |outcome: &ClaimOutcome| {
                            let mut letters = outcome.letters.clone();
                            letters.sort_unstable();
                            letters
                        };
                        assert_eq!(sorted(&outcome), sorted(&alone), "{context}");
                    }
                    false => violated += 1,
                }
            }
        }
    }
    assert!(
        cuts > 20 && held > 4 && violated > 4 && shared > 3,
        "{cuts} were cut, {held} hold, {violated} do not, {shared} were shared"
    );
}

/// One run, on which what is owed at its beginning is done at its end, or which comes back to where it began,
/// and which interrupts all who look at it.
#[derive(Clone)]
struct Long {
    states: u32,
    comes_back: bool,
    expansions: Arc<AtomicI64>,
    cancelled: Arc<AtomicBool>,
}

impl System for Long {
    fn initial(&mut self, push: &mut dyn FnMut(&[u8]) -> Flow) -> Flow {
        push(&0u32.to_le_bytes())
    }

    fn steps(&mut self, state: &[u8], sink: &mut dyn Sink) -> Flow {
        if self.expansions.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.cancelled.store(true, Ordering::Relaxed);
        }
        let next = match Tree::number(state) + 1 {
            end if end == self.states && !self.comes_back => return Flow::Continue(()),
            next => next % self.states,
        };
        sink.push(Step::labelled(0), &next.to_le_bytes())
    }

    fn label(&self, _: Label) -> Cow<'_, str> {
        "step".into()
    }

    fn holds(&mut self, predicate: PredicateId, state: &[u8]) -> Result<bool, FaultId> {
        let number = Tree::number(state);
        Ok(match predicate.0 {
            0 => number == 3,
            1 => number + 1 == self.states,
            _ => true,
        })
    }

    fn components(&self) -> Option<Components> {
        Some(Components { ends: (1..=4).collect(), records: None })
    }
}

#[test]
fn a_walk_that_is_interrupted_again_and_again_comes_to_its_end() {
    // In the first, the path is expanded once more each time, but the last of it first; the second is one
    // component, through which one goes that is kept.
    for (text, comes_back) in [("[](a -> <>b)", false), ("[](a -> <>[]c)", true)] {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("search");
        let every = Duration::from_secs(3600);
        let mut kept = Checkpoint { path, every, header: Vec::new(), resume: false };
        let (claim, mut random) = (claim(text), Random::new(7));
        let (mut cuts, states) = (0, 40_000);
        let outcome = loop {
            let cancelled = Arc::new(AtomicBool::new(false));
            let expansions = Arc::new(AtomicI64::new(5_000));
            let long = Long { states, comes_back, expansions, cancelled: Arc::clone(&cancelled) };
            let meter = Meter::start(Budget { cancelled, memory: Some(1 << 30), ..Budget::default() });
            let options = ClaimOptions { checkpoint: Some(&kept), ..ClaimOptions::default() };
            let workers = if cuts == 0 { 2 } else { [1, 2, 3, 8][random.below(4)] };
            let outcome = by_crew(&long, &claim, options, (workers, 100), &meter);
            if outcome.verdict != Verdict::Unknown(Limit::Cancelled) {
                break outcome;
            }
            (kept.resume, cuts) = (true, cuts + 1);
            assert!(cuts < 60, "{text} comes to no end");
        };
        assert_eq!(outcome.verdict, Verdict::Holds, "{text}");
        assert!(cuts > 5 && outcome.statistics.workers > 0, "{text} was cut {cuts} times");
    }
}
