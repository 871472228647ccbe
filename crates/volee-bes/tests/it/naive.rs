//! The naive twins: a formula evaluated as sets of states straight from its syntax tree (regular expressions
//! as relations, fixed points by iteration), and equations by nested iteration.

use std::borrow::Cow;

use volee_bes::explicit::Explicit;
use volee_bes::{BooleanGraph, Operator, Sign};
use volee_logic::mu::{Modality, Regular, RegularId, Term, TermId, Tree};
use volee_system::{Draft, Flow, Label, Random, Sink, Step, System};

/// A transition system of at most 64 states.
#[derive(Debug, Clone)]
pub struct Small {
    pub steps: Vec<Vec<(u32, u8)>>,
    pub initial: Vec<u8>,
}

pub const LABELS: [&str; 4] = ["a", "b", "i", "c"];

impl Small {
    pub fn random(random: &mut Random) -> Self {
        let states = 1 + random.below(7);
        let mut steps = Vec::new();
        for _ in 0..states {
            let count = random.below(4);
            steps.push((0..count).map(|_| (random.below(4) as u32, random.below(states) as u8)).collect());
        }
        let initial = if random.percent(80) { vec![0] } else { vec![0, random.below(states) as u8] };
        Small { steps, initial }
    }
}

impl System for Small {
    fn initial(&mut self, push: &mut dyn FnMut(&[u8]) -> Flow) -> Flow {
        self.initial.iter().try_for_each(|s| push(&[*s]))
    }
    fn steps(&mut self, state: &[u8], sink: &mut dyn Sink) -> Flow {
        self.steps[usize::from(state[0])]
            .iter()
            .try_for_each(|(label, target)| sink.push(Step::labelled(*label), &[*target]))
    }
    fn label(&self, label: Label) -> Cow<'_, str> {
        LABELS[label.0 as usize].into()
    }
}

impl Draft for Small {
    fn system(&mut self) -> &mut dyn System {
        self
    }

    fn build(self: Box<Self>) -> Box<dyn System> {
        self
    }
}

/// The set of states that satisfy a term.
pub fn evaluate(system: &Small, tree: &Tree) -> u64 {
    let mut values = vec![0; tree.variables.len()];
    term(system, tree, tree.root, &mut values)
}

fn all(system: &Small) -> u64 {
    (1 << system.steps.len()) - 1
}

fn term(system: &Small, tree: &Tree, id: TermId, values: &mut Vec<u64>) -> u64 {
    let all = all(system);
    match tree.term(id) {
        Term::Constant(value) => {
            if *value {
                all
            } else {
                0
            }
        }
        Term::Predicate(_) => panic!("small systems have no state predicates"),
        Term::Not(f) => all & !term(system, tree, *f, values),
        Term::And(f, g) => term(system, tree, *f, values) & term(system, tree, *g, values),
        Term::Or(f, g) => term(system, tree, *f, values) | term(system, tree, *g, values),
        Term::Implies(f, g) => (all & !term(system, tree, *f, values)) | term(system, tree, *g, values),
        Term::Modal(modality, run, f) => {
            let relation = relation(system, tree, *run, values);
            let set = term(system, tree, *f, values);
            modal(system, *modality, &relation, set)
        }
        Term::Forever(modality, run) => {
            let relation = relation(system, tree, *run, values);
            let mut set = if *modality == Modality::Possibly { all } else { 0 };
            loop {
                let next = modal(system, *modality, &relation, set);
                if next == set {
                    return set;
                }
                set = next;
            }
        }
        Term::Variable(variable) => values[*variable as usize],
        Term::Fix(sign, variable, body) => {
            let mut set = if *sign == Sign::Nu { all } else { 0 };
            loop {
                values[*variable as usize] = set;
                let next = term(system, tree, *body, values);
                if next == set {
                    return set;
                }
                set = next;
            }
        }
    }
}

