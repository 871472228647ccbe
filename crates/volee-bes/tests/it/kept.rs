//! A resolution that is cut again and again and goes on from its file is the one that was not cut: the same
//! value, the same figures, a certificate that checks.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use volee_bes::certificate::{Nobody, check};
use volee_bes::game::build;
use volee_bes::random::{Implicit, Shape, equations};
use volee_bes::{
    BooleanGraph, How, Node, Operator, Sign, SolveError, Solved, Solver, Successors, Trouble, solve,
};
use volee_store::checkpoint::{Checkpoint, read_header};
use volee_system::{Budget, Limit, Meter, Progress, Quiet, Random, Snapshot};

use crate::keys::{DISGUISES, Disguised};

/// A graph that interrupts whoever solves it after this many expansions.
struct Interrupting<'g> {
    graph: &'g mut dyn BooleanGraph,
    expansions: u64,
    cancelled: Arc<AtomicBool>,
}

impl BooleanGraph for Interrupting<'_> {
    fn root(&mut self) -> Result<(Vec<u8>, Node), Trouble> {
        self.graph.root()
    }

    fn blocks(&self) -> &[Sign] {
        self.graph.blocks()
    }

    fn nodes(&self) -> Node {
        self.graph.nodes()
    }

    fn equation(&self, place: &[u8], node: Node) -> (Operator, u16) {
        self.graph.equation(place, node)
    }

    fn successors(&mut self, place: &[u8], node: Node, sink: &mut dyn Successors) -> Result<(), Trouble> {
        self.expansions = self.expansions.saturating_sub(1);
        if self.expansions == 0 {
            self.cancelled.store(true, Ordering::Relaxed);
        }
        self.graph.successors(place, node, sink)
    }

    fn numbered(&self) -> Option<u32> {
        self.graph.numbered()
    }

    fn shape(&self, block: u16) -> volee_bes::Shape {
        self.graph.shape(block)
    }
}

/// Interrupts whoever reports to it: at every look at the clock, of which the first comes after one step.
struct Impatient(Arc<AtomicBool>);

impl Progress for Impatient {
    fn report(&mut self, _: &Snapshot) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Does a piece of work after the other, each from where the last was cut, until it ends; how often it was.
pub(crate) fn in_pieces<T>(
    mut piece: impl FnMut(&Checkpoint, &Meter, Arc<AtomicBool>) -> Result<T, SolveError>,
) -> (Result<T, SolveError>, u32) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("kept");
    let every = Duration::from_secs(3600);
    let mut kept = Checkpoint { path: path.clone(), every, header: b"head".to_vec(), resume: false };
    for cuts in 0.. {
        let cancelled = Arc::new(AtomicBool::new(false));
        let meter = Meter::start(Budget { cancelled: Arc::clone(&cancelled), ..Budget::default() });
        match piece(&kept, &meter, cancelled) {
            Err(SolveError::Limit(Limit::Cancelled)) => {}
            ended => return (ended, cuts),
        }
        assert_eq!(read_header(&path).expect("it is whole"), b"head");
        kept.resume = true;
    }
    unreachable!("everything ends")
}

fn figures(solved: &Solved) -> (bool, [u64; 5]) {
    let s = solved.statistics;
    (solved.value, [s.places, s.variables, s.expanded, s.edges, s.depth])
}

/// Solves as a whole and in pieces of this many expansions; of none, cut wherever it can be.
fn agree(
    graph: &mut dyn BooleanGraph,
    solver: Solver,
    expansions: &mut dyn FnMut() -> u64,
    context: &str,
) -> u32 {
    let meter = Meter::start(Budget::default());
    let whole = solve(graph, solver, &meter, &mut Quiet);
    let (pieces, cuts) = in_pieces(|kept, meter, cancelled| {
        let how = How { solver, kept: Some(kept), crew: None };
        match expansions() {
            0 => solve(graph, how, meter, &mut Impatient(cancelled)),
            expansions => solve(&mut Interrupting { graph, expansions, cancelled }, how, meter, &mut Quiet),
        }
    });
    match (whole, pieces) {
        (Ok(whole), Ok(pieces)) => {
            assert_eq!(figures(&pieces), figures(&whole), "{context}, cut {cuts} times");
            let checked = check(graph, &pieces.solution, pieces.value, &meter, &mut Nobody);
            assert_eq!(checked, Ok(()), "{context}, cut {cuts} times");
        }
        (whole, pieces) => assert_eq!(pieces.err(), whole.err(), "{context}, cut {cuts} times"),
    }
    cuts
}

