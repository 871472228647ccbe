//! Random machines: every loop repeats, every bound agrees with explicit search at a larger capacity.

use std::collections::HashSet;

use volee_channels::{Boundedness, Configuration, Fifo, Machines, random_machines, search};
use volee_system::{Budget, Meter, Quiet};

/// What each channel holds at most when it may hold `capacity`; `None` where there are too many states.
fn explicit(machines: &Machines, capacity: &[usize]) -> Option<Vec<usize>> {
    let start = Configuration::initial(machines);
    let mut seen = HashSet::from([start.clone()]);
    let mut work = vec![start];
    let mut most = vec![0; capacity.len()];
    while let Some(now) = work.pop() {
        for (most, queue) in most.iter_mut().zip(&now.contents) {
            *most = (*most).max(queue.len());
        }
        for (machine, automaton) in machines.automata.iter().enumerate() {
            for &step in &automaton.states[usize::from(now.control[machine])] {
                let mut after = now.clone();
                let fits = after.make(machine, step)
                    && after.contents.iter().zip(capacity).all(|(q, &c)| q.len() <= c);
                if fits && seen.insert(after.clone()) {
                    if seen.len() > 50_000 {
                        return None;
                    }
                    work.push(after);
                }
            }
        }
    }
    Some(most)
}

/// Whether some machine is ever kept from sending because a channel holds `capacity` already.
fn blocks(machines: &Machines, capacity: &[usize]) -> bool {
    let start = Configuration::initial(machines);
    let mut seen = HashSet::from([start.clone()]);
    let mut work = vec![start];
    while let Some(now) = work.pop() {
        for (machine, automaton) in machines.automata.iter().enumerate() {
            for &step in &automaton.states[usize::from(now.control[machine])] {
                let mut after = now.clone();
                if !after.make(machine, step) {
                    continue;
                }
                if after.contents.iter().zip(capacity).any(|(queue, &c)| queue.len() > c) {
                    return true;
                }
                if seen.insert(after.clone()) {
                    work.push(after);
                }
            }
        }
    }
    false
}

#[test]
fn the_capacities_of_a_bounded_system_never_block_and_one_less_does() {
    let mut smaller = 0;
    for seed in 0..20_000 {
        let machines = random_machines(seed);
        let meter = Meter::start(Budget { memory: Some(40_000), ..Budget::default() });
        let Boundedness::Bounded(most) = search(&mut Fifo::new(&machines), &meter, &mut Quiet).answer else {
            continue;
        };
        assert!(!blocks(&machines, &most), "seed {seed}");
        for channel in (0..most.len()).filter(|&c| most[c] > 0) {
            let mut less = most.clone();
            less[channel] -= 1;
            assert!(blocks(&machines, &less), "seed {seed}, channel {channel}");
            smaller += 1;
        }
    }
    assert!(smaller > 1_000, "{smaller}");
}

#[test]
fn loops_repeat_and_bounds_agree_with_explicit_search_on_random_machines() {
    let (mut unbounded, mut bounded, mut unknown) = (0, 0, 0);
    for seed in 0..100_000 {
        let machines = random_machines(seed);
        let meter = Meter::start(Budget { memory: Some(40_000), ..Budget::default() });
        match search(&mut Fifo::new(&machines), &meter, &mut Quiet).answer {
            Boundedness::Unbounded(pump) => {
                unbounded += 1;
                assert!(pump.replay(&mut Fifo::new(&machines), 12).is_some(), "seed {seed}: {pump:?}");
            }
            Boundedness::Bounded(most) => {
                bounded += 1;
                let larger: Vec<usize> = most.iter().map(|m| m + 1).collect();
                assert_eq!(explicit(&machines, &larger), Some(most), "seed {seed}");
            }
            Boundedness::Unknown(_) => unknown += 1,
        }
    }
    println!("unbounded {unbounded}, bounded {bounded}, unknown {unknown}");
    assert!(unbounded > 10_000 && bounded > 10_000 && unknown < 5_000, "{unbounded} {bounded} {unknown}");
}
