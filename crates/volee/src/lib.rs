//! volee as a library: everything a Rust user needs under one name.
//!
//! [`ask`] is the door: a [`Source`] (or a [`System`] of one's own, [`ask_system`]), [`Question`]s, an
//! [`Engine`] and a budget go in, [`Answers`] come out, of the same type whoever answers. The rooms of the
//! house are re-exported whole, under short names.
//!
//! | module | what it has |
//! |---|---|
//! | `ask`, `question`, `engine`, `settings`, `answer` | the door: what goes in and what comes out |
//! | `engines` | one file per engine; what each refuses stands in `engine` |
//! | `source`, `model`, `made`, `files` | models in files and of the caller's own |
//! | `judge`, `replay`, `audit` | what is found is confirmed by the plain program, or by a second search |
//! | `graphs`, `solve`, `conformance` | whole graphs, equation files, tests |
//! | `walk`, `conversation`, `near`, `advise` | for people: walks, advice, how near a goal was |
//! | `suite`, `kept`, `stored`, `worker`, `bundle` | many models at once, searches that survive, workers elsewhere |
//! | `render`, `html`, `picture` | how answers are told |

pub mod advise;
mod answer;
mod ask;
mod audit;
mod bare;
mod bundle;
pub mod claims;
pub mod conformance;
pub mod conversation;
mod engine;
mod engines;
pub mod files;
pub mod graphs;
mod html;
pub mod judge;
pub mod kept;
mod made;
pub mod model;
pub mod names;
mod near;
mod picture;
pub mod properties;
mod question;
mod refusal;
pub mod render;
pub mod replay;
pub mod settings;
mod silence;
pub mod solve;
mod source;
mod stored;
pub mod suite;
pub mod walk;
pub mod worker;

pub use advise::{Advice, advise};
pub use answer::{
    Answer, Answers, AskError, Certificate, ExplanationForm, Figures, LONGEST_RUN, Role, ShownRun,
};
pub use ask::{Ask, NAME_OF_CLAIM, NOTHING_ASKED, ask, ask_system, cores, usual_memory};
pub use conformance::{Contract, Goal};
pub use engine::{Cluster, Engine};
pub use engines::counters::{ReachableSets, reachable};
pub use engines::workers::work_shipped;
pub use graphs::Graphs;
pub use html::{coverage_note, report_page, run_page, text_of, view as page_view};
pub use kept::Keep;
pub use picture::Picture;
pub use question::{Kind, Question};
pub use refusal::{Refusal, Refused, Why};
pub use settings::{Asked, Emptiness, Setting, Settings};
pub use solve::{Equations, Resolution};
pub use source::Source;
pub use stored::{Stored, stored};
pub use worker::do_jobs;

pub use made::Made;
pub use model::{Model, Naming, Options};
pub use volee_bes as bes;
pub use volee_channels as channels;
pub use volee_cluster as cluster;
pub use volee_conform as conform;
pub use volee_counters as counters;
pub use volee_families as families;
pub use volee_families::NO_FAMILY;
pub use volee_integers as integers;
pub use volee_logic as logic;
pub use volee_lts as lts;
pub use volee_nets as nets;
pub use volee_program as program;
pub use volee_promela as promela;
pub use volee_report as report;
pub use volee_search as search;
pub use volee_store as store;
pub use volee_system as system;
pub use volee_system::System;

/// The chapter of the book about this library: its examples are tests.
#[cfg(doctest)]
#[doc = include_str!("../../../book/src/library.md")]
pub struct Book;
