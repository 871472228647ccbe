//! The TL compiler: derivatives on decision diagrams, after Jard & Jéron 1989 section 3.
//!
//! Every subformula is expanded once into a boolean function of the current letter and of "strong next"
//! atoms: `f U g = g ∨ (f ∧ ⊙(f U g))`, `f R g = g ∧ (f ∨ ¬⊙¬(f R g))`, a weak next being `¬⊙¬f`. A state is
//! a function of those atoms alone. A letter turns it into the next state by replacing each atom with the
//! expansion of what it promises, the letter filled in; the word may end where the function is true with all
//! atoms false, because no next position exists. This is the derivative of the report, without its `ξ`: that
//! atom only said "another event follows", which a strong next says by itself. Equal functions are equal
//! nodes, so the finitely many derivatives need no search for boolean equivalents.

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use super::dfa::{Dfa, DfaState, Relabel, StateData};
use super::minimise::minimise;
use crate::bdd::{Bdd, MAX_VARIABLES, Manager, Substitution};
use crate::formula::{AtomId, Node, NodeId, Pool};

/// Which letters there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Alphabet {
    /// At most one atom is true: the atoms are different events, and no atom is "any other event".
    Events,
    /// Any set of atoms may be true together.
    Sets,
}

/// Derivatives are written out for this many states.
const DESCRIBED: usize = 64;

/// How large a compilation may grow.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// The most derivatives.
    pub states: usize,
    /// The most nodes of decision diagrams.
    pub nodes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { states: 200_000, nodes: 8_000_000 }
    }
}

/// A formula whose automaton was not built.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CompileError {
    /// More atoms and temporal operators than diagrams take.
    #[error(
        "the formula has {0} different atoms and temporal operators, more than the {MAX_VARIABLES} allowed"
    )]
    Operators(usize),
    /// More derivatives than allowed.
    #[error("the automaton of the formula has more than {0} states")]
    States(usize),
    /// More diagram nodes than allowed.
    #[error("the decision diagrams of the formula have more than {0} nodes")]
    Nodes(usize),
}

/// The minimal deterministic automaton of `root`. Letters assign `atoms` in this order.
///
/// # Errors
/// The automaton is larger than the limits.
pub fn compile(
    pool: &Pool,
    root: NodeId,
    atoms: &[AtomId],
    alphabet: Alphabet,
    limits: Limits,
) -> Result<Dfa, CompileError> {
    let dfa = Compiler::new(pool, root, atoms, limits)?.run(root, alphabet)?;
    minimise(&dfa, limits.nodes).ok_or(CompileError::Nodes(limits.nodes))
}

struct Compiler<'a> {
    pool: &'a Pool,
    limits: Limits,
    manager: Manager,
    atoms: u32,
    /// What the diagram variables from `atoms` on promise: a node true (or false) at the next position.
    promises: Vec<(NodeId, bool)>,
    expansions: HashMap<NodeId, Bdd, FixedState>,
    derive: Substitution,
    empty_word: bool,
}

impl<'a> Compiler<'a> {
    fn new(pool: &'a Pool, root: NodeId, atoms: &[AtomId], limits: Limits) -> Result<Self, CompileError> {
        let nodes = pool.reachable(root);
        let temporal = |id: &&NodeId| {
            matches!(pool.node(**id), Node::Next(_) | Node::WeakNext(_) | Node::Until(..) | Node::Release(..))
        };
        let variables = atoms.len() + nodes.iter().filter(temporal).count();
        if variables >= MAX_VARIABLES as usize {
            return Err(CompileError::Operators(variables));
        }
        let mut compiler = Compiler {
            pool,
            limits,
            manager: Manager::new(limits.nodes),
            atoms: atoms.len() as u32,
            promises: Vec::new(),
            expansions: HashMap::with_hasher(FixedState::default()),
            derive: Substitution::new(),
            empty_word: holds_of_the_empty_word(pool, &nodes),
        };
        compiler.expand_all(&nodes, atoms);
        Ok(compiler)
    }

    fn expand_all(&mut self, nodes: &[NodeId], atoms: &[AtomId]) {
        for &id in nodes {
            let expansion = match self.pool.node(id) {
                Node::True => Bdd::TRUE,
                Node::False => Bdd::FALSE,
                Node::Atom(atom) => match atoms.iter().position(|&a| a == atom) {
                    Some(letter) => self.manager.literal(letter as u32, true),
                    None => Bdd::FALSE,
                },
                Node::Not(a) => self.manager.not(self.expansions[&a]),
                Node::And(a, b) => self.manager.and(self.expansions[&a], self.expansions[&b]),
                Node::Or(a, b) => self.manager.or(self.expansions[&a], self.expansions[&b]),
                Node::Next(a) => self.promise(a, true),
                Node::WeakNext(a) => {
                    let broken = self.promise(a, false);
                    self.manager.not(broken)
                }
                Node::Until(a, b) => {
                    let later = self.promise(id, true);
                    let wait = self.manager.and(self.expansions[&a], later);
                    self.manager.or(self.expansions[&b], wait)
                }
                Node::Release(a, b) => {
                    let broken = self.promise(id, false);
                    let later = self.manager.not(broken);
                    let done = self.manager.or(self.expansions[&a], later);
                    self.manager.and(self.expansions[&b], done)
                }
            };
            self.expansions.insert(id, expansion);
        }
        for (i, (id, positive)) in self.promises.iter().enumerate() {
            let expansion = self.expansions[id];
            let image = if *positive { expansion } else { self.manager.not(expansion) };
            self.derive.set(self.atoms + i as u32, image);
        }
    }

