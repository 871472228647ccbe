//! Lists that grow in pieces on large pages, so that what is in them never moves.
//!
//! Safety: a piece is a vector of plain data that begins where a large page does, which `Vec` cannot be told:
//! its memory is its own, its first `len` elements have been written, `len` never exceeds `capacity`, and it
//! is given back with the layout that it was got with.
#![allow(unsafe_code)]

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

use crate::large::{LARGE, advise};
use crate::pages::prefetch_at;

/// The size of a large page.
const LARGE_PAGE: usize = 2 << 20;

/// A vector of a fixed capacity, on large pages where it is large.
struct Piece<T> {
    start: NonNull<T>,
    len: usize,
    capacity: usize,
}

impl<T: Copy> Piece<T> {
    fn with_capacity(capacity: usize) -> Self {
        let layout = Self::layout(capacity);
        if layout.size() == 0 {
            return Piece { start: NonNull::dangling(), len: 0, capacity: 0 };
        }
        // SAFETY: the layout has a size.
        let Some(start) = NonNull::new(unsafe { alloc(layout) }) else { handle_alloc_error(layout) };
        let start = start.cast();
        advise(start.as_ptr(), capacity);
        Piece { start, len: 0, capacity }
    }

    #[inline(always)]
    fn push(&mut self, element: T) {
        assert!(self.len < self.capacity, "a piece has room when something is pushed");
        // SAFETY: `len` is within the capacity.
        unsafe { self.start.add(self.len).write(element) };
        self.len += 1;
    }
}

impl<T> Piece<T> {
    fn layout(capacity: usize) -> Layout {
        let bytes = capacity * size_of::<T>();
        let align = if bytes < LARGE { align_of::<T>() } else { align_of::<T>().max(LARGE_PAGE) };
        Layout::from_size_align(bytes, align).expect("a piece has a moderate size")
    }
}

impl<T> Drop for Piece<T> {
    fn drop(&mut self) {
        let layout = Self::layout(self.capacity);
        if layout.size() > 0 {
            // SAFETY: got with this layout. (The elements are plain data.)
            unsafe { dealloc(self.start.as_ptr().cast(), layout) };
        }
    }
}

impl<T> Deref for Piece<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        // SAFETY: the first `len` elements have been written.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl<T> DerefMut for Piece<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as above, and nobody else has the memory.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

// SAFETY: a piece owns its memory as a vector does.
unsafe impl<T: Send> Send for Piece<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Piece<T> {}

/// A list of plain data that grows in pieces, so that what is in it never moves. The first piece grows as a
/// vector does, because most lists stay short.
pub struct Pieces<T> {
    pieces: Vec<Piece<T>>,
    len: usize,
}

/// Bytes of a piece.
const PIECE: usize = 8 << 20;

impl<T: Copy> Pieces<T> {
    /// Elements of a piece, a power of two where their size is one.
    const EACH: usize = PIECE / size_of::<T>();

    pub fn new() -> Self {
        Pieces { pieces: vec![Piece::with_capacity(0)], len: 0 }
    }

    pub fn len(&self) -> usize {
        self.len
    }

    #[inline(always)]
    pub fn push(&mut self, element: T) {
        match self.pieces.last_mut() {
            Some(piece) if piece.len < piece.capacity => piece.push(element),
            _ => self.push_further(element),
        }
        self.len += 1;
    }

    /// Adds an element to a full last piece: the first piece grows, the others are followed by another one.
    #[cold]
    fn push_further(&mut self, element: T) {
        if self.len > 0 && self.len.is_multiple_of(Self::EACH) {
            self.pieces.push(Piece::with_capacity(Self::EACH));
        } else {
            self.enlarge_first(self.len * 2);
        }
        if let Some(piece) = self.pieces.last_mut() {
            piece.push(element);
        }
    }

    /// Makes the first piece, which is the only one, larger; at most as large as the others.
    fn enlarge_first(&mut self, capacity: usize) {
        let mut larger = Piece::with_capacity(capacity.clamp(64, Self::EACH));
        for &element in self.pieces[0].iter() {
            larger.push(element);
        }
        self.pieces[0] = larger;
    }

