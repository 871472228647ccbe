//! Proofs that no instance of any size is bad, and the code that re-checks them.
//!
//! Nothing here is shared with the engines that make the proofs: predecessors, successors and comparisons are
//! written again, in the plainest way, so that a mistake would have to be made twice. The checker trusts only
//! the net.

use std::collections::{HashMap, HashSet};

use foldhash::fast::FixedState;

use crate::linear::Inequality;
use crate::sparse::Entry;
use volee_nets::{Net, PlaceId, Transition};

/// A marking in which some places hold any number of tokens.
pub type OmegaMarking = Vec<u32>;

/// Any number of tokens in an [`OmegaMarking`].
pub const OMEGA: u32 = u32::MAX;

/// An inductive invariant that excludes all targets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Certificate {
    /// No reachable marking marks a place of `unmarked`, breaks an inequality, or is above a vector of
    /// `basis`.
    Backward {
        /// A siphon that is empty initially.
        unmarked: Vec<u32>,
        /// Inductive inequalities.
        inequalities: Vec<Inequality>,
        /// Vectors whose upward closure holds all targets and all predecessors of its members, except those
        /// that the inequalities and the siphon exclude.
        basis: Vec<Vec<Entry>>,
    },
    /// Every reachable marking is below one of these, and no target is.
    Forward {
        /// Markings with ω.
        cover: Vec<OmegaMarking>,
    },
    /// Every reachable marking agrees, on the tracked places, with one of these; no target does.
    Projection {
        /// The places that are tracked.
        places: Vec<u32>,
        /// Their possible contents.
        contents: Vec<Vec<u32>>,
    },
    /// The counters engine has a closed set of vectors that misses the targets, upper bounds included, and
    /// has checked it.
    Sets {
        /// How many sets it consists of.
        sets: usize,
        /// In this many states of control.
        control: usize,
    },
}

/// Why a certificate proves nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the certificate does not hold: {0}")]
pub struct CertificateError(String);

fn fail<T>(message: impl Into<String>) -> Result<T, CertificateError> {
    Err(CertificateError(message.into()))
}

impl Certificate {
    /// How many vectors, markings or contents it consists of.
    pub fn size(&self) -> usize {
        match self {
            Certificate::Backward { inequalities, basis, .. } => inequalities.len() + basis.len(),
            Certificate::Forward { cover } => cover.len(),
            Certificate::Projection { contents, .. } => contents.len(),
            Certificate::Sets { sets, .. } => *sets,
        }
    }

    /// Checks the certificate for a monotone net.
    ///
    /// # Errors
    /// What does not hold.
    pub fn check(&self, net: &Net) -> Result<(), CertificateError> {
        if !net.is_monotone() {
            return fail("the net is not monotone");
        }
        match self {
            Certificate::Backward { unmarked, inequalities, basis } => {
                check_backward(net, unmarked, inequalities, basis)
            }
            Certificate::Forward { cover } => check_forward(net, cover),
            Certificate::Projection { places, contents } => check_projection(net, places, contents),
            Certificate::Sets { .. } => fail("sets are checked where they are found"),
        }
    }
}

fn check_backward(
    net: &Net,
    unmarked: &[u32],
    inequalities: &[Inequality],
    basis: &[Vec<Entry>],
) -> Result<(), CertificateError> {
    let mut dead = vec![false; net.places.len()];
    for &p in unmarked {
        dead[p as usize] = true;
    }
    check_siphon(net, &dead)?;
    let fires = |t: &Transition| can_fire_without(t, &dead);
    for inequality in inequalities {
        check_inequality(net, &dead, inequality)?;
    }
    let index = Tree::new(basis);
    let excluded = |v: &[u32]| {
        unmarked.iter().any(|&p| v[p as usize] > 0)
            || inequalities.iter().any(|i| weighted(i, v) > i.bound)
            || index.some_below(v)
    };
    for target in &net.targets {
        let mut v = vec![0; net.places.len()];
        for bound in &target.at_least {
            v[bound.place.index()] = bound.tokens;
        }
        if !excluded(&v) {
            return fail(format!("{} is not in the bad set", target.name));
        }
    }
    let mut v = vec![0u32; net.places.len()];
    let mut scratch = Vec::new();
    let live: Vec<&Transition> = net.transitions.iter().filter(|t| fires(t)).collect();
    for vector in basis {
        for initial in &net.initial {
            let inside = vector
                .iter()
                .all(|e| initial.open[e.place as usize] || e.tokens <= initial.base[e.place as usize]);
            if inside {
                return fail("an initial marking is in the bad set");
            }
        }
        v.fill(0);
        for e in vector {
            v[e.place as usize] = e.tokens;
        }
        for &transition in &live {
            let helps = transition
                .rows
                .iter()
                .any(|r| v[r.place.index()] > 0 && (r.constant > 0 || r.sources.as_slice() != [r.place]));
            if helps && !all_predecessors(transition, &v, &mut scratch, &excluded) {
                return fail(format!("a predecessor by {} leaves the bad set", transition.name));
            }
        }
    }
    Ok(())
}

