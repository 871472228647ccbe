//! What the bytes of a state are made of: data about a system, for whoever keeps its states.
//!
//! Parts of a state that change together take few values together, even where there are many states. A store
//! that knows the parts keeps the values of each once, and of a state only their numbers. The bytes of a
//! state are its components one after the other: first those that every state has, then *records*, as many as
//! a byte says, each as long as its first byte (its *kind*) says. The processes of a program are such
//! records.

/// How the bytes of a state are cut into components.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Components {
    /// Where each of the components ends that every state has, in order. The first begins at 0, none is
    /// empty.
    pub ends: Vec<u32>,
    /// What follows them, to the end of the state.
    pub records: Option<Records>,
}

/// Components that come and go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Records {
    /// The byte, within the first component, that says how many there are.
    pub count_at: u32,
    /// The length of a record by its kind, its first byte.
    pub lengths: Vec<u32>,
}

impl Components {
    /// Where each component of a state begins, and the end of the last; `None` for bytes that are not cut
    /// like this.
    pub fn starts(&self, state: &[u8], starts: &mut Vec<u32>) -> Option<()> {
        starts.clear();
        starts.push(0);
        starts.extend_from_slice(&self.ends);
        if let Some(records) = &self.records {
            let mut at = *starts.last()?;
            for _ in 0..*state.get(records.count_at as usize)? {
                at += records.lengths.get(usize::from(*state.get(at as usize)?))?;
                starts.push(at);
            }
        }
        (*starts.last()? as usize == state.len()).then_some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_follow_what_every_state_has() {
        let cut =
            Components { ends: vec![1, 4], records: Some(Records { count_at: 0, lengths: vec![2, 3] }) };
        let mut starts = Vec::new();
        assert_eq!(cut.starts(&[2, 9, 9, 9, 1, 7, 7, 0, 7], &mut starts), Some(()));
        assert_eq!(starts, [0, 1, 4, 7, 9]);
        assert_eq!(cut.starts(&[0, 9, 9, 9], &mut starts), Some(()));
        for wrong in [&[1, 9, 9, 9][..], &[1, 9, 9, 9, 2, 0], &[0, 9, 9, 9, 9], &[]] {
            assert_eq!(cut.starts(wrong, &mut starts), None);
        }
    }
}
