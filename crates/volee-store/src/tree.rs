//! Tree compression: a state becomes a 64-bit name, and a name gives the state back.
//!
//! The bytes of a state are cut into words of eight; words are interned as nodes, nodes are paired and
//! interned level by level, and the last pair is the name (Laarman, van de Pol, Weber: Parallel recursive
//! state compression for free, SPIN 2011; after Blom, Lisser, van de Pol, Weber 2009). Components that states
//! share are stored once, so a state costs little more than its name. States of eight bytes or fewer are
//! their own names.
//!
//! Two things differ from the published scheme. Node numbers come from growing arrays, not from places in a
//! table of fixed size. And each number of words has its own shape with its own *base*, the state of that
//! many words that was loaded last: naming and loading only touch the parts that differ from it, which for a
//! step of a system is little. (A shape for each length in bytes would cost a system with a long channel
//! kilobytes for each length that it may have.)
//!
//! A name says everything. A pair whose left half is below 2^31 is a state of the first length. States of the
//! other lengths have the length's number folded into their left half, by one more node, and its highest bit
//! set. A state of one word is that word plus one where this stays below 2^63, which costs no node at all. No
//! name is 0.

use volee_system::Limit;

use crate::nodes::Nodes;

const WORD: usize = 8;
/// Each shape has a base, so a system whose states have all lengths would eat memory without storing
/// anything.
const MAX_LENGTHS: usize = 4096;
/// Shapes that know their ways up; where there are more, states are too different for it to pay.
const SHAPES_WITH_JOINS: usize = 16;
/// Set in names of states that are not of the first shape (or a word too large to be its own name).
pub(crate) const WRAPPED: u64 = 1 << 63;

/// A reference to a state that is kept: equal references of one search are equal states. Only what gives
/// references may look inside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[repr(transparent)]
pub struct StateRef(pub u64);

impl StateRef {
    /// No state has it.
    pub const NONE: StateRef = StateRef(0);
    /// Bits of a reference.
    pub const BITS: u32 = u64::BITS;
}

/// Why a state got no name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Full {
    /// There are more lengths of states than the tree can tell apart.
    Shapes,
    /// There are more nodes than memory or 32-bit numbers.
    Nodes,
}

impl Full {
    /// The limit that a search says it has hit when its store has this many bytes and needs this.
    pub fn limit(self, bytes: u64, needed: String) -> Limit {
        match self {
            Full::Shapes => Limit::Other {
                message: format!("the states of this system have more than {MAX_LENGTHS} different lengths"),
            },
            Full::Nodes => Limit::Memory { budget: bytes, needed },
        }
    }
}

/// A length of states.
#[derive(Debug, Clone, Copy)]
struct Length {
    /// In bytes.
    len: u32,
    shape: u32,
}

/// All states of one number of words; the empty state has a shape of its own, because its one word is always 0.
pub(crate) struct Shape {
    /// The words of the base state.
    pub(crate) words: Vec<u64>,
    /// The nodes of the base state, level after level: one per word, then half as many, … until two are left.
    pub(crate) nodes: Vec<u32>,
    /// Where each level starts in `nodes`, and its end.
    levels: Vec<usize>,
    /// For each word the way up: at each join, the place in `nodes` of what it is joined with (see [`Join`]).
    joins: Vec<Join>,
    /// Where each word's joins start in `joins`, and their end; nothing where ways up are found anew each
    /// time.
    joins_of: Vec<usize>,
}

/// A place in `nodes`, and on which side of the pair it stands.
#[derive(Debug, Clone, Copy)]
struct Join {
    sibling: u32,
    sibling_is_left: bool,
}

