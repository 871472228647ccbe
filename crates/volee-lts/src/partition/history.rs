//! From which block each block came, and in which round: the partition of every round, in two words per
//! block.

/// The tree of splits.
#[derive(Debug, Clone, Default)]
pub(crate) struct History {
    parents: Vec<u32>,
    rounds: Vec<u32>,
}

impl History {
    /// One block, since ever.
    pub(super) fn new() -> Self {
        History { parents: vec![0], rounds: vec![0] }
    }

    pub(super) fn push(&mut self, parent: u32, round: u32) {
        self.parents.push(parent);
        self.rounds.push(round);
    }

    /// How many blocks there are.
    pub(crate) fn len(&self) -> usize {
        self.parents.len()
    }

    pub(super) fn parent(&self, block: u32) -> u32 {
        self.parents[block as usize]
    }

    /// The block that contained this block after the given round.
    pub(crate) fn at(&self, mut block: u32, round: u32) -> u32 {
        while self.rounds[block as usize] > round {
            block = self.parents[block as usize];
        }
        block
    }

    /// The round that separated two blocks; none if they are the same.
    pub(crate) fn separated(&self, mut one: u32, mut two: u32) -> Option<u32> {
        let mut round = None;
        while one != two {
            let younger =
                if self.rounds[one as usize] >= self.rounds[two as usize] { &mut one } else { &mut two };
            round = Some(self.rounds[*younger as usize]);
            *younger = self.parents[*younger as usize];
        }
        round
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_round_of_separation_is_the_earliest_split_between_two_blocks() {
        let mut history = History::new();
        history.push(0, 3); // 1 from 0
        history.push(0, 5); // 2 from 0
        history.push(1, 7); // 3 from 1
        assert_eq!(history.separated(3, 2), Some(3));
        assert_eq!(history.separated(2, 0), Some(5));
        assert_eq!(history.separated(3, 1), Some(7));
        assert_eq!(history.separated(1, 1), None);
        assert_eq!(history.at(3, 6), 1);
        assert_eq!(history.at(3, 2), 0);
    }
}
