//! Temporal formulas over random programs: the product with and without persistent sets, as an invariant, with shortest lassos
//! and with strong fairness, beside a naive evaluator that has the whole plain graph and the whole product.
//!
//! The evaluator knows no search: from each pair it follows what it reaches and what reaches it. Strong fairness is what its
//! definition says: there is a set of processes, those that can move again and again, such that among the states where nobody
//! else can move there is a cycle on which each of them moves.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Arc;

use volee_logic::automaton::{Automaton, is_stutter_invariant};
use volee_logic::formula::{AtomId, Formula, Shape, parse, random_formula};
use volee_logic::ltl::translate;
use volee_program::{Machine, MachineOptions};
use volee_search::{
    Check, ClaimOptions, Emptiness, Fairness, LtlQuestion, NestedStore, Reduction, check_claim,
    is_strongly_fair,
};
use volee_system::{
    Budget, Draft as _, Meter, PredicateId, Quiet, Random, System, Verdict, Witness, collect_initial,
    collect_steps,
};

const ATOMS: usize = 3;
/// Programs with more states are left out: the naive evaluator is slow.
const MOST_STATES: usize = 400;
/// Formulas asked of one program.
const BY_PROGRAM: u32 = 50;

/// What was compared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Compared {
    /// Formulas.
    pub formulas: u32,
    /// Formulas that some run violates.
    pub violated: u32,
    /// Formulas that some strongly fair run violates.
    pub unfair: u32,
    /// Searches that were smaller with persistent sets.
    pub smaller: u32,
    /// Formulas that were asked as invariants.
    pub invariants: u32,
    /// Automata that were seen not to tell repetitions apart, with and without persistent sets.
    pub recognised: u32,
}

/// Two or three processes over shared bits that formulas see, a counter that they do not, and a channel.
fn program(random: &mut Random) -> String {
    let mut text =
        String::from("bool p0, p1, p2; byte x; chan c = [1] of { byte }; chan r = [0] of { byte };\n");
    for process in 0..2 + random.below(2) {
        let _ = write!(text, "active proctype P{process}() {{ byte l; ");
        let statements: Vec<String> = (0..2 + random.below(3)).map(|_| statement(random)).collect();
        match random.below(3) {
            0 => text += &statements.join("; "),
            1 => text += &format!("do :: {} od", statements.join(" :: ")),
            _ => text += &format!("{}; do :: {} od", statements[0], statements[1..].join("; ")),
        }
        text += " }\n";
    }
    text
}

fn statement(random: &mut Random) -> String {
    let bit = random.below(ATOMS);
    match random.below(16) {
        0 => format!("p{bit} = 1"),
        1 => format!("p{bit} = 0"),
        2 => format!("p{bit} = 1 - p{bit}"),
        3 => format!("(p{bit})"),
        4 => format!("atomic {{ !p{bit} -> p{bit} = 1 }}"),
        5 => "x = (x + 1) % 2".into(),
        6 => "(x == 0)".into(),
        7 => "l = 1 - l".into(),
        8 => "c!1".into(),
        9 => "c?l".into(),
        10 => format!("d_step {{ l = 1; p{bit} = l }}"),
        11 => "if :: x = 0 :: l = 0 fi".into(),
        12 => "r!1".into(),
        13 => "r?l".into(),
        14 => format!("atomic {{ r!l; p{bit} = 1; r!0 }}"),
        _ => format!("atomic {{ r?l; p{bit} = l }}"),
    }
}

fn machine(source: &str, options: MachineOptions) -> Machine {
    let (model, diagnostics) = volee_promela::parse("random.pml", source, &volee_promela::Options::default());
    let model = model.unwrap_or_else(|| panic!("{source}\n{diagnostics:?}"));
    let lowered = volee_promela::lower(Arc::new(model)).unwrap_or_else(|e| panic!("{source}\n{e:?}"));
    lowered.machine(options)
}

