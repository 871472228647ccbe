//! The exact store for several threads: one table of names that all of them read and write at once, without
//! locks.
//!
//! Names of few bits are kept in half a word each (quotients, as in [`crate::quotients`]), others whole; how
//! a place is claimed is told in [`crate::claim`]. A name whose 32 lines are full is put aside, behind a
//! lock, until the table is larger. A table does not grow by itself: its users meet, make a larger one, and
//! move the names over together, each a part of the lines at a time ([`Concurrent::move_chunk`]); nobody may
//! insert meanwhile.
//!
//! # Safety
//! The memory is that of [`Pages`], seen as atomic words and in no other way as long as this table lives: it
//! is given to nobody. `AtomicU64` has the size and alignment of `u64`, and zeroes are a value of both.
#![allow(unsafe_code)]

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::StateRef;
use crate::claim::{Claim, claim_half, claim_word, has_half, has_word};
use crate::coding::Coding;
use crate::exact::{larger, lines_for, lines_for_names};
use crate::hash::mix;
use crate::near::Near;
use crate::pages::{Pages, prefetch};
use crate::quotients::{FEWEST as GROUP, Homes, Quotients, USED, code_of, firsts};

/// Words of a line.
const WORDS: usize = 8;

/// Groups of lines that are moved at a time.
const CHUNK: usize = 1 << 7;
/// Bits of a half word that say how far from home it is.
const FAR: u32 = GROUP.trailing_zeros();

/// Lines from which on a table grows by half: 32 megabytes.
const LARGE: usize = 1 << 19;
/// Lines of a table after the first where nobody misses the memory: 8 megabytes. In the beginning names are laid
/// out anew again and again, which a table that is large would make slow; a table that was small for long is not
/// small for the search.
const MIDDLING: usize = 1 << 17;

type Line = [AtomicU64; WORDS];

/// Names, each once, for several threads.
pub struct Concurrent {
    pages: Pages<[u64; WORDS]>,
    form: Form,
    width: u32,
    len: AtomicU64,
    has_aside: AtomicBool,
    aside: Mutex<Vec<StateRef>>,
    /// The next chunk to be moved to another table.
    next_chunk: AtomicUsize,
}

enum Form {
    Whole,
    Halves(Coding, Homes),
}

// SAFETY: the pages are an allocation of this table's own; threads reach it through atomic words only.
unsafe impl Send for Concurrent {}
// SAFETY: as above.
unsafe impl Sync for Concurrent {}

impl Concurrent {
    /// For names of this many bits, with room for more than `len` of them. `None` when there is no memory.
    pub fn new(width: u32, len: usize) -> Option<Self> {
        Self::with_lines(width, lines_for_names(width.max(1), len))
    }

    /// Bits that names may have so that a table for this many of them keeps them in half a word.
    pub fn bits_for(len: usize) -> u32 {
        lines_for(len, 13).ilog2() + Quotients::REMAINDER
    }

    fn with_lines(width: u32, lines: usize) -> Option<Self> {
        let width = width.max(1);
        let form = match Quotients::fits(width, lines) {
            true => Form::Halves(Coding::of_width(width), Homes::new(width, lines)),
            false => Form::Whole,
        };
        Some(Concurrent {
            pages: Pages::zeroed(lines)?,
            form,
            width,
            len: AtomicU64::new(0),
            has_aside: AtomicBool::new(false),
            aside: Mutex::new(Vec::new()),
            next_chunk: AtomicUsize::new(0),
        })
    }

    /// A table that is larger than this one, with what found no place here; the rest is moved there by
    /// [`Concurrent::move_chunk`]. It is much larger where it takes no more than `ease` bytes. `None` when
    /// there is no memory.
    pub fn larger(&self, ease: u64) -> Option<Self> {
        let lines = self.pages.count();
        let has_shorter = matches!(self.form, Form::Whole) && Quotients::fits(self.width, lines);
        self.of_lines(if has_shorter { lines } else { next_lines(lines, ease) })
    }