fn shape(seed: u64, alternating: bool) -> Shape {
    Shape {
        variables: 1 + (seed % 17) as u32,
        degree: 1 + (seed % 4) as u32,
        blocks: 1 + (seed % 3) as u16,
        conjunctions: [50, 10, 90, 100, 0][(seed % 5) as usize],
        alternating,
    }
}

#[test]
fn cut_after_every_step_a_resolution_is_the_same() {
    let mut cuts = 0;
    for seed in 0..24 {
        let system = equations(shape(seed, false), seed);
        for solver in [Solver::DepthFirst, Solver::BreadthFirst, Solver::Acyclic, Solver::Economical] {
            cuts += agree(&mut &system, solver, &mut || 0, &format!("{solver:?} seed {seed}: {system:?}"));
        }
        let how = DISGUISES[seed as usize % DISGUISES.len()];
        for solver in [Solver::DepthFirst, Solver::BreadthFirst] {
            let context = format!("{solver:?} {how:?} seed {seed}: {system:?}");
            cuts += agree(&mut Disguised { system: &system, how }, solver, &mut || 0, &context);
        }
    }
    assert!(cuts > 500, "only {cuts}");
}

#[test]
fn a_large_resolution_in_pieces_is_the_same() {
    let (mut cuts, mut random) = (0, Random::new(21));
    for constants in [0, 400] {
        for solver in [Solver::DepthFirst, Solver::BreadthFirst] {
            let mut graph = Implicit { variables: 60_000, degree: 4, constants };
            let mut expansions = || 1 + random.below(40_000) as u64;
            cuts += agree(&mut graph, solver, &mut expansions, &format!("{solver:?}, {constants} constants"));
        }
    }
    assert!(cuts > 4, "only {cuts}");
}

#[test]
fn cut_after_every_vertex_a_game_is_the_same() {
    for seed in 0..24 {
        let system = equations(shape(seed, true), seed);
        let meter = Meter::start(Budget::default());
        let whole = build(&mut &system, None, &meter, &mut Quiet).expect("small");
        let (pieces, cuts) = in_pieces(|kept, meter, cancelled| {
            build(&mut &system, Some(kept), meter, &mut Impatient(cancelled))
        });
        assert_eq!(pieces.expect("small").game, whole.game, "seed {seed}");
        assert_eq!(cuts as usize, whole.game.len(), "seed {seed}");
    }
}

#[test]
fn a_resolution_of_something_else_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("kept");
    let mut kept = Checkpoint { path, every: Duration::from_secs(3600), header: Vec::new(), resume: false };
    let cancelled = Arc::new(AtomicBool::new(true));
    let cut = Meter::start(Budget { cancelled, ..Budget::default() });
    let system = equations(Shape { variables: 300, ..shape(3, false) }, 1);
    fn how(kept: &Checkpoint) -> How<'_> {
        How { solver: Solver::DepthFirst, kept: Some(kept), crew: None }
    }
    let first = solve(&mut &system, how(&kept), &cut, &mut Quiet);
    assert_eq!(first.expect_err("it is cut"), SolveError::Limit(Limit::Cancelled));
    kept.resume = true;
    let meter = Meter::start(Budget::default());
    let smaller = equations(Shape { variables: 299, ..shape(3, false) }, 1);
    for refused in [
        solve(&mut &system, How { solver: Solver::BreadthFirst, ..how(&kept) }, &meter, &mut Quiet),
        solve(&mut &smaller, how(&kept), &meter, &mut Quiet),
    ] {
        let error = refused.expect_err("it is another").to_string();
        assert!(error.contains("damaged"), "{error}");
    }
    assert!(solve(&mut &system, how(&kept), &meter, &mut Quiet).is_ok());
}
