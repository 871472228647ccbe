//! Random nets, for comparing engines with each other and with explicit search.

use volee_nets::{Initial, Net, PlaceId, Row, Target, Transition};
use volee_system::Random;

/// What random nets may contain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flavour {
    /// Ordinary arcs only.
    Plain,
    /// Transfers, resets and constants too.
    Extended,
}

/// A net of a few places, whose transitions mostly move single tokens, as those of families do.
pub fn random_net(seed: u64, flavour: Flavour) -> Net {
    let mut random = Random::new(seed);
    let places = 2 + random.below(4);
    let mut net = Net { places: (0..places).map(|p| format!("p{p}")).collect(), ..Net::default() };
    for number in 0..2 + random.below(6) {
        let name = format!("t{number}");
        let transition = if flavour == Flavour::Extended && random.below(3) == 0 {
            random_transfer(&mut random, places, name)
        } else {
            let pre = random_arcs(&mut random, places);
            let post = random_arcs(&mut random, places);
            Transition::arcs(name, &pre, &post)
        };
        net.transitions.push(transition);
    }
    let mut initial = Initial { base: vec![0; places as usize], open: vec![false; places as usize] };
    for p in 0..places as usize {
        initial.base[p] = random.below(3_u32).saturating_sub(1);
        initial.open[p] = random.below(4) == 0;
    }
    net.initial.push(initial);
    for number in 0..1 + random.below(2) {
        let tokens: Vec<(u32, u32)> =
            (0..places).map(|p| (p, random.below(4_u32).saturating_sub(1).min(2))).collect();
        net.targets.push(Target::covering(format!("target {number}"), &tokens));
    }
    net
}

fn random_arcs(random: &mut Random, places: u32) -> Vec<(u32, u32)> {
    (0..random.below(3)).map(|_| (random.below(places), 1 + random.below(8) / 7)).collect()
}

fn random_transfer(random: &mut Random, places: u32, name: String) -> Transition {
    let mut transition = Transition::arcs(name, &random_arcs(random, places), &[]);
    transition.rows.clear();
    let (x, y) = (random.below(places), random.below(places));
    let (x, y) = (PlaceId(x), PlaceId(y));
    if x == y {
        let constant = i64::from(random.below(2));
        transition.rows.push(Row::sum(x, Vec::new(), constant));
    } else {
        let mut sources = vec![x, y];
        sources.sort_unstable();
        transition.rows.push(Row::sum(x, sources, i64::from(random.below(3)) - 1));
        transition.rows.push(Row::sum(y, Vec::new(), i64::from(random.below(2))));
        transition.rows.sort_by_key(|r| r.place);
    }
    transition
}
