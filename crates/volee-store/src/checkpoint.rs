//! Searches that survive: what a search knows is written to a file now and then, and another process goes on
//! from there.
//!
//! What is kept are states as bytes, not names: names are laid out by what was met, so the next process lays
//! them out anew, and inserts all states into tables of its own. A file is a magic word, the version of this
//! format, what the caller wants to know of it (the *header*: model, options, version), the search itself,
//! compressed, and a SHA-256 of all that. It is written beside its place, forced to the disk and renamed: it
//! is there whole or not at all, and the one before it stays until then. A traversal and a solver write only
//! where nothing is under way; of a batch that a limit has ended nothing is written, so that its steps and
//! errors are counted once.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};
use volee_system::{Limit, Meter, guard};

use crate::large::prefer_large;

const MAGIC: &[u8; 16] = b"volee checkpoint";
/// The version of the format; another one is refused.
const FORMAT: u32 = 4;
const CHECKSUM: usize = 32;
/// The longest header and the longest state that are believed.
const LONGEST: usize = 1 << 28;
/// Items of a list that are written together, and states that are read between two looks at the clock.
pub const PIECE: usize = 1 << 12;

/// Where and how often a search is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// The file.
    pub path: PathBuf,
    /// The time between two of them.
    pub every: Duration,
    /// What is to be known of the search when somebody wants to go on with it.
    pub header: Vec<u8>,
    /// Go on from what the file has.
    pub resume: bool,
}

/// Why a file is no search to go on with.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    /// It cannot be read.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// It is something else.
    #[error("it is not a checkpoint of volee")]
    Foreign,
    /// It was written by a volee with another format.
    #[error("it has format {0} of checkpoints, and this volee reads format {FORMAT}")]
    Format(u32),
    /// It is not as it was written.
    #[error("it is damaged: it was cut short or changed")]
    Damaged,
}

/// Short for [`CheckpointError::Damaged`].
#[derive(Debug)]
pub struct Damaged;

impl From<Damaged> for CheckpointError {
    fn from(_: Damaged) -> Self {
        CheckpointError::Damaged
    }
}

/// Why a search does not go on from a file.
pub enum Refused {
    File(CheckpointError),
    Limit(Limit),
}

impl<E: Into<CheckpointError>> From<E> for Refused {
    fn from(error: E) -> Self {
        Refused::File(error.into())
    }
}

impl Refused {
    /// As the limit that the search ends with.
    pub fn into_limit(self, path: &Path) -> Limit {
        match self {
            Refused::Limit(limit) => limit,
            Refused::File(error) => Limit::Other { message: format!("`{}`: {error}", path.display()) },
        }
    }
}

/// Reads the header of a file and looks whether all of the file is as it was written.
///
/// # Errors
/// It is not a checkpoint, or damaged, or of another version.
pub fn read_header(path: &Path) -> Result<Vec<u8>, CheckpointError> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    let header = head(&mut BufReader::new(&mut file), length)?;
    let covered = length.checked_sub(CHECKSUM as u64).ok_or(Damaged)?;
    let mut file = File::open(path)?;
    let mut hash = Hashing { out: io::sink(), hash: Sha256::new() };
    io::copy(&mut (&mut file).take(covered), &mut hash)?;
    let mut checksum = [0; CHECKSUM];
    file.read_exact(&mut checksum).map_err(|_| Damaged)?;
    if hash.hash.finalize().as_slice() == checksum { Ok(header) } else { Err(CheckpointError::Damaged) }
}

/// Removes the file of a search that has ended, and what was left beside it.
pub fn remove(path: &Path) {
    let _ = std::fs::remove_file(path);
    let _ = std::fs::remove_file(part(path));
}

/// Reads what comes before the search.
fn head(file: &mut impl Read, length: u64) -> Result<Vec<u8>, CheckpointError> {
    let (mut magic, mut number, mut long) = ([0; MAGIC.len()], [0; 4], [0; 8]);
    file.read_exact(&mut magic).map_err(|_| CheckpointError::Foreign)?;
    if &magic != MAGIC {
        return Err(CheckpointError::Foreign);
    }
    file.read_exact(&mut number).map_err(|_| Damaged)?;
    match u32::from_le_bytes(number) {
        FORMAT => {}
        other => return Err(CheckpointError::Format(other)),
    }
    file.read_exact(&mut long).map_err(|_| Damaged)?;
    let long = u64::from_le_bytes(long);
    if long > length.min(LONGEST as u64) {
        return Err(CheckpointError::Damaged);
    }
    let mut header = vec![0; long as usize];
    file.read_exact(&mut header).map_err(|_| Damaged)?;
    Ok(header)
}

/// Where a file is written before it is complete.
fn part(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_os_string();
    name.push(".part");
    name.into()
}

/// A value as it stands in a file.
///
/// # Panics
/// It is of a kind that has no place in a file: a defect.
pub fn to_bytes(value: &impl Serialize) -> Vec<u8> {
    postcard::to_stdvec(value).expect("what is kept can be written")
}

