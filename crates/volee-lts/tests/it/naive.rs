//! The relations straight from their definitions, for systems of up to 32 states: sets are bit masks,
//! relations are arrays of masks, and everything is iterated from "all related" downwards. Slow, short, and
//! obviously right.

use std::collections::{BTreeSet, HashSet};

use volee_lts::{Lts, Relation, StateId};

/// The disjoint union of two systems, or one system alone.
pub struct Union {
    /// (label, target) of each state; label 0 is internal.
    pub edges: Vec<Vec<(u32, usize)>>,
    pub first: usize,
    pub second: usize,
    /// What each state reaches by internal steps, itself included.
    closure: Vec<u32>,
}

impl Union {
    pub fn new(a: &Lts, b: &Lts) -> Self {
        let mut names: Vec<String> = vec!["i".into()];
        let mut edges = Vec::new();
        for (lts, shift) in [(a, 0), (b, a.state_count())] {
            for s in lts.states() {
                let row = lts.edges(s).iter().map(|e| {
                    let name = lts.name(e.label);
                    let label = names.iter().position(|n| n == name).unwrap_or_else(|| {
                        names.push(name.into());
                        names.len() - 1
                    });
                    (label as u32, e.target.index() + shift)
                });
                edges.push(row.collect::<Vec<_>>());
            }
        }
        let mut closure: Vec<u32> = (0..edges.len()).map(|s| 1 << s).collect();
        loop {
            let mut changed = false;
            for s in 0..edges.len() {
                for &(l, t) in &edges[s] {
                    if l == 0 && closure[s] | closure[t] != closure[s] {
                        closure[s] |= closure[t];
                        changed = true;
                    }
                }
            }
            if !changed {
                break;
            }
        }
        let second = b.initial().index() + a.state_count();
        Union { edges, first: a.initial().index(), second, closure }
    }

    pub fn single(a: &Lts) -> Self {
        let empty = Lts::builder().finish(StateId(0), 1).expect("small");
        Union::new(a, &empty)
    }

    fn states(&self) -> impl Iterator<Item = usize> + use<> {
        0..self.edges.len()
    }

    /// The states that `label` leads to, internal steps before and after included.
    fn weak(&self, state: usize, label: u32) -> u32 {
        if label == 0 {
            return self.closure[state];
        }
        let mut reached = 0;
        for middle in members(self.closure[state]) {
            for &(l, t) in &self.edges[middle] {
                if l == label {
                    reached |= self.closure[t];
                }
            }
        }
        reached
    }

    fn strong(&self, state: usize, label: u32) -> u32 {
        self.edges[state].iter().filter(|e| e.0 == label).fold(0, |set, e| set | 1 << e.1)
    }

    /// Whether internal steps can go on for ever inside `within`.
    fn loops_within(&self, state: usize, within: u32) -> bool {
        // Remove states without an internal step inside, until none is left or all have one.
        let mut alive = within;
        loop {
            let next = members(alive)
                .filter(|&s| self.edges[s].iter().any(|&(l, t)| l == 0 && alive >> t & 1 == 1))
                .fold(0, |set, s| set | 1 << s);
            if next == alive {
                return alive >> state & 1 == 1;
            }
            alive = next;
        }
    }

    /// `related[s]` is the set of t with s R t.
    fn greatest(&self, mut keeps: impl FnMut(&[u32], usize, usize) -> bool) -> Vec<u32> {
        let all = if self.edges.len() == 32 { u32::MAX } else { (1 << self.edges.len()) - 1 };
        let mut related = vec![all; self.edges.len()];
        loop {
            let before = related.clone();
            for s in self.states() {
                related[s] =
                    members(before[s]).filter(|&t| keeps(&before, s, t)).fold(0, |set, t| set | 1 << t);
            }
            if related == before {
                return related;
            }
        }
    }

    fn simulated(&self, r: &[u32], s: usize, t: usize, post: impl Fn(usize, u32) -> u32) -> bool {
        self.edges[s].iter().all(|&(l, next)| post(t, l) & r[next] != 0)
    }

    fn branching_step(&self, r: &[u32], s: usize, t: usize) -> bool {
        self.edges[s].iter().all(|&(l, next)| {
            (l == 0 && r[next] >> t & 1 == 1)
                || members(self.closure[t] & r[s]).any(|middle| self.strong(middle, l) & r[next] != 0)
        })
    }

