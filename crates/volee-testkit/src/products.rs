//! Temporal formulas over random programs: the product with and without persistent sets, as an invariant,
//! with shortest lassos and with strong fairness, beside a naive evaluator that has the whole plain graph and
//! the whole product; and formulas with events, with all steps and with those merged that the formula cannot
//! see.
//!
//! The evaluator knows no search: from each pair it follows what it reaches and what reaches it. Strong
//! fairness is what its definition says: there is a set of processes, those that can move again and again,
//! such that among the states where nobody else can move there is a cycle on which each of them moves.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Arc;

use volee_logic::automaton::{Automaton, is_stutter_invariant};
use volee_logic::formula::{AtomId, EventPattern, Formula, Shape, parse, random_formula};
use volee_logic::ltl::translate;
use volee_program::{LabelStyle, Machine, MachineOptions};
use volee_search::{
    Check, ClaimOptions, Emptiness, Fairness, LtlQuestion, NestedStore, Reduction, Runs, TlQuestion,
    check_claim, is_strongly_fair, watch_only,
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
    /// Formulas with events that do not count silent steps, infinite runs and finite ones.
    pub loose: u32,
    /// Those of them whose searches were smaller because steps were merged.
    pub merged: u32,
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

/// Events that formulas name beside the bits: messages, statements that others see or do not see, all of one
/// process.
const EVENTS: [&str; 6] =
    ["c!1", "\"r!1\"", "\"x = ((x+1)%2)\"", "/l = .*/", "\"P1[1]:l = (1-l)\"", "/P0.*/"];

/// A step of the plain program: where it leads, who moves, and which of [`EVENTS`] it is.
#[derive(Clone, Copy)]
struct Taken {
    target: usize,
    mover: u32,
    events: u32,
}

/// All states of the plain program: the letters, who can move, and the steps; a state that has none is its
/// own successor.
struct Graph {
    letters: Vec<Vec<bool>>,
    enabled: Vec<u32>,
    next: Vec<Vec<Taken>>,
}

impl Graph {
    /// Whether an atom is true: a bit of the state, or behind these an event of the step.
    fn sees(&self, state: usize, step: Taken, atom: usize) -> bool {
        match atom.checked_sub(ATOMS) {
            None => self.letters[state][atom],
            Some(event) => step.events >> event & 1 == 1,
        }
    }
}

fn graph(source: &str) -> Option<Graph> {
    let labels = LabelStyle::Events;
    let mut machine = machine(source, MachineOptions { plain: true, labels, ..MachineOptions::default() });
    let patterns: Vec<_> =
        EVENTS.iter().map(|text| EventPattern::parse(text).matcher().expect("a pattern")).collect();
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
            let names = machine.names(step.label);
            let events = (0..).zip(&patterns).filter(|(_, pattern)| pattern.matches_any(&names));
            let events = events.fold(0, |all, (event, _)| all | 1 << event);
            next.push(Taken { target: number, mover: 1 << step.process, events });
        }
        graph.enabled.push(next.iter().fold(0, |all, step| all | step.mover));
        if next.is_empty() {
            next.push(Taken { target: at, mover: 0, events: 0 });
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
                for (edge, step) in edges.iter().flat_map(|edge| next.iter().map(move |step| (edge, *step))) {
                    let sees = |atom: u32| graph.sees(state, step, order[atom as usize]);
                    if automaton.manager.eval(edge.guard, sees) {
                        arcs[pair(state, at)].push((pair(step.target, edge.target), edge.marks, step.mover));
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

    /// Whether there is a reachable strongly connected part, of pairs in which nobody but `among` can move,
    /// whose transitions have all marks and on which all of `movers` move.
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
            compare_events(&source, &graph, random, &mut compared);
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
        if let Some((outcome, _)) =
            question.check_as_invariant(&mut machine, &how, None, &meter(), &mut Quiet)
        {
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

/// The same for a formula with events, where steps may be merged that are none of them.
fn compare_events(source: &str, graph: &Graph, random: &mut Random, compared: &mut Compared) {
    let operators = 1 + random.below(5);
    let written = random_formula(random, Shape { atoms: ATOMS, operators }).to_string();
    let (first, second) = (random.below(EVENTS.len()), random.below(EVENTS.len()));
    let text = written.replace("p1", EVENTS[first]).replace("p2", EVENTS[second]);
    let Ok(formula) = parse(&text, "random") else { panic!("{text}") };
    let automaton = translate(&formula.clone().negated()).expect("small");
    let number = |id: &AtomId| {
        let atom = formula.atom_text(*id);
        EVENTS.iter().position(|event| *event == atom).map_or(0, |event| ATOMS + event)
    };
    let order: Vec<usize> = formula.atoms().iter().map(number).collect();
    let expected = Product::new(graph, &automaton, &order).accepts(u32::MAX, 0);
    let told = |how: &str| format!("{how}: {text}\n{source}");
    let options = || MachineOptions { labels: LabelStyle::Events, ..MachineOptions::default() };
    let (mut single, mut merged) = (machine(source, options()), machine(source, options()));
    let question = LtlQuestion::new(&mut single, formula.clone(), &text, "random").expect("bound");
    let all = question.check(&mut single, ClaimOptions::default(), &meter(), &mut Quiet);
    assert_eq!(lasso(&all.verdict).is_some(), expected, "{}", told("all steps"));
    if question.ignores_silent_steps() {
        let question = LtlQuestion::new(&mut merged, formula.clone(), &text, "random").expect("bound");
        watch_only(&mut merged, &question.claim().atoms);
        let fewer = question.check(&mut merged, ClaimOptions::default(), &meter(), &mut Quiet);
        assert_eq!(lasso(&fewer.verdict).is_some(), expected, "{}", told("merged"));
        compared.loose += 1;
        compared.merged += u32::from(fewer.statistics.states < all.statistics.states);
    }
    for runs in [Runs::Prefixes, Runs::Maximal] {
        let (mut single, mut merged) = (machine(source, options()), machine(source, options()));
        let ask = |machine: &mut Machine, merges: bool| {
            let question = TlQuestion::new(machine, &formula, &text, "random").expect("bound");
            if merges && !question.ignores_silent_steps() {
                return None;
            }
            if merges {
                watch_only(machine, question.atoms());
            }
            let outcome = question.check(machine, runs, &Check::new(), &meter(), &mut Quiet);
            Some(lasso(&outcome.answers[0].verdict).is_some())
        };
        let all = ask(&mut single, false);
        if let Some(fewer) = ask(&mut merged, true) {
            assert_eq!(Some(fewer), all, "{}", told(&format!("finite runs, {runs:?}")));
            compared.loose += 1;
        }
    }
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

    /// Everybody takes what comes round the ring and hands it on, up to a number: control goes in circles,
    /// states do not.
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
