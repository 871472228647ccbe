//! Bisimulations of two systems on the fly: neither is built, and the first difference ends the search.
//!
//! The traversal of Jard and Jéron 1991, section 3.2, after Fernandez and Mounier 1990: depth-first over
//! pairs of states; every step of one must be answered by the other into a pair that is bisimilar: by a step,
//! or by one between internal ones (weak and branching bisimulation; for the latter the pair before the step
//! must be bisimilar too). A pair on the current path is assumed to be. What is found different is different
//! for good. What is found equal may rest on an assumption that fails later; then the traversal is repeated,
//! knowing the differences found so far, until no assumption fails. Where one of the two states is
//! deterministic a difference passes straight up the path, so with a deterministic system a single traversal
//! is enough.
//!
//! In bounded memory, pairs found equal may be forgotten, chosen at random; the path and the differences
//! never are (forgetting a difference could repeat the traversal for ever). A pair on the path is little more
//! than its name; the steps of only the last few are kept.

mod check;
mod path;
mod sides;
mod visited;

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use volee_system::{Limit, Meter, Progress, Snapshot, System, collect_initial};

use crate::explore::LabelMap;
use crate::formula::{Node, NodeId};
use crate::{Difference, Formula, LabelId, Labels, LtsError, Relation, Side};

use path::Path;
pub use sides::Naming;
use sides::{Answer, Kind, Moves, Packed, Sides};
use visited::Visited;

/// Pairs whose steps are kept: the traversal comes back to the last ones soon.
const KEPT: usize = 16;

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
    /// The longest path, in pairs.
    pub longest_path: u64,
    /// What it took, in bytes.
    pub path_bytes: u64,
}

