//! Large arrays on large pages.
//!
//! Random reads in hundreds of megabytes miss the translation buffer as often as the cache; with pages of 2 MB they
//! miss it rarely, and there are 512 times fewer page faults while arrays grow. Linux gives such pages to those who ask.
//!
//! Safety: the advice concerns only how memory is backed, never its contents; the range is that of a vector we hold,
//! and the kernel refuses what it does not like, which is ignored.
#![allow(unsafe_code)]

use crate::prefetch::prefetch;

/// Below this many bytes the advice is not worth a system call.
const LARGE: usize = 8 << 20;

/// Asks for large pages behind the whole capacity of a vector.
fn advise<T>(vector: &Vec<T>) {
    let bytes = vector.capacity() * size_of::<T>();
    if bytes < LARGE {
        return;
    }
    #[cfg(target_os = "linux")]
    {
        const PAGE: usize = 4096;
        let begin = vector.as_ptr().addr().next_multiple_of(PAGE);
        let end = (vector.as_ptr().addr() + bytes) / PAGE * PAGE;
        let start = vector.as_ptr().with_addr(begin);
        // SAFETY: see the head of this file; `begin..end` lies within the vector's allocation.
        unsafe {
            libc::madvise(start.cast_mut().cast(), end - begin, libc::MADV_HUGEPAGE);
        }
    }
}

/// Makes room for `additional` more elements, at least doubling, on large pages. Large vectors are copied: an array that
/// the system moves by renaming its pages keeps the small ones it grew up on.
#[cold]
fn reserve<T: Copy>(vector: &mut Vec<T>, additional: usize) {
    let capacity = vector.len() + additional.max(vector.capacity()).max(64);
    if capacity * size_of::<T>() < LARGE {
        vector.reserve_exact(capacity - vector.len());
        return;
    }
    let mut larger = Vec::with_capacity(capacity);
    advise(&larger);
    larger.extend_from_slice(vector);
    *vector = larger;
}

/// As `Vec::push`, on large pages.
#[inline]
pub(crate) fn push<T: Copy>(vector: &mut Vec<T>, element: T) {
    if vector.len() == vector.capacity() {
        reserve(vector, 1);
    }
    vector.push(element);
}

/// Lengthens a vector with defaults, on large pages.
#[inline]
pub(crate) fn lengthen<T: Default + Copy>(vector: &mut Vec<T>, len: usize) {
    if len > vector.capacity() {
        reserve(vector, len - vector.len());
    }
    vector.resize(len.max(vector.len()), T::default());
}

/// A list that grows in pieces, so that what is in it never moves. The first piece grows as a vector does, because most
/// lists stay short.
#[derive(Debug)]
pub(crate) struct Pieces<T> {
    pieces: Vec<Vec<T>>,
    len: usize,
}

/// Elements of a piece.
const PIECE: usize = 1 << 20;

impl<T: Copy> Pieces<T> {
    pub fn new() -> Self {
        Pieces { pieces: vec![Vec::new()], len: 0 }
    }

    pub fn len(&self) -> usize {
        self.len
    }

    #[inline]
    pub fn push(&mut self, element: T) {
        if self.len.is_multiple_of(PIECE) && self.len > 0 {
            let piece = Vec::with_capacity(PIECE);
            advise(&piece);
            self.pieces.push(piece);
        }
        if let Some(piece) = self.pieces.last_mut() {
            piece.push(element);
        }
        self.len += 1;
    }

    #[inline]
    pub fn get(&self, at: usize) -> T {
        self.pieces[at / PIECE][at % PIECE]
    }

    #[inline]
    pub fn prefetch(&self, at: usize) {
        if let Some(piece) = self.pieces.get(at / PIECE) {
            prefetch(piece, at % PIECE);
        }
    }

    pub fn bytes(&self) -> usize {
        self.pieces.iter().map(|piece| piece.capacity() * size_of::<T>()).sum()
    }
}
