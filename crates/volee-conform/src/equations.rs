//! Selection as a boolean equation system (Joubert and Mateescu 2006, section 3.2): the complete test graph
//! is the diagnostic of one variable.
//!
//! For each state s of the product of specification and purpose, before suspension and determinisation:
//!
//! ```text
//! X_s =ν Y_s ∧ ⋀ W_s'      s leads to acceptance, and so does whatever of its successors is to be kept
//! W_s =ν Z_s ∨ X_s         a successor is either not kept, or explained in turn
//! Y_s =μ ⋁ Y_s'            acceptance can be reached; true where s accepts
//! Z_s =ν ⋀ Z_s'            acceptance cannot be reached; false where s accepts
//! ```
//!
//! The diagnostic of X at the start, as the certificate checker walks it, visits X_s exactly for the states
//! of the raw test graph. It is then suspended and determinised. The paper leaves to "handling" what its
//! order of operations forgets: whether a kept state was quiescent, which outputs were pruned, and what a
//! pruned state that shares a meta-state with kept ones may still output. Here nothing is forgotten because
//! determinisation looks at the specification itself and takes only the selection from the equations: a
//! meta-state is kept if one of its members is. Unlike the direct method nothing outside the graph is ever
//! determinised, and nothing is searched backward.

use volee_bes::certificate::{Collector, check};
use volee_bes::{
    BooleanGraph, Operator, Shape, Sign, Solution, SolveError, Solver, Successors, Trouble, solve,
};
use volee_system::{Flow, Meter, Progress};

use crate::ConformError;
use crate::determinised::Determinised;
use crate::purpose::{ACCEPT, REFUSE};
use crate::rows::Which;
use crate::select::{Selected, build, sizes, start};
use crate::sets::Member;

const X: u16 = 0;
const W: u16 = 1;
const Y: u16 = 2;
const Z: u16 = 3;
/// Explains every one of several initial states.
const ROOT: u16 = 4;

/// How large the equations and the graph they select were.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Raw {
    /// Product states in the diagnostic.
    pub states: u64,
    /// Steps between them.
    pub transitions: u64,
    /// Variables of the equation system that were met.
    pub variables: u64,
    /// Bytes that the resolution used.
    pub memory: u64,
}

/// The complete test graph, by equations. Raw sizes are in the result.
///
/// # Errors
/// As [`crate::direct`].
pub fn by_equations(
    product: &mut Determinised<'_>,
    solver: Solver,
    meter: &Meter,
    progress: &mut dyn Progress,
) -> Result<(Selected, Raw), ConformError> {
    let initial = start(product)?;
    let seeds = product.seeds()?;
    let mut graph = Equations { product, seeds, trouble: None };
    let solved = match solve(&mut graph, solver, meter, progress) {
        Ok(solved) => solved,
        Err(error) => return Err(graph.explain(error)),
    };
    if !solved.value {
        return Err(ConformError::NoTest);
    }
    let mut diagnostic = Diagnostic { kept: vec![0; solved.solution.len().div_ceil(64)] };
    if let Err(error) = check(&mut graph, &solved.solution, true, meter, &mut diagnostic) {
        return Err(graph.explain(error.into()));
    }
    // With several initial states the root is true in any case: a test exists if one of them is kept.
    let mut scratch = Vec::new();
    if !graph.seeds.iter().any(|m| diagnostic.keeps(&solved.solution, *m, &mut scratch)) {
        return Err(ConformError::NoTest);
    }
    let raw = Raw {
        variables: solved.statistics.variables,
        memory: solved.statistics.memory,
        ..graph.count(&solved.solution, &diagnostic)?
    };
    let mut members = Vec::new();
    let leads = |product: &mut Determinised<'_>, meta| {
        product.members(meta, &mut members);
        Ok(members.iter().any(|m| diagnostic.keeps(&solved.solution, *m, &mut scratch)))
    };
    let row = |product: &mut Determinised<'_>, meta, out: &mut _| product.moves(meta, out);
    let (graph, _) = build(product, initial, row, leads)?;
    let mut sizes = sizes(product, &graph);
    (sizes.raw_states, sizes.raw_transitions) = (raw.states, raw.transitions);
    Ok((Selected { graph, sizes }, raw))
}

fn place(member: Member) -> [u8; 6] {
    let (state, purpose) = (member.state().to_le_bytes(), member.purpose().to_le_bytes());
    [state[0], state[1], state[2], state[3], purpose[0], purpose[1]]
}

fn member(place: &[u8]) -> Member {
    let (state, purpose) = place.split_at(4);
    Member::of((purpose, state))
}

