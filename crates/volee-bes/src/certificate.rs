//! The checker: is this solution right, by the definition alone?
//!
//! It knows nothing of how a solution was found. Starting from the main variable it asks, for each variable,
//! whether its right-hand side supports its value: one successor of that value where one is enough, else all
//! of them. Where the value is not the default of the block (a least fixed point that is true, a greatest
//! that is false), support within the block must have a smaller rank, so that no variable supports itself
//! around a cycle. That is all there is to a proof: in a block, values equal to the default need no more than
//! closure, the others a finite derivation.
//!
//! What is walked on the way is the diagnostic: [`check`] can hand it to a collector.

use volee_system::{Flow, Limit, Meter};

use crate::graph::{BooleanGraph, Node, Successors, Trouble};
use crate::solve::{Solution, SolveError};

/// Why a solution is not a certificate. Seeing one is always a defect of a solver.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CheckError {
    /// A variable that is needed has no value.
    #[error("the certificate does not cover a variable that it needs")]
    Uncovered,
    /// A variable's successors do not support its value.
    #[error("the certificate claims {0} for a variable whose right-hand side does not support it")]
    Unsupported(bool),
    /// The claim is about another value.
    #[error("the certificate is for another value than the answer")]
    OtherValue,
    /// The right-hand side has no meaning.
    #[error(transparent)]
    Trouble(#[from] Trouble),
    /// A budget is used up while checking.
    #[error("{0}")]
    Limit(Limit),
}

impl From<CheckError> for SolveError {
    fn from(error: CheckError) -> Self {
        match error {
            CheckError::Trouble(trouble) => SolveError::Trouble(trouble),
            CheckError::Limit(limit) => SolveError::Limit(limit),
            defect => SolveError::Limit(Limit::Other {
                message: format!(
                    "the answer was not confirmed ({defect}); this is a defect of volee, please report it"
                ),
            }),
        }
    }
}

/// Sees the part of the graph that a certificate rests on.
pub trait Collector {
    /// A variable with this value rests on the given ones; on none when constants decide it. `Break` means
    /// that the collector has seen enough; the check goes on.
    fn support(&mut self, variable: u32, value: bool, on: &[u32]) -> Flow;
}

/// Sees nothing.
pub struct Nobody;

impl Collector for Nobody {
    fn support(&mut self, _: u32, _: bool, _: &[u32]) -> Flow {
        Flow::Break(())
    }
}

/// The right-hand side of one variable, as far as its support goes.
struct Support<'s> {
    solution: &'s Solution,
    scratch: Vec<u8>,
    value: bool,
    /// In-block support must have a smaller rank than this.
    below: u32,
    block: u16,
    needs_rank: bool,
    /// Whether one successor is enough.
    choosing: bool,
    constant: Option<bool>,
    best: Option<(u32, u32)>,
    on: Vec<u32>,
    wrong: Option<CheckError>,
    /// The right-hand side being looked at: blocks of successors can be asked for only after it was pushed.
    collected: Collected,
}

impl Support<'_> {
    fn constant(&mut self, value: bool) -> Flow {
        if value == self.value {
            if self.choosing {
                self.constant = Some(value);
                return Flow::Break(());
            }
        } else if !self.choosing {
            self.wrong = Some(CheckError::Unsupported(self.value));
            return Flow::Break(());
        }
        Flow::Continue(())
    }
}

impl Support<'_> {
    /// A variable of this block, with its number if it has one.
    fn variable(&mut self, found: Option<u32>, block: u16) -> Flow {
        let s = self;
        let known =
            found.and_then(|number| s.solution.value(number).map(|(value, rank)| (number, value, rank)));
        let supports = known.filter(|(_, value, rank)| {
            *value == s.value && !(s.needs_rank && block == s.block && *rank >= s.below)
        });
        match (supports, s.choosing) {
            (Some((number, _, rank)), true) => {
                // A successor of a later block rests on nothing here, so it is the better support.
                let rank = if block == s.block { rank } else { 0 };
                if s.best.is_none_or(|(best, _)| rank < best) {
                    s.best = Some((rank, number));
                }
            }
            (Some((number, ..)), false) => s.on.push(number),
            (None, true) => {}
            (None, false) => {
                s.wrong = Some(if known.is_none() {
                    CheckError::Uncovered
                } else {
                    CheckError::Unsupported(s.value)
                });
                return Flow::Break(());
            }
        }
        Flow::Continue(())
    }
}

/// Checks that `solution` proves `value` for the graph's main variable.
///
/// # Errors
/// It does not, or a budget is used up.
pub fn check(
    graph: &mut dyn BooleanGraph,
    solution: &Solution,
    value: bool,
    meter: &Meter,
    collector: &mut dyn Collector,
) -> Result<(), CheckError> {
    graph.distrust();
    check_kept(graph, solution, value, meter, collector).map(drop)
}

/// The same where somebody else confirms the steps that were kept. Gives how many variables the answer rests on.
///
/// # Errors
/// As above.
pub(crate) fn check_kept(
    graph: &mut dyn BooleanGraph,
    solution: &Solution,
    value: bool,
    meter: &Meter,
    collector: &mut dyn Collector,
) -> Result<u64, CheckError> {
    let (mut collecting, mut count) = (true, 0);
    walk(graph, solution, value, meter, &mut |variable, value, on| {
        collecting = collecting && collector.support(variable, value, on).is_continue();
        count += 1;
        Flow::Continue(())
    })?;
    Ok(count)
}

