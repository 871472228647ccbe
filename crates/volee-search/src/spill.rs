//! Breadth-first search of more states than memory holds: exact, with the states on disk.
//!
//! Delayed duplicate detection (Korf 2003; Stern and Dill 1998): a table in memory knows the names that were
//! met since it was last emptied. What is new to it is only a *candidate*; at the end of a level, or when
//! memory is used up, all candidates are sorted and looked up in the sorted *runs* on disk, one pass over the
//! blocks that may have them. What is in none is a new state and goes to the end of the *queue*, a file too,
//! with its parent, from which it is read again when its turn comes. When memory is used up the names that
//! came to the queue since the last time become another run, and runs of like size are merged, so that there
//! are few. Names are words (`volee-store/src/tuples.rs`): when they are laid out anew the queue is
//! translated and all runs are made from it again.
//!
//! Files have no name in their folder, so that they are gone however the process ends. Steps are all taken:
//! what a reduction asks (is this state new?) is not known when it asks.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::ops::ControlFlow;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use volee_store::{Exact, Names, StateRef, Visited};
use volee_system::{Flow, Limit, Step, System, Witness};

use crate::check::Statistics;
use crate::explorer::Explorer;
use crate::paths::{Paths, place_of};

/// The parent of an initial state.
const NONE: u32 = u32::MAX;
/// Bytes of a state in the queue: its name and its parent.
const ENTRY: usize = 12;
/// Names of a run that are read together.
const BLOCK: usize = 1024;
/// States of the queue that are read or written together.
const CHUNK: usize = 1 << 14;
/// Names that are sorted together when all runs are made anew.
const SORTED: usize = 1 << 18;
/// A table that is full with fewer names than this has no room to speak of.
const FEWEST: u64 = 1 << 10;

/// A sorted file of names, with the first of each block.
struct Run {
    file: File,
    length: usize,
    first: Vec<StateRef>,
}

impl Run {
    /// Reads a block.
    fn block(&self, block: usize, names: &mut Vec<StateRef>) -> io::Result<()> {
        let length = BLOCK.min(self.length - block * BLOCK);
        let mut bytes = [0; BLOCK * 8];
        self.file.read_exact_at(&mut bytes[..length * 8], (block * BLOCK * 8) as u64)?;
        names.clear();
        names.extend(
            bytes[..length * 8]
                .chunks_exact(8)
                .map(|b| StateRef(u64::from_le_bytes(b.try_into().expect("8 bytes")))),
        );
        Ok(())
    }

    /// Forgets the candidates that are in this run; they are sorted, so that each block is read once at most.
    fn strike(&self, candidates: &mut Vec<(StateRef, u32)>) -> io::Result<()> {
        let (mut names, mut loaded, mut place) = (Vec::new(), usize::MAX, 0);
        let mut failed = Ok(());
        candidates.retain(|&(name, _)| {
            let ahead = self.first[place..].partition_point(|&first| first <= name);
            place += ahead.saturating_sub(1);
            if failed.is_err() || self.first[place] > name {
                return true;
            }
            if loaded != place {
                failed = self.block(place, &mut names);
                loaded = place;
            }
            names.binary_search(&name).is_err()
        });
        failed
    }
}

/// A run that is being written.
struct Writer {
    out: BufWriter<File>,
    length: usize,
    first: Vec<StateRef>,
}

impl Writer {
    fn new(folder: &Path) -> io::Result<Self> {
        let out = BufWriter::with_capacity(1 << 16, tempfile::tempfile_in(folder)?);
        Ok(Writer { out, length: 0, first: Vec::new() })
    }

    fn push(&mut self, name: StateRef) -> io::Result<()> {
        if self.length.is_multiple_of(BLOCK) {
            self.first.push(name);
        }
        self.length += 1;
        self.out.write_all(&name.0.to_le_bytes())
    }

    fn finish(self) -> io::Result<Run> {
        let file = self.out.into_inner().map_err(io::IntoInnerError::into_error)?;
        Ok(Run { file, length: self.length, first: self.first })
    }
}

/// A run that is read from front to back.
struct Cursor<'r> {
    run: &'r Run,
    block: usize,
    names: Vec<StateRef>,
    at: usize,
}

impl<'r> Cursor<'r> {
    fn new(run: &'r Run) -> Self {
        Cursor { run, block: 0, names: Vec::new(), at: 0 }
    }

