//! Sparse vectors of tokens and the set of minimal ones.
//!
//! A minimal bad marking names few places, so it is a short ascending list of (place, tokens), zero entries
//! left out. The backward engine asks one question a million times: is some known vector below this one?
//! [`Minima`] answers it with a trie over the entries; a query follows only edges whose place occurs in the
//! vector with enough tokens.

/// One entry of a sparse vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Entry {
    /// The place.
    pub place: u32,
    /// Its tokens, never zero.
    pub tokens: u32,
}

/// The tokens of a place in a sparse vector.
pub fn tokens_of(vector: &[Entry], place: u32) -> u32 {
    vector.binary_search_by_key(&place, |e| e.place).map_or(0, |i| vector[i].tokens)
}

#[derive(Debug, Default)]
struct Node {
    /// Ascending by entry.
    children: Vec<(Entry, u32)>,
    /// The vector that ends here, plus one; 0 for none.
    ends: u32,
}

/// A set of sparse vectors that answers "is one of you below this?".
#[derive(Debug)]
pub struct Minima {
    nodes: Vec<Node>,
    stack: Vec<(u32, u32)>,
}

impl Default for Minima {
    fn default() -> Self {
        Minima { nodes: vec![Node::default()], stack: Vec::new() }
    }
}

impl Minima {
    /// Adds a vector under a number.
    pub fn insert(&mut self, vector: &[Entry], id: u32) {
        let mut at = 0;
        for &entry in vector {
            let search = self.nodes[at].children.binary_search_by_key(&entry, |c| c.0);
            at = match search {
                Ok(i) => self.nodes[at].children[i].1 as usize,
                Err(i) => {
                    let new = self.nodes.len();
                    self.nodes.push(Node::default());
                    self.nodes[at].children.insert(i, (entry, u32::try_from(new).unwrap_or(u32::MAX)));
                    new
                }
            };
        }
        self.nodes[at].ends = id + 1;
    }

    /// Some vector at most `vector`, other than number `except`.
    pub fn find_below(&mut self, vector: &[Entry], except: Option<u32>) -> Option<u32> {
        let except = except.map_or(0, |e| e + 1);
        let Minima { nodes, stack } = self;
        stack.clear();
        stack.push((0, 0));
        while let Some((node, from)) = stack.pop() {
            let node = &nodes[node as usize];
            if node.ends != 0 && node.ends != except {
                return Some(node.ends - 1);
            }
            let children = &node.children[..];
            let mut low = 0;
            for (i, entry) in vector.iter().enumerate().skip(from as usize) {
                low += children[low..].partition_point(|c| c.0.place < entry.place);
                if low == children.len() {
                    break;
                }
                while low < children.len() && children[low].0.place == entry.place {
                    if children[low].0.tokens <= entry.tokens {
                        stack.push((children[low].1, i as u32 + 1));
                    }
                    low += 1;
                }
            }
        }
        None
    }

    /// Bytes in use, roughly.
    pub fn bytes(&self) -> u64 {
        (self.nodes.len() * 56) as u64
    }
}
