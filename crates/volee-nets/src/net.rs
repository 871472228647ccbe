//! Nets whose transitions may transfer, reset and set constants.
//!
//! A transition has a guard (a lower bound per place, and where the model asks for equality an upper bound)
//! and *rows*: `x' = y + z + 3` is a row with sources `y`, `z` and constant 3. A place without a row keeps
//! its tokens. Rows with one source, the place itself, are the ordinary arcs of a Petri net; everything else
//! is a transfer (`x' = x + y, y' = 0`), a reset (`x' = 0`) or an assignment (`x' = 1`). A row that would
//! become negative disables the transition. All of these are monotone, so coverability is decidable by
//! backward search; upper bounds are not, and [`Net::relaxed`] replaces them by the best monotone
//! over-approximation. Further terms of a row (`x' = 2 * y - z`) are for engines that can do without:
//! [`Net::is_additive`] says whether there are any.

use volee_system::{Action, Diagnostic, Place};

/// A net that is not one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the net is malformed: {0}")]
pub struct NetError(pub String);

/// A place of a net, by number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PlaceId(pub u32);

impl PlaceId {
    /// The place as an index into dense vectors.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A transition of a net, by number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TransitionId(pub u32);

impl TransitionId {
    /// The transition as an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The largest number of tokens a place may hold: sums of a few never overflow `u32`.
pub const MAX_TOKENS: u32 = 1 << 30;

/// `place' = sum of sources + other terms + constant`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// What is assigned.
    pub place: PlaceId,
    /// The places whose tokens are added up, in ascending order, each once.
    pub sources: Vec<PlaceId>,
    /// Added at the end.
    pub constant: i64,
    /// Terms with other factors than 1, ascending by place.
    pub terms: Vec<(i64, PlaceId)>,
}

impl Row {
    /// The sum of these places and a constant.
    pub fn sum(place: PlaceId, sources: Vec<PlaceId>, constant: i64) -> Self {
        Row { place, sources, constant, terms: Vec::new() }
    }

    /// Whether this is an ordinary arc: the place keeps its tokens, plus or minus a constant.
    pub fn is_plain(&self) -> bool {
        self.sources == [self.place] && self.terms.is_empty()
    }

    fn value(&self, marking: &[u32]) -> i128 {
        let sum: i64 = self.sources.iter().map(|s| i64::from(marking[s.index()])).sum();
        let rest = self.terms.iter().map(|(k, p)| i128::from(*k) * i128::from(marking[p.index()]));
        i128::from(sum + self.constant) + rest.sum::<i128>()
    }
}

/// A bound on a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bound {
    /// The place.
    pub place: PlaceId,
    /// The number of tokens.
    pub tokens: u32,
}

/// One way in which a net moves.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Transition {
    /// What a trace calls it.
    pub name: String,
    /// Lower bounds, ascending by place, none zero.
    pub at_least: Vec<Bound>,
    /// Upper bounds, ascending by place.
    pub at_most: Vec<Bound>,
    /// The places it assigns, ascending.
    pub rows: Vec<Row>,
    /// Who does what in it, where it is a step of processes.
    pub movers: Vec<Mover>,
    /// Where it stands in the file.
    pub source: Option<Place>,
}

/// Whether a transition fired.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fired {
    /// It is not enabled.
    No,
    /// It did.
    Yes,
    /// It is enabled, but some place would hold more than [`MAX_TOKENS`].
    TooMany,
}

/// A process that takes part in a transition: a token that moves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mover {
    /// What it does.
    pub action: Action,
    /// Where it was.
    pub from: PlaceId,
    /// Where it is then.
    pub to: PlaceId,
}

impl Transition {
    /// Whether all its rows are ordinary arcs.
    pub fn is_plain(&self) -> bool {
        self.rows.iter().all(Row::is_plain)
    }

    /// The ordinary transition that takes `pre` and gives `post`.
    pub fn arcs(name: impl Into<String>, pre: &[(u32, u32)], post: &[(u32, u32)]) -> Self {
        let mut places: Vec<u32> = pre.iter().chain(post).map(|&(p, _)| p).collect();
        places.sort_unstable();
        places.dedup();
        let sum =
            |arcs: &[(u32, u32)], p: u32| -> u32 { arcs.iter().filter(|a| a.0 == p).map(|a| a.1).sum() };
        let mut transition = Transition { name: name.into(), ..Transition::default() };
        for p in places {
            let (take, give) = (sum(pre, p), sum(post, p));
            let place = PlaceId(p);
            if take > 0 {
                transition.at_least.push(Bound { place, tokens: take });
            }
            if take != give {
                let constant = i64::from(give) - i64::from(take);
                transition.rows.push(Row::sum(place, vec![place], constant));
            }
        }
        transition
    }