    fn peek(&mut self) -> io::Result<Option<StateRef>> {
        if self.at == self.names.len() {
            if self.block * BLOCK >= self.run.length {
                return Ok(None);
            }
            self.run.block(self.block, &mut self.names)?;
            self.block += 1;
            self.at = 0;
        }
        Ok(Some(self.names[self.at]))
    }
}

/// All states of the search, on disk.
struct Disk {
    folder: PathBuf,
    runs: Vec<Run>,
    /// Names and parents, in the order of discovery.
    queue: File,
    length: usize,
    /// The names of the queue up to here are in runs.
    in_runs: usize,
    /// A piece of the queue, and where it begins.
    piece: Vec<StateRef>,
    piece_start: usize,
    /// New to the table: names and parents.
    candidates: Vec<(StateRef, u32)>,
}

impl Disk {
    fn new(folder: &Path) -> io::Result<Self> {
        Ok(Disk {
            folder: folder.to_path_buf(),
            runs: Vec::new(),
            queue: tempfile::tempfile_in(folder)?,
            length: 0,
            in_runs: 0,
            piece: Vec::new(),
            piece_start: 0,
            candidates: Vec::new(),
        })
    }

    /// Bytes in memory.
    fn bytes(&self) -> u64 {
        let firsts: usize = self.runs.iter().map(|run| run.first.capacity()).sum();
        (firsts * 8 + self.piece.capacity() * 8 + self.candidates.capacity() * 16) as u64
    }

    /// Bytes on disk.
    fn disk_bytes(&self) -> u64 {
        (self.length * ENTRY + self.runs.iter().map(|run| run.length * 8).sum::<usize>()) as u64
    }

    fn entry(&self, at: usize) -> io::Result<(StateRef, u32)> {
        let mut bytes = [0; ENTRY];
        self.queue.read_exact_at(&mut bytes, (at * ENTRY) as u64)?;
        Ok(decode(&bytes))
    }

    /// Reads a piece of the queue.
    fn entries(&self, start: usize, count: usize, bytes: &mut Vec<u8>) -> io::Result<()> {
        bytes.resize(count.min(self.length - start) * ENTRY, 0);
        self.queue.read_exact_at(bytes, (start * ENTRY) as u64)
    }

    /// The name of a state of the queue.
    #[inline]
    fn name(&mut self, at: usize) -> io::Result<StateRef> {
        match self.piece.get(at.wrapping_sub(self.piece_start)) {
            Some(&name) => Ok(name),
            None => self.turn_page(at),
        }
    }

    #[cold]
    fn turn_page(&mut self, at: usize) -> io::Result<StateRef> {
        let mut bytes = Vec::new();
        self.entries(at, CHUNK, &mut bytes)?;
        self.piece.clear();
        self.piece.extend(bytes.chunks_exact(ENTRY).map(|entry| decode(entry).0));
        self.piece_start = at;
        Ok(self.piece[0])
    }

    /// The candidates that are in no run are states: they go to the end of the queue.
    fn admit(&mut self) -> io::Result<()> {
        self.candidates.sort_unstable();
        for run in &self.runs {
            run.strike(&mut self.candidates)?;
        }
        let mut bytes = Vec::with_capacity(CHUNK.min(self.candidates.len()) * ENTRY);
        for piece in self.candidates.chunks(CHUNK) {
            bytes.clear();
            for &(name, parent) in piece {
                bytes.extend_from_slice(&name.0.to_le_bytes());
                bytes.extend_from_slice(&parent.to_le_bytes());
            }
            self.queue.write_all_at(&bytes, (self.length * ENTRY) as u64)?;
            self.length += piece.len();
        }
        self.candidates.clear();
        Ok(())
    }

    /// The names that came to the queue since the last time become runs of at most this many names.
    fn write_runs(&mut self, most: usize) -> io::Result<()> {
        self.candidates = Vec::new();
        let mut bytes = Vec::new();
        while self.in_runs < self.length {
            let end = self.length.min(self.in_runs.saturating_add(most));
            let mut names = Vec::with_capacity(end - self.in_runs);
            while self.in_runs < end {
                self.entries(self.in_runs, CHUNK.min(end - self.in_runs), &mut bytes)?;
                names.extend(bytes.chunks_exact(ENTRY).map(|entry| decode(entry).0));
                self.in_runs += bytes.len() / ENTRY;
            }
            names.sort_unstable();
            let mut out = Writer::new(&self.folder)?;
            names.into_iter().try_for_each(|name| out.push(name))?;
            self.runs.push(out.finish()?);
            self.merge_alike()?;
        }
        Ok(())
    }

