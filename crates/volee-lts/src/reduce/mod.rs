//! Reduction: the smallest system that is equal to a given one in some sense.

mod bisimulations;
mod certificate;
mod weak;

pub use bisimulations::Divergence;
pub(crate) use bisimulations::{reduce_branching, reduce_strong};
pub use certificate::{Certificate, CertificateError};

use volee_system::Meter;

use crate::determinise::{Traces, determinise};
use crate::quotient::quotient;
use crate::saturate::TauClosure;
use crate::silent::contract;
use crate::{Edge, LabelId, Lts, LtsError, StateId};

/// What a reduction preserves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Strong bisimulation.
    Strong,
    /// Branching bisimulation.
    Branching(Divergence),
    /// Weak bisimulation.
    Weak(Divergence),
    /// Traces; the result is the smallest deterministic system.
    Trace,
    /// Visible traces; the result is the smallest deterministic system.
    WeakTrace,
    /// Cycles of internal steps become single states, with a self-loop; nothing else is changed.
    TauCycles,
    /// The subset construction alone, over all labels.
    Determinise,
    /// Unreachable states are dropped; nothing else is changed.
    Reachable,
}

impl Method {
    /// All methods with their names.
    pub const ALL: [(&'static str, Method); 10] = [
        ("strong", Method::Strong),
        ("branching", Method::Branching(Divergence::Ignored)),
        ("branching-divergence", Method::Branching(Divergence::Preserved)),
        ("weak", Method::Weak(Divergence::Ignored)),
        ("weak-divergence", Method::Weak(Divergence::Preserved)),
        ("trace", Method::Trace),
        ("weak-trace", Method::WeakTrace),
        ("tau-cycles", Method::TauCycles),
        ("determinise", Method::Determinise),
        ("reachable", Method::Reachable),
    ];

    /// The method with this name.
    ///
    /// # Errors
    /// There is none.
    pub fn parse(name: &str) -> Result<Method, LtsError> {
        Method::ALL.iter().find(|(known, _)| *known == name).map(|&(_, m)| m).ok_or_else(|| {
            let known: Vec<_> = Method::ALL.iter().map(|m| m.0).collect();
            LtsError::input(format!("`{name}` is not a reduction; known are {}", known.join(", ")))
        })
    }
}

/// A reduced system, and the certificate that relates it to the original.
#[derive(Debug)]
pub struct Reduction {
    /// The reduced system; all its states are reachable.
    pub lts: Lts,
    /// The class of each original state.
    pub certificate: Certificate,
}

/// Reduces a system. The certificate of the result is not checked yet: see [`Certificate::check`].
///
/// # Errors
/// The budget runs out (only weak and trace reductions can need more than a small multiple of the input).
pub fn reduce(lts: &Lts, method: Method, meter: &Meter) -> Result<Reduction, LtsError> {
    Ok(match method {
        Method::Strong => reduce_strong(lts),
        Method::Branching(divergence) => reduce_branching(lts, divergence),
        Method::Weak(divergence) => weak::reduce_weak(lts, divergence, meter)?,
        Method::Trace => {
            let small = reduce_strong(lts).lts;
            uncertified(reduce_strong(&determinise(&small, Traces::All, meter)?).lts)
        }
        Method::WeakTrace => {
            let small = reduce_branching(lts, Divergence::Ignored).lts;
            let closure = TauClosure::new(&small, meter)?;
            uncertified(reduce_strong(&determinise(&small, Traces::Visible(&closure), meter)?).lts)
        }
        Method::TauCycles => tau_cycles(lts),
        Method::Determinise => uncertified(determinise(lts, Traces::All, meter)?),
        Method::Reachable => reachable(lts),
    })
}

fn uncertified(lts: Lts) -> Reduction {
    Reduction { lts, certificate: Certificate::None }
}

fn tau_cycles(lts: &Lts) -> Reduction {
    let contracted = contract(lts);
    let small = &contracted.lts;
    let made = quotient(small, small.state_count(), small.initial().0, |state, row| {
        row.extend_from_slice(small.edges(StateId(state)));
        if contracted.divergent[state as usize] {
            row.push(Edge { label: LabelId::TAU, target: StateId(state) });
        }
    });
    let class_of = contracted.component.iter().map(|&c| made.number[c as usize]).collect();
    let certificate = Certificate::Branching { class_of, divergence: Divergence::Preserved };
    Reduction { lts: made.lts, certificate }
}

fn reachable(lts: &Lts) -> Reduction {
    let made = quotient(lts, lts.state_count(), lts.initial().0, |state, row| {
        row.extend_from_slice(lts.edges(StateId(state)));
    });
    Reduction { lts: made.lts, certificate: Certificate::Strong { class_of: made.number } }
}
