//! Random specifications, purposes and implementations, small enough for naive twins.

use volee_lts::{LabelId, Lts, LtsError, StateId};
use volee_system::Random;

/// What random systems look like.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// The most states.
    pub states: u32,
    /// Different inputs, `?0` and on.
    pub inputs: u32,
    /// Different outputs, `!0` and on.
    pub outputs: u32,
    /// Of a hundred steps, this many are internal.
    pub internal: u64,
}

/// A random specification.
///
/// # Errors
/// Never for small shapes.
pub fn specification(shape: Shape, rng: &mut Random) -> Result<Lts, LtsError> {
    let states = 1 + rng.part_of(u64::from(shape.states));
    let steps = states + rng.part_of(2 * states + 1);
    let mut builder = Lts::builder();
    for n in 1..=steps {
        let (source, target) =
            if n < states { (rng.part_of(n), n) } else { (rng.part_of(states), rng.part_of(states)) };
        let label = match rng.chance(shape.internal, 100) {
            true => LabelId::TAU,
            false => builder.label(&visible(shape, rng)),
        };
        builder.add(StateId(source as u32), label, StateId(target as u32));
    }
    builder.finish(StateId(0), states as u32)
}

fn visible(shape: Shape, rng: &mut Random) -> String {
    let n = rng.part_of(u64::from(shape.inputs + shape.outputs));
    match n.checked_sub(u64::from(shape.inputs)) {
        None => format!("?{n}"),
        Some(output) => format!("!{output}"),
    }
}

/// A random implementation of a specification: now and then a step is left out, changed or added; every input
/// is taken in every state.
///
/// # Errors
/// Never for small shapes.
pub fn implementation(specification: &Lts, shape: Shape, rng: &mut Random) -> Result<Lts, LtsError> {
    let states = specification.state_count() as u64;
    let chance = rng.part_of(30);
    let mut builder = Lts::builder();
    let mut steps = Vec::new();
    for (source, edge) in specification.transitions() {
        let (mut name, mut target) = (specification.name(edge.label).to_owned(), u64::from(edge.target.0));
        if rng.chance(chance, 100) {
            match rng.part_of(4) {
                0 => continue,
                1 => target = rng.part_of(states),
                2 => name = visible(shape, rng),
                _ => steps.push((rng.part_of(states), visible(shape, rng), rng.part_of(states))),
            }
        }
        steps.push((u64::from(source.0), name, target));
    }
    for state in 0..states {
        for input in (0..shape.inputs).map(|n| format!("?{n}")) {
            if !steps.iter().any(|(s, name, _)| *s == state && *name == input) {
                let target = if rng.chance(chance, 100) { rng.part_of(states) } else { state };
                steps.push((state, input, target));
            }
        }
    }
    for (source, name, target) in steps {
        let label = builder.label(&name);
        builder.add(StateId(source as u32), label, StateId(target as u32));
    }
    builder.finish(StateId(0), states as u32)
}

/// A random purpose: deterministic, with an accepting state, now and then a refusing one; it also looks at
/// internal steps.
///
/// # Errors
/// Never for small shapes.
pub fn purpose(shape: Shape, rng: &mut Random) -> Result<Lts, LtsError> {
    let open = 1 + rng.part_of(3);
    let (accept, refuse) = (open, open + 1);
    let mut builder = Lts::builder();
    for source in 0..open {
        let mut labels = vec!["i".to_owned(), "*".to_owned()];
        labels.extend((0..shape.inputs).map(|n| format!("?{n}")));
        labels.extend((0..shape.outputs).map(|n| format!("!{n}")));
        for label in labels {
            if !rng.chance(2, 5) {
                continue;
            }
            let target = match rng.part_of(8) {
                0 | 1 => accept,
                2 => refuse,
                _ => rng.part_of(open),
            };
            let label = builder.label(&label);
            builder.add(StateId(source as u32), label, StateId(target as u32));
        }
    }
    for (state, name) in [(accept, "ACCEPT"), (refuse, "REFUSE")] {
        let label = builder.label(name);
        builder.add(StateId(state as u32), label, StateId(state as u32));
    }
    builder.finish(StateId(0), refuse as u32 + 1)
}
