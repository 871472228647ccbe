//! A program that ends: however its end and the tester's stimulus cross, the verdict is one and the same.

use std::time::Duration;

use volee_conform::run::{Adapter, Cause, Deaf, Heard, Mapping, Rules, StoredTest, execute};
use volee_conform::{Determinised, Interface, Livelock, Purpose, Specification, Verdict, direct};
use volee_lts::{Lts, read_aut};
use volee_system::{Budget, Meter, Quiet};

const COFFEE: &str = "des (0, 3, 2)\n(0, \"?coin\", 1)\n(1, \"!coffee\", 0)\n(1, \"!tea\", 0)\n";
const COMES: &str = "des (0, 2, 3)\n(0, \"!coffee\", 1)\n(1, ACCEPT, 1)\n";

/// When the tester learns of the end, for each way in which two processes can be scheduled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Learnt {
    /// It is heard before anything is sent.
    Before,
    /// The stimulus is written into a pipe that nobody will read.
    After,
    /// The input is closed, the output not yet.
    Meanwhile,
}

struct Ending {
    learns: Learnt,
    heard: u32,
    sent: u32,
}

impl Adapter for Ending {
    fn say(&mut self, _: &str) -> Result<(), Deaf> {
        self.sent += 1;
        if self.learns == Learnt::Meanwhile { Err(Deaf::Closed) } else { Ok(()) }
    }

    fn hear(&mut self, _: Duration) -> Option<Heard> {
        self.heard += 1;
        let known = self.learns == Learnt::Before || self.sent > 0;
        known.then(|| Heard::End(Some("exit status: 0".into())))
    }
}

fn read(text: &str) -> Lts {
    read_aut(&mut text.as_bytes(), "coffee", None).expect("an automaton")
}

fn verdict(specification: &str, learns: Learnt, complete: bool) -> (Verdict, Cause, String) {
    let (lts, meter) = (read(specification), Meter::start(Budget::default()));
    let (mut system, mut quiet) = (&lts, Quiet);
    let seen = Specification::new(&mut system, Interface::default(), Livelock::Quiescent, &meter, &mut quiet);
    let goal = Purpose::automaton(&read(COMES)).expect("deterministic");
    let graph = direct(&mut Determinised::new(seen, goal)).expect("there is a test").graph;
    let graph = if complete { graph } else { graph.case() };
    let mut wire = Ending { learns, heard: 0, sent: 0 };
    let rules = Rules {
        silence: Duration::from_nanos(1),
        steps: 30,
        at_bound: Verdict::Inconclusive,
        synchronous: false,
    };
    let report =
        execute(&mut StoredTest::new(&graph), &mut wire, &Mapping::default(), &rules, &meter).expect("a run");
    (report.verdict, report.cause, report.message)
}

#[test]
fn a_program_that_ends_at_once_gets_one_verdict_however_its_end_is_learnt() {
    let all = [Learnt::Before, Learnt::After, Learnt::Meanwhile];
    for complete in [false, true] {
        for learns in all {
            let (verdict, cause, message) = verdict(COFFEE, learns, complete);
            assert_eq!((verdict, cause), (Verdict::Fail, Cause::Ended), "{learns:?} {message}");
            assert_eq!(
                message,
                "the program has ended (exit status: 0), but only `!coffee` or `!tea` are allowed here"
            );
        }
    }
    // A machine that may keep the coin in silence: nothing is wrong, and no coffee will come.
    let lazy = "des (0, 3, 3)\n(0, \"?coin\", 1)\n(1, \"!coffee\", 0)\n(1, i, 2)\n";
    for learns in all {
        let (verdict, cause, message) = verdict(lazy, learns, false);
        assert_eq!((verdict, cause), (Verdict::Inconclusive, Cause::OffPurpose), "{learns:?} {message}");
    }
}
