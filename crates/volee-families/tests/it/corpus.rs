//! The shared nets: no verdict contradicts what peers found, each with its certificate or replayed run.

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::Duration;

use volee_families::{Choice, check};
use volee_nets::read_spec;
use volee_system::{Budget, Quiet, Verdict};

/// Takes ten seconds even with optimisation; `cargo xtask bench nets` has it.
const SLOW: [&str; 1] = ["mist-ext/delegatebuffer.spec"];

#[test]
fn the_shared_nets_get_the_verdicts_that_peers_give() {
    let root = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/corpus/nets"));
    let Ok(oracle) = std::fs::read_to_string(root.join("oracle.csv")) else {
        volee_testkit::corpus::no_corpus("nets");
        return;
    };
    let mut known: HashMap<&str, Option<bool>> = HashMap::new();
    for line in oracle.lines().skip(1) {
        let mut fields = line.split(',');
        let (Some(name), Some(verdict)) = (fields.next(), fields.next()) else { continue };
        let entry = known.entry(name).or_default();
        match verdict {
            "safe" => *entry = Some(true),
            "unsafe" => *entry = Some(false),
            _ => {}
        }
    }
    assert!(known.len() >= 47);
    for (name, expected) in known {
        if SLOW.contains(&name) {
            continue;
        }
        let bytes = std::fs::read(root.join(name)).expect("listed nets exist");
        let net = read_spec(name, &String::from_utf8_lossy(&bytes)).expect("listed nets are readable");
        let budget = Budget { time: Some(Duration::from_secs(60)), ..Budget::default() };
        let checked = check(&net, Choice::Auto, budget, &mut Quiet).expect("listed nets are well formed");
        let holds = match checked.verdict {
            Verdict::Holds => true,
            Verdict::Violated(_) => false,
            Verdict::Unknown(limit) => panic!("{name}: {limit}"),
        };
        if let Some(expected) = expected {
            assert_eq!(holds, expected, "{name}");
        }
    }
}
