//! Sleep sets against their definition, and the sets in which cycles are cut, and what searches remember of
//! the choice.
//!
//! A process that sleeps after a step of another must be one whose next steps come to the same if they are
//! done before that step: each of its steps is looked for on the other way round. The reduced graph without
//! sets that cut cycles has no cycle of reduced states. What a search remembers of a choice (a *stance*) must
//! tell all that the choice depends on.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use volee_program::Machine;
use volee_system::{
    Awake, Flow, PersistentSet, PredicateId, SleepSet, Step, System, collect_initial, collect_steps,
};

use crate::graph::{explore, machine};

/// A step as far as it can be told from others of its state.
type Told = (Option<String>, Vec<u8>);

fn awake(
    machine: &mut Machine,
    state: &[u8],
    asleep: u64,
    attempt: Option<u32>,
) -> (Awake, Vec<(Step, Vec<u8>, SleepSet)>) {
    let mut steps = Vec::new();
    let mut push = |step: Step, target: &[u8], sleep: SleepSet| {
        steps.push((step, target.to_vec(), sleep));
        Flow::Continue(())
    };
    let reducible = machine.reducible().expect("a program can be reduced");
    let found = reducible.awake_steps(state, asleep, attempt, &mut push).continue_value();
    (found.expect("nobody stops"), steps)
}

fn told(machine: &Machine, step: &Step, target: &[u8]) -> Told {
    (step.fault.map(|f| machine.fault(f).message), target.to_vec())
}

/// How many processes there are; nobody in these tests has a name for more than 64.
fn processes(machine: &Machine, state: &[u8]) -> usize {
    let records = machine.components().and_then(|c| c.records).expect("processes are records");
    usize::from(state[records.count_at as usize])
}

/// The steps of one process.
fn steps_of(machine: &mut Machine, state: &[u8], pid: usize) -> Vec<Told> {
    let (_, steps) = awake(machine, state, !(1 << pid), None);
    steps.iter().map(|(step, target, _)| told(machine, step, target)).collect()
}

fn valuation(machine: &mut Machine, state: &[u8], watched: usize) -> Vec<bool> {
    (0..watched).map(|p| machine.holds(PredicateId(p as u32), state) == Ok(true)).collect()
}

/// Who sleeps after a step of a state in which nobody slept: only such as come to the same first.
fn sleepers_lose_nothing(machine: &mut Machine, state: &[u8], watched: usize, source: &str) {
    let count = processes(machine, state);
    let (found, all) = awake(machine, state, 0, None);
    if found == Awake::Unknown {
        assert!(all.is_empty());
        return;
    }
    let here = valuation(machine, state, watched);
    let mut at = 0;
    for pid in (0..count).rev() {
        let own = steps_of(machine, state, pid);
        for _ in 0..own.len() {
            let (step, target, sleep) = &all[at];
            at += 1;
            assert!(
                own.contains(&told(machine, step, target)),
                "steps are those of one process after another"
            );
            assert_eq!(sleep.asleep & sleep.awake, 0, "{source}");
            let there = processes(machine, target);
            assert_eq!(
                (sleep.asleep | sleep.awake) & (u64::MAX >> (64 - there.max(1))),
                sleep.asleep & (u64::MAX >> (64 - there.max(1))) | sleep.awake
            );
            let seen = valuation(machine, target, watched) != here;
            for other in (0..count).filter(|other| sleep.asleep >> other & 1 == 1) {
                assert!(other > pid, "only those before sleep: {source}");
                let theirs = steps_of(machine, state, other);
                let is_seen = |machine: &mut Machine, (_, to): &Told| valuation(machine, to, watched) != here;
                assert!(
                    !seen || !theirs.iter().any(|t| is_seen(machine, t)),
                    "who changes what is watched first: {source}"
                );
                // Numbers of processes that nobody asks for may differ.
                if there != count || theirs.iter().any(|(_, to)| processes(machine, to) != count) {
                    continue;
                }
                let turned: HashSet<Told> = theirs
                    .iter()
                    .flat_map(|(_, to)| steps_of(machine, to, pid))
                    .map(|(_, to)| (None, to))
                    .collect();
                for (_, last) in steps_of(machine, target, other) {
                    assert!(
                        turned.contains(&(None, last)),
                        "process {other} sleeps after a step of {pid}: {source}"
                    );
                }
            }
        }
    }
    assert_eq!(at, all.len(), "{source}");
}

