//! The checker of strategies, by the definition: it knows nothing of how they were found.
//!
//! From the main vertex, following the winner's strategy and all moves of the opponent, the play never leaves
//! what the winner claims, the winner is never stuck, and no cycle has the opponent's parity as its largest
//! priority. The last point is checked per priority of the opponent: among the vertices of at most that
//! priority, none of exactly that priority lies on a cycle.

use super::{Game, NO_CHOICE, Player, Winning};
use volee_system::strong_components;

/// Why a strategy does not win. Seeing one is always a defect of a solver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum StrategyError {
    /// The winner has no move, or one that does not exist.
    #[error("the strategy has no move where it needs one")]
    NoMove,
    /// A move leads out of the region.
    #[error("the strategy lets the play escape")]
    Escape,
    /// The opponent wins a cycle.
    #[error("the strategy lets the opponent win a cycle of priority {0}")]
    Cycle(u32),
}

/// Checks that the claimed winner of `start` wins from there.
///
/// # Errors
/// The strategy does not win.
pub fn verify(game: &Game, winning: &Winning, start: u32) -> Result<(), StrategyError> {
    let player = winning.winner[start as usize];
    let reached = reach(game, winning, start, player)?;
    let mut bad: Vec<u32> =
        reached.iter().map(|v| game.priority(*v)).filter(|p| Player::of(*p) != player).collect();
    bad.sort_unstable();
    bad.dedup();
    for priority in bad {
        if has_cycle(game, winning, player, &reached, priority) {
            return Err(StrategyError::Cycle(priority));
        }
    }
    Ok(())
}

/// The moves that remain when `player` follows the strategy.
fn moves<'g>(game: &'g Game, winning: &'g Winning, player: Player, v: u32) -> &'g [u32] {
    if game.owner(v) == player {
        std::slice::from_ref(&winning.strategy[v as usize])
    } else {
        game.successors(v)
    }
}

fn reach(game: &Game, winning: &Winning, start: u32, player: Player) -> Result<Vec<u32>, StrategyError> {
    let mut seen = vec![false; game.len()];
    seen[start as usize] = true;
    let mut reached = vec![start];
    let mut at = 0;
    while at < reached.len() {
        let v = reached[at];
        at += 1;
        if game.owner(v) == player {
            let choice = winning.strategy[v as usize];
            if choice == NO_CHOICE || !game.successors(v).contains(&choice) {
                return Err(StrategyError::NoMove);
            }
        }
        for &w in moves(game, winning, player, v) {
            if winning.winner[w as usize] != player {
                return Err(StrategyError::Escape);
            }
            if !seen[w as usize] {
                seen[w as usize] = true;
                reached.push(w);
            }
        }
    }
    Ok(reached)
}

/// Whether a vertex of `priority` lies on a cycle of vertices of at most that priority.
fn has_cycle(game: &Game, winning: &Winning, player: Player, reached: &[u32], priority: u32) -> bool {
    let low = |v: u32| game.priority(v) <= priority;
    let scc = strong_components(game.len(), reached.iter().copied().filter(|&v| low(v)), |v, next| {
        let rest = moves(game, winning, player, v).get(*next..)?;
        let found = rest.iter().position(|&w| low(w))?;
        *next += found + 1;
        Some(rest[found])
    });
    // A cycle through a vertex starts with an edge that stays in its component.
    reached.iter().filter(|&&v| game.priority(v) == priority).any(|&v| {
        moves(game, winning, player, v).iter().any(|&w| low(w) && scc.of[w as usize] == scc.of[v as usize])
    })
}