    /// Staying in a class for ever depends on the class, so this alternates: the coarsest branching
    /// bisimulation that respects the colours, then colours that tell who can stay in its class.
    fn branching_divergence(&self) -> Vec<u32> {
        let mut colours = vec![0u32; self.edges.len()];
        loop {
            let r = self.greatest(|r, s, t| {
                colours[s] == colours[t] && self.branching_step(r, s, t) && self.branching_step(r, t, s)
            });
            let next: Vec<u32> = self
                .states()
                .map(|s| 2 * r[s].trailing_zeros() + u32::from(self.loops_within(s, r[s])))
                .collect();
            if self.states().all(|s| members(r[s]).all(|t| next[s] == next[t])) {
                return r;
            }
            colours = next;
        }
    }

    /// The relation as sets of related states; none for traces, which are not relations between states here.
    pub fn relation(&self, relation: Relation) -> Vec<u32> {
        let all = ((1u64 << self.edges.len()) - 1) as u32;
        match relation {
            Relation::Strong => self.greatest(|r, s, t| {
                self.simulated(r, s, t, |x, l| self.strong(x, l))
                    && self.simulated(r, t, s, |x, l| self.strong(x, l))
            }),
            Relation::Weak => self.greatest(|r, s, t| {
                self.simulated(r, s, t, |x, l| self.weak(x, l))
                    && self.simulated(r, t, s, |x, l| self.weak(x, l))
            }),
            Relation::WeakDivergence => self.greatest(|r, s, t| {
                self.loops_within(s, all) == self.loops_within(t, all)
                    && self.simulated(r, s, t, |x, l| self.weak(x, l))
                    && self.simulated(r, t, s, |x, l| self.weak(x, l))
            }),
            Relation::Branching => {
                self.greatest(|r, s, t| self.branching_step(r, s, t) && self.branching_step(r, t, s))
            }
            Relation::BranchingDivergence => self.branching_divergence(),
            Relation::SimulationPreorder | Relation::Simulation => {
                self.greatest(|r, s, t| self.simulated(r, s, t, |x, l| self.strong(x, l)))
            }
            Relation::WeakSimulationPreorder | Relation::WeakSimulation => {
                self.greatest(|r, s, t| self.simulated(r, s, t, |x, l| self.weak(x, l)))
            }
            _ => unreachable!("not a relation between states"),
        }
    }

    /// Whether every trace of `s` is one of `t`.
    pub fn traces_included(&self, s: usize, t: usize, visible: bool) -> bool {
        let start = |x: usize| if visible { self.closure[x] } else { 1 << x };
        let mut seen = HashSet::new();
        let mut pending = vec![(start(s), start(t))];
        while let Some((one, two)) = pending.pop() {
            if !seen.insert((one, two)) {
                continue;
            }
            if one != 0 && two == 0 {
                return false;
            }
            let labels: BTreeSet<u32> = members(one)
                .flat_map(|x| self.edges[x].iter().map(|e| e.0))
                .filter(|&l| !visible || l != 0)
                .collect();
            for label in labels {
                let post = |set: u32| {
                    members(set).fold(0, |next, x| {
                        next | if visible { self.weak(x, label) } else { self.strong(x, label) }
                    })
                };
                pending.push((post(one), post(two)));
            }
        }
        true
    }

    /// Whether the two initial states are related.
    pub fn related(&self, relation: Relation) -> bool {
        let (a, b) = (self.first, self.second);
        match relation {
            Relation::TracePreorder => self.traces_included(a, b, false),
            Relation::WeakTracePreorder => self.traces_included(a, b, true),
            Relation::Trace => self.traces_included(a, b, false) && self.traces_included(b, a, false),
            Relation::WeakTrace => self.traces_included(a, b, true) && self.traces_included(b, a, true),
            Relation::Simulation | Relation::WeakSimulation => {
                let r = self.relation(relation);
                r[a] >> b & 1 == 1 && r[b] >> a & 1 == 1
            }
            _ => self.relation(relation)[a] >> b & 1 == 1,
        }
    }

    /// How many classes the states reachable from the first initial state fall into.
    pub fn classes(&self, relation: Relation) -> usize {
        let related = self.relation(relation);
        let mut reached = 1u32 << self.first;
        loop {
            let next =
                members(reached).flat_map(|s| self.edges[s].iter()).fold(reached, |set, e| set | 1 << e.1);
            if next == reached {
                break;
            }
            reached = next;
        }
        members(reached).map(|s| related[s] & reached).collect::<HashSet<_>>().len()
    }
}

pub fn members(set: u32) -> impl Iterator<Item = usize> {
    (0..32).filter(move |s| set >> s & 1 == 1)
}