/// Explores with sleep sets alone: as many states, fewer steps. How many steps were pushed.
fn explore_sleeping(machine: &mut Machine, source: &str) -> (usize, usize, BTreeSet<End>) {
    let mut ends = BTreeSet::new();
    let mut known: HashMap<Vec<u8>, u64> = HashMap::new();
    let mut waiting: Vec<(Vec<u8>, u64)> = collect_initial(machine).into_iter().map(|s| (s, 0)).collect();
    let mut pushed = 0;
    while let Some((state, asleep)) = waiting.pop() {
        let asleep = match known.get(&state) {
            Some(before) if before & !asleep == 0 => continue,
            Some(before) => before & asleep,
            None => asleep,
        };
        known.insert(state.clone(), asleep);
        let (found, steps) = awake(machine, &state, asleep, None);
        match found {
            Awake::Moved(set) => assert!(set.is_none() && !steps.is_empty(), "{source}"),
            Awake::Nobody => {
                assert!(steps.is_empty() && !collect_steps(machine, &state).is_empty(), "{source}")
            }
            Awake::Unknown => {
                assert!(steps.is_empty(), "{source}");
                let all = collect_steps(machine, &state);
                ends.extend(all.is_empty().then(|| end(machine, &state)));
                waiting.extend(all.into_iter().map(|(_, target)| (target, 0)));
            }
        }
        pushed += steps.len();
        waiting.extend(steps.into_iter().map(|(_, target, sleep)| (target, sleep.asleep)));
    }
    (known.len(), pushed, ends)
}

/// What can be told of a state without steps: whether it is a valid end, and its variables.
type End = (bool, Vec<(String, String)>);

fn end(machine: &mut Machine, state: &[u8]) -> End {
    let variables = machine.variables(state).into_iter().map(|v| (v.name, v.value)).collect();
    (machine.is_valid_end(state), variables)
}

/// At an attempt, those who are awake do what the persistent set of that attempt says.
fn attempts_are_those_of_the_persistent_sets(machine: &mut Machine, state: &[u8], source: &str) -> usize {
    let mut attempt = 0;
    loop {
        let mut expected = Vec::new();
        let mut sink = |step: Step, target: &[u8]| {
            expected.push((step, target.to_vec()));
            Flow::Continue(())
        };
        let reducible = machine.reducible().expect("a program can be reduced");
        let set =
            reducible.persistent_steps(state, attempt, &mut sink).continue_value().expect("nobody stops");
        let (found, steps) = awake(machine, state, 0, Some(attempt));
        let got: Vec<(Step, Vec<u8>)> = steps.iter().map(|(s, t, _)| (*s, t.clone())).collect();
        let tell =
            |m: &Machine, all: &[(Step, Vec<u8>)]| all.iter().map(|(s, t)| told(m, s, t)).collect::<Vec<_>>();
        assert_eq!(tell(machine, &got), tell(machine, &expected), "{source}");
        match set {
            None => {
                let nobody_lives = processes(machine, state) == 0;
                let expected = if nobody_lives { Awake::Unknown } else { Awake::Nobody };
                assert_eq!(found, expected, "{source}");
                return attempt as usize;
            }
            Some(set) => {
                assert_eq!(found, Awake::Moved(Some(set)), "{source}");
                attempt = set.next;
            }
        }
    }
}

/// Every state of a program.
pub fn all_states(machine: &mut Machine) -> Vec<Vec<u8>> {
    let mut known: HashSet<Vec<u8>> = HashSet::new();
    let mut order = collect_initial(machine);
    known.extend(order.iter().cloned());
    let mut next = 0;
    while next < order.len() {
        for (_, target) in collect_steps(machine, &order[next].clone()) {
            if known.insert(target.clone()) {
                order.push(target);
            }
        }
        next += 1;
    }
    order
}

/// Explores with the first set that cuts no cycle: states, and how many of them were reduced. On every cycle
/// some state is not.
fn explore_uncut(machine: &mut Machine, source: &str) -> (usize, usize) {
    let mut edges: BTreeMap<Vec<u8>, Vec<Vec<u8>>> = BTreeMap::new();
    let mut known: BTreeSet<Vec<u8>> = BTreeSet::new();
    let mut waiting = collect_initial(machine);
    known.extend(waiting.iter().cloned());
    while let Some(state) = waiting.pop() {
        let (steps, set) = first_uncut(machine, &state);
        // An error that keeps the step from being done leads nowhere.
        let leads = |(step, target): &(Step, Vec<u8>)| step.fault.is_none() || *target != state;
        let targets: Vec<Vec<u8>> = steps.into_iter().filter(leads).map(|(_, target)| target).collect();
        for target in &targets {
            if known.insert(target.clone()) {
                waiting.push(target.clone());
            }
        }
        if set.is_some() {
            edges.insert(state, targets);
        }
    }
    let reduced = edges.len();
    // What is left when all that leads out of the reduced states is taken away again and again lies on or
    // before a cycle.
    loop {
        let done: Vec<Vec<u8>> = edges
            .iter()
            .filter(|(_, targets)| targets.iter().all(|target| !edges.contains_key(target)))
            .map(|(state, _)| state.clone())
            .collect();
        if done.is_empty() {
            break;
        }
        done.iter().for_each(|state| drop(edges.remove(state)));
    }
    assert!(edges.is_empty(), "a cycle of {} reduced states: {source}", edges.len());
    (known.len(), reduced)
}

