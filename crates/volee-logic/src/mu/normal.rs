//! Positive normal form: negation only at state predicates, regular modalities turned into fixed points.
//!
//! `<R*> f` is `mu X . (f or <R> X)`, `[R*] f` is `nu X . (f and [R] X)`, sequences nest, choices become `or`
//! and `and`; since equal subformulas are shared, the result is linear in the text. A negated fixed point is
//! the dual one over negated variables, so each variable of the tree has a positive and a negative version
//! here.

use std::collections::HashMap;

use volee_system::{Diagnostic, Place};

use super::action::{Action, ActionId};
use super::equations::Sign;
use super::tree::{Modality, Regular, RegularId, StatePredicate, Term, TermId, Tree};

/// A subformula.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

/// A fixed-point variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VariableId(pub u32);

/// An operator of the positive normal form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Node {
    /// `true` or `false`.
    Constant(bool),
    /// A state predicate (an index into [`Formula::predicates`]), negated when the flag is set.
    Predicate(u32, bool),
    /// Conjunction.
    And(NodeId, NodeId),
    /// Disjunction.
    Or(NodeId, NodeId),
    /// `<a> f`.
    Diamond(ActionId, NodeId),
    /// `[a] f`.
    Box(ActionId, NodeId),
    /// A bound variable.
    Variable(VariableId),
    /// `mu X . f` or `nu X . f`.
    Fix(Sign, VariableId, NodeId),
}

/// A formula in positive normal form; equal subformulas are one node, children come before parents.
#[derive(Debug, Clone)]
pub struct Formula {
    /// The nodes.
    pub nodes: Vec<Node>,
    /// The whole formula.
    pub root: NodeId,
    /// The action predicates.
    pub actions: Vec<Action>,
    /// The state predicates.
    pub predicates: Vec<StatePredicate>,
    /// See [`Tree::left_sides`].
    pub left_sides: Vec<String>,
    /// The name of each variable.
    pub names: Vec<String>,
    /// The node that binds each variable, where it was built.
    pub binders: Vec<Option<NodeId>>,
}

/// A formula beyond this many nodes is refused.
const MAXIMUM_NODES: usize = 60_000;

impl Formula {
    /// A node by its id.
    pub fn node(&self, id: NodeId) -> Node {
        self.nodes[id.0 as usize]
    }
}

impl Tree {
    /// The positive normal form.
    ///
    /// # Errors
    /// Nested repetitions such as `("a"{1000}){1000}` make it larger than any use of it.
    pub fn normalise(&self) -> Result<Formula, Diagnostic> {
        Builder::new(self).run()
    }
}

const POSITIVE: usize = 0;
const NEGATIVE: usize = 1;

struct Builder<'t> {
    tree: &'t Tree,
    formula: Formula,
    known: HashMap<Node, NodeId>,
    /// Per term and polarity, its node once built.
    built: Vec<[Option<NodeId>; 2]>,
    too_large: bool,
}

impl<'t> Builder<'t> {
    fn new(tree: &'t Tree) -> Self {
        let names: Vec<String> =
            tree.variables.iter().flat_map(|name| [name.clone(), name.clone()]).collect();
        let formula = Formula {
            nodes: Vec::new(),
            root: NodeId(0),
            actions: tree.actions.clone(),
            predicates: tree.predicates.clone(),
            left_sides: tree.left_sides(),
            binders: vec![None; names.len()],
            names,
        };
        Builder {
            tree,
            formula,
            known: HashMap::new(),
            built: vec![[None; 2]; tree.terms.len()],
            too_large: false,
        }
    }

    fn run(mut self) -> Result<Formula, Diagnostic> {
        let needed = self.needed();
        for (at, need) in needed.iter().enumerate() {
            for polarity in [POSITIVE, NEGATIVE] {
                if need[polarity] {
                    self.built[at][polarity] = Some(self.build(at, polarity));
                }
            }
            if self.too_large {
                let (place, length): (Place, u32) = self.tree.places[at].clone();
                let message = format!(
                    "this formula has more than {MAXIMUM_NODES} subformulas once repetitions are unfolded"
                );
                return Err(Diagnostic::error(message, place).spanning(length));
            }
        }
        self.formula.root = self.get(self.tree.root, POSITIVE);
        Ok(self.formula)
    }