impl Shape {
    fn new(len: usize, has_joins: bool) -> Self {
        let words = len.div_ceil(WORD).max(1);
        let mut levels = vec![0];
        let mut width = words;
        let mut total = 0;
        while width > 1 {
            total += width;
            levels.push(total);
            if width == 2 {
                break;
            }
            width = width.div_ceil(2);
        }
        let mut shape = Shape {
            words: vec![0; words],
            nodes: vec![0; total],
            levels,
            joins: Vec::new(),
            joins_of: Vec::new(),
        };
        if has_joins || words == 1 {
            shape.joins_of.push(0);
            (0..words).for_each(|word| shape.add_joins(word));
        }
        shape
    }

    fn add_joins(&mut self, word: usize) {
        let mut place = word;
        for level in 0..self.height() {
            let (start, end) = (self.levels[level], self.levels[level + 1]);
            let sibling = start + (place ^ 1);
            if sibling < end {
                self.joins.push(Join { sibling: sibling as u32, sibling_is_left: place & 1 == 1 });
            }
            place >>= 1;
        }
        self.joins_of.push(self.joins.len());
    }

    fn bytes(&self) -> usize {
        size_of::<Shape>()
            + (self.words.len() + self.levels.capacity() + self.joins_of.capacity()) * 8
            + self.nodes.len() * 4
            + self.joins.capacity() * size_of::<Join>()
    }

    /// The base's own root.
    fn root(&self) -> u64 {
        match self.height() {
            0 => self.words[0],
            height => pair(self.nodes[self.levels[height] - 2], self.nodes[self.levels[height] - 1]),
        }
    }

    fn level(&self, level: usize) -> &[u32] {
        &self.nodes[self.levels[level]..self.levels[level + 1]]
    }

    /// How many levels of nodes there are: none for states of one word.
    fn height(&self) -> usize {
        self.levels.len() - 1
    }
}

/// A node that differs from the base: its place in its level, and its number.
type Change = (u32, u32);

/// The compressor. See the head of the file.
pub struct Tree {
    pub(crate) nodes: Nodes,
    pub(crate) shapes: Vec<Shape>,
    lengths: Vec<Length>,
    /// The number of each length, plus one; 0 is none yet.
    by_len: Vec<u32>,
    /// The shape of each number of words, plus one; 0 is none yet.
    by_words: Vec<u32>,
    full: Option<Full>,
    /// Bytes that it may take.
    most: u64,
    /// Room for the words of a state that differ from its base: as many as the longest state has.
    changed: Vec<(u32, u64)>,
    changes: Vec<Change>,
    more_changes: Vec<Change>,
}

impl Tree {
    pub fn new() -> Self {
        Tree {
            nodes: Nodes::new(),
            shapes: Vec::new(),
            lengths: Vec::new(),
            by_len: Vec::new(),
            by_words: Vec::new(),
            full: None,
            most: u64::MAX,
            changed: Vec::new(),
            changes: Vec::new(),
            more_changes: Vec::new(),
        }
    }

    /// Why some names given since the start mean nothing, if so: look before using a batch of names.
    #[inline(always)]
    pub fn full(&self) -> Option<Full> {
        if self.nodes.is_full() { Some(Full::Nodes) } else { self.full }
    }

    /// The name of a state.
    #[inline(always)]
    pub fn name(&mut self, state: &[u8]) -> StateRef {
        let number = match self.by_len.get(state.len()) {
            Some(&length) if length != 0 => length as usize - 1,
            _ => match self.add_length(state) {
                Some(number) => number,
                None => return StateRef(1),
            },
        };
        let shape = &self.shapes[self.lengths[number].shape as usize];
        let changed = find_changes(&mut self.changed, shape, state);
        let root = match &self.changed[..changed] {
            [] => shape.root(),
            [(place, word)] if !shape.joins_of.is_empty() => {
                climb_alone(&mut self.nodes, shape, *place as usize, *word)
            }
            more => {
                self.changes.clear();
                let nodes = &mut self.nodes;
                self.changes.extend(more.iter().map(|&(place, word)| (place, nodes.intern(word))));
                climb(nodes, shape, &mut self.changes)
            }
        };
        if number == 0 && shape.height() > 0 { StateRef(root) } else { self.wrap(root, number) }
    }

