//! The checkers against their definitions: of all the claims one can make about small systems and games, they
//! accept those that are proofs and no others.
//!
//! The twins here are as plain as they can be. Claims are made at random, most of them close to right ones,
//! so that about as many are proofs as are not.

use volee_bes::certificate::{CheckError, Collector, Nobody, check};
use volee_bes::explicit::Explicit;
use volee_bes::game::{Game, NO_CHOICE, Player, StrategyError, Winning, verify, zielonka};
use volee_bes::random::{Shape, equations};
use volee_bes::{BooleanGraph, Node, Operator, Sign, Solution, Solver, Successors, Trouble, solve};
use volee_system::{Budget, Flow, Limit, Meter, Quiet, Random};

/// A value and a rank for each variable, or none.
pub type Claims = Vec<Option<(bool, u32)>>;

/// A system some of whose right-hand sides have a constant.
pub struct WithConstants<'s> {
    pub system: &'s Explicit,
    pub constants: Vec<Option<bool>>,
}

impl<'s> WithConstants<'s> {
    pub fn random(system: &'s Explicit, random: &mut Random) -> Self {
        let constant = |random: &mut Random| random.one_in(5).then(|| random.one_in(2));
        WithConstants { system, constants: (0..system.len()).map(|_| constant(random)).collect() }
    }

    fn number(place: &[u8]) -> usize {
        u32::from_le_bytes([place[0], place[1], place[2], place[3]]) as usize
    }
}

impl BooleanGraph for WithConstants<'_> {
    fn root(&mut self) -> Result<(Vec<u8>, Node), Trouble> {
        Ok((self.system.main().to_le_bytes().to_vec(), 0))
    }

    fn blocks(&self) -> &[Sign] {
        let system: &&Explicit = &self.system;
        system.blocks()
    }

    fn equation(&self, place: &[u8], _: Node) -> (Operator, u16) {
        let row = self.system.row(Self::number(place) as u32);
        (row.operator, row.block)
    }

    fn successors(&mut self, place: &[u8], node: Node, sink: &mut dyn Successors) -> Result<(), Trouble> {
        let constant = self.constants[Self::number(place)];
        if constant.is_some_and(|value| sink.constant(value).is_break()) {
            return Ok(());
        }
        let mut system = self.system;
        system.successors(place, node, sink)
    }
}

/// The successors that support a variable's claimed value, with the rank that counts; `None` where the
/// variable has no value.
pub fn supports(graph: &WithConstants<'_>, claims: &Claims, variable: u32) -> Option<Vec<(u32, u32)>> {
    let system = graph.system;
    let (value, rank) = claims[variable as usize]?;
    let row = system.row(variable);
    let blocks: &&Explicit = &system;
    let needs_rank = value != blocks.blocks()[usize::from(row.block)].default_value();
    let supporting = |&to: &u32| {
        let (theirs, their_rank) = claims[to as usize]?;
        let same = system.row(to).block == row.block;
        let supports = theirs == value && !(same && needs_rank && their_rank >= rank);
        supports.then_some((if same { their_rank } else { 0 }, to))
    };
    Some(system.right_hand_side(variable).iter().filter_map(supporting).collect())
}

/// What a variable rests on, by the definition; `None` where nothing supports it.
fn rests_on(graph: &WithConstants<'_>, claims: &Claims, variable: u32) -> Option<Vec<u32>> {
    let found = supports(graph, claims, variable)?;
    let (value, _) = claims[variable as usize]?;
    let (constant, all) = (graph.constants[variable as usize], graph.system.right_hand_side(variable));
    if value == graph.system.row(variable).operator.deciding() {
        if constant == Some(value) {
            return Some(Vec::new());
        }
        let least = found.iter().map(|(rank, _)| *rank).min()?;
        return found.iter().find(|(rank, _)| *rank == least).map(|(_, to)| vec![*to]);
    }
    let holds = constant.is_none_or(|c| c == value) && found.len() == all.len();
    holds.then(|| found.into_iter().map(|(_, to)| to).collect())
}

/// What the main variable rests on, each with its value and what it rests on itself, if the claims prove its
/// value.
fn proof(graph: &WithConstants<'_>, claims: &Claims, value: bool) -> Option<Vec<(u32, bool, Vec<u32>)>> {
    let main = graph.system.main();
    if claims[main as usize]?.0 != value {
        return None;
    }
    let mut seen = vec![main];
    let mut proof = Vec::new();
    let mut next = 0;
    while next < seen.len() {
        let on = rests_on(graph, claims, seen[next])?;
        for to in &on {
            if !seen.contains(to) {
                seen.push(*to);
            }
        }
        proof.push((seen[next], claims[seen[next] as usize]?.0, on));
        next += 1;
    }
    proof.sort();
    Some(proof)
}

