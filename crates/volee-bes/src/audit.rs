//! A second thread that makes all steps again while the first one solves.
//!
//! Whoever checks an answer believes no step that was kept ([`crate::made`]), and lets the system make each of
//! them once more; for programs that takes as long as to solve the equations. It need not wait for the answer:
//! the thread that solves tells the steps that it keeps, by numbers of states, and an auditor with a system of
//! its own makes them from the states that it knows itself. It begins with the initial states. The steps of a
//! state lead to states that it knows, which must be the same, byte by byte, or to numbers that it has not met,
//! which it knows from then on. So what it confirms is this: there is one state for each number, the initial
//! ones among them, and the steps between numbers are those of the system between these states, in order, with
//! labels of the same kind. It looks at nothing that the first thread has made but at those numbers.
//!
//! A formula may also ask for facts about a state. These are looked up in the states of the first thread, so
//! where that has happened both must have the same state for every number.
//!
//! Meanwhile the first thread goes on to check the certificate over the steps that were kept, which is worth
//! something once the auditor has confirmed them. Where it does not, for whatever reason, nothing is lost: the
//! first thread checks all by itself, so that the answer does not depend on how many threads there are.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use volee_logic::mu::Labels;
use volee_store::{Names, Pieces, StateRef};
use volee_system::{Flow, Label, Limit, Meter, Step, System};

use crate::made::{state_of, word};
use crate::model::ModelGraph;
use crate::solve::{Crew, SolveError};

/// Messages that may wait for the auditor; whoever has more waits itself.
const HELD: usize = 64;
/// Numbers in a message, about.
const ENOUGH: usize = 1 << 16;
/// Time after which whoever waits looks up.
const PATIENCE: Duration = Duration::from_millis(20);
/// Where an answer rests on fewer variables than one for so many states, one thread checks it sooner by itself.
const FEW: u64 = 8;
/// States compared between two looks at the clock.
const QUANTUM: u32 = 1 << 16;

/// Steps that were kept, told to the auditor.
#[derive(Debug, Default)]
pub struct Told {
    /// States that the first thread has numbers for.
    pub(crate) states: Vec<(u32, Vec<u8>)>,
    /// Of each state: its number, how many steps it has, their targets.
    pub(crate) numbers: Vec<u32>,
    /// For each step the kind of its label; nothing where there is one kind.
    pub(crate) kinds: Vec<u16>,
    /// For each kind that is new, the action predicates that hold.
    pub(crate) masks: Vec<u64>,
}

/// Tells the auditor of the steps that are kept.
#[derive(Debug)]
pub(crate) struct Telling {
    to: SyncSender<Told>,
    /// States that are to be told before anything else.
    pub states: Vec<(u32, Vec<u8>)>,
    /// States from which on it is told.
    pub from: usize,
    pub begun: bool,
    /// The states whose steps are not told yet, and how many numbers these have.
    pub waiting: Vec<u32>,
    pub weight: usize,
    /// Kinds that were told.
    pub kinds: usize,
    /// It has become pointless.
    over: Arc<AtomicBool>,
}

impl Telling {
    pub fn is_enough(&self) -> bool {
        self.weight >= ENOUGH
    }

    /// Whether somebody listens.
    pub fn send(&self, told: Told) -> bool {
        self.to.send(told).is_ok()
    }

    /// Nothing more is told, and what was told is to be forgotten.
    pub fn give_up(&self) {
        self.over.store(true, Ordering::Relaxed);
    }
}

/// The states by number, as the auditor knows them.
pub struct Seen {
    states: States,
    steps: Vec<(u64, u128, Label)>,
    bytes: Vec<u8>,
    masks: Vec<u64>,
}

enum States {
    /// All have few bytes: words, with all bits changed, so that 0 is none.
    Short(Pieces<u128>),
    /// Names, none of which is 0.
    Named(Box<Names>, Pieces<u64>),
}

impl Seen {
    pub(crate) fn new<S: System + ?Sized>(system: &S) -> Self {
        let states = match system.components() {
            Some(components) => States::Named(Box::new(Names::new(Some(components))), Pieces::new()),
            None => States::Short(Pieces::new()),
        };
        Seen { states, steps: Vec::new(), bytes: Vec::new(), masks: Vec::new() }
    }

