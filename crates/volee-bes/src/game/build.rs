//! The part of a boolean graph that its main variable reaches, as an explicit parity game.

use std::io;

use volee_store::checkpoint::{Checkpoint, Damaged, Reader, Refused, Writer};
use volee_system::{Limit, Meter, Progress};

use super::{Game, Player};
use crate::graph::{BooleanGraph, Node, Operator, Sign};
use crate::solve::keep::{Strategy, run};
use crate::solve::{SolveError, Statistics};
use crate::variables::{Batch, Pushing, Variables};

/// A game and what its vertices stand for; vertex 0 is the main variable.
#[derive(Debug)]
pub struct Built {
    /// The game.
    pub game: Game,
    variables: Variables,
    /// The variable of each vertex.
    vertices: Vec<u32>,
}

impl Built {
    /// The place (copied to `place`) and node of a vertex.
    pub fn variable(&self, vertex: u32, place: &mut Vec<u8>) -> Node {
        self.variables.copy(self.vertices[vertex as usize], place)
    }

    /// How many places there are.
    pub fn places(&self) -> usize {
        self.variables.places()
    }
}

const NOT_MET: u32 = u32::MAX;

/// The smallest priorities that are even for greatest and odd for least fixed points and fall from block to
/// block.
pub(crate) fn priorities(blocks: &[Sign]) -> Vec<u32> {
    let mut priorities = vec![0; blocks.len()];
    let mut current = 0;
    for (at, sign) in blocks.iter().enumerate().rev() {
        current += u32::from((current % 2 == 1) != (*sign == Sign::Mu));
        priorities[at] = current;
    }
    priorities
}

/// A game that is being built.
struct Builder<'g> {
    graph: &'g mut dyn BooleanGraph,
    priorities: Vec<u32>,
    variables: Variables,
    /// The vertex of each variable.
    vertex_of: Vec<u32>,
    vertices: Vec<u32>,
    game: Game,
    batch: Batch,
    /// Scratch space.
    found: Vec<u32>,
    place: Vec<u8>,
}

/// Explores a boolean graph as a whole; where that is kept, from what there is on.
///
/// # Errors
/// A limit, or an equation without meaning.
pub fn build(
    graph: &mut dyn BooleanGraph,
    kept: Option<&Checkpoint>,
    meter: &Meter,
    progress: &mut dyn Progress,
) -> Result<Built, SolveError> {
    let priorities = priorities(graph.blocks());
    let variables = Variables::new(graph);
    let mut builder = Builder {
        graph,
        priorities,
        variables,
        vertex_of: Vec::new(),
        vertices: Vec::new(),
        game: Game::default(),
        batch: Batch::default(),
        found: Vec::new(),
        place: Vec::new(),
    };
    run(&mut builder, kept, meter, progress)?;
    let Builder { variables, vertices, game, .. } = builder;
    Ok(Built { game, variables, vertices })
}

impl Strategy for Builder<'_> {
    const KIND: u64 = 15;

    fn begin(&mut self) -> Result<(), SolveError> {
        let (place, node) = self.graph.root()?;
        self.found = vec![self.variables.insert(&place, node)?];
        self.meet();
        Ok(())
    }

    fn is_done(&self) -> bool {
        self.game.len() == self.vertices.len()
    }

    /// Adds the next vertex.
    fn step(&mut self) -> Result<(), SolveError> {
        let variable = self.vertices[self.game.len()];
        let node = self.variables.copy(variable, &mut self.place);
        let (operator, block) = self.graph.equation(&self.place, node);
        let priority = self.priorities[usize::from(block)];
        self.batch.clear();
        self.found.clear();
        let owner = if operator == Operator::Or { Player::Even } else { Player::Odd };
        if self.batch.push(self.graph, &self.variables, variable, operator)? == Pushing::Decided {
            // The owner has already won: the opponent is to move and cannot.
            self.game.add(owner.opponent(), priority, []);
            return Ok(());
        }
        self.batch.resolve(&mut self.variables, 0..self.batch.len(), &mut self.found, |_| {})?;
        if self.game.edge_count() + self.found.len() > u32::MAX as usize - 1 {
            let message = "a parity game of more than 4294967294 edges".to_string();
            return Err(SolveError::Limit(Limit::Other { message }));
        }
        self.meet();
        self.game.add(owner, priority, self.found.iter().copied());
        Ok(())
    }

    fn costs(&self) -> (Statistics, u64) {
        let memory = self.variables.bytes()
            + (self.vertex_of.capacity() + self.vertices.capacity()) * 4
            + self.game.len() * 9
            + self.game.edge_count() * 4;
        let statistics = Statistics {
            places: self.variables.places() as u64,
            variables: self.vertices.len() as u64,
            expanded: self.game.len() as u64,
            edges: self.game.edge_count() as u64,
            memory: memory as u64,
            ..Statistics::default()
        };
        (statistics, (self.vertices.len() - self.game.len()) as u64)
    }

    fn write(&mut self, out: &mut Writer) -> io::Result<()> {
        self.variables.write(out)?;
        out.list(self.vertices.iter())?;
        out.list(self.game.vertices())?;
        out.list(self.game.all_successors().iter())
    }

    fn read(&mut self, input: &mut Reader, meter: &Meter) -> Result<(), Refused> {
        self.variables.read(input, meter)?;
        self.vertices = input.list(meter)?;
        let (vertices, successors) = (input.list(meter)?, input.list(meter)?);
        self.game = Game::assemble(&vertices, successors).ok_or(Damaged)?;
        self.vertex_of = vec![NOT_MET; self.variables.len()];
        for (vertex, &variable) in (0..).zip(&self.vertices) {
            *self.vertex_of.get_mut(variable as usize).ok_or(Damaged)? = vertex;
        }
        Ok(())
    }

    fn is_sound(&self) -> bool {
        let vertices = self.vertices.len() as u32;
        self.game.len() <= self.vertices.len()
            && !self.vertices.is_empty()
            && self.game.all_successors().iter().all(|successor| *successor < vertices)
    }
}

impl Builder<'_> {
    /// Makes vertices of variables that were found.
    fn meet(&mut self) {
        self.vertex_of.resize(self.variables.len().max(self.vertex_of.len()), NOT_MET);
        for successor in &mut self.found {
            let vertex = &mut self.vertex_of[*successor as usize];
            if *vertex == NOT_MET {
                *vertex = self.vertices.len() as u32;
                self.vertices.push(*successor);
            }
            *successor = *vertex;
        }
    }
}
