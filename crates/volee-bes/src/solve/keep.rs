//! The loop of every strategy: it does one thing after the other, looks at the clock now and then, and keeps
//! the resolution in a file where that is asked for.
//!
//! Between two steps nothing is under way, so that what is written there is all that the strategy has: its
//! table, places in the order of their numbers, and its stacks, which are numbers. Whoever reads them gives
//! every place the number that it had and goes on with the very next step. What is solved is kept as well,
//! because the certificate is still to be checked. Several threads keep what they have themselves, and who
//! goes on from their file are several threads again, or one of that kind.

use std::io;

use volee_store::checkpoint::{Checkpoint, Damaged, Keeper, Reader, Refused, Writer};
use volee_system::{Limit, Meter, Progress, Snapshot};

use super::crew::{Keeping, is_of_several};
use super::{How, SolveError, Solved, Statistics};

/// Bytes that a variable takes until it is in a file, roughly.
pub(super) const VARIABLE: usize = 32;

/// How a graph is solved, step by step.
pub(crate) trait Strategy {
    /// What a file of this strategy begins with.
    const KIND: u64;
    /// Steps between two looks at the clock.
    const PATIENCE: u32 = 4096;

    /// Begins with the main variable.
    fn begin(&mut self) -> Result<(), SolveError>;

    /// Whether there is nothing left to do.
    fn is_done(&self) -> bool;

    /// Does one thing.
    fn step(&mut self) -> Result<(), SolveError>;

    /// What it cost so far, and how much waits.
    fn costs(&self) -> (Statistics, u64);

    /// Writes all that it has.
    fn write(&mut self, out: &mut Writer) -> io::Result<()>;

    /// Reads what was written, in the place of having begun.
    fn read(&mut self, input: &mut Reader, meter: &Meter) -> Result<(), Refused>;

    /// Whether what was read fits together.
    fn is_sound(&self) -> bool;
}

/// Solves from the beginning or from a file.
pub(crate) fn run<S: Strategy>(
    strategy: &mut S,
    kept: Option<&Checkpoint>,
    meter: &Meter,
    progress: &mut dyn Progress,
) -> Result<(), SolveError> {
    run_with(strategy, How { kept, ..How::default() }, meter, progress).map(drop)
}

/// Solves from the beginning or from a file, as far as one thread does that. What several have solved is given.
pub(crate) fn run_with<S: Strategy>(
    strategy: &mut S,
    how: How<'_>,
    meter: &Meter,
    progress: &mut dyn Progress,
) -> Result<Option<Solved>, SolveError> {
    let mut keeper = how.kept.map(|kept| Keeper::new(kept.clone(), meter));
    let mut crew = how.crew.filter(|crew| crew.helps(how, meter));
    let mut is_left_to_one = false;
    match &mut keeper {
        Some(keeper) if keeper.checkpoint.resume => match resume(strategy, keeper, how, meter, progress)? {
            Resumed::Solved(solved) => return Ok(Some(solved)),
            Resumed::Alone(left_to_one) => (crew, is_left_to_one) = (None, left_to_one),
            Resumed::Any => {}
        },
        _ => strategy.begin()?,
    }
    let (mut patience, worked) = (0, !strategy.is_done());
    while !strategy.is_done() {
        strategy.step()?;
        if patience > 0 {
            patience -= 1;
            continue;
        }
        patience = S::PATIENCE;
        let costs = look(strategy, keeper.as_mut(), is_left_to_one, meter, progress)?;
        let Some(crew) = crew.take_if(|crew| crew.begins(&costs) && !strategy.is_done()) else { continue };
        let mut keeping = keeper.as_mut().map(Keeping::begin);
        let solved = crew.solve(&costs, keeping.as_mut(), meter, progress);
        let is_written = keeping.as_ref().is_some_and(|keeping| keeping.is_written);
        is_left_to_one = keeping.is_some_and(|keeping| keeping.is_left_to_one);
        if let (Err(_), Some(keeper), false) = (&solved, &mut keeper, is_written) {
            // Several had no time to be kept: what one has had stays.
            keep(strategy, keeper, is_left_to_one, meter, progress);
        }
        if let Some(solved) = solved? {
            return Ok(Some(solved));
        }
    }
    if let Some(keeper) = keeper.as_mut().filter(|_| worked) {
        keep(strategy, keeper, is_left_to_one, meter, progress);
    }
    Ok(None)
}

