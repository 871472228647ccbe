//! Temporal formulas over random programs: the search with and without persistent sets, and as invariants, beside a naive
//! evaluator that has the whole plain graph and the whole product.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Arc;

use volee_logic::automaton::Automaton;
use volee_logic::formula::{Formula, Shape, SplitMix, parse, random_formula};
use volee_logic::ltl::translate;
use volee_program::{Machine, MachineOptions};
use volee_search::{Check, ClaimOptions, LtlQuestion, Reduction};
use volee_system::{Budget, Meter, PredicateId, Quiet, System, Verdict, collect_initial, collect_steps};

const ATOMS: usize = 3;
/// Formulas; `cargo xtask temporal random` asks many more.
const COMPARED: u32 = 1_000;
/// Programs with more states are left out: the naive evaluator is slow.
const MOST_STATES: usize = 400;

/// Two or three processes over shared bits that formulas see, a counter that they do not, and a channel.
fn program(random: &mut SplitMix) -> String {
    let mut text = String::from("bool p0, p1, p2; byte x; chan c = [1] of { byte };\n");
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

fn statement(random: &mut SplitMix) -> String {
    let bit = random.below(ATOMS);
    match random.below(12) {
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
        _ => "if :: x = 0 :: l = 0 fi".into(),
    }
}

fn machine(source: &str, plain: bool) -> Machine {
    let (model, diagnostics) = volee_promela::parse("random.pml", source, &volee_promela::Options::default());
    let model = model.unwrap_or_else(|| panic!("{source}\n{diagnostics:?}"));
    let lowered = volee_promela::lower(Arc::new(model)).unwrap_or_else(|e| panic!("{source}\n{e:?}"));
    lowered.machine(MachineOptions { plain, ..MachineOptions::default() })
}

/// All states of the plain program: the letters, and the successors; one that has none is its own.
struct Graph {
    letters: Vec<Vec<bool>>,
    next: Vec<Vec<usize>>,
}

fn graph(source: &str) -> Option<Graph> {
    let mut machine = machine(source, true);
    let predicates: Vec<PredicateId> =
        (0..ATOMS).map(|i| machine.predicate(&format!("p{i}")).expect("a variable")).collect();
    let mut states = collect_initial(&mut machine);
    let mut numbers: HashMap<Vec<u8>, usize> = HashMap::from([(states[0].clone(), 0)]);
    let mut graph = Graph { letters: Vec::new(), next: Vec::new() };
    while graph.next.len() < states.len() {
        if states.len() > MOST_STATES {
            return None;
        }
        let at = graph.next.len();
        let state = states[at].clone();
        let letter = predicates.iter().map(|p| machine.holds(*p, &state).expect("no errors here"));
        graph.letters.push(letter.collect());
        let mut next = Vec::new();
        for (_, target) in collect_steps(&mut machine, &state) {
            let number = *numbers.entry(target.clone()).or_insert_with(|| {
                states.push(target);
                states.len() - 1
            });
            next.push(number);
        }
        if next.is_empty() {
            next.push(at);
        }
        graph.next.push(next);
    }
    Some(graph)
}

/// Whether the product has a reachable strongly connected part whose transitions have all marks, by the definition: from
/// each pair, what it reaches and what reaches it.
fn accepts(graph: &Graph, automaton: &Automaton, order: &[usize]) -> bool {
    let pair = |state: usize, at: u32| state * automaton.states.len() + at as usize;
    let size = graph.next.len() * automaton.states.len();
    let mut arcs: Vec<Vec<(usize, u64)>> = vec![Vec::new(); size];
    for (state, next) in graph.next.iter().enumerate() {
        for (at, edges) in (0..).zip(&automaton.states) {
            for edge in edges {
                if automaton.manager.eval(edge.guard, |atom| graph.letters[state][order[atom as usize]]) {
                    arcs[pair(state, at)].extend(next.iter().map(|&s| (pair(s, edge.target), edge.marks)));
                }
            }
        }
    }
    let reach = |from: usize| {
        let mut seen = vec![false; size];
        let mut waiting = vec![from];
        while let Some(at) = waiting.pop() {
            for &(target, _) in &arcs[at] {
                if !std::mem::replace(&mut seen[target], true) {
                    waiting.push(target);
                }
            }
        }
        seen
    };
    let start = pair(0, automaton.initial);
    let mut reachable = reach(start);
    reachable[start] = true;
    let mut judged = vec![false; size];
    for at in 0..size {
        if !reachable[at] || judged[at] {
            continue;
        }
        let forward = reach(at);
        if !forward[at] {
            continue;
        }
        let together: Vec<bool> = (0..size).map(|p| forward[p] && (p == at || reach(p)[at])).collect();
        let mut marks = 0;
        for p in (0..size).filter(|&p| together[p]) {
            judged[p] = true;
            marks |= arcs[p].iter().filter(|(t, _)| together[*t]).fold(0, |all, (_, m)| all | m);
        }
        if marks == automaton.all_marks() {
            return true;
        }
    }
    false
}

/// A random formula without `X`, as text.
fn formula(random: &mut SplitMix) -> Formula {
    loop {
        let operators = 1 + random.below(6);
        let text = random_formula(random, Shape { atoms: ATOMS, operators });
        let text = text.to_string();
        if !text.contains('X') {
            return parse(&text, "random").expect("what is printed reads back");
        }
    }
}

#[test]
fn products_with_and_without_reduction_agree_with_a_naive_evaluator() {
    let random = &mut SplitMix(0x7e4);
    let meter = || Meter::start(Budget::default());
    let (mut compared, mut violated, mut smaller, mut invariants) = (0u32, 0u32, 0u32, 0u32);
    while compared < COMPARED {
        let source = program(random);
        let Some(graph) = graph(&source) else { continue };
        for _ in 0..50 {
            let formula = formula(random);
            let text = formula.to_string();
            let automaton = translate(&formula.clone().negated()).expect("small");
            let names = |id: &volee_logic::formula::AtomId| formula.atom_text(*id)[1..].parse().unwrap_or(0);
            let order: Vec<usize> = formula.atoms().iter().map(names).collect();
            let expected = accepts(&graph, &automaton, &order);
            let mut states = [0, 0];
            for (at, reduction) in [Reduction::None, Reduction::Persistent].into_iter().enumerate() {
                let mut machine = machine(&source, false);
                let question =
                    LtlQuestion::new(&mut machine, formula.clone(), &text, "random").expect("bound");
                let how = ClaimOptions { reduction, ..ClaimOptions::default() };
                let outcome = question.check(&mut machine, how, &meter(), &mut Quiet);
                let found = matches!(outcome.verdict, Verdict::Violated(_));
                assert_eq!(found, expected, "{reduction:?} {text}\n{source}");
                states[at] = outcome.statistics.states;
                let how = Check::new().faults(false).reduction(reduction);
                if let Some((outcome, _)) =
                    question.check_as_invariant(&mut machine, &how, &meter(), &mut Quiet)
                {
                    let found = matches!(outcome.answers[0].verdict, Verdict::Violated(_));
                    assert_eq!(found, expected, "as an invariant, {reduction:?} {text}\n{source}");
                    invariants += 1;
                }
            }
            compared += 1;
            violated += u32::from(expected);
            smaller += u32::from(states[1] < states[0]);
        }
    }
    println!("{compared} compared, {violated} violated, {smaller} smaller, {invariants} as invariants");
    assert!(
        violated > COMPARED / 20 && smaller > COMPARED / 40 && invariants > COMPARED / 200,
        "{violated} {smaller} {invariants}"
    );
}
