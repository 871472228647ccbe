//! Simulation as a game on pairs of states: one side steps, the other must answer with the same label.
//!
//! A pair is lost for the answering side when some step has no answer, or only answers into lost pairs;
//! losing spreads backwards by counting the answers that are left. The order of losing gives the
//! distinguishing formula: only diamonds and conjunctions, as the theory promises.

use std::collections::HashMap;
use std::sync::Arc;

use volee_system::Meter;

use crate::formula::{Node, NodeId};
use crate::saturate::{TauClosure, saturate};
use crate::{Formula, LabelId, Lts, LtsError, Relation, StateId};

use super::{Difference, Pair, Side};

/// Whether the sides simulate each other as the relation asks; weak relations need sides without internal
/// cycles.
pub(super) fn compare(
    pair: &Pair,
    relation: Relation,
    meter: &Meter,
) -> Result<Option<Difference>, LtsError> {
    let weak = matches!(relation, Relation::WeakSimulation | Relation::WeakSimulationPreorder);
    let saturated;
    let answers = if weak {
        saturated = saturate(&pair.lts, &TauClosure::new(&pair.lts, meter)?, meter)?;
        &saturated
    } else {
        &pair.lts
    };
    let mut sides = vec![(pair.first(), pair.second, Side::First)];
    if !relation.is_preorder() {
        sides.push((pair.second, pair.first(), Side::Second));
    }
    for (challenger, defender, holds_in) in sides {
        let mut game = Game::new(&pair.lts, answers, meter);
        if game.play(challenger, defender)? {
            let formula = game.formula(weak);
            return Ok(Some(Difference::Formula { formula, holds_in }));
        }
    }
    Ok(None)
}

/// A step that the other side must answer.
struct Challenge {
    pair: u32,
    label: LabelId,
    target: StateId,
    /// Answers that are not lost yet.
    left: u32,
}

struct Game<'a> {
    steps: &'a Lts,
    answers: &'a Lts,
    meter: &'a Meter,
    numbers: HashMap<(StateId, StateId), u32>,
    pairs: Vec<(StateId, StateId)>,
    challenges: Vec<Challenge>,
    /// For each pair the challenges of which it is an answer.
    asked_by: Vec<Vec<u32>>,
    /// The challenge that lost a pair, and the order in which pairs were lost.
    lost_by: Vec<Option<u32>>,
    lost: Vec<u32>,
}

impl<'a> Game<'a> {
    fn new(steps: &'a Lts, answers: &'a Lts, meter: &'a Meter) -> Self {
        Game {
            steps,
            answers,
            meter,
            numbers: HashMap::new(),
            pairs: Vec::new(),
            challenges: Vec::new(),
            asked_by: Vec::new(),
            lost_by: Vec::new(),
            lost: Vec::new(),
        }
    }

    fn number(&mut self, pair: (StateId, StateId)) -> u32 {
        let Game { numbers, pairs, asked_by, lost_by, .. } = self;
        *numbers.entry(pair).or_insert_with(|| {
            pairs.push(pair);
            asked_by.push(Vec::new());
            lost_by.push(None);
            pairs.len() as u32 - 1
        })
    }

    /// Whether the first pair is lost.
    fn play(&mut self, challenger: StateId, defender: StateId) -> Result<bool, LtsError> {
        self.number((challenger, defender));
        let mut next = 0;
        let mut spread = 0;
        while next < self.pairs.len() && self.lost_by[0].is_none() {
            self.expand(next as u32)?;
            next += 1;
            while spread < self.lost.len() {
                self.spread(self.lost[spread]);
                spread += 1;
            }
        }
        Ok(self.lost_by[0].is_some())
    }

    fn expand(&mut self, at: u32) -> Result<(), LtsError> {
        self.meter.check()?;
        let used = 120 * self.pairs.len() as u64 + 24 * self.challenges.len() as u64;
        self.meter.check_memory(used, || format!("{} pairs of states", self.pairs.len()))?;
        let (s, t) = self.pairs[at as usize];
        if s == t {
            return Ok(());
        }
        let (steps, answers) = (self.steps, self.answers);
        for edge in steps.edges(s) {
            let challenge = self.challenges.len() as u32;
            let mut left = 0;
            for answer in answers.edges(t).iter().filter(|e| e.label == edge.label) {
                let pair = self.number((edge.target, answer.target));
                if self.lost_by[pair as usize].is_none() {
                    self.asked_by[pair as usize].push(challenge);
                    left += 1;
                }
            }
            self.challenges.push(Challenge { pair: at, label: edge.label, target: edge.target, left });
            if left == 0 {
                self.lose(challenge);
                break;
            }
        }
        Ok(())
    }

    fn lose(&mut self, challenge: u32) {
        let pair = self.challenges[challenge as usize].pair;
        if self.lost_by[pair as usize].is_none() {
            self.lost_by[pair as usize] = Some(challenge);
            self.lost.push(pair);
        }
    }

    fn spread(&mut self, pair: u32) {
        for challenge in std::mem::take(&mut self.asked_by[pair as usize]) {
            let left = &mut self.challenges[challenge as usize].left;
            *left -= 1;
            if *left == 0 {
                self.lose(challenge);
            }
        }
    }

    /// The formula that holds for the challenger: parts were lost before the whole.
    fn formula(&self, weak: bool) -> Formula {
        let needed = self.needed();
        let mut formula = Formula::default();
        let mut nodes: HashMap<u32, NodeId> = HashMap::new();
        for &pair in self.lost.iter().filter(|p| needed.contains_key(p)) {
            let Some(challenge) = self.lost_by[pair as usize] else { continue };
            let parts = self.refuted(pair, challenge).map(|p| nodes[&p]).collect();
            let then = formula.and(parts);
            let label: Arc<str> = self.steps.name(self.challenges[challenge as usize].label).into();
            let node = if weak { Node::WeakDiamond(label, then) } else { Node::Diamond(label, then) };
            nodes.insert(pair, formula.push(node));
            if pair == 0 {
                break;
            }
        }
        formula
    }

    /// The pairs that answer a challenge.
    fn refuted(&self, pair: u32, challenge: u32) -> impl Iterator<Item = u32> + '_ {
        let Challenge { label, target, .. } = self.challenges[challenge as usize];
        let defender = self.pairs[pair as usize].1;
        let answers = self.answers.edges(defender).iter().filter(move |e| e.label == label);
        answers.map(move |e| self.numbers[&(target, e.target)])
    }

    /// The lost pairs that the formula of the first one speaks of.
    fn needed(&self) -> HashMap<u32, ()> {
        let mut needed = HashMap::from([(0, ())]);
        let mut pending = vec![0];
        while let Some(pair) = pending.pop() {
            let Some(challenge) = self.lost_by[pair as usize] else { continue };
            for answer in self.refuted(pair, challenge) {
                if needed.insert(answer, ()).is_none() {
                    pending.push(answer);
                }
            }
        }
        needed
    }
}
