//! Which search has met which pair: all of them, as bits that may coincide, or as many as fit a budget.
//!
//! Bounded: a pair on the path of either search is held; what has left both paths may be forgotten, one at
//! random when the budget is used up (Jard & Jéron 1991, section 2.1, for both searches at once).

use std::hash::BuildHasher;

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use volee_system::{Limit, Random};

use super::NestedStore;
use crate::check::Turnover;
use crate::pairs::Pair;
use volee_store::Sketch;

/// The first search has met a pair.
pub(super) const BLUE: u8 = 1;
/// The second search has.
pub(super) const RED: u8 = 2;

/// What a remembered pair costs beside its bytes: its entry, the allocation, its place among those that may
/// go.
const OVERHEAD: u64 = 96;

/// How often each pair may be met again, on average, before the search gives up.
const MOST_OFTEN: f64 = 32.0;

/// The memory of a nested search.
pub(super) enum Colours {
    Exact(HashMap<Pair, u8, FixedState>),
    Bits(Vec<u64>),
    Bounded(Bounded),
}

impl Colours {
    pub fn new(store: NestedStore) -> Self {
        let hasher = FixedState::default();
        match store {
            NestedStore::Exact => Colours::Exact(HashMap::with_hasher(hasher)),
            NestedStore::Bitstate { bytes } => Colours::Bits(vec![0; (bytes / 8).max(1)]),
            NestedStore::Bounded { bytes, seed } => Colours::Bounded(Bounded {
                pairs: HashMap::with_hasher(hasher),
                open: Vec::new(),
                budget: bytes,
                bytes: 0,
                random: Random::new(seed),
                replaced: 0,
                insertions: 0,
                hits: 0,
                sketch: Sketch::new(bytes),
            }),
        }
    }

    /// Paints a pair, and holds it if it had not been painted so before: it will be on a path. `path` bytes
    /// are in use by the paths. Whether it was new.
    pub fn paint(&mut self, pair: &[u8], colour: u8, path: u64) -> Result<bool, Limit> {
        match self {
            Colours::Exact(map) => Ok(match map.get_mut(pair) {
                Some(colours) => {
                    let new = *colours & colour == 0;
                    *colours |= colour;
                    new
                }
                None => map.insert(pair.into(), colour).is_none(),
            }),
            Colours::Bits(words) => Ok(paint_bits(words, pair, colour)),
            Colours::Bounded(bounded) => bounded.paint(pair, colour, path),
        }
    }

    /// A pair leaves a path.
    pub fn release(&mut self, pair: &[u8]) {
        if let Colours::Bounded(bounded) = self {
            bounded.release(pair);
        }
    }

    pub fn bytes(&self) -> u64 {
        match self {
            Colours::Exact(map) => map.len() as u64 * 64,
            Colours::Bits(words) => words.len() as u64 * 8,
            Colours::Bounded(bounded) => bounded.bytes,
        }
    }

    /// What was forgotten and met again, once something was.
    pub fn turnover(&self, longest_path: u64) -> Option<Turnover> {
        let Colours::Bounded(bounded) = self else { return None };
        (bounded.replaced > 0).then(|| Turnover {
            insertions: bounded.insertions,
            replaced: bounded.replaced,
            hit_rate: bounded.hits as f64 / (bounded.insertions + bounded.hits).max(1) as f64,
            longest_path,
            distinct: bounded.sketch.estimate().round() as u64,
            distinct_error: bounded.sketch.standard_error(),
        })
    }

    /// Ends a search that meets pairs again so often that it need not be expected to end.
    pub fn check_turnover(&self) -> Result<(), Limit> {
        let Colours::Bounded(bounded) = self else { return Ok(()) };
        let distinct = bounded.sketch.estimate();
        if bounded.replaced == 0 || (bounded.insertions as f64) < MOST_OFTEN * distinct {
            return Ok(());
        }
        let often = bounded.insertions as f64 / distinct;
        let needed =
            format!("about {distinct:.0} pairs were met {often:.0} times each, and forgotten in between");
        Err(Limit::Memory { budget: bounded.budget, needed })
    }

    /// The share of the bits that are set, where there are bits.
    pub fn share(&self) -> f64 {
        let Colours::Bits(words) = self else { return 0.0 };
        let set: u64 = words.iter().map(|w| u64::from(w.count_ones())).sum();
        set as f64 / (words.len() * 64) as f64
    }
}

fn paint_bits(words: &mut [u64], pair: &[u8], colour: u8) -> bool {
    let hash = FixedState::default().hash_one((pair, colour));
    let size = words.len() as u64 * 64;
    let mut new = false;
    for bit in [hash % size, hash.rotate_left(32).wrapping_mul(0x9E37_79B9_7F4A_7C15) % size] {
        let (word, mask) = ((bit / 64) as usize, 1 << (bit % 64));
        new |= words[word] & mask == 0;
        words[word] |= mask;
    }
    new
}

/// Pairs within a budget.
pub(super) struct Bounded {
    pairs: HashMap<Pair, Known, FixedState>,
    /// The pairs on no path: these may be forgotten.
    open: Vec<Pair>,
    budget: u64,
    bytes: u64,
    random: Random,
    replaced: u64,
    insertions: u64,
    hits: u64,
    sketch: Sketch,
}

#[derive(Debug, Clone, Copy)]
struct Known {
    colours: u8,
    /// On how many paths it is.
    held: u8,
    /// Its place among the open ones, while it is held by none.
    place: u32,
}

impl Bounded {
    fn paint(&mut self, pair: &[u8], colour: u8, path: u64) -> Result<bool, Limit> {
        if let Some(known) = self.pairs.get_mut(pair) {
            if known.colours & colour != 0 {
                self.hits += 1;
                return Ok(false);
            }
            known.colours |= colour;
            known.held += 1;
            let (held, place) = (known.held, known.place);
            if held == 1 {
                self.take(place as usize);
            }
            return Ok(true);
        }
        let cost = 2 * pair.len() as u64 + OVERHEAD;
        self.make_room(cost + path)?;
        self.bytes += cost;
        self.insertions += 1;
        self.sketch.add(pair);
        self.pairs.insert(pair.into(), Known { colours: colour, held: 1, place: 0 });
        Ok(true)
    }

    /// Removes one of the open pairs from their list.
    fn take(&mut self, place: usize) -> Pair {
        let pair = self.open.swap_remove(place);
        if let Some(moved) = self.open.get(place)
            && let Some(known) = self.pairs.get_mut(moved)
        {
            known.place = place as u32;
        }
        pair
    }

    fn release(&mut self, pair: &[u8]) {
        let Some(known) = self.pairs.get_mut(pair) else { return };
        known.held -= 1;
        if known.held == 0 {
            known.place = self.open.len() as u32;
            self.open.push(pair.into());
        }
    }

    /// Forgets until there is room for this many bytes more.
    fn make_room(&mut self, more: u64) -> Result<(), Limit> {
        while self.bytes + more > self.budget {
            if self.open.is_empty() {
                let held = self.pairs.len();
                let needed = format!("the paths of the two searches need more ({held} pairs are on them)");
                return Err(Limit::Memory { budget: self.budget, needed });
            }
            let place = self.random.below(self.open.len());
            let victim = self.take(place);
            self.pairs.remove(&victim);
            self.bytes -= 2 * victim.len() as u64 + OVERHEAD;
            self.replaced += 1;
        }
        Ok(())
    }
}
