//! Bitstate search by all cores: one array of bits, and stacks of whole states.
//!
//! A state is found new by exactly one worker ([`SharedBits`]), which asks the questions about it and expands
//! it; who has nothing to do is given states with the way that leads to them ([`crate::hunt::dive`]), so that
//! whoever finds something knows the run. Which states are taken for others depends on the order in which
//! they come, and so on chance: what is told of the coverage is of this run.

use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

use volee_store::{SharedBits, hash_state};
use volee_system::{Flow, Limit, Meter, Progress, Snapshot, System};

use super::yard::{End, Seen, Taken, Yard};
use super::{Crew, REPORT};
use crate::check::Statistics;
use crate::hunt::dive::{Diver, Package};
use crate::questions::{Finding, Questions, join_findings};

/// States that a worker expands between two looks around.
const BATCH: u32 = 1 << 6;
/// Looks around between two accounts.
const ACCOUNT: u32 = 1 << 4;

/// What a crew has found.
pub(crate) struct Found {
    pub findings: Vec<Finding>,
    /// Somebody has found what ends a search.
    pub decided: bool,
    pub statistics: Statistics,
    /// An estimate of the states that were taken for others.
    pub missed: f64,
    /// Bits of the table.
    pub bits: f64,
    pub limit: Option<Limit>,
}

/// How far one worker is.
#[derive(Debug, Clone, Default)]
struct Account {
    states: u64,
    transitions: u64,
    reduced: u64,
    depth: u64,
    waiting: u64,
    bytes: u64,
    missed: f64,
}

struct Common<'c> {
    yard: Yard<Package>,
    table: SharedBits,
    meter: &'c Meter,
    accounts: Vec<Mutex<Account>>,
    findings: Mutex<Option<Vec<Finding>>>,
}

impl Common<'_> {
    /// All accounts as one.
    fn sum(&self) -> Account {
        let mut sum = Account::default();
        for account in &self.accounts {
            let account = account.lock().unwrap_or_else(PoisonError::into_inner);
            sum.states += account.states;
            sum.transitions += account.transitions;
            sum.reduced += account.reduced;
            sum.depth = sum.depth.max(account.depth);
            sum.waiting += account.waiting;
            sum.bytes += account.bytes;
            sum.missed += account.missed;
        }
        sum
    }
}

/// Looks at all states that a table of this size tells apart. `None` when there is no memory for it.
pub(crate) fn search<S: System + ?Sized>(
    crew: &Crew<'_>,
    system: &mut S,
    bytes: u64,
    meter: &Meter,
    progress: &mut dyn Progress,
) -> Option<Found> {
    let table = SharedBits::new(bytes)?;
    let mut initial: Vec<Vec<u8>> = Vec::new();
    let mut first = Account::default();
    let _ = system.initial(&mut |state| {
        first.transitions += 1;
        if let Some(odds) = table.insert(hash_state(state)) {
            first.states += 1;
            first.missed += odds;
            initial.push(state.to_vec());
        }
        Flow::Continue(())
    });
    let mut accounts: Vec<Mutex<Account>> = (0..crew.size()).map(|_| Mutex::default()).collect();
    accounts.push(Mutex::new(first));
    let yard = Yard::new(crew.size(), vec![Package::initial(initial.iter())]);
    let common = Common { yard, table, meter, accounts, findings: Mutex::default() };
    let (end, peak) = std::thread::scope(|scope| {
        for number in 0..crew.size() {
            let common = &common;
            scope.spawn(move || run(crew, number, common));
        }
        watch(&common, progress)
    });
    let sum = common.sum();
    let statistics = Statistics {
        states: sum.states,
        transitions: sum.transitions,
        reduced: sum.reduced,
        max_depth: sum.depth,
        memory_bytes: peak.max(common.table.bytes()),
        table_bytes: common.table.bytes(),
        workers: crew.size() as u64,
        ..Statistics::default()
    };
    let (decided, limit) = match end {
        End::Complete => (false, None),
        End::Decided => (true, None),
        End::Limit(Some(limit)) => (false, Some(limit)),
        End::Limit(None) => {
            (false, Some(Limit::Other { message: "the model could not be read once more".into() }))
        }
    };
    let findings = common.findings.into_inner().unwrap_or_else(PoisonError::into_inner).unwrap_or_default();
    let bits = common.table.bytes() as f64 * 8.0;
    Some(Found { findings, decided, statistics, missed: sum.missed, bits, limit })
}