/// Looks at the clock, and at the budget, and shows progress.
#[cold]
fn look<S: Strategy>(
    strategy: &mut S,
    keeper: Option<&mut Keeper>,
    is_left_to_one: bool,
    meter: &Meter,
    progress: &mut dyn Progress,
) -> Result<Statistics, Limit> {
    let (statistics, pending) = strategy.costs();
    progress.report(&Snapshot {
        states: statistics.places,
        transitions: statistics.edges,
        depth: statistics.depth,
        max_depth: statistics.depth,
        pending,
        memory: statistics.memory,
    });
    let needs =
        || format!("{} variables and {} edges of the boolean graph", statistics.variables, statistics.edges);
    let mut checked = meter.check().and_then(|()| meter.check_memory(statistics.memory, needs));
    if let Some(keeper) = keeper {
        checked = checked.and_then(|()| keeper.last_moment(meter, statistics.variables, VARIABLE));
        if checked.is_err() || keeper.is_time(meter) {
            keep(strategy, keeper, is_left_to_one, meter, progress);
        }
    }
    checked.map(|()| statistics)
}

fn keep<S: Strategy>(
    strategy: &mut S,
    keeper: &mut Keeper,
    is_left_to_one: bool,
    meter: &Meter,
    progress: &mut dyn Progress,
) {
    let variables = strategy.costs().0.variables;
    let failed = keeper.keep(variables, meter, |out| {
        out.number(S::KIND)?;
        out.number(u64::from(is_left_to_one))?;
        strategy.write(out)
    });
    if let Some(failed) = failed {
        progress.say(&failed);
    }
}

/// How a resolution goes on from its file.
enum Resumed {
    /// Several have solved it.
    Solved(Solved),
    /// In one thread; whether several had an answer whose proof it is to find.
    Alone(bool),
    /// In one thread, until several are asked.
    Any,
}

fn resume<S: Strategy>(
    strategy: &mut S,
    keeper: &mut Keeper,
    how: How<'_>,
    meter: &Meter,
    progress: &mut dyn Progress,
) -> Result<Resumed, SolveError> {
    let path = keeper.checkpoint.path.clone();
    if !is_of_several(&path).map_err(|refused| refused.into_limit(&path))? {
        let is_left_to_one = restore(strategy, keeper, meter)?;
        return Ok(if is_left_to_one { Resumed::Alone(true) } else { Resumed::Any });
    }
    let nobody = || Limit::Other { message: "it was kept by several threads, and here is one".into() };
    let crew = how.crew.ok_or_else(nobody)?;
    let mut keeping = Keeping::resume(keeper);
    if let Some(solved) = crew.solve(&strategy.costs().0, Some(&mut keeping), meter, progress)? {
        return Ok(Resumed::Solved(solved));
    }
    strategy.begin()?;
    Ok(Resumed::Alone(keeping.is_left_to_one))
}

/// Goes on from the file of one thread; tells whether several had an answer by then.
fn restore<S: Strategy>(strategy: &mut S, keeper: &mut Keeper, meter: &Meter) -> Result<bool, Limit> {
    let path = &keeper.checkpoint.path;
    let restored = Reader::open(path).map_err(Refused::from).and_then(|mut input| {
        if input.number()? != S::KIND {
            return Err(Damaged.into());
        }
        let is_left_to_one = input.number()? == 1;
        strategy.read(&mut input, meter)?;
        if strategy.is_sound() { Ok(is_left_to_one) } else { Err(Damaged.into()) }
    });
    let is_left_to_one = restored.map_err(|refused| refused.into_limit(path))?;
    keeper.restored(meter);
    Ok(is_left_to_one)
}
