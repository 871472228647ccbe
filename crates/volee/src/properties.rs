//! Property automata for families of any size: from finite-trace formulas, safety formulas of LTL, never
//! claims and automata in files.
//!
//! A property whose violation shows after finitely many steps is decided by reachability; there a run that
//! ends is not continued: a claim moves with the processes and only with them. Any other formula of LTL is
//! the Büchi automaton of what violates it, and its accepting states must not recur for ever; there the last
//! state of a run that ends lasts for ever. Automata and claims with acceptance that are of neither kind are
//! refused.

use std::collections::HashSet;

use volee_families::{Property, Reading, Seen};
use volee_logic::automaton::{Automaton, degeneralise};
use volee_logic::formula::{
    AtomId, AtomKind, EventPattern, Formula, LabelPattern, Node, NodeId, Pool, parse,
};
use volee_logic::ltl::translate_to_buchi;
use volee_logic::tl::{Alphabet, Limits, compile};
use volee_program::{Action, ProctypeId};
use volee_promela::Lowered;
use volee_search::Names;
use volee_system::Diagnostic;

type Result<T> = std::result::Result<T, Vec<Diagnostic>>;

fn wrong<T>(message: impl Into<String>, help: &str) -> Result<T> {
    Err(vec![Diagnostic::error(message, None).with_help(help)])
}

/// A finite-trace formula that every prefix of every run must satisfy: one property for each conjunct.
///
/// # Errors
/// The formula is not one, or speaks of what the model does not have.
pub fn of_tl(lowered: &Lowered, text: &str) -> Result<Vec<Property>> {
    let formula = parse(text, "tl formula").map_err(|d| vec![d])?;
    let name = format!("tl {text}");
    of_formula(lowered, &formula, &name, Names::Events, Reading::Steps)
}

/// A formula over infinite runs: by reachability where it is plainly false of a run only if it is false of a
/// prefix.
///
/// # Errors
/// As above, or it has more atoms or states than can be.
pub fn of_ltl(lowered: &Lowered, name: &str, text: &str) -> Result<Vec<Property>> {
    let formula = parse(text, name).map_err(|d| vec![d])?;
    if !is_safe(&formula) {
        return Ok(vec![recurring(lowered, name, text)?]);
    }
    of_formula(lowered, &formula, name, Names::States, Reading::States)
}

/// The automaton of what violates a formula, every letter leading somewhere from every state.
fn recurring(lowered: &Lowered, name: &str, text: &str) -> Result<Property> {
    let negated = parse(text, name).map_err(|d| vec![d])?.negated();
    let mut automaton =
        translate_to_buchi(&negated).map_err(|e| vec![Diagnostic::error(format!("{name}: {e}"), None)])?;
    automaton.complete();
    let mut atoms = Vec::new();
    for id in negated.atoms() {
        atoms.push(seen(lowered, &negated.pool.atoms()[id.0 as usize].kind, Names::States)?);
    }
    // Without acceptance sets every run is accepted.
    let always = automaton.sets == 0;
    let accepting = (0..automaton.len()).map(|s| always || automaton.state_marks(s) != 0).collect();
    let (traps, initial) = (vec![false; automaton.len()], automaton.initial);
    let step = move |state: u32, letter: &[bool]| {
        let edges = automaton.successors(state, |atom| letter[atom as usize]);
        let mut next: Vec<u32> = edges.map(|edge| edge.target).collect();
        next.sort_unstable();
        next.dedup();
        next
    };
    let (name, step) = (name.to_string(), Box::new(step));
    Ok(Property { name, atoms, reading: Reading::Sources, initial, traps, accepting, step })
}

fn of_formula(
    lowered: &Lowered,
    formula: &Formula,
    name: &str,
    names: Names,
    reading: Reading,
) -> Result<Vec<Property>> {
    let (pool, conjuncts) = formula.conjuncts();
    let several = conjuncts.len() > 1;
    let mut all = Vec::new();
    for (number, conjunct) in conjuncts.into_iter().enumerate() {
        let own = atoms_of(&pool, conjunct);
        let atoms = own.iter().map(|id| seen(lowered, &pool.atoms()[id.0 as usize].kind, names));
        let atoms = atoms.collect::<Result<Vec<Seen>>>()?;
        let dfa = compile(&pool, conjunct, &own, Alphabet::Sets, Limits::default())
            .map_err(|e| vec![Diagnostic::error(e.to_string(), None)])?;
        let traps = dfa.all_states().map(|s| !dfa.is_accepting(s)).collect();
        let initial = dfa.initial().0;
        let step = move |state: u32, letter: &[bool]| {
            let at = volee_logic::tl::DfaState(state);
            vec![dfa.step(at, |atom| letter[atom as usize]).0]
        };
        let name = if several { format!("{name}, part {}", number + 1) } else { name.to_string() };
        all.push(Property {
            name,
            atoms,
            reading,
            initial,
            traps,
            accepting: Vec::new(),
            step: Box::new(step),
        });
    }
    Ok(all)
}

