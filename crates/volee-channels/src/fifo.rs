//! Machines over unbounded channels as a system.

use std::borrow::{Borrow, Cow};
use std::collections::HashMap;
use std::sync::Arc;

use volee_system::{Action, Event, EventKind, Flow, Label, Sink, Step, System, Variable};

use crate::machines::{Machines, Move, Operation};
use crate::queued::{Next, Queued};

/// Where the machines are and what the channels hold.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Configuration {
    /// The state of each machine.
    pub control: Vec<u16>,
    /// The messages in each channel, the oldest first.
    pub contents: Vec<Vec<u16>>,
}

impl Configuration {
    /// The start: all channels empty.
    pub fn initial(machines: &Machines) -> Self {
        Configuration {
            control: machines.automata.iter().map(|a| a.initial).collect(),
            contents: vec![Vec::new(); machines.channels.len()],
        }
    }

    /// Makes a move of one machine; whether it could.
    pub fn make(&mut self, machine: usize, step: Move) -> bool {
        match step.operation {
            Operation::Internal => {}
            Operation::Send { channel, message } => self.contents[usize::from(channel)].push(message),
            Operation::Receive { channel, message } => {
                let queue = &mut self.contents[usize::from(channel)];
                if queue.first() != Some(&message) {
                    return false;
                }
                queue.remove(0);
            }
        }
        self.control[machine] = step.target;
        true
    }

    /// How many messages there are in all.
    pub fn total(&self) -> usize {
        self.contents.iter().map(Vec::len).sum()
    }

    /// As bytes: control, then each channel with its length.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.clear();
        out.extend(self.control.iter().flat_map(|c| c.to_le_bytes()));
        for queue in &self.contents {
            out.extend((queue.len() as u32).to_le_bytes());
            out.extend(queue.iter().flat_map(|m| m.to_le_bytes()));
        }
    }

    /// The inverse of [`Configuration::encode`].
    pub fn decode(machines: &Machines, bytes: &[u8]) -> Self {
        let mut words = bytes.chunks_exact(2).map(|c| u16::from_le_bytes([c[0], c[1]]));
        let mut word = || words.next().unwrap_or(0);
        let control = machines.automata.iter().map(|_| word()).collect();
        let contents = machines
            .channels
            .iter()
            .map(|_| {
                let length = usize::from(word()) | usize::from(word()) << 16;
                (0..length).map(|_| word()).collect()
            })
            .collect();
        Configuration { control, contents }
    }
}

/// The machines as a system that can be kept; all its code is made here, where it is optimised.
pub fn system(machines: Arc<Machines>) -> Box<dyn System> {
    Box::new(Fifo::new(machines))
}

/// The machines as a source of configurations; as above.
pub fn queues(machines: &Machines) -> Box<dyn Queued + '_> {
    Box::new(Fifo::new(machines))
}

/// The machines as a [`System`]: machines in order, moves as written.
#[derive(Debug)]
pub struct Fifo<M> {
    machines: M,
    /// The different operations: a label is a position here, so that labels are few and small.
    operations: Vec<Operation>,
    /// The label of each move: by machine, state and position.
    labels: Vec<Vec<Vec<u32>>>,
    bytes: Vec<u8>,
}

impl<M: Borrow<Machines>> Fifo<M> {
    /// The system of these machines over unbounded channels; they may be its own or somebody else's.
    pub fn new(machines: M) -> Self {
        let mut operations = Vec::new();
        let mut known: HashMap<Operation, u32> = HashMap::new();
        let mut label = |step: &Move| {
            *known.entry(step.operation).or_insert_with(|| {
                operations.push(step.operation);
                operations.len() as u32 - 1
            })
        };
        let automata = &machines.borrow().automata;
        let labels = automata
            .iter()
            .map(|a| a.states.iter().map(|moves| moves.iter().map(&mut label).collect()).collect())
            .collect();
        Fifo { machines, operations, labels, bytes: Vec::new() }
    }

    /// The moves that can be made, each with what it leads to.
    fn each(&self, now: &Configuration, mut visit: impl FnMut(usize, Label, &Configuration) -> Flow) -> Flow {
        for (machine, automaton) in self.machines().automata.iter().enumerate() {
            let state = usize::from(now.control[machine]);
            for (&step, &label) in automaton.states[state].iter().zip(&self.labels[machine][state]) {
                let mut after = now.clone();
                if after.make(machine, step) {
                    visit(machine, Label(label), &after)?;
                }
            }
        }
        Flow::Continue(())
    }

