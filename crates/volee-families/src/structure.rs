//! What the shape of a net says without any search: places that no run can ever mark.
//!
//! Start from the places marked initially and fire everything whose places may be marked, never taking tokens
//! away. The places left over form a siphon that is empty initially: whoever would put a token there needs
//! one from there. They, and the transitions that need them, can be forgotten (the sign analysis of Geffroy,
//! Leroux and Sutre 2016).

use volee_nets::{Net, Transition};

/// Which places may ever hold a token, and which transitions may ever fire.
#[derive(Debug, Clone)]
pub struct Liveness {
    /// Per place.
    pub markable: Vec<bool>,
    /// Per transition.
    pub firable: Vec<bool>,
}

impl Liveness {
    /// Computes both for a monotone net.
    pub fn of(net: &Net) -> Self {
        let mut markable: Vec<bool> =
            (0..net.places.len()).map(|p| net.initial.iter().any(|i| i.base[p] > 0 || i.open[p])).collect();
        let mut firable = vec![false; net.transitions.len()];
        loop {
            let mut changed = false;
            for (t, transition) in net.transitions.iter().enumerate() {
                if !firable[t] && !may_fire(transition, &markable) {
                    continue;
                }
                changed |= !firable[t];
                firable[t] = true;
                for row in &transition.rows {
                    let gains = row.constant > 0 || row.sources.iter().any(|s| markable[s.index()]);
                    if gains && !markable[row.place.index()] {
                        markable[row.place.index()] = true;
                        changed = true;
                    }
                }
            }
            if !changed {
                return Liveness { markable, firable };
            }
        }
    }
}

fn may_fire(transition: &Transition, markable: &[bool]) -> bool {
    transition.at_least.iter().all(|b| b.tokens == 0 || markable[b.place.index()])
        && transition.rows.iter().all(|r| r.constant >= 0 || r.sources.iter().any(|s| markable[s.index()]))
}
