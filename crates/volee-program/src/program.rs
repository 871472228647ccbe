//! The program: what a front end produces and what every engine over programs reads.
//!
//! A program is data: no method here runs anything. Variables are already laid out: a [`Location`] is an
//! offset in the globals or in the locals of a process, plus index expressions. Control is a graph of nodes
//! with ordered transitions, close to what a Promela verifier executes: a transition may keep control
//! (`atomic`), may be an escape of an `unless`, and may be a whole `d_step` run to its end.

use std::sync::Arc;

use volee_system::Place;

use crate::types::{Kind, Scalar};

/// Index of a node in its proctype.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

/// Index of a proctype in its program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProctypeId(pub u8);

/// Index of a channel type in its program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChannelId(pub u16);

/// A whole model.
#[derive(Debug, Clone, Default)]
pub struct Program {
    /// Where the model comes from.
    pub name: String,
    /// Names of symbolic constants: per subset, (value, name).
    pub mtypes: Vec<Vec<(i32, String)>>,
    /// Global variables, for display.
    pub globals: Vec<Variable>,
    /// Bytes of the globals.
    pub globals_size: u32,
    /// Initial values of globals, in order; evaluated before any process exists.
    pub globals_init: Vec<(Location, Expr)>,
    /// All shapes of channels.
    pub channel_types: Vec<ChannelType>,
    /// Channels that exist from the start; the first has number 1.
    pub channels: Vec<ChannelInstance>,
    /// All proctypes.
    pub proctypes: Vec<Proctype>,
    /// Processes that exist from the start, in order of their numbers.
    pub active: Vec<ProctypeId>,
    /// The never claim, if there is one.
    pub never: Option<Claim>,
    /// The `trace` or `notrace` automaton.
    pub monitor: Option<EventMonitor>,
    /// Whether states remember who moved last.
    pub uses_last: bool,
    /// Whether priorities restrict who may move.
    pub uses_priorities: bool,
    /// Whether any statement asks for `timeout`.
    pub uses_timeout: bool,
}

/// A variable (or one scalar field of a structure), for display and for the symbolic engines.
#[derive(Debug, Clone)]
pub struct Variable {
    /// The name with `[]` where an index goes, e.g. `queue[].len`.
    pub name: String,
    /// Offset of the first element.
    pub offset: u32,
    /// Array dimensions, outermost first: (count, stride in bytes).
    pub dimensions: Vec<(u32, u32)>,
    /// How it is stored.
    pub scalar: Scalar,
    /// What it stands for.
    pub kind: Kind,
    /// Whether it is shown to users (temporaries and hidden ones are not).
    pub shown: bool,
    /// Where it is declared.
    pub place: Option<Place>,
}

/// The shape of a channel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChannelType {
    /// Messages it can hold; 0 for rendezvous.
    pub capacity: u32,
    /// The fields of a message.
    pub fields: Vec<(Scalar, Kind)>,
}

impl ChannelType {
    /// Bytes of one message.
    pub fn message_bytes(&self) -> u32 {
        self.fields.iter().map(|(s, _)| s.bytes()).sum()
    }

    /// Bytes of the channel in a state: a length byte and the slots; a rendezvous channel is always empty.
    pub fn bytes(&self) -> u32 {
        if self.capacity == 0 { 0 } else { 1 + self.capacity * self.message_bytes() }
    }
}

/// A channel made by a declaration.
#[derive(Debug, Clone)]
pub struct ChannelInstance {
    /// Its shape.
    pub channel: ChannelId,
    /// The variable that holds its number when it is made.
    pub holder: Location,
    /// Its name for display, e.g. `q[2]`.
    pub name: String,
}

/// A type of process.
#[derive(Debug, Clone)]
pub struct Proctype {
    /// Its name; `:init:` for the initial process.
    pub name: String,
    /// Where each argument goes.
    pub parameters: Vec<Location>,
    /// Local variables, parameters included.
    pub locals: Vec<Variable>,
    /// Bytes of the locals.
    pub locals_size: u32,
    /// Values of locals at birth, in order.
    pub locals_init: Vec<(Location, Expr)>,
    /// Channels made at birth.
    pub channels: Vec<ChannelInstance>,
    /// The control graph.
    pub nodes: Vec<Node>,
    /// Where a process starts.
    pub entry: NodeId,
    /// Bytes of the locals that are set to zero at birth because their first value is never read.
    pub entry_resets: Vec<(u32, u32)>,
    /// May only move while this holds.
    pub provided: Option<Expr>,
    /// Priority, from 1, of those processes of this type that are there from the start.
    pub priority: u8,
    /// Whether two statements that can be done at once are an error (`D_proctype`).
    pub deterministic: bool,
    /// Where it is declared.
    pub place: Option<Place>,
}