    /// An empty table for names of this many bits, with as much room as this one has at least; with more where
    /// this one would soon be crowded and that takes no more than `ease` bytes.
    pub fn relaid(&self, width: u32, ease: u64) -> Option<Self> {
        let lines = lines_for_names(width.max(1), self.len() as usize);
        // Whole names have half as many places in a line.
        let was_whole = matches!(self.form, Form::Whole);
        let own = if was_whole && Quotients::fits(width, lines) {
            self.lines().len() / 2
        } else {
            self.lines().len()
        };
        let lines = lines.max(own.next_multiple_of(GROUP));
        let larger = next_lines(lines, ease);
        let is_filling = self.len() > self.room() / 2 && bytes_of(larger) <= ease;
        Self::with_lines(width, if is_filling { larger } else { lines })
    }

    fn of_lines(&self, lines: usize) -> Option<Self> {
        let larger = Self::with_lines(self.width, lines)?;
        let mut moved = 0;
        self.each_aside(|name| moved += u64::from(larger.insert(name)));
        larger.add(moved);
        Some(larger)
    }

    /// Bytes of what [`Concurrent::larger`] would make, at most.
    pub fn larger_bytes(&self, ease: u64) -> u64 {
        bytes_of(next_lines(self.pages.count(), ease))
    }

    #[inline(always)]
    fn lines(&self) -> &[Line] {
        // SAFETY: see the head of the file.
        unsafe { std::slice::from_raw_parts(self.pages.start().cast(), self.pages.count()) }
    }

    /// Bits that names may have so that the next larger table keeps them in half a word.
    pub fn name_bits(&self) -> u32 {
        (self.pages.count() * 2).ilog2() + Quotients::REMAINDER
    }

    #[inline(always)]
    fn home(&self, name: StateRef) -> usize {
        ((u128::from(mix(name.0)) * self.pages.count() as u128) >> 64) as usize
    }

    /// Brings what is needed to decide about a name near.
    #[inline(always)]
    pub fn prefetch(&self, name: StateRef) {
        match &self.form {
            Form::Whole => prefetch(&self.lines()[self.home(name)]),
            // Names that wait for a place have more bits than others, and nothing is prefetched for them.
            Form::Halves(coding, homes) if name.0 >> self.width == 0 => {
                prefetch(&self.lines()[homes.of(coding.scramble(name.0))]);
            }
            Form::Halves(..) => {}
        }
    }

    /// Whether the name is new; it is remembered from now on. It is counted by [`Concurrent::add`].
    #[inline(always)]
    pub fn insert(&self, name: StateRef) -> bool {
        let claim = match &self.form {
            Form::Whole => claim_word::<GROUP, WORDS, _>(self.lines(), self.home(name), name.0),
            Form::Halves(coding, homes) => claim_code(self.lines(), *homes, coding.scramble(name.0)),
        };
        match claim {
            Claim::New => true,
            Claim::Known => false,
            Claim::NoRoom => self.put_aside(name),
        }
    }

    /// Whether a name is here. Who is told so is right for good; who is not may have looked too early.
    #[inline(always)]
    pub fn contains(&self, name: StateRef) -> bool {
        let found = match &self.form {
            Form::Whole => has_word::<GROUP, WORDS, _>(self.lines(), self.home(name), name.0),
            Form::Halves(coding, homes) => {
                let (home, half) = place(*homes, coding.scramble(name.0));
                has_half::<GROUP, WORDS, _>(self.lines(), home, half)
            }
        };
        found || self.has_aside.load(Ordering::Relaxed) && self.is_aside(name)
    }

    #[cold]
    fn is_aside(&self, name: StateRef) -> bool {
        self.aside.lock().unwrap_or_else(PoisonError::into_inner).contains(&name)
    }

    /// Lines that are full stay so: whoever comes with this name later comes here as well.
    #[cold]
    fn put_aside(&self, name: StateRef) -> bool {
        let mut aside = self.aside.lock().unwrap_or_else(PoisonError::into_inner);
        self.has_aside.store(true, Ordering::Relaxed);
        let new = !aside.contains(&name);
        if new {
            aside.push(name);
        }
        new
    }

    /// So many names were found to be new.
    pub fn add(&self, new: u64) {
        self.len.fetch_add(new, Ordering::Relaxed);
    }

    /// How many names were counted.
    pub fn len(&self) -> u64 {
        self.len.load(Ordering::Relaxed)
    }

