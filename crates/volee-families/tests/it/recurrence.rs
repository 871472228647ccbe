//! What recurs for ever: random families against their explicit members, and proofs that are spoilt.

use std::collections::HashSet;

use volee_families::{Ranking, Recurrence, recurrence};
use volee_nets::{Initial, Net, PlaceId, Transition};
use volee_system::{Budget, Meter};
use volee_testkit::Random;

/// Places and tokens.
type Arcs = Vec<(u32, u32)>;
type ArcsRef<'a> = &'a [(u32, u32)];

fn decide(net: &Net, accepting: u32) -> Recurrence {
    recurrence(net, &[PlaceId(accepting)], &Meter::start(Budget::default()))
}

/// Control in the first two places, any number of processes in the third, and places that they come to.
fn net(places: usize, steps: &[(ArcsRef<'_>, ArcsRef<'_>)]) -> Net {
    let mut initial = Initial { base: vec![0; places], open: vec![false; places] };
    initial.base[0] = 1;
    initial.open[2] = true;
    let each = steps.iter().enumerate();
    Net {
        places: (0..places).map(|p| format!("p{p}")).collect(),
        transitions: each.map(|(t, (pre, post))| Transition::arcs(format!("t{t}"), pre, post)).collect(),
        initial: vec![initial],
        ..Net::default()
    }
}

/// Whether a member with `n` processes passes the place for ever: a marking with it that comes back to
/// itself.
fn member_recurs(net: &Net, n: u32, accepting: usize) -> bool {
    let mut start = net.initial[0].base.clone();
    start[2] += n;
    let reach = |from: Vec<Vec<u32>>| {
        let mut seen: HashSet<Vec<u32>> = from.iter().cloned().collect();
        let mut work = from;
        while let Some(at) = work.pop() {
            let next = net.transitions.iter().filter_map(|t| t.fire(&at));
            work.extend(next.filter(|m| seen.insert(m.clone())));
        }
        seen
    };
    let comes_back = |m: &Vec<u32>| {
        let next: Vec<Vec<u32>> = net.transitions.iter().filter_map(|t| t.fire(m)).collect();
        reach(next).contains(m)
    };
    reach(vec![start]).iter().filter(|m| m[accepting] > 0).any(comes_back)
}

#[test]
fn a_place_that_uses_processes_up_does_not_recur_and_one_that_gives_them_back_does() {
    // Control goes to and fro; each round one process moves on for good.
    let used_up = net(4, &[(&[(0, 1), (2, 1)], &[(1, 1), (3, 1)]), (&[(1, 1)], &[(0, 1)])]);
    assert!(matches!(decide(&used_up, 1), Recurrence::Never(_)));
    let given_back =
        net(4, &[(&[(0, 1), (2, 1)], &[(1, 1), (3, 1)]), (&[(1, 1), (3, 1)], &[(0, 1), (2, 1)])]);
    assert_eq!(decide(&given_back, 1), Recurrence::Somewhere);
}

#[test]
fn what_needs_one_rank_within_another_is_proved() {
    // Processes go through three places, two steps each of which control alternates.
    let net = net(
        6,
        &[
            (&[(0, 1), (2, 1)], &[(1, 1), (3, 1)]),
            (&[(1, 1)], &[(0, 1)]),
            (&[(0, 1), (3, 1)], &[(1, 1), (4, 2)]),
            (&[(1, 1), (4, 1)], &[(0, 1), (5, 1)]),
        ],
    );
    assert!(matches!(decide(&net, 1), Recurrence::Never(_)));
}

#[test]
fn a_spoilt_ranking_is_no_proof() {
    let used_up = net(4, &[(&[(0, 1), (2, 1)], &[(1, 1), (3, 1)]), (&[(1, 1)], &[(0, 1)])]);
    let Recurrence::Never(proof) = decide(&used_up, 1) else { panic!("it holds") };
    let fails = |spoil: &dyn Fn(&mut Ranking)| {
        let mut spoilt = (*proof).clone();
        spoil(&mut spoilt);
        spoilt.check(&used_up, &[PlaceId(1)]).is_err()
    };
    assert!(!fails(&|_| {}));
    assert!(fails(&|r| r.stages.clear()));
    assert!(fails(&|r| r.nodes.clear()));
    assert!(fails(&|r| r.edges.truncate(1)));
    assert!(fails(&|r| r.stages[0].weights.iter_mut().for_each(|w| w.1.clear())));
    assert!(fails(&|r| r.stages[0].weights.iter_mut().flat_map(|w| &mut w.1).for_each(|w| w.1 = -w.1)));
    assert!(fails(&|r| r.nodes.iter_mut().for_each(|n| n[2] = 1)));
}

#[test]
fn random_families_recur_as_their_members_do() {
    let (mut never, mut somewhere, mut unseen) = (0, 0, 0);
    for seed in 0..1_500 {
        let mut r = Random::new(seed);
        let places = 4 + r.below(3);
        let mut steps: Vec<(Arcs, Arcs)> = Vec::new();
        for _ in 0..3 + r.below(5) {
            let (mut pre, mut post) = (vec![(r.below(2), 1)], vec![(r.below(2), 1)]);
            for _ in 0..1 + r.below(2) {
                pre.push((2 + r.below(places - 2), 1));
                post.push((2 + r.below(places - 2), 1));
            }
            if r.below(4) == 0 {
                (pre, post) = (vec![pre[0]], vec![post[0]]);
            }
            steps.push((pre, post));
        }
        let steps: Vec<(ArcsRef<'_>, ArcsRef<'_>)> = steps.iter().map(|(a, b)| (&a[..], &b[..])).collect();
        let net = net(places as usize, &steps);
        let recurs = (0..5).any(|n| member_recurs(&net, n, 1));
        match decide(&net, 1) {
            Recurrence::Never(proof) => {
                assert!(!recurs, "seed {seed}: {net:?}");
                assert_eq!(proof.check(&net, &[PlaceId(1)]), Ok(()));
                never += 1;
            }
            Recurrence::Somewhere => {
                somewhere += 1;
                unseen += u32::from(!recurs);
            }
            Recurrence::Unknown(limit) => panic!("seed {seed}: {limit}"),
        }
    }
    assert!(never > 300 && somewhere > 300 && unseen < somewhere / 50, "{never} {somewhere} {unseen}");
}
