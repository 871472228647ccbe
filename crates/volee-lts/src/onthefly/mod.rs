//! Strong bisimulation of two systems on the fly: neither is built, and the first difference ends the search.
//!
//! The traversal of Jard and Jéron 1991, section 3.2, after Fernandez and Mounier 1990: depth-first over
//! pairs of states; every step of one must be matched by a step of the other into a pair that is bisimilar. A
//! pair on the current path is assumed to be. What is found different is different for good. What is found
//! equal may rest on an assumption that fails later; then the traversal is repeated, knowing the differences
//! found so far, until no assumption fails. Where one of the two states is deterministic a difference passes
//! straight up the path, so with a deterministic system a single traversal is enough.
//!
//! In bounded memory, pairs found equal may be forgotten, chosen at random; the path and the differences
//! never are (forgetting a difference could repeat the traversal for ever).

mod check;
mod visited;

use std::collections::HashMap;
use std::sync::Arc;

use volee_system::{Flow, Limit, Meter, Progress, Snapshot, Step, System, collect_initial};

use crate::explore::LabelMap;
use crate::formula::{Node, NodeId};
use crate::{Difference, Formula, LabelId, Labels, LtsError, Side};

use visited::Visited;

/// The outcome of a comparison on the fly.
#[derive(Debug)]
pub struct Compared {
    /// What tells the systems apart, confirmed; nothing if they are bisimilar.
    pub difference: Option<Difference>,
    /// Pairs of states entered, those entered again included.
    pub pairs: u64,
    /// How often the traversal was made.
    pub traversals: u32,
    /// Pairs that were forgotten to make room.
    pub replaced: u64,
}

/// Compares two systems modulo strong bisimulation; `seed` chooses what is forgotten when memory is short.
///
/// # Errors
/// The budget runs out: differences and the longest path do not fit, or the time is over; or a system has no
/// or several initial states.
pub fn compare_on_the_fly(
    a: &mut dyn System,
    b: &mut dyn System,
    meter: &Meter,
    progress: &mut dyn Progress,
    seed: u64,
) -> Result<Compared, LtsError> {
    let root: Pair = (only_initial(a)?, only_initial(b)?);
    let mut search = Search {
        sides: Sides {
            systems: [a, b],
            maps: [LabelMap::default(), LabelMap::default()],
            labels: Labels::new(),
        },
        meter,
        progress,
        path: Vec::new(),
        on_path: HashMap::new(),
        equal: Visited::new(seed),
        different: HashMap::new(),
        bytes: 0,
        pairs: 0,
        assumption_failed: false,
    };
    let mut traversals = 0;
    loop {
        traversals += 1;
        search.assumption_failed = false;
        search.equal.clear();
        let same = search.traverse(&root)?;
        if let Some(limit) = search.sides.systems.iter().find_map(|system| system.left_out()) {
            return Err(LtsError::Limit(limit));
        }
        if !same {
            break;
        }
        if !search.assumption_failed {
            return Ok(search.compared(None, traversals));
        }
    }
    let formula = search.formula(&root);
    for (side, state) in [(Side::First, &root.0), (Side::Second, &root.1)] {
        if search.sides.holds(&formula, side, state, meter)? != (side == Side::First) {
            return Err(LtsError::Unconfirmed(
                "the formula found on the fly does not tell the systems apart".into(),
            ));
        }
    }
    Ok(search.compared(Some(Difference::Formula { formula, holds_in: Side::First }), traversals))
}

fn only_initial(system: &mut dyn System) -> Result<Packed, LtsError> {
    let mut all = collect_initial(system);
    match (all.pop(), all.len()) {
        (Some(one), 0) => Ok(one.into()),
        _ => Err(LtsError::input("comparing on the fly needs systems with exactly one initial state")),
    }
}

type Packed = Arc<[u8]>;
type Pair = (Packed, Packed);

/// The two systems with a common set of labels.
struct Sides<'a> {
    systems: [&'a mut dyn System; 2],
    maps: [LabelMap; 2],
    labels: Labels,
}

impl Sides<'_> {
    /// The steps of a state, sorted, each once.
    fn steps(&mut self, side: Side, state: &[u8]) -> Vec<(LabelId, Packed)> {
        let at = usize::from(side == Side::Second);
        let mut raw: Vec<(Step, Packed)> = Vec::new();
        let _ = self.systems[at].steps(state, &mut |step: Step, target: &[u8]| {
            raw.push((step, target.into()));
            Flow::Continue(())
        });
        let (system, map, labels) = (&*self.systems[at], &mut self.maps[at], &mut self.labels);
        let mut steps: Vec<_> = raw
            .into_iter()
            .map(|(s, t)| (map.get(system, &mut |names| names.first().cloned(), s, labels), t))
            .collect();
        steps.sort_unstable();
        steps.dedup();
        steps
    }
}

