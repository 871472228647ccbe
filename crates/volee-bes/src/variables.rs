//! Variables by number, their cells, and the expansion of right-hand sides.
//!
//! A variable's number is its place's number times the nodes per place plus its node, so that all variables
//! of a state share cache lines. Where places have many nodes, most of which are never asked for, the node
//! becomes part of the place's bytes instead.
//!
//! While a right-hand side is pushed, each place is hashed and its slot prefetched; only when all are pushed
//! are they looked up. A right-hand side that a constant decides is dropped without having touched the table.

use std::io;
use std::ops::Range;

use serde::{Deserialize, Serialize};
use volee_store::checkpoint::{Reader, Refused, Writer};
use volee_system::part::Spread;
use volee_system::{Flow, Limit, Meter};

use crate::graph::{BooleanGraph, Node, Operator, Successors, Trouble};
use crate::solve::SolveError;
use volee_store::{Hashed, Links, Places, Share};

/// With more nodes than this, cells are not reserved for all of them.
const MAXIMUM_DENSE_NODES: Node = 12;

/// Whether the variables of a graph have keys of their own: either a place has one node, or the node is in
/// the key.
pub(crate) fn one_to_a_key<G: BooleanGraph + ?Sized>(graph: &G) -> bool {
    let numbers = graph.numbered().is_some() || graph.numbers_as_met();
    graph.nodes() > MAXIMUM_DENSE_NODES || graph.nodes() <= 1 && !numbers
}

/// The place and the node of a key that has the node at its end.
#[inline]
pub(crate) fn unpack(key: &[u8]) -> (&[u8], Node) {
    let (place, node) = key.split_at(key.len() - 2);
    (place, Node::from_le_bytes([node[0], node[1]]))
}

/// The variables met so far.
#[derive(Debug, Clone)]
pub(crate) struct Variables {
    places: Places,
    /// Nodes per place; 1 when the node is part of the place's bytes.
    nodes: u32,
    packed: bool,
}

impl Variables {
    pub fn new<G: BooleanGraph + ?Sized>(graph: &G) -> Self {
        Self::shared(graph, Share::ALONE, Spread::EVEN)
    }

    /// Those variables whose key belongs to a share.
    pub fn shared<G: BooleanGraph + ?Sized>(graph: &G, share: Share, spread: Spread) -> Self {
        if graph.numbers_as_met() && graph.nodes() <= MAXIMUM_DENSE_NODES {
            // Whoever gives the numbers is alone.
            let nodes = u32::from(graph.nodes().max(1));
            return Variables { places: Places::AsMet(0), nodes, packed: false };
        }
        Self::with_places(graph.nodes(), graph.numbered(), share, spread)
    }

    /// Variables of few places, whatever the graph says of their numbers.
    pub fn sparse<G: BooleanGraph + ?Sized>(graph: &G) -> Self {
        Self::with_places(graph.nodes(), None, Share::ALONE, Spread::EVEN)
    }

    fn with_places(nodes: Node, numbered: Option<u32>, share: Share, spread: Spread) -> Self {
        if nodes > MAXIMUM_DENSE_NODES {
            return Variables { places: Places::new(None, share, spread), nodes: 1, packed: true };
        }
        let fits = |n: &u32| u64::from(*n) * u64::from(nodes) < u64::from(u32::MAX);
        Variables {
            places: Places::new(numbered.filter(fits), share, spread),
            nodes: u32::from(nodes.max(1)),
            packed: false,
        }
    }

    /// Variables with a key each, whose numbers somebody else has given.
    pub fn with_keys(keys: Hashed<Links, 4>, packed: bool) -> Self {
        Variables { places: Places::Linked(keys), nodes: 1, packed }
    }

    /// Writes the places that are known.
    pub fn write(&self, out: &mut Writer) -> io::Result<()> {
        self.places.write(out)
    }

    /// Reads places that were written; all variables have the numbers that they had.
    pub fn read(&mut self, input: &mut Reader, meter: &Meter) -> Result<(), Refused> {
        self.places.read(input, if self.packed { size_of::<Node>() } else { 0 }, meter)
    }

    /// How many variables the known places have, met or not.
    pub fn len(&self) -> usize {
        self.places.len() * self.nodes as usize
    }

    /// How many places are known; for numbered places, all.
    pub fn places(&self) -> usize {
        self.places.len()
    }

    /// How many variables a place has, where places are numbers that are given as they are met.
    #[inline]
    pub fn nodes_as_met(&self) -> Option<u32> {
        matches!(self.places, Places::AsMet(_)).then_some(self.nodes)
    }

