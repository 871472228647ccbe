//! Expressions, references and formulas of the resolved model.
//!
//! All arithmetic is on 32-bit signed integers that wrap; a value is cut to its type when it is stored.

use std::sync::Arc;

use volee_program::{BinaryOp, ChannelTest};
use volee_system::Place;

use super::{FieldId, GlobalId, LabelId, LocalId, ProctypeId, Type};

/// An expression with its place (of its first character, or of its operator for binary ones).
#[derive(Debug, Clone, PartialEq)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Where it stands in the original file.
    pub place: Place,
}

/// The kinds of expressions.
#[derive(Debug, Clone, PartialEq)]
pub enum ExprKind {
    /// A constant: a number, a character, `true`, `false`, `skip`, or a symbolic name (then `name` is set).
    Constant {
        /// Its value.
        value: i32,
        /// The symbolic name it was written as.
        name: Option<Arc<str>>,
    },
    /// The value of a variable.
    Variable(Reference),
    /// `_pid`
    Pid,
    /// `_nr_pr`
    ProcessCount,
    /// `_last`
    Last,
    /// `np_`
    NonProgress,
    /// `timeout`
    Timeout,
    /// `!e`, `-e`, `~e`
    Unary(UnaryOp, Box<Expr>),
    /// `a + b` and so on. `&&` and `||` evaluate from the left and stop early.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `(a -> b : c)`
    Conditional(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `run P(…)`: the value is the new `_pid`.
    Run(Box<Run>),
    /// `len(c)`, `full(c)`, …
    Channel(ChannelTest, Box<Reference>),
    /// `c?[…]`, `c??[…]`
    Poll(Box<Poll>),
    /// `enabled(pid)`
    Enabled(Box<Expr>),
    /// `pc_value(pid)`
    PcValue(Box<Expr>),
    /// `get_priority(pid)`
    GetPriority(Box<Expr>),
    /// `P[pid]@label`; without an index the one process of that type.
    RemoteLabel {
        /// The process type.
        proctype: ProctypeId,
        /// The `_pid`, if given.
        pid: Option<Box<Expr>>,
        /// The label, of that proctype.
        label: LabelId,
    },
    /// `P[pid]:variable`; without an index the one process of that type.
    RemoteVariable {
        /// The process type.
        proctype: ProctypeId,
        /// The `_pid`, if given.
        pid: Option<Box<Expr>>,
        /// The variable. Its base is a local of that proctype, while index expressions in it are read where
        /// the whole expression stands.
        variable: Box<Reference>,
    },
}

/// Operators with one operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// `!`
    Not,
    /// `-`
    Negate,
    /// `~`
    Complement,
}

impl UnaryOp {
    /// The value of `op a`.
    pub fn apply(self, a: i32) -> i32 {
        match self {
            UnaryOp::Not => i32::from(a == 0),
            UnaryOp::Negate => a.wrapping_neg(),
            UnaryOp::Complement => !a,
        }
    }
}

/// `run P(arguments) priority n`
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// What to start; never `init`.
    pub proctype: ProctypeId,
    /// One per parameter. For a parameter of struct type, a variable of that type.
    pub arguments: Vec<Expr>,
    /// 1 to 255, if given.
    pub priority: Option<u8>,
}

/// `c?[arguments]` or `c??[arguments]`
#[derive(Debug, Clone, PartialEq)]
pub struct Poll {
    /// The channel.
    pub channel: Reference,
    /// `??`: any message of the buffer may match, not only the first.
    pub random: bool,
    /// What the message must look like.
    pub arguments: Vec<ReceiveArgument>,
}

/// One argument of a receive or a poll. Struct variables are flattened into their scalars.
#[derive(Debug, Clone, PartialEq)]
pub enum ReceiveArgument {
    /// The field must have this value (a constant, or `eval(…)`); matched before anything is stored.
    Match(Expr),
    /// The field is stored here (in a poll: ignored).
    Store(Reference),
    /// `_`: ignored.
    Discard,
}

/// A variable with the path to the part that is meant.
#[derive(Debug, Clone, PartialEq)]
pub struct Reference {
    /// Where the path begins.
    pub base: Base,
    /// The accesses from there on, in order.
    pub path: Vec<Access>,
    /// The type of what is reached.
    pub ty: Type,
    /// Set when what is reached is a whole array; only in `xr`/`xs` assertions.
    pub length: Option<u32>,
    /// Where it stands.
    pub place: Place,
}

/// Where a reference begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Base {
    /// A global variable.
    Global(GlobalId),
    /// A local variable or parameter.
    Local(LocalId),
    /// `_`: writing to it has no effect.
    Scratch,
    /// `_priority`: the priority of the process itself.
    Priority,
    /// `STDIN`, as a channel to receive from; it has input in simulations only.
    Stdin,
}

/// One step of a path.
#[derive(Debug, Clone, PartialEq)]
pub enum Access {
    /// An element: the index must be less than `length` at run time. (A scalar may be indexed with 0, as in
    /// SPIN; its length is 1.)
    Index {
        /// Which.
        index: Box<Expr>,
        /// Of how many.
        length: u32,
    },
    /// A field of a struct.
    Field(FieldId),
}

/// A temporal formula. The boolean connectives above the atoms are part of it, so an atom has none at its
/// top.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)]
pub enum Ltl {
    Atom(Expr),
    Not(Box<Ltl>),
    And(Box<Ltl>, Box<Ltl>),
    Or(Box<Ltl>, Box<Ltl>),
    Implies(Box<Ltl>, Box<Ltl>),
    Equivalent(Box<Ltl>, Box<Ltl>),
    Next(Box<Ltl>),
    Always(Box<Ltl>),
    Eventually(Box<Ltl>),
    Until(Box<Ltl>, Box<Ltl>),
    /// SPIN's `V`.
    Release(Box<Ltl>, Box<Ltl>),
    WeakUntil(Box<Ltl>, Box<Ltl>),
}
