//! FBRA: forward search in ever finer abstractions, with cut-offs on the length of paths (Yang and Li 2010),
//! made sound.
//!
//! Abstraction `A(I)` keeps the control state (the groups of the net) and the counters in `I`; all others are
//! ignored, as if they were always large enough. `c(I)` bounds the length of a shortest path to a trap in
//! `A(I)`, from wherever one can be reached. In a configuration of `A(I)` whose counter `j` is at least
//! `alpha(j) * c(I \ j)` it need not be counted on: whatever reaches a trap without minding `j` does so in
//! `c(I \ j)` steps, which cannot use `j` up. There it becomes ω, so each `A(I)` is finite, and closed. No trap
//! in some `A(I)`: the property holds for every size, and its configurations are a proof that other code
//! re-checks. A path on which no counter is ever negative: violated. Such paths are also looked for where
//! they are shortest, in the graph that tracks every counter and is not cut (the paper's last abstraction), a
//! few configurations deeper after every level.
//!
//! Where we differ from the paper. (1) It orders the counters once and uses the prefixes only, arguing that
//! "without loss of generality" the last counter is the large one; for a fixed prefix that is false, and its
//! induction answers wrongly (`tests/it/unsound.rs` has the witness). We take *every* subset of the counters
//! that matter, and as long as the budget lasts let one more matter: one that the last path to a trap has
//! used without having it. (2) What is cut is not discarded: the paper then adds the length of the longest
//! path to the cut-off, which makes the next graph far too large; behind an ω the shortest path to a trap is
//! the one that does without that counter, so the cut-off is what is seen. (3) "No trap" is `None`, not distance 0. (4) Enabledness
//! compares with what a step takes, not with its effect. (5) A target on counters is one last step that needs
//! them, so the same argument covers it.

use std::collections::{HashMap, VecDeque};

use volee_system::{Limit, Meter, Progress, Snapshot};

use crate::answer::{Answer, Counterexample, Method, Outcome, Statistics};
use crate::certificate::{Certificate, OMEGA};
use volee_nets::{Net, PlaceId, TransitionId};

/// A level with more configurations than this is left out, and with it every level above it.
const MAX_LEVEL: usize = 60_000;

/// Configurations of the uncut graph that are looked at after every level, and in all.
const DEEPER: usize = 200;
const MAX_UNCUT: usize = 50_000;

/// Arcs of a step: `(place, taken, effect)`.
type Arcs = Vec<(u32, u32, i64)>;

/// Configurations of a graph that is still worth being drawn.
const DRAWN: usize = 300;

/// One induction, as the paper's table has it: b1, b2, c and s.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Induction {
    /// The counters that are not ignored.
    pub counters: Vec<String>,
    /// A path to a trap was met (b1).
    pub trap: bool,
    /// Something was cut off (b2).
    pub cut: bool,
    /// The cut-off (c); `None` where no trap can be reached, or where the graph became too large.
    pub cut_off: Option<u64>,
    /// Configurations (s).
    pub states: usize,
    /// The whole graph was looked at.
    pub complete: bool,
}

/// An extended reachability graph: the one that has settled the question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Erg {
    /// Of each configuration the marked places and how many tokens they hold, [`OMEGA`] where that is cut off;
    /// the first are initial.
    pub configurations: Vec<Vec<(String, u32)>>,
    /// Steps: from, to, what is done.
    pub edges: Vec<(usize, usize, String)>,
    /// The configurations in which a trap is met.
    pub traps: Vec<usize>,
}

/// Why a cut-off is what it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Why {
    /// The inductions, in their order.
    pub inductions: Vec<Induction>,
    /// The graph of the last one, where it is small.
    pub erg: Option<Erg>,
}

/// What is known of a level.
#[derive(Debug, Clone, Copy)]
enum Level {
    /// Shortest paths to a trap are at most this long.
    CutOff(u64),
    /// Too large, or built on one that is.
    Skipped,
}

/// A search by subsets under way.
pub struct CutOff<'n> {
    net: &'n Net,
    steps: Vec<Arcs>,
    traps: Vec<Arcs>,
    /// Places always tracked: the groups.
    control: Vec<u32>,
    /// Places that may be tracked, the most telling first.
    counters: Vec<u32>,
    alpha: HashMap<u32, u64>,
    levels: HashMap<Vec<u32>, Level>,
    /// Subsets of the relevant counters that were not looked at, the smallest first.
    queue: VecDeque<Vec<u32>>,
    /// The counters that matter so far, ascending.
    relevant: Vec<u32>,
    /// Counters that paths to traps have used without having them, the last first.
    wanted: Vec<u32>,
    inductions: Vec<Induction>,
    erg: Option<Erg>,
    /// The graph that tracks every counter, as far as it was looked at.
    uncut: Option<Graph>,
    statistics: Statistics,
    done: Option<Answer>,
}