    /// A place is met that is such a number.
    pub fn meet(&mut self, place: u32) {
        if let Places::AsMet(len) = &mut self.places {
            *len = (*len).max(place.saturating_add(1));
        }
    }

    /// How many variables a place has.
    pub fn nodes(&self) -> usize {
        self.nodes as usize
    }

    pub fn bytes(&self) -> usize {
        self.places.bytes()
    }

    /// The place and node of a variable. `scratch` holds the place where places are numbers.
    #[inline]
    pub fn get<'a>(&'a self, variable: u32, scratch: &'a mut [u8; 4]) -> (&'a [u8], Node) {
        if self.packed {
            return unpack(self.places.get(variable, scratch));
        }
        if self.nodes == 1 {
            return (self.places.get(variable, scratch), 0);
        }
        (self.places.get(variable / self.nodes, scratch), (variable % self.nodes) as Node)
    }

    /// The place and node of a variable; the place is copied to `place`.
    #[inline]
    pub fn copy(&self, variable: u32, place: &mut Vec<u8>) -> Node {
        let mut scratch = [0; 4];
        let (found, node) = self.get(variable, &mut scratch);
        place.clear();
        place.extend_from_slice(found);
        node
    }

    /// The tag of a key (a place, with the node where it is part of it); its line is on its way from memory
    /// then.
    #[inline]
    pub fn tag(&self, key: &[u8]) -> u32 {
        let tag = self.places.tag(key);
        self.places.prefetch(tag);
        tag
    }

    /// Whose a key is.
    #[inline]
    pub fn owner(&self, key: &[u8]) -> usize {
        self.places.owner(key)
    }

    /// The key of a place by its number. `scratch` holds it where places are numbers.
    pub fn key<'a>(&'a self, place: u32, scratch: &'a mut [u8; 4]) -> &'a [u8] {
        self.places.get(place, scratch)
    }

    /// Whose a key is, and the number that its owner gives it, where that does not depend on what else is met.
    pub fn owner_and_number(&self, key: &[u8]) -> (usize, Option<u32>) {
        let number = match self.places {
            Places::Numbered(numbers) => Some(numbers.local(self.places.tag(key))),
            Places::AsMet(_) | Places::Hashed(..) | Places::Linked(_) => None,
        };
        (self.places.owner(key), number)
    }

    /// Whose a variable is, and its key; `key` is scratch space.
    pub fn owner_of<'k>(&self, place: &[u8], node: Node, key: &'k mut Vec<u8>) -> (usize, &'k [u8], Node) {
        key.clear();
        key.extend_from_slice(place);
        if self.packed {
            key.extend_from_slice(&node.to_le_bytes());
        }
        let kept = if self.packed { 0 } else { node };
        (self.places.owner(key), key, kept)
    }

    /// Whether a key can be one of these variables.
    pub fn admits(&self, key: &[u8], tag: u32, node: Node) -> bool {
        let known = match self.places {
            Places::Numbered(numbers) => key.len() == 4 && tag < numbers.bound,
            Places::AsMet(_) => key.len() == 4,
            Places::Hashed(..) | Places::Linked(_) => !self.packed || key.len() >= 2,
        };
        known && u32::from(node) < self.nodes
    }

    /// The number of a variable by its key, new or old.
    #[inline]
    pub fn insert_key(&mut self, key: &[u8], tag: u32, node: Node) -> Result<u32, Limit> {
        self.number(key, tag, node)
    }

    /// The number of a variable by its key, if its place is known.
    #[inline]
    pub fn find_key(&self, key: &[u8], tag: u32, node: Node) -> Option<u32> {
        self.places.find_tagged(key, tag).map(|id| id * self.nodes + u32::from(node))
    }

    /// The operator and the block of a variable by its key.
    #[inline]
    pub fn equation<G: BooleanGraph + ?Sized>(&self, graph: &G, key: &[u8], node: Node) -> (Operator, u16) {
        let (place, node) = if self.packed { unpack(key) } else { (key, node) };
        graph.equation(place, node)
    }

    /// Whether a place that was pushed is one of those that the graph has announced.
    ///
    /// # Errors
    /// It is not.
    #[inline]
    pub fn announced(&self, tag: u32) -> Result<(), SolveError> {
        if let Places::Numbered(numbers) = self.places
            && tag >= numbers.bound
        {
            let message = "the system pushed a state whose number it had not announced";
            return Err(SolveError::Trouble(Trouble(message.into())));
        }
        Ok(())
    }

    /// The number of a variable, new or old.
    pub fn insert(&mut self, place: &[u8], node: Node) -> Result<u32, Limit> {
        if !self.packed {
            let tag = self.places.tag(place);
            return self.number(place, tag, node);
        }
        let mut key = place.to_vec();
        key.extend_from_slice(&node.to_le_bytes());
        let tag = self.places.tag(&key);
        self.number(&key, tag, 0)
    }

    #[inline]
    fn number(&mut self, key: &[u8], tag: u32, node: Node) -> Result<u32, Limit> {
        let id = self.places.insert(key, tag)?;
        id.checked_mul(self.nodes)
            .and_then(|first| first.checked_add(u32::from(node)))
            .filter(|n| *n < u32::MAX)
            .ok_or_else(|| Limit::Other { message: "more than 4294967294 variables".into() })
    }

    /// The number of a variable, if its place is known. `key` is scratch space.
    #[inline]
    pub fn find(&self, place: &[u8], node: Node, key: &mut Vec<u8>) -> Option<u32> {
        if !self.packed {
            return self.places.find(place).map(|id| id * self.nodes + u32::from(node));
        }
        key.clear();
        key.extend_from_slice(place);
        key.extend_from_slice(&node.to_le_bytes());
        self.places.find(key)
    }
}

