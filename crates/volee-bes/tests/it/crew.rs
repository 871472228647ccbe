//! Several threads against one, against the naive twins, and against what must not change with them: the value,
//! what is told, and what happens when there is no memory, no time, or no meaning.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use volee_bes::certificate::{Collector, Nobody, check};
use volee_bes::explicit::Explicit;
use volee_bes::model::ModelGraph;
use volee_bes::random::{Shape, equations, formula};
use volee_bes::solve::Another;
use volee_bes::{
    BooleanGraph, Crew, How, Node, Operator, Proof, Sign, SolveError, Solved, Successors, Trouble, solve,
};
use volee_logic::mu::{Equations, Library, parse};
use volee_system::{Budget, Flow, Limit, Meter, Quiet, Random};

use crate::naive::{Small, evaluate, solve_equations};
use crate::random::cases;

const THREADS: [usize; 4] = [1, 2, 3, 8];

/// Solves with this many threads, which begin at once, and checks the certificate by one.
fn together(graph: &mut dyn BooleanGraph, crew: Crew<'_>, context: &dyn Fn() -> String) -> Solved {
    let meter = Meter::start(Budget::default());
    let how = How { crew: Some(&crew), ..How::default() };
    let solved = solve(graph, how, &meter, &mut Quiet).unwrap_or_else(|e| panic!("{e}: {}", context()));
    let checked = check(graph, &solved.solution, solved.value, &meter, &mut Nobody);
    assert_eq!(checked, Ok(()), "{crew:?} {}", context());
    solved
}

#[test]
fn random_equations_have_the_values_of_the_naive_iteration_by_any_number_of_threads() {
    let mut shared = 0;
    for seed in 0..cases(500) {
        let shape = Shape {
            variables: 2 + (seed % 61) as u32,
            degree: 1 + (seed % 4) as u32,
            blocks: 1 + (seed % 4) as u16,
            conjunctions: [50, 10, 90, 30, 100, 0][(seed % 6) as usize],
            alternating: false,
        };
        let system = equations(shape, seed);
        let expected = solve_equations(&system)[0];
        let another: &Another<'_> = &|work| work(&mut &system);
        for threads in THREADS {
            let context = || format!("seed {seed}: {system:?}");
            let solved = together(&mut &system, Crew::new(threads, another).from(1), &context);
            assert_eq!(solved.value, expected, "{threads} threads, {}", context());
            assert!(solved.workers == threads || solved.workers == 1, "{}", solved.workers);
            shared += usize::from(solved.workers > 1);
        }
    }
    assert!(shared > 500, "{shared}");
}

#[test]
fn random_formulas_have_the_values_of_the_naive_evaluator_by_any_number_of_threads() {
    let mut shared = 0;
    for seed in 0..cases(500) {
        let mut random = Random::new(seed);
        let mut system = Small::random(&mut random);
        let text = formula(2 + random.below(9) as u32, random.number());
        let tree = parse("f", &text, &Library::empty()).expect("generated formulas are well-formed");
        let set = evaluate(&system, &tree);
        let expected = system.initial.iter().all(|s| set >> s & 1 == 1);
        let equations = Equations::new(tree.normalise().expect("small"));
        if !equations.alternation_free() {
            continue;
        }
        let original = system.clone();
        let another: &Another<'_> = &|work| {
            let mut system = original.clone();
            work(&mut ModelGraph::new(&mut system, equations.clone(), Vec::new()).expect("a model"));
        };
        let mut graph = ModelGraph::new(&mut system, equations.clone(), Vec::new()).expect("a model");
        for threads in THREADS {
            if seed % 2 == 0 {
                // Threads know nothing of the numbers that one has given.
                graph.number_states(None);
            }
            let solved = together(&mut graph, Crew::new(threads, another).from(1), &|| text.clone());
            assert_eq!(solved.value, expected, "{threads} threads, seed {seed}: {text}");
            shared += usize::from(solved.workers > 1);
        }
    }
    assert!(shared > 100, "{shared}");
}

