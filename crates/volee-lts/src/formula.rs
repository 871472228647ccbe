//! Formulas that tell two systems apart, and their evaluation straight from the definitions.
//!
//! A formula is a graph of nodes, each after its parts, because the tree it stands for may be exponentially
//! larger. Evaluation knows nothing of how a formula was found: it is the check of a distinguishing formula.

use std::fmt;
use std::sync::Arc;

use crate::{Edge, LabelId, Lts, StateId};

/// A node of a [`Formula`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(u32);

/// An operator; labels are texts, so that one formula speaks of several systems. The internal step is `i`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Node {
    /// Every state.
    True,
    /// Not.
    Not(NodeId),
    /// All of them.
    And(Vec<NodeId>),
    /// Some step with this label leads to a state of the part.
    Diamond(Arc<str>, NodeId),
    /// The same with internal steps before and after; for the internal step: any number of them.
    WeakDiamond(Arc<str>, NodeId),
    /// Internal steps through states of `through`, the last of which has a step with this label to one of
    /// `then`.
    Until {
        /// What holds on the way, at its start and its end too.
        through: NodeId,
        /// The label of the last step.
        label: Arc<str>,
        /// What holds after it.
        then: NodeId,
    },
    /// Internal steps for ever through states of the part.
    Forever(NodeId),
}

/// A formula of Hennessy-Milner logic with weak and until operators; its last node is the whole.
#[derive(Debug, Clone, Default)]
pub struct Formula {
    nodes: Vec<Node>,
}

impl NodeId {
    /// As an index into [`Formula::nodes`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl Formula {
    /// The nodes, parts first.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The whole formula.
    pub(crate) fn last(&self) -> Option<NodeId> {
        self.nodes.len().checked_sub(1).map(|at| NodeId(at as u32))
    }

    pub(crate) fn push(&mut self, node: Node) -> NodeId {
        self.nodes.push(node);
        NodeId(self.nodes.len() as u32 - 1)
    }

    /// The conjunction; one part is itself.
    pub(crate) fn and(&mut self, mut parts: Vec<NodeId>) -> NodeId {
        parts.sort_unstable();
        parts.dedup();
        match parts[..] {
            [] => self.push(Node::True),
            [one] => one,
            _ => self.push(Node::And(parts)),
        }
    }

    /// Whether it holds in the initial state.
    pub fn holds(&self, lts: &Lts) -> bool {
        let mut evaluation = Evaluation::new(lts);
        for node in &self.nodes {
            let value = evaluation.node(node);
            evaluation.values.push(value);
        }
        evaluation.values.last().is_none_or(|v| v.get(lts.initial()))
    }

    /// The text in mu-calculus syntax, unless it has more than `limit` characters.
    pub fn text(&self, limit: usize) -> Option<String> {
        let mut out =
            Text { formula: self, text: String::new(), limit, shared: vec![None; self.nodes.len()] };
        out.write(NodeId(self.nodes.len().checked_sub(1)? as u32), 0)?;
        Some(out.text)
    }

    /// Its plain trace, where it is nothing but one step after another.
    pub fn as_trace(&self) -> Option<Vec<String>> {
        let mut trace = Vec::new();
        let mut at = self.nodes.last()?;
        loop {
            match at {
                Node::True => return Some(trace),
                Node::Diamond(label, next) => {
                    trace.push(label.to_string());
                    at = &self.nodes[next.0 as usize];
                }
                _ => return None,
            }
        }
    }
}

/// The whole formula; long ones with definitions for the parts that occur more than once.
impl fmt::Display for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(text) = self.text(2000) {
            return f.write_str(&text);
        }
        let names: Vec<Option<String>> = self.names();
        let mut out = Text { formula: self, text: String::new(), limit: usize::MAX, shared: names.clone() };
        let last = self.nodes.len().saturating_sub(1);
        for (at, name) in names.iter().enumerate().rev() {
            if at != last && name.is_none() {
                continue;
            }
            out.shared[at] = None;
            out.text.clear();
            let _ = out.write(NodeId(at as u32), 0);
            match name {
                Some(name) if at != last => writeln!(f, "  where {name} = {}", out.text)?,
                _ => writeln!(f, "{}", out.text)?,
            }
            out.shared[at].clone_from(name);
        }
        Ok(())
    }
}