impl Proctype {
    /// Of a `D_proctype`, a statement beside which another may be possible: that it never chooses must be
    /// shown there. Who runs programs finds out; whoever does not must refuse such a program.
    pub fn possible_choice(&self) -> Option<&Transition> {
        let is_else = |t: &Transition| matches!(t.action, Action::Else);
        let mut nodes = self.nodes.iter().filter(|n| self.deterministic && !n.in_d_step);
        nodes.find_map(|n| n.transitions.iter().filter(|t| !is_else(t)).nth(1))
    }
}

/// A point of control.
#[derive(Debug, Clone, Default)]
pub struct Node {
    /// What can be done here, in order: escapes first, `else` after the options it depends on.
    pub transitions: Vec<Transition>,
    /// A process may rest here for ever.
    pub valid_end: bool,
    /// Marked as progress.
    pub progress: bool,
    /// Marked as accepting.
    pub accepting: bool,
    /// Inside a `d_step`: no process ever rests here.
    pub in_d_step: bool,
    /// Bytes of the locals that hold nothing worth showing here, because they were forgotten: (first, how
    /// many).
    pub dead: Vec<(u32, u32)>,
}

/// One thing a process can do.
#[derive(Debug, Clone)]
pub struct Transition {
    /// What it does.
    pub action: Action,
    /// Where control goes.
    pub target: NodeId,
    /// The process keeps control: no other process moves and no state is stored in between.
    pub atomic: bool,
    /// Which escape (of an `unless`) this is part of; 0 for ordinary transitions. If a transition of one
    /// escape can be taken, only transitions of that escape are.
    pub escape: u32,
    /// Which statement it is.
    pub statement: Statement,
    /// The statements of a merged sequence behind the first.
    pub merged: Vec<Statement>,
    /// The nodes that a merged sequence passes: at each its only transition is done as well.
    pub through: Vec<NodeId>,
    /// Bytes of the locals that hold nothing worth remembering afterwards: (first, how many).
    pub resets: Vec<(u32, u32)>,
}

/// A statement of a proctype, for humans.
#[derive(Debug, Clone)]
pub struct Statement {
    /// Its number in the proctype. Transitions share one where a choice pulls its options together.
    pub number: u32,
    /// As written.
    pub text: Arc<str>,
    /// The label before it, where it has one of its own: the name that its author gave it.
    pub label: Option<Arc<str>>,
    /// Where it stands.
    pub place: Option<Place>,
}

/// What a transition does.
#[derive(Debug, Clone)]
pub enum Action {
    /// Nothing.
    Skip,
    /// Nothing, if nothing before it in the node could be done.
    Else,
    /// Waits for a condition.
    Guard(Expr),
    /// Stores a value.
    Assign(Location, Expr),
    /// Sends a message.
    Send {
        /// The channel's number.
        channel: Expr,
        /// The message.
        values: Vec<Expr>,
        /// Inserted in order instead of at the end.
        sorted: bool,
    },
    /// Receives a message.
    Receive {
        /// The channel's number.
        channel: Expr,
        /// What it must match and where it goes.
        patterns: Vec<Pattern>,
        /// The first message that matches, wherever it is.
        anywhere: bool,
        /// The message stays in the channel.
        keep: bool,
    },
    /// Fails if the condition is false.
    Assert(Expr),
    /// Prints, in simulations and witnesses.
    Print(Vec<Piece>),
    /// Changes a priority: (process number, priority).
    SetPriority(Expr, Expr),
    /// The process disappears, if it is the youngest.
    End,
    /// Runs from this node, taking the first possible transition each time, until the transition's target.
    DStep(NodeId),
    /// Several actions in one step; only the first may have to wait.
    Sequence(Vec<Action>),
}

/// A part of what is printed.
#[derive(Debug, Clone)]
pub enum Piece {
    /// Text as it is.
    Text(String),
    /// A number in decimal, hexadecimal (`x`), octal (`o`), unsigned (`u`) or as a character (`c`).
    Value(char, Expr),
    /// A symbolic name.
    Name(Expr, u16),
}

/// One field of a receive.
#[derive(Debug, Clone)]
pub enum Pattern {
    /// The field must equal this value.
    Match(Expr),
    /// The field goes here.
    Bind(Location),
    /// The field is dropped.
    Any,
}

impl Pattern {
    /// The expressions in it: the value it matches, or the indices of where it goes.
    pub fn parts(&self) -> impl Iterator<Item = &Expr> {
        let (value, bound) = match self {
            Pattern::Match(value) => (Some(value), None),
            Pattern::Bind(location) => (None, Some(location)),
            Pattern::Any => (None, None),
        };
        value.into_iter().chain(bound.into_iter().flat_map(Location::parts))
    }
}