/// A large system that holds: a conjunction over a graph in which nothing is false.
pub(crate) fn grid(side: u32) -> Explicit {
    let row = |v: u32| {
        let (x, y) = (v % side, v / side);
        let next = [(x + 1 < side).then_some(v + 1), (y + 1 < side).then_some(v + side), Some(v / 2)];
        (Operator::And, 0, next.into_iter().flatten().collect::<Vec<u32>>())
    };
    Explicit::new(vec![Sign::Nu], 0, (0..side * side).map(row))
}

#[test]
fn a_large_system_is_solved_by_all_and_a_proof_that_is_told_by_one() {
    let system = grid(300);
    let another: &Another<'_> = &|work| work(&mut &system);
    let all = together(&mut &system, Crew::new(2, another).from(1000), &|| "grid".into());
    assert_eq!((all.value, all.workers, all.statistics.variables), (true, 2, 90_000));
    assert!(all.statistics.memory > 90_000 * 8, "{:?}", all.statistics);
    let told = together(&mut &system, Crew::new(2, another).from(1000).told(90_000), &|| "grid".into());
    assert_eq!((told.value, told.workers, told.proof), (true, 2, Proof::Unchecked));
    let small = together(&mut &system, Crew::new(2, another), &|| "it is not large".into());
    assert_eq!((small.value, small.workers), (true, 1));
}

/// The variables that an answer rests on, in the order of the checker.
fn rests_on(system: &Explicit, solved: &Solved) -> Vec<(Vec<u8>, bool, usize)> {
    struct Kept<'s>(&'s Solved, Vec<(Vec<u8>, bool, usize)>);
    impl Collector for Kept<'_> {
        fn support(&mut self, variable: u32, value: bool, on: &[u32]) -> Flow {
            let mut place = Vec::new();
            self.0.solution.variable(variable, &mut place);
            self.1.push((place, value, on.len()));
            Flow::Continue(())
        }
    }
    let (mut kept, meter) = (Kept(solved, Vec::new()), Meter::start(Budget::default()));
    assert_eq!(check(&mut &*system, &solved.solution, solved.value, &meter, &mut kept), Ok(()));
    kept.1
}

#[test]
fn a_proof_that_is_told_is_the_same_whoever_was_faster() {
    let mut told_by_several = 0;
    for seed in 0..cases(500) / 5 {
        let shape = Shape {
            variables: 20 + (seed % 61) as u32,
            degree: 2 + (seed % 3) as u32,
            blocks: 1 + (seed % 4) as u16,
            conjunctions: [50, 30, 70][(seed % 3) as usize],
            alternating: false,
        };
        let system = equations(shape, seed);
        let another: &Another<'_> = &|work| work(&mut &system);
        let proofs = [2, 3, 3, 8].map(|threads| {
            let crew = Crew::new(threads, another).from(1).told(1000);
            let solved = together(&mut &system, crew, &|| format!("seed {seed}: {system:?}"));
            (solved.workers > 1, rests_on(&system, &solved))
        });
        // Either all have decided everything, or all have stopped early and left it to the first.
        assert!(proofs.iter().all(|proof| *proof == proofs[0]), "seed {seed}: {system:?}");
        told_by_several += usize::from(proofs[0].0);
    }
    assert!(told_by_several >= 5, "{told_by_several}");
}

/// A system with trouble: some variables have no right-hand side.
struct Troubled<'s> {
    system: &'s Explicit,
    from: u32,
    asked: &'s AtomicUsize,
}

impl BooleanGraph for Troubled<'_> {
    fn root(&mut self) -> Result<(Vec<u8>, Node), Trouble> {
        let mut system = self.system;
        system.root()
    }
    fn blocks(&self) -> &[Sign] {
        &[Sign::Nu]
    }
    fn equation(&self, place: &[u8], node: Node) -> (Operator, u16) {
        self.system.equation(place, node)
    }
    fn successors(&mut self, place: &[u8], node: Node, sink: &mut dyn Successors) -> Result<(), Trouble> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        let number = place.iter().rev().fold(0, |number, byte| number << 8 | u32::from(*byte));
        if number >= self.from {
            return Err(Trouble("nobody knows".into()));
        }
        let mut system = self.system;
        system.successors(place, node, sink)
    }
}

