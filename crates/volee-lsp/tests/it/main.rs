//! The language server driven over its protocol, as an editor does it.

mod editor;
mod names;
mod session;
mod typing;
