//! Deadlocks of a family: nobody can move, and somebody is not where a process may rest.
//!
//! Where control is known (which valuation of the globals, where each single process is), a step is possible
//! as soon as its processes of many are there. So nobody can move where of each such step some process is
//! missing: places with upper bounds, an alternative for each way to choose them. Control is taken as it can
//! be reached if there were always enough of the many; more of it does no harm, because a target that is not
//! reached is no violation. At least one process of each type is taken to be there: a server without clients
//! waits for ever, and nobody minds.

use std::collections::{BTreeMap, HashSet};

use volee_nets::{Bound, Net, PlaceId, Target, Transition};

/// States of control, and alternatives in one of them, before the question is too complicated.
const CONTROL: usize = 20_000;
const ALTERNATIVES: usize = 128;
const TARGETS: usize = 20_000;

/// Upper bounds of places.
type Absent = BTreeMap<PlaceId, u32>;

/// The targets of "nobody can move", where `rests` says of each place whether a process may stay there;
/// `None` where that is too complicated.
pub(super) fn deadlocks(net: &Net, rests: &[bool]) -> Option<Vec<Target>> {
    let mut group = vec![None; net.places.len()];
    for (number, places) in net.groups.iter().enumerate() {
        places.iter().for_each(|p| group[p.index()] = Some(number));
    }
    let mut work: Vec<Vec<PlaceId>> = Vec::new();
    for initial in &net.initial {
        let mut start = vec![PlaceId(0); net.groups.len()];
        for (place, group) in group.iter().enumerate() {
            if let Some(g) = group
                && initial.base[place] > 0
            {
                start[*g] = PlaceId(place as u32);
            }
        }
        work.push(start);
    }
    let mut seen: HashSet<Vec<PlaceId>> = work.iter().cloned().collect();
    let mut targets = Vec::new();
    let (anywhere, at) = by_control(net, &group);
    while let Some(control) = work.pop() {
        let mut missing: Option<Vec<Vec<(PlaceId, u32)>>> = Some(Vec::new());
        let here = control.iter().flat_map(|place| &at[place.index()]);
        for &transition in anywhere.iter().chain(here) {
            let Some(others) = needs(transition, &group, &control) else { continue };
            if others.is_empty() {
                missing = None;
            } else if let Some(missing) = &mut missing {
                missing.push(others);
            }
            let next = after(transition, &group, &control);
            if seen.insert(next.clone()) {
                work.push(next);
            }
        }
        if seen.len() > CONTROL || targets.len() > TARGETS {
            return None;
        }
        if let Some(clauses) = missing {
            let all_rest = control.iter().all(|p| rests[p.index()]);
            for absent in alternatives(&clauses)? {
                add(&control, &absent, all_rest, rests, &group, &mut targets);
            }
        }
    }
    Some(targets)
}

/// Transitions that need nothing of control, and for each place of control those that can be looked for there:
/// each only once, at its rarest place.
fn by_control<'n>(net: &'n Net, group: &[Option<usize>]) -> (Vec<&'n Transition>, Vec<Vec<&'n Transition>>) {
    let places =
        |t: &'n Transition| t.at_least.iter().map(|b| b.place).filter(|p| group[p.index()].is_some());
    let mut uses = vec![0u32; net.places.len()];
    net.transitions.iter().flat_map(places).for_each(|p| uses[p.index()] += 1);
    let (mut anywhere, mut at) = (Vec::new(), vec![Vec::new(); net.places.len()]);
    for transition in &net.transitions {
        match places(transition).min_by_key(|p| uses[p.index()]) {
            Some(place) => at[place.index()].push(transition),
            None => anywhere.push(transition),
        }
    }
    (anywhere, at)
}

/// What a transition needs besides this control; `None` if control does not allow it. A bystander is always
/// there, in one local state or another, and for each there is a transition: only who moves can be missing.
fn needs(t: &Transition, group: &[Option<usize>], control: &[PlaceId]) -> Option<Vec<(PlaceId, u32)>> {
    let mut others = Vec::new();
    for bound in &t.at_least {
        match group[bound.place.index()] {
            Some(g) if control[g] != bound.place || bound.tokens > 1 => return None,
            Some(_) => {}
            None => {
                let movers = t.movers.iter().filter(|m| m.from == bound.place).count() as u32;
                others.extend((movers > 0).then_some((bound.place, movers)));
            }
        }
    }
    Some(others)
}

fn after(t: &Transition, group: &[Option<usize>], control: &[PlaceId]) -> Vec<PlaceId> {
    let mut next = control.to_vec();
    for row in t.rows.iter().filter(|r| r.constant > 0) {
        if let Some(g) = group[row.place.index()] {
            next[g] = row.place;
        }
    }
    next
}

/// The weakest upper bounds such that of each clause some place has too few.
fn alternatives(clauses: &[Vec<(PlaceId, u32)>]) -> Option<Vec<Absent>> {
    let mut all: Vec<Absent> = vec![Absent::new()];
    for clause in clauses {
        let met = |absent: &Absent| clause.iter().any(|(p, n)| absent.get(p).is_some_and(|most| most < n));
        let mut next: Vec<Absent> = Vec::new();
        for absent in all {
            if met(&absent) {
                next.push(absent);
                continue;
            }
            for &(place, tokens) in clause {
                let mut more = absent.clone();
                more.insert(place, tokens - 1);
                next.push(more);
            }
        }
        all = weakest(next);
        if all.len() > ALTERNATIVES {
            return None;
        }
    }
    Some(all)
}

/// Without those that ask for more than another.
fn weakest(all: Vec<Absent>) -> Vec<Absent> {
    let weaker = |a: &Absent, b: &Absent| a.iter().all(|(p, n)| b.get(p).is_some_and(|m| m <= n));
    let mut kept: Vec<Absent> = Vec::new();
    for absent in all {
        if !kept.iter().any(|k| weaker(k, &absent)) {
            kept.retain(|k| !weaker(&absent, k));
            kept.push(absent);
        }
    }
    kept
}

fn add(
    control: &[PlaceId],
    absent: &Absent,
    all_rest: bool,
    rests: &[bool],
    group: &[Option<usize>],
    targets: &mut Vec<Target>,
) {
    let at_most: Vec<Bound> = absent.iter().map(|(&place, &tokens)| Bound { place, tokens }).collect();
    let mut here: Vec<Bound> = control.iter().map(|&place| Bound { place, tokens: 1 }).collect();
    here.sort_unstable();
    let mut push = |at_least: Vec<Bound>| {
        targets.push(Target { name: "no process can move".into(), at_least, at_most: at_most.clone() });
    };
    if !all_rest {
        push(here);
        return;
    }
    for place in (0..group.len()).filter(|&p| group[p].is_none() && !rests[p]) {
        let place = PlaceId(place as u32);
        if absent.get(&place) != Some(&0) {
            let mut waiting = here.clone();
            waiting.push(Bound { place, tokens: 1 });
            waiting.sort_unstable();
            push(waiting);
        }
    }
}
