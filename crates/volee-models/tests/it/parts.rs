//! Models that tell their actions part by part, beside the same models as a whole: random programs that reach
//! their rows in every way there is. What a search remembers of a part must never show.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use volee::system::Random;
use volee_models::{Model, Pack, Property, Row};

use crate::twins::naive;

const CELLS: usize = 4;
const PARTS: u8 = 3;

/// Threads over shared cells, each with some statements.
#[derive(Clone)]
struct Cells {
    statements: Vec<Vec<Statement>>,
    may_fail: bool,
}

#[derive(Clone, Debug, Pack)]
struct State {
    shared: u8,
    left: Row<u8>,
    right: Row<u8>,
    pairs: Row<Pair>,
    boxed: Box<Inner>,
    fixed: [bool; 2],
}

#[derive(Clone, Debug, PartialEq, Pack)]
struct Pair {
    low: u8,
    high: Option<bool>,
}

#[derive(Clone, Debug, Pack)]
struct Inner {
    deep: Row<u8>,
    nothing: (),
}

#[derive(Clone, Copy, Debug)]
struct Statement {
    when: Expression,
    is: u8,
    kind: u8,
    from: Expression,
    to: usize,
}

/// A number below 3, taken from a state.
#[derive(Clone, Copy, Debug)]
struct Expression {
    kind: u8,
    at: usize,
}

impl Expression {
    fn random(random: &mut Random) -> Self {
        Expression { kind: random.below(16) as u8, at: random.below(CELLS as u64) as usize }
    }

    fn value(self, state: &State) -> u8 {
        let at = self.at;
        let value = match self.kind {
            0 => state.shared,
            1 => state.left.iter().sum(),
            2 => state.right.get(at).copied().unwrap_or_default(),
            3 => state.pairs[at].low,
            4 => u8::from(state.pairs[at].high == Some(true)),
            5 => state.boxed.deep[at],
            6 => u8::from(state.left == state.right),
            7 => state.left.clone()[at],
            8 => state.right[1..].iter().max().copied().unwrap_or_default(),
            9 => format!("{:?}", state.boxed).bytes().fold(0, |sum, byte| (sum + byte) % 3),
            10 => {
                let mut bytes = Vec::new();
                state.left.pack(&mut bytes);
                bytes[1 + at]
            }
            11 => u8::from(state.fixed[at % 2]),
            12 => state.left.len() as u8,
            13 => {
                let mut copy = Row::of(0, 0);
                copy.assign(&state.right);
                copy[at]
            }
            14 => state.left[usize::from(state.right[at])],
            _ => state.left[at],
        };
        value % 3
    }
}

impl Statement {
    fn random(random: &mut Random) -> Self {
        Statement {
            when: Expression::random(random),
            is: random.below(3) as u8,
            kind: random.below(14) as u8,
            from: Expression::random(random),
            to: random.below(CELLS as u64) as usize,
        }
    }

    fn execute(self, state: &mut State) {
        let (value, to) = (self.from.value(state), self.to);
        match self.kind {
            0 => state.shared = value,
            1 => std::mem::swap(&mut state.left, &mut state.right),
            2 => state.left = state.left.iter().rev().copied().collect(),
            3 => state.right.assign(&state.left),
            4 => state.boxed.deep.swap(0, to),
            5 => state.left.clone_from(&state.right),
            6 => state.pairs[to] = Pair { low: value, high: (value > 0).then_some(value > 1) },
            7 => *state.boxed = Inner { deep: Row::of(CELLS, value), nothing: () },
            8 => state.fixed[to % 2] = value > 0,
            9 => {
                let old = std::mem::replace(&mut state.right, Row::of(CELLS, 0));
                state.right[to] = old[0];
            }
            10 => state.boxed.deep[to] = value,
            11 => state.right[to] = value,
            12 => std::mem::swap(&mut state.boxed.deep, &mut state.right),
            _ => state.left[to] = value,
        }
    }
}

impl Cells {
    fn random(random: &mut Random) -> Self {
        let part = |random: &mut Random| (0..3).map(|_| Statement::random(random)).collect();
        Cells { statements: (0..PARTS).map(|_| part(random)).collect(), may_fail: false }
    }
}

fn properties<M: Model<State = State>>() -> Vec<Property<M>> {
    vec![
        Property::always("not all", |_, state: &State| !state.left.iter().all(|cell| *cell == 2)),
        Property::sometimes("high", |_, state: &State| state.pairs[0].high == Some(true)),
        Property::named("one", |_, state: &State| state.left[0] == 1),
        Property::ltl("again", "[]<> one"),
    ]
}

impl Model for Cells {
    type State = State;
    type Action = (u8, u8);

    fn initial(&self) -> Vec<State> {
        vec![State {
            shared: 0,
            left: Row::of(CELLS, 0),
            right: (0..CELLS as u8).map(|cell| cell % 3).collect(),
            pairs: Row::of(CELLS, Pair { low: 1, high: None }),
            boxed: Box::new(Inner { deep: Row::of(CELLS, 2), nothing: () }),
            fixed: [false; 2],
        }]
    }