/// All states of the plain program: the letters, who can move, and the successors with who moves; one that has none is its
/// own.
struct Graph {
    letters: Vec<Vec<bool>>,
    enabled: Vec<u32>,
    next: Vec<Vec<(usize, u32)>>,
}

fn graph(source: &str) -> Option<Graph> {
    let mut machine = machine(source, MachineOptions { plain: true, ..MachineOptions::default() });
    let predicates: Vec<PredicateId> =
        (0..ATOMS).map(|i| machine.predicate(&format!("p{i}")).expect("a variable")).collect();
    let mut states = collect_initial(&mut machine);
    let mut numbers: HashMap<Vec<u8>, usize> = HashMap::from([(states[0].clone(), 0)]);
    let mut graph = Graph { letters: Vec::new(), enabled: Vec::new(), next: Vec::new() };
    while graph.next.len() < states.len() {
        if states.len() > MOST_STATES {
            return None;
        }
        let at = graph.next.len();
        let state = states[at].clone();
        let letter = predicates.iter().map(|p| machine.holds(*p, &state).expect("no errors here"));
        graph.letters.push(letter.collect());
        let mut next = Vec::new();
        for (step, target) in collect_steps(&mut machine, &state) {
            let number = *numbers.entry(target.clone()).or_insert_with(|| {
                states.push(target);
                states.len() - 1
            });
            next.push((number, 1 << step.process));
        }
        graph.enabled.push(next.iter().fold(0, |all, (_, mover)| all | mover));
        if next.is_empty() {
            next.push((at, 0));
        }
        graph.next.push(next);
    }
    Some(graph)
}

/// The product of the graph and an automaton.
struct Product {
    /// By pair: where it leads, with which marks, and who moves.
    arcs: Vec<Vec<(usize, u64, u32)>>,
    /// By pair: who can move.
    enabled: Vec<u32>,
    reachable: Vec<bool>,
    wanted: u64,
}

impl Product {
    fn new(graph: &Graph, automaton: &Automaton, order: &[usize]) -> Self {
        let pair = |state: usize, at: u32| state * automaton.states.len() + at as usize;
        let size = graph.next.len() * automaton.states.len();
        let mut arcs: Vec<Vec<(usize, u64, u32)>> = vec![Vec::new(); size];
        let mut enabled = vec![0; size];
        for (state, next) in graph.next.iter().enumerate() {
            for (at, edges) in (0..).zip(&automaton.states) {
                enabled[pair(state, at)] = graph.enabled[state];
                for edge in edges {
                    if automaton.manager.eval(edge.guard, |atom| graph.letters[state][order[atom as usize]]) {
                        let targets =
                            next.iter().map(|&(s, mover)| (pair(s, edge.target), edge.marks, mover));
                        arcs[pair(state, at)].extend(targets);
                    }
                }
            }
        }
        let mut product = Product { arcs, enabled, reachable: Vec::new(), wanted: automaton.all_marks() };
        let start = pair(0, automaton.initial);
        product.reachable = product.reach(start, u32::MAX);
        product.reachable[start] = true;
        product
    }

    /// What a pair reaches through pairs in which nobody else can move.
    fn reach(&self, from: usize, among: u32) -> Vec<bool> {
        let mut seen = vec![false; self.arcs.len()];
        let mut waiting = vec![from];
        while let Some(at) = waiting.pop() {
            for &(target, ..) in &self.arcs[at] {
                if self.enabled[target] & !among == 0 && !std::mem::replace(&mut seen[target], true) {
                    waiting.push(target);
                }
            }
        }
        seen
    }