impl<'n> CutOff<'n> {
    /// Prepares the search of a monotone net.
    pub fn new(net: &'n Net) -> Self {
        let mut search = CutOff {
            net,
            steps: net.transitions.iter().map(arcs_of).collect(),
            traps: net
                .targets
                .iter()
                .map(|t| t.at_least.iter().map(|b| (b.place.0, b.tokens, 0)).collect())
                .collect(),
            control: Vec::new(),
            counters: Vec::new(),
            alpha: HashMap::new(),
            levels: HashMap::new(),
            queue: VecDeque::from([Vec::new()]),
            relevant: Vec::new(),
            wanted: Vec::new(),
            inductions: Vec::new(),
            erg: None,
            uncut: None,
            statistics: Statistics::default(),
            done: None,
        };
        if !net.transitions.iter().all(volee_nets::Transition::is_plain) {
            let message = "cut-offs are for nets without transfers and resets".into();
            search.done = Some(Answer::Unknown(Limit::Other { message }));
            return search;
        }
        search.choose_places();
        let everything: Vec<u32> = search.control.iter().chain(&search.counters).copied().collect();
        search.uncut = Some(Graph::new(&search, everything, &[]));
        search
    }

    /// The table of inductions so far.
    pub fn inductions(&self) -> &[Induction] {
        &self.inductions
    }

    /// The graph that has settled the question, where it is small enough to be looked at.
    pub fn erg(&self) -> Option<&Erg> {
        self.erg.as_ref()
    }

    /// The figures so far.
    pub fn statistics(&self) -> Statistics {
        self.statistics
    }

    fn choose_places(&mut self) {
        let mut tracked = vec![false; self.net.places.len()];
        for group in self.net.checked_groups() {
            group.iter().for_each(|p| tracked[p.index()] = true);
        }
        self.control = (0..tracked.len() as u32).filter(|&p| tracked[p as usize]).collect();
        let mut telling: Vec<u32> = self.traps.iter().flatten().map(|a| a.0).collect();
        telling.extend(0..tracked.len() as u32);
        for p in telling {
            let open = self.net.initial.iter().any(|i| i.open[p as usize]);
            if !open && !tracked[p as usize] {
                tracked[p as usize] = true;
                self.counters.push(p);
            }
        }
        for &(p, taken, _) in self.steps.iter().chain(&self.traps).flatten() {
            let alpha = self.alpha.entry(p).or_insert(1);
            *alpha = (*alpha).max(u64::from(taken));
        }
    }

    /// Looks at up to `count` levels; the answer once there is one.
    pub fn advance(&mut self, count: usize, meter: &Meter) -> Option<Answer> {
        for _ in 0..count {
            if self.done.is_some() {
                break;
            }
            if let Err(limit) = meter.check() {
                self.done = Some(Answer::Unknown(limit));
                break;
            }
            if self.queue.is_empty() {
                self.widen();
            }
            match self.queue.pop_front() {
                Some(level) => self.level(level, meter),
                None if self.uncut.is_some() => {}
                None => {
                    let message = format!(
                        "{} subsets of {} counters gave neither a proof nor a run",
                        self.levels.len(),
                        self.counters.len()
                    );
                    self.done = Some(Answer::Unknown(Limit::Other { message }));
                }
            }
            if self.done.is_none() {
                self.deepen(meter);
            }
        }
        self.done.clone()
    }

    /// Looks further into the uncut graph: its first trap is the end of a shortest run.
    fn deepen(&mut self, meter: &Meter) {
        let Some(mut graph) = self.uncut.take() else { return };
        let (before, edges) = (graph.contents.len(), graph.edges);
        let fits = graph.grow(graph.at + DEEPER, MAX_UNCUT, meter);
        self.statistics.states += (graph.contents.len() - before) as u64;
        self.statistics.transitions += graph.edges - edges;
        if let Some(example) = graph.real_trap(self) {
            self.erg = graph.drawn(self);
            self.done = Some(Answer::Violated(example));
        } else if fits && graph.at == graph.contents.len() {
            self.erg = graph.drawn(self);
            self.done = Some(Answer::Holds(graph.certificate(self.net.places.len())));
        } else if fits {
            self.uncut = Some(graph);
        }
    }

