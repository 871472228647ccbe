//! The variables that a worker has met, block by block, and which to expand next: of the last block that may
//! be expanded, alone in the order in which its variables were met, among others level by level.
//!
//! Blocks before the last are expanded by grants: a few variables at first, twice as many each time. Between
//! two grants the blocks after it are explored and closed, so that what a variable waits for in a later block
//! is known before much of its own block is explored (section 2.2 of the report: the block of maximal index
//! comes first). Doubling keeps the number of pauses logarithmic and what was expanded in vain within a
//! constant of what had to be.

use std::io;

use volee_store::checkpoint::{Damaged, Reader, Refused, Writer};
use volee_store::large::push;
use volee_system::Meter;
use volee_system::part::{Level, Levels};

/// What the first grant of a block allows a worker to expand.
const FIRST_GRANT: usize = 2;
/// The level of what does not wait.
const NO_LEVEL: Level = Level::MAX;

#[derive(Debug)]
struct Queue {
    /// The variables of the block since it was closed last (all of them where a worker is alone), in the
    /// order in which they were met.
    met: Vec<u32>,
    /// Those before this one were there when the block was closed.
    closed: usize,
    /// Alone: those from here on are not expanded.
    next: usize,
    /// Among others: those that are not expanded.
    levels: Option<Levels>,
    /// How many more may be expanded before the next grant.
    allowed: usize,
    grant: usize,
}

impl Queue {
    fn pending(&self) -> usize {
        self.levels.as_ref().map_or(self.met.len() - self.next, Levels::pending)
    }

    #[inline]
    fn take(&mut self) -> Option<(u32, Level)> {
        if let Some(levels) = &mut self.levels {
            return levels.take();
        }
        let variable = *self.met.get(self.next)?;
        self.next += 1;
        Some((variable, 0))
    }
}

#[derive(Debug)]
pub(super) struct Agenda {
    queues: Vec<Queue>,
    met: usize,
    /// How many may be expanded now.
    ready: usize,
}

impl Agenda {
    pub fn new(peers: u16, blocks: usize) -> Self {
        let queue = |block: usize| Queue {
            met: Vec::new(),
            closed: 0,
            next: 0,
            levels: (peers > 1).then(Levels::default),
            allowed: if block + 1 == blocks { usize::MAX } else { 0 },
            grant: FIRST_GRANT,
        };
        Agenda { queues: (0..blocks).map(queue).collect(), met: 0, ready: 0 }
    }

    /// The variables since their blocks were closed, with their blocks, and then those that wait, with their
    /// levels.
    pub fn since_closed(&self) -> impl Iterator<Item = (u32, u16, Level)> {
        self.queues.iter().zip(0..).flat_map(|(queue, block)| {
            let met = queue.met[queue.closed..].iter().map(|variable| (*variable, NO_LEVEL));
            let alone = if queue.levels.is_some() { &[] } else { &queue.met[queue.next..] };
            let among_others = queue.levels.iter().flat_map(Levels::waiting);
            let waiting = alone.iter().map(|variable| (*variable, 0)).chain(among_others);
            met.chain(waiting).map(move |(variable, level)| (variable, block, level))
        })
    }

    /// Of each block, how many may be expanded, and how many more the next time.
    pub fn grants(&self) -> Vec<(usize, usize)> {
        self.queues.iter().map(|queue| (queue.allowed, queue.grant)).collect()
    }

    /// Takes over how many were met and what may be expanded; `false` if there are other blocks.
    pub fn restore_grants(&mut self, met: usize, grants: &[(usize, usize)]) -> bool {
        self.met = met;
        for (queue, (allowed, grant)) in self.queues.iter_mut().zip(grants) {
            (queue.allowed, queue.grant) = (*allowed, *grant);
        }
        grants.len() == self.queues.len()
    }

    /// Takes over variables since their blocks were closed, also where one goes on with the work of several;
    /// `false` if there are others than this many variables, or other blocks.
    pub fn restore(&mut self, met: Vec<(u32, u16, Level)>, variables: usize) -> bool {
        let mut waiting = vec![Vec::new(); self.queues.len()];
        for (variable, block, level) in met {
            let block = usize::from(block);
            if variable as usize >= variables || block >= self.queues.len() {
                return false;
            }
            match level {
                NO_LEVEL => push(&mut self.queues[block].met, variable),
                level => waiting[block].push((variable, level)),
            }
        }
        for (queue, waiting) in self.queues.iter_mut().zip(waiting) {
            queue.levels = Some(Levels::of(waiting));
        }
        self.ready = self.queues.iter().map(|queue| queue.pending().min(queue.allowed)).sum();
        true
    }

    /// Writes the agenda of one who is alone.
    pub fn write(&self, out: &mut Writer) -> io::Result<()> {
        out.value(&(self.queues.len(), self.met, self.ready))?;
        self.queues.iter().try_for_each(|queue| {
            out.value(&(queue.closed, queue.next, queue.allowed, queue.grant))?;
            out.list(queue.met.iter())
        })
    }

