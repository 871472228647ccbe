//! Zielonka's algorithm, iterative, with dead ends attracted first.
//!
//! The recursion solves a sub-game: take the vertices of the largest priority, attract them for the player
//! who wins it, solve the rest; if the opponent wins nothing there, the player wins all; otherwise attract
//! what the opponent won, and solve what remains. Here the recursion is a stack of frames, because its depth
//! is that of the priorities but the second call makes it as deep as the game in bad cases; sub-games are
//! stamps on vertices, not copies.

use volee_system::{Limit, Meter};

use super::{Game, NO_CHOICE, Player, Winning};

/// The stamp of vertices that belong to the sub-game.
const INSIDE: u32 = 0;

struct Solver<'g> {
    game: &'g Game,
    predecessors: Predecessors,
    /// `INSIDE`, or the number of the attraction that took the vertex out of the sub-game.
    stamps: Vec<u32>,
    next_stamp: u32,
    winner: Vec<Option<Player>>,
    strategy: Vec<u32>,
    /// For the opponent's vertices during an attraction: moves that do not lead into it; `NOT_COUNTED` at
    /// first.
    escapes: Vec<u32>,
}

const NOT_COUNTED: u32 = u32::MAX;

/// Backward edges in one array.
struct Predecessors {
    ends: Vec<u32>,
    sources: Vec<u32>,
}

impl Predecessors {
    fn new(game: &Game) -> Self {
        let mut counts = vec![0u32; game.len() + 1];
        for v in 0..game.len() as u32 {
            for &w in game.successors(v) {
                counts[w as usize] += 1;
            }
        }
        let mut total = 0;
        for count in &mut counts {
            total += std::mem::replace(count, total);
        }
        let mut sources = vec![0; total as usize];
        for v in 0..game.len() as u32 {
            for &w in game.successors(v) {
                sources[counts[w as usize] as usize] = v;
                counts[w as usize] += 1;
            }
        }
        Predecessors { ends: counts, sources }
    }

    fn of(&self, vertex: u32) -> &[u32] {
        let at = vertex as usize;
        let begin = if at == 0 { 0 } else { self.ends[at - 1] as usize };
        &self.sources[begin..self.ends[at] as usize]
    }
}

/// A sub-game being solved.
struct Frame {
    vertices: Vec<u32>,
    /// While the rest is being solved: who wins the largest priority, the vertices that have it, and what is
    /// attracted to them.
    call: Option<Call>,
}

struct Call {
    player: Player,
    top: Vec<u32>,
    attracted: Vec<u32>,
}

/// Who wins which vertex of a game, with winning strategies for both.
///
/// # Errors
/// The time is used up.
pub fn zielonka(game: &Game, meter: &Meter) -> Result<Winning, Limit> {
    let n = game.len();
    let mut solver = Solver {
        game,
        predecessors: Predecessors::new(game),
        stamps: vec![INSIDE; n],
        next_stamp: INSIDE + 1,
        winner: vec![None; n],
        strategy: vec![NO_CHOICE; n],
        escapes: vec![NOT_COUNTED; n],
    };
    solver.dead_ends();
    let all: Vec<u32> = (0..n as u32).filter(|v| solver.stamps[*v as usize] == INSIDE).collect();
    solver.solve(all, meter)?;
    let winner: Vec<Player> =
        solver.winner.into_iter().map(|w| w.expect("every vertex is won by somebody")).collect();
    let mut strategy = solver.strategy;
    for v in 0..n as u32 {
        if game.owner(v) != winner[v as usize] {
            strategy[v as usize] = NO_CHOICE;
        }
    }
    Ok(Winning { winner, strategy })
}

