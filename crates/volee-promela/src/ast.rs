//! The syntax tree: what was written, with names as spellings. The parser makes it, the resolver reads it.
//!
//! Inline calls are already expanded here (they are textual), everything else is as in the grammar.

use crate::intern::Sym;
use crate::model::{BinaryOp, ChannelTest, ExclusiveKind, UnaryOp, Visibility};
use crate::source::At;

/// A spelling with its position.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Name {
    pub sym: Sym,
    pub at: At,
}

#[derive(Debug)]
pub(crate) struct Expr {
    pub at: At,
    pub kind: ExprKind,
    /// How many expressions stand one in the other from here on.
    pub depth: u32,
}

impl Expr {
    pub(crate) fn new(at: At, kind: ExprKind) -> Self {
        let deepest = |all: &[Expr]| all.iter().map(|e| e.depth).max().unwrap_or(0);
        let optional = |e: &Option<Box<Expr>>| e.as_ref().map_or(0, |e| e.depth);
        let below = match &kind {
            ExprKind::Number(_) | ExprKind::NonProgress | ExprKind::Timeout => 0,
            ExprKind::Path(path) | ExprKind::Channel(_, path) => path.depth(),
            ExprKind::Unary(_, e)
            | ExprKind::Enabled(e)
            | ExprKind::PcValue(e)
            | ExprKind::GetPriority(e) => e.depth,
            ExprKind::Binary(_, a, b) => a.depth.max(b.depth),
            ExprKind::Conditional(all) => deepest(&all[..]),
            ExprKind::Run { arguments, .. } | ExprKind::Temporal(_, arguments) => deepest(arguments),
            ExprKind::Poll { channel, arguments, .. } => {
                arguments.iter().map(ReceiveArgument::depth).max().unwrap_or(0).max(channel.depth())
            }
            ExprKind::RemoteLabel { pid, .. } => optional(pid),
            ExprKind::RemoteVariable { pid, path, .. } => optional(pid).max(path.depth()),
        };
        Expr { at, kind, depth: below + 1 }
    }
}

#[derive(Debug)]
pub(crate) enum ExprKind {
    Number(i32),
    Path(Path),
    Unary(UnaryOp, Box<Expr>),
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    Conditional(Box<[Expr; 3]>),
    Run { name: Name, arguments: Vec<Expr>, priority: Option<Box<Expr>> },
    Channel(ChannelTest, Path),
    Poll { channel: Path, random: bool, arguments: Vec<ReceiveArgument> },
    Enabled(Box<Expr>),
    PcValue(Box<Expr>),
    GetPriority(Box<Expr>),
    RemoteLabel { proctype: Name, pid: Option<Box<Expr>>, label: Name },
    RemoteVariable { proctype: Name, pid: Option<Box<Expr>>, path: Path },
    NonProgress,
    Timeout,
    Temporal(TemporalOp, Vec<Expr>),
}

/// Operators of `ltl` blocks that are not operators of expressions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TemporalOp {
    Next,
    Always,
    Eventually,
    Until,
    Release,
    WeakUntil,
    Implies,
    Equivalent,
}

/// `a[i].b.c[j]`
#[derive(Debug)]
pub(crate) struct Path {
    pub segments: Vec<Segment>,
}

#[derive(Debug)]
pub(crate) struct Segment {
    pub name: Name,
    pub index: Option<Box<Expr>>,
}

impl Path {
    fn depth(&self) -> u32 {
        self.segments.iter().filter_map(|s| s.index.as_ref()).map(|e| e.depth).max().unwrap_or(0)
    }

    pub(crate) fn first(&self) -> Name {
        self.segments[0].name
    }

    /// The name, if that is all there is.
    pub(crate) fn as_name(&self) -> Option<Name> {
        match self.segments.as_slice() {
            [Segment { name, index: None }] => Some(*name),
            _ => None,
        }
    }
}