/// The variables X that the diagnostic visits.
struct Diagnostic {
    kept: Vec<u64>,
}

impl Collector for Diagnostic {
    fn support(&mut self, variable: u32, _: bool, _: &[u32]) -> Flow {
        self.kept[variable as usize / 64] |= 1 << (variable % 64);
        Flow::Continue(())
    }
}

impl Diagnostic {
    fn keeps(&self, solution: &Solution, member: Member, scratch: &mut Vec<u8>) -> bool {
        let found = solution.find(&place(member), X, scratch);
        found.is_some_and(|v| self.kept[v as usize / 64] >> (v % 64) & 1 == 1)
    }
}

struct Equations<'p, 's> {
    product: &'p mut Determinised<'s>,
    seeds: Vec<Member>,
    /// What went wrong in the specification or the purpose, which a boolean graph can only call trouble.
    trouble: Option<ConformError>,
}

impl Equations<'_, '_> {
    fn explain(&mut self, error: SolveError) -> ConformError {
        if let Some(trouble) = self.trouble.take() {
            return trouble;
        }
        match error {
            SolveError::Limit(limit) => ConformError::Limit(limit),
            other => ConformError::input(other.to_string()),
        }
    }

    fn after(&mut self, from: Member, out: &mut Vec<Member>) -> Result<(), ConformError> {
        out.clear();
        if from.purpose() >= ACCEPT {
            return Ok(());
        }
        self.product.follow(from, Which::All, |_, next| {
            out.push(next);
            Flow::Continue(())
        })
    }

    /// The size of the raw graph.
    fn count(&mut self, solution: &Solution, diagnostic: &Diagnostic) -> Result<Raw, ConformError> {
        let mut raw = Raw::default();
        let (mut bytes, mut scratch, mut next) = (Vec::new(), Vec::new(), Vec::new());
        for variable in 0..solution.len() as u32 {
            if diagnostic.kept[variable as usize / 64] >> (variable % 64) & 1 == 0 {
                continue;
            }
            if solution.variable(variable, &mut bytes) != X {
                continue;
            }
            raw.states += 1;
            self.after(member(&bytes), &mut next)?;
            let kept = next.iter().filter(|m| diagnostic.keeps(solution, **m, &mut scratch));
            raw.transitions += kept.count() as u64;
        }
        Ok(raw)
    }
}

impl BooleanGraph for Equations<'_, '_> {
    fn root(&mut self) -> Result<(Vec<u8>, u16), Trouble> {
        let node = if self.seeds.len() > 1 { ROOT } else { X };
        Ok((place(self.seeds[0]).to_vec(), node))
    }

    fn blocks(&self) -> &[Sign] {
        &[Sign::Nu, Sign::Mu, Sign::Nu]
    }

    fn nodes(&self) -> u16 {
        if self.seeds.len() > 1 { 5 } else { 4 }
    }

    fn equation(&self, _: &[u8], node: u16) -> (Operator, u16) {
        match node {
            X | ROOT => (Operator::And, 0),
            W => (Operator::Or, 0),
            Y => (Operator::Or, 1),
            _ => (Operator::And, 2),
        }
    }

    fn shape(&self, block: u16) -> Shape {
        if block == 1 { Shape::Disjunctive } else { Shape::Conjunctive }
    }

    fn successors(&mut self, bytes: &[u8], node: u16, sink: &mut dyn Successors) -> Result<(), Trouble> {
        let from = member(bytes);
        let mut next = Vec::new();
        if matches!(node, X | Y | Z)
            && let Err(error) = self.after(from, &mut next)
        {
            let words = error.to_string();
            self.trouble = Some(error);
            return Err(Trouble(words));
        }
        let _ = push(node, from, &next, &self.seeds, sink);
        Ok(())
    }
}

/// The right-hand side of a variable.
fn push(node: u16, from: Member, next: &[Member], seeds: &[Member], sink: &mut dyn Successors) -> Flow {
    match node {
        X => {
            sink.variable(&place(from), Y)?;
            next.iter().try_for_each(|m| sink.variable(&place(*m), W))
        }
        W => {
            sink.variable(&place(from), Z)?;
            sink.variable(&place(from), X)
        }
        Y | Z if from.purpose() == ACCEPT => sink.constant(node == Y),
        Y | Z if from.purpose() == REFUSE => sink.constant(node == Z),
        Y | Z => next.iter().try_for_each(|m| sink.variable(&place(*m), node)),
        _ => seeds.iter().try_for_each(|m| sink.variable(&place(*m), W)),
    }
}