/// Compares two systems modulo strong, weak or branching bisimulation. `names` says what the steps of each
/// are called, and `seed` chooses what is forgotten when memory is short.
///
/// # Errors
/// The budget runs out: differences and the longest path do not fit, or the time is over; a system has no or
/// several initial states; or the relation is another one.
pub fn compare_on_the_fly(
    systems: [&mut dyn System; 2],
    names: [Naming<'_>; 2],
    relation: Relation,
    meter: &Meter,
    progress: &mut dyn Progress,
    seed: u64,
) -> Result<Compared, LtsError> {
    let kind = Kind::of(relation)?;
    let [a, b] = systems;
    let root: Pair = (only_initial(a)?, only_initial(b)?);
    let mut search = Search {
        sides: Sides {
            systems: [a, b],
            names,
            maps: [LabelMap::default(), LabelMap::default()],
            labels: Labels::new(),
            kind,
        },
        meter,
        progress,
        path: Path::new(),
        works: VecDeque::new(),
        equal: Visited::new(seed),
        different: HashMap::new(),
        bytes: 0,
        pairs: 0,
        longest: (0, 0),
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
    let formula = search.formula(&root)?;
    for (side, state) in [(0, &root.0), (1, &root.1)] {
        if search.sides.holds(&formula, side, state, meter)? != (side == 0) {
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

type Pair = (Packed, Packed);

/// A state of one side and one of the other, in the order of the sides.
fn paired(side: usize, own: &Packed, other: &Packed) -> Pair {
    if side == 0 { (own.clone(), other.clone()) } else { (other.clone(), own.clone()) }
}

/// The steps of a pair on the path, and the answers to the one that is being matched.
struct Work {
    moves: [Moves; 2],
    answers: Option<((usize, u32), Vec<Answer>)>,
}

impl Work {
    fn bytes(&self) -> u64 {
        let moves = self.moves.iter().flatten().map(|(_, t)| t.len() + 48).sum::<usize>();
        let answers = self.answers.iter().flat_map(|(_, all)| all);
        let size = |a: &Answer| a.after.len() + a.before.as_ref().map_or(0, |b| b.len()) + 96;
        (moves + answers.map(size).sum::<usize>()) as u64
    }
}

/// Why two states differ: a step of one side that the other cannot answer.
struct Reason {
    side: usize,
    label: LabelId,
    target: Packed,
    /// How many differences were known before this one: it rests on those alone.
    order: usize,
}

/// What a step of one side needs of the other: pairs before it, and after it, that are all different.
type Parts = (Vec<Pair>, Vec<Pair>);

struct Search<'a, 'n> {
    sides: Sides<'a, 'n>,
    meter: &'a Meter,
    progress: &'a mut dyn Progress,
    path: Path,
    /// Of the last pairs on the path.
    works: VecDeque<Work>,
    equal: Visited,
    different: HashMap<Pair, Reason>,
    /// Bytes of the differences.
    bytes: u64,
    pairs: u64,
    /// The longest path, and what it took.
    longest: (u64, u64),
    assumption_failed: bool,
}

/// What is to be done with the pair on top of the path.
enum Next {
    Enter(Pair),
    Equal,
    Different(Reason),
}

impl Search<'_, '_> {
    fn compared(&self, difference: Option<Difference>, traversals: u32) -> Compared {
        let (longest_path, path_bytes) = self.longest;
        let replaced = self.equal.replaced();
        Compared { difference, pairs: self.pairs, traversals, replaced, longest_path, path_bytes }
    }

    /// Whether the pair is found equal.
    fn traverse(&mut self, root: &Pair) -> Result<bool, LtsError> {
        if self.different.contains_key(root) {
            return Ok(false);
        }
        self.enter(root)?;
        let mut returned = None;
        while self.path.len() > 0 {
            match self.advance(returned.take())? {
                Next::Enter(pair) => self.enter(&pair)?,
                Next::Equal => {
                    let (pair, _) = self.leave();
                    self.make_room(pair_bytes(&pair))?;
                    self.equal.insert(pair);
                    returned = Some(true);
                }
                Next::Different(reason) => {
                    let (pair, assumed) = self.leave();
                    self.assumption_failed |= assumed;
                    let bytes = pair_bytes(&pair) + reason.target.len() as u64 + 64;
                    self.make_room(bytes)?;
                    self.bytes += bytes;
                    self.different.insert(pair, reason);
                    returned = Some(false);
                }
            }
        }
        Ok(returned == Some(true))
    }

    fn enter(&mut self, pair: &Pair) -> Result<(), LtsError> {
        if self.pairs.is_multiple_of(1024) {
            self.meter.check()?;
            let states = self.equal.len() as u64 + self.different.len() as u64;
            let (depth, memory) = (self.path.len() as u64, self.taken());
            self.progress.report(&Snapshot { states, depth, memory, ..Snapshot::default() });
        }
        self.pairs += 1;
        self.make_room((pair.0.len() + pair.1.len()) as u64 + path::OVERHEAD)?;
        self.path.push(pair).ok_or_else(|| LtsError::input("the path has more than 4 GB of names"))?;
        self.longest = self.longest.max((self.path.len() as u64, self.path.bytes()));
        if self.works.len() == KEPT {
            self.works.pop_front();
        }
        self.works.push_back(Work::of(&mut self.sides, pair));
        Ok(())
    }

    /// Takes the last pair from the path; whether others have counted on it.
    fn leave(&mut self) -> (Pair, bool) {
        let pair = self.path.top_pair();
        self.works.pop_back();
        (pair, self.path.pop().assumed)
    }

    fn taken(&self) -> u64 {
        let works: u64 = self.works.iter().map(Work::bytes).sum();
        self.bytes + self.path.bytes() + works + self.equal.bytes()
    }

    /// Forgets steps that can be found again, and then pairs found equal, until there is room.
    fn make_room(&mut self, bytes: u64) -> Result<(), LtsError> {
        let Some(budget) = self.meter.budget().memory else { return Ok(()) };
        let mut taken = self.taken() + bytes;
        while taken > budget {
            if self.works.len() > 1 {
                taken -= self.works.pop_front().map_or(0, |work| work.bytes());
                continue;
            }
            let before = self.equal.bytes();
            if !self.equal.forget_one() {
                let needed = format!(
                    "a path of {} pairs and {} differences must be kept",
                    self.path.len(),
                    self.different.len()
                );
                return Err(Limit::Memory { budget, needed }.into());
            }
            taken -= before - self.equal.bytes();
        }
        Ok(())
    }

    /// Looks for the next pair that must be known; `returned` is the result of the pair entered last.
    fn advance(&mut self, mut returned: Option<bool>) -> Result<Next, LtsError> {
        let pair = self.path.top_pair();
        if self.works.is_empty() {
            self.works.push_back(Work::of(&mut self.sides, &pair));
        }
        if let Some(reason) = self.missing_label() {
            return Ok(Next::Different(reason));
        }
        loop {
            let Search { path, works, sides, meter, .. } = self;
            let (frame, work) = (path.top(), works.back_mut().expect("it was made"));
            let (mine, other) = if frame.second { (1, 0) } else { (0, 1) };
            let Some((label, target)) = work.moves[mine].get(frame.step as usize).cloned() else {
                if frame.second {
                    return Ok(Next::Equal);
                }
                (frame.second, frame.step, frame.answer, frame.half) = (true, 0, 0, false);
                continue;
            };
            if frame.second && frame.step < 64 && frame.matched >> frame.step & 1 == 1 {
                (frame.step, frame.answer) = (frame.step + 1, 0);
                continue;
            }
            let (own, answering) = if mine == 0 { (&pair.0, &pair.1) } else { (&pair.1, &pair.0) };
            let known = work.answers.as_ref().is_some_and(|(of, _)| *of == (mine, frame.step));
            if !known {
                let all = sides.answers(other, (answering, &work.moves[other]), label, meter)?;
                work.answers = Some(((mine, frame.step), all));
            }
            let answers = work.answers.as_ref().map_or(&[][..], |(_, all)| all);
            let Some(answer) = answers.get(frame.answer as usize).cloned() else {
                let order = self.different.len();
                return Ok(Next::Different(Reason { side: mine, label, target, order }));
            };
            let pair = match &answer.before {
                Some(before) if !frame.half => paired(mine, own, before),
                _ => paired(mine, &target, &answer.after),
            };
            let Some(equal) = returned.take().or_else(|| self.known(&pair)) else {
                return Ok(Next::Enter(pair));
            };
            let frame = self.path.top();
            match equal {
                true if answer.before.is_some() && !frame.half => frame.half = true,
                true => {
                    if let Some(own) = answer.own.filter(|own| !frame.second && *own < 64) {
                        frame.matched |= 1 << own;
                    }
                    (frame.step, frame.answer, frame.half) = (frame.step + 1, 0, false);
                }
                false => (frame.answer, frame.half) = (frame.answer + 1, false),
            }
        }
    }

    /// A step whose label the other side does not have: looked for before anything is entered.
    fn missing_label(&mut self) -> Option<Reason> {
        let frame = self.path.top();
        if self.sides.kind != Kind::Strong || (frame.second, frame.step, frame.answer) != (false, 0, 0) {
            return None;
        }
        let moves = &self.works.back()?.moves;
        for (side, other) in [(0, 1), (1, 0)] {
            let lacks = |label: LabelId| moves[other].binary_search_by_key(&label, |s| s.0).is_err();
            if let Some((label, target)) = moves[side].iter().find(|(l, _)| lacks(*l)) {
                let order = self.different.len();
                return Some(Reason { side, label: *label, target: target.clone(), order });
            }
        }
        None
    }

    fn known(&mut self, pair: &Pair) -> Option<bool> {
        if self.path.assume(pair) {
            return Some(true);
        }
        if self.different.contains_key(pair) {
            return Some(false);
        }
        self.equal.contains(pair).then_some(true)
    }

    /// The formula that holds on the first side only; the reasons of its parts are known.
    fn formula(&mut self, root: &Pair) -> Result<Formula, LtsError> {
        let mut formula = Formula::default();
        let mut done: HashMap<Pair, NodeId> = HashMap::new();
        let mut pending = vec![(root.clone(), None::<Parts>)];
        while let Some((pair, parts)) = pending.pop() {
            if done.contains_key(&pair) {
                continue;
            }
            let Some((through, then)) = parts else {
                let parts = self.parts(&pair)?;
                pending.push((pair, Some(parts.clone())));
                pending.extend(parts.0.into_iter().chain(parts.1).map(|p| (p, None)));
                continue;
            };
            let reason = &self.different[&pair];
            let mut joined = |parts: &[Pair]| {
                let nodes = parts.iter().map(|p| done[p]);
                let nodes: Vec<NodeId> = match reason.side {
                    0 => nodes.collect(),
                    _ => nodes.map(|n| formula.push(Node::Not(n))).collect(),
                };
                formula.and(nodes)
            };
            let (through, then) = (joined(&through), joined(&then));
            let label: Arc<str> = self.sides.labels.name(reason.label).into();
            let mut node = formula.push(match self.sides.kind {
                Kind::Strong => Node::Diamond(label, then),
                Kind::Weak => Node::WeakDiamond(label, then),
                Kind::Branching => Node::Until { through, label, then },
            });
            if reason.side == 1 {
                node = formula.push(Node::Not(node));
            }
            done.insert(pair, node);
        }
        Ok(formula)
    }

    /// The pairs whose differences make up the difference of a pair.
    fn parts(&mut self, pair: &Pair) -> Result<Parts, LtsError> {
        let Reason { side, label, target, order } = &self.different[pair];
        let (side, label, target, order) = (*side, *label, target.clone(), *order);
        let earlier =
            |pair: &Pair, all: &HashMap<Pair, Reason>| all.get(pair).is_some_and(|r| r.order < order);
        let (own, other) = if side == 0 { (&pair.0, &pair.1) } else { (&pair.1, &pair.0) };
        let moves = self.sides.moves(1 - side, other);
        let mut parts = (Vec::new(), Vec::new());
        for answer in self.sides.answers(1 - side, (other, &moves), label, self.meter)? {
            let before = answer.before.map(|before| paired(side, own, &before));
            match before.filter(|pair| earlier(pair, &self.different)) {
                Some(before) => parts.0.push(before),
                None => parts.1.push(paired(side, &target, &answer.after)),
            }
        }
        Ok(parts)
    }
}

impl Work {
    fn of(sides: &mut Sides<'_, '_>, pair: &Pair) -> Self {
        Work { moves: [sides.moves(0, &pair.0), sides.moves(1, &pair.1)], answers: None }
    }
}

fn pair_bytes(pair: &Pair) -> u64 {
    (pair.0.len() + pair.1.len() + 96) as u64
}
