//! Sets of acceptance marks: one word for the automaton, four more for the processes where fairness is asked
//! for.

/// A set of marks in `W` words. Word 0 is the automaton's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Marks<const W: usize>(pub [u64; W]);

impl<const W: usize> Marks<W> {
    pub const EMPTY: Self = Marks([0; W]);

    /// All marks of an automaton, and of all processes.
    pub fn all(automaton: u64) -> Self {
        let mut words = [u64::MAX; W];
        words[0] = automaton;
        Marks(words)
    }

    #[inline]
    pub fn with(mut self, other: Self) -> Self {
        for (word, more) in self.0.iter_mut().zip(other.0) {
            *word |= more;
        }
        self
    }

    #[inline]
    pub fn without(mut self, other: Self) -> Self {
        for (word, less) in self.0.iter_mut().zip(other.0) {
            *word &= !less;
        }
        self
    }

    pub fn is_empty(self) -> bool {
        self == Self::EMPTY
    }
}

impl Marks<5> {
    /// The mark of a process.
    pub fn of_process(process: u8) -> Self {
        let mut words = [0; 5];
        words[1 + usize::from(process / 64)] = 1 << (process % 64);
        Marks(words)
    }
}

/// The processes that are enabled in a state, one bit each.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Enabled([u64; 4]);

impl Enabled {
    pub fn add(&mut self, process: u8) {
        self.0[usize::from(process / 64)] |= 1 << (process % 64);
    }

    /// The marks of these processes.
    pub fn as_marks(self) -> Marks<5> {
        let mut words = [0; 5];
        words[1..].copy_from_slice(&self.0);
        Marks(words)
    }

    /// The marks of a step by `process`: its own, and those of every process that is not enabled.
    #[inline]
    pub fn marks<const W: usize>(self, automaton: u64, process: Option<u8>) -> Marks<W> {
        let mut words = [0; W];
        words[0] = automaton;
        if W > 1 {
            for (word, enabled) in words[1..].iter_mut().zip(self.0) {
                *word = !enabled;
            }
            if let Some(process) = process {
                words[1 + usize::from(process / 64)] |= 1 << (process % 64);
            }
        }
        Marks(words)
    }
}
