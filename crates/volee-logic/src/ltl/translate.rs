//! Translation of LTL to transition-based generalised Büchi automata, after Couvreur (FM 1999).
//!
//! A state is a set of formulas that must all hold. Each subformula is expanded once into a boolean function
//! of the current letter, of "next" variables and of promises: `f U g = g ∨ (f ∧ P ∧ X(f U g))`, where `P`
//! says that `g` is still owed. The prime implicants of a state's function are its transitions: a guard, the
//! formulas for the next state, and the promises made. A transition is in the acceptance set of an until
//! exactly if it makes no promise for it. States with the same function are one state.

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use super::simplify::Simplifier;
use crate::automaton::{Acceptance, Automaton, Edge, MAX_SETS, degeneralise};
use crate::bdd::{Bdd, MAX_VARIABLES, Manager};
use crate::formula::{Formula, Node, NodeId, Pool};

/// The most states before reduction.
const MAX_STATES: usize = 20_000;
/// The most transitions of one state.
const MAX_EDGES: usize = 20_000;
/// The most nodes of a formula.
const MAX_NODES: usize = 10_000;

/// A formula whose automaton was not built.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TranslateError {
    /// More operators than are looked at.
    #[error("the formula has {0} different subformulas, more than the {MAX_NODES} allowed")]
    Nodes(usize),
    /// More until operators than acceptance sets.
    #[error("the formula has {0} different eventualities, more than the {MAX_SETS} allowed")]
    Sets(usize),
    /// The automaton is too large.
    #[error(
        "the automaton of the formula has more than {MAX_STATES} states or a state with more than {MAX_EDGES} transitions"
    )]
    Size,
}

/// The generalised Büchi automaton of a formula, reduced.
///
/// # Errors
/// The formula or its automaton is too large.
pub fn translate(formula: &Formula) -> Result<Automaton, TranslateError> {
    let nodes = formula.pool.reachable(formula.root).len();
    if nodes > MAX_NODES {
        return Err(TranslateError::Nodes(nodes));
    }
    let (simplifier, root) = Simplifier::new(formula);
    let mut automaton = Translator::new(simplifier, root, formula)?.run(root)?;
    automaton.reduce(Acceptance::OnTransitions);
    checked(automaton)
}

/// The Büchi automaton of a formula: one acceptance set, acceptance on states, reduced.
///
/// # Errors
/// The formula or its automaton is too large.
pub fn translate_to_buchi(formula: &Formula) -> Result<Automaton, TranslateError> {
    let mut automaton = degeneralise(translate(formula)?);
    automaton.reduce(Acceptance::OnStates);
    checked(automaton)
}

fn checked(automaton: Automaton) -> Result<Automaton, TranslateError> {
    if automaton.manager.exhausted() { Err(TranslateError::Size) } else { Ok(automaton) }
}

struct Translator {
    simplifier: Simplifier,
    manager: Manager,
    names: Vec<String>,
    sets: u32,
    /// What the variables behind the promises stand for.
    nexts: Vec<NodeId>,
    next_index: HashMap<NodeId, u32, FixedState>,
    expansions: HashMap<NodeId, Bdd, FixedState>,
}

impl Translator {
    fn new(simplifier: Simplifier, root: NodeId, formula: &Formula) -> Result<Self, TranslateError> {
        let atoms = formula.atoms();
        let nodes = simplifier.pool.reachable(root);
        let untils: Vec<NodeId> =
            nodes.iter().copied().filter(|&id| matches!(simplifier.pool.node(id), Node::Until(..))).collect();
        if untils.len() > MAX_SETS as usize {
            return Err(TranslateError::Sets(untils.len()));
        }
        if atoms.len() + untils.len() + nodes.len() > MAX_VARIABLES as usize {
            return Err(TranslateError::Nodes(nodes.len()));
        }
        let mut translator = Translator {
            simplifier,
            manager: Manager::new(1 << 22),
            names: atoms.iter().map(|&a| formula.atom_text(a)).collect(),
            sets: untils.len() as u32,
            nexts: Vec::new(),
            next_index: HashMap::with_hasher(FixedState::default()),
            expansions: HashMap::with_hasher(FixedState::default()),
        };
        for id in nodes {
            let expansion = match translator.simplifier.pool.node(id) {
                Node::True => Bdd::TRUE,
                Node::False => Bdd::FALSE,
                Node::Atom(atom) => {
                    let letter = atoms.binary_search(&atom).expect("simplifying adds no atoms");
                    translator.manager.literal(letter as u32, true)
                }
                Node::Not(a) => translator.manager.not(translator.expansions[&a]),
                Node::And(a, b) => {
                    translator.manager.and(translator.expansions[&a], translator.expansions[&b])
                }
                Node::Or(a, b) => translator.manager.or(translator.expansions[&a], translator.expansions[&b]),
                Node::Next(a) | Node::WeakNext(a) => translator.next(a),
                Node::Until(a, b) => {
                    let set = untils.binary_search(&id).expect("all untils are listed");
                    let promise = translator.manager.literal((atoms.len() + set) as u32, true);
                    let later = translator.next(id);
                    let wait = translator.manager.and(promise, later);
                    let wait = translator.manager.and(translator.expansions[&a], wait);
                    translator.manager.or(translator.expansions[&b], wait)
                }
                Node::Release(a, b) => {
                    let later = translator.next(id);
                    let end = translator.manager.or(translator.expansions[&a], later);
                    translator.manager.and(translator.expansions[&b], end)
                }
            };
            translator.expansions.insert(id, expansion);
        }
        Ok(translator)
    }

