//! Two-phase commit: a coordinator asks its participants to prepare, each votes, and all follow the decision.
//!
//! Each participant has a place for one message in either direction. It votes yes or no as it likes
//! (`VOTE_YES !n`, `VOTE_NO !n`); the first no decides to abort, the last yes to commit (`DECIDE_ABORT`,
//! `DECIDE_COMMIT`). When all know the decision (`COMMIT !n`, `ABORT !n`) the next transaction begins
//! (`NEXT`). Messages are sent and votes counted internally, in any order: that is what makes it large.

use std::borrow::Cow;

use volee_system::{Flow, Label, Sink, Step, System};

/// The protocol as a system. A state is a byte for the coordinator and one for each participant.
#[derive(Debug, Clone)]
pub struct TwoPhaseCommit {
    participants: usize,
}

const IDLE: u8 = 0;
const COLLECTING: u8 = 1;
const COMMITTED: u8 = 2;
const ABORTED: u8 = 3;

/// Where a participant stands (the lowest two bits of its byte): at work, prepared, or as decided.
const STANDING: u8 = 0b11;
const READY: u8 = 1;
/// The message on its way to it: to prepare, to commit, to abort.
const DOWN: u8 = 0b1100;
const PREPARE: u8 = 0b0100;
const COMMIT: u8 = 0b1000;
const ABORT: u8 = 0b1100;
/// Its vote on the way back.
const UP: u8 = 0b11_0000;
const YES: u8 = 0b01_0000;
const NO: u8 = 0b10_0000;
/// Its yes has been counted.
const COUNTED: u8 = 0b0100_0000;
/// It has been sent what this phase sends.
const SENT: u8 = 0b1000_0000;

const INTERNAL: u32 = 0;
const DECIDE_COMMIT: u32 = 1;
const DECIDE_ABORT: u32 = 2;
const NEXT: u32 = 3;
const FIRST_OF_PARTICIPANT: u32 = 4;
const WORDS: [&str; 4] = ["VOTE_YES", "VOTE_NO", "COMMIT", "ABORT"];

impl TwoPhaseCommit {
    /// With this many participants, at least one.
    pub fn new(participants: u8) -> Self {
        TwoPhaseCommit { participants: usize::from(participants).max(1) }
    }

    fn coordinator(next: &mut [u8], sink: &mut dyn Sink) -> Flow {
        let state = next.to_vec();
        if state[0] == IDLE {
            next[0] = COLLECTING;
            sink.push(Step::labelled(INTERNAL), next)?;
            next[0] = IDLE;
            return Flow::Continue(());
        }
        if state[0] == COLLECTING && state[1..].iter().all(|p| p & COUNTED != 0) {
            next[0] = COMMITTED;
            next[1..].iter_mut().for_each(|p| *p &= !SENT);
            sink.push(Step::labelled(DECIDE_COMMIT), next)?;
            next.copy_from_slice(&state);
        }
        if state[0] > COLLECTING && state[1..].iter().all(|p| p & (SENT | UP | DOWN) == SENT) {
            next.fill(0);
            sink.push(Step::labelled(NEXT), next)?;
            next.copy_from_slice(&state);
        }
        Flow::Continue(())
    }

    /// What the coordinator does about one participant, and what the participant does.
    fn participant(next: &mut [u8], at: usize, sink: &mut dyn Sink) -> Flow {
        let (coordinator, before) = (next[0], next[at]);
        let own = |action: u32| FIRST_OF_PARTICIPANT + 4 * (at as u32 - 1) + action;
        let mut go = |label: u32, after: u8| {
            next[at] = after;
            sink.push(Step::labelled(label), next)?;
            next[at] = before;
            Flow::Continue(())
        };
        if coordinator != IDLE && before & (SENT | DOWN) == 0 {
            let message = [0, PREPARE, COMMIT, ABORT][usize::from(coordinator)];
            go(INTERNAL, before | message | SENT)?;
        }
        match before & DOWN {
            PREPARE => {
                go(own(0), before & !(DOWN | STANDING) | READY | YES)?;
                go(own(1), before & !(DOWN | STANDING) | ABORTED | NO)?;
            }
            COMMIT => go(own(2), before & !(DOWN | STANDING) | COMMITTED)?,
            ABORT => go(own(3), before & !(DOWN | STANDING) | ABORTED)?,
            _ => {}
        }
        match before & UP {
            0 => Flow::Continue(()),
            YES if coordinator == COLLECTING => go(INTERNAL, before & !UP | COUNTED),
            NO if coordinator == COLLECTING => {
                let state = next.to_vec();
                next[0] = ABORTED;
                next[at] = before & !UP;
                next[1..].iter_mut().for_each(|p| *p &= !SENT);
                sink.push(Step::labelled(DECIDE_ABORT), next)?;
                next.copy_from_slice(&state);
                Flow::Continue(())
            }
            // Too late: the decision is made.
            _ => go(INTERNAL, before & !UP),
        }
    }
}

impl System for TwoPhaseCommit {
    fn initial(&mut self, push: &mut dyn FnMut(&[u8]) -> Flow) -> Flow {
        push(&vec![0; self.participants + 1])
    }

    fn steps(&mut self, state: &[u8], sink: &mut dyn Sink) -> Flow {
        let mut next = state.to_vec();
        Self::coordinator(&mut next, sink)?;
        (1..=self.participants).try_for_each(|at| Self::participant(&mut next, at, sink))
    }

    fn label(&self, label: Label) -> Cow<'_, str> {
        match label.0 {
            INTERNAL => "i".into(),
            DECIDE_COMMIT => "DECIDE_COMMIT".into(),
            DECIDE_ABORT => "DECIDE_ABORT".into(),
            NEXT => "NEXT".into(),
            own => {
                let own = own - FIRST_OF_PARTICIPANT;
                format!("{} !{}", WORDS[own as usize % 4], own / 4).into()
            }
        }
    }
}
