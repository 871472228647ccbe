//! Compiled expressions and statements: what the interpreter executes.
//!
//! Only the form; [`crate::compile`] makes it from a program.

use volee_system::{Fault, FaultId};

use crate::frame::Layout;
use crate::program::{BinaryOp, ChannelTest};
use crate::types::Scalar;

/// How to read a stored value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Width {
    U8,
    I16,
    U16,
    I32,
}

/// A variable without indices.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cell {
    pub local: bool,
    pub width: Width,
    pub offset: u32,
}

/// An element of an array: the cell plus scaled indices.
#[derive(Debug, Clone)]
pub(crate) struct Element {
    pub cell: Cell,
    /// (index, bound, stride, error when out of bounds)
    pub indices: Vec<(Code, u32, u32, FaultId)>,
}

/// Where a value goes.
#[derive(Debug, Clone)]
pub(crate) enum Target {
    Cell(Cell, Scalar),
    Element(Box<Element>, Scalar),
    Nowhere,
}

#[derive(Debug, Clone)]
pub(crate) enum Code {
    Const(i32),
    Global8(u32),
    Local8(u32),
    Load(Cell),
    Element(Box<Element>),
    /// `cell op constant`, the commonest guard.
    Compare(BinaryOp, Cell, i32),
    Not(Box<Code>),
    Neg(Box<Code>),
    Complement(Box<Code>),
    Binary(BinaryOp, Box<(Code, Code)>),
    /// Division or remainder, which may fail.
    Divide(BinaryOp, Box<(Code, Code)>, FaultId),
    And(Box<(Code, Code)>),
    Or(Box<(Code, Code)>),
    Cond(Box<(Code, Code, Code)>),
    Channel(ChannelTest, Box<Code>, FaultId),
    Poll(Box<Poll>),
    Pid,
    ProcessCount,
    Last,
    Timeout,
    NonProgress,
    /// Whether a process can move; an error if that cannot be decided because the answer is part of the
    /// question.
    Enabled(Box<Code>, FaultId),
    PcValue(Box<Code>),
    Priority(Box<Code>),
    At {
        proctype: u8,
        pid: Option<Box<Code>>,
        node: u32,
        fault: FaultId,
    },
    Remote {
        proctype: u8,
        pid: Option<Box<Code>>,
        element: Box<Element>,
        fault: FaultId,
    },
}

#[derive(Debug, Clone)]
pub(crate) struct Poll {
    pub channel: Code,
    pub fields: Vec<Option<Code>>,
    pub anywhere: bool,
    /// No such channel.
    pub no_channel: FaultId,
    /// Polling a rendezvous channel.
    pub rendezvous: FaultId,
}

#[derive(Debug, Clone)]
pub(crate) struct Send {
    pub channel: Code,
    pub values: Vec<Code>,
    pub sorted: bool,
    pub no_channel: FaultId,
    pub wrong_fields: FaultId,
    pub no_event: FaultId,
}

#[derive(Debug, Clone)]
pub(crate) enum Field {
    Match(Code),
    Bind(Target),
    Any,
}

#[derive(Debug, Clone)]
pub(crate) struct Receive {
    /// Always on a rendezvous channel, so nothing is ever buffered for it.
    pub rendezvous: bool,
    pub channel: Code,
    pub fields: Vec<Field>,
    pub anywhere: bool,
    pub keep: bool,
    pub no_channel: FaultId,
    pub wrong_fields: FaultId,
    pub no_event: FaultId,
}

#[derive(Debug, Clone)]
pub(crate) struct Run {
    pub proctype: u8,
    pub arguments: Vec<Code>,
    pub priority: Option<u8>,
    pub too_many: FaultId,
}

#[derive(Debug, Clone)]
pub(crate) enum Op {
    Skip,
    Else,
    Guard(Code),
    Assign(Target, Code),
    Send(Box<Send>),
    Receive(Box<Receive>),
    Assert(Code, FaultId),
    /// Process and priority; error if that is none.
    SetPriority(Box<(Code, Code)>, FaultId),
    Run(Target, Box<Run>),
    End,
    /// Entry node; error if it blocks, error on a rendezvous attempt.
    DStep(u32, FaultId, FaultId),
    Sequence(Box<[Op]>),
}

/// A compiled transition.
#[derive(Debug, Clone)]
pub(crate) struct Move {
    pub op: Op,
    pub target: u32,
    pub atomic: bool,
    pub escape: u32,
    /// Number of the transition in the whole program: label and coverage.
    pub id: u32,
    /// Bytes, counted from the process record, to set to zero afterwards.
    pub resets: Vec<(u32, u32)>,
    /// In a process that promised not to choose: the error if an earlier statement could be done as well.
    pub second: Option<FaultId>,
}

/// A compiled proctype.
#[derive(Debug, Clone)]
pub(crate) struct Body {
    pub nodes: Vec<Vec<Move>>,
    pub valid_end: Vec<bool>,
    pub progress: Vec<bool>,
    pub accepting: Vec<bool>,
    pub in_d_step: Vec<bool>,
    pub provided: Option<Code>,
    pub entry: u32,
    pub entry_resets: Vec<(u32, u32)>,
    pub priority: u8,
    pub parameters: Vec<Target>,
    pub init: Vec<(Target, Code)>,
    /// Holders of the channels made at birth.
    pub holders: Vec<Target>,
}

/// One step of a monitor: what it waits for and where it goes.
#[derive(Debug, Clone)]
pub(crate) struct Observation {
    pub send: bool,
    pub channel: u32,
    pub fields: Vec<Option<Code>>,
    pub target: u32,
}

/// A compiled monitor of channel operations.
#[derive(Debug, Clone)]
pub(crate) struct Monitor {
    pub trace: bool,
    pub nodes: Vec<Vec<Observation>>,
    pub complete: Vec<bool>,
    pub sends: Vec<u32>,
    pub receives: Vec<u32>,
    pub entry: u32,
    pub matched: FaultId,
}

/// Everything the interpreter needs.
#[derive(Debug, Clone)]
pub(crate) struct Compiled {
    pub layout: Layout,
    pub bodies: Vec<Body>,
    pub monitor: Option<Monitor>,
    pub faults: Vec<Fault>,
    /// What blocks a sequence that is longer than anybody waits for: not an error, but a limit.
    pub too_long: FaultId,
    /// Some process may be kept from moving by a `provided` clause or by priorities.
    pub restricted: bool,
    /// Somebody asks whether nobody can move; where nobody does, a state without steps has none.
    pub asks_for_timeout: bool,
    /// For each transition number: proctype, node, index in the node.
    pub transitions: Vec<(u8, u32, u32)>,
}
