//! Equations on several workers have the values of the sequential solver, and certificates that the
//! sequential checker accepts.

use volee_bes::explicit::Explicit;
use volee_bes::random::{Implicit, Shape, equations};
use volee_bes::{BooleanGraph, Solver, solve};
use volee_cluster::equations::{JointAnswer, sorting, work};
use volee_cluster::threads::on_threads;
use volee_system::{Budget, Meter, Quiet};

use crate::kept::interrupted;

/// How many random cases: `VOLEE_CASES=20000` for a thorough run.
pub fn cases(usual: u64) -> u64 {
    std::env::var("VOLEE_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(usual)
}

fn solve_on<G: BooleanGraph>(workers: usize, context: &str, graph: impl Fn() -> G + Sync) -> JointAnswer {
    let meter = Meter::start(Budget::default());
    let parts = on_threads(workers, &meter, &mut |_| {}, |driver| work(driver, &mut graph()));
    let parts = parts.unwrap_or_else(|failure| panic!("{failure}: {context}, {workers} workers"));
    let joint = JointAnswer::new(parts).expect("there is a value");
    let checked = joint.check(&mut graph(), &meter);
    assert_eq!(checked, Ok(()), "{context}, {workers} workers");
    joint
}

/// An explicit system whose places are hashed rather than numbered.
struct Hashed<'e>(&'e Explicit);

impl BooleanGraph for Hashed<'_> {
    fn root(&mut self) -> Result<(Vec<u8>, volee_bes::Node), volee_bes::Trouble> {
        self.0.root()
    }
    fn blocks(&self) -> &[volee_bes::Sign] {
        self.0.blocks()
    }
    fn equation(&self, place: &[u8], node: volee_bes::Node) -> (volee_bes::Operator, u16) {
        (&self.0).equation(place, node)
    }
    fn successors(
        &mut self,
        place: &[u8],
        node: volee_bes::Node,
        sink: &mut dyn volee_bes::Successors,
    ) -> Result<(), volee_bes::Trouble> {
        self.0.successors(place, node, sink)
    }
}

#[test]
fn random_systems_have_the_values_of_the_sequential_solver_on_1_to_4_workers() {
    let meter = Meter::start(Budget::default());
    for seed in 0..cases(2000) {
        let shape = Shape {
            variables: 1 + (seed % 41) as u32,
            degree: 1 + (seed % 4) as u32,
            blocks: 1 + (seed % 4) as u16,
            conjunctions: [50, 10, 90, 30, 100, 0][(seed % 6) as usize],
            alternating: false,
        };
        let system = equations(shape, seed);
        let expected = solve(&mut &system, Solver::DepthFirst, &meter, &mut Quiet).expect("small");
        let workers = 1 + (seed / 2 % 4) as usize;
        let context = format!("seed {seed}: {system:?}");
        let joint = match seed % 2 {
            0 => solve_on(workers, &context, || &system),
            _ => solve_on(workers, &context, || Hashed(&system)),
        };
        assert_eq!(joint.value, expected.value, "{workers} workers, {context}");
        assert!(joint.statistics.variables <= u64::from(shape.variables.max(4)), "seed {seed}");
    }
}

#[test]
fn a_large_system_is_explored_as_a_whole_by_all_workers() {
    let graph = Implicit { variables: 60_000, degree: 3, constants: 0 };
    let meter = Meter::start(Budget::default());
    let alone = solve(&mut { graph }, Solver::BreadthFirst, &meter, &mut Quiet).expect("small");
    for workers in 1..=4 {
        let joint = solve_on(workers, "implicit", || graph);
        assert_eq!(joint.value, alone.value);
        assert_eq!(joint.statistics.variables, alone.statistics.variables, "{workers} workers");
        assert_eq!(joint.statistics.edges, alone.statistics.edges, "{workers} workers");
        assert_eq!(joint.accounts.iter().any(|a| a.messages > 0), workers > 1);
    }
}

/// A least fixed point along a chain without end, each of whose links asks for a greatest one in a later
/// block: a short chain that ends (false) everywhere, but a cycle (true) at one link.
#[derive(Clone, Copy)]
struct Chain {
    cycle_at: u32,
}