/// Whether a transition can fire while the dead places are empty.
fn can_fire_without(t: &Transition, dead: &[bool]) -> bool {
    let starved = |r: &volee_nets::Row| r.constant < 0 && r.sources.iter().all(|s| dead[s.index()]);
    !t.at_least.iter().any(|b| b.tokens > 0 && dead[b.place.index()]) && !t.rows.iter().any(starved)
}

/// The dead places are empty initially and stay so.
fn check_siphon(net: &Net, dead: &[bool]) -> Result<(), CertificateError> {
    for initial in &net.initial {
        if (0..dead.len()).any(|p| dead[p] && (initial.open[p] || initial.base[p] > 0)) {
            return fail("a place said to be always empty is marked initially");
        }
    }
    for t in net.transitions.iter().filter(|t| can_fire_without(t, dead)) {
        let gains = |r: &volee_nets::Row| r.constant > 0 || r.sources.iter().any(|s| !dead[s.index()]);
        if t.rows.iter().any(|r| dead[r.place.index()] && gains(r)) {
            return fail(format!("{} marks a place said to be always empty", t.name));
        }
    }
    Ok(())
}

fn check_inequality(net: &Net, dead: &[bool], inequality: &Inequality) -> Result<(), CertificateError> {
    let mut weight = vec![0i128; net.places.len()];
    for &(p, w) in &inequality.weights {
        weight[p as usize] = i128::from(w);
    }
    for initial in &net.initial {
        let open = (0..weight.len()).any(|p| weight[p] > 0 && initial.open[p]);
        let sum: i128 = weight.iter().zip(&initial.base).map(|(w, &n)| w * i128::from(n)).sum();
        if open || sum > i128::from(inequality.bound) {
            return fail("an inequality is false initially");
        }
    }
    for t in net.transitions.iter().filter(|t| can_fire_without(t, dead)) {
        // The change of the weighted sum is affine in the marking: slope per place, value at the guard.
        let mut slope = vec![0i128; net.places.len()];
        let mut value: i128 = 0;
        for row in &t.rows {
            let w = weight[row.place.index()];
            slope[row.place.index()] -= w;
            row.sources.iter().for_each(|s| slope[s.index()] += w);
            value += w * i128::from(row.constant);
        }
        for bound in &t.at_least {
            value += slope[bound.place.index()] * i128::from(bound.tokens);
        }
        if value > 0 || slope.iter().zip(dead).any(|(&s, &d)| s > 0 && !d) {
            return fail(format!("{} breaks an inequality", t.name));
        }
    }
    Ok(())
}

/// The weighted sum, or the largest number where it is larger.
fn weighted(inequality: &Inequality, v: &[u32]) -> u64 {
    let weight = |&(p, w): &(u32, u64)| w.saturating_mul(u64::from(v[p as usize]));
    inequality.weights.iter().map(weight).fold(0, u64::saturating_add)
}

/// The basis, found by its entries: from node to node along (place, tokens).
struct Tree {
    /// Per node and place: token counts with the node they lead to.
    edges: HashMap<(u32, u32), Vec<(u32, u32)>, FixedState>,
    leaf: Vec<bool>,
}

impl Tree {
    fn new(basis: &[Vec<Entry>]) -> Self {
        let mut tree = Tree { edges: HashMap::default(), leaf: vec![false] };
        for vector in basis {
            let mut at = 0;
            for e in vector {
                let next = tree.edges.entry((at, e.place)).or_default();
                at = match next.iter().find(|n| n.0 == e.tokens) {
                    Some(&(_, child)) => child,
                    None => {
                        let child = tree.leaf.len() as u32;
                        next.push((e.tokens, child));
                        tree.leaf.push(false);
                        child
                    }
                };
            }
            tree.leaf[at as usize] = true;
        }
        tree
    }

    fn some_below(&self, v: &[u32]) -> bool {
        let marked: Vec<usize> = (0..v.len()).filter(|&p| v[p] > 0).collect();
        let mut work = vec![(0u32, 0usize)];
        while let Some((node, from)) = work.pop() {
            if self.leaf[node as usize] {
                return true;
            }
            for (i, &p) in marked.iter().enumerate().skip(from) {
                let edges = self.edges.get(&(node, p as u32)).into_iter().flatten();
                work.extend(edges.filter(|e| e.0 <= v[p]).map(|e| (e.1, i + 1)));
            }
        }
        false
    }
}

