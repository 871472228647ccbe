//! The product's own accounts: what it remembers and what that takes, which sets of steps it refused, and
//! where it ends when the reduced system is settled by itself. What it makes of steps is compared with its
//! definition in `tests/it/products.rs`.

use std::borrow::Cow;
use std::sync::Arc as Shared;
use std::sync::atomic::AtomicBool;

use volee_logic::formula::parse;
use volee_logic::ltl::translate;
use volee_program::{Machine, MachineOptions};
use volee_system::{Budget, Components, Divisible, Meter, Random, Reducible, Sink};

use super::*;

/// States in a row, by their numbers, the last without a step. A state has sets of its one step, of which
/// each may have an error and may cut cycles.
struct Row {
    states: u16,
    /// For each state: whether the set has an error, whether it cuts cycles.
    sets: Vec<Vec<(bool, bool)>>,
}

impl Row {
    fn plain(states: u16) -> Self {
        Row { states, sets: vec![Vec::new(); usize::from(states)] }
    }

    fn number(state: &[u8]) -> u16 {
        u16::from_le_bytes([state[0], state[1]])
    }
}

impl System for Row {
    fn initial(&mut self, push: &mut dyn FnMut(&[u8]) -> Flow) -> Flow {
        push(&[0, 0])
    }
    fn steps(&mut self, state: &[u8], sink: &mut dyn Sink) -> Flow {
        let next = Row::number(state) + 1;
        if next < self.states {
            sink.push(Step::labelled(0), &next.to_le_bytes())
        } else {
            Flow::Continue(())
        }
    }
    fn label(&self, _: Label) -> Cow<'_, str> {
        "next".into()
    }
    fn reducible(&mut self) -> Option<&mut dyn Reducible> {
        Some(self)
    }
}

impl Reducible for Row {
    fn persistent_steps(
        &mut self,
        state: &[u8],
        attempt: u32,
        sink: &mut dyn Sink,
    ) -> ControlFlow<(), Option<PersistentSet>> {
        let at = Row::number(state);
        let set = self.sets[usize::from(at)].get(attempt as usize).filter(|_| at + 1 < self.states);
        let Some(&(has_error, cuts_cycles)) = set else { return ControlFlow::Continue(None) };
        let step = Step { fault: has_error.then_some(FaultId(0)), ..Step::labelled(0) };
        sink.push(step, &(at + 1).to_le_bytes())?;
        let next = attempt + 1;
        ControlFlow::Continue(Some(PersistentSet { others_may_be_ignored: false, cuts_cycles, next }))
    }
}

/// Takes every run for a bad one, and sees nothing.
fn claim() -> Claim {
    let automaton = translate(&parse("true", "f").expect("a formula")).expect("small");
    Claim { stutter_invariant: true, lassos_only: true, ..Claim::new(automaton, Vec::new()) }
}

#[test]
fn a_product_is_cut_short_when_of_16_states_more_than_one_has_only_sets_that_cut_cycles() {
    let claim = claim();
    let mut random = Random::new(1993);
    let (mut short, mut border) = (0, 0);
    for round in 0..600 {
        let mut row = Row::plain(200);
        // Most have no set at all, so that the share of those that are refused is small.
        for sets in &mut row.sets {
            let count = if random.one_in(8) { 1 + random.below(3) } else { 0 };
            *sets = (0..count).map(|_| (random.one_in(2), !random.one_in(4))).collect();
        }
        let twin = row.sets.clone();
        let wants = round % 10 > 0;
        let mut product = Product::<_, 1>::new(&mut row, &claim, false, wants);
        let (mut refused, mut reduced) = (0, 0);
        for (asked, sets) in (1..).zip(&twin[..random.below(199)]) {
            let node = product.intern(&[asked as u8 - 1, 0], claim.automaton.initial).expect("room");
            assert!(product.expand(node, &mut Vec::new()).is_ok());
            let plain = || sets.iter().filter(|(has_error, _)| !has_error);
            let fits = plain().any(|(_, cuts)| !cuts);
            reduced += u64::from(wants && fits);
            refused += u64::from(plain().next().is_some() && !fits);
            assert_eq!(product.reduced, reduced);
            let is_short = wants && refused * 16 > asked;
            assert_eq!(product.is_cut_short(), is_short, "{refused} of {asked} in {twin:?}");
            short += u64::from(is_short);
            border += u64::from(refused > 0 && refused * 16 == asked);
        }
        if product.is_cut_short() {
            assert!(product.settle_expansions(usize::MAX, &Meter::start(Budget::default())));
            assert!(!product.is_cut_short(), "it was settled");
        }
    }
    assert!(short > 5_000 && border > 20, "{short} {border}");
}

#[test]
fn what_is_settled_has_as_many_states_as_are_allowed_and_takes_memory() {
    let (claim, meter) = (claim(), Meter::start(Budget::default()));
    for states in [2, 3, 900, 4095, 4096, 4097, 9000] {
        let mut row = Row::plain(states);
        row.sets.iter_mut().step_by(3).for_each(|sets| sets.push((false, true)));
        let mut product = Product::<_, 1>::new(&mut row, &claim, false, true);
        for most in [usize::from(states) - 1, usize::from(states) / 2] {
            assert!(!product.settle_expansions(most, &meter), "{most} of {states}");
            assert!(product.expansions.is_none());
        }
        let before = product.bytes();
        assert!(product.settle_expansions(usize::from(states), &meter), "{states}");
        let bytes = product.bytes() - before;
        assert!(bytes >= 16 * u64::from(states) && bytes < 64_000 + 128 * u64::from(states), "{bytes}");
        assert!(product.bytes() < 64_000 + 400 * u64::from(states), "{}", product.bytes());
        let name = product.name(&[1, 0]).expect("room");
        assert_eq!(product.load(name), [1, 0]);
        assert_eq!(product.state_length(), 2);
    }
}