    /// Bytes in use.
    pub(crate) fn memory(&self) -> usize {
        match &self.states {
            States::Short(words) => words.bytes(),
            States::Named(names, list) => names.bytes() as usize + list.bytes(),
        }
    }

    /// The state with this number, if it is known.
    pub(crate) fn state(&mut self, number: u32) -> Option<&[u8]> {
        let at = number as usize;
        match &mut self.states {
            States::Short(words) => {
                let word = Some(at).filter(|at| *at < words.len()).map(|at| *words.get(at))?;
                let (state, len) = state_of(!word);
                self.bytes.clear();
                self.bytes.extend_from_slice(&state[..len.min(state.len())]);
                (word != 0).then_some(&self.bytes)
            }
            States::Named(names, list) => {
                let name = Some(at).filter(|at| *at < list.len()).map(|at| *list.get(at))?;
                if name == 0 {
                    return None;
                }
                names.load(StateRef(name), &mut self.bytes);
                Some(&self.bytes)
            }
        }
    }

    /// Compares all that was told with what the system says.
    pub(crate) fn confirms<S: System + ?Sized>(
        &mut self,
        told: &Told,
        system: &mut S,
        labels: &mut Labels,
    ) -> bool {
        self.masks.extend_from_slice(&told.masks);
        let all = told.states.iter().all(|(number, state)| self.is_state(*number, state));
        let (mut at, mut first) = (0, 0);
        while all && at < told.numbers.len() {
            let (number, count) = (told.numbers[at], told.numbers[at + 1] as usize);
            let targets = &told.numbers[at + 2..at + 2 + count];
            let kinds = (!told.kinds.is_empty()).then(|| &told.kinds[first..first + count]);
            if !self.confirms_steps((number, targets, kinds), system, labels) {
                return false;
            }
            (at, first) = (at + 2 + count, first + count);
        }
        all
    }

    /// Whether this is the state with this number, as far as is known.
    fn is_state(&mut self, number: u32, state: &[u8]) -> bool {
        self.steps.clear();
        self.take(state, Label(0));
        self.settle() && self.leads_to(&[number])
    }

    /// Whether these are the steps of a state.
    #[inline]
    fn confirms_steps<S: System + ?Sized>(
        &mut self,
        (number, targets, kinds): (u32, &[u32], Option<&[u16]>),
        system: &mut S,
        labels: &mut Labels,
    ) -> bool {
        match &self.states {
            States::Short(words) => targets.iter().for_each(|target| words.prefetch(*target as usize)),
            States::Named(_, list) => targets.iter().for_each(|target| list.prefetch(*target as usize)),
        }
        self.steps.clear();
        if self.state(number).is_none() {
            return false;
        }
        let state = std::mem::take(&mut self.bytes);
        let _ = system.steps(&state, &mut |step: Step, target: &[u8]| {
            self.take(target, step.label);
            Flow::Continue(())
        });
        self.bytes = state;
        if system.left_out().is_some() || self.steps.len() != targets.len() || !self.settle() {
            return false;
        }
        let Some(kinds) = kinds else { return self.leads_to(targets) };
        let alike = self.steps.iter().zip(kinds).all(|(&(.., label), &kind)| {
            let mask = labels.known(label).unwrap_or_else(|| labels.learn(system, label));
            self.masks.get(usize::from(kind)) == Some(&mask)
        });
        alike && self.leads_to(targets)
    }

    /// Takes a step.
    #[inline(always)]
    fn take(&mut self, target: &[u8], label: Label) {
        if matches!(self.states, States::Short(_)) && word(target).is_none() {
            self.lengthen();
        }
        match &mut self.states {
            States::Short(_) => self.steps.push((0, !word(target).unwrap_or(0), label)),
            States::Named(names, _) => self.steps.push((names.name(target).0, 0, label)),
        }
    }

    /// The first state with more bytes than a word was met.
    #[cold]
    fn lengthen(&mut self) {
        let States::Short(words) = &self.states else { return };
        let (mut names, mut list) = (Box::new(Names::lasting()), Pieces::new());
        let mut name = |word: u128| {
            let (state, len) = state_of(!word);
            if word == 0 { 0 } else { names.name(&state[..len]).0 }
        };
        (0..words.len()).for_each(|at| list.push(name(*words.get(at))));
        self.steps.iter_mut().for_each(|step| step.0 = name(step.1));
        self.states = States::Named(names, list);
    }

