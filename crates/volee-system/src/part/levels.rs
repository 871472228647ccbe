//! What a part has still to expand, level by level.
//!
//! One worker alone meets things level by level, so a queue is enough. Several do not: what comes from
//! another worker has waited for a packet, and at the end of a queue it would wait again behind everything
//! that is known here, so that ways which cross between workers fall behind by a level each time and an early
//! answer that lies on one comes late. So levels travel with what is sent, and the lowest level comes first.
//! (With a queue, a search that stops early explored nine times what it had to.)

use std::collections::VecDeque;

/// How many steps lead to something from where the search began; an upper bound where several workers count.
pub type Level = u32;

/// Numbers of what is met and not expanded, by level; within a level in the order in which they came.
#[derive(Debug, Default)]
pub struct Levels {
    /// What came too late, with its level.
    late: VecDeque<(u32, Level)>,
    /// The level of the first bucket.
    lowest: Level,
    buckets: VecDeque<Vec<u32>>,
    /// Those from here on of the first bucket are not taken.
    next: usize,
    pending: usize,
}

impl Levels {
    /// Adds a number at a level.
    #[inline]
    pub fn put(&mut self, number: u32, level: Level) {
        self.pending += 1;
        let Some(above) = level.checked_sub(self.lowest) else {
            self.late.push_back((number, level));
            return;
        };
        // A worker that is far ahead would make this one keep empty buckets for all levels between.
        let at = (above as usize).min(self.buckets.len());
        if at == self.buckets.len() {
            self.buckets.push_back(Vec::new());
        }
        self.buckets[at].push(number);
    }

    /// Takes a number of the lowest level, and tells the level.
    #[inline]
    pub fn take(&mut self) -> Option<(u32, Level)> {
        if self.pending == 0 {
            return None;
        }
        self.pending -= 1;
        if let Some(late) = self.late.pop_front() {
            return Some(late);
        }
        while self.next == self.buckets.front()?.len() {
            self.buckets.pop_front();
            self.lowest += 1;
            self.next = 0;
        }
        let number = self.buckets.front()?[self.next];
        self.next += 1;
        Some((number, self.lowest))
    }

    /// A number that will be taken soon.
    #[inline]
    pub fn ahead(&self, places: usize) -> Option<u32> {
        self.buckets.front()?.get(self.next + places).copied()
    }

    /// All that wait, with their levels, in the order in which they would be taken.
    pub fn waiting(&self) -> impl Iterator<Item = (u32, Level)> {
        let later = self.buckets.iter().zip(self.lowest..).enumerate().flat_map(|(at, (bucket, level))| {
            let taken = if at == 0 { self.next } else { 0 };
            bucket[taken..].iter().map(move |number| (*number, level))
        });
        self.late.iter().copied().chain(later)
    }

    /// What waits when a search goes on.
    pub fn of(mut waiting: Vec<(u32, Level)>) -> Self {
        waiting.sort_by_key(|(_, level)| *level);
        let lowest = waiting.first().map_or(0, |(_, level)| *level);
        let mut levels = Levels { lowest, ..Levels::default() };
        waiting.into_iter().for_each(|(number, level)| levels.put(number, level));
        levels
    }

    /// How many there are.
    #[inline]
    pub fn pending(&self) -> usize {
        self.pending
    }

    /// Bytes in use.
    pub fn bytes(&self) -> usize {
        self.buckets.iter().map(Vec::capacity).sum::<usize>() * size_of::<u32>() + self.late.capacity() * 8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_level_comes_first_and_all_come_once() {
        let mut levels = Levels::default();
        levels.put(1, 0);
        assert_eq!(levels.take(), Some((1, 0)));
        levels.put(2, 1);
        levels.put(3, 2);
        levels.put(4, 1);
        assert_eq!(levels.take(), Some((2, 1)));
        levels.put(10, 1);
        levels.put(11, 2);
        assert_eq!((levels.pending(), levels.ahead(1)), (4, Some(10)));
        assert_eq!([levels.take(), levels.take()], [Some((4, 1)), Some((10, 1))]);
        assert_eq!(levels.take(), Some((3, 2)));
        levels.put(12, 0);
        levels.put(13, 9);
        let waiting: Vec<(u32, Level)> = levels.waiting().collect();
        assert_eq!(waiting, [(12, 0), (11, 2), (13, 3)]);
        let mut again = Levels::of(waiting.clone());
        let taken: Vec<(u32, Level)> = std::iter::from_fn(|| again.take()).collect();
        assert_eq!(taken[0], (12, 0));
        assert_eq!(taken.len(), 3);
        let rest: Vec<u32> = std::iter::from_fn(|| levels.take()).map(|t| t.0).collect();
        assert_eq!((rest, levels.pending()), (vec![12, 11, 13], 0));
    }
}
