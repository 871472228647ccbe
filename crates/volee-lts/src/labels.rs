//! Interned labels of a transition system.
//!
//! Label 0 is the internal step, always: files call it `i` (CADP) or `tau` (mCRL2), and both words mean it.
//! All texts live in one string, so that a system with a million labels makes no million allocations.

use std::hash::BuildHasher;

use foldhash::fast::FixedState;
use hashbrown::HashTable;

/// A label of an [`crate::Lts`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct LabelId(pub u32);

impl LabelId {
    /// The internal step.
    pub const TAU: LabelId = LabelId(0);

    /// As an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The label texts, each once.
#[derive(Debug, Clone)]
pub struct Labels {
    text: String,
    ends: Vec<usize>,
    table: HashTable<u32>,
    hasher: FixedState,
}

impl Default for Labels {
    fn default() -> Self {
        Labels::new()
    }
}

impl Labels {
    /// A table that knows only the internal step, called `i`.
    pub fn new() -> Self {
        Labels {
            text: "i".into(),
            ends: vec![1],
            table: HashTable::new(),
            hasher: FixedState::with_seed(0x5bd1_e995),
        }
    }

    /// How many labels there are, the internal step included.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Never: the internal step is always there.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// The text of a label.
    pub fn name(&self, label: LabelId) -> &str {
        let at = label.index();
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        &self.text[start..self.ends[at]]
    }

    /// All labels with their texts, the internal step first.
    pub fn iter(&self) -> impl Iterator<Item = (LabelId, &str)> {
        (0..self.len() as u32).map(|l| (LabelId(l), self.name(LabelId(l))))
    }

    /// The label with this text; a new one if there is none yet.
    pub fn intern(&mut self, name: &str) -> LabelId {
        if is_internal(name.as_bytes()) {
            return LabelId::TAU;
        }
        let hash = self.hash(name.as_bytes());
        if let Some(found) = self.find_hashed(name.as_bytes(), hash) {
            return found;
        }
        let id = u32::try_from(self.ends.len()).expect("a label per transition, and those are below 2^32");
        self.text.push_str(name);
        self.ends.push(self.text.len());
        let Labels { text, ends, table, hasher } = self;
        table.insert_unique(hash, id, |&l| hash_bytes(hasher, slice(text, ends, l)));
        LabelId(id)
    }

    /// The label with this text, if there is one.
    pub fn find(&self, name: &str) -> Option<LabelId> {
        self.find_bytes(name.as_bytes())
    }

    pub(crate) fn find_bytes(&self, name: &[u8]) -> Option<LabelId> {
        if is_internal(name) {
            return Some(LabelId::TAU);
        }
        self.find_hashed(name, self.hash(name))
    }

    fn find_hashed(&self, name: &[u8], hash: u64) -> Option<LabelId> {
        self.table.find(hash, |&l| slice(&self.text, &self.ends, l) == name).map(|&l| LabelId(l))
    }

    fn hash(&self, name: &[u8]) -> u64 {
        hash_bytes(&self.hasher, name)
    }

    /// Bytes in use.
    pub fn memory(&self) -> u64 {
        (self.text.capacity() + self.ends.capacity() * 8 + self.table.capacity() * 5) as u64
    }
}

/// Whether a text is one of the two names of the internal step.
pub fn is_internal(name: &[u8]) -> bool {
    matches!(name, b"i" | b"tau")
}

fn slice<'a>(text: &'a str, ends: &[usize], label: u32) -> &'a [u8] {
    let at = label as usize;
    let start = if at == 0 { 0 } else { ends[at - 1] };
    &text.as_bytes()[start..ends[at]]
}

fn hash_bytes(hasher: &FixedState, bytes: &[u8]) -> u64 {
    hasher.hash_one(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_names_of_the_internal_step_are_label_0() {
        let mut labels = Labels::new();
        assert_eq!(labels.intern("tau"), LabelId::TAU);
        assert_eq!(labels.intern("i"), LabelId::TAU);
        assert_eq!(labels.len(), 1);
    }

    #[test]
    fn a_text_is_interned_once() {
        let mut labels = Labels::new();
        let ids: Vec<_> = (0..1000).map(|n| labels.intern(&format!("l{n}"))).collect();
        for (n, &id) in ids.iter().enumerate() {
            assert_eq!(labels.intern(&format!("l{n}")), id);
            assert_eq!(labels.name(id), format!("l{n}"));
        }
        assert_eq!(labels.len(), 1001);
        assert_eq!(labels.find("absent"), None);
    }
}
