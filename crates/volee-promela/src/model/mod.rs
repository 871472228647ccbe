//! The resolved model: what the front end hands to lowering.
//!
//! Pure data. Every name has become a typed index, every `inline` call and every macro is expanded, every
//! `for` and `select` has become the assignments and loops that SPIN makes of it, every struct in a message
//! is flattened into its scalar fields. What remains is the tree of declarations, statements and expressions
//! with its meaning settled; the one thing left to lowering is to choose a state layout and to draw the
//! control graphs.
//!
//! Depth is bounded: the parser refuses expressions and blocks that nest too deeply ([`crate::limits`]), so
//! code that walks these trees may recurse.

mod expr;
mod statement;

use std::sync::Arc;

use volee_system::Place;

pub use expr::{Access, Base, Expr, ExprKind, Ltl, Poll, ReceiveArgument, Reference, Run, UnaryOp};
pub use statement::{Conversion, FormatPiece, LoopOrigin, Receive, Sequence, Statement, StatementKind};
pub use volee_program::{BinaryOp, ChannelTest};

/// Index into [`Model::globals`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GlobalId(pub u32);

/// Index into [`Behaviour::locals`] of the behaviour that the reference stands in (or, for a remote
/// reference, of the behaviour of the proctype that it names).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LocalId(pub u32);

/// Index into [`Behaviour::labels`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LabelId(pub u32);

/// Index into [`Model::proctypes`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProctypeId(pub u32);

/// Index into [`Model::structs`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StructId(pub u32);

/// Index into [`StructType::fields`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FieldId(pub u32);

/// Index into [`Model::mtypes`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MtypeId(pub u32);

/// A whole model, resolved.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// The file it came from, as the user named it.
    pub file: Arc<str>,
    /// The sets of symbolic names: first the unnamed `mtype` (always there, perhaps empty), then the named
    /// subsets.
    pub mtypes: Vec<MtypeSet>,
    /// The typedefs in textual order; a struct only contains structs that stand before it.
    pub structs: Vec<StructType>,
    /// The global variables in textual order.
    pub globals: Vec<Variable>,
    /// The proctypes and `init`, in textual order: the order in which active ones get their `_pid`.
    pub proctypes: Vec<Proctype>,
    /// The never claims in textual order. SPIN uses the first unless told otherwise.
    pub claims: Vec<Claim>,
    /// The `trace` or `notrace` assertion (there is at most one).
    pub trace: Option<Trace>,
    /// The `ltl` blocks in textual order.
    pub ltl: Vec<LtlProperty>,
    /// The macros that are defined at the end, as `NAME body` or `NAME(a,b) body`: predicates may use them.
    pub macros: Vec<Arc<str>>,
    /// The files that were included, in their order; one that was included twice stands there twice.
    pub included: Vec<Arc<str>>,
}

/// One set of symbolic names.
#[derive(Debug, Clone, PartialEq)]
pub struct MtypeSet {
    /// The name of a subset (`mtype:fruit`), or none for plain `mtype`.
    pub name: Option<Arc<str>>,
    /// The names in textual order with their values. As in SPIN each declaration numbers its names from the
    /// last to the first, and a further declaration of the same set goes on counting after the previous one.
    pub names: Vec<MtypeName>,
}

/// A symbolic name.
#[derive(Debug, Clone, PartialEq)]
pub struct MtypeName {
    /// As written.
    pub name: Arc<str>,
    /// 1 to 255.
    pub value: u8,
    /// Where it is declared.
    pub place: Place,
}

/// A `typedef`.
#[derive(Debug, Clone, PartialEq)]
pub struct StructType {
    /// Its name.
    pub name: Arc<str>,
    /// Its fields in textual order. Their initialisers apply to every variable of the type.
    pub fields: Vec<Variable>,
    /// Where it is declared.
    pub place: Place,
}

/// The type of a variable, a field, or a message field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Type {
    /// `bit` or `bool`: 0 or 1.
    Bit,
    /// `byte`: 0 to 255.
    Byte,
    /// `pid`: as `byte`.
    Pid,
    /// `short`: 16 bits, signed.
    Short,
    /// `int`: 32 bits, signed.
    Int,
    /// `unsigned x : n`: n bits, 1 to 31.
    Unsigned(u8),
    /// `mtype`, one byte; with the subset if one is named.
    Mtype(MtypeId),
    /// `chan`: the number of a channel, 0 if none, one byte.
    Chan,
    /// A typedef.
    Struct(StructId),
}

/// A variable, parameter or field.
#[derive(Debug, Clone, PartialEq)]
pub struct Variable {
    /// The name as written. Locals of one proctype may share a name (nested blocks, inline bodies); the index
    /// is what tells them apart.
    pub name: Arc<str>,
    /// The type of the variable, or of its elements.
    pub ty: Type,
    /// The number of elements of an array (1 to [`crate::limits::MAX_ARRAY`]); none for a scalar.
    pub length: Option<u32>,
    /// The value when it comes to life: at the start for globals; at the birth of the process for locals, in
    /// order, after the parameters are set. Locals declared in the midst of a body have `Init::Zero` here and
    /// a [`StatementKind::Declare`] at their place.
    pub init: Init,
    /// `hidden`, `show`, `local`, or none.
    pub visibility: Visibility,
    /// Where it is declared.
    pub place: Place,
}

