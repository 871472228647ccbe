//! The connect-disconnect protocol of Jard & Jéron 1989 (figure 6), with a channel of capacity n from A to B.
//!
//! A opens and closes a connection as it likes; B, when connected, may drop it. Neither waits for the other,
//! so the channel from A to B fills with old openings and closings. There are ⌊n²/4⌋ + 3(n + 1) states: the
//! report gives the number, the figure is lost in its text form, and this is the smallest protocol of its
//! description that has it.

use std::borrow::Cow;

use volee_system::{Flow, Label, Sink, Step, System, Variable};

const LABELS: [&str; 6] = ["A!open", "A!close", "A?drop", "B?open", "B?close", "B!drop"];
const OPEN: u8 = 0;
const CLOSE: u8 = 1;
/// Bytes before the messages from A to B: A, B, and how many drops are under way to A.
const HEAD: usize = 3;

/// The protocol as a system.
#[derive(Debug, Clone)]
pub struct ConnectDisconnect {
    capacity: usize,
    packed: Vec<u8>,
}

impl ConnectDisconnect {
    /// With this capacity of the channel from A to B; at most 250 drops are ever under way to A.
    pub fn new(capacity: u16) -> Self {
        ConnectDisconnect { capacity: usize::from(capacity), packed: Vec::new() }
    }

    fn push(&mut self, label: u32, process: u8, sink: &mut dyn Sink) -> Flow {
        sink.push(Step { label: Label(label), process, ..Step::default() }, &self.packed)
    }

    fn restart(&mut self, state: &[u8]) {
        self.packed.clear();
        self.packed.extend_from_slice(state);
    }

    fn step_a(&mut self, state: &[u8], sink: &mut dyn Sink) -> Flow {
        let connected = state[0];
        if state.len() - HEAD < self.capacity {
            self.restart(state);
            self.packed[0] = 1 - connected;
            let message = if connected == 0 { OPEN } else { CLOSE };
            self.packed.push(message);
            self.push(u32::from(message), 0, sink)?;
        }
        if connected == 1 && state[2] > 0 {
            self.restart(state);
            self.packed[0] = 0;
            self.packed[2] -= 1;
            self.push(2, 0, sink)?;
        }
        Flow::Continue(())
    }

    fn step_b(&mut self, state: &[u8], sink: &mut dyn Sink) -> Flow {
        let connected = state[1];
        let expected = if connected == 0 { OPEN } else { CLOSE };
        if state.get(HEAD) == Some(&expected) {
            self.restart(state);
            self.packed[1] = 1 - connected;
            self.packed.remove(HEAD);
            self.push(3 + u32::from(expected), 1, sink)?;
        }
        if connected == 1 && state[2] < 250 {
            self.restart(state);
            self.packed[1] = 0;
            self.packed[2] += 1;
            self.push(5, 1, sink)?;
        }
        Flow::Continue(())
    }
}

impl System for ConnectDisconnect {
    fn initial(&mut self, push: &mut dyn FnMut(&[u8]) -> Flow) -> Flow {
        push(&[0; HEAD])
    }

    fn steps(&mut self, state: &[u8], sink: &mut dyn Sink) -> Flow {
        self.step_a(state, sink)?;
        self.step_b(state, sink)
    }

    fn label(&self, label: Label) -> Cow<'_, str> {
        LABELS[label.0 as usize].into()
    }

    fn variables(&self, state: &[u8]) -> Vec<Variable> {
        let word = |connected: u8| if connected == 1 { "connected" } else { "idle" };
        let messages: Vec<&str> =
            state[HEAD..].iter().map(|&m| if m == OPEN { "open" } else { "close" }).collect();
        vec![
            Variable { name: "A".into(), value: word(state[0]).into() },
            Variable { name: "B".into(), value: word(state[1]).into() },
            Variable { name: "to_A".into(), value: format!("{} drops", state[2]) },
            Variable { name: "to_B".into(), value: messages.join(" ") },
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use volee_system::{collect_initial, collect_steps};

    fn states(capacity: u16) -> usize {
        let mut system = ConnectDisconnect::new(capacity);
        let mut waiting = collect_initial(&mut system);
        let mut seen: HashSet<Vec<u8>> = waiting.iter().cloned().collect();
        while let Some(state) = waiting.pop() {
            for (_, target) in collect_steps(&mut system, &state) {
                if seen.insert(target.clone()) {
                    waiting.push(target);
                }
            }
        }
        seen.len()
    }

    #[test]
    fn it_has_the_published_number_of_states() {
        for n in 1..=200 {
            assert_eq!(states(n), usize::from(n) * usize::from(n) / 4 + 3 * (usize::from(n) + 1), "n = {n}");
        }
    }
}