#[test]
fn who_settles_looks_now_and_then_whether_to_stop() {
    let claim = claim();
    let settles = |states: u16, cancelled: bool| {
        let cancelled = Shared::new(AtomicBool::new(cancelled));
        let meter = Meter::start(Budget { cancelled, ..Budget::default() });
        let mut row = Row::plain(states);
        let mut product = Product::<_, 1>::new(&mut row, &claim, false, true);
        product.settle_expansions(usize::MAX, &meter)
    };
    assert!(settles(1_000, false) && settles(10_000, false));
    assert!(!settles(10_000, true), "many states are not settled after all");
    assert!(settles(1_000, true), "few states take no time");
}

/// A program that may or may not tell what its steps depend on, and how often all steps of a state were asked
/// for.
struct Watched {
    machine: Machine,
    divides: bool,
    asked: u32,
}

impl System for Watched {
    fn initial(&mut self, push: &mut dyn FnMut(&[u8]) -> Flow) -> Flow {
        self.machine.initial(push)
    }
    fn steps(&mut self, state: &[u8], sink: &mut dyn Sink) -> Flow {
        self.asked += 1;
        self.machine.steps(state, sink)
    }
    fn label(&self, label: Label) -> Cow<'_, str> {
        self.machine.label(label)
    }
    fn components(&self) -> Option<Components> {
        self.machine.components()
    }
    fn divisible(&mut self) -> Option<&mut dyn Divisible> {
        if self.divides { self.machine.divisible() } else { None }
    }
    fn reducible(&mut self) -> Option<&mut dyn Reducible> {
        self.machine.reducible()
    }
}

/// Processes that count round, each in its own variables.
fn watched(processes: u32, divides: bool) -> Watched {
    let text = format!("active [{processes}] proctype P() {{ byte x, y; do :: x = (x + 1) % 40; y = x od }}");
    let (model, _) = volee_promela::parse("round.pml", &text, &volee_promela::Options::default());
    let lowered = volee_promela::lower(Shared::new(model.expect("a program"))).expect("a program");
    let machine = lowered.machine(MachineOptions { plain: true, ..MachineOptions::default() });
    Watched { machine, divides, asked: 0 }
}

/// The transitions of a pair: where they lead, and which steps they are.
fn arcs(product: &mut Product<'_, Watched, 1>, (state, at): &(Vec<u8>, u32)) -> Vec<(Vec<u8>, u32, u32)> {
    let mut arcs = Vec::new();
    let node = product.intern(state, *at).expect("room");
    assert!(product.expand(node, &mut arcs).is_ok());
    let target = |arc: &Arc<1>| {
        let (name, at) = product.nodes.key(arc.node);
        (product.load(name).to_vec(), at, arc.ordinal)
    };
    arcs.iter().map(target).collect()
}

#[test]
fn a_product_that_remembers_steps_is_one_that_does_not_until_it_gives_them_up() {
    let claim = claim();
    for (processes, is_wide) in [(3, false), (12, true)] {
        let (mut with, mut without) = (watched(processes, true), watched(processes, false));
        let mut remembers = Product::<_, 1>::new(&mut with, &claim, false, true);
        let mut asks = Product::<_, 1>::new(&mut without, &claim, false, true);
        let mut random = Random::new(1997);
        let mut at = (volee_system::collect_initial(asks.system).swap_remove(0), claim.automaton.initial);
        for round in 0..6_000 {
            let found = arcs(&mut remembers, &at);
            assert_eq!(found, arcs(&mut asks, &at), "round {round}");
            let counts = |p: &Product<'_, Watched, 1>| (p.asked, p.refused, p.reduced, p.transitions);
            assert_eq!(counts(&remembers), counts(&asks), "round {round}");
            let (state, q, _) = &found[random.below(found.len())];
            at = (state.clone(), *q);
        }
        assert!(asks.refused > 1_000 && asks.reduced > 1_000, "{} {}", asks.refused, asks.reduced);
        let (by_memory, by_asking) = (remembers.system.asked, asks.system.asked);
        assert!(by_memory < by_asking / 10, "{by_memory} {by_asking}");
        assert_eq!(remembers.names.tuples().is_some_and(|tuples| tuples.is_wide()), is_wide);

        let (narrow, wide) = (remembers.memo.bytes(), remembers.wide_memo.bytes());
        assert!(narrow > 0 && (wide > 0) == is_wide);
        let before = remembers.bytes();
        assert!(!asks.forget_steps() && remembers.forget_steps(), "one had something to give up");
        assert_eq!(before - remembers.bytes(), narrow + wide);
        assert!(!remembers.forget_steps(), "nothing is left to give up");
        assert_eq!(arcs(&mut remembers, &at), arcs(&mut asks, &at));
    }
}