impl BooleanGraph for Chain {
    fn root(&mut self) -> Result<(Vec<u8>, volee_bes::Node), volee_bes::Trouble> {
        Ok((vec![0; 8], 0))
    }
    fn blocks(&self) -> &[volee_bes::Sign] {
        &[volee_bes::Sign::Mu, volee_bes::Sign::Nu]
    }
    fn nodes(&self) -> volee_bes::Node {
        2
    }
    fn equation(&self, _: &[u8], node: volee_bes::Node) -> (volee_bes::Operator, u16) {
        (volee_bes::Operator::Or, node)
    }
    fn successors(
        &mut self,
        place: &[u8],
        node: volee_bes::Node,
        sink: &mut dyn volee_bes::Successors,
    ) -> Result<(), volee_bes::Trouble> {
        let (link, within) = place.split_at(4);
        let number = |bytes: &[u8]| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        let (link, within) = (number(link), number(within));
        let at = |link: u32, within: u32| [link.to_le_bytes(), within.to_le_bytes()].concat();
        let _ = match node {
            0 => {
                sink.variable(&at(link, 0), 1).is_continue()
                    && sink.variable(&at(link + 1, 0), 0).is_continue()
            }
            _ if within < 5 => sink.variable(&at(link, within + 1), 1).is_continue(),
            _ if link == self.cycle_at => sink.variable(&at(link, 2), 1).is_continue(),
            _ => true,
        };
        Ok(())
    }
}

#[test]
fn a_later_block_is_closed_before_the_earlier_one_is_explored() {
    for workers in 1..=4 {
        let joint = solve_on(workers, "a chain without end", || Chain { cycle_at: 20 });
        assert!(joint.value);
        let variables = joint.statistics.variables;
        assert!(variables <= 21 * 7 * 5, "{variables} variables on {workers} workers");
    }
}

/// Solves a system that is interrupted at every file, each time by the next of these numbers of workers; tells
/// how often.
fn solve_in_pieces<G: BooleanGraph>(
    numbers: &[usize],
    context: &str,
    graph: impl Fn() -> G + Sync,
) -> (JointAnswer, usize) {
    let ended = interrupted(
        numbers,
        |path, peers, meter| sorting(&mut graph(), path, peers, meter),
        |driver| work(driver, &mut graph()),
    );
    let joint = JointAnswer::new(ended.parts).expect("there is a value");
    let checked = joint.check(&mut graph(), &Meter::start(Budget::default()));
    assert_eq!(checked, Ok(()), "{context}, {numbers:?} workers");
    (joint, ended.interruptions)
}

#[test]
fn random_systems_have_their_values_however_often_they_are_interrupted_and_by_how_many_they_go_on() {
    let meter = Meter::start(Budget::default());
    let (mut values, mut interruptions) = ([0, 0], 0);
    for seed in 0..cases(48) {
        let shape = Shape {
            variables: 60 + (seed % 41) as u32 * 10,
            degree: 2 + (seed % 3) as u32,
            blocks: 1 + (seed % 4) as u16,
            conjunctions: [50, 40, 60, 30, 70][(seed % 5) as usize],
            alternating: false,
        };
        let system = equations(shape, seed);
        let expected = solve(&mut &system, Solver::DepthFirst, &meter, &mut Quiet).expect("small");
        let numbers: &[usize] =
            [&[2][..], &[1], &[3, 1], &[4], &[1, 2, 3, 4], &[4, 3, 2, 1]][(seed / 2 % 6) as usize];
        let context = format!("seed {seed}");
        let (joint, often) = match seed % 2 {
            0 => solve_in_pieces(numbers, &context, || &system),
            _ => solve_in_pieces(numbers, &context, || Hashed(&system)),
        };
        assert_eq!(joint.value, expected.value, "{numbers:?} workers, {context}: {system:?}");
        values[usize::from(joint.value)] += 1;
        interruptions += often;
    }
    assert!(values.iter().all(|of| *of > 5) && interruptions > 48, "{values:?}, {interruptions}");
}

#[test]
fn a_large_system_is_explored_as_a_whole_in_pieces() {
    let graph = Implicit { variables: 4_000, degree: 3, constants: 0 };
    let meter = Meter::start(Budget::default());
    let alone = solve(&mut { graph }, Solver::BreadthFirst, &meter, &mut Quiet).expect("small");
    for numbers in [&[1][..], &[2], &[3, 4], &[4, 1]] {
        let (joint, interruptions) = solve_in_pieces(numbers, "implicit", || graph);
        assert!(interruptions > 3, "{interruptions}");
        assert_eq!(joint.value, alone.value);
        assert_eq!(joint.statistics.variables, alone.statistics.variables, "{numbers:?} workers");
        assert_eq!(joint.statistics.edges, alone.statistics.edges, "{numbers:?} workers");
        assert_eq!(joint.statistics.expanded, alone.statistics.expanded, "{numbers:?} workers");
    }
}

#[test]
fn blocks_are_closed_in_the_same_order_after_interruptions() {
    // Most grants are too small for a pause; the last ones are not.
    let (cycle_at, mut all) = (150, 0);
    for numbers in [&[1][..], &[2], &[3, 1, 2]] {
        let (joint, interruptions) = solve_in_pieces(numbers, "a chain", || Chain { cycle_at });
        assert!(joint.value, "{numbers:?}");
        let variables = joint.statistics.variables;
        assert!(variables <= u64::from(cycle_at) * 7 * 5, "{variables} variables with {numbers:?} workers");
        all += interruptions;
    }
    assert!(all > 0);
}
