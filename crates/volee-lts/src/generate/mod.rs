//! Systems of any size for benchmarks and tests, by family and parameters.
//!
//! A family is data: its name, its parameters with their defaults and bounds, and how to make it. The command
//! line and the documentation are made from this table, so a new family is one entry.

mod abp;
mod commit;
mod connect;
mod graphs;
mod leader;
mod retransmission;
mod rings;
mod window;

pub use abp::AlternatingBit;
pub use commit::TwoPhaseCommit;
pub use connect::ConnectDisconnect;
pub use graphs::{Shape, chain, hubs, random, random_graph};
pub use leader::LeaderElection;
pub use retransmission::BoundedRetransmission;
pub use rings::{Philosophers, TokenRing};
pub use window::SlidingWindow;

use volee_system::{Diagnostic, Random, System};

use crate::LtsError;

/// A parameter of a family.
#[derive(Debug, Clone, Copy)]
pub struct Parameter {
    /// Its name, such as `messages`.
    pub name: &'static str,
    /// What it means.
    pub about: &'static str,
    /// Its value when not given.
    pub default: u64,
    /// The least and the largest value.
    pub bounds: (u64, u64),
}

/// A system of a family, unless it would be too large.
pub type Generated = Result<Box<dyn System + Send>, LtsError>;

/// A family of systems.
pub struct Family {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it is, in a sentence.
    pub about: &'static str,
    /// Its parameters, in the order in which `make` expects their values.
    pub parameters: &'static [Parameter],
    make: fn(&[u64]) -> Generated,
}

impl Family {
    /// A member of the family; one value per parameter.
    ///
    /// # Errors
    /// A value is out of bounds, or the system would be too large.
    pub fn make(&self, values: &[u64]) -> Generated {
        assert_eq!(values.len(), self.parameters.len(), "one value per parameter");
        for (parameter, &value) in self.parameters.iter().zip(values) {
            let (least, largest) = parameter.bounds;
            if !(least..=largest).contains(&value) {
                return Err(Diagnostic::error(
                    format!("--{} {value} is out of bounds: {least} to {largest}", parameter.name),
                    None,
                )
                .into());
            }
        }
        (self.make)(values)
    }

    /// The default values.
    pub fn defaults(&self) -> Vec<u64> {
        self.parameters.iter().map(|p| p.default).collect()
    }
}

/// Reads a member of a family from a line: its name, then `parameter=value` for those that are not the usual
/// ones.
///
/// # Errors
/// There is no such family or parameter, or a value is out of bounds.
pub fn read_member(text: &str) -> Result<Box<dyn System + Send>, Diagnostic> {
    let (family, values) = parse_member(text)?;
    family.make(&values).map_err(|error| match error {
        LtsError::Input(diagnostic) => diagnostic,
        other => wrong_member(other.to_string()),
    })
}

fn wrong_member(message: String) -> Diagnostic {
    Diagnostic::error(message, None).with_help("for example: abp messages=4 capacity=1")
}

/// The same without making the system, which may be as large as its parameters say.
///
/// # Errors
/// There is no such family or parameter.
pub fn parse_member(text: &str) -> Result<(&'static Family, Vec<u64>), Diagnostic> {
    let mut words = text.split_whitespace();
    let name = words.next().ok_or_else(|| wrong_member("the file names no family".into()))?;
    let member = family(name).ok_or_else(|| {
        let known: Vec<&str> = FAMILIES.iter().map(|f| f.name).collect();
        wrong_member(format!("there is no family `{name}`; there are {}", known.join(", ")))
    })?;
    let mut values = member.defaults();
    for word in words {
        let (parameter, value) = word.split_once('=').unwrap_or((word, ""));
        let at = member.parameters.iter().position(|p| p.name == parameter);
        let value: Option<u64> = value.parse().ok();
        let (Some(at), Some(value)) = (at, value) else {
            return Err(wrong_member(format!("`{word}` sets no parameter of the family {name}")));
        };
        values[at] = value;
    }
    Ok((member, values))
}

/// The family with this name.
pub fn family(name: &str) -> Option<&'static Family> {
    FAMILIES.iter().find(|f| f.name == name)
}

const SEED: Parameter =
    Parameter { name: "seed", about: "the seed of chance", default: 1, bounds: (0, u64::MAX) };

const fn parameter(name: &'static str, about: &'static str, default: u64, bounds: (u64, u64)) -> Parameter {
    Parameter { name, about, default, bounds }
}

