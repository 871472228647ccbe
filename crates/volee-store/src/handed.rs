//! What several workers hand out when they pause, on its way to one file and back to more or fewer of them.
//!
//! A worker hands out *pieces* of one kind each, which begin with the kind. In the file each stands behind the
//! number of its worker, those of different workers in any order. Whoever goes on reads the file and sends
//! what is in it to the workers that own it now ([`Supply`]). What the records of a piece mean is known to
//! who makes them: the states of a search, the variables of a system of equations.

use std::collections::VecDeque;
use std::io;
use std::path::Path;

use volee_system::Flow;

use crate::checkpoint::{CheckpointError, Damaged, Reader, Refused, Writer};

/// What a file of this kind begins with.
const KIND: u64 = 6;
/// Bytes at which a piece is closed.
const LARGEST: usize = 64 << 10;
/// Kinds of pieces with records are below this number; those of searches and of equations differ.
const KINDS: usize = 8;

/// Whether a file, from its beginning, is of this kind.
///
/// # Errors
/// It is damaged.
pub fn is_one(input: &mut Reader) -> Result<bool, CheckpointError> {
    Ok(input.number()? == KIND)
}

/// Begins the file of this many workers.
///
/// # Errors
/// It cannot be written.
pub fn begin(workers: usize, out: &mut Writer) -> io::Result<()> {
    out.number(KIND)?;
    out.number(workers as u64)
}

/// Writes a piece of one worker.
///
/// # Errors
/// It cannot be written.
pub fn write(worker: usize, piece: &[u8], out: &mut Writer) -> io::Result<()> {
    out.number(worker as u64 + 1)?;
    out.bytes(piece)
}

/// Ends the file.
///
/// # Errors
/// It cannot be written.
pub fn end(out: &mut Writer) -> io::Result<()> {
    out.number(0)
}

/// The pieces of a file, one after the other.
pub struct Handed {
    input: Reader,
    /// How many workers have handed them out.
    pub workers: usize,
    /// The piece that was read last; it is not empty.
    pub piece: Vec<u8>,
}

impl Handed {
    /// Opens a file that was looked at: see [`read_header`](crate::checkpoint::read_header).
    ///
    /// # Errors
    /// It is damaged, or of something else.
    pub fn open(path: &Path) -> Result<Self, Refused> {
        let mut input = Reader::open(path)?;
        if !is_one(&mut input)? {
            return Err(Damaged.into());
        }
        let workers = input.index()?;
        if !(1..=usize::from(u16::MAX)).contains(&workers) {
            return Err(Damaged.into());
        }
        Ok(Handed { input, workers, piece: Vec::new() })
    }

    /// Reads the next piece; tells whose it was.
    ///
    /// # Errors
    /// The file is damaged.
    pub fn next_worker(&mut self) -> Result<Option<usize>, Refused> {
        let Some(worker) = self.input.index()?.checked_sub(1) else { return Ok(None) };
        self.input.bytes(&mut self.piece)?;
        match worker < self.workers && !self.piece.is_empty() {
            true => Ok(Some(worker)),
            false => Err(Damaged.into()),
        }
    }
}

/// What workers go on from: a file whose records are sorted for those who own them now.
pub trait Supply {
    /// The file, and what was sorted of it.
    fn passage(&mut self) -> &mut Passage;

    /// Puts the records of a piece that a worker has handed out to those who own them now. `None` where they
    /// make no sense.
    fn sort(&mut self, worker: usize, piece: &[u8]) -> Option<()>;

    /// All was read: puts out what is known only then.
    fn close(&mut self);

