//! Random communicating machines, for testing the search against explicit exploration.

use volee_system::Random;

use crate::machines::{Automaton, Machines, Move, Operation};

/// A few small machines over one or two channels.
pub fn random_machines(seed: u64) -> Machines {
    let mut random = Random::new(seed);
    let mut below = |bound: u64| random.below(bound);
    let channels = 1 + below(2);
    let messages = 1 + below(2);
    let automata = 1 + below(3);
    let mut machines = Machines {
        name: format!("random {seed}"),
        channels: (0..channels).map(|c| c.to_string()).collect(),
        messages: (0..messages).map(|m| format!("m{m}")).collect(),
        automata: Vec::new(),
    };
    for number in 0..automata {
        let states = 1 + below(3);
        let mut automaton = Automaton { name: format!("A{number}"), initial: 0, states: Vec::new() };
        for _ in 0..states {
            let moves = below(3);
            let each = |_| {
                let (channel, message) = (below(channels) as u16, below(messages) as u16);
                let operation = match below(5) {
                    0 | 1 => Operation::Send { channel, message },
                    2 | 3 => Operation::Receive { channel, message },
                    _ => Operation::Internal,
                };
                Move { operation, target: below(states) as u16 }
            };
            automaton.states.push((0..moves).map(each).collect());
        }
        machines.automata.push(automaton);
    }
    machines
}
