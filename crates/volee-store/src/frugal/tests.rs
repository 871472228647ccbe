//! The store beside a naive twin: a path, and a set of what was visited.

use std::collections::HashSet;

use super::*;
use volee_system::Random;

/// The state of a number: long ones have much in common.
fn state(number: usize, length: usize) -> Vec<u8> {
    let mut state = number.to_le_bytes()[..3].to_vec();
    state.extend((0..length + number % 7).map(|i| (i * i % 251) as u8));
    if number.is_multiple_of(5) {
        state.rotate_left(number % 3);
    }
    state
}

#[test]
fn what_is_known_was_visited_and_the_path_is_known() {
    let mut forgot = 0;
    for seed in 0..60 {
        let mut random = Random::new(seed);
        let length = [0, 10, 120, 700][random.below(4)];
        let budget = [4_000, 12_000, 40_000, 400_000][random.below(4)] + 30 * length as u64;
        let mut store = Frugal::new(budget, seed);
        let (mut path, mut visited): (Vec<(usize, u32)>, HashSet<usize>) = (Vec::new(), HashSet::new());
        let mut inserted = 0;
        for _ in 0..6_000 {
            let number = random.below(3000);
            let known = store.knows(&state(number, length));
            let on_path = path.iter().any(|&(other, _)| other == number);
            assert!(!known || on_path || visited.contains(&number), "{number} was never there");
            assert!(known || !on_path, "{number} is on the path and not known");
            if !known && random.below(20) < 13 {
                if store.enter(&state(number, length)).is_none() {
                    break;
                }
                inserted += 1;
                path.push((number, 0));
            } else if let Some((last, next)) = path.last_mut() {
                assert_eq!(*store.next_step(), *next);
                if random.below(3) == 0 {
                    *next += 1 + random.below(200) as u32;
                    *store.next_step() = *next;
                } else {
                    visited.insert(*last);
                    path.pop();
                    store.leave();
                }
            }
            assert_eq!(store.depth(), path.len());
            assert_eq!(store.last().map(<[u8]>::to_vec), path.last().map(|&(last, _)| state(last, length)));
            assert!(store.peak() <= budget, "{} of {budget}", store.peak());
        }
        let steps: Vec<u32> = path.iter().rev().map(|&(_, next)| next).collect();
        assert!(store.depth() != path.len() || store.steps() == steps);
        assert_eq!(store.turnover.insertions.abs_diff(inserted) & !1, 0);
        forgot += usize::from(store.turnover.replaced > 0);
        if store.turnover.replaced == 0 {
            assert!(visited.iter().all(|&number| store.knows(&state(number, length))));
        }
    }
    assert!(forgot > 10, "{forgot}");
}
