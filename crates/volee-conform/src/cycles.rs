//! Cycles of internal steps: Tarjan's components, over the states that internal steps lead to, each state
//! once.
//!
//! A state is on a cycle if its component has another state or a step to itself. The search starts where
//! somebody asks and decides everything it meets, so all questions together cost one pass over the internal
//! steps.

use crate::ConformError;
use crate::rows::{Row, Which};
use crate::specification::{CYCLE_KNOWN, ON_CYCLE, Specification};

struct Frame {
    state: u32,
    row: Row,
    low: u32,
    loops: bool,
}

impl Specification<'_> {
    /// Decides for `root` and all that internal steps lead to whether they are on a cycle of internal steps.
    pub(crate) fn find_cycles(&mut self, root: u32) -> Result<(), ConformError> {
        let mut open = Vec::new();
        let mut frames = vec![self.enter(root, &mut open)?];
        while let Some(frame) = frames.last_mut() {
            let Some(edge) = self.next(&mut frame.row) else {
                let done = frames.pop().expect("the loop saw it");
                self.leave(&done, &mut open);
                if let Some(parent) = frames.last_mut() {
                    parent.low = parent.low.min(done.low);
                }
                continue;
            };
            frame.loops |= edge.target == frame.state;
            let target = *self.met(edge.target);
            match target.order {
                0 => frames.push(self.enter(edge.target, &mut open)?),
                order if target.flags & CYCLE_KNOWN == 0 => frame.low = frame.low.min(order),
                _ => {}
            }
        }
        Ok(())
    }

    fn enter(&mut self, state: u32, open: &mut Vec<u32>) -> Result<Frame, ConformError> {
        let row = self.row(state, Which::Internal)?;
        self.visited += 1;
        self.met(state).order = self.visited;
        open.push(state);
        Ok(Frame { state, row, low: self.visited, loops: false })
    }

    /// Closes a component when its first state is left.
    fn leave(&mut self, frame: &Frame, open: &mut Vec<u32>) {
        if frame.low != self.met(frame.state).order {
            return;
        }
        let first = open
            .iter()
            .rposition(|&s| s == frame.state)
            .expect("a state stays open until its component closes");
        let cycle = frame.loops || open.len() - first > 1;
        for state in open.drain(first..) {
            self.met(state).flags |= CYCLE_KNOWN | if cycle { ON_CYCLE } else { 0 };
        }
    }
}
