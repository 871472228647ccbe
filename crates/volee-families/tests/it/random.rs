//! The four engines on random nets: they never disagree, and agree with explicit search of all small instances.

use volee_families::{Choice, Flavour, Found, Method, Net, Sizes, check, random_net, search_instance};
use volee_system::{Budget, Quiet, Verdict};

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

fn compare(seeds: std::ops::Range<u64>, flavour: Flavour) {
    let mut decided = [0u32; 5];
    let total = (seeds.end - seeds.start) as u32;
    let mut violated = 0;
    for seed in seeds {
        let net = random_net(seed, flavour);
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
        "{flavour:?}: of {total} nets decided (bra, frakm, fraen, fbra, auto) {decided:?}, violated {violated}"
    );
    assert_eq!(decided[0], total, "backward search decides every net");
    assert_eq!(decided[4], total, "so does auto");
    assert!(violated > total / 10 && violated < total * 9 / 10, "the sample has both answers: {violated}");
}

#[test]
fn engines_agree_with_each_other_and_with_explicit_search_on_ordinary_nets() {
    compare(0..12_000, Flavour::Plain);
}

#[test]
fn engines_agree_with_each_other_and_with_explicit_search_on_nets_with_transfers() {
    compare(0..8_000, Flavour::Extended);
}
