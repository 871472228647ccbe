//! Small random graphs as systems: states of many lengths, several initial states, faults, valid and invalid
//! ends.

use std::borrow::Cow;

use volee_system::{
    Fault, FaultId, FaultKind, Flow, Label, PredicateId, Random, Sink, Step, System, Witness,
    collect_initial, collect_steps,
};

#[derive(Debug, Clone)]
pub struct Graph {
    pub states: Vec<Vec<u8>>,
    pub initial: Vec<usize>,
    /// By state: target and fault.
    pub edges: Vec<Vec<(usize, Option<u32>)>>,
    pub valid_end: Vec<bool>,
    /// By predicate, by state.
    pub predicates: Vec<Vec<bool>>,
}

impl Graph {
    pub fn random(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let n = 1 + random.below(60);
        let degree = 1 + random.below(5);
        let longest = 1 + random.below(70);
        let fixed = random.below(2) == 0;
        let fault_every = [5, 50, 5000][random.below(3)];
        let true_every = [2, 20, 1000][random.below(3)];
        let states = (0..n).map(|at| state_bytes(&mut random, at, longest, fixed)).collect();
        let edges = (0..n)
            .map(|_| {
                let count = random.below(degree + 1);
                (0..count)
                    .map(|_| {
                        let target = random.below(n);
                        (target, (random.below(fault_every) == 0).then(|| random.below(3) as u32))
                    })
                    .collect()
            })
            .collect();
        let initial = (0..1 + random.below(3)).map(|_| random.below(n)).collect();
        let valid_end = (0..n).map(|_| random.below(3) > 0).collect();
        let predicates = (0..3).map(|_| (0..n).map(|_| random.below(true_every) == 0).collect()).collect();
        Graph { states, initial, edges, valid_end, predicates }
    }

    pub fn find(&self, state: &[u8]) -> usize {
        self.states.iter().position(|s| s == state).expect("a state of this graph")
    }

    /// The state a witness leads to, with the fault of its last step.
    pub fn follow(&mut self, witness: &Witness) -> (usize, Option<FaultId>) {
        let mut state = collect_initial(self)[witness.initial as usize].clone();
        let mut fault = None;
        for &ordinal in &witness.steps {
            let (step, target) = collect_steps(self, &state)[ordinal as usize].clone();
            fault = step.fault;
            state = target;
        }
        (self.find(&state), fault)
    }
}

/// Bytes that are different for different numbers, mostly constant, sometimes only zeroes.
fn state_bytes(random: &mut Random, number: usize, longest: usize, fixed: bool) -> Vec<u8> {
    let len = if fixed { longest } else { 1 + random.below(longest) };
    let mut bytes = vec![7; len];
    let at = number % len;
    bytes[at] = number as u8;
    if number == 0 {
        bytes.fill(0);
    }
    for b in &mut bytes[..len / 3] {
        *b = b.wrapping_add((random.number() % 2) as u8);
    }
    // Whatever happened above, the number itself is there.
    bytes.push(number as u8);
    bytes
}

impl System for Graph {
    fn initial(&mut self, push: &mut dyn FnMut(&[u8]) -> Flow) -> Flow {
        self.initial.iter().try_for_each(|&at| push(&self.states[at]))
    }

    fn steps(&mut self, state: &[u8], sink: &mut dyn Sink) -> Flow {
        let at = self.find(state);
        self.edges[at].iter().try_for_each(|&(target, fault)| {
            let step = Step { fault: fault.map(FaultId), ..Step::labelled(target as u32) };
            sink.push(step, &self.states[target])
        })
    }

    fn label(&self, label: Label) -> Cow<'_, str> {
        format!("to {}", label.0).into()
    }

    fn is_valid_end(&mut self, state: &[u8]) -> bool {
        self.valid_end[self.find(state)]
    }

    fn fault(&self, fault: FaultId) -> Fault {
        Fault { kind: FaultKind::Assertion, message: format!("fault {}", fault.0), place: None }
    }

    fn holds(&mut self, predicate: PredicateId, state: &[u8]) -> Result<bool, FaultId> {
        let at = self.find(state);
        // The last predicate has no value in some states.
        if predicate.0 == 2 && at % 17 == 16 {
            return Err(FaultId(2));
        }
        Ok(self.predicates[predicate.0 as usize][at])
    }
}