/// Walks through a proof that was checked, until the collector has seen enough.
///
/// # Errors
/// What is walked through is no proof, or a budget is used up.
pub(crate) fn show(
    graph: &mut dyn BooleanGraph,
    solution: &Solution,
    value: bool,
    meter: &Meter,
    collector: &mut dyn Collector,
) -> Result<(), CheckError> {
    walk(graph, solution, value, meter, &mut |variable, value, on| collector.support(variable, value, on))
}

fn walk(
    graph: &mut dyn BooleanGraph,
    solution: &Solution,
    value: bool,
    meter: &Meter,
    see: &mut dyn FnMut(u32, bool, &[u32]) -> Flow,
) -> Result<(), CheckError> {
    let signs = graph.blocks().to_vec();
    let (place, node) = graph.root()?;
    let mut place = place;
    let root = solution.find(&place, node, &mut Vec::new()).ok_or(CheckError::Uncovered)?;
    match solution.value(root) {
        None => return Err(CheckError::Uncovered),
        Some((claimed, _)) if claimed != value => return Err(CheckError::OtherValue),
        Some(_) => {}
    }
    let mut seen = vec![0u64; solution.len().div_ceil(64)];
    seen[root as usize / 64] |= 1 << (root % 64);
    let mut stack = vec![root];
    let mut support = Support {
        solution,
        scratch: Vec::new(),
        value,
        below: 0,
        block: 0,
        needs_rank: false,
        choosing: false,
        constant: None,
        best: None,
        on: Vec::new(),
        wrong: None,
        collected: Collected::default(),
    };
    let mut count = 0u32;
    while let Some(variable) = stack.pop() {
        count = count.wrapping_add(1);
        if count.is_multiple_of(4096) {
            meter.check().map_err(CheckError::Limit)?;
        }
        let (claimed, rank) = solution.value(variable).ok_or(CheckError::Uncovered)?;
        let node = solution.variable(variable, &mut place);
        let (operator, block) = graph.equation(&place, node);
        support.value = claimed;
        support.below = rank;
        support.block = block;
        support.needs_rank = claimed != signs[usize::from(block)].default_value();
        support.choosing = claimed == operator.deciding();
        support.constant = None;
        support.best = None;
        support.on.clear();
        supported(graph, &place, node, &mut support)?;
        if see(variable, claimed, &support.on).is_break() {
            return Ok(());
        }
        for &next in support.on.iter().rev() {
            let (word, bit) = (next as usize / 64, 1 << (next % 64));
            if seen[word] & bit == 0 {
                seen[word] |= bit;
                stack.push(next);
            }
        }
    }
    Ok(())
}

fn supported(
    graph: &mut dyn BooleanGraph,
    place: &[u8],
    node: Node,
    support: &mut Support<'_>,
) -> Result<(), CheckError> {
    let mut collected = std::mem::take(&mut support.collected);
    collected.clear();
    let (solution, scratch) = (support.solution, &mut support.scratch);
    graph.successors(place, node, &mut Look { collected: &mut collected, solution, scratch })?;
    collected.replay(support, |place, node| graph.equation(place, node).1);
    support.collected = collected;
    if let Some(wrong) = support.wrong.take() {
        return Err(wrong);
    }
    if support.choosing && support.constant.is_none() {
        let (_, best) = support.best.ok_or(CheckError::Unsupported(support.value))?;
        support.on.push(best);
    } else if support.choosing {
        support.on.clear();
    }
    Ok(())
}

/// A right-hand side, kept.
#[derive(Debug, Default)]
struct Collected {
    bytes: Vec<u8>,
    /// Where the bytes of a place end, the node, and the number of the variable if it has one.
    items: Vec<(usize, Node, Option<u32>)>,
    constants: Vec<bool>,
}

/// Looks up what is pushed, so that what is known of several variables is on its way from memory at once.
struct Look<'a> {
    collected: &'a mut Collected,
    solution: &'a Solution,
    scratch: &'a mut Vec<u8>,
}

impl Successors for Look<'_> {
    fn variable(&mut self, place: &[u8], node: Node) -> Flow {
        let found = self.solution.find(place, node, self.scratch);
        if let Some(found) = found {
            self.solution.prefetch(found);
        }
        self.collected.bytes.extend_from_slice(place);
        self.collected.items.push((self.collected.bytes.len(), node, found));
        Flow::Continue(())
    }

    fn constant(&mut self, value: bool) -> Flow {
        self.collected.constants.push(value);
        Flow::Continue(())
    }
}

impl Collected {
    fn clear(&mut self) {
        self.bytes.clear();
        self.items.clear();
        self.constants.clear();
    }

    fn replay(&self, support: &mut Support<'_>, block_of: impl Fn(&[u8], Node) -> u16) {
        if self.constants.iter().any(|value| support.constant(*value).is_break()) {
            return;
        }
        let mut begin = 0;
        for &(end, node, found) in &self.items {
            if support.variable(found, block_of(&self.bytes[begin..end], node)).is_break() {
                return;
            }
            begin = end;
        }
    }
}