    /// The name for a root that does not say its shape.
    fn wrap(&mut self, root: u64, number: usize) -> StateRef {
        let height = self.shape_of(number).height();
        let number = number as u32;
        if height > 0 {
            let (left, right) = halves(root);
            return StateRef(WRAPPED | pair(self.nodes.intern(pair(left, number)), right));
        }
        if number == 0 && root < WRAPPED - 1 {
            return StateRef(root + 1);
        }
        let word = self.nodes.intern(root);
        StateRef(WRAPPED | pair(self.nodes.intern(pair(word, number)), 0))
    }

    /// The shape of a length.
    #[inline(always)]
    pub(crate) fn shape_of(&self, length: usize) -> &Shape {
        &self.shapes[self.lengths[length].shape as usize]
    }

    /// The length and the root behind a name.
    pub(crate) fn unwrap(&self, name: StateRef) -> (usize, u64) {
        if name.0 & WRAPPED == 0 {
            let root = if self.shape_of(0).height() > 0 { name.0 } else { name.0 - 1 };
            return (0, root);
        }
        let (node, right) = halves(name.0 & !WRAPPED);
        let (left, number) = halves(self.nodes.pair(node));
        let number = number as usize;
        let root = if self.shape_of(number).height() > 0 { pair(left, right) } else { self.nodes.pair(left) };
        (number, root)
    }

    /// Makes a state's length known.
    #[cold]
    fn add_length(&mut self, state: &[u8]) -> Option<usize> {
        if self.lengths.len() == MAX_LENGTHS || state.len() >= u32::MAX as usize {
            self.full = Some(Full::Shapes);
            return None;
        }
        if self.most < u64::MAX && self.bytes() + length_bytes(state.len()) > self.most {
            self.full = Some(Full::Nodes);
            return None;
        }
        let words = state.len().div_ceil(WORD);
        if self.by_words.len() <= words {
            self.by_words.resize(words + 1, 0);
        }
        if self.by_words[words] == 0 {
            self.add_shape(state);
            self.by_words[words] = self.shapes.len() as u32;
        }
        if self.by_len.len() <= state.len() {
            self.by_len.resize(state.len() + 1, 0);
        }
        self.lengths.push(Length { len: state.len() as u32, shape: self.by_words[words] - 1 });
        self.by_len[state.len()] = self.lengths.len() as u32;
        Some(self.lengths.len() - 1)
    }

    /// Starts the shape of a state of a new number of words, with that state as its base.
    fn add_shape(&mut self, state: &[u8]) {
        let mut shape = Shape::new(state.len(), self.shapes.len() < SHAPES_WITH_JOINS);
        for (word, bytes) in shape.words.iter_mut().zip(state.chunks(WORD)) {
            *word = padded_word(bytes);
        }
        for level in 0..shape.height() {
            for place in shape.levels[level]..shape.levels[level + 1] {
                shape.nodes[place] = base_node(&mut self.nodes, &shape, level, place - shape.levels[level]);
            }
        }
        if self.changed.len() < shape.words.len() {
            self.changed.resize(shape.words.len(), (0, 0));
        }
        self.shapes.push(shape);
    }

    /// The state of a name, which becomes the base of its shape.
    pub fn load(&mut self, name: StateRef, state: &mut Vec<u8>) {
        let (number, root) = self.unwrap(name);
        let Length { len, shape } = self.lengths[number];
        let shape = &mut self.shapes[shape as usize];
        if shape.height() == 0 {
            shape.words[0] = root;
        } else {
            descend(&self.nodes, shape, root, &mut self.changes, &mut self.more_changes);
        }
        state.clear();
        state.extend(shape.words.iter().flat_map(|word| word.to_le_bytes()));
        state.truncate(len as usize);
    }

    pub fn bytes(&self) -> u64 {
        self.nodes.bytes() + self.other_bytes()
    }