/// All families.
pub static FAMILIES: &[Family] = &[
    Family {
        name: "abp",
        about: "alternating bit protocol over lossy FIFO channels (the 2006 benchmark)",
        parameters: &[
            parameter("messages", "how many different messages", 4, (1, 30_000)),
            parameter("capacity", "how many messages a channel holds", 1, (1, 200)),
        ],
        make: |v| Ok(Box::new(AlternatingBit::new(v[0] as u16, v[1] as u8))),
    },
    Family {
        name: "connect-disconnect",
        about: "connections opened, closed and dropped without waiting (the 1989 example)",
        parameters: &[parameter(
            "capacity",
            "how many messages the channel from A to B holds",
            10,
            (1, 60_000),
        )],
        make: |v| Ok(Box::new(ConnectDisconnect::new(v[0] as u16))),
    },
    Family {
        name: "window",
        about: "go-back-N sliding window over lossy FIFO channels",
        parameters: &[
            parameter("messages", "how many different messages", 2, (1, 250)),
            parameter("window", "how many messages may be unacknowledged", 2, (1, 100)),
            parameter("capacity", "how many messages a channel holds", 2, (1, 100)),
        ],
        make: |v| Ok(Box::new(SlidingWindow::new(v[0] as u8, v[1] as u8, v[2] as u8))),
    },
    Family {
        name: "retransmission",
        about: "bounded retransmission protocol: a file in chunks, each sent a bounded number of times",
        parameters: &[
            parameter("chunks", "chunks of a file", 3, (1, 250)),
            parameter("retries", "how often a chunk is sent again", 2, (0, 250)),
        ],
        make: |v| Ok(Box::new(BoundedRetransmission::new(v[0] as u8, v[1] as u8))),
    },
    Family {
        name: "two-phase-commit",
        about: "a coordinator and participants that vote on transactions, one after the other",
        parameters: &[parameter("participants", "how many participants", 3, (1, 200))],
        make: |v| Ok(Box::new(TwoPhaseCommit::new(v[0] as u8))),
    },
    Family {
        name: "leader",
        about: "leader election on a ring: the largest number comes back to its station",
        parameters: &[
            parameter("stations", "how many stations", 4, (2, 200)),
            parameter("capacity", "how many messages a channel holds", 2, (1, 100)),
        ],
        make: |v| Ok(Box::new(LeaderElection::new(v[0] as u8, v[1] as u8))),
    },
    Family {
        name: "philosophers",
        about: "dining philosophers, left fork first: has a deadlock",
        parameters: &[parameter("seats", "how many philosophers", 5, (2, 250))],
        make: |v| Ok(Box::new(Philosophers::new(v[0] as u8))),
    },
    Family {
        name: "ring",
        about: "mutual exclusion by a token that goes around",
        parameters: &[parameter("stations", "how many stations", 5, (1, 250))],
        make: |v| Ok(Box::new(TokenRing::new(v[0] as u8))),
    },
    Family {
        name: "chain",
        about: "a path: the deepest graph of its size",
        parameters: &[parameter("length", "steps", 1000, (0, 1 << 30))],
        make: |v| Ok(Box::new(chain(v[0] as u32)?)),
    },
    Family {
        name: "hubs",
        about: "few labels, a few states with very many predecessors",
        parameters: &[
            parameter("states", "states", 1000, (1, 1 << 30)),
            parameter("degree", "steps of a state", 4, (1, 1000)),
            parameter("labels", "different labels", 2, (1, 1 << 20)),
            SEED,
        ],
        make: |v| Ok(Box::new(hubs(v[0] as u32, v[1] as u32, v[2] as u32, v[3])?)),
    },
    Family {
        name: "random-graph",
        about: "the random graphs of Jard and Jéron 1991",
        parameters: &[
            parameter("states", "a bound on the states", 10_000, (1, 1 << 30)),
            parameter("degree", "the largest degree of a state", 6, (1, 1000)),
            SEED,
        ],
        make: |v| Ok(Box::new(random_graph(v[0] as u32, v[1] as u32, v[2])?)),
    },
    Family {
        name: "random",
        about: "transitions between states drawn at random, all states reachable if there are enough",
        parameters: &[
            parameter("states", "states", 1000, (1, 1 << 30)),
            parameter("transitions", "transitions", 3000, (0, 1 << 31)),
            parameter("labels", "visible labels", 3, (1, 1 << 20)),
            parameter("internal", "internal steps in a hundred", 30, (0, 100)),
            SEED,
        ],
        make: |v| {
            let shape = Shape {
                states: v[0] as u32,
                transitions: v[1] as u32,
                labels: v[2] as u32,
                internal: v[3] as u32,
            };
            Ok(Box::new(random(shape, &mut Random::new(v[4]))?))
        },
    },
];
