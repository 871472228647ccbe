//! How an answer looks: the machine-readable object, text for people, traces and charts.
//!
//! Engines push values, never text; this crate and the binary are the only places that know layout, colour or
//! JSON. Everything here is a pure function from a verdict or a replayed run to a string, so that it can be tested
//! without a terminal and used by library users as well as by the binary.

mod answer;
mod changes;
mod figures;
mod palette;
mod text;
mod trace;

pub use answer::{Answer, ErrorEntry, QuestionAnswer, VerdictWord};
pub use changes::changes;
pub use figures::{bytes, count, seconds};
pub use palette::Palette;
pub use text::{TextLayout, run_text};
pub use trace::{Trace, TraceError, run_from_word, run_to_word};
