//! Labelled transition systems: files, generators, composition, equivalences and reductions.
//!
//! An [`Lts`] is explicit and compact; it is also a [`volee_system::System`], so that everything which
//! explores systems explores it.
//!
//! | module | what it does |
//! |---|---|
//! | `lts`, `labels`, `system`, `explore` | the graph, as a system and from one |
//! | `files`, `aut`, `binary`, `dot` | formats |
//! | `generate`, `compose`, `relabel`, `determinise` | graphs from parameters and from other graphs |
//! | `relation`, `partition`, `saturate`, `silent`, `quotient`, `reduce` | equivalences and minimisation |
//! | `compare`, `onthefly`, `formula` | whether two are the same, and what tells them apart |
//! | `info`, `events` | what a graph is like |

mod aut;
mod binary;
mod compare;
mod compose;
mod determinise;
mod dot;
mod error;
mod events;
mod explore;
mod files;
mod formula;
pub mod generate;
mod info;
mod labels;
mod lts;
mod onthefly;
mod partition;
mod quotient;
mod reduce;
mod relabel;
mod relation;
mod saturate;
mod silent;
mod system;

pub use aut::{read_aut, write_aut};
pub use binary::read_binary;
pub use compare::{Difference, Side, admits, compare};
pub use compose::Composition;
pub use error::LtsError;
pub use events::events;
pub use explore::{explore, explore_as};
pub use files::{Format, Input, open, read_file, write_as, write_file};
pub use formula::{Formula, Node, NodeId};
pub use info::{Info, info};
pub use labels::{LabelId, Labels, is_internal};
pub use lts::{Edge, Lts, LtsBuilder, StateId};
pub use onthefly::{Compared, Naming, compare_on_the_fly};
pub use reduce::{Certificate, CertificateError, Divergence, Method, Reduction, reduce};
pub use relabel::{Meant, Relabelling, apply_all, relabel};
pub use relation::Relation;
pub use system::{pack, unpack};
pub use volee_store::PackedStates;
