//! What traversals share when a search is kept and gone on with: figures, what was found, and states.
//!
//! A traversal calls [`Explorer::begin_batch`] where nothing is under way, and writes what it has of its own
//! with [`Explorer::keep`] when that says so, or when a limit has ended the batch ([`Explorer::is_cut`]).

use volee_store::checkpoint::{CheckpointError, Damaged, Reader, Refused, Writer};
use volee_store::{StateRef, Visited};
use volee_system::{Flow, Limit, System};

use crate::explorer::Explorer;
use crate::parallel::kept;
use crate::questions::Mark;
use crate::staging::Staged;

const BY_THREADS: &str =
    "the search was kept by several threads, which need at least 64 MB of memory to go on";

/// As of when a search is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moment {
    Now,
    /// A limit has ended a batch: what it has counted will be counted again.
    BatchStart,
}

/// What was counted when a batch began.
#[derive(Default)]
pub(crate) struct Counted {
    mark: Mark,
    /// Transitions and reduced expansions.
    counts: (u64, u64),
}

impl<S: System + ?Sized, V: Visited> Explorer<'_, '_, S, V> {
    /// A batch begins, and nothing is staged: what is counted from here on may not count, see [`Moment`].
    /// Whether the search is to be kept now.
    #[inline]
    pub(crate) fn begin_batch(&mut self) -> bool {
        let Some(keeper) = &mut self.keeper else { return false };
        self.questions.mark(&mut self.batch_start.mark);
        self.batch_start.counts = (self.statistics.transitions, self.reducing.count);
        keeper.is_due(self.meter)
    }

    /// Looks at the clock; a search that is kept ends a little before its time, so that its file is there in
    /// time.
    pub(crate) fn check_time(&self) -> Result<(), Limit> {
        self.meter.check()?;
        let states = self.visited.len();
        self.keeper.as_ref().map_or(Ok(()), |keeper| keeper.last_moment(self.meter, states, self.state.len()))
    }

    /// Whether a limit has ended the batch and the search is to be kept as it was when the batch began.
    pub(crate) fn is_cut(&self) -> bool {
        // A depth limit ends no batch: an error did then.
        let cut = self.limit.as_ref().is_some_and(|limit| !matches!(limit, Limit::Depth { .. }));
        cut && self.keeper.as_ref().is_some_and(|keeper| !keeper.restoring)
    }

    /// Keeps the search: its figures, what was found, and what the traversal writes. The search goes on if
    /// that fails, and says so.
    pub(crate) fn keep(
        &mut self,
        kind: u8,
        moment: Moment,
        fill: impl FnOnce(&mut Self, &mut Writer) -> std::io::Result<()>,
    ) {
        let Some(mut keeper) = self.keeper.take_if(|keeper| !keeper.restoring) else { return };
        let states = self.visited.len();
        let failed = keeper.keep(states, self.meter, |out| {
            out.number(u64::from(kind))?;
            let s = &self.statistics;
            let (mark, (transitions, reduced)) = match moment {
                Moment::Now => (None, (s.transitions, self.reducing.count)),
                Moment::BatchStart => (Some(&self.batch_start.mark), self.batch_start.counts),
            };
            for figure in [transitions, s.max_depth, s.memory_bytes, reduced] {
                out.number(figure)?;
            }
            out.value(&self.questions.findings(mark))?;
            let left_out = self.system.left_out().map(|limit| limit.to_string());
            out.value(&left_out.or_else(|| self.left_out.clone()))?;
            out.number(u64::from(self.crew_begins == u64::MAX))?;
            fill(self, out)
        });
        if let Some(failed) = failed {
            self.progress.say(&failed);
        }
        self.loaded = None;
        self.keeper = Some(keeper);
    }

    /// Goes on from where a search was kept; `None` when it is to begin.
    pub(crate) fn restore(
        &mut self,
        kind: u8,
        fill: impl FnOnce(&mut Self, &mut Reader) -> Result<Flow, CheckpointError>,
    ) -> Option<Flow> {
        let keeper = self.keeper.as_mut().filter(|keeper| keeper.checkpoint.resume)?;
        keeper.restoring = true;
        let path = keeper.checkpoint.path.clone();
        let restored = Reader::open(&path).and_then(|mut input| {
            match input.number()? {
                own if own == u64::from(kind) => {}
                of_crew if of_crew == u64::from(kept::KIND) => return Ok(None),
                _ => return Err(Damaged.into()),
            }
            let s = &mut self.statistics;
            for figure in
                [&mut s.transitions, &mut s.max_depth, &mut s.memory_bytes, &mut self.reducing.count]
            {
                *figure = input.number()?;
            }
            if !self.questions.restore(input.value()?) {
                return Err(Damaged.into());
            }
            self.left_out = input.value()?;
            // Whom a crew could not help it is not asked again.
            if input.number()? == 1 {
                self.crew_begins = u64::MAX;
            }
            fill(self, &mut input).map(Some)
        });
        self.loaded = None;
        let restored = match restored {
            Ok(Some(flow)) => Ok(flow),
            // The search begins like any other, and when it is large the crew goes on from the file.
            Ok(None) if self.crew.is_some() => {
                self.kept_by_crew = true;
                return None;
            }
            Ok(None) => return Some(self.stop(Limit::Other { message: BY_THREADS.into() })),
            Err(error) => Err(error),
        };
        if let Some(keeper) = self.keeper.as_mut().filter(|_| restored.is_ok()) {
            keeper.restored(self.meter);
        }
        Some(match restored {
            Ok(flow) => flow,
            Err(error) => self.stop(Refused::File(error).into_limit(&path)),
        })
    }

    /// Stages a state that was kept.
    pub(crate) fn stage_kept(&mut self, state: &[u8], parent: u32) {
        let name = self.names.name(state);
        self.staged.push(Staged { name, near: 0, parent });
        self.approach(self.staged.len() - 1);
    }

    /// Writes a state.
    pub(crate) fn write_state(&mut self, name: StateRef, out: &mut Writer) -> std::io::Result<()> {
        self.names.load(name, &mut self.state);
        out.bytes(&self.state)
    }

    /// Writes all states that are known but these.
    pub(crate) fn write_visited(&mut self, but: &[StateRef], out: &mut Writer) -> std::io::Result<()> {
        let but: hashbrown::HashSet<StateRef> = but.iter().copied().collect();
        out.number(self.visited.len() - but.len() as u64)?;
        let (names, state, mut written) = (&mut self.names, &mut self.state, Ok(()));
        self.visited.each_name(&mut |name| {
            if written.is_ok() && !but.contains(&name) {
                names.load(name, state);
                written = out.bytes(state);
            }
        });
        written
    }
}
