//! Threads that are cut again and again, and go on from their file in another number, find what one thread
//! finds that is not cut; and what was in the file is not done again.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use volee_bes::certificate::{Nobody, check};
use volee_bes::explicit::Explicit;
use volee_bes::random::{Shape, equations};
use volee_bes::solve::Another;
use volee_bes::{
    BooleanGraph, Crew, How, Node, Operator, Sign, SolveError, Solved, Solver, Successors, Trouble, solve,
};
use volee_store::checkpoint::Checkpoint;
use volee_system::{Budget, Limit, Meter, Progress, Quiet, Random, Snapshot};

use crate::crew::grid;
use crate::kept::in_pieces;

/// When all who solve a system are interrupted.
struct Scissors {
    /// Expansions by any until then, and how many there were.
    left: AtomicI64,
    made: AtomicU64,
    cancelled: Arc<AtomicBool>,
    /// How often the one who watches has reported.
    reports: Arc<AtomicU64>,
}

impl Scissors {
    fn new(left: i64, cancelled: Arc<AtomicBool>) -> Self {
        Scissors { left: AtomicI64::new(left), made: AtomicU64::new(0), cancelled, reports: Arc::default() }
    }

    fn crew<T>(&self, system: &Explicit, threads: usize, ask: impl FnOnce(&Crew<'_>) -> T) -> T {
        let another: &Another<'_> = &|work| work(&mut Cut { system, scissors: self, has_waited: false });
        ask(&Crew::new(threads, another).from(1))
    }

    /// Whoever expands something when it is time stands still until the one who watches has seen that: after
    /// the next report it has looked before the second.
    fn snip(&self, has_waited: &mut bool) {
        self.made.fetch_add(1, Ordering::Relaxed);
        if self.left.fetch_sub(1, Ordering::Relaxed) > 1 || std::mem::replace(has_waited, true) {
            return;
        }
        self.cancelled.store(true, Ordering::Relaxed);
        let (before, start) = (self.reports.load(Ordering::Relaxed), Instant::now());
        while self.reports.load(Ordering::Relaxed) < before + 2 && start.elapsed() < Duration::from_secs(5) {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// Counts reports.
struct Reports(Arc<AtomicU64>);

impl Progress for Reports {
    fn report(&mut self, _: &Snapshot) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// A graph that interrupts all who solve it.
struct Cut<'s> {
    system: &'s Explicit,
    scissors: &'s Scissors,
    has_waited: bool,
}

impl BooleanGraph for Cut<'_> {
    fn root(&mut self) -> Result<(Vec<u8>, Node), Trouble> {
        self.system.root()
    }
    fn blocks(&self) -> &[Sign] {
        self.system.blocks()
    }
    fn alternation_free(&self) -> bool {
        self.system.alternation_free()
    }
    fn equation(&self, place: &[u8], node: Node) -> (Operator, u16) {
        self.system.equation(place, node)
    }
    fn numbered(&self) -> Option<u32> {
        self.system.numbered()
    }
    fn shape(&self, block: u16) -> volee_bes::Shape {
        self.system.shape(block)
    }
    fn successors(&mut self, place: &[u8], node: Node, sink: &mut dyn Successors) -> Result<(), Trouble> {
        self.scissors.snip(&mut self.has_waited);
        self.system.successors(place, node, sink)
    }
}

/// How a system was solved in pieces.
struct InPieces {
    solved: Solved,
    cuts: u32,
    /// Expansions by threads, in all pieces.
    made: u64,
}

/// Solves in pieces, each with the next number of threads and of expansions.
fn by_threads(
    system: &Explicit,
    threads: &mut dyn FnMut() -> usize,
    expansions: &mut dyn FnMut(u32) -> i64,
) -> Result<InPieces, SolveError> {
    let (mut made, mut piece) = (0, 0);
    let (ended, cuts) = in_pieces(|kept, meter, cancelled| {
        let scissors = Scissors::new(expansions(piece), cancelled);
        piece += 1;
        let solved = scissors.crew(system, threads(), |crew| {
            let how = How { solver: Solver::Auto, kept: Some(kept), crew: Some(crew) };
            solve(&mut &*system, how, meter, &mut Reports(Arc::clone(&scissors.reports)))
        });
        made += scissors.made.load(Ordering::Relaxed);
        solved
    });
    ended.map(|solved| InPieces { solved, cuts, made })
}

#[test]
fn threads_that_are_cut_and_go_on_in_another_number_have_the_values_of_one() {
    let (mut cuts, mut shared) = (0, 0);
    for seed in 0..60 {
        let shape = Shape {
            variables: 2000 + (seed * 97) as u32,
            degree: 2 + (seed % 3) as u32,
            blocks: 1 + (seed % 4) as u16,
            conjunctions: [50, 40, 60, 30, 100, 0][(seed % 6) as usize],
            alternating: false,
        };
        let (system, mut random) = (equations(shape, seed), Random::new(seed));
        let meter = Meter::start(Budget::default());
        let alone = solve(&mut &system, Solver::DepthFirst, &meter, &mut Quiet).expect("it is small");
        // Confirming begins anew, so that it must come to an end.
        let mut expansions = |piece: u32| if piece < 4 { 1 + random.below(300) as i64 } else { i64::MAX };
        let mut chance = Random::new(seed + 1000);
        let mut threads = || [2, 3, 8, 1][chance.below(4)];
        let found = by_threads(&system, &mut threads, &mut expansions).expect("it is small");
        assert_eq!(found.solved.value, alone.value, "seed {seed}");
        let checked = check(&mut &system, &found.solved.solution, found.solved.value, &meter, &mut Nobody);
        assert_eq!(checked, Ok(()), "seed {seed}");
        cuts += found.cuts;
        shared += u32::from(found.solved.workers > 1);
    }
    assert!(cuts > 20 && shared > 10, "cut {cuts} times, {shared} were shared");
}

#[test]
fn nothing_that_is_in_the_file_is_done_again() {
    let system = grid(300);
    let meter = Meter::start(Budget::default());
    let one = solve(&mut &system, Solver::BreadthFirst, &meter, &mut Quiet).expect("it is small");
    for sequence in [[2, 2, 2, 2], [2, 3, 8, 2], [8, 1, 3, 1], [3, 2, 1, 8]] {
        let mut next = sequence.iter().cycle();
        let mut expansions = |piece: u32| if piece < 3 { 10_000 } else { i64::MAX };
        let all = by_threads(&system, &mut || *next.next().expect("a cycle"), &mut expansions)
            .expect("it is small");
        assert_eq!((all.solved.value, all.cuts), (one.value, 3), "{sequence:?}");
        let figures = |solved: &Solved| {
            let s = solved.statistics;
            [s.places, s.variables, s.expanded, s.edges]
        };
        assert_eq!(figures(&all.solved), figures(&one), "{sequence:?}");
        // Once to solve, once to confirm; and a few to see who depends on whom, or after the last file. What one
        // file has is more.
        let again = all.made - 2 * one.statistics.expanded;
        assert!(again < 8_000, "{sequence:?}: {again}");
    }
}

#[test]
fn a_file_of_threads_that_cannot_be_read_stays_as_it_is() {
    let (system, other) = (grid(200), grid(199));
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("kept");
    let every = Duration::from_secs(3600);
    let mut kept = Checkpoint { path, every, header: Vec::new(), resume: false };
    let budget = Budget::default();
    let scissors = Scissors::new(5000, Arc::clone(&budget.cancelled));
    let ask = |kept: &Checkpoint, scissors: &Scissors, system: &Explicit, budget: Budget| {
        scissors.crew(system, 2, |crew| {
            let how = How { solver: Solver::Auto, kept: Some(kept), crew: Some(crew) };
            let mut reports = Reports(Arc::clone(&scissors.reports));
            solve(&mut &*system, how, &Meter::start(budget), &mut reports).map(|solved| solved.value)
        })
    };
    assert_eq!(ask(&kept, &scissors, &system, budget), Err(SolveError::Limit(Limit::Cancelled)));
    kept.resume = true;
    let before = std::fs::read(&kept.path).expect("a file");
    let meter = Meter::start(Budget::default());
    let how = How { solver: Solver::Auto, kept: Some(&kept), crew: None };
    let refused = solve(&mut &system, how, &meter, &mut Quiet).map(drop).expect_err("nobody is there");
    assert!(refused.to_string().contains("several threads"), "{refused}");
    // Another system, for which the pieces make no sense; and too little memory for what is in it.
    let scissors = Scissors::new(i64::MAX, Arc::default());
    assert!(ask(&kept, &scissors, &other, Budget::default()).is_err());
    let little = Budget { memory: Some(100_000), ..Budget::default() };
    let refused = ask(&kept, &scissors, &system, little).expect_err("it is too little");
    assert!(matches!(refused, SolveError::Limit(Limit::Memory { .. })), "{refused}");
    assert!(std::fs::read(&kept.path).expect("a file") == before, "it is as it was");
    assert_eq!(ask(&kept, &scissors, &system, Budget::default()), Ok(true));
}