/// Where a variable lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scope {
    /// Among the globals.
    Global,
    /// Among the locals of the acting process.
    Local,
    /// Nowhere: what is stored is lost, what is read is 0.
    Nowhere,
}

/// A scalar variable, or an element of an array.
#[derive(Debug, Clone)]
pub struct Location {
    /// Which block of variables.
    pub scope: Scope,
    /// Offset of the first element in the block.
    pub offset: u32,
    /// Indices, outermost first.
    pub indices: Vec<Index>,
    /// How it is stored.
    pub scalar: Scalar,
    /// What it stands for.
    pub kind: Kind,
    /// Where it is used, for run-time errors.
    pub place: Option<Place>,
}

impl Location {
    /// The expressions in it: its indices.
    pub fn parts(&self) -> impl Iterator<Item = &Expr> {
        self.indices.iter().map(|index| &index.value)
    }
}

/// One index of a [`Location`].
#[derive(Debug, Clone)]
pub struct Index {
    /// The index.
    pub value: Expr,
    /// It must be less than this.
    pub count: u32,
    /// Bytes from one element to the next.
    pub stride: u32,
}

/// Binary operators; logical ones evaluate their right side only if needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    BitAnd,
    BitOr,
    BitXor,
    Shl,
    Shr,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    And,
    Or,
}

impl BinaryOp {
    /// The value of `a op b` for 32-bit integers, as every engine has it; none for a division by zero.
    #[inline]
    pub fn apply(self, a: i32, b: i32) -> Option<i32> {
        Some(match self {
            BinaryOp::Add => a.wrapping_add(b),
            BinaryOp::Sub => a.wrapping_sub(b),
            BinaryOp::Mul => a.wrapping_mul(b),
            BinaryOp::Div | BinaryOp::Rem if b == 0 => return None,
            BinaryOp::Div => a.wrapping_div(b),
            BinaryOp::Rem => a.wrapping_rem(b),
            BinaryOp::BitAnd => a & b,
            BinaryOp::BitOr => a | b,
            BinaryOp::BitXor => a ^ b,
            BinaryOp::Shl => a.wrapping_shl(b as u32),
            BinaryOp::Shr => a.wrapping_shr(b as u32),
            BinaryOp::Eq => i32::from(a == b),
            BinaryOp::Ne => i32::from(a != b),
            BinaryOp::Lt => i32::from(a < b),
            BinaryOp::Le => i32::from(a <= b),
            BinaryOp::Gt => i32::from(a > b),
            BinaryOp::Ge => i32::from(a >= b),
            BinaryOp::And => i32::from(a != 0 && b != 0),
            BinaryOp::Or => i32::from(a != 0 || b != 0),
        })
    }

    /// The value of `a op b` for constants of a model and conditions of its preprocessor, in 64 bits; none
    /// for a division by zero or an overflow.
    pub fn apply_exactly(self, a: i64, b: i64) -> Option<i64> {
        match self {
            BinaryOp::Add => a.checked_add(b),
            BinaryOp::Sub => a.checked_sub(b),
            BinaryOp::Mul => a.checked_mul(b),
            BinaryOp::Div => a.checked_div(b),
            BinaryOp::Rem => a.checked_rem(b),
            BinaryOp::BitAnd => Some(a & b),
            BinaryOp::BitOr => Some(a | b),
            BinaryOp::BitXor => Some(a ^ b),
            BinaryOp::Shl => u32::try_from(b).ok().and_then(|b| a.checked_shl(b)),
            BinaryOp::Shr => u32::try_from(b).ok().and_then(|b| a.checked_shr(b)),
            BinaryOp::And | BinaryOp::Or => self.apply(i32::from(a != 0), i32::from(b != 0)).map(i64::from),
            _ => self.apply(a.cmp(&b) as i32, 0).map(i64::from),
        }
    }

    /// As it is written.
    pub fn symbol(self) -> &'static str {
        match self {
            BinaryOp::Add => "+",
            BinaryOp::Sub => "-",
            BinaryOp::Mul => "*",
            BinaryOp::Div => "/",
            BinaryOp::Rem => "%",
            BinaryOp::BitAnd => "&",
            BinaryOp::BitOr => "|",
            BinaryOp::BitXor => "^",
            BinaryOp::Shl => "<<",
            BinaryOp::Shr => ">>",
            BinaryOp::Eq => "==",
            BinaryOp::Ne => "!=",
            BinaryOp::Lt => "<",
            BinaryOp::Le => "<=",
            BinaryOp::Gt => ">",
            BinaryOp::Ge => ">=",
            BinaryOp::And => "&&",
            BinaryOp::Or => "||",
        }
    }

    /// The value of a logical operator whose left side alone decides: the right one is then not evaluated.
    pub fn decided_by(self, left: i32) -> Option<i32> {
        match self {
            BinaryOp::And if left == 0 => Some(0),
            BinaryOp::Or if left != 0 => Some(1),
            _ => None,
        }
    }
}