    /// Whether it should be larger.
    #[inline]
    pub fn is_crowded(&self) -> bool {
        self.len() > self.room() || self.has_aside.load(Ordering::Relaxed)
    }

    /// Names that find a place quickly.
    #[inline]
    fn room(&self) -> u64 {
        let places = match self.form {
            Form::Whole => WORDS,
            Form::Halves(..) => 2 * WORDS,
        };
        (self.pages.count() * places / 16 * 14) as u64
    }

    pub fn bytes(&self) -> u64 {
        self.pages.bytes()
    }

    /// Moves the names of a part of the lines to a table made by [`Concurrent::larger`]; `false` when no part
    /// is left. Several threads may do so, and no thread inserts names meanwhile.
    pub fn move_chunk(&self, to: &Concurrent) -> bool {
        let Some((first, end)) = self.next_part() else { return false };
        match (&self.form, &to.form) {
            // Names that are scrambled alike need not be known.
            (Form::Halves(coding, from), Form::Halves(_, homes)) if self.width == to.width => {
                let (mut filling, mut moved) = (Filling::new(self, to, (first, end)), 0);
                self.each_code((first, end), *from, |code| {
                    let (home, half) = place(*homes, code);
                    let claim = match filling.add(to.lines(), home, half) {
                        Some(claim) => claim,
                        None => claim_half::<GROUP, WORDS, _>(to.lines(), home, half),
                    };
                    moved += u64::from(match claim {
                        Claim::New => true,
                        Claim::Known => false,
                        Claim::NoRoom => to.put_aside(coding.decode(code)),
                    });
                });
                to.add(moved);
            }
            _ => self.move_part((first, end), to, |name| name),
        }
        true
    }

    /// Moves the names of a part of the lines to another table, translated; otherwise like
    /// [`Concurrent::move_chunk`].
    pub fn move_renamed(&self, to: &Concurrent, mut translate: impl FnMut(StateRef) -> StateRef) -> bool {
        let Some((first, end)) = self.next_part() else { return false };
        if first == 0 {
            let mut moved = 0;
            self.each_aside(|name| moved += u64::from(to.insert(translate(name))));
            to.add(moved);
        }
        self.move_part((first, end), to, translate);
        true
    }

    /// Puts the names of some lines into another table, translated; their places there are brought near
    /// first.
    fn move_part(
        &self,
        part: (usize, usize),
        to: &Concurrent,
        mut translate: impl FnMut(StateRef) -> StateRef,
    ) {
        let (mut near, mut moved) = (Near::new(), 0);
        self.each(part, &mut |name| {
            let name = translate(name);
            to.prefetch(name);
            if let Some(name) = near.exchange(name) {
                moved += u64::from(to.insert(name));
            }
        });
        near.rest().for_each(|name| moved += u64::from(to.insert(name)));
        to.add(moved);
    }

    /// The next lines that nobody has begun to move.
    fn next_part(&self) -> Option<(usize, usize)> {
        let first = self.next_chunk.fetch_add(1, Ordering::Relaxed) * CHUNK * GROUP;
        let end = (first + CHUNK * GROUP).min(self.pages.count());
        (first < end).then_some((first, end))
    }

    /// Visits all names; no thread inserts any meanwhile.
    pub fn each_name(&self, take: &mut dyn FnMut(StateRef)) {
        self.each((0, self.pages.count()), take);
        self.each_aside(take);
    }

    fn each_aside(&self, take: impl FnMut(StateRef)) {
        self.aside.lock().unwrap_or_else(PoisonError::into_inner).iter().copied().for_each(take);
    }

    fn each(&self, (first, end): (usize, usize), take: &mut dyn FnMut(StateRef)) {
        match &self.form {
            Form::Whole => {
                let words =
                    self.lines()[first..end].iter().flatten().map(|word| word.load(Ordering::Relaxed));
                words.filter(|&word| word != 0).map(StateRef).for_each(take);
            }
            Form::Halves(coding, homes) => {
                self.each_code((first, end), *homes, |code| take(coding.decode(code)));
            }
        }
    }

