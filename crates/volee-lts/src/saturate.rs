//! Weak steps made explicit: `s =a=> t` is any number of internal steps, one `a`, any number of internal
//! steps.
//!
//! The result can be quadratic in the states, so it is asked for only on systems that were reduced before,
//! and it watches the budget while it grows.

use volee_system::Meter;

use crate::silent::contract;
use crate::{Edge, LabelId, Lts, LtsError, StateId};

/// Which states each state reaches by internal steps, itself included, ascending.
#[derive(Debug)]
pub(crate) struct TauClosure {
    rows: Vec<Vec<u32>>,
}

impl TauClosure {
    /// Of a system without cycles of internal steps other than self-loops.
    ///
    /// # Errors
    /// The budget runs out.
    pub(crate) fn new(lts: &Lts, meter: &Meter) -> Result<Self, LtsError> {
        let contracted = contract(lts);
        debug_assert_eq!(contracted.lts.state_count(), lts.state_count(), "internal steps must be acyclic");
        let mut member = vec![0u32; lts.state_count()];
        for (state, &component) in contracted.component.iter().enumerate() {
            member[component as usize] = state as u32;
        }
        let mut rows: Vec<Vec<u32>> = vec![Vec::new(); lts.state_count()];
        let mut size = 0u64;
        for component in contracted.lts.states() {
            let state = member[component.index()];
            let mut row = vec![state];
            for edge in contracted.lts.edges(component).iter().take_while(|e| e.is_tau()) {
                row.extend_from_slice(&rows[member[edge.target.index()] as usize]);
            }
            row.sort_unstable();
            row.dedup();
            row.shrink_to_fit();
            size += row.len() as u64 * 4;
            meter.check()?;
            meter.check_memory(size, || "the closure of internal steps".into())?;
            rows[state as usize] = row;
        }
        Ok(TauClosure { rows })
    }

    pub(crate) fn of(&self, state: StateId) -> &[u32] {
        &self.rows[state.index()]
    }
}

/// The system with all weak steps as steps; internal ones include staying where one is.
///
/// # Errors
/// The budget runs out.
pub(crate) fn saturate(lts: &Lts, closure: &TauClosure, meter: &Meter) -> Result<Lts, LtsError> {
    let mut offsets = vec![0u32];
    let mut edges: Vec<Edge> = Vec::new();
    let mut row: Vec<Edge> = Vec::new();
    for state in lts.states() {
        row.clear();
        for &middle in closure.of(state) {
            row.push(Edge { label: LabelId::TAU, target: StateId(middle) });
            for edge in lts.edges(StateId(middle)).iter().filter(|e| !e.is_tau()) {
                let targets = closure.of(edge.target).iter();
                row.extend(targets.map(|&t| Edge { label: edge.label, target: StateId(t) }));
            }
            if row.len() > 1 << 16 {
                row.sort_unstable();
                row.dedup();
            }
        }
        row.sort_unstable();
        row.dedup();
        edges.extend_from_slice(&row);
        if edges.len() >= u32::MAX as usize {
            return Err(LtsError::input("2³² weak transitions are more than volee stores"));
        }
        offsets.push(edges.len() as u32);
        meter.check()?;
        meter.check_memory(edges.capacity() as u64 * 8, || "the weak transitions".into())?;
    }
    Ok(Lts::from_rows(lts.labels().clone(), lts.initial(), offsets, edges))
}