/// The claims of a solver, some of them changed.
pub fn changed(graph: &mut WithConstants<'_>, random: &mut Random) -> (Claims, bool) {
    let meter = Meter::start(Budget::default());
    let solver = if random.one_in(2) { Solver::BreadthFirst } else { Solver::DepthFirst };
    let solved = solve(graph, solver, &meter, &mut Quiet).expect("small");
    let find = |variable: usize| {
        let number = solved.solution.find(&(variable as u32).to_le_bytes(), 0, &mut Vec::new())?;
        solved.solution.value(number)
    };
    let mut claims: Claims = (0..graph.system.len()).map(find).collect();
    for claim in &mut claims {
        *claim = match (random.below(12), *claim) {
            (0, _) => None,
            (1, _) => Some((random.one_in(2), random.below(4))),
            (2, Some((value, rank))) => Some((!value, rank)),
            (3, Some((value, rank))) => Some((value, rank.saturating_sub(1))),
            (4, Some((value, rank))) => Some((value, rank + 1)),
            (5, None) => Some((random.one_in(2), random.below(3))),
            (_, claim) => claim,
        };
    }
    (claims, solved.value)
}

pub fn small_system(seed: u64) -> Explicit {
    let shape = Shape {
        variables: 1 + (seed % 7) as u32,
        degree: 1 + (seed % 3) as u32,
        blocks: 1 + (seed % 3) as u16,
        conjunctions: [50, 20, 80][(seed % 3) as usize],
        alternating: false,
    };
    equations(shape, seed)
}

pub fn assembled(graph: &WithConstants<'_>, claims: &Claims) -> (Solution, Vec<Vec<u8>>) {
    let given: Vec<(Vec<u8>, bool, u32)> = (0u32..)
        .zip(claims)
        .filter_map(|(v, claim)| claim.map(|(value, rank)| (v.to_le_bytes().to_vec(), value, rank)))
        .collect();
    let each = given.iter().map(|(place, value, rank)| (&place[..], 0, *value, *rank));
    let solution = Solution::assemble(graph, each).expect("few");
    (solution, given.into_iter().map(|(place, ..)| place).collect())
}

/// Keeps what it sees, as long as it wants to.
#[derive(Default)]
struct Kept {
    seen: Vec<(u32, bool, Vec<u32>)>,
    most: usize,
}

impl Collector for Kept {
    fn support(&mut self, variable: u32, value: bool, on: &[u32]) -> Flow {
        assert!(self.seen.len() < self.most, "it has seen enough");
        self.seen.push((variable, value, on.to_vec()));
        if self.seen.len() < self.most { Flow::Continue(()) } else { Flow::Break(()) }
    }
}

#[test]
fn claims_are_accepted_if_and_only_if_they_are_a_proof() {
    let meter = Meter::start(Budget::default());
    let (mut accepted, mut refused) = (0, 0);
    for seed in 0..6000 {
        let mut random = Random::new(seed);
        let system = small_system(seed);
        let mut graph = WithConstants::random(&system, &mut random);
        let (claims, value) = changed(&mut graph, &mut random);
        let asked = value ^ random.one_in(8);
        let (solution, places) = assembled(&graph, &claims);
        let expected = proof(&graph, &claims, asked);
        let mut kept = Kept { most: usize::MAX, ..Kept::default() };
        let found = check(&mut graph, &solution, asked, &meter, &mut kept);
        let context = format!("seed {seed}: {claims:?} {:?} {system:?}", graph.constants);
        assert_eq!(found.is_ok(), expected.is_some(), "{found:?} {context}");
        match expected {
            Some(proof) => {
                accepted += 1;
                assert_eq!(asked, value, "a proof of what is not true: {context}");
                let number = |place: &[u8]| WithConstants::number(place) as u32;
                let name = |n: u32| {
                    let mut place = Vec::new();
                    solution.variable(n, &mut place);
                    assert!(places.contains(&place));
                    number(&place)
                };
                let mut seen: Vec<(u32, bool, Vec<u32>)> = kept
                    .seen
                    .iter()
                    .map(|(v, value, on)| (name(*v), *value, on.iter().map(|n| name(*n)).collect()))
                    .collect();
                seen.sort();
                assert_eq!(seen, proof, "{context}");
                let mut few = Kept { most: 1, ..Kept::default() };
                assert_eq!(check(&mut graph, &solution, asked, &meter, &mut few), Ok(()));
                assert_eq!(few.seen.len(), 1);
            }
            None => refused += 1,
        }
    }
    assert!(accepted > 1000 && refused > 1000, "{accepted} {refused}");
}