impl Formula {
    /// Names for the parts that occur more than once, or lie deep.
    fn names(&self) -> Vec<Option<String>> {
        let mut uses = vec![0u32; self.nodes.len()];
        for node in &self.nodes {
            for part in parts(node) {
                uses[part.0 as usize] += 1;
            }
        }
        let mut depth = vec![0u32; self.nodes.len()];
        let mut names = vec![None; self.nodes.len()];
        for (at, node) in self.nodes.iter().enumerate() {
            depth[at] = parts(node).iter().map(|p| depth[p.0 as usize]).max().unwrap_or(0) + 1;
            let simple = matches!(node, Node::True | Node::Not(_));
            if !simple && (uses[at] > 1 || depth[at] > 40) {
                names[at] = Some(format!("F{at}"));
                depth[at] = 0;
            }
        }
        names
    }
}

fn parts(node: &Node) -> Vec<NodeId> {
    match node {
        Node::True => Vec::new(),
        Node::Not(part) | Node::Diamond(_, part) | Node::WeakDiamond(_, part) | Node::Forever(part) => {
            vec![*part]
        }
        Node::And(all) => all.clone(),
        Node::Until { through, then, .. } => vec![*through, *then],
    }
}

/// Writes a formula; gives up beyond the limit, which also bounds the nesting.
struct Text<'a> {
    formula: &'a Formula,
    text: String,
    limit: usize,
    /// What to write instead of a node.
    shared: Vec<Option<String>>,
}

const DEEPEST: u32 = 500;

impl Text<'_> {
    fn write(&mut self, at: NodeId, depth: u32) -> Option<()> {
        if self.text.len() > self.limit || depth > DEEPEST {
            return None;
        }
        if let Some(name) = &self.shared[at.0 as usize] {
            self.text.push_str(name);
            return Some(());
        }
        let formula = self.formula;
        match &formula.nodes[at.0 as usize] {
            Node::True => self.text.push_str("true"),
            Node::Not(part) => {
                self.text.push_str("not ");
                self.write(*part, depth + 1)?;
            }
            Node::And(all) => {
                self.text.push('(');
                for (n, part) in all.iter().enumerate() {
                    self.text.push_str(if n == 0 { "" } else { " and " });
                    self.write(*part, depth + 1)?;
                }
                self.text.push(')');
            }
            Node::Diamond(label, part) => {
                self.text.push_str(&format!("<{}> ", action(label)));
                self.write(*part, depth + 1)?;
            }
            Node::WeakDiamond(label, part) => {
                match &**label {
                    "i" => self.text.push_str("<tau*> "),
                    _ => self.text.push_str(&format!("<tau* . {} . tau*> ", action(label))),
                }
                self.write(*part, depth + 1)?;
            }
            Node::Until { through, label, then } => {
                let plain = matches!(formula.nodes[through.0 as usize], Node::True);
                if plain {
                    self.text.push_str(&format!("<tau* . {}> ", action(label)));
                    return self.write(*then, depth + 1);
                }
                self.text.push_str(&format!("(mu X{depth} . ("));
                self.write(*through, depth + 1)?;
                self.text.push_str(&format!(" and (<{}> ", action(label)));
                self.write(*then, depth + 1)?;
                self.text.push_str(&format!(" or <tau> X{depth})))"));
            }
            Node::Forever(through) => {
                self.text.push_str(&format!("(nu X{depth} . ("));
                self.write(*through, depth + 1)?;
                self.text.push_str(&format!(" and <tau> X{depth}))"));
            }
        }
        Some(())
    }
}

fn action(label: &str) -> String {
    match label {
        "i" => "tau".into(),
        _ => format!("\"{}\"", label.replace('\\', "\\\\").replace('"', "\\\"")),
    }
}

/// The set of states where each node holds.
struct Evaluation<'a> {
    lts: &'a Lts,
    values: Vec<Bits>,
    tau_sources: Vec<Vec<u32>>,
}