    /// Gives names that wait theirs; whether all mean something.
    #[inline]
    fn settle(&mut self) -> bool {
        let States::Named(names, list) = &mut self.states else { return true };
        if names.has_waiting()
            && let Some(mut renaming) = names.rename(u64::BITS - 1)
        {
            for at in 0..list.len() {
                let name = list.get_mut(at);
                if *name != 0 {
                    *name = renaming.translate(names, StateRef(*name)).0;
                }
            }
            self.steps.iter_mut().for_each(|step| step.0 = renaming.translate(names, StateRef(step.0)).0);
        }
        names.full().is_none()
    }

    /// Whether the steps that were taken lead to these; what was not met before is known from now on.
    #[inline]
    fn leads_to(&mut self, targets: &[u32]) -> bool {
        fn same<T: Copy + Default + PartialEq>(list: &mut Pieces<T>, number: u32, state: T) -> bool {
            let at = number as usize;
            if at >= list.len() {
                list.lengthen(at + 1);
            }
            let known = list.get_mut(at);
            if *known == T::default() {
                *known = state;
            }
            *known == state
        }
        let mut steps = self.steps.iter().zip(targets);
        match &mut self.states {
            States::Short(words) => steps.all(|(step, target)| same(words, *target, step.1)),
            States::Named(_, list) => steps.all(|(step, target)| same(list, *target, step.0)),
        }
    }
}

/// What the auditor hears, until nobody tells any more or it is over.
struct Hearing<'a> {
    first: Option<Told>,
    from: &'a Receiver<Told>,
    over: &'a AtomicBool,
}

impl Iterator for Hearing<'_> {
    type Item = Told;

    fn next(&mut self) -> Option<Told> {
        if let Some(told) = self.first.take() {
            return Some(told);
        }
        while !self.over.load(Ordering::Relaxed) {
            match self.from.recv_timeout(PATIENCE) {
                Ok(told) => return Some(told),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return None,
            }
        }
        None
    }
}

/// Whoever goes away has the auditor go as well.
struct Going<'a>(&'a AtomicBool);