    /// The scrambled names of some lines, where halves are kept.
    fn each_code(&self, (first, end): (usize, usize), homes: Homes, mut take: impl FnMut(u64)) {
        for group in (first..end).step_by(GROUP) {
            let starts = firsts(homes, group);
            for at in group..group + GROUP {
                for word in &self.lines()[at] {
                    halves(word).for_each(|half| take(code_of(half, at, homes.kept, &starts)));
                }
            }
        }
    }
}

/// Lines of the next larger table. To move the names all threads stop working, so that small tables grow in
/// larger steps than one thread's, and in yet larger ones where nobody misses the memory.
fn next_lines(lines: usize, ease: u64) -> usize {
    let leap = (lines * 4).max(MIDDLING);
    match lines {
        _ if leap <= LARGE && bytes_of(leap) <= ease => leap,
        _ if lines < LARGE => lines * 2,
        _ => larger(lines),
    }
}

fn bytes_of(lines: usize) -> u64 {
    (lines * size_of::<Line>()) as u64
}

/// The halves of a word that are in use.
#[inline(always)]
fn halves(word: &AtomicU64) -> impl Iterator<Item = u32> {
    let word = word.load(Ordering::Relaxed);
    [word as u32, (word >> 32) as u32].into_iter().filter(|&half| half != 0)
}

/// Lines of a larger table to which nothing is moved but one part of a smaller one: what is moved there is
/// put at the end of its line, without a look at it or a race for it.
struct Filling {
    /// The first of these lines.
    first: usize,
    /// How many halves of each are in use.
    filled: Vec<u8>,
}

impl Filling {
    /// Names keep their order, and go to lines of their group: from some lines to as many as there are, in
    /// proportion. Groups at the borders of these get names from other parts too.
    fn new(from: &Concurrent, to: &Concurrent, (first, end): (usize, usize)) -> Self {
        let to_lines = to.pages.count();
        let line = |at: usize| at as u128 * to_lines as u128;
        let lines = from.pages.count() as u128;
        let first = (line(first).div_ceil(lines) as usize).next_multiple_of(GROUP);
        let end = (line(end) / lines) as usize / GROUP * GROUP;
        let used = |line: &Line| line.iter().map(|word| halves(word).count() as u8).sum();
        let filled = match to.lines().get(first..end) {
            Some(lines) if from.has_aside.load(Ordering::Relaxed) => lines.iter().map(used).collect(),
            _ => vec![0; end.saturating_sub(first)],
        };
        Filling { first, filled }
    }

    /// Puts a half at the end of a line, if its lines are among these.
    #[inline(always)]
    fn add(&mut self, lines: &[Line], home: usize, half: u32) -> Option<Claim> {
        let at = home.wrapping_sub(self.first);
        self.filled.get(at)?;
        for far in 0..GROUP {
            let used = &mut self.filled[at ^ far];
            if usize::from(*used) < 2 * WORDS {
                let word = &lines[home ^ far][usize::from(*used / 2)];
                let lower = word.load(Ordering::Relaxed);
                let shift = u32::from(*used % 2) * 32;
                word.store(lower | u64::from(half | far as u32) << shift, Ordering::Relaxed);
                *used += 1;
                return Some(Claim::New);
            }
        }
        Some(Claim::NoRoom)
    }
}

/// Puts a scrambled name into a table of halves.
#[inline(always)]
fn claim_code(lines: &[Line], homes: Homes, code: u64) -> Claim {
    let (home, half) = place(homes, code);
    claim_half::<GROUP, WORDS, _>(lines, home, half)
}

