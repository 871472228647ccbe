//! The variables that a worker has met, and which to expand next: alone in the order in which they were met, among others
//! level by level.

use volee_system::part::{Level, Levels};

use volee_store::large::push;

#[derive(Debug)]
pub(super) struct Agenda {
    /// All variables, in the order in which they were met.
    met: Vec<u32>,
    /// Alone: those from here on are not expanded.
    next: usize,
    /// Among others: those that are not expanded.
    levels: Option<Levels>,
}

impl Agenda {
    pub fn new(peers: u16) -> Self {
        Agenda { met: Vec::new(), next: 0, levels: (peers > 1).then(Levels::default) }
    }

    /// A variable that was not met before.
    #[inline]
    pub fn meet(&mut self, variable: u32, level: Level) {
        push(&mut self.met, variable);
        if let Some(levels) = &mut self.levels {
            levels.put(variable, level);
        }
    }

    /// The next variable to expand, and its level, which does not matter to one who is alone.
    #[inline]
    pub fn take(&mut self) -> Option<(u32, Level)> {
        if let Some(levels) = &mut self.levels {
            return levels.take();
        }
        let variable = *self.met.get(self.next)?;
        self.next += 1;
        Some((variable, 0))
    }

    /// One of the variables that will be expanded soon.
    #[inline]
    pub fn ahead(&self, places: usize) -> Option<u32> {
        match &self.levels {
            Some(levels) => levels.ahead(places),
            None => self.met.get(self.next + places).copied(),
        }
    }

    /// How many have been met.
    pub fn len(&self) -> usize {
        self.met.len()
    }

    /// How many wait.
    #[inline]
    pub fn pending(&self) -> usize {
        self.levels.as_ref().map_or(self.met.len() - self.next, Levels::pending)
    }

    /// All that were met, in the order in which they were.
    pub fn iter(&self) -> impl Iterator<Item = u32> {
        self.met.iter().copied()
    }

    /// Bytes in use.
    pub fn bytes(&self) -> usize {
        self.met.capacity() * size_of::<u32>() + self.levels.as_ref().map_or(0, Levels::bytes)
    }
}
