//! The shared systems and their verdicts.

use std::path::PathBuf;

use volee_channels::{Boundedness, Fifo, read_scm, search};
use volee_system::{Budget, Meter, Quiet};

#[test]
fn the_shared_systems_get_their_verdicts() {
    let root = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/corpus/fifo"));
    let Ok(oracle) = std::fs::read_to_string(root.join("oracle.csv")) else {
        println!("skipped: the shared corpus is not beside the checkout");
        return;
    };
    let mut seen = 0;
    for line in oracle.lines() {
        let mut fields = line.split(',');
        let (Some(name), Some(expected)) = (fields.next(), fields.next()) else { continue };
        let file = root.join(format!("{name}.scm"));
        let text = std::fs::read_to_string(&file).expect("listed systems exist");
        let machines = read_scm(name, &text).expect("listed systems are readable");
        let meter = Meter::start(Budget::default());
        let got = match search(&mut Fifo::new(&machines), &meter, &mut Quiet).answer {
            Boundedness::Unbounded(pump) => {
                assert!(pump.replay(&mut Fifo::new(&machines), 100).is_some(), "{name}");
                "UNBOUNDED".to_string()
            }
            Boundedness::Bounded(most) => format!("bounded(max {})", most.iter().max().copied().unwrap_or(0)),
            Boundedness::Unknown(limit) => panic!("{name}: {limit}"),
        };
        assert_eq!(got, expected, "{name}");
        seen += 1;
    }
    assert_eq!(seen, 8);
}