fn first_uncut(machine: &mut Machine, state: &[u8]) -> (Vec<(Step, Vec<u8>)>, Option<PersistentSet>) {
    let mut attempt = 0;
    loop {
        let mut steps = Vec::new();
        let mut sink = |step: Step, target: &[u8]| {
            steps.push((step, target.to_vec()));
            Flow::Continue(())
        };
        let reducible = machine.reducible().expect("a program can be reduced");
        match reducible.persistent_steps(state, attempt, &mut sink).continue_value().flatten() {
            None => return (collect_steps(machine, state), None),
            Some(set) if !set.cuts_cycles => return (steps, Some(set)),
            Some(set) => attempt = set.next,
        }
    }
}

/// Processes with the same stances have the same sets, and a stance depends on the components that it names.
/// How many there are.
fn stances_tell_all(machine: &mut Machine, states: &[Vec<u8>], source: &str) -> (usize, usize, u32) {
    let components = machine.components().expect("a program has components");
    if machine.divisible().is_none() {
        return (0, states.len(), 0);
    }
    let mut sets_by: HashMap<Vec<u32>, Vec<volee_system::ProcessSet>> = HashMap::new();
    let mut by_parts: HashMap<(u8, u64, Vec<Vec<u8>>), u32> = HashMap::new();
    let mut numbers = BTreeSet::new();
    let mut unknown = 0;
    let mut named = 0;
    let mut starts = Vec::new();
    for state in states {
        machine.divisible().expect("a program can be divided").divide(state);
        components.starts(state, &mut starts).expect("a state");
        let mut stances = Vec::new();
        for pid in 0..processes(machine, state) as u8 {
            let mut touched = 0;
            let reducible = machine.reducible().expect("a program can be reduced");
            let Some(number) = reducible.stance(pid, &mut touched) else { continue };
            let part = |at: usize| state[starts[at] as usize..starts[at + 1] as usize].to_vec();
            let parts = (0..starts.len() - 1).filter(|at| touched >> at & 1 == 1).map(part).collect();
            let before = *by_parts.entry((pid, touched, parts)).or_insert(number);
            assert_eq!(before, number, "a stance depends on what it does not tell: {source}");
            stances.push(number);
            named += touched.count_ones();
            numbers.insert(number);
        }
        if stances.len() < processes(machine, state) {
            unknown += 1;
            continue;
        }
        let mut sets = Vec::new();
        machine.reducible().expect("a program can be reduced").persistent_sets(&mut sets);
        let before = sets_by.entry(stances).or_insert_with(|| sets.clone());
        assert_eq!(*before, sets, "the sets depend on what the stances do not tell: {source}");
    }
    (numbers.len(), unknown, named)
}

/// All of it for one program; figures that tell how much is reduced: states and steps with sleep sets, states
/// and reduced ones without sets that cut cycles, persistent sets in all states, stances, states without, and
/// components that stances name.
pub fn figures(source: &str, watched: &[&str], plain: bool) -> [usize; 8] {
    let fresh = || machine(source, watched, plain);
    let states = all_states(&mut fresh());
    let mut whole = fresh();
    collect_initial(&mut whole);
    let mut attempts = 0;
    for state in &states {
        sleepers_lose_nothing(&mut whole, state, watched.len(), source);
        attempts += attempts_are_those_of_the_persistent_sets(&mut whole, state, source);
    }
    let (slept, pushed, ends) = explore_sleeping(&mut fresh(), source);
    let all: Vec<&Vec<u8>> = states.iter().filter(|s| collect_steps(&mut whole, s).is_empty()).collect();
    let all: BTreeSet<End> = all.into_iter().map(|state| end(&mut whole, state)).collect();
    assert_eq!(ends, all, "sleep sets lose no end: {source}");
    if !source.contains("run ") {
        assert_eq!(slept, states.len(), "sleep sets alone lose no state: {source}");
    }
    let (uncut, reduced) = explore_uncut(&mut fresh(), source);
    let (stances, unknown, named) = stances_tell_all(&mut whole, &states, source);
    assert_eq!(explore(&mut fresh(), watched.len()).states, states.len());
    [slept, pushed, uncut, reduced, attempts, stances, unknown, named as usize]
}