    /// Bytes beside the nodes.
    fn other_bytes(&self) -> u64 {
        let shapes: usize = self.shapes.iter().map(Shape::bytes).sum();
        let lengths = self.lengths.capacity() * size_of::<Length>();
        let numbers = (self.by_len.capacity() + self.by_words.capacity()) * 4;
        let changed = self.changed.capacity() * size_of::<(u32, u64)>();
        let changes = (self.changes.capacity() + self.more_changes.capacity()) * size_of::<Change>();
        (shapes + lengths + numbers + changed + changes) as u64
    }

    /// What this many more nodes may take.
    pub fn growth(&self, nodes: usize) -> u64 {
        self.nodes.growth(nodes)
    }

    /// What it needs more than it may have, for so many more nodes.
    pub fn lacks(&self, nodes: usize) -> u64 {
        let growth = self.growth(nodes);
        if self.most == u64::MAX || self.bytes() + growth <= self.most { 0 } else { growth }
    }

    /// There may be room again.
    pub fn revive(&mut self) {
        self.nodes.revive();
        self.full = None;
    }

    /// It may take this many bytes from now on, or what it takes already.
    pub fn hold_to(&mut self, bytes: u64) {
        self.most = bytes;
        self.nodes.hold_to(bytes.saturating_sub(self.other_bytes()));
    }

    /// As if memory had run out.
    pub fn give_up(&mut self) {
        self.nodes.give_up();
    }
}

/// About what states of a new length take beside their nodes, at most.
fn length_bytes(len: usize) -> u64 {
    let words = len.div_ceil(WORD).max(1);
    let height = words.ilog2() as usize + 2;
    let joins = words * height * size_of::<Join>() + (words + 1) * 8;
    (size_of::<Shape>() + words * (8 + 8 + 48) + height * 16 + joins + 2 * (len + words) * 4 + 64) as u64
}

#[inline(always)]
fn pair(left: u32, right: u32) -> u64 {
    u64::from(left) << 32 | u64::from(right)
}

#[inline(always)]
pub(crate) fn halves(pair: u64) -> (u32, u32) {
    ((pair >> 32) as u32, pair as u32)
}

