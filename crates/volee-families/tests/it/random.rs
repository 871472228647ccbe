//! The four engines on random nets: they never disagree, and agree with explicit search of all small
//! instances.

use volee_families::{Choice, Flavour, Found, Method, Sizes, check, random_net, search_instance};
use volee_nets::{Initial, Net, PlaceId, Target, Transition};
use volee_system::{Budget, Quiet, Random, Verdict};

const ENGINES: [Method; 4] = [Method::Backward, Method::KarpMiller, Method::EmersonNamjoshi, Method::CutOff];

/// What explicit search of instances with up to three extra tokens says: `true` for a bad one.
fn explicit(net: &Net) -> bool {
    let least: u32 = net.initial[0].base.iter().sum();
    Sizes::new(net, 25)
        .take_while(|(_, m)| m.iter().sum::<u32>() <= least + 3)
        .any(|(_, m)| matches!(search_instance(net, &m, 300), Found::Bad { .. }))
}

fn verdict(net: &Net, choice: Choice) -> Option<bool> {
    let budget = Budget { memory: Some(200_000), ..Budget::default() };
    let checked = check(net, choice, budget, &mut Quiet).expect("random nets are well formed");
    match checked.verdict {
        Verdict::Holds => Some(true),
        Verdict::Violated(_) => Some(false),
        Verdict::Unknown(_) => None,
    }
}

fn compare(seeds: std::ops::Range<u64>, kind: &str, make: impl Fn(u64) -> Net) {
    let mut decided = [0u32; 5];
    let total = (seeds.end - seeds.start) as u32;
    let mut violated = 0;
    for seed in seeds {
        let net = make(seed);
        let bad = explicit(&net);
        let mut answers: Vec<Option<bool>> =
            ENGINES.iter().map(|&m| verdict(&net, Choice::Only(m))).collect();
        answers.push(verdict(&net, Choice::Auto));
        let said: Vec<bool> = answers.iter().copied().flatten().collect();
        assert!(
            said.windows(2).all(|w| w[0] == w[1]),
            "seed {seed}: the engines disagree: {answers:?}\n{net:?}"
        );
        if bad {
            assert!(
                !said.contains(&true),
                "seed {seed}: explicit search finds a violation: {answers:?}\n{net:?}"
            );
        }
        violated += u32::from(said.contains(&false));
        answers.iter().zip(&mut decided).for_each(|(a, d)| *d += u32::from(a.is_some()));
    }
    println!(
        "{kind}: of {total} nets decided (bra, frakm, fraen, fbra, auto) {decided:?}, violated {violated}"
    );
    assert_eq!(decided[0], total, "backward search decides every net");
    assert_eq!(decided[4], total, "so does auto");
    assert!(violated > total / 10 && violated < total * 9 / 10, "the sample has both answers: {violated}");
}

#[test]
fn engines_agree_with_each_other_and_with_explicit_search_on_ordinary_nets() {
    compare(0..9_000, "ordinary nets", |seed| random_net(seed, Flavour::Plain));
}

#[test]
fn engines_agree_with_each_other_and_with_explicit_search_on_nets_with_transfers() {
    compare(0..7_000, "nets with transfers", |seed| random_net(seed, Flavour::Extended));
}

/// A family like those of the paper: a control process of three states, a template of four, rendezvous and
/// single steps.
fn random_family(seed: u64) -> Net {
    let mut random = Random::new(seed);
    let (control, user) = (3, 4);
    let mut net = Net::default();
    net.places.extend((0..control).map(|s| format!("control {s}")));
    net.places.extend((0..user).map(|s| format!("user {s}")));
    for number in 0..4 + random.below(6) {
        let mut states = |first: u32, count: u32| (first + random.below(count), first + random.below(count));
        let ((c, d), (u, v), (w, x)) = (states(0, control), states(control, user), states(control, user));
        let (pre, post) = match random.below(4) {
            0 => (vec![(c, 1)], vec![(d, 1)]),
            1 => (vec![(u, 1)], vec![(v, 1)]),
            2 => (vec![(c, 1), (u, 1)], vec![(d, 1), (v, 1)]),
            _ => (vec![(u, 1), (w, 1)], vec![(v, 1), (x, 1)]),
        };
        net.transitions.push(Transition::arcs(format!("step {number}"), &pre, &post));
    }
    let places = (control + user) as usize;
    let mut initial = Initial { base: vec![0; places], open: vec![false; places] };
    initial.base[0] = 1;
    initial.open[control as usize] = true;
    net.initial.push(initial);
    net.groups.push((0..control).map(PlaceId).collect());
    let bad = [(random.below(control), 1), (control + 1 + random.below(user - 1), 1 + random.below(2))];
    net.targets.push(Target::covering("bad", &bad));
    net
}

#[test]
fn engines_agree_with_each_other_and_with_explicit_search_on_families() {
    compare(0..4_000, "families", random_family);
}
