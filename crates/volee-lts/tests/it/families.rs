//! Generated systems have the sizes that theory gives them.

use volee_lts::generate::{AlternatingBit, FAMILIES, LeaderElection, TwoPhaseCommit, family};
use volee_lts::{Lts, explore};
use volee_system::{Budget, Limit, Meter, Quiet, System, collect_initial, collect_steps};

pub fn explicit(system: &mut dyn System) -> Lts {
    explore(system, &Meter::start(Budget::default()), &mut Quiet).expect("small")
}

#[test]
fn the_alternating_bit_protocol_has_the_published_sizes() {
    for n in [1u64, 2, 4, 9, 16] {
        let lts = explicit(&mut AlternatingBit::new(n as u16, 1));
        assert_eq!(lts.state_count() as u64, 6 * n * n + 50 * n + 8, "C=1, N={n}");
        let lts = explicit(&mut AlternatingBit::new(n as u16, 2));
        assert_eq!(lts.state_count() as u64, 34 * n * n + 136 * n + 12, "C=2, N={n}");
    }
    let lts = explicit(&mut AlternatingBit::new(4, 1));
    assert_eq!((lts.state_count(), lts.transition_count()), (304, 814));
    let lts = explicit(&mut AlternatingBit::new(16, 3));
    assert_eq!((lts.state_count(), lts.transition_count()), (28_528, 101_906));
}

#[test]
fn every_family_makes_a_system_from_its_defaults() {
    for f in FAMILIES {
        let mut system = f.make(&f.defaults()).expect(f.name);
        let lts = explicit(&mut *system);
        assert!(lts.state_count() > 10, "{}: {} states", f.name, lts.state_count());
    }
}

#[test]
fn protocols_end_only_where_they_may() {
    let deadlocks = |name: &str| {
        let f = family(name).expect(name);
        let lts = explicit(&mut *f.make(&f.defaults()).expect(name));
        lts.states().filter(|&s| lts.edges(s).is_empty()).count()
    };
    for name in ["abp", "window", "retransmission", "ring"] {
        assert_eq!(deadlocks(name), 0, "{name}");
    }
    assert_eq!(deadlocks("philosophers"), 1);
    assert_eq!(deadlocks("chain"), 1);
}

/// All reachable states of a family's default member, as bytes.
fn states(system: &mut dyn System) -> Vec<Vec<u8>> {
    let mut found = collect_initial(system);
    let mut known: std::collections::HashSet<Vec<u8>> = found.iter().cloned().collect();
    let mut at = 0;
    while at < found.len() {
        for (_, target) in collect_steps(system, &found[at].clone()) {
            if known.insert(target.clone()) {
                found.push(target);
            }
        }
        at += 1;
    }
    found
}

#[test]
fn participants_of_a_commit_never_disagree() {
    for participants in 1..=4 {
        let mut system = TwoPhaseCommit::new(participants);
        let states = states(&mut system);
        for state in &states {
            let standing = |what: u8| state[1..].iter().any(|participant| participant & 0b11 == what);
            assert!(!(standing(2) && standing(3)), "{state:?}");
            assert!(!collect_steps(&mut system, state).is_empty(), "{state:?}");
        }
        assert!(states.iter().any(|state| state[1..].iter().all(|participant| participant & 0b11 == 2)));
    }
}

#[test]
fn the_largest_number_becomes_the_only_leader() {
    for (stations, capacity) in [(2, 1), (3, 1), (4, 2), (5, 1)] {
        let mut system = LeaderElection::new(stations, capacity);
        let width = 1 + usize::from(capacity);
        for state in states(&mut system) {
            let leaders: Vec<usize> = (0..usize::from(stations)).filter(|s| state[s * width] == 2).collect();
            assert!(leaders.is_empty() || leaders == [0], "{state:?}");
            let ends = collect_steps(&mut system, &state).is_empty();
            assert_eq!(ends, system.is_valid_end(&state), "{state:?}");
        }
    }
}

#[test]
fn a_value_out_of_bounds_is_refused() {
    let message = family("abp").expect("known").make(&[0, 1]).err().expect("refused").to_string();
    assert!(message.contains("--messages 0 is out of bounds"), "{message}");
}

#[test]
fn exploring_stops_at_the_memory_budget() {
    let budget = Budget { memory: Some(1 << 20), ..Budget::default() };
    let result = explore(&mut AlternatingBit::new(64, 2), &Meter::start(budget), &mut Quiet);
    assert!(matches!(result, Err(volee_lts::LtsError::Limit(Limit::Memory { .. }))));
}