    /// The marking after firing in `marking`, or `None` where it is not enabled or a number would be too
    /// large.
    pub fn fire(&self, marking: &[u32]) -> Option<Vec<u32>> {
        let mut after = marking.to_vec();
        (self.fire_into(marking, &mut after) == Fired::Yes).then_some(after)
    }

    /// Like [`Transition::fire`], into a buffer.
    pub fn fire_into(&self, marking: &[u32], after: &mut Vec<u32>) -> Fired {
        let low = self.at_least.iter().all(|b| marking[b.place.index()] >= b.tokens);
        let high = self.at_most.iter().all(|b| marking[b.place.index()] <= b.tokens);
        if !low || !high {
            return Fired::No;
        }
        after.clear();
        after.extend_from_slice(marking);
        let mut fired = Fired::Yes;
        for row in &self.rows {
            match u32::try_from(row.value(marking)) {
                Ok(value) if value <= MAX_TOKENS => after[row.place.index()] = value,
                _ if row.value(marking) < 0 => return Fired::No,
                _ => fired = Fired::TooMany,
            }
        }
        fired
    }
}

/// A family of initial markings: each place holds exactly `base`, or that many and any number more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Initial {
    /// The least number of tokens per place.
    pub base: Vec<u32>,
    /// Whether there may be more.
    pub open: Vec<bool>,
}

impl Initial {
    /// Whether some initial marking is at least `demand` everywhere.
    pub fn reaches(&self, demand: impl IntoIterator<Item = (PlaceId, u32)>) -> bool {
        demand.into_iter().all(|(p, n)| self.open[p.index()] || n <= self.base[p.index()])
    }

    /// The least initial marking that is at least `demand`, where there is one.
    pub fn instance_for(&self, demand: impl IntoIterator<Item = (PlaceId, u32)>) -> Option<Vec<u32>> {
        let mut marking = self.base.clone();
        for (p, n) in demand {
            let i = p.index();
            if n > marking[i] {
                if !self.open[i] {
                    return None;
                }
                marking[i] = n;
            }
        }
        Some(marking)
    }
}

/// A set of bad markings: all bounds hold.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Target {
    /// What it is called in a verdict.
    pub name: String,
    /// Lower bounds, ascending by place, none zero.
    pub at_least: Vec<Bound>,
    /// Upper bounds, ascending by place.
    pub at_most: Vec<Bound>,
}

impl Target {
    /// The target "at least these tokens".
    pub fn covering(name: impl Into<String>, tokens: &[(u32, u32)]) -> Self {
        let mut at_least: Vec<Bound> =
            tokens.iter().map(|&(p, tokens)| Bound { place: PlaceId(p), tokens }).collect();
        at_least.retain(|b| b.tokens > 0);
        at_least.sort_unstable();
        Target { name: name.into(), at_least, at_most: Vec::new() }
    }

    /// Whether a marking is bad.
    pub fn contains(&self, marking: &[u32]) -> bool {
        self.at_least.iter().all(|b| marking[b.place.index()] >= b.tokens)
            && self.at_most.iter().all(|b| marking[b.place.index()] <= b.tokens)
    }
}

/// A net with its initial markings and its bad markings.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Net {
    /// Names of places.
    pub places: Vec<String>,
    /// All transitions, in the order of the model.
    pub transitions: Vec<Transition>,
    /// The initial markings (any of these).
    pub initial: Vec<Initial>,
    /// The bad markings (any of these).
    pub targets: Vec<Target>,
    /// Sets of places that together hold exactly one token in every reachable marking: the state of a control
    /// process or of a variable. A hint; [`Net::checked_groups`] says which are true.
    pub groups: Vec<Vec<PlaceId>>,
}

impl Net {
    /// Whether every row only adds up places, each once; else the first that does not, with its place.
    ///
    /// # Errors
    /// The transition whose effect is more than a sum.
    pub fn is_additive(&self) -> Result<(), Diagnostic> {
        let more = self.transitions.iter().find(|t| t.rows.iter().any(|r| !r.terms.is_empty()));
        let Some(transition) = more else { return Ok(()) };
        let message = format!("in {} a place is subtracted or added more than once", transition.name);
        Err(Diagnostic::error(message, transition.source.clone()).with_help(
            "write each place at most once on a right-hand side, with `+`: only then do more tokens never disable \
             anything",
        ))
    }

