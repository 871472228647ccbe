//! Minimal predecessors of "at least `v`": the step of the backward engine.
//!
//! For an ordinary transition with pre-vector `pre` and effect `delta` there is one: `max(pre, v - delta)`
//! (Abdulla, Čerāns, Jonsson and Tsay 1996, for nets). A row `x' = y + z + c` has several, one for each way
//! to split the tokens that `x` needs between `y` and `z`. A transition that gives nothing `v` asks for is
//! left out: its predecessor is above `v` and teaches nothing.

use volee_system::Limit;

use crate::sparse::{Entry, tokens_of};
use volee_nets::{MAX_TOKENS, Net, Transition};

/// More ways to split than this in one step are given up.
const MAX_SPLITS: usize = 200_000;

/// Receives predecessors.
pub trait Candidates {
    /// Why it wants no more.
    type Stop: From<Limit>;

    /// Whether nothing above `vector` is wanted, so that its splits need not be made.
    fn hopeless(&mut self, vector: &[Entry]) -> bool;

    /// Takes a predecessor with its transition.
    ///
    /// # Errors
    /// No more are wanted.
    fn push(&mut self, transition: u32, vector: &[Entry]) -> Result<(), Self::Stop>;
}

#[derive(Debug)]
enum Shape {
    /// Entries `(place, pre, delta)`.
    Plain(Vec<(u32, u32, i64)>),
    Extended(Transition),
}

/// A net, prepared for backward steps.
#[derive(Debug)]
pub struct Predecessors {
    shapes: Vec<Shape>,
    /// For each place, the transitions that may help to mark it, ascending.
    helpful: Vec<Vec<u32>>,
    candidates: Vec<u32>,
    result: Vec<Entry>,
}

impl Predecessors {
    /// Prepares the transitions of a monotone net for which `live` says yes.
    pub fn new(net: &Net, live: impl Fn(usize) -> bool) -> Self {
        let mut shapes = Vec::with_capacity(net.transitions.len());
        let mut helpful = vec![Vec::new(); net.places.len()];
        for (number, transition) in net.transitions.iter().enumerate() {
            if live(number) {
                for row in &transition.rows {
                    if !row.is_plain() || row.constant > 0 {
                        helpful[row.place.index()].push(number as u32);
                    }
                }
            }
            shapes.push(shape(transition));
        }
        Predecessors { shapes, helpful, candidates: Vec::new(), result: Vec::new() }
    }

    /// Of no net: a placeholder while the real one is borrowed.
    pub fn none() -> Self {
        Predecessors { shapes: Vec::new(), helpful: Vec::new(), candidates: Vec::new(), result: Vec::new() }
    }

    /// Pushes the minimal predecessors of `vector` with their transitions; the sink may stop the enumeration.
    ///
    /// # Errors
    /// A number became too large, or there are too many ways to split a transfer.
    pub fn each<S: Candidates>(&mut self, vector: &[Entry], sink: &mut S) -> Result<(), S::Stop> {
        let Predecessors { shapes, helpful, candidates, result } = self;
        candidates.clear();
        for entry in vector {
            candidates.extend_from_slice(&helpful[entry.place as usize]);
        }
        candidates.sort_unstable();
        candidates.dedup();
        for &t in candidates.iter() {
            match &shapes[t as usize] {
                Shape::Plain(arcs) => {
                    plain(arcs, vector, result)?;
                    sink.push(t, result)?;
                }
                Shape::Extended(transition) => {
                    let base = demanded(transition, vector);
                    if sink.hopeless(&base) {
                        continue;
                    }
                    for predecessor in extended(transition, vector, base)? {
                        sink.push(t, &predecessor)?;
                    }
                }
            }
        }
        Ok(())
    }
}