/// An initial value. An array with a single initialiser gets it in every element (as in SPIN), each channel
/// of an array of channels being a channel of its own.
#[derive(Debug, Clone, PartialEq)]
pub enum Init {
    /// Zero; for structs what their fields say.
    Zero,
    /// `= expression`: any expression without `run`; may read parameters and earlier variables.
    Value(Box<Expr>),
    /// `= { 1, 2, 3 }`: the first elements of an array; where the list is shorter, SPIN repeats its last
    /// value.
    List(Vec<i32>),
    /// `= [capacity] of { fields }`.
    Channel(ChannelInit),
}

/// A channel to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChannelInit {
    /// How many messages it holds; 0 for a rendezvous. At most [`crate::limits::MAX_CAPACITY`].
    pub capacity: u32,
    /// The fields of a message: scalars only, structs and arrays in them are flattened.
    pub fields: Vec<Type>,
}

/// What a declaration says about a variable's place in the state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Visibility {
    /// Nothing special.
    #[default]
    Plain,
    /// `hidden`: not part of the state.
    Hidden,
    /// `show`: to be displayed.
    Show,
    /// `local`: a global that only one process uses, by promise.
    Local,
}

/// What a proctype, a claim and a trace assertion have in common: variables, labels, statements.
#[derive(Debug, Clone, PartialEq)]
pub struct Behaviour {
    /// All variables, parameters first, then in textual order, those of nested blocks and inline bodies
    /// included.
    pub locals: Vec<Variable>,
    /// All labels, in textual order.
    pub labels: Vec<Label>,
    /// The statements.
    pub body: Sequence,
    /// The `xr` and `xs` assertions of the body.
    pub exclusive: Vec<Exclusive>,
    /// Where the closing brace stands: the place of the `-end-` step.
    pub end: Place,
}

/// A label.
#[derive(Debug, Clone, PartialEq)]
pub struct Label {
    /// As written.
    pub name: Arc<str>,
    /// Where.
    pub place: Place,
    /// Whether some `P@label` refers to it. (SPIN then puts a `skip` before a `goto` that carries the label,
    /// as a goto is no state of its own.)
    pub remote: bool,
}

impl Label {
    /// Whether a process may end here.
    pub fn is_end(&self) -> bool {
        self.name.starts_with("end")
    }

    /// Whether passing here is progress.
    pub fn is_progress(&self) -> bool {
        self.name.starts_with("progress")
    }

    /// Whether passing here is accepting.
    pub fn is_accept(&self) -> bool {
        self.name.starts_with("accept")
    }
}

/// An `xr` or `xs` assertion: this proctype alone receives from, or sends to, the channel.
#[derive(Debug, Clone, PartialEq)]
pub struct Exclusive {
    /// Receiving or sending.
    pub kind: ExclusiveKind,
    /// The channel (or array of channels, or a struct with channels in it).
    pub channel: Reference,
}

/// The kinds of [`Exclusive`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExclusiveKind {
    /// `xr`
    Receive,
    /// `xs`
    Send,
}

/// A process type, or `init`.
#[derive(Debug, Clone, PartialEq)]
pub struct Proctype {
    /// Its name; `:init:` for `init`, as SPIN prints it.
    pub name: Arc<str>,
    /// Which keyword introduced it.
    pub kind: ProctypeKind,
    /// How many are alive at the start: 0 without `active`, 1 for `init`. The sum over the model is at most 255.
    /// Parameters of active processes are 0.
    pub active: u32,
    /// How many of the locals, counted from the first, are parameters.
    pub parameters: u32,
    /// `priority n` behind the parameters, for the active ones; 1 to 255.
    pub priority: Option<u8>,
    /// `provided (…)`: when its processes may move. Without side effects; may read `_pid`.
    pub provided: Option<Expr>,
    /// Variables, labels, statements.
    pub behaviour: Behaviour,
    /// Where its name stands.
    pub place: Place,
}

/// How a process type was introduced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProctypeKind {
    /// `proctype`
    Proctype,
    /// `D_proctype`: the author promises that it is deterministic.
    Deterministic,
    /// `init`
    Init,
}

/// A never claim.
#[derive(Debug, Clone, PartialEq)]
pub struct Claim {
    /// Its name; `never_0` and so on where it has none.
    pub name: Arc<str>,
    /// Variables, labels, statements.
    pub behaviour: Behaviour,
    /// Where it stands.
    pub place: Place,
}

/// A `trace` or `notrace` assertion: its sends and receives follow those of the system on the channels it
/// names.
#[derive(Debug, Clone, PartialEq)]
pub struct Trace {
    /// `notrace`: the described traces are the forbidden ones.
    pub forbids: bool,
    /// Only sends, receives, control structures, labels and gotos.
    pub behaviour: Behaviour,
    /// Where it stands.
    pub place: Place,
}

/// An `ltl` block.
#[derive(Debug, Clone, PartialEq)]
pub struct LtlProperty {
    /// Its name; `ltl_0` and so on where it has none.
    pub name: Arc<str>,
    /// The formula that every run has to satisfy.
    pub formula: Ltl,
    /// The formula as text.
    pub text: Arc<str>,
    /// Where it stands.
    pub place: Place,
}

impl Model {
    /// A proctype by name (`init` is `:init:`).
    pub fn proctype(&self, name: &str) -> Option<(ProctypeId, &Proctype)> {
        let index = self.proctypes.iter().position(|p| &*p.name == name)?;
        Some((ProctypeId(index as u32), &self.proctypes[index]))
    }

    /// The symbolic name of a value, for display: the name in `set` if it has one.
    pub fn mtype_name(&self, set: MtypeId, value: i32) -> Option<&str> {
        let names = &self.mtypes.get(set.0 as usize)?.names;
        names.iter().find(|n| i32::from(n.value) == value).map(|n| &*n.name)
    }
}
