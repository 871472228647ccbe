//! The language server: a caller of the library that speaks the Language Server Protocol.
//!
//! One thread reads messages and answers them from what [`volee::promela::study`] found in the text; a check
//! runs in a thread of its own, tells its progress and can be cancelled. Nothing is written to files: changes
//! go to the editor as edits.
//!
//! `server` has the messages, `document` and `lines` the text; `diagnostics`, `actions`, `complete`, `hover`,
//! `lenses`, `navigate`, `outline` and `rename` answer one request each; `check` runs checks.

mod actions;
mod check;
mod complete;
mod diagnostics;
mod document;
mod hover;
mod lenses;
mod lines;
mod navigate;
mod outline;
mod rename;
mod server;
mod uri;

pub use server::{ServeError, serve, serve_stdio};