impl Solver<'_> {
    /// Who cannot move loses: what can be forced into dead ends is decided before the game proper.
    fn dead_ends(&mut self) {
        for player in [Player::Even, Player::Odd] {
            let mut won: Vec<u32> = (0..self.game.len() as u32)
                .filter(|v| self.stamps[*v as usize] == INSIDE)
                .filter(|v| self.game.owner(*v) == player.opponent() && self.game.successors(*v).is_empty())
                .collect();
            self.attract(player, &mut won);
            won.iter().for_each(|v| self.winner[*v as usize] = Some(player));
        }
    }

    fn solve(&mut self, all: Vec<u32>, meter: &Meter) -> Result<(), Limit> {
        let mut frames = vec![Frame { vertices: all, call: None }];
        while let Some(frame) = frames.last_mut() {
            meter.check()?;
            let rest = match frame.call.take() {
                None => self.descend(frame),
                Some(call) => self.resume(frame, call),
            };
            match rest {
                Some(vertices) => frames.push(Frame { vertices, call: None }),
                None if frame.vertices.is_empty() => {
                    frames.pop();
                }
                None => {}
            }
        }
        Ok(())
    }

    /// Attracts to the largest priority; gives the rest, which must be solved first.
    fn descend(&mut self, frame: &mut Frame) -> Option<Vec<u32>> {
        let highest = frame.vertices.iter().map(|v| self.game.priority(*v)).max()?;
        let player = Player::of(highest);
        let top: Vec<u32> =
            frame.vertices.iter().copied().filter(|v| self.game.priority(*v) == highest).collect();
        let mut attracted = top.clone();
        self.attract(player, &mut attracted);
        let rest = self.inside(&frame.vertices);
        frame.call = Some(Call { player, top, attracted });
        Some(rest)
    }

    /// The rest is solved. Either the player wins the whole sub-game, which ends the frame, or what the
    /// opponent can force is the opponent's and the frame goes on with what remains.
    fn resume(&mut self, frame: &mut Frame, call: Call) -> Option<Vec<u32>> {
        let opponent = call.player.opponent();
        frame.vertices.iter().for_each(|v| self.stamps[*v as usize] = INSIDE);
        call.attracted.iter().for_each(|v| self.winner[*v as usize] = Some(call.player));
        let mut lost: Vec<u32> =
            frame.vertices.iter().copied().filter(|v| self.winner[*v as usize] == Some(opponent)).collect();
        if lost.is_empty() {
            for v in call.top.into_iter().filter(|v| self.game.owner(*v) == call.player) {
                let inside = |w: &&u32| self.stamps[**w as usize] == INSIDE;
                let stay = self.game.successors(v).iter().find(inside);
                self.strategy[v as usize] = *stay.expect("a sub-game has no dead ends");
            }
            frame.vertices.clear();
            return None;
        }
        self.attract(opponent, &mut lost);
        lost.iter().for_each(|v| self.winner[*v as usize] = Some(opponent));
        frame.vertices = self.inside(&frame.vertices);
        None
    }

    fn inside(&self, vertices: &[u32]) -> Vec<u32> {
        vertices.iter().copied().filter(|v| self.stamps[*v as usize] == INSIDE).collect()
    }

    /// Extends `set` by all vertices inside from which `player` can force the play into it, takes all of it
    /// out of the sub-game, and notes the moves that do it.
    fn attract(&mut self, player: Player, set: &mut Vec<u32>) {
        let stamp = self.next_stamp;
        // Stamps would run out after four thousand million attractions; they are then all old enough to be
        // used again.
        self.next_stamp = stamp.checked_add(1).unwrap_or(INSIDE + 1);
        set.iter().for_each(|v| self.stamps[*v as usize] = stamp);
        let mut counted = Vec::new();
        let mut at = 0;
        while at < set.len() {
            let v = set[at];
            at += 1;
            for &u in self.predecessors.of(v) {
                if self.stamps[u as usize] != INSIDE {
                    continue;
                }
                if self.game.owner(u) == player {
                    self.strategy[u as usize] = v;
                } else {
                    let escapes = &mut self.escapes[u as usize];
                    if *escapes == NOT_COUNTED {
                        let stamps = &self.stamps;
                        let in_game =
                            |w: &&u32| matches!(stamps[**w as usize], s if s == INSIDE || s == stamp);
                        *escapes = self.game.successors(u).iter().filter(in_game).count() as u32;
                        counted.push(u);
                    }
                    *escapes -= 1;
                    if *escapes > 0 {
                        continue;
                    }
                }
                self.stamps[u as usize] = stamp;
                set.push(u);
            }
        }
        counted.iter().for_each(|u| self.escapes[*u as usize] = NOT_COUNTED);
    }
}