/// Whether all minimal predecessors of "at least `v`" satisfy `inside`; `demand` is scratch space.
fn all_predecessors(
    t: &Transition,
    v: &[u32],
    demand: &mut Vec<u32>,
    inside: &dyn Fn(&[u32]) -> bool,
) -> bool {
    demand.clear();
    demand.extend_from_slice(v);
    for row in &t.rows {
        demand[row.place.index()] = 0;
    }
    for bound in &t.at_least {
        raise(demand, bound.place.index(), i64::from(bound.tokens));
    }
    // Rows whose tokens can come from several places.
    let mut open: Vec<(i64, &[PlaceId])> = Vec::new();
    for row in &t.rows {
        let needed = i64::from(v[row.place.index()]) - row.constant;
        match row.sources.as_slice() {
            _ if needed <= 0 => {}
            [] => return true,
            [only] => raise(demand, only.index(), needed),
            several => open.push((needed, several)),
        }
    }
    if open.is_empty() || inside(demand) {
        return inside(demand);
    }
    // Work list of (row among the open ones, demand so far, tokens still to place, first source still free).
    let mut work = vec![(0usize, demand.clone(), open[0].0, 0usize)];
    while let Some((row, demand, needed, source)) = work.pop() {
        if needed == 0 || source == open[row].1.len() {
            if needed > 0 {
                continue;
            }
            match open.get(row + 1) {
                Some(next) => work.push((row + 1, demand, next.0, 0)),
                None if inside(&demand) => {}
                None => return false,
            }
            continue;
        }
        let last = source + 1 == open[row].1.len();
        for given in if last { needed..=needed } else { 0..=needed } {
            let mut next = demand.clone();
            raise(&mut next, open[row].1[source].index(), given);
            work.push((row, next, needed - given, source + 1));
        }
    }
    true
}

fn raise(demand: &mut [u32], place: usize, tokens: i64) {
    demand[place] = demand[place].max(u32::try_from(tokens).unwrap_or(u32::MAX));
}

fn below_omega(small: &[u32], large: &[u32]) -> bool {
    small.iter().zip(large).all(|(&s, &l)| l == OMEGA || (s != OMEGA && s <= l))
}

fn check_forward(net: &Net, cover: &[OmegaMarking]) -> Result<(), CertificateError> {
    let covered = |m: &[u32]| cover.iter().any(|c| below_omega(m, c));
    for initial in &net.initial {
        let m: Vec<u32> =
            initial.base.iter().zip(&initial.open).map(|(&n, &o)| if o { OMEGA } else { n }).collect();
        if !covered(&m) {
            return fail("an initial marking is not covered");
        }
    }
    for marking in cover {
        for target in &net.targets {
            if target.at_least.iter().all(|b| b.tokens <= marking[b.place.index()]) {
                return fail(format!("{} is covered", target.name));
            }
        }
        for t in &net.transitions {
            if let Some(after) = fire_omega(t, marking)
                && !covered(&after)
            {
                return fail(format!("{} leaves the covered set", t.name));
            }
        }
    }
    Ok(())
}

fn fire_omega(t: &Transition, marking: &[u32]) -> Option<Vec<u32>> {
    if t.at_least.iter().any(|b| marking[b.place.index()] < b.tokens) {
        return None;
    }
    let mut after = marking.to_vec();
    for row in &t.rows {
        let omega = row.sources.iter().any(|s| marking[s.index()] == OMEGA);
        let sum: i64 = row.sources.iter().map(|s| i64::from(marking[s.index()])).sum::<i64>() + row.constant;
        if !omega && sum < 0 {
            return None;
        }
        after[row.place.index()] = if omega { OMEGA } else { u32::try_from(sum).unwrap_or(OMEGA) };
    }
    Some(after)
}

fn check_projection(net: &Net, places: &[u32], contents: &[Vec<u32>]) -> Result<(), CertificateError> {
    let known: HashSet<&[u32]> = contents.iter().map(Vec::as_slice).collect();
    let mut slot = vec![None; net.places.len()];
    for (i, &p) in places.iter().enumerate() {
        slot[p as usize] = Some(i);
    }
    for initial in &net.initial {
        if places.iter().any(|&p| initial.open[p as usize]) {
            return fail("a tracked place has no initial number");
        }
        let start: Vec<u32> = places.iter().map(|&p| initial.base[p as usize]).collect();
        if !known.contains(start.as_slice()) {
            return fail("an initial marking is not among the contents");
        }
    }
    for now in contents {
        let enough = |b: &volee_nets::Bound| slot[b.place.index()].is_none_or(|i| now[i] >= b.tokens);
        for target in &net.targets {
            if target.at_least.iter().all(enough) {
                return fail(format!("{} agrees with the contents", target.name));
            }
        }
        for t in net.transitions.iter().filter(|t| t.at_least.iter().all(enough)) {
            let mut after = now.clone();
            let mut possible = true;
            for row in &t.rows {
                let Some(i) = slot[row.place.index()] else { continue };
                if row.sources.as_slice() != [row.place] {
                    return fail(format!("{} transfers tokens of a tracked place", t.name));
                }
                let value = i64::from(now[i]) + row.constant;
                match u32::try_from(value) {
                    Ok(value) => after[i] = value,
                    Err(_) => possible = false,
                }
            }
            if possible && !known.contains(after.as_slice()) {
                return fail(format!("{} leaves the contents", t.name));
            }
        }
    }
    Ok(())
}
