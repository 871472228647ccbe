//! ioco between two models: after every suspension trace of the specification the implementation may only
//! output what the specification allows, quiescence included.

use std::collections::{HashMap, VecDeque};

use crate::determinised::{Determinised, MetaId, Moves};
use crate::{ActionId, ConformError};

/// A trace of the specification after which the implementation does what is not allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadTrace {
    /// The trace, in actions of the specification.
    pub trace: Vec<ActionId>,
    /// What the implementation then does.
    pub output: String,
}

/// A meta-state of the specification with one of the implementation.
type Pair = (MetaId, MetaId);

/// Looks for a shortest trace that shows that `implementation` does not conform to `specification`; both
/// without a purpose, the implementation taking every input in every state.
///
/// # Errors
/// A limit, or one of the two makes no sense.
pub fn ioco(
    specification: &mut Determinised<'_>,
    implementation: &mut Determinised<'_>,
) -> Result<Option<BadTrace>, ConformError> {
    let start = (specification.initial()?, implementation.initial()?);
    // Where a pair was reached from, and by which action.
    let mut reached: HashMap<Pair, Option<(Pair, ActionId)>> = HashMap::from([(start, None)]);
    let mut queue = VecDeque::from([start]);
    let (mut allowed, mut possible) = (Moves::new(), Moves::new());
    while let Some(pair) = queue.pop_front() {
        specification.moves(pair.0, &mut allowed)?;
        implementation.moves(pair.1, &mut possible)?;
        for &(action, after) in &possible {
            let theirs = implementation.specification().actions().get(action).clone();
            let ours = match action {
                crate::DELTA => Some(crate::DELTA),
                _ => specification.specification().actions().find(&theirs.name),
            };
            let target = ours.and_then(|a| allowed.iter().find(|(b, _)| *b == a).map(|(_, t)| (a, *t)));
            match target {
                Some((action, next)) => {
                    let next = (next, after);
                    if let std::collections::hash_map::Entry::Vacant(entry) = reached.entry(next) {
                        entry.insert(Some((pair, action)));
                        queue.push_back(next);
                    }
                }
                None if theirs.kind == crate::Kind::Output => {
                    let mut trace = Vec::new();
                    let mut at = pair;
                    while let Some((before, action)) = reached[&at] {
                        trace.push(action);
                        at = before;
                    }
                    trace.reverse();
                    return Ok(Some(BadTrace { trace, output: theirs.name }));
                }
                None => {}
            }
        }
    }
    Ok(None)
}