/// A pair on the path.
struct Frame {
    pair: Pair,
    steps: [Vec<(LabelId, Packed)>; 2],
    matched: [Vec<bool>; 2],
    /// Which side's steps are being matched, which step, and which answer is next.
    side: usize,
    step: usize,
    answer: usize,
    /// Whether some pair below counts on this one being equal.
    assumed: bool,
}

/// Why two states differ: a step of one side that the other cannot match.
struct Reason {
    side: Side,
    label: LabelId,
    target: Packed,
}

struct Search<'a> {
    sides: Sides<'a>,
    meter: &'a Meter,
    progress: &'a mut dyn Progress,
    path: Vec<Frame>,
    on_path: HashMap<Pair, usize>,
    equal: Visited,
    different: HashMap<Pair, Reason>,
    /// Bytes of the path and the differences.
    bytes: u64,
    pairs: u64,
    assumption_failed: bool,
}

/// What is to be done with the pair on top of the path.
enum Next {
    Enter(Pair),
    Equal,
    Different(Reason),
}

impl Search<'_> {
    fn compared(&self, difference: Option<Difference>, traversals: u32) -> Compared {
        Compared { difference, pairs: self.pairs, traversals, replaced: self.equal.replaced() }
    }

    /// Whether the pair is found equal.
    fn traverse(&mut self, root: &Pair) -> Result<bool, LtsError> {
        if self.different.contains_key(root) {
            return Ok(false);
        }
        self.enter(root.clone())?;
        let mut returned = None;
        while !self.path.is_empty() {
            match self.advance(returned.take()) {
                Next::Enter(pair) => self.enter(pair)?,
                Next::Equal => {
                    let frame = self.leave();
                    self.make_room(pair_bytes(&frame.pair))?;
                    self.equal.insert(frame.pair);
                    returned = Some(true);
                }
                Next::Different(reason) => {
                    let frame = self.leave();
                    self.assumption_failed |= frame.assumed;
                    let bytes = pair_bytes(&frame.pair) + reason.target.len() as u64 + 64;
                    self.make_room(bytes)?;
                    self.bytes += bytes;
                    self.different.insert(frame.pair, reason);
                    returned = Some(false);
                }
            }
        }
        Ok(returned == Some(true))
    }

    fn enter(&mut self, pair: Pair) -> Result<(), LtsError> {
        if self.pairs.is_multiple_of(1024) {
            self.meter.check()?;
            let memory = self.bytes + self.equal.bytes();
            let states = self.equal.len() as u64 + self.different.len() as u64;
            let depth = self.path.len() as u64;
            self.progress.report(&Snapshot { states, depth, memory, ..Snapshot::default() });
        }
        self.pairs += 1;
        let steps = [self.sides.steps(Side::First, &pair.0), self.sides.steps(Side::Second, &pair.1)];
        let matched = [vec![false; steps[0].len()], vec![false; steps[1].len()]];
        let frame = Frame { pair, steps, matched, side: 0, step: 0, answer: 0, assumed: false };
        let bytes = frame.bytes();
        self.make_room(bytes)?;
        self.bytes += bytes;
        self.on_path.insert(frame.pair.clone(), self.path.len());
        self.path.push(frame);
        Ok(())
    }

    fn leave(&mut self) -> Frame {
        let frame = self.path.pop().expect("only called with a path");
        self.on_path.remove(&frame.pair);
        self.bytes -= frame.bytes();
        frame
    }

    /// Forgets pairs found equal until there is room.
    fn make_room(&mut self, bytes: u64) -> Result<(), LtsError> {
        let Some(budget) = self.meter.budget().memory else { return Ok(()) };
        while self.bytes + self.equal.bytes() + bytes > budget {
            if !self.equal.forget_one() {
                let needed = format!(
                    "a path of {} pairs and {} differences must be kept",
                    self.path.len(),
                    self.different.len()
                );
                return Err(Limit::Memory { budget, needed }.into());
            }
        }
        Ok(())
    }

    /// Looks for the next pair that must be known; `returned` is the result of the pair entered last.
    fn advance(&mut self, mut returned: Option<bool>) -> Next {
        let depth = self.path.len() - 1;
        if let Some(reason) = self.path[depth].missing_label() {
            return Next::Different(reason);
        }
        loop {
            let frame = &mut self.path[depth];
            let (mine, other) = (frame.side, 1 - frame.side);
            let Some((label, target)) = frame.steps[mine].get(frame.step) else {
                if frame.side == 1 {
                    return Next::Equal;
                }
                (frame.side, frame.step, frame.answer) = (1, 0, 0);
                continue;
            };
            if frame.matched[mine][frame.step] {
                (frame.step, frame.answer) = (frame.step + 1, 0);
                continue;
            }
            let answers = &frame.steps[other];
            if frame.answer == 0 {
                frame.answer = answers.partition_point(|(l, _)| l < label);
            }
            let Some((_, answer)) = answers.get(frame.answer).filter(|(l, _)| l == label) else {
                let side = if mine == 0 { Side::First } else { Side::Second };
                return Next::Different(Reason { side, label: *label, target: target.clone() });
            };
            let pair =
                if mine == 0 { (target.clone(), answer.clone()) } else { (answer.clone(), target.clone()) };
            let Some(equal) = returned.take().or_else(|| self.known(&pair)) else {
                return Next::Enter(pair);
            };
            let frame = &mut self.path[depth];
            if equal {
                frame.matched[mine][frame.step] = true;
                frame.matched[other][frame.answer] = true;
            } else {
                frame.answer += 1;
            }
        }
    }

    fn known(&mut self, pair: &Pair) -> Option<bool> {
        if let Some(&depth) = self.on_path.get(pair) {
            self.path[depth].assumed = true;
            return Some(true);
        }
        if self.different.contains_key(pair) {
            return Some(false);
        }
        self.equal.contains(pair).then_some(true)
    }

    /// The formula that holds on the first side only; the reasons of its parts are known.
    fn formula(&mut self, root: &Pair) -> Formula {
        let mut formula = Formula::default();
        let mut done: HashMap<Pair, NodeId> = HashMap::new();
        let mut pending = vec![(root.clone(), None::<Vec<Pair>>)];
        while let Some((pair, parts)) = pending.pop() {
            if done.contains_key(&pair) {
                continue;
            }
            let reason = &self.different[&pair];
            let (side, label, target) = (reason.side, reason.label, reason.target.clone());
            let Some(parts) = parts else {
                let (other, state) =
                    if side == Side::First { (Side::Second, &pair.1) } else { (Side::First, &pair.0) };
                let answers = self.sides.steps(other, state);
                let answers = answers.into_iter().filter(|(l, _)| *l == label).map(|(_, t)| t);
                let parts: Vec<Pair> = answers
                    .map(|t| if side == Side::First { (target.clone(), t) } else { (t, target.clone()) })
                    .collect();
                pending.push((pair, Some(parts.clone())));
                pending.extend(parts.into_iter().map(|p| (p, None)));
                continue;
            };
            let mut nodes: Vec<NodeId> = parts.iter().map(|p| done[p]).collect();
            if side == Side::Second {
                nodes = nodes.into_iter().map(|n| formula.push(Node::Not(n))).collect();
            }
            let then = formula.and(nodes);
            let name: Arc<str> = self.sides.labels.name(label).into();
            let mut node = formula.push(Node::Diamond(name, then));
            if side == Side::Second {
                node = formula.push(Node::Not(node));
            }
            done.insert(pair, node);
        }
        formula
    }
}

impl Frame {
    /// A step whose label the other side does not have: looked for before anything is entered.
    fn missing_label(&self) -> Option<Reason> {
        if (self.side, self.step, self.answer) != (0, 0, 0) {
            return None;
        }
        for (side, mine, other) in [(Side::First, 0, 1), (Side::Second, 1, 0)] {
            let lacks = |label: LabelId| self.steps[other].binary_search_by_key(&label, |s| s.0).is_err();
            if let Some((label, target)) = self.steps[mine].iter().find(|(l, _)| lacks(*l)) {
                return Some(Reason { side, label: *label, target: target.clone() });
            }
        }
        None
    }

    fn bytes(&self) -> u64 {
        let steps = self.steps.iter().flatten().map(|(_, t)| t.len() + 48).sum::<usize>();
        pair_bytes(&self.pair) + steps as u64 + 200
    }
}

fn pair_bytes(pair: &Pair) -> u64 {
    (pair.0.len() + pair.1.len() + 96) as u64
}
