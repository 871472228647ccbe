//! A resolution by threads on its way to a file and back.
//!
//! The thread that watches decides when, and wants a pause ([`Yard`](super::yard)). Each thread then hands out its part in
//! pieces, as workers on several machines do (`partition/handed.rs`), and the watching thread writes them as
//! they come: the file is one that any number of threads goes on from. Who hands out is held back while too
//! much of it is not written.
//!
//! Who goes on reads the file in one thread, which gives every piece to the thread that it belongs to now.
//! Confirming is not kept: it is done again.

use std::io;
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender};

use volee_store::checkpoint::{Keeper, Reader, Refused};
use volee_store::handed::{Supply as _, begin, end, is_one, write};
use volee_system::part::{Part, PartError};
use volee_system::{Flow, Limit, Progress};

use super::{Common, Crew, REPORT};
use crate::graph::BooleanGraph;
use crate::solve::keep::VARIABLE;
use crate::solve::partition::{Partition, Share, Sorting, part_error};

/// Pieces that are between two threads at most.
pub(super) const HELD: usize = 16;

/// How a resolution is kept.
pub(in crate::solve) struct Keeping<'k> {
    pub keeper: &'k mut Keeper,
    /// It goes on from the file.
    pub resumes: bool,
    /// There is a file of several threads.
    pub is_written: bool,
    /// They have an answer whose proof one is to find.
    pub is_left_to_one: bool,
}

impl<'k> Keeping<'k> {
    /// From the beginning on.
    pub fn begin(keeper: &'k mut Keeper) -> Self {
        Keeping { keeper, resumes: false, is_written: false, is_left_to_one: false }
    }

    /// From the file on.
    pub fn resume(keeper: &'k mut Keeper) -> Self {
        Keeping { resumes: true, ..Self::begin(keeper) }
    }
}

/// A piece of what a thread has, or the word that this was all.
pub(super) type Handed = (usize, Option<Vec<u8>>);

/// Whether a file was written by several threads or machines.
pub(in crate::solve) fn is_of_several(path: &Path) -> Result<bool, Refused> {
    Ok(is_one(&mut Reader::open(path)?)?)
}

impl Common<'_> {
    /// Hands out what a part has. `None` when nobody wants it any more.
    pub(super) fn hand_out<P: Part>(&self, part: &mut P, me: usize) -> Option<()> {
        let desk = self.desk.as_ref()?;
        let flow = part.hand_out(&mut |piece| match desk.send((me, Some(piece))) {
            Ok(()) => Flow::Continue(()),
            Err(_) => Flow::Break(()),
        });
        flow.is_continue().then_some(())?;
        desk.send((me, None)).ok()
    }

    /// The part that a thread goes on with.
    pub(super) fn restored<'g>(
        &self,
        graph: &'g mut dyn BooleanGraph,
        share: Share,
        pieces: &Receiver<Vec<u8>>,
    ) -> Option<Partition<&'g mut dyn BooleanGraph>> {
        let [solving, _] = &self.yards;
        let mut part = match Partition::kept(graph, share) {
            Ok(part) => part,
            Err(error) => return solving.fail(part_error(error)),
        };
        while let Ok(piece) = pieces.recv() {
            if let Err(error) = part.take_piece(&piece) {
                return solving.fail(error);
            }
            solving.note(usize::from(share.me), part.figures());
        }
        // Whoever reads the file has said why there is no more of it.
        if solving.has_failed() {
            return None;
        }
        match part.restored() {
            Ok(()) => Some(part),
            Err(error) => solving.fail(error),
        }
    }

    /// Writes what all hand out. `false` when they have ended instead.
    pub(super) fn write(
        &self,
        keeping: &mut Keeping<'_>,
        pieces: &Receiver<Handed>,
        progress: &mut dyn Progress,
    ) -> bool {
        let [solving, _] = &self.yards;
        let (mut missing, mut ended) = (solving.workers(), false);
        let failed = keeping.keeper.keep(self.variables(), self.meter, |out| {
            let mut written = begin(missing, out);
            while missing > 0 {
                match pieces.recv_timeout(REPORT) {
                    Ok((worker, Some(piece))) => {
                        written = written.and_then(|()| write(worker, &piece, out));
                    }
                    Ok((_, None)) => missing -= 1,
                    Err(_) if solving.has_failed() => {
                        ended = true;
                        return Err(io::Error::other("the threads have ended"));
                    }
                    Err(_) => {}
                }
            }
            written.and_then(|()| end(out))
        });
        match failed {
            _ if ended => {}
            Some(failed) => progress.say(&failed),
            None => keeping.is_written = true,
        }
        !ended
    }

    /// How many variables there are.
    fn variables(&self) -> u64 {
        let sum = self.yards[0].sum();
        sum.expanded + sum.pending
    }

    /// Whether there is time left, also to write what is kept.
    pub(super) fn in_time(&self, keeping: Option<&Keeping<'_>>) -> Result<(), Limit> {
        self.meter.check()?;
        keeping.map_or(Ok(()), |own| own.keeper.last_moment(self.meter, self.variables(), VARIABLE))
    }
}

impl Crew<'_> {
    /// Gives every thread what it goes on from.
    pub(super) fn supply(
        &self,
        path: &Path,
        common: &Common<'_>,
        threads: Vec<SyncSender<Vec<u8>>>,
    ) -> Result<(), Limit> {
        let message = "the equations cannot be made once more".into();
        let mut supplied = Err(Refused::Limit(Limit::Other { message }));
        (self.another)(&mut |graph| supplied = common.sort(path, graph, &threads));
        let supplied = supplied.map_err(|refused| refused.into_limit(path));
        if let Err(limit) = &supplied {
            common.yards[0].fail::<()>(PartError::Limit(limit.clone()));
        }
        supplied
    }
}

impl Common<'_> {
    fn sort(
        &self,
        path: &Path,
        graph: &mut dyn BooleanGraph,
        threads: &[SyncSender<Vec<u8>>],
    ) -> Result<(), Refused> {
        let ([solving, _], meter) = (&self.yards, self.meter);
        let mut supply = Sorting::open(graph, path, threads.len(), meter)?;
        while let Some((worker, piece)) = supply.next_piece()? {
            let needs = || "the resolution in the file needs more".to_owned();
            let checked = meter.check().and_then(|()| meter.check_memory(solving.sum().memory, needs));
            checked.map_err(Refused::Limit)?;
            if threads[worker].send(piece).is_err() {
                // That one has said why.
                break;
            }
        }
        Ok(())
    }
}