fn atoms_of(pool: &Pool, root: NodeId) -> Vec<AtomId> {
    let atom = |id| match pool.node(id) {
        Node::Atom(atom) => Some(atom),
        _ => None,
    };
    let mut all: Vec<AtomId> = pool.reachable(root).into_iter().filter_map(atom).collect();
    all.sort_unstable();
    all
}

/// Whether the formula, its negations pushed inwards, has neither `U` nor `X`. Operands come before their
/// users, so one pass over the nodes is enough; the first of a pair is about the node, the second about its
/// negation.
fn is_safe(formula: &Formula) -> bool {
    let pool = &formula.pool;
    let mut safe: Vec<(bool, bool)> = Vec::new();
    for (_, node) in pool.nodes() {
        let of = |id: NodeId| safe[id.index()];
        safe.push(match node {
            Node::True | Node::False | Node::Atom(_) => (true, true),
            Node::Not(a) => (of(a).1, of(a).0),
            Node::And(a, b) | Node::Or(a, b) => (of(a).0 && of(b).0, of(a).1 && of(b).1),
            Node::Next(_) | Node::WeakNext(_) => (false, false),
            Node::Until(a, b) => (false, of(a).1 && of(b).1),
            Node::Release(a, b) => (of(a).0 && of(b).0, false),
        });
    }
    safe[formula.root.index()].0
}

fn seen(lowered: &Lowered, kind: &AtomKind, names: Names) -> Result<Seen> {
    match kind {
        AtomKind::Predicate(text) => condition(lowered, text),
        AtomKind::Name(name) if names == Names::States => condition(lowered, name),
        AtomKind::Name(name) => event(lowered, &EventPattern::any_process(LabelPattern::Name(name.clone()))),
        AtomKind::Event(pattern) => event(lowered, pattern),
    }
}

fn condition(lowered: &Lowered, text: &str) -> Result<Seen> {
    let parsed = volee_promela::parse_predicate(lowered.model(), text)?;
    Ok(Seen::Condition(lowered.expression(&parsed).map_err(|d| vec![d])?))
}

fn event(lowered: &Lowered, pattern: &EventPattern) -> Result<Seen> {
    let matcher = pattern.matcher().map_err(|e| vec![Diagnostic::error(e.to_string(), None)])?;
    let process = match &pattern.process {
        None => None,
        Some((name, number)) => Some((proctype(lowered, name)?, *number)),
    };
    Ok(Seen::Event { process, matches: Box::new(move |label| matcher.matches_event(label)) })
}

fn proctype(lowered: &Lowered, name: &str) -> Result<ProctypeId> {
    let all = &lowered.program.proctypes;
    match all.iter().position(|p| p.name == name) {
        Some(number) => Ok(ProctypeId(number as u8)),
        None => {
            let names: Vec<&str> = all.iter().map(|p| p.name.as_str()).collect();
            wrong(
                format!("there is no process type `{name}`"),
                &format!("the model has {}", names.join(", ")),
            )
        }
    }
}

/// The never claim of a model; reaching its end is a violation.
///
/// # Errors
/// There is none, or it has accept labels, which are about infinite runs.
pub fn of_never(lowered: &Lowered) -> Result<Property> {
    let Some(never) = &lowered.program.never else {
        return wrong("the model has no never claim", "write one");
    };
    if never.nodes.iter().any(|n| n.accepting) {
        return wrong(
            format!("the claim `{}` has accept labels, which are about infinite runs", never.name),
            "families are decided for claims that end; or ask one instance, with a number of processes",
        );
    }
    let mut atoms = Vec::new();
    let mut nodes: Vec<Vec<(Guard, u32)>> = Vec::new();
    let failed = never.nodes.len();
    // The last state is for failed assertions of the claim.
    let mut traps = vec![false; failed + 1];
    traps[failed] = true;
    for (number, node) in never.nodes.iter().enumerate() {
        let mut moves = Vec::new();
        for t in &node.transitions {
            let mut atom = |condition: &volee_program::Expr| {
                atoms.push(Seen::Condition(condition.clone()));
                atoms.len() - 1
            };
            match &t.action {
                Action::Guard(condition) => moves.push((Guard::If(atom(condition)), t.target.0)),
                Action::Assert(condition) => {
                    let atom = atom(condition);
                    moves.push((Guard::If(atom), t.target.0));
                    moves.push((Guard::Unless(atom), failed as u32));
                }
                Action::Else => moves.push((Guard::Else, t.target.0)),
                Action::End => traps[number] = true,
                _ => moves.push((Guard::Always, t.target.0)),
            }
        }
        traps[number] |= node.transitions.is_empty();
        nodes.push(moves);
    }
    let step = move |state: u32, letter: &[bool]| {
        let mut next = Vec::new();
        for (guard, target) in nodes.get(state as usize).into_iter().flatten() {
            let taken = match guard {
                Guard::If(atom) => letter[*atom],
                Guard::Unless(atom) => !letter[*atom],
                Guard::Else => next.is_empty(),
                Guard::Always => true,
            };
            if taken && !next.contains(target) {
                next.push(*target);
            }
        }
        next
    };
    Ok(Property {
        name: format!("never {}", never.name),
        atoms,
        reading: Reading::States,
        initial: never.entry.0,
        traps,
        accepting: Vec::new(),
        step: Box::new(step),
    })
}

