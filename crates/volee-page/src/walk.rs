//! Going on from a state: at random, until a condition, or by a shortest way to a condition.
//!
//! Each is bounded in steps, states and time, so that a question of the page always ends soon and says how it
//! ended.

use std::collections::{HashMap, VecDeque};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use volee::system::{PredicateId, Random, collect_steps};

use crate::explorer::{Complaint, Explorer, LONGEST_RUN, StateNumber, Told};

const PATIENCE: Duration = Duration::from_secs(10);
/// States that a search for a shortest way may look at.
const MOST_STATES: usize = 300_000;

/// How a walk goes on.
#[derive(Debug, Clone)]
pub struct Walk {
    /// Where it starts.
    pub from: u32,
    /// At most this many steps.
    pub steps: usize,
    /// The seed of chance.
    pub seed: u64,
    /// It ends where this is true; not looked at where it starts.
    pub until: Option<String>,
}

impl Explorer {
    /// Random steps.
    ///
    /// # Errors
    /// The condition is none, or there is no room for more states.
    pub fn walk(&mut self, walk: &Walk) -> Told {
        let until = walk.until.as_deref().map(|text| self.predicate(text)).transpose()?;
        let mut state = self.state(walk.from)?;
        let mut before = self.model.draft.system().variables(&state);
        let mut random = Random::new(walk.seed);
        let mut steps: Vec<Value> = Vec::new();
        let start = Instant::now();
        let mut ended = "steps";
        while steps.len() < walk.steps.min(LONGEST_RUN) {
            if start.elapsed() > PATIENCE {
                ended = "time";
                break;
            }
            let mut possible = collect_steps(self.model.draft.system(), &state);
            if possible.is_empty() {
                ended = if self.model.draft.system().is_valid_end(&state) { "valid" } else { "deadlock" };
                break;
            }
            let ordinal = random.part_of(possible.len());
            let (step, target) = possible.swap_remove(ordinal);
            steps.push(self.told(&state, &before, ordinal, &step, &target)?);
            before = self.model.draft.system().variables(&target);
            state = target.into();
            if step.fault.is_some() {
                ended = "fault";
                break;
            }
            if self.is_true(until, &state) {
                ended = "condition";
                break;
            }
        }
        Ok(json!({ "steps": steps, "ended": ended }))
    }

    fn is_true(&mut self, predicate: Option<PredicateId>, state: &[u8]) -> bool {
        predicate.is_some_and(|p| self.model.draft.system().holds(p, state).unwrap_or(false))
    }

    /// A shortest way to a state where an expression is true.
    ///
    /// # Errors
    /// It is no expression, or none was found, or not in time.
    pub fn nearest(&mut self, from: u32, text: &str) -> Told {
        let goal = self.predicate(text)?;
        let first = self.state(from)?;
        // For each state met: the one it was met from, and by which step.
        let mut met: HashMap<Vec<u8>, (usize, u32)> = HashMap::new();
        let mut order: Vec<Vec<u8>> = vec![first.to_vec()];
        met.insert(first.to_vec(), (usize::MAX, 0));
        let mut waiting = VecDeque::from([0]);
        let start = Instant::now();
        while let Some(at) = waiting.pop_front() {
            if order.len() > MOST_STATES || start.elapsed() > PATIENCE {
                let seen = order.len();
                return Err(Complaint(format!(
                    "`{text}` is true in none of the {seen} states nearest to here; a check looks further"
                )));
            }
            let state = order[at].clone();
            for (ordinal, (_, target)) in
                collect_steps(self.model.draft.system(), &state).into_iter().enumerate()
            {
                if met.contains_key(&target) && target != *first {
                    continue;
                }
                let found = self.is_true(Some(goal), &target);
                if found {
                    return self.way(&order, &met, at, ordinal as u32);
                }
                if !met.contains_key(&target) {
                    met.insert(target.clone(), (at, ordinal as u32));
                    waiting.push_back(order.len());
                    order.push(target);
                }
            }
        }
        Err(Complaint(format!(
            "`{text}` is never true from here on: all {} states were looked at",
            order.len()
        )))
    }

    /// The steps that lead to the `ordinal`-th successor of the state met as number `at`.
    fn way(
        &mut self,
        order: &[Vec<u8>],
        met: &HashMap<Vec<u8>, (usize, u32)>,
        at: usize,
        ordinal: u32,
    ) -> Told {
        let mut ordinals = vec![ordinal];
        let mut here = at;
        while let Some(&(from, by)) = met.get(&order[here]).filter(|(from, _)| *from != usize::MAX) {
            ordinals.push(by);
            here = from;
        }
        ordinals.reverse();
        let from = self.number(&order[0])?;
        self.follow(from, &ordinals).map(|steps| json!({ "steps": steps, "ended": "condition" }))
    }

    fn follow(&mut self, from: StateNumber, ordinals: &[u32]) -> Result<Vec<Value>, Complaint> {
        let mut state = self.state(from.0)?;
        let mut steps = Vec::with_capacity(ordinals.len());
        for &ordinal in ordinals {
            let before = self.model.draft.system().variables(&state);
            let mut possible = collect_steps(self.model.draft.system(), &state);
            let (step, target) = possible.swap_remove(ordinal as usize);
            steps.push(self.told(&state, &before, ordinal as usize, &step, &target)?);
            state = target.into();
        }
        Ok(steps)
    }
}
