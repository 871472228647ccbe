//! What workers have made, as one complete test graph: the same, node by node, as one worker makes.
//!
//! Nodes that stand for one set at two workers become one. They are known by a hash of their members, and
//! that they have the same steps to the same nodes is checked, so that what is merged is bisimilar whatever
//! the hash says. Numbers follow from the graph alone ([`TestGraph::in_order`]), not from who explored what
//! first.

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use volee_system::part::PartError;

use crate::graph::{Form, Node, TestEdge, TestGraph};
use crate::partition::{PartialTests, Target};
use crate::{Actions, ConformError, Kind, Selected, Sizes};

type Key = (u16, u32);

struct Joining {
    /// The number of each worker's actions in `actions`.
    translated: Vec<Vec<u32>>,
    actions: Actions,
    /// Who stands for a meta-state that others may have too.
    stands: HashMap<Key, Key, FixedState>,
}

/// Joins the parts of all workers, in their order.
///
/// # Errors
/// No test exists, or what the workers say does not fit together.
pub fn join(parts: &[PartialTests]) -> Result<Selected, ConformError> {
    let root = parts.iter().zip(0u16..).find_map(|(part, worker)| Some((worker, part.root?)));
    let root = root.ok_or(ConformError::NoTest)?;
    let joining = Joining::new(parts);
    joining.confirm(parts)?;
    let graph = joining.graph(parts, root)?.in_order();
    let sum = |figure: fn(&PartialTests) -> u64| parts.iter().map(figure).sum();
    let sizes = Sizes {
        specification_states: sum(|part| part.specification[0]),
        specification_transitions: sum(|part| part.specification[1]),
        meta_states: sum(|part| part.metas[0]),
        meta_transitions: sum(|part| part.metas[1]),
        nodes: graph.node_count() as u64,
        edges: graph.edge_count() as u64,
        ..Sizes::default()
    };
    Ok(Selected { graph, sizes })
}

fn defect() -> ConformError {
    let defect = PartError::Defect("the parts of a test graph do not fit together".into());
    ConformError::input(defect.to_string())
}

impl Joining {
    fn new(parts: &[PartialTests]) -> Self {
        let mut actions = Actions::default();
        let mut translate = |part: &PartialTests| -> Vec<u32> {
            let visible = part.actions.iter().skip(1);
            std::iter::once(0).chain(visible.map(|(name, kind)| actions.intern(name, *kind).0)).collect()
        };
        let translated = parts.iter().map(&mut translate).collect();
        let mut first: HashMap<[u64; 2], Key, FixedState> = HashMap::default();
        let mut stands = HashMap::default();
        for (part, worker) in parts.iter().zip(0u16..) {
            for &(number, hash, _) in &part.nodes {
                if let Some(hash) = hash {
                    let key = (worker, number);
                    stands.insert(key, *first.entry(hash).or_insert(key));
                }
            }
        }
        Joining { translated, actions, stands }
    }

    fn stand(&self, key: Key) -> Key {
        self.stands.get(&key).copied().unwrap_or(key)
    }

    /// The steps of a node, by action, to whoever stands for the targets.
    fn row(&self, parts: &[PartialTests], key: Key) -> Result<Vec<(u32, Target)>, ConformError> {
        let worker = usize::from(key.0);
        let part = parts.get(worker).ok_or_else(defect)?;
        // They come in the order of their numbers.
        let at = part.nodes.binary_search_by_key(&key.1, |node| node.0).map_err(|_| defect())?;
        let begin = if at == 0 { 0 } else { part.nodes[at - 1].2 };
        let steps = part.steps.get(begin as usize..part.nodes[at].2 as usize).ok_or_else(defect)?;
        let mut row = Vec::with_capacity(steps.len());
        for &(action, target) in steps {
            let action = *self.translated[worker].get(action as usize).ok_or_else(defect)?;
            let target = match target {
                Target::Inner(owner, number) => {
                    let (owner, number) = self.stand((owner, number));
                    Target::Inner(owner, number)
                }
                end => end,
            };
            row.push((action, target));
        }
        row.sort_unstable_by_key(|(action, _)| *action);
        Ok(row)
    }

    /// Whether all that share a node have the same steps.
    fn confirm(&self, parts: &[PartialTests]) -> Result<(), ConformError> {
        for (&key, &stand) in self.stands.iter().filter(|(key, stand)| key != stand) {
            if self.row(parts, key)? != self.row(parts, stand)? {
                return Err(defect());
            }
        }
        Ok(())
    }

    /// The graph of what is kept from the start on.
    fn graph(&self, parts: &[PartialTests], root: Key) -> Result<TestGraph, ConformError> {
        let root = self.stand(root);
        let mut numbers: HashMap<Key, u32, FixedState> = HashMap::default();
        numbers.insert(root, 0);
        let mut kept = vec![root];
        let mut graph = TestGraph::new(Form::Complete, self.actions.clone());
        let mut at = 0;
        while at < kept.len() {
            let row = self.row(parts, kept[at])?;
            at += 1;
            let mut edges = Vec::with_capacity(row.len());
            for (action, target) in row {
                let action = crate::ActionId(action);
                let target = match target {
                    Target::Accepted => Node::PASS,
                    Target::Away if self.actions.get(action).kind == Kind::Input => continue,
                    Target::Away => Node::INCONCLUSIVE,
                    Target::Inner(owner, number) => {
                        let fresh = kept.len() as u32;
                        let node = *numbers.entry((owner, number)).or_insert(fresh);
                        if node == fresh {
                            kept.push((owner, number));
                        }
                        Node(node)
                    }
                };
                edges.push(TestEdge { action, target });
            }
            graph.push_row(edges);
        }
        Ok(graph)
    }
}