/// Up to eight bytes as a word, padded with zeroes.
#[inline(always)]
fn padded_word(bytes: &[u8]) -> u64 {
    let mut word = [0; WORD];
    word[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(word)
}

/// The words of `state` that differ from the base, with their places; tells how many.
#[inline(always)]
fn find_changes(changed: &mut [(u32, u64)], shape: &Shape, state: &[u8]) -> usize {
    let mut count = 0;
    let (whole, rest) = state.as_chunks::<WORD>();
    for (at, (bytes, &base)) in whole.iter().zip(&shape.words).enumerate() {
        let word = u64::from_le_bytes(*bytes);
        changed[count] = (at as u32, word);
        count += usize::from(word != base);
    }
    if !rest.is_empty() {
        let word = match state.last_chunk::<WORD>() {
            // The last eight bytes without those that belong to the word before.
            Some(bytes) => u64::from_le_bytes(*bytes) >> (8 * (WORD - rest.len())),
            None => padded_word(rest),
        };
        changed[count] = (whole.len() as u32, word);
        count += usize::from(word != shape.words[whole.len()]);
    }
    count
}

/// The root when one word differs from the base: one way up.
#[inline(always)]
fn climb_alone(nodes: &mut Nodes, shape: &Shape, place: usize, word: u64) -> u64 {
    let mut above = word;
    for join in &shape.joins[shape.joins_of[place]..shape.joins_of[place + 1]] {
        let node = nodes.intern(above);
        let sibling = shape.nodes[join.sibling as usize];
        above = if join.sibling_is_left { pair(sibling, node) } else { pair(node, sibling) };
    }
    above
}

/// The root when the nodes of several words differ from the base.
fn climb(nodes: &mut Nodes, shape: &Shape, changes: &mut Vec<Change>) -> u64 {
    for level in 0..shape.height() - 1 {
        let base = shape.level(level);
        let (mut read, mut write) = (0, 0);
        while read < changes.len() {
            let (place, node) = changes[read];
            read += 1;
            let at = place as usize;
            let above = if at & 1 == 1 {
                nodes.intern(pair(base[at - 1], node))
            } else if at + 1 == base.len() {
                // The last of an odd number goes up as it is.
                node
            } else {
                let right = match changes.get(read) {
                    Some(&(next, right)) if next == place + 1 => {
                        read += 1;
                        right
                    }
                    _ => base[at + 1],
                };
                nodes.intern(pair(node, right))
            };
            changes[write] = (place >> 1, above);
            write += 1;
        }
        changes.truncate(write);
    }
    let top = shape.level(shape.height() - 1);
    let mut root = [top[0], top[1]];
    for &(place, node) in changes.iter() {
        root[place as usize & 1] = node;
    }
    pair(root[0], root[1])
}

/// The node of the base at a place of a level, from the level below.
fn base_node(nodes: &mut Nodes, shape: &Shape, level: usize, place: usize) -> u32 {
    if level == 0 {
        return nodes.intern(shape.words[place]);
    }
    let below = shape.level(level - 1);
    match below.get(2 * place + 1) {
        None => below[2 * place],
        Some(&right) => nodes.intern(pair(below[2 * place], right)),
    }
}

/// Makes the state of `root` the base, touching only what differs.
fn descend(nodes: &Nodes, shape: &mut Shape, root: u64, changes: &mut Vec<Change>, below: &mut Vec<Change>) {
    let (left, right) = halves(root);
    changes.clear();
    changes.extend([(0, left), (1, right)]);
    for level in (0..shape.height()).rev() {
        let (start, end) = (shape.levels[level], shape.levels[level + 1]);
        let width_below = if level == 0 { 0 } else { start - shape.levels[level - 1] };
        let base = &mut shape.nodes[start..end];
        below.clear();
        for &(place, node) in changes.iter() {
            let at = place as usize;
            if base[at] == node {
                continue;
            }
            base[at] = node;
            if level == 0 {
                shape.words[at] = nodes.pair(node);
            } else if 2 * at + 1 == width_below {
                below.push((2 * place, node));
            } else {
                let (left, right) = halves(nodes.pair(node));
                below.extend([(2 * place, left), (2 * place + 1, right)]);
            }
        }
        std::mem::swap(changes, below);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    /// A small generator of its own, so that the test is the same everywhere.
    fn random(seed: &mut u64) -> u64 {
        *seed = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
        crate::hash::mix(*seed)
    }

    #[test]
    fn names_are_one_to_one_with_states_of_any_length() {
        let mut tree = Tree::new();
        let mut seed = 1;
        let mut names: HashMap<Vec<u8>, StateRef> = HashMap::new();
        let mut states: HashMap<StateRef, Vec<u8>> = HashMap::new();
        let mut current = vec![0; 40];
        for _ in 0..40_000 {
            // Walk: change a few bytes, sometimes the length; load a known state now and then.
            let r = random(&mut seed);
            if r.is_multiple_of(16) {
                current.resize((r >> 8) as usize % 150, (r >> 32) as u8 % 3);
            }
            for i in 0..r % 4 {
                if !current.is_empty() {
                    let at = (r >> (8 * i)) as usize % current.len();
                    current[at] = (r >> 40) as u8 % 4;
                }
            }
            let name = tree.name(&current);
            assert_eq!(*names.entry(current.clone()).or_insert(name), name);
            assert_eq!(*states.entry(name).or_insert_with(|| current.clone()), current);
            if r.is_multiple_of(5) {
                let other = *names.values().nth(r as usize % 7 % names.len()).expect("there is one");
                let mut loaded = Vec::new();
                tree.load(other, &mut loaded);
                assert_eq!(loaded, states[&other]);
            }
        }
        assert_eq!(names.len(), states.len());
    }
}