#[test]
fn what_has_no_meaning_is_told_by_the_thread_that_was_first() {
    let (system, by_threads) = (grid(100), AtomicUsize::new(0));
    let another: &Another<'_> =
        &|work| work(&mut Troubled { system: &system, from: 9000, asked: &by_threads });
    let crew = Crew::new(3, another).from(1);
    let meter = Meter::start(Budget::default());
    let expected = SolveError::Trouble(Trouble("nobody knows".into()));
    let asked = [Some(&crew), None].map(|crew| {
        let (asked, how) = (AtomicUsize::new(0), How { crew, ..How::default() });
        let mut graph = Troubled { system: &system, from: 9000, asked: &asked };
        let failed = solve(&mut graph, how, &meter, &mut Quiet).expect_err("it has no meaning");
        assert_eq!(failed, expected);
        asked.into_inner()
    });
    assert!(by_threads.into_inner() > 0 && asked[0] == asked[1], "the first went on as if alone");
}

#[test]
fn without_memory_for_threads_one_goes_on_and_with_little_there_are_none() {
    let (system, made) = (grid(300), AtomicUsize::new(0));
    let another: &Another<'_> = &|work| {
        made.fetch_add(1, Ordering::Relaxed);
        work(&mut &system);
    };
    let crew = Crew::new(2, another).from(1000);
    let how = How { crew: Some(&crew), ..How::default() };
    let meter = Meter::start(Budget { memory: Some(63 << 20), ..Budget::default() });
    let solved = solve(&mut &system, how, &meter, &mut Quiet).expect("one thread needs little");
    assert_eq!((solved.value, solved.workers, made.load(Ordering::Relaxed)), (true, 1, 0));
    // A thread whose graph cannot be made leaves, and the others with it.
    let nobody: &Another<'_> = &|work| {
        if made.fetch_add(1, Ordering::Relaxed) > 0 {
            work(&mut &system);
        }
    };
    let crew = Crew::new(3, nobody).from(1000);
    let how = How { crew: Some(&crew), ..How::default() };
    let solved = solve(&mut &system, how, &Meter::start(Budget::default()), &mut Quiet).expect("one goes on");
    assert_eq!((solved.value, solved.workers, made.load(Ordering::Relaxed)), (true, 1, 3));
}

/// A system without an end; somebody has had enough when this many of its variables are known.
struct Endless<'s> {
    enough: u64,
    cancelled: &'s AtomicBool,
}

impl BooleanGraph for Endless<'_> {
    fn root(&mut self) -> Result<(Vec<u8>, Node), Trouble> {
        Ok((1u64.to_le_bytes().to_vec(), 0))
    }
    fn blocks(&self) -> &[Sign] {
        &[Sign::Nu]
    }
    fn equation(&self, _: &[u8], _: Node) -> (Operator, u16) {
        (Operator::And, 0)
    }
    fn successors(&mut self, place: &[u8], _: Node, sink: &mut dyn Successors) -> Result<(), Trouble> {
        let number = u64::from_le_bytes(place.try_into().expect("eight bytes"));
        if number >= self.enough {
            self.cancelled.store(true, Ordering::Relaxed);
        }
        let _ = sink.variable(&(number + 1).to_le_bytes(), 0);
        Ok(())
    }
}

#[test]
fn threads_end_when_somebody_has_had_enough() {
    for threads in [2, 3, 8] {
        let budget = Budget::default();
        let cancelled = Arc::clone(&budget.cancelled);
        let another: &Another<'_> = &|work| work(&mut Endless { enough: 5000, cancelled: &cancelled });
        let crew = Crew::new(threads, another).from(10);
        let how = How { crew: Some(&crew), ..How::default() };
        // Only threads come that far and say so: the first one stands still meanwhile.
        let mut graph = Endless { enough: u64::MAX, cancelled: &cancelled };
        let ended = solve(&mut graph, how, &Meter::start(budget), &mut Quiet).expect_err("it has no end");
        assert_eq!(ended, SolveError::Limit(Limit::Cancelled));
    }
}