    pub fn read(&mut self, input: &mut Reader, meter: &Meter) -> Result<(), Refused> {
        let queues: usize;
        (queues, self.met, self.ready) = input.value()?;
        if queues != self.queues.len() {
            return Err(Damaged.into());
        }
        for queue in &mut self.queues {
            (queue.closed, queue.next, queue.allowed, queue.grant) = input.value()?;
            queue.met = input.list(meter)?;
        }
        Ok(())
    }

    /// Whether what was read fits together, and to this many variables.
    pub fn is_sound(&self, variables: usize) -> bool {
        let ready: usize = self.queues.iter().map(|queue| queue.pending().min(queue.allowed)).sum();
        self.queues.iter().all(|queue| {
            queue.closed <= queue.met.len()
                && queue.next <= queue.met.len()
                && queue.met.iter().all(|variable| (*variable as usize) < variables)
        }) && self.ready == ready
    }

    /// A variable that was not met before.
    #[inline]
    pub fn meet(&mut self, variable: u32, block: u16, level: Level) {
        let queue = &mut self.queues[usize::from(block)];
        self.met += 1;
        if queue.pending() < queue.allowed {
            self.ready += 1;
        }
        push(&mut queue.met, variable);
        if let Some(levels) = &mut queue.levels {
            levels.put(variable, level);
        }
    }

    /// The next variable to expand, and its level, which does not matter to one who is alone.
    #[inline]
    pub fn take(&mut self) -> Option<(u32, Level)> {
        if self.ready == 0 {
            return None;
        }
        let queue = self.queues.iter_mut().rev().find(|queue| queue.allowed > 0 && queue.pending() > 0)?;
        let taken = queue.take()?;
        self.ready -= 1;
        if queue.allowed < usize::MAX {
            queue.allowed -= 1;
        }
        Some(taken)
    }

    /// One of the variables that will be expanded soon.
    #[inline]
    pub fn ahead(&self, places: usize) -> Option<u32> {
        let queue = self.queues.iter().rev().find(|queue| queue.allowed > 0 && queue.pending() > 0)?;
        match &queue.levels {
            Some(levels) => levels.ahead(places),
            None => queue.met.get(queue.next + places).copied(),
        }
    }

    /// Allows more of a block to be expanded.
    pub fn grant(&mut self, block: u16) {
        let queue = &mut self.queues[usize::from(block)];
        let before = queue.pending().min(queue.allowed);
        queue.allowed = queue.allowed.saturating_add(queue.grant);
        queue.grant = queue.grant.saturating_mul(2);
        self.ready += queue.pending().min(queue.allowed) - before;
    }

    /// The last block with variables that are not expanded.
    pub fn unexpanded(&self) -> Option<u16> {
        self.queues.iter().rposition(|queue| queue.pending() > 0).map(|block| block as u16)
    }

    /// The last block with variables that were met since it was closed.
    pub fn open(&self) -> Option<u16> {
        self.queues.iter().rposition(|queue| queue.closed < queue.met.len()).map(|block| block as u16)
    }

    /// Closes a block, all of whose variables are expanded: the next of those that were met since it was
    /// closed before.
    pub fn close(&mut self, block: u16) -> Vec<u32> {
        let queue = &mut self.queues[usize::from(block)];
        if queue.levels.is_some() {
            return std::mem::take(&mut queue.met);
        }
        let since = queue.met[queue.closed..].to_vec();
        queue.closed = queue.met.len();
        since
    }

    /// How many have been met.
    pub fn len(&self) -> usize {
        self.met
    }

    /// How many wait, also those that may not be expanded now.
    pub fn pending(&self) -> usize {
        self.queues.iter().map(Queue::pending).sum()
    }

    /// Whether one may be expanded now.
    #[inline]
    pub fn is_ready(&self) -> bool {
        self.ready > 0
    }

    /// Bytes in use.
    pub fn bytes(&self) -> usize {
        let levels = |queue: &Queue| queue.levels.as_ref().map_or(0, Levels::bytes);
        self.queues.iter().map(|queue| queue.met.capacity() * size_of::<u32>() + levels(queue)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_blocks_come_first_and_earlier_ones_by_grants_that_double() {
        for peers in [1, 2] {
            let mut agenda = Agenda::new(peers, 2);
            for variable in 0..8 {
                agenda.meet(variable, 0, 0);
            }
            assert!(!agenda.is_ready());
            agenda.grant(0);
            agenda.meet(100, 1, 1);
            let taken: Vec<u32> = std::iter::from_fn(|| agenda.take()).map(|t| t.0).collect();
            assert_eq!((taken, agenda.pending()), (vec![100, 0, 1], 6));
            agenda.grant(0);
            let taken: Vec<u32> = std::iter::from_fn(|| agenda.take()).map(|t| t.0).collect();
            assert_eq!((taken, agenda.unexpanded(), agenda.open()), (vec![2, 3, 4, 5], Some(0), Some(1)));
            assert_eq!((agenda.close(1), agenda.open()), (vec![100], Some(0)));
            agenda.meet(101, 1, 1);
            assert_eq!(
                (agenda.take().map(|t| t.0), agenda.close(1), agenda.len()),
                (Some(101), vec![101], 10)
            );
        }
    }
}
