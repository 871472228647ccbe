//! Parity games in the format of PGSolver: `parity 3; start 0; 0 2 0 1,2 "name"; …`, the largest priority
//! decides.

use std::collections::HashMap;
use std::fmt::Write;

use volee_system::{Diagnostic, Place};

use super::scan::{Scanner, Token};
use crate::explicit::Explicit;
use crate::game::{Game, Player};
use crate::graph::{Operator, Sign};

/// A file with a parity game.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GameFile {
    /// The game; vertices are numbered in the order of the file.
    pub game: Game,
    /// The number of each vertex in the file.
    pub ids: Vec<u32>,
    /// The names of vertices; empty where the file gives none.
    pub names: Vec<String>,
    /// The vertex to start in.
    pub start: u32,
}

struct Vertex {
    priority: u32,
    owner: Player,
    successors: Vec<(u32, Place)>,
}

/// Reads a game.
///
/// # Errors
/// What is wrong with the text, and where.
pub fn read_gm(file: &str, text: &str) -> Result<GameFile, Diagnostic> {
    let mut scanner = Scanner::new(file, text);
    let mut start = None;
    if scanner.peek() == Token::Word("parity") {
        scanner.next();
        scanner.number("the largest vertex")?;
        scanner.expect(';')?;
    }
    if scanner.peek() == Token::Word("start") {
        scanner.next();
        let place = scanner.place();
        start = Some((scanner.number("a vertex")?, place));
        scanner.expect(';')?;
    }
    let mut vertices = Vec::new();
    let (mut ids, mut names) = (Vec::new(), Vec::new());
    let mut numbers: HashMap<u32, u32> = HashMap::new();
    while scanner.peek() != Token::End {
        let place = scanner.place();
        let id = scanner.number("a vertex")?;
        let number = u32::try_from(vertices.len()).unwrap_or(u32::MAX);
        if numbers.insert(id, number).is_some() {
            return Err(Diagnostic::error(format!("vertex {id} is defined twice"), place));
        }
        let (vertex, name) = read_vertex(&mut scanner)?;
        vertices.push(vertex);
        ids.push(id);
        names.push(name);
    }
    let find = |id: u32, place: Place| {
        let missing = || Diagnostic::error(format!("vertex {id} is not defined"), place);
        numbers.get(&id).copied().ok_or_else(missing)
    };
    let first = Place::new(file, 1, 1);
    if vertices.is_empty() {
        return Err(Diagnostic::error("the game has no vertex", first));
    }
    let mut game = Game::default();
    for vertex in vertices {
        let successors: Result<Vec<u32>, _> =
            vertex.successors.into_iter().map(|(id, place)| find(id, place)).collect();
        game.add(vertex.owner, vertex.priority, successors?);
    }
    let start = match start {
        Some((id, place)) => find(id, place)?,
        None => 0,
    };
    Ok(GameFile { game, ids, names, start })
}

/// What follows a vertex's number.
fn read_vertex(scanner: &mut Scanner<'_>) -> Result<(Vertex, String), Diagnostic> {
    let priority = scanner.number("a priority")?;
    let owner = match scanner.peek() {
        Token::Word("0") => Player::Even,
        Token::Word("1") => Player::Odd,
        _ => return Err(scanner.unexpected("an owner, 0 or 1")),
    };
    scanner.next();
    let mut successors = Vec::new();
    let mut name = String::new();
    while let Token::Word(_) = scanner.peek() {
        let place = scanner.place();
        successors.push((scanner.number("a successor")?, place));
        if scanner.peek() != Token::Mark(',') {
            break;
        }
        scanner.next();
    }
    if let Token::Quoted(text) = scanner.peek() {
        name = text.to_string();
        scanner.next();
    }
    scanner.expect(';')?;
    Ok((Vertex { priority, owner, successors }, name))
}

/// Writes a game; vertex `start` first in the head.
pub fn write_gm(game: &Game, start: u32) -> String {
    let mut text = format!("parity {};\nstart {start};\n", game.len().saturating_sub(1));
    for v in 0..game.len() as u32 {
        let owner = u32::from(game.owner(v) == Player::Odd);
        let successors: Vec<String> = game.successors(v).iter().map(u32::to_string).collect();
        let _ = writeln!(text, "{v} {} {owner} {};", game.priority(v), successors.join(","));
    }
    text
}

/// A game as equations: one block per priority, the largest outermost. Nothing when there are more than 65536
/// different priorities.
pub fn game_to_equations(game: &Game, start: u32) -> Option<Explicit> {
    let mut used: Vec<u32> = (0..game.len() as u32).map(|v| game.priority(v)).collect();
    used.sort_unstable_by(|a, b| b.cmp(a));
    used.dedup();
    let block: HashMap<u32, u16> = used.iter().copied().zip(0..=u16::MAX).collect();
    if block.len() < used.len() {
        return None;
    }
    let sign = |p: &u32| if Player::of(*p) == Player::Even { Sign::Nu } else { Sign::Mu };
    let rows = (0..game.len() as u32).map(|v| {
        let operator = if game.owner(v) == Player::Even { Operator::Or } else { Operator::And };
        (operator, block[&game.priority(v)], game.successors(v).to_vec())
    });
    Some(Explicit::new(used.iter().map(sign).collect(), start, rows))
}