    fn parts(&self) -> u8 {
        PARTS
    }

    fn actions_of(&self, part: u8, state: &State, actions: &mut Vec<(u8, u8)>) {
        for (number, statement) in (0..).zip(&self.statements[usize::from(part)]) {
            if statement.when.value(state) == statement.is {
                actions.push((part, number));
            }
        }
    }

    fn apply(&self, state: &mut State, &(part, number): &(u8, u8)) {
        self.statements[usize::from(part)][usize::from(number)].execute(state);
    }

    fn within(&self, state: &State) -> bool {
        state.left[0] + state.right[1] < 4
    }

    fn fails(&self, before: &State, _: &(u8, u8), after: &State) -> Option<String> {
        let wrong = self.may_fail && before.right[2] == 2 && after.boxed.deep[1] == 0;
        wrong.then(|| "two and nothing".to_string())
    }

    fn process(&self, &(part, _): &(u8, u8)) -> Option<u8> {
        Some(part)
    }

    fn may_end(&self, state: &State) -> bool {
        state.shared == 0
    }

    fn properties(&self) -> Vec<Property<Self>> {
        properties()
    }
}

/// The same without parts.
#[derive(Clone)]
struct Whole(Cells);

impl Model for Whole {
    type State = State;
    type Action = (u8, u8);

    fn initial(&self) -> Vec<State> {
        self.0.initial()
    }

    fn actions(&self, state: &State, actions: &mut Vec<(u8, u8)>) {
        self.0.actions(state, actions);
    }

    fn apply(&self, state: &mut State, action: &(u8, u8)) {
        self.0.apply(state, action);
    }

    fn within(&self, state: &State) -> bool {
        self.0.within(state)
    }

    fn fails(&self, before: &State, action: &(u8, u8), after: &State) -> Option<String> {
        self.0.fails(before, action, after)
    }

    fn process(&self, action: &(u8, u8)) -> Option<u8> {
        self.0.process(action)
    }

    fn may_end(&self, state: &State) -> bool {
        self.0.may_end(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        properties()
    }
}

#[test]
fn models_with_parts_have_the_states_and_steps_of_a_naive_search() {
    let mut random = Random::new(11);
    let mut most = 0;
    for number in 0..400 {
        let model = Cells::random(&mut random);
        let (states, steps) = naive(&model);
        let checked = model.clone().check().all_errors().without_deadlocks().run();
        assert_eq!(checked.states(), states, "{number}: {:?}", model.statements);
        assert_eq!(checked.answers().figures.number("transitions"), Some(steps + 1), "{number}");
        most = most.max(states);
    }
    assert!(most > 1000, "some of them are large: {most}");
}

#[test]
fn models_with_parts_are_answered_as_they_are_without() {
    let mut random = Random::new(12);
    let mut violated = [0; 2];
    for number in 0..200 {
        let model = Cells { may_fail: true, ..Cells::random(&mut random) };
        for name in ["deadlock", "assertions", "not all", "high", "again"] {
            let parts = model.clone().check().property(name).run().holds();
            let whole = Whole(model.clone()).check().property(name).run().holds();
            assert_eq!(parts, whole, "{number}, {name}: {:?}", model.statements);
            violated[usize::from(parts)] += 1;
        }
        let parts = model.clone().check().fair().property("again").run().holds();
        let whole = Whole(model.clone()).check().fair().property("again").run().holds();
        assert_eq!(parts, whole, "{number}, fair: {:?}", model.statements);
    }
    assert!(violated.iter().all(|count| *count > 50), "{violated:?}");
}

/// Counts how often it is asked to act.
struct Counted(crate::two_phase::TwoPhase, std::sync::Arc<AtomicU64>);

impl Model for Counted {
    type State = crate::two_phase::State;
    type Action = crate::two_phase::Action;

    fn initial(&self) -> Vec<Self::State> {
        self.0.initial()
    }

    fn parts(&self) -> u8 {
        self.0.parts()
    }

    fn actions_of(&self, part: u8, state: &Self::State, actions: &mut Vec<Self::Action>) {
        self.0.actions_of(part, state, actions);
    }

    fn apply(&self, state: &mut Self::State, action: &Self::Action) {
        self.1.fetch_add(1, Relaxed);
        self.0.apply(state, action);
    }
}

#[test]
fn what_a_part_did_is_remembered() {
    let applied = std::sync::Arc::new(AtomicU64::new(0));
    let model = Counted(crate::two_phase::TwoPhase::new(6), std::sync::Arc::clone(&applied));
    let checked = model.check().without_deadlocks().run();
    assert_eq!(checked.states(), 50_816);
    let applied = applied.load(Relaxed);
    assert!(applied < 20_000, "{applied} of some 400,000 steps were made by the model");
}
