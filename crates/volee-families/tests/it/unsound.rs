//! The published induction of the cut-off method is wrong for a fixed order of counters; this keeps the
//! witness.
//!
//! A counter `t` is pumped while the control stays; a chain of M steps, each taking one `t`, leads to the
//! trap; from every state of the chain there is also a shortcut that needs a counter `u` that nobody ever
//! fills. The trap is reachable in 2M + 1 steps. If `t` is bounded before `u` is looked at, its cut-off comes
//! from the abstraction where the shortcut works, so it is tiny, and the chain is cut away.

use std::collections::{HashMap, VecDeque};

use volee_families::{Choice, Method, check};
use volee_nets::{Initial, Net, PlaceId, Target, Transition};
use volee_system::{Budget, Quiet, Verdict};

const M: u32 = 40;

/// The three local states of a process, `pool`, `t` and `u`, in any order; then the chain c0 … cM and the
/// trap.
fn witness([pool, t, u]: [u32; 3]) -> Net {
    let chain = |i: u32| 3 + i;
    let trap = chain(M + 1);
    let mut net = Net { places: vec![String::new(); 3], ..Net::default() };
    net.places[pool as usize] = "pool".into();
    net.places[t as usize] = "t".into();
    net.places[u as usize] = "u".into();
    net.places.extend((0..=M).map(|i| format!("c{i}")));
    net.places.push("trap".into());
    net.transitions.push(Transition::arcs("pump", &[(pool, 1), (chain(0), 1)], &[(t, 1), (chain(0), 1)]));
    for i in 0..M {
        let step =
            Transition::arcs(format!("step {i}"), &[(t, 1), (chain(i), 1)], &[(pool, 1), (chain(i + 1), 1)]);
        net.transitions.push(step);
    }
    net.transitions.push(Transition::arcs("end", &[(chain(M), 1)], &[(trap, 1)]));
    for i in 0..=M {
        let short = Transition::arcs(format!("short {i}"), &[(u, 1), (chain(i), 1)], &[(pool, 1), (trap, 1)]);
        net.transitions.push(short);
    }
    let places = net.places.len();
    let mut initial = Initial { base: vec![0; places], open: vec![false; places] };
    initial.open[pool as usize] = true;
    initial.base[chain(0) as usize] = 1;
    net.initial.push(initial);
    net.targets.push(Target::covering("trap", &[(trap, 1)]));
    net.groups.push((3..places as u32).map(PlaceId).collect());
    net
}

const ORDERS: [[u32; 3]; 6] = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];

#[test]
fn every_engine_sees_that_the_witness_is_violated_in_all_orders() {
    for order in ORDERS {
        let net = witness(order);
        for method in [Method::Backward, Method::KarpMiller, Method::EmersonNamjoshi, Method::CutOff] {
            let checked =
                check(&net, Choice::Only(method), Budget::default(), &mut Quiet).expect("well formed");
            assert!(matches!(checked.verdict, Verdict::Violated(_)), "{method:?}: {:?}", checked.verdict);
            let example = checked.counterexample.expect("violated");
            assert_eq!(example.trace.len(), 2 * M as usize + 1, "{method:?}");
            assert_eq!(example.marking[order[0] as usize], M, "{method:?}");
        }
    }
}

/// The induction as published: levels are the prefixes of one order of the counters, the threshold of all of
/// them is twice the cut-off of the level before, and 0 stands for "no trap". After the last level all paths
/// up to its cut-off are looked at. Says `true` for "holds".
fn published_induction(net: &Net, order: &[usize]) -> bool {
    let control: Vec<usize> = (3..net.places.len()).collect();
    let trap = net.places.len() - 1;
    let mut cut_off = 0u64;
    for level in 0..=order.len() {
        let mut tracked = control.clone();
        tracked.extend(&order[..level]);
        let limit = if level == 0 { u64::MAX } else { 2 * cut_off };
        let start: Vec<i64> = tracked.iter().map(|&p| i64::from(net.initial[0].base[p])).collect();
        let mut distance_forward: HashMap<Vec<i64>, u64> = HashMap::from([(start.clone(), 0)]);
        let mut queue = VecDeque::from([start]);
        let mut backward: HashMap<Vec<i64>, Vec<Vec<i64>>> = HashMap::new();
        let mut traps = Vec::new();
        let mut cut = false;
        while let Some(now) = queue.pop_front() {
            if now[tracked.iter().position(|&p| p == trap).expect("control is tracked")] > 0 {
                traps.push(now.clone());
            }
            for t in &net.transitions {
                let value = |p: usize| tracked.iter().position(|&q| q == p);
                if t.at_least
                    .iter()
                    .any(|b| value(b.place.index()).is_some_and(|i| now[i] < i64::from(b.tokens)))
                {
                    continue;
                }
                let mut after = now.clone();
                for row in &t.rows {
                    if let Some(i) = value(row.place.index()) {
                        after[i] += row.constant;
                    }
                }
                if after[control.len()..].iter().any(|&n| n as u64 >= limit) {
                    cut = true;
                    continue;
                }
                backward.entry(after.clone()).or_default().push(now.clone());
                if !distance_forward.contains_key(&after) {
                    distance_forward.insert(after.clone(), distance_forward[&now] + 1);
                    queue.push_back(after);
                }
            }
        }
        let mut distance: HashMap<Vec<i64>, u64> = traps.iter().map(|t| (t.clone(), 0)).collect();
        let mut queue: VecDeque<Vec<i64>> = traps.into();
        let mut longest = 0;
        while let Some(now) = queue.pop_front() {
            longest = distance[&now];
            for before in backward.get(&now).into_iter().flatten() {
                if !distance.contains_key(before) {
                    distance.insert(before.clone(), longest + 1);
                    queue.push_back(before.clone());
                }
            }
        }
        cut_off = match (longest, cut) {
            (0, false) => return true,
            (0, true) => cut_off + distance_forward.len() as u64,
            _ => longest,
        };
    }
    !trap_within(net, trap, cut_off)
}

/// Whether some path of at most `steps` steps reaches the trap, the pool never being empty.
fn trap_within(net: &Net, trap: usize, steps: u64) -> bool {
    let mut start = net.initial[0].base.clone();
    start[0] = 1_000;
    let mut level = vec![start];
    for _ in 0..steps {
        let mut next: Vec<Vec<u32>> =
            level.iter().flat_map(|m| net.transitions.iter().filter_map(|t| t.fire(m))).collect();
        next.sort_unstable();
        next.dedup();
        if next.iter().any(|m| m[trap] > 0) {
            return true;
        }
        level = next;
    }
    false
}

#[test]
fn the_published_induction_calls_the_witness_safe_in_some_orders() {
    let net = witness([0, 1, 2]);
    assert!(published_induction(&net, &[1, 2]), "t before u: wrong, and that is the point");
    assert!(!published_induction(&net, &[2, 1]), "u before t");
}
