//! Statements of the resolved model.
//!
//! `for` and `select` do not occur: they are expanded as SPIN does it. `for (i : a .. b) { B }` is the two
//! statements `i = a` and `do :: else -> break :: (i <= b) -> B; i = i + 1 od` (labels of the `for` belong to
//! the `do`); `for (i in array)` runs from 0 to its last index; `for (m in channel)` counts in a variable of
//! its own and rotates the channel by a receive and a send. `select (i : 1 .. 4)` with literal bounds outside
//! inlines is an `if` with an assignment per value while there are at most 33, else and with other bounds a
//! loop.

use std::sync::Arc;

use volee_system::Place;

use super::{Expr, Init, LabelId, LocalId, ReceiveArgument, Reference};

/// Statements in order; never empty in a model without errors.
pub type Sequence = Vec<Statement>;

/// A statement with its labels.
#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    /// The labels before it.
    pub labels: Vec<LabelId>,
    /// Where it begins in the original file: inside the inline body for a statement of an inline, at the name
    /// of the macro for a statement that a macro made.
    pub place: Place,
    /// The statement as SPIN shows it, e.g. `c!msg,3`, `(x==1)`, `x = (x+1)`. Empty for compound statements.
    pub text: Arc<str>,
    /// What it is.
    pub kind: StatementKind,
}

/// The kinds of statements.
#[derive(Debug, Clone, PartialEq)]
pub enum StatementKind {
    /// A variable declared in the midst of a body: a step of its own that sets it. `Init::Zero` sets a scalar
    /// (or element 0 of an array) to 0; structs are set to nothing but take the step.
    Declare {
        /// Which.
        local: LocalId,
        /// To what. Never a channel.
        init: Init,
    },
    /// An expression: executable when not 0. `skip` is the constant 1; `run P()` is here too.
    Expression(Expr),
    /// `target = value`; `x++` is `x = x + 1`. Whole structs of one type may be assigned.
    Assign {
        /// What is written.
        target: Reference,
        /// With what.
        value: Expr,
    },
    /// `c!a,b`, or `c!!a,b` where the message is inserted in order.
    Send {
        /// The channel.
        channel: Reference,
        /// `!!`
        sorted: bool,
        /// The message; structs flattened, so one scalar per field of the channel, or fewer (the rest is 0).
        /// In a trace, a variable with `Base::Scratch` (written `_`) and every other variable stand for any
        /// value.
        arguments: Vec<Expr>,
    },
    /// `c?…` and its variants.
    Receive(Receive),
    /// `assert(e)`
    Assert(Expr),
    /// `printf("…", …)`
    Printf {
        /// The text with its conversions.
        format: Vec<FormatPiece>,
        /// One per conversion.
        arguments: Vec<Expr>,
    },
    /// `printm(e)`
    Printm(Expr),
    /// `set_priority(pid, priority)`
    SetPriority(Expr, Expr),
    /// `else`: executable when no other step from the same point of this process is. It may stand anywhere,
    /// also as the first of a block that is an option's first statement.
    Else,
    /// Leaves the innermost `do`.
    Break,
    /// Goes to the statement that carries the label.
    Goto(LabelId),
    /// `{ … }`, also the body of an inline call.
    Block(Sequence),
    /// `atomic { … }`
    Atomic(Sequence),
    /// `d_step { … }`
    DStep(Sequence),
    /// `if … fi`: one sequence per option.
    If(Vec<Sequence>),
    /// `do … od`, or what a `for` or `select` becomes.
    Do(Vec<Sequence>, LoopOrigin),
    /// `body unless escape`
    Unless {
        /// The main sequence: the statements of a block, or one other statement.
        body: Sequence,
        /// Takes over when its first statement becomes executable.
        escape: Sequence,
    },
}

/// Where a loop comes from: skips that only follow other skips are left out of the options of one that is
/// written as such.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoopOrigin {
    /// `do … od`
    Written,
    /// `for` or `select`
    Counting,
}

/// A receive.
#[derive(Debug, Clone, PartialEq)]
pub struct Receive {
    /// The channel.
    pub channel: Reference,
    /// `??`: takes the first message that matches, not only the first of the buffer.
    pub random: bool,
    /// `?<…>`: the message stays in the buffer.
    pub keep: bool,
    /// What it must look like and where it goes.
    pub arguments: Vec<ReceiveArgument>,
}

/// A piece of a `printf` format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FormatPiece {
    /// Text with its escapes resolved.
    Text(String),
    /// The next argument.
    Argument(Conversion),
}

/// How an argument is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Conversion {
    /// `%d`
    Decimal,
    /// `%u`
    Unsigned,
    /// `%x`
    Hexadecimal,
    /// `%o`
    Octal,
    /// `%c`
    Character,
    /// `%e`: the symbolic name.
    Mtype,
}