    /// Which terms are used positively, which negatively: parents come after children, so one pass backwards.
    fn needed(&self) -> Vec<[bool; 2]> {
        let mut needed = vec![[false; 2]; self.tree.terms.len()];
        needed[self.tree.root.0 as usize][POSITIVE] = true;
        for at in (0..self.tree.terms.len()).rev() {
            for polarity in [POSITIVE, NEGATIVE] {
                if needed[at][polarity] {
                    self.children(at, polarity, |child, p| needed[child.0 as usize][p] = true);
                }
            }
        }
        needed
    }

    fn children(&self, at: usize, polarity: usize, mut visit: impl FnMut(TermId, usize)) {
        match &self.tree.terms[at] {
            Term::Constant(_) | Term::Predicate(_) | Term::Variable(_) => {}
            Term::Not(f) => visit(*f, 1 - polarity),
            Term::And(f, g) | Term::Or(f, g) => {
                visit(*f, polarity);
                visit(*g, polarity);
            }
            Term::Implies(f, g) => {
                visit(*f, 1 - polarity);
                visit(*g, polarity);
            }
            Term::Fix(_, _, f) => visit(*f, polarity),
            Term::Modal(modality, run, f) => {
                visit(*f, polarity);
                self.tests(*run, effective(*modality, polarity), visit);
            }
            Term::Forever(modality, run) => self.tests(*run, effective(*modality, polarity), visit),
        }
    }

    fn tests(&self, run: RegularId, modality: Modality, mut visit: impl FnMut(TermId, usize)) {
        let mut stack = vec![run];
        while let Some(id) = stack.pop() {
            match self.tree.regular(id) {
                Regular::Step(_) | Regular::Nil => {}
                Regular::Test(f) => visit(*f, test_polarity(modality)),
                Regular::Sequence(all) | Regular::Choice(all) => stack.extend(all),
                Regular::Star(inner) | Regular::Repeat(inner, ..) => stack.push(*inner),
            }
        }
    }

    fn get(&self, term: TermId, polarity: usize) -> NodeId {
        self.built[term.0 as usize][polarity].expect("children are built before their parents")
    }

    fn build(&mut self, at: usize, polarity: usize) -> NodeId {
        let negated = polarity == NEGATIVE;
        match self.tree.terms[at] {
            Term::Constant(value) => self.add(Node::Constant(value != negated)),
            Term::Predicate(index) => {
                let index = u32::try_from(index).expect("the number of tokens is bounded");
                self.add(Node::Predicate(index, negated))
            }
            Term::Not(f) => self.get(f, 1 - polarity),
            Term::And(f, g) => {
                let (f, g) = (self.get(f, polarity), self.get(g, polarity));
                if negated { self.or(f, g) } else { self.and(f, g) }
            }
            Term::Or(f, g) => {
                let (f, g) = (self.get(f, polarity), self.get(g, polarity));
                if negated { self.and(f, g) } else { self.or(f, g) }
            }
            Term::Implies(f, g) => {
                let (f, g) = (self.get(f, 1 - polarity), self.get(g, polarity));
                if negated { self.and(f, g) } else { self.or(f, g) }
            }
            Term::Variable(v) => self.add(Node::Variable(version(v, polarity))),
            Term::Fix(sign, v, body) => {
                let body = self.get(body, polarity);
                self.fix(if negated { sign.dual() } else { sign }, version(v, polarity), body)
            }
            Term::Modal(modality, run, f) => {
                let f = self.get(f, polarity);
                self.run_of(effective(modality, polarity), run, f)
            }
            Term::Forever(modality, run) => {
                let modality = effective(modality, polarity);
                let sign = if modality == Modality::Possibly { Sign::Nu } else { Sign::Mu };
                let (variable, x) = self.fresh();
                let body = self.run_of(modality, run, x);
                self.fix(sign, variable, body)
            }
        }
    }

