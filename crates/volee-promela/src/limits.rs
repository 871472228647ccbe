//! What the front end refuses to be made to do: every size that an input controls has a bound here.

/// How deeply parentheses, blocks and operators may nest together: everything that walks a tree may recurse this far.
pub const MAX_NESTING: usize = 500;

/// How many operators may stand one below the other in one expression; a chain `a + b + c + …` counts each.
pub const MAX_EXPRESSION_DEPTH: usize = 1000;

/// The most elements an array may have.
pub const MAX_ARRAY: u32 = 1 << 20;

/// The most messages a channel may hold.
pub const MAX_CAPACITY: u32 = 1 << 16;

/// The most processes alive at once; SPIN's limit, as a `_pid` is a byte.
pub const MAX_PROCESSES: u32 = 255;
