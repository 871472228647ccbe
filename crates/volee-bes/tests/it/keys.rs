//! Variables are found by their keys, whatever these look like: numbers, four bytes, many bytes, one node or
//! a hundred. Each shape has its own table and the breadth-first strategy its own layout, so each gets the
//! same random systems.

use volee_bes::certificate::{Nobody, check};
use volee_bes::explicit::Explicit;
use volee_bes::random::{Implicit, Shape, equations};
use volee_bes::{BooleanGraph, Node, Operator, Sign, Solver, Successors, Trouble, solve};
use volee_system::{Budget, Flow, Meter, Quiet};

use crate::naive::solve_equations;

/// How a variable of an explicit system is disguised.
#[derive(Debug, Clone, Copy)]
pub enum Disguise {
    /// Four bytes, which are not said to be a number.
    Short,
    /// As many bytes as its number says, at least four.
    Long,
    /// A place of one byte and one of this many nodes.
    Nodes(Node),
}

pub const DISGUISES: [Disguise; 5] =
    [Disguise::Short, Disguise::Long, Disguise::Nodes(2), Disguise::Nodes(12), Disguise::Nodes(100)];

pub struct Disguised<'s> {
    pub system: &'s Explicit,
    pub how: Disguise,
}

impl Disguised<'_> {
    fn put_on(&self, variable: u32) -> (Vec<u8>, Node) {
        match self.how {
            Disguise::Short => (variable.wrapping_mul(FACTOR).to_le_bytes().to_vec(), 0),
            Disguise::Long => {
                let mut key = variable.to_le_bytes().to_vec();
                key.resize(4 + variable as usize % 9, 7);
                (key, 0)
            }
            Disguise::Nodes(nodes) => {
                (vec![(variable / u32::from(nodes)) as u8], (variable % u32::from(nodes)) as Node)
            }
        }
    }

    fn take_off(&self, place: &[u8], node: Node) -> u32 {
        let first = || u32::from_le_bytes([place[0], place[1], place[2], place[3]]);
        match self.how {
            Disguise::Short => first().wrapping_mul(inverse(FACTOR)),
            Disguise::Long => first(),
            Disguise::Nodes(nodes) => u32::from(place[0]) * u32::from(nodes) + u32::from(node),
        }
    }
}

const FACTOR: u32 = 0x9e37_79b1;

/// What undoes a multiplication by an odd number modulo 2^32.
fn inverse(factor: u32) -> u32 {
    // Newton's iteration: each step doubles the number of right bits.
    (0..5).fold(factor, |x, _| x.wrapping_mul(2u32.wrapping_sub(factor.wrapping_mul(x))))
}

struct Relay<'a, 's> {
    disguised: &'a Disguised<'s>,
    sink: &'a mut dyn Successors,
}

impl Successors for Relay<'_, '_> {
    fn variable(&mut self, place: &[u8], _: Node) -> Flow {
        let number = u32::from_le_bytes([place[0], place[1], place[2], place[3]]);
        let (place, node) = self.disguised.put_on(number);
        self.sink.variable(&place, node)
    }

    fn constant(&mut self, value: bool) -> Flow {
        self.sink.constant(value)
    }
}

impl BooleanGraph for Disguised<'_> {
    fn root(&mut self) -> Result<(Vec<u8>, Node), Trouble> {
        Ok(self.put_on(self.system.main()))
    }

    fn blocks(&self) -> &[Sign] {
        let system: &&Explicit = &self.system;
        system.blocks()
    }

    fn nodes(&self) -> Node {
        if let Disguise::Nodes(nodes) = self.how { nodes } else { 1 }
    }

    fn equation(&self, place: &[u8], node: Node) -> (Operator, u16) {
        let row = self.system.row(self.take_off(place, node));
        (row.operator, row.block)
    }

    fn successors(&mut self, place: &[u8], node: Node, sink: &mut dyn Successors) -> Result<(), Trouble> {
        let number = self.take_off(place, node).to_le_bytes();
        let mut system = self.system;
        system.successors(&number, 0, &mut Relay { disguised: self, sink })
    }
}

#[test]
fn whatever_keys_look_like_values_are_those_of_the_naive_iteration_and_certificates_check() {
    let meter = Meter::start(Budget::default());
    for seed in 0..4000 {
        let shape = Shape {
            variables: 1 + (seed % 97) as u32,
            degree: 1 + (seed % 5) as u32,
            blocks: 1 + (seed % 4) as u16,
            conjunctions: [50, 20, 80][(seed % 3) as usize],
            alternating: false,
        };
        let system = equations(shape, seed);
        let expected = solve_equations(&system)[0];
        for how in DISGUISES {
            let mut graph = Disguised { system: &system, how };
            for solver in [Solver::BreadthFirst, Solver::DepthFirst] {
                let context = format!("{solver:?} {how:?} seed {seed}: {system:?}");
                let solved = solve(&mut graph, solver, &meter, &mut Quiet).expect("small");
                assert_eq!(solved.value, expected, "{context}");
                let checked = check(&mut graph, &solved.solution, solved.value, &meter, &mut Nobody);
                assert_eq!(checked, Ok(()), "{context}");
            }
        }
    }
}

#[test]
fn a_large_system_is_solved_alike_forwards_and_with_much_to_tell_backwards() {
    let meter = Meter::start(Budget::default());
    for constants in [0, 100, 400, 700] {
        let mut graph = Implicit { variables: 60_000, degree: 4, constants };
        let solve = |graph: &mut Implicit, solver| solve(graph, solver, &meter, &mut Quiet).expect("small");
        let breadth = solve(&mut graph, Solver::BreadthFirst);
        let depth = solve(&mut graph, Solver::DepthFirst);
        assert_eq!(breadth.value, depth.value, "{constants} constants");
        assert_eq!(breadth.statistics.told > 0, constants > 0, "{:?}", breadth.statistics);
        for solved in [breadth, depth] {
            let checked = check(&mut graph, &solved.solution, solved.value, &meter, &mut Nobody);
            assert_eq!(checked, Ok(()), "{constants} constants, {:?}", solved.solver);
        }
    }
}