/// Questions about a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChannelTest {
    /// How many messages.
    Len,
    /// Whether no more fit.
    Full,
    /// Whether there are none.
    Empty,
    /// Whether more fit.
    NotFull,
    /// Whether there are some.
    NotEmpty,
}

/// An expression: a 32-bit integer in every state.
#[derive(Debug, Clone)]
pub enum Expr {
    /// A constant.
    Const(i32),
    /// The value of a variable.
    Load(Box<Location>),
    /// Logical negation.
    Not(Box<Expr>),
    /// Arithmetic negation.
    Neg(Box<Expr>),
    /// Bitwise complement.
    Complement(Box<Expr>),
    /// A binary operator, with the place for run-time errors.
    Binary(BinaryOp, Box<Expr>, Box<Expr>, Option<Place>),
    /// `(a -> b : c)`.
    Cond(Box<Expr>, Box<Expr>, Box<Expr>),
    /// A question about a channel.
    Channel(ChannelTest, Box<Expr>, Option<Place>),
    /// Whether a receive could be done.
    Poll {
        /// The channel's number.
        channel: Box<Expr>,
        /// What must match.
        patterns: Vec<Pattern>,
        /// Anywhere in the channel.
        anywhere: bool,
        /// For run-time errors.
        place: Option<Place>,
    },
    /// The number of the acting process.
    Pid,
    /// How many processes there are.
    ProcessCount,
    /// Who moved last.
    Last,
    /// Whether nobody else can move.
    Timeout,
    /// Whether no process is at a progress state.
    NonProgress,
    /// Whether a process can move.
    Enabled(Box<Expr>, Option<Place>),
    /// The control point of a process.
    PcValue(Box<Expr>),
    /// The priority of a process.
    Priority(Box<Expr>),
    /// Whether a process (the only one of its type if no number is given) is at a node.
    At {
        /// Its type.
        proctype: ProctypeId,
        /// Its number.
        pid: Option<Box<Expr>>,
        /// The node.
        node: NodeId,
        /// For run-time errors.
        place: Option<Place>,
    },
    /// A local variable of another process.
    Remote {
        /// Its type.
        proctype: ProctypeId,
        /// Its number.
        pid: Option<Box<Expr>>,
        /// The variable.
        location: Box<Location>,
        /// For run-time errors.
        place: Option<Place>,
    },
    /// Starts a process; its number, or 0.
    Run {
        /// Its type.
        proctype: ProctypeId,
        /// Its arguments.
        arguments: Vec<Expr>,
        /// Its priority, if not 1 (the priority of its type is for processes that are there from the start).
        priority: Option<u8>,
        /// For run-time errors.
        place: Option<Place>,
    },
}

/// A never claim: a control graph whose guards watch states.
#[derive(Debug, Clone)]
pub struct Claim {
    /// Its name.
    pub name: String,
    /// Nodes; transitions are guards, `else` or skips only.
    pub nodes: Vec<Node>,
    /// Where it starts.
    pub entry: NodeId,
}

/// Whether every observed channel operation must match, or the whole pattern must not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MonitorKind {
    /// `trace`.
    Trace,
    /// `notrace`.
    NoTrace,
}

/// A `trace` or `notrace` automaton over channel operations.
#[derive(Debug, Clone)]
pub struct EventMonitor {
    /// Which of the two.
    pub kind: MonitorKind,
    /// For each node, its steps in order.
    pub nodes: Vec<Vec<MonitorStep>>,
    /// Nodes in which the pattern is complete.
    pub complete: Vec<bool>,
    /// Where it starts.
    pub entry: NodeId,
    /// Numbers of channels that are observed when messages are sent.
    pub sends: Vec<u32>,
    /// Numbers of channels that are observed when messages are received.
    pub receives: Vec<u32>,
    /// Where it is declared.
    pub place: Option<Place>,
}

/// One observed operation of an [`EventMonitor`].
#[derive(Debug, Clone)]
pub struct MonitorStep {
    /// A send rather than a receive.
    pub send: bool,
    /// The channel's number, constant.
    pub channel: u32,
    /// Fields that must match; `None` matches anything.
    pub fields: Vec<Option<Expr>>,
    /// Where the automaton goes.
    pub target: NodeId,
}