    /// Lengthens the list with defaults.
    pub fn lengthen(&mut self, len: usize)
    where
        T: Default,
    {
        if len > self.pieces[0].capacity && self.len < Self::EACH {
            // At least doubled, because it may be lengthened by little again and again.
            self.enlarge_first(len.max(self.len * 2));
        }
        while self.len < len {
            self.push(T::default());
        }
    }

    #[inline(always)]
    pub fn get(&self, at: usize) -> &T {
        &self.pieces[at / Self::EACH][at % Self::EACH]
    }

    #[inline(always)]
    pub fn get_mut(&mut self, at: usize) -> &mut T {
        &mut self.pieces[at / Self::EACH][at % Self::EACH]
    }

    /// The elements from one place to another, piece by piece.
    #[inline(always)]
    pub fn slices(&self, mut from: usize, to: usize) -> impl Iterator<Item = &[T]> {
        std::iter::from_fn(move || {
            let (piece, first) = (from / Self::EACH, from % Self::EACH);
            let last = Self::EACH.min(first + (to - from));
            from += last - first;
            (first < last).then(|| &self.pieces[piece][first..last])
        })
    }

    /// Gives all elements away, in order, and memory back on the way.
    pub fn consume(self, mut take: impl FnMut(T)) {
        for piece in self.pieces {
            piece.iter().for_each(|&element| take(element));
        }
    }

    #[inline(always)]
    pub fn prefetch(&self, at: usize) {
        if let Some(piece) = self.pieces.get(at / Self::EACH) {
            prefetch_at(piece, at % Self::EACH);
        }
    }

    pub fn bytes(&self) -> usize {
        self.pieces.iter().map(|piece| piece.capacity * size_of::<T>()).sum()
    }
}

impl<T: Copy> Clone for Pieces<T> {
    fn clone(&self) -> Self {
        let mut clone = Pieces::new();
        for piece in &self.pieces {
            for &element in piece.iter() {
                clone.push(element);
            }
        }
        clone
    }
}

impl<T> std::fmt::Debug for Pieces<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} elements in {} pieces", self.len, self.pieces.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_a_list_of_pieces_stays_there() {
        let mut list: Pieces<(u32, u32)> = Pieces::new();
        let count = 2 * PIECE as u32 / 8 + 100;
        for n in 0..count {
            list.push((n, !n));
        }
        list.lengthen(count as usize + 1000);
        let copy = list.clone();
        assert_eq!((list.len(), copy.len()), (count as usize + 1000, count as usize + 1000));
        for n in 0..count {
            assert_eq!((*list.get(n as usize), *copy.get(n as usize)), ((n, !n), (n, !n)));
        }
        for (from, to) in [(0, 0), (3, 9), (PIECE / 8 - 2, PIECE / 8), (PIECE / 8 - 2, PIECE / 4 + 2)] {
            let all: Vec<(u32, u32)> = list.slices(from, to).flatten().copied().collect();
            assert!(all.into_iter().eq((from as u32..to as u32).map(|n| (n, !n))));
        }
        let mut given = Vec::new();
        copy.consume(|element| given.push(element));
        assert!(
            given.len() == list.len() && given.iter().enumerate().all(|(at, given)| given == list.get(at))
        );
        *list.get_mut(7) = (1, 1);
        assert_eq!((*list.get(7), *list.get(count as usize + 999)), ((1, 1), (0, 0)));
        assert!(list.bytes() >= list.len() * 8);
    }

    #[test]
    fn lengthening_a_short_list_keeps_it() {
        let mut list: Pieces<u64> = Pieces::new();
        list.push(5);
        for len in [3, 64, 65, 1000, PIECE / 8, PIECE / 8 + 1, PIECE / 2] {
            list.lengthen(len);
            assert_eq!((*list.get(0), *list.get(len - 1), list.len()), (5, 0, len));
        }
    }
}