/// Where a scrambled name is at home in a table of halves, and what is kept of it.
#[inline(always)]
fn place(homes: Homes, code: u64) -> (usize, u32) {
    (homes.of(code), ((code & homes.kept) as u32) << FAR | USED)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::coding::low_bits;

    fn names(table: &Concurrent) -> HashSet<StateRef> {
        let mut all = HashSet::new();
        table.each_name(&mut |name| assert!(all.insert(name)));
        all
    }

    fn moved(table: &Concurrent, change: u64, width: u32) -> Concurrent {
        let to = if width == table.width {
            table.larger([0, 1 << 30][table.len() as usize % 2])
        } else {
            Concurrent::new(width, table.len() as usize)
        };
        let to = to.expect("small");
        match change {
            0 => while table.move_chunk(&to) {},
            _ => while table.move_renamed(&to, |name| StateRef(name.0 ^ change)) {},
        }
        to
    }

    #[test]
    fn a_name_is_new_once_and_survives_growth_and_renaming() {
        for width in [7, 20, 31, 63] {
            let mut table = Concurrent::new(width, 0).expect("small");
            let mut twin = HashSet::new();
            for i in 0..60_000u64 {
                let name = StateRef((if i % 3 == 0 { mix(i / 2) } else { i } & low_bits(width)).max(1));
                if table.is_crowded() {
                    table = moved(&table, 0, width);
                }
                assert_eq!(table.contains(name), twin.contains(&name), "{name:?} of {width} bits");
                let new = table.insert(name);
                table.add(u64::from(new));
                assert_eq!(new, twin.insert(name), "{name:?} of {width} bits");
            }
            assert_eq!((table.len(), names(&table)), (twin.len() as u64, twin.clone()));
            if width < 60 {
                let renamed = moved(&table, 1 << (width + 2), width + 3);
                let expected: HashSet<StateRef> =
                    twin.iter().map(|name| StateRef(name.0 ^ 1 << (width + 2))).collect();
                assert_eq!((renamed.len(), names(&renamed)), (twin.len() as u64, expected));
            }
        }
    }

    #[test]
    fn what_finds_no_place_is_kept_aside_and_new_once() {
        let table = Concurrent::with_lines(30, GROUP).expect("small");
        let end = (GROUP * 16 + 100) as u64;
        let all = (1..end).map(StateRef);
        assert!(all.clone().all(|name| table.insert(name)));
        assert!(all.clone().all(|name| !table.insert(name) && table.contains(name)));
        assert!(!table.contains(StateRef(end)));
        assert!(table.is_crowded());
        let larger = moved(&table, 0, 30);
        assert!(all.clone().all(|name| !larger.insert(name)) && larger.insert(StateRef(end)));
    }

    /// Threads move a table together, also where names found no place in it.
    #[test]
    fn threads_move_all_names_to_a_larger_table() {
        let part = CHUNK * GROUP;
        for (lines, count) in [(3 * part, 120_000), (GROUP, GROUP * 16 + 50), (5 * part, 9)] {
            for more in [lines, (lines / 2).next_multiple_of(GROUP), lines / 3 / GROUP * GROUP + GROUP] {
                moved_together(lines, lines + more, count);
            }
        }
    }

    fn moved_together(lines: usize, more: usize, count: usize) {
        let table = Concurrent::with_lines(28, lines).expect("small");
        let new = (1..=count as u64).map(|i| StateRef(mix(i) & low_bits(28) | 1));
        table.add(new.map(|name| u64::from(table.insert(name))).sum());
        let larger = table.of_lines(more).expect("small");
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| while table.move_chunk(&larger) {});
            }
        });
        assert_eq!((larger.len(), names(&larger)), (table.len(), names(&table)));
        assert!(names(&table).into_iter().all(|name| larger.contains(name) && !larger.insert(name)));
    }

    /// Threads insert overlapping names in different orders: each is new for exactly one of them, also those
    /// put aside.
    #[test]
    fn threads_share_names_out_among_them() {
        for width in [19, 40, 63] {
            let (threads, count) = (4, 50_000_u64);
            let table = Concurrent::new(width, count as usize / 3).expect("small");
            let name = |i: u64| StateRef(((mix(i) | 1) & low_bits(width)).max(1));
            let distinct: HashSet<StateRef> = (0..count).map(name).collect();
            let new: u64 = std::thread::scope(|scope| {
                let work = |thread: u64| {
                    let table = &table;
                    move || {
                        let order = (0..count).map(move |i| (i * (2 * thread + 1) * 7919 + thread) % count);
                        order.filter(|&i| table.insert(name(i))).count() as u64
                    }
                };
                let all: Vec<_> = (0..threads).map(|thread| scope.spawn(work(thread))).collect();
                all.into_iter().map(|thread| thread.join().expect("no panic")).sum()
            });
            assert_eq!((new, names(&table)), (distinct.len() as u64, distinct));
        }
    }
}
