//! Communicating finite-state machines: automata that send to and receive from FIFO channels.

/// What a move does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operation {
    /// Nothing that others see.
    Internal,
    /// Puts a message at the end of a channel.
    Send {
        /// The channel.
        channel: u16,
        /// The message.
        message: u16,
    },
    /// Takes a message from the front of a channel.
    Receive {
        /// The channel.
        channel: u16,
        /// The message.
        message: u16,
    },
}

/// A move of an automaton.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Move {
    /// What it does.
    pub operation: Operation,
    /// Where it leads.
    pub target: u16,
}

/// A machine.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Automaton {
    /// Its name.
    pub name: String,
    /// Where it starts.
    pub initial: u16,
    /// The moves of each state, in the order of the model.
    pub states: Vec<Vec<Move>>,
}

/// Machines that run side by side.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Machines {
    /// The name of the whole.
    pub name: String,
    /// Names of channels.
    pub channels: Vec<String>,
    /// Names of messages.
    pub messages: Vec<String>,
    /// The machines.
    pub automata: Vec<Automaton>,
}

impl Machines {
    /// A move in words, e.g. `0!ack`.
    pub fn text(&self, operation: Operation) -> String {
        let name = |message: u16| self.messages.get(usize::from(message)).map_or("?", String::as_str);
        let channel = |channel: u16| self.channels.get(usize::from(channel)).map_or("?", String::as_str);
        match operation {
            Operation::Internal => "i".into(),
            Operation::Send { channel: c, message } => format!("{}!{}", channel(c), name(message)),
            Operation::Receive { channel: c, message } => format!("{}?{}", channel(c), name(message)),
        }
    }
}