    /// Thresholds for the counters of a level, where all levels below are known.
    fn thresholds(&self, level: &[u32]) -> Option<Vec<u64>> {
        let mut all = Vec::with_capacity(level.len());
        for (i, &position) in level.iter().enumerate() {
            let mut smaller = level.to_vec();
            smaller.remove(i);
            let Level::CutOff(cut_off) = *self.levels.get(&smaller)? else { return None };
            let place = self.counters[position as usize];
            let alpha = self.alpha.get(&place).copied().unwrap_or(1);
            all.push(alpha.saturating_mul(cut_off));
        }
        Some(all)
    }

    fn level(&mut self, level: Vec<u32>, meter: &Meter) {
        let result = match self.thresholds(&level) {
            Some(thresholds) => self.explore(&level, &thresholds, meter),
            None => Some(Level::Skipped),
        };
        let Some(result) = result else { return };
        self.levels.insert(level, result);
    }

    /// Lets one more counter matter: all subsets with it are to be looked at, unless they build on one that
    /// was left out.
    fn widen(&mut self) {
        let next = self.wanted.iter().copied().find(|p| !self.relevant.contains(p));
        let next = next.or_else(|| (0..self.counters.len() as u32).find(|p| !self.relevant.contains(p)));
        let Some(next) = next else { return };
        self.relevant.push(next);
        self.relevant.sort_unstable();
        let known = self.levels.iter().filter(|(_, level)| matches!(level, Level::CutOff(_)));
        let mut all: Vec<Vec<u32>> = known
            .map(|(level, _)| {
                let mut larger = level.clone();
                larger.push(next);
                larger.sort_unstable();
                larger
            })
            .collect();
        all.sort_by_key(|level| (level.len(), level.clone()));
        self.queue = all.into();
    }

    /// Notes the counters that the shortest path to a trap has used without having them.
    fn note_wanted(&mut self, graph: &Graph, level: &[u32]) {
        let Some(&(node, target)) = graph.trapped.first() else { return };
        let (initial, trace) = graph.path(node);
        let base = &self.net.initial[initial];
        let needed = needs(self, &trace, target as usize);
        for (position, &place) in self.counters.iter().enumerate() {
            let position = position as u32;
            let missing = needed.get(&place).is_some_and(|n| *n > i64::from(base.base[place as usize]));
            if missing && !level.contains(&position) {
                self.wanted.retain(|w| *w != position);
                self.wanted.insert(0, position);
            }
        }
    }

    /// Builds `A(level)`. `None` when it settled the question.
    fn explore(&mut self, level: &[u32], thresholds: &[u64], meter: &Meter) -> Option<Level> {
        let mut places = self.control.clone();
        places.extend(level.iter().map(|&i| self.counters[i as usize]));
        let mut graph = Graph::new(self, places, thresholds);
        let complete = graph.grow(usize::MAX, MAX_LEVEL, meter);
        self.statistics.states += graph.contents.len() as u64;
        self.statistics.transitions += graph.edges;
        let (longest, found) = graph.longest_shortest();
        let cut_off = (complete && found).then_some(longest);
        self.inductions.push(Induction {
            counters: level
                .iter()
                .map(|&i| self.net.places[self.counters[i as usize] as usize].clone())
                .collect(),
            trap: found,
            cut: graph.cut,
            cut_off,
            states: graph.contents.len(),
            complete,
        });
        if !complete {
            return Some(Level::Skipped);
        }
        if let Some(example) = graph.real_trap(self) {
            self.erg = graph.drawn(self);
            self.done = Some(Answer::Violated(example));
            return None;
        }
        if cut_off.is_none() {
            self.erg = graph.drawn(self);
            self.done = Some(Answer::Holds(graph.certificate(self.net.places.len())));
            return None;
        }
        self.note_wanted(&graph, level);
        cut_off.map(Level::CutOff)
    }
}

fn arcs_of(transition: &volee_nets::Transition) -> Arcs {
    let mut arcs: Arcs = transition.at_least.iter().map(|b| (b.place.0, b.tokens, 0)).collect();
    for row in &transition.rows {
        let implied = u32::try_from(-row.constant).unwrap_or(0);
        match arcs.iter_mut().find(|a| a.0 == row.place.0) {
            Some(arc) => *arc = (arc.0, arc.1.max(implied), row.constant),
            None => arcs.push((row.place.0, implied, row.constant)),
        }
    }
    arcs
}