    /// The next piece, and for whom it is.
    ///
    /// # Errors
    /// The file is damaged.
    fn next_piece(&mut self) -> Result<Option<(usize, Vec<u8>)>, Refused> {
        while self.passage().piles.ready.is_empty() && !self.passage().is_over {
            match self.passage().file.next_worker()? {
                Some(worker) => {
                    let piece = std::mem::take(&mut self.passage().file.piece);
                    self.sort(worker, &piece).ok_or(Damaged)?;
                    self.passage().file.piece = piece;
                }
                None => {
                    self.passage().is_over = true;
                    self.passage().piles.close();
                    self.close();
                }
            }
        }
        Ok(self.passage().piles.ready.pop_front())
    }
}

/// A file on its way to the workers that go on with it.
pub struct Passage {
    /// What is read.
    file: Handed,
    /// What was read, by those who own it now.
    pub piles: Piles,
    is_over: bool,
}

impl Passage {
    /// Opens a file that was looked at, for this many workers.
    ///
    /// # Errors
    /// It is damaged, or of something else.
    pub fn open(path: &Path, peers: usize) -> Result<Self, Refused> {
        Ok(Passage { file: Handed::open(path)?, piles: Piles::new(peers), is_over: false })
    }
}

/// Records on their way to workers, gathered to pieces.
#[derive(Default)]
pub struct Piles {
    /// By worker and kind, what is not enough for a piece yet.
    open: Vec<[Vec<u8>; KINDS]>,
    /// Pieces, and for whom they are.
    pub ready: VecDeque<(usize, Vec<u8>)>,
}

impl Piles {
    /// For this many workers.
    pub fn new(peers: usize) -> Self {
        Piles { open: vec![Default::default(); peers], ready: VecDeque::new() }
    }

    /// Puts a record to others whose pieces begin with the same: the kind, and what belongs to it.
    pub fn put(&mut self, owner: usize, begin: &[u8], record: &[&[u8]]) {
        let open = &mut self.open[owner][usize::from(begin[0])];
        if open.is_empty() {
            open.extend_from_slice(begin);
        }
        record.iter().for_each(|bytes| open.extend_from_slice(bytes));
        if open.len() >= LARGEST {
            self.ready.push_back((owner, std::mem::take(open)));
        }
    }

    /// There are no more records: what is left goes out.
    pub fn close(&mut self) {
        for (owner, kinds) in self.open.iter_mut().enumerate() {
            let left = kinds.iter_mut().filter(|left| !left.is_empty());
            self.ready.extend(left.map(|left| (owner, std::mem::take(left))));
        }
    }
}

/// Pieces of one worker on their way out.
pub struct Out<'p> {
    /// The piece that records are added to.
    pub open: Vec<u8>,
    /// How long a piece with nothing in it is.
    empty: usize,
    piece: &'p mut dyn FnMut(Vec<u8>) -> Flow,
}

impl<'p> Out<'p> {
    /// Begins with pieces that begin with this.
    pub fn new(with: &[u8], piece: &'p mut dyn FnMut(Vec<u8>) -> Flow) -> Self {
        Out { open: with.to_vec(), empty: with.len(), piece }
    }

    /// Adds a record.
    pub fn put(&mut self, record: &[&[u8]]) -> Flow {
        record.iter().for_each(|bytes| self.open.extend_from_slice(bytes));
        self.close_if_full()
    }

    /// A record is complete.
    pub fn close_if_full(&mut self) -> Flow {
        if self.open.len() < LARGEST { Flow::Continue(()) } else { self.close() }
    }

    fn close(&mut self) -> Flow {
        let next = self.open[..self.empty].to_vec();
        let full = std::mem::replace(&mut self.open, next);
        if full.len() > self.empty { (self.piece)(full) } else { Flow::Continue(()) }
    }

    /// Begins pieces of another kind.
    pub fn begin(&mut self, with: &[u8]) -> Flow {
        self.close()?;
        self.open = with.to_vec();
        self.empty = with.len();
        Flow::Continue(())
    }

    /// Ends with a piece that is one by itself.
    pub fn end(mut self, last: Vec<u8>) -> Flow {
        self.close()?;
        (self.piece)(last)
    }
}

/// A number of four bytes.
pub fn word(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte))
}