    /// The function "`node` holds at the next position": conjuncts are separate variables.
    fn next(&mut self, node: NodeId) -> Bdd {
        let mut stack = vec![node];
        let mut result = Bdd::TRUE;
        while let Some(id) = stack.pop() {
            let variable = match self.simplifier.pool.node(id) {
                Node::True => continue,
                Node::False => return Bdd::FALSE,
                Node::And(a, b) => {
                    stack.extend([b, a]);
                    continue;
                }
                _ => *self.next_index.entry(id).or_insert_with(|| {
                    self.nexts.push(id);
                    self.nexts.len() as u32 - 1
                }),
            };
            let literal = self.manager.literal(self.names.len() as u32 + self.sets + variable, true);
            result = self.manager.and(result, literal);
        }
        result
    }

    fn run(mut self, root: NodeId) -> Result<Automaton, TranslateError> {
        let mut numbers: HashMap<Bdd, u32, FixedState> = HashMap::with_hasher(FixedState::default());
        let mut queue = Vec::new();
        let mut parts = vec![root];
        parts.retain(|&p| p != Pool::TRUE);
        let initial = self.function(&parts);
        numbers.insert(initial, 0);
        queue.push(initial);
        let mut states: Vec<Vec<Edge>> = Vec::new();
        while states.len() < queue.len() {
            let function = queue[states.len()];
            let cubes = self.manager.prime_cubes(function, MAX_EDGES).ok_or(TranslateError::Size)?;
            let mut edges = Vec::with_capacity(cubes.len());
            for cube in cubes {
                let (guard, marks, next) = self.read(&cube);
                let function = self.function(&next);
                if function == Bdd::FALSE {
                    continue;
                }
                let fresh = queue.len() as u32;
                let target = *numbers.entry(function).or_insert_with(|| {
                    queue.push(function);
                    fresh
                });
                edges.push(Edge { guard, marks, target });
            }
            states.push(edges);
            if queue.len() > MAX_STATES || self.manager.exhausted() {
                return Err(TranslateError::Size);
            }
        }
        let mut automaton =
            Automaton { manager: self.manager, atoms: self.names, sets: self.sets, initial: 0, states };
        automaton.merge_edges();
        Ok(automaton)
    }

    /// The function of a set of formulas. A formula that others imply must not be left out here: its promises
    /// would be forgotten with it (`p R X<>q` implies `<>q`, and would put it off for ever).
    fn function(&mut self, parts: &[NodeId]) -> Bdd {
        parts.iter().fold(Bdd::TRUE, |all, part| self.manager.and(all, self.expansions[part]))
    }

    /// A transition from an implicant: its guard, its marks, the formulas for the next state.
    fn read(&mut self, cube: &[(u32, bool)]) -> (Bdd, u64, Vec<NodeId>) {
        let atoms = self.names.len() as u32;
        let mut letters = Vec::new();
        let mut marks = if self.sets == 64 { u64::MAX } else { (1 << self.sets) - 1 };
        let mut next = Vec::new();
        for &(variable, positive) in cube {
            match variable {
                v if v < atoms => letters.push((v, positive)),
                v if v < atoms + self.sets => marks &= !(1 << (v - atoms)),
                v => next.push(self.nexts[(v - atoms - self.sets) as usize]),
            }
        }
        next.sort_unstable();
        (self.manager.cube(&letters), marks, next)
    }
}
