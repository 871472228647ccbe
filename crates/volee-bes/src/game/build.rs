//! The part of a boolean graph that its main variable reaches, as an explicit parity game.

use volee_system::{Limit, Meter, Progress, Snapshot};

use super::{Game, Player};
use crate::graph::{BooleanGraph, Node, Operator, Sign};
use crate::solve::SolveError;
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

/// Explores a boolean graph as a whole.
///
/// # Errors
/// A limit, or an equation without meaning.
pub fn build<G: BooleanGraph + ?Sized>(
    graph: &mut G,
    meter: &Meter,
    progress: &mut dyn Progress,
) -> Result<Built, SolveError> {
    let priorities = priorities(graph.blocks());
    let (mut place, node) = graph.root()?;
    let mut variables = Variables::new(graph);
    let root = variables.insert(&place, node)?;
    let mut vertex_of = vec![NOT_MET; variables.len()];
    vertex_of[root as usize] = 0;
    let mut vertices = vec![root];
    let mut game = Game::default();
    let mut batch = Batch::default();
    let mut found = Vec::new();
    let mut next = 0;
    while next < vertices.len() {
        let variable = vertices[next];
        next += 1;
        if next % 4096 == 1 {
            meter.check()?;
            let memory = (variables.bytes() + vertex_of.capacity() * 4 + vertices.capacity() * 4) as u64
                + (game.len() * 9 + game.edge_count() * 4) as u64;
            meter.check_memory(memory, || format!("a parity game of {} vertices", vertices.len()))?;
            progress.report(&Snapshot {
                states: variables.places() as u64,
                transitions: game.edge_count() as u64,
                pending: (vertices.len() - next) as u64,
                memory,
                ..Snapshot::default()
            });
        }
        let node = variables.copy(variable, &mut place);
        let (operator, block) = graph.equation(&place, node);
        let priority = priorities[usize::from(block)];
        batch.clear();
        found.clear();
        let owner = if operator == Operator::Or { Player::Even } else { Player::Odd };
        if batch.push(graph, &variables, variable, operator)? == Pushing::Decided {
            // The owner has already won: the opponent is to move and cannot.
            game.add(owner.opponent(), priority, []);
            continue;
        }
        batch.resolve(&mut variables, 0..batch.len(), &mut found, |_| {})?;
        vertex_of.resize(variables.len().max(vertex_of.len()), NOT_MET);
        if game.edge_count() + found.len() > u32::MAX as usize - 1 {
            let message = "a parity game of more than 4294967294 edges".to_string();
            return Err(SolveError::Limit(Limit::Other { message }));
        }
        for successor in &mut found {
            let vertex = &mut vertex_of[*successor as usize];
            if *vertex == NOT_MET {
                *vertex = vertices.len() as u32;
                vertices.push(*successor);
            }
            *successor = *vertex;
        }
        game.add(owner, priority, found.iter().copied());
    }
    Ok(Built { game, variables, vertices })
}