/// A value that stood in a file.
///
/// # Errors
/// It is none.
pub fn from_bytes<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Damaged> {
    postcard::from_bytes(bytes).map_err(|_| Damaged)
}

/// When a search is kept next.
pub struct Keeper {
    pub checkpoint: Checkpoint,
    /// The file is being read: what is known so far is not to be written over it.
    pub restoring: bool,
    next: Duration,
    /// Batches until the clock is looked at.
    patience: u32,
    /// How long it takes by state, as the last time has shown.
    pace: Option<Duration>,
}

/// Batches between two looks at the clock.
const PATIENCE: u32 = 64;
/// How long it takes by byte until a file was written: a slow machine's time.
const USUAL_PACE: Duration = Duration::from_nanos(25);
/// Fewer states tell nothing about the time that they take.
const FEWEST: u64 = 10_000;

impl Keeper {
    pub fn new(checkpoint: Checkpoint, meter: &Meter) -> Self {
        let next = meter.elapsed() + checkpoint.every;
        Keeper { checkpoint, restoring: false, next, patience: PATIENCE, pace: None }
    }

    /// The limit of time, if so many states of so many bytes can just be kept before it: who has two hours
    /// has the file then.
    pub fn last_moment(&self, meter: &Meter, states: u64, length: usize) -> Result<(), Limit> {
        let Some(time) = meter.budget().time.filter(|_| !self.restoring) else { return Ok(()) };
        let pace = self.pace.unwrap_or(USUAL_PACE * u32::try_from(length + 16).unwrap_or(u32::MAX));
        let needed = pace.saturating_mul(u32::try_from(states).unwrap_or(u32::MAX));
        match meter.elapsed() + needed >= time {
            true => Err(Limit::Time { milliseconds: u64::try_from(time.as_millis()).unwrap_or(u64::MAX) }),
            false => Ok(()),
        }
    }

    /// Whether it is time.
    #[inline]
    pub fn is_due(&mut self, meter: &Meter) -> bool {
        self.patience -= 1;
        if self.patience > 0 {
            return false;
        }
        self.patience = PATIENCE;
        !self.restoring && self.is_time(meter)
    }

    /// The same, whenever it is asked.
    pub fn is_time(&self, meter: &Meter) -> bool {
        meter.elapsed() >= self.next
    }

    /// Writes a search of this many states. It goes on if that fails, and says what is given back.
    #[must_use]
    pub fn keep(
        &mut self,
        states: u64,
        meter: &Meter,
        fill: impl FnOnce(&mut Writer) -> io::Result<()>,
    ) -> Option<String> {
        let start = meter.elapsed();
        let written = guard::while_saving(|| {
            let mut out = Writer::new(&self.checkpoint)?;
            fill(&mut out)?;
            out.finish()
        });
        let taken = meter.elapsed().saturating_sub(start);
        self.learn(states, taken);
        self.begin_interval(meter, taken);
        let path = self.checkpoint.path.display();
        written.err().map(|error| format!("the search cannot be kept in `{path}`: {error}"))
    }

    /// The search goes on from its file.
    pub fn restored(&mut self, meter: &Meter) {
        self.restoring = false;
        self.begin_interval(meter, Duration::ZERO);
    }

    /// There is nothing to be kept this time.
    pub fn postpone(&mut self, meter: &Meter) {
        self.begin_interval(meter, Duration::ZERO);
    }

    /// The next time is as far from now, and far enough that most of the time is for the search.
    fn begin_interval(&mut self, meter: &Meter, taken: Duration) {
        self.next = meter.elapsed() + self.checkpoint.every.max(4 * taken);
    }

    /// A number of states was kept in a time.
    fn learn(&mut self, states: u64, taken: Duration) {
        if states >= FEWEST {
            // A third more than the last time: there is more to do at the end.
            let pace = taken.saturating_mul(4) / 3 / u32::try_from(states).unwrap_or(u32::MAX);
            self.pace = Some(pace.max(Duration::from_nanos(1)));
        }
    }
}

/// Passes on what is written, and remembers its hash.
struct Hashing<W> {
    out: W,
    hash: Sha256,
}

impl<W: Write> Write for Hashing<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.hash.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// A search on its way to the disk.
pub struct Writer {
    /// Pieces of some size: a compressor does much by call.
    out: BufWriter<ZlibEncoder<Hashing<BufWriter<File>>>>,
    path: PathBuf,
}

impl Writer {
    fn new(checkpoint: &Checkpoint) -> io::Result<Self> {
        let file = File::create(part(&checkpoint.path))?;
        let mut out = Hashing { out: BufWriter::with_capacity(1 << 16, file), hash: Sha256::new() };
        out.write_all(MAGIC)?;
        out.write_all(&FORMAT.to_le_bytes())?;
        out.write_all(&(checkpoint.header.len() as u64).to_le_bytes())?;
        out.write_all(&checkpoint.header)?;
        let out = ZlibEncoder::new(out, Compression::fast());
        Ok(Writer { out: BufWriter::with_capacity(1 << 16, out), path: checkpoint.path.clone() })
    }