#[derive(Debug)]
pub(crate) enum ReceiveArgument {
    Path(Path),
    Eval(Expr),
    Number(Expr),
}

impl ReceiveArgument {
    fn depth(&self) -> u32 {
        match self {
            ReceiveArgument::Path(path) => path.depth(),
            ReceiveArgument::Eval(e) | ReceiveArgument::Number(e) => e.depth,
        }
    }
}

/// A type as written.
#[derive(Debug, Clone, Copy)]
pub(crate) enum TypeName {
    Bit,
    Byte,
    Pid,
    Short,
    Int,
    Unsigned,
    Mtype(Option<Name>),
    Chan,
    Struct(Name),
}

/// `hidden byte a, b[3] = 2;`
#[derive(Debug)]
pub(crate) struct Declaration {
    pub visibility: Visibility,
    pub ty: TypeName,
    pub variables: Vec<Declarator>,
}

#[derive(Debug)]
pub(crate) struct Declarator {
    pub name: Name,
    pub width: Option<Expr>,
    pub length: Option<Expr>,
    pub init: Init,
}

#[derive(Debug)]
pub(crate) enum Init {
    None,
    Value(Expr),
    List(Vec<Expr>, At),
    Channel { capacity: Expr, fields: Vec<(TypeName, At)> },
}

#[derive(Debug)]
pub(crate) struct Statement {
    pub labels: Vec<Name>,
    pub at: At,
    pub kind: StatementKind,
}

pub(crate) type Sequence = Vec<Statement>;

#[derive(Debug)]
pub(crate) enum StatementKind {
    Declaration(Declaration),
    Exclusive(ExclusiveKind, Vec<Path>),
    Expression(Expr),
    Assign(Path, Expr),
    /// `x++` or `x--`
    Step(Path, BinaryOp),
    Send {
        channel: Path,
        sorted: bool,
        arguments: Vec<Expr>,
    },
    Receive {
        channel: Path,
        random: bool,
        keep: bool,
        arguments: Vec<ReceiveArgument>,
    },
    Assert(Expr),
    Printf {
        format: Name,
        arguments: Vec<Expr>,
    },
    Printm(Expr),
    SetPriority(Expr, Expr),
    Else,
    Break,
    Goto(Name),
    Block(Block),
    Atomic(Block),
    DStep(Block),
    If(Vec<Sequence>),
    Do(Vec<Sequence>),
    ForRange {
        variable: Path,
        from: Expr,
        to: Expr,
        body: Block,
    },
    ForIn {
        variable: Path,
        collection: Path,
        body: Block,
    },
    /// `literal`: the bounds are plain numbers outside any inline, which SPIN expands otherwise.
    Select {
        variable: Path,
        from: Expr,
        to: Expr,
        literal: bool,
    },
    Unless(Box<Statement>, Box<Statement>),
}

/// Statements between braces: a scope.
#[derive(Debug)]
pub(crate) struct Block {
    pub statements: Sequence,
}

/// The body of a proctype, claim or trace.
#[derive(Debug)]
pub(crate) struct Body {
    pub statements: Sequence,
    pub end: At,
}

#[derive(Debug)]
pub(crate) struct Proctype {
    pub name: Name,
    pub deterministic: bool,
    pub active: Option<Expr>,
    pub parameters: Vec<Declaration>,
    pub priority: Option<Expr>,
    pub provided: Option<Expr>,
    pub body: Body,
}

#[derive(Debug)]
pub(crate) enum Unit {
    Proctype(Proctype),
    Init { at: At, priority: Option<Expr>, body: Body },
    Never { name: Option<Name>, at: At, body: Body },
    Trace { forbids: bool, at: At, body: Body },
    Ltl { name: Option<Name>, at: At, formula: Expr },
    Declaration(Declaration),
    Mtype { set: Option<Name>, names: Vec<Name> },
    Typedef { name: Name, fields: Vec<Declaration> },
}