/// What a batch asks of a table while right-hand sides are pushed.
pub(crate) trait Lines {
    /// Whether the node is part of the key.
    fn packed(&self) -> bool;
    /// Whose a key is, and its tag if that matters here; then its line is on its way from memory.
    fn approach(&self, key: &[u8]) -> (u16, u32);
}

impl Lines for Variables {
    fn packed(&self) -> bool {
        self.packed
    }

    #[inline]
    fn approach(&self, key: &[u8]) -> (u16, u32) {
        self.places.locate(key)
    }
}

/// A successor that has been pushed but not looked up.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Pushed {
    tag: u32,
    /// The place itself when it has four bytes, else where its bytes begin.
    word: u32,
    length: u16,
    node: Node,
    /// Whose it is. Of what is not ours the tag is not known, unless it is a number.
    owner: u16,
}

impl Pushed {
    /// The bytes that the table knows it by.
    #[inline]
    fn key<'a>(&self, bytes: &'a [u8], scratch: &'a mut [u8; 4]) -> &'a [u8] {
        if self.length == 4 {
            *scratch = self.word.to_le_bytes();
            return scratch;
        }
        &bytes[self.word as usize..self.word as usize + usize::from(self.length)]
    }
}

/// Right-hand sides on their way into the table.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Batch {
    bytes: Vec<u8>,
    pushed: Vec<Pushed>,
}

/// How a right-hand side came out before any look-up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pushing {
    /// A constant decides it.
    Decided,
    /// It is joined from the variables that were pushed.
    Open,
}

struct Sink<'a, L> {
    lines: &'a L,
    bytes: &'a mut Vec<u8>,
    pushed: &'a mut Vec<Pushed>,
    deciding: bool,
    decided: bool,
    too_long: bool,
}

impl<L: Lines> Successors for Sink<'_, L> {
    #[inline]
    fn variable(&mut self, place: &[u8], node: Node) -> Flow {
        // Whatever needs a call is done elsewhere, so that this needs no registers of its caller's.
        if let (Ok(four), false) = (<[u8; 4]>::try_from(place), self.lines.packed())
            && self.pushed.len() < self.pushed.capacity()
        {
            let (owner, tag) = self.lines.approach(&four);
            self.pushed.push(Pushed { tag, word: u32::from_le_bytes(four), length: 4, node, owner });
            return Flow::Continue(());
        }
        self.any_variable(place, node)
    }

    fn constant(&mut self, value: bool) -> Flow {
        if value == self.deciding {
            self.decided = true;
            return Flow::Break(());
        }
        Flow::Continue(())
    }
}

impl<L: Lines> Sink<'_, L> {
    #[inline(never)]
    fn any_variable(&mut self, place: &[u8], node: Node) -> Flow {
        let begin = self.bytes.len();
        self.bytes.extend_from_slice(place);
        let mut kept = node;
        if self.lines.packed() {
            self.bytes.extend_from_slice(&node.to_le_bytes());
            kept = 0;
        }
        let key = &self.bytes[begin..];
        let (Ok(length), Ok(start)) = (u16::try_from(key.len()), u32::try_from(begin)) else {
            self.too_long = true;
            return Flow::Break(());
        };
        let (owner, tag) = self.lines.approach(key);
        let word = if length == 4 { u32::from_le_bytes([key[0], key[1], key[2], key[3]]) } else { start };
        self.pushed.push(Pushed { tag, word, length, node: kept, owner });
        Flow::Continue(())
    }
}

