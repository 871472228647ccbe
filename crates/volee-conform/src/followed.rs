//! A specification as the system of the one product, and a purpose as what watches it.
//!
//! A state is the number that the specification has given it, and its steps are read from the rows that are
//! kept: the product visits a state once for each state of the purpose, the model is asked once. What is
//! followed at a time are all steps, or those that a tester sees, or those that nobody sees. The interface of
//! systems has no errors that end everything, so they wait here until the caller asks.

use std::borrow::Cow;

use volee_search::Observer;
use volee_system::{FaultId, Flow, Label, Sink, Step, System};

use crate::purpose::ACCEPT;
use crate::rows::Which;
use crate::{ConformError, Purpose, Specification};

/// Steps of a specification.
pub(crate) struct Followed<'a, 's> {
    specification: &'a mut Specification<'s>,
    which: Which,
    trouble: Option<ConformError>,
}

impl<'a, 's> Followed<'a, 's> {
    pub fn new(specification: &'a mut Specification<'s>, which: Which) -> Self {
        Followed { specification, which, trouble: None }
    }

    /// What went wrong, if anything did.
    #[inline]
    pub fn ended(self) -> Result<(), ConformError> {
        self.trouble.map_or(Ok(()), Err)
    }
}

impl System for Followed<'_, '_> {
    fn initial(&mut self, push: &mut dyn FnMut(&[u8]) -> Flow) -> Flow {
        match self.specification.initial() {
            Ok(states) => states.iter().try_for_each(|state| push(&state.to_le_bytes())),
            Err(trouble) => {
                self.trouble = Some(trouble);
                Flow::Continue(())
            }
        }
    }

    #[inline(always)]
    fn steps(&mut self, state: &[u8], sink: &mut dyn Sink) -> Flow {
        let state = u32::from_le_bytes(state.try_into().expect("a state is its number"));
        let mut row = match self.specification.row(state, self.which) {
            Ok(row) => row,
            Err(trouble) => {
                self.trouble = Some(trouble);
                return Flow::Continue(());
            }
        };
        while let Some(edge) = self.specification.next(&mut row) {
            sink.push(Step::labelled(edge.label), &edge.target.to_le_bytes())?;
        }
        Flow::Continue(())
    }

    fn label(&self, label: Label) -> Cow<'_, str> {
        self.specification.labels()[label.0 as usize].name.as_str().into()
    }
}

/// A purpose at work: its states are two bytes, and what it makes of a label is found once.
pub(crate) struct Watching {
    purpose: Purpose,
    /// The state of the purpose after each label, from each of its states.
    columns: Vec<u16>,
    trouble: Option<ConformError>,
}

impl Watching {
    pub fn new(purpose: Purpose) -> Self {
        Watching { purpose, columns: Vec::new(), trouble: None }
    }

    pub fn purpose(&self) -> &Purpose {
        &self.purpose
    }

    /// Bytes in use.
    pub fn memory(&self) -> u64 {
        self.columns.capacity() as u64 * 2
    }

    /// What went wrong since the last time, if anything did.
    #[inline]
    pub fn ended(&mut self) -> Result<(), ConformError> {
        self.trouble.take().map_or(Ok(()), Err)
    }

    /// The state after a label.
    #[inline]
    fn after(&mut self, seen: &Specification<'_>, at: u16, label: u32) -> Result<u16, ConformError> {
        if at >= ACCEPT {
            return Ok(at);
        }
        let width = self.purpose.len();
        let start = label as usize * width;
        while self.columns.len() <= start {
            let next = self.columns.len() / width;
            self.purpose.column(&seen.labels()[next], &mut self.columns)?;
        }
        Ok(self.columns[start + usize::from(at)])
    }
}

impl Observer<Followed<'_, '_>> for Watching {
    type Known = [u8; 2];

    fn width(&self) -> usize {
        2
    }

    fn start(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.purpose.initial().to_le_bytes());
    }

    #[inline]
    fn known(&self, at: &[u8], Label(label): Label) -> Option<[u8; 2]> {
        let at = u16::from_le_bytes([at[0], at[1]]);
        if at >= ACCEPT {
            return Some(at.to_le_bytes());
        }
        let next = self.columns.get(label as usize * self.purpose.len() + usize::from(at))?;
        Some(next.to_le_bytes())
    }

    fn follow(
        &mut self,
        system: &mut Followed<'_, '_>,
        at: &[u8],
        (label, _): (Option<Label>, &[u8]),
        mut push: impl FnMut(Option<FaultId>, &[u8]) -> Flow,
    ) -> Flow {
        let Some(Label(label)) = label else { return Flow::Continue(()) };
        match self.after(system.specification, u16::from_le_bytes([at[0], at[1]]), label) {
            Ok(next) => push(None, &next.to_le_bytes()),
            Err(trouble) => {
                self.trouble = Some(trouble);
                Flow::Break(())
            }
        }
    }
}
