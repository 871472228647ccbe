//! A search that is cut again and again and goes on from its file finds what an uninterrupted one finds, to
//! the last count.

use std::borrow::Cow;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::Duration;

use volee_logic::formula::{Shape, parse, random_formula};
use volee_logic::ltl::{translate, translate_to_buchi};
use volee_search::{
    BoundAtom, Check, Claim, ClaimOptions, ClaimOutcome, Crew, DeterministicProperty, Fairness, Names, Order,
    Outcome, Reduction, bind, check, check_claim, check_with,
};
use volee_store::checkpoint::{Checkpoint, read_header};
use volee_system::{
    Budget, Components, Fault, FaultId, Flow, Label, Limit, Meter, PersistentSet, PredicateId, Progress,
    Quiet, Random, Reducible, Sink, Snapshot, Step, System, Verdict,
};

use crate::graph::Graph;
use crate::liveness::random_graph;
use crate::parallel::Walk;

/// Two graphs side by side, which interrupts whoever searches it after this many expansions.
struct Interrupting {
    left: Graph,
    right: Graph,
    expansions: u64,
    cancelled: Arc<AtomicBool>,
}

/// The lengths of the halves stand in front.
fn both(left: &[u8], right: &[u8]) -> Vec<u8> {
    [&[left.len() as u8], left, right].concat()
}

fn halves(state: &[u8]) -> (&[u8], &[u8]) {
    state[1..].split_at(usize::from(state[0]))
}

impl System for Interrupting {
    fn initial(&mut self, push: &mut dyn FnMut(&[u8]) -> Flow) -> Flow {
        let Interrupting { left, right, .. } = self;
        let other = right.states[right.initial[0]].clone();
        left.initial(&mut |state| push(&both(state, &other)))
    }

    fn steps(&mut self, state: &[u8], sink: &mut dyn Sink) -> Flow {
        self.expansions = self.expansions.saturating_sub(1);
        if self.expansions == 0 {
            self.cancelled.store(true, Ordering::Relaxed);
        }
        let (left, right) = halves(state);
        let (left, right) = (left.to_vec(), right.to_vec());
        let mut pair = |step, state: &[u8]| sink.push(step, &both(state, &right));
        self.left.steps(&left, &mut |step, state: &[u8]| pair(step, state))?;
        self.right.steps(&right, &mut |step, state: &[u8]| sink.push(step, &both(&left, state)))
    }

    fn label(&self, label: Label) -> Cow<'_, str> {
        self.left.label(label)
    }

    fn is_valid_end(&mut self, state: &[u8]) -> bool {
        let (left, right) = halves(state);
        self.left.is_valid_end(left) && self.right.is_valid_end(right)
    }

    fn fault(&self, fault: FaultId) -> Fault {
        self.left.fault(fault)
    }

    fn holds(&mut self, predicate: PredicateId, state: &[u8]) -> Result<bool, FaultId> {
        self.left.holds(predicate, halves(state).0)
    }
}

fn run(seed: u64, expansions: u64, questions: &Check) -> Outcome {
    let cancelled = Arc::new(AtomicBool::new(false));
    let mut system = Interrupting {
        left: Graph::random(seed),
        right: Graph::random(seed + 1),
        expansions,
        cancelled: Arc::clone(&cancelled),
    };
    // A small budget looks around often; it is more than these searches need.
    let memory = (questions.order == Order::DepthFirst).then_some(4 << 20);
    let meter = Meter::start(Budget { cancelled, memory, ..Budget::default() });
    check(&mut system, questions, &meter, &mut Quiet)
}

fn asked(seed: u64, order: Order) -> Check {
    let all = !seed.is_multiple_of(6);
    Check::new().order(order).all_errors(all).invariant("p0", PredicateId(0)).goal("p1", PredicateId(1))
}

/// Cuts a search every few hundred expansions until it ends, and tells how often it was cut.
fn in_pieces(seed: u64, questions: &Check, random: &mut Random) -> (Outcome, u32) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("search");
    let every = Duration::from_secs([0, 3600][random.below(2)]);
    let mut kept = Checkpoint { path: path.clone(), every, header: b"head".to_vec(), resume: false };
    for cuts in 0.. {
        let questions = questions.clone().checkpoint(Some(kept.clone()));
        let outcome = run(seed, 20 + random.below(400) as u64, &questions);
        if outcome.limit != Some(Limit::Cancelled) {
            return (outcome, cuts);
        }
        assert_eq!(read_header(&path).expect("it is whole"), b"head");
        kept.resume = true;
    }
    unreachable!("every search ends")
}