impl Batch {
    /// Whether one that was read fits together.
    pub fn is_sound(&self, nodes: usize) -> bool {
        self.pushed.iter().all(|p| {
            let end = p.word as usize + usize::from(p.length);
            (p.length == 4 || end <= self.bytes.len()) && usize::from(p.node) < nodes && p.owner == 0
        })
    }

    pub fn len(&self) -> usize {
        self.pushed.len()
    }

    pub fn clear(&mut self) {
        self.bytes.clear();
        self.pushed.clear();
    }

    /// Forgets the first `count` that were pushed, so that the rest comes first.
    pub fn forget(&mut self, count: usize) {
        self.pushed.drain(..count);
        if self.bytes.is_empty() {
            return;
        }
        let long = |p: &&mut Pushed| p.length != 4;
        let begin = self.pushed.iter_mut().find(long).map_or(self.bytes.len(), |p| p.word as usize);
        self.bytes.drain(..begin);
        for p in self.pushed.iter_mut().filter(|p| p.length != 4) {
            p.word -= begin as u32;
        }
    }

    /// Pushes the right-hand side of a variable behind those already here.
    pub fn push<G: BooleanGraph + ?Sized>(
        &mut self,
        graph: &mut G,
        variables: &Variables,
        variable: u32,
        operator: Operator,
    ) -> Result<Pushing, SolveError> {
        let mut scratch = [0; 4];
        let (place, node) = variables.get(variable, &mut scratch);
        self.push_right_hand_side(graph, variables, (place, node), operator)
    }

    /// As [`Batch::push`], for whoever has the variables in a table of its own.
    #[inline]
    pub fn push_right_hand_side<G: BooleanGraph + ?Sized, L: Lines>(
        &mut self,
        graph: &mut G,
        lines: &L,
        (place, node): (&[u8], Node),
        operator: Operator,
    ) -> Result<Pushing, SolveError> {
        let (bytes, pushed) = (self.bytes.len(), self.pushed.len());
        let mut sink = Sink {
            lines,
            bytes: &mut self.bytes,
            pushed: &mut self.pushed,
            deciding: operator.deciding(),
            decided: false,
            too_long: false,
        };
        let outcome = graph.successors(place, node, &mut sink);
        let (decided, too_long) = (sink.decided, sink.too_long);
        outcome?;
        if too_long {
            let message = "a state has more than 65535 bytes, or one right-hand side has more than 4 GB";
            return Err(SolveError::Limit(Limit::Other { message: message.into() }));
        }
        if decided {
            self.bytes.truncate(bytes);
            self.pushed.truncate(pushed);
            return Ok(Pushing::Decided);
        }
        Ok(Pushing::Open)
    }

    /// Looks up some of what was pushed and appends the variables' numbers to `found`, in order; `look` sees
    /// each of them, so that the caller can start fetching what it keeps of it.
    #[inline]
    pub fn resolve(
        &self,
        variables: &mut Variables,
        range: Range<usize>,
        found: &mut Vec<u32>,
        look: impl Fn(u32),
    ) -> Result<(), SolveError> {
        let mut scratch = [0; 4];
        for p in &self.pushed[range] {
            let key = p.key(&self.bytes, &mut scratch);
            variables.announced(p.tag)?;
            let variable = variables.number(key, p.tag, p.node)?;
            look(variable);
            found.push(variable);
        }
        Ok(())
    }

    /// The tag, the key and the node of the `at`-th variable that was pushed.
    #[inline]
    pub fn item<'a>(&'a self, at: usize, scratch: &'a mut [u8; 4]) -> (u32, &'a [u8], Node) {
        let p = &self.pushed[at];
        (p.tag, p.key(&self.bytes, scratch), p.node)
    }

    /// Whose the `at`-th variable is that was pushed.
    #[inline]
    pub fn owner(&self, at: usize) -> usize {
        usize::from(self.pushed[at].owner)
    }

    /// The operator and the block of the `at`-th variable that was pushed.
    #[inline]
    pub fn equation<G: BooleanGraph + ?Sized>(
        &self,
        graph: &G,
        variables: &Variables,
        at: usize,
    ) -> (Operator, u16) {
        let mut scratch = [0; 4];
        let (_, key, node) = self.item(at, &mut scratch);
        variables.equation(graph, key, node)
    }
}
