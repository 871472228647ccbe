//! The explorer: `volee explore MODEL` serves one page on loopback, and answers what the page asks of the
//! model.
//!
//! ```text
//! browser ──► http ──► guard ──► api ──► explorer (one thread owns the plain program and the states that were visited)
//!                                   └──► jobs     (a thread per check, through the door of the library)
//! ```
//!
//! The page itself is one document, made by `volee-report`; nothing is read from the disk for a request, and
//! nothing is loaded from anywhere else. One port, one token, one user.

mod api;
mod browser;
mod explorer;
mod guard;
mod http;
mod jobs;
mod seam;
mod server;
mod track;
mod walk;

pub use browser::open_browser;
pub use server::{Server, ServerError};