    /// Merges the last runs as long as the one before is not much longer.
    fn merge_alike(&mut self) -> io::Result<()> {
        while let [.., a, b] = &self.runs[..]
            && a.length < 2 * b.length
        {
            let mut out = Writer::new(&self.folder)?;
            let (mut left, mut right) = (Cursor::new(a), Cursor::new(b));
            loop {
                let (cursor, name) = match (left.peek()?, right.peek()?) {
                    (Some(l), Some(r)) if l < r => (&mut left, l),
                    (_, Some(r)) => (&mut right, r),
                    (Some(l), None) => (&mut left, l),
                    (None, None) => break,
                };
                out.push(name)?;
                cursor.at += 1;
            }
            let merged = out.finish()?;
            self.runs.truncate(self.runs.len() - 2);
            self.runs.push(merged);
        }
        Ok(())
    }

    /// Names have changed: the queue is translated, and all runs are made from it again.
    fn rename(&mut self, translate: &mut dyn FnMut(&mut StateRef)) -> io::Result<()> {
        self.candidates.iter_mut().for_each(|(name, _)| translate(name));
        self.piece.clear();
        let (mut start, mut bytes) = (0, Vec::new());
        while start < self.length {
            self.entries(start, CHUNK, &mut bytes)?;
            for entry in bytes.chunks_exact_mut(ENTRY) {
                let (mut name, _) = decode(entry);
                translate(&mut name);
                entry[..8].copy_from_slice(&name.0.to_le_bytes());
            }
            self.queue.write_all_at(&bytes, (start * ENTRY) as u64)?;
            start += bytes.len() / ENTRY;
        }
        if self.runs.is_empty() {
            return Ok(());
        }
        // What is in the table alone stays there.
        let (in_runs, length) = (self.in_runs, self.length);
        let candidates = std::mem::take(&mut self.candidates);
        self.runs.clear();
        (self.in_runs, self.length) = (0, in_runs);
        let written = self.write_runs(SORTED);
        (self.length, self.candidates) = (length, candidates);
        written
    }
}

fn decode(entry: &[u8]) -> (StateRef, u32) {
    let (name, parent) = entry.split_at(8);
    let parent = u32::from_le_bytes(parent.try_into().expect("4 bytes"));
    (StateRef(u64::from_le_bytes(name.try_into().expect("8 bytes"))), parent)
}

impl<V> Paths<V> for Disk {
    fn witness<S: System + ?Sized>(
        &self,
        system: &mut S,
        names: &mut Names,
        _: &V,
        at: usize,
        last: Option<u32>,
    ) -> Witness {
        let mut steps: Vec<u32> = last.into_iter().collect();
        let (mut source, mut target) = (Vec::new(), Vec::new());
        let Ok((name, mut parent)) = self.entry(at) else { return Witness::default() };
        names.load(name, &mut target);
        while parent != NONE {
            let Ok((name, next)) = self.entry(parent as usize) else { return Witness::default() };
            names.load(name, &mut source);
            let step =
                place_of(&target, |push| system.steps(&source, &mut |_: Step, state: &[u8]| push(state)));
            steps.push(step.unwrap_or_default());
            std::mem::swap(&mut source, &mut target);
            parent = next;
        }
        steps.reverse();
        let initial = place_of(&target, |push| system.initial(push)).unwrap_or_default();
        Witness { initial, steps, loop_start: None }
    }
}

pub(crate) fn search<S: System + ?Sized>(
    mut explorer: Explorer<'_, '_, S, Exact>,
    folder: &Path,
) -> (Statistics, Option<Limit>) {
    let mut disk = match Disk::new(folder) {
        Ok(disk) => disk,
        Err(error) => {
            let _ = explorer.stop(failed(folder, &error));
            let (statistics, limit, _) = explorer.finish(0);
            return (statistics, limit);
        }
    };
    explorer.counted = Some(0);
    let _ = run(&mut explorer, &mut disk);
    let (mut statistics, limit, _) = explorer.finish(disk.bytes());
    statistics.states = disk.length as u64;
    statistics.disk_bytes = if disk.runs.is_empty() { 0 } else { disk.disk_bytes() };
    (statistics, limit)
}