#[test]
fn a_search_that_goes_on_finds_what_one_that_was_not_cut_finds() {
    let (mut cuts, mut random) = (0, Random::new(21));
    for seed in (0..240).step_by(2) {
        for order in [Order::DepthFirst, Order::BreadthFirst] {
            let questions = asked(seed, order);
            let whole = run(seed, u64::MAX, &questions);
            let (pieces, cut) = in_pieces(seed, &questions, &mut random);
            cuts += cut;
            assert_eq!(pieces.answers, whole.answers, "seed {seed}, {order:?}");
            assert_eq!(pieces.limit, whole.limit);
            let figures =
                |o: &Outcome| (o.statistics.states, o.statistics.transitions, o.statistics.max_depth);
            assert_eq!(figures(&pieces), figures(&whole), "seed {seed}, {order:?}, cut {cut} times");
        }
    }
    assert!(cuts > 30, "only {cuts} searches were cut");
}

#[test]
fn a_file_that_was_cut_or_changed_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("search");
    let every = Duration::from_secs(3600);
    let kept = Checkpoint { path: path.clone(), every, header: b"who am I".to_vec(), resume: false };
    let seed =
        (0..).find(|&seed| run(seed, u64::MAX, &asked(seed, Order::DepthFirst)).statistics.states > 900);
    let questions = asked(seed.expect("a large one"), Order::DepthFirst).checkpoint(Some(kept));
    run(seed.expect("a large one"), 300, &questions);
    let whole = std::fs::read(&path).expect("it was kept");
    assert!(read_header(&path).is_ok());
    for at in (0..whole.len()).step_by(7) {
        std::fs::write(&path, &whole[..at]).expect("written");
        assert!(read_header(&path).is_err(), "cut at {at}");
        let mut changed = whole.clone();
        changed[at] ^= 1 << (at % 8);
        std::fs::write(&path, changed).expect("written");
        assert!(read_header(&path).is_err(), "changed at {at}");
    }
}

/// A system that several threads have copies of, and that interrupts them all after this many expansions of
/// any.
#[derive(Clone)]
struct Shared {
    walk: Walk,
    expansions: Arc<AtomicI64>,
    cancelled: Arc<AtomicBool>,
}

impl System for Shared {
    fn initial(&mut self, push: &mut dyn FnMut(&[u8]) -> Flow) -> Flow {
        self.walk.initial(push)
    }

    fn steps(&mut self, state: &[u8], sink: &mut dyn Sink) -> Flow {
        if self.expansions.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.cancelled.store(true, Ordering::Relaxed);
        }
        self.walk.steps(state, sink)
    }

    fn label(&self, label: Label) -> Cow<'_, str> {
        self.walk.label(label)
    }

    fn holds(&mut self, predicate: PredicateId, state: &[u8]) -> Result<bool, FaultId> {
        self.walk.holds(predicate, state)
    }

    fn components(&self) -> Option<Components> {
        self.walk.components()
    }
}

fn run_by_crew(walk: &Walk, expansions: i64, questions: &Check, workers: usize) -> Outcome {
    let cancelled = Arc::new(AtomicBool::new(false));
    let (walk, expansions) = (walk.clone(), Arc::new(AtomicI64::new(expansions)));
    let system = Shared { walk, expansions, cancelled: Arc::clone(&cancelled) };
    let asked = questions.clone().checkpoint(None);
    let another = || Some((Box::new(system.clone()) as Box<dyn System>, asked.clone()));
    let crew = Crew::new(workers, &another).from(500);
    let meter = Meter::start(Budget { cancelled, memory: Some(1 << 30), ..Budget::default() });
    check_with(&mut system.clone(), questions, Some(&crew), &meter, &mut Quiet)
}

#[test]
fn a_search_by_several_threads_goes_on_where_it_was_cut() {
    let (mut cuts, mut random) = (0, Random::new(22));
    for round in 0..12 {
        let order = [Order::DepthFirst, Order::BreadthFirst][round % 2];
        let states = 5_000 + 9_000 * (round as u32 % 3);
        let walk = Walk { states, error: (round % 4 == 3).then_some(states - 7) };
        let questions = Check::new().order(order).invariant("no error", PredicateId(0));
        let whole = run_by_crew(&walk, i64::MAX, &questions, 1);
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("search");
        let every = Duration::from_millis([1, 3_600_000][random.below(2)]);
        let mut kept = Checkpoint { path: path.clone(), every, header: b"head".to_vec(), resume: false };
        let pieces = loop {
            let questions = questions.clone().checkpoint(Some(kept.clone()));
            let few = 1_000 + random.below(4_000) as i64;
            let outcome = run_by_crew(&walk, few, &questions, 2 + round % 3);
            if outcome.limit != Some(Limit::Cancelled) {
                break outcome;
            }
            assert_eq!(read_header(&path).expect("it is whole"), b"head");
            (kept.resume, cuts) = (true, cuts + 1);
        };
        assert_eq!((&pieces.answers, &pieces.limit), (&whole.answers, &whole.limit), "round {round}");
        let figures = |o: &Outcome| (o.statistics.states, o.statistics.transitions);
        if walk.error.is_none() {
            assert_eq!(figures(&pieces), figures(&whole), "round {round}");
        }
        if walk.error.is_none() && order == Order::BreadthFirst {
            assert_eq!(pieces.statistics.max_depth, whole.statistics.max_depth, "round {round}");
        }
    }
    assert!(cuts > 20, "only {cuts} searches were cut");
}

