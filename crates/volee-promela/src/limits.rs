//! What the front end refuses to be made to do: every size that an input controls has a bound here.

/// How deeply parentheses, blocks and operators may nest together: everything that walks a tree may recurse
/// this far.
pub const MAX_NESTING: usize = 250;

/// How many operators may stand one below the other in one expression; a chain `a + b + c + …` counts each.
pub const MAX_EXPRESSION_DEPTH: usize = 1000;

/// The most elements an array may have.
pub const MAX_ARRAY: u32 = 1 << 20;

/// The most messages a channel may hold.
pub const MAX_CAPACITY: u32 = 1 << 16;

/// The most processes alive at once; SPIN's limit, as a `_pid` is a byte.
pub const MAX_PROCESSES: u32 = 255;

/// The most tokens that macros and inlines may expand to, all together.
pub const MAX_TOKENS: usize = 2_000_000;

/// How deeply files may include files.
pub const MAX_INCLUDE_DEPTH: usize = 64;

/// How many files one model may include.
pub const MAX_INCLUDES: usize = 1000;

/// How deeply macro calls may nest in arguments of macro calls.
pub const MAX_MACRO_NESTING: usize = 100;

/// How deeply inlines may call inlines.
pub const MAX_INLINE_NESTING: usize = 64;

/// The largest file that is read, in bytes.
pub const MAX_FILE: u64 = 64 << 20;

/// How many parameters a macro or an inline may have.
pub const MAX_PARAMETERS: usize = 256;

/// How deeply `#if` may nest.
pub const MAX_CONDITIONS: usize = 256;

/// How many process types there may be; their number is a byte.
pub const MAX_PROCTYPES: usize = 255;

/// How many fields a struct may have.
pub const MAX_FIELDS: usize = 4096;

/// How many statements a model may have once inlines, loops and choices are expanded, and how many scalars
/// all its struct messages may have together.
pub const MAX_STATEMENTS: usize = 1_000_000;

/// How many errors, and how many warnings, are kept.
pub const MAX_DIAGNOSTICS: usize = 100;

/// The most scalar fields of one message, structs and arrays in it counted out.
pub const MAX_MESSAGE_FIELDS: usize = 1024;

/// How deeply structs may nest in structs.
pub const MAX_STRUCT_NESTING: u32 = 32;
