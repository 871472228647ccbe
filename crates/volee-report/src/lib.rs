//! How an answer looks: the machine-readable object, text for people, traces and charts.
//!
//! Engines push values, never text; this crate and the binary are the only places that know layout, colour or
//! JSON. Everything here is a pure function from a verdict or a replayed run to a string, so that it can be
//! tested without a terminal and used by library users as well as by the binary.
//!
//! | module | what it makes |
//! |---|---|
//! | `answer`, `json`, `junit`, `sarif`, `github`, `suite` | answers for machines |
//! | `text`, `palette`, `prose`, `figures`, `excerpt` | text for people |
//! | `trace`, `claim`, `typed`, `itf` | runs as files, and what they show |
//! | `story`, `why`, `changes`, `pending`, `filter` | what there is to say of a run |
//! | `chart`, `mermaid`, `svg`, `growth`, `html`, `coverage` | pictures and pages |

mod answer;
mod changes;
mod chart;
mod claim;
mod coverage;
mod excerpt;
mod figures;
mod filter;
mod github;
mod growth;
mod html;
mod itf;
mod json;
mod junit;
mod mermaid;
mod palette;
mod pending;
mod prose;
mod sarif;
mod story;
mod suite;
mod svg;
mod text;
mod trace;
mod typed;
mod why;

pub use answer::{Answer, ErrorEntry, QuestionAnswer, VerdictWord, run_value};
pub use changes::{changes, is_location};
pub use claim::{Claim, Kind};
pub use coverage::{annotated_source, shares};
pub use excerpt::{diagnostics_text, excerpt};
pub use figures::{brief, bytes, count, counted, seconds};
pub use filter::{Filter, HiddenEvents, is_silent};
pub use github::annotations;
pub use html::{Behind, ICON, Page, page};
pub use itf::run_itf;
use json::json_text;
pub use junit::{CaseOutcome, JunitCase, junit, junit_suites};
pub use mermaid::run_mermaid;
pub use palette::Palette;
pub use prose::{ends, quoted, wrapped};
pub use sarif::sarif;
pub use story::{FileNames, run_story, step_story, variables};
pub use suite::{
    Expected, Judged, Member, MemberAnswer, ModelRow, alone_json, one_line, suite_answer, suite_junit,
    suite_table, suite_text,
};
pub use svg::run_svg;
pub use text::{TextLayout, actions_text, assignments, run_text, steps_text};
pub use trace::{Trace, TraceError, run_from_word, run_to_word};
pub use why::{stuck, why};