    /// Whether there is a reachable strongly connected part, of pairs in which nobody but `among` can move, whose transitions
    /// have all marks and on which all of `movers` move.
    fn accepts(&self, among: u32, movers: u32) -> bool {
        let size = self.arcs.len();
        let mut judged = vec![false; size];
        for at in 0..size {
            if !self.reachable[at] || judged[at] || self.enabled[at] & !among != 0 {
                continue;
            }
            let forward = self.reach(at, among);
            if !forward[at] {
                continue;
            }
            let together: Vec<bool> =
                (0..size).map(|p| forward[p] && (p == at || self.reach(p, among)[at])).collect();
            let (mut marks, mut moved) = (0, 0);
            for p in (0..size).filter(|&p| together[p]) {
                judged[p] = true;
                for &(_, more, mover) in self.arcs[p].iter().filter(|(target, ..)| together[*target]) {
                    marks |= more;
                    moved |= mover;
                }
            }
            if marks == self.wanted && moved & movers == movers {
                return true;
            }
        }
        false
    }

    fn accepts_strongly_fair(&self) -> bool {
        let processes = self.enabled.iter().fold(0, |all, who| all | who);
        (0..=processes).filter(|among| among & !processes == 0).any(|among| self.accepts(among, among))
    }
}

/// A random formula without `X`.
fn formula(random: &mut Random) -> Formula {
    loop {
        let operators = 1 + random.below(6);
        let text = random_formula(random, Shape { atoms: ATOMS, operators }).to_string();
        if !text.contains('X') {
            return parse(&text, "random").expect("what is printed reads back");
        }
    }
}

/// Compares the answers to this many formulas; panics where they differ.
pub fn compare(formulas: u32, seed: u64) -> Compared {
    let random = &mut Random::new(seed);
    let mut compared = Compared::default();
    while compared.formulas < formulas {
        let source = program(random);
        let Some(graph) = graph(&source) else { continue };
        for _ in 0..BY_PROGRAM.min(formulas) {
            let formula = formula(random);
            compare_one(&source, &graph, &formula, &mut compared);
        }
    }
    compared
}

fn compare_one(source: &str, graph: &Graph, formula: &Formula, compared: &mut Compared) {
    let text = formula.to_string();
    let automaton = translate(&formula.clone().negated()).expect("small");
    let number = |id: &AtomId| formula.atom_text(*id)[1..].parse().unwrap_or(0);
    let order: Vec<usize> = formula.atoms().iter().map(number).collect();
    let product = Product::new(graph, &automaton, &order);
    let expected = product.accepts(u32::MAX, 0);
    let told = |how: &str| format!("{how}: {text}\n{source}");
    let mut states = [0, 0];
    for (at, reduction) in [Reduction::None, Reduction::Persistent].into_iter().enumerate() {
        let mut machine = machine(source, MachineOptions::default());
        let question = LtlQuestion::new(&mut machine, formula.clone(), &text, "random").expect("bound");
        let how = ClaimOptions { reduction, ..ClaimOptions::default() };
        let outcome = question.check(&mut machine, how, &meter(), &mut Quiet);
        let found = lasso(&outcome.verdict).is_some();
        assert_eq!(found, expected, "{}", told(&format!("{reduction:?}")));
        states[at] = outcome.statistics.states;
        let nested = ClaimOptions { emptiness: Emptiness::Nested(NestedStore::Exact), ..how };
        let verdict = question.check(&mut machine, nested, &meter(), &mut Quiet).verdict;
        assert_eq!(lasso(&verdict).is_some(), expected, "{}", told(&format!("nested, {reduction:?}")));
        let settled = ClaimOptions { settles_first: true, ..how };
        let verdict = question.check(&mut machine, settled, &meter(), &mut Quiet).verdict;
        assert_eq!(lasso(&verdict).is_some(), expected, "{}", told(&format!("settled, {reduction:?}")));
        // The same as if somebody had written the automaton by hand.
        let mut claim = question.claim().state_based();
        claim.stutter_invariant = is_stutter_invariant(&claim.automaton);
        compared.recognised += u32::from(claim.stutter_invariant);
        let verdict = check_claim(&mut machine, &claim, how, &meter(), &mut Quiet).verdict;
        assert_eq!(lasso(&verdict).is_some(), expected, "{}", told(&format!("as a claim, {reduction:?}")));
        let how = Check::new().faults(false).reduction(reduction);
        if let Some((outcome, _)) = question.check_as_invariant(&mut machine, &how, &meter(), &mut Quiet) {
            let found = lasso(&outcome.answers[0].verdict).is_some();
            assert_eq!(found, expected, "{}", told("as an invariant"));
            compared.invariants += 1;
        }
    }
    let unfair = expected && product.accepts_strongly_fair();
    let mut machine = machine(source, MachineOptions { single_steps: true, ..MachineOptions::default() });
    let question = LtlQuestion::new(&mut machine, formula.clone(), &text, "random").expect("bound");
    let mut ask = |how: ClaimOptions| question.check(&mut machine, how, &meter(), &mut Quiet).verdict;
    let usual = ask(ClaimOptions::default());
    let shortest = ask(ClaimOptions { shortest: true, ..ClaimOptions::default() });
    let strong = ask(ClaimOptions { fairness: Fairness::Strong, ..ClaimOptions::default() });
    assert_eq!(lasso(&shortest).is_some(), expected, "{}", told("shortest"));
    assert_eq!(lasso(&strong).is_some(), unfair, "{}", told("strongly fair"));
    if let (Some(usual), Some(shortest)) = (lasso(&usual), lasso(&shortest)) {
        assert!(shortest.steps.len() <= usual.steps.len(), "{}", told("not the shortest"));
        assert_eq!(question.refutes(&mut machine, shortest), Some(true), "{}", told("the shortest"));
    }
    if let Some(strong) = lasso(&strong) {
        assert_eq!(question.refutes(&mut machine, strong), Some(true), "{}", told("the strongly fair one"));
        assert_ne!(is_strongly_fair(&mut machine, strong), Some(false), "{}", told("is not fair"));
    }
    compared.formulas += 1;
    compared.violated += u32::from(expected);
    compared.unfair += u32::from(unfair);
    compared.smaller += u32::from(states[1] < states[0]);
}