#[derive(Clone)]
struct Bits(Vec<u64>);

impl Bits {
    fn new(states: usize) -> Self {
        Bits(vec![0; states.div_ceil(64)])
    }

    fn get(&self, state: StateId) -> bool {
        self.0[state.index() / 64] >> (state.index() % 64) & 1 == 1
    }

    fn set(&mut self, state: StateId) {
        self.0[state.index() / 64] |= 1 << (state.index() % 64);
    }
}

impl<'a> Evaluation<'a> {
    fn new(lts: &'a Lts) -> Self {
        Evaluation { lts, values: Vec::new(), tau_sources: Vec::new() }
    }

    fn value(&self, node: NodeId) -> &Bits {
        &self.values[node.0 as usize]
    }

    fn filter(&self, test: impl Fn(StateId) -> bool) -> Bits {
        let mut bits = Bits::new(self.lts.state_count());
        self.lts.states().filter(|&s| test(s)).for_each(|s| bits.set(s));
        bits
    }

    fn node(&mut self, node: &Node) -> Bits {
        match node {
            Node::True => self.filter(|_| true),
            Node::Not(part) => self.filter(|s| !self.value(*part).get(s)),
            Node::And(all) => self.filter(|s| all.iter().all(|p| self.value(*p).get(s))),
            Node::Diamond(label, part) => self.step(label, self.value(*part)),
            Node::WeakDiamond(label, part) => {
                let reached = self.back(self.value(*part).clone(), |_| true);
                if &**label == "i" {
                    return reached;
                }
                let stepped = self.step(label, &reached);
                self.back(stepped, |_| true)
            }
            Node::Until { through, label, then } => {
                let stepped = self.step(label, self.value(*then));
                let through = self.value(*through).clone();
                let last = self.filter(|s| stepped.get(s) && through.get(s));
                self.back(last, |s| through.get(s))
            }
            Node::Forever(through) => self.forever(self.value(*through).clone()),
        }
    }

    fn step(&self, label: &str, targets: &Bits) -> Bits {
        let Some(label) = self.lts.labels().find(label) else { return self.filter(|_| false) };
        self.filter(|s| self.lts.edges(s).iter().any(|e| e.label == label && targets.get(e.target)))
    }

    /// Everything that reaches the set by internal steps through allowed states.
    fn back(&mut self, mut set: Bits, allowed: impl Fn(StateId) -> bool) -> Bits {
        self.find_sources();
        let mut pending: Vec<StateId> = self.lts.states().filter(|&s| set.get(s)).collect();
        while let Some(state) = pending.pop() {
            for source in self.tau_sources[state.index()].iter().map(|&s| StateId(s)) {
                if !set.get(source) && allowed(source) {
                    set.set(source);
                    pending.push(source);
                }
            }
        }
        set
    }

    /// The largest set within `within` in which every state has an internal step that stays.
    fn forever(&mut self, within: Bits) -> Bits {
        self.find_sources();
        let inside = |s: StateId, e: &Edge| e.label == LabelId::TAU && within.get(s) && within.get(e.target);
        let mut left: Vec<u32> = self
            .lts
            .states()
            .map(|s| self.lts.edges(s).iter().filter(|e| inside(s, e)).count() as u32)
            .collect();
        let mut gone: Vec<StateId> =
            self.lts.states().filter(|&s| within.get(s) && left[s.index()] == 0).collect();
        while let Some(state) = gone.pop() {
            for source in self.tau_sources[state.index()].iter().map(|&s| StateId(s)) {
                if !within.get(source) {
                    continue;
                }
                left[source.index()] -= 1;
                if left[source.index()] == 0 {
                    gone.push(source);
                }
            }
        }
        self.filter(|s| left[s.index()] > 0)
    }

    /// One entry per internal step, so that counting steps and sources agrees.
    fn find_sources(&mut self) {
        if self.tau_sources.is_empty() {
            self.tau_sources = vec![Vec::new(); self.lts.state_count()];
            for (source, edge) in self.lts.transitions().filter(|(_, e)| e.is_tau()) {
                self.tau_sources[edge.target.index()].push(source.0);
            }
        }
    }
}