/// One abstraction, cut at its thresholds.
struct Graph {
    places: Vec<u32>,
    limits: Vec<u64>,
    steps: Vec<Arcs>,
    traps: Vec<Arcs>,
    contents: Vec<Vec<u32>>,
    /// How each configuration was reached first.
    parents: Vec<(u32, u32)>,
    backward: Vec<Vec<u32>>,
    trapped: Vec<(u32, u32)>,
    known: HashMap<Vec<u32>, u32>,
    edges: u64,
    cut: bool,
    /// The next configuration to look at.
    at: usize,
}

impl Graph {
    fn new(search: &CutOff<'_>, places: Vec<u32>, thresholds: &[u64]) -> Self {
        let slot: HashMap<u32, u32> = places.iter().enumerate().map(|(i, &p)| (p, i as u32)).collect();
        let project = |arcs: &Arcs| -> Arcs {
            arcs.iter().filter_map(|&(p, taken, effect)| Some((*slot.get(&p)?, taken, effect))).collect()
        };
        let mut limits = vec![u64::MAX; places.len() - thresholds.len()];
        limits.extend_from_slice(thresholds);
        let mut graph = Graph {
            limits,
            steps: search.steps.iter().map(project).collect(),
            traps: search.traps.iter().map(project).collect(),
            contents: Vec::new(),
            parents: Vec::new(),
            backward: Vec::new(),
            trapped: Vec::new(),
            known: HashMap::new(),
            edges: 0,
            cut: false,
            at: 0,
            places,
        };
        for (k, initial) in search.net.initial.iter().enumerate() {
            let start: Vec<u32> = graph.places.iter().map(|&p| initial.base[p as usize]).collect();
            graph.add(start, None, k as u32);
        }
        graph
    }

    /// What is cut is ω from there on.
    fn add(&mut self, mut contents: Vec<u32>, from: Option<u32>, by: u32) {
        for (n, &limit) in contents.iter_mut().zip(&self.limits) {
            if *n != OMEGA && u64::from(*n) >= limit {
                *n = OMEGA;
                self.cut = true;
            }
        }
        let new = self.contents.len() as u32;
        let id = *self.known.entry(contents.clone()).or_insert(new);
        if id == new {
            self.contents.push(contents);
            self.parents.push((from.unwrap_or(new), by));
            self.backward.push(Vec::new());
        }
        if let Some(from) = from {
            self.backward[id as usize].push(from);
        }
    }

    /// Looks at all configurations, or at those before `until`; whether what was found is no more than `most`
    /// and fits.
    fn grow(&mut self, until: usize, most: usize, meter: &Meter) -> bool {
        while self.at < self.contents.len().min(until) {
            let at = self.at;
            let bytes = (self.contents.len() * (self.places.len() * 8 + 160)) as u64;
            let fits = self.contents.len() <= most && meter.check_memory(bytes, String::new).is_ok();
            if !fits || (at.is_multiple_of(1024) && meter.check().is_err()) {
                return false;
            }
            let now = self.contents[at].clone();
            let enabled = |arcs: &Arcs| arcs.iter().all(|&(i, taken, _)| now[i as usize] >= taken);
            if let Some(trap) = self.traps.iter().position(enabled) {
                self.trapped.push((at as u32, trap as u32));
            }
            let fired: Vec<u32> =
                (0..self.steps.len() as u32).filter(|&t| enabled(&self.steps[t as usize])).collect();
            for t in fired {
                self.edges += 1;
                self.add(fire(&now, &self.steps[t as usize]), Some(at as u32), t);
            }
            self.at += 1;
        }
        true
    }

    /// That no trap is met, as something that can be checked.
    fn certificate(self, places: usize) -> Certificate {
        if !self.cut {
            return Certificate::Projection { places: self.places, contents: self.contents };
        }
        let marking = |contents: &Vec<u32>| {
            let mut marking = vec![OMEGA; places];
            self.places.iter().zip(contents).for_each(|(p, n)| marking[*p as usize] = *n);
            marking
        };
        Certificate::Forward { cover: self.contents.iter().map(marking).collect() }
    }

    /// A trap whose path is a run of some instance.
    fn real_trap(&self, search: &CutOff<'_>) -> Option<Counterexample> {
        self.trapped.iter().take(64).find_map(|&(node, target)| {
            let (initial, trace) = self.path(node);
            instance_of(search, initial, &trace, target as usize).map(|marking| Counterexample {
                initial,
                marking,
                trace,
                target: target as usize,
            })
        })
    }

