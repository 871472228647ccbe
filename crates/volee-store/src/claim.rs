//! The core of the concurrent table: claiming a place for a name in words that many threads look at.
//!
//! A line is a few words, and a group some lines, a power of two. A name has a *home* line; the lines in
//! which it may be are, in this order, the home with its lowest bits changed by 0, 1, 2 and so on, and in
//! each line the places from the front. A place is free (0) or taken, once and for good. So whoever meets a
//! free place in this order knows that the name is in none of the later ones, and claims that place by
//! compare-and-swap; whoever loses the race looks at what the winner has put there. After Laarman, van de
//! Pol, Weber, "Boosting multi-core reachability performance with shared hash tables" (2010), without their
//! separate array of hashes: a name is one word or half of one, and has no memory behind it that would have
//! to be published.
//!
//! # Orders of memory
//! All accesses are relaxed. Exactly one thread is told that a name is new because of what holds for each
//! word alone:
//! * A word changes only from free to taken (two halves: first the lower, then the higher), and only by
//!   compare-and-swap, which acts on the latest value. A load may be stale, but then it shows a *free* place
//!   that is taken, never the reverse; the swap fails and gives the latest value. So "taken, by another name"
//!   is final whenever it is seen, and nobody passes a place that he could have claimed.
//! * Two threads with the same name therefore pass the same places, each for good, and meet at the first that
//!   is neither: one of them claims it, the other sees the name in the failed swap, or in a later load of the
//!   same word (coherence).
//! * A quick look at a line ([`Shared::shows_half`]) only tells that a name is there, never that it is not: who
//!   does not see it looks again.
//! * The words of a line are loaded all together, before any is judged, and a later one may be older than an
//!   earlier one. That is no more than a stale load: a place that shows the name has it, one that is taken by
//!   another is passed for good, and the first that seemed free is claimed by a swap.
//!
//! Nothing is read through a name that another thread has put into the table: names that threads hand to each
//! other go through a lock, as does the replacing of the table by another.
#![allow(unsafe_code)]

use std::sync::atomic::{AtomicU64, Ordering};

/// A word that threads share: of the standard library, or of a model of it.
pub(crate) trait Shared {
    fn seen(&self) -> u64;

    /// Puts `new` in the place of `old`; otherwise tells what is there.
    fn claim(&self, old: u64, new: u64) -> Result<(), u64>;

    /// Whether a quick look shows half a word in a line: if so, it is there for good.
    #[inline(always)]
    fn shows_half<const WORDS: usize>(_line: &[Self; WORDS], _half: u32) -> bool
    where
        Self: Sized,
    {
        false
    }
}

impl Shared for AtomicU64 {
    #[inline(always)]
    fn seen(&self) -> u64 {
        self.load(Ordering::Relaxed)
    }

    #[inline(always)]
    fn claim(&self, old: u64, new: u64) -> Result<(), u64> {
        self.compare_exchange(old, new, Ordering::Relaxed, Ordering::Relaxed).map(drop)
    }

    #[cfg(all(target_arch = "x86_64", not(miri)))]
    #[inline(always)]
    fn shows_half<const WORDS: usize>(line: &[Self; WORDS], half: u32) -> bool {
        let mut found = 0;
        for four in line.as_chunks::<4>().0 {
            found |= four_words_with(four, half);
        }
        found != 0
    }
}

/// Bits for the halves of four words that are this one. Atomic words cannot be loaded two at a time by what
/// the language has, and that takes half of the time of a look-up in which a name is found; most are.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline(always)]
fn four_words_with(words: &[AtomicU64; 4], half: u32) -> i32 {
    use std::arch::asm;
    use std::arch::x86_64::{__m128i, _mm_cmpeq_epi32, _mm_movemask_epi8, _mm_or_si128, _mm_set1_epi32};
    let (one, other): (__m128i, __m128i);
    // SAFETY: 32 bytes are read, all of `words`. The instructions are SSE2's, part of x86_64, and read each
    // aligned half word at once, as a relaxed load does: no processor splits an access within one.
    unsafe {
        asm!(
            "movdqu {one}, [{words}]",
            "movdqu {other}, [{words} + 16]",
            words = in(reg) words.as_ptr(),
            one = out(xmm_reg) one,
            other = out(xmm_reg) other,
            options(readonly, nostack, preserves_flags),
        );
        let wanted = _mm_set1_epi32(half as i32);
        let found = _mm_or_si128(_mm_cmpeq_epi32(one, wanted), _mm_cmpeq_epi32(other, wanted));
        _mm_movemask_epi8(found)
    }
}

/// What became of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Claim {
    New,
    Known,
    /// Its lines are full, and it is not there.
    NoRoom,
}

/// Puts a word, not 0, into the lines of its home unless it is there.
#[inline(always)]
pub(crate) fn claim_word<const GROUP: usize, const WORDS: usize, W: Shared>(
    lines: &[[W; WORDS]],
    home: usize,
    name: u64,
) -> Claim {
    for far in 0..GROUP {
        let line = &lines[home ^ far];
        let seen: [u64; WORDS] = std::array::from_fn(|at| line[at].seen());
        if seen.iter().fold(false, |found, &word| found | (word == name)) {
            return Claim::Known;
        }
        let Some(free) = seen.iter().position(|&word| word == 0) else { continue };
        for word in &line[free..] {
            match word.claim(0, name) {
                Ok(()) => return Claim::New,
                Err(now) if now == name => return Claim::Known,
                Err(_) => {}
            }
        }
    }
    Claim::NoRoom
}

