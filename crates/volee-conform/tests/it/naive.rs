//! The definitions, one by one, over sets of states: obviously right and slow.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use volee_conform::Livelock;
use volee_lts::Lts;

pub type Set = BTreeSet<(u32, u32)>;

pub const QUIET: &str = "δ";

/// A system whose states are (state of a specification, state of a purpose).
pub struct Naive {
    steps: BTreeMap<u32, Vec<(String, u32)>>,
    purpose: BTreeMap<u32, Vec<(String, u32)>>,
    quiet: BTreeSet<u32>,
    initial: (u32, u32),
}

pub fn is_input(label: &str) -> bool {
    label.starts_with('?')
}

pub fn is_output(label: &str) -> bool {
    label.starts_with('!') || label == QUIET
}

fn rows(lts: &Lts) -> BTreeMap<u32, Vec<(String, u32)>> {
    let mut rows: BTreeMap<u32, Vec<(String, u32)>> = BTreeMap::new();
    for (source, edge) in lts.transitions() {
        rows.entry(source.0).or_default().push((lts.name(edge.label).to_owned(), edge.target.0));
    }
    rows
}

impl Naive {
    pub fn new(specification: &Lts, purpose: Option<&Lts>, livelock: Livelock) -> Naive {
        let steps = rows(specification);
        let none = Vec::new();
        let of = |s: u32| steps.get(&s).unwrap_or(&none);
        let after_internal = |from: &BTreeSet<u32>| -> BTreeSet<u32> {
            from.iter().flat_map(|s| of(*s).iter().filter(|(l, _)| l == "i").map(|(_, t)| *t)).collect()
        };
        let quiet = (0..specification.state_count() as u32).filter(|&s| {
            let stable = of(s).iter().all(|(l, _)| is_input(l));
            let mut reached = after_internal(&BTreeSet::from([s]));
            loop {
                let more = after_internal(&reached);
                if more.is_subset(&reached) {
                    break;
                }
                reached.extend(more);
            }
            stable || (livelock == Livelock::Quiescent && reached.contains(&s))
        });
        let quiet = quiet.collect();
        let initial = (specification.initial().0, purpose.map_or(0, |p| p.initial().0));
        let purpose = purpose.map(rows).unwrap_or_default();
        Naive { quiet, purpose, initial, steps }
    }

    fn has(&self, purpose: u32, mark: &str) -> bool {
        self.purpose.get(&purpose).is_some_and(|row| row.iter().any(|(l, _)| l == mark))
    }

    fn watch(&self, purpose: u32, label: &str) -> u32 {
        if self.has(purpose, "ACCEPT") || self.has(purpose, "REFUSE") {
            return purpose;
        }
        let Some(row) = self.purpose.get(&purpose) else { return purpose };
        let named = row.iter().find(|(l, _)| l == label);
        named.or(row.iter().find(|(l, _)| l == "*")).map_or(purpose, |(_, t)| *t)
    }

    fn close(&self, mut set: Set) -> Set {
        loop {
            let more: Set = set.iter().flat_map(|m| self.successors(*m, "i")).collect();
            if more.is_subset(&set) {
                return set;
            }
            set.extend(more);
        }
    }

    fn successors(&self, (state, purpose): (u32, u32), label: &str) -> Vec<(u32, u32)> {
        // Acceptance ends a test.
        if self.has(purpose, "ACCEPT") {
            return Vec::new();
        }
        let row = self.steps.get(&state).map(Vec::as_slice).unwrap_or_default();
        row.iter().filter(|(l, _)| l == label).map(|(l, t)| (*t, self.watch(purpose, l))).collect()
    }

    pub fn initial(&self) -> Set {
        self.close(Set::from([self.initial]))
    }

    pub fn accepts(&self, set: &Set) -> bool {
        set.iter().any(|(_, p)| self.has(*p, "ACCEPT"))
    }

    fn refuses(&self, set: &Set) -> bool {
        set.iter().all(|(_, p)| self.has(*p, "REFUSE"))
    }

    pub fn after(&self, set: &Set, label: &str) -> Set {
        if label == QUIET {
            return self.close(set.iter().filter(|(s, _)| self.quiet.contains(s)).copied().collect());
        }
        self.close(set.iter().flat_map(|m| self.successors(*m, label)).collect())
    }

    /// The visible labels that are possible.
    pub fn possible(&self, set: &Set) -> BTreeSet<String> {
        let mut labels = BTreeSet::new();
        for (state, _) in set {
            let row = self.steps.get(state).map(Vec::as_slice).unwrap_or_default();
            labels.extend(row.iter().map(|(l, _)| l.clone()).filter(|l| l != "i"));
            if self.quiet.contains(state) {
                labels.insert(QUIET.into());
            }
        }
        labels
    }

    /// The steps of one state, internal ones included.
    pub fn steps(&self, state: u32) -> &[(String, u32)] {
        self.steps.get(&state).map(Vec::as_slice).unwrap_or_default()
    }

    /// Whether a state is quiescent.
    pub fn is_quiet(&self, state: u32) -> bool {
        self.quiet.contains(&state)
    }

    /// Whether acceptance can be reached.
    pub fn leads(&self, set: &Set) -> bool {
        let mut seen = BTreeSet::from([set.clone()]);
        let mut queue = VecDeque::from([set.clone()]);
        while let Some(set) = queue.pop_front() {
            if self.accepts(&set) {
                return true;
            }
            if self.refuses(&set) {
                continue;
            }
            for label in self.possible(&set) {
                let next = self.after(&set, &label);
                if seen.insert(next.clone()) {
                    queue.push_back(next);
                }
            }
        }
        false
    }
}

/// A shortest trace of the specification after which the implementation does what is not allowed, and that.
pub fn ioco(specification: &Naive, implementation: &Naive) -> Option<(Vec<String>, String)> {
    let start = (specification.initial(), implementation.initial());
    let mut seen = BTreeSet::from([start.clone()]);
    let mut queue = VecDeque::from([(start, Vec::new())]);
    while let Some(((ours, theirs), trace)) = queue.pop_front() {
        let allowed = specification.possible(&ours);
        for label in implementation.possible(&theirs) {
            if !allowed.contains(&label) {
                if is_output(&label) {
                    return Some((trace, label));
                }
                continue;
            }
            let next = (specification.after(&ours, &label), implementation.after(&theirs, &label));
            if seen.insert(next.clone()) {
                let mut trace = trace.clone();
                trace.push(label);
                queue.push_back((next, trace));
            }
        }
    }
    None
}