fn look_for_lassos(walk: &Walk, expansions: i64, claim: &Claim, options: ClaimOptions<'_>) -> ClaimOutcome {
    let cancelled = Arc::new(AtomicBool::new(false));
    let (walk, expansions) = (walk.clone(), Arc::new(AtomicI64::new(expansions)));
    let mut system = Shared { walk, expansions, cancelled: Arc::clone(&cancelled) };
    let meter = Meter::start(Budget { cancelled, ..Budget::default() });
    check_claim(&mut system, claim, options, &meter, &mut Quiet)
}

#[test]
fn a_search_for_lassos_goes_on_where_it_was_cut() {
    let (mut cuts, mut random) = (0, Random::new(23));
    let mut violated = 0;
    for (bad, fairness) in
        [("<>[]!p", Fairness::None), ("[]<>!p", Fairness::None), ("<>[]p && <>!p", Fairness::Weak)]
    {
        for error in [None, Some(19_000), Some(24_321)] {
            let walk = Walk { states: 25_000, error };
            let automaton = translate(&parse(bad, "f").expect("a formula")).expect("small");
            let claim = Claim::new(automaton, vec![BoundAtom::Predicate(PredicateId(0))]);
            let options = ClaimOptions { fairness, ..ClaimOptions::default() };
            let whole = look_for_lassos(&walk, i64::MAX, &claim, options);
            violated += u32::from(matches!(whole.verdict, Verdict::Violated(_)));
            let folder = tempfile::tempdir().expect("a folder");
            let path = folder.path().join("search");
            let every = Duration::from_millis([1, 3_600_000][random.below(2)]);
            let mut kept = Checkpoint { path, every, header: b"head".to_vec(), resume: false };
            let pieces = loop {
                let options = ClaimOptions { checkpoint: Some(&kept), ..options };
                let outcome = look_for_lassos(&walk, 3_000 + random.below(6_000) as i64, &claim, options);
                if outcome.verdict != Verdict::Unknown(Limit::Cancelled) {
                    break outcome;
                }
                assert_eq!(read_header(&kept.path).expect("it is whole"), b"head");
                (kept.resume, cuts) = (true, cuts + 1);
            };
            assert_eq!(pieces.verdict, whole.verdict, "{bad}, {error:?}");
            let figures =
                |o: &ClaimOutcome| (o.statistics.states, o.statistics.transitions, o.statistics.max_depth);
            assert_eq!(
                (figures(&pieces), &pieces.letters),
                (figures(&whole), &whole.letters),
                "{bad}, {error:?}"
            );
        }
    }
    assert!(cuts > 10 && violated > 2, "{cuts} were cut, {violated} violated");
}

/// Interrupts whoever reports to it: at every look at the clock, of which the first comes after one step.
struct Impatient(Arc<AtomicBool>);

impl Progress for Impatient {
    fn report(&mut self, _: &Snapshot) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A walk that has sets of steps that stand for all, in some of its states; who searches it has to believe
/// them.
struct Chosen(Walk);

impl System for Chosen {
    fn initial(&mut self, push: &mut dyn FnMut(&[u8]) -> Flow) -> Flow {
        self.0.initial(push)
    }

    fn steps(&mut self, state: &[u8], sink: &mut dyn Sink) -> Flow {
        self.0.steps(state, sink)
    }

    fn label(&self, label: Label) -> Cow<'_, str> {
        self.0.label(label)
    }

    fn holds(&mut self, predicate: PredicateId, state: &[u8]) -> Result<bool, FaultId> {
        self.0.holds(predicate, state)
    }

    fn components(&self) -> Option<Components> {
        self.0.components()
    }

    fn reducible(&mut self) -> Option<&mut dyn Reducible> {
        Some(self)
    }
}

