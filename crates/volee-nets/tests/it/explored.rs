//! Instances of nets as systems: resets and transfers, markings that grow too large, and all nets of the
//! corpus.

use std::collections::HashSet;
use std::path::PathBuf;

use volee_nets::{Instance, read_spec};
use volee_system::{Draft as _, Flow, Step, System};

/// All markings that can be reached, which must be few.
pub fn markings(system: &mut dyn System) -> HashSet<Vec<u32>> {
    let (mut seen, mut work) = (HashSet::new(), Vec::new());
    let _ = system.initial(&mut |state| {
        work.push(state.to_vec());
        Flow::Continue(())
    });
    while let Some(state) = work.pop() {
        assert!(seen.len() < 1_000, "too many markings");
        if seen.insert(Instance::decode(&state)) {
            let _ = system.steps(&state, &mut |_: Step, target: &[u8]| {
                work.push(target.to_vec());
                Flow::Continue(())
            });
        }
    }
    seen
}

const SPEC: &str = "vars\n a b c\nrules\n a >= 1 -> a' = a - 1, b' = b + 1;\n b >= 2 -> b' = 0, c' = c + b;\n\
    init\n a >= 3, b = 0, c = 0\ntarget\n c >= 2\n";

#[test]
fn resets_and_transfers_move_all_tokens() {
    let mut net = read_spec("x.spec", SPEC).expect("sound");
    assert_eq!(
        (net.initial[0].base.as_slice(), net.initial[0].open.as_slice()),
        (&[3, 0, 0][..], &[true, false, false][..])
    );
    let mut system = Instance::least(net.clone());
    // (3,0,0) (2,1,0) (1,2,0) (0,3,0) (1,0,2) (0,0,3) (0,1,2)
    assert_eq!(markings(&mut system).len(), 7);
    let target = system.predicate("target").expect("there is one");
    let odd = system.predicate("c >= 2 && b == 1").expect("sound");
    let state = |a: u32, b: u32, c: u32| [a, b, c].iter().flat_map(|n| n.to_le_bytes()).collect::<Vec<_>>();
    assert_eq!(system.holds(target, &state(0, 1, 2)), Ok(true));
    assert_eq!(system.holds(odd, &state(1, 0, 2)), Ok(false));
    assert!(system.predicate("z >= 1").is_err());
    net.start_with("a", 5).expect("known");
    assert!(markings(&mut Instance::least(net.clone())).len() > 7);
    assert!(net.start_with("z", 5).is_err());
}

#[test]
fn a_place_that_init_does_not_name_may_hold_any_number() {
    let net =
        read_spec("x.spec", "vars a b rules a >= 1 -> a' = a - 1; init b = 1 target a >= 5").expect("sound");
    assert_eq!(net.initial[0].open, [true, false]);
    assert!(net.initial[0].reaches([(volee_nets::PlaceId(0), 7)]));
}

#[test]
fn a_transition_that_would_make_too_many_tokens_is_a_fault_and_not_disabled() {
    let net = read_spec("x.spec", "vars a rules -> a' = 1000000 * a + 1; init a = 1").expect("sound");
    let mut system = Instance::least(net);
    let mut faults = 0;
    let state = 2_000_u32.to_le_bytes();
    let _ = system.steps(&state, &mut |step: Step, target: &[u8]| {
        faults += u32::from(step.fault.is_some() && step.stays && target == state);
        Flow::Continue(())
    });
    assert_eq!(faults, 1);
}

#[test]
fn every_net_of_the_corpus_is_read() {
    let corpus = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/corpus"));
    if !corpus.is_dir() {
        println!("skipped: {} is not there", corpus.display());
        return;
    }
    let mut folders = vec![corpus.join("nets"), corpus.join("counters")];
    let mut read = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "spec") {
                let text = String::from_utf8_lossy(&std::fs::read(&path).expect("bytes")).into_owned();
                let net = read_spec(&path.display().to_string(), &text).expect("sound");
                assert!(!net.transitions.is_empty() && !net.targets.is_empty(), "{}", path.display());
                read += 1;
            }
        }
    }
    assert_eq!(read, 64);
}
