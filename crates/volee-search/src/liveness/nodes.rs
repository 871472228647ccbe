//! The pairs of a system's state and an automaton's state that were met, numbered, with their place in the
//! search.
//!
//! An open-addressing table with its keys inside, so that one prefetched cache line decides a look-up.

use volee_store::StateRef;
use volee_store::mix;
use volee_store::prefetch;

/// Not yet on the path.
pub(crate) const UNVISITED: u32 = 0;
/// In a finished component.
pub(crate) const DEAD: u32 = u32::MAX;

#[derive(Debug, Clone, Copy, Default)]
struct Entry {
    /// [`StateRef::NONE`] is a free place.
    name: StateRef,
    state: u32,
    node: u32,
}

/// All nodes.
#[derive(Clone)]
pub(crate) struct Nodes {
    table: Vec<Entry>,
    keys: Vec<(StateRef, u32)>,
    /// For each node [`UNVISITED`], [`DEAD`], or one more than its place on the stack of open nodes.
    pub order: Vec<u32>,
}

impl Nodes {
    pub fn new() -> Self {
        Nodes { table: vec![Entry::default(); 1 << 10], keys: Vec::new(), order: Vec::new() }
    }

    pub fn len(&self) -> usize {
        self.keys.len()
    }

    pub fn bytes(&self) -> u64 {
        (self.table.capacity() * size_of::<Entry>()
            + self.keys.capacity() * size_of::<(StateRef, u32)>()
            + self.order.capacity() * 4) as u64
    }

    /// The state of the system and of the automaton.
    pub fn key(&self, node: u32) -> (StateRef, u32) {
        self.keys[node as usize]
    }

    #[inline]
    fn home(&self, name: StateRef, state: u32) -> usize {
        let hash = mix(name.0 ^ u64::from(state).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        hash as usize & (self.table.len() - 1)
    }

    #[inline]
    pub fn prefetch(&self, name: StateRef, state: u32) {
        prefetch(&self.table[self.home(name, state)]);
    }

    /// The number of a pair; a new one if it is new.
    #[inline]
    pub fn intern(&mut self, name: StateRef, state: u32) -> u32 {
        let mut at = self.home(name, state);
        loop {
            let entry = self.table[at];
            if entry.name == name && entry.state == state {
                return entry.node;
            }
            if entry.name == StateRef::NONE {
                break;
            }
            at = (at + 1) & (self.table.len() - 1);
        }
        let node = self.keys.len() as u32;
        self.table[at] = Entry { name, state, node };
        self.keys.push((name, state));
        self.order.push(UNVISITED);
        if self.keys.len() * 4 > self.table.len() * 3 {
            self.grow();
        }
        node
    }

    /// Names have changed.
    pub fn rename(&mut self, mut translate: impl FnMut(StateRef) -> StateRef) {
        self.keys.iter_mut().for_each(|(name, _)| *name = translate(*name));
        self.fill(self.table.len());
    }

    #[cold]
    fn grow(&mut self) {
        self.fill(self.table.len() * 2);
    }

    fn fill(&mut self, places: usize) {
        self.table = vec![Entry::default(); places];
        for node in 0..self.keys.len() {
            let (name, state) = self.keys[node];
            let mut at = self.home(name, state);
            while self.table[at].name != StateRef::NONE {
                at = (at + 1) & (self.table.len() - 1);
            }
            self.table[at] = Entry { name, state, node: node as u32 };
        }
    }
}