    /// A number, the smaller the shorter.
    pub fn number(&mut self, mut number: u64) -> io::Result<()> {
        let (mut bytes, mut length) = ([0; 10], 0);
        loop {
            let more = number >> 7 != 0;
            bytes[length] = number as u8 & 0x7F | u8::from(more) << 7;
            length += 1;
            number >>= 7;
            if !more {
                return self.out.write_all(&bytes[..length]);
            }
        }
    }

    pub fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.number(bytes.len() as u64)?;
        self.out.write_all(bytes)
    }

    /// A list, piece by piece.
    pub fn list<T: Serialize>(&mut self, items: impl ExactSizeIterator<Item = T>) -> io::Result<()> {
        self.number(items.len() as u64)?;
        let mut piece = Vec::with_capacity(PIECE);
        for item in items {
            piece.push(item);
            if piece.len() == PIECE {
                self.value(&piece)?;
                piece.clear();
            }
        }
        if piece.is_empty() { Ok(()) } else { self.value(&piece) }
    }

    pub fn value(&mut self, value: &impl Serialize) -> io::Result<()> {
        self.bytes(&postcard::to_stdvec(value).map_err(io::Error::other)?)
    }

    /// Completes the file, and puts it in the place of the one before it.
    fn finish(self) -> io::Result<()> {
        let compressed = self.out.into_inner().map_err(io::IntoInnerError::into_error)?;
        let Hashing { mut out, hash } = compressed.finish()?;
        out.write_all(hash.finalize().as_slice())?;
        out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
        std::fs::rename(part(&self.path), &self.path)?;
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        // Where a folder cannot be forced to the disk, the file system does it in its own time.
        let _ = File::open(folder.unwrap_or(Path::new("."))).and_then(|folder| folder.sync_all());
        Ok(())
    }
}

/// A search on its way from the disk.
pub struct Reader {
    input: BufReader<ZlibDecoder<BufReader<File>>>,
}

impl Reader {
    /// Opens a file that was looked at: see [`read_header`].
    pub fn open(path: &Path) -> Result<Self, CheckpointError> {
        let file = File::open(path)?;
        let length = file.metadata()?.len();
        let mut file = BufReader::new(file);
        head(&mut file, length)?;
        Ok(Reader { input: BufReader::new(ZlibDecoder::new(file)) })
    }

    pub fn number(&mut self) -> Result<u64, CheckpointError> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let mut byte = [0];
            self.input.read_exact(&mut byte).map_err(|_| Damaged)?;
            number |= u64::from(byte[0] & 0x7F) << shift;
            if byte[0] < 0x80 {
                return Ok(number);
            }
        }
        Err(CheckpointError::Damaged)
    }

    /// A number of four bytes.
    pub fn short(&mut self) -> Result<u32, CheckpointError> {
        Ok(u32::try_from(self.number()?).map_err(|_| Damaged)?)
    }

    pub fn index(&mut self) -> Result<usize, CheckpointError> {
        Ok(usize::try_from(self.number()?).map_err(|_| Damaged)?)
    }

    pub fn bytes(&mut self, bytes: &mut Vec<u8>) -> Result<(), CheckpointError> {
        let length = self.index()?;
        bytes.clear();
        if length > LONGEST || (&mut self.input).take(length as u64).read_to_end(bytes)? != length {
            return Err(CheckpointError::Damaged);
        }
        Ok(())
    }

    /// A list, if there is time and room for it.
    pub fn list<T: DeserializeOwned>(&mut self, meter: &Meter) -> Result<Vec<T>, Refused> {
        let (length, mut list) = (self.index()?, Vec::new());
        let bytes = length.saturating_mul(size_of::<T>());
        meter.check_room(bytes as u64).map_err(Refused::Limit)?;
        let needed = || format!("the file has a list of {bytes} bytes");
        let no_room =
            |_| Limit::Memory { budget: meter.budget().memory.unwrap_or(u64::MAX), needed: needed() };
        list.try_reserve_exact(length).map_err(no_room).map_err(Refused::Limit)?;
        prefer_large(&list);
        while list.len() < length {
            meter.check().map_err(Refused::Limit)?;
            let piece: Vec<T> = self.value()?;
            if piece.is_empty() || piece.len() > length - list.len() {
                return Err(Damaged.into());
            }
            list.extend(piece);
        }
        Ok(list)
    }

    pub fn value<T: DeserializeOwned>(&mut self) -> Result<T, CheckpointError> {
        let mut bytes = Vec::new();
        self.bytes(&mut bytes)?;
        Ok(from_bytes(&bytes)?)
    }
}
