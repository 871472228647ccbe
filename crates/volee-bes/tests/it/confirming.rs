//! The distributed check of answers against its definition: values are found by several workers for one
//! system and confirmed for another, which differs in a row, so that some are confirmed and some must not be;
//! claims with wrong values and ranks are made by hand; and packets come that nobody sends.

use std::collections::BTreeSet;

use volee_bes::certificate::{Nobody, check};
use volee_bes::explicit::Explicit;
use volee_bes::solve::confirm::{Confirmation, assemble, claims};
use volee_bes::solve::partition::{Outcome, Partition, Share};
use volee_bes::{BooleanGraph as _, Operator};
use volee_system::part::{Figures, Outbox, Packet, Part, PartError, Work};
use volee_system::{Budget, Meter, Random};

use crate::certificates::{Claims, WithConstants, assembled, changed, small_system, supports};

/// The kind of a packet of questions, and of one of answers.
const ASK: u8 = 2;
const ANSWER: u8 = 3;

/// Runs all parts in turn until nobody has anything left to do; `watch` sees the figures of a part before and
/// after its work, and what it has to send.
fn drive<P: Part>(
    parts: &mut [P],
    quantum: usize,
    mut watch: impl FnMut(Figures, Figures, &[Packet]),
) -> Result<(), PartError> {
    let peers = parts.len();
    let mut boxes: Vec<Outbox> = (0..peers).map(|me| Outbox::new(me, peers)).collect();
    for _ in 0..10_000 {
        let mut busy = false;
        let mut sent = Vec::new();
        for (from, part) in parts.iter_mut().enumerate() {
            let before = part.figures();
            match part.work(quantum, &mut boxes[from])? {
                Work::More => busy = true,
                Work::Idle => {}
                Work::Decided => return Ok(()),
            }
            let packets: Vec<Packet> = boxes[from].take().collect();
            watch(before, part.figures(), &packets);
            sent.extend(packets.into_iter().map(|packet| (from, packet)));
        }
        for (from, packet) in sent {
            busy = true;
            parts[usize::from(packet.to)].receive(from, packet.kind, &packet.bytes)?;
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

/// What a variable rests on: of several supports, one of its owner's that is of the least rank, else one of
/// the least rank; `None` where nothing supports it. A successor of another block rests on nothing.
fn rests_on(graph: &WithConstants<'_>, values: &Claims, owners: &[usize], variable: u32) -> Option<Vec<u32>> {
    let (value, _) = values[variable as usize]?;
    let found = supports(graph, values, variable)?;
    let row = graph.system.row(variable);
    let (constant, all) = (graph.constants[variable as usize], graph.system.right_hand_side(variable));
    if value != row.operator.deciding() {
        let holds = constant.is_none_or(|c| c == value) && found.len() == all.len();
        return holds.then(|| all.to_vec());
    }
    if constant == Some(value) {
        return Some(Vec::new());
    }
    let system: &&Explicit = &graph.system;
    let needs_rank = value != system.blocks()[usize::from(row.block)].default_value();
    let owner = |v: u32| owners[v as usize];
    let rank = |to: u32| values[to as usize].map(|(_, rank)| rank);
    let own_rank =
        |to: u32| if needs_rank && graph.system.row(to).block != row.block { Some(0) } else { rank(to) };
    let supporting = || found.iter().map(|(_, to)| *to);
    let own = supporting().filter(|&to| owner(to) == owner(variable)).min_by_key(|&to| own_rank(to));
    own.or_else(|| supporting().min_by_key(|&to| rank(to))).map(|to| vec![to])
}

/// All that the main variable rests on, in order; `None` where something is not supported.
fn rested_on(graph: &WithConstants<'_>, values: &Claims, owners: &[usize]) -> Option<Vec<u32>> {
    let mut all = vec![graph.system.main()];
    let mut next = 0;
    while next < all.len() {
        for to in rests_on(graph, values, owners, all[next])? {
            if !all.contains(&to) {
                all.push(to);
            }
        }
        next += 1;
    }
    all.sort_unstable();
    Some(all)
}

/// The variables in evidence, by number.
fn numbers(evidence: &[u8]) -> Vec<u32> {
    let number = |place: &[u8]| u32::from_le_bytes([place[0], place[1], place[2], place[3]]);
    claims(evidence).map(|(place, ..)| number(place)).collect()
}

/// The variables that ask in packets of questions.
fn askers(packets: &[Packet]) -> BTreeSet<u32> {
    let mut all = BTreeSet::new();
    for packet in packets.iter().filter(|packet| packet.kind == ASK) {
        let mut bytes = &packet.bytes[..];
        while !bytes.is_empty() {
            all.insert(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]));
            let key = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
            bytes = &bytes[17 + key..];
        }
    }
    all
}

/// Whether the memory of a part is that of its solution, a bit for each variable, and four bytes for each
/// that is claimed, in a list that grows by doubling.
fn is_plausible(figures: Figures, bytes: usize, variables: usize) -> bool {
    let (bits, claimed) = (variables.div_ceil(64) * 8, figures.states as usize);
    let least = bytes + bits + claimed * 4;
    let most = if claimed == 0 { least } else { bytes + bits + (2 * claimed).max(4) * 4 };
    (least..=most).contains(&(figures.memory as usize))
}

/// What several workers find out about a system, each of its own variables.
fn solved(system: &Explicit, peers: u16) -> (Vec<Share>, Vec<Outcome<WithConstants<'_>>>) {
    let graph = || WithConstants { system, constants: vec![None; system.len()] };
    let shares: Vec<Share> = (0..peers).map(|me| Share { me, peers }).collect();
    let mut parts: Vec<Partition<WithConstants<'_>>> =
        shares.iter().map(|share| Partition::new(graph(), *share).expect("it makes sense")).collect();
    drive(&mut parts, 1 << 20, |_, _, _| {}).expect("a small system");
    (shares, parts.into_iter().map(Partition::finish).collect())
}

#[test]
fn values_are_confirmed_if_and_only_if_they_are_a_proof() {
    let meter = Meter::start(Budget::default());
    let (mut confirmed, mut refused) = (0, 0);
    for seed in 0..4000 {
        let mut random = Random::new(seed);
        let system = small_system(seed);
        let (shares, outcomes) = solved(&system, 1 + (seed % 3) as u16);
        let find = |variable: usize| {
            let place = (variable as u32).to_le_bytes();
            outcomes.iter().find_map(|o| o.solution.value(o.solution.find(&place, 0, &mut Vec::new())?))
        };
        let values: Claims = (0..system.len()).map(find).collect();
        let owner = |v: usize| {
            let place = (v as u32).to_le_bytes();
            outcomes.iter().position(|o| o.solution.find(&place, 0, &mut Vec::new()).is_some()).unwrap_or(9)
        };
        let owners: Vec<usize> = (0..system.len()).map(owner).collect();
        let sizes: Vec<(usize, usize)> =
            outcomes.iter().map(|o| (o.solution.bytes(), o.solution.len())).collect();
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
        let found = drive(&mut parts, quantum, |before, after, packets| {
            if before.states == after.states {
                let more = after.memory - before.memory;
                assert_eq!(more, 24 * askers(packets).len() as u64, "for those that wait: {context}");
            }
        });
        let rested = rested_on(&changed(), &values, &owners);
        assert_eq!(found.is_ok(), rested.is_some(), "{found:?} {context}");
        assert!(!surely || found.is_ok(), "{found:?} {context}");
        assert!(perhaps || found.is_err(), "{context}");
        if found.is_err() {
            refused += 1;
            continue;
        }
        confirmed += 1;
        let evidence: Vec<Vec<u8>> = parts.iter().map(Confirmation::evidence).collect();
        let mut all = 0;
        let mut claimed: Vec<u32> = evidence.iter().flat_map(|e| numbers(e)).collect();
        claimed.sort_unstable();
        assert_eq!(Some(&claimed), rested.as_ref(), "{context}");
        for ((part, evidence), (bytes, variables)) in parts.iter().zip(&evidence).zip(&sizes) {
            let figures = part.figures();
            all += part.len();
            assert_eq!(claims(evidence).count(), part.len(), "{context}");
            assert_eq!(part.is_empty(), evidence.is_empty());
            assert_eq!((figures.states, figures.pending), (part.len() as u64, 0));
            assert_eq!(figures.expanded, part.len() as u64);
            assert!(is_plausible(figures, *bytes, *variables), "{figures:?} {bytes} {variables} {context}");
            for (place, node, value, rank) in claims(evidence) {
                let number = u32::from_le_bytes([place[0], place[1], place[2], place[3]]) as usize;
                assert_eq!((node, Some((value, rank))), (0, values[number]), "{context}");
            }
        }
        assert!(all > 0);
        let edges: u64 = parts.iter().map(|part| part.figures().transitions).sum();
        assert!(edges <= other.edge_count() as u64 + 2 * all as u64, "{edges} {context}");
        let open = claimed.iter().filter(|&&v| constants[v as usize].is_none());
        let least: usize = open.map(|&v| other.right_hand_side(v).len()).sum();
        assert!(edges >= least as u64, "{edges} of {least} {context}");
        let solution = assemble(&changed(), evidence.iter().map(|e| &e[..])).expect("few");
        assert_eq!(check(&mut changed(), &solution, value, &meter, &mut Nobody), Ok(()), "{context}");
    }
    assert!(confirmed > 500 && refused > 500, "{confirmed} {refused}");
}

#[test]
fn claims_with_wrong_values_and_ranks_are_refused_by_one_worker_alone() {
    let (mut confirmed, mut refused) = (0, 0);
    for seed in 0..6000 {
        let mut random = Random::new(seed);
        let system = small_system(seed);
        let mut graph = WithConstants::random(&system, &mut random);
        let constants = graph.constants.clone();
        let (values, value) = changed(&mut graph, &mut random);
        let asked = value ^ random.one_in(8);
        let (solution, _) = assembled(&graph, &values);
        let context = format!("seed {seed}: {values:?} {constants:?} {system:?}");
        let is_asked = values[system.main() as usize].is_some_and(|(value, _)| value == asked);
        let rested = rested_on(&graph, &values, &vec![0; system.len()]).filter(|_| is_asked);
        let sizes = (solution.bytes(), solution.len());
        let part = Confirmation::new(graph, solution, Share { me: 0, peers: 1 }, Some(asked));
        let found = part.and_then(|part| {
            let mut parts = [part];
            drive(&mut parts, 1 << 20, |_, _, _| {})?;
            let [part] = parts;
            Ok(part)
        });
        match (found, rested) {
            (Ok(part), Some(rested)) => {
                confirmed += 1;
                let mut claimed = numbers(&part.evidence());
                claimed.sort_unstable();
                assert_eq!(claimed, rested, "{context}");
                assert!(is_plausible(part.figures(), sizes.0, sizes.1), "{context}");
            }
            (Err(_), None) => refused += 1,
            (found, rested) => panic!("{:?} {rested:?} {context}", found.map(|part| part.len())),
        }
    }
    assert!(confirmed > 1000 && refused > 1000, "{confirmed} {refused}");
}

type Confirmations<'s> = Vec<Confirmation<WithConstants<'s>>>;

/// Parts that confirm what they have found, after their first work, with what each has to send.
fn after_first_work(system: &Explicit, peers: u16) -> Option<(Confirmations<'_>, Vec<Vec<Packet>>)> {
    let (shares, outcomes) = solved(system, peers);
    let graph = || WithConstants { system, constants: vec![None; system.len()] };
    let mut parts = Vec::new();
    let mut sent = Vec::new();
    for (me, (outcome, share)) in outcomes.into_iter().zip(shares).enumerate() {
        let mut part = Confirmation::new(graph(), outcome.solution, share, outcome.value).ok()?;
        let mut out = Outbox::new(me, usize::from(peers));
        part.work(1 << 20, &mut out).ok()?;
        parts.push(part);
        sent.push(out.take().collect());
    }
    Some((parts, sent))
}

#[test]
fn packets_that_make_no_sense_are_refused() {
    let mut met = 0;
    for seed in 0..3000 {
        let system = small_system(seed);
        let again = || after_first_work(&system, 3).expect("its own answers");
        let (mut parts, sent) = again();
        let asking = sent.iter().enumerate().find_map(|(from, packets)| {
            packets.iter().find(|packet| packet.kind == ASK).map(|packet| (from, packet.clone()))
        });
        let Some((from, packet)) = asking else { continue };
        met += 1;
        let (to, third) = (usize::from(packet.to), 3 - from - usize::from(packet.to));
        assert!(parts[from].next_stage().is_err(), "it waits for answers");
        assert!(parts[third].receive(from, ASK, &packet.bytes).is_err(), "none of its variables");
        assert!(parts[third].receive(from, 9, &packet.bytes).is_err(), "no such kind");
        let cut = &packet.bytes[..packet.bytes.len() - 1];
        assert!(parts[to].receive(from, ASK, cut).is_err(), "cut");
        let asker = *askers(&sent[from]).iter().next().expect("one asks");
        let answer = |variable: u32, ordinal: u32| [variable, ordinal, 0].map(u32::to_le_bytes).concat();
        assert!(parts[third].receive(to, ANSWER, &answer(asker, 0)).is_err(), "it has not asked");
        let degree = (0..system.len() as u32).map(|v| system.right_hand_side(v).len()).max().unwrap_or(0);
        for ordinal in 0..=degree as u32 + 1 {
            // What is answered for a successor that there is not, as often as answers are awaited.
            let (mut parts, _) = again();
            let mut answered = 0;
            while answered <= degree && parts[from].receive(to, ANSWER, &answer(asker, ordinal)).is_ok() {
                answered += 1;
            }
            let found = parts[from].work(1 << 20, &mut Outbox::new(from, 3));
            assert!(found.is_err() || (ordinal as usize) < degree, "{found:?} seed {seed}");
        }
    }
    assert!(met > 100, "{met}");
}