fn modal(system: &Small, modality: Modality, relation: &[u64], set: u64) -> u64 {
    (0..system.steps.len()).fold(0, |result, s| {
        let holds = match modality {
            Modality::Possibly => relation[s] & set != 0,
            Modality::Necessarily => relation[s] & !set == 0,
        };
        result | u64::from(holds) << s
    })
}

/// For each state, the states that a run of the expression leads to.
fn relation(system: &Small, tree: &Tree, run: RegularId, values: &mut Vec<u64>) -> Vec<u64> {
    let states = system.steps.len();
    let identity: Vec<u64> = (0..states).map(|s| 1 << s).collect();
    let compose = |a: &[u64], b: &[u64]| -> Vec<u64> {
        a.iter().map(|row| (0..states).filter(|t| row >> t & 1 == 1).fold(0, |r, t| r | b[t])).collect()
    };
    let join = |a: &[u64], b: &[u64]| -> Vec<u64> { a.iter().zip(b).map(|(x, y)| x | y).collect() };
    let star = |a: &[u64]| -> Vec<u64> {
        let mut closure = identity.clone();
        loop {
            let next = join(&closure, &compose(&closure, a));
            if next == closure {
                return closure;
            }
            closure = next;
        }
    };
    match tree.regular(run) {
        Regular::Nil => identity,
        Regular::Step(action) => system
            .steps
            .iter()
            .map(|steps| {
                let taken = steps
                    .iter()
                    .filter(|(label, _)| tree.actions[*action].matches(&[LABELS[*label as usize]]));
                taken.fold(0, |row, (_, target)| row | 1 << target)
            })
            .collect(),
        Regular::Test(f) => {
            let set = term(system, tree, *f, values);
            identity.iter().map(|row| row & set).collect()
        }
        Regular::Sequence(all) => all.iter().fold(identity.clone(), |a, part| {
            let b = relation(system, tree, *part, values);
            compose(&a, &b)
        }),
        Regular::Choice(all) => all.iter().fold(vec![0; states], |a, part| {
            let b = relation(system, tree, *part, values);
            join(&a, &b)
        }),
        Regular::Star(inner) => star(&relation(system, tree, *inner, values)),
        Regular::Repeat(inner, least, most) => {
            let once = relation(system, tree, *inner, values);
            let mut power = identity.clone();
            for _ in 0..*least {
                power = compose(&power, &once);
            }
            match most {
                None => compose(&power, &star(&once)),
                Some(most) => {
                    let mut result = power.clone();
                    for _ in *least..*most {
                        power = compose(&power, &once);
                        result = join(&result, &power);
                    }
                    result
                }
            }
        }
    }
}

/// The values of all variables of a system of equations, by iterating blocks inside blocks as the definition
/// says.
pub fn solve_equations(system: &Explicit) -> Vec<bool> {
    let blocks = BooleanGraph::blocks(&system).to_vec();
    let mut values = vec![false; system.len()];
    solve_from(system, &blocks, 0, &mut values);
    values
}

fn solve_from(system: &Explicit, blocks: &[Sign], block: usize, values: &mut Vec<bool>) {
    if block == blocks.len() {
        return;
    }
    let own: Vec<u32> =
        (0..system.len() as u32).filter(|v| usize::from(system.row(*v).block) == block).collect();
    for &v in &own {
        values[v as usize] = blocks[block] == Sign::Nu;
    }
    loop {
        solve_from(system, blocks, block + 1, values);
        let mut changed = false;
        let old = values.clone();
        for &v in &own {
            let mut rhs = system.right_hand_side(v).iter().map(|s| old[*s as usize]);
            let value = match system.row(v).operator {
                Operator::Or => rhs.any(|x| x),
                Operator::And => rhs.all(|x| x),
            };
            changed |= value != old[v as usize];
            values[v as usize] = value;
        }
        if !changed {
            return;
        }
    }
}
