//! What a formula speaks of and nothing that was explored is: an answer about it says little, so it is told.
//!
//! An event that no step was, and the left side of an implication that was true nowhere
//! (`[](request -> <>reply)` holds where nobody ever asks). Left sides are the formulas without temporal
//! operators that stand negated in a disjunction, which is what an implication is.

use std::collections::HashMap;

use volee_logic::formula::{AtomId, AtomKind, Formula, Node, NodeId, Pool};

use crate::atoms::BoundAtom;

/// Longer texts are cut.
const LONGEST: usize = 200;

/// How many atoms of a letter are kept: one bit each. Of more, it is not known what never happened.
const KEPT: usize = u64::BITS as usize;

/// The left sides of the implications in a formula.
pub(crate) fn left_sides(formula: &Formula) -> Vec<NodeId> {
    let pool = &formula.pool;
    let mut all = Vec::new();
    for id in pool.reachable(formula.root) {
        let Node::Or(a, b) = pool.node(id) else { continue };
        for side in [a, b] {
            if let Node::Not(left) = pool.node(side)
                && is_of_states(pool, left)
                && !all.contains(&left)
            {
                all.push(left);
            }
        }
    }
    all
}

fn is_of_states(pool: &Pool, root: NodeId) -> bool {
    pool.reachable(root).into_iter().all(|id| {
        matches!(
            pool.node(id),
            Node::True | Node::False | Node::Atom(_) | Node::Not(_) | Node::And(..) | Node::Or(..)
        )
    })
}

/// The text of a part of a formula.
pub(crate) fn text_of(formula: &Formula, node: NodeId) -> String {
    if let Node::Atom(atom) = formula.pool.node(node)
        && let AtomKind::Predicate(text) = &formula.pool.atoms()[atom.0 as usize].kind
    {
        return text.clone();
    }
    let text = formula.pool.text(node, LONGEST).replace('{', "(").replace('}', ")");
    let whole = matches!(formula.pool.node(node), Node::And(..) | Node::Or(..));
    let inside = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')).filter(|_| whole);
    inside.map(str::to_string).unwrap_or(text)
}

/// What of a formula was true in none of the letters that were met: a bit per atom, in the order of
/// [`Formula::atoms`].
pub(crate) fn silent(formula: &Formula, bound: &[BoundAtom], letters: &[u64]) -> Vec<String> {
    let atoms = formula.atoms();
    let mut all = Vec::new();
    for (bit, id) in atoms.iter().enumerate() {
        let event = matches!(bound.get(bit), Some(BoundAtom::Event(_)));
        if event && bit < KEPT && letters.iter().all(|letter| letter >> bit & 1 == 0) {
            all.push(formula.atom_text(*id));
        }
    }
    for left in left_sides(formula).into_iter().filter(|_| atoms.len() <= KEPT) {
        if !letters.iter().any(|letter| is_true(&formula.pool, left, *letter, &atoms)) {
            let text = text_of(formula, left);
            if !all.contains(&text) {
                all.push(text);
            }
        }
    }
    all
}

fn is_true(pool: &Pool, root: NodeId, letter: u64, atoms: &[AtomId]) -> bool {
    let mut values: HashMap<NodeId, bool> = HashMap::new();
    for id in pool.reachable(root) {
        let value = match pool.node(id) {
            Node::True => true,
            Node::Atom(atom) => atoms.binary_search(&atom).is_ok_and(|bit| letter >> bit & 1 == 1),
            Node::Not(a) => !values[&a],
            Node::And(a, b) => values[&a] && values[&b],
            Node::Or(a, b) => values[&a] || values[&b],
            _ => false,
        };
        values.insert(id, value);
    }
    values.get(&root).copied().unwrap_or(false)
}

/// The letters met, each once.
#[derive(Debug, Clone, Default)]
pub(crate) struct Letters {
    met: Vec<u64>,
    last: Option<u64>,
}

impl Letters {
    /// Remembers a letter. There are few different ones, and mostly the last one comes again.
    #[inline]
    pub fn meet(&mut self, letter: &[bool]) {
        let word =
            letter.iter().take(KEPT).enumerate().fold(0, |word, (bit, seen)| word | u64::from(*seen) << bit);
        if self.last != Some(word) {
            self.last = Some(word);
            if !self.met.contains(&word) {
                self.met.push(word);
            }
        }
    }

    /// All of them.
    pub fn all(&self) -> &[u64] {
        &self.met
    }

    /// These were met before.
    pub fn met_before(&mut self, letters: &[u64]) {
        self.met.extend(letters);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use volee_logic::formula::{EventPattern, parse};

    /// What is told where these letters were met: each is the texts of the atoms that are true in it.
    fn told(text: &str, letters: &[&[&str]]) -> Vec<String> {
        let formula = parse(text, "f").expect("a formula");
        let atom = |id: &AtomId| match &formula.pool.atoms()[id.0 as usize].kind {
            AtomKind::Event(pattern) => BoundAtom::Event(EventPattern::matcher(pattern).expect("a pattern")),
            _ => BoundAtom::Progress,
        };
        let atoms = formula.atoms();
        let bound: Vec<BoundAtom> = atoms.iter().map(atom).collect();
        let bit = |text: &&str| atoms.iter().position(|id| formula.atom_text(*id) == *text).expect("an atom");
        let word = |letter: &&[&str]| letter.iter().map(bit).fold(0, |word, bit| word | 1 << bit);
        silent(&formula, &bound, &letters.iter().map(word).collect::<Vec<u64>>())
    }

    #[test]
    fn a_left_side_that_is_true_nowhere_is_told() {
        assert_eq!(told("[](p -> <> q)", &[&[], &["q"]]), ["p"]);
        assert_eq!(told("[](p -> <> q)", &[&[], &["p"]]), Vec::<String>::new());
        assert_eq!(told("[]((p && q) -> <> r)", &[&["p"], &["q", "r"]]), ["p && q"]);
        assert_eq!(told("[] !p", &[&[]]), Vec::<String>::new(), "that it never happens is the point");
    }

    #[test]
    fn an_event_that_no_step_was_is_told() {
        assert_eq!(told("<> c!1", &[&[]]), ["c!1"]);
        assert_eq!(told("<> c!1", &[&["c!1"]]), Vec::<String>::new());
    }
}