    /// The atom "there is a next position, and `node` is true (or false) there".
    fn promise(&mut self, node: NodeId, positive: bool) -> Bdd {
        let known = self.promises.iter().position(|p| *p == (node, positive));
        let index = known.unwrap_or_else(|| {
            self.promises.push((node, positive));
            self.promises.len() - 1
        });
        self.manager.literal(self.atoms + index as u32, true)
    }

    fn run(mut self, root: NodeId, alphabet: Alphabet) -> Result<Dfa, CompileError> {
        let mut out = Manager::new(self.limits.nodes);
        let mut numbers: HashMap<Bdd, u32, FixedState> = HashMap::with_hasher(FixedState::default());
        let mut functions: Vec<Option<Bdd>> = vec![None];
        let mut states = Vec::new();
        let mut copied: HashMap<Bdd, Bdd, FixedState> = HashMap::with_hasher(FixedState::default());
        let mut next = 0;
        while next < functions.len() {
            let function = functions[next];
            let after = match function {
                None => self.expansions[&root],
                Some(f) => self.derive.apply(&mut self.manager, f),
            };
            let after = match alphabet {
                Alphabet::Sets => after,
                Alphabet::Events => self.one_event(after),
            };
            if self.manager.exhausted() || out.exhausted() {
                return Err(CompileError::Nodes(self.limits.nodes));
            }
            let mut relabel = Relabel { from: &self.manager, atoms: self.atoms, done: copied };
            let diagram = relabel.copy(after, &mut out, &mut |leaf| {
                *numbers.entry(leaf).or_insert_with(|| {
                    functions.push(Some(leaf));
                    functions.len() as u32 - 1
                })
            });
            copied = relabel.done;
            if functions.len() > self.limits.states {
                return Err(CompileError::States(self.limits.states));
            }
            let accepting = match function {
                None => self.empty_word,
                Some(f) => self.manager.eval(f, |_| false),
            };
            let derivative = match function {
                None => self.pool.text(root, 200),
                Some(f) if next < DESCRIBED => self.describe(f),
                Some(_) => String::new(),
            };
            states.push(StateData { accepting, diagram, derivative });
            next += 1;
        }
        Ok(Dfa { manager: out, atoms: self.atoms, initial: DfaState(0), states })
    }

    /// The same successors where at most one atom is true, in a canonical form: a chain of questions, the
    /// last of which has only "any other event" left.
    fn one_event(&mut self, after: Bdd) -> Bdd {
        let mut chain = self.manager.follow(after, self.atoms, |_| false);
        for event in (0..self.atoms).rev() {
            let target = self.manager.follow(after, self.atoms, |a| a == event);
            chain = if chain == target { chain } else { self.manager.node(event, chain, target) };
        }
        chain
    }

    /// A derivative in words: a sum of products of next formulas.
    fn describe(&mut self, function: Bdd) -> String {
        if function == Bdd::TRUE {
            return "true".into();
        }
        let Some(cubes) = self.manager.prime_cubes(function, 8) else {
            return "…".into();
        };
        let mut terms: Vec<String> = Vec::new();
        for cube in &cubes {
            let mut factors: Vec<String> = Vec::new();
            for &(variable, positive) in cube.iter().rev() {
                let (node, sense) = self.promises[(variable - self.atoms) as usize];
                let text = self.pool.text(node, 80);
                factors.push(match (sense, positive) {
                    (true, true) => format!("X {text}"),
                    (true, false) => format!("WX !{text}"),
                    (false, true) => format!("X !{text}"),
                    (false, false) => format!("WX {text}"),
                });
            }
            terms.push(factors.join(" && "));
        }
        if terms.is_empty() { "false".into() } else { terms.join(" || ") }
    }
}

/// Whether the last of `nodes` (operands first) is true of the empty word.
fn holds_of_the_empty_word(pool: &Pool, nodes: &[NodeId]) -> bool {
    let mut value: HashMap<NodeId, bool, FixedState> = HashMap::with_hasher(FixedState::default());
    let mut last = false;
    for &id in nodes {
        last = match pool.node(id) {
            Node::True | Node::WeakNext(_) => true,
            Node::False | Node::Atom(_) | Node::Next(_) => false,
            Node::Not(a) => !value[&a],
            Node::And(a, b) => value[&a] && value[&b],
            Node::Or(a, b) => value[&a] || value[&b],
            Node::Until(_, b) | Node::Release(_, b) => value[&b],
        };
        value.insert(id, last);
    }
    last
}
