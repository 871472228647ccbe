//! Making a failing text smaller, by what its structure allows (delta debugging over the tree: Zeller and
//! Hildebrandt 2002, Misherghi and Su 2006).
//!
//! In turns until nothing helps: drop nodes of a list, many at once first; put a simpler thing in a node's
//! place. Every candidate is tried, so the result fails as the first text did, and none of these single
//! changes to it still fails.

use crate::tree::{Node, Part, Sort};

/// Candidates that are tried at most.
const MOST_TRIALS: usize = 5_000;

/// The smallest tree found for which `fails` is true, as it is of `tree`.
pub fn shrink(tree: Node, mut fails: impl FnMut(&Node) -> bool) -> Node {
    let mut search = Search { best: tree, trials: 0, fails: &mut fails };
    loop {
        let before = search.best.to_string().len();
        search.drop_from_lists();
        search.replace_nodes();
        if search.best.to_string().len() >= before || search.trials >= MOST_TRIALS {
            return search.best;
        }
    }
}

struct Search<'f> {
    best: Node,
    trials: usize,
    fails: &'f mut dyn FnMut(&Node) -> bool,
}

impl Search<'_> {
    fn try_it(&mut self, candidate: Node) -> bool {
        self.trials += 1;
        let better = self.trials <= MOST_TRIALS && (self.fails)(&candidate);
        if better {
            self.best = candidate;
        }
        better
    }

    /// Drops runs of list members, halving their length until single ones have been tried.
    fn drop_from_lists(&mut self) {
        let mut number = 0;
        while let Some(length) = nth(&mut self.best.clone(), number).map(|node| list_lengths(node)) {
            for (part, length) in length {
                self.drop_from(number, part, length);
            }
            number += 1;
        }
    }

    fn drop_from(&mut self, number: usize, part: usize, mut length: usize) {
        let mut run = length;
        while run > 0 {
            let mut at = 0;
            while at < length {
                let mut candidate = self.best.clone();
                let end = (at + run).min(length);
                if let Some(node) = nth(&mut candidate, number)
                    && let Some(Part::Many(members, _)) = node.parts.get_mut(part)
                {
                    members.drain(at..end.min(members.len()));
                }
                if self.try_it(candidate) {
                    length -= end - at;
                } else {
                    at += run;
                }
            }
            run /= 2;
        }
    }

    /// Puts something simpler in the place of each node in turn.
    fn replace_nodes(&mut self) {
        let mut number = 0;
        while let Some(node) = nth(&mut self.best.clone(), number).cloned() {
            let size = node.to_string().len();
            for simpler in replacements(&node) {
                if simpler.to_string().len() >= size {
                    continue;
                }
                let mut candidate = self.best.clone();
                if let Some(place) = nth(&mut candidate, number) {
                    *place = simpler;
                }
                if self.try_it(candidate) {
                    break;
                }
            }
            number += 1;
        }
    }
}

fn list_lengths(node: &Node) -> Vec<(usize, usize)> {
    let lists = node.parts.iter().enumerate();
    lists
        .filter_map(|(index, part)| match part {
            Part::Many(members, _) => Some((index, members.len())),
            _ => None,
        })
        .collect()
}

/// The node with this number, counting from the root, each before what is inside it.
fn nth(root: &mut Node, number: usize) -> Option<&mut Node> {
    fn find<'n>(node: &'n mut Node, left: &mut usize) -> Option<&'n mut Node> {
        if *left == 0 {
            return Some(node);
        }
        *left -= 1;
        node.children_mut().find_map(|child| find(child, left))
    }
    find(root, &mut { number })
}

fn replacements(node: &Node) -> Vec<Node> {
    let inside = || {
        let mut found = Vec::new();
        collect(node, node.sort, &mut found);
        found
    };
    match node.sort {
        Sort::Frame => Vec::new(),
        Sort::Statement => {
            let mut all = vec![Node::text(Sort::Statement, "skip")];
            for child in node.parts.iter() {
                if let Part::Many(members, between) = child
                    && members.iter().all(|m| m.sort == Sort::Statement)
                {
                    all.push(Node::new(Sort::Statement, [Part::Many(members.clone(), between)]));
                }
            }
            all.extend(inside());
            all
        }
        Sort::Expression => {
            let numbers = ["0", "1", "2"].map(|text| Node::text(Sort::Expression, text));
            numbers.into_iter().chain(inside()).collect()
        }
    }
}

/// The nodes of a sort nearest below a node.
fn collect(node: &Node, sort: Sort, found: &mut Vec<Node>) {
    for child in node.children() {
        if child.sort == sort {
            found.push(child.clone());
        } else {
            collect(child, sort, found);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::shrink;
    use crate::node;
    use crate::tree::{Node, Part, Sort};

    #[test]
    fn what_does_not_matter_goes() {
        let sum = |a: Node, b: Node| node!(Expression, "(", a, " + ", b, ")");
        let number = |n: i32| Node::text(Sort::Expression, n.to_string());
        let expression = sum(sum(number(17), number(23)), sum(number(42), number(5)));
        let statements = (0..20)
            .map(|n| Node::text(Sort::Statement, format!("s{n}")))
            .chain([node!(Statement, "x = ", expression)]);
        let list = Node::new(Sort::Frame, [Part::Many(statements.collect(), "; ")]);
        let smallest = shrink(list, |tree| {
            let text = tree.to_string();
            text.contains("s7") && text.contains("42")
        });
        assert_eq!(smallest.to_string(), "s7; x = 42");
    }

    #[test]
    fn a_block_gives_way_to_what_is_in_it() {
        let inner =
            Part::Many(vec![Node::text(Sort::Statement, "bad"), Node::text(Sort::Statement, "good")], "; ");
        let block = Node::new(Sort::Statement, [Part::from("atomic { "), inner, Part::from(" }")]);
        let smallest = shrink(node!(Frame, block), |tree| tree.to_string().contains("bad"));
        assert_eq!(smallest.to_string(), "bad");
    }
}
