//! The naive twin of the packed search: typed states, compared by what they print, one after the other.

use std::collections::{HashSet, VecDeque};

use volee_models::{Model, Pack};

/// Distinct states and steps of a model.
pub fn naive<M: Model>(model: &M) -> (u64, u64) {
    let mut seen = HashSet::new();
    let mut waiting = VecDeque::new();
    let mut steps = 0;
    for state in model.initial() {
        if seen.insert(format!("{state:?}")) {
            waiting.push_back(state);
        }
    }
    while let Some(state) = waiting.pop_front() {
        agrees_with_its_bytes(&state);
        let mut actions = Vec::new();
        model.actions(&state, &mut actions);
        for action in actions {
            let mut next = state.clone();
            model.apply(&mut next, &action);
            if !model.within(&next) {
                continue;
            }
            steps += 1;
            if seen.insert(format!("{next:?}")) {
                waiting.push_back(next);
            }
        }
    }
    (seen.len() as u64, steps)
}

/// What is unpacked prints as what was packed, and packs again to the same bytes.
fn agrees_with_its_bytes<S: Pack>(state: &S) {
    let mut bytes = Vec::new();
    state.pack(&mut bytes);
    let mut rest = bytes.as_slice();
    let again = S::unpacked(&mut rest).expect("it was packed");
    assert!(rest.is_empty());
    assert_eq!(format!("{again:?}"), format!("{state:?}"));
    let mut packed = Vec::new();
    again.pack(&mut packed);
    assert_eq!(packed, bytes);
}

fn agree<M: Model + Send + Sync + 'static>(model: M) {
    let (states, steps) = naive(&model);
    let checked = model.check().all_errors().without_deadlocks().run();
    let figures = &checked.answers().figures;
    assert_eq!(checked.states(), states);
    assert_eq!(
        figures.number("transitions"),
        Some(steps + 1),
        "every step, and the arrival in the first state"
    );
}

#[test]
fn the_packed_search_finds_as_many_states_and_steps_as_a_naive_one() {
    use crate::bounded_buffer::{BoundedBuffer, Wakes};
    agree(crate::two_phase::TwoPhase::new(4));
    agree(crate::election::election(3, 1));
    agree(crate::german::German { clients: 2, hasty: false });
    agree(crate::german::German { clients: 2, hasty: true });
    agree(crate::queue::LockFreeQueue::reuse(true));
    agree(crate::queue::LockFreeQueue::reuse(false));
    for wakes in [Wakes::Anybody, Wakes::TheOthers] {
        agree(BoundedBuffer { producers: 2, consumers: 2, capacity: 2, wakes });
    }
}