#[test]
fn what_is_wrong_with_a_certificate_is_said() {
    let meter = Meter::start(Budget::default());
    let system = Explicit::new(
        vec![Sign::Mu],
        0,
        [(Operator::And, 0, vec![1, 2]), (Operator::And, 0, vec![]), (Operator::Or, 0, vec![1])],
    );
    let mut graph = WithConstants { system: &system, constants: vec![None; 3] };
    let judge = |graph: &mut WithConstants<'_>, claims: Claims, value: bool| {
        let (solution, _) = assembled(graph, &claims);
        check(graph, &solution, value, &meter, &mut Nobody)
    };
    let right = vec![Some((true, 3)), Some((true, 1)), Some((true, 2))];
    assert_eq!(judge(&mut graph, right.clone(), true), Ok(()));
    assert_eq!(judge(&mut graph, right.clone(), false), Err(CheckError::OtherValue));
    assert_eq!(judge(&mut graph, vec![None; 3], true), Err(CheckError::Uncovered));
    let without = vec![right[0], right[1], None];
    assert_eq!(judge(&mut graph, without, true), Err(CheckError::Uncovered));
    let around = vec![Some((true, 2)), right[1], Some((true, 2))];
    assert_eq!(judge(&mut graph, around, true), Err(CheckError::Unsupported(true)));
    let false_one = vec![Some((false, 0)), right[1], right[2]];
    assert_eq!(judge(&mut graph, false_one, false), Err(CheckError::Unsupported(false)));
}

#[test]
fn a_long_check_looks_at_the_clock() {
    let rows = (0..10_000).map(|v| (Operator::And, 0, if v < 9_999 { vec![v + 1] } else { vec![] }));
    let system = Explicit::new(vec![Sign::Nu], 0, rows);
    let mut graph = WithConstants { system: &system, constants: vec![None; 10_000] };
    let (solution, _) = assembled(&graph, &vec![Some((true, 0)); 10_000]);
    let meter = Meter::start(Budget { time: Some(std::time::Duration::ZERO), ..Budget::default() });
    let found = check(&mut graph, &solution, true, &meter, &mut Nobody);
    assert!(matches!(found, Err(CheckError::Limit(Limit::Time { .. }))), "{found:?}");
}

/// The moves of a play in which `player` follows the strategy; `None` where it has none.
fn moves(game: &Game, winning: &Winning, player: Player, v: u32) -> Option<Vec<u32>> {
    if game.owner(v) != player {
        return Some(game.successors(v).to_vec());
    }
    let choice = winning.strategy[v as usize];
    (choice != NO_CHOICE && game.successors(v).contains(&choice)).then(|| vec![choice])
}

/// The definition: all plays stay where the player wins, and none goes round a cycle of the opponent.
fn wins(game: &Game, winning: &Winning, start: u32) -> Result<(), StrategyError> {
    let player = winning.winner[start as usize];
    let mut reached = vec![start];
    let mut next = 0;
    while next < reached.len() {
        for w in moves(game, winning, player, reached[next]).ok_or(StrategyError::NoMove)? {
            if winning.winner[w as usize] != player {
                return Err(StrategyError::Escape);
            }
            if !reached.contains(&w) {
                reached.push(w);
            }
        }
        next += 1;
    }
    let mut bad: Vec<u32> =
        reached.iter().copied().filter(|v| Player::of(game.priority(*v)) != player).collect();
    bad.sort_by_key(|v| game.priority(*v));
    for v in bad {
        let priority = game.priority(v);
        let mut behind: Vec<u32> = Vec::new();
        let mut pending = vec![v];
        while let Some(at) = pending.pop() {
            for w in moves(game, winning, player, at).into_iter().flatten() {
                if game.priority(w) <= priority && !behind.contains(&w) {
                    behind.push(w);
                    pending.push(w);
                }
            }
        }
        if behind.contains(&v) {
            return Err(StrategyError::Cycle(priority));
        }
    }
    Ok(())
}

#[test]
fn strategies_are_accepted_if_and_only_if_they_win() {
    let meter = Meter::start(Budget::default());
    let mut counts = [0; 4];
    for seed in 0..6000 {
        let mut random = Random::new(seed);
        let count: u32 = 1 + random.below(7);
        let mut game = Game::default();
        for _ in 0..count {
            let owner = if random.one_in(2) { Player::Even } else { Player::Odd };
            let degree = random.below(3u32) + u32::from(!random.one_in(6));
            let successors: Vec<u32> = (0..degree).map(|_| random.below(count)).collect();
            game.add(owner, random.below(5), successors);
        }
        let mut winning = zielonka(&game, &meter).expect("no time limit");
        for v in 0..count as usize {
            match random.below(14) {
                0 => winning.winner[v] = winning.winner[v].opponent(),
                1 => winning.strategy[v] = random.below(count),
                2 => winning.strategy[v] = NO_CHOICE,
                _ => {}
            }
            let to = game.successors(v as u32);
            if winning.strategy[v] == NO_CHOICE && !to.is_empty() && random.one_in(2) {
                winning.strategy[v] = *random.pick(to);
            }
        }
        let start = random.below(count);
        let expected = wins(&game, &winning, start);
        let found = verify(&game, &winning, start);
        let kind = |result: &Result<(), StrategyError>| match result {
            Ok(()) => 0,
            Err(StrategyError::NoMove) => 1,
            Err(StrategyError::Escape) => 2,
            Err(StrategyError::Cycle(_)) => 3,
        };
        assert_eq!(found, expected, "seed {seed}: {game:?} {winning:?} from {start}");
        counts[kind(&found)] += 1;
    }
    assert!(counts.iter().all(|count| *count > 100), "{counts:?}");
}