/// When a claim moves.
enum Guard {
    If(usize),
    Unless(usize),
    Else,
    Always,
}

/// A deterministic Büchi automaton that must accept every infinite run, where that can be seen after finitely
/// many steps: every run is accepted that does not reach a state from which none is.
///
/// # Errors
/// The automaton is not deterministic or not of that kind, or speaks of what the model does not have.
pub fn of_buchi(lowered: &Lowered, mut automaton: Automaton, name: &str) -> Result<Property> {
    if let Some(state) = automaton.nondeterministic_state() {
        return wrong(
            format!("{name}: state {state} has two transitions for one letter"),
            "the automaton must be deterministic",
        );
    }
    automaton.complete();
    let automaton = match automaton.sets == 1 && automaton.is_state_based() {
        true => automaton,
        false => degeneralise(automaton),
    };
    let mut atoms = Vec::new();
    for atom in &automaton.atoms {
        let formula = parse(atom, name).map_err(|d| vec![d])?;
        match (formula.atoms()[..].first(), formula.atoms().len()) {
            (Some(id), 1) => {
                atoms.push(seen(lowered, &formula.pool.atoms()[id.0 as usize].kind, Names::States)?)
            }
            _ => {
                return wrong(
                    format!("{name}: the proposition `{atom}` is not one"),
                    "write an event or an expression",
                );
            }
        }
    }
    let traps = hopeless(&automaton);
    if goes_round_unaccepted(&automaton, &traps) {
        return wrong(
            format!("{name}: a run may be refused for what it does for ever, which no finite run shows"),
            "families are decided for safety automata; or ask one instance, with a number of processes",
        );
    }
    let initial = automaton.initial;
    let step = move |state: u32, letter: &[bool]| {
        automaton.successors(state, |atom| letter[atom as usize]).map(|edge| edge.target).collect()
    };
    let name = format!("automaton {name}");
    Ok(Property {
        name,
        atoms,
        reading: Reading::Sources,
        initial,
        traps,
        accepting: Vec::new(),
        step: Box::new(step),
    })
}

/// The states that reach no accepting cycle.
fn hopeless(automaton: &Automaton) -> Vec<bool> {
    let states = 0..automaton.len();
    let good: HashSet<usize> = states
        .clone()
        .filter(|&s| automaton.state_marks(s) != 0 && reached(automaton, s).contains(&s))
        .collect();
    states.map(|s| !good.contains(&s) && reached(automaton, s).is_disjoint(&good)).collect()
}

/// What can be reached by one transition or more.
fn reached(automaton: &Automaton, from: usize) -> HashSet<usize> {
    let mut seen = HashSet::new();
    let mut work = vec![from];
    while let Some(at) = work.pop() {
        let next = automaton.states[at].iter().map(|edge| edge.target as usize);
        work.extend(next.filter(|&target| seen.insert(target)));
    }
    seen
}

/// Whether there is a cycle of states that are neither hopeless nor accepting.
fn goes_round_unaccepted(automaton: &Automaton, traps: &[bool]) -> bool {
    let inside = |s: usize| !traps[s] && automaton.state_marks(s) == 0;
    let mut left: Vec<usize> = (0..automaton.len()).filter(|&s| inside(s)).collect();
    // Whoever leads nowhere inside is on no cycle.
    loop {
        let before = left.len();
        let stays = left.clone();
        left.retain(|&s| automaton.states[s].iter().any(|e| stays.contains(&(e.target as usize))));
        if left.len() == before {
            return before > 0;
        }
    }
}
