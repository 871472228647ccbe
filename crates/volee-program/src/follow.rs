//! What a run is made of in terms of the plain program: moves, by the numbers of its transitions.
//!
//! Optimisation keeps the numbers of nodes and transitions, and a merged transition remembers the nodes that
//! it passes, so that every step of an optimised machine can be told as a list of moves, and a plain machine
//! can be led along the list.

use volee_system::{FaultId, Flow, Followed, Move, Step};

use crate::code::Compiled;
use crate::frame::Frame;
use crate::moves::{Enumerator, Level, TakenMove, Visitor};
use crate::program::Program;

/// For each transition, those that are merged into it.
pub(crate) fn merged_transitions(program: &Program, compiled: &Compiled) -> Vec<Vec<u32>> {
    let number = |proctype: u8, node: u32| {
        compiled.transitions.partition_point(|&(p, n, _)| (p, n) < (proctype, node)) as u32
    };
    let merged = |&(proctype, node, index): &(u8, u32, u32)| {
        let node = &program.proctypes[usize::from(proctype)].nodes[node as usize];
        let passed = &node.transitions[index as usize].through;
        passed.iter().map(|passed| number(proctype, passed.0)).collect()
    };
    compiled.transitions.iter().map(merged).collect()
}

/// Tells moves of the machine as moves of the plain program.
fn tell(merged: &[Vec<u32>], made: &TakenMove, all: &mut Vec<Move>) {
    for (process, transition) in [Some((made.pid, made.transition)), made.partner].into_iter().flatten() {
        all.push(Move { process, transition });
        let more = merged[transition as usize].iter();
        all.extend(more.map(|&transition| Move { process, transition }));
    }
}

/// Finds the moves of the `wanted`-th step.
pub(crate) struct Moves<'a> {
    pub merged: &'a [Vec<u32>],
    pub wanted: usize,
    pub found: Vec<Move>,
}

impl Moves<'_> {
    fn reach(&mut self, levels: &[Level]) -> Flow {
        if self.wanted > 0 {
            self.wanted -= 1;
            return Flow::Continue(());
        }
        levels.iter().for_each(|level| tell(self.merged, &level.made, &mut self.found));
        Flow::Break(())
    }
}

impl Visitor for Moves<'_> {
    fn step(&mut self, levels: &[Level], _: Option<FaultId>, _: &Frame) -> Flow {
        self.reach(levels)
    }

    fn stuck(&mut self, levels: &[Level], _: FaultId) -> Flow {
        self.reach(levels)
    }
}

/// Which step is looked for.
pub(crate) enum Wanted<'a> {
    /// The one whose moves are the first of these.
    Moves(&'a [Move]),
    /// Any that leads where these moves lead, with the same first error.
    Target(&'a Way),
}

/// Finds a step that leads somewhere, by its moves or by where it leads.
pub(crate) struct Follower<'a> {
    pub merged: &'a [Vec<u32>],
    pub wanted: Wanted<'a>,
    pub step: fn(&[Level], Option<FaultId>, bool) -> Step,
    pub seen: usize,
    pub moves: Vec<Move>,
    pub found: Option<Followed>,
}

impl Follower<'_> {
    fn reach(&mut self, levels: &[Level], fault: Option<FaultId>, target: &[u8]) -> Flow {
        let ordinal = self.seen;
        self.seen += 1;
        let moves = match self.wanted {
            Wanted::Moves(wanted) => {
                self.moves.clear();
                levels.iter().for_each(|level| tell(self.merged, &level.made, &mut self.moves));
                wanted.starts_with(&self.moves).then_some(self.moves.len())
            }
            Wanted::Target(way) => (way.target == target && way.fault == fault).then_some(way.made),
        };
        let Some(moves) = moves else { return Flow::Continue(()) };
        let step = (self.step)(levels, fault, false);
        self.found = Some(Followed { ordinal, moves, step, target: target.to_vec() });
        Flow::Break(())
    }
}

impl Visitor for Follower<'_> {
    fn step(&mut self, levels: &[Level], fault: Option<FaultId>, target: &Frame) -> Flow {
        self.reach(levels, fault, &target.bytes)
    }

    fn stuck(&mut self, _: &[Level], _: FaultId) -> Flow {
        self.seen += 1;
        Flow::Continue(())
    }
}

/// Where moves lead.
pub(crate) struct Way {
    pub target: Vec<u8>,
    /// How much was made of what was looked for.
    pub made: usize,
    /// The first error on the way.
    pub fault: Option<FaultId>,
}

/// Where a list of moves leads and how many of them one step makes, without looking at any other step: an
/// enumeration that is large leaves out sequences that come to a point where another has been.
pub(crate) fn walk(
    enumerator: &mut Enumerator,
    compiled: &Compiled,
    merged: &[Vec<u32>],
    state: &[u8],
    moves: &[Move],
) -> Option<Way> {
    let mut made = Vec::new();
    let mut wanted = |done: usize, candidate: &TakenMove| {
        made.clear();
        tell(merged, candidate, &mut made);
        moves[done..].starts_with(&made).then_some(made.len())
    };
    enumerator.follow(compiled, state, &mut wanted)
}
