//! The distributed check of answers against its definition: values are found by several workers for one
//! system and confirmed for another, which differs in a row, so that some are confirmed and some must not be.

use volee_bes::certificate::{Nobody, check};
use volee_bes::explicit::Explicit;
use volee_bes::solve::confirm::{Confirmation, assemble, claims};
use volee_bes::solve::partition::{Partition, Share};
use volee_bes::{BooleanGraph as _, Operator};
use volee_system::part::{Outbox, Part, PartError, Work};
use volee_system::{Budget, Meter, Random};

use crate::certificates::{Claims, WithConstants, small_system, supports};

/// Runs all parts in turn until nobody has anything left to do.
fn drive<P: Part>(parts: &mut [P], quantum: usize) -> Result<(), PartError> {
    let peers = parts.len();
    let mut boxes: Vec<Outbox> = (0..peers).map(|me| Outbox::new(me, peers)).collect();
    for _ in 0..10_000 {
        let mut busy = false;
        for (from, part) in parts.iter_mut().enumerate() {
            match part.work(quantum, &mut boxes[from])? {
                Work::More => busy = true,
                Work::Idle => {}
                Work::Decided => return Ok(()),
            }
        }
        for (from, out) in boxes.iter_mut().enumerate() {
            for packet in out.take() {
                busy = true;
                parts[usize::from(packet.to)].receive(from, packet.kind, &packet.bytes)?;
            }
        }
        if !busy {
            let more: Vec<bool> = parts.iter_mut().map(P::next_stage).collect::<Result<_, _>>()?;
            assert!(more.iter().all(|m| *m == more[0]), "all parts agree");
            if !more[0] {
                return Ok(());
            }
        }
    }
    panic!("the parts never come to an end");
}

/// A system with one row changed.
fn with_another_row(system: &Explicit, random: &mut Random) -> Explicit {
    let at = random.below(system.len() as u32);
    let signs = {
        let system: &&Explicit = &system;
        system.blocks().to_vec()
    };
    let rows = (0..system.len() as u32).map(|v| {
        let row = system.row(v);
        let mut operator = row.operator;
        let mut to = system.right_hand_side(v).to_vec();
        if v == at {
            match random.below(4) {
                0 if !to.is_empty() => drop(to.remove(0)),
                1 => to.push(v),
                2 => operator = if operator == Operator::And { Operator::Or } else { Operator::And },
                _ => {}
            }
        }
        (operator, row.block, to)
    });
    let rows: Vec<_> = rows.collect();
    Explicit::new(signs, system.main(), rows)
}

/// Whether the claims prove the value of the main variable, whichever supports are chosen, and whether for
/// any choice.
fn proves(graph: &WithConstants<'_>, values: &Claims) -> (bool, bool) {
    let count = graph.system.len();
    // What cannot be part of a proof is taken away until nothing changes.
    let judge = |all_choices: bool| {
        let mut fine: Vec<bool> = values.iter().map(Option::is_some).collect();
        loop {
            let before = fine.clone();
            for v in 0..count as u32 {
                let (Some((value, _)), Some(found)) = (values[v as usize], supports(graph, values, v)) else {
                    continue;
                };
                let constant = graph.constants[v as usize];
                let good = found.iter().filter(|(_, to)| fine[*to as usize]).count();
                let choosing = value == graph.system.row(v).operator.deciding();
                fine[v as usize] &= if choosing {
                    constant == Some(value) || good > 0 && (!all_choices || good == found.len())
                } else {
                    constant.is_none_or(|c| c == value) && good == graph.system.right_hand_side(v).len()
                };
            }
            if fine == before {
                return fine[graph.system.main() as usize];
            }
        }
    };
    (judge(true), judge(false))
}

#[test]
fn values_are_confirmed_if_and_only_if_they_are_a_proof() {
    let meter = Meter::start(Budget::default());
    let (mut confirmed, mut refused) = (0, 0);
    for seed in 0..4000 {
        let mut random = Random::new(seed);
        let system = small_system(seed);
        let graph = || WithConstants { system: &system, constants: vec![None; system.len()] };
        let peers = 1 + (seed % 3) as u16;
        let shares: Vec<Share> = (0..peers).map(|me| Share { me, peers }).collect();
        let mut parts: Vec<Partition<WithConstants<'_>>> =
            shares.iter().map(|share| Partition::new(graph(), *share).expect("it makes sense")).collect();
        drive(&mut parts, 1 << 20).expect("a small system");
        let outcomes: Vec<_> = parts.into_iter().map(Partition::finish).collect();
        let find = |variable: usize| {
            let place = (variable as u32).to_le_bytes();
            outcomes.iter().find_map(|o| o.solution.value(o.solution.find(&place, 0, &mut Vec::new())?))
        };
        let values: Claims = (0..system.len()).map(find).collect();
        let other = with_another_row(&system, &mut random);
        let constants = WithConstants::random(&other, &mut random).constants;
        let changed = || WithConstants { system: &other, constants: constants.clone() };
        let value = outcomes.iter().find_map(|o| o.value).expect("somebody knows");
        let (surely, perhaps) = proves(&changed(), &values);
        let context = format!("seed {seed}: {values:?} {constants:?} {other:?}");
        let quantum = if random.one_in(2) { 1 } else { 1 << 20 };
        let mut parts: Vec<Confirmation<WithConstants<'_>>> = outcomes
            .into_iter()
            .zip(&shares)
            .map(|(o, share)| {
                Confirmation::new(changed(), o.solution, *share, o.value).expect("it has a value")
            })
            .collect();
        let found = drive(&mut parts, quantum);
        assert!(!surely || found.is_ok(), "{found:?} {context}");
        assert!(perhaps || found.is_err(), "{context}");
        if found.is_err() {
            refused += 1;
            continue;
        }
        confirmed += 1;
        let evidence: Vec<Vec<u8>> = parts.iter().map(Confirmation::evidence).collect();
        let mut all = 0;
        for (part, evidence) in parts.iter().zip(&evidence) {
            let figures = part.figures();
            all += part.len();
            assert_eq!(claims(evidence).count(), part.len(), "{context}");
            assert_eq!(part.is_empty(), evidence.is_empty());
            assert_eq!((figures.states, figures.pending), (part.len() as u64, 0));
            assert_eq!(figures.expanded, part.len() as u64);
            assert!(figures.memory > 0);
            for (place, node, value, rank) in claims(evidence) {
                let number = u32::from_le_bytes([place[0], place[1], place[2], place[3]]) as usize;
                assert_eq!((node, Some((value, rank))), (0, values[number]), "{context}");
            }
        }
        assert!(all > 0);
        let edges: u64 = parts.iter().map(|part| part.figures().transitions).sum();
        assert!(edges <= other.edge_count() as u64 + 2 * all as u64, "{edges} {context}");
        let solution = assemble(&changed(), evidence.iter().map(|e| &e[..])).expect("few");
        assert_eq!(check(&mut changed(), &solution, value, &meter, &mut Nobody), Ok(()), "{context}");
    }
    assert!(confirmed > 500 && refused > 500, "{confirmed} {refused}");
}