    fn operation(&self, label: Label) -> Operation {
        self.operations.get(label.0 as usize).copied().unwrap_or(Operation::Internal)
    }
}

impl<M: Borrow<Machines>> Queued for Fifo<M> {
    fn start(&mut self) -> Configuration {
        Configuration::initial(self.machines())
    }

    fn next(&mut self, now: &Configuration) -> Vec<Next> {
        let mut all = Vec::new();
        for (machine, automaton) in self.machines().automata.iter().enumerate() {
            for (number, &step) in automaton.states[usize::from(now.control[machine])].iter().enumerate() {
                let mut target = now.clone();
                if target.make(machine, step) {
                    let sends = match step.operation {
                        Operation::Send { channel, message } => vec![(channel, message)],
                        Operation::Receive { .. } | Operation::Internal => Vec::new(),
                    };
                    all.push(Next { key: (machine as u64) << 32 | number as u64, sends, target });
                }
            }
        }
        all
    }

    fn channel_names(&self) -> Vec<String> {
        self.machines().channels.clone()
    }
}

impl<M: Borrow<Machines>> System for Fifo<M> {
    fn initial(&mut self, push: &mut dyn FnMut(&[u8]) -> Flow) -> Flow {
        let mut bytes = Vec::new();
        Configuration::initial(self.machines()).encode(&mut bytes);
        push(&bytes)
    }

    fn steps(&mut self, state: &[u8], sink: &mut dyn Sink) -> Flow {
        let now = Configuration::decode(self.machines(), state);
        let mut bytes = std::mem::take(&mut self.bytes);
        let flow = self.each(&now, |machine, label, after| {
            after.encode(&mut bytes);
            let process = u8::try_from(machine).unwrap_or(u8::MAX);
            sink.push(Step { label, process, ..Step::default() }, &bytes)
        });
        self.bytes = bytes;
        flow
    }

    fn label(&self, label: Label) -> Cow<'_, str> {
        self.machines().text(self.operation(label)).into()
    }

    fn explain(&mut self, state: &[u8], ordinal: usize) -> Vec<Action> {
        let now = Configuration::decode(self.machines(), state);
        let mut seen = 0;
        let mut found = Vec::new();
        let _ = self.each(&now, |machine, label, _| {
            if seen == ordinal {
                found.push(self.action(machine, self.operation(label)));
                return Flow::Break(());
            }
            seen += 1;
            Flow::Continue(())
        });
        found
    }

    fn variables(&self, state: &[u8]) -> Vec<Variable> {
        let now = Configuration::decode(self.machines(), state);
        let machines = self.machines().automata.iter().zip(&now.control);
        let mut all: Vec<Variable> =
            machines.map(|(a, c)| Variable { name: a.name.clone(), value: c.to_string() }).collect();
        for (name, queue) in self.machines().channels.iter().zip(&now.contents) {
            let words: Vec<&str> = queue
                .iter()
                .map(|&m| self.machines().messages.get(usize::from(m)).map_or("?", String::as_str))
                .collect();
            all.push(Variable { name: format!("channel {name}"), value: format!("[{}]", words.join(" ")) });
        }
        all
    }
}

impl<M: Borrow<Machines>> Fifo<M> {
    fn machines(&self) -> &Machines {
        self.machines.borrow()
    }

    fn action(&self, machine: usize, operation: Operation) -> Action {
        let event = |kind, channel: u16, message: u16| Event {
            kind,
            channel: self.machines().channels[usize::from(channel)].clone(),
            channel_id: u32::from(channel),
            values: vec![self.machines().messages[usize::from(message)].clone()],
            partner: None,
        };
        let event = match operation {
            Operation::Internal => None,
            Operation::Send { channel, message } => Some(event(EventKind::Send, channel, message)),
            Operation::Receive { channel, message } => Some(event(EventKind::Receive, channel, message)),
        };
        let process = self.machines().automata[machine].name.clone();
        Action { process, pid: machine as u32, event, ..Action::plain(self.machines().text(operation)) }
    }
}