impl Reducible for Chosen {
    fn persistent_steps(
        &mut self,
        state: &[u8],
        attempt: u32,
        sink: &mut dyn Sink,
    ) -> ControlFlow<(), Option<PersistentSet>> {
        let number = Walk::number(state);
        // Enough of the sets are of use, and few enough cut cycles, that a search never changes its mind.
        let chance = number.wrapping_mul(0x9E37_79B9) >> 24;
        if attempt > 0 || chance > 110 {
            return ControlFlow::Continue(None);
        }
        let far = 2 * number + 2;
        let target = if far < self.0.states { far } else { number / 2 };
        sink.push(Step::labelled(0), &Walk::state(target))?;
        let set = PersistentSet { others_may_be_ignored: false, cuts_cycles: chance > 98, next: 1 };
        ControlFlow::Continue(Some(set))
    }
}

#[test]
fn a_search_with_settled_expansions_goes_on_with_them_and_one_without_goes_on_without() {
    let automaton = translate(&parse("<>[]!p", "f").expect("a formula")).expect("small");
    let mut claim = Claim::new(automaton, vec![BoundAtom::Predicate(PredicateId(0))]);
    claim.stutter_invariant = true;
    let ask = |options: ClaimOptions<'_>, cancelled, progress: &mut dyn Progress| {
        let mut system = Chosen(Walk { states: 16_000, error: None });
        let meter = Meter::start(Budget { cancelled, ..Budget::default() });
        let ClaimOutcome { verdict, statistics, letters } =
            check_claim(&mut system, &claim, options, &meter, progress);
        let figures = [statistics.states, statistics.transitions, statistics.max_depth, statistics.reduced];
        (verdict, figures, letters)
    };
    let plain = ClaimOptions { reduction: Reduction::Persistent, ..ClaimOptions::default() };
    let settled = ClaimOptions { settles_first: true, ..plain };
    let whole = |options| ask(options, Arc::default(), &mut Quiet);
    let figures = [whole(settled).1, whole(plain).1];
    assert!(figures[0] != figures[1] && figures[0][3] > 1000 && figures[1][3] > 1000, "{figures:?}");
    for is_settled in [true, false] {
        let folder = tempfile::tempdir().expect("a folder");
        let (path, every) = (folder.path().join("search"), Duration::from_secs(3600));
        let mut kept = Checkpoint { path, every, header: Vec::new(), resume: false };
        let mut cuts = 0;
        let pieces = loop {
            // Who is interrupted before the first step settles nothing.
            let cancelled = Arc::new(AtomicBool::new(!is_settled && cuts == 0));
            let options = ClaimOptions { checkpoint: Some(&kept), ..settled };
            let outcome = ask(options, Arc::clone(&cancelled), &mut Impatient(cancelled));
            if outcome.0 != Verdict::Unknown(Limit::Cancelled) {
                break outcome;
            }
            (kept.resume, cuts) = (true, cuts + 1);
        };
        assert!(cuts > 5, "cut {cuts} times");
        assert_eq!(pieces, whole(if is_settled { settled } else { plain }), "settled: {is_settled}");
    }
}

#[test]
fn cut_after_every_step_a_deterministic_property_is_searched_all_the_same() {
    let (mut random, mut compared, mut cuts) = (Random::new(92), 0, 0);
    while compared < 30 {
        let mut graph = random_graph(&mut random, compared % 2 == 0);
        let formula = random_formula(&mut random, Shape { atoms: 2, operators: 1 + compared % 5 });
        let mut automaton = translate_to_buchi(&formula).expect("small");
        if automaton.nondeterministic_state().is_some() {
            continue;
        }
        compared += 1;
        let atoms = bind(&mut graph, &formula, Names::States, "", "f").expect("binds");
        let property = DeterministicProperty::new(automaton, atoms).expect("deterministic");
        let meter = Meter::start(Budget::default());
        let whole = property.check(&mut graph, 1, None, &meter, &mut Quiet);
        let folder = tempfile::tempdir().expect("a folder");
        let (path, every) = (folder.path().join("search"), Duration::from_secs(3600));
        let mut kept = Checkpoint { path, every, header: Vec::new(), resume: false };
        let pieces = loop {
            let cancelled = Arc::new(AtomicBool::new(false));
            let meter = Meter::start(Budget { cancelled: Arc::clone(&cancelled), ..Budget::default() });
            let outcome = property.check(&mut graph, 1, Some(&kept), &meter, &mut Impatient(cancelled));
            if outcome.verdict != Verdict::Unknown(Limit::Cancelled) {
                break outcome;
            }
            (kept.resume, cuts) = (true, cuts + 1);
        };
        let figures = |o: &ClaimOutcome| {
            (o.verdict.clone(), o.statistics.states, o.statistics.transitions, o.statistics.max_depth)
        };
        assert_eq!(figures(&pieces), figures(&whole), "{formula} on {graph:?}");
    }
    assert!(cuts > 100, "only {cuts}");
}