impl Drop for Going<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Solves the equations of a graph while a second thread makes the steps again that it keeps. `work` tells what it
/// has found and, if the certificate is one over the kept steps, how many variables that rests on. Gives what was
/// found and, where every step was confirmed that was ever made, the bytes that this took.
///
/// # Errors
/// What `work` says, or a limit while the second thread is waited for.
pub(crate) fn audited<S: System + ?Sized, T>(
    graph: &mut ModelGraph<'_, S>,
    crew: &Crew<'_>,
    meter: &Meter,
    work: impl FnOnce(&mut ModelGraph<'_, S>) -> Result<(T, Option<u64>), SolveError>,
) -> Result<(T, Option<usize>), SolveError> {
    let (to, from) = sync_channel(HELD);
    let over = Arc::new(AtomicBool::new(false));
    let telling = Telling {
        to,
        states: Vec::new(),
        from: usize::try_from(crew.beginning()).unwrap_or(usize::MAX),
        begun: false,
        waiting: Vec::new(),
        weight: 0,
        kinds: 0,
        over: Arc::clone(&over),
    };
    let (first, over) = (thread::current(), &*over);
    thread::scope(|scope| {
        let going = Going(over);
        let auditor = scope.spawn(move || {
            let mut seen = None;
            let mut hearing = Hearing { first: None, from: &from, over };
            // There is no second system before there is something to do.
            hearing.first = hearing.next();
            if hearing.first.is_some() {
                crew.another(&mut |graph| seen = graph.audit(&mut hearing));
            }
            // Whoever tells must not wait for somebody who has left.
            drop(from);
            first.unpark();
            seen
        });
        graph.tell_steps(telling)?;
        let (found, rests_on) = work(graph)?;
        let is_much = rests_on.is_some_and(|count| count * FEW >= graph.states());
        if !graph.end_telling() || !is_much {
            return Ok((found, None));
        }
        while !auditor.is_finished() {
            meter.check()?;
            thread::park_timeout(PATIENCE);
        }
        drop(going);
        match auditor.join() {
            Ok(Some(mut seen)) => {
                let confirmed = graph.agrees(&mut seen, meter)?;
                Ok((found, confirmed.then(|| seen.memory())))
            }
            Ok(None) => Ok((found, None)),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// Hears all steps, and compares them; nothing where there is a difference.
pub(crate) fn audit<S: System + ?Sized>(
    system: &mut S,
    labels: &mut Labels,
    told: &mut dyn Iterator<Item = Told>,
) -> Option<Seen> {
    let mut seen = Seen::new(system);
    for told in told {
        if !seen.confirms(&told, system, labels) {
            return None;
        }
    }
    Some(seen)
}

/// Whether two have the same state for each of so many numbers.
///
/// # Errors
/// A limit.
pub(crate) fn agree(
    count: u32,
    seen: &mut Seen,
    mut is_state: impl FnMut(u32, &[u8]) -> bool,
    meter: &Meter,
) -> Result<bool, Limit> {
    for number in 0..count {
        if number % QUANTUM == 0 {
            meter.check()?;
        }
        if !seen.state(number).is_some_and(|state| is_state(number, state)) {
            return Ok(false);
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use volee_logic::mu::{Equations, Library, parse};
    use volee_system::{Random, Sink};

    use super::*;

    /// State n has steps to n + 1 and to 3n, modulo `count`; so many bytes are a state.
    #[derive(Clone)]
    struct Ring {
        count: u32,
        length: usize,
    }

    impl Ring {
        fn pad(&self, state: u32) -> Vec<u8> {
            let mut bytes = state.to_le_bytes().to_vec();
            bytes.resize(self.length, 7);
            bytes
        }

        fn targets(&self, state: u32) -> [u32; 2] {
            [(state + 1) % self.count, 3 * state % self.count]
        }
    }

    impl System for Ring {
        fn initial(&mut self, push: &mut dyn FnMut(&[u8]) -> Flow) -> Flow {
            push(&self.pad(0))
        }
        fn steps(&mut self, state: &[u8], sink: &mut dyn Sink) -> Flow {
            let targets = self.targets(u32::from_le_bytes([state[0], state[1], state[2], state[3]]));
            let push = |(label, target)| sink.push(Step::labelled(label), &self.pad(target));
            (0..).zip(targets).try_for_each(push)
        }
        fn label(&self, label: Label) -> Cow<'_, str> {
            ["next", "far"][label.0 as usize].into()
        }
    }

    #[test]
    fn whatever_is_told_wrongly_is_not_confirmed() {
        let tree = parse("f", "nu X . ([/next/] false or [true] X)", &Library::empty()).expect("a formula");
        let actions = Equations::new(tree.normalise().expect("small")).formula.actions;
        for seed in 0..500 {
            let mut random = Random::new(seed);
            let mut below = |n: usize| random.below(n as u64) as usize;
            let mut ring = Ring { count: 5 + below(60) as u32, length: [4, 12, 15, 16, 40][below(5)] };
            let (mut labels, count) = (Labels::new(&actions), ring.count);
            let masks = [0, 1].map(|label| labels.learn(&ring, Label(label))).to_vec();
            let numbers = (0..ring.count).flat_map(|n| [n, 2].into_iter().chain(ring.targets(n))).collect();
            let kinds = [0, 1].repeat(ring.count as usize);
            let mut told = Told { states: vec![(0, ring.pad(0))], numbers, kinds, masks };
            let mut confirms = |told: &Told| Seen::new(&ring).confirms(told, &mut ring, &mut labels);
            assert!(confirms(&told), "seed {seed}");
            // The steps of one state as those of another, another target, another label, or one step less.
            let at = 4 * below(told.numbers.len() / 4);
            match seed % 4 {
                0 => {
                    let other = (at + 4) % told.numbers.len();
                    told.numbers.swap(at, other);
                }
                1 => {
                    let target = &mut told.numbers[at + 2 + below(2)];
                    *target = (*target + 1) % count;
                }
                2 => told.kinds[at / 2] = 1,
                _ => {
                    (told.numbers[at + 1], _) = (1, told.kinds.remove(at / 2));
                    told.numbers.remove(at + 2);
                }
            }
            assert!(!confirms(&told), "seed {seed}");
        }
    }
}
