//! Families from programs: which processes come in any number is the user's choice, the rest follows.
//!
//! A program becomes a net. Every valuation of the globals that can occur is a place, and exactly one of them
//! is marked; every local state (a point of control with the values of the locals) of a process is a place,
//! and how many tokens it holds says how many processes are there. Statements become transitions, a
//! rendezvous one for each pair that can meet. States are found on the way, under the assumption that
//! whatever was found may occur together: that only adds transitions that never fire.

mod build;
mod class;
mod deadlock;
mod follow;
mod identity;
mod meeting;
mod names;
mod occurrences;
mod property;
mod step;
mod valuation;
mod world;
mod write;

use volee_program::{NodeId, ProctypeId, Program};

pub use class::NO_FAMILY;
pub use follow::{Followed, follow};
pub use property::{Property, Reading, Seen, Successors};

use crate::FamilyError;
use volee_nets::{Net, PlaceId, Target};

/// What must not happen.
#[derive(Debug, Clone, Default)]
pub struct Questions {
    /// Global conditions that must always hold: how they are written, and what they are.
    pub invariants: Vec<(String, volee_program::Expr)>,
    /// Points of control that must never be occupied together, one process each.
    pub covers: Vec<(String, Vec<(ProctypeId, NodeId)>)>,
    /// Whether some process can always move, or all may rest; asked of families with at least one process of
    /// each type.
    pub deadlock: bool,
}

/// A program as a net, with what leads back from markings to numbers of processes.
#[derive(Debug, Clone)]
pub struct Family {
    /// The net, without targets.
    net: Net,
    /// The proctypes that come in any number.
    templates: Vec<Template>,
    /// What is asked of it.
    pub asked: Vec<Asked>,
    /// Processes that exist once, from the start.
    once: u32,
    /// For each place of a regulated replication its proctype and rank.
    regulated: Vec<Option<(ProctypeId, u32)>>,
    /// For each place the first that differs from it only in the name that its process has.
    kin: Vec<u32>,
    /// The places of a property that must not recur for ever.
    pub accepting: Vec<PlaceId>,
    /// The places that count errors met.
    wrongs: std::ops::Range<usize>,
}

/// A proctype that comes in any number.
#[derive(Debug, Clone)]
struct Template {
    proctype: ProctypeId,
    name: String,
    /// Where its processes begin.
    place: PlaceId,
    /// How many of them are kept apart from the counters.
    regulated: u32,
}

/// A question and the markings that answer it with no.
#[derive(Debug, Clone)]
pub struct Asked {
    /// The question in words.
    pub question: String,
    /// What it is about.
    pub kind: Kind,
    targets: Vec<Target>,
}

/// What a question is about, and so what the end of a violation shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// An assertion fails, or a statement has no meaning.
    Faults,
    /// An expression over the globals is false.
    Invariant(String),
    /// Points of control are occupied together.
    Cover(String),
    /// A property automaton is in a trap.
    Property,
    /// Nobody can move, and somebody may not rest where it is.
    Deadlock,
    /// A property automaton passes accepting states for ever; asked, as deadlocks are, where each type has at
    /// least one process.
    Liveness,
}

impl Family {
    /// The net in which a question is decided.
    pub fn net(&self, asked: &Asked) -> Net {
        let mut net = Net { targets: asked.targets.clone(), ..self.net.clone() };
        if asked.kind != Kind::Faults {
            // Runs go on behind errors, and how many there were is of no interest then.
            for transition in &mut net.transitions {
                transition.rows.retain(|row| !self.wrongs.contains(&row.place.index()));
            }
        }
        if matches!(asked.kind, Kind::Deadlock | Kind::Liveness) {
            for initial in &mut net.initial {
                self.templates.iter().for_each(|t| initial.base[t.place.index()] = 1);
            }
        }
        net
    }

    /// How many processes of each template an initial marking stands for.
    pub fn sizes(&self, marking: &[u32]) -> Vec<(&str, u32)> {
        let size = |t: &Template| marking[t.place.index()] + t.regulated;
        self.templates.iter().map(|t| (t.name.as_str(), size(t))).collect()
    }

    /// Processes of a template are the last ones, template by template, and the regulated ones the first of
    /// each: with the number of the first and how many there are.
    fn numbered(&self, marking: &[u32]) -> Vec<(&Template, u32, u32)> {
        let mut next = self.once;
        let sizes = self.sizes(marking);
        let mut all = Vec::new();
        for (template, (_, size)) in self.templates.iter().zip(sizes) {
            all.push((template, next, size));
            next += size;
        }
        all
    }

    fn regulated_pids(&self, marking: &[u32]) -> Vec<u32> {
        self.numbered(marking).iter().flat_map(|(t, first, _)| *first..first + t.regulated).collect()
    }

    /// The process that alone can be in a place, where there is one.
    fn regulated_pid(&self, marking: &[u32], place: PlaceId) -> Option<u32> {
        let (proctype, rank) = self.regulated.get(place.index()).copied().flatten()?;
        let all = self.numbered(marking);
        all.iter().find(|(t, ..)| t.proctype == proctype).map(|(_, first, _)| first + rank)
    }
}

/// Reads a program as a family in which the named proctypes come in any number, with a property beside it or,
/// where there is none, the questions; assertions are always among these.
///
/// # Errors
/// Every construct that is outside the class of families, with its place.
pub fn family_of(
    program: &Program,
    for_any: &[String],
    questions: &Questions,
    property: Option<&Property>,
) -> Result<Family, FamilyError> {
    let users = class::check(program, for_any).map_err(FamilyError::Refused)?;
    for (text, expr) in &questions.invariants {
        class::check_expression(program, text, expr).map_err(FamilyError::Refused)?;
    }
    for atom in property.iter().flat_map(|p| &p.atoms) {
        if let Seen::Condition(expr) = atom {
            let name = property.map_or("", |p| p.name.as_str());
            class::check_expression(program, name, expr).map_err(FamilyError::Refused)?;
        }
    }
    let family = build::build(program, &users, questions, property)?;
    let of_ends = |a: &Asked| matches!(a.kind, Kind::Deadlock | Kind::Liveness);
    let wanted = property.map_or(questions.deadlock, |p| !p.accepting.is_empty());
    if wanted && !family.asked.iter().any(of_ends) {
        let message = "whether somebody can always move is too complicated to be said of places";
        return Err(FamilyError::Refused(vec![volee_system::Diagnostic::error(message, None)]));
    }
    Ok(family)
}