fn meter() -> Meter {
    Meter::start(Budget::default())
}

fn lasso(verdict: &Verdict) -> Option<&Witness> {
    match verdict {
        Verdict::Violated(violations) => violations.first().map(|v| &v.witness),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Everybody takes what comes round the ring and hands it on, up to a number: control goes in circles, states do not.
    const RING: &str = "\
chan q[5] = [2] of { byte };
byte done;
proctype Node(chan in, out; byte me) {
  byte n, got;
  out!me; out!me;
  do
  :: in?n -> got = (got + n) % 5; if :: got < 4 -> got++ :: got >= 4 -> got = 0 fi;
     if :: n < 10 -> out!n + 5 :: else -> done++ fi
  od
}
init { atomic {
  run Node(q[0], q[1], 0); run Node(q[1], q[2], 1); run Node(q[2], q[3], 2); run Node(q[3], q[4], 3); run Node(q[4], q[0], 4)
} }
";

    #[test]
    fn a_product_that_cuts_make_large_begins_again_with_settled_expansions() {
        let ask = |settles_first: bool, formula: &str| {
            let mut machine = machine(RING, MachineOptions::default());
            let formula = parse(formula, "ring").expect("a formula");
            let question = LtlQuestion::new(&mut machine, formula, "ring", "ring").expect("bound");
            let how =
                ClaimOptions { reduction: Reduction::Persistent, settles_first, ..ClaimOptions::default() };
            question.check(&mut machine, how, &meter(), &mut Quiet)
        };
        let (usual, settled) = (ask(false, "<>[] (done == 10)"), ask(true, "<>[] (done == 10)"));
        assert_eq!((&usual.verdict, &settled.verdict), (&Verdict::Holds, &Verdict::Holds));
        assert_eq!(usual.statistics.states, settled.statistics.states, "it has begun again");
        assert!(lasso(&ask(false, "<>[] (done == 9)").verdict).is_some());
    }
}
