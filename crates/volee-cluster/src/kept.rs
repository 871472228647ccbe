//! What several workers know together, written to one file now and then.
//!
//! Whoever watches the workers decides when, has them pause ([`drive`](crate::drive)), and writes the pieces
//! that they hand out as they come, so that none of it is held here. A file is there whole or not at all; if
//! the workers end meanwhile, the one before it stays. Whoever goes on sends each piece of the file to the
//! worker that owns it now ([`Supply`]), with as many workers as there are.

use std::io;
use std::path::Path;

use volee_store::checkpoint::{Checkpoint, Keeper, Refused};
use volee_store::handed::{Supply, begin, end, write};
use volee_system::part::PartError;
use volee_system::{Limit, Meter};

use crate::drive::{Account, Handed};
use crate::threads::Failure;

/// Opens a file for this many workers.
pub type Sort<'k> = dyn FnMut(&Path, usize) -> Result<Box<dyn Supply>, Refused> + 'k;

/// How a job is kept, and what it goes on from.
pub struct Keeping<'k> {
    keeper: Keeper,
    /// Bytes of a state.
    length: usize,
    sort: &'k mut Sort<'k>,
    told: &'k dyn Fn(News<'_>),
    /// There is a file to go on from.
    has_file: bool,
    /// The number of the last pause.
    pause: u32,
}

/// What came of keeping a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum News<'n> {
    /// There is a file.
    Written,
    /// It cannot be written, and why.
    Failed(&'n str),
}

/// What happened while the workers hand out what they have.
pub(crate) enum Event {
    Handed(usize, Handed),
    Nothing,
    /// The workers have ended, with an answer or without.
    Ended,
}

impl<'k> Keeping<'k> {
    /// Keeps a job as `checkpoint` says. States have about `length` bytes; `sort` opens the file for those who
    /// go on; `told` hears of every file.
    pub fn new(
        checkpoint: Checkpoint,
        length: usize,
        sort: &'k mut Sort<'k>,
        told: &'k dyn Fn(News<'_>),
        meter: &Meter,
    ) -> Self {
        let has_file = checkpoint.resume;
        Keeping { keeper: Keeper::new(checkpoint, meter), length, sort, told, has_file, pause: 0 }
    }

    /// Whether there is a file to go on from.
    pub fn has_file(&self) -> bool {
        self.has_file
    }

    /// What this many workers go on from, if there is something.
    pub(crate) fn supply(&mut self, peers: usize) -> Result<Option<Box<dyn Supply>>, Failure> {
        self.keeper.restoring = self.has_file;
        self.pause = 0;
        if !self.has_file {
            return Ok(None);
        }
        match (self.sort)(&self.keeper.checkpoint.path, peers) {
            Ok(supply) => Ok(Some(supply)),
            Err(refused) => Err(self.refused(refused)),
        }
    }

    /// Why workers do not go on from the file.
    pub(crate) fn refused(&self, refused: Refused) -> Failure {
        let limit = refused.into_limit(&self.keeper.checkpoint.path);
        Failure::Part { who: "what was kept".into(), error: PartError::Limit(limit) }
    }

    /// The workers have got all they go on from.
    pub(crate) fn restored(&mut self, meter: &Meter) {
        self.keeper.restored(meter);
    }

    /// The limit that ends the job, a little before its time: there must be some left to write.
    pub(crate) fn limit(&self, accounts: &[Account], meter: &Meter) -> Option<Limit> {
        meter.check().and_then(|()| self.keeper.last_moment(meter, states(accounts), self.length)).err()
    }

    /// The number of the next pause, if it is time for one. While workers get what they go on from, it never
    /// is.
    pub(crate) fn wanted(&self, at_limit: bool, meter: &Meter) -> Option<u32> {
        let due = at_limit || self.keeper.is_time(meter);
        (due && !self.keeper.restoring).then_some(self.pause + 1)
    }

    /// Writes what the workers hand out in a pause that they were asked for; `next` waits for something to
    /// happen. `false` if the workers have ended instead. If what they do is not kept, the file before stays.
    pub(crate) fn write(
        &mut self,
        number: u32,
        accounts: &[Account],
        meter: &Meter,
        mut next: impl FnMut() -> Event,
    ) -> bool {
        self.pause = number;
        let mut first = loop {
            match next() {
                Event::Ended => return false,
                Event::Handed(_, Handed::Nothing(pause)) if pause == number => {
                    self.keeper.postpone(meter);
                    return true;
                }
                // Of an earlier pause, from another than the one that was heard then.
                Event::Nothing | Event::Handed(_, Handed::Nothing(_)) => {}
                handed @ Event::Handed(..) => break Some(handed),
            }
        };
        let mut ended = false;
        let failed = self.keeper.keep(states(accounts), meter, |out| {
            let mut written = begin(accounts.len(), out);
            let mut missing = accounts.len();
            while missing > 0 {
                match first.take().unwrap_or_else(&mut next) {
                    Event::Nothing | Event::Handed(_, Handed::Nothing(_)) => {}
                    Event::Handed(worker, Handed::Piece(piece)) => {
                        written = written.and_then(|()| write(worker, &piece, out));
                    }
                    Event::Handed(_, Handed::Whole(pause)) => missing -= usize::from(pause == number),
                    Event::Ended => {
                        ended = true;
                        return Err(io::Error::other("the workers have ended"));
                    }
                }
            }
            written.and_then(|()| end(out))
        });
        match failed {
            _ if ended => {}
            Some(failed) => (self.told)(News::Failed(&failed)),
            None => {
                self.has_file = true;
                (self.told)(News::Written);
            }
        }
        !ended
    }
}

fn states(accounts: &[Account]) -> u64 {
    accounts.iter().map(|account| account.figures.states).sum()
}