    /// `<run> f` or `[run] f`. Recursion is as deep as the parentheses of one regular expression, which the
    /// parser bounds.
    fn run_of(&mut self, modality: Modality, run: RegularId, f: NodeId) -> NodeId {
        if self.too_large {
            return f;
        }
        let tree = self.tree;
        match tree.regular(run) {
            Regular::Nil => f,
            Regular::Step(action) => {
                let action =
                    ActionId(u8::try_from(*action).expect("the parser bounds the number of actions"));
                self.modal(modality, action, f)
            }
            Regular::Test(test) => {
                let test = self.get(*test, test_polarity(modality));
                match modality {
                    Modality::Possibly => self.and(test, f),
                    Modality::Necessarily => self.or(test, f),
                }
            }
            Regular::Sequence(all) => all.iter().rev().fold(f, |f, part| self.run_of(modality, *part, f)),
            Regular::Choice(all) => {
                let parts: Vec<_> = all.iter().map(|part| self.run_of(modality, *part, f)).collect();
                parts.into_iter().reduce(|a, b| self.join(modality, a, b)).expect("a choice has parts")
            }
            Regular::Star(inner) => self.star(modality, *inner, f),
            Regular::Repeat(inner, least, most) => {
                let mut result = match most {
                    None => self.star(modality, *inner, f),
                    Some(most) => (*least..*most).fold(f, |g, _| {
                        let again = self.run_of(modality, *inner, g);
                        self.join(modality, f, again)
                    }),
                };
                for _ in 0..*least {
                    result = self.run_of(modality, *inner, result);
                }
                result
            }
        }
    }

    fn star(&mut self, modality: Modality, inner: RegularId, f: NodeId) -> NodeId {
        let (variable, x) = self.fresh();
        let again = self.run_of(modality, inner, x);
        let body = self.join(modality, f, again);
        self.fix(if modality == Modality::Possibly { Sign::Mu } else { Sign::Nu }, variable, body)
    }

    fn join(&mut self, modality: Modality, f: NodeId, g: NodeId) -> NodeId {
        match modality {
            Modality::Possibly => self.or(f, g),
            Modality::Necessarily => self.and(f, g),
        }
    }

    fn fresh(&mut self) -> (VariableId, NodeId) {
        let variable = VariableId(u32::try_from(self.formula.names.len()).expect("nodes are bounded"));
        self.formula.names.push("_".into());
        self.formula.binders.push(None);
        (variable, self.add(Node::Variable(variable)))
    }

    fn fix(&mut self, sign: Sign, variable: VariableId, body: NodeId) -> NodeId {
        if let Node::Constant(_) = self.formula.node(body) {
            return body;
        }
        let id = self.add(Node::Fix(sign, variable, body));
        self.formula.binders[variable.0 as usize] = Some(id);
        id
    }

    fn and(&mut self, f: NodeId, g: NodeId) -> NodeId {
        match (self.formula.node(f), self.formula.node(g)) {
            (Node::Constant(false), _) | (_, Node::Constant(true)) => f,
            (Node::Constant(true), _) | (_, Node::Constant(false)) => g,
            _ if f == g => f,
            _ => self.add(Node::And(f, g)),
        }
    }

    fn or(&mut self, f: NodeId, g: NodeId) -> NodeId {
        match (self.formula.node(f), self.formula.node(g)) {
            (Node::Constant(true), _) | (_, Node::Constant(false)) => f,
            (Node::Constant(false), _) | (_, Node::Constant(true)) => g,
            _ if f == g => f,
            _ => self.add(Node::Or(f, g)),
        }
    }

    fn modal(&mut self, modality: Modality, action: ActionId, f: NodeId) -> NodeId {
        match (modality, self.formula.node(f)) {
            (Modality::Possibly, Node::Constant(false)) | (Modality::Necessarily, Node::Constant(true)) => f,
            (Modality::Possibly, _) => self.add(Node::Diamond(action, f)),
            (Modality::Necessarily, _) => self.add(Node::Box(action, f)),
        }
    }

    fn add(&mut self, node: Node) -> NodeId {
        if let Some(&id) = self.known.get(&node) {
            return id;
        }
        let id = NodeId(u32::try_from(self.formula.nodes.len()).expect("nodes are bounded"));
        self.formula.nodes.push(node);
        self.known.insert(node, id);
        self.too_large |= self.formula.nodes.len() > MAXIMUM_NODES;
        id
    }
}

fn version(variable: u32, polarity: usize) -> VariableId {
    VariableId(2 * variable + u32::from(polarity == NEGATIVE))
}

fn effective(modality: Modality, polarity: usize) -> Modality {
    match (modality, polarity) {
        (Modality::Possibly, POSITIVE) | (Modality::Necessarily, NEGATIVE) => Modality::Possibly,
        _ => Modality::Necessarily,
    }
}

/// `<?(f)> g` is `f and g`; `[?(f)] g` is `(not f) or g`.
fn test_polarity(modality: Modality) -> usize {
    match modality {
        Modality::Possibly => POSITIVE,
        Modality::Necessarily => NEGATIVE,
    }
}