fn shape(transition: &Transition) -> Shape {
    if !transition.is_plain() {
        return Shape::Extended(transition.clone());
    }
    let mut arcs: Vec<(u32, u32, i64)> =
        transition.at_least.iter().map(|b| (b.place.0, b.tokens, 0)).collect();
    for row in &transition.rows {
        let implied = u32::try_from(-row.constant).unwrap_or(0);
        match arcs.binary_search_by_key(&row.place.0, |a| a.0) {
            Ok(i) => arcs[i] = (row.place.0, arcs[i].1.max(implied), row.constant),
            Err(i) => arcs.insert(i, (row.place.0, implied, row.constant)),
        }
    }
    Shape::Plain(arcs)
}

fn too_large() -> Limit {
    Limit::Other {
        message: format!("a minimal bad marking needs more than {MAX_TOKENS} tokens in one place"),
    }
}

fn plain(arcs: &[(u32, u32, i64)], vector: &[Entry], result: &mut Vec<Entry>) -> Result<(), Limit> {
    result.clear();
    let mut i = 0;
    for &(place, pre, delta) in arcs {
        while i < vector.len() && vector[i].place < place {
            result.push(vector[i]);
            i += 1;
        }
        let mut needed = i64::from(pre);
        if i < vector.len() && vector[i].place == place {
            needed = needed.max(i64::from(vector[i].tokens) - delta);
            i += 1;
        }
        if needed > i64::from(MAX_TOKENS) {
            return Err(too_large());
        }
        if needed > 0 {
            result.push(Entry { place, tokens: needed as u32 });
        }
    }
    result.extend_from_slice(&vector[i..]);
    Ok(())
}

/// What every predecessor asks for, however transfers are split.
fn demanded(transition: &Transition, vector: &[Entry]) -> Vec<Entry> {
    let mut base: Vec<Entry> =
        transition.at_least.iter().map(|b| Entry { place: b.place.0, tokens: b.tokens }).collect();
    for entry in vector {
        if transition.rows.binary_search_by_key(&entry.place, |r| r.place.0).is_err() {
            raise(&mut base, entry.place, entry.tokens);
        }
    }
    base
}

fn extended(transition: &Transition, vector: &[Entry], base: Vec<Entry>) -> Result<Vec<Vec<Entry>>, Limit> {
    let mut all = vec![base];
    for row in &transition.rows {
        let needed = i64::from(tokens_of(vector, row.place.0)) - row.constant;
        if needed <= 0 {
            continue;
        }
        if needed > i64::from(MAX_TOKENS) {
            return Err(too_large());
        }
        let sources: Vec<u32> = row.sources.iter().map(|s| s.0).collect();
        let mut next = Vec::new();
        for partial in &all {
            split(partial, &sources, needed as u32, &mut next)?;
        }
        all = next;
    }
    Ok(all)
}

/// All ways to give `needed` tokens to `sources`, on top of what `partial` asks for anyway.
fn split(partial: &[Entry], sources: &[u32], needed: u32, out: &mut Vec<Vec<Entry>>) -> Result<(), Limit> {
    let Some((&last, others)) = sources.split_last() else { return Ok(()) };
    let mut shares = vec![0u32; others.len()];
    loop {
        let given: u32 = shares.iter().sum();
        let mut vector = partial.to_vec();
        for (&place, &share) in others.iter().zip(&shares) {
            raise(&mut vector, place, share);
        }
        raise(&mut vector, last, needed - given);
        out.push(vector);
        if out.len() > MAX_SPLITS {
            let message = "a transfer of many tokens has too many predecessors".into();
            return Err(Limit::Other { message });
        }
        // The next composition of at most `needed`, counting up like an odometer.
        let mut i = 0;
        loop {
            if i == shares.len() {
                return Ok(());
            }
            if shares.iter().sum::<u32>() < needed {
                shares[i] += 1;
                break;
            }
            shares[i] = 0;
            i += 1;
        }
    }
}

/// Makes `vector` ask for at least `tokens` in `place`.
fn raise(vector: &mut Vec<Entry>, place: u32, tokens: u32) {
    if tokens == 0 {
        return;
    }
    match vector.binary_search_by_key(&place, |e| e.place) {
        Ok(i) => vector[i].tokens = vector[i].tokens.max(tokens),
        Err(i) => vector.insert(i, Entry { place, tokens }),
    }
}