/// Whether a word is in the lines of its home. Whoever sees it is right for good; whoever does not may have
/// looked too early.
#[inline(always)]
pub(crate) fn has_word<const GROUP: usize, const WORDS: usize, W: Shared>(
    lines: &[[W; WORDS]],
    home: usize,
    name: u64,
) -> bool {
    for far in 0..GROUP {
        let seen: [u64; WORDS] = std::array::from_fn(|at| lines[home ^ far][at].seen());
        if seen.contains(&name) {
            return true;
        }
        if seen.contains(&0) {
            return false;
        }
    }
    false
}

/// One in each half of a word.
const ONES: u64 = 1 << 32 | 1;

/// Not 0 if a half of the word is.
#[inline(always)]
fn empty_half(word: u64) -> u64 {
    word.wrapping_sub(ONES) & !word & (ONES << 31)
}

/// Puts half a word, not 0, into the lines of its home unless it is there; how far from home it is, is told
/// in its lowest bits.
#[inline(always)]
pub(crate) fn claim_half<const GROUP: usize, const WORDS: usize, W: Shared>(
    lines: &[[W; WORDS]],
    home: usize,
    half: u32,
) -> Claim {
    for far in 0..GROUP {
        let wanted = u64::from(half | far as u32);
        let line = &lines[home ^ far];
        if W::shows_half(line, half | far as u32) {
            return Claim::Known;
        }
        // Where it mostly is, or is not, is seen without a branch for each word.
        let seen: [u64; WORDS] = std::array::from_fn(|at| line[at].seen());
        if seen.iter().fold(0, |found, &word| found | empty_half(word ^ (wanted * ONES))) != 0 {
            return Claim::Known;
        }
        let Some(free) = seen.iter().position(|&word| word >> 32 == 0) else { continue };
        for word in &line[free..] {
            match claim_half_of(word, wanted) {
                Claim::NoRoom => {}
                claim => return claim,
            }
        }
    }
    Claim::NoRoom
}

/// Whether half a word is in the lines of its home; otherwise like [`has_word`].
#[inline(always)]
pub(crate) fn has_half<const GROUP: usize, const WORDS: usize, W: Shared>(
    lines: &[[W; WORDS]],
    home: usize,
    half: u32,
) -> bool {
    for far in 0..GROUP {
        let wanted = u64::from(half | far as u32);
        let seen: [u64; WORDS] = std::array::from_fn(|at| lines[home ^ far][at].seen());
        if seen.iter().any(|&word| empty_half(word ^ (wanted * ONES)) != 0) {
            return true;
        }
        if seen.iter().any(|&word| word >> 32 == 0) {
            return false;
        }
    }
    false
}

/// Puts half a word into one word unless it is there.
#[inline]
fn claim_half_of<W: Shared>(word: &W, wanted: u64) -> Claim {
    let mut seen = word.seen();
    loop {
        if seen & u64::from(u32::MAX) == wanted || seen >> 32 == wanted {
            return Claim::Known;
        }
        let with = match (seen, seen >> 32) {
            (0, _) => wanted,
            (_, 0) => seen | wanted << 32,
            _ => return Claim::NoRoom,
        };
        match word.claim(seen, with) {
            Ok(()) => return Claim::New,
            Err(now) => seen = now,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use loom::sync::atomic::AtomicU64 as Modelled;
    use loom::thread;

    use super::*;

    impl Shared for Modelled {
        fn seen(&self) -> u64 {
            self.load(Ordering::Relaxed)
        }

        fn claim(&self, old: u64, new: u64) -> Result<(), u64> {
            self.compare_exchange(old, new, Ordering::Relaxed, Ordering::Relaxed).map(drop)
        }
    }

    /// A group of two lines of one word each.
    type Lines = [[Modelled; 1]; 2];

    /// Two threads claim names at once, in every way that the orders of memory allow; each name is new once,
    /// and known then.
    fn race(names: [[u64; 2]; 2], claim: fn(&Lines, u64) -> Claim, has: fn(&Lines, u64) -> bool) {
        loom::model(move || {
            let lines: Arc<Lines> = Arc::new(std::array::from_fn(|_| [Modelled::new(0)]));
            let other = Arc::clone(&lines);
            let thread = thread::spawn(move || {
                names[1].map(|name| {
                    let seen = has(&other, name);
                    let claimed = claim(&other, name);
                    assert!(!seen || claimed == Claim::Known);
                    claimed
                })
            });
            let here = names[0].map(|name| claim(&lines, name));
            let there = thread.join().expect("no panic");
            let all: Vec<_> = names.concat().into_iter().zip(here.into_iter().chain(there)).collect();
            for &(name, _) in &all {
                assert!(has(&lines, name));
                let new = all.iter().filter(|&&(other, claim)| other == name && claim == Claim::New).count();
                assert_eq!(new, 1, "{all:?}");
                assert_eq!(claim(&lines, name), Claim::Known);
            }
        });
    }

    #[test]
    fn of_two_threads_one_is_told_that_a_name_is_new() {
        let whole = |lines: &Lines, name| claim_word::<2, 1, _>(lines, 0, name);
        let has = |lines: &Lines, name| has_word::<2, 1, _>(lines, 0, name);
        race([[1, 2], [1, 2]], whole, has);
        race([[1, 2], [2, 1]], whole, has);
    }

    #[test]
    fn of_two_threads_one_is_told_that_half_a_word_is_new() {
        let half = |lines: &Lines, name| claim_half::<2, 1, _>(lines, 0, 1 << 31 | (name as u32) << 5);
        let has = |lines: &Lines, name| has_half::<2, 1, _>(lines, 0, 1 << 31 | (name as u32) << 5);
        race([[1, 2], [2, 1]], half, has);
        race([[1, 2], [3, 1]], half, has);
    }
}
