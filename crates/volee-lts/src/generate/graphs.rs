//! Graphs that are not protocols: deep chains, hubs with high in-degree, the random graphs of Jard and Jéron
//! 1991, and plain random systems for tests.

use volee_system::{Diagnostic, Random};

use crate::{LabelId, Lts, LtsError, StateId};

/// A path of `length` steps `a`, then one step `b`: the deepest system of its size, and the one with the most
/// rounds of refinement.
///
/// # Errors
/// It is too large.
pub fn chain(length: u32) -> Result<Lts, LtsError> {
    let mut builder = Lts::builder();
    let (a, b) = (builder.label("a"), builder.label("b"));
    for n in 0..length {
        builder.add(StateId(n), a, StateId(n + 1));
    }
    builder.add(StateId(length), b, StateId(length.saturating_add(1)));
    builder.finish(StateId(0), 0)
}

/// `states` states with `degree` steps each over few labels, most of them into one of a few hubs.
///
/// # Errors
/// It is too large.
pub fn hubs(states: u32, degree: u32, labels: u32, seed: u64) -> Result<Lts, LtsError> {
    let mut rng = Random::new(seed);
    let mut builder = Lts::builder();
    let names: Vec<LabelId> = (0..labels.max(1)).map(|l| builder.label(&format!("l{l}"))).collect();
    let hubs = u64::from(states.isqrt().max(1));
    let states = states.max(1);
    for source in 0..states {
        // The first step makes every state reachable.
        builder.add(StateId(source), names[0], StateId((source + 1) % states));
        for _ in 1..degree {
            let bound = if rng.chance(9, 10) { hubs } else { u64::from(states) };
            let label = names[rng.part_of(names.len() as u64) as usize];
            builder.add(StateId(source), label, StateId(rng.part_of(bound) as u32));
        }
    }
    builder.finish(StateId(0), states)
}

/// The random graphs of the 1991 report, section 2.3: generated breadth-first; the degree of a node is
/// uniform in `0..=degree`; with g states so far, a successor is new with probability 1 - g / min(2 g,
/// bound).
///
/// Like the authors we keep only graphs whose size is close to the bound: seeds are tried from `seed` on
/// until one gives at least nine tenths, or the largest of a hundred.
///
/// # Errors
/// It is too large.
pub fn random_graph(bound: u32, degree: u32, seed: u64) -> Result<Lts, LtsError> {
    let mut best: Option<Lts> = None;
    for attempt in 0..100 {
        let lts = random_graph_once(bound.max(1), degree, Random::new(seed.wrapping_add(attempt)))?;
        let enough = lts.state_count() as u64 * 10 >= u64::from(bound) * 9;
        if best.as_ref().is_none_or(|b| b.state_count() < lts.state_count()) {
            best = Some(lts);
        }
        if enough {
            break;
        }
    }
    best.ok_or_else(|| Diagnostic::error("no random graph was made", None).into())
}

fn random_graph_once(bound: u32, degree: u32, mut rng: Random) -> Result<Lts, LtsError> {
    let mut builder = Lts::builder();
    let names: Vec<LabelId> = (0..degree).map(|l| builder.label(&format!("t{l}"))).collect();
    let mut states = 1u32;
    let mut node = 0;
    while node < states {
        let steps = rng.part_of(u64::from(degree) + 1) as usize;
        for &label in &names[..steps] {
            let limit = u64::from(states).saturating_mul(2).min(u64::from(bound));
            let target = if rng.chance(u64::from(states), limit) {
                rng.part_of(u64::from(states)) as u32
            } else {
                states += 1;
                states - 1
            };
            builder.add(StateId(node), label, StateId(target));
        }
        node += 1;
    }
    builder.finish(StateId(0), states)
}

/// What a plain random system looks like.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// States.
    pub states: u32,
    /// Transitions.
    pub transitions: u32,
    /// Visible labels.
    pub labels: u32,
    /// Of a hundred steps, this many are internal.
    pub internal: u32,
}

/// Transitions between states drawn at random; the first ones make a tree, so that all states are reachable
/// if there are enough transitions.
///
/// # Errors
/// It is too large.
pub fn random(shape: Shape, rng: &mut Random) -> Result<Lts, LtsError> {
    let mut builder = Lts::builder();
    let names: Vec<LabelId> = (0..shape.labels.max(1)).map(|l| builder.label(&format!("l{l}"))).collect();
    let states = u64::from(shape.states.max(1));
    for n in 1..=u64::from(shape.transitions) {
        let (source, target) =
            if n < states { (rng.part_of(n), n) } else { (rng.part_of(states), rng.part_of(states)) };
        let label = if rng.chance(u64::from(shape.internal), 100) {
            LabelId::TAU
        } else {
            names[rng.part_of(names.len() as u64) as usize]
        };
        builder.add(StateId(source as u32), label, StateId(target as u32));
    }
    builder.finish(StateId(0), shape.states.max(1))
}
