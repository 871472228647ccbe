//! The connect-disconnect protocol of Jard and Jéron's report of 1989, and budgets on what grows for ever.

use std::time::Duration;

use volee_channels::{Boundedness, Configuration, Fifo, read_scm, search};
use volee_system::{Budget, Flow, Limit, Meter, Quiet, Step, System, Witness, replay};

const PROTOCOL: &str = "scm connect_disconnect :\nnb_channels = 2 ;\nparameters :\nreal connect ;\nreal close ;\nreal disconnect ;\n\
automaton A :\ninitial : 0\nstate 0 :\nto 1 : when true , 0 ! connect ;\nstate 1 :\nto 0 : when true , 0 ! close ;\n\
to 0 : when true , 1 ? disconnect ;\nautomaton B :\ninitial : 0\nstate 0 :\nto 1 : when true , 0 ? connect ;\nstate 1 :\n\
to 0 : when true , 0 ? close ;\nto 0 : when true , 1 ! disconnect ;\n";

#[test]
fn the_connect_disconnect_protocol_is_unbounded_from_a_to_b() {
    let machines = read_scm("cd.scm", PROTOCOL).expect("a good description");
    let outcome = search(&mut Fifo::new(&machines), &Meter::start(Budget::default()), &mut Quiet);
    let Boundedness::Unbounded(pump) = outcome.answer else { panic!("{:?}", outcome.answer) };
    assert!(pump.growth[0] > 0, "A sends faster than B takes: {pump:?}");
    assert!(pump.replay(&mut Fifo::new(&machines), 12).is_some());
    let mut system = Fifo::new(&machines);
    let steps = pump.replay(&mut system, 3).expect("three rounds");
    let witness = Witness { initial: 0, steps, loop_start: None };
    let run = replay(&mut system, &witness).expect("the run is one of the system");
    assert_eq!(run.steps.len(), pump.prefix.len() + 3 * pump.round.len());
}

/// The report counts the states with at most `n` messages from A to B: n²/4, rounded down, and 3 (n + 1).
#[test]
fn the_protocol_has_as_many_states_as_the_report_says() {
    let machines = read_scm("cd.scm", PROTOCOL).expect("a good description");
    for n in 1..=12 {
        let start = Configuration::initial(&machines);
        let mut seen = std::collections::HashSet::from([start.clone()]);
        let mut work = vec![start];
        while let Some(now) = work.pop() {
            for (machine, automaton) in machines.automata.iter().enumerate() {
                for &step in &automaton.states[usize::from(now.control[machine])] {
                    let mut after = now.clone();
                    if after.make(machine, step) && after.contents[0].len() <= n && seen.insert(after.clone())
                    {
                        work.push(after);
                    }
                }
            }
        }
        assert_eq!(seen.len(), n * n / 4 + 3 * (n + 1), "n = {n}");
    }
}

#[test]
fn a_growing_system_ends_at_its_limits() {
    // Each round doubles what is between two marks in the queue, so it grows, but no loop repeats.
    let text = "scm doubling :\nnb_channels = 1 ;\nparameters :\nreal a ;\nreal end ;\nautomaton A :\ninitial : 0\n\
                state 0 :\nto 1 : when true , 0 ! a ;\nstate 1 :\nto 2 : when true , 0 ! end ;\nstate 2 :\n\
                to 3 : when true , 0 ? a ;\nto 2 : when true , 0 ? end ;\nstate 3 :\nto 4 : when true , 0 ! a ;\nstate 4 :\nto 2 : when true , 0 ! a ;\n";
    let text = text.replace("to 2 : when true , 0 ? end ;\n", "to 5 : when true , 0 ? end ;\n")
        + "state 5 :\nto 2 : when true , 0 ! end ;\n";
    let machines = read_scm("d.scm", &text).expect("a good description");
    let budget =
        Budget { memory: Some(32 << 20), time: Some(Duration::from_millis(300)), ..Budget::default() };
    let outcome = search(&mut Fifo::new(&machines), &Meter::start(budget), &mut Quiet);
    assert!(
        matches!(
            outcome.answer,
            Boundedness::Unknown(Limit::Time { .. } | Limit::Memory { .. } | Limit::Other { .. })
        ),
        "{:?}",
        outcome.answer
    );
    assert!(outcome.statistics.bytes <= 32 << 20);
}

#[test]
fn configurations_survive_their_encoding() {
    let machines = read_scm("cd.scm", PROTOCOL).expect("a good description");
    let configuration = Configuration { control: vec![1, 0], contents: vec![vec![0, 1, 0], vec![2]] };
    let mut bytes = Vec::new();
    configuration.encode(&mut bytes);
    assert_eq!(Configuration::decode(&machines, &bytes), configuration);
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    let all = |text: &str| read_scm("m.scm", text).expect_err("it is wrong")[0].to_string();
    assert!(all("").contains("m.scm:1:1"));
    assert!(
        all(&PROTOCOL.replace("0 ! close", "7 ! close")).starts_with("m.scm:12:20: there is no channel 7")
    );
    assert!(
        all(&PROTOCOL.replace("when true , 0 ! close", "when x > 1 , 0 ! close"))
            .contains("only the guard `true`")
    );
    assert!(all(&PROTOCOL.replace("parameters", "lossy")).contains("lossy"));
    assert!(
        all(&PROTOCOL.replace("to 1 : when true , 0 ? connect", "to 9 : when true , 0 ? connect"))
            .contains("no state 9")
    );
    for end in 0..PROTOCOL.len() {
        let _ = read_scm("m.scm", &PROTOCOL[..end]);
    }
}

#[test]
fn labels_are_as_few_as_operations() {
    let machines = read_scm("cd.scm", PROTOCOL).expect("a good description");
    let mut system = Fifo::new(&machines);
    let mut state = Vec::new();
    let _ = system.initial(&mut |first| {
        state = first.to_vec();
        Flow::Continue(())
    });
    let mut seen = Vec::new();
    for _ in 0..6 {
        let mut next = state.clone();
        let _ = system.steps(&state, &mut |step: Step, target: &[u8]| {
            seen.push(step.label);
            next = target.to_vec();
            Flow::Continue(())
        });
        state = next;
    }
    assert!(!seen.is_empty() && seen.iter().all(|label| label.0 < 16), "{seen:?}");
    let mut texts: Vec<String> = seen.iter().map(|l| system.label(*l).into_owned()).collect();
    texts.sort();
    texts.dedup();
    seen.sort();
    seen.dedup();
    assert_eq!(texts.len(), seen.len(), "{texts:?}");
}
