//! Programs: processes as control graphs with guards and updates over typed variables and channels.
//!
//! A front end (Promela) lowers a model to a [`Program`]; a [`Machine`] interprets it as a
//! [`System`](volee_system::System) over packed states. The symbolic engines read the same programs. Native
//! code will later stand beside [`Machine`], behind the same interface.
//!
//! | module | what it does |
//! |---|---|
//! | `program`, `types`, `constant` | what a front end makes |
//! | `optimise` | what is merged and forgotten without changing an answer |
//! | `compile`, `code`, `frame`, `eval`, `exec`, `sequences`, `moves` | the interpreter |
//! | `machine` | the interpreter as a system |
//! | `components`, `divide`, `footprint` | what a state is made of, and what a step depends on |
//! | `reduction`, `persistent`, `permission` | which processes may move first |
//! | `follow`, `display`, `events`, `why` | lifting runs, and telling people |

mod code;
mod compile;
mod components;
mod constant;
mod display;
mod divide;
mod eval;
mod events;
mod exec;
mod follow;
mod footprint;
mod frame;
mod machine;
mod moves;
pub mod optimise;
mod permission;
mod persistent;
mod program;
mod reduction;
mod sequences;
mod types;
mod why;

pub use constant::constants;
pub use display::value_text;
pub use machine::{ChannelSlots, LabelStyle, Machine, MachineOptions, PredicateCompiler};
pub use optimise::visit_expr;
pub use program::{
    Action, BinaryOp, ChannelId, ChannelInstance, ChannelTest, ChannelType, Claim, EventMonitor, Expr, Index,
    Location, MonitorKind, MonitorStep, Node, NodeId, Pattern, Piece, Proctype, ProctypeId, Program, Scope,
    Statement, Transition, Variable,
};
pub use types::{Kind, Scalar};