fn failed(folder: &Path, error: &io::Error) -> Limit {
    Limit::Other { message: format!("states cannot be kept in `{}`: {error}", folder.display()) }
}

/// Ends the search if the disk does not do its part.
fn on_disk<S: System + ?Sized, T>(
    explorer: &mut Explorer<'_, '_, S, Exact>,
    folder: &Path,
    done: io::Result<T>,
) -> ControlFlow<(), T> {
    match done {
        Ok(value) => ControlFlow::Continue(value),
        Err(error) => {
            let _ = explorer.stop(failed(folder, &error));
            ControlFlow::Break(())
        }
    }
}

fn run<S: System + ?Sized>(explorer: &mut Explorer<'_, '_, S, Exact>, disk: &mut Disk) -> Flow {
    explorer.stage_initial();
    settle(explorer, disk, |_| NONE)?;
    admit(explorer, disk)?;
    let (mut at, mut depth) = (0, 0);
    while at < disk.length {
        explorer.statistics.max_depth = depth;
        let level_end = disk.length;
        while at < level_end {
            at = expand_batch(explorer, disk, at, level_end, depth)?;
            if explorer.visited.replaces() {
                admit(explorer, disk)?;
                empty_table(explorer, disk)?;
            }
        }
        admit(explorer, disk)?;
        depth += 1;
    }
    Flow::Continue(())
}

/// Expands states from `first` on until there is a batch to settle or the level ends; tells where to go on.
fn expand_batch<S: System + ?Sized>(
    explorer: &mut Explorer<'_, '_, S, Exact>,
    disk: &mut Disk,
    first: usize,
    level_end: usize,
    depth: u64,
) -> ControlFlow<(), usize> {
    if disk.length >= NONE as usize {
        let message = "a breadth-first search numbers at most four billion states".into();
        return explorer.stop(Limit::Other { message }).map_continue(|()| first);
    }
    let mut at = first;
    for parent in 0.. {
        let name = disk.name(at);
        let name = on_disk(explorer, &disk.folder, name)?;
        if let Some(&next) = disk.piece.get(at + explorer.foresight() - disk.piece_start) {
            explorer.soon(next);
        }
        explorer.visit(name, parent, depth, disk, at)?;
        at += 1;
        explorer.counted = Some(disk.length as u64);
        explorer.tick(depth, (disk.length - at) as u64, disk.bytes())?;
        if at == level_end || explorer.batch_is_full() {
            break;
        }
    }
    settle(explorer, disk, |parent| first as u32 + parent)?;
    ControlFlow::Continue(at)
}

/// The staged states that are new to the table are candidates.
fn settle<S: System + ?Sized>(
    explorer: &mut Explorer<'_, '_, S, Exact>,
    disk: &mut Disk,
    parent: impl Fn(u32) -> u32,
) -> Flow {
    let mut renamed = Ok(());
    if explorer.refresh(|_, translate| renamed = disk.rename(translate)).is_break() {
        return Flow::Break(());
    }
    on_disk(explorer, &disk.folder, renamed)?;
    explorer.traversal_bytes = disk.bytes();
    explorer.settle(|state| {
        if disk.candidates.len() == disk.candidates.capacity() {
            crate::depth::grow(&mut disk.candidates);
        }
        disk.candidates.push((state.name, parent(state.parent)));
    })
}

fn admit<S: System + ?Sized>(explorer: &mut Explorer<'_, '_, S, Exact>, disk: &mut Disk) -> Flow {
    let admitted = disk.admit();
    on_disk(explorer, &disk.folder, admitted)
}

/// The table begins anew, and what it knew goes to disk.
fn empty_table<S: System + ?Sized>(explorer: &mut Explorer<'_, '_, S, Exact>, disk: &mut Disk) -> Flow {
    if explorer.visited.len() < FEWEST {
        return explorer.stop_on_memory();
    }
    if disk.runs.is_empty() {
        let message =
            format!("the memory is used up: from here on states are in `{}`", disk.folder.display());
        explorer.say(&message);
    }
    explorer.visited = Exact::new().replaceable();
    let _ = explorer.visited.rename(explorer.names.width(), &mut |name| name);
    let most = (explorer.room_for_store() / 16).max(SORTED as u64) as usize;
    let written = disk.write_runs(most);
    on_disk(explorer, &disk.folder, written)
}