    /// Sets how many tokens a place starts with: chooses among the initial markings.
    ///
    /// # Errors
    /// There is no such place, or no initial marking with that number.
    pub fn start_with(&mut self, place: &str, tokens: u32) -> Result<(), Diagnostic> {
        let Some(at) = self.places.iter().position(|p| p == place) else {
            return Err(Diagnostic::error(format!("the net has no place `{place}`"), None));
        };
        if tokens > MAX_TOKENS {
            return Err(Diagnostic::error(format!("a place holds at most {MAX_TOKENS} tokens"), None));
        }
        for initial in &mut self.initial {
            initial.base[at] = tokens;
            initial.open[at] = false;
        }
        Ok(())
    }

    /// Whether the net has no upper bounds, so that larger markings can do more.
    pub fn is_monotone(&self) -> bool {
        self.transitions.iter().all(|t| t.at_most.is_empty())
            && self.targets.iter().all(|t| t.at_most.is_empty())
    }

    /// The best monotone over-approximation. A guard `x <= n` becomes "drop the tokens of `x` beyond `n`,
    /// then go on": every run of the net is covered by a run of the result, so what is not coverable there is
    /// not reachable here. (This is the monotonic abstraction of Abdulla, Delzanno and Rezine, in the form of
    /// a reset.) Where `n` is also the lower bound the tokens are known, and become a constant. Upper bounds
    /// of targets are dropped.
    pub fn relaxed(&self) -> Net {
        let mut net = self.clone();
        for transition in &mut net.transitions {
            relax(transition);
        }
        for target in &mut net.targets {
            target.at_most.clear();
        }
        net
    }

    /// The groups that are true: one token initially, and kept by every transition.
    pub fn checked_groups(&self) -> Vec<Vec<PlaceId>> {
        self.groups.iter().filter(|g| self.is_group(g)).cloned().collect()
    }

    fn is_group(&self, group: &[PlaceId]) -> bool {
        let starts = self.initial.iter().all(|i| {
            group.iter().map(|p| i.base[p.index()]).sum::<u32>() == 1
                && group.iter().all(|p| !i.open[p.index()])
        });
        let within = |p: PlaceId| group.contains(&p);
        starts
            && self.transitions.iter().all(|t| {
                let plain = t.rows.iter().all(|r| r.is_plain() || !within(r.place));
                let gain: i64 = t.rows.iter().filter(|r| within(r.place)).map(|r| r.constant).sum();
                plain && gain == 0
            })
    }

    /// Checks that all numbers are in range, so that engines may index without asking.
    ///
    /// # Errors
    /// Which part of the net names a place that is not there, or too many tokens.
    pub fn validate(&self) -> Result<(), NetError> {
        let places = self.places.len();
        let bad = |what: &str, name: &str| NetError(format!("{what} `{name}`"));
        let bounds_ok = |bounds: &[Bound]| {
            bounds.iter().all(|b| b.place.index() < places && b.tokens <= MAX_TOKENS)
                && bounds.is_sorted_by(|a, b| a.place < b.place)
        };
        for t in &self.transitions {
            let rows_ok = t.rows.is_sorted_by(|a, b| a.place < b.place)
                && t.rows.iter().all(|r| {
                    r.place.index() < places
                        && r.constant.unsigned_abs() <= u64::from(MAX_TOKENS)
                        && r.sources.is_sorted_by(|a, b| a < b)
                        && r.sources.iter().all(|s| s.index() < places)
                        && r.terms
                            .iter()
                            .all(|(k, p)| p.index() < places && k.unsigned_abs() <= u64::from(MAX_TOKENS))
                });
            if !bounds_ok(&t.at_least) || !bounds_ok(&t.at_most) || !rows_ok {
                return Err(bad("transition", &t.name));
            }
        }
        for t in &self.targets {
            if !bounds_ok(&t.at_least) || !bounds_ok(&t.at_most) {
                return Err(bad("target", &t.name));
            }
        }
        for i in &self.initial {
            if i.base.len() != places || i.open.len() != places || i.base.iter().any(|&n| n > MAX_TOKENS) {
                return Err(bad("initial marking", ""));
            }
        }
        Ok(())
    }
}

fn relax(transition: &mut Transition) {
    for bound in std::mem::take(&mut transition.at_most) {
        let low = transition.at_least.iter().find(|b| b.place == bound.place).map_or(0, |b| b.tokens);
        if low != bound.tokens {
            continue; // `low <= x <= n` with a gap: keeping all tokens is the over-approximation
        }
        if !transition.rows.iter().any(|r| r.place == bound.place) {
            let row = Row::sum(bound.place, vec![bound.place], 0);
            let at = transition.rows.partition_point(|r| r.place < bound.place);
            transition.rows.insert(at, row);
        }
        for row in &mut transition.rows {
            if let Some(at) = row.sources.iter().position(|&s| s == bound.place) {
                row.sources.remove(at);
                row.constant += i64::from(bound.tokens);
            }
        }
    }
}