    /// How a configuration was reached first.
    fn path(&self, node: u32) -> (usize, Vec<TransitionId>) {
        let mut trace = Vec::new();
        let mut at = node;
        while self.parents[at as usize].0 != at {
            trace.push(TransitionId(self.parents[at as usize].1));
            at = self.parents[at as usize].0;
        }
        trace.reverse();
        (self.parents[at as usize].1 as usize, trace)
    }

    /// The graph for people, if it is small.
    fn drawn(&self, search: &CutOff<'_>) -> Option<Erg> {
        if self.contents.len() > DRAWN {
            return None;
        }
        let words = |contents: &Vec<u32>| {
            let marked = self.places.iter().zip(contents).filter(|(_, n)| **n > 0);
            marked.map(|(p, n)| (search.net.places[*p as usize].clone(), *n)).collect()
        };
        let mut edges = Vec::new();
        for (from, now) in self.contents.iter().enumerate() {
            for (t, arcs) in self.steps.iter().enumerate() {
                if !arcs.iter().all(|&(i, taken, _)| now[i as usize] >= taken) {
                    continue;
                }
                let mut after = fire(now, arcs);
                for (n, &limit) in after.iter_mut().zip(&self.limits) {
                    *n = if u64::from(*n) >= limit { OMEGA } else { *n };
                }
                if let Some(&to) = self.known.get(&after) {
                    edges.push((from, to as usize, search.net.transitions[t].name.clone()));
                }
            }
        }
        Some(Erg {
            configurations: self.contents.iter().map(words).collect(),
            edges,
            traps: self.trapped.iter().map(|t| t.0 as usize).collect(),
        })
    }

    /// The largest distance to a trap, counting the last step into it, and whether there is any.
    fn longest_shortest(&self) -> (u64, bool) {
        let mut distance = vec![0u64; self.contents.len()];
        let mut queue: VecDeque<u32> = VecDeque::new();
        for &(node, _) in &self.trapped {
            distance[node as usize] = 1;
            queue.push_back(node);
        }
        let mut longest = 0;
        while let Some(node) = queue.pop_front() {
            let here = distance[node as usize];
            longest = here;
            for &before in &self.backward[node as usize] {
                if distance[before as usize] == 0 {
                    distance[before as usize] = here + 1;
                    queue.push_back(before);
                }
            }
        }
        (longest, !self.trapped.is_empty())
    }
}

/// What a step leaves; ω stays.
fn fire(now: &[u32], arcs: &Arcs) -> Vec<u32> {
    let mut after = now.to_vec();
    for &(i, _, effect) in arcs {
        if now[i as usize] != OMEGA {
            // No run of an instance comes near what this leaves out.
            after[i as usize] = u32::try_from(i64::from(now[i as usize]) + effect).unwrap_or(OMEGA);
        }
    }
    after
}

/// The least instance in which a trace can be fired and ends in the target: the largest excess of what each
/// place must give over what it got.
fn instance_of(
    search: &CutOff<'_>,
    initial: usize,
    trace: &[TransitionId],
    target: usize,
) -> Option<Vec<u32>> {
    let demand = needs(search, trace, target)
        .into_iter()
        .map(|(p, n)| Some((PlaceId(p), u32::try_from(n.max(0)).ok()?)))
        .collect::<Option<Vec<_>>>()?;
    search.net.initial[initial].instance_for(demand)
}

/// What each place must hold at the start for a trace to be fired and to end in the target.
fn needs(search: &CutOff<'_>, trace: &[TransitionId], target: usize) -> HashMap<u32, i64> {
    let mut needed: HashMap<u32, i64> = HashMap::new();
    let mut effect: HashMap<u32, i64> = HashMap::new();
    let steps = trace.iter().map(|t| &search.steps[t.index()]).chain([&search.traps[target]]);
    for arcs in steps {
        for &(p, taken, change) in arcs {
            let so_far = effect.entry(p).or_default();
            let need = needed.entry(p).or_default();
            *need = (*need).max(i64::from(taken) - *so_far);
            *so_far += change;
        }
    }
    needed
}

/// Runs the engine on a monotone net.
pub fn cut_off(net: &Net, meter: &Meter, progress: &mut dyn Progress) -> Outcome {
    let mut search = CutOff::new(net);
    loop {
        if let Some(answer) = search.advance(16, meter) {
            let why = Why { inductions: search.inductions, erg: search.erg };
            let why = Some(Box::new(why));
            return Outcome { answer, method: Method::CutOff, statistics: search.statistics, why };
        }
        let Statistics { states, transitions, .. } = search.statistics;
        progress.report(&Snapshot { states, transitions, ..Snapshot::default() });
    }
}
