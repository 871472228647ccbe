//! Random Promela programs from one grammar that knows every construct the front end accepts.
//!
//! A program is small by construction: two to four processes, a few dozen statements, data that mostly stay
//! near 0, processes that are not started in loops. It mixes everything with a semantics worth fearing; what
//! a program has at all (rendezvous, priorities, `unless`, …) is drawn first, so that every construct meets
//! every other without all being in every program.
//!
//! Programs for a peer leave out what SPIN 6.5.2 does not define or gets wrong (the book's page of
//! differences lists it); everything else is the same grammar.

mod declarations;
mod expressions;
mod properties;
mod statements;

use crate::Random;
use crate::tree::Node;

/// Whom a program is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Audience {
    /// Only ourselves: everything, errors at run time included.
    Ourselves,
    /// A comparison with SPIN too.
    Peer,
}

/// The program of a seed.
pub fn program(seed: u64, audience: Audience) -> Node {
    let mut grammar = Grammar::new(seed, audience);
    grammar.program()
}

/// The type of a variable or message field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Type {
    Bit,
    Bool,
    Byte,
    Pid,
    Short,
    Int,
    Unsigned,
    Mtype,
    Colour,
    Chan,
    Message,
}

impl Type {
    /// Whether its values are numbers, so that every number may be assigned.
    fn is_number(self) -> bool {
        !matches!(self, Type::Mtype | Type::Colour | Type::Chan | Type::Message)
    }

    /// Whether counting up goes through few values.
    fn is_narrow(self) -> bool {
        matches!(self, Type::Bit | Type::Bool | Type::Unsigned)
    }
}

/// A variable that statements may use.
#[derive(Debug, Clone)]
struct Variable {
    /// As it is written, up to an index.
    name: String,
    ty: Type,
    length: Option<usize>,
}

/// A channel that statements may use.
#[derive(Debug, Clone)]
struct Channel {
    name: String,
    fields: Vec<Type>,
    rendezvous: bool,
    length: Option<usize>,
}

/// What a program has at all.
#[derive(Debug, Clone, Copy)]
struct Features {
    rendezvous: bool,
    priorities: bool,
    provided: bool,
    unless: bool,
    enabled: bool,
    jumps: bool,
    aliases: bool,
    /// Whole structures in messages.
    messages: bool,
}

/// A process type that is finished: what others may say of it.
#[derive(Debug, Clone)]
struct Known {
    name: String,
    labels: Vec<String>,
    locals: Vec<String>,
    /// The numbers of those that are there from the start.
    pids: std::ops::Range<usize>,
    parameters: Vec<Type>,
}

/// Where a statement stands.
#[derive(Debug, Clone, Copy, Default)]
struct Context {
    depth: u32,
    d_step: bool,
    /// Inside a loop, or in a process that jumps back.
    repeated: bool,
    /// A `break` leaves a loop of the same indivisible sequence.
    breakable: bool,
    /// First of an option: no label may stand here.
    first: bool,
    /// Inside an `unless`.
    unless: bool,
    /// First in what an `unless` can interrupt.
    interrupted: bool,
    /// First in what an `unless` escapes to.
    escape: bool,
    /// Inside an `atomic`.
    atomic: bool,
}

/// The grammar at work.
struct Grammar {
    random: Random,
    audience: Audience,
    features: Features,
    globals: Vec<Variable>,
    channels: Vec<Channel>,
    known: Vec<Known>,
    /// Of the process type at hand.
    locals: Vec<Variable>,
    placed_labels: Vec<String>,
    wanted_labels: Vec<String>,
    names: usize,
    /// Statements that may still be made.
    fuel: i32,
    macros: bool,
    /// The statement made last declares something, so no label may stand before it.
    declared: bool,
    /// The process type at hand promised not to choose.
    deterministic: bool,
}

impl Grammar {
    fn new(seed: u64, audience: Audience) -> Self {
        let mut random = Random::new(seed);
        let rendezvous = random.one_in(2);
        let features = Features {
            rendezvous,
            priorities: !rendezvous && random.one_in(3),
            provided: random.one_in(6),
            unless: random.one_in(2),
            enabled: !rendezvous && audience == Audience::Ourselves && random.one_in(6),
            jumps: random.one_in(2),
            aliases: random.one_in(3),
            messages: random.one_in(5),
        };
        Grammar {
            random,
            audience,
            features,
            globals: Vec::new(),
            channels: Vec::new(),
            known: Vec::new(),
            locals: Vec::new(),
            placed_labels: Vec::new(),
            wanted_labels: Vec::new(),
            names: 0,
            fuel: 0,
            macros: false,
            declared: false,
            deterministic: false,
        }
    }

    fn is_for_peer(&self) -> bool {
        self.audience == Audience::Peer
    }

    fn fresh(&mut self, prefix: &str) -> String {
        self.names += 1;
        format!("{prefix}{}", self.names)
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.random.one_in(n)
    }
}