/// Tells of progress and looks at the clock until the workers have ended.
fn watch(common: &Common<'_>, progress: &mut dyn Progress) -> (End, u64) {
    let mut peak = 0;
    loop {
        let seen = common.yard.watch(REPORT);
        let sum = common.sum();
        let memory = common.table.bytes() + sum.bytes;
        peak = peak.max(memory);
        if let Seen::End(end) = seen {
            return (end, peak);
        }
        progress.report(&Snapshot {
            states: sum.states,
            transitions: sum.transitions,
            depth: sum.depth,
            max_depth: sum.depth,
            pending: sum.waiting,
            memory,
        });
        let needed = || format!("there are more than {} states", sum.states);
        if let Err(limit) = common.meter.check().and_then(|()| common.meter.check_memory(memory, needed)) {
            common.yard.end(End::Limit(Some(limit)));
        }
    }
}

/// Tells the yard that a worker has left, also when it has panicked.
struct Leaving<'y, 'c>(&'y Common<'c>);

impl Drop for Leaving<'_, '_> {
    fn drop(&mut self) {
        self.0.yard.leave();
    }
}

/// The life of a worker.
fn run(crew: &Crew<'_>, number: usize, common: &Common<'_>) {
    let _leaving = Leaving(common);
    let Some((mut system, check)) = crew.another() else { return };
    let mut diver = Diver::new(&mut *system, Questions::new(&check), None);
    let mut own = Account::default();
    let mut until_account = ACCOUNT;
    while !common.yard.has_ended() {
        if diver.is_idle() {
            account(&diver, &own, common, number);
            match common.yard.take(0) {
                Taken::Package(package) => diver.take(package),
                // Nobody calls meetings or keeps states for later.
                Taken::Meeting | Taken::Level => {}
                Taken::End => break,
            }
            continue;
        }
        if expand(&mut diver, &mut own, common).is_break() {
            common.yard.end(End::Decided);
        }
        if common.yard.is_hungry()
            && let Some(package) = diver.give()
        {
            common.yard.give(package);
        }
        until_account -= 1;
        if until_account == 0 {
            until_account = ACCOUNT;
            account(&diver, &own, common, number);
        }
    }
    account(&diver, &own, common, number);
    let findings = diver.questions.into_findings();
    let mut all = common.findings.lock().unwrap_or_else(PoisonError::into_inner);
    match &mut *all {
        None => *all = Some(findings),
        Some(all) => join_findings(all, findings),
    }
    drop(all);
    crew.note_left_out(system.as_ref());
    crew.note_executed(system.as_mut());
}

/// Expands a few states. `Break` when the search may end for what was found.
fn expand(diver: &mut Diver<'_, '_, dyn System>, own: &mut Account, common: &Common<'_>) -> Flow {
    for _ in 0..BATCH {
        let step = diver.step(|state| match common.table.insert(hash_state(state)) {
            None => false,
            Some(odds) => {
                own.states += 1;
                own.missed += odds;
                true
            }
        });
        match step {
            ControlFlow::Break(()) => return Flow::Break(()),
            ControlFlow::Continue(false) => break,
            ControlFlow::Continue(true) => {}
        }
    }
    Flow::Continue(())
}

fn account(diver: &Diver<'_, '_, dyn System>, own: &Account, common: &Common<'_>, number: usize) {
    let figures = &diver.figures;
    *common.accounts[number].lock().unwrap_or_else(PoisonError::into_inner) = Account {
        transitions: figures.transitions,
        reduced: figures.reduced,
        depth: figures.depth,
        waiting: diver.waiting(),
        bytes: diver.bytes(),
        ..own.clone()
    };
}
