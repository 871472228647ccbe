//! Locations inside indivisible sequences, composed away: fewer locations, fewer sets, and cycles that are short.

use crate::program::{LocationId, Program, Transition};

/// A location goes if its transitions become at most this many more.
const GROWTH: usize = 4;

/// Removes locations that nobody sees where the composition of what enters and what leaves them is small. Their numbers
/// stay, without transitions.
pub(crate) fn remove_internal(program: &mut Program, visible: &[bool]) {
    let mut changed = true;
    while changed {
        changed = false;
        for (i, _) in visible.iter().enumerate().filter(|(_, v)| !**v) {
            changed |= remove(program, LocationId(i as u32));
        }
    }
}

fn remove(program: &mut Program, location: LocationId) -> bool {
    let touches = |t: &Transition| t.from == location || t.to == location;
    let is_start = program.initial.iter().any(|r| r.location == location);
    let has_loop = program.transitions.iter().any(|t| t.from == location && t.to == location);
    let entering = program.transitions.iter().filter(|t| t.to == location).count();
    let leaving = program.transitions.iter().filter(|t| t.from == location).count();
    if is_start || has_loop || entering + leaving == 0 || entering * leaving > entering + leaving + GROWTH {
        return false;
    }
    let (gone, mut kept): (Vec<Transition>, Vec<Transition>) =
        std::mem::take(&mut program.transitions).into_iter().partition(touches);
    for first in gone.iter().filter(|t| t.to == location) {
        for second in gone.iter().filter(|t| t.from == location) {
            let Some(instruction) = first.instruction.then(&second.instruction) else { continue };
            kept.push(Transition {
                name: format!("{}; {}", first.name, second.name),
                from: first.from,
                to: second.to,
                instruction,
                place: first.place.clone(),
            });
        }
    }
    program.transitions = kept;
    true
}
